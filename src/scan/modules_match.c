/* Which layout a module has: the fingerprint table, by the tensor that holds the codes. Names decide where they can; layouts
 * that share all names (GPTQ and AWQ, NVFP4 and MXFP4) are told apart by element types and shapes. */
#include "scan/modules.h"

static bool has_mx_shape(mc_view w, mc_view s, uint64_t per)
{
    return w.ok && s.ok && s.r == w.r && s.c * 32 == w.c * per && s.c > 0;
}

/* Two codes a byte, four in three, or one: U8 weights with an exponent per 32. */
static mc_layout mx_of_bytes(const mc_tensor *w, const mc_tensor *s)
{
    mc_view v = mc_view_of(w), x = mc_view_of(s);
    bool    six = v.ok && x.ok && x.r == v.r && v.c % 3 == 0 && v.c / 3 * 4 == x.c * 32 && x.c > 0;
    return six && !has_mx_shape(v, x, 2) ? MC_Q_MXFP6 : MC_Q_MXFP4;
}

/* A parameter without a suffix is a fused one: packed as experts, or not at all. */
static bool may_pack(const mc_tensor *w)
{
    return w->rank >= 3 || (w->rank == 2 && mc_str_ends(w->name, ".weight"));
}

static bool is_flat(const mc_tensor *w)
{
    return w->rank == 2 && w->dims[1] == 1 && w->dims[0] >= 64 && w->layer != MC_NONE;
}

static mc_layout match_bytes(const mc_pack *p, mc_tensor *const *t, const mc_tensor *w)
{
    const mc_tensor *s = t[MC_S_SCALE_OF_WEIGHT];
    uint32_t         k = mc_kind_of(p, s);
    if (is_flat(w))
        return MC_Q_BNB4;
    if (!may_pack(w))
        return MC_Q_PLAIN;
    if ((k & MC_K_F8) || (!s && (t[MC_S_SCALE_2] || t[MC_S_GLOBAL])))
        return MC_Q_NVFP4;
    if (k & MC_K_MX)
        return mx_of_bytes(w, s);
    if (k & MC_K_WIDE)
        return s->elements == 1 && w->elements > 1 ? MC_Q_BITNET : MC_Q_INT4_NIBBLE;
    return MC_Q_PLAIN;
}

static mc_tensor *any_scale(mc_tensor *const *t)
{
    static const mc_suffix_id ids[] = { MC_S_SCALE_OF_WEIGHT, MC_S_SCALE_INV, MC_S_SCALE, MC_S_SCALES, MC_S_EETQ_SCALES };
    for (size_t i = 0; i < MC_COUNT(ids); i++)
        if (t[ids[i]])
            return t[ids[i]];
    return NULL;
}

static mc_layout match_f8(const mc_pack *p, mc_tensor *const *t, const mc_tensor *w)
{
    const mc_tensor *s = any_scale(t);
    if (w->rank < 2)
        return MC_Q_PLAIN;
    if (!s)
        return MC_Q_RAW8;
    return (mc_kind_of(p, s) & MC_K_MX) && has_mx_shape(mc_view_of(w), mc_view_of(s), 1) ? MC_Q_MXFP8 : MC_Q_FP8;
}

static mc_layout match_i8(const mc_pack *p, mc_tensor *const *t, const mc_tensor *w)
{
    mc_view v = mc_view_of(w), s = mc_view_of(t[MC_S_SCALE_INV]);
    if (t[MC_S_WEIGHT_FORMAT])
        return MC_Q_BNB8;
    if (!may_pack(w))
        return MC_Q_PLAIN;
    if (t[MC_S_EETQ_SCALES])
        return MC_Q_EETQ;
    if (t[MC_S_SCALE_OF_WEIGHT])
        return MC_Q_INT8;
    if (t[MC_S_SCALE] && (mc_kind_of(p, t[MC_S_SCALE]) & MC_K_MX))
        return MC_Q_FP4_DSV4;
    if (t[MC_S_SCALE_INV] && s.ok && s.r == v.r && s.c > 1 && 128 * s.c == 2 * v.c) /* w4afp8: two codes a byte along the input */
        return MC_Q_INT4_NIBBLE;
    return any_scale(t) ? MC_Q_INT8 : MC_Q_RAW8;
}

static mc_layout match_weight(const mc_pack *p, mc_tensor *const *t)
{
    const mc_tensor *w = t[MC_S_WEIGHT];
    uint32_t         k = mc_kind_of(p, w);
    if (k & MC_K_BLOCK)
        return MC_Q_GGML;
    if (t[MC_S_NF4] || t[MC_S_FP4] || t[MC_S_ABSMAX] || t[MC_S_QUANT_MAP])
        return MC_Q_BNB4;
    if (t[MC_S_SCB])
        return MC_Q_BNB8;
    if (k & MC_K_WIDE)
        return MC_Q_PLAIN;
    if (k & MC_K_F8)
        return match_f8(p, t, w);
    if (k == MC_K_U8)
        return match_bytes(p, t, w);
    if (k == MC_K_I8)
        return match_i8(p, t, w);
    if (k == MC_K_F4)
        return t[MC_S_SCALE_OF_WEIGHT] ? (mc_kind_of(p, t[MC_S_SCALE_OF_WEIGHT]) & MC_K_MX ? MC_Q_MXFP4 : MC_Q_NVFP4) : MC_Q_PLAIN;
    if (k == MC_K_I32 && t[MC_S_SCALE_OF_WEIGHT])
        return MC_Q_QUARK_INT4;
    if (k == MC_K_U32 && w->rank >= 2)
        return t[MC_S_QBIASES] ? MC_Q_METAL : MC_Q_MLX;
    return k == MC_K_I16 && t[MC_S_TABLES] ? MC_Q_HIGGS : MC_Q_PLAIN;
}

/* Same names, another geometry: GPTQ packs along the input, AWQ along the output. */
static mc_layout match_words(const mc_pack *p, mc_tensor *const *t)
{
    mc_view w = mc_view_of(t[MC_S_QWEIGHT]), s = mc_view_of(t[MC_S_SCALES]), z = mc_view_of(t[MC_S_QZEROS]);
    if (t[MC_S_G_IDX] || !w.ok || !(mc_kind_of(p, t[MC_S_QWEIGHT]) & (MC_K_I32 | MC_K_U32)))
        return MC_Q_GPTQ;
    if (!t[MC_S_SCALES])
        return z.ok && z.c == w.c ? MC_Q_AWQ : MC_Q_GPTQ;
    if (s.ok && s.c == w.c)
        return MC_Q_GPTQ;
    if (s.ok && w.c * 8 == s.c)
        return MC_Q_AWQ;
    if (s.ok && s.r == w.r && w.r > 1 && (!z.ok || z.r == w.r))
        return MC_Q_AWQ_GEMV;
    if (s.ok && w.c == 2 * s.c && !t[MC_S_QZEROS])
        return MC_Q_MARLIN;
    return z.ok && z.c == w.c ? MC_Q_AWQ : MC_Q_GPTQ;
}

static mc_layout match_qweight(const mc_pack *p, mc_tensor *const *t)
{
    uint32_t k = mc_kind_of(p, t[MC_S_QWEIGHT]);
    if (k == MC_K_U8 && (t[MC_S_HADAMARD] || t[MC_S_GLOBAL] || (mc_kind_of(p, t[MC_S_SCALES]) & (MC_K_MX | MC_K_F8))))
        return MC_Q_FP_QUANT;
    if (k == MC_K_U8 && !t[MC_S_SCALES] && !t[MC_S_QZEROS])
        return MC_Q_GGML; /* GPTQModel's gguf: rows of blocks whose type only its configuration names */
    if (k == MC_K_I16 && (t[MC_S_SCALED_ZEROS] || (mc_kind_of(p, t[MC_S_QZEROS]) & MC_K_WIDE)))
        return MC_Q_AWQ_FAST;
    if (k == MC_K_I8 && t[MC_S_EETQ_SCALES])
        return MC_Q_EETQ;
    return match_words(p, t);
}

static mc_layout match_packed(const mc_pack *p, mc_tensor *const *t)
{
    const mc_tensor *w = t[MC_S_PACKED], *s = t[MC_S_SCALE_OF_WEIGHT];
    uint32_t         k = mc_kind_of(p, s);
    if (t[MC_S_SCALE_PACKED])
        return MC_Q_MARLIN24;
    if (mc_kind_of(p, w) != MC_K_U8 || t[MC_S_SHAPE_OF_WEIGHT])
        return MC_Q_CT_PACK;
    if (t[MC_S_GLOBAL] || t[MC_S_SCALE_2] || (k & MC_K_F8))
        return MC_Q_NVFP4;
    return s ? mx_of_bytes(w, s) : MC_Q_MXFP4;
}

mc_layout mc_match_layout(const mc_pack *p, mc_tensor *const *t, mc_suffix_id weight)
{
    bool hqq = t[MC_S_SCALE] || t[MC_S_ZERO] || t[MC_S_NBITS] || t[MC_S_SHAPE];
    if (weight == MC_S_WEIGHT)
        return match_weight(p, t);
    if (weight == MC_S_QWEIGHT)
        return match_qweight(p, t);
    if (weight == MC_S_PACKED)
        return match_packed(p, t);
    if (weight == MC_S_BLOCKS)
        return mc_kind_of(p, t[MC_S_BLOCKS]) == MC_K_U8 && t[MC_S_BLOCKS]->rank >= 3 ? MC_Q_MXFP4 : MC_Q_PLAIN;
    if (weight == MC_S_W_Q)
        return t[MC_S_META_SCALE] && !hqq ? MC_Q_SINQ : MC_Q_HQQ;
    if (weight == MC_S_CODES)
        return t[MC_S_CODEBOOKS] || (t[MC_S_SCALES] && t[MC_S_CODES]->rank == 3) ? MC_Q_AQLM : MC_Q_PLAIN;
    if (weight == MC_S_INDICES)
        return t[MC_S_CENTROIDS] ? MC_Q_VPTQ : MC_Q_PLAIN;
    if (weight == MC_S_DENSE)
        return t[MC_S_ROW_OFFSETS] || t[MC_S_COL_VALS] ? MC_Q_SPQR : MC_Q_PLAIN;
    if (weight == MC_S_B)
        return t[MC_S_S_CHANNEL] ? MC_Q_QQQ : t[MC_S_S] ? MC_Q_MARLIN : MC_Q_PLAIN;
    static const struct { mc_suffix_id id; mc_layout layout; } sure[] = {
        { MC_S_TRELLIS, MC_Q_EXL3 }, { MC_S_Q_WEIGHT, MC_Q_EXL2 }, { MC_S_QIDXS, MC_Q_QUIP }, { MC_S_B24, MC_Q_MARLIN24 }, { MC_S_QUANTO, MC_Q_QUANTO },
        { MC_S_QUANTO_SUB, MC_Q_QUANTO }, { MC_S_QDATA, MC_Q_TORCHAO },
    };
    for (size_t i = 0; i < MC_COUNT(sure); i++)
        if (sure[i].id == weight)
            return sure[i].layout;
    return MC_Q_PLAIN;
}
