/* compressed-tensors: config_groups, presets, formats, status. ModelOpt writes the same groups into config.json. */
#include "scan/claims.h"

static mc_grain grain_of(mc_str strategy)
{
    static const struct { const char *name; mc_grain grain; } names[] = {
        { "tensor", MC_GRAIN_TENSOR }, { "channel", MC_GRAIN_CHANNEL }, { "group", MC_GRAIN_GROUP }, { "tensor_group", MC_GRAIN_GROUP },
        { "block", MC_GRAIN_BLOCK }, { "token", MC_GRAIN_TOKEN },
    };
    for (size_t i = 0; i < MC_COUNT(names); i++)
        if (mc_quant_name_eq(strategy, mc_str_of(names[i].name)))
            return names[i].grain;
    return MC_GRAIN_NONE;
}

static mc_origin below(mc_claimant *x, mc_origin from, const char *key)
{
    return (mc_origin){ from.file, mc_format(x->a, "%.*s/%s", MC_FMT(from.where), key) };
}

/* A strategy that is not stated follows from group_size, as QuantizationArgs does it. */
static void grain(mc_claimant *x, mc_scheme *s, const mc_value *w, mc_origin from)
{
    const mc_value *strategy = mc_get(w, "strategy"), *group = mc_get(w, "group_size");
    int64_t         g;
    bool            whole = mc_cl_whole(group, -1, 1 << 30, &g) && g != 0;
    s->grain = strategy && strategy->type == MC_STRING ? grain_of(strategy->s) : !whole ? MC_GRAIN_TENSOR : g > 0 ? MC_GRAIN_GROUP : MC_GRAIN_CHANNEL;
    if (whole && s->grain == MC_GRAIN_GROUP && g > 0)
        mc_cl_int(&s->group, g, below(x, from, "group_size"));
    if (s->grain == MC_GRAIN_BLOCK)
        (void)mc_cl_block(s, mc_get(w, "block_structure"), below(x, from, "block_structure"));
}

static void activations(mc_scheme *s, const mc_value *in)
{
    mc_tri dynamic = mc_cl_tri(mc_get(in, "dynamic"));
    if (!mc_is(in, MC_OBJECT))
        return;
    if (mc_is(mc_get(in, "dynamic"), MC_STRING))
        dynamic = MC_YES; /* "local": a scale a group at run time, under a stored global one */
    s->dynamic_input = dynamic == MC_UNKNOWN ? MC_NO : dynamic;
    s->static_input = s->dynamic_input == MC_NO ? MC_YES : MC_NO;
}

bool mc_cl_group(mc_claimant *x, const mc_value *group, mc_origin from, mc_scheme *s)
{
    const mc_value *w = mc_get(group, "weights"), *order = mc_get(w, "actorder");
    mc_origin       at = below(x, from, "weights");
    int64_t         bits;
    *s = (mc_scheme){ .quantized = MC_YES, .symmetric = MC_UNKNOWN, .desc_act = MC_NO, .dynamic_input = MC_UNKNOWN, .static_input = MC_UNKNOWN, .from = from };
    activations(s, mc_get(group, "input_activations"));
    mc_cl_text(&s->format, mc_as_str(mc_get(group, "format")), below(x, from, "format"));
    if (!mc_is(w, MC_OBJECT))
        return false;
    if (mc_cl_whole(mc_get(w, "num_bits"), 1, 16, &bits))
        mc_cl_int(&s->bits, bits, below(x, at, "num_bits"));
    else if (!mc_get(w, "num_bits"))
        mc_cl_int(&s->bits, 8, (mc_origin){ from.file, MC_STR("default of num_bits") });
    s->is_float = mc_str_is(mc_as_str(mc_get(w, "type")), "float");
    s->symmetric = mc_get(w, "symmetric") ? mc_cl_tri(mc_get(w, "symmetric")) : MC_YES;
    mc_str actorder = mc_as_str(order);
    if (mc_quant_name_eq(actorder, MC_STR("group")) || mc_quant_name_eq(actorder, MC_STR("dynamic")) || mc_cl_tri(order) == MC_YES)
        s->desc_act = MC_YES;
    grain(x, s, w, at);
    return true;
}

/* { "W4A16": ["Linear"] }: the name of a preset instead of a scheme. */
static bool preset(mc_claimant *x, mc_str name, mc_origin from, mc_scheme *s)
{
    const mc_value *p = mc_kb_quant_entry(x->kb, "compressed-tensors", "presets", name);
    int64_t         n;
    *s = (mc_scheme){ .quantized = MC_YES, .symmetric = mc_cl_tri(mc_get(p, "symmetric")), .desc_act = MC_NO, .dynamic_input = mc_cl_tri(mc_get(p, "dynamic_input")), .static_input = MC_UNKNOWN, .from = from };
    if (!p)
        return false;
    if (mc_as_int(mc_get(p, "bits"), &n))
        mc_cl_int(&s->bits, n, from);
    if (mc_as_int(mc_get(p, "group"), &n))
        mc_cl_int(&s->group, n, from);
    s->grain = grain_of(mc_as_str(mc_get(p, "strategy")));
    s->is_float = mc_str_is(mc_as_str(mc_get(p, "type")), "float");
    if (s->dynamic_input != MC_UNKNOWN)
        s->static_input = s->dynamic_input == MC_NO ? MC_YES : MC_NO;
    return true;
}

static mc_str kv_name(mc_claimant *x, const mc_value *v)
{
    int64_t bits;
    if (!mc_is(v, MC_OBJECT))
        return mc_as_str(v);
    if (!mc_cl_whole(mc_get(v, "num_bits"), 1, 16, &bits))
        return MC_STR("");
    return mc_format(x->a, "%s%d", mc_str_is(mc_as_str(mc_get(v, "type")), "float") ? "FP" : "INT", (int)bits);
}

void mc_cl_kv(mc_claimant *x, const mc_value *v, mc_origin from)
{
    mc_str name = kv_name(x, v);
    if (!x->c->kv.known && name.n && !mc_quant_name_eq(name, MC_STR("none")) && !mc_quant_name_eq(name, MC_STR("auto")))
        mc_cl_text(&x->c->kv, name, from);
}

void mc_claim_compressed(mc_claimant *x)
{
    mc_claim       *c = x->c;
    const mc_value *groups = mc_get(c->block, "config_groups");
    mc_origin       at = mc_cl_from(x, "config_groups");
    bool            first = true;
    c->base.quantized = MC_UNKNOWN;
    mc_cl_text(&c->base.format, mc_as_str(mc_get(c->block, "format")), mc_cl_from(x, "format"));
    mc_text format = c->base.format;
    for (size_t i = 0; mc_is(groups, MC_OBJECT) && i < groups->n; i++) {
        const mc_value *g = groups->u.fields[i].value;
        mc_str          name = groups->u.fields[i].key;
        mc_origin       from = { at.file, mc_format(x->a, "%.*s/%.*s", MC_FMT(at.where), MC_FMT(name)) };
        mc_scheme       s;
        bool            list = mc_is(g, MC_ARRAY);
        if (!(list ? preset(x, name, from, &s) : mc_cl_group(x, g, from, &s)))
            continue;
        if (!s.format.known)
            s.format = format;
        if (first)
            c->base = s;
        first = false;
        mc_cl_target_list(x, &s, name, list ? g : mc_get(g, "targets"), MC_LIST_CT, list ? from : below(x, from, "targets"));
    }
    c->whole_scope = true;
    mc_cl_text(&c->status, mc_as_str(mc_get(c->block, "quantization_status")), mc_cl_from(x, "quantization_status"));
    mc_cl_kv(x, mc_get(c->block, "kv_cache_scheme"), mc_cl_from(x, "kv_cache_scheme"));
}
