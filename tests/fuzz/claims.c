/* A config.json of any content on a small model: its claims hold plausible numbers only, and the rules about blocks end. */
#include "fuzz/fuzz.h"
#include "model/quant.h"
#include "rules/rule.h"
#include "scan/scan.h"

static void check_scheme(const mc_scheme *s)
{
    MUST(!s->bits.known || (s->bits.v >= 1 && s->bits.v <= 32));
    MUST(!s->group.known || (s->group.v >= -1 && s->group.v <= 1 << 30));
    MUST(!s->block_rows.known || (s->block_rows.v > 0 && s->block_cols.known && s->block_cols.v > 0));
}

static void check_claim(const mc_claim *c, const mc_module *modules, size_t n)
{
    check_scheme(&c->base);
    MUST(c->at.n > 0 || c->block);
    for (size_t i = 0; i < c->n_overrides; i++) {
        check_scheme(&c->overrides[i].scheme);
        MUST(c->overrides[i].n_targets > 0);
    }
    for (size_t i = 0; i < n; i++) {
        mc_verdict v = mc_claim_verdict(c, &modules[i]);
        MUST(!v.excluded_by || !v.scheme);
    }
}

static mc_tensor tensor(const char *name)
{
    static const uint64_t dims[] = { 64, 64 };
    return (mc_tensor){ .name = mc_str_of(name), .dims = dims, .rank = 2, .elements = 4096, .end = 8192, .layer = 0 };
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static mc_kb kb;
    static const char *const names[] = { "model.layers.0.mlp.up_proj.weight", "model.layers.0.self_attn.q_proj.weight", "model.layers.10.mlp.gate.weight", "lm_head.weight" };
    if (!kb.dtypes)
        MUST(mc_kb_init(&kb).code == MC_OK);
    mc_arena     a;
    mc_err       e;
    mc_file      file = { .path = MC_STR("config.json"), .base = MC_STR("config.json"), .role = MC_ROLE_CONFIG };
    mc_component c = { .index = MC_NONE, .set = MC_NONE, .inv = { .complete = true, .n_tensors = MC_COUNT(names) } };
    mc_tensor    tensors[MC_COUNT(names)];
    mc_module    modules[MC_COUNT(names)];
    mc_quant     q = { .modules = modules, .n_modules = MC_COUNT(names), .declared = MC_NONE };
    mc_arena_init(&a, (size_t)1 << 26);
    mc_doc   doc = { .file = 0, .role = MC_ROLE_CONFIG, .root = mc_json_tree(&a, (mc_span){ bytes, n }, &e, NULL) };
    mc_model m = { .arena = &a, .files = &file, .n_files = 1, .components = &c, .n_components = 1, .docs = &doc, .n_docs = 1, .quant = &q, .unit = MC_UNIT_DIR, .format = MC_FMT_SAFETENSORS };
    for (size_t i = 0; i < MC_COUNT(names); i++) {
        tensors[i] = tensor(names[i]);
        modules[i] = (mc_module){ .name = mc_name_module(tensors[i].name), .form = (uint32_t)i, .cls = MC_CLS_MLP, .bits = 16 };
        modules[i].parts[MC_PART_WEIGHT] = &tensors[i];
    }
    for (size_t i = 0; i < MC_N_ROLES; i++)
        c.docs[i] = MC_NONE;
    c.docs[MC_ROLE_CONFIG] = 0;
    mc_quant_claims(&m, &kb);
    for (size_t i = 0; i < q.n_claims; i++)
        check_claim(&q.claims[i], modules, MC_COUNT(names));
    MUST(q.n_claims == 0 || q.declared < q.n_claims);
    mc_floor        floor = { 0 };
    mc_rule_options options = { 0 };
    mc_findings     found = { .arena = &a };
    mc_run_rules(&m, &kb, &floor, &options, &found);
    for (size_t i = 0; i < found.n; i++)
        MUST(found.v[i].message.n > 0 || a.failed);
    mc_arena_free(&a);
    return 0;
}
