/* What the files of a model say about its quantization: every place where a block may stand, in the order in which loaders
 * look (docs/quantization.md), and the reader of its method. Tensors are not looked at here. */
#include "scan/claims.h"
#include "scan/scan.h"

/* ---- which method ---- */

static bool has(const mc_value *block, const char *const *keys)
{
    for (; *keys; keys++)
        if (mc_get(block, *keys))
            return true;
    return false;
}

/* GPTQ and AWQ files of the early tools name no method. */
static mc_str by_keys(const mc_value *block, mc_str fallback)
{
    static const char *const gptq[] = { "desc_act", "sym", "damp_percent", "checkpoint_format", "static_groups", NULL };
    static const char *const awq[] = { "zero_point", "version", "q_group_size", NULL };
    return has(block, gptq) ? MC_STR("gptq") : has(block, awq) ? MC_STR("awq") : fallback;
}

/* The method of a block that does not state it, from its keys and its place. "" if nothing tells. */
static mc_str derived(const mc_value *block, mc_str at, mc_role role)
{
    mc_str key = mc_str_base(at);
    if (mc_str_is(key, "quip_params"))
        return MC_STR("quip#");
    if (mc_str_is(key, "compression_config"))
        return MC_STR("compressed-tensors");
    if (role == MC_ROLE_PARAMS)
        return MC_STR("executorch");
    if (mc_get(block, "tensor_storage")) /* the side file of ExLlamaV3: what was stored for each module */
        return MC_STR("exl3");
    if (role == MC_ROLE_QUANTIZE_CONFIG)
        return by_keys(block, MC_STR("gptq"));
    if (mc_get(block, "quant_algo") || role == MC_ROLE_HF_QUANT_CONFIG)
        return mc_str_is(at, "/quantization") && role == MC_ROLE_CONFIG ? MC_STR("tensorrt-llm") : MC_STR("modelopt");
    if (mc_str_is(key, "quantization") || (mc_get(block, "bits") && mc_get(block, "group_size")))
        return mc_str_is(key, "quantization") ? MC_STR("mlx") : by_keys(block, MC_STR("mlx"));
    return mc_get(block, "config_groups") ? MC_STR("compressed-tensors") : MC_STR("");
}

static void find_method(mc_claimant *x, mc_role role)
{
    mc_claim *c = x->c;
    mc_str    stated = mc_as_str(mc_get(c->block, "quant_method")), key = MC_STR("quant_method");
    if (stated.n == 0 && role != MC_ROLE_HF_QUANT_CONFIG) {
        stated = mc_as_str(mc_get(c->block, "method"));
        key = MC_STR("method");
    }
    mc_cl_text(&c->raw_method, stated, mc_cl_from_str(x, key));
    mc_str name = stated.n ? stated : derived(c->block, c->at, role);
    if (mc_flag(c->block, "load_in_4bit") || mc_flag(c->block, "load_in_8bit") || mc_flag(c->block, "_load_in_4bit") || mc_flag(c->block, "_load_in_8bit"))
        name = MC_STR("bitsandbytes"); /* whatever quant_method says: transformers, quantizers/auto.py */
    x->method = mc_kb_quant_method(x->kb, name);
    c->known_method = x->method != NULL;
    c->method = x->method ? x->method->name : name;
}

static const struct { const char *method; void (*read)(mc_claimant *x); } readers[] = {
    { "gptq", mc_claim_gptq }, { "awq", mc_claim_gptq }, { "auto-round", mc_claim_auto_round }, { "mlx", mc_claim_mlx },
    { "compressed-tensors", mc_claim_compressed }, { "fp8", mc_claim_fp8 }, { "fbgemm_fp8", mc_claim_fp8 }, { "modelopt", mc_claim_modelopt },
    { "tensorrt-llm", mc_claim_modelopt }, { "bitsandbytes", mc_claim_bnb }, { "hqq", mc_claim_hqq }, { "torchao", mc_claim_torchao }, { "quark", mc_claim_quark },
};

/* ---- one block ---- */

static void add_claim(mc_model *m, mc_kb *kb, const mc_doc *d, const mc_value *block, mc_str at)
{
    mc_quant *q = m->quant;
    if (!mc_is(block, MC_OBJECT))
        return;
    if (!q) { /* configuration files without a single tensor */
        m->quant = q = MC_NEW(m->arena, mc_quant, 1);
        if (!q)
            return;
        q->declared = MC_NONE;
    }
    mc_claim *v = mc_grow(m->arena, q->claims, q->n_claims, &q->cap_claims, sizeof *v);
    if (!v)
        return;
    q->claims = v;
    mc_claim *c = &v[q->n_claims++];
    *c = (mc_claim){ .file = d->file, .component = m->files[d->file].component, .at = at, .block = block, .method = MC_STR(""), .excludes_at = MC_STR("") };
    c->base = (mc_scheme){ .quantized = MC_UNKNOWN, .symmetric = MC_UNKNOWN, .desc_act = MC_UNKNOWN, .dynamic_input = MC_UNKNOWN, .static_input = MC_UNKNOWN };
    mc_claimant x = { .m = m, .kb = kb, .a = m->arena, .c = c, .root = d->root };
    find_method(&x, d->role);
    if (!x.method)
        return;
    mc_cl_base(&x);
    for (size_t i = 0; i < MC_COUNT(readers); i++)
        if (mc_str_is(c->method, readers[i].method))
            readers[i].read(&x);
    const mc_value *expert = mc_get(block, "expert_dtype");
    if (mc_is(expert, MC_STRING))
        mc_cl_text(&c->expert_dtype, expert->s, mc_cl_from(&x, "expert_dtype"));
    else
        mc_cl_text(&c->expert_dtype, mc_as_str(mc_get(d->root, "expert_dtype")), (mc_origin){ d->file, MC_STR("/expert_dtype") });
}

/* ---- places ---- */

/* quantization_config of text_config first, then of any other nested block, two levels deep. */
static void nested(mc_model *m, mc_kb *kb, const mc_doc *d)
{
    const mc_value *text = mc_get(d->root, "text_config");
    add_claim(m, kb, d, mc_get(text, "quantization_config"), MC_STR("/text_config/quantization_config"));
    for (size_t i = 0; i < d->root->n; i++) {
        const mc_value *v = d->root->u.fields[i].value;
        mc_str          key = d->root->u.fields[i].key;
        if (!mc_is(v, MC_OBJECT) || mc_str_is(key, "quantization_config") || mc_str_is(key, "original_quantization_config"))
            continue;
        if (v != text && mc_get(v, "quantization_config"))
            add_claim(m, kb, d, mc_get(v, "quantization_config"), mc_format(m->arena, "/%.*s/quantization_config", MC_FMT(key)));
        for (size_t k = 0; k < v->n; k++)
            if (mc_is(v->u.fields[k].value, MC_OBJECT) && mc_get(v->u.fields[k].value, "quantization_config"))
                add_claim(m, kb, d, mc_get(v->u.fields[k].value, "quantization_config"),
                          mc_format(m->arena, "/%.*s/%.*s/quantization_config", MC_FMT(key), MC_FMT(v->u.fields[k].key)));
    }
}

static void from_config(mc_model *m, mc_kb *kb, const mc_doc *d)
{
    add_claim(m, kb, d, mc_get(d->root, "quantization"), MC_STR("/quantization"));
    add_claim(m, kb, d, mc_get(d->root, "quantization_config"), MC_STR("/quantization_config"));
    nested(m, kb, d);
    add_claim(m, kb, d, mc_get(d->root, "compression_config"), MC_STR("/compression_config"));
    add_claim(m, kb, d, mc_get(d->root, "quip_params"), MC_STR("/quip_params"));
}

static void from_document(mc_model *m, mc_kb *kb, const mc_doc *d)
{
    if (d->role == MC_ROLE_CONFIG)
        from_config(m, kb, d);
    else if (d->role == MC_ROLE_HF_QUANT_CONFIG)
        add_claim(m, kb, d, mc_get(d->root, "quantization"), MC_STR("/quantization"));
    else if (d->role == MC_ROLE_PARAMS)
        add_claim(m, kb, d, mc_get(d->root, "quantization_args"), MC_STR("/quantization_args"));
    else if (mc_get(d->root, "bits") || mc_get(d->root, "w_bit")) /* transformers.js has the same file name, without a width */
        add_claim(m, kb, d, d->root, MC_STR(""));
}

/* ---- which one counts ---- */

/* ModelOpt keeps the group size of some algorithms and, in old releases, the layers in hf_quant_config.json alone. */
static void complete(mc_claim *c, const mc_claim *other)
{
    if (!c->base.group.known && mc_str_eq(c->base.format.v, other->base.format.v))
        c->base.group = other->base.group;
    else if (other->base.group.known && other->base.group.from.file == other->file && mc_str_ends(other->base.group.from.where, "/group_size")
             && !mc_str_ends(c->base.group.from.where, "/group_size") && mc_str_eq(c->base.format.v, other->base.format.v))
        c->base.group = other->base.group;
    if (c->whole_scope && other->whole_scope && c->n_overrides == 0) {
        c->overrides = other->overrides;
        c->n_overrides = other->n_overrides;
    }
    if (!c->kv.known)
        c->kv = other->kv;
}

static void declare(mc_model *m)
{
    mc_quant *q = m->quant;
    q->declared = MC_NONE;
    for (uint32_t pass = 0; pass < 2; pass++) /* of the root, else of any component */
        for (uint32_t i = 0; i < q->n_claims && q->declared == MC_NONE; i++)
            if ((pass == 1 || q->claims[i].component == 0) && mc_claim_of(q, q->claims[i].component) == &q->claims[i])
                q->declared = i;
    for (size_t i = 0; i < q->n_claims; i++) {
        mc_claim *c = &q->claims[i];
        for (size_t k = i + 1; k < q->n_claims; k++)
            if (mc_str_is(c->method, "modelopt") && mc_str_is(q->claims[k].method, "modelopt") && c->component == q->claims[k].component && c->file != q->claims[k].file)
                complete(c, &q->claims[k]);
    }
}

void mc_quant_claims(mc_model *m, mc_kb *kb)
{
    static const mc_role order[] = { MC_ROLE_CONFIG, MC_ROLE_QUANTIZE_CONFIG, MC_ROLE_HF_QUANT_CONFIG, MC_ROLE_PARAMS };
    if (m->quant)
        m->quant->declared = MC_NONE;
    for (size_t r = 0; r < MC_COUNT(order); r++)
        for (size_t i = 0; i < m->n_docs; i++) {
            const mc_doc *d = &m->docs[i];
            uint32_t      c = d->file < m->n_files ? m->files[d->file].component : MC_NONE;
            if (d->role == order[r] && mc_is(d->root, MC_OBJECT) && c < m->n_components && m->components[c].kind != MC_COMP_COPY)
                from_document(m, kb, d);
        }
    mc_quant *q = m->quant;
    if (!q || q->n_claims == 0)
        return;
    declare(m);
    for (size_t i = 0; i < q->n_claims; i++)
        mc_claim_resolve(m->arena, &q->claims[i], q->modules, q->n_modules);
}
