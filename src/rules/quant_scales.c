/* MC423-MC425, MC439: scales of FP8 weights, of activations and of the KV cache; the head. */
#include "rules/quant_rules.h"

/* ---- MC423 ---- */

static bool is_f8(const mc_dtype *d)
{
    return d && (mc_str_is(d->name, "F8_E4M3") || mc_str_is(d->name, "F8_E5M2"));
}

void mc_check_fp8_unscaled(mc_check *cx)
{
    static const char *const scales[] = { "weight_scale", "scale_inv", "weight_scale_2", "scale_weight", "scaled_fp8", "_scales", "weight_scales", NULL };
    const mc_model *m = cx->model;
    const mc_quant *q = m->quant;
    size_t          raw = 0;
    for (size_t i = 0; q && i < q->n_modules; i++) {
        raw += q->modules[i].layout == MC_Q_RAW8;
        if (q->modules[i].layout == MC_Q_FP8 || q->modules[i].layout == MC_Q_MXFP8)
            return;
    }
    for (uint32_t c = 0; raw && c < m->n_components; c++)
        if (mc_quant_any_ends(mc_quant_inventory(m, c), scales, NULL))
            return;
    for (size_t i = 0; raw && i < q->n_modules; i++) {
        const mc_module *v = &q->modules[i];
        if (v->layout != MC_Q_RAW8 || !is_f8(mc_quant_dtype(cx, v)))
            continue;
        mc_str      dtype = mc_quant_dtype(cx, v)->name;
        mc_finding *f = mc_report(cx, v->parts[MC_PART_WEIGHT]->file, " ");
        mc_subject(f, v->name);
        f->message = mc_format(cx->arena, "%zu %s plain-cast %.*s without any scale: loaders that expect scaled FP8 refuse or lose accuracy", f->count,
                               f->count == 1 ? "matrix is" : "matrices are", MC_FMT(dtype));
    }
}

/* ---- MC424 ---- */

/* Why input scales are needed; NULL: they are not. */
static const char *static_activations(const mc_claim *c)
{
    static const char *const algos[] = { "FP8", "W4A8_AWQ", "W4A8_NVFP4_FP8", "NVFP4" };
    mc_str algo = mc_as_str(mc_get(c->block, "quant_algo"));
    if (mc_str_is(c->method, "fp8") && mc_str_is(mc_as_str(mc_get(c->block, "activation_scheme")), "static"))
        return "activation_scheme static";
    for (size_t i = 0; (mc_str_is(c->method, "modelopt") || mc_str_is(c->method, "tensorrt-llm")) && i < MC_COUNT(algos); i++)
        if (mc_quant_name_eq(algo, mc_str_of(algos[i])))
            return algos[i];
    for (size_t i = 0; mc_str_is(c->method, "compressed-tensors") && i < c->n_overrides; i++)
        if (c->overrides[i].scheme.static_input == MC_YES)
            return "input_activations with dynamic false";
    return NULL;
}

void mc_check_activation_scale(mc_check *cx)
{
    static const char *const inputs[] = { "input_scale", "activation_scale", "input_global_scale", "act_scale", "act_scales", NULL }, *const quantizer[] = { "input_quantizer", NULL };
    const mc_model *m = cx->model;
    for (uint32_t i = 0; m->quant && !m->alone && i < m->n_components; i++) {
        const mc_inventory *inv = mc_quant_inventory(m, i);
        const mc_claim     *c = mc_claim_of(m->quant, i);
        const char         *why = c ? static_activations(c) : NULL;
        size_t              packed = 0;
        if (!why || !inv->complete || inv->n_tensors == 0 || mc_quant_any_ends(inv, inputs, NULL) || mc_quant_any_contains(inv, quantizer))
            continue;
        for (size_t k = 0; k < m->quant->n_modules; k++)
            packed += m->quant->modules[k].component == i && mc_module_packed(&m->quant->modules[k]);
        if (packed == 0)
            continue; /* nothing is quantized at all: MC416, MC417 */
        if (c->status.known && mc_quant_name_eq(c->status.v, MC_STR("frozen")))
            continue;
        mc_finding *f = mc_report(cx, c->file, "declares static activations (%s), but 0 of %zu quantized modules have an input scale: loaders stop with a missing key or multiply by garbage", why, packed);
        mc_because(cx, f, "declared", (mc_origin){ c->file, c->at }, "%s", why);
    }
}

/* ---- MC425 ---- */

static const char *const kv_scales[] = { ".k_scale", ".v_scale", ".kv_scale", ".k_proj.output_scale", ".v_proj.output_scale", NULL };

static void kv_files_differ(mc_check *cx, const mc_claim *a, const mc_claim *b)
{
    bool   kv_a = a->kv.known && a->kv.from.file == a->file, kv_b = b->kv.known; /* a may have taken over b's */
    if (kv_a == kv_b && (!kv_a || mc_quant_name_eq(a->kv.v, b->kv.v)))
        return;
    mc_str fa = mc_file_path(cx->model, a->file), fb = mc_file_path(cx->model, b->file);
    mc_finding *f = mc_report(cx, a->file, "%.*s says %.*s for the KV cache, %.*s says %.*s", MC_FMT(fa), MC_FMT(kv_a ? a->kv.v : MC_STR("nothing")), MC_FMT(fb),
                              MC_FMT(kv_b ? b->kv.v : MC_STR("nothing")));
    mc_subject(f, MC_STR("kv_cache_scheme"));
}

void mc_check_kv_scales(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (uint32_t i = 0; m->quant && !m->alone && i < m->n_components; i++) {
        const mc_inventory *inv = mc_quant_inventory(m, i);
        const mc_claim     *c = mc_claim_of(m->quant, i);
        const mc_tensor    *first = NULL;
        if (!c)
            continue;
        for (size_t k = 0; k < m->quant->n_claims; k++)
            if (m->quant->claims[k].component == i && m->quant->claims[k].file != c->file && m->files[m->quant->claims[k].file].role == MC_ROLE_HF_QUANT_CONFIG)
                kv_files_differ(cx, c, &m->quant->claims[k]);
        if (!inv->complete || inv->n_tensors == 0)
            continue;
        bool there = mc_quant_any_ends(inv, kv_scales, &first);
        if (c->kv.known && !there) {
            mc_finding *f = mc_report(cx, c->file, "declares %.*s for the KV cache but stores no k_scale or v_scale: engines use 1.0", MC_FMT(c->kv.v));
            mc_because(cx, f, "declared", c->kv.from, "%.*s", MC_FMT(c->kv.v));
        } else if (!c->kv.known && there) {
            mc_finding *f = mc_report(cx, c->file, "stores scales of the KV cache but declares no scheme for it: engines leave the cache in 16 bit");
            mc_subject(f, first->name);
        }
    }
}

/* ---- MC439 ---- */

void mc_check_head_quantized(mc_check *cx)
{
    static const char *const usual[] = { "mlx", "exl2", "exl3", "gguf" };
    const mc_model *m = cx->model;
    if (!m->quant || m->unit == MC_UNIT_GGUF)
        return;
    for (size_t i = 0; i < m->quant->n_modules; i++) {
        const mc_module *v = &m->quant->modules[i];
        const mc_claim  *c = v->cls == MC_CLS_HEAD ? mc_claim_of(m->quant, v->component) : NULL;
        bool             skip = v->cls != MC_CLS_HEAD || !mc_module_packed(v) || !v->parts[MC_PART_SCALE] || v->layout == MC_Q_GGML;
        static const mc_layout own[] = { MC_Q_MLX, MC_Q_EXL2, MC_Q_EXL3 };
        for (size_t k = 0; k < MC_COUNT(own); k++)
            skip |= v->layout == own[k];
        for (size_t k = 0; c && k < MC_COUNT(usual); k++)
            skip |= mc_str_is(c->method, usual[k]);
        if (skip)
            continue;
        mc_finding *f = mc_report(cx, MC_NONE, "%.*s is stored as %s: engine support differs (see --target)", MC_FMT(v->name), mc_layout_name(v->layout));
        mc_subject(f, v->name);
        if (v->bits > 0)
            mc_because(cx, f, "stored", mc_origin_at(v->parts[MC_PART_WEIGHT]->file, ""), "%g bits", v->bits);
    }
}
