/* Blocks with a map of modules: GPTQ (dynamic), auto-round (extra_config), MLX (module entries). */
#include "scan/claims.h"

/* ---- GPTQ ---- */

/* "+:regex" or "regex": other settings, "-:regex": not quantized. GPTQModel sorts the negative ones to the front. */
static void dynamic(mc_claimant *x, const mc_value *map)
{
    mc_origin from = mc_cl_from(x, "dynamic");
    for (size_t i = 0; mc_is(map, MC_OBJECT) && i < map->n; i++) {
        mc_str          key = map->u.fields[i].key;
        const mc_value *v = map->u.fields[i].value;
        bool            minus = mc_str_starts(key, "-:"), plus = mc_str_starts(key, "+:");
        mc_str          text = mc_str_cut(key, minus || plus ? 2 : 0, key.n);
        if (minus || (mc_is(v, MC_BOOL) && !v->u.b)) {
            mc_cl_exclude(x, text, MC_DIALECT_REGEX, from);
            continue;
        }
        if (!mc_is(v, MC_OBJECT))
            continue;
        mc_scheme s = x->c->base;
        s.from = (mc_origin){ from.file, mc_format(x->a, "%.*s/%.*s", MC_FMT(from.where), MC_FMT(key)) };
        mc_cl_affine(x, &s, v, s.from);
        if (s.bits.known && s.bits.v >= 16)
            mc_cl_exclude(x, text, MC_DIALECT_REGEX, from);
        else
            mc_cl_target(x, &s, MC_STR(""), text, MC_DIALECT_REGEX, from);
    }
}

void mc_claim_gptq(mc_claimant *x)
{
    mc_scheme *s = &x->c->base;
    if (s->symmetric == MC_UNKNOWN)
        s->symmetric = MC_YES; /* absent means true in every reader */
    if (mc_str_is(x->method->name, "awq") && !mc_get(x->c->block, "zero_point") && !mc_get(x->c->block, "sym"))
        s->symmetric = MC_NO;
    dynamic(x, mc_get(x->c->block, "dynamic"));
}

/* ---- auto-round ---- */

static void float_kind(mc_scheme *s, const mc_value *v)
{
    mc_str type = mc_as_str(mc_get(v, "data_type"));
    if (type.n)
        s->is_float = mc_str_starts(type, "fp") || mc_str_starts(type, "mx_fp") || mc_str_starts(type, "nv_fp") || mc_str_starts(type, "bf");
    if (mc_str_is(mc_as_str(mc_get(v, "activation_scheme")), "static") || mc_cl_tri(mc_get(v, "act_dynamic")) == MC_NO)
        s->static_input = MC_YES;
    if (mc_cl_tri(mc_get(v, "act_dynamic")) == MC_YES)
        s->dynamic_input = MC_YES;
}

/* A name with signs of a regular expression is one; any other is exact. */
static mc_dialect name_or_regex(mc_str s)
{
    static const char signs[] = "\\[](){}*+?^$|";
    for (size_t i = 0; i + 1 < sizeof signs; i++)
        if (mc_str_find(s, signs[i]) < s.n)
            return MC_DIALECT_REGEX;
    return MC_DIALECT_EXACT;
}

static void extra_config(mc_claimant *x, const mc_value *map)
{
    mc_origin from = mc_cl_from(x, "extra_config");
    for (size_t i = 0; mc_is(map, MC_OBJECT) && i < map->n; i++) {
        mc_str    key = map->u.fields[i].key;
        mc_scheme s = x->c->base;
        if (!mc_is(map->u.fields[i].value, MC_OBJECT))
            continue;
        s.from = (mc_origin){ from.file, mc_format(x->a, "%.*s/%.*s", MC_FMT(from.where), MC_FMT(key)) };
        mc_cl_affine(x, &s, map->u.fields[i].value, s.from);
        float_kind(&s, map->u.fields[i].value);
        if (s.bits.known && s.bits.v >= 16)
            mc_cl_exclude(x, key, name_or_regex(key), from);
        else
            mc_cl_target(x, &s, MC_STR("extra_config"), key, name_or_regex(key), from);
    }
}

void mc_claim_auto_round(mc_claimant *x)
{
    mc_claim *c = x->c;
    if (c->base.symmetric == MC_UNKNOWN)
        c->base.symmetric = MC_YES;
    float_kind(&c->base, c->block);
    (void)mc_cl_block(&c->base, mc_get(c->block, "weight_block_size"), mc_cl_from(x, "weight_block_size"));
    mc_str packing = mc_as_str(mc_get(c->block, "packing_format"));
    if (packing.n)
        mc_cl_text(&c->packing, packing, mc_cl_from(x, "packing_format"));
    extra_config(x, mc_get(c->block, "extra_config"));
}

/* ---- MLX ---- */

/* Bits, group and mode of the block or of one entry. An entry without a mode is affine, and null is the mode's own default. */
static void mlx_scheme(mc_claimant *x, mc_scheme *s, const mc_value *v, mc_origin from)
{
    mc_str          mode = mc_as_str(mc_get(v, "mode"));
    const mc_value *defaults = mc_kb_quant_entry(x->kb, "mlx", "modes", mode.n ? mode : MC_STR("affine"));
    int64_t         n;
    *s = (mc_scheme){ .quantized = MC_YES, .symmetric = MC_UNKNOWN, .desc_act = MC_UNKNOWN, .dynamic_input = MC_UNKNOWN, .static_input = MC_UNKNOWN, .grain = MC_GRAIN_GROUP, .from = from };
    mc_cl_text(&s->format, mode.n ? mode : MC_STR("affine"), (mc_origin){ from.file, mode.n ? mc_format(x->a, "%.*s/mode", MC_FMT(from.where)) : MC_STR("default of mlx") });
    s->is_float = !mc_str_is(s->format.v, "affine");
    mc_cl_affine(x, s, v, from);
    mc_origin why = { from.file, mc_format(x->a, "default of the mode %.*s", MC_FMT(s->format.v)) };
    bool      no_bits = (!mc_get(v, "bits") || mc_is(mc_get(v, "bits"), MC_NULL)) && s->is_float, no_group = !mc_get(v, "group_size") || mc_is(mc_get(v, "group_size"), MC_NULL);
    if (no_bits && mc_as_int(mc_get(defaults, "bits"), &n))
        mc_cl_int(&s->bits, n, why);
    if (no_group && mc_as_int(mc_get(defaults, "group"), &n))
        mc_cl_int(&s->group, n, why);
    s->grain = MC_GRAIN_GROUP;
}

void mc_claim_mlx(mc_claimant *x)
{
    mc_claim *c = x->c;
    mlx_scheme(x, &c->base, c->block, mc_cl_from(x, ""));
    for (size_t i = 0; mc_is(c->block, MC_OBJECT) && i < c->block->n; i++) {
        mc_str          key = c->block->u.fields[i].key;
        const mc_value *v = c->block->u.fields[i].value;
        mc_scheme       s;
        if (mc_str_is(key, "quantize_activations") || mc_str_is(key, "desc_act") || mc_str_is(key, "sym") || mc_str_is(key, "zero_point"))
            continue;
        if (mc_is(v, MC_BOOL) && !v->u.b) {
            mc_cl_exclude(x, key, MC_DIALECT_EXACT, mc_cl_from(x, ""));
        } else if (mc_is(v, MC_BOOL)) {
            mc_cl_target(x, &c->base, MC_STR("entry"), key, MC_DIALECT_EXACT, mc_cl_from(x, ""));
        } else if (mc_is(v, MC_OBJECT)) {
            mlx_scheme(x, &s, v, mc_cl_from_str(x, key));
            mc_cl_target(x, &s, MC_STR("entry"), key, MC_DIALECT_EXACT, mc_cl_from(x, ""));
        }
    }
}
