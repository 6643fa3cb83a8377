/* ModelOpt in both spellings (config.json and hf_quant_config.json), TensorRT-LLM, and FP8 in the style of DeepSeek, which
 * some ModelOpt releases extend by its keys. */
#include "scan/claims.h"

static mc_grain grain_of(mc_str s)
{
    return mc_str_is(s, "tensor") ? MC_GRAIN_TENSOR : mc_str_is(s, "channel") ? MC_GRAIN_CHANNEL : mc_str_is(s, "group") ? MC_GRAIN_GROUP
         : mc_str_is(s, "block")  ? MC_GRAIN_BLOCK  : MC_GRAIN_NONE;
}

/* An algorithm of rules/quants/modelopt.json. False: MIXED_PRECISION, NO_QUANT or an unknown one. */
static bool algorithm(mc_claimant *x, mc_scheme *s, mc_str algo, mc_origin from)
{
    const mc_value *v = mc_kb_quant_entry(x->kb, "modelopt", "algos", algo);
    int64_t         n;
    *s = (mc_scheme){ .quantized = MC_YES, .symmetric = MC_UNKNOWN, .desc_act = MC_UNKNOWN, .dynamic_input = MC_UNKNOWN, .static_input = MC_UNKNOWN, .from = from };
    mc_cl_text(&s->format, algo, from);
    if (!v)
        return false;
    mc_origin why = { from.file, mc_format(x->a, "%.*s", MC_FMT(from.where)) };
    if (mc_as_int(mc_get(v, "bits"), &n))
        mc_cl_int(&s->bits, n, why);
    if (mc_as_int(mc_get(v, "group"), &n))
        mc_cl_int(&s->group, n, why);
    s->is_float = mc_str_is(mc_as_str(mc_get(v, "type")), "float");
    s->grain = grain_of(mc_as_str(mc_get(v, "grain")));
    (void)mc_cl_block(s, mc_get(v, "block"), why);
    mc_str input = mc_as_str(mc_get(v, "input"));
    s->static_input = mc_str_is(input, "static") ? MC_YES : MC_NO;
    if (mc_str_is(input, "dynamic"))
        s->dynamic_input = MC_YES;
    return true;
}

static void group_size(mc_claimant *x, mc_scheme *s, const mc_value *v, mc_origin at)
{
    int64_t g;
    bool    grouped = s->grain == MC_GRAIN_GROUP || s->grain == MC_GRAIN_NONE;
    if (grouped && mc_cl_whole(mc_get(v, "group_size"), 1, 1 << 30, &g))
        mc_cl_int(&s->group, g, (mc_origin){ at.file, mc_format(x->a, "%.*s/group_size", MC_FMT(at.where)) });
}

/* { module or container: { quant_algo, group_size } }. Two or three algorithms for thousands of names: the last one is kept. */
static void quantized_layers(mc_claimant *x)
{
    const mc_value *map = mc_get(x->c->block, "quantized_layers");
    mc_origin       from = mc_cl_from(x, "quantized_layers");
    mc_str          last = MC_STR("");
    int64_t         last_group = 0;
    mc_scheme       s = { 0 };
    for (size_t i = 0; mc_is(map, MC_OBJECT) && i < map->n; i++) {
        const mc_value *v = map->u.fields[i].value;
        mc_str          algo = mc_as_str(mc_get(v, "quant_algo"));
        int64_t         group = 0;
        if (!mc_is(v, MC_OBJECT))
            continue;
        if (!mc_cl_whole(mc_get(v, "group_size"), 1, 1 << 30, &group))
            group = 0;
        if (i == 0 || !mc_str_eq(algo, last) || group != last_group) {
            (void)algorithm(x, &s, algo, (mc_origin){ from.file, mc_format(x->a, "%.*s/%.*s/quant_algo", MC_FMT(from.where), MC_FMT(map->u.fields[i].key)) });
            group_size(x, &s, v, s.from);
            last = algo;
            last_group = group;
        }
        mc_cl_target(x, &s, MC_STR("quantized_layers"), map->u.fields[i].key, MC_DIALECT_PREFIX, from);
    }
}

/* config_groups of config.json: the group size of the whole, or the names of each group. */
static void groups(mc_claimant *x, bool mixed)
{
    const mc_value *map = mc_get(x->c->block, "config_groups");
    mc_origin       at = mc_cl_from(x, "config_groups");
    for (size_t i = 0; mc_is(map, MC_OBJECT) && i < map->n; i++) {
        const mc_value *g = map->u.fields[i].value;
        mc_origin       from = { at.file, mc_format(x->a, "%.*s/%.*s", MC_FMT(at.where), MC_FMT(map->u.fields[i].key)) };
        mc_scheme       s;
        if (!mc_cl_group(x, g, from, &s))
            continue;
        if (!mixed && s.group.known && x->c->base.grain == MC_GRAIN_GROUP)
            x->c->base.group = s.group;
        if (!mixed && !x->c->base.bits.known) {
            mc_text format = x->c->base.format;
            x->c->base = s;
            x->c->base.format = format;
        }
        if (mixed && !mc_is(mc_get(x->c->block, "quantized_layers"), MC_OBJECT)) {
            if (s.grain == MC_GRAIN_TENSOR)
                s.grain = MC_GRAIN_NONE; /* ModelOpt writes no strategy: nothing follows from its absence */
            mc_cl_target_list(x, &s, map->u.fields[i].key, mc_get(g, "targets"), MC_LIST_CT, (mc_origin){ from.file, mc_format(x->a, "%.*s/targets", MC_FMT(from.where)) });
        }
    }
}

void mc_claim_modelopt(mc_claimant *x)
{
    mc_claim *c = x->c;
    mc_str    algo = mc_as_str(mc_get(c->block, "quant_algo"));
    bool      mixed = mc_quant_name_eq(algo, MC_STR("MIXED_PRECISION"));
    mc_origin from = mc_cl_from(x, "quant_algo");
    if (algo.n && !algorithm(x, &c->base, algo, from))
        c->base.quantized = mixed ? MC_UNKNOWN : MC_YES;
    c->whole_scope = mixed;
    if (!mixed)
        group_size(x, &c->base, c->block, mc_cl_from(x, ""));
    quantized_layers(x);
    groups(x, mixed);
    mc_cl_kv(x, mc_get(c->block, "kv_cache_quant_algo"), mc_cl_from(x, "kv_cache_quant_algo"));
    mc_cl_kv(x, mc_get(c->block, "kv_cache_scheme"), mc_cl_from(x, "kv_cache_scheme"));
    mc_cl_text(&c->moe_algo, mc_as_str(mc_get(c->block, "moe_quant_algo")), mc_cl_from(x, "moe_quant_algo"));
}

void mc_claim_fp8(mc_claimant *x)
{
    mc_claim       *c = x->c;
    mc_scheme      *s = &c->base;
    const mc_value *block = mc_get(c->block, "weight_block_size"), *scheme = mc_get(c->block, "activation_scheme");
    s->is_float = true;
    if (mc_str_is(x->method->name, "fbgemm_fp8"))
        s->grain = MC_GRAIN_CHANNEL;
    else
        (void)mc_cl_block(s, block, mc_cl_from(x, "weight_block_size"));
    s->static_input = mc_str_is(mc_as_str(scheme), "static") ? MC_YES : MC_NO;
    if (mc_str_is(mc_as_str(scheme), "dynamic"))
        s->dynamic_input = MC_YES;
    quantized_layers(x);
    mc_cl_text(&c->moe_algo, mc_as_str(mc_get(c->block, "moe_quant_algo")), mc_cl_from(x, "moe_quant_algo"));
    mc_cl_kv(x, mc_get(c->block, "kv_cache_quant_algo"), mc_cl_from(x, "kv_cache_quant_algo"));
    mc_cl_kv(x, mc_get(c->block, "kv_cache_scheme"), mc_cl_from(x, "kv_cache_scheme"));
}
