/* One path to its models: plans the units, then builds each of them step by step. */
#include "scan/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void mc_model_free(mc_model *m)
{
    mc_arena a;
    if (!m)
        return;
    a = *m->arena; /* the arena lies in its own memory */
    mc_arena_free(&a);
}

static mc_model *new_model(const mc_plan *p)
{
    mc_arena a;
    mc_arena_init(&a, MC_MAX_ARENA);
    mc_model *m = MC_NEW(&a, mc_model, 1);
    mc_arena *own = MC_NEW(&a, mc_arena, 1);
    if (!m || !own) {
        mc_arena_free(&a);
        return NULL;
    }
    *own = a;
    m->arena = own;
    m->path = mc_str_copy(own, p->path);
    m->given = mc_str_copy(own, p->given);
    m->unit = p->unit;
    m->alone = p->alone;
    m->named = p->named;
    m->gguf_file = MC_NONE;
    return m;
}

/* ---- after loading ---- */

static void find_gguf(mc_model *m)
{
    for (uint32_t i = 0; m->unit == MC_UNIT_GGUF && i < m->n_files; i++)
        if (m->files[i].gguf && !m->gguf) {
            m->gguf = m->files[i].gguf;
            m->gguf_file = i;
        }
}

static void set_limit(mc_model *m, const char *what, uint64_t value)
{
    if (!m->limit) {
        m->limit = what;
        m->limit_value = value;
    }
}

/* Names that a loader would open: what cannot be read of them leaves the check incomplete. */
static bool is_model_file(const mc_file *f)
{
    return f->role == MC_ROLE_WEIGHTS || f->role == MC_ROLE_INDEX || f->role == MC_ROLE_CONFIG || f->role == MC_ROLE_TOKENIZER_JSON || f->role == MC_ROLE_TOKENIZER_CONFIG
        || f->role == MC_ROLE_VOCAB || f->role == MC_ROLE_GENERATION || f->role == MC_ROLE_ADAPTER_CONFIG || f->role == MC_ROLE_QUANTIZE_CONFIG
        || f->role == MC_ROLE_HF_QUANT_CONFIG || f->role == MC_ROLE_PARAMS || f->role == MC_ROLE_PIPELINE || f->role == MC_ROLE_MODULES || f->role == MC_ROLE_BYTE_PART;
}

static void find_gaps(mc_builder *b)
{
    mc_model *m = b->m;
    bool      outside = false, read = false;
    if (b->list->too_many)
        set_limit(m, "number of entries", MC_MAX_ENTRIES);
    if (b->list->too_deep)
        set_limit(m, "depth of directories", MC_MAX_DEPTH);
    if (m->arena->failed)
        set_limit(m, "memory budget", MC_MAX_ARENA);
    for (size_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        m->incomplete |= f->limit || (f->os_error && is_model_file(f));
        outside |= f->link == MC_LINK_OUTSIDE && f->role == MC_ROLE_WEIGHTS;
        read |= f->role == MC_ROLE_WEIGHTS && f->bytes != MC_BYTES_UNREAD;
    }
    m->incomplete |= m->limit != NULL || (outside && !read);
}

static void add_siblings(mc_builder *b)
{
    mc_model *m = b->m;
    for (size_t i = 0; i < b->plans->n; i++) {
        const mc_plan *p = &b->plans->v[i];
        if (p == b->plan || p->unit != MC_UNIT_GGUF || !mc_str_eq(p->dir, b->plan->dir))
            continue;
        size_t      cap = m->n_siblings;
        mc_sibling *v = mc_grow(m->arena, m->siblings, m->n_siblings, &cap, sizeof *v);
        if (!v)
            return;
        m->siblings = v;
        v[m->n_siblings] = (mc_sibling){ .path = mc_str_copy(m->arena, mc_str_base(p->path)) };
        for (size_t k = 0; k < p->n_entries; k++)
            v[m->n_siblings].bytes += b->list->entries[p->entries[k]].size;
        m->n_siblings++;
    }
}

static mc_model *build(const mc_listing *l, const mc_plans *plans, const mc_plan *p, mc_kb *kb)
{
    mc_model *m = new_model(p);
    if (!m || p->unit == MC_UNIT_CACHE || p->unit == MC_UNIT_OLLAMA)
        return m;
    mc_builder b = { .m = m, .kb = kb, .list = l, .plan = p, .plans = plans };
    if (mc_collect(&b)) {
        add_siblings(&b);
        mc_load_documents(&b);
        mc_load_headers(&b);
        mc_resolve_indexes(&b);
        mc_make_sets(&b);
        mc_load_far_headers(&b);
        find_gguf(m);
        mc_build_inventories(&b);
        mc_geometry(m, kb);
        mc_infer(m, kb);
        mc_load_tokenizers(&b);
        mc_compare_heads(&b);
        mc_find_modules(m, kb, mc_read_small, &b);
        mc_quant_claims(m, kb);
        mc_sum_modules(m, kb);
        mc_settle_summary(m, kb);
    }
    find_gaps(&b);
    return m;
}

/* ---- paths ---- */

static int by_path(const void *a, const void *b)
{
    return mc_str_cmp(((const mc_plan *)a)->path, ((const mc_plan *)b)->path);
}

/* A model that can be loaded on its own, as far as its kind tells. */
static bool is_main(const mc_model *m)
{
    static const mc_kind beside[] = { MC_KIND_NONE, MC_KIND_ADAPTER, MC_KIND_PROJECTOR, MC_KIND_VOCAB, MC_KIND_IMATRIX };
    for (size_t i = 0; i < MC_COUNT(beside); i++)
        if (m->kind == beside[i])
            return false;
    return m->format != MC_FMT_NONE;
}

/* A projector, an adapter or a vocabulary is no lack where a model lies beside it. v: the models of the plans, in order. */
static void mark_main_beside(const mc_plans *plans, mc_model **v)
{
    mc_strset dirs;
    if (plans->n < 2 || !mc_strset_init(&dirs, plans->arena, 8))
        return;
    for (size_t i = 0; i < plans->n; i++)
        if (is_main(v[i]))
            (void)mc_strset_add(&dirs, plans->v[i].dir, NULL);
    for (size_t i = 0; i < plans->n; i++)
        v[i]->main_beside = !is_main(v[i]) && mc_strset_find(&dirs, plans->v[i].dir) != MC_NO_ID;
}

static mc_err build_all(const mc_listing *l, mc_plans *plans, mc_kb *kb, mc_model_list *out)
{
    qsort(plans->v, plans->n, sizeof *plans->v, by_path);
    for (size_t i = 0; i < plans->n; i++) {
        mc_model **v = mc_grow(out->arena, out->v, out->n, &out->cap, sizeof *v);
        if (!v)
            return (mc_err){ MC_E_NOMEM, 0, "out of memory" };
        out->v = v;
        if (!(v[out->n] = build(l, plans, &plans->v[i], kb)))
            return (mc_err){ MC_E_NOMEM, 0, "out of memory" };
        out->n++;
    }
    if (plans->n)
        mark_main_beside(plans, out->v + out->n - plans->n);
    return MC_NO_ERR;
}

/* The last part of a path with links and dots resolved: the name that users see. */
static mc_str resolved_name(mc_arena *a, const char *path)
{
    char  *real = realpath(path, NULL);
    mc_str s = real ? mc_str_copy(a, mc_str_base(mc_str_of(real))) : mc_str_of(path);
    free(real);
    return s;
}

static mc_err scan_directory(const char *path, const mc_scan_options *o, mc_arena *scratch, mc_kb *kb, mc_model_list *out, int *os_error)
{
    mc_listing l;
    mc_plans   plans = { .arena = scratch };
    mc_err     e = mc_walk(path, (mc_walk_options){ .follow_links = o->follow_links }, scratch, &l, os_error);
    if (e.code != MC_OK)
        return e;
    if (!mc_plan_directory(&l, o, l.root, resolved_name(scratch, path), &plans))
        return (mc_err){ MC_E_NOMEM, 0, "out of memory" };
    return build_all(&l, &plans, kb, out);
}

/* A file's own directory as the system and as the report name it. */
static mc_str dir_of(mc_arena *a, const char *path)
{
    mc_str d = mc_str_dir(mc_str_of(path));
    if (d.n == 0)
        return MC_STR(".");
    return d.n == 1 ? mc_str_copy(a, d) : mc_str_copy(a, mc_str_cut(d, 0, d.n - 1));
}

static mc_err scan_file(const char *path, const mc_scan_options *o, mc_arena *scratch, mc_kb *kb, mc_model_list *out, int *os_error)
{
    mc_listing l;
    mc_plans   plans = { .arena = scratch };
    mc_str     dir = dir_of(scratch, path);
    mc_err     e = mc_walk(dir.p, (mc_walk_options){ .follow_links = true, .shallow = true }, scratch, &l, os_error);
    if (e.code != MC_OK)
        return e;
    switch (mc_plan_file(&l, mc_str_of(path), &plans)) {
    case MC_FILE_IS_DIRECTORY: return scan_directory(dir.p, &(mc_scan_options){ .follow_links = o->follow_links }, scratch, kb, out, os_error);
    case MC_FILE_IS_PLANNED: return build_all(&l, &plans, kb, out);
    case MC_FILE_NO_MEMORY: break;
    }
    return (mc_err){ MC_E_NOMEM, 0, "out of memory" };
}

mc_err mc_scan_path(const char *path, const mc_scan_options *o, mc_kb *kb, mc_model_list *out, int *os_error)
{
    struct stat st;
    mc_arena    scratch;
    *os_error = 0;
    if (stat(path, &st) != 0) {
        *os_error = errno;
        return (mc_err){ MC_E_IO, 0, "cannot open" };
    }
    mc_arena_init(&scratch, MC_MAX_ARENA);
    mc_err e = S_ISDIR(st.st_mode) ? scan_directory(path, o, &scratch, kb, out, os_error) : scan_file(path, o, &scratch, kb, out, os_error);
    mc_arena_free(&scratch);
    return e;
}
