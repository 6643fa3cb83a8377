/* MC502: of the parameters that the scheme could have quantized, how many are? Embeddings, heads, norms, routers, towers,
 * prediction layers, excluded modules and matrices whose sides the groups do not divide are not asked for. */
#include "model/quant.h"
#include "rules/size.h"

typedef struct {
    uint64_t eligible, packed;          /* logical parameters */
    uint64_t left[MC_N_CLASSES], bytes[MC_N_CLASSES]; /* eligible but plain */
    const mc_module *first[MC_N_CLASSES];
    bool     unknown;                   /* a packed module of unknown size, or a sum beyond 64 bits */
} coverage;

/* Methods that are about experts only, and lists of what is quantized: little is then meant to be. */
static bool limited(const mc_claim *c)
{
    return mc_str_is(c->method, "mxfp4") || mc_str_is(c->method, "gpt_oss_mxfp4") || mc_str_is(c->base.format.v, "MIXED_PRECISION") ||
           mc_get(c->block, "quantized_layers") || (c->whole_scope && !mc_str_is(c->method, "compressed-tensors"));
}

static bool divisible(uint64_t side, uint64_t by)
{
    return side >= 64 && (side % 16 == 0 || (by && side % by == 0));
}

/* A plain matrix that the scheme would have taken, had it matched it. */
static bool eligible(const mc_claim *c, const mc_module *m)
{
    const mc_tensor  *t = m->parts[MC_PART_WEIGHT];
    const mc_pattern *by = NULL;
    bool              doubt = false;
    uint64_t          group = c->base.group.known && c->base.group.v > 0 ? (uint64_t)c->base.group.v : 0;
    if (!t || t->rank < 2 || t->rank > 3 || m->layer == MC_NONE)
        return false;
    if (m->cls != MC_CLS_ATTENTION && m->cls != MC_CLS_MLP && m->cls != MC_CLS_EXPERTS && m->cls != MC_CLS_OTHER)
        return false;
    uint64_t rows = t->dims[t->rank - 2], columns = t->dims[t->rank - 1];
    if (!divisible(rows, group) || !divisible(columns, group) || (group && rows % group && columns % group))
        return false;
    const mc_scheme *s = mc_claim_scheme(c, m, &by, &doubt);
    return !doubt && !by && s && s->quantized != MC_NO; /* no scheme: outside of what the claim is about */
}

static void see(coverage *v, const mc_claim *c, const mc_module *m)
{
    const mc_tensor *t = m->parts[MC_PART_WEIGHT];
    if (m->layout != MC_Q_PLAIN && m->layout != MC_Q_RAW8) {
        bool asked = m->cls != MC_CLS_EMBEDDING && m->cls != MC_CLS_HEAD && m->cls != MC_CLS_ROUTER && m->cls != MC_CLS_VISION && m->cls != MC_CLS_MTP;
        v->unknown |= asked && (!m->elements_known || ckd_add(&v->packed, v->packed, m->elements) || ckd_add(&v->eligible, v->eligible, m->elements));
        return;
    }
    if (m->layout != MC_Q_PLAIN || !eligible(c, m))
        return;
    v->unknown |= t->overflow || ckd_add(&v->eligible, v->eligible, t->elements);
    v->left[m->cls] += t->overflow ? 0 : t->elements;
    v->bytes[m->cls] += t->end > t->begin ? t->end - t->begin : 0;
    if (!v->first[m->cls])
        v->first[m->cls] = m;
}

static mc_str scheme_words(mc_check *cx, const mc_quant *q)
{
    if (q->bits.known && q->bits.v > 0)
        return mc_format(cx->arena, "%lld-bit", (long long)q->bits.v);
    return MC_STR("quantized");
}

/* Half of all linear parameters are packed: then half of the eligible ones are, and no module has to be asked. */
static bool plenty(const mc_quant *q)
{
    static const mc_module_class asked[] = { MC_CLS_ATTENTION, MC_CLS_MLP, MC_CLS_EXPERTS, MC_CLS_OTHER };
    uint64_t all = 0, packed = 0;
    for (size_t i = 0; i < MC_COUNT(asked); i++)
        if (!q->by_class[asked[i]].known || ckd_add(&all, all, q->by_class[asked[i]].parameters) || ckd_add(&packed, packed, q->by_class[asked[i]].packed_parameters))
            return false;
    return packed >= all - packed;
}

void mc_check_low_coverage(mc_check *cx)
{
    const mc_model *m = cx->model;
    const mc_quant *q = m->quant;
    if (!q || m->format != MC_FMT_SAFETENSORS || m->n_components == 0 || !m->components[0].inv.complete || q->n_packed == 0 || q->declared >= q->n_claims)
        return;
    const mc_claim *c = &q->claims[q->declared];
    coverage        v = { 0 };
    size_t          most = 0;
    if (limited(c) || plenty(q))
        return;
    for (size_t i = 0; i < q->n_modules && !v.unknown; i++)
        if (q->modules[i].component == 0)
            see(&v, c, &q->modules[i]);
    if (v.unknown || v.packed == 0 || v.packed >= v.eligible - v.packed)
        return;
    for (size_t i = 1; i < MC_N_CLASSES; i++)
        most = v.left[i] > v.left[most] ? i : most;
    const mc_module *first = v.first[most];
    const mc_dtype  *d = first ? mc_kb_dtype(cx->kb, first->parts[MC_PART_WEIGHT]->dtype) : NULL;
    if (!first || !d)
        return;
    mc_str      words = scheme_words(cx, q);
    mc_finding *out = mc_report(cx, MC_NONE, "only %.0f %% of %.*s eligible parameters are %.*s: %s (%.*s) stayed %.*s", 100.0 * (double)v.packed / (double)v.eligible,
                                MC_FMT(mc_size_count_text(cx->arena, v.eligible)), MC_FMT(words), mc_class_name((mc_module_class)most), MC_FMT(mc_size_text(cx->arena, v.bytes[most])), MC_FMT(d->name));
    mc_because(cx, out, "declared", (mc_origin){ c->file, c->at }, "%.*s", MC_FMT(c->method));
    mc_because(cx, out, "first of them", (mc_origin){ first->parts[MC_PART_WEIGHT]->file, first->name }, "%.*s, on no exclude list", MC_FMT(d->name));
    mc_fix(cx, out, "Quantize again with a recipe that reaches %.*s, or list what is meant to stay plain", MC_FMT(first->name));
}
