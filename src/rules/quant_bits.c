/* MC430-MC432: the declared width, group and layout against those that the tensors show.
 *
 * A width is compared only where tensors prove it: not where bits and group are undecided (MC905), not in layouts whose containers are
 * wider than their values. */
#include "rules/quant_rules.h"

#define BIT(layout) MC_LAYOUT_BIT(layout)

static const uint64_t packed_layouts = BIT(MC_Q_GPTQ) | BIT(MC_Q_AWQ) | BIT(MC_Q_AWQ_GEMV) | BIT(MC_Q_AWQ_FAST) | BIT(MC_Q_CT_PACK) | BIT(MC_Q_MLX) | BIT(MC_Q_METAL) |
                                       BIT(MC_Q_QUARK_INT4) | BIT(MC_Q_INT4_NIBBLE) | BIT(MC_Q_MARLIN);
static const uint64_t float_layouts = BIT(MC_Q_NVFP4) | BIT(MC_Q_MXFP4) | BIT(MC_Q_MXFP6) | BIT(MC_Q_MXFP8) | BIT(MC_Q_FP8);

static bool one_of(mc_layout l, uint64_t set)
{
    return (BIT(l) & set) != 0;
}

/* A module that another rule explains, or whose facts are in doubt. */
static bool explained(const mc_check *cx, const mc_module *m)
{
    return mc_quant_turned(m) || mc_quant_padded(cx, m, NULL, NULL, NULL, NULL);
}

/* ---- MC430 ---- */

/* The stored width as a whole number; 0: not proven, or not to be compared with `declared`. */
static uint64_t stored_bits(const mc_quant_facts *f, const mc_module *m, int64_t declared)
{
    if (!m->bits_certain || m->bits < 1 || m->bits > 16 || m->bits != (double)(unsigned)m->bits)
        return 0;
    bool comparable = one_of(m->layout, packed_layouts | float_layouts | BIT(MC_Q_BNB4) | BIT(MC_Q_BNB8) | BIT(MC_Q_INT8) | BIT(MC_Q_HQQ) | BIT(MC_Q_EETQ));
    if (m->layout == MC_Q_INT8 && declared < 8)
        comparable = false; /* narrow values, one a byte */
    if (m->layout == MC_Q_HQQ && (declared == 3 || declared == 5 || declared == 6))
        comparable = false; /* containers of another width */
    if (f->fp8 && one_of(m->layout, BIT(MC_Q_NVFP4) | BIT(MC_Q_MXFP4)))
        comparable = false; /* experts in FP4 under the name fp8 are published */
    return comparable ? (uint64_t)m->bits : 0;
}

/* An override that says just this, spelled for another root of the module tree. */
static bool other_root(const mc_claim *c, const mc_module *m, uint64_t bits)
{
    for (size_t i = 0; i < c->n_overrides; i++) {
        const mc_override *o = &c->overrides[i];
        if (!o->scheme.bits.known || o->scheme.bits.v != (int64_t)bits)
            continue;
        for (size_t k = 0; k < o->n_targets; k++)
            if (mc_pattern_any(&o->targets[k], m->name))
                return true;
    }
    return false;
}

static mc_finding *tell_bits(mc_check *cx, const mc_hit *v, size_t n)
{
    const mc_quant_facts *f = mc_quant_gather(cx);
    const mc_module      *m = f ? mc_quant_of(f, v) : NULL;
    const mc_scheme      *s = m ? mc_quant_scheme(f, m) : NULL;
    const mc_tensor      *w = m ? m->parts[MC_PART_WEIGHT] : NULL;
    unsigned long long    seen = v->a, said = v->b;
    mc_finding *out = n == 1 ? mc_report(cx, v->file, "%.*s is stored with %llu bits, declared are %llu", MC_FMT(v->name), seen, said)
                             : mc_report(cx, v->file, "%zu modules are stored with %llu bits, declared are %llu (first %.*s)", n, seen, said, MC_FMT(v->name));
    if (s)
        mc_because(cx, out, "declared", s->bits.from, "%llu bits", said);
    if (w)
        mc_because(cx, out, "stored", (mc_origin){ w->file, w->name }, "%.*s, %s", MC_FMT(mc_shape_text(cx->arena, w)), mc_layout_name(m->layout));
    if (w && m->in && m->in_witness.n)
        mc_because(cx, out, "in_features", (mc_origin){ w->file, m->in_witness }, "%llu", (unsigned long long)m->in);
    return out;
}

/* One width for all, and only layouts of that width: nothing to compare. */
static bool all_eight(const mc_quant_facts *f)
{
    const uint64_t eight = BIT(MC_Q_PLAIN) | BIT(MC_Q_RAW8) | BIT(MC_Q_FP8) | BIT(MC_Q_MXFP8) | BIT(MC_Q_INT8);
    return f->uniform && f->claim->base.bits.known && f->claim->base.bits.v == 8 && !(f->layouts & ~eight);
}

void mc_check_bits(mc_check *cx)
{
    const mc_quant_facts *f = mc_quant_gather(cx);
    for (size_t i = 0; f && f->claim && !all_eight(f) && i < f->q->n_modules; i++) {
        const mc_module *m = &f->q->modules[i];
        const mc_scheme *s = mc_module_packed(m) ? mc_quant_scheme(f, m) : NULL;
        if (!s || !s->bits.known || s->bits.v < 1)
            continue;
        uint64_t bits = stored_bits(f, m, s->bits.v);
        if (bits && (int64_t)bits != s->bits.v && !explained(cx, m) && !other_root(f->claim, m, bits))
            mc_hit_add(cx, tell_bits, mc_quant_hit(f, m, f->claim->file, "bits", bits, (uint64_t)s->bits.v));
    }
}

/* ---- MC431 ---- */

static uint64_t groups_of(uint64_t in, int64_t group)
{
    return group < 0 ? 1 : in / (uint64_t)group + (in % (uint64_t)group != 0);
}

/* gemv kernels want whole words of zero points: 8 groups each, more of them for small groups. */
static bool gemv_padding(const mc_module *m, uint64_t expected, int64_t group)
{
    uint64_t words = expected / 8 + (expected % 8 != 0), unit = group == 64 ? 2 : group == 32 ? 4 : 1;
    words = (words + unit - 1) / unit * unit;
    return one_of(m->layout, BIT(MC_Q_AWQ_GEMV) | BIT(MC_Q_AWQ_FAST)) && m->groups == words * 8;
}

/* Stored groups differ from what the declared size makes of in_features. */
static bool group_differs(const mc_quant_facts *f, const mc_scheme *s, const mc_module *m, uint64_t *expected)
{
    const mc_tensor *scale = m->parts[MC_PART_SCALE];
    bool             byte = m->layout == MC_Q_INT8 || m->layout == MC_Q_FP8, rows = scale && scale->rank == 2 && scale->dims[0] == m->out;
    *expected = 1;
    if (byte && f->compressed && s->grain == MC_GRAIN_CHANNEL) /* strategy channel: one column */
        return rows && m->groups > 1;
    if (byte && (!rows || (m->grain != MC_GRAIN_GROUP && m->grain != MC_GRAIN_BLOCK) || (s->group.known && s->group.v < 0)))
        return false;
    if (!m->in || !m->groups || !s->group.known || s->group.v == 0 || s->group.v < -1)
        return false;
    if ((s->group.v == -1 && s->desc_act == MC_YES) || (!m->bits_certain && m->layout != MC_Q_GPTQ))
        return false;
    *expected = groups_of(m->in, s->group.v);
    return m->groups != *expected && !gemv_padding(m, *expected, s->group.v);
}

static const char by_group[] = "group", unblocked[] = "one scale", blocked[] = "blocks";

static mc_finding *tell_group(mc_check *cx, const mc_hit *v, size_t n)
{
    const mc_quant_facts *f = mc_quant_gather(cx);
    const mc_module      *m = f ? mc_quant_of(f, v) : NULL;
    const mc_scheme      *s = m ? mc_quant_scheme(f, m) : NULL;
    const mc_tensor      *scale = m ? m->parts[MC_PART_SCALE] : NULL;
    mc_str                first = n == 1 ? v->name : mc_format(cx->arena, "%zu modules: %.*s", n, MC_FMT(v->name));
    mc_finding           *out;
    if (v->what == unblocked)
        out = mc_report(cx, v->file, "%.*s has one scale, declared are blocks of %llu x %llu", MC_FMT(first), (unsigned long long)v->a, (unsigned long long)v->b);
    else if (v->what == blocked)
        out = mc_report(cx, v->file, "%.*s has block scales, weight_block_size is null", MC_FMT(first));
    else
        out = mc_report(cx, v->file, "%.*s has %llu scale group%s over %llu inputs, declared is %s: %llu", MC_FMT(first), (unsigned long long)v->a,
                        v->a == 1 ? "" : "s", m ? (unsigned long long)m->in : 0, s && s->group.known ? mc_format(cx->arena, "a group size of %lld", (long long)s->group.v).p : "strategy channel",
                        (unsigned long long)v->b);
    if (s && v->what == by_group && s->group.known)
        mc_because(cx, out, "declared", s->group.from, "%lld", (long long)s->group.v);
    if (scale)
        mc_because(cx, out, "stored", (mc_origin){ scale->file, scale->name }, "%.*s", MC_FMT(mc_shape_text(cx->arena, scale)));
    return out;
}

/* More than one block of the declared size: a single scale cannot be its only block. */
static bool many_blocks(const mc_scheme *s, const mc_module *m)
{
    return s->block_rows.known && s->block_cols.known && s->block_rows.v > 0 && s->block_cols.v > 0 &&
           (m->out > (uint64_t)s->block_rows.v || m->in > (uint64_t)s->block_cols.v);
}

/* quant_method fp8: a block size is declared and no module has blocks, or none is declared (null) and some have. */
static void fp8_blocks(mc_check *cx, const mc_quant_facts *f)
{
    const mc_value *size = mc_get(f->claim->block, "weight_block_size");
    bool            scalar = true;
    if (!mc_is(size, MC_ARRAY) && !mc_is(size, MC_NULL))
        return;
    for (size_t pass = 0; pass < 2 && scalar; pass++)
        for (size_t i = 0; i < f->q->n_modules && (scalar || pass == 1); i++) {
            const mc_module *m = &f->q->modules[i];
            const mc_scheme *s = m->layout == MC_Q_FP8 ? mc_quant_scheme(f, m) : NULL;
            const mc_tensor *scale = m->parts[MC_PART_SCALE];
            if (!s || !scale)
                continue;
            bool one = scale->elements == 1, grid = scale->rank >= 2 && scale->dims[scale->rank - 2] > 1 && scale->dims[scale->rank - 1] > 1;
            if (pass == 0)
                scalar &= one || mc_is(size, MC_NULL);
            else if (mc_is(size, MC_ARRAY) && many_blocks(s, m))
                mc_hit_add(cx, tell_group, mc_quant_hit(f, m, f->claim->file, unblocked, (uint64_t)s->block_rows.v, (uint64_t)s->block_cols.v));
            else if (mc_is(size, MC_NULL) && grid && scale->rank == 2)
                mc_hit_add(cx, tell_group, mc_quant_hit(f, m, f->claim->file, blocked, 0, 0));
        }
}

void mc_check_group(mc_check *cx)
{
    const mc_quant_facts *f = mc_quant_gather(cx);
    if (!f || !f->claim)
        return;
    uint64_t bytes = BIT(MC_Q_INT8) | (f->fp8 ? 0 : BIT(MC_Q_FP8));
    if (f->fp8 && (f->layouts & BIT(MC_Q_FP8)))
        fp8_blocks(cx, f);
    for (size_t i = 0; (f->layouts & (packed_layouts | bytes)) && i < f->q->n_modules; i++) {
        const mc_module *m = &f->q->modules[i];
        const mc_scheme *s = one_of(m->layout, packed_layouts | bytes) ? mc_quant_scheme(f, m) : NULL;
        uint64_t         expected;
        if (s && group_differs(f, s, m, &expected) && !explained(cx, m))
            mc_hit_add(cx, tell_group, mc_quant_hit(f, m, f->claim->file, by_group, m->groups, expected));
    }
}

/* ---- MC432 ---- */

/* Layouts that loaders of a method accept under its name. One byte a value is shared by several methods. */
typedef struct { const char *method; uint64_t layouts; } accepted;
static const accepted families[] = {
    { "bitsandbytes", BIT(MC_Q_BNB4) | BIT(MC_Q_BNB8) | BIT(MC_Q_INT8) },
    { "gptq", BIT(MC_Q_GPTQ) | BIT(MC_Q_MARLIN) | BIT(MC_Q_MARLIN24) | BIT(MC_Q_QQQ) },
    { "awq", BIT(MC_Q_AWQ) | BIT(MC_Q_AWQ_GEMV) | BIT(MC_Q_AWQ_FAST) | BIT(MC_Q_MARLIN) | BIT(MC_Q_QUARK_INT4) },
    { "compressed-tensors", BIT(MC_Q_CT_PACK) | BIT(MC_Q_NVFP4) | BIT(MC_Q_MXFP4) | BIT(MC_Q_MXFP6) | BIT(MC_Q_MXFP8) | BIT(MC_Q_FP8) | BIT(MC_Q_INT8) | BIT(MC_Q_MARLIN24) },
    { "fp8", BIT(MC_Q_FP8) | BIT(MC_Q_INT8) | BIT(MC_Q_NVFP4) | BIT(MC_Q_MXFP4) | BIT(MC_Q_MXFP8) | BIT(MC_Q_FP4_DSV4) },
};

static const accepted *family_of(const mc_quant_facts *f)
{
    for (size_t i = 0; i < MC_COUNT(families); i++)
        if (mc_quant_method(f, families[i].method))
            return &families[i];
    return NULL;
}

/* "gemm" under gptq and "gptq" under awq: written on purpose by tools that share one block between both. */
static bool stated(const mc_quant_facts *f, const char *format)
{
    return f->claim->base.format.known && mc_str_ends_nocase(f->claim->base.format.v, format);
}

/* The geometry itself, not what a damaged module was taken for: columns of codes against columns of scales. */
static bool columns(const mc_module *m, uint64_t per)
{
    const mc_tensor *w = m->parts[MC_PART_WEIGHT], *s = m->parts[MC_PART_SCALE];
    uint64_t         want;
    return w && s && w->rank == 2 && s->rank == 2 && !ckd_mul(&want, w->dims[1], per) && want == s->dims[1];
}

static mc_finding *tell_layout(mc_check *cx, const mc_hit *v, size_t n)
{
    const mc_quant_facts *f = mc_quant_gather(cx);
    const mc_module      *m = f ? mc_quant_of(f, v) : NULL;
    const mc_claim       *c = f ? f->claim : NULL;
    mc_str                method = c ? c->method : MC_STR("");
    mc_finding *out = mc_report(cx, v->file, "%.*s is declared, the tensors are %s (%zu module%s, first %.*s)", MC_FMT(method), v->what, n, n == 1 ? "" : "s", MC_FMT(v->name));
    if (c)
        mc_because(cx, out, "declared", c->raw_method.from, "%.*s", MC_FMT(method));
    for (size_t i = 0; m && i < MC_PART_SCALE2; i++)
        if (m->parts[i])
            mc_because(cx, out, "stored", (mc_origin){ m->parts[i]->file, m->parts[i]->name }, "%.*s", MC_FMT(mc_shape_text(cx->arena, m->parts[i])));
    return out;
}

void mc_check_layout(mc_check *cx)
{
    const mc_quant_facts *f = mc_quant_gather(cx);
    const accepted       *own = f && f->claim ? family_of(f) : NULL;
    if (!own)
        return;
    bool gptq = f->gptq && !stated(f, "gemm"), awq = f->awq && !stated(f, "gptq");
    uint64_t layouts = own->layouts | (f->gptq && !gptq ? BIT(MC_Q_AWQ) : 0) | (f->awq && !awq ? BIT(MC_Q_GPTQ) : 0);
    bool     occurs = (f->layouts & layouts) != 0, cross = (gptq && (f->layouts & BIT(MC_Q_AWQ))) || (awq && (f->layouts & BIT(MC_Q_GPTQ)));
    for (size_t i = 0; (!occurs || cross) && i < f->q->n_modules; i++) {
        const mc_module *m = &f->q->modules[i];
        bool crossed = (gptq && m->layout == MC_Q_AWQ && columns(m, 8)) || (awq && m->layout == MC_Q_GPTQ && columns(m, 1));
        if (m->component == f->component && mc_module_packed(m) && m->layout != MC_Q_GGML && (crossed || !occurs))
            mc_hit_add(cx, tell_layout, mc_quant_hit(f, m, f->claim->file, mc_layout_name(m->layout), 0, 0));
    }
}
