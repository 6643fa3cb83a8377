/* Layouts of HQQ, SINQ, ExLlama, the code-book methods, quanto, torchao, bitnet and higgs. Shapes as their writers make them;
 * what only data tell (shape, q_groups) is used where it could be read. */
#include "scan/modules.h"

/* ---- HQQ, SINQ ---- */

/* Values in W_q for a width; 3 bits: ten a word, the last word of a column may be short. */
static bool hqq_fits(const mc_pack *p, const mc_tensor *w, unsigned bits, uint64_t values, uint64_t group)
{
    uint64_t bytes = w->end - w->begin;
    if (bits == 3)
        return bytes / 4 * 10 >= values && bytes / 4 * 10 - values < 10 * (group ? group : 1) + 10;
    (void)p;
    return bits == 8 || bits == 6 || bits == 5 ? bytes == values : bits && 8 % bits == 0 && bytes == mc_ceil_div(values, 8 / bits);
}

void mc_fill_hqq(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    const mc_tensor *w = q->parts[MC_PART_WEIGHT], *st = q->parts[MC_PART_SCALE], *shape = q->parts[MC_PART_SHAPE];
    mc_span          d = mc_small_of(small, n, MC_PART_SHAPE);
    int64_t          out = mc_small_int(p, shape, d, 0), in = mc_small_int(p, shape, d, 1);
    int64_t          bits = mc_small_int(p, q->parts[MC_PART_STATE], mc_small_of(small, n, MC_PART_STATE), 0);
    q->symmetric = MC_NO;
    mc_need(q, MC_PART_SCALE, "scale");
    if (out > 0 && in > 0)
        mc_set_shape(q, 1, (uint64_t)out, (uint64_t)in);
    if (!q->elements_known || w->end < w->begin)
        return;
    if (st && st->elements > 0 && q->elements % st->elements == 0) {
        q->group = q->elements / st->elements;
        q->grain = MC_GRAIN_GROUP;
        q->groups = mc_ceil_div(q->in, q->group);
    }
    bool fits = false;
    for (unsigned b = 8; b >= 1; b--)
        if ((bits <= 0 || bits == b) && b != 7 && hqq_fits(p, w, b, q->elements, q->group)) {
            fits = true;
            mc_set_bits(q, b, MC_NO);
        }
    if (!fits && bits <= 8)
        mc_set_fault(&q->shape, "has another size than W_q holds", shape, 0, q->elements);
    q->bits_certain = fits && bits > 0;
}

void mc_fill_sinq(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    (void)p, (void)small, (void)n;
    q->symmetric = MC_NO; /* width and shape stand in a file beside the weights */
}

/* ---- ExLlama ---- */

/* Heads are padded to 32 (exl2) or 128 (exl3) columns: the vocabulary says how many count. */
static uint64_t head_columns(const mc_pack *p, const mc_module *q, uint64_t columns)
{
    const mc_int *vocab = &p->m->arch.vocab;
    bool          padded = q->cls == MC_CLS_HEAD && vocab->known && vocab->v > 0 && (uint64_t)vocab->v < columns && columns - (uint64_t)vocab->v < 128;
    return padded ? (uint64_t)vocab->v : columns;
}

/* q_groups holds (bits, first row) of each group: rows * 32 / bits must sum up to the inputs. */
static void read_groups(const mc_pack *p, mc_module *q, mc_span d, uint64_t rows)
{
    const mc_tensor *t = q->parts[MC_PART_STATE];
    uint64_t         sum = 0, groups = t->elements / 2, first = 0;
    if (d.n / 2 < t->elements || mc_all_zero(d) || mc_kind_of(p, t) != MC_K_I16 || groups == 0)
        return;
    for (size_t i = 0; i < groups; i++) {
        int64_t b = mc_small_int(p, t, d, 2 * i), from = mc_small_int(p, t, d, 2 * i + 1) & 0xFFFF;
        int64_t to = i + 1 < groups ? mc_small_int(p, t, d, 2 * i + 3) & 0xFFFF : (int64_t)rows;
        if (b < 1 || b > 8 || to < from) {
            mc_set_fault(&q->shape, "has a group that is none", t, 0, i);
            return;
        }
        sum += (uint64_t)(to - from) * 32 / (uint64_t)b;
        if (i == 0)
            first = sum;
    }
    if (q->in && sum != q->in && rows < 65536)
        mc_set_fault(&q->shape, "has groups that do not sum up to in_features", t, q->in, sum);
    q->group = first;
}

void mc_fill_exl2(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    const mc_tensor *st = q->parts[MC_PART_SCALE], *perm = q->parts[MC_PART_INDEX];
    mc_view          w = mc_view_of(q->parts[MC_PART_WEIGHT]), s = mc_view_of(st);
    if (!w.ok || w.r > UINT32_MAX)
        return;
    if (perm && perm->elements > 0) {
        mc_set_shape(q, w.e, head_columns(p, q, w.c), perm->elements);
        mc_set_bits(q, 32.0 * (double)w.r / (double)perm->elements, MC_UNKNOWN);
    }
    if (!s.ok)
        return;
    q->grain = MC_GRAIN_GROUP;
    q->groups = s.r;
    q->group = mc_ceil_div(q->in, s.r);
    if (q->parts[MC_PART_SCALE2] && q->parts[MC_PART_SCALE2]->elements != s.r)
        mc_set_fault(&q->shape, "has another length than q_scale has rows", q->parts[MC_PART_SCALE2], s.r, q->parts[MC_PART_SCALE2]->elements);
    if (q->parts[MC_PART_STATE] && q->parts[MC_PART_STATE]->elements != 2 * s.r)
        mc_set_fault(&q->shape, "has another length than q_scale has rows", q->parts[MC_PART_STATE], 2 * s.r, q->parts[MC_PART_STATE]->elements);
    else if (q->parts[MC_PART_STATE])
        read_groups(p, q, mc_small_of(small, n, MC_PART_STATE), w.r);
}

static void check_signs(const mc_pack *p, mc_module *q, mc_part part, uint64_t tiles)
{
    const mc_tensor *t = q->parts[part];
    uint64_t         want = t && mc_kind_of(p, t) == MC_K_I16 ? tiles : 16 * tiles; /* su, sv: a bit each */
    if (t && t->elements != want)
        mc_set_fault(&q->shape, "has another length than trellis needs", t, want, t->elements);
}

void mc_fill_exl3(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    const mc_tensor *t = q->parts[MC_PART_WEIGHT];
    (void)small, (void)n;
    q->symmetric = MC_UNKNOWN;
    if (mc_kind_of(p, t) != MC_K_I16 || t->rank != 3) {
        mc_set_fault(&q->shape, t->rank != 3 ? "has not three dimensions" : "is not of type I16", t, t->rank != 3 ? 3 : 0, t->rank != 3 ? t->rank : 0);
        return;
    }
    if (t->overflow || t->dims[0] > UINT32_MAX || t->dims[1] > UINT32_MAX)
        return;
    mc_set_shape(q, 1, head_columns(p, q, 16 * t->dims[1]), 16 * t->dims[0]);
    mc_set_bits(q, (double)t->dims[2] / 16, MC_UNKNOWN);
    if (t->dims[2] % 16 != 0 || t->dims[2] == 0)
        mc_set_fault(&q->shape, "has a last dimension that is no multiple of 16", t, 0, t->dims[2]);
    if (mc_need(q, MC_PART_INDEX, "suh"))
        mc_need(q, MC_PART_MAP, "svh");
    check_signs(p, q, MC_PART_INDEX, t->dims[0]);
    check_signs(p, q, MC_PART_MAP, t->dims[1]);
}

/* ---- code books ---- */

void mc_fill_quip(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    const mc_tensor *w = q->parts[MC_PART_WEIGHT], *su = q->parts[MC_PART_INDEX], *sv = q->parts[MC_PART_MAP];
    const mc_dtype  *d = mc_kb_dtype(p->kb, w->dtype);
    (void)small, (void)n;
    if (!su || !sv || w->overflow || !d)
        return;
    mc_set_shape(q, 1, sv->elements, su->elements);
    if (q->elements_known)
        mc_set_bits(q, (double)d->block_bits * (double)w->elements / (double)q->elements, MC_UNKNOWN);
}

static unsigned log2_of(uint64_t n)
{
    unsigned b = 0;
    while (n > 1) {
        n /= 2;
        b++;
    }
    return b;
}

void mc_fill_aqlm(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    const mc_tensor *c = q->parts[MC_PART_WEIGHT], *books = q->parts[MC_PART_MAP], *s = q->parts[MC_PART_SCALE];
    uint64_t         in, out;
    (void)p, (void)small, (void)n;
    if (!mc_need(q, MC_PART_MAP, "codebooks") || c->rank != 3 || books->rank != 4 || c->overflow || books->overflow || !books->dims[2] || !books->dims[3])
        return;
    if (ckd_mul(&out, c->dims[0], books->dims[2]) || ckd_mul(&in, c->dims[1], books->dims[3]))
        return;
    mc_set_shape(q, 1, out, in);
    mc_set_bits(q, (double)(c->dims[2] * log2_of(books->dims[1])) / (double)(books->dims[2] * books->dims[3]), MC_UNKNOWN);
    if (books->dims[0] != c->dims[2])
        mc_set_fault(&q->shape, "has other books than codes", books, c->dims[2], books->dims[0]);
    if (s && s->rank > 0 && s->dims[0] != c->dims[0])
        mc_set_fault(&q->shape, "has other rows than codes", s, c->dims[0], s->dims[0]);
}

/* in_features and out_features of one module stand in config_for_layers. */
void mc_fill_vptq(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    const mc_value *layers = mc_at(mc_model_config(p->m), "/quantization_config/config_for_layers"), *c = mc_get_str(layers, q->name);
    int64_t         in, out;
    (void)small, (void)n;
    if (mc_as_int(mc_get(c, "in_features"), &in) && mc_as_int(mc_get(c, "out_features"), &out) && in > 0 && out > 0)
        mc_set_shape(q, 1, (uint64_t)out, (uint64_t)in);
    if (q->elements_known)
        mc_set_bits(q, 8.0 * (double)(q->parts[MC_PART_WEIGHT]->end - q->parts[MC_PART_WEIGHT]->begin) / (double)q->elements, MC_UNKNOWN);
    q->bits_certain = false;
}

/* Tiles of 16 x 16 values in 16 words of 64 bits. */
void mc_fill_spqr(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    const mc_tensor *w = q->parts[MC_PART_WEIGHT];
    (void)small, (void)n;
    q->symmetric = MC_UNKNOWN;
    if (w->overflow || mc_kind_of(p, w) != MC_K_I64 || ckd_mul(&q->elements, w->elements, 16))
        return;
    mc_set_bits(q, 4, MC_UNKNOWN);
    q->elements_known = true;
    q->in = mc_in_witness(p, q, &q->in_witness);
    q->out = q->in && q->elements % q->in == 0 ? q->elements / q->in : 0;
}

void mc_fill_higgs(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    const mc_tensor *tables = q->parts[MC_PART_MAP];
    mc_view          w = mc_view_of(q->parts[MC_PART_WEIGHT]), s = mc_view_of(q->parts[MC_PART_SCALE]);
    unsigned         b = tables ? log2_of(tables->elements) : 0;
    (void)p, (void)small, (void)n;
    if (!w.ok || b < 1 || b > 8 || w.r > UINT32_MAX)
        return;
    mc_set_bits(q, b, MC_UNKNOWN);
    mc_set_shape(q, w.e, w.c, w.r * 16 / b);
    if (s.ok)
        mc_set_groups(q, s.c);
}

/* ---- bytes of several codes ---- */

void mc_fill_bitnet(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    mc_view w = mc_view_of(q->parts[MC_PART_WEIGHT]);
    (void)p, (void)small, (void)n;
    if (!w.ok || w.r > UINT32_MAX)
        return;
    mc_set_bits(q, 2, MC_YES);
    q->grain = MC_GRAIN_TENSOR;
    q->groups = 1;
    mc_set_shape(q, w.e, w.r * 4, w.c);
}

/* 4 and 2 bits: rows of one group each, [O * G, g], packed along the first dimension. */
static void quanto_groups(const mc_pack *p, mc_module *q, mc_view w, const mc_tensor *st)
{
    uint64_t rows = st->elements, bits = rows && w.r <= UINT32_MAX && 8 * w.r % rows == 0 ? 8 * w.r / rows : 0;
    mc_set_bits(q, (double)bits, q->parts[MC_PART_ZERO] ? MC_NO : MC_YES);
    if (bits != 2 && bits != 4) {
        mc_set_fault(&q->shape, "fits the codes at no width", st, 0, rows);
        return;
    }
    q->grain = MC_GRAIN_GROUP;
    q->group = w.c;
    q->elements_known = !ckd_mul(&q->elements, rows, w.c);
    q->in = mc_in_witness(p, q, &q->in_witness);
    q->out = q->in && q->elements % q->in == 0 ? q->elements / q->in : 0;
    q->groups = q->in && q->in % w.c == 0 ? q->in / w.c : 0;
}

void mc_fill_quanto(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    const mc_tensor *w = q->parts[MC_PART_WEIGHT], *st = q->parts[MC_PART_SCALE];
    mc_view          v = mc_view_of(w);
    (void)small, (void)n;
    if (!v.ok || v.c == 0)
        return;
    if (mc_str_ends(w->name, "._data._data")) {
        if (st)
            quanto_groups(p, q, v, st);
        return;
    }
    mc_fill_bytes(p, q, NULL, 0);
}

void mc_fill_torchao(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    const mc_tensor *w = q->parts[MC_PART_WEIGHT];
    mc_view          v = mc_view_of(w), s = mc_view_of(q->parts[MC_PART_SCALE]);
    uint32_t         k = mc_kind_of(p, w);
    if (!v.ok || v.r > UINT32_MAX || v.c > UINT32_MAX)
        return;
    if (k & (MC_K_F8 | MC_K_I8)) {
        mc_fill_bytes(p, q, small, n);
    } else if (k == MC_K_U8) { /* two codes a byte; integers keep their scales as [I/g, O] */
        mc_set_bits(q, 4, q->parts[MC_PART_ZERO] ? MC_NO : MC_YES);
        mc_set_shape(q, v.e, v.r, v.c * 2);
        if (s.ok)
            mc_set_groups(q, s.c == v.r && s.r != v.r ? s.r : s.c);
    } else if (k == MC_K_I32 && w->rank == 4) { /* tiles: [O/8, I/(tiles * 16), 32, tiles/2] */
        mc_set_bits(q, 4, MC_NO);
        q->elements_known = !ckd_mul(&q->elements, w->elements, 8);
        q->out = w->dims[0] < UINT32_MAX ? w->dims[0] * 8 : 0;
        q->in = q->out ? q->elements / q->out : 0;
        if (q->parts[MC_PART_SCALE] && q->parts[MC_PART_SCALE]->rank == 3)
            mc_set_groups(q, q->parts[MC_PART_SCALE]->dims[0]);
    } else if (k == MC_K_I32) {
        mc_set_bits(q, 4, q->parts[MC_PART_ZERO] ? MC_NO : MC_YES);
        mc_set_shape(q, v.e, v.r, v.c * 8);
        if (s.ok)
            mc_set_groups(q, s.r);
    }
}
