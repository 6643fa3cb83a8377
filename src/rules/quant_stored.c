/* MC410, MC415-MC417, MC423-MC425, MC439: blocks and lists against what is stored, as a whole. */
#include "rules/quant_rules.h"

/* ---- what the read sets hold ---- */

static const mc_inventory *inventory(const mc_model *m, uint32_t component)
{
    return component < m->n_components ? &m->components[component].inv : NULL;
}

/* Does a tensor's name end with one of these? Asked once a form. *first gets the first such tensor. */
static bool any_ends(const mc_inventory *inv, const char *const *endings, const mc_tensor **first)
{
    for (size_t i = 0; inv && i < inv->form_names.n; i++)
        for (const char *const *e = endings; *e; e++)
            if (mc_str_ends(inv->forms[i].first->name, *e)) {
                if (first)
                    *first = inv->forms[i].first;
                return true;
            }
    return false;
}

static bool any_contains(const mc_inventory *inv, const char *const *words)
{
    for (size_t i = 0; inv && i < inv->form_names.n; i++)
        for (const char *const *w = words; *w; w++)
            if (mc_str_contains(inv->forms[i].first->name, *w))
                return true;
    return false;
}

static const mc_dtype *dtype_of(const mc_check *cx, const mc_module *m)
{
    const mc_tensor *t = m->parts[MC_PART_WEIGHT];
    return t ? mc_kb_dtype(cx->kb, t->dtype) : NULL;
}

/* A matrix in F16, BF16, F32 or F64. */
static bool plain_matrix(const mc_check *cx, const mc_module *m)
{
    const mc_tensor *t = m->parts[MC_PART_WEIGHT];
    const mc_dtype  *d = dtype_of(cx, m);
    return m->layout == MC_Q_PLAIN && t && t->rank >= 2 && d && d->cls == MC_CLASS_FLOAT && d->block == 1 && d->block_bits >= 16;
}

/* ---- MC410 ---- */

static bool wants_settings(mc_layout l)
{
    static const mc_layout need[] = { MC_Q_GPTQ, MC_Q_AWQ, MC_Q_AWQ_GEMV, MC_Q_AWQ_FAST, MC_Q_CT_PACK, MC_Q_BNB4, MC_Q_BNB8, MC_Q_MLX, MC_Q_HQQ, MC_Q_AQLM, MC_Q_NVFP4, MC_Q_MXFP4, MC_Q_FP8 };
    for (size_t i = 0; i < MC_COUNT(need); i++)
        if (l == need[i])
            return true;
    return false;
}

/* Does anything, valid or not, describe the quantization of this component? */
static bool described(const mc_model *m, uint32_t component)
{
    static const char *const keys[] = { "quantization_config", "quantization", "compression_config", "quip_params", "quantization_args" };
    for (size_t i = 0; i < m->quant->n_claims; i++)
        if (m->quant->claims[i].component == component || m->quant->claims[i].component == 0)
            return true;
    for (size_t i = 0; i < m->n_docs; i++) {
        const mc_doc *d = &m->docs[i];
        if (m->files[d->file].component != component)
            continue;
        if (d->role == MC_ROLE_HF_QUANT_CONFIG || (!d->root && d->role == MC_ROLE_QUANTIZE_CONFIG))
            return true;
        for (size_t k = 0; k < MC_COUNT(keys); k++) {
            const mc_value *v = mc_get(d->root, keys[k]);
            if (v && v->type != MC_NULL)
                return true;
        }
    }
    for (size_t i = 0; i < m->n_files; i++)
        if (m->files[i].component == component && m->files[i].in_read_set && m->files[i].st && m->files[i].st->quantization)
            return true;
    return false;
}

/* The block that would say what the tensors show, as far as they do. */
static mc_str suggestion(mc_check *cx, const mc_module *first)
{
    const mc_quant *q = cx->model->quant;
    mc_arena       *a = cx->arena;
    mc_str          bits = q->bits.known ? mc_format(a, ", \"bits\": %lld", (long long)q->bits.v) : MC_STR("");
    mc_str          group = q->group.known ? mc_format(a, ", \"group_size\": %lld", (long long)q->group.v) : MC_STR("");
    switch ((int)first->layout) {
    case MC_Q_GPTQ: return mc_format(a, "{\"quant_method\": \"gptq\"%.*s%.*s}", MC_FMT(bits), MC_FMT(group));
    case MC_Q_AWQ: return mc_format(a, "{\"quant_method\": \"awq\", \"version\": \"gemm\"%.*s%.*s}", MC_FMT(bits), MC_FMT(group));
    case MC_Q_BNB4: return MC_STR("{\"quant_method\": \"bitsandbytes\", \"load_in_4bit\": true}");
    case MC_Q_BNB8: return MC_STR("{\"quant_method\": \"bitsandbytes\", \"load_in_8bit\": true}");
    case MC_Q_FP8:
        if (first->grain == MC_GRAIN_BLOCK)
            return mc_format(a, "{\"quant_method\": \"fp8\", \"activation_scheme\": \"dynamic\", \"weight_block_size\": [%llu, %llu]}", (unsigned long long)first->block[0],
                             (unsigned long long)first->block[1]);
        break;
    default: break;
    }
    return MC_STR("");
}

static void settings_missing(mc_check *cx, uint32_t component, const mc_doc *config)
{
    static const char *const comfy[] = { "scaled_fp8", ".scale_weight", NULL };
    const mc_model  *m = cx->model;
    const mc_quant  *q = m->quant;
    const mc_module *first = NULL;
    size_t           n = 0;
    if (described(m, component))
        return;
    for (size_t i = 0; i < q->n_modules; i++) {
        const mc_module *v = &q->modules[i];
        if (v->component != component || !wants_settings(v->layout) || !v->parts[MC_PART_SCALE])
            continue;
        first = first ? first : v;
        n++;
    }
    if (n < 2 || any_ends(inventory(m, component), comfy, NULL))
        return;
    mc_str      bits = q->bits.known ? mc_format(cx->arena, ", %lld bits", (long long)q->bits.v) : MC_STR("");
    mc_str      group = q->group.known && q->group.v > 0 ? mc_format(cx->arena, ", group %lld", (long long)q->group.v) : MC_STR("");
    mc_str      block = suggestion(cx, first);
    mc_finding *f = mc_report(cx, config->file, "%zu modules look like %s%.*s%.*s, but no file says how they are quantized", n, mc_layout_name(first->layout), MC_FMT(bits), MC_FMT(group));
    mc_subject(f, first->name);
    mc_count(f, n);
    mc_because(cx, f, "tensor", mc_origin_at(first->parts[MC_PART_WEIGHT]->file, ""), "%.*s", MC_FMT(first->parts[MC_PART_WEIGHT]->name));
    mc_because(cx, f, "scales", mc_origin_at(first->parts[MC_PART_SCALE]->file, ""), "%.*s", MC_FMT(first->parts[MC_PART_SCALE]->name));
    if (block.n)
        mc_fix(cx, f, "put the quantization_config of the source back, for example %.*s", MC_FMT(block));
}

void mc_check_settings_missing(mc_check *cx)
{
    const mc_model *m = cx->model;
    if (!m->quant || m->alone || m->unit != MC_UNIT_DIR)
        return;
    for (uint32_t c = 0; c < m->n_components; c++) {
        const mc_doc *d = mc_model_doc(m, c, MC_ROLE_CONFIG);
        if (d && mc_is(d->root, MC_OBJECT) && m->components[c].kind != MC_COMP_COPY)
            settings_missing(cx, c, d);
    }
}

/* ---- MC415 ---- */

typedef struct { size_t n, total; const mc_pattern *first; } unmatched;

static void count_list(const mc_pattern *v, size_t n, bool complete, unmatched *bad, unmatched *alien)
{
    for (size_t i = 0; i < n; i++) {
        if (v[i].dialect == MC_DIALECT_CLASS)
            continue;
        unmatched *u = !v[i].supported && !v[i].hit ? alien : bad;
        bad->total++;
        if (u == bad && (v[i].hit || !complete))
            continue;
        if (!u->first)
            u->first = &v[i];
        u->n++;
    }
}

static size_t common_prefix(mc_str a, mc_str b)
{
    size_t i = 0;
    while (i < a.n && i < b.n && a.p[i] == b.p[i])
        i++;
    return i;
}

/* The module that begins like the entry, or "". */
static mc_str nearest(const mc_quant *q, const mc_claim *c, mc_str entry)
{
    const mc_module *best = NULL;
    size_t           length = entry.n / 2;
    for (size_t i = 0; i < q->n_modules; i++)
        if (q->modules[i].component == c->component && common_prefix(q->modules[i].name, entry) > length) {
            best = &q->modules[i];
            length = common_prefix(best->name, entry);
        }
    return best ? best->name : MC_STR("");
}

static void lists_of(mc_check *cx, const mc_claim *c)
{
    const mc_model     *m = cx->model;
    const mc_inventory *inv = inventory(m, c->component);
    unmatched           bad = { 0 }, alien = { 0 };
    size_t              modules = 0;
    for (size_t i = 0; i < m->quant->n_modules; i++)
        modules += m->quant->modules[i].component == c->component;
    if (modules == 0 || !inv)
        return;
    count_list(c->excludes, c->n_excludes, inv->complete, &bad, &alien);
    for (size_t i = 0; i < c->n_overrides; i++)
        count_list(c->overrides[i].targets, c->overrides[i].n_targets, inv->complete, &bad, &alien);
    if (bad.n + alien.n == 0)
        return;
    const mc_pattern *first = bad.first ? bad.first : alien.first;
    mc_str            near = bad.first ? nearest(m->quant, c, first->pattern) : MC_STR("");
    mc_finding       *f = mc_report(cx, c->file, "%zu of %zu entries of %.*s %s (first \"%.*s\"%s%.*s)", bad.n + alien.n, bad.total, MC_FMT(first->from.where),
                                    bad.n ? "match nothing here" : "cannot be evaluated", MC_FMT(mc_str_cut(first->pattern, 0, 80)), near.n ? "; closest module is " : "", MC_FMT(near));
    mc_subject(f, first->pattern);
    mc_count(f, bad.n + alien.n);
    if (alien.n && bad.n)
        mc_because(cx, f, "not evaluated", alien.first->from, "%zu, such as %.*s", alien.n, MC_FMT(mc_str_cut(alien.first->pattern, 0, 80)));
}

void mc_check_lists(mc_check *cx)
{
    const mc_quant *q = cx->model->quant;
    for (size_t i = 0; q && i < q->n_claims; i++)
        if (mc_claim_of(q, q->claims[i].component) == &q->claims[i])
            lists_of(cx, &q->claims[i]);
}

/* ---- MC416, MC417 ---- */

typedef struct { size_t matrices, wanted; uint64_t bits; mc_str dtype; bool packed; } stored;

static stored what_is_stored(mc_check *cx, const mc_claim *c)
{
    const mc_quant *q = cx->model->quant;
    stored          s = { 0 };
    for (size_t i = 0; i < q->n_modules && !s.packed; i++) {
        const mc_module *m = &q->modules[i];
        const mc_dtype  *d = dtype_of(cx, m);
        if (m->component != c->component || !m->parts[MC_PART_WEIGHT])
            continue;
        /* integers under a weight's name are codes, whatever their layout */
        bool codes = d && d->cls == MC_CLASS_INT && m->parts[MC_PART_WEIGHT]->rank >= 2 && (m->layer != MC_NONE || m->cls == MC_CLS_HEAD);
        s.packed |= m->layout != MC_Q_PLAIN || codes || (d && d->cls == MC_CLASS_FLOAT && d->block_bits < 16);
        if (!plain_matrix(cx, m))
            continue;
        s.matrices++;
        if (m->cls == MC_CLS_EMBEDDING || m->cls == MC_CLS_NORM || m->cls == MC_CLS_HEAD || m->layer == MC_NONE)
            continue;
        mc_verdict v = mc_claim_verdict(c, m);
        if (v.excluded_by || v.doubt || !v.scheme)
            continue;
        s.wanted++;
        s.bits = d->block_bits;
        s.dtype = s.dtype.n ? s.dtype : d->name;
    }
    return s;
}

static bool in_list(const mc_value *list, mc_str s)
{
    for (size_t i = 0; mc_is(list, MC_ARRAY) && i < list->n; i++)
        if (mc_quant_name_eq(mc_as_str(mc_item(list, i)), s))
            return true;
    return false;
}

/* compressed-tensors whose format stores packed or 8-bit weights, and a group that has weights. */
static bool packed_format(const mc_kb_method *method, const mc_claim *c)
{
    static const char *const not_yet[] = { "initialized", "calibration", "frozen" };
    const mc_value *formats = mc_get(method->file, "packed_formats");
    bool            packed = in_list(formats, mc_as_str(mc_get(c->block, "format")));
    for (size_t i = 0; i < MC_COUNT(not_yet); i++)
        if (c->status.known && mc_quant_name_eq(c->status.v, mc_str_of(not_yet[i])))
            return false;
    for (size_t i = 0; i < c->n_overrides; i++)
        packed |= in_list(formats, c->overrides[i].scheme.format.v);
    return packed && c->n_overrides > 0;
}

static const char *companion(const mc_claim *c)
{
    static const struct { const char *method, *tensor; } wants[] = {
        { "gptq", "qweight" }, { "awq", "qweight" }, { "exl2", "q_weight" }, { "exl3", "trellis" }, { "aqlm", "codes" }, { "vptq", "indices" }, { "spqr", "dense_weights" },
    };
    for (size_t i = 0; i < MC_COUNT(wants); i++)
        if (mc_str_is(c->method, wants[i].method))
            return wants[i].tensor;
    return mc_str_contains(c->base.format.v, "pack") ? "weight_packed" : "weight_scale";
}

static mc_str bits_text(mc_check *cx, const mc_claim *c)
{
    return c->base.bits.known ? mc_format(cx->arena, " %lld-bit", (long long)c->base.bits.v) : MC_STR("");
}

/* The declared claim of a component whose tensors are all known and all plain; NULL when nothing can be said. */
static const mc_claim *plain_claim(mc_check *cx, uint32_t component, const mc_kb_method **method, stored *s)
{
    const mc_model *m = cx->model;
    const mc_claim *c = mc_claim_of(m->quant, component);
    if (!c || !c->known_method || !m->components[component].inv.complete || m->components[component].inv.n_tensors == 0)
        return NULL;
    *method = mc_kb_quant_method(cx->kb, c->method);
    *s = what_is_stored(cx, c);
    return s->packed || s->wanted == 0 ? NULL : c;
}

static bool can_judge(const mc_model *m)
{
    return m->quant && !m->alone && m->unit == MC_UNIT_DIR && (m->format == MC_FMT_SAFETENSORS || m->mixed);
}

void mc_check_not_stored(mc_check *cx)
{
    const mc_kb_method *method;
    stored              s;
    for (uint32_t i = 0; can_judge(cx->model) && i < cx->model->n_components; i++) {
        const mc_claim *c = plain_claim(cx, i, &method, &s);
        if (!c || (method->plain != MC_PLAIN_BROKEN && !(method->plain == MC_PLAIN_BY_FORMAT && packed_format(method, c))))
            continue;
        mc_finding *f = mc_report(cx, c->file, "declares %.*s%.*s, but all %zu matrices are %.*s: loaders look for %s and fail, or start from random values", MC_FMT(c->method),
                                  MC_FMT(bits_text(cx, c)), s.matrices, MC_FMT(s.dtype), companion(c));
        mc_because(cx, f, "declared", (mc_origin){ c->file, c->at }, "%.*s", MC_FMT(c->method));
        mc_because(cx, f, "stored", mc_origin_at(MC_NONE, ""), "%zu matrices in %.*s", s.matrices, MC_FMT(s.dtype));
    }
}

void mc_check_on_load(mc_check *cx)
{
    const mc_kb_method *method;
    stored              s;
    for (uint32_t i = 0; can_judge(cx->model) && i < cx->model->n_components; i++) {
        const mc_claim *c = plain_claim(cx, i, &method, &s);
        if (!c || method->plain != MC_PLAIN_ON_LOAD)
            continue;
        mc_str ratio = c->base.bits.known && c->base.bits.v > 0 ? mc_format(cx->arena, ", and the files are %.3g times the size the label suggests", (double)s.bits / (double)c->base.bits.v)
                                                                : MC_STR("");
        mc_finding *f = mc_report(cx, c->file, "says %.*s%.*s, the weights are plain %.*s: loaders quantize them while loading%.*s", MC_FMT(c->method), MC_FMT(bits_text(cx, c)), MC_FMT(s.dtype),
                                  MC_FMT(ratio));
        mc_because(cx, f, "declared", (mc_origin){ c->file, c->at }, "%.*s", MC_FMT(c->method));
        mc_because(cx, f, "stored", mc_origin_at(MC_NONE, ""), "%zu matrices in %.*s", s.matrices, MC_FMT(s.dtype));
    }
}

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
        if (any_ends(inventory(m, c), scales, NULL))
            return;
    for (size_t i = 0; raw && i < q->n_modules; i++) {
        const mc_module *v = &q->modules[i];
        if (v->layout != MC_Q_RAW8 || !is_f8(dtype_of(cx, v)))
            continue;
        mc_str      dtype = dtype_of(cx, v)->name;
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
        const mc_inventory *inv = inventory(m, i);
        const mc_claim     *c = mc_claim_of(m->quant, i);
        const char         *why = c ? static_activations(c) : NULL;
        size_t              packed = 0;
        if (!why || !inv->complete || inv->n_tensors == 0 || any_ends(inv, inputs, NULL) || any_contains(inv, quantizer))
            continue;
        for (size_t k = 0; k < m->quant->n_modules; k++)
            packed += m->quant->modules[k].component == i && mc_quant_packed(&m->quant->modules[k]);
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
        const mc_inventory *inv = inventory(m, i);
        const mc_claim     *c = mc_claim_of(m->quant, i);
        const mc_tensor    *first = NULL;
        if (!c)
            continue;
        for (size_t k = 0; k < m->quant->n_claims; k++)
            if (m->quant->claims[k].component == i && m->quant->claims[k].file != c->file && m->files[m->quant->claims[k].file].role == MC_ROLE_HF_QUANT_CONFIG)
                kv_files_differ(cx, c, &m->quant->claims[k]);
        if (!inv->complete || inv->n_tensors == 0)
            continue;
        bool there = any_ends(inv, kv_scales, &first);
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
        bool             skip = v->cls != MC_CLS_HEAD || !mc_quant_packed(v) || !v->parts[MC_PART_SCALE] || v->layout == MC_Q_GGML;
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
