/* MC105, MC109: weights that are there in pieces only: byte parts of one file, and downloads that stopped. */
#include "rules/files.h"

typedef unsigned long long ull;

/* ---- byte parts ---- */

typedef struct { uint32_t first; uint64_t n, sum, low, high, total; bool joined /* under its name, of another size */; } parts;

/* The parts by the file they make up. Ids of `names` index the returned array. */
static parts *gather(mc_check *cx, mc_strset *names)
{
    const mc_model *m = cx->model;
    parts *v = NULL;
    size_t cap = 0;
    if (!mc_strset_init(names, cx->arena, 8))
        return NULL;
    for (uint32_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        if (f->role != MC_ROLE_BYTE_PART)
            continue;
        bool     added;
        uint32_t id = mc_strset_add(names, f->part_of, &added);
        if (id == MC_NO_ID || (added && !(v = mc_grow(cx->arena, v, id, &cap, sizeof *v))) || !v)
            return NULL;
        if (added)
            v[id] = (parts){ .first = i, .low = f->part, .high = f->part };
        parts *p = &v[id];
        p->n++;
        if (ckd_add(&p->sum, p->sum, f->size))
            p->sum = UINT64_MAX;
        if (f->part < p->low) {
            p->low = f->part;
            p->first = i;
        }
        p->high = f->part > p->high ? f->part : p->high;
        p->total = f->parts > p->total ? f->parts : p->total;
    }
    return v;
}

/* The directory has a whole set, and no index that asks for the joined file. */
static bool not_needed(const mc_model *m, const mc_file *part)
{
    if (part->component >= m->n_components)
        return false;
    const mc_component *c = &m->components[part->component];
    return c->kind == MC_COMP_COPY || (c->set != MC_NONE && m->sets[c->set].complete);
}

/* "x.pt.500" may be a step of a training: three bare digits are parts only when they begin at 000 or 001. */
static bool steps(const mc_model *m, const parts *p)
{
    mc_str b = m->files[p->first].base;
    return p->low > 1 && b.n > 4 && b.p[b.n - 4] == '.' && b.p[b.n - 3] >= '0' && b.p[b.n - 3] <= '9';
}

static void report_parts(mc_check *cx, mc_str name, const parts *p)
{
    mc_str size = mc_size_text(cx->arena, p->sum), base = mc_str_base(name);
    mc_finding *out = mc_report(cx, p->first, "%llu byte part%s of %.*s (%.*s) must be joined first: slices of one file, no shards", (ull)p->n,
                                p->n == 1 ? "" : "s", MC_FMT(base), MC_FMT(size));
    mc_count(out, (size_t)p->n);
    mc_because(cx, out, "parts", mc_origin_at(p->first, ""), "numbers %llu to %llu, %llu bytes", (ull)p->low, (ull)p->high, (ull)p->sum);
    bool missing = p->total > p->n || p->high - p->low >= p->n || p->low > 1;
    if (p->total > p->n)
        mc_because(cx, out, "missing", mc_origin_at(p->first, ""), "%llu of %llu parts are here", (ull)p->n, (ull)p->total);
    else if (missing)
        mc_because(cx, out, "missing", mc_origin_at(p->first, ""), "the numbering has a hole");
    mc_fix(cx, out, "%sjoin them in order: cat $(ls -v %.*s[.-]*) > %.*s, then delete the parts", missing ? "get the missing parts, then " : "", MC_FMT(base), MC_FMT(base));
}

void mc_check_byte_parts(mc_check *cx)
{
    const mc_model *m = cx->model;
    mc_strset names;
    parts    *v = gather(cx, &names);
    if (!v)
        return;
    for (uint32_t i = 0; i < m->n_files; i++) { /* the joined file is there: the parts are leftovers */
        uint32_t id = m->files[i].role == MC_ROLE_BYTE_PART ? MC_NO_ID : mc_strset_find(&names, m->files[i].path);
        if (id != MC_NO_ID && m->files[i].size == v[id].sum)
            v[id].n = 0;
        else if (id != MC_NO_ID)
            v[id].joined = true;
    }
    for (size_t id = 0; id < names.n; id++)
        if (v[id].n > 0 && !steps(m, &v[id]) && (v[id].joined || !not_needed(m, &m->files[v[id].first])))
            report_parts(cx, names.keys[id], &v[id]);
}

/* ---- interrupted downloads ---- */

/* A partial file of weights: named after a weight file, or a blob of a cache whose name says nothing. */
static bool partial_weights(const mc_file *f)
{
    if (f->role != MC_ROLE_PARTIAL && f->role != MC_ROLE_CONTROL)
        return false;
    mc_file whole = { .path = f->part_of, .base = mc_str_base(f->part_of) };
    mc_name_parse(&whole);
    return f->part_of.n == 0 || mc_str_starts(whole.base, "sha256-") || whole.role == MC_ROLE_WEIGHTS;
}

void mc_check_interrupted(mc_check *cx)
{
    const mc_model *m = cx->model;
    uint32_t first = MC_NONE;
    uint64_t bytes = 0, n = 0;
    for (uint32_t i = 0; i < m->n_files; i++) {
        if (m->files[i].role == MC_ROLE_WEIGHTS)
            return;
        if (!partial_weights(&m->files[i]))
            continue;
        first = first == MC_NONE ? i : first;
        n++;
        if (ckd_add(&bytes, bytes, m->files[i].size))
            bytes = UINT64_MAX;
    }
    if (first == MC_NONE)
        return;
    mc_str      size = mc_size_text(cx->arena, bytes), path = m->files[first].path;
    mc_finding *out = mc_report(cx, MC_NONE, "no weights are here: their download stopped (%.*s, %.*s so far)", MC_FMT(path), MC_FMT(size));
    mc_count(out, (size_t)n);
    mc_because(cx, out, "partial download", mc_origin_at(first, ""), "%llu bytes", (ull)m->files[first].size);
    mc_fix(cx, out, "run the download again; if it does not resume, delete %.*s first", MC_FMT(path));
}
