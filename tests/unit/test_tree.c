/* JSON documents as trees: types, look-up, the last of equal keys, numbers at their edges, positions. */
#include <math.h>

#include "unit.h"

static mc_value *parse(mc_arena *a, const char *text)
{
    mc_err    e;
    mc_value *v = mc_json_tree(a, SPAN(text), &e, NULL);
    if (!v)
        fail_msg("%s: %s at %d", text, e.what, (int)e.at);
    return v;
}

static void looks_up(void **state)
{
    (void)state;
    mc_arena  a = arena_new();
    mc_value *v = parse(&a, "{\"a\":{\"b\":[10,\"x\",true,null]},\"n\":1.5,\"Key\":1,\"e\":{},\"l\":[]}");
    int64_t   i = 0;
    double    d = 0;
    bool      b = false;
    assert_true(mc_as_int(mc_item(mc_at(v, "/a/b"), 0), &i) && i == 10);
    assert_str(mc_as_str(mc_item(mc_at(v, "/a/b"), 1)), "x");
    assert_true(mc_as_bool(mc_item(mc_at(v, "/a/b"), 2), &b) && b);
    assert_true(mc_is(mc_item(mc_at(v, "/a/b"), 3), MC_NULL));
    assert_null(mc_item(mc_at(v, "/a/b"), 4));
    assert_true(mc_as_number(mc_get(v, "n"), &d));
    assert_true(d > 1.4 && d < 1.6);
    assert_null(mc_get(v, "key")); /* case counts */
    assert_null(mc_at(v, "/a/x/y"));
    assert_null(mc_get(mc_get(v, "n"), "x"));
    assert_null(mc_get(NULL, "x"));
    assert_int_equal(mc_get(v, "e")->n, 0);
    assert_int_equal(mc_get(v, "l")->n, 0);
    assert_true(mc_has_str(mc_at(v, "/a/b"), "x"));
    assert_false(mc_has_str(mc_at(v, "/a/b"), "y"));
    assert_false(mc_has_str(NULL, "y"));
    assert_null(mc_as_str(mc_get(v, "n")).p);
    mc_arena_free(&a);
}

static void the_last_of_equal_keys_counts(void **state)
{
    (void)state;
    mc_arena a = arena_new();
    int64_t  i = 0;
    assert_true(mc_as_int(mc_get(parse(&a, "{\"a\":1,\"b\":0,\"a\":2}"), "a"), &i) && i == 2);
    assert_true(mc_as_int(mc_get(parse(&a, "{\"a\":1,\"\\u0061\":3}"), "a"), &i) && i == 3);
    mc_arena_free(&a);
}

static void keeps_integers_exact(void **state)
{
    (void)state;
    static const struct { const char *text; mc_type type; bool is_int; int64_t value; } rows[] = {
        { "9223372036854775807", MC_INT, true, INT64_MAX }, { "-9223372036854775808", MC_INT, true, INT64_MIN },
        { "9223372036854775808", MC_REAL, false, 0 }, { "-9223372036854775809", MC_REAL, false, 0 }, { "9007199254740993", MC_INT, true, 9007199254740993 },
        { "0", MC_INT, true, 0 }, { "-0", MC_INT, true, 0 }, { "2.0", MC_REAL, true, 2 }, { "1e3", MC_REAL, true, 1000 }, { "2.5", MC_REAL, false, 0 },
        { "1e300", MC_REAL, false, 0 }, { "NaN", MC_REAL, false, 0 }, { "Infinity", MC_REAL, false, 0 }, { "-Infinity", MC_REAL, false, 0 },
        { "true", MC_BOOL, false, 0 }, { "\"1\"", MC_STRING, false, 0 },
    };
    mc_arena a = arena_new();
    for (size_t k = 0; k < MC_COUNT(rows); k++) {
        mc_value *v = parse(&a, rows[k].text);
        int64_t   i = 0;
        if (v->type != rows[k].type || mc_as_int(v, &i) != rows[k].is_int || i != rows[k].value)
            fail_msg("%s: type %d", rows[k].text, (int)v->type);
    }
    double d = 0;
    assert_true(mc_as_number(parse(&a, "NaN"), &d) && isnan(d));
    assert_true(mc_as_number(parse(&a, "-Infinity"), &d) && isinf(d) && d < 0);
    assert_true(mc_as_number(parse(&a, "1e999"), &d) && isinf(d));
    assert_false(mc_as_number(parse(&a, "\"1\""), &d));
    mc_arena_free(&a);
}

static void tells_the_first_literal(void **state)
{
    (void)state;
    mc_arena a = arena_new();
    mc_err   e;
    uint64_t at = 0;
    assert_non_null(mc_json_tree(&a, SPAN("{\"a\":1,\"b\":Infinity,\"c\":NaN}"), &e, &at));
    assert_true(at == 11);
    assert_non_null(mc_json_tree(&a, SPAN("{\"a\":\"NaN\"}"), &e, &at));
    assert_true(at == UINT64_MAX);
    mc_arena_free(&a);
}

static void refuses_with_the_place(void **state)
{
    (void)state;
    static const struct { const char *text; mc_code code; uint64_t at; } rows[] = {
        { "", MC_E_TRUNCATED, 0 }, { "{\"a\":}", MC_E_SYNTAX, 5 }, { "{} {}", MC_E_SYNTAX, 3 }, { "[1,2", MC_E_TRUNCATED, 4 }, { "{\"a\":1,}", MC_E_SYNTAX, 7 },
    };
    mc_arena a = arena_new();
    for (size_t k = 0; k < MC_COUNT(rows); k++) {
        mc_err e;
        assert_null(mc_json_tree(&a, SPAN(rows[k].text), &e, NULL));
        assert_int_equal(e.code, rows[k].code);
        assert_true(e.at == rows[k].at);
        assert_non_null(e.what);
    }
    mc_arena_free(&a);
}

static void depth_is_64(void **state)
{
    (void)state;
    char     text[2 * 65];
    mc_arena a = arena_new();
    for (size_t depth = 63; depth <= 65; depth++) {
        mc_err e;
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        mc_value *v = mc_json_tree(&a, (mc_span){ (const uint8_t *)text, 2 * depth }, &e, NULL);
        assert_int_equal(v != NULL, depth <= 64);
        assert_int_equal(e.code, depth <= 64 ? MC_OK : MC_E_LIMIT);
    }
    mc_arena_free(&a);
}

static void memory_is_bounded(void **state)
{
    (void)state;
    enum { N = 1 << 16 };
    char *text = test_malloc(N);
    for (size_t i = 0; i < N; i += 2)
        memcpy(text + i, i ? ",0" : "[0", 2);
    text[N - 1] = ']';
    text[N - 2] = '0';
    text[N - 3] = ' ';
    mc_arena a;
    mc_err   e;
    mc_arena_init(&a, 100000);
    assert_null(mc_json_tree(&a, (mc_span){ (const uint8_t *)text, N }, &e, NULL));
    assert_int_not_equal(e.code, MC_OK);
    mc_arena_free(&a);
    test_free(text);
}

static void lines_and_columns(void **state)
{
    (void)state;
    unsigned line = 0, col = 0;
    mc_json_line_col(SPAN("ab\ncd\n"), 0, &line, &col);
    assert_true(line == 1 && col == 1);
    mc_json_line_col(SPAN("ab\ncd\n"), 4, &line, &col);
    assert_true(line == 2 && col == 2);
    mc_json_line_col(SPAN("ab\n"), 3, &line, &col);
    assert_true(line == 2 && col == 1);
    mc_json_line_col(SPAN("ab"), 99, &line, &col); /* beyond the end: the end */
    assert_true(line == 1);
}

static void flags(void **state)
{
    mc_err   err;
    mc_arena a;
    (void)state;
    mc_arena_init(&a, 1 << 16);
    mc_str          text = MC_STR("{\"on\": true, \"off\": false, \"one\": 1, \"word\": \"true\"}");
    const mc_value *v = mc_json_tree(&a, (mc_span){ (const uint8_t *)text.p, text.n }, &err, NULL);
    assert_true(mc_flag(v, "on"));
    assert_false(mc_flag(v, "off") || mc_flag(v, "one") || mc_flag(v, "word") || mc_flag(v, "none") || mc_flag(NULL, "on"));
    mc_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looks_up), cmocka_unit_test(the_last_of_equal_keys_counts), cmocka_unit_test(keeps_integers_exact),
        cmocka_unit_test(tells_the_first_literal), cmocka_unit_test(refuses_with_the_place), cmocka_unit_test(depth_is_64),
        cmocka_unit_test(memory_is_bounded), cmocka_unit_test(flags), cmocka_unit_test(lines_and_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
