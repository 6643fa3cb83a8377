/* The central directory of a torch zip: plain and zip64, read in steps, and every way it can lie. */
#include "unit.h"

#include "formats/formats.h"

typedef struct { uint8_t p[4096]; size_t n; } bytes;

static void put(bytes *b, uint64_t v, int n)
{
    for (int i = 0; i < n; i++)
        b->p[b->n++] = (uint8_t)(i < 8 ? v >> 8 * i : 0);
}

static void text(bytes *b, const char *s)
{
    memcpy(b->p + b->n, s, strlen(s));
    b->n += strlen(s);
}

/* One entry; wide: sizes in the extra field. */
static void entry(bytes *b, const char *name, uint64_t size, bool wide)
{
    text(b, "PK\1\2");
    put(b, 0, 16);
    put(b, wide ? UINT32_MAX : size, 4);
    put(b, wide ? UINT32_MAX : size, 4);
    put(b, strlen(name), 2);
    put(b, wide ? 20 : 0, 2);
    put(b, 0, 14);
    text(b, name);
    if (wide) {
        put(b, 1, 2);
        put(b, 16, 2);
        put(b, size, 8);
        put(b, size, 8);
    }
}

static void end(bytes *b, uint64_t entries, uint64_t size, uint64_t at)
{
    text(b, "PK\5\6");
    put(b, 0, 4);
    put(b, entries, 2);
    put(b, entries, 2);
    put(b, size, 4);
    put(b, at, 4);
    put(b, 0, 2);
}

static void end64(bytes *b, uint64_t entries, uint64_t size, uint64_t at)
{
    uint64_t rec = b->n;
    text(b, "PK\6\6");
    put(b, 44, 8);
    put(b, 0, 12);
    put(b, entries, 8);
    put(b, entries, 8);
    put(b, size, 8);
    put(b, at, 8);
    text(b, "PK\6\7");
    put(b, 0, 4);
    put(b, rec, 8);
    put(b, 1, 4);
}

/* A file with 1000 bytes of members before its directory: data/0 of 600, data/1 of 300, two that are no storage. */
static bytes sound(bool wide)
{
    bytes b = { .n = 1000 };
    entry(&b, "archive/data.pkl", 50, false);
    entry(&b, "archive/data/0", 600, wide);
    entry(&b, "archive/data/1", 300, false);
    entry(&b, "archive/.data/serialization_id", 40, false);
    uint64_t size = b.n - 1000;
    if (wide)
        end64(&b, 4, size, 1000);
    end(&b, wide ? 0xffff : 4, wide ? UINT32_MAX : size, wide ? UINT32_MAX : 1000);
    return b;
}

static mc_err parse_from(const bytes *b, uint64_t at, mc_file *f)
{
    mc_err e;
    for (int i = 0; i < 8; i++) {
        uint64_t want;
        e = mc_parse_torch_tail((mc_span){ b->p + at, b->n - (size_t)at }, at, b->n, &want, f);
        if (e.code != MC_MORE)
            return e;
        assert_true(want < at);
        at = want;
    }
    fail_msg("no end of requests");
    return e;
}

static void reads(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        bytes b = sound(wide);
        for (size_t at = 0; at + 1 <= b.n; at++) {
            mc_file f = { 0 };
            assert_int_equal(parse_from(&b, at, &f).code, MC_OK);
            assert_true(f.torch_known);
            assert_int_equal(f.torch_bytes, 900);
            assert_int_equal(f.torch_storages, 2);
        }
    }
}

static void refuse(const bytes *b, mc_code code, const char *why)
{
    mc_file f = { 0 };
    mc_err  e = parse_from(b, 0, &f);
    if (e.code != code || f.torch_known)
        fail_msg("%s: code %d (%s)", why, (int)e.code, e.what ? e.what : "");
}

static void refuses(void **state)
{
    bytes b;
    (void)state;
    b = sound(false);
    b.n -= 30;
    refuse(&b, MC_E_TRUNCATED, "cut before the end record");
    b = sound(false);
    b.p[b.n - 12] = 3;
    refuse(&b, MC_E_SYNTAX, "another number of entries");
    b = sound(false);
    b.p[b.n - 10]--;
    refuse(&b, MC_E_SYNTAX, "another size");
    b = sound(false);
    b.p[b.n - 3] = 0x7f;
    refuse(&b, MC_E_RANGE, "directory behind the end");
    b = sound(false);
    b.p[1000] = 'X';
    refuse(&b, MC_E_SYNTAX, "no entry where the directory begins");
    b = sound(false);
    b.p[1000 + 29] = 0xff;
    refuse(&b, MC_E_SYNTAX, "a name longer than the directory");
    b = sound(false);
    b.p[1000 + 23] = 0x7f;
    refuse(&b, MC_E_RANGE, "a member larger than the file");
    b = sound(true);
    b.p[b.n - 22 - 20 + 15] = 0x7f;
    refuse(&b, MC_E_SYNTAX, "a zip64 record behind the end");
    b = sound(true);
    b.p[b.n - 22 - 20 - 56] = 'X';
    refuse(&b, MC_E_SYNTAX, "no zip64 record");
    b = sound(true);
    memset(b.p + b.n - 22 - 20 - 16, 0xff, 8);
    refuse(&b, MC_E_RANGE, "a directory of 2^64 - 1 bytes");
    b = (bytes){ 0 };
    refuse(&b, MC_E_TRUNCATED, "nothing");
}

static void not_the_end(void **state)
{
    bytes    b = sound(false);
    mc_file  f = { 0 };
    uint64_t want;
    (void)state;
    assert_int_equal(mc_parse_torch_tail((mc_span){ b.p, b.n }, 5, b.n, &want, &f).code, MC_E_SYNTAX);
    assert_int_equal(mc_parse_torch_tail((mc_span){ b.p, b.n }, b.n + 1, b.n, &want, &f).code, MC_E_SYNTAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(reads), cmocka_unit_test(refuses), cmocka_unit_test(not_the_end) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
