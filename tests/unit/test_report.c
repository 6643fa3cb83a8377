/* The escaping writer, the JSON helpers, the values of options. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "api/api.h"

/* ---- what a writer wrote ---- */

static char *written;
static size_t written_n;

static mc_out begin(void)
{
    return (mc_out){ .f = open_memstream(&written, &written_n) };
}

static void ends_as(mc_out *o, const char *want)
{
    fclose(o->f);
    if (strcmp(written, want) != 0)
        print_error("got  %s\nwant %s\n", written, want);
    assert_string_equal(written, want);
    free(written);
}

static void text_is(mc_str s, const char *want)
{
    mc_out o = begin();
    mc_put_text(&o, s);
    assert_int_equal(mc_text_width(s), strlen(want)); /* holds while `want` is ASCII */
    ends_as(&o, want);
}

static void text_shows_what_is_unseen(void **state)
{
    (void)state;
    text_is(S("model.safetensors"), "model.safetensors");
    text_is(S("a\nb\tc\rd"), "a\\nb\\tc\\rd");
    text_is(S("\x1b[31m\a\x7f"), "\\x1b[31m\\x07\\x7f");
    text_is((mc_str){ "a\0b", 3 }, "a\\x00b");
    text_is(S("\xff\xc3(\xe2\x82"), "\\xff\\xc3(\\xe2\\x82");          /* bytes that are no UTF-8 */
    text_is(S("\xc0\x80\xed\xa0\x80"), "\\xc0\\x80\\xed\\xa0\\x80");   /* overlong, surrogate */
    text_is(S("\xc2\x9b" "31m"), "\\u009b31m");                        /* C1 control sequence introducer */
    text_is(S("x\xe2\x80\xaegpj"), "x\\u202egpj");                     /* right-to-left override */
    text_is(S("\xef\xbb\xbf\xe2\x80\x8b\xe2\x80\xa8"), "\\ufeff\\u200b\\u2028");
    text_is(S("\xf3\xa0\x81\x81"), "\\U000e0041");                     /* a tag character */
    text_is(S("%s%n\\\""), "%s%n\\\"");
}

static void text_keeps_letters(void **state)
{
    (void)state;
    mc_out o = begin();
    mc_put_text(&o, S("gr\xc3\xb6\xc3\x9f \xe6\xa8\xa1\xe5\x9e\x8b \xf0\x9f\xa6\x99"));
    ends_as(&o, "gr\xc3\xb6\xc3\x9f \xe6\xa8\xa1\xe5\x9e\x8b \xf0\x9f\xa6\x99");
    assert_int_equal(mc_text_width(S("\xe6\xa8\xa1\xe5\x9e\x8b")), 2);
}

static void colour_stays_outside(void **state)
{
    (void)state;
    mc_out o = begin();
    mc_put_styled(&o, MC_RED, S("e\x1b"));
    o.color = true;
    mc_put_styled(&o, MC_RED, S("e\x1b"));
    mc_put_styled(&o, MC_PLAIN, S("p"));
    ends_as(&o, "e\\x1b\x1b[1;31me\\x1b\x1b[0mp");
}

static void figures_read_well(void **state)
{
    (void)state;
    mc_out o = begin();
    mc_put_size(&o, 0), mc_put(&o, " ");
    mc_put_size(&o, 1), mc_put(&o, " ");
    mc_put_size(&o, 1024), mc_put(&o, " ");
    mc_put_size(&o, UINT64_C(3983565000)), mc_put(&o, " ");
    mc_put_size(&o, (UINT64_C(1) << 30) - 1), mc_put(&o, " ");
    mc_put_size(&o, UINT64_MAX), mc_put(&o, " ");
    mc_put_number(&o, 999), mc_put(&o, " ");
    mc_put_number(&o, UINT64_C(7615616512)), mc_put(&o, " ");
    mc_put_number(&o, 134515008), mc_put(&o, " ");
    mc_put_plural(&o, 1, "shard"), mc_put(&o, " ");
    mc_put_plural(&o, 0, "shard");
    ends_as(&o, "0 bytes 1 byte 1 KiB 3.71 GiB 1.00 GiB 16 EiB 999 7.62 B 135 M 1 shard 0 shards");
}

/* ---- JSON ---- */

static void json_strings(void **state)
{
    (void)state;
    mc_out o = begin();
    mc_js_open(&o, NULL, '[', true);
    mc_js_str(&o, NULL, S("a\"b\\c/\n\t\r\b"));
    mc_js_str(&o, NULL, S("\x1b\x7f\xc2\x9b\xe2\x80\xae"));
    mc_js_str(&o, NULL, S("\xff" "a\xed\xa0\x80"));
    mc_js_str(&o, NULL, S("\xf3\xa0\x81\x81\xf0\x9f\xa6\x99"));
    mc_js_text(&o, NULL, S(""));
    mc_js_close(&o, ']');
    ends_as(&o, "[\"a\\\"b\\\\c/\\n\\t\\r\\u0008\", \"\\u001b\\u007f\\u009b\\u202e\", "
                "\"\xef\xbf\xbd" "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\", \"\\udb40\\udc41\xf0\x9f\xa6\x99\", null]\n");
}

static void json_layout(void **state)
{
    (void)state;
    mc_out o = begin();
    mc_js_open(&o, NULL, '{', false);
    mc_js_u64(&o, "max", UINT64_MAX);
    mc_js_i64(&o, "min", INT64_MIN);
    mc_js_bool(&o, "yes", true);
    mc_js_known(&o, "unknown", false, 7);
    mc_js_open(&o, "empty", '[', false);
    mc_js_close(&o, ']');
    mc_js_open(&o, "flat", '[', true);
    mc_js_open(&o, NULL, '{', false);
    mc_js_u64(&o, "a", 1);
    mc_js_close(&o, '}');
    mc_js_u64(&o, NULL, 2);
    mc_js_close(&o, ']');
    mc_js_open(&o, "deep", '[', false);
    mc_js_u64(&o, NULL, 3);
    mc_js_close(&o, ']');
    mc_js_close(&o, '}');
    ends_as(&o, "{\n  \"max\": 18446744073709551615,\n  \"min\": -9223372036854775808,\n  \"yes\": true,\n  \"unknown\": null,\n  \"empty\": [],\n"
                "  \"flat\": [{\"a\": 1}, 2],\n  \"deep\": [\n    3\n  ]\n}\n");
}

static void json_decimals(void **state)
{
    (void)state;
    static const struct { double v; const char *text; } rows[] = {
        { 0, "[0.0]\n" }, { 16, "[16.0]\n" }, { 4.5, "[4.5]\n" }, { 4.89441, "[4.8944]\n" }, { 0.00004, "[0.0]\n" }, { 2.0625, "[2.0625]\n" },
        { 1.05, "[1.05]\n" }, { -1, "[null]\n" }, { 1e300, "[null]\n" },
    };
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        mc_out o = begin();
        mc_js_open(&o, NULL, '[', true);
        mc_js_fixed(&o, NULL, rows[i].v);
        mc_js_close(&o, ']');
        ends_as(&o, rows[i].text);
    }
}

/* Whatever the bytes are, the JSON that comes out is JSON. */
static void json_is_always_json(void **state)
{
    (void)state;
    mc_arena a = arena_new();
    uint32_t x = 12345;
    for (int round = 0; round < 2000; round++) {
        char   bytes[12];
        mc_err err;
        for (size_t i = 0; i < sizeof bytes; i++) {
            x = x * 1664525u + 1013904223u;
            bytes[i] = (char)(x >> 24);
        }
        mc_out o = begin();
        mc_js_open(&o, NULL, '[', true);
        mc_js_str(&o, NULL, (mc_str){ bytes, sizeof bytes });
        mc_js_close(&o, ']');
        fclose(o.f);
        assert_true(mc_utf8_valid((mc_span){ (const uint8_t *)written, written_n }));
        assert_true(mc_is(mc_item(mc_json_tree(&a, (mc_span){ (const uint8_t *)written, written_n }, &err, NULL), 0), MC_STRING));
        free(written);
    }
    mc_arena_free(&a);
}

/* ---- options ---- */

static void sizes(void **state)
{
    (void)state;
    static const struct { const char *text; uint64_t bytes; } good[] = {
        { "1", 1 }, { "4096", 4096 }, { "1KiB", 1024 }, { "1kib", 1024 }, { "24GiB", UINT64_C(24) << 30 }, { "24GB", UINT64_C(24000000000) },
        { "1.5GiB", UINT64_C(3) << 29 }, { "80G", UINT64_C(80) << 30 }, { "2TB", UINT64_C(2000000000000) }, { "7B", 7 }, { "24 GiB", UINT64_C(24) << 30 },
        { "18446744073709551615", UINT64_MAX },
    };
    static const char *const bad[] = { "", "GiB", "-1", "1.5", "1e9", "0x10", "1XB", "1GiBs", "18446744073709551616", "99999999999GiB", "1.GiB", ".5GiB",
                                       "1.1234567GiB", "1,5GiB", " 1" };
    uint64_t v;
    for (size_t i = 0; i < MC_COUNT(good); i++) {
        assert_true(mc_parse_size(S(good[i].text), &v));
        assert_int_equal(v, good[i].bytes);
    }
    for (size_t i = 0; i < MC_COUNT(bad); i++) {
        if (mc_parse_size(S(bad[i]), &v))
            fail_msg("\"%s\" was taken", bad[i]);
    }
}

static void selectors(void **state)
{
    (void)state;
    mc_arena    a = arena_new();
    mc_selector s;
    const mc_rule *truncated = mc_rule_find(S("MC306")), *length = mc_rule_find(S("MC301"));
    assert_true(mc_parse_selector(&a, S("MC306"), &s) && mc_selector_hits(&s, truncated) && !mc_selector_hits(&s, length));
    assert_true(mc_parse_selector(&a, S("st-truncated"), &s) && mc_selector_hits(&s, truncated));
    assert_true(mc_parse_selector(&a, S("MC3"), &s) && mc_selector_hits(&s, truncated) && mc_selector_hits(&s, length));
    assert_true(mc_parse_selector(&a, S("MC"), &s));
    assert_false(mc_parse_selector(&a, S("MC30x"), &s));
    assert_false(mc_parse_selector(&a, S("M"), &s));
    assert_false(mc_parse_selector(&a, S(""), &s));
    assert_false(mc_parse_selector(&a, S("st-"), &s));
    mc_arena_free(&a);
}

static void options_through_the_api(void **state)
{
    (void)state;
    modelcheck *mc = modelcheck_new();
    assert_non_null(mc);
    assert_null(modelcheck_set(mc, "context", "4096"));
    assert_int_equal(mc->options.floor.context, 4096);
    assert_null(modelcheck_set(mc, "recursive", NULL));
    assert_true(mc->options.scan.recursive);
    assert_null(modelcheck_set(mc, "kv-dtype", "q8_0,f16"));
    assert_string_equal(mc->options.floor.kv_k, "q8_0");
    assert_string_equal(mc->options.floor.kv_v, "f16");
    assert_null(modelcheck_set(mc, "fail-on", "never"));
    assert_null(modelcheck_set(mc, "fail-on", "warning"));
    assert_false(mc->options.fail_never);
    assert_int_equal(mc->options.fail_on, MC_WARNING);
    assert_non_null(modelcheck_set(mc, "context", NULL));
    assert_non_null(modelcheck_set(mc, "recursive", "yes"));
    assert_non_null(modelcheck_set(mc, "no-such-option", NULL));
    assert_non_null(modelcheck_set(mc, "help", NULL));
    assert_int_equal(modelcheck_run(mc), 3); /* no path: nothing was checked */
    uint64_t v;
    assert_int_equal(modelcheck_fact(mc, 0, "weights.tensors", &v), -1);
    assert_null(modelcheck_model_path(mc, 0));
    modelcheck_free(mc);
    modelcheck_free(NULL);
}

static void every_option_has_its_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < mc_n_options; i++) {
        const mc_option *o = &mc_option_table[i];
        assert_true(o->commands != 0 && (o->commands & ~(unsigned)MC_CMD_ALL) == 0);
        assert_true(strlen(o->help) > 10);
        assert_ptr_equal(mc_option_find(o->name), o);
        assert_false(mc_option_later(o->name) && mc_option_find(o->name));
    }
}

/* ---- one header in memory ---- */

static void headers(void **state)
{
    (void)state;
    static const char json[] = "{\"a\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[0,4]}}";
    uint8_t           file[8 + sizeof json + 4] = { sizeof json - 1 };
    const char       *why = "";
    memcpy(file + 8, json, sizeof json - 1);
    size_t whole = 8 + sizeof json - 1 + 4;
    assert_int_equal(modelcheck_header("safetensors", file, whole, whole, &why), 0);
    assert_null(why);
    assert_int_equal(modelcheck_header("safetensors", file, whole - 1, whole - 1, &why), 1);
    assert_string_equal(why, "MC306");
    assert_int_equal(modelcheck_header("safetensors", file, whole + 1, whole + 1, &why), 1);
    assert_string_equal(why, "MC307");
    assert_int_equal(modelcheck_header("safetensors", file, 8, whole, &why), -1);
    assert_int_equal(modelcheck_header("safetensors", file, 0, 0, &why), 1);
    assert_string_equal(why, "MC301");
    assert_int_equal(modelcheck_header("gguf", file, whole, whole, NULL), 1);
    assert_int_equal(modelcheck_header("gguf", "GGUF\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24, 24, &why), 0);
    assert_int_equal(modelcheck_header("gguf", "GGUF\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24, 24, &why), 1);
    assert_string_equal(why, "MC601");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_shows_what_is_unseen), cmocka_unit_test(text_keeps_letters), cmocka_unit_test(colour_stays_outside),
        cmocka_unit_test(figures_read_well), cmocka_unit_test(json_strings), cmocka_unit_test(json_layout), cmocka_unit_test(json_decimals),
        cmocka_unit_test(json_is_always_json), cmocka_unit_test(sizes), cmocka_unit_test(selectors), cmocka_unit_test(options_through_the_api),
        cmocka_unit_test(every_option_has_its_words), cmocka_unit_test(headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
