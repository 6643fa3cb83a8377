/* MC410, MC415-MC417: blocks and lists against what is stored, as a whole. */
#include "rules/quant_rules.h"

/* ---- what the read sets hold ---- */

const mc_inventory *mc_quant_inventory(const mc_model *m, uint32_t component)
{
    return component < m->n_components ? &m->components[component].inv : NULL;
}

/* Does a tensor's name end with one of these? Asked once a form. *first gets the first such tensor. */
bool mc_quant_any_ends(const mc_inventory *inv, const char *const *endings, const mc_tensor **first)
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

bool mc_quant_any_contains(const mc_inventory *inv, const char *const *words)
{
    for (size_t i = 0; inv && i < inv->form_names.n; i++)
        if (mc_str_contains_any(inv->forms[i].first->name, words))
            return true;
    return false;
}

const mc_dtype *mc_quant_dtype(const mc_check *cx, const mc_module *m)
{
    const mc_tensor *t = m->parts[MC_PART_WEIGHT];
    return t ? mc_kb_dtype(cx->kb, t->dtype) : NULL;
}

/* A matrix in F16, BF16, F32 or F64. */
static bool plain_matrix(const mc_check *cx, const mc_module *m)
{
    const mc_tensor *t = m->parts[MC_PART_WEIGHT];
    const mc_dtype  *d = mc_quant_dtype(cx, m);
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
    if (n < 2 || mc_quant_any_ends(mc_quant_inventory(m, component), comfy, NULL))
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
    const mc_inventory *inv = mc_quant_inventory(m, c->component);
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
        const mc_dtype  *d = mc_quant_dtype(cx, m);
        if (m->component != c->component || !m->parts[MC_PART_WEIGHT])
            continue;
        /* integers under a weight's name are codes, whatever their layout */
        bool codes = d && d->cls == MC_CLASS_INT && m->parts[MC_PART_WEIGHT]->rank >= 2 && (m->layer != MC_NONE || m->cls == MC_CLS_HEAD);
        s.packed |= m->layout != MC_Q_PLAIN || codes || (d && d->cls == MC_CLASS_FLOAT && d->block_bits < 16);
        if (!d || !plain_matrix(cx, m))
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
