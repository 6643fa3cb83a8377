/* Predicates: three values, comparisons, lists, absence, versions, placeholders, the strict check. */
#include "unit.h"

#include "facts_of.h"

static mc_arena a;

static int setup(void **state)
{
    (void)state;
    a = arena_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mc_arena_free(&a);
    return 0;
}

static const mc_value *tree(const char *text)
{
    mc_err          err;
    const mc_value *v = mc_json_tree(&a, SPAN(text), &err, NULL);
    if (!v)
        fail_msg("not JSON: %s", text);
    return v;
}

static mc_three ask(const char *facts, const char *predicate, mc_str *because)
{
    json_facts f = { &a, tree(facts) };
    mc_facts   provider = { json_get, json_count, &f };
    mc_faults  faults = { .arena = &a };
    if (!mc_predicate_check(tree(predicate), &faults))
        fail_msg("%s: %.*s", predicate, MC_FMT(faults.v[0].what));
    return mc_predicate_eval(tree(predicate), &provider, MC_SCOPE_MODEL, because);
}

static const char facts[] = "{\"tp\": 2, \"name\": \"a-4bit\", \"sym\": true, \"kind\": \"?\", \"config.x\": 1.5, \"gguf.types\": [\"Q4_K\", \"F32\"],"
                            " \"files.names\": [], \"target_version\": \"0.12.0\", \"config.deep\": \"text\"}";

typedef struct { const char *predicate; mc_three want; } row;

static void compare(const row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        mc_three got = ask(facts, rows[i].predicate, NULL);
        if (got != rows[i].want)
            fail_msg("%s: %d, want %d", rows[i].predicate, (int)got, (int)rows[i].want);
    }
}

#define LEAF(fact, op, args) "{\"fact\": \"" fact "\", \"op\": \"" op "\", \"args\": " args "}"

static void comparisons(void **state)
{
    static const row rows[] = {
        { LEAF("tp", "eq", "[2]"), MC_TRUE }, { LEAF("tp", "eq", "[3]"), MC_FALSE }, { LEAF("tp", "ne", "[3]"), MC_TRUE }, { LEAF("tp", "eq", "[2.0]"), MC_TRUE },
        { LEAF("tp", "lt", "[3]"), MC_TRUE }, { LEAF("tp", "le", "[2]"), MC_TRUE }, { LEAF("tp", "gt", "[2]"), MC_FALSE }, { LEAF("tp", "ge", "[2]"), MC_TRUE },
        { LEAF("tp", "in", "[1, 2]"), MC_TRUE }, { LEAF("tp", "not_in", "[1, 2]"), MC_FALSE }, { LEAF("tp", "in", "[\"2\"]"), MC_MAYBE }, { LEAF("tp", "ne", "[\"2\"]"), MC_MAYBE },
        { LEAF("tp", "in", "[\"x\", 3]"), MC_FALSE }, { LEAF("name", "glob", "[\"*-4bit\"]"), MC_TRUE }, { LEAF("name", "glob", "[\"b*\", \"c*\"]"), MC_FALSE },
        { LEAF("tp", "glob", "[\"*\"]"), MC_MAYBE }, { LEAF("sym", "eq", "[true]"), MC_TRUE }, { LEAF("sym", "ne", "[true]"), MC_FALSE }, { LEAF("sym", "gt", "[0]"), MC_MAYBE },
        { LEAF("config.x", "gt", "[1]"), MC_TRUE }, { LEAF("config.x", "lt", "[1.5]"), MC_FALSE }, { LEAF("config.deep", "gt", "[0]"), MC_MAYBE },
        { LEAF("target_version", "lt", "[\"0.12.1\"]"), MC_TRUE }, { LEAF("target_version", "ge", "[\"0.12\"]"), MC_TRUE }, { LEAF("target_version", "ge", "[\"0.9.9\"]"), MC_TRUE },
    };
    (void)state;
    compare(rows, MC_COUNT(rows));
}

static void absent_and_unknown(void **state)
{
    static const row rows[] = {
        { LEAF("kind", "eq", "[\"x\"]"), MC_MAYBE }, { LEAF("kind", "ne", "[\"x\"]"), MC_MAYBE }, { LEAF("kind", "in", "[null]"), MC_MAYBE }, { "{\"fact\": \"kind\", \"op\": \"known\"}", MC_MAYBE },
        { "{\"not\": {\"fact\": \"kind\", \"op\": \"known\"}}", MC_MAYBE },
        { LEAF("license", "eq", "[\"x\"]"), MC_MAYBE }, { LEAF("license", "not_in", "[\"x\"]"), MC_MAYBE }, { LEAF("license", "eq", "[null]"), MC_TRUE },
        { LEAF("license", "ne", "[null]"), MC_FALSE }, { LEAF("tp", "eq", "[null]"), MC_FALSE }, { LEAF("tp", "ne", "[null]"), MC_TRUE }, { LEAF("license", "in", "[null, \"x\"]"), MC_TRUE },
        { LEAF("license", "gt", "[1]"), MC_MAYBE }, { "{\"fact\": \"license\", \"op\": \"known\"}", MC_FALSE }, { "{\"not\": {\"fact\": \"license\", \"op\": \"known\"}}", MC_TRUE },
        { "{\"fact\": \"tp\", \"op\": \"known\", \"args\": []}", MC_TRUE },
    };
    (void)state;
    compare(rows, MC_COUNT(rows));
}

static void lists(void **state)
{
    static const row rows[] = {
        { LEAF("gguf.types", "in", "[\"F32\"]"), MC_TRUE }, { LEAF("gguf.types", "eq", "[\"F32\"]"), MC_TRUE }, { LEAF("gguf.types", "in", "[\"F16\"]"), MC_FALSE },
        { LEAF("gguf.types", "not_in", "[\"F16\"]"), MC_TRUE }, { LEAF("gguf.types", "ne", "[\"F32\"]"), MC_FALSE }, { LEAF("gguf.types", "glob", "[\"Q4_*\"]"), MC_TRUE },
        { LEAF("files.names", "in", "[\"x\"]"), MC_FALSE }, { LEAF("files.names", "not_in", "[\"x\"]"), MC_TRUE }, { LEAF("files.names", "gt", "[1]"), MC_FALSE },
        { "{\"fact\": \"files.names\", \"op\": \"known\"}", MC_TRUE },
    };
    (void)state;
    compare(rows, MC_COUNT(rows));
}

#define T LEAF("tp", "eq", "[2]")
#define F LEAF("tp", "eq", "[3]")
#define M LEAF("kind", "eq", "[\"x\"]")

static void kleene(void **state)
{
    static const row rows[] = {
        { "{\"all\": [" T "," T "]}", MC_TRUE }, { "{\"all\": [" T "," M "]}", MC_MAYBE }, { "{\"all\": [" M "," F "]}", MC_FALSE }, { "{\"all\": [" F "," M "]}", MC_FALSE },
        { "{\"any\": [" M "," T "]}", MC_TRUE }, { "{\"any\": [" M "," F "]}", MC_MAYBE }, { "{\"any\": [" F "," F "]}", MC_FALSE }, { "{\"not\": " M "}", MC_MAYBE },
        { "{\"not\": " T "}", MC_FALSE }, { "{\"not\": {\"all\": [" M "," F "]}}", MC_TRUE }, { "{\"any\": [{\"all\": [" T "," M "]}, {\"not\": " F "}]}", MC_TRUE },
        { "{\"all\": [{\"any\": [" F "," M "]}, {\"not\": {\"not\": " T "}}]}", MC_MAYBE },
    };
    mc_str because;
    (void)state;
    compare(rows, MC_COUNT(rows));
    assert_int_equal(ask(facts, "{\"all\": [" T "," M "]}", &because), MC_MAYBE);
    assert_str(because, "kind");
    assert_int_equal(ask(facts, "{\"all\": [" F "," M "]}", &because), MC_FALSE);
    assert_int_equal(because.n, 0);
}

/* All 27 combinations of all, any over three values agree with minimum and maximum. */
static void kleene_table(void **state)
{
    static const mc_three order[] = { MC_FALSE, MC_MAYBE, MC_TRUE };
    (void)state;
    for (int x = 0; x < 3; x++)
        for (int y = 0; y < 3; y++) {
            assert_int_equal(mc_three_and(order[x], order[y]), order[x < y ? x : y]);
            assert_int_equal(mc_three_or(order[x], order[y]), order[x > y ? x : y]);
            assert_int_equal(mc_three_not(order[x]), order[2 - x]);
        }
}

static void faults(void **state)
{
    static const char *const bad[] = {
        "[]", "{}", "{\"all\": []}", "{\"all\": {}}", "{\"not\": []}", "{\"any\": [1]}", "{\"all\": [" T "], \"x\": 1}", LEAF("no_such", "eq", "[1]"), LEAF("tp", "is", "[1]"),
        LEAF("tp", "eq", "[]"), LEAF("tp", "eq", "[1, 2]"), LEAF("tp", "in", "[]"), LEAF("tp", "known", "[1]"), LEAF("tp", "eq", "1"), LEAF("tp", "lt", "[true]"), LEAF("tp", "glob", "[1]"),
        "{\"fact\": \"tp\", \"op\": \"eq\", \"args\": [1], \"arg\": 2}", "{\"fact\": 1, \"op\": \"eq\", \"args\": [1]}", "{\"fact\": \"tp\", \"op\": \"eq\"}", LEAF("tp", "in", "[[1]]"),
        "{\"not\": {\"not\": {\"all\": [" LEAF("config.", "eq", "[1]") "]}}}",
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(bad); i++) {
        mc_faults f = { .arena = &a };
        if (mc_predicate_check(tree(bad[i]), &f) || f.n == 0)
            fail_msg("taken: %s", bad[i]);
    }
}

static void versions(void **state)
{
    static const struct { const char *text; bool build, good; uint32_t part[4]; unsigned written; } rows[] = {
        { "0.11", false, true, { 0, 11, 0, 0 }, 2 }, { "v0.11.2", false, true, { 0, 11, 2, 0 }, 3 }, { "0.10.1.1", false, true, { 0, 10, 1, 1 }, 4 }, { "b10573", true, true, { 10573 }, 1 },
        { "10573", true, true, { 10573 }, 1 }, { "b10573", false, false, { 0 }, 0 }, { "0.33.0rc1", false, true, { 0, 33, 0, 0 }, 3 }, { "0.33.0-rc2", false, true, { 0, 33, 0, 0 }, 3 },
        { "0.5.18.post1", false, true, { 0, 5, 18, 0 }, 3 }, { "2.0.0+cu128", false, true, { 2, 0, 0, 0 }, 3 }, { "1.2.0.dev3+gabc", false, true, { 1, 2, 0, 0 }, 3 }, { "", false, false, { 0 }, 0 },
        { "v", false, false, { 0 }, 0 }, { "latest", false, false, { 0 }, 0 }, { "1.", false, false, { 0 }, 0 }, { "1..2", false, false, { 0 }, 0 }, { ".1", false, false, { 0 }, 0 },
        { "1.2.3.4.5", false, false, { 0 }, 0 }, { "99999999999", false, false, { 0 }, 0 }, { "1.2x", false, false, { 0 }, 0 }, { "-1", false, false, { 0 }, 0 }, { "1 2", false, false, { 0 }, 0 },
        { "4294967295", false, true, { 4294967295u }, 1 }, { "4294967296", false, false, { 0 }, 0 }, { "0.11.0 ", false, false, { 0 }, 0 },
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        mc_version v;
        bool       good = mc_version_parse(S(rows[i].text), rows[i].build, &v);
        if (good != rows[i].good || (good && (memcmp(v.part, rows[i].part, sizeof v.part) != 0 || v.written != rows[i].written)))
            fail_msg("version \"%s\"", rows[i].text);
    }
    mc_version x, y;
    assert_true(mc_version_parse(S("0.9"), false, &x) && mc_version_parse(S("0.11"), false, &y));
    assert_true(mc_version_cmp(&x, &y) < 0 && mc_version_cmp(&y, &x) > 0);
    assert_true(mc_version_parse(S("0.11.0"), false, &x));
    assert_int_equal(mc_version_cmp(&x, &y), 0);
}

static void placeholders(void **state)
{
    json_facts f = { &a, tree(facts) };
    mc_facts   provider = { json_get, json_count, &f };
    bool       hole = false;
    mc_faults  none = { .arena = &a };
    (void)state;
    assert_str(mc_fill(&a, S("tp {tp} of {name}, {gguf.types}"), &provider, MC_SCOPE_MODEL, &hole), "tp 2 of a-4bit, Q4_K, F32");
    assert_false(hole);
    assert_str(mc_fill(&a, S("{license}{ x }{}{"), &provider, MC_SCOPE_MODEL, &hole), "?{ x }{}{");
    assert_true(hole);
    assert_true(mc_fill_check(tree("\"{tp} {config.any} {\""), &none));
    assert_false(mc_fill_check(tree("\"{tpp}\""), &none));
}

/* Every fact that data may name is found in the list, which is sorted. */
static void names(void **state)
{
    (void)state;
    for (size_t i = 0; mc_fact_name(i); i++) {
        assert_true(mc_fact_exists(S(mc_fact_name(i))));
        if (i && strcmp(mc_fact_name(i - 1), mc_fact_name(i)) >= 0)
            fail_msg("%s is out of order", mc_fact_name(i));
    }
    assert_false(mc_fact_exists(S("config.")));
    assert_true(mc_fact_exists(S("file.params_json")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparisons), cmocka_unit_test(absent_and_unknown), cmocka_unit_test(lists), cmocka_unit_test(kleene), cmocka_unit_test(kleene_table),
        cmocka_unit_test(faults), cmocka_unit_test(versions), cmocka_unit_test(placeholders), cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
