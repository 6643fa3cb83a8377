/* Pieces of a claim that many methods share, and the keys that rules/quants/ describes. */
#include "scan/claims.h"

#include <string.h>

/* ---- scalars ---- */

mc_origin mc_cl_from_str(const mc_claimant *x, mc_str key)
{
    return (mc_origin){ x->c->file, key.n ? mc_format(x->a, "%.*s/%.*s", MC_FMT(x->c->at), MC_FMT(key)) : x->c->at };
}

mc_origin mc_cl_from(const mc_claimant *x, const char *key)
{
    return mc_cl_from_str(x, mc_str_of(key));
}

void mc_cl_int(mc_int *to, int64_t v, mc_origin from)
{
    *to = (mc_int){ true, v, from };
}

void mc_cl_text(mc_text *to, mc_str v, mc_origin from)
{
    if (v.n)
        *to = (mc_text){ true, v, from };
}

mc_tri mc_cl_tri(const mc_value *v)
{
    bool b;
    return !mc_as_bool(v, &b) ? MC_UNKNOWN : b ? MC_YES : MC_NO;
}

bool mc_cl_whole(const mc_value *v, int64_t least, int64_t most, int64_t *out)
{
    return mc_as_int(v, out) && *out >= least && *out <= most;
}

bool mc_cl_block(mc_scheme *s, const mc_value *v, mc_origin from)
{
    int64_t  r = 0, c = 0;
    mc_str   text = mc_as_str(v);
    uint64_t a, b;
    size_t   cross = mc_str_find(text, 'x');
    if (mc_is(v, MC_ARRAY) && v->n == 2 && mc_cl_whole(mc_item(v, 0), 1, 1 << 24, &r) && mc_cl_whole(mc_item(v, 1), 1, 1 << 24, &c)) {
        /* as a list */
    } else if (cross < text.n && mc_str_u64(mc_str_cut(text, 0, cross), &a) && mc_str_u64(mc_str_cut(text, cross + 1, text.n), &b) && a && b && a <= 1 << 24 && b <= 1 << 24) {
        r = (int64_t)a;
        c = (int64_t)b;
    } else {
        return false;
    }
    s->grain = MC_GRAIN_BLOCK;
    mc_cl_int(&s->block_rows, r, from);
    mc_cl_int(&s->block_cols, c, from);
    return true;
}

/* ---- lists ---- */

static void make(mc_claimant *x, mc_pattern *out, mc_str text, mc_dialect dialect, mc_origin list)
{
    *out = mc_pattern_make(x->a, text, dialect, list);
}

void mc_cl_exclude(mc_claimant *x, mc_str text, mc_dialect dialect, mc_origin list)
{
    mc_claim   *c = x->c;
    mc_pattern *v = mc_grow(x->a, c->excludes, c->n_excludes, &c->cap_excludes, sizeof *v);
    if (!v)
        return;
    c->excludes = v;
    make(x, &v[c->n_excludes++], text, dialect, list);
    if (c->excludes_at.n == 0)
        c->excludes_at = list.where;
}

/* How one entry is meant: "re:..." is a regular expression, a capitalised word without a dot a class. */
static mc_dialect entry_dialect(mc_str *text, mc_dialect plain, mc_list_kind kind)
{
    if (kind != MC_LIST_AS_IS && mc_str_starts(*text, "re:")) {
        *text = mc_str_cut(*text, 3, text->n);
        return MC_DIALECT_REGEX;
    }
    bool capital = text->n && text->p[0] >= 'A' && text->p[0] <= 'Z';
    return kind == MC_LIST_CT && capital && mc_str_find(*text, '.') == text->n ? MC_DIALECT_CLASS : plain;
}

void mc_cl_exclude_list(mc_claimant *x, const mc_value *list, mc_dialect dialect, mc_list_kind kind, mc_origin from)
{
    if (mc_is(list, MC_ARRAY) && x->c->excludes_at.n == 0)
        x->c->excludes_at = from.where;
    for (size_t i = 0; list && (list->type == MC_ARRAY ? i < list->n : list->type == MC_STRING && i == 0); i++) {
        mc_str text = mc_as_str(list->type == MC_ARRAY ? mc_item(list, i) : list);
        if (text.n)
            mc_cl_exclude(x, text, entry_dialect(&text, dialect, kind), from);
    }
}

static bool same_int(const mc_int *a, const mc_int *b)
{
    return a->known == b->known && (!a->known || a->v == b->v);
}

static bool same_scheme(const mc_scheme *a, const mc_scheme *b)
{
    return a->quantized == b->quantized && same_int(&a->bits, &b->bits) && same_int(&a->group, &b->group) && a->symmetric == b->symmetric && a->desc_act == b->desc_act
        && a->dynamic_input == b->dynamic_input && a->static_input == b->static_input && a->grain == b->grain && same_int(&a->block_rows, &b->block_rows)
        && same_int(&a->block_cols, &b->block_cols) && a->is_float == b->is_float && a->format.known == b->format.known && mc_str_eq(a->format.v, b->format.v);
}

/* Entries with one scheme share an override: lists of 22,000 layers name two or three algorithms. */
void mc_cl_target(mc_claimant *x, const mc_scheme *s, mc_str name, mc_str text, mc_dialect dialect, mc_origin list)
{
    mc_claim    *c = x->c;
    mc_override *o = NULL;
    for (size_t i = c->n_overrides; i-- > 0 && !o && i + 64 > c->n_overrides;)
        if (same_scheme(&c->overrides[i].scheme, s) && mc_str_eq(c->overrides[i].name, name))
            o = &c->overrides[i];
    if (!o) {
        mc_override *v = mc_grow(x->a, c->overrides, c->n_overrides, &c->cap_overrides, sizeof *v);
        if (!v)
            return;
        c->overrides = v;
        o = &v[c->n_overrides++];
        *o = (mc_override){ .scheme = *s, .name = name };
    }
    mc_pattern *p = mc_grow(x->a, o->targets, o->n_targets, &o->cap_targets, sizeof *p);
    if (!p)
        return;
    o->targets = p;
    make(x, &p[o->n_targets++], text, dialect, list);
}

void mc_cl_target_list(mc_claimant *x, const mc_scheme *s, mc_str name, const mc_value *list, mc_list_kind kind, mc_origin from)
{
    for (size_t i = 0; list && (list->type == MC_ARRAY ? i < list->n : list->type == MC_STRING && i == 0); i++) {
        mc_str text = mc_as_str(list->type == MC_ARRAY ? mc_item(list, i) : list);
        if (text.n)
            mc_cl_target(x, s, name, text, entry_dialect(&text, kind == MC_LIST_CT ? MC_DIALECT_EXACT : MC_DIALECT_GLOB, kind), from);
    }
}

/* ---- what the data files describe ---- */

static void fixed(mc_claimant *x, const char *key, mc_int *to)
{
    int64_t v;
    if (mc_as_int(mc_get(x->method->spec, key), &v))
        mc_cl_int(to, v, (mc_origin){ x->c->file, mc_format(x->a, "the method %.*s", MC_FMT(x->method->name)) });
}

/* The method's default, when the block does not state the number. */
static void by_default(mc_claimant *x, const mc_value *spec, mc_int *to)
{
    int64_t v;
    if (mc_as_int(mc_get(spec, "default"), &v))
        mc_cl_int(to, v, (mc_origin){ x->c->file, mc_format(x->a, "default of %.*s", MC_FMT(x->method->name)) });
}

/* Is the key there at all? null is a statement, too: no default replaces it. */
static bool stated(const mc_value *spec, const mc_value *block)
{
    const mc_value *keys = mc_get(spec, "keys");
    for (size_t i = 0; mc_is(keys, MC_ARRAY) && i < keys->n; i++)
        if (mc_get_str(block, mc_as_str(mc_item(keys, i))))
            return true;
    return false;
}

/* False: what is stated is no such number, so that nothing is known. */
static bool number(mc_claimant *x, const char *what, const mc_value *block, mc_int *to, mc_origin from, bool defaults)
{
    const mc_value *spec = mc_get(x->method->spec, what);
    mc_number       n = mc_quant_number(spec, block);
    if (n.state == MC_NUMBER_ABSENT) {
        if (defaults && !stated(spec, block))
            by_default(x, spec, to);
        return true;
    }
    *to = (mc_int){ 0 };
    if (n.state != MC_NUMBER_BAD && n.v == (double)(int64_t)n.v)
        mc_cl_int(to, (int64_t)n.v, (mc_origin){ from.file, mc_format(x->a, "%.*s/%.*s", MC_FMT(from.where), MC_FMT(n.key)) });
    return n.state != MC_NUMBER_BAD;
}

void mc_cl_affine(mc_claimant *x, mc_scheme *s, const mc_value *v, mc_origin from)
{
    bool top = v == x->c->block;
    bool sound = number(x, "bits", v, &s->bits, from, top);
    if ((!number(x, "group", v, &s->group, from, top) || !sound) && !top)
        s->quantized = MC_UNKNOWN; /* an entry that says nothing valid: MC411 */
    if (s->group.known)
        s->grain = s->group.v > 0 ? MC_GRAIN_GROUP : MC_GRAIN_CHANNEL;
    if (mc_is(mc_get(v, "group_size"), MC_ARRAY))
        (void)mc_cl_block(s, mc_get(v, "group_size"), (mc_origin){ from.file, mc_format(x->a, "%.*s/group_size", MC_FMT(from.where)) });
    if (mc_cl_tri(mc_get(v, "sym")) != MC_UNKNOWN)
        s->symmetric = mc_cl_tri(mc_get(v, "sym"));
    else if (mc_cl_tri(mc_get(v, "zero_point")) != MC_UNKNOWN)
        s->symmetric = mc_cl_tri(mc_get(v, "zero_point")) == MC_YES ? MC_NO : MC_YES;
    if (mc_cl_tri(mc_get(v, "desc_act")) != MC_UNKNOWN)
        s->desc_act = mc_cl_tri(mc_get(v, "desc_act"));
}

static void excludes(mc_claimant *x)
{
    static const struct { const char *name; mc_dialect dialect; mc_list_kind kind; } dialects[] = {
        { "substring", MC_DIALECT_SUBSTRING, MC_LIST_AS_IS }, { "glob", MC_DIALECT_GLOB, MC_LIST_AS_IS }, { "hf", MC_DIALECT_HF, MC_LIST_AS_IS },
        { "compressed-tensors", MC_DIALECT_EXACT, MC_LIST_CT }, { "quark", MC_DIALECT_GLOB, MC_LIST_QUARK },
    };
    const mc_value *lists = mc_get(x->method->spec, "excludes");
    for (size_t i = 0; mc_is(lists, MC_ARRAY) && i < lists->n; i++) {
        mc_str key = mc_as_str(mc_get(mc_item(lists, i), "key")), dialect = mc_as_str(mc_get(mc_item(lists, i), "dialect"));
        for (size_t d = 0; d < MC_COUNT(dialects); d++)
            if (mc_str_is(dialect, dialects[d].name))
                mc_cl_exclude_list(x, mc_get_str(x->c->block, key), dialects[d].dialect, dialects[d].kind, mc_cl_from_str(x, key));
    }
}

static void format_of(mc_claimant *x)
{
    static const char *const keys[] = { "checkpoint_format", "format", "version", "fmt" };
    const mc_value *known = mc_get(x->method->spec, "formats");
    for (size_t i = 0; known && i < MC_COUNT(keys); i++) {
        mc_str v = mc_as_str(mc_get(x->c->block, keys[i]));
        for (size_t k = 0; v.n && k < known->n; k++)
            if (mc_quant_name_eq(mc_as_str(mc_item(known, k)), v) && !x->c->base.format.known)
                mc_cl_text(&x->c->base.format, mc_as_str(mc_item(known, k)), mc_cl_from(x, keys[i]));
    }
    mc_str fallback = mc_as_str(mc_get(x->method->spec, "default_format"));
    if (!x->c->base.format.known)
        mc_cl_text(&x->c->base.format, fallback, (mc_origin){ x->c->file, mc_format(x->a, "default of %.*s", MC_FMT(x->method->name)) });
}

void mc_cl_base(mc_claimant *x)
{
    mc_scheme *s = &x->c->base;
    s->from = mc_cl_from(x, "");
    s->quantized = MC_YES;
    fixed(x, "bits_fixed", &s->bits);
    fixed(x, "group_fixed", &s->group);
    if (s->group.known)
        s->grain = MC_GRAIN_GROUP;
    mc_cl_affine(x, s, x->c->block, mc_cl_from(x, ""));
    format_of(x);
    excludes(x);
}
