/* MC106, MC107: are all files of the set there? The index decides when there is one, the numbers only when there is none. */
#include "rules/index.h"

#include <inttypes.h>

typedef unsigned long long ull;

/* ---- MC106 (a): by the index ---- */

/* Partial downloads of absent shards are evidence here, not findings of their own. */
static void add_partials(mc_check *cx, mc_finding *out, mc_str dir, const mc_strset *absent)
{
    const mc_model *m = cx->model;
    for (uint32_t i = 0; i < m->n_files && out->n_evidence < MC_EVIDENCE; i++) {
        const mc_file *f = &m->files[i];
        if (f->role != MC_ROLE_PARTIAL && f->role != MC_ROLE_CONTROL)
            continue;
        bool   below = mc_str_eq(mc_str_cut(f->part_of, 0, dir.n), dir);
        mc_str of = below ? mc_str_cut(f->part_of, dir.n, f->part_of.n) : f->part_of;
        if (f->part_of.n == 0 || mc_strset_find(absent, of) != MC_NO_ID)
            mc_because(cx, out, "partial download", mc_origin_at(i, ""), "%llu bytes", (ull)f->size);
    }
}

/* What the absent shards must weigh: the recorded total without what is stored. False when that says nothing. */
static bool absent_bytes(const mc_model *m, const mc_index *ix, uint64_t *out)
{
    uint64_t stored = m->components[ix->component].inv.bytes;
    if (!ix->total_size.known || ix->total_size.v <= 0 || (uint64_t)ix->total_size.v <= stored)
        return false;
    *out = (uint64_t)ix->total_size.v - stored;
    return true;
}

/* A snapshot of a cache that holds documents only was asked for like that (MC903), unless a partial blob proves otherwise. */
static bool documents_only(const mc_model *m, const mc_index *ix, size_t absent)
{
    if (m->unit != MC_UNIT_CACHE || absent < ix->n_shards)
        return false;
    for (uint32_t i = 0; i < m->n_files; i++)
        if (m->files[i].role == MC_ROLE_PARTIAL)
            return false;
    return true;
}

static void missing_by_index(mc_check *cx, const mc_index *ix)
{
    const mc_model *m = cx->model;
    size_t    absent = mc_absent_shards(ix), tensors = 0;
    mc_strset set;
    mc_names  names = { 0 };
    mc_stale  stale;
    uint64_t  bytes;
    if (absent == 0 || documents_only(m, ix, absent) || mc_index_is_stale(cx, ix, &stale) || !mc_absent_names(cx->arena, ix, &set))
        return;
    for (size_t i = 0; i < set.n; i++)
        mc_names_add(cx->arena, &names, set.keys[i]);
    for (size_t i = 0; i < ix->n_shards; i++)
        tensors += ix->shards[i].state == MC_SHARD_ABSENT ? ix->shards[i].n_tensors : 0;
    mc_str      list = mc_names_text(cx->arena, &names), size = MC_STR("");
    if (absent_bytes(m, ix, &bytes)) {
        mc_str s = mc_size_text(cx->arena, bytes);
        size = mc_format(cx->arena, ", about %.*s", MC_FMT(s));
    }
    mc_finding *out = mc_report(cx, ix->file, "%zu of %zu shards %s missing (%.*s); %s %zu of %zu tensors%.*s", absent, ix->n_shards, absent == 1 ? "is" : "are",
                                MC_FMT(list), absent == 1 ? "it holds" : "they hold", tensors, ix->n_map, MC_FMT(size));
    for (size_t i = 0; i < set.n; i++)
        mc_subject(out, set.keys[i]);
    mc_because(cx, out, "absent", mc_origin_at(ix->file, "/weight_map"), "named for %zu of %zu tensors", tensors, ix->n_map);
    if (ix->total_size.known)
        mc_because(cx, out, "total_size", mc_origin_at(ix->file, "/metadata/total_size"), "%lld bytes in all", (long long)ix->total_size.v);
    add_partials(cx, out, m->components[ix->component].dir, &set);
}

/* ---- MC106 (b): by the numbers ---- */

bool mc_set_has_hole(const mc_model *m, const mc_set *s)
{
    uint64_t n = 0, low = UINT64_MAX, high = 0, last = 0;
    if (s->total == 0)
        return false;
    for (size_t i = 0; i < s->n_files; i++) { /* in order of number */
        const mc_file *f = &m->files[s->files[i]];
        if (!f->numbered || f->link == MC_LINK_DANGLING || (n > 0 && f->shard == last))
            continue;
        n++;
        last = f->shard;
        low = f->shard < low ? f->shard : low;
        high = f->shard > high ? f->shard : high;
    }
    return n > 0 && !((low == 1 && high == s->total && n == s->total) || (low == 0 && high == s->total && n - 1 == s->total) ||
                      (low == 0 && high == s->total - 1 && n == s->total));
}

/* The name of shard k, made from that of a file of the set. Numbers are padded if one of the two in the name is. */
static mc_str shard_name(mc_check *cx, const mc_file *f, uint64_t k)
{
    size_t of = 0, width = 1;
    while (of + 4 <= f->base.n && !mc_str_starts(mc_str_cut(f->base, of, f->base.n), "-of-"))
        of++;
    size_t from = of;
    while (from > 0 && f->base.p[from - 1] >= '0' && f->base.p[from - 1] <= '9')
        from--;
    if (f->base.p[from] == '0' || (of + 4 < f->base.n && f->base.p[of + 4] == '0'))
        width = of - from;
    mc_str head = mc_str_cut(f->base, 0, from), tail = mc_str_cut(f->base, of, f->base.n);
    return mc_format(cx->arena, "%.*s%0*" PRIu64 "%.*s", MC_FMT(head), (int)width, k, MC_FMT(tail));
}

static void missing_by_number(mc_check *cx, const mc_set *s)
{
    const mc_model *m = cx->model;
    const mc_file  *first = &m->files[s->files[0]];
    size_t   n = s->n_files + MC_SAMPLES + 2, present = 0;
    bool    *there = MC_NEW(cx->arena, bool, n); /* the first holes are among the first n numbers */
    bool     zero = false;
    mc_names names = { 0 };
    for (size_t i = 0; there && i < s->n_files; i++) {
        uint64_t k = m->files[s->files[i]].shard;
        zero |= k == 0;
        present += k >= n || !there[k];
        if (k < n)
            there[k] = true;
    }
    for (uint64_t k = !zero; there && k < n && k - !zero < s->total && names.n < MC_SAMPLES; k++)
        if (!there[k])
            mc_names_add(cx->arena, &names, shard_name(cx, first, k));
    uint64_t absent = s->total > present ? s->total - present : 1;
    names.n = absent > names.n ? (size_t)absent : names.n;
    mc_str      list = mc_names_text(cx->arena, &names);
    mc_finding *out = mc_report(cx, MC_NONE, "%llu of %llu shards %s missing (%.*s), and no index says more", (ull)absent, (ull)s->total, absent == 1 ? "is" : "are", MC_FMT(list));
    mc_count(out, (size_t)absent);
    mc_because(cx, out, "present", mc_origin_at(s->files[0], ""), "%zu numbered -of-%llu", present, (ull)s->total);
}

static bool has_index_file(const mc_model *m, uint32_t component)
{
    for (uint32_t i = 0; i < m->n_files; i++)
        if (m->files[i].role == MC_ROLE_INDEX && m->files[i].component == component && mc_file_read(m, i))
            return true;
    return false;
}

static bool numbered_set(const mc_set *s, uint32_t component)
{
    return s->component == component && s->read && s->total > 0 && (s->container == MC_FMT_SAFETENSORS || s->container == MC_FMT_TORCH);
}

/* Sets whose numbers have a hole, unless a whole set of the same stem is read as well: then they are left over. */
static void holes_of(mc_check *cx, uint32_t component)
{
    const mc_model *m = cx->model;
    mc_strset       whole;
    if (!mc_strset_init(&whole, cx->arena, 8))
        return;
    for (size_t i = 0; i < m->n_sets; i++)
        if (m->sets[i].component == component && m->sets[i].read && m->sets[i].complete && mc_strset_add(&whole, m->sets[i].stem, NULL) == MC_NO_ID)
            return;
    for (size_t i = 0; i < m->n_sets; i++)
        if (numbered_set(&m->sets[i], component) && mc_strset_find(&whole, m->sets[i].stem) == MC_NO_ID && mc_set_has_hole(m, &m->sets[i]))
            missing_by_number(cx, &m->sets[i]);
}

void mc_check_shards(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (uint32_t c = 0; c < m->n_components && !m->alone; c++) {
        const mc_index *ix = mc_ruling_index(m, c);
        if (ix)
            missing_by_index(cx, ix);
        else if (m->components[c].kind != MC_COMP_COPY && m->components[c].set != MC_NONE && !has_index_file(m, c))
            holes_of(cx, c);
    }
}

/* ---- MC107 ---- */

typedef struct { uint32_t first; uint64_t low, high, n; bool known, listed; } run;

/* Tensor names of the numbered files: false if one occurs twice or a header could not be read. `layers` gets layer numbers. */
static bool distinct(mc_check *cx, uint32_t component, mc_str stem, const run *r, bool *layers_stored)
{
    const mc_model *m = cx->model;
    mc_strset names;
    uint64_t  span = r->high - r->low + 1, seen = 0, layer;
    bool     *stored = span <= 100000 ? MC_NEW(cx->arena, bool, (size_t)span) : NULL;
    if (!stored || !mc_strset_init(&names, cx->arena, 64))
        return false;
    for (uint32_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        if (f->component != component || f->role != MC_ROLE_WEIGHTS || !f->numbered || f->shards != 0 || !mc_str_eq(f->stem, stem))
            continue;
        if (!mc_header_usable(f))
            return false;
        for (size_t t = 0; t < f->n_tensors; t++) {
            bool added;
            if (mc_strset_add(&names, f->tensors[t].name, &added) == MC_NO_ID || !added)
                return false;
            if (mc_name_layer(f->tensors[t].name, &layer) && layer >= r->low && layer <= r->high && !stored[layer - r->low]) {
                stored[layer - r->low] = true;
                seen++;
            }
        }
    }
    *layers_stored = seen == span;
    return true;
}

static void report_gap(mc_check *cx, uint32_t component, mc_str stem, const run *r, uint64_t missing)
{
    bool layers = false;
    bool meta = mc_str_is(stem, "consolidated") && cx->model->files[r->first].promised == MC_FMT_TORCH;
    if (!meta && (!distinct(cx, component, stem, r, &layers) || layers))
        return;
    mc_finding *out = mc_report(cx, MC_NONE, "no file number %llu of %.*s is here (found %llu to %llu): a piece may be missing", (ull)missing, MC_FMT(stem), (ull)r->low,
                                (ull)r->high);
    mc_because(cx, out, "numbered files", mc_origin_at(r->first, ""), "%llu of %llu", (ull)r->n, (ull)(r->high - r->low + 1));
}

/* The first number between low and high that no file has. */
static uint64_t first_hole(mc_check *cx, uint32_t component, mc_str stem, const run *r)
{
    const mc_model *m = cx->model;
    size_t n = r->n < 100000 ? (size_t)r->n + 1 : 100000;
    bool  *there = MC_NEW(cx->arena, bool, n);
    for (uint32_t i = 0; there && i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        if (f->component == component && f->role == MC_ROLE_WEIGHTS && f->numbered && f->shards == 0 && mc_str_eq(f->stem, stem) && f->shard - r->low < n)
            there[f->shard - r->low] = true;
    }
    size_t k = 0;
    while (there && k < n && there[k])
        k++;
    return r->low + k;
}

static void gaps_of(mc_check *cx, uint32_t c)
{
    const mc_model *m = cx->model;
    mc_strset stems;
    run      *v = NULL;
    size_t    cap = 0;
    if (!mc_strset_init(&stems, cx->arena, 8))
        return;
    for (uint32_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        if (f->component != c || f->role != MC_ROLE_WEIGHTS || !f->in_read_set || !f->numbered || f->shards != 0)
            continue;
        bool     added;
        uint32_t id = mc_strset_add(&stems, f->stem, &added);
        if (id == MC_NO_ID || (added && !(v = mc_grow(cx->arena, v, id, &cap, sizeof *v))) || !v)
            return;
        if (added)
            v[id] = (run){ .first = i, .low = f->shard, .high = f->shard };
        v[id].n++;
        v[id].low = f->shard < v[id].low ? f->shard : v[id].low;
        v[id].high = f->shard > v[id].high ? f->shard : v[id].high;
    }
    for (size_t i = 0; v && i < stems.n; i++) {
        bool longer_from_zero = false;
        for (size_t k = 0; k < stems.n && v[i].low == 1 && stems.n < 1000; k++)
            longer_from_zero |= v[k].low == 0 && stems.keys[k].n > stems.keys[i].n && mc_str_eq(mc_str_cut(stems.keys[k], 0, stems.keys[i].n), stems.keys[i]);
        if (v[i].n >= 2 && v[i].high - v[i].low >= v[i].n)
            report_gap(cx, c, stems.keys[i], &v[i], first_hole(cx, c, stems.keys[i], &v[i]));
        else if (v[i].n >= 2 && longer_from_zero)
            report_gap(cx, c, stems.keys[i], &v[i], 0);
    }
}

void mc_check_gap(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (uint32_t c = 0; c < m->n_components && !m->alone; c++)
        if (m->components[c].kind != MC_COMP_COPY && !has_index_file(m, c))
            gaps_of(cx, c);
}
