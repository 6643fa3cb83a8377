/* From directory entries to the files and components of one model: names only, nothing is opened. */
#include "scan/internal.h"

#include <errno.h>
#include <string.h>

uint32_t mc_find_file(const mc_builder *b, mc_str path)
{
    return mc_strset_find(&b->paths, path);
}

static mc_link link_of(mc_symlink s)
{
    static const mc_link of[] = {
        [MC_SYM_NONE] = MC_LINK_NONE, [MC_SYM_INSIDE] = MC_LINK_INSIDE, [MC_SYM_CACHE] = MC_LINK_CACHE,
        [MC_SYM_OUTSIDE] = MC_LINK_OUTSIDE, [MC_SYM_FOLLOWED] = MC_LINK_FOLLOWED, [MC_SYM_DANGLING] = MC_LINK_DANGLING,
    };
    return of[s];
}

static bool add_file(mc_builder *b, const mc_entry *e, mc_str path)
{
    mc_model *m = b->m;
    mc_file  *v = mc_grow(m->arena, m->files, m->n_files, &m->cap_files, sizeof *v);
    if (!v)
        return false;
    m->files = v;
    mc_file *f = &v[m->n_files];
    path = mc_str_copy(m->arena, path); /* the listing goes before the model does */
    *f = (mc_file){ .path = path, .base = mc_str_base(path), .size = e->size, .link = link_of(e->link), .target = mc_str_copy(m->arena, e->target),
                    .os_error = e->link == MC_SYM_DANGLING ? 0 : e->os_error, .os_what = e->os_what, .set = MC_NONE,
                    .stem = MC_STR(""), .variant = MC_STR(""), .part_of = MC_STR(""), .pointer_oid = MC_STR("") };
    mc_name_parse(f);
    m->n_files++;
    return mc_strset_add(&b->paths, path, NULL) == m->n_files - 1;
}

/* ---- components ---- */

static bool add_component(mc_model *m, mc_str dir, mc_comp_kind kind)
{
    mc_component *v = mc_grow(m->arena, m->components, m->n_components, &m->cap_components, sizeof *v);
    if (!v)
        return false;
    m->components = v;
    v[m->n_components] = (mc_component){ .dir = dir, .kind = kind, .library = MC_STR(""), .cls = MC_STR(""), .index = MC_NONE, .set = MC_NONE };
    for (size_t r = 0; r < MC_N_ROLES; r++)
        v[m->n_components].docs[r] = MC_NONE;
    m->n_components++;
    return true;
}

/* Files come sorted by path, so those of one directory are not always neighbours ("a/x" < "a/y/z" < "a/z"). */
static uint32_t component_of(mc_model *m, mc_str dir)
{
    for (uint32_t i = (uint32_t)m->n_components; i-- > 0;)
        if (mc_str_eq(m->components[i].dir, dir))
            return i;
    return add_component(m, dir, MC_COMP_COPY) ? (uint32_t)(m->n_components - 1) : 0;
}

static bool matters(const mc_file *f)
{
    return f->role != MC_ROLE_OTHER && f->role != MC_ROLE_CODE && f->role != MC_ROLE_PARTIAL && f->role != MC_ROLE_CONTROL;
}

static void assign_components(mc_model *m)
{
    for (size_t i = 0; i < m->n_files; i++) {
        mc_file *f = &m->files[i];
        mc_str   dir = mc_str_dir(f->path);
        bool     hidden = mc_str_starts(dir, ".") || mc_str_contains(dir, "/.");
        f->component = dir.n && matters(f) && !hidden ? component_of(m, dir) : 0;
        if (dir.n && !hidden && !matters(f))
            for (uint32_t c = 1; c < m->n_components; c++)
                if (mc_str_eq(m->components[c].dir, dir))
                    f->component = c;
    }
}

/* ---- which entries belong ---- */

static bool in_other_unit(const mc_builder *b, mc_str path)
{
    if (!b->plan->cut_at_units)
        return false;
    for (size_t i = path.n; i-- > b->plan->dir.n;)
        if (path.p[i] == '/' && mc_strset_find(&b->plans->dirs, mc_str_cut(path, 0, i + 1)) != MC_NO_ID && i + 1 > b->plan->dir.n)
            return true;
    return false;
}

static bool is_gguf_unit(mc_str base)
{
    mc_file f = { .path = base, .base = base };
    mc_name_parse(&f);
    return f.promised == MC_FMT_GGUF && (f.role == MC_ROLE_WEIGHTS || f.role == MC_ROLE_BYTE_PART);
}

static bool collect_directory(mc_builder *b)
{
    mc_str dir = b->plan->dir;
    for (size_t i = 0; i < b->list->n; i++) {
        const mc_entry *e = &b->list->entries[i];
        if (e->path.n <= dir.n || memcmp(e->path.p, dir.p, dir.n) != 0 || in_other_unit(b, e->path))
            continue;
        mc_str rest = mc_str_cut(e->path, dir.n, e->path.n);
        if (e->type == MC_ENTRY_DIR && !e->os_error)
            continue;
        if (is_gguf_unit(mc_str_base(rest)) && mc_str_dir(rest).n == 0)
            continue; /* a unit of its own */
        if (!add_file(b, e, rest))
            return false;
    }
    return true;
}

static bool collect_listed(mc_builder *b)
{
    mc_str dir = b->plan->dir;
    for (size_t i = 0; i < b->plan->n_entries; i++) {
        const mc_entry *e = &b->list->entries[b->plan->entries[i]];
        if (!add_file(b, e, mc_str_cut(e->path, dir.n, e->path.n)))
            return false;
        mc_file *f = &b->m->files[b->m->n_files - 1];
        if (b->plan->unit == MC_UNIT_GGUF && f->role == MC_ROLE_OTHER) { /* known by its first bytes only */
            f->role = MC_ROLE_WEIGHTS;
            f->promised = MC_FMT_GGUF;
        }
    }
    for (size_t i = 0; b->plan->with_config && i < b->list->n; i++) {
        const mc_entry *e = &b->list->entries[i];
        if (mc_str_eq(mc_str_dir(e->path), dir) && mc_str_is(mc_str_base(e->path), "config.json") && e->type == MC_ENTRY_FILE)
            return add_file(b, e, mc_str_cut(e->path, dir.n, e->path.n));
    }
    return true;
}

bool mc_collect(mc_builder *b)
{
    if (!mc_strset_init(&b->paths, b->m->arena, 32) || !add_component(b->m, MC_STR(""), MC_COMP_ROOT))
        return false;
    if (!(b->plan->unit == MC_UNIT_DIR ? collect_directory(b) : collect_listed(b)))
        return false;
    assign_components(b->m);
    return true;
}
