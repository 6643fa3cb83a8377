/* The framework matrix of one model: facts are gathered once, then every framework asked for judges them. */
#include "rules/matrix.h"

#include "scan/facts.h"

#include <string.h>

/* ---- which frameworks ---- */

static void add(mc_arena *a, mc_matrix *x, const mc_framework *f)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->v[i].framework == f)
            return;
    mc_verdict_list *v = mc_grow(a, x->v, x->n, &x->cap, sizeof *v);
    if (!v)
        return;
    x->v = v;
    v[x->n++] = (mc_verdict_list){ .framework = f };
}

/* The order of the list of names, then what only the user's own data has. */
static void all_frameworks(mc_arena *a, mc_kb *kb, mc_matrix *x)
{
    const mc_framework *const *list;
    mc_span                    names = mc_embedded_find("framework-names.tsv");
    mc_str                     rest = { (const char *)names.p, names.n };
    size_t                     n = mc_kb_frameworks(kb, &list);
    while (rest.n) {
        size_t end = mc_str_find(rest, '\n');
        mc_str line = mc_str_cut(rest, 0, end), name = mc_str_cut(line, 0, mc_str_find(line, '\t'));
        rest = mc_str_cut(rest, end + 1, rest.n);
        for (size_t i = 0; i < n; i++)
            if (mc_str_eq(list[i]->name, name))
                add(a, x, list[i]);
    }
    for (size_t i = 0; i < n; i++)
        add(a, x, list[i]);
}

/* Is another framework in the matrix that this one is an engine of? */
bool mc_matrix_listed(const mc_matrix *x, size_t i)
{
    const mc_framework *f = x->v[i].framework;
    for (size_t k = 0; !x->asked && k < x->n; k++) {
        const mc_framework *whole = x->v[k].framework;
        bool                engine = mc_str_eq(whole->maps_to, f->name) || mc_str_eq(whole->fallback, f->name);
        if (engine && f->name.n > whole->name.n && mc_str_eq(mc_str_cut(f->name, 0, whole->name.n), whole->name) && f->name.p[whole->name.n] == '-')
            return false;
    }
    return true;
}

bool mc_matrix_same_files(const mc_matrix *x, size_t a, size_t b)
{
    const mc_reading *p = &x->reading[a], *q = &x->reading[b];
    return p->known && q->known && memcmp(p->choice.taken, q->choice.taken, x->files->n_files * sizeof *p->choice.taken) == 0;
}

bool mc_matrix_first_reader(const mc_matrix *x, size_t i)
{
    bool first = x->reading[i].known && mc_matrix_listed(x, i);
    for (size_t k = 0; k < i && first; k++)
        first = !(mc_matrix_listed(x, k) && mc_matrix_same_files(x, k, i));
    return first;
}

mc_str mc_matrix_name(mc_arena *a, const mc_verdict_list *v)
{
    const mc_framework *f = v->framework;
    mc_str              name = f->display.n ? f->display : f->name;
    return v->version.n ? mc_format(a, "%.*s %.*s", MC_FMT(name), MC_FMT(v->version)) : name;
}

bool mc_limit_is_storage(const mc_limit_hit *h)
{
    return mc_str_starts(h->id, "quant-");
}

/* ---- what it is judged for ---- */

/* A device that several back ends drive (Intel: xpu, sycl) stands for the one that the framework's data speaks of. */
static mc_str backend_of(const mc_framework *f, mc_str backends)
{
    mc_str rest = backends;
    while (rest.n) {
        size_t comma = mc_str_find(rest, ',');
        mc_str one = mc_str_cut(rest, 0, comma);
        if (mc_get_str(mc_get(f->root, "platforms"), one) || mc_get_str(mc_get(mc_get(f->root, "gguf"), "slow"), one))
            return one;
        rest = mc_str_cut(rest, comma + 1, rest.n);
    }
    return mc_str_cut(backends, 0, mc_str_find(backends, ','));
}

static mc_target_options options_of(const mc_framework *f, const mc_targets *t, const mc_target_files *files)
{
    mc_target_options o = t->options;
    o.files = files;
    if (t->backends.n)
        o.platform = backend_of(f, t->backends);
    return o;
}

/* ---- which files ---- */

static const mc_set *set_of(const mc_model *m, mc_str path)
{
    for (size_t i = 0; i < m->n_files; i++)
        if (mc_str_eq(m->files[i].path, path))
            return m->files[i].set < m->n_sets ? &m->sets[m->files[i].set] : NULL;
    return NULL;
}

/* Whole sets of the root beside the largest of them: all their tensors are opened twice. */
static uint64_t twice(mc_arena *a, const mc_model *m, const mc_target_files *files, const mc_file_choice *c)
{
    bool    *seen = MC_NEW(a, bool, m->n_sets + 1);
    uint64_t bytes = 0, largest = 0;
    for (size_t i = 0; seen && i < c->n_taken; i++) {
        const mc_set *s = c->taken[i] ? set_of(m, files->files[i].path) : NULL;
        if (!s || seen[s - m->sets] || !s->complete || s->component != 0)
            continue;
        seen[s - m->sets] = true;
        largest = s->bytes > largest ? s->bytes : largest;
        if (ckd_add(&bytes, bytes, s->bytes))
            bytes = UINT64_MAX;
    }
    return bytes - largest;
}

static mc_reading read_by(mc_arena *a, mc_kb *kb, const mc_model *m, const mc_verdict_list *v, const mc_target_files *files)
{
    const mc_framework *f = v->framework;
    mc_reading          r = { .known = false };
    mc_version          version;
    mc_str              text;
    bool                outside;
    if (!mc_get(f->root, "files") && f->maps_to.n)
        f = mc_kb_framework(kb, f->maps_to);
    if (!f || !files || !mc_framework_version(f, f == v->framework ? v->version : MC_STR(""), &version, &text, &outside))
        return r;
    r.choice = mc_framework_choose(a, f, &version, files);
    r.known = r.choice.row && r.choice.pattern.n && r.choice.taken;
    for (size_t i = 0; r.known && i < files->n_files; i++) {
        bool taken = r.choice.taken[i];
        r.n_read += taken;
        r.n_ignored += !taken;
        if (ckd_add(taken ? &r.read_bytes : &r.ignored_bytes, taken ? r.read_bytes : r.ignored_bytes, files->files[i].bytes))
            *(taken ? &r.read_bytes : &r.ignored_bytes) = UINT64_MAX;
    }
    if (r.known)
        r.twice_bytes = twice(a, m, files, &r.choice);
    return r;
}

/* ---- all of it ---- */

static bool is_model(const mc_model *m, bool asked)
{
    static const mc_kind others[] = { MC_KIND_NONE, MC_KIND_ADAPTER, MC_KIND_PROJECTOR, MC_KIND_VOCAB, MC_KIND_IMATRIX, MC_KIND_DIFFUSERS, MC_KIND_OTHER };
    bool alone = m->format != MC_FMT_NONE;
    for (size_t i = 0; i < MC_COUNT(others) && !asked; i++)
        alone = alone && m->kind != others[i];
    return alone;
}

const mc_matrix *mc_matrix_judge(mc_arena *a, const mc_model *m, mc_kb *kb, const mc_targets *t)
{
    mc_matrix     *x = MC_NEW(a, mc_matrix, 1);
    mc_model_facts facts;
    if (!x)
        return NULL;
    x->asked = t->n > 0;
    if (!is_model(m, x->asked))
        return x;
    for (size_t i = 0; i < t->n; i++) {
        const mc_framework *f = mc_kb_framework(kb, t->v[i].name);
        mc_verdict_list    *v = f ? mc_grow(a, x->v, x->n, &x->cap, sizeof *v) : NULL;
        if (!v)
            continue;
        x->v = v;
        v[x->n++] = (mc_verdict_list){ .framework = f, .version = t->v[i].version };
    }
    if (!x->asked)
        all_frameworks(a, kb, x);
    mc_model_facts_init(&facts, a, m, kb, t->options.tp);
    mc_facts of = mc_model_facts_of(&facts);
    x->files = m->unit == MC_UNIT_DIR ? mc_model_files(a, m) : NULL;
    x->reading = MC_NEW(a, mc_reading, x->n + 1);
    for (size_t i = 0; x->reading && i < x->n; i++) {
        const mc_framework *f = x->v[i].framework;
        mc_target_options   o = options_of(f, t, x->files);
        mc_str              version = x->v[i].version;
        mc_framework_judge(kb, a, f, version, &o, &of, &x->v[i]);
        x->reading[i] = read_by(a, kb, m, &x->v[i], x->files);
    }
    return x;
}

/* ---- patterns ---- */

/* "model-*-of-00002.safetensors" of a numbered name, a whole directory of a copy, or the name itself. */
static mc_str pattern_of(mc_arena *a, const mc_model *m, mc_str path)
{
    const mc_set *s = set_of(m, path);
    mc_str        base = mc_str_base(path);
    size_t        of = 0, from;
    if (s && m->components[s->component].kind == MC_COMP_COPY)
        return mc_format(a, "%.*s*", MC_FMT(m->components[s->component].dir));
    while (of < base.n && !mc_str_starts(mc_str_cut(base, of, base.n), "-of-"))
        of++;
    if (of == base.n)
        return path;
    for (from = of; from > 0 && base.p[from - 1] >= '0' && base.p[from - 1] <= '9'; from--)
        ;
    mc_str dir = mc_str_dir(path);
    return mc_format(a, "%.*s%.*s*%.*s", MC_FMT(dir), MC_FMT(mc_str_cut(base, 0, from)), MC_FMT(mc_str_cut(base, of, base.n)));
}

mc_str mc_matrix_excludes(mc_arena *a, const mc_model *m, const mc_matrix *x, size_t i)
{
    enum { MOST = 6 };
    const mc_reading *r = &x->reading[i];
    mc_str            seen[MOST], text = MC_STR("");
    size_t            n = 0;
    for (size_t k = 0; r->known && k < x->files->n_files && n < MOST; k++) {
        mc_str p = r->choice.taken[k] ? MC_STR("") : pattern_of(a, m, x->files->files[k].path);
        bool   old = p.n == 0;
        for (size_t s = 0; s < n; s++)
            old |= mc_str_eq(seen[s], p);
        if (old)
            continue;
        seen[n++] = p;
        text = mc_format(a, "%.*s%s--exclude \"%.*s\"", MC_FMT(text), text.n ? " " : "", MC_FMT(p));
    }
    return text;
}
