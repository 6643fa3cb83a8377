/* MC706: files that take space and that nobody opens for the weights. */
#include "rules/files.h"
#include "rules/frameworks.h"

typedef struct { uint32_t n; uint64_t bytes; mc_names names; } pile;

static void put(mc_check *cx, pile *p, const mc_file *f)
{
    p->n++;
    if (ckd_add(&p->bytes, p->bytes, f->size))
        p->bytes = UINT64_MAX;
    mc_names_add(cx->arena, &p->names, f->path);
}

/* The file that parts make up is there, and as large as they are together. */
static bool joined(const mc_model *m, const mc_file *part)
{
    uint64_t sum = 0;
    uint32_t whole = MC_NONE;
    for (uint32_t i = 0; i < m->n_files; i++) {
        if (m->files[i].role == MC_ROLE_BYTE_PART && mc_str_eq(m->files[i].part_of, part->part_of) && ckd_add(&sum, sum, m->files[i].size))
            return false;
        if (m->files[i].role != MC_ROLE_BYTE_PART && mc_str_eq(m->files[i].path, part->part_of))
            whole = i;
    }
    return whole != MC_NONE && m->files[whole].size == sum;
}

/* A partial download is a leftover once weights are there: MC109 speaks when none are, MC110 when a file that is read is unfinished. */
static bool leftover(const mc_model *m, const mc_file *f)
{
    for (uint32_t i = 0; i < m->n_files; i++) {
        const mc_file *whole = &m->files[i];
        if (f->role == MC_ROLE_CONTROL && mc_str_eq(whole->path, f->part_of) && mc_file_read(m, i))
            return false;
    }
    for (uint32_t i = 0; i < m->n_files; i++)
        if (m->files[i].in_read_set)
            return true;
    return false;
}

static bool torch_copy(const mc_model *m, const mc_file *f)
{
    const mc_component *c = f->component < m->n_components ? &m->components[f->component] : NULL;
    return f->role == MC_ROLE_WEIGHTS && f->promised == MC_FMT_TORCH && !f->in_read_set && c && c->set != MC_NONE && m->sets[c->set].container == MC_FMT_SAFETENSORS &&
           m->sets[c->set].complete && f->set < m->n_sets && !mc_str_starts(f->stem, "adapter_model");
}

static bool nobody(const mc_model *m, const mc_file *f)
{
    if (f->role == MC_ROLE_TRAINING)
        return true;
    if (f->role == MC_ROLE_PARTIAL || f->role == MC_ROLE_CONTROL)
        return leftover(m, f);
    return f->role == MC_ROLE_BYTE_PART ? joined(m, f) : torch_copy(m, f);
}

static void told(mc_check *cx, const pile *p, const char *who, mc_str subject)
{
    mc_finding *out = mc_report_apart(cx, MC_NONE, "%u file%s, %s, %s not read by %s (%.*s)", p->n, p->n == 1 ? "" : "s", mc_size_text(cx->arena, p->bytes).p, p->n == 1 ? "is" : "are",
                                      who, MC_FMT(mc_names_text(cx->arena, &p->names)));
    if (subject.n)
        mc_subject(out, subject);
    mc_count(out, p->n);
}

static bool file_taken(const mc_matrix *x, const mc_reading *r, mc_str path, bool *listed)
{
    for (size_t i = 0; i < x->files->n_files; i++)
        if (mc_str_eq(x->files->files[i].path, path)) {
            *listed = true;
            return r->choice.taken[i];
        }
    return false;
}

/* What one target leaves, beyond what nobody reads. */
static void by_target(mc_check *cx, const mc_matrix *x, size_t i)
{
    const mc_model *m = cx->model;
    pile            p = { 0 };
    for (size_t k = 0; x->reading[i].known && k < m->n_files; k++) {
        bool listed = false;
        if (!nobody(m, &m->files[k]) && !file_taken(x, &x->reading[i], m->files[k].path, &listed) && listed)
            put(cx, &p, &m->files[k]);
    }
    if (p.n == 0)
        return;
    told(cx, &p, mc_str_copy(cx->arena, mc_matrix_name(cx->arena, &x->v[i])).p, mc_format(cx->arena, "%.*s/files", MC_FMT(x->v[i].framework->name)));
    mc_fix(cx, &cx->out->v[cx->out->n - 1], "leave them out: hf download %.*s", MC_FMT(mc_matrix_excludes(cx->arena, m, x, i)));
}

void mc_check_not_read(mc_check *cx)
{
    const mc_model  *m = cx->model;
    const mc_matrix *x = cx->options->matrix;
    pile             p = { 0 };
    for (size_t i = 0; i < m->n_files; i++)
        if (nobody(m, &m->files[i]))
            put(cx, &p, &m->files[i]);
    if (p.n)
        told(cx, &p, "any loader", MC_STR(""));
    for (size_t i = 0; x && x->asked && x->files && i < x->n; i++)
        by_target(cx, x, i);
}
