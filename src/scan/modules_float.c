/* One value a byte with scales of any granularity (FP8, INT8, MXFP8), and floats of four and six bits (NVFP4, MXFP4, MXFP6).
 *
 * transformers (weight_scale_inv by blocks, fused experts), ModelOpt, compressed-tensors, Quark, gpt-oss (blocks [E, O, I/32, 16]),
 * DeepSeek-V4 (I8 holding two codes). */
#include "scan/modules.h"

/* ---- scales of bytes ---- */

/* The block that `parts` blocks of `n` rows mean: a usual one if it fits, else the smallest. */
static uint64_t block_of(uint64_t n, uint64_t parts)
{
    static const unsigned usual[] = { 128, 64, 32, 256, 16, 512, 1024 };
    for (size_t i = 0; i < MC_COUNT(usual); i++)
        if (mc_ceil_div(n, usual[i]) == parts)
            return usual[i];
    return mc_ceil_div(n, parts);
}

/* ModelOpt writes block scales as [O/128, 1, I/128, 1]. */
static mc_view scale_view(const mc_tensor *t, const mc_tensor *w)
{
    if (t->rank == 4 && w->rank == 2 && t->dims[1] == 1 && t->dims[3] == 1)
        return (mc_view){ 1, t->dims[0], t->dims[2], !t->overflow };
    return mc_view_of(t);
}

static void grain_of_matrix(mc_module *q, mc_view w, mc_view s)
{
    if (s.r == w.r && s.c == 1) {
        q->grain = MC_GRAIN_CHANNEL;
        q->groups = 1;
    } else if (s.r == w.r && w.r > 1 && s.c > 1 && s.c <= w.c && w.c % s.c == 0) {
        mc_set_groups(q, s.c);
    } else if (s.r == 1 && s.c == w.c) { /* Llama-4 experts, [E, I, O]: a scale an output */
        q->grain = MC_GRAIN_CHANNEL;
        q->groups = 1;
    } else if (s.r >= 1 && s.c >= 1 && s.r <= w.r && s.c <= w.c) {
        q->grain = MC_GRAIN_BLOCK;
        q->groups = s.c;
        q->block[0] = block_of(w.r, s.r);
        q->block[1] = block_of(w.c, s.c);
    }
}

/* A list of scales is one a row, a column, an expert, a block of rows, or a fused part: there are few of those. */
static bool fits_list(uint64_t n, mc_view w)
{
    return n <= 16 || n == w.r || n == w.c || n == w.e || n == w.e * w.r || (n < w.r && w.r % n == 0);
}

static void too_many_scales(mc_module *q, const mc_tensor *st, mc_view w, mc_view s)
{
    if (st->rank == 1 && !fits_list(st->dims[0], w))
        mc_set_fault(&q->shape, "fits neither rows nor columns of the weight", st, w.r, st->dims[0]);
    else if (st->rank > 1 && (s.r > w.r || s.c > w.c))
        mc_set_fault(&q->shape, s.r > w.r ? "has more rows than the weight" : "has more columns than the weight", st, s.r > w.r ? w.r : w.c, s.r > w.r ? s.r : s.c);
}

static void grain_of(mc_module *q, const mc_tensor *wt, const mc_tensor *st)
{
    mc_view  w = mc_view_of(wt), s = scale_view(st, wt);
    uint64_t n = st->elements;
    if (!w.ok || !s.ok || n == 0)
        return;
    if (wt->rank == 2)
        too_many_scales(q, st, w, s);
    if (n == 1 || (st->rank == 1 && (n == w.e || (n != w.r && n != w.c))) || (st->rank > 1 && s.r == 1 && s.c == 1)) {
        q->grain = MC_GRAIN_TENSOR; /* one value, one a fused part, or one an expert */
        q->groups = 1;
    } else if (st->rank == 1) {
        q->grain = MC_GRAIN_CHANNEL;
        q->groups = 1;
    } else {
        grain_of_matrix(q, w, s);
    }
}

static void bytes_symmetry(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    mc_span d = mc_small_of(small, n, MC_PART_ZERO);
    if (!q->parts[MC_PART_ZERO])
        q->symmetric = MC_YES;
    else if (d.n)
        q->symmetric = mc_all_zero(d) ? MC_YES : MC_NO;
    else if (mc_kind_of(p, q->parts[MC_PART_ZERO]) & MC_K_WIDE)
        q->symmetric = MC_NO;
}

void mc_fill_bytes(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    const mc_tensor *wt = q->parts[MC_PART_WEIGHT], *st = q->parts[MC_PART_SCALE];
    mc_view          w = mc_view_of(wt);
    if (!w.ok)
        return;
    q->bits = 8;
    q->bits_certain = true;
    mc_set_shape(q, w.e, w.r, w.c);
    bytes_symmetry(p, q, small, n);
    if (!st)
        return;
    mc_view s = mc_view_of(st);
    if (q->layout == MC_Q_MXFP8) {
        mc_set_groups(q, s.c);
        if (wt->rank == st->rank && s.ok && (s.r != w.r || s.c != mc_ceil_div(w.c, 32)))
            mc_set_fault(&q->shape, s.r != w.r ? "has other rows than the weight" : "has other columns than groups of 32 make", st, s.r != w.r ? w.r : mc_ceil_div(w.c, 32),
                         s.r != w.r ? s.r : s.c);
    } else {
        grain_of(q, wt, st);
    }
    if (!(mc_kind_of(p, st) & (MC_K_WIDE | MC_K_MX)))
        mc_set_fault(&q->shape, "is not of a type for scales", st, 0, 0);
}

/* ---- four bits ---- */

typedef struct { uint64_t group[2]; const char *scale, *second; } fp4_kind;

static fp4_kind kind_of_fp4(const mc_pack *p, const mc_module *q)
{
    bool ct = mc_str_ends(q->parts[MC_PART_WEIGHT]->name, ".weight_packed"), blocks = mc_str_ends(q->parts[MC_PART_WEIGHT]->name, "blocks");
    if (q->layout == MC_Q_NVFP4)
        return (fp4_kind){ { 16, 32 }, "weight_scale", ct ? "weight_global_scale" : "weight_scale_2" };
    if (q->layout == MC_Q_FP4_DSV4)
        return (fp4_kind){ { 32, 0 }, "scale", NULL };
    if (q->layout == MC_Q_FP_QUANT) /* MXFP4 with groups of 32, NVFP4 with groups of 16 */
        return (fp4_kind){ { mc_kind_of(p, q->parts[MC_PART_SCALE]) & MC_K_F8 ? 16 : 32, 16 }, "scales", NULL };
    return (fp4_kind){ { 32, 0 }, blocks ? "scales" : "weight_scale", NULL };
}

static uint64_t padded(uint64_t n, uint64_t unit)
{
    return mc_ceil_div(n, unit) * unit;
}

/* Do scales of s.r rows and s.c columns belong to `rows` times `in` values? Blocked scales (cuBLAS) are padded to 128 and 4. */
static uint64_t fitting_group(const fp4_kind *k, uint64_t rows, uint64_t in, uint64_t sr, uint64_t sc)
{
    for (size_t i = 0; i < 2 && k->group[i]; i++)
        if (sr == rows && sc * k->group[i] == in)
            return k->group[i];
    for (size_t i = 0; i < 2 && k->group[i]; i++)
        if (sr == rows && sc == mc_ceil_div(in, k->group[i]))
            return k->group[i];
    return k->group[0] && sr == padded(rows, 128) && sc == padded(mc_ceil_div(in, k->group[0]), 4) ? k->group[0] : 0;
}

static void set_fp4(mc_module *q, uint64_t experts, uint64_t out, uint64_t in, uint64_t group)
{
    mc_set_shape(q, experts, out, in);
    mc_set_groups(q, mc_ceil_div(in, group));
    q->grain = MC_GRAIN_GROUP;
    q->group = group;
}

/* Two codes along the columns, or along the rows: fused experts [E, I/2, O], and exports that MC434 is about. */
static void fit_fp4(mc_module *q, const fp4_kind *k, mc_view w, mc_view s, uint64_t per)
{
    const mc_tensor *st = q->parts[MC_PART_SCALE];
    uint64_t         g = fitting_group(k, w.r, w.c * per, s.r, s.c);
    if (g) {
        set_fp4(q, w.e, w.r, w.c * per, g);
    } else if ((g = fitting_group(k, w.c, w.r * per, s.c, s.r)) || (g = fitting_group(k, w.c, w.r * per, s.r, s.c))) {
        set_fp4(q, w.e, w.c, w.r * per, g);
        q->transposed = w.e == 1 && q->parts[MC_PART_WEIGHT]->rank == 2 && w.c != w.r * per;
    } else {
        mc_set_shape(q, w.e, w.r, w.c * per);
        if (s.r != w.r)
            mc_set_fault(&q->shape, "has other rows than the codes", st, w.r, s.r);
        else
            mc_set_fault(&q->shape, "has other columns than the codes need", st, w.c * per / k->group[0], s.c);
    }
}

static void fill_blocks(mc_module *q)
{
    const mc_tensor *b = q->parts[MC_PART_WEIGHT], *s = q->parts[MC_PART_SCALE];
    uint64_t         last = b->dims[b->rank - 1], groups = b->dims[b->rank - 2], out = b->dims[b->rank - 3], experts = 1, in = 0;
    for (unsigned i = 0; i + 3 < b->rank; i++)
        if (ckd_mul(&experts, experts, b->dims[i]))
            return;
    if (ckd_mul(&in, groups, 2 * (last < UINT32_MAX ? last : 0)))
        return;
    set_fp4(q, experts, out, in, 32);
    if (last != 16)
        mc_set_fault(&q->shape, "has blocks that are not 16 bytes", b, 16, last);
    if (!s)
        return;
    if (s->rank + 1 != b->rank)
        mc_set_fault(&q->shape, "has not one dimension less than blocks", s, b->rank - 1u, s->rank);
    for (unsigned i = 0; i + 1 < b->rank && !q->shape.what; i++)
        if (s->dims[i] != b->dims[i])
            mc_set_fault(&q->shape, "has another shape than blocks", s, b->dims[i], s->dims[i]);
}

void mc_fill_fp4(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    const mc_tensor *wt = q->parts[MC_PART_WEIGHT];
    mc_view          w = mc_view_of(wt), s = mc_view_of(q->parts[MC_PART_SCALE]);
    fp4_kind         k = kind_of_fp4(p, q);
    uint64_t         per = mc_kind_of(p, wt) == MC_K_F4 ? 1 : 2;
    (void)small, (void)n;
    if (!w.ok || w.r > UINT32_MAX || w.c > UINT32_MAX)
        return;
    q->bits = 4;
    q->bits_certain = true;
    q->symmetric = q->layout == MC_Q_NVFP4 ? MC_YES : MC_UNKNOWN;
    if (mc_need(q, MC_PART_SCALE, k.scale) && k.second)
        mc_need(q, MC_PART_SCALE2, k.second);
    if (mc_str_ends(wt->name, "blocks")) {
        fill_blocks(q);
    } else if (!s.ok) {
        mc_set_shape(q, w.e, w.r, w.c * per);
        q->group = k.group[0];
    } else {
        fit_fp4(q, &k, w, s, per);
    }
}

/* Four codes in three bytes. */
void mc_fill_mxfp6(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    mc_view w = mc_view_of(q->parts[MC_PART_WEIGHT]), s = mc_view_of(q->parts[MC_PART_SCALE]);
    (void)p, (void)small, (void)n;
    if (!w.ok || !s.ok || s.c > UINT32_MAX)
        return;
    q->bits = 6;
    q->bits_certain = true;
    set_fp4(q, w.e, w.r, s.c * 32, 32);
}
