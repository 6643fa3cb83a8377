/* Facts of a model by name: the table of groups, and the facts of configuration, geometry and tensors. */
#include "scan/facts.h"

#include "kb/kb.h"

/* ---- makers ---- */

mc_fact mc_fact_of_int(const mc_int *v)
{
    return v->known ? mc_fact_int(v->v) : MC_FACT_NONE;
}

mc_fact mc_fact_tri(mc_tri t)
{
    return t == MC_UNKNOWN ? mc_fact_null() : mc_fact_bool(t == MC_YES);
}

mc_fact mc_fact_texts(mc_arena *a, const mc_str *v, size_t n)
{
    mc_fact *items = MC_NEW(a, mc_fact, n + 1);
    for (size_t i = 0; items && i < n; i++)
        items[i] = mc_fact_text(v[i]);
    return items ? mc_fact_list(items, n) : MC_FACT_NONE;
}

static mc_fact scalar(const mc_value *v)
{
    mc_fact f = mc_fact_null();
    if (mc_is(v, MC_BOOL))
        f = mc_fact_bool(v->u.b);
    else if (mc_is(v, MC_INT))
        f = mc_fact_int(v->u.i);
    else if (mc_is(v, MC_STRING))
        f = mc_fact_text(v->s);
    else if (mc_is(v, MC_REAL)) {
        f.type = MC_FACT_REAL;
        f.u.r = v->u.r;
    }
    return f;
}

mc_fact mc_fact_of_json(mc_arena *a, const mc_value *v)
{
    if (!mc_is(v, MC_ARRAY))
        return scalar(v);
    mc_fact *items = MC_NEW(a, mc_fact, v->n + 1);
    for (size_t i = 0; items && i < v->n; i++)
        items[i] = scalar(mc_item(v, i));
    return items ? mc_fact_list(items, v->n) : MC_FACT_NONE;
}

/* ---- configuration ---- */

/* "rope_scaling.rope_type" below an object; NULL if a part is missing. */
static const mc_value *below(const mc_value *v, mc_str path)
{
    while (v && path.n) {
        size_t dot = mc_str_find(path, '.');
        v = mc_get_str(v, mc_str_cut(path, 0, dot));
        path = mc_str_cut(path, dot + 1, path.n);
    }
    return v;
}

static bool is_set(const mc_value *v)
{
    return v && v->type != MC_NULL;
}

static mc_str plain_dtype(mc_str s)
{
    if (mc_str_starts(s, "torch."))
        s = mc_str_cut(s, 6, s.n);
    if (mc_str_is(s, "half"))
        return MC_STR("float16");
    return mc_str_is(s, "float") ? MC_STR("float32") : s;
}

/* The dtype that every stored float has; float32 if none is stored. Unknown if they differ or not all could be read. */
static mc_fact stored_dtype(const mc_model_facts *f)
{
    static const char *const names[][2] = { { "BF16", "bfloat16" }, { "F16", "float16" }, { "F32", "float32" } };
    const mc_inventory *inv = f->m->n_components ? &f->m->components[0].inv : NULL;
    mc_str              one = MC_STR("");
    mc_fact             dtypes = mc_facts_list(f, MC_LIST_DTYPES);
    if (!inv || !inv->complete || dtypes.type != MC_FACT_LIST)
        return MC_FACT_NONE;
    for (size_t i = 0; i < dtypes.n; i++)
        for (size_t k = 0; k < MC_COUNT(names); k++)
            if (mc_str_is(dtypes.items[i].s, names[k][0])) {
                if (one.n)
                    return MC_FACT_NONE;
                one = mc_str_of(names[k][1]);
            }
    return mc_fact_text(one.n ? one : MC_STR("float32"));
}

static mc_fact config_dtype(const mc_model_facts *f)
{
    static const char *const places[] = { "", "text_config", "vision_config", "encoder", "audio_config" };
    for (size_t i = 0; f->config && i < MC_COUNT(places); i++) {
        const mc_value *v = i ? mc_get(f->config, places[i]) : f->config, *d = mc_get(v, "dtype");
        d = is_set(d) ? d : mc_get(v, "torch_dtype");
        if (mc_is(d, MC_STRING))
            return mc_fact_text(plain_dtype(d->s));
    }
    return f->config ? stored_dtype(f) : mc_fact_unknown(NULL);
}

static mc_fact fact_config(const mc_model_facts *f, mc_scope scope, mc_str name)
{
    const mc_value *v;
    (void)scope;
    name = mc_str_cut(name, 7, name.n);
    if (!f->config)
        return f->m->gguf ? mc_fact_null() : MC_FACT_NONE;
    if (mc_str_is(name, "dtype"))
        return config_dtype(f);
    v = below(f->config, name);
    if (!is_set(v))
        v = below(mc_get(f->config, "text_config"), name);
    return is_set(v) ? mc_fact_of_json(f->a, v) : mc_fact_null();
}

static mc_fact fact_generation(const mc_model_facts *f, mc_scope scope, mc_str name)
{
    const mc_value *root = mc_model_root(f->m, 0, MC_ROLE_GENERATION), *v = below(root, mc_str_cut(name, 11, name.n));
    (void)scope;
    return is_set(v) ? mc_fact_of_json(f->a, v) : root ? mc_fact_null() : MC_FACT_NONE;
}

/* Code that is named as module.Class lies beside the configuration; repository--module.Class lies elsewhere. */
static mc_fact module_present(const mc_model_facts *f)
{
    const mc_value *map = mc_get(f->config, "auto_map");
    bool            all = true;
    for (size_t i = 0; mc_is(map, MC_OBJECT) && i < map->n; i++) {
        mc_str s = mc_as_str(map->u.fields[i].value);
        if (mc_str_contains(s, "--"))
            return MC_FACT_NONE;
        if (s.n)
            all &= mc_model_file(f->m, mc_format(f->a, "%.*s.py", MC_FMT(mc_str_cut(s, 0, mc_str_find(s, '.')))).p) != MC_NONE;
    }
    return !f->config || f->m->alone ? MC_FACT_NONE : mc_is(map, MC_OBJECT) ? mc_fact_bool(all) : mc_fact_null();
}

static mc_fact fact_auto_map(const mc_model_facts *f, mc_scope scope, mc_str name)
{
    (void)scope;
    if (mc_str_is(name, "auto_map.module_present"))
        return module_present(f);
    const mc_value *v = mc_get_str(mc_get(f->config, "auto_map"), mc_str_cut(name, 9, name.n));
    return is_set(v) ? mc_fact_of_json(f->a, v) : f->config || f->m->gguf ? mc_fact_null() : MC_FACT_NONE;
}

/* ---- geometry ---- */

static bool has_key(const mc_model_facts *f, const char *key)
{
    mc_fact v = fact_config(f, MC_SCOPE_MODEL, mc_format(f->a, "config.%s", key));
    return v.type == MC_FACT_INT && v.u.i > 0;
}

static mc_fact sum_of(const mc_model_facts *f, const char *a, const char *b)
{
    mc_fact x = fact_config(f, MC_SCOPE_MODEL, mc_format(f->a, "config.%s", a)), y = fact_config(f, MC_SCOPE_MODEL, mc_format(f->a, "config.%s", b));
    int64_t n;
    return x.type == MC_FACT_INT && y.type == MC_FACT_INT && !ckd_add(&n, x.u.i, y.u.i) ? mc_fact_int(n) : MC_FACT_NONE;
}

static mc_fact fact_geometry(const mc_model_facts *f, mc_scope scope, mc_str name)
{
    const mc_arch *g = &f->m->arch;
    const struct { const char *name; const mc_int *v; } ints[] = {
        { "heads", &g->heads }, { "kv_heads", &g->kv_heads }, { "head_dim", &g->head_dim }, { "head_dim_v", g->v_head_dim.known ? &g->v_head_dim : &g->head_dim },
        { "hidden", &g->hidden }, { "layers", &g->layers }, { "vocab", &g->vocab }, { "context", &g->context }, { "intermediate", &g->intermediate },
        { "experts", &g->experts }, { "parameters", &f->m->parameters }, { "weights_bytes", &f->m->weights_bytes },
    };
    (void)scope;
    for (size_t i = 0; i < MC_COUNT(ints); i++)
        if (mc_str_is(name, ints[i].name))
            return mc_fact_of_int(ints[i].v);
    if (mc_str_is(name, "head_dim_k"))
        return has_key(f, "kv_lora_rank") ? sum_of(f, "qk_nope_head_dim", "qk_rope_head_dim") : mc_fact_of_int(&g->head_dim);
    if (mc_str_is(name, "moe"))
        return f->config || f->m->gguf ? mc_fact_bool(g->experts.known && g->experts.v > 1) : MC_FACT_NONE;
    if (mc_str_is(name, "sparse_mla"))
        return f->config ? mc_fact_bool(has_key(f, "kv_lora_rank") && has_key(f, "index_topk")) : MC_FACT_NONE;
    return g->tie.known && mc_str_is(name, "tie_word_embeddings") ? mc_fact_bool(g->tie.v) : MC_FACT_NONE;
}

/* ---- the model as a whole ---- */

static mc_fact head_stored(const mc_model_facts *f)
{
    const mc_quant *q = f->m->quant;
    if (!q || !f->m->n_components || !f->m->components[0].inv.complete)
        return MC_FACT_NONE;
    for (size_t i = 0; i < q->n_modules; i++) {
        const mc_module *m = &q->modules[i];
        if (m->cls == MC_CLS_HEAD && m->parts[MC_PART_WEIGHT])
            return mc_fact_text(m->layout == MC_Q_PLAIN ? MC_STR("plain") : m->layout == MC_Q_RAW8 || m->layout == MC_Q_FP8 ? MC_STR("f8") : MC_STR("packed"));
    }
    return mc_fact_text(MC_STR("absent"));
}

static mc_fact full_tensors(const mc_model_facts *f)
{
    const mc_inventory *inv = f->m->n_components ? &f->m->components[0].inv : NULL;
    int64_t             n = 0;
    if (f->m->kind != MC_KIND_ADAPTER || !inv || !inv->complete)
        return f->m->kind == MC_KIND_ADAPTER ? MC_FACT_NONE : mc_fact_null();
    for (size_t i = 0; i < inv->names.n; i++)
        n += !mc_str_contains(inv->names.keys[i], "lora_");
    return mc_fact_int(n);
}

static mc_fact fact_model(const mc_model_facts *f, mc_scope scope, mc_str name)
{
    const mc_model *m = f->m;
    (void)scope;
    if (mc_str_is(name, "format"))
        return mc_fact_text(mc_str_of(mc_container_name(m->format)));
    if (mc_str_is(name, "kind"))
        return mc_fact_text(mc_str_of(mc_kind_name(m->kind)));
    if (mc_str_is(name, "name"))
        return mc_fact_text(m->given);
    if (mc_str_is(name, "path"))
        return mc_fact_text(m->path);
    if (mc_str_is(name, "target_is_directory"))
        return mc_fact_bool(!m->named);
    if (mc_str_is(name, "head.stored"))
        return head_stored(f);
    if (mc_str_is(name, "adapter.full_tensors"))
        return full_tensors(f);
    if (mc_str_is(name, "tensors.count"))
        return m->n_components && m->components[0].inv.complete ? mc_fact_int((int64_t)m->n_tensors) : MC_FACT_NONE;
    if (mc_str_is(name, "tensors.dtypes"))
        return mc_facts_list(f, MC_LIST_DTYPES);
    return mc_facts_list(f, MC_LIST_SUFFIXES);
}

/* ---- lists that are made once ---- */

static mc_fact list_dtypes(const mc_model_facts *f, bool gguf)
{
    const mc_inventory *inv = f->m->n_components ? &f->m->components[0].inv : NULL;
    mc_strset           seen;
    bool                have[1024] = { false };
    if (!inv || !inv->names.n || !inv->complete || !mc_strset_init(&seen, f->a, 16))
        return MC_FACT_NONE;
    for (size_t i = 0; i < inv->names.n; i++)
        for (const mc_tensor *t = inv->first[i]; t; t = t->twin) {
            const mc_dtype *d = mc_kb_dtype(f->kb, t->dtype);
            if (!d || t->dtype >= MC_COUNT(have) || have[t->dtype])
                continue;
            have[t->dtype] = true;
            if (!gguf || d->ggml_id >= 0)
                (void)mc_strset_add(&seen, d->name, NULL);
        }
    return mc_fact_texts(f->a, seen.keys, seen.n);
}

static mc_fact list_suffixes(const mc_model_facts *f)
{
    const mc_inventory *inv = f->m->n_components ? &f->m->components[0].inv : NULL;
    mc_strset           seen;
    if (!inv || !inv->names.n || !inv->complete || !mc_strset_init(&seen, f->a, 64))
        return MC_FACT_NONE;
    for (size_t i = 0; i < inv->form_names.n; i++) {
        (void)mc_strset_add(&seen, mc_str_last(inv->forms[i].first->name), NULL);
    }
    return mc_fact_texts(f->a, seen.keys, seen.n);
}

static mc_fact list_divisors(const mc_model_facts *f)
{
    enum { MOST = 64 };
    int64_t  heads = f->m->arch.heads.known ? f->m->arch.heads.v : 0;
    mc_fact *items = MC_NEW(f->a, mc_fact, MOST);
    size_t   n = 0;
    for (int64_t i = 1; items && i <= heads && i <= 1024 && n < MOST; i++)
        if (heads % i == 0)
            items[n++] = mc_fact_int(i);
    return n ? mc_fact_list(items, n) : MC_FACT_NONE;
}

mc_fact mc_facts_list(const mc_model_facts *f, mc_fact_list_id id)
{
    if (!f->lazy)
        return MC_FACT_NONE;
    mc_fact *v = &f->lazy->lists[id];
    if (!f->lazy->list_made[id])
        *v = id == MC_LIST_DTYPES ? list_dtypes(f, false) : id == MC_LIST_SUFFIXES ? list_suffixes(f) : id == MC_LIST_DIVISORS ? list_divisors(f) :
             f->m->gguf ? list_dtypes(f, true) : mc_fact_null();
    f->lazy->list_made[id] = true;
    return *v;
}

/* ---- the table ---- */

static const struct { const char *prefix; mc_fact_reader *read; } groups[] = {
    { "config.", fact_config }, { "auto_map.", fact_auto_map }, { "generation.", fact_generation }, { "ct.", mc_fact_ct }, { "file.", mc_fact_files },
    { "files.", mc_fact_files }, { "index.", mc_fact_files }, { "gguf.", mc_fact_gguf }, { "row_parallel.", mc_fact_layer }, { "column_parallel.", mc_fact_layer },
    { "moe.", mc_fact_tp }, { "modelopt.", mc_fact_quant }, { "tensors.", fact_model }, { "head.", fact_model }, { "adapter.", fact_model },
};
static const struct { const char *name; mc_fact_reader *read; } single[] = {
    { "tensor", mc_fact_layer }, { "in", mc_fact_layer }, { "out", mc_fact_layer }, { "in_per_rank", mc_fact_layer }, { "out_per_rank", mc_fact_layer }, { "fused_mixed", mc_fact_layer },
    { "quant_bits", mc_fact_quant }, { "group_size", mc_fact_quant }, { "sym", mc_fact_quant }, { "desc_act", mc_fact_quant }, { "checkpoint_format", mc_fact_quant },
    { "awq_version", mc_fact_quant }, { "weight_block_n", mc_fact_quant }, { "weight_block_k", mc_fact_quant }, { "quant_source", mc_fact_quant }, { "kv_scheme", mc_fact_quant },
    { "quant_method", mc_fact_quant }, { "quant_method_raw", mc_fact_quant }, { "quant_seen", mc_fact_quant }, { "quant_format", mc_fact_quant },
    { "tp", mc_fact_tp }, { "heads_mod_tp", mc_fact_tp }, { "heads_divisors", mc_fact_tp }, { "kv_heads_divide", mc_fact_tp }, { "kv_heads_mod_tp", mc_fact_tp }, { "intermediate_mod_tp", mc_fact_tp },
    { "hidden_mod_128", mc_fact_tp },
    { "license", mc_fact_files }, { "target_is_directory", fact_model }, { "format", fact_model }, { "kind", fact_model }, { "name", fact_model }, { "path", fact_model },
};

static mc_fact get(const void *cx, mc_scope scope, mc_str name)
{
    for (size_t i = 0; i < MC_COUNT(single); i++)
        if (mc_str_is(name, single[i].name))
            return single[i].read(cx, scope, name);
    for (size_t i = 0; i < MC_COUNT(groups); i++)
        if (mc_str_starts(name, groups[i].prefix))
            return groups[i].read(cx, scope, name);
    return mc_fact_exists(name) ? fact_geometry(cx, scope, name) : MC_FACT_NONE;
}

static size_t count(const void *cx, mc_each each)
{
    const mc_model_facts *f = cx;
    if (each == MC_EACH_NONE || each == MC_EACH_CONFIG_GROUP)
        return each ? f->n_config_groups : 1;
    const mc_facts_lazy *l = each == MC_EACH_FUSED_GROUP ? mc_facts_groups(f) : mc_facts_layers(f);
    if (!l)
        return 0;
    return each == MC_EACH_FUSED_GROUP ? l->n_groups : each == MC_EACH_EXPERTS ? l->n_experts : each == MC_EACH_EMBEDDING ? l->n_ends : l->n_linears;
}

mc_facts mc_model_facts_of(const mc_model_facts *f)
{
    return (mc_facts){ get, count, f };
}

static void gather_config_groups(mc_model_facts *f)
{
    const mc_value *all = f->claim && mc_str_is(f->claim->method, "compressed-tensors") ? mc_get(f->claim->block, "config_groups") : NULL;
    f->config_groups = mc_is(all, MC_OBJECT) ? MC_NEW(f->a, const mc_value *, all->n + 1) : NULL;
    for (size_t i = 0; f->config_groups && i < all->n; i++)
        f->config_groups[f->n_config_groups++] = all->u.fields[i].value;
}

void mc_model_facts_init(mc_model_facts *f, mc_arena *a, const mc_model *m, mc_kb *kb, int64_t tp)
{
    *f = (mc_model_facts){ .m = m, .kb = kb, .a = a, .tp = tp > 0 ? tp : 1, .config = mc_model_config(m) };
    if (m->quant && m->quant->declared < m->quant->n_claims)
        f->claim = &m->quant->claims[m->quant->declared];
    gather_config_groups(f);
    f->lazy = MC_NEW(a, mc_facts_lazy, 1);
}
