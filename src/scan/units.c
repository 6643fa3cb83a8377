/* Which models a path holds: a directory is one model with its nested components, plus one for each GGUF in it; a file
 * stands for its directory or its split set when an index, a configuration or a sibling lies there. */
#include "scan/internal.h"

#include <errno.h>
#include <string.h>

/* ---- what one directory holds ---- */

typedef struct { bool weights, index, config, pipeline; size_t n_gguf; } holding;

static mc_file name_of(mc_str base)
{
    mc_file f = { .path = base, .base = base, .stem = MC_STR(""), .variant = MC_STR(""), .part_of = MC_STR("") };
    mc_name_parse(&f);
    return f;
}

static bool is_gguf(const mc_file *f)
{
    return f->promised == MC_FMT_GGUF && (f->role == MC_ROLE_WEIGHTS || f->role == MC_ROLE_BYTE_PART);
}

static void hold(holding *h, const mc_file *f)
{
    h->n_gguf += is_gguf(f);
    h->weights |= (f->role == MC_ROLE_WEIGHTS || f->role == MC_ROLE_BYTE_PART) && !is_gguf(f);
    h->index |= f->role == MC_ROLE_INDEX;
    h->pipeline |= f->role == MC_ROLE_PIPELINE || f->role == MC_ROLE_MODULES;
    h->config |= f->role == MC_ROLE_CONFIG || f->role == MC_ROLE_PARAMS || f->role == MC_ROLE_PIPELINE || f->role == MC_ROLE_MODULES || f->role == MC_ROLE_ADAPTER_CONFIG;
}

static holding holding_of(const mc_listing *l, mc_str dir)
{
    holding h = { 0 };
    for (size_t i = 0; i < l->n; i++) {
        const mc_entry *e = &l->entries[i];
        if (e->type == MC_ENTRY_DIR || !mc_str_eq(mc_str_dir(e->path), dir))
            continue;
        mc_file f = name_of(mc_str_base(e->path));
        hold(&h, &f);
    }
    return h;
}

static bool holds_unit(const holding *h)
{
    return h->weights || h->index || h->config;
}

/* ---- plans ---- */

static mc_plan *add_plan(mc_plans *out, mc_unit unit, mc_str dir, mc_str path)
{
    mc_plan *v = mc_grow(out->arena, out->v, out->n, &out->cap, sizeof *v);
    if (!v)
        return NULL;
    out->v = v;
    v[out->n] = (mc_plan){ .unit = unit, .dir = dir, .path = path, .given = mc_str_base(path) };
    return &v[out->n++];
}

static mc_str join(mc_arena *a, mc_str path, mc_str rest)
{
    while (rest.n && rest.p[rest.n - 1] == '/')
        rest.n--;
    if (rest.n == 0)
        return path;
    return mc_format(a, "%.*s%s%.*s", (int)path.n, path.p, path.n && path.p[path.n - 1] == '/' ? "" : "/", (int)rest.n, rest.p);
}

/* The key that files of one GGUF unit share: prefix and total of a split, else the name. Byte parts go with the file they
 * make up, whether that is there or not. */
static mc_str gguf_key(mc_arena *a, mc_str base)
{
    mc_file f = name_of(base);
    if (f.role == MC_ROLE_BYTE_PART)
        f = name_of(base = f.part_of);
    if (f.shards > 0)
        return mc_format(a, "%.*s|%.*s|%llu", (int)f.stem.n, f.stem.p, (int)f.variant.n, f.variant.p, (unsigned long long)f.shards);
    return base;
}

/* GGUF units directly in `dir`; with_config: nothing else there could own config.json. */
static bool plan_ggufs(const mc_listing *l, mc_str path, mc_str dir, bool with_config, mc_plans *out)
{
    mc_strset keys;
    size_t    first_plan = out->n;
    bool      added;
    if (!mc_strset_init(&keys, out->arena, 8))
        return false;
    for (size_t i = 0; i < l->n; i++) {
        const mc_entry *e = &l->entries[i];
        mc_file         f = name_of(mc_str_base(e->path));
        if (e->type == MC_ENTRY_DIR || !mc_str_eq(mc_str_dir(e->path), dir) || !is_gguf(&f))
            continue;
        uint32_t id = mc_strset_add(&keys, gguf_key(out->arena, f.base), &added);
        if (id == MC_NO_ID || (added && !add_plan(out, MC_UNIT_GGUF, dir, join(out->arena, path, e->path))))
            return false;
        mc_plan *p = &out->v[first_plan + id];
        size_t   cap = p->n_entries; /* splits are few: grow one by one */
        size_t  *v = mc_alloc(out->arena, cap + 1, sizeof *v);
        if (!v)
            return false;
        if (cap)
            memcpy(v, p->entries, cap * sizeof *v);
        v[p->n_entries++] = i;
        p->entries = v;
        p->with_config = with_config;
    }
    return true;
}

static bool plan_dir(const mc_listing *l, const mc_scan_options *o, mc_str path, mc_str dir, const holding *h, mc_plans *out)
{
    if (holds_unit(h) && (h->weights || h->index || h->n_gguf == 0)) {
        mc_plan *p = add_plan(out, MC_UNIT_DIR, dir, join(out->arena, path, dir));
        if (!p)
            return false;
        p->cut_at_units = o->recursive;
    }
    return mc_strset_add(&out->dirs, dir, NULL) != MC_NO_ID && (h->n_gguf == 0 || plan_ggufs(l, path, dir, !h->weights && !h->index, out));
}

static bool hidden(mc_str dir)
{
    return mc_str_starts(dir, ".") || mc_str_contains(dir, "/.");
}

/* Inside a directory that is a unit already? Its pipeline components and copies are no models of their own. */
static bool inside_unit(const mc_listing *l, const mc_plans *out, mc_str dir, bool recursive)
{
    static const char *const parts[] = { "original/", "metal/", "onnx/", "openvino/", "coreml/" };
    for (size_t i = 0; i + 1 < dir.n + 1; i++) {
        if (i > 0 && dir.p[i - 1] != '/')
            continue;
        mc_str parent = mc_str_cut(dir, 0, i), rest = mc_str_cut(dir, i, dir.n);
        if (rest.n == 0 || mc_strset_find(&out->dirs, parent) == MC_NO_ID)
            continue;
        if (!recursive || holding_of(l, parent).pipeline)
            return true;
        for (size_t k = 0; k < MC_COUNT(parts); k++)
            if (mc_str_starts(rest, parts[k]))
                return true;
    }
    return false;
}

/* Sub-directories with a model: all of them, or the topmost ones when the root holds none. */
static bool plan_below(const mc_listing *l, const mc_scan_options *o, mc_str path, mc_plans *out)
{
    for (size_t i = 0; i < l->n; i++) {
        if (l->entries[i].type != MC_ENTRY_DIR)
            continue;
        mc_str  dir = mc_format(out->arena, "%s/", l->entries[i].path.p);
        if (hidden(dir) || inside_unit(l, out, dir, o->recursive))
            continue;
        holding h = holding_of(l, dir);
        if ((holds_unit(&h) || h.n_gguf) && !plan_dir(l, o, path, dir, &h, out))
            return false;
    }
    return true;
}

/* ---- stores that are recognised only ---- */

static bool has_dir(const mc_listing *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->entries[i].type == MC_ENTRY_DIR && mc_str_is(l->entries[i].path, name))
            return true;
    return false;
}

static bool has_below(const mc_listing *l, const char *prefix)
{
    for (size_t i = 0; i < l->n; i++)
        if (mc_str_starts(l->entries[i].path, prefix))
            return true;
    return false;
}

static bool is_hub_repo(const mc_listing *l)
{
    return (has_dir(l, "snapshots") && (has_dir(l, "blobs") || has_dir(l, "refs"))) || (has_dir(l, "blobs") && has_dir(l, "refs"));
}

static bool is_hub_cache(const mc_listing *l)
{
    for (size_t i = 0; i < l->n; i++) {
        mc_str p = l->entries[i].path;
        bool   repo = mc_str_starts(p, "models--") || mc_str_starts(p, "hub/models--");
        if (repo && (mc_str_contains(p, "/snapshots") || mc_str_contains(p, "/blobs") || mc_str_contains(p, "/refs")))
            return true;
    }
    return false;
}

static bool is_ollama(const mc_listing *l)
{
    return (has_dir(l, "manifests") && (has_dir(l, "blobs") || has_below(l, "manifests/registry."))) || has_below(l, "models/manifests/");
}

/* ---- weights under names that say nothing ---- */

static bool begins_gguf(const mc_listing *l, const mc_entry *e, mc_arena *a)
{
    if (e->type != MC_ENTRY_FILE || e->os_error || e->link == MC_SYM_OUTSIDE || e->link == MC_SYM_DANGLING)
        return false;
    mc_input in = mc_open(l->root, e->path);
    mc_span  head = in.fd < 0 ? (mc_span){ 0 } : mc_read(&in, 0, 4, a);
    mc_close(&in);
    return head.n == 4 && memcmp(head.p, "GGUF", 4) == 0;
}

static bool plan_one(const mc_listing *l, mc_str path, size_t i, mc_unit unit, bool alone, mc_plans *out)
{
    mc_plan *p = add_plan(out, unit, mc_str_dir(l->entries[i].path), path);
    if (!p || !(p->entries = mc_alloc(out->arena, 1, sizeof *p->entries)))
        return false;
    p->entries[0] = i;
    p->n_entries = 1;
    p->alone = alone;
    return true;
}

/* Where no name promises a model, files without an extension may still be a GGUF (pieces of uploads, blobs). */
static bool plan_nameless(const mc_listing *l, mc_str path, mc_plans *out)
{
    for (size_t i = 0; i < l->n; i++) {
        const mc_entry *e = &l->entries[i];
        mc_str          base = mc_str_base(e->path);
        if (base.n != e->path.n || mc_str_find(base, '.') < base.n || !begins_gguf(l, e, out->arena))
            continue;
        if (!plan_one(l, join(out->arena, path, e->path), i, MC_UNIT_GGUF, false, out))
            return false;
    }
    return true;
}

/* ---- a file as argument ---- */

static bool stands_for_directory(const mc_file *f)
{
    return f->role != MC_ROLE_WEIGHTS && f->role != MC_ROLE_OTHER && f->role != MC_ROLE_BYTE_PART && f->role != MC_ROLE_TRAINING && f->role != MC_ROLE_CODE
        && f->role != MC_ROLE_PARTIAL && f->role != MC_ROLE_CONTROL;
}

static bool sibling_of(const mc_file *f, const mc_file *g)
{
    if (f->role == MC_ROLE_BYTE_PART)
        return mc_str_eq(f->part_of, g->role == MC_ROLE_BYTE_PART ? g->part_of : g->base);
    return f->shards > 0 && g->shards == f->shards && g->promised == f->promised && mc_str_eq(f->stem, g->stem) && mc_str_eq(f->variant, g->variant);
}

/* An index, a configuration or a sibling of the file's numbered set in its directory. */
static bool has_company(const mc_listing *l, const mc_file *f)
{
    for (size_t i = 0; i < l->n; i++) {
        mc_file g = name_of(l->entries[i].path);
        holding h = { 0 };
        if (l->entries[i].type == MC_ENTRY_DIR || mc_str_eq(g.base, f->base))
            continue;
        hold(&h, &g);
        if (h.index || h.config || sibling_of(f, &g))
            return true;
    }
    return false;
}

static mc_file_plan plan_split(const mc_listing *l, mc_str path, const mc_file *f, mc_plans *out)
{
    mc_plan *p = add_plan(out, MC_UNIT_GGUF, MC_STR(""), path);
    if (!p || !(p->entries = mc_alloc(out->arena, l->n, sizeof *p->entries)))
        return MC_FILE_NO_MEMORY;
    for (size_t i = 0; i < l->n; i++) {
        mc_file g = name_of(l->entries[i].path);
        if (l->entries[i].type != MC_ENTRY_DIR && (mc_str_eq(g.base, f->base) || sibling_of(f, &g)))
            p->entries[p->n_entries++] = i;
    }
    if (p->n_entries > 1) /* any member names the set by its first file, so that two members are one model */
        p->path = mc_format(out->arena, "%.*s%s", MC_FMT(mc_str_dir(path)), l->entries[p->entries[0]].path.p);
    p->given = mc_str_base(p->path);
    p->alone = p->n_entries == 1 && f->shards > 0;
    p->named = true;
    return MC_FILE_IS_PLANNED;
}

mc_file_plan mc_plan_file(const mc_listing *l, mc_str path, mc_plans *out)
{
    mc_file f = name_of(mc_str_base(path));
    if (stands_for_directory(&f))
        return MC_FILE_IS_DIRECTORY;
    if (is_gguf(&f))
        return plan_split(l, path, &f, out);
    if ((f.role == MC_ROLE_WEIGHTS || f.role == MC_ROLE_BYTE_PART) && has_company(l, &f))
        return MC_FILE_IS_DIRECTORY;
    for (size_t i = 0; i < l->n; i++) {
        if (!mc_str_eq(l->entries[i].path, f.base))
            continue;
        bool gguf = f.role == MC_ROLE_OTHER && begins_gguf(l, &l->entries[i], out->arena);
        if (!plan_one(l, path, i, gguf ? MC_UNIT_GGUF : MC_UNIT_FILE, f.shards > 0, out))
            return MC_FILE_NO_MEMORY;
        out->v[out->n - 1].named = true;
        return MC_FILE_IS_PLANNED;
    }
    return MC_FILE_IS_DIRECTORY; /* gone, or "." and its kin */
}

bool mc_plan_directory(const mc_listing *l, const mc_scan_options *o, mc_str path, mc_str given, mc_plans *out)
{
    holding h = holding_of(l, MC_STR(""));
    if (!mc_strset_init(&out->dirs, out->arena, 8))
        return false;
    bool any = holds_unit(&h) || h.n_gguf > 0;
    if (!any && (is_hub_repo(l) || is_hub_cache(l) || is_ollama(l))) {
        mc_plan *p = add_plan(out, is_ollama(l) ? MC_UNIT_OLLAMA : MC_UNIT_CACHE, MC_STR(""), path);
        return p != NULL;
    }
    if (any && !plan_dir(l, o, path, MC_STR(""), &h, out))
        return false;
    if (!any || o->recursive || (!h.weights && !h.index && h.n_gguf == 0 && !h.pipeline)) {
        if (!plan_below(l, o, path, out))
            return false;
    }
    if (out->n == 0 && !plan_nameless(l, path, out))
        return false;
    if (out->n == 0 && !add_plan(out, MC_UNIT_DIR, MC_STR(""), path))
        return false;
    for (size_t i = 0; i < out->n; i++)
        if (out->v[i].unit == MC_UNIT_DIR && out->v[i].dir.n == 0)
            out->v[i].given = given;
    return true;
}
