#include "unit.h"

#include "model/matcher.h"

#include <stdio.h>
#include <time.h>

static mc_arena arena;

static mc_pattern make(const char *text, mc_dialect d)
{
    return mc_pattern_make(&arena, S(text), d, (mc_origin){ 0 });
}

static mc_tri own(const char *pattern, mc_dialect d, const char *module)
{
    mc_pattern p = make(pattern, d);
    return mc_pattern_matches(&p, S(module));
}

static bool any(const char *pattern, mc_dialect d, const char *module)
{
    mc_pattern p = make(pattern, d);
    return mc_pattern_any(&p, S(module));
}

static bool re(const char *pattern, const char *text)
{
    mc_regex *r = mc_regex_compile(&arena, S(pattern));
    assert_non_null(r);
    return mc_regex_match(r, S(text), false);
}

static int setup(void **state)
{
    (void)state;
    arena = arena_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mc_arena_free(&arena);
    return 0;
}

static void test_regex_subset(void **state)
{
    (void)state;
    assert_true(re(".*self_attn.*", "model.layers.0.self_attn.q_proj"));
    assert_true(re("model\\.layers\\.\\d+\\.mlp\\.(gate|up|down)_proj$", "model.layers.17.mlp.up_proj"));
    assert_false(re("model\\.layers\\.\\d+\\.mlp\\.(gate|up|down)_proj$", "model.layers.17.mlp.up_proj_extra"));
    assert_true(re(".*mlp\\.(gate|up|gate_up|down)_proj.*", "x.mlp.gate_up_proj.weight"));
    assert_true(re("^mtp", "mtp.layers.0"));
    assert_false(re("mtp", "model.mtp")); /* anchored at the start, as re.match */
    assert_true(re("[0-9]+", "12"));
    assert_false(re("[^0-9]+$", "12"));
    assert_true(re("a{2,3}$", "aaa"));
    assert_false(re("a{2,3}$", "aaaa"));
    assert_true(re("a{2}$", "aa"));
    assert_true(re("a{0,1}b", "b"));
    assert_true(re("(ab){2,}c", "abababc"));
    assert_false(re("(ab){2,}c", "abc"));
    assert_true(re("(?:ab|cd)*?e", "abcde"));
    assert_true(re("a|", "zzz"));           /* an empty branch matches everything */
    assert_true(re("", "anything"));
    assert_true(re("lm_head|.*embed.*", "model.embed_tokens"));
    assert_false(re("a.c$", "ac"));
    assert_true(re("[\\w.]+_proj$", "a.b.c_proj"));
    assert_true(re("[]x]y", "]y"));
}

static void test_regex_refuses(void **state)
{
    (void)state;
    static const char *const bad[] = { "(?!a)b", "(?=a)", "(?i)a", "(?P<n>a)", "\\bword", "(a)\\1", "*a", "a**", "a{99}", "a{3,2}", "(", ")", "[", "[z-a]", "a\\", "a^b", "a++" };
    for (size_t i = 0; i < MC_COUNT(bad); i++)
        assert_null(mc_regex_compile(&arena, S(bad[i])));
    char longest[2000];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_null(mc_regex_compile(&arena, S(longest)));
    assert_int_equal(own("(?!mtp).*", MC_DIALECT_REGEX, "a"), MC_UNKNOWN);
    assert_false(any("(?!mtp).*", MC_DIALECT_REGEX, "a"));
}

/* Patterns that take a backtracking engine longer than the age of the universe. */
static void test_regex_is_linear(void **state)
{
    (void)state;
    static const char *const evil[] = { "(a+)+$", "(a|a)*$", "(a|aa)+$", "(.*a){12}$", "((a*)*)*$", "(a?){16}a{16}$", "(.*)(.*)(.*)(.*)(.*)(.*)(.*)b$" };
    char     text[4096];
    clock_t  start = clock();
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '!';
    for (size_t i = 0; i < MC_COUNT(evil); i++) {
        mc_regex *r = mc_regex_compile(&arena, S(evil[i]));
        if (r)
            assert_false(mc_regex_match(r, (mc_str){ text, sizeof text }, false));
    }
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 2);
}

static void test_component_boundaries(void **state)
{
    (void)state;
    assert_false(any("mlp.gate", MC_DIALECT_EXACT, "model.layers.0.mlp.gate_up_proj"));
    assert_true(any("mlp.gate", MC_DIALECT_EXACT, "model.layers.0.mlp.gate"));
    assert_false(any("model.layers.0.", MC_DIALECT_EXACT, "model.layers.10.mlp.up_proj"));
    assert_true(any("model.layers.0.", MC_DIALECT_EXACT, "model.layers.0.mlp.up_proj"));
    assert_false(any("model.layers.1", MC_DIALECT_HF, "model.layers.10.mlp.up_proj"));
    assert_int_equal(own("model.layers.1", MC_DIALECT_HF, "model.layers.10.mlp.up_proj"), MC_YES); /* re.match goes on behind it */
    assert_int_equal(own("model.layers.1*", MC_DIALECT_GLOB, "model.layers.17.mlp"), MC_YES);
    assert_int_equal(own("model.layers.1.*", MC_DIALECT_GLOB, "model.layers.17.mlp"), MC_NO);
    assert_true(any("linear_attn.in_proj_qkvz", MC_DIALECT_EXACT, "model.layers.0.linear_attn.in_proj_qkvz"));
    assert_false(any("model.layers.0.linear_attn.in_proj_qkv", MC_DIALECT_EXACT, "model.layers.0.linear_attn.in_proj_qkvz"));
}

static void test_dialects(void **state)
{
    (void)state;
    assert_int_equal(own("lm_head", MC_DIALECT_EXACT, "lm_head"), MC_YES);
    assert_int_equal(own("lm_head", MC_DIALECT_EXACT, "model.lm_head"), MC_NO);
    assert_int_equal(own("visual", MC_DIALECT_SUBSTRING, "model.visual.blocks.0"), MC_YES);
    assert_int_equal(own("model.layers.0.mlp.experts", MC_DIALECT_PREFIX, "model.layers.0.mlp.experts.3.up_proj"), MC_YES);
    assert_int_equal(own("model.layers.0.mlp.experts", MC_DIALECT_PREFIX, "model.layers.0.mlp.experts_bias"), MC_NO);
    assert_int_equal(own("gate", MC_DIALECT_HF, "model.layers.0.mlp.gate"), MC_YES);
    assert_int_equal(own("model.layers.*.self_attn", MC_DIALECT_HF, "model.layers.7.self_attn.q_proj"), MC_YES); /* gpt-oss */
    assert_int_equal(own("*.attn.*", MC_DIALECT_HF, "layers.0.attn.wq"), MC_UNKNOWN); /* no regular expression */
    assert_true(any("*.attn.*", MC_DIALECT_HF, "layers.0.attn.wq"));
    assert_int_equal(own("Linear", MC_DIALECT_CLASS, "lm_head"), MC_UNKNOWN);
    assert_int_equal(own("", MC_DIALECT_SUBSTRING, "lm_head"), MC_NO);
}

static void test_roots_and_fused(void **state)
{
    (void)state;
    assert_true(any("language_model.model.layers.0.mlp.up_proj", MC_DIALECT_EXACT, "model.language_model.layers.0.mlp.up_proj"));
    assert_true(any("model.layers.0.mlp", MC_DIALECT_EXACT, "language_model.model.layers.0.mlp.up_proj"));
    assert_true(any("layers.0.self_attn.qkv_proj", MC_DIALECT_EXACT, "model.layers.0.self_attn.k_proj"));
    assert_true(any("model.layers.0.mlp.gate_up_proj", MC_DIALECT_HF, "model.layers.0.mlp.up_proj"));
    assert_false(any("model.layers.0.mlp.gate_up_proj", MC_DIALECT_HF, "model.layers.0.mlp.down_proj"));
    assert_true(any("model\\.layers\\.[0-9]+\\.mlp", MC_DIALECT_REGEX, "language_model.model.layers.3.mlp.up_proj"));
    assert_false(any("mtp.layers.0*", MC_DIALECT_GLOB, "mtp.fc"));
}

/* ---- the matcher gives the same answers as asking entry by entry ---- */

typedef struct { mc_claim claim; mc_module modules[64]; size_t n; } world;

static void add_module(world *w, const char *name, uint32_t form)
{
    w->modules[w->n++] = (mc_module){ .name = S(name), .form = form, .cls = MC_CLS_MLP };
}

static void add_exclude(world *w, const char *text, mc_dialect d)
{
    mc_pattern *v = mc_grow(&arena, w->claim.excludes, w->claim.n_excludes, &w->claim.cap_excludes, sizeof *v);
    w->claim.excludes = v;
    v[w->claim.n_excludes++] = make(text, d);
}

static void fill(world *w)
{
    memset(w, 0, sizeof *w);
    w->claim.base.quantized = MC_YES;
    for (int i = 0; i < 12; i++) {
        char name[64];
        snprintf(name, sizeof name, "model.layers.%d.mlp.up_proj", i);
        add_module(w, mc_str_copy(&arena, S(name)).p, 0);
        snprintf(name, sizeof name, "model.layers.%d.mlp.gate", i);
        add_module(w, mc_str_copy(&arena, S(name)).p, 1);
        snprintf(name, sizeof name, "model.layers.%d.self_attn.q_proj", i);
        add_module(w, mc_str_copy(&arena, S(name)).p, 2);
    }
    add_module(w, "lm_head", 3);
    add_module(w, "mtp.layers.0.mlp.up_proj", 4);
}

static void check_world(world *w)
{
    mc_claim alone = w->claim;
    mc_claim_resolve(&arena, &w->claim, w->modules, w->n);
    assert_non_null(w->claim.verdicts);
    for (size_t i = 0; i < w->n; i++) {
        mc_verdict a = mc_claim_verdict(&alone, &w->modules[i]), b = mc_claim_verdict(&w->claim, &w->modules[i]);
        assert_ptr_equal(a.excluded_by, b.excluded_by);
        assert_int_equal(a.doubt, b.doubt);
        assert_int_equal(a.scheme != NULL, b.scheme != NULL);
        assert_ptr_equal(a.target, b.target);
    }
}

static mc_verdict verdict(const world *w, const char *name)
{
    for (size_t i = 0; i < w->n; i++)
        if (mc_str_is(w->modules[i].name, name))
            return mc_claim_verdict(&w->claim, &w->modules[i]);
    fail();
    return (mc_verdict){ 0 };
}

static void test_excludes(void **state)
{
    (void)state;
    world w;
    fill(&w);
    add_exclude(&w, "lm_head", MC_DIALECT_GLOB);
    add_exclude(&w, "model.layers.1*", MC_DIALECT_GLOB);
    add_exclude(&w, "model.layers.3.mlp.gate", MC_DIALECT_GLOB);
    add_exclude(&w, "*.layers.[45].mlp.*", MC_DIALECT_GLOB);
    add_exclude(&w, "self_attn", MC_DIALECT_GLOB);
    check_world(&w);
    assert_non_null(verdict(&w, "lm_head").excluded_by);
    assert_non_null(verdict(&w, "model.layers.1.mlp.up_proj").excluded_by);
    assert_false(verdict(&w, "model.layers.1.mlp.up_proj").doubt);
    assert_non_null(verdict(&w, "model.layers.10.mlp.up_proj").excluded_by);
    assert_true(verdict(&w, "model.layers.10.mlp.up_proj").doubt); /* a careless glob */
    assert_non_null(verdict(&w, "model.layers.4.mlp.gate").excluded_by);
    assert_null(verdict(&w, "model.layers.6.mlp.gate").excluded_by);
    assert_true(verdict(&w, "model.layers.6.self_attn.q_proj").doubt); /* a substring for some loaders */
    for (size_t i = 0; i < w.claim.n_excludes; i++)
        assert_true(w.claim.excludes[i].hit);
}

static void test_hf_and_regex(void **state)
{
    (void)state;
    world w;
    fill(&w);
    add_exclude(&w, "model.layers.1", MC_DIALECT_HF);
    add_exclude(&w, "gate", MC_DIALECT_HF);
    add_exclude(&w, "model\\.layers\\.[2-3]\\..*", MC_DIALECT_HF);
    add_exclude(&w, "re.*(?!x)", MC_DIALECT_REGEX);
    add_exclude(&w, "no.such.module", MC_DIALECT_HF);
    check_world(&w);
    assert_non_null(verdict(&w, "model.layers.2.mlp.up_proj").excluded_by);
    assert_null(verdict(&w, "model.layers.4.mlp.up_proj").excluded_by);
    assert_true(verdict(&w, "model.layers.4.mlp.up_proj").doubt); /* one entry cannot be evaluated */
    assert_non_null(verdict(&w, "model.layers.9.mlp.gate").excluded_by);
    assert_false(w.claim.excludes[4].hit);
}

static void test_targets(void **state)
{
    (void)state;
    world       w;
    fill(&w);
    mc_override over[3] = { { .scheme = { .quantized = MC_YES, .bits = { true, 4, { 0 } } } }, { .scheme = { .quantized = MC_YES, .bits = { true, 8, { 0 } } } },
                            { .scheme = { .quantized = MC_YES, .bits = { true, 2, { 0 } } } } };
    mc_pattern classes[] = { make("Linear", MC_DIALECT_CLASS) }, containers[] = { make("model.layers.2.mlp", MC_DIALECT_PREFIX), make("model.layers.2", MC_DIALECT_PREFIX) };
    mc_pattern exact[] = { make("model.layers.2.mlp.gate", MC_DIALECT_EXACT) };
    over[0].targets = classes, over[0].n_targets = 1;
    over[1].targets = containers, over[1].n_targets = 2;
    over[2].targets = exact, over[2].n_targets = 1;
    w.claim.overrides = over;
    w.claim.n_overrides = 3;
    w.claim.whole_scope = true;
    check_world(&w);
    assert_int_equal(verdict(&w, "model.layers.0.mlp.gate").scheme->bits.v, 4);
    assert_null(verdict(&w, "model.layers.0.mlp.gate").target);
    assert_int_equal(verdict(&w, "model.layers.2.mlp.up_proj").scheme->bits.v, 8);
    assert_ptr_equal(verdict(&w, "model.layers.2.mlp.up_proj").target, &containers[0]); /* the longer one */
    assert_int_equal(verdict(&w, "model.layers.2.mlp.gate").scheme->bits.v, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regex_subset), cmocka_unit_test(test_regex_refuses), cmocka_unit_test(test_regex_is_linear), cmocka_unit_test(test_component_boundaries),
        cmocka_unit_test(test_dialects), cmocka_unit_test(test_roots_and_fused), cmocka_unit_test(test_excludes), cmocka_unit_test(test_hf_and_regex), cmocka_unit_test(test_targets),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
