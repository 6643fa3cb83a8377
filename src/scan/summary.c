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

/* ---- the mix, by parameters ---- */

/* Modules that are packed alike. */
typedef struct { mc_layout layout; uint64_t width, group, block[2]; mc_grain grain; mc_tri symmetric; const mc_module *first; uint64_t weight; } kind_row;
enum { KINDS = 64 };
typedef struct { kind_row v[KINDS]; size_t n, last; } mix;

static bool same_kind(const kind_row *x, const kind_row *y)
{
    return x->layout == y->layout && x->width == y->width && x->grain == y->grain && x->group == y->group && x->block[0] == y->block[0] && x->block[1] == y->block[1]
        && x->symmetric == y->symmetric;
}

static void count(mix *t, kind_row k)
{
    size_t i = t->last;
    if (i >= t->n || !same_kind(&t->v[i], &k))
        for (i = 0; i < t->n && !same_kind(&t->v[i], &k); i++)
            continue;
    if (i == KINDS)
        return;
    if (i == t->n)
        t->v[t->n++] = (kind_row){ k.layout, k.width, k.group, { k.block[0], k.block[1] }, k.grain, k.symmetric, k.first, 0 };
    if (ckd_add(&t->v[i].weight, t->v[i].weight, k.weight))
        t->v[i].weight = UINT64_MAX;
    t->last = i;
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
    return v <= INT64_MAX ? (mc_int){ true, (int64_t)v, { MC_NONE, MC_STR("tensor tables") } } : (mc_int){ 0 };
}

/* Rounded; nonsense of a hostile table is no width. */
static uint64_t whole_bits(double bits)
{
    return bits > 0 && bits <= 64 ? (uint64_t)(bits + 0.5) : 0;
}

static kind_row kind_of(const mc_quant *s, const mc_module *q)
{
    bool group = q->grain == MC_GRAIN_GROUP, block = q->grain == MC_GRAIN_BLOCK;
    return (kind_row){ q->layout, whole_bits(width_of(s, q)), group ? q->group : 0, { block ? q->block[0] : 0, block ? q->block[1] : 0 }, q->grain, q->symmetric, q,
                       q->elements_known ? q->elements : q->bytes }; /* undecided widths count by their bytes */
}

typedef bool same_fn(const kind_row *x, const kind_row *y);
static bool same_layout(const kind_row *x, const kind_row *y) { return x->layout == y->layout; }
static bool same_width(const kind_row *x, const kind_row *y) { return x->width == y->width; }
static bool same_grain(const kind_row *x, const kind_row *y) { return same_width(x, y) && x->grain == y->grain && x->group == y->group && x->block[0] == y->block[0] && x->block[1] == y->block[1]; }
static bool same_side(const kind_row *x, const kind_row *y) { return same_width(x, y) && x->symmetric == y->symmetric; }

/* The row whose like, among those like `within`, weigh most. */
static const kind_row *most(const mix *t, same_fn *same, const kind_row *within)
{
    const kind_row *best = NULL;
    double          best_weight = -1;
    for (size_t i = 0; i < t->n; i++) {
        double weight = 0;
        for (size_t k = 0; k < t->n; k++)
            weight += same(&t->v[i], &t->v[k]) ? (double)t->v[k].weight : 0;
        if ((!within || same_width(&t->v[i], within)) && weight > best_weight) {
            best = &t->v[i];
            best_weight = weight;
        }
    }
    return best;
}

static void find_mix(mc_quant *s, const mix *t)
{
    s->seen = MC_STR("");
    if (t->n == 0)
        return;
    const kind_row *w = most(t, same_width, NULL), *g = most(t, same_grain, w);
    s->seen = family_of(most(t, same_layout, NULL)->first);
    if (w->width)
        s->bits = of_tensors(w->width);
    if (g->group)
        s->group = of_tensors(g->group);
    s->grain = g->grain;
    s->block[0] = g->block[0];
    s->block[1] = g->block[1];
    s->symmetric = most(t, same_side, w)->symmetric;
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

/* There are weights, and the tables of all of them were read. */
static bool all_listed(const mc_model *m)
{
    bool any = false;
    for (size_t c = 0; c < m->n_components; c++) {
        const mc_component *k = &m->components[c];
        if (k->kind == MC_COMP_COPY || (k->set == MC_NONE && k->inv.names.n == 0))
            continue;
        any = true;
        if (!mc_all_listed(m, k))
            return false;
    }
    return any;
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
    totals    t = { .linear_known = true };
    mix       kinds = { .n = 0 };
    (void)kb;
    t.known = all_listed(m);
    m->parameters = t.known && !s ? of_tensors(0) : (mc_int){ 0 };
    if (!s)
        return;
    s->symmetric = MC_UNKNOWN;
    for (size_t i = 0; i < MC_N_CLASSES; i++)
        s->by_class[i].known = true;
    for (size_t i = 0; i < s->n_modules; i++) {
        sum_module(s, &s->modules[i], &t);
        if (is_packed(&s->modules[i]))
            count(&kinds, kind_of(s, &s->modules[i]));
    }
    uint64_t tied = tied_head(m);
    t.total -= tied <= t.total ? tied : 0;
    s->linear_known = t.linear_known && t.linear > 0;
    s->linear_bpw = s->linear_known ? 8.0 * (double)t.linear_bytes / (double)t.linear : 0;
    find_mix(s, &kinds);
    add_claim(s);
    s->active = active_of(m, &t);
    m->parameters = t.known ? of_tensors(t.total) : (mc_int){ 0 };
}
