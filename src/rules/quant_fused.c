/* MC437: parts that engines fuse into one matrix. MC438: routers.
 *
 * Modules of one form are compared with one another first, then forms that fuse. Only when that shows a difference the parts of each
 * layer are brought together by name: a uniform model costs one pass without a single look-up. */
#include "rules/quant_rules.h"

#include <string.h>

/* ---- what is fused ---- */

typedef enum { FUSE_NONE, FUSE_Q, FUSE_K, FUSE_V, FUSE_GATE, FUSE_UP, FUSE_DOWN } part_kind;
typedef struct { const char *leaf; part_kind kind; } fused_leaf;
static const fused_leaf leaves[] = {
    { "q_proj", FUSE_Q }, { "k_proj", FUSE_K }, { "v_proj", FUSE_V }, { "gate_proj", FUSE_GATE }, { "up_proj", FUSE_UP }, { "down_proj", FUSE_DOWN },
    { "w1", FUSE_GATE }, { "w3", FUSE_UP }, { "w2", FUSE_DOWN },
};

static part_kind kind_of(mc_str module)
{
    mc_str leaf = mc_str_last(module);
    for (size_t i = 0; i < MC_COUNT(leaves); i++)
        if (mc_str_is(leaf, leaves[i].leaf))
            return leaves[i].kind;
    return FUSE_NONE;
}

/* Where "experts.<n>." of a module ends, 0: no numbered expert. */
static size_t experts_end(mc_str module)
{
    static const char word[] = "experts.";
    for (size_t i = module.n; i >= sizeof word; i--)
        if (memcmp(module.p + i - (sizeof word - 1), word, sizeof word - 1) == 0 && module.p[i] >= '0' && module.p[i] <= '9')
            return i;
    return 0;
}

static bool same(const mc_module *a, const mc_module *b)
{
    if (a->layout != b->layout)
        return false;
    if (a->bits_certain && b->bits_certain && (a->bits < b->bits || a->bits > b->bits))
        return false;
    return !a->group || !b->group || a->grain != MC_GRAIN_GROUP || b->grain != MC_GRAIN_GROUP || a->group == b->group;
}

/* Modules that this rule looks at: matrices of a decoder layer without a fault of their own. */
static bool judged(const mc_quant_facts *f, const mc_module *m)
{
    return m->component == f->component && m->layer != MC_NONE && m->cls != MC_CLS_VISION && m->parts[MC_PART_WEIGHT] && m->parts[MC_PART_WEIGHT]->rank >= 2;
}

static bool faulty(const mc_module *m)
{
    return m->layout == MC_Q_RAW8 || m->missing.what || m->shape.what;
}

/* ---- one group of parts in one layer ---- */

typedef struct { const mc_module *first, *other; unsigned kinds; bool faulty; } group;
typedef struct { mc_check *cx; const mc_quant_facts *f; mc_strset names; group *v; size_t cap; } groups;

static group *group_at(groups *g, mc_str key)
{
    bool     added;
    uint32_t id = mc_strset_add(&g->names, key, &added);
    if (id == MC_NO_ID)
        return NULL;
    if (added) {
        group *v = mc_grow(g->cx->arena, g->v, id, &g->cap, sizeof *v);
        if (!v)
            return NULL;
        g->v = v;
        v[id] = (group){ .first = NULL };
    }
    return id < g->names.n ? &g->v[id] : NULL;
}

static void put(groups *g, mc_str key, const mc_module *m, part_kind kind)
{
    group *at = group_at(g, key);
    if (!at)
        return;
    at->kinds |= 1u << kind;
    at->faulty |= faulty(m);
    if (!at->first)
        at->first = m;
    else if (!at->other && !same(at->first, m))
        at->other = m;
}

/* "layers.3.self_attn.qkv" for q, k and v of one layer; "layers.3.mlp.experts.*.up_proj" for one matrix of all experts. */
static void place(groups *g, const mc_module *m)
{
    part_kind kind = kind_of(m->name);
    size_t    leaf = mc_str_last(m->name).n, expert = experts_end(m->name);
    if (kind == FUSE_NONE)
        return;
    mc_str parent = mc_str_cut(m->name, 0, m->name.n - leaf);
    if (kind <= FUSE_V)
        put(g, mc_format(g->cx->arena, "%.*sqkv", MC_FMT(parent)), m, kind);
    else if (kind <= FUSE_UP)
        put(g, mc_format(g->cx->arena, "%.*sgate_up", MC_FMT(parent)), m, kind);
    if (expert)
        put(g, mc_format(g->cx->arena, "%.*s*.%.*s", MC_FMT(mc_str_cut(m->name, 0, expert)), MC_FMT(mc_str_last(m->name))), m, kind);
}

/* Every part is there, and two of them differ. */
static bool differs(const group *g)
{
    const unsigned qkv = 1u << FUSE_Q | 1u << FUSE_K | 1u << FUSE_V, gate_up = 1u << FUSE_GATE | 1u << FUSE_UP;
    if (!g->other || g->faulty)
        return false;
    if (g->kinds & qkv)
        return (g->kinds & qkv) == qkv;
    return (g->kinds & gate_up) == gate_up || (g->kinds & (g->kinds - 1)) == 0; /* one kind: experts */
}

static mc_str scheme_text(mc_arena *a, const mc_module *m)
{
    if (m->layout == MC_Q_PLAIN)
        return MC_STR("16 bit");
    if (m->bits_certain && m->grain == MC_GRAIN_GROUP && m->group)
        return mc_format(a, "%s %g bit group %llu", mc_layout_name(m->layout), m->bits, (unsigned long long)m->group);
    return m->bits_certain ? mc_format(a, "%s %g bit", mc_layout_name(m->layout), m->bits) : mc_str_of(mc_layout_name(m->layout));
}

static void report(groups *g)
{
    mc_finding *out = NULL;
    size_t      n = 0;
    for (size_t i = 0; i < g->names.n; i++) {
        if (!differs(&g->v[i]))
            continue;
        mc_arena        *a = g->cx->arena;
        const mc_module *x = g->v[i].first, *y = g->v[i].other;
        if (!out) {
            out = mc_report(g->cx, MC_NONE, "%.*s is %.*s, %.*s is %.*s: engines that load them as one matrix stop", MC_FMT(x->name), MC_FMT(scheme_text(a, x)), MC_FMT(y->name),
                            MC_FMT(scheme_text(a, y)));
            mc_because(g->cx, out, "stored", (mc_origin){ x->parts[MC_PART_WEIGHT]->file, x->parts[MC_PART_WEIGHT]->name }, "%.*s", MC_FMT(scheme_text(a, x)));
            mc_because(g->cx, out, "stored", (mc_origin){ y->parts[MC_PART_WEIGHT]->file, y->parts[MC_PART_WEIGHT]->name }, "%.*s", MC_FMT(scheme_text(a, y)));
        }
        mc_subject(out, g->names.keys[i]);
        n++;
    }
    if (out)
        mc_count(out, n);
}

/* ---- is there anything to bring together? ---- */

/* First module of each form, and whether the others of it and the forms beside it are stored alike. */
static bool all_alike(const groups *g)
{
    const mc_inventory *inv = &g->cx->model->components[g->f->component].inv;
    const mc_module   **first = (const mc_module **)mc_alloc(g->cx->arena, inv->form_names.n + 1, sizeof *first);
    bool                alike = true;
    for (size_t i = 0; first && alike && i < g->f->q->n_modules; i++) {
        const mc_module *m = &g->f->q->modules[i];
        if (!judged(g->f, m) || m->form >= inv->form_names.n)
            continue;
        if (!first[m->form])
            first[m->form] = m;
        alike = same(first[m->form], m) || kind_of(m->name) == FUSE_NONE;
    }
    for (size_t i = 0; first && alike && i < inv->form_names.n; i++)
        for (size_t k = 0; first[i] && alike && k < i; k++) {
            if (!first[k] || same(first[i], first[k]))
                continue;
            part_kind x = kind_of(first[i]->name), y = kind_of(first[k]->name);
            alike = !x || !y || (x <= FUSE_V) != (y <= FUSE_V);
        }
    return !first || alike;
}

static bool fusing(const mc_quant_facts *f)
{
    static const char *const methods[] = { "gptq", "awq", "compressed-tensors", "fp8", "modelopt", "quark" };
    for (size_t i = 0; i < MC_COUNT(methods); i++)
        if (mc_quant_method(f, methods[i]))
            return true;
    return false;
}

void mc_check_fused(mc_check *cx)
{
    groups g = { .cx = cx, .f = mc_quant_gather(cx) };
    if (!g.f || !g.f->complete || !fusing(g.f) || all_alike(&g) || !mc_strset_init(&g.names, cx->arena, 64))
        return;
    for (size_t i = 0; i < g.f->q->n_modules; i++)
        if (judged(g.f, &g.f->q->modules[i]))
            place(&g, &g.f->q->modules[i]);
    report(&g);
}

/* ---- MC438 ---- */

#define BIT(layout) MC_LAYOUT_BIT(layout)
static const uint64_t integers = BIT(MC_Q_GPTQ) | BIT(MC_Q_AWQ) | BIT(MC_Q_AWQ_GEMV) | BIT(MC_Q_AWQ_FAST) | BIT(MC_Q_MARLIN) | BIT(MC_Q_CT_PACK) | BIT(MC_Q_BNB4) | BIT(MC_Q_BNB8);

void mc_check_router(mc_check *cx)
{
    const mc_quant_facts *f = mc_quant_gather(cx);
    const mc_int         *experts = &cx->model->arch.experts;
    uint64_t              layouts = integers | (f && f->compressed ? BIT(MC_Q_INT8) : 0);
    for (size_t i = 0; f && (f->layouts & layouts) && experts->known && experts->v > 0 && i < f->q->n_modules; i++) {
        const mc_module *m = &f->q->modules[i];
        if (!(BIT(m->layout) & layouts) || m->out != (uint64_t)experts->v)
            continue;
        mc_str leaf = mc_str_last(m->name);
        if (!mc_str_is(leaf, "gate") && !mc_str_is(leaf, "router"))
            continue;
        mc_finding *out = mc_report(cx, MC_NONE, "the router %.*s is stored as %s: engines have no quantized router for it", MC_FMT(m->name), mc_layout_name(m->layout));
        mc_subject(out, m->name);
    }
}
