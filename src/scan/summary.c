/* What all modules are together: how much is quantized and how, logical parameters, bits over the quantizable linears.
 *
 * Logical parameters count what packed tensors stand for. Scales, zero points, indexes and maps count nothing, tied heads once;
 * prediction layers are part of the total and told apart. */
#include "model/gguf.h"
#include "scan/infer.h"
#include "scan/modules.h"

/* ---- names ---- */

static mc_str family_of(const mc_module *q)
{
    static const char *const names[MC_N_LAYOUTS] = {
        [MC_Q_BNB4] = "bitsandbytes", [MC_Q_BNB8] = "bitsandbytes", [MC_Q_EXL2] = "exl2", [MC_Q_EXL3] = "exl3", [MC_Q_QUIP] = "quip", [MC_Q_AQLM] = "aqlm", [MC_Q_VPTQ] = "vptq",
        [MC_Q_SPQR] = "spqr", [MC_Q_HQQ] = "hqq", [MC_Q_SINQ] = "sinq", [MC_Q_CT_PACK] = "compressed-tensors", [MC_Q_NVFP4] = "modelopt", [MC_Q_MXFP4] = "mxfp4", [MC_Q_MXFP6] = "quark",
        [MC_Q_MXFP8] = "mxfp8", [MC_Q_FP4_DSV4] = "fp8", [MC_Q_FP8] = "fp8", [MC_Q_INT8] = "int8", [MC_Q_INT4_NIBBLE] = "modelopt", [MC_Q_QUARK_INT4] = "quark", [MC_Q_EETQ] = "eetq",
        [MC_Q_MLX] = "mlx", [MC_Q_METAL] = "metal", [MC_Q_GPTQ] = "gptq", [MC_Q_AWQ] = "awq", [MC_Q_AWQ_GEMV] = "awq", [MC_Q_AWQ_FAST] = "awq", [MC_Q_MARLIN] = "gptq",
        [MC_Q_MARLIN24] = "gptq", [MC_Q_QQQ] = "qqq", [MC_Q_FP_QUANT] = "fp_quant", [MC_Q_QUANTO] = "quanto", [MC_Q_TORCHAO] = "torchao", [MC_Q_BITNET] = "bitnet", [MC_Q_HIGGS] = "higgs",
        [MC_Q_GGML] = "gguf",
    };
    if ((q->layout == MC_Q_NVFP4 || q->layout == MC_Q_MXFP4 || q->layout == MC_Q_MXFP6 || q->layout == MC_Q_MARLIN24) && mc_str_ends(q->parts[MC_PART_WEIGHT]->name, ".weight_packed"))
        return MC_STR("compressed-tensors");
    return mc_str_of(names[q->layout]);
}

/* ---- the most frequent, by parameters ---- */

enum { KINDS = 64 };
typedef struct { uint64_t key, sub, sub2, weight; } kind_row;
typedef struct { kind_row v[KINDS]; size_t n; } tally;

static void count(tally *t, uint64_t key, uint64_t sub, uint64_t sub2, uint64_t weight)
{
    size_t i = 0;
    while (i < t->n && (t->v[i].key != key || t->v[i].sub != sub || t->v[i].sub2 != sub2))
        i++;
    if (i == KINDS)
        return;
    if (i == t->n)
        t->v[t->n++] = (kind_row){ key, sub, sub2, 0 };
    if (ckd_add(&t->v[i].weight, t->v[i].weight, weight))
        t->v[i].weight = UINT64_MAX;
}

static const kind_row *most(const tally *t)
{
    const kind_row *best = NULL;
    for (size_t i = 0; i < t->n; i++)
        if (!best || t->v[i].weight > best->weight)
            best = &t->v[i];
    return best;
}

/* ---- sums ---- */

static bool is_packed(const mc_module *q)
{
    return q->layout != MC_Q_PLAIN && q->layout != MC_Q_RAW8;
}

static uint64_t bias_of(const mc_module *q)
{
    const mc_tensor *b = q->parts[MC_PART_BIAS];
    return b && !b->overflow ? b->elements : 0;
}

static void add(uint64_t *sum, uint64_t n, bool *known)
{
    if (ckd_add(sum, *sum, n))
        *known = false;
}

typedef struct { bool known, linear_known; uint64_t total, experts, linear, linear_bytes; } totals;

static void sum_module(mc_quant *s, const mc_module *q, totals *t)
{
    bool     packed = is_packed(q), linear = q->parts[MC_PART_WEIGHT]->rank >= 2 && (q->cls == MC_CLS_ATTENTION || q->cls == MC_CLS_MLP || q->cls == MC_CLS_EXPERTS);
    uint64_t own = 0;
    bool     ok = q->elements_known;
    add(&own, q->elements, &ok);
    add(&own, bias_of(q), &ok);
    t->known &= ok;
    add(&t->total, own, &t->known);
    s->by_class[q->cls].modules++;
    s->by_class[q->cls].packed += packed;
    s->by_class[q->cls].known &= ok;
    add(&s->by_class[q->cls].parameters, own, &s->by_class[q->cls].known);
    add(&s->by_class[q->cls].packed_parameters, packed ? q->elements : 0, &s->by_class[q->cls].known);
    add(&s->by_class[q->cls].bytes, q->bytes + (q->parts[MC_PART_BIAS] ? q->parts[MC_PART_BIAS]->end - q->parts[MC_PART_BIAS]->begin : 0), &s->by_class[q->cls].known);
    if (packed)
        s->biases_on_quantized += bias_of(q);
    if (q->cls == MC_CLS_MTP)
        add(&s->mtp_parameters, own, &t->known);
    if (linear) {
        t->linear_known &= ok;
        add(&t->linear, q->elements, &t->linear_known);
        add(&t->linear_bytes, q->bytes, &t->linear_known);
    }
}

/* ---- the mix ---- */

/* Where a byte holds one value, the declared width is the width. */
static double width_of(const mc_quant *s, const mc_module *q)
{
    const mc_pattern *by;
    bool              doubt;
    bool              bytes = q->bits == 8 && (q->layout == MC_Q_INT8 || q->layout == MC_Q_TORCHAO || q->layout == MC_Q_HQQ);
    if (!bytes || s->declared >= s->n_claims)
        return q->bits;
    const mc_scheme *c = mc_claim_scheme(&s->claims[s->declared], q, &by, &doubt);
    return c && c->bits.known && c->bits.v > 0 && c->bits.v < 8 ? (double)c->bits.v : q->bits;
}

static mc_int of_tensors(uint64_t v)
{
    return v > 0 && v <= INT64_MAX ? (mc_int){ true, (int64_t)v, { MC_NONE, MC_STR("tensor tables") } } : (mc_int){ 0 };
}

static void find_mix(mc_quant *s)
{
    tally widths = { .n = 0 }, grains = { .n = 0 }, sides = { .n = 0 };
    for (size_t i = 0; i < s->n_modules; i++) {
        const mc_module *q = &s->modules[i];
        if (!is_packed(q))
            continue;
        uint64_t n = q->elements_known ? q->elements : q->bytes; /* undecided widths count by their bytes */
        count(&widths, (uint64_t)(width_of(s, q) + 0.5), 0, 0, n);
    }
    const kind_row *w = most(&widths);
    for (size_t i = 0; w && i < s->n_modules; i++) {
        const mc_module *q = &s->modules[i];
        if (!is_packed(q) || (uint64_t)(width_of(s, q) + 0.5) != w->key)
            continue;
        uint64_t n = q->elements_known ? q->elements : q->bytes;
        count(&grains, (uint64_t)q->grain << 32 | (q->grain == MC_GRAIN_GROUP ? q->group & UINT32_MAX : 0), q->grain == MC_GRAIN_BLOCK ? q->block[0] : 0,
              q->grain == MC_GRAIN_BLOCK ? q->block[1] : 0, n);
        count(&sides, (uint64_t)(q->symmetric + 1), 0, 0, n);
    }
    if (!w)
        return;
    s->bits = of_tensors(w->key);
    const kind_row *g = most(&grains), *y = most(&sides);
    s->grain = (mc_grain)(g->key >> 32);
    s->group = of_tensors(g->key & UINT32_MAX);
    s->block[0] = g->sub;
    s->block[1] = g->sub2;
    s->symmetric = (mc_tri)((int)y->key - 1);
}

static void find_family(mc_quant *s)
{
    uint64_t by_layout[MC_N_LAYOUTS] = { 0 }, best = 0;
    s->seen = MC_STR("");
    for (size_t i = 0; i < s->n_modules; i++) {
        const mc_module *q = &s->modules[i];
        if (!is_packed(q))
            continue;
        uint64_t n = by_layout[q->layout] += (q->elements_known ? q->elements : q->bytes) / 2 + 1;
        if (n > best) {
            best = n;
            s->seen = family_of(q);
        }
    }
}

/* What the claim says where the tensors say nothing: a model that was saved unpacked, symmetry of floats. */
static void add_claim(mc_quant *s)
{
    const mc_claim *c = s->declared < s->n_claims ? &s->claims[s->declared] : NULL;
    if (!c) {
        s->method = s->seen.n ? (mc_text){ true, s->seen, { MC_NONE, MC_STR("tensor tables") } } : (mc_text){ 0 };
        return;
    }
    s->method = (mc_text){ c->method.n > 0, c->method, { c->file, c->at } };
    s->format = c->base.format;
    if (s->symmetric == MC_UNKNOWN)
        s->symmetric = c->base.symmetric;
    if (s->n_packed == 0 && c->base.group.known && c->base.group.v > 0) {
        s->group = c->base.group;
        s->grain = MC_GRAIN_GROUP;
    }
}

/* ---- parameters ---- */

/* The head repeats the embedding: it counts once. */
static uint64_t tied_head(const mc_model *m)
{
    const mc_module *embed = NULL, *head = NULL;
    if (!m->arch.tie.known || !m->arch.tie.v)
        return 0;
    if (m->heads.head && m->heads.embed && m->heads.head->elements == m->heads.embed->elements)
        return m->heads.head->elements;
    for (size_t i = 0; i < m->quant->n_modules; i++) {
        const mc_module *q = &m->quant->modules[i];
        if (q->component != 0 || q->layer != MC_NONE || !q->elements_known || q->parts[MC_PART_WEIGHT]->rank < 2)
            continue;
        if (q->cls == MC_CLS_EMBEDDING && (!embed || q->elements > embed->elements))
            embed = q;
        else if (q->cls == MC_CLS_HEAD && !head)
            head = q;
    }
    if (!embed || !head || (embed->layout == MC_Q_PLAIN && head->layout == MC_Q_PLAIN))
        return 0;
    return embed->elements == head->elements || (head->in && head->in == embed->in) ? head->elements : 0;
}

static bool all_listed(const mc_model *m)
{
    for (size_t c = 0; c < m->n_components; c++) {
        const mc_component *k = &m->components[c];
        if (k->kind == MC_COMP_COPY || (k->set == MC_NONE && k->inv.names.n == 0))
            continue;
        if (!mc_all_listed(m, k))
            return false;
    }
    return true;
}

static mc_int active_of(const mc_model *m, const totals *t)
{
    const mc_quant *s = m->quant;
    uint64_t        experts = s->by_class[MC_CLS_EXPERTS].parameters, main = t->total - s->mtp_parameters;
    int64_t         all = m->arch.experts.known ? m->arch.experts.v : 0, used = m->arch.experts_used.known ? m->arch.experts_used.v : 0;
    if (!t->known || s->mtp_parameters > t->total || experts > main)
        return (mc_int){ 0 };
    if (experts == 0 && all <= 0)
        return of_tensors(main);
    if (experts == 0 || all <= 0 || used <= 0 || used > all)
        return (mc_int){ 0 };
    return of_tensors(main - experts + experts / (uint64_t)all * (uint64_t)used + experts % (uint64_t)all * (uint64_t)used / (uint64_t)all);
}

void mc_sum_modules(mc_model *m, const mc_kb *kb)
{
    mc_quant *s = m->quant;
    totals    t = { .known = true, .linear_known = true };
    (void)kb;
    if (!s)
        return;
    for (size_t i = 0; i < MC_N_CLASSES; i++)
        s->by_class[i].known = true;
    for (size_t i = 0; i < s->n_modules; i++)
        sum_module(s, &s->modules[i], &t);
    uint64_t tied = tied_head(m);
    t.total -= tied <= t.total ? tied : 0;
    s->linear_known = t.linear_known && t.linear > 0;
    s->linear_bpw = s->linear_known ? 8.0 * (double)t.linear_bytes / (double)t.linear : 0;
    find_mix(s);
    find_family(s);
    add_claim(s);
    t.known &= all_listed(m);
    s->active = active_of(m, &t);
    m->parameters = t.known && t.total <= INT64_MAX ? (mc_int){ true, (int64_t)t.total, { MC_NONE, MC_STR("tensor tables") } } : (mc_int){ 0 };
}
