/* What a module's tensors mean: logical shape, bits, groups, and what does not fit. One filler a layout; here are what they
 * share and the plain ones. */
#include "scan/modules.h"

/* ---- helpers ---- */

void mc_set_fault(mc_module_fault *f, const char *what, const mc_tensor *t, uint64_t expected, uint64_t found)
{
    if (!f->what)
        *f = (mc_module_fault){ what, t, expected < UINT32_MAX ? (uint32_t)expected : UINT32_MAX, found < UINT32_MAX ? (uint32_t)found : UINT32_MAX };
}

bool mc_need(mc_module *q, mc_part part, const char *name)
{
    if (!q->parts[part])
        mc_set_fault(&q->missing, name, q->parts[MC_PART_WEIGHT], 0, 0);
    return q->parts[part] != NULL;
}

void mc_set_bits(mc_module *q, double bits, mc_tri symmetric)
{
    q->bits = bits;
    q->bits_certain = bits > 0;
    q->symmetric = symmetric;
}

void mc_set_shape(mc_module *q, uint64_t experts, uint64_t out, uint64_t in)
{
    uint64_t n;
    q->experts = experts;
    q->out = out;
    q->in = in;
    q->elements_known = out && in && !ckd_mul(&n, out, in) && !ckd_mul(&n, n, experts);
    q->elements = q->elements_known ? n : 0;
}

/* The size of groups of which `groups` cover `in`: exact, or a usual one whose last group is short. */
static uint64_t group_of(uint64_t in, uint64_t groups)
{
    static const unsigned usual[] = { 128, 64, 32, 16, 256, 512, 1024 };
    if (groups == 0 || groups > in)
        return 0;
    for (size_t i = 0; in % groups != 0 && i < MC_COUNT(usual); i++)
        if (mc_ceil_div(in, usual[i]) == groups)
            return usual[i];
    return mc_ceil_div(in, groups);
}

void mc_set_groups(mc_module *q, uint64_t groups)
{
    q->groups = groups;
    if (groups == 0)
        return;
    q->grain = groups == 1 ? MC_GRAIN_CHANNEL : MC_GRAIN_GROUP;
    q->group = groups == 1 ? 0 : group_of(q->in, groups);
}

mc_span mc_small_of(const mc_small *s, size_t n, mc_part part)
{
    for (size_t i = 0; i < n; i++)
        if (s[i].part == part)
            return s[i].got;
    return (mc_span){ 0 };
}

bool mc_all_zero(mc_span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i])
            return false;
    return true;
}

int64_t mc_small_int(const mc_pack *p, const mc_tensor *t, mc_span s, size_t i)
{
    uint32_t k = mc_kind_of(p, t);
    size_t   w = k == MC_K_I64 ? 8 : k & (MC_K_I32 | MC_K_U32) ? 4 : k == MC_K_I16 ? 2 : k & (MC_K_I8 | MC_K_U8) ? 1 : 0;
    if (w == 0 || s.n / w <= i)
        return -1;
    const uint8_t *at = s.p + i * w;
    if (w == 8)
        return (int64_t)mc_u64le(at);
    if (w == 4)
        return k == MC_K_I32 ? (int32_t)mc_u32le(at) : (int64_t)mc_u32le(at);
    return w == 2 ? (int16_t)mc_u16le(at) : k == MC_K_I8 ? (int8_t)*at : *at;
}

/* ---- bits and group from their product ---- */

void mc_settle_bits(const mc_pack *p, mc_module *q, uint64_t words, uint64_t groups, const unsigned *widths, const unsigned *sizes)
{
    unsigned bits = 0, size = 0, n = 0;
    uint64_t product = groups && words <= UINT64_MAX / 32 && 32 * words % groups == 0 ? 32 * words / groups : 0;
    for (const unsigned *b = widths; *b; b++)
        for (const unsigned *g = sizes; *g; g++)
            if ((uint64_t)*b * *g == product && 32 * words % *b == 0) {
                bits = *b;
                size = *g;
                n++;
            }
    mc_str   who = MC_STR("");
    uint64_t in = n == 1 ? 0 : mc_in_witness(p, q, &who);
    for (unsigned b = 1; in && in <= UINT32_MAX && b <= 8; b++)
        if (mc_ceil_div(in * b, 32) == words) {
            q->bits = b;
            q->bits_certain = true;
            q->in_witness = who;
            q->in = in;
            return;
        }
    if (n == 1) {
        q->bits = bits;
        q->bits_certain = true;
        q->group = size;
        q->in = 32 * words / bits;
    }
}

/* ---- not packed ---- */

static bool counts_nothing_in_gguf(mc_str name)
{
    return mc_str_ends(name, ".scale") || mc_str_is(name, "rope_freqs.weight") || mc_str_ends(name, "rope_factors_long.weight") || mc_str_ends(name, "rope_factors_short.weight");
}

static void fill_plain(const mc_pack *p, mc_module *q)
{
    const mc_tensor *t = q->parts[MC_PART_WEIGHT];
    const mc_dtype  *d = mc_kb_dtype(p->kb, t->dtype);
    mc_view          v = mc_view_of(t);
    bool             gguf = d && d->ggml_id >= 0;
    uint32_t         k = mc_kind_of(p, t);
    if (!d || !v.ok)
        return;
    q->bits = (double)d->block_bits / (double)d->block;
    q->bits_certain = true;
    q->elements_known = true;
    if (p->m->kind == MC_KIND_STATIC_EMBEDDING) { /* beside the matrix: weights of tokens, a map from tokens to rows */
        q->elements = t->rank == 2 ? t->elements : 0;
        return;
    }
    if (gguf ? counts_nothing_in_gguf(t->name) : (k & (MC_K_BOOL | MC_K_I64 | MC_K_E8M0)) || (t->rank < 2 && (k & MC_K_INT)))
        return; /* masks, index lists, shared exponents */
    if (!gguf && (k & (MC_K_U8 | MC_K_I16 | MC_K_I32 | MC_K_U32))) {
        q->elements_known = false; /* several values may share a word */
        return;
    }
    q->elements = t->elements;
    if (t->rank < 2)
        return;
    q->in = gguf ? t->dims[0] : v.c;
    q->out = gguf ? t->dims[1] : v.r;
    q->experts = q->in && q->out ? t->elements / q->in / q->out : 1;
}

/* The width in the name of a block type: 4 of Q4_1, which takes 5 bits with its scales. */
static double ggml_width(mc_str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] >= '1' && name.p[i] <= '8')
            return name.p[i] - '0';
    return 0;
}

void mc_fill_ggml(const mc_pack *p, mc_module *q, const mc_small *s, size_t n)
{
    const mc_dtype *d = mc_kb_dtype(p->kb, q->parts[MC_PART_WEIGHT]->dtype);
    (void)s, (void)n;
    if (!d || d->cls != MC_CLASS_BLOCK)
        return;
    fill_plain(p, q);
    q->bits = ggml_width(d->name);
    q->group = d->block;
    q->grain = MC_GRAIN_GROUP;
    q->groups = mc_ceil_div(q->in, d->block);
}

/* ---- by layout ---- */

static void fill_raw8(const mc_pack *p, mc_module *q, const mc_small *s, size_t n)
{
    (void)s, (void)n;
    fill_plain(p, q);
}

void mc_fill_module(const mc_pack *p, mc_module *q, const mc_small *s, size_t n)
{
    static mc_filler *const fillers[MC_N_LAYOUTS] = {
        [MC_Q_PLAIN] = fill_raw8, [MC_Q_RAW8] = fill_raw8, [MC_Q_BNB4] = mc_fill_bnb4, [MC_Q_BNB8] = mc_fill_bnb8, [MC_Q_EXL2] = mc_fill_exl2, [MC_Q_EXL3] = mc_fill_exl3,
        [MC_Q_QUIP] = mc_fill_quip, [MC_Q_AQLM] = mc_fill_aqlm, [MC_Q_VPTQ] = mc_fill_vptq, [MC_Q_SPQR] = mc_fill_spqr, [MC_Q_HQQ] = mc_fill_hqq, [MC_Q_SINQ] = mc_fill_sinq,
        [MC_Q_CT_PACK] = mc_fill_ct_pack, [MC_Q_NVFP4] = mc_fill_fp4, [MC_Q_MXFP4] = mc_fill_fp4, [MC_Q_MXFP6] = mc_fill_mxfp6, [MC_Q_MXFP8] = mc_fill_bytes,
        [MC_Q_FP4_DSV4] = mc_fill_fp4, [MC_Q_FP8] = mc_fill_bytes, [MC_Q_INT8] = mc_fill_bytes, [MC_Q_INT4_NIBBLE] = mc_fill_int4_nibble,
        [MC_Q_QUARK_INT4] = mc_fill_quark_int4, [MC_Q_EETQ] = mc_fill_eetq, [MC_Q_MLX] = mc_fill_mlx, [MC_Q_METAL] = mc_fill_mlx, [MC_Q_GPTQ] = mc_fill_gptq,
        [MC_Q_AWQ] = mc_fill_awq, [MC_Q_AWQ_GEMV] = mc_fill_awq_gemv, [MC_Q_AWQ_FAST] = mc_fill_awq_fast, [MC_Q_MARLIN] = mc_fill_marlin, [MC_Q_MARLIN24] = mc_fill_marlin24,
        [MC_Q_QQQ] = mc_fill_marlin, [MC_Q_FP_QUANT] = mc_fill_fp4, [MC_Q_QUANTO] = mc_fill_quanto, [MC_Q_TORCHAO] = mc_fill_torchao, [MC_Q_BITNET] = mc_fill_bitnet,
        [MC_Q_HIGGS] = mc_fill_higgs, [MC_Q_GGML] = mc_fill_ggml,
    };
    bool fused = q->parts[MC_PART_WEIGHT]->rank >= 3 && !mc_str_ends(q->parts[MC_PART_WEIGHT]->name, "blocks") && q->layout != MC_Q_EXL3 && q->layout != MC_Q_AQLM;
    if (fillers[q->layout])
        fillers[q->layout](p, q, s, n);
    if (fused)
        q->shape = (mc_module_fault){ 0 }; /* writers of fused experts agree on no layout */
}
