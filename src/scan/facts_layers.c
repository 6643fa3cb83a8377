/* Facts of single layers and of sharding: roles of linears, what one rank holds of them, fused groups.
 *
 * Roles come from the last part of a name (rules/layer-roles.tsv). A layer that a quantized model keeps plain is none: the
 * conditions are those of packed kernels. Arithmetic is done here, so that data only compares. */
#include "scan/facts.h"

#include "kb/kb.h"

/* ---- gathering ---- */

typedef enum { ROLE_NONE, ROLE_ROW, ROLE_COLUMN } role;

/* One line a name, sorted. */
static role role_of(mc_span table, mc_str leaf)
{
    mc_str rest = { (const char *)table.p, table.n };
    while (rest.n && leaf.n) {
        size_t end = mc_str_find(rest, '\n'), tab = mc_str_find(mc_str_cut(rest, 0, end), '\t');
        if (mc_str_eq(mc_str_cut(rest, 0, tab), leaf))
            return mc_str_is(mc_str_cut(rest, tab + 1, end), "row") ? ROLE_ROW : ROLE_COLUMN;
        rest = mc_str_cut(rest, end + 1, rest.n);
    }
    return ROLE_NONE;
}

static bool is_matrix(const mc_module *m)
{
    return m->component == 0 && m->parts[MC_PART_WEIGHT] && m->parts[MC_PART_WEIGHT]->rank >= 2;
}

static void place(mc_facts_lazy *f, const mc_module *m, role r)
{
    mc_linear l = { m, r == ROLE_ROW, r == ROLE_COLUMN };
    if (m->cls == MC_CLS_EXPERTS)
        f->experts[f->n_experts++] = l;
    else if (m->cls == MC_CLS_EMBEDDING || m->cls == MC_CLS_HEAD)
        f->ends[f->n_ends++] = l;
    else if ((m->cls == MC_CLS_ATTENTION || m->cls == MC_CLS_MLP) && r != ROLE_NONE && m->layer != MC_NONE)
        f->linears[f->n_linears++] = l;
}

/* ---- fused groups ---- */

/* What is stored of one group in one layer. */
typedef struct { const mc_module *first, *other; unsigned kinds; bool doubt; } group;
typedef struct { mc_arena *a; mc_strset names; group *v; size_t cap; } groups;

static int kind_of(mc_str leaf)
{
    static const char *const leaves[] = { "q_proj", "k_proj", "v_proj", "gate_proj", "up_proj" };
    for (int i = 0; i < (int)MC_COUNT(leaves); i++)
        if (mc_str_is(leaf, leaves[i]))
            return i;
    return -1;
}

static bool alike(const mc_module *a, const mc_module *b)
{
    if (a->layout != b->layout)
        return false;
    if (a->bits_certain && b->bits_certain && (a->bits < b->bits || a->bits > b->bits))
        return false;
    return a->grain != MC_GRAIN_GROUP || b->grain != MC_GRAIN_GROUP || !a->group || !b->group || a->group == b->group;
}

static void put(groups *g, const mc_module *m)
{
    mc_str leaf = mc_str_last(m->name);
    int    kind = kind_of(leaf);
    bool   added;
    if (kind < 0)
        return;
    mc_str   key = mc_format(g->a, "%.*s%s", MC_FMT(mc_str_cut(m->name, 0, m->name.n - leaf.n)), kind < 3 ? "qkv" : "gate_up");
    uint32_t id = mc_strset_add(&g->names, key, &added);
    if (id == MC_NO_ID)
        return;
    if (added) {
        group *v = mc_grow(g->a, g->v, id, &g->cap, sizeof *v);
        if (!v)
            return;
        g->v = v;
        v[id] = (group){ .first = m };
    }
    group *at = &g->v[id];
    at->kinds |= 1u << kind;
    at->doubt |= m->layout == MC_Q_RAW8 || m->missing.what || m->shape.what;
    if (at->first != m && !at->other && !alike(at->first, m))
        at->other = m;
}

/* Groups that cannot differ are not gathered: nothing is packed. */
static void gather_groups(const mc_model_facts *f, mc_facts_lazy *out)
{
    const mc_quant *q = f->m->quant;
    groups          g = { .a = f->a };
    if (!q || q->n_packed == 0 || !mc_strset_init(&g.names, f->a, 64))
        return;
    for (size_t i = 0; i < q->n_modules; i++) {
        const mc_module *m = &q->modules[i];
        if (is_matrix(m) && m->layer != MC_NONE && (m->cls == MC_CLS_ATTENTION || m->cls == MC_CLS_MLP))
            put(&g, m);
    }
    out->groups = MC_NEW(f->a, mc_fused_group, g.names.n + 1);
    for (size_t i = 0; out->groups && i < g.names.n; i++) {
        bool whole = g.v[i].kinds == 7 || g.v[i].kinds == 24;
        out->groups[out->n_groups++] = (mc_fused_group){ g.v[i].first->name, !whole || g.v[i].doubt ? MC_MAYBE : g.v[i].other ? MC_TRUE : MC_FALSE };
    }
}

static void gather_layers(const mc_model_facts *f, mc_facts_lazy *out)
{
    const mc_quant *q = f->m->quant;
    mc_span         table = mc_embedded_find("layer-roles.tsv");
    size_t          n = q ? q->n_modules + 1 : 0;
    out->linears = n ? MC_NEW(f->a, mc_linear, n) : NULL;
    out->experts = n ? MC_NEW(f->a, mc_linear, n) : NULL;
    out->ends = n ? MC_NEW(f->a, mc_linear, n) : NULL;
    for (size_t i = 0; out->linears && out->experts && out->ends && i < q->n_modules; i++) {
        const mc_module *m = &q->modules[i];
        bool             end = m->cls == MC_CLS_EMBEDDING || m->cls == MC_CLS_HEAD;
        if (is_matrix(m) && (end || !q->n_packed || mc_module_packed(m)))
            place(out, m, m->cls == MC_CLS_EXPERTS ? ROLE_NONE : role_of(table, mc_str_last(m->name)));
    }
}

const mc_facts_lazy *mc_facts_layers(const mc_model_facts *f)
{
    if (f->lazy && !f->lazy->layers_made)
        gather_layers(f, f->lazy);
    if (f->lazy)
        f->lazy->layers_made = true;
    return f->lazy;
}

const mc_facts_lazy *mc_facts_groups(const mc_model_facts *f)
{
    if (f->lazy && !f->lazy->groups_made)
        gather_groups(f, f->lazy);
    if (f->lazy)
        f->lazy->groups_made = true;
    return f->lazy;
}

/* ---- one layer ---- */

static const mc_linear *linear_at(const mc_model_facts *f, mc_scope s)
{
    bool wanted = s.each == MC_EACH_ROW_PARALLEL || s.each == MC_EACH_COLUMN_PARALLEL || s.each == MC_EACH_LINEAR;
    const mc_facts_lazy *all = s.each ? mc_facts_layers(f) : NULL;
    if (!all)
        return NULL;
    if (s.each == MC_EACH_EXPERTS)
        return s.i < all->n_experts ? &all->experts[s.i] : NULL;
    if (s.each == MC_EACH_EMBEDDING)
        return s.i < all->n_ends ? &all->ends[s.i] : NULL;
    if (!wanted || !all->linears || s.i >= all->n_linears)
        return NULL;
    const mc_linear *l = &all->linears[s.i];
    return (s.each == MC_EACH_ROW_PARALLEL && !l->row) || (s.each == MC_EACH_COLUMN_PARALLEL && !l->column) ? NULL : l;
}

static mc_fact number(uint64_t v)
{
    return v > 0 && v <= INT64_MAX ? mc_fact_int((int64_t)v) : MC_FACT_NONE;
}

/* Key and value heads are repeated when there are fewer of them than ranks. */
static uint64_t ranks(const mc_model_facts *f, const mc_linear *l, bool out)
{
    const mc_int *kv = &f->m->arch.kv_heads;
    mc_str        leaf = mc_str_last(l->m->name);
    if (out && (mc_str_is(leaf, "k_proj") || mc_str_is(leaf, "v_proj")) && kv->known && kv->v > 0 && kv->v < f->tp && f->tp % kv->v == 0)
        return (uint64_t)kv->v;
    return (uint64_t)f->tp;
}

/* What one rank holds of a cut dimension; 0: not known, or it does not divide. */
static uint64_t per_rank(const mc_model_facts *f, const mc_linear *l, bool out)
{
    uint64_t n = out ? l->m->out : l->m->in, tp = (out ? l->column : l->row) ? ranks(f, l, out) : 1;
    return n % tp ? 0 : n / tp;
}

static mc_fact rest(uint64_t n, uint64_t divisor)
{
    return n && divisor ? mc_fact_int((int64_t)(n % divisor)) : MC_FACT_NONE;
}

/* The group along the input; 0: none. */
static uint64_t group_of(const mc_model_facts *f, const mc_module *m)
{
    if (m->grain == MC_GRAIN_GROUP && m->group)
        return m->group;
    return mc_module_packed(m) && f->claim && f->claim->base.group.known && f->claim->base.group.v > 0 && m->grain != MC_GRAIN_CHANNEL ? (uint64_t)f->claim->base.group.v : 0;
}

static uint64_t block_of(const mc_model_facts *f, const mc_module *m, bool rows)
{
    const mc_scheme *s = f->claim ? &f->claim->base : NULL;
    if (m->grain == MC_GRAIN_BLOCK && m->block[rows ? 0 : 1])
        return m->block[rows ? 0 : 1];
    const mc_int *v = !s ? NULL : rows ? &s->block_rows : &s->block_cols;
    return mc_module_packed(m) && v && v->known && v->v > 0 ? (uint64_t)v->v : 0;
}

/* 32 / bits, where that is whole. */
static uint64_t pack_of(const mc_module *m)
{
    static const unsigned widths[] = { 1, 2, 4, 8, 16, 32 };
    for (size_t i = 0; m->bits_certain && mc_module_packed(m) && i < MC_COUNT(widths); i++)
        if (m->bits >= widths[i] && m->bits <= widths[i])
            return 32 / widths[i];
    return 0;
}

static mc_fact remainder_of(const mc_model_facts *f, const mc_linear *l, mc_str name)
{
    bool     out = mc_str_starts(name, "column_parallel.");
    mc_str   by = mc_str_cut(name, mc_str_rfind(name, '_') + 1, name.n);
    uint64_t n = per_rank(f, l, out), divisor;
    if (out ? !l->column : !l->row)
        return mc_fact_null(); /* a fact of the other role */
    if (mc_str_u64(by, &divisor))
        return rest(n, divisor);
    if (!mc_module_packed(l->m))
        return mc_fact_null();
    if (mc_str_is(by, "group"))
        return rest(n, group_of(f, l->m));
    return rest(n, mc_str_is(by, "pack") ? pack_of(l->m) : block_of(f, l->m, out));
}

mc_fact mc_fact_layer(const mc_model_facts *f, mc_scope scope, mc_str name)
{
    if (scope.each == MC_EACH_FUSED_GROUP) {
        const mc_facts_lazy *all = mc_facts_groups(f);
        if (!all || scope.i >= all->n_groups)
            return MC_FACT_NONE;
        const mc_fused_group *g = &all->groups[scope.i];
        if (mc_str_is(name, "tensor"))
            return mc_fact_text(g->first);
        return mc_str_is(name, "fused_mixed") && g->mixed != MC_MAYBE ? mc_fact_bool(g->mixed == MC_TRUE) : MC_FACT_NONE;
    }
    const mc_linear *l = linear_at(f, scope);
    if (!l)
        return MC_FACT_NONE;
    if (mc_str_is(name, "tensor"))
        return mc_fact_text(l->m->name);
    if (mc_str_is(name, "in") || mc_str_is(name, "out"))
        return number(mc_str_is(name, "in") ? l->m->in : l->m->out);
    if (mc_str_is(name, "in_per_rank") || mc_str_is(name, "out_per_rank"))
        return number(per_rank(f, l, mc_str_is(name, "out_per_rank")));
    return mc_str_is(name, "fused_mixed") ? MC_FACT_NONE : remainder_of(f, l, name);
}

/* ---- sharding of the model ---- */

static bool is_mla(const mc_model_facts *f)
{
    const mc_value *v = mc_get(f->config, "kv_lora_rank");
    v = v ? v : mc_get(mc_get(f->config, "text_config"), "kv_lora_rank");
    return mc_is(v, MC_INT);
}

/* Of the dense MLP layers that are stored. */
static bool has_dense_mlp(const mc_model_facts *f)
{
    const mc_int   *n = &f->m->arch.intermediate;
    const mc_quant *q = f->m->quant;
    mc_span         table = mc_embedded_find("layer-roles.tsv");
    for (size_t i = 0; q && n->known && i < q->n_modules; i++) {
        const mc_module *m = &q->modules[i];
        if (m->cls == MC_CLS_MLP && m->layer != MC_NONE && m->in == (uint64_t)n->v && is_matrix(m) && role_of(table, mc_str_last(m->name)) == ROLE_ROW)
            return true;
    }
    return false;
}

static uint64_t expert_width(const mc_model_facts *f)
{
    const mc_value *text = mc_get(f->config, "text_config"), *v = mc_get(f->config, "moe_intermediate_size");
    int64_t         n;
    v = v ? v : mc_get(text, "moe_intermediate_size");
    if (mc_as_int(v, &n) && n > 0)
        return (uint64_t)n;
    return f->m->arch.intermediate.known && f->m->arch.experts.known ? (uint64_t)f->m->arch.intermediate.v : 0;
}

static mc_fact of_experts(const mc_model_facts *f, mc_str name)
{
    uint64_t n = expert_width(f), tp = (uint64_t)f->tp;
    if (!f->m->arch.experts.known || !n || n % tp)
        return MC_FACT_NONE;
    if (mc_str_ends(name, "_128"))
        return rest(n / tp, 128);
    return rest(n / tp, f->claim && f->claim->base.group.known && f->claim->base.group.v > 0 ? (uint64_t)f->claim->base.group.v : 0);
}

mc_fact mc_fact_tp(const mc_model_facts *f, mc_scope scope, mc_str name)
{
    const mc_arch *g = &f->m->arch;
    (void)scope;
    if (mc_str_is(name, "tp"))
        return mc_fact_int(f->tp);
    if (mc_str_is(name, "heads_mod_tp"))
        return g->heads.known && g->heads.v > 0 ? mc_fact_int(g->heads.v % f->tp) : MC_FACT_NONE;
    if (mc_str_is(name, "heads_divisors"))
        return mc_facts_list(f, MC_LIST_DIVISORS);
    if (mc_str_is(name, "kv_heads_divide") || mc_str_is(name, "kv_heads_mod_tp")) {
        if (is_mla(f) || !g->kv_heads.known || g->kv_heads.v <= 0)
            return MC_FACT_NONE;
        if (mc_str_is(name, "kv_heads_mod_tp"))
            return mc_fact_int(g->kv_heads.v % f->tp);
        return mc_fact_bool(g->kv_heads.v % f->tp == 0 || f->tp % g->kv_heads.v == 0);
    }
    if (mc_str_is(name, "intermediate_mod_tp"))
        return f->tp == 1 ? mc_fact_int(0) : has_dense_mlp(f) ? mc_fact_int(g->intermediate.v % f->tp) : MC_FACT_NONE;
    if (mc_str_is(name, "hidden_mod_128"))
        return g->hidden.known && g->hidden.v > 0 ? mc_fact_int(g->hidden.v % 128) : MC_FACT_NONE;
    return of_experts(f, name);
}
