/* Blocks whose widths are words: bitsandbytes, HQQ, torchao, Quark. */
#include "scan/claims.h"

/* ---- bitsandbytes ---- */

void mc_claim_bnb(mc_claimant *x)
{
    mc_claim *c = x->c;
    bool      four = mc_cl_tri(mc_get(c->block, "load_in_4bit")) == MC_YES || mc_cl_tri(mc_get(c->block, "_load_in_4bit")) == MC_YES;
    bool      eight = mc_cl_tri(mc_get(c->block, "load_in_8bit")) == MC_YES || mc_cl_tri(mc_get(c->block, "_load_in_8bit")) == MC_YES;
    if (four == eight)
        return;
    mc_cl_int(&c->base.bits, four ? 4 : 8, mc_cl_from(x, four ? "load_in_4bit" : "load_in_8bit"));
    if (four) { /* the 4-bit keys are written with their defaults into 8-bit files too */
        mc_str type = mc_as_str(mc_get(c->block, "bnb_4bit_quant_type"));
        c->base.is_float = true;
        mc_cl_text(&c->base.format, type.n ? type : MC_STR("fp4"), mc_cl_from(x, "bnb_4bit_quant_type"));
    } else {
        c->base.grain = MC_GRAIN_CHANNEL;
        c->base.symmetric = MC_YES;
    }
}

/* ---- HQQ ---- */

static bool hqq_params(mc_claimant *x, const mc_value *config, mc_origin from, mc_scheme *s)
{
    const mc_value *w = mc_get(config, "weight_quant_params");
    if (!mc_is(w, MC_OBJECT))
        return false;
    mc_cl_affine(x, s, w, (mc_origin){ from.file, mc_format(x->a, "%.*s/weight_quant_params", MC_FMT(from.where)) });
    return true;
}

void mc_claim_hqq(mc_claimant *x)
{
    mc_claim       *c = x->c;
    const mc_value *config = mc_get(c->block, "quant_config");
    mc_origin       at = mc_cl_from(x, "quant_config");
    if (hqq_params(x, config, at, &c->base))
        return;
    for (size_t i = 0; mc_is(config, MC_OBJECT) && i < config->n; i++) { /* one map a layer tag: "self_attn.q_proj" */
        mc_scheme s = c->base;
        s.from = (mc_origin){ at.file, mc_format(x->a, "%.*s/%.*s", MC_FMT(at.where), MC_FMT(config->u.fields[i].key)) };
        if (hqq_params(x, config->u.fields[i].value, s.from, &s))
            mc_cl_target(x, &s, MC_STR("quant_config"), config->u.fields[i].key, MC_DIALECT_SUBSTRING, at);
    }
}

/* ---- torchao ---- */

/* "Int4WeightOnlyConfig", "int4_weight_only": letters and digits in small letters, without the ending. */
static mc_str plain_type(mc_claimant *x, mc_str s)
{
    char   *p = s.n < 128 ? mc_alloc(x->a, s.n + 1, 1) : NULL;
    size_t  n = 0;
    for (size_t i = 0; p && i < s.n; i++)
        if (s.p[i] != '_')
            p[n++] = mc_to_lower(s.p[i]);
    mc_str out = { p, n };
    return mc_str_ends(out, "config") ? mc_str_cut(out, 0, n - 6) : out;
}

/* int4, uint2, float8_e4m3fn: the number behind the letters. */
static bool width_of(mc_str dtype, int64_t *bits, bool *is_float)
{
    size_t   i = 0, start;
    uint64_t v;
    while (i < dtype.n && (dtype.p[i] < '0' || dtype.p[i] > '9'))
        i++;
    for (start = i; i < dtype.n && dtype.p[i] >= '0' && dtype.p[i] <= '9';)
        i++;
    if (!mc_str_u64(mc_str_cut(dtype, start, i), &v) || v < 1 || v > 16)
        return false;
    *bits = (int64_t)v;
    *is_float = mc_str_starts(dtype, "float") || mc_str_starts(dtype, "fp");
    return true;
}

static void torchao_group(mc_scheme *s, const mc_value *data, mc_origin from)
{
    const mc_value *g = mc_get(data, "group_size");
    int64_t         n;
    if (!mc_is(g, MC_INT))
        g = mc_at(data, "/granularity/_data/group_size");
    if (!mc_is(g, MC_INT))
        g = mc_at(data, "/weight_granularity/_data/group_size");
    if (mc_cl_whole(g, 1, 1 << 30, &n)) {
        mc_cl_int(&s->group, n, from);
        s->grain = MC_GRAIN_GROUP;
    }
}

static void torchao_type(mc_claimant *x, mc_scheme *s, mc_str type, const mc_value *data, mc_origin from)
{
    const mc_value *known = mc_kb_quant_entry(x->kb, "torchao", "types", plain_type(x, type));
    int64_t         n;
    mc_str          dtype = mc_as_str(mc_at(data, "/weight_dtype/_data"));
    mc_cl_text(&s->format, type, from);
    if (mc_as_int(mc_get(known, "bits"), &n))
        mc_cl_int(&s->bits, n, from);
    if (mc_as_int(mc_get(known, "group"), &n) && !mc_is(data, MC_OBJECT)) /* old style: the default of the function */
        mc_cl_int(&s->group, n, from);
    s->is_float = mc_cl_tri(mc_get(known, "float")) == MC_YES;
    s->dynamic_input = mc_cl_tri(mc_get(known, "dynamic"));
    if (dtype.n == 0)
        dtype = mc_as_str(mc_get(data, "weight_dtype"));
    if (width_of(dtype, &n, &s->is_float))
        mc_cl_int(&s->bits, n, from);
    torchao_group(s, data, from);
}

static void torchao_modules(mc_claimant *x, const mc_value *map, mc_origin from)
{
    for (size_t i = 0; mc_is(map, MC_OBJECT) && i < map->n; i++) {
        mc_str          key = map->u.fields[i].key;
        const mc_value *v = map->u.fields[i].value;
        mc_scheme       s = x->c->base;
        bool            regex = mc_str_starts(key, "re:"), all = mc_str_is(key, "_default");
        s.from = (mc_origin){ from.file, mc_format(x->a, "%.*s/%.*s", MC_FMT(from.where), MC_FMT(key)) };
        if (mc_is(v, MC_NULL) && !all)
            mc_cl_exclude(x, regex ? mc_str_cut(key, 3, key.n) : key, regex ? MC_DIALECT_REGEX : MC_DIALECT_EXACT, from);
        if (!mc_is(v, MC_OBJECT))
            continue;
        torchao_type(x, all ? &x->c->base : &s, mc_as_str(mc_get(v, "_type")), mc_get(v, "_data"), s.from);
        if (!all)
            mc_cl_target(x, &s, MC_STR("fqn_to_config"), regex ? mc_str_cut(key, 3, key.n) : key, regex ? MC_DIALECT_REGEX : MC_DIALECT_EXACT, from);
    }
}

void mc_claim_torchao(mc_claimant *x)
{
    mc_claim       *c = x->c;
    const mc_value *type = mc_get(c->block, "quant_type"), *one = mc_get(type, "default");
    mc_origin       from = mc_cl_from(x, "quant_type");
    if (mc_is(type, MC_STRING)) {
        torchao_type(x, &c->base, type->s, mc_get(c->block, "quant_type_kwargs"), from);
        return;
    }
    const mc_value *data = mc_get(one, "_data"), *map = mc_get(data, "fqn_to_config");
    if (!map)
        map = mc_get(data, "module_fqn_to_config");
    if (map)
        torchao_modules(x, map, from);
    else
        torchao_type(x, &c->base, mc_as_str(mc_get(one, "_type")), data, from);
}

/* ---- Quark ---- */

static bool quark_spec(mc_claimant *x, const mc_value *config, mc_origin from, mc_scheme *s)
{
    const mc_value *w = mc_get(config, "weight"), *in = mc_get(config, "input_tensors");
    int64_t         n;
    if (mc_is(w, MC_ARRAY)) /* two levels: the first holds the codes */
        w = mc_item(w, 0);
    if (mc_is(in, MC_ARRAY))
        in = mc_item(in, 0);
    if (!mc_is(w, MC_OBJECT))
        return false;
    mc_str          dtype = mc_as_str(mc_get(w, "dtype")), scheme = mc_as_str(mc_get(w, "qscheme"));
    const mc_value *known = mc_kb_quant_entry(x->kb, "quark", "dtypes", dtype);
    s->quantized = MC_YES;
    mc_cl_text(&s->format, dtype, from);
    if (mc_as_int(mc_get(known, "bits"), &n))
        mc_cl_int(&s->bits, n, from);
    s->is_float = mc_cl_tri(mc_get(known, "float")) == MC_YES;
    s->symmetric = mc_cl_tri(mc_get(w, "symmetric"));
    s->grain = mc_str_is(scheme, "per_group") ? MC_GRAIN_GROUP : mc_str_is(scheme, "per_channel") ? MC_GRAIN_CHANNEL : mc_str_is(scheme, "per_tensor") ? MC_GRAIN_TENSOR : MC_GRAIN_NONE;
    if (s->grain == MC_GRAIN_GROUP && mc_cl_whole(mc_get(w, "group_size"), 1, 1 << 30, &n))
        mc_cl_int(&s->group, n, from);
    s->dynamic_input = mc_cl_tri(mc_get(in, "is_dynamic"));
    s->static_input = s->dynamic_input == MC_NO ? MC_YES : MC_UNKNOWN;
    return true;
}

void mc_claim_quark(mc_claimant *x)
{
    mc_claim       *c = x->c;
    const mc_value *layers = mc_get(c->block, "layer_quant_config"), *kv = mc_get(c->block, "kv_cache_quant_config");
    mc_origin       at = mc_cl_from(x, "layer_quant_config");
    (void)quark_spec(x, mc_get(c->block, "global_quant_config"), mc_cl_from(x, "global_quant_config"), &c->base);
    for (size_t i = 0; mc_is(layers, MC_OBJECT) && i < layers->n; i++) {
        mc_scheme s = c->base;
        mc_str    key = layers->u.fields[i].key;
        s.from = (mc_origin){ at.file, mc_format(x->a, "%.*s/%.*s", MC_FMT(at.where), MC_FMT(key)) };
        if (quark_spec(x, layers->u.fields[i].value, s.from, &s))
            mc_cl_target(x, &s, MC_STR("layer_quant_config"), key, MC_DIALECT_GLOB, at);
        else if (mc_is(layers->u.fields[i].value, MC_OBJECT) && mc_is(mc_get(layers->u.fields[i].value, "weight"), MC_NULL))
            s.quantized = MC_NO;
    }
    const mc_value *group = mc_at(c->block, "/export/kv_cache_group");
    if ((mc_is(kv, MC_OBJECT) && kv->n > 0) || (mc_is(group, MC_ARRAY) && group->n > 0))
        mc_cl_text(&c->kv, MC_STR("FP8"), mc_cl_from(x, mc_is(kv, MC_OBJECT) && kv->n > 0 ? "kv_cache_quant_config" : "export/kv_cache_group"));
}
