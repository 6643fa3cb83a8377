/* Layouts of bitsandbytes and MLX.
 *
 * bitsandbytes: U8 [n, 1] with absmax, quant_map and a JSON text that alone holds the shape; I8 with SCB. mlx: U32 [.., O, I*b/32]
 * with scales and biases [.., O, I/g]; modes mxfp4, mxfp8 and nvfp4 have U8 scales and no biases. */
#include "scan/modules.h"

/* ---- bitsandbytes ---- */

static void state_shape(const mc_module *q, const mc_value *state, uint64_t *out, uint64_t *in, uint64_t *n)
{
    const mc_value *shape = mc_get(state, "shape");
    int64_t         v;
    (void)q;
    *n = 1;
    for (size_t i = 0; mc_is(shape, MC_ARRAY) && i < shape->n; i++) {
        if (!mc_as_int(mc_item(shape, i), &v) || v < 0 || ckd_mul(n, *n, (uint64_t)v)) {
            *n = 0;
            return;
        }
        *out = *in;
        *in = (uint64_t)v;
    }
    if (!mc_is(shape, MC_ARRAY) || shape->n == 0)
        *n = 0;
}

/* What the JSON says, and whether it fits the tensors (MC447). `values`: two a byte of weight. */
static void read_state(const mc_pack *p, mc_module *q, mc_span text, uint64_t values)
{
    const mc_tensor *t = q->parts[MC_PART_STATE], *absmax = q->parts[MC_PART_SCALE];
    uint64_t         out = 1, in = 1, n;
    int64_t          block = 0;
    mc_err           e;
    if (text.n == 0 || text.n < t->elements || mc_all_zero(text))
        return;
    const mc_value *state = mc_json_tree(p->m->arena, text, &e, NULL);
    if (!mc_is(state, MC_OBJECT)) {
        if (e.code != MC_E_NOMEM && e.code != MC_E_LIMIT)
            mc_set_fault(&q->data, "is not valid JSON", t, 0, 0);
        return;
    }
    mc_str type = mc_as_str(mc_get(state, "quant_type"));
    if (type.p && !mc_str_is(type, mc_str_ends(t->name, "nf4") ? "nf4" : "fp4"))
        mc_set_fault(&q->data, mc_str_ends(t->name, "nf4") ? "states another quant_type than nf4" : "states another quant_type than fp4", t, 0, 0);
    state_shape(q, state, &out, &in, &n);
    if (n == 0 || n > values + 1 || n + 1 < values)
        mc_set_fault(&q->data, "states a shape of other size than the weight", t, values, n);
    else if (n > 0)
        mc_set_shape(q, 1, n / (in ? in : 1), in);
    if (!mc_as_int(mc_get(state, "blocksize"), &block) || block <= 0)
        return;
    q->group = (uint64_t)block;
    if (absmax && n && absmax->elements != mc_ceil_div(n, q->group))
        mc_set_fault(&q->data, "states a blocksize that does not fit absmax", t, mc_ceil_div(n, q->group), absmax->elements);
}

static void guess_block(mc_module *q, uint64_t values)
{
    const mc_tensor *absmax = q->parts[MC_PART_SCALE];
    for (uint64_t b = 64; absmax && b <= 4096; b *= 2)
        if (mc_ceil_div(values, b) == absmax->elements) {
            q->group = b;
            return;
        }
}

void mc_fill_bnb4(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    const mc_tensor *w = q->parts[MC_PART_WEIGHT], *absmax = q->parts[MC_PART_SCALE];
    uint64_t         values = w->end > w->begin && w->end - w->begin < UINT64_MAX / 2 ? 2 * (w->end - w->begin) : 0;
    mc_set_bits(q, 4, MC_UNKNOWN);
    q->grain = MC_GRAIN_GROUP;
    q->elements = values;
    q->elements_known = values > 0;
    if (mc_need(q, MC_PART_SCALE, "weight.absmax") && mc_need(q, MC_PART_MAP, "weight.quant_map"))
        mc_need(q, MC_PART_STATE, "weight.quant_state.bitsandbytes__nf4");
    if (mc_kind_of(p, absmax) == MC_K_U8)
        mc_need(q, MC_PART_SCALE2, "weight.nested_absmax");
    else if (absmax && mc_kind_of(p, absmax) != MC_K_F32)
        mc_set_fault(&q->shape, "is neither F32 nor U8", absmax, 0, 0);
    guess_block(q, values);
    if (q->parts[MC_PART_STATE])
        read_state(p, q, mc_small_of(small, n, MC_PART_STATE), values);
}

void mc_fill_bnb8(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    const mc_tensor *s = q->parts[MC_PART_SCALE];
    mc_view          w = mc_view_of(q->parts[MC_PART_WEIGHT]);
    (void)p, (void)small, (void)n;
    if (!w.ok)
        return;
    mc_set_bits(q, 8, MC_YES);
    q->grain = MC_GRAIN_CHANNEL;
    q->groups = 1;
    mc_set_shape(q, w.e, w.r, w.c);
    if (mc_need(q, MC_PART_SCALE, "SCB") && s->elements != w.r)
        mc_set_fault(&q->shape, "has another length than weight has rows", s, w.r, s->elements);
}

/* ---- MLX ---- */

static const unsigned affine_widths[] = { 2, 3, 4, 5, 6, 8, 0 }, affine_sizes[] = { 32, 64, 128, 0 };

/* scales are U8 in the modes mxfp4, mxfp8 and nvfp4: the product of width and group names the mode. */
static bool mlx_mode(mc_module *q, mc_view w, mc_view s)
{
    static const struct { unsigned words, bits, group; } modes[] = { { 4, 4, 32 }, { 8, 8, 32 }, { 2, 4, 16 } };
    for (size_t i = 0; i < MC_COUNT(modes); i++)
        if (s.c * modes[i].words == w.c) {
            q->bits = modes[i].bits;
            q->bits_certain = true;
            q->in = s.c * modes[i].group;
            return true;
        }
    return false;
}

static bool has_affine_product(uint64_t words, uint64_t groups)
{
    for (const unsigned *b = affine_widths; *b; b++)
        for (const unsigned *g = affine_sizes; *g; g++)
            if (words * 32 == groups * *b * *g)
                return true;
    return false;
}

void mc_fill_mlx(const mc_pack *p, mc_module *q, const mc_small *small, size_t n)
{
    const mc_tensor *st = q->parts[MC_PART_SCALE], *zt = q->parts[MC_PART_ZERO];
    mc_view          w = mc_view_of(q->parts[MC_PART_WEIGHT]), s = mc_view_of(st), z = mc_view_of(zt);
    bool             mx = mc_kind_of(p, st) == MC_K_U8, fits = false;
    (void)small, (void)n;
    if (!w.ok || w.r > UINT32_MAX || w.c > UINT32_MAX || (s.ok && s.c > UINT32_MAX))
        return;
    q->symmetric = mx ? MC_UNKNOWN : MC_NO;
    if (mc_need(q, MC_PART_SCALE, "scales") && !mx)
        mc_need(q, MC_PART_ZERO, q->layout == MC_Q_METAL ? "qbiases" : "biases");
    if (s.ok && mx)
        fits = mlx_mode(q, w, s);
    else if (s.ok && (fits = has_affine_product(w.c, s.c)))
        mc_settle_bits(p, q, w.c, s.c, affine_widths, affine_sizes);
    if (s.ok && !fits)
        mc_set_fault(&q->shape, "fits weight at no width and group size", st, 0, s.c);
    if (s.ok && (s.r != w.r || s.e != w.e))
        mc_set_fault(&q->shape, "has other rows than weight", st, w.r, s.r);
    if (z.ok && s.ok && (z.r != s.r || z.c != s.c))
        mc_set_fault(&q->shape, "has another shape than scales", zt, z.r != s.r ? s.r : s.c, z.r != s.r ? z.r : z.c);
    q->out = w.r;
    q->experts = w.e;
    if (q->bits_certain)
        mc_set_shape(q, w.e, w.r, q->in);
    if (s.ok) {
        mc_set_groups(q, s.c);
        q->grain = MC_GRAIN_GROUP;
        if (q->in && s.c == 1)
            q->group = q->in;
    }
}
