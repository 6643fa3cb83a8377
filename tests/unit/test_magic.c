/* What the first bytes prove, row by row. */
#include "formats/formats.h"
#include "unit.h"

static mc_file recognise(const void *bytes, size_t n, uint64_t size)
{
    mc_file f = { .head = { bytes, n }, .size = size, .pointer_oid = MC_STR("") };
    mc_recognise(&f);
    return f;
}

#define OID "4665a5ea423c2713d436b5ee50593a9640e0018c1550b5a0002f74190d6caea8"

static void knows_pointers(void **state)
{
    (void)state;
    static const char *const yes[] = {
        "version https://git-lfs.github.com/spec/v1\noid sha256:" OID "\nsize 12345\n",
        "version https://git-lfs.github.com/spec/v1\r\noid sha256:" OID "\r\nsize 12345\r\n",
        "version http://git-media.io/v/2\noid sha256:" OID "\nsize 12345",
        "version https://hawser.github.com/spec/v1\next-0-foo sha256:" OID "\noid sha256:" OID "\nsize 12345\n",
    };
    static const char *const no[] = {
        "version https://git-lfs.github.com/spec/v1\nsize 12345\noid sha256:" OID "\n",
        "version https://git-lfs.github.com/spec/v2\noid sha256:" OID "\nsize 12345\n",
        "version https://git-lfs.github.com/spec/v1\noid sha256:4665A5\nsize 12345\n",
        "version https://git-lfs.github.com/spec/v1\noid sha256:" OID "\nsize -1\n",
    };
    for (size_t i = 0; i < MC_COUNT(yes); i++) {
        mc_file f = recognise(yes[i], strlen(yes[i]), strlen(yes[i]));
        assert_int_equal(f.bytes, MC_BYTES_LFS_POINTER);
        assert_int_equal(f.pointer_size, 12345);
        assert_str(f.pointer_oid, OID);
    }
    for (size_t i = 0; i < MC_COUNT(no); i++)
        assert_int_equal(recognise(no[i], strlen(no[i]), strlen(no[i])).bytes, MC_BYTES_TEXT);
    assert_int_equal(recognise(yes[0], strlen(yes[0]), 1024).bytes, MC_BYTES_TEXT); /* git-lfs: below 1,024 bytes only */
    static const char xet[] = "# xet version 0\nfilesize = 77\nhash = 'aa'\n";
    mc_file f = recognise(xet, sizeof xet - 1, sizeof xet - 1);
    assert_int_equal(f.bytes, MC_BYTES_XET_POINTER);
    assert_int_equal(f.pointer_size, 77);
}

static void knows_pages(void **state)
{
    (void)state;
    static const struct { const char *text; mc_bytes want; } rows[] = {
        { "<!DOCTYPE html><html>", MC_BYTES_WEB_PAGE },
        { "\xef\xbb\xbf \n<HTML>", MC_BYTES_WEB_PAGE },
        { "<?xml version=\"1.0\"?>", MC_BYTES_WEB_PAGE },
        { "Entry not found", MC_BYTES_ERROR_ANSWER },
        { "{\"error\":\"Repository not found\"}", MC_BYTES_ERROR_ANSWER },
        { "{\"message\":\"x\",\"status\":404}", MC_BYTES_ERROR_ANSWER },
        { "{\"error\":\"x\",\"model_type\":\"llama\"}", MC_BYTES_JSON },
        { "{}", MC_BYTES_JSON },
        { "[1]", MC_BYTES_JSON },
        { "hello", MC_BYTES_TEXT },
    };
    for (size_t i = 0; i < MC_COUNT(rows); i++)
        assert_int_equal(recognise(rows[i].text, strlen(rows[i].text), strlen(rows[i].text)).bytes, rows[i].want);
}

static void knows_binaries(void **state)
{
    (void)state;
#define ROW(text, want) { text, sizeof(text) - 1, want }
    static const struct { const char *bytes; size_t n; mc_bytes want; } rows[] = {
        ROW("GGUF\3\0\0\0", MC_BYTES_GGUF), ROW("FUGG\3\0\0\0", MC_BYTES_GGUF_SWAPPED), ROW("tjgg\1\0\0\0", MC_BYTES_GGML),
        ROW("\x08\0\0\0\0\0\0\0{      }", MC_BYTES_SAFETENSORS),
        ROW("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e.", MC_BYTES_TORCH_LEGACY), ROW("\x80\x02}q\x00.", MC_BYTES_PICKLE),
        ROW("PK\3\4\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x0b\0\0\0abc/data.pkl", MC_BYTES_ZIP), /* "abc/data.pk": the length counts */
        ROW("PK\3\4\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x0c\0\0\0abc/data.pkl", MC_BYTES_TORCH_ZIP),
        ROW("PK\3\4\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\0\0a.npy", MC_BYTES_NPZ),
        ROW("\x89HDF\r\n\x1a\n", MC_BYTES_HDF5), ROW("\x93NUMPY\1\0", MC_BYTES_NPY), ROW("\x1c\0\0\0TFL3\0\0", MC_BYTES_TFLITE),
        ROW("\x08\x08\x12\x07pytorch", MC_BYTES_ONNX), ROW("\x1f\x8b\x08\0", MC_BYTES_GZIP), ROW("\x28\xb5\x2f\xfd\0", MC_BYTES_ZSTD),
        ROW("\x06\0\0\0\x0c\0WhisperSpec\0\3", MC_BYTES_CTRANSLATE2), ROW("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", MC_BYTES_ZEROS),
        ROW("\x7f" "ELF\2", MC_BYTES_EXECUTABLE), ROW("\xde\xad\xbe\xef\1\2\3", MC_BYTES_UNKNOWN),
    };
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        mc_bytes got = recognise(rows[i].bytes, rows[i].n, rows[i].n).bytes;
        if (got != rows[i].want)
            print_error("row %zu: %s, want %s\n", i, mc_bytes_name(got), mc_bytes_name(rows[i].want));
        assert_int_equal(got, rows[i].want);
    }
    assert_int_equal(recognise("", 0, 0).bytes, MC_BYTES_EMPTY);
    assert_int_equal(recognise("", 0, 9).bytes, MC_BYTES_UNREAD);
    /* A gzip magic is a legal header length when '{' follows it. */
    assert_int_equal(recognise("\x1f\x8b\x08\0\0\0\0\0{\"a\":{", 14, 600000).bytes, MC_BYTES_SAFETENSORS);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(knows_pointers), cmocka_unit_test(knows_pages), cmocka_unit_test(knows_binaries) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
