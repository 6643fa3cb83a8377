/* Facts of quantization: what the declared block says, and of compressed-tensors what each config group says. */
#include "scan/facts.h"

/* ---- the block ---- */

/* bitsandbytes: flags decide over the name. Blocks and side files that state no method go by what they are. */
static mc_fact method(const mc_model_facts *f)
{
    if (f->m->gguf || f->m->format == MC_FMT_GGUF)
        return mc_fact_text(MC_STR("gguf"));
    if (!f->claim)
        return f->config || f->m->quant ? mc_fact_null() : MC_FACT_NONE;
    if (f->claim->raw_method.known && f->claim->raw_method.v.n && !mc_str_is(f->claim->method, "bitsandbytes"))
        return mc_fact_text(mc_str_lower(f->a, f->claim->raw_method.v)); /* every framework folds it */
    return f->claim->method.n ? mc_fact_text(f->claim->method) : MC_FACT_NONE;
}

/* ModelOpt's readers fold algorithms to upper case. */
static mc_str upper(mc_arena *a, mc_str s)
{
    char *p = mc_alloc(a, s.n + 1, 1);
    for (size_t i = 0; p && i < s.n; i++)
        p[i] = mc_to_upper(s.p[i]);
    return p ? (mc_str){ p, s.n } : s;
}

static mc_fact quant_algo(const mc_model_facts *f)
{
    const mc_value *block = f->claim ? f->claim->block : NULL, *v = mc_get(block, "quant_algo");
    v = v ? v : mc_get(mc_get(block, "quantization"), "quant_algo");
    return mc_is(v, MC_STRING) ? mc_fact_text(upper(f->a, v->s)) : mc_fact_null();
}

static mc_fact text_of(const mc_text *t)
{
    return t->known && t->v.n ? mc_fact_text(t->v) : mc_fact_null();
}

static mc_fact int_of(const mc_int *v)
{
    return v->known ? mc_fact_int(v->v) : mc_fact_null();
}

static mc_fact group_fact(const mc_model_facts *f, const mc_value *group, mc_str name);

static mc_fact of_claim(const mc_model_facts *f, mc_str name)
{
    const mc_claim  *c = f->claim;
    const mc_scheme *s = &c->base;
    if (mc_str_is(name, "quant_bits"))
        return int_of(&s->bits);
    if (mc_str_is(name, "group_size"))
        return int_of(&s->group);
    if (mc_str_is(name, "sym"))
        return mc_fact_tri(s->symmetric);
    if (mc_str_is(name, "desc_act"))
        return mc_fact_tri(s->desc_act);
    if (mc_str_is(name, "weight_block_n"))
        return int_of(&s->block_rows);
    if (mc_str_is(name, "weight_block_k"))
        return int_of(&s->block_cols);
    if (mc_str_is(name, "quant_format"))
        return text_of(&s->format);
    if (mc_str_is(name, "checkpoint_format"))
        return mc_str_is(c->method, "gptq") ? text_of(&s->format) : mc_fact_null();
    if (mc_str_is(name, "awq_version"))
        return mc_str_is(c->method, "awq") ? text_of(&s->format) : mc_fact_null();
    if (mc_str_is(name, "kv_scheme"))
        return text_of(&c->kv);
    return mc_fact_text(mc_str_base(mc_file_path(f->m, c->file)));
}

mc_fact mc_fact_quant(const mc_model_facts *f, mc_scope scope, mc_str name)
{
    if (mc_str_is(name, "quant_method_raw"))
        return method(f);
    if (mc_str_is(name, "quant_method")) /* without a target: the canonical name */
        return f->claim && f->claim->method.n ? mc_fact_text(f->claim->method) : method(f);
    if (mc_str_is(name, "quant_seen"))
        return !f->m->quant ? MC_FACT_NONE : f->m->quant->seen.n ? mc_fact_text(f->m->quant->seen) : mc_fact_null();
    if (mc_str_is(name, "modelopt.quant_algo"))
        return quant_algo(f);
    if (scope.each == MC_EACH_CONFIG_GROUP && scope.i < f->n_config_groups &&
        (mc_str_is(name, "quant_bits") || mc_str_is(name, "group_size") || mc_str_is(name, "sym")))
        return group_fact(f, f->config_groups[scope.i], name);
    return f->claim ? of_claim(f, name) : f->config || f->m->gguf ? mc_fact_null() : MC_FACT_NONE;
}

/* ---- compressed-tensors ---- */

static mc_fact part(const mc_value *group, const char *which, const char *key)
{
    const mc_value *v = mc_get(mc_get(group, which), key);
    return mc_is(v, MC_INT) ? mc_fact_int(v->u.i) : mc_is(v, MC_STRING) ? mc_fact_text(v->s) : mc_fact_null();
}

static mc_fact actorder(const mc_value *group)
{
    const mc_value *v = mc_get(mc_get(group, "weights"), "actorder");
    if (mc_is(v, MC_BOOL))
        return v->u.b ? mc_fact_text(MC_STR("group")) : mc_fact_null();
    return mc_is(v, MC_STRING) ? mc_fact_text(v->s) : mc_fact_null();
}

/* The group's own format, or the global one, unless that only says that groups have their own. */
static mc_fact format(const mc_model_facts *f, const mc_value *group)
{
    mc_str own = mc_as_str(mc_get(group, "format")), all = mc_as_str(mc_get(f->claim->block, "format"));
    if (own.n)
        return mc_fact_text(own);
    return all.n && !mc_str_is(all, "mixed-precision") ? mc_fact_text(all) : mc_fact_null();
}

static mc_fact group_fact(const mc_model_facts *f, const mc_value *group, mc_str name)
{
    static const struct { const char *name, *part, *key; } simple[] = {
        { "group_size", "weights", "group_size" }, { "ct.strategy", "weights", "strategy" }, { "ct.act_bits", "input_activations", "num_bits" },
        { "ct.act_type", "input_activations", "type" }, { "ct.out_act_bits", "output_activations", "num_bits" },
    };
    const mc_value *w = mc_get(group, "weights");
    bool            b;
    if (!mc_is(group, MC_OBJECT))
        return MC_FACT_NONE; /* the name of a preset */
    for (size_t i = 0; i < MC_COUNT(simple); i++)
        if (mc_str_is(name, simple[i].name)) {
            mc_fact v = part(group, simple[i].part, simple[i].key);
            if (v.type == MC_FACT_NULL && i >= 2 && mc_is(mc_get(group, simple[i].part), MC_OBJECT)) /* defaults of QuantizationArgs */
                return mc_str_is(mc_str_of(simple[i].key), "type") ? mc_fact_text(MC_STR("int")) : mc_fact_int(8);
            return v;
        }
    if (mc_str_is(name, "ct.actorder"))
        return actorder(group);
    if (mc_str_is(name, "ct.format"))
        return format(f, group);
    if (!mc_is(w, MC_OBJECT))
        return mc_fact_null();
    if (mc_str_is(name, "quant_bits"))
        return mc_get(w, "num_bits") ? part(group, "weights", "num_bits") : mc_fact_int(8);
    return mc_as_bool(mc_get(w, "symmetric"), &b) ? mc_fact_bool(b) : mc_fact_bool(true);
}

static bool same(const mc_fact *a, const mc_fact *b)
{
    return a->type == b->type && (a->type == MC_FACT_TEXT ? mc_str_eq(a->s, b->s) : a->type == MC_FACT_INT ? a->u.i == b->u.i : a->type == MC_FACT_NULL);
}

/* Without a group: what all groups say, or the list of what they say. */
static mc_fact of_all(const mc_model_facts *f, mc_str name)
{
    mc_fact *items = MC_NEW(f->a, mc_fact, f->n_config_groups + 1);
    size_t   n = 0;
    for (size_t i = 0; items && i < f->n_config_groups; i++) {
        mc_fact v = group_fact(f, f->config_groups[i], name);
        size_t  k = 0;
        if (v.type == MC_FACT_UNKNOWN)
            return v;
        while (k < n && !same(&items[k], &v))
            k++;
        if (k == n && v.type != MC_FACT_NULL)
            items[n++] = v;
    }
    return n == 0 ? mc_fact_null() : n == 1 ? items[0] : mc_fact_list(items, n);
}

static mc_fact sparsity(const mc_model_facts *f, bool two_of_four)
{
    const mc_value *s = mc_get(f->claim->block, "sparsity_config");
    mc_str          format_name = mc_as_str(mc_get(s, "format"));
    if (!two_of_four)
        return mc_fact_bool(mc_is(s, MC_OBJECT) && s->n > 0);
    return mc_fact_bool(mc_str_is(mc_as_str(mc_get(s, "sparsity_structure")), "2:4") && (mc_str_is(format_name, "dense") || mc_str_is(format_name, "sparse-24-bitmask")));
}

mc_fact mc_fact_ct(const mc_model_facts *f, mc_scope scope, mc_str name)
{
    if (!f->claim || !mc_str_is(f->claim->method, "compressed-tensors"))
        return f->config || f->m->gguf ? mc_fact_null() : MC_FACT_NONE;
    if (mc_str_is(name, "ct.sparsity") || mc_str_is(name, "ct.sparsity_24"))
        return sparsity(f, mc_str_is(name, "ct.sparsity_24"));
    if (scope.each == MC_EACH_CONFIG_GROUP && scope.i < f->n_config_groups)
        return group_fact(f, f->config_groups[scope.i], name);
    return of_all(f, name);
}
