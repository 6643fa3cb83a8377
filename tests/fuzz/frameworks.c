/* Data files: what is decoded can be judged, and a verdict is the worst of its limits; what is refused has a fault inside the
 * text. The same bytes as a file of rules, as a predicate and as a table of architectures. */
#include "kb/frameworks.h"
#include "facts_of.h"
#include "fuzz/fuzz.h"

static const char model[] =
    "{\"config.model_type\": \"llama\", \"config.architectures\": [\"LlamaForCausalLM\"], \"config.dtype\": \"bfloat16\", \"quant_method_raw\": \"gptq\", \"quant_bits\": 4, \"sym\": true,"
    " \"group_size\": 128, \"tp\": 2, \"heads\": 28, \"head_dim\": 128, \"gguf.types\": [\"Q4_K\", \"F32\"], \"kind\": \"?\", \"ct.sparsity_24\": true, \"name\": \"m\","
    " \"linears\": [{\"tensor\": \"a\", \"in\": 64}, {\"tensor\": \"b\", \"in\": 96}], \"groups\": [{\"ct.format\": \"pack-quantized\", \"quant_bits\": 4}], \"fused\": [{\"fused_mixed\": true}]}";

static void judge(mc_kb *kb, mc_arena *a, const mc_framework *f, const json_facts *facts)
{
    static const mc_target_file  files[] = { { { "a.safetensors", 13 }, 1 }, { { "sub/b.bin", 9 }, 1 } };
    static const mc_str          shards[] = { { "a.safetensors", 13 }, { "c.safetensors", 13 } };
    static const mc_target_index index[] = { { { "model.safetensors.index.json", 28 }, shards, 2 } };
    const mc_target_files        set = { .files = files, .n_files = 2, .indexes = index, .n_indexes = 1 };
    const mc_target_options      options[] = { { .files = &set }, { .gpu = 75, .platform = { "cuda", 4 }, .kv_dtype = { "fp8,f16", 7 } }, { .platform = { "rocm", 4 }, .host = { "s390x", 5 } } };
    const mc_str                 versions[] = { { "", 0 }, { "0.14", 4 }, { "99", 2 }, { "b7000", 5 } };
    mc_facts                     provider = { json_get, json_count, facts };
    for (size_t i = 0; i < MC_COUNT(options); i++)
        for (size_t k = 0; k < MC_COUNT(versions); k++) {
            mc_verdict_list l;
            mc_framework_judge(kb, a, f, versions[k], &options[i], &provider, &l);
            mc_target_verdict worst = MC_NO_KNOWN_OBSTACLE;
            for (size_t n = 0; n < l.n_limits; n++) {
                worst = l.limits[n].verdict > worst ? l.limits[n].verdict : worst;
                MUST(l.limits[n].id.n <= 1u << 20 && l.limits[n].count >= 1 && l.limits[n].n_subjects <= MC_LIMIT_SUBJECTS);
                MUST(n == 0 || l.limits[n - 1].verdict >= l.limits[n].verdict);
            }
            MUST(l.outside ? l.verdict == MC_TARGET_UNKNOWN : l.verdict == worst);
        }
}

static void faults_lie_inside(const mc_faults *f, size_t n)
{
    for (size_t i = 0; i < f->n; i++)
        MUST(f->v[i].at <= n);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    mc_arena a;
    mc_kb    kb;
    mc_err   err;
    size_t   rules = 0;
    mc_span  text = { bytes, n };
    mc_arena_init(&a, (size_t)64 << 20);
    if (mc_kb_init(&kb).code != MC_OK)
        return 0;
    mc_faults         faults = { .arena = &a };
    const json_facts  facts = { &a, mc_json_tree(&a, (mc_span){ (const uint8_t *)model, sizeof model - 1 }, &err, NULL) };
    mc_facts          provider = { json_get, json_count, &facts };
    const mc_framework *f = mc_framework_decode(&a, mc_str_of("frameworks/x.json"), text, &faults);
    MUST(a.failed || !f == (faults.n > 0));
    faults_lie_inside(&faults, n);
    if (f) {
        judge(&kb, &a, f, &facts);
        mc_framework_table_check(f, 0, text, &faults);
        faults_lie_inside(&faults, n);
    }
    faults.n = 0;
    const mc_custom_rule *r = mc_custom_decode(&a, text, &faults, &rules);
    MUST(a.failed || !r == (faults.n > 0));
    faults_lie_inside(&faults, n);
    for (size_t i = 0; i < rules; i++) {
        mc_str because;
        mc_three t = mc_predicate_eval(r[i].when, &provider, MC_SCOPE_MODEL, &because);
        MUST(t == MC_MAYBE || because.n == 0);
        (void)mc_fill(&a, r[i].message, &provider, MC_SCOPE_MODEL, NULL);
    }
    faults.n = 0;
    const mc_value *p = mc_json_tree(&a, text, &err, NULL);
    if (p && mc_predicate_check(p, &faults)) {
        (void)mc_predicate_eval(p, &provider, MC_SCOPE_MODEL, NULL);
        (void)mc_predicate_closed(p, &provider, MC_SCOPE_MODEL, NULL);
    }
    mc_kb_free(&kb);
    mc_arena_free(&a);
    return 0;
}
