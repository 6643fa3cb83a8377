/* The JSON scanner: grammar, numbers, strings, escapes, depth, offsets of failures. */
#include "unit.h"

typedef struct { const char *text; mc_code code; uint64_t at; } row;

/* One whole document: MC_OK, or the first failure. */
static mc_err scan(mc_span text, bool python)
{
    mc_json j = mc_json_of(text);
    j.python = python;
    if (mc_json_skip(&j))
        (void)mc_json_end(&j);
    return j.err;
}

static void check(const row *rows, size_t n, bool python)
{
    for (size_t i = 0; i < n; i++) {
        mc_err e = scan(SPAN(rows[i].text), python);
        if (e.code != rows[i].code || (e.code != MC_OK && e.at != rows[i].at))
            fail_msg("%s: code %d at %d (%s), want %d at %d", rows[i].text, (int)e.code, (int)e.at, e.what ? e.what : "", (int)rows[i].code,
                     (int)rows[i].at);
    }
}

static void takes_what_the_standard_takes(void **state)
{
    (void)state;
    static const row rows[] = {
        { "{}", MC_OK, 0 }, { "[]", MC_OK, 0 }, { " [ ] ", MC_OK, 0 }, { "[[],{}]", MC_OK, 0 }, { "{\"a\":{\"b\":[1,2,{}]},\"c\":null}", MC_OK, 0 },
        { "0", MC_OK, 0 }, { "-0", MC_OK, 0 }, { "-0.5e+10", MC_OK, 0 }, { "1E5", MC_OK, 0 }, { "\"\"", MC_OK, 0 }, { "true", MC_OK, 0 },
        { "\"\\u0000\\n\\\"\\/\"", MC_OK, 0 }, { "\"\\ud83d\\ude00\"", MC_OK, 0 }, { "{\"a\":1,\"a\":2}", MC_OK, 0 }, { "\t\r\n 1", MC_OK, 0 },
        { "123456789012345678901234567890", MC_OK, 0 },
    };
    check(rows, MC_COUNT(rows), false);
    check(rows, MC_COUNT(rows), true);
}

static void refuses_what_the_standard_refuses(void **state)
{
    (void)state;
    static const row rows[] = {
        { "", MC_E_TRUNCATED, 0 }, { "  ", MC_E_TRUNCATED, 2 }, { "{", MC_E_SYNTAX, 1 }, { "[1", MC_E_TRUNCATED, 2 }, { "[1,", MC_E_TRUNCATED, 3 },
        { "[1,]", MC_E_SYNTAX, 3 }, { "{\"a\":1,}", MC_E_SYNTAX, 7 }, { "{a:1}", MC_E_SYNTAX, 1 }, { "{\"a\" 1}", MC_E_SYNTAX, 5 },
        { "{\"a\":1 \"b\":2}", MC_E_SYNTAX, 7 }, { "[1 2]", MC_E_SYNTAX, 3 }, { "01", MC_E_SYNTAX, 2 }, { "-", MC_E_SYNTAX, 1 }, { "1.", MC_E_SYNTAX, 2 },
        { ".5", MC_E_SYNTAX, 0 }, { "+1", MC_E_SYNTAX, 0 }, { "1e", MC_E_SYNTAX, 2 }, { "0x10", MC_E_SYNTAX, 1 }, { "tru", MC_E_SYNTAX, 0 },
        { "nul", MC_E_SYNTAX, 0 }, { "True", MC_E_SYNTAX, 0 }, { "'a'", MC_E_SYNTAX, 0 }, { "\"a", MC_E_TRUNCATED, 2 }, { "\"\\", MC_E_TRUNCATED, 1 },
        { "\"\\x41\"", MC_E_SYNTAX, 1 }, { "\"\\u12\"", MC_E_SYNTAX, 1 }, { "\"\\u12g4\"", MC_E_SYNTAX, 1 }, { "\"a\nb\"", MC_E_SYNTAX, 2 },
        { "\"\xff\"", MC_E_SYNTAX, 1 }, { "\"\xc0\x80\"", MC_E_SYNTAX, 1 }, { "\"\xed\xa0\x80\"", MC_E_SYNTAX, 1 }, { "{} x", MC_E_SYNTAX, 3 },
        { "[1]]", MC_E_SYNTAX, 3 }, { "{]", MC_E_SYNTAX, 1 }, { "[}", MC_E_SYNTAX, 1 }, { "\xef\xbb\xbf{}", MC_E_SYNTAX, 0 }, { "/* */ 1", MC_E_SYNTAX, 0 },
    };
    check(rows, MC_COUNT(rows), false);
    check(rows, MC_COUNT(rows), true);
}

static void python_mode_takes_its_extras(void **state)
{
    (void)state;
    static const row python[] = {
        { "NaN", MC_OK, 0 }, { "[Infinity,-Infinity]", MC_OK, 0 }, { "\"\\ud800\"", MC_OK, 0 }, { "\"\\udc00x\"", MC_OK, 0 },
        { "\"\\ud800\\u0041\"", MC_OK, 0 }, { "nan", MC_E_SYNTAX, 0 }, { "-NaN", MC_E_SYNTAX, 1 }, { "inf", MC_E_SYNTAX, 0 },
    };
    static const row strict[] = {
        { "NaN", MC_E_SYNTAX, 0 }, { "[Infinity]", MC_E_SYNTAX, 1 }, { "-Infinity", MC_E_SYNTAX, 1 }, { "\"\\ud800\"", MC_E_SYNTAX, 1 },
        { "\"a\\udc00\"", MC_E_SYNTAX, 2 }, { "\"\\ud800\\u0041\"", MC_E_SYNTAX, 1 }, { "\"\\ud800\\ud800\"", MC_E_SYNTAX, 1 },
    };
    check(python, MC_COUNT(python), true);
    check(strict, MC_COUNT(strict), false);
    mc_json j = mc_json_of(SPAN("[1, NaN, Infinity]"));
    j.python = true;
    assert_true(mc_json_skip(&j));
    assert_int_equal(j.literal - j.beg, 4); /* the first of them */
}

static void depth_is_64(void **state)
{
    (void)state;
    char text[2 * 65 + 1];
    for (unsigned depth = 63; depth <= 65; depth++)
        for (int kind = 0; kind < 2; kind++) {
            memset(text, '[', depth);
            memset(text + depth, ']', depth);
            mc_span doc = { (const uint8_t *)text, 2 * (size_t)depth };
            mc_err  e = scan(doc, kind);
            assert_int_equal(e.code, depth > 64 ? MC_E_LIMIT : MC_OK);
            assert_true(depth <= 64 || e.at == 64);
        }
}

static void long_nesting_is_bounded(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    char *text = test_malloc(N);
    memset(text, '[', N);
    assert_int_equal(scan((mc_span){ (const uint8_t *)text, N }, false).code, MC_E_LIMIT);
    test_free(text);
}

static void reads_unsigned_integers(void **state)
{
    (void)state;
    static const struct { const char *text; mc_code code; uint64_t value; } rows[] = {
        { "0", MC_OK, 0 }, { "  42,", MC_OK, 42 }, { "999999999999999999", MC_OK, UINT64_C(999999999999999999) },
        { "18446744073709551615", MC_OK, UINT64_MAX }, { "18446744073709551616", MC_E_RANGE, 0 }, { "99999999999999999999999999", MC_E_RANGE, 0 },
        { "-1", MC_E_SYNTAX, 0 }, { "1.0", MC_E_SYNTAX, 0 }, { "1e3", MC_E_SYNTAX, 0 }, { "007", MC_E_SYNTAX, 0 }, { "\"1\"", MC_E_SYNTAX, 0 },
        { "", MC_E_SYNTAX, 0 }, { "true", MC_E_SYNTAX, 0 },
    };
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        uint64_t v = 0;
        mc_json  j = mc_json_of(SPAN(rows[i].text));
        assert_true(mc_json_u64(&j, &v) == (rows[i].code == MC_OK));
        assert_int_equal(j.err.code, rows[i].code);
        assert_true(v == rows[i].value);
    }
}

static void walks_members_and_elements(void **state)
{
    (void)state;
    mc_json  j = mc_json_of(SPAN("{\"a\" : [1, 2,3], \"b\\n\":{}}"));
    mc_str   key;
    bool     escaped;
    unsigned members = 0;
    uint64_t sum = 0, v;
    assert_true(mc_json_lit(&j, '{'));
    for (bool first = true; mc_json_member(&j, &first, &key, &escaped); members++) {
        assert_str(key, members ? "b\\n" : "a");
        assert_int_equal(escaped, members == 1);
        if (members) {
            assert_true(mc_json_skip(&j));
            continue;
        }
        assert_true(mc_json_lit(&j, '['));
        for (bool e = true; mc_json_element(&j, &e); sum += v)
            assert_true(mc_json_u64(&j, &v));
    }
    assert_int_equal(members, 2);
    assert_true(sum == 6);
    assert_true(mc_json_end(&j));
}

static void a_failure_ends_the_walk(void **state)
{
    (void)state;
    static const char *const bad[] = { "{\"a\":1", "{\"a\":1,}", "{,", "{\"a\":1 \"b\":1}", "{\"a\"}", "{1:1}" };
    for (size_t i = 0; i < MC_COUNT(bad); i++) {
        mc_json  j = mc_json_of(SPAN(bad[i]));
        mc_str   key;
        bool     escaped, first = true;
        unsigned turns = 0;
        assert_true(mc_json_lit(&j, '{'));
        while (mc_json_member(&j, &first, &key, &escaped) && mc_json_skip(&j))
            assert_true(++turns < 10);
        assert_int_not_equal(j.err.code, MC_OK);
        assert_false(mc_json_end(&j));
    }
}

static void unescapes(void **state)
{
    (void)state;
    static const struct { const char *raw, *text; } rows[] = {
        { "plain", "plain" }, { "\\\"\\\\\\/", "\"\\/" }, { "\\b\\f\\n\\r\\t", "\b\f\n\r\t" }, { "\\u0041\\u00e9\\u20AC", "A\xc3\xa9\xe2\x82\xac" },
        { "\\ud83d\\ude00", "\xf0\x9f\x98\x80" }, { "\\ud800x", "\xef\xbf\xbdx" }, { "\\udc00\\ud800", "\xef\xbf\xbd\xef\xbf\xbd" },
        { "\\ud83d\\u0041", "\xef\xbf\xbd" "A" },
    };
    mc_arena a = arena_new();
    for (size_t i = 0; i < MC_COUNT(rows); i++)
        assert_str(mc_json_unescape(&a, S(rows[i].raw), true), rows[i].text);
    mc_str nul = mc_json_unescape(&a, S("a\\u0000b"), true);
    assert_int_equal(nul.n, 3);
    assert_memory_equal(nul.p, "a\0b", 3);
    mc_arena_free(&a);
}

/* The scanner looks at 16 bytes at once: every special byte at every position of the stride. */
static void strings_of_every_length(void **state)
{
    (void)state;
    static const char *const inner[] = { "\\n", "\xc3\xa9", "\x7f", "\\u0041" };
    char text[80];
    for (size_t len = 0; len < 40; len++)
        for (size_t k = 0; k < MC_COUNT(inner); k++) {
            size_t n = strlen(inner[k]);
            text[0] = '"';
            memset(text + 1, 'x', len);
            memcpy(text + 1 + len, inner[k], n);
            memset(text + 1 + len + n, 'y', 17);
            text[len + n + 18] = '"';
            mc_span doc = { (const uint8_t *)text, len + n + 19 };
            assert_int_equal(scan(doc, false).code, MC_OK);
            doc.n--;
            assert_int_equal(scan(doc, false).code, MC_E_TRUNCATED);
            text[1 + len] = '\x1f';
            assert_int_equal(scan(doc, false).code, MC_E_SYNTAX);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_the_standard_takes), cmocka_unit_test(refuses_what_the_standard_refuses),
        cmocka_unit_test(python_mode_takes_its_extras),  cmocka_unit_test(depth_is_64),
        cmocka_unit_test(long_nesting_is_bounded),       cmocka_unit_test(reads_unsigned_integers),
        cmocka_unit_test(walks_members_and_elements),    cmocka_unit_test(a_failure_ends_the_walk),
        cmocka_unit_test(unescapes),                     cmocka_unit_test(strings_of_every_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
