/* Text slices, UTF-8, numbers in text, glob patterns. */
#include "unit.h"

static void compares(void **state)
{
    (void)state;
    assert_true(mc_str_eq(S("abc"), S("abc")));
    assert_true(mc_str_eq((mc_str){ NULL, 0 }, S("")));
    assert_false(mc_str_eq(S("abc"), S("abd")));
    assert_true(mc_str_cmp(S("a"), S("b")) < 0);
    assert_true(mc_str_cmp(S("a"), S("aa")) < 0);
    assert_true(mc_str_cmp(S("\x80"), S("a")) > 0); /* bytes, not signed chars */
    assert_int_equal(mc_str_cmp(S("a"), S("a")), 0);
    assert_true(mc_str_starts(S("model-1"), "model"));
    assert_false(mc_str_starts(S("mod"), "model"));
    assert_true(mc_str_ends(S("a.gguf"), ".gguf"));
    assert_false(mc_str_ends(S("gguf"), ".gguf"));
    assert_true(mc_str_ends_nocase(S("a.GGuf"), ".gguf"));
    assert_true(mc_str_contains(S("abcabd"), "abd"));
    assert_false(mc_str_contains(S("ab"), "abc"));
    assert_true(mc_str_contains_nocase(S("xABCx"), "abc"));
}

static void cuts(void **state)
{
    (void)state;
    assert_str(mc_str_cut(S("abcdef"), 2, 4), "cd");
    assert_str(mc_str_cut(S("abc"), 2, 99), "c");
    assert_str(mc_str_cut(S("abc"), 9, 99), "");
    assert_str(mc_str_cut(S("abc"), 2, 1), "");
    assert_str(mc_str_base(S("a/b/c.json")), "c.json");
    assert_str(mc_str_base(S("c.json")), "c.json");
    assert_str(mc_str_base(S("a/")), "");
    assert_str(mc_str_dir(S("a/b/c.json")), "a/b/");
    assert_str(mc_str_dir(S("c.json")), "");
    assert_int_equal(mc_str_find(S("abc"), 'c'), 2);
    assert_int_equal(mc_str_find(S("abc"), 'x'), 3);
    assert_true(mc_str_rfind(S("aba"), 'a') == 2);
    assert_true(mc_str_rfind(S("aba"), 'x') == SIZE_MAX);
    assert_str(mc_str_of(NULL), "");
}

static void reads_numbers(void **state)
{
    (void)state;
    uint64_t v = 7;
    assert_true(mc_str_u64(S("0"), &v) && v == 0);
    assert_true(mc_str_u64(S("00042"), &v) && v == 42);
    assert_true(mc_str_u64(S("18446744073709551615"), &v) && v == UINT64_MAX);
    v = 7;
    assert_false(mc_str_u64(S("18446744073709551616"), &v));
    assert_false(mc_str_u64(S("99999999999999999999999"), &v));
    assert_false(mc_str_u64(S(""), &v));
    assert_false(mc_str_u64(S("-1"), &v));
    assert_false(mc_str_u64(S("+1"), &v));
    assert_false(mc_str_u64(S("1 "), &v));
    assert_int_equal(v, 7);
}

static void knows_utf8(void **state)
{
    (void)state;
    static const char *const good[] = { "", "abc", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf", "\xee\x80\x80" };
    static const char *const bad[] = { "\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf",
                                       "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "a\xffz", "\xc3(" };
    for (size_t i = 0; i < MC_COUNT(good); i++)
        assert_true(mc_utf8_valid(SPAN(good[i])));
    for (size_t i = 0; i < MC_COUNT(bad); i++)
        assert_false(mc_utf8_valid(SPAN(bad[i])));
}

static void globs(void **state)
{
    (void)state;
    static const struct { const char *pattern, *text; bool match; } rows[] = {
        { "", "", true }, { "", "a", false }, { "*", "", true }, { "*", "abc", true }, { "a*c", "abbc", true }, { "a*c", "abbd", false },
        { "*.json", "config.json", true }, { "*.json", "config.jsonx", false }, { "a?c", "abc", true }, { "a?c", "ac", false },
        { "[abc]x", "bx", true }, { "[a-c]x", "dx", false }, { "[!a-c]x", "dx", true }, { "[^a]", "a", false }, { "[]]", "]", true },
        { "[a", "[a", true }, { "model-*-of-*.safetensors", "model-00001-of-00002.safetensors", true }, { "**a**", "bab", true },
        { "*a*b*c*", "xxaxxbxxcxx", true }, { "*a*b*c*", "xxaxxcxxbxx", false }, { "?", "", false },
    };
    for (size_t i = 0; i < MC_COUNT(rows); i++)
        if (mc_glob(S(rows[i].pattern), S(rows[i].text)) != rows[i].match)
            fail_msg("glob %s against %s", rows[i].pattern, rows[i].text);
}

/* A backtracking matcher would need more steps here than there are atoms. */
static void globs_in_linear_time(void **state)
{
    (void)state;
    char pattern[200], text[2001];
    for (size_t i = 0; i < 198; i += 2)
        memcpy(pattern + i, "a*", 2);
    memcpy(pattern + 198, "b", 2);
    memset(text, 'a', 2000);
    text[2000] = 0;
    assert_false(mc_glob(S(pattern), S(text)));
}

static void finds_words(void **state)
{
    (void)state;
    static const char *const words[] = { "gate", "up_", NULL }, *const none[] = { NULL };
    assert_true(mc_str_is_any(MC_STR("gate"), words));
    assert_false(mc_str_is_any(MC_STR("gate_"), words));
    assert_true(mc_str_starts_any(MC_STR("up_proj"), words));
    assert_false(mc_str_starts_any(MC_STR("an up_"), words));
    assert_true(mc_str_ends_any(MC_STR("mlp.gate"), words));
    assert_false(mc_str_ends_any(MC_STR("gated"), words));
    assert_true(mc_str_contains_any(MC_STR("a.up_.b"), words));
    assert_false(mc_str_contains_any(MC_STR("a.UP_.b"), words));
    assert_true(mc_str_contains_any_nocase(MC_STR("a.UP_.b"), words));
    assert_false(mc_str_contains_any_nocase(MC_STR("down"), words));
    assert_false(mc_str_is_any(MC_STR(""), none));
}

static void takes_last_parts(void **state)
{
    (void)state;
    assert_true(mc_str_is(mc_str_last(MC_STR("model.layers.0.up_proj")), "up_proj"));
    assert_true(mc_str_is(mc_str_last(MC_STR("weight")), "weight"));
    assert_true(mc_str_is(mc_str_last(MC_STR("weight.")), ""));
    assert_true(mc_str_is(mc_str_last(MC_STR("")), ""));
}

static void folds_ascii_only(void **state)
{
    (void)state;
    mc_arena a;
    mc_arena_init(&a, 1 << 16);
    assert_true(mc_str_is(mc_str_lower(&a, MC_STR("NVFP4_@[`{\xC3\x84")), "nvfp4_@[`{\xC3\x84"));
    assert_int_equal(mc_to_upper('z'), 'Z');
    assert_int_equal(mc_to_upper('{'), '{');
    assert_int_equal(mc_to_lower('['), '[');
    mc_arena_free(&a);
}

static void remembers_overflow(void **state)
{
    (void)state;
    bool over = false;
    assert_int_equal(mc_mul(&over, 1u << 16, 1u << 16), UINT64_C(1) << 32);
    assert_int_equal(mc_add(&over, UINT64_MAX, 0), UINT64_MAX);
    assert_false(over);
    assert_int_equal(mc_add(&over, UINT64_MAX, 1), 0);
    assert_true(over);
    assert_int_equal(mc_mul(&over, 2, 3), 6);
    assert_true(over); /* stays */
    over = false;
    assert_int_equal(mc_mul(&over, UINT64_C(1) << 32, UINT64_C(1) << 32), 0);
    assert_true(over);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compares), cmocka_unit_test(cuts),  cmocka_unit_test(reads_numbers),
        cmocka_unit_test(knows_utf8), cmocka_unit_test(globs), cmocka_unit_test(globs_in_linear_time),
        cmocka_unit_test(finds_words), cmocka_unit_test(takes_last_parts), cmocka_unit_test(folds_ascii_only), cmocka_unit_test(remembers_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
