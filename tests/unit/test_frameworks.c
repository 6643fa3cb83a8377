/* Verdicts of framework data on facts: the worked example of vLLM, versions of targets, approximate boundaries, platforms,
 * cache types, error texts; and that every embedded file passes the strict check. */
#include "unit.h"

#include "facts_of.h"

static mc_arena a;
static mc_kb    kb;

static int setup(void **state)
{
    (void)state;
    a = arena_new();
    return mc_kb_init(&kb).code != MC_OK;
}

static int teardown(void **state)
{
    (void)state;
    mc_kb_free(&kb);
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

static mc_verdict_list judge_with(const mc_framework *f, const char *version, const mc_target_options *o, const char *text)
{
    json_facts      facts = { &a, tree(text) };
    mc_facts        provider = { json_get, json_count, &facts };
    mc_verdict_list out;
    mc_framework_judge(&kb, &a, f, S(version), o, &provider, &out);
    return out;
}

static mc_verdict_list judge(const char *name, const char *version, int64_t gpu, const char *platform, const char *facts)
{
    const mc_framework *f = mc_kb_framework(&kb, S(name));
    mc_target_options   o = { .gpu = gpu, .platform = S(platform ? platform : gpu ? "cuda" : ""), .tp = 1 };
    assert_non_null(f);
    return judge_with(f, version, &o, facts);
}

typedef struct { const char *version; int64_t gpu; const char *platform, *facts, *verdict, *id; } row;

static void expect(const char *name, const row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const row      *r = &rows[i];
        mc_verdict_list l = judge(name, r->version, r->gpu, r->platform, r->facts);
        bool            id = !r->id;
        for (size_t k = 0; r->id && k < l.n_limits; k++)
            id |= mc_str_is(l.limits[k].id, r->id);
        for (size_t k = 0; r->id && k < l.n_not_checked; k++)
            id |= mc_str_is(l.not_checked[k].id, r->id);
        if (!mc_str_is(S(mc_target_verdict_name(l.verdict)), r->verdict) || !id) {
            for (size_t k = 0; k < l.n_limits; k++)
                print_error("  %s %.*s: %.*s\n", mc_target_verdict_name(l.limits[k].verdict), MC_FMT(l.limits[k].id), MC_FMT(l.limits[k].message));
            fail_msg("%s %s sm%d %s: %s, want %s (%s)", name, r->version, (int)r->gpu, r->facts, mc_target_verdict_name(l.verdict), r->verdict, r->id ? r->id : "");
        }
    }
}

#define LLAMA "\"config.model_type\": \"llama\", \"config.dtype\": \"bfloat16\""
#define HALF "\"config.model_type\": \"llama\", \"config.dtype\": \"float16\""
#define GPTQ(bits, more) "{" HALF ", \"quant_method_raw\": \"gptq\", \"quant_bits\": " bits ", \"sym\": true, \"desc_act\": false, \"group_size\": 128" more "}"
#define AWQ(group) "{" LLAMA ", \"quant_method_raw\": \"awq\", \"quant_bits\": 4, \"sym\": false, \"group_size\": " group "}"
#define MODELOPT(algo, bits, group) "{" LLAMA ", \"quant_method_raw\": \"modelopt\", \"modelopt.quant_algo\": \"" algo "\", \"quant_bits\": " bits ", \"group_size\": " group \
                                    ", \"quant_source\": \"config.json\"}"
#define CT(format, bits, more) "{" LLAMA ", \"quant_method_raw\": \"compressed-tensors\", \"ct.sparsity\": false, \"ct.sparsity_24\": false, \"groups\": [{\"ct.format\": \"" format \
                               "\", \"quant_bits\": " bits ", \"sym\": true" more "}]}"
#define FP8_ACTS ", \"ct.act_bits\": 8, \"ct.act_type\": \"float\", \"group_size\": 128"

static void worked_example(void **state)
{
    static const row rows[] = {
        { "0.11.0", 80, NULL, GPTQ("3", ""), "no-known-obstacle", NULL },
        { "0.24.0", 80, NULL, GPTQ("3", ""), "refuses", "quant-params" },
        { "0.11.0", 80, NULL, AWQ("128"), "no-known-obstacle", NULL },
        { "0.11.0", 75, NULL, AWQ("128"), "no-known-obstacle", NULL },
        { "0.11.0", 0, NULL, AWQ("128"), "no-known-obstacle", "quant-gpu" }, /* not checked */
        { "0.11.0", 80, NULL, AWQ("16"), "needs", "quant-dtype" },
        { "0.11.0", 75, NULL, "{" LLAMA "}", "no-known-obstacle", NULL },
        { "0.11.0", 75, NULL, "{\"config.model_type\": \"gemma3_text\", \"config.dtype\": \"bfloat16\"}", "slow", "auto-float32" },
        { "0.11.0", 75, NULL, "{\"config.model_type\": \"gemma2\", \"config.dtype\": \"bfloat16\", \"config.attn_logit_softcapping\": 50.0}", "refuses", "flex-softcap" },
        { "0.33.0", 100, NULL, MODELOPT("NVFP4", "4", "16"), "no-known-obstacle", NULL },
        { "0.33.0", 100, NULL, MODELOPT("MXFP8", "8", "32"), "no-known-obstacle", NULL },
        { "0.11.0", 80, NULL, CT("float-quantized", "8", ""), "no-known-obstacle", NULL },
        { "0.16.0", 75, NULL, CT("float-quantized", "8", ""), "no-known-obstacle", NULL },
        { "0.33.0", 80, NULL, CT("pack-quantized", "4", FP8_ACTS), "refuses", "quant-gpu" },
        { "0.33.0", 90, NULL, CT("pack-quantized", "4", FP8_ACTS), "no-known-obstacle", NULL },
        { "0.21.0", 90, NULL, "{" LLAMA ", \"quant_method_raw\": \"compressed-tensors\", \"ct.sparsity\": true, \"ct.sparsity_24\": true}", "no-known-obstacle", NULL },
        { "0.22.0", 90, NULL, "{" LLAMA ", \"quant_method_raw\": \"compressed-tensors\", \"ct.sparsity\": true, \"ct.sparsity_24\": true}", "refuses", "ct-sparsity" },
        { "0.33.0", 80, NULL, GPTQ("4", ", \"checkpoint_format\": \"gptq_v2\""), "no-known-obstacle", NULL },
        { "0.33.0", 80, NULL, "{" HALF ", \"quant_method_raw\": \"gptq\", \"quant_bits\": 4, \"sym\": false, \"desc_act\": false, \"group_size\": 128, \"checkpoint_format\": \"gptq_v2\"}",
          "refuses", "quant-params" },
        { "0.13.0", 0, "tpu", GPTQ("4", ""), "refuses", "platform" },
        { "0.13.0", 0, "tpu", "{" LLAMA ", \"quant_method_raw\": \"fp8\"}", "no-known-obstacle", NULL },
        { "0.14.0", 0, "tpu", GPTQ("4", ""), "unknown", "platform" },
        { "0.11.0", 80, NULL, "{" LLAMA ", \"quant_method_raw\": \"fp8\"}", "slow", "quant-slow" },
        { "0.24.0", 80, NULL, "{" LLAMA ", \"quant_method_raw\": \"hqq\"}", "refuses", "quant-removed" },
        { "0.29.0", 80, NULL, GPTQ("4", ", \"desc_act\": true"), "no-known-obstacle", NULL },
        { "0.30.0", 80, NULL, GPTQ("4", ", \"desc_act\": true"), "refuses", "gptq-act-order" },
        { "0.24.0", 80, NULL, "{" LLAMA ", \"quant_method_raw\": \"gguf\"}", "needs", "quant-plugin" },
        { "0.24.0", 80, NULL, GPTQ("4", ", \"tp\": 8, \"linears\": [{\"tensor\": \"a.down_proj\", \"in\": 18944, \"in_per_rank\": 2368, \"row_parallel.in_per_rank_mod_group\": 64}]"), "refuses",
          "group-tp" },
        { "0.33.0", 0, NULL, "{" LLAMA ", \"heads\": 28, \"tp\": 8, \"heads_mod_tp\": 4, \"heads_divisors\": [1, 2, 4, 7, 14, 28]}", "refuses", "heads-tp" },
        { "0.12.0", 0, NULL, "{" LLAMA ", \"files.consolidated_safetensors\": 1, \"file.params_json\": false, \"file.config_json\": true}", "refuses", "consolidated-trap" },
        { "0.11.0", 0, NULL, "{" LLAMA ", \"files.consolidated_safetensors\": 1, \"file.params_json\": false, \"file.config_json\": true}", "no-known-obstacle", NULL },
    };
    (void)state;
    expect("vllm", rows, MC_COUNT(rows));
}

static void more_of_vllm(void **state)
{
    static const row rows[] = {
        { "", 80, NULL, "{" LLAMA ", \"quant_method_raw\": \"exl3\"}", "refuses", "quant-unknown" },
        { "0.15.0", 100, NULL, MODELOPT("MXFP8", "8", "32"), "refuses", NULL },
        { "0.15.0", 80, NULL, "{" LLAMA ", \"quant_method_raw\": \"mxfp8\"}", "refuses", "quant-too-new" },
        { "0.33.0", 100, NULL, "{" LLAMA ", \"quant_method_raw\": \"modelopt\", \"modelopt.quant_algo\": \"?\"}", "unknown", "quant-params" },
        { "0.33.0", 70, NULL, "{" HALF ", \"quant_method_raw\": \"awq\", \"quant_bits\": 4, \"group_size\": 128}", "refuses", "quant-gpu" },
        { "0.33.0", 80, NULL, "{" LLAMA ", \"quant_method_raw\": \"fp_quant\"}", "refuses", "quant-gpu" },
        { "0.33.0", 100, NULL, "{" LLAMA ", \"quant_method_raw\": \"fp_quant\"}", "needs", "quant-deprecated" },
        { "0.33.0", 80, NULL, "{" LLAMA ", \"quant_method_raw\": \"experts_int8\"}", "unknown", "quant-unknown" },
        { "0.33.0", 0, "metal", "{" LLAMA "}", "unknown", "platform" },
        { "0.33.0", 0, NULL, "{" LLAMA ", \"quant_method_raw\": \"fp8\", \"fused\": [{\"fused_mixed\": true, \"tensor\": \"a.q_proj\"}, {\"fused_mixed\": \"?\"}]}", "refuses", "fused-mixed" },
        { "0.33.0", 80, NULL, CT("pack-quantized", "4", ", \"ct.act_bits\": \"?\""), "no-known-obstacle", "quant-scheme" },
        { "0.33.0", 80, NULL, CT("dense", "16", ""), "refuses", "quant-scheme" },
        { "0.33.0", 80, NULL, GPTQ("\"?\"", ""), "no-known-obstacle", "quant-params" },
        { "0.33.0", 0, NULL, "{" LLAMA ", \"heads_mod_tp\": \"?\"}", "no-known-obstacle", "heads-tp" },
    };
    (void)state;
    expect("vllm", rows, MC_COUNT(rows));
}

static void versions_of_targets(void **state)
{
    static const struct { const char *text, *resolved; bool outside; } rows[] = {
        { "", "0.33.0", false }, { "0.33", "0.33.0", false }, { "v0.11", "0.11.2", false }, { "0.11.0", "0.11.0", false }, { "0.20", "0.20.2", false }, { "99", "99", true },
        { "0.5.0", "0.5.0", true }, { "0.33.1", "0.33.1", true }, { "0.33.0rc1", "0.33.0rc1", false },
    };
    const mc_framework *f = mc_kb_framework(&kb, S("vLLM"));
    (void)state;
    assert_non_null(f);
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        mc_version v;
        mc_str     text;
        bool       outside;
        if (!mc_framework_version(f, S(rows[i].text), &v, &text, &outside) || !mc_str_is(text, rows[i].resolved) || outside != rows[i].outside)
            fail_msg("vllm@%s", rows[i].text);
    }
    mc_version v;
    mc_str     text;
    bool       outside;
    assert_false(mc_framework_version(f, S("latest"), &v, &text, &outside));
    assert_null(mc_kb_framework(&kb, S("no-such")));
    assert_null(mc_kb_framework(&kb, S("../vllm")));
    assert_null(mc_kb_framework(&kb, S("")));
    mc_verdict_list l = judge("vllm", "99", 0, NULL, "{" LLAMA "}");
    assert_true(l.outside && l.note.n > 0);
    assert_int_equal(l.verdict, MC_TARGET_UNKNOWN);
    l = judge("vllm", "99", 80, NULL, "{" LLAMA ", \"quant_method_raw\": \"exl3\"}");
    assert_int_equal(l.verdict, MC_TARGET_UNKNOWN); /* the limit of the last known state is shown, no hard verdict */
    assert_int_equal(l.n_limits, 1);
}

/* ---- a small file ---- */

static const char small[] =
    "{\"schema\": \"modelcheck/framework-1\", \"name\": \"toy\", \"display\": \"Toy\", \"version_scheme\": \"numeric-dots\", \"read\": [{\"version\": \"1.4.0\", \"date\": \"2026-01-02\"}],"
    "\"known_from\": \"1.0.0\", \"known_to\": \"1.4.0\", \"default_target\": \"1.4.0\", \"releases\": [{\"v\": \"1.0.0\"}, {\"v\": \"1.1.0\"}, {\"v\": \"1.2.0\"}, {\"v\": \"1.3.0\"}, {\"v\": \"1.4.0\"}],"
    "\"default_source\": {\"quant\": \"s\", \"limits\": \"s\", \"kv_dtypes\": \"s\", \"files\": \"s\"},"
    "\"limits\": [{\"id\": \"edge\", \"since\": \"1.2.0\", \"approx\": true, \"when\": {\"fact\": \"tp\", \"op\": \"eq\", \"args\": [2]}, \"verdict\": \"refuses\", \"message\": \"tp {tp}\"},"
    " {\"id\": \"range\", \"until\": \"1.0.0..1.3.0\", \"when\": {\"fact\": \"tp\", \"op\": \"eq\", \"args\": [4]}, \"verdict\": \"needs\", \"message\": \"tp {tp}\"},"
    " {\"id\": \"doubt\", \"mark\": \"?\", \"when\": {\"fact\": \"tp\", \"op\": \"eq\", \"args\": [8]}, \"verdict\": \"refuses\", \"message\": \"tp {tp}\", \"match\": \"cannot shard by eight\"}],"
    "\"files\": [{\"depth\": 0, \"ladder\": [{\"glob\": \"*.safetensors\", \"index\": \"model.safetensors.index.json\", \"no_index\": \"all\"}, {\"glob\": \"*.bin\", \"not\": [\"training_args.bin\"]}],"
    " \"missing_indexed_shard\": [{\"until\": \"1.2.0\", \"is\": \"silent\"}, {\"since\": \"1.2.0\", \"is\": \"refuses\"}]}],"
    "\"kv_dtypes\": [{\"names\": [\"float16\"], \"bytes_num\": 2, \"bytes_den\": 1}, {\"names\": [\"fp8\"], \"since\": \"1.1.0\", \"gpu_min\": 89, \"bytes_num\": 1, \"bytes_den\": 1},"
    " {\"names\": [\"odd\"], \"types\": [\"llama\"], \"bytes\": null}]}";

static const mc_framework *toy(void)
{
    mc_faults           faults = { .arena = &a };
    const mc_framework *f = mc_framework_decode(&a, S("frameworks/toy.json"), SPAN(small), &faults);
    for (size_t i = 0; i < faults.n; i++)
        print_error("%u: %.*s\n", faults.v[i].at, MC_FMT(faults.v[i].what));
    assert_non_null(f);
    return f;
}

static void approximate(void **state)
{
    static const struct { const char *version, *facts, *verdict; bool approximate; } rows[] = {
        { "1.0.0", "{\"tp\": 2}", "no-known-obstacle", false }, { "1.1.0", "{\"tp\": 2}", "unknown", true }, { "1.2.0", "{\"tp\": 2}", "unknown", true }, { "1.3.0", "{\"tp\": 2}", "unknown", true },
        { "1.4.0", "{\"tp\": 2}", "refuses", false }, { "1.2.0", "{\"tp\": 3}", "no-known-obstacle", false },
        { "1.0.0", "{\"tp\": 4}", "needs", false }, { "1.1.0", "{\"tp\": 4}", "unknown", true }, { "1.3.0", "{\"tp\": 4}", "no-known-obstacle", false },
        { "1.4.0", "{\"tp\": 8}", "unknown", false },
    };
    const mc_framework *f = toy();
    mc_target_options   o = { 0 };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        mc_verdict_list l = judge_with(f, rows[i].version, &o, rows[i].facts);
        if (!mc_str_is(S(mc_target_verdict_name(l.verdict)), rows[i].verdict) || l.approximate != rows[i].approximate)
            fail_msg("%s %s: %s", rows[i].version, rows[i].facts, mc_target_verdict_name(l.verdict));
    }
}

static void files_and_caches(void **state)
{
    static const mc_target_file  st[] = { { { "a.safetensors", 13 }, 1 }, { { "sub/b.safetensors", 17 }, 1 } }, bin[] = { { { "training_args.bin", 17 }, 1 } };
    static const mc_str          shards[] = { { "a.safetensors", 13 }, { "b.safetensors", 13 } };
    static const mc_target_index index[] = { { { "model.safetensors.index.json", 28 }, shards, 2 } };
    const mc_target_files        good = { .files = st, .n_files = 2 }, none = { .files = bin, .n_files = 1 }, cut = { .files = st, .n_files = 2, .indexes = index, .n_indexes = 1 };
    const struct { const char *version, *kv; int64_t gpu; const mc_target_files *files; const char *verdict; } rows[] = {
        { "1.4.0", "", 0, &good, "no-known-obstacle" }, { "1.4.0", "", 0, &none, "refuses" }, { "1.4.0", "", 0, &cut, "refuses" }, { "1.1.0", "", 0, &cut, "wrong" },
        { "1.4.0", "f16", 0, &good, "no-known-obstacle" }, { "1.4.0", "fp8", 0, &good, "no-known-obstacle" }, { "1.4.0", "fp8", 80, &good, "refuses" },
        { "1.4.0", "fp8", 89, &good, "no-known-obstacle" }, { "1.0.0", "fp8", 89, &good, "refuses" }, { "1.4.0", "q8_0", 0, &good, "refuses" }, { "1.4.0", "odd", 0, &good, "unknown" },
        { "1.4.0", "f16,fp8", 80, &good, "refuses" },
    };
    const mc_framework *f = toy();
    (void)state;
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        mc_target_options o = { .gpu = rows[i].gpu, .platform = S(rows[i].gpu ? "cuda" : ""), .kv_dtype = S(rows[i].kv), .files = rows[i].files };
        mc_verdict_list   l = judge_with(f, rows[i].version, &o, "{\"config.model_type\": \"bert\"}");
        if (!mc_str_is(S(mc_target_verdict_name(l.verdict)), rows[i].verdict))
            fail_msg("row %zu: %s", i, mc_target_verdict_name(l.verdict));
    }
}

static void refused_data(void **state)
{
    static const struct { const char *from, *to; } edits[] = {
        { "\"limits\": [", "\"limit\": [" }, { "\"verdict\": \"refuses\"", "\"verdict\": \"crashes\"" }, { "\"op\": \"eq\"", "\"op\": \"is\"" }, { "\"fact\": \"tp\"", "\"fact\": \"tpp\"" },
        { "tp {tp}", "tp {tpp}" }, { "\"since\": \"1.2.0\", \"approx\"", "\"since\": \"x\", \"approx\"" }, { "\"approx\": true", "\"approx\": 1" }, { "\"id\": \"edge\"", "\"id\": \"arch\"" },
        { "\"default_source\": {\"quant\": \"s\", \"limits\"", "\"default_source\": {\"quant\": \"s\", \"limit\"" }, { "\"known_to\": \"1.4.0\",", "" }, { "\"gpu_min\": 89", "\"gpu_min\": \"89\"" },
        { "\"name\": \"toy\",", "\"name\": \"toy\", \"name\": \"toy\"," }, { "1.0.0..1.3.0", "1.3.0..1.0.0" }, { "\"display\": \"Toy\"", "\"display\": 1" }, { "\"depth\": 0,", "\"depth\": 0, \"deep\": 1," },
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(edits); i++) {
        const char *at = strstr(small, edits[i].from);
        mc_faults   faults = { .arena = &a };
        assert_non_null(at);
        mc_str text = mc_format(&a, "%.*s%s%s", (int)(at - small), small, edits[i].to, at + strlen(edits[i].from));
        if (text.n == 0 || mc_framework_decode(&a, S("x"), (mc_span){ (const uint8_t *)text.p, text.n }, &faults) || faults.n == 0)
            fail_msg("taken: %s", edits[i].to);
    }
}

/* ---- what is embedded ---- */

static void embedded(void **state)
{
    (void)state;
    for (const mc_embedded *e = NULL; (e = mc_embedded_next(e, "frameworks/"));) {
        mc_faults faults = { .arena = &a };
        mc_str    name = mc_str_of(e->name);
        if (!mc_str_ends(name, ".json"))
            continue;
        const mc_framework *f = mc_framework_decode(&a, name, (mc_span){ e->p, e->n }, &faults);
        for (size_t i = 0; f && mc_framework_table(f, i).n; i++) {
            mc_span table = mc_embedded_find(mc_format(&a, "frameworks/%.*s", MC_FMT(mc_framework_table(f, i))).p);
            if (!table.p)
                fail_msg("%s: no table %.*s", e->name, MC_FMT(mc_framework_table(f, i)));
            mc_framework_table_check(f, i, table, &faults);
        }
        for (size_t i = 0; i < faults.n; i++)
            print_error("%s @%u: %.*s\n", e->name, faults.v[i].at, MC_FMT(faults.v[i].what));
        assert_int_equal(faults.n, 0);
    }
    const mc_framework *const *list;
    assert_true(mc_kb_frameworks(&kb, &list) > 0);
}

static void errors(void **state)
{
    mc_error_hit hit;
    size_t       cursor = 0;
    bool         found = false;
    (void)state;
    while (mc_kb_error(&kb, S("ValueError: Total number of attention heads (28) must be divisible by tensor parallel size (8)."), &cursor, &hit))
        found |= mc_str_is(hit.rule, "heads-tp") && mc_str_is(hit.framework->name, "vllm") && hit.limit;
    assert_true(found);
    cursor = 0;
    assert_false(mc_kb_error(&kb, S("a text that nobody prints"), &cursor, &hit));
}

static void custom(void **state)
{
    static const char good[] = "{\"schema\": \"modelcheck/rules-1\", \"rules\": [{\"code\": \"X-TP\", \"severity\": \"error\", \"message\": \"{tp}\", \"when\": {\"fact\": \"tp\", \"op\": \"known\"}}]}";
    static const char *const bad[] = {
        "{\"schema\": \"modelcheck/rules-1\", \"rules\": [{\"code\": \"MC101\", \"severity\": \"error\", \"message\": \"m\", \"when\": {\"fact\": \"tp\", \"op\": \"known\"}}]}",
        "{\"schema\": \"modelcheck/rules-1\", \"rules\": [{\"code\": \"X-A\", \"severity\": \"fatal\", \"message\": \"m\", \"when\": {\"fact\": \"tp\", \"op\": \"known\"}}]}",
        "{\"schema\": \"modelcheck/rules-1\", \"rules\": [{\"code\": \"X-A\", \"severity\": \"info\", \"message\": \"m\"}]}", "{\"schema\": \"modelcheck/rules-1\"}", "[]", "",
    };
    mc_faults faults = { .arena = &a };
    size_t    n;
    (void)state;
    const mc_custom_rule *r = mc_custom_decode(&a, SPAN(good), &faults, &n);
    assert_int_equal(n, 1);
    assert_str(r->code, "X-TP");
    for (size_t i = 0; i < MC_COUNT(bad); i++) {
        faults.n = 0;
        (void)mc_custom_decode(&a, SPAN(bad[i]), &faults, &n);
        assert_true(faults.n > 0 && n == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_example), cmocka_unit_test(more_of_vllm), cmocka_unit_test(versions_of_targets), cmocka_unit_test(approximate), cmocka_unit_test(files_and_caches),
        cmocka_unit_test(refused_data), cmocka_unit_test(embedded), cmocka_unit_test(errors), cmocka_unit_test(custom),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
