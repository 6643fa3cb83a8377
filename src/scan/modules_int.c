/* Integer packings: GPTQ, AWQ and its variants, Marlin, compressed-tensors pack-quantized, Quark, ModelOpt int4, EETQ.
 *
 * AutoGPTQ and GPTQModel (qweight [I*b/32, O], qzeros [G, O*b/32], scales [G, O], g_idx [I]); AutoAWQ (gemm, gemv, gemv_fast);
 * compressed-tensors (weight_packed [O, C], weight_shape); arithmetic of docs/quantization.md. */
#include "scan/modules.h"

/* ---- zero points ---- */

/* The first word of constant zero points: 2^(b-1) - 1 (version 1) or 2^(b-1) (version 2) in each field. */
static mc_tri constant_zeros(double bits, uint32_t word)
{
    static const struct { int bits; uint32_t v1, v2; } words[] = {
        { 2, 0x55555555u, 0xAAAAAAAAu }, { 3, 0xDB6DB6DBu, 0x24924924u }, { 4, 0x77777777u, 0x88888888u }, { 8, 0x7F7F7F7Fu, 0x80808080u },
    };
    for (size_t i = 0; i < MC_COUNT(words); i++)
        if ((int)bits == words[i].bits)
            return word == words[i].v1 || word == words[i].v2 ? MC_YES : MC_NO;
    return MC_UNKNOWN;
}

static void read_zeros(mc_module *q, const mc_small *s, size_t n)
{
    mc_span word = mc_small_of(s, n, MC_PART_ZERO);
    if (!q->parts[MC_PART_ZERO])
        q->symmetric = MC_YES;
    if (word.n < 4)
        return;
    q->zero_read = true;
    q->zero_word = mc_u32le(word.p);
    q->symmetric = constant_zeros(q->bits, q->zero_word);
}

/* ---- GPTQ ---- */

static unsigned word_bits(const mc_pack *p, const mc_tensor *t)
{
    uint32_t k = mc_kind_of(p, t);
    return k == MC_K_I64 ? 64 : k & (MC_K_I32 | MC_K_U32) ? 32 : k == MC_K_I16 ? 16 : k & (MC_K_I8 | MC_K_U8) ? 8 : 0;
}

/* floor(i / group) as far as the index was read. */
static void read_index(const mc_pack *p, mc_module *q, const mc_small *s, size_t n)
{
    const mc_tensor *t = q->parts[MC_PART_INDEX];
    mc_span          d = mc_small_of(s, n, MC_PART_INDEX);
    uint64_t         group = q->groups == 1 ? q->in : q->group;
    bool             ordered = group > 0;
    if (d.n < 4 || mc_kind_of(p, t) != MC_K_I32 || q->groups == 0)
        return;
    for (size_t i = 0; i < d.n / 4; i++) {
        int64_t v = (int32_t)mc_u32le(d.p + 4 * i);
        if (v < 0)
            mc_set_fault(&q->data, "has a negative value", t, 0, (uint64_t)-v);
        else if ((uint64_t)v >= q->groups)
            mc_set_fault(&q->data, "points beyond the rows of scales", t, q->groups, (uint64_t)v);
        ordered = ordered && (uint64_t)v == i / group;
    }
    q->ordered = ordered ? MC_YES : mc_all_zero(d) ? MC_UNKNOWN : MC_NO;
}

/* The width that codes and zero points agree on; 0: none. */
static unsigned gptq_bits(uint64_t in, uint64_t out, uint64_t rows, uint64_t zero_columns, unsigned width)
{
    for (unsigned b = 1; b <= 8; b++)
        if ((!zero_columns || mc_ceil_div(out * b, width) == zero_columns) && (!in || mc_ceil_div(in * b, width) == rows))
            return b;
    return 0;
}

static const unsigned gptq_widths[] = { 2, 3, 4, 8, 0 }, gptq_sizes[] = { 16, 32, 64, 128, 256, 512, 1024, 0 };

static void gptq_shape(const mc_pack *p, mc_module *q, mc_view w, mc_view s, mc_view z, unsigned width)
{
    uint64_t index = q->parts[MC_PART_INDEX] ? q->parts[MC_PART_INDEX]->elements : 0, zc = z.ok ? z.c : 0;
    unsigned b = index || zc ? gptq_bits(index, w.c, w.r, zc, width) : 0;
    if (b) {
        q->bits = b;
        q->bits_certain = true;
        mc_set_shape(q, w.e, w.c, index ? index : w.r * width / b);
    } else if (!index && !zc) {
        mc_settle_bits(p, q, w.r, s.ok ? s.r : 0, gptq_widths, gptq_sizes);
        if (q->bits_certain)
            mc_set_shape(q, w.e, w.c, q->in);
    } else {
        mc_set_fault(&q->shape, zc ? "fits qweight at no width" : "has another length than qweight's rows need", q->parts[zc ? MC_PART_ZERO : MC_PART_INDEX], 0, zc ? zc : index);
    }
}

void mc_fill_gptq(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    const mc_tensor *t = q->parts[MC_PART_WEIGHT];
    mc_view          w = mc_view_of(t), s = mc_view_of(q->parts[MC_PART_SCALE]), z = mc_view_of(q->parts[MC_PART_ZERO]);
    unsigned         width = word_bits(p, t);
    if (!w.ok || w.r > UINT32_MAX || w.c > UINT32_MAX)
        return;
    if (!width) {
        mc_set_fault(&q->shape, "is not of an integer type", t, 0, 0);
        return;
    }
    if (width < 32 && s.ok && s.c != w.c) { /* BitBLAS: rows are outputs, and only the configuration tells the width */
        mc_set_shape(q, w.e, w.r, mc_in_witness(p, q, &q->in_witness));
        mc_set_bits(q, q->in ? (double)(w.c * width) / (double)q->in : 0, q->parts[MC_PART_ZERO] ? MC_UNKNOWN : MC_YES);
        mc_set_groups(q, s.c);
        return;
    }
    z.ok = z.ok && q->parts[MC_PART_ZERO]->elements > 0; /* an empty qzeros is none */
    if (mc_need(q, MC_PART_SCALE, "scales"))
        mc_need(q, MC_PART_ZERO, "qzeros");
    gptq_shape(p, q, w, s, z, width);
    if (s.ok && s.c != w.c)
        mc_set_fault(&q->shape, "has other columns than qweight", q->parts[MC_PART_SCALE], w.c, s.c);
    if (s.ok && z.ok && s.r != z.r)
        mc_set_fault(&q->shape, "has other rows than scales", q->parts[MC_PART_ZERO], s.r, z.r);
    if (s.ok && q->in && s.r > q->in)
        mc_set_fault(&q->shape, "has more rows than there are inputs", q->parts[MC_PART_SCALE], q->in, s.r);
    if (q->parts[MC_PART_SCALE] && !(mc_kind_of(p, q->parts[MC_PART_SCALE]) & MC_K_WIDE))
        mc_set_fault(&q->shape, "is not of a float type", q->parts[MC_PART_SCALE], 0, 0);
    if (s.ok)
        mc_set_groups(q, s.r);
    read_zeros(q, small, n);
    read_index(p, q, small, n);
}

/* ---- AWQ ---- */

void mc_fill_awq(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    mc_view w = mc_view_of(q->parts[MC_PART_WEIGHT]), s = mc_view_of(q->parts[MC_PART_SCALE]), z = mc_view_of(q->parts[MC_PART_ZERO]);
    if (!w.ok || w.c > UINT32_MAX)
        return;
    mc_need(q, MC_PART_SCALE, "scales");
    q->bits = 4;
    q->bits_certain = true;
    mc_set_shape(q, w.e, w.c * 8, w.r);
    if (s.ok && s.c != w.c * 8)
        mc_set_fault(&q->shape, "has other columns than qweight holds", q->parts[MC_PART_SCALE], w.c * 8, s.c);
    if (s.ok && z.ok && q->parts[MC_PART_ZERO]->elements > 0 && (z.r != s.r || z.c != w.c))
        mc_set_fault(&q->shape, z.r != s.r ? "has other rows than scales" : "has other columns than qweight", q->parts[MC_PART_ZERO], z.r != s.r ? s.r : w.c, z.r != s.r ? z.r : z.c);
    if (s.ok && (s.r == 0 || s.r > w.r))
        mc_set_fault(&q->shape, "has more rows than there are inputs", q->parts[MC_PART_SCALE], w.r, s.r);
    if (q->parts[MC_PART_SCALE] && !(mc_kind_of(p, q->parts[MC_PART_SCALE]) & MC_K_WIDE))
        mc_set_fault(&q->shape, "is not of a float type", q->parts[MC_PART_SCALE], 0, 0);
    if (s.ok)
        mc_set_groups(q, s.r);
    read_zeros(q, small, n);
}

/* gemv and gemv_fast pad the groups: words of eight zero points, an even number of them for 64, a multiple of four for 32. */
static uint64_t padded_words(uint64_t in, uint64_t group)
{
    uint64_t words = mc_ceil_div(mc_ceil_div(in, group), 8), unit = group == 64 ? 2 : group == 32 ? 4 : 1;
    return mc_ceil_div(words, unit) * unit;
}

static void padded_groups(mc_module *q, uint64_t stored)
{
    static const unsigned sizes[] = { 128, 64, 32 };
    for (size_t i = 0; i < MC_COUNT(sizes); i++)
        if (padded_words(q->in, sizes[i]) * 8 == stored || mc_ceil_div(q->in, sizes[i]) == stored) {
            mc_set_groups(q, mc_ceil_div(q->in, sizes[i]));
            q->grain = MC_GRAIN_GROUP;
            q->group = sizes[i];
            return;
        }
}

void mc_fill_awq_gemv(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    mc_view w = mc_view_of(q->parts[MC_PART_WEIGHT]), s = mc_view_of(q->parts[MC_PART_SCALE]), z = mc_view_of(q->parts[MC_PART_ZERO]);
    (void)p, (void)small, (void)n;
    if (!w.ok || w.c > UINT32_MAX)
        return;
    q->bits = 4;
    q->bits_certain = true;
    mc_set_shape(q, w.e, w.r, w.c * 8);
    if (s.ok && z.ok && s.c != z.c * 8 && s.c != 0)
        mc_set_fault(&q->shape, "has other columns than qzeros holds", q->parts[MC_PART_SCALE], z.c * 8, s.c);
    if (s.ok)
        padded_groups(q, s.c);
    q->symmetric = z.ok ? MC_NO : MC_YES;
}

void mc_fill_awq_fast(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    mc_view w = mc_view_of(q->parts[MC_PART_WEIGHT]), s = mc_view_of(q->parts[MC_PART_SCALE]), z = mc_view_of(q->parts[MC_PART_ZERO]);
    (void)p, (void)small, (void)n;
    if (!w.ok || w.r > UINT32_MAX)
        return;
    mc_need(q, MC_PART_SCALE, "scales");
    q->bits = 4;
    q->bits_certain = true;
    mc_set_shape(q, w.e, w.r * 4, w.c);
    if (s.ok && s.c != w.r * 4)
        mc_set_fault(&q->shape, "has other columns than qweight has outputs", q->parts[MC_PART_SCALE], w.r * 4, s.c);
    if (s.ok && z.ok && (z.r != s.r || z.c != s.c))
        mc_set_fault(&q->shape, "has another shape than scales", q->parts[MC_PART_ZERO], s.r, z.r);
    if (s.ok)
        padded_groups(q, s.r);
    q->symmetric = MC_NO;
}

/* ---- Marlin, QQQ ---- */

void mc_fill_marlin(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    const mc_tensor *scale = q->parts[MC_PART_SCALE] ? q->parts[MC_PART_SCALE] : q->parts[MC_PART_SCALE2];
    mc_view          w = mc_view_of(q->parts[MC_PART_WEIGHT]), s = mc_view_of(scale);
    (void)p, (void)small, (void)n;
    if (!w.ok || w.r > UINT32_MAX || w.c > UINT32_MAX)
        return;
    uint64_t out = s.ok && s.c && 2 * w.c % s.c == 0 && 2 * w.c / s.c <= 8 ? s.c : w.c / 2;
    q->bits = out ? (double)(2 * w.c) / (double)out : 0;
    q->bits_certain = true;
    q->transposed = true;
    q->symmetric = MC_YES;
    mc_set_shape(q, w.e, out, w.r * 16);
    if (s.ok && s.c != out)
        mc_set_fault(&q->shape, "has other columns than B has outputs", scale, out, s.c);
    if (s.ok)
        mc_set_groups(q, q->parts[MC_PART_SCALE] ? s.r : 1);
}

/* 2:4 sparse: half of the inputs are stored. */
void mc_fill_marlin24(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    mc_view w = mc_view_of(q->parts[MC_PART_WEIGHT]), s = mc_view_of(q->parts[MC_PART_SCALE]);
    (void)p, (void)small, (void)n;
    if (!w.ok || !s.ok || s.c == 0 || w.r > UINT32_MAX || w.c > UINT32_MAX)
        return;
    q->bits = (double)(2 * w.c) / (double)s.c;
    q->bits_certain = true;
    q->transposed = true;
    q->symmetric = MC_YES;
    mc_set_shape(q, w.e, s.c, w.r * 32);
    mc_set_groups(q, s.r);
}

/* ---- compressed-tensors pack-quantized ---- */

/* Dense packing, or (up to 0.17) whole values a word. Both count the same words for 1, 2, 4 and 8 bits. */
static bool ct_bits(mc_module *q, uint64_t in, uint64_t words)
{
    if (in > UINT32_MAX)
        return false;
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned b = 1; b <= 8; b++)
            if ((pass == 0 ? mc_ceil_div(in * b, 32) : mc_ceil_div(in, 32 / b)) == words) {
                q->bits = b;
                q->bits_certain = true;
                return true;
            }
    return false;
}

static void ct_companions(const mc_pack *p, mc_module *q, mc_view w)
{
    const mc_tensor *st = q->parts[MC_PART_SCALE], *zt = q->parts[MC_PART_ZERO];
    mc_view          s = mc_view_of(st), z = mc_view_of(zt);
    q->symmetric = zt ? MC_NO : MC_YES;
    if (!s.ok)
        return;
    if (st->elements == 1 && w.r != 1) {
        q->grain = MC_GRAIN_TENSOR;
        q->groups = 1;
        return;
    }
    if (s.r != w.r)
        mc_set_fault(&q->shape, "has other rows than weight_packed", st, w.r, s.r);
    if (q->in && s.c > q->in)
        mc_set_fault(&q->shape, "has more columns than there are inputs", st, q->in, s.c);
    if (!(mc_kind_of(p, st) & (MC_K_WIDE | MC_K_F8 | MC_K_MX)))
        mc_set_fault(&q->shape, "is not of a float type", st, 0, 0);
    mc_set_groups(q, s.c);
    if (z.ok && zt->rank >= 2 && z.c != s.c)
        mc_set_fault(&q->shape, "has other columns than weight_scale", zt, s.c, z.c);
    if (z.ok && zt->rank >= 2 && q->bits > 0 && z.r != w.r && z.r != mc_ceil_div(w.r * (unsigned)q->bits, 32) && z.r != mc_ceil_div(w.r, 32 / (unsigned)q->bits))
        mc_set_fault(&q->shape, "has other rows than weight_packed needs", zt, mc_ceil_div(w.r * (unsigned)q->bits, 32), z.r);
    if (q->parts[MC_PART_INDEX] && q->in && q->parts[MC_PART_INDEX]->elements != q->in)
        mc_set_fault(&q->shape, "has another length than there are inputs", q->parts[MC_PART_INDEX], q->in, q->parts[MC_PART_INDEX]->elements);
}

void mc_fill_ct_pack(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    static const unsigned widths[] = { 2, 3, 4, 8, 0 }, sizes[] = { 32, 64, 128, 0 };
    const mc_tensor      *t = q->parts[MC_PART_WEIGHT], *shape = q->parts[MC_PART_SHAPE];
    mc_view               w = mc_view_of(t), s = mc_view_of(q->parts[MC_PART_SCALE]);
    if (!w.ok || w.r > UINT32_MAX || w.c > UINT32_MAX)
        return;
    if (mc_kind_of(p, t) != MC_K_I32) {
        mc_set_fault(&q->shape, "is not of type I32", t, 0, 0);
        return;
    }
    if (mc_need(q, MC_PART_SCALE, "weight_scale") && t->rank == 2)
        mc_need(q, MC_PART_SHAPE, "weight_shape");
    mc_span d = mc_small_of(small, n, MC_PART_SHAPE);
    int64_t out = mc_small_int(p, shape, d, 0), in = mc_small_int(p, shape, d, 1);
    if (out > 0 && in > 0 && t->rank == 2) {
        mc_set_shape(q, w.e, (uint64_t)out, (uint64_t)in);
        if ((uint64_t)out != w.r)
            mc_set_fault(&q->shape, "states other rows than weight_packed has", shape, w.r, (uint64_t)out);
        if (!ct_bits(q, (uint64_t)in, w.c))
            mc_set_fault(&q->shape, "states a width that fits weight_packed at no bits", shape, 0, (uint64_t)in);
    } else {
        q->out = w.r;
        q->experts = w.e;
        mc_settle_bits(p, q, w.c, s.ok ? s.c : 0, widths, sizes);
        if (q->bits_certain)
            mc_set_shape(q, w.e, w.r, q->in);
    }
    ct_companions(p, q, w);
}

/* ---- others ---- */

void mc_fill_quark_int4(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    mc_view w = mc_view_of(q->parts[MC_PART_WEIGHT]), s = mc_view_of(q->parts[MC_PART_SCALE]), z = mc_view_of(q->parts[MC_PART_ZERO]);
    (void)p;
    if (!w.ok || w.c > UINT32_MAX)
        return;
    q->bits = 4;
    q->bits_certain = true;
    mc_set_shape(q, w.e, w.c * 8, w.r);
    if (s.ok && q->parts[MC_PART_SCALE]->elements > 1 && s.c != w.c * 8 && s.r != w.c * 8)
        mc_set_fault(&q->shape, "has other columns than weight holds", q->parts[MC_PART_SCALE], w.c * 8, s.c);
    if (s.ok && z.ok && q->parts[MC_PART_ZERO]->rank == 2 && z.r != s.r)
        mc_set_fault(&q->shape, "has other rows than weight_scale", q->parts[MC_PART_ZERO], s.r, z.r);
    if (s.ok)
        mc_set_groups(q, s.c == w.c * 8 ? s.r : 1);
    mc_span d = mc_small_of(small, n, MC_PART_ZERO);
    q->symmetric = !z.ok ? MC_YES : d.n < 4 ? MC_UNKNOWN : mc_all_zero(d) || mc_u32le(d.p) == 0x88888888u || mc_u32le(d.p) == 0x77777777u ? MC_YES : MC_NO;
}

/* ModelOpt W4A16_AWQ packs along the output, [O/2, I]; w4afp8 along the input, [O, I/2] with a scale per 128. */
void mc_fill_int4_nibble(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    const mc_tensor *st = q->parts[MC_PART_SCALE];
    mc_view          w = mc_view_of(q->parts[MC_PART_WEIGHT]), s = mc_view_of(st);
    (void)small, (void)n;
    if (!w.ok || !s.ok || w.r > UINT32_MAX || w.c > UINT32_MAX)
        return;
    q->bits = 4;
    q->bits_certain = true;
    q->symmetric = MC_YES;
    if (mc_kind_of(p, q->parts[MC_PART_WEIGHT]) == MC_K_I8) {
        mc_set_shape(q, w.e, w.r, w.c * 2);
        mc_set_groups(q, s.c);
        return;
    }
    mc_set_shape(q, w.e, w.r * 2, w.c);
    if (st->rank >= 2 && s.r != w.r * 2)
        mc_set_fault(&q->shape, "has other rows than weight holds", st, w.r * 2, s.r);
    if (st->rank >= 2 && (s.c == 0 || s.c > w.c))
        mc_set_fault(&q->shape, "has more columns than there are inputs", st, w.c, s.c);
    mc_set_groups(q, st->rank >= 2 ? s.c : 1);
}

void mc_fill_eetq(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    const mc_tensor *st = q->parts[MC_PART_SCALE];
    mc_view          w = mc_view_of(q->parts[MC_PART_WEIGHT]);
    (void)p, (void)small, (void)n;
    if (!w.ok)
        return;
    q->bits = 8;
    q->bits_certain = true;
    q->symmetric = MC_YES;
    q->transposed = true;
    q->grain = MC_GRAIN_CHANNEL;
    q->groups = 1;
    mc_set_shape(q, w.e, w.c, w.r);
    if (st && st->elements != w.c && st->elements != w.r)
        mc_set_fault(&q->shape, "has another length than weight has outputs", st, w.c, st->elements);
}
