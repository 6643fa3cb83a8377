/* Modules from tensors: everything of one name prefix together, what layout it has, what it is for.
 *
 * Names are asked once a form. A tensor whose form is a weight starts a module; its companions are looked for only among the
 * suffixes that occur with that module's form. What is left over is a parameter of its own, or an orphan. */
#include "scan/modules.h"

#include <string.h>

/* A form seen as suffix and module. The forms of one module form are a list. found: name id of that part of the module at
 * hand, MC_NO_ID if it has none; step: how far from the weight it was last; last: the latest module of this form. */
typedef struct { const mc_suffix *sfx; uint32_t module, next, found; int64_t step; mc_module_class cls; bool buffer; const mc_module *last; } form_info;

typedef struct {
    mc_pack    p;
    mc_quant  *q;
    uint32_t   component;
    form_info *forms;
    uint32_t  *heads;           /* by module form: its first form */
    uint8_t   *used;            /* by name id: part of a module */
    mc_wants  *wants;
    uint32_t   mtp_from;        /* decoder layers from here on predict further tokens; MC_NONE: none do */
} build;

enum { NAME_ROOM = 1024 };

/* ---- forms ---- */

static mc_str less_suffix(mc_str name, const mc_suffix *s)
{
    return mc_str_cut(name, 0, name.n - s->text.n);
}

static bool study_forms(build *b)
{
    mc_inventory *inv = b->p.inv;
    mc_strset     modules;
    size_t        n = inv->form_names.n;
    b->forms = MC_NEW(b->p.m->arena, form_info, n);
    b->heads = MC_NEW(b->p.m->arena, uint32_t, n);
    if (!b->forms || !b->heads || !mc_strset_init(&modules, b->p.m->arena, n))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        mc_str     name = inv->form_names.keys[i];
        form_info *f = &b->forms[i];
        bool       added;
        f->sfx = mc_suffix_of(name);
        f->module = mc_strset_add(&modules, less_suffix(name, f->sfx), &added);
        if (f->module == MC_NO_ID)
            return false;
        f->next = added ? MC_NONE : b->heads[f->module];
        b->heads[f->module] = i;
        f->step = 1;
        f->found = MC_NO_ID;
        f->cls = mc_class_of(&inv->forms[i], less_suffix(inv->forms[i].first->name, f->sfx));
        f->buffer = (inv->forms[i].tags & MC_TAG_BUFFER) != 0;
    }
    return true;
}

/* Prediction layers that are numbered on behind the decoder: announced, or known by the names that only they have. */
static uint32_t find_mtp(const mc_model *m, const mc_inventory *inv)
{
    bool mtp = m->arch.mtp_layers.known && m->arch.mtp_layers.v > 0;
    for (size_t i = 0; i < inv->form_names.n; i++)
        mtp |= mc_str_contains(inv->form_names.keys[i], "eh_proj") || mc_str_contains(inv->form_names.keys[i], "nextn");
    return mtp && m->arch.layers.known && m->arch.layers.v > 0 && m->arch.layers.v < UINT32_MAX ? (uint32_t)m->arch.layers.v : MC_NONE;
}

static mc_module_class class_of(const build *b, const mc_tensor *t)
{
    mc_module_class c = b->forms[t->form].cls;
    return t->layer != MC_NONE && t->layer >= b->mtp_from && c != MC_CLS_VISION ? MC_CLS_MTP : c;
}

/* ---- one module ---- */

/* The tensor of this name, with a guess where it stands: companions usually keep their distance. */
static uint32_t find_near(const build *b, uint32_t id, form_info *f, mc_str name)
{
    const mc_inventory *inv = b->p.inv;
    int64_t             guess = (int64_t)id + f->step;
    if (guess >= 0 && (size_t)guess < inv->names.n && mc_str_eq(inv->names.keys[guess], name))
        return (uint32_t)guess;
    uint32_t at = mc_strset_find(&inv->names, name);
    if (at != MC_NO_ID)
        f->step = (int64_t)at - (int64_t)id;
    return at;
}

/* Finds all tensors of the module; t: by suffix id, of two spellings the first. */
static void gather(build *b, uint32_t id, mc_str prefix, mc_tensor **t)
{
    char room[NAME_ROOM];
    if (prefix.n > NAME_ROOM / 2)
        return;
    memcpy(room, prefix.p, prefix.n);
    uint32_t own = b->p.inv->first[id]->form;
    for (uint32_t i = b->heads[b->forms[own].module]; i != MC_NONE; i = b->forms[i].next) {
        form_info *f = &b->forms[i];
        f->found = MC_NO_ID;
        if (f->sfx->kind == MC_SFX_WEIGHT || f->buffer)
            continue;
        memcpy(room + prefix.n, f->sfx->text.p, f->sfx->text.n);
        f->found = find_near(b, id, f, (mc_str){ room, prefix.n + f->sfx->text.n });
        if (f->found != MC_NO_ID && !t[f->sfx->id])
            t[f->sfx->id] = b->p.inv->first[f->found];
    }
}

/* A plain weight keeps its bias and what can be nothing but its companion; a packed one keeps all. */
static bool belongs(mc_layout layout, const mc_suffix *s)
{
    return s->id == MC_S_BIAS || (layout != MC_Q_PLAIN && layout != MC_Q_GGML) || (s->kind == MC_SFX_SURE && s->id != MC_S_KV);
}

static void attach(build *b, mc_module *q, uint32_t form)
{
    for (uint32_t i = b->heads[b->forms[form].module]; i != MC_NONE; i = b->forms[i].next) {
        const form_info *f = &b->forms[i];
        if (f->found == MC_NO_ID || b->used[f->found] || !belongs(q->layout, f->sfx))
            continue;
        mc_tensor *t = b->p.inv->first[f->found];
        b->used[f->found] = 1;
        if (!q->parts[f->sfx->part])
            q->parts[f->sfx->part] = t;
        if (f->sfx->part != MC_PART_INPUT && f->sfx->part != MC_PART_BIAS)
            q->bytes += mc_tensor_bytes(t);
    }
}

static mc_module *begin_module(build *b, mc_tensor *t, mc_str name)
{
    mc_module *q = &b->q->modules[b->q->n_modules++]; /* zeroed */
    q->name = name;
    q->cls = class_of(b, t);
    q->component = b->component;
    q->layer = t->layer;
    q->form = t->form;
    q->experts = 1;
    q->symmetric = MC_UNKNOWN;
    q->ordered = MC_UNKNOWN;
    q->bytes = mc_tensor_bytes(t);
    q->parts[MC_PART_WEIGHT] = t;
    return q;
}

/* ---- all modules of one inventory ---- */

/* NULL is like NULL. */
static bool alike(const mc_tensor *x, const mc_tensor *y)
{
    if (!x || !y)
        return x == y;
    return x->dtype == y->dtype && x->overflow == y->overflow && mc_tensor_bytes(x) == mc_tensor_bytes(y) && mc_same_shape(x, y);
}

/* Most modules repeat the one of their form before them: what shapes tell is the same. */
static void fill_like(build *b, mc_module *q, form_info *f)
{
    const mc_module *like = f->last;
    bool             same = like && like->layout == q->layout && !like->missing.what && !like->shape.what && like->in_witness.n == 0 && like->bits_certain && !like->transposed;
    for (size_t i = 0; same && i < MC_N_PARTS; i++)
        same = alike(like->parts[i], q->parts[i]);
    f->last = q;
    if (!same) {
        mc_fill_module(&b->p, q, NULL, 0);
        return;
    }
    q->grain = like->grain;
    q->symmetric = like->symmetric;
    q->elements_known = like->elements_known;
    q->bits_certain = true;
    q->elements = like->elements;
    q->bits = like->bits;
    q->group = like->group;
    q->block[0] = like->block[0];
    q->block[1] = like->block[1];
    q->groups = like->groups;
    q->in = like->in;
    q->out = like->out;
    q->experts = like->experts;
}

static void add_weight(build *b, uint32_t id, mc_tensor **t)
{
    mc_tensor       *w = b->p.inv->first[id];
    form_info       *f = &b->forms[w->form];
    mc_str           prefix = less_suffix(w->name, f->sfx);
    bool             alone = b->heads[f->module] == w->form && f->next == MC_NONE;
    mc_layout        layout;
    t[f->sfx->id] = w;
    if (!alone)
        gather(b, id, prefix, t);
    layout = mc_match_layout(&b->p, t, f->sfx->id);
    mc_module *q = begin_module(b, w, layout == MC_Q_PLAIN && f->sfx->id != MC_S_WEIGHT ? w->name : prefix);
    q->layout = layout;
    b->q->n_packed += layout != MC_Q_PLAIN && layout != MC_Q_RAW8;
    b->used[id] = 1;
    if (!alone)
        attach(b, q, w->form);
    if (layout == MC_Q_PLAIN || !mc_want_data(b->wants, b->p.m->arena, q, (uint32_t)(b->q->n_modules - 1)))
        fill_like(b, q, f);
    for (uint32_t i = b->heads[f->module]; i != MC_NONE; i = b->forms[i].next)
        t[b->forms[i].sfx->id] = NULL;
}

/* KV scales stand beside the projections; exl2 has a part of the same name. */
static bool is_cache_scale(const build *b, const form_info *f)
{
    if (f->sfx->id != MC_S_Q_SCALE)
        return f->sfx->id == MC_S_KV || (f->sfx->id == MC_S_EXTRA && f->sfx->kind == MC_SFX_SURE) || f->sfx->id == MC_S_INPUT;
    for (uint32_t i = b->heads[f->module]; i != MC_NONE; i = b->forms[i].next)
        if (b->forms[i].sfx->id == MC_S_Q_WEIGHT)
            return false;
    return true;
}

static bool add_orphan(build *b, mc_tensor *t, size_t *cap)
{
    mc_tensor **v = mc_grow(b->p.m->arena, b->q->orphans, b->q->n_orphans, cap, sizeof *v);
    if (!v)
        return false;
    b->q->orphans = v;
    v[b->q->n_orphans++] = t;
    return true;
}

static bool add_inventory(build *b, size_t *cap_orphans)
{
    mc_tensor    *t[MC_N_SUFFIXES] = { 0 };
    mc_inventory *inv = b->p.inv;
    b->used = MC_NEW(b->p.m->arena, uint8_t, inv->names.n);
    if (!b->used || !study_forms(b))
        return false;
    b->mtp_from = find_mtp(b->p.m, inv);
    for (uint32_t i = 0; i < inv->names.n; i++) {
        const form_info *f = &b->forms[inv->first[i]->form];
        if (f->sfx->kind == MC_SFX_WEIGHT && !f->buffer)
            add_weight(b, i, t);
    }
    for (uint32_t i = 0; i < inv->names.n; i++) {
        const form_info *f = &b->forms[inv->first[i]->form];
        if (b->used[i] || f->buffer || f->sfx->kind == MC_SFX_WEIGHT)
            continue;
        if (f->sfx->kind == MC_SFX_MAYBE && f->sfx->id != MC_S_KV)
            mc_fill_module(&b->p, begin_module(b, inv->first[i], inv->first[i]->name), NULL, 0);
        else if (!is_cache_scale(b, f) && !add_orphan(b, inv->first[i], cap_orphans))
            return false;
    }
    return true;
}

/* ---- element types ---- */

static const uint32_t *make_kinds(mc_model *m, const mc_kb *kb)
{
    static const struct { const char *name; uint32_t kind; } names[] = {
        { "F8_E4M3", MC_K_E4M3 }, { "F8_E4M3FNUZ", MC_K_E4M3 }, { "F8_E5M2", MC_K_E5M2 }, { "F8_E5M2FNUZ", MC_K_E5M2 }, { "F8_E8M0", MC_K_E8M0 }, { "F4", MC_K_F4 },
        { "F16", MC_K_F16 }, { "BF16", MC_K_F16 }, { "F32", MC_K_F32 }, { "F64", MC_K_F64 }, { "U8", MC_K_U8 }, { "I8", MC_K_I8 }, { "I16", MC_K_I16 },
        { "I32", MC_K_I32 }, { "U32", MC_K_U32 }, { "I64", MC_K_I64 }, { "BOOL", MC_K_BOOL },
    };
    uint32_t *v = MC_NEW(m->arena, uint32_t, kb->n_dtypes);
    for (size_t i = 0; v && i < kb->n_dtypes; i++) {
        v[i] = kb->dtypes[i].cls == MC_CLASS_BLOCK ? MC_K_BLOCK : MC_K_OTHER;
        for (size_t k = 0; kb->dtypes[i].ggml_id < 0 && k < MC_COUNT(names); k++)
            if (mc_str_is(kb->dtypes[i].name, names[k].name))
                v[i] = names[k].kind;
    }
    return v;
}

uint32_t mc_kind_of(const mc_pack *p, const mc_tensor *t)
{
    return !t ? 0 : t->dtype < p->kb->n_dtypes ? p->kinds[t->dtype] : MC_K_OTHER;
}

mc_view mc_view_of(const mc_tensor *t)
{
    mc_view v = { .e = 1, .r = 1, .c = 1, .ok = t && !t->overflow };
    if (!v.ok || t->rank == 0)
        return v;
    v.c = t->dims[t->rank - 1];
    v.r = t->rank > 1 ? t->dims[t->rank - 2] : 1;
    for (unsigned i = 0; i + 2 < t->rank; i++)
        v.ok = v.ok && !ckd_mul(&v.e, v.e, t->dims[i]);
    return v;
}

/* ---- all of it ---- */

static bool build_all(mc_model *m, const mc_kb *kb, const uint32_t *kinds, mc_quant *q, mc_wants *w)
{
    size_t names = 0, cap_orphans = 0;
    for (size_t c = 0; c < m->n_components; c++)
        names += m->components[c].inv.names.n;
    q->cap_modules = names;
    q->modules = MC_NEW(m->arena, mc_module, names);
    if (!q->modules)
        return false;
    for (uint32_t c = 0; c < m->n_components; c++) {
        build b = { .p = { m, kb, kinds, &m->components[c].inv }, .q = q, .component = c, .wants = w };
        if (m->components[c].kind != MC_COMP_COPY && b.p.inv->names.n > 0 && !add_inventory(&b, &cap_orphans))
            return false;
    }
    return true;
}

void mc_find_modules(mc_model *m, const mc_kb *kb, mc_small_reader *read, void *arg)
{
    size_t          names = 0;
    mc_wants        w = { 0 };
    const uint32_t *kinds = make_kinds(m, kb);
    mc_quant       *q = MC_NEW(m->arena, mc_quant, 1);
    for (size_t c = 0; c < m->n_components; c++)
        names += m->components[c].inv.names.n;
    if (names == 0 || !kinds || !q || !build_all(m, kb, kinds, q, &w))
        return;
    q->declared = MC_NONE;
    q->symmetric = MC_UNKNOWN;
    m->quant = q;
    mc_pack p = { m, kb, kinds, NULL };
    mc_thin_out(&p, q, &w);
    if (read && w.n)
        read(arg, w.v, w.n);
    for (size_t i = 0, k; i < w.n; i = k) {
        mc_module *own = &q->modules[w.v[i].module];
        k = mc_next_module(&w, i);
        p.inv = &m->components[own->component].inv;
        mc_fill_module(&p, own, w.v + i, k - i);
    }
}
