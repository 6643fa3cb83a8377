/* MC203, MC205, MC206, MC214: the names of the index against the names in the headers, in one pass over each. */
#include "rules/index.h"

typedef struct {
    const mc_index     *ix;
    const mc_inventory *inv;
    const mc_tensor   **stored;     /* by line of weight_map: the first tensor of that name, NULL if none */
    size_t             *unlisted;   /* by file: tensors that the index does not list */
    mc_str             *samples;    /* by file: the first MC_SAMPLES of them */
    size_t              n_unlisted;
} join;

/* The tensor need not be listed. */
static bool need_not_be_listed(const mc_tensor *t)
{
    return t->begin == t->end || t->twin || mc_name_is_buffer(t->name);
}

static bool pair_up(mc_check *cx, join *j)
{
    size_t files = cx->model->n_files;
    j->stored = MC_NEW(cx->arena, const mc_tensor *, j->ix->n_map);
    j->unlisted = MC_NEW(cx->arena, size_t, files);
    j->samples = MC_NEW(cx->arena, mc_str, files * MC_SAMPLES);
    if (!j->stored || !j->unlisted || !j->samples)
        return false;
    for (size_t i = 0; i < j->inv->names.n; i++) {
        const mc_tensor *t = j->inv->first[i];
        uint32_t         id = mc_strset_find_hashed(&j->ix->keys, t->name, t->hash);
        if (i + MC_TOUCH_AHEAD < j->inv->names.n)
            mc_strset_touch(&j->ix->keys, j->inv->first[i + MC_TOUCH_AHEAD]->hash);
        if (id != MC_NO_ID) {
            j->stored[id] = t;
        } else if (!need_not_be_listed(t)) {
            if (j->unlisted[t->file] < MC_SAMPLES)
                j->samples[t->file * MC_SAMPLES + j->unlisted[t->file]] = t->name;
            j->unlisted[t->file]++;
            j->n_unlisted++;
        }
    }
    return true;
}

static bool as_rule(mc_check *cx, const char *code)
{
    cx->rule = mc_rule_find(mc_str_of(code));
    return cx->rule != NULL;
}

/* ---- MC205 ---- */

static void unlisted(mc_check *cx, const join *j)
{
    const mc_model *m = cx->model;
    if (j->n_unlisted == 0 || !as_rule(cx, "MC205"))
        return;
    for (size_t s = 0; s < j->ix->n_shards; s++) {
        uint32_t f = j->ix->shards[s].file;
        if (f == MC_NONE || j->unlisted[f] == 0 || !mc_header_usable(&m->files[f]))
            continue;
        size_t      n = j->unlisted[f];
        mc_finding *out = mc_report(cx, f, "%zu of %zu tensors %s missing from the index (%.*s%s)", n, m->files[f].n_tensors, n == 1 ? "is" : "are",
                                    MC_FMT(j->samples[f * MC_SAMPLES]), n > 1 ? ", ..." : "");
        for (size_t i = 0; i < n && i < MC_SAMPLES; i++)
            mc_subject(out, j->samples[f * MC_SAMPLES + i]);
        mc_count(out, n);
        mc_because(cx, out, "index", mc_origin_at(j->ix->file, "/weight_map"), "lists %zu names", j->ix->n_map);
        j->unlisted[f] = 0; /* a shard is listed once, but be sure */
    }
}

/* ---- MC203, MC206, MC214 ---- */

typedef struct { size_t n, first; mc_str samples[MC_SAMPLES]; const mc_tensor *found; } lines;

static void add(lines *l, size_t line, mc_str name, const mc_tensor *found)
{
    if (l->n == 0) {
        l->first = line;
        l->found = found;
    }
    if (l->n < MC_SAMPLES)
        l->samples[l->n] = name;
    l->n++;
}

static bool stored_in(const mc_tensor *t, uint32_t file)
{
    for (; t; t = t->twin)
        if (t->file == file)
            return true;
    return false;
}

typedef struct { bool looked; const mc_tensor *head, *embedding, *shared; } ends;

static void look_for_ends(const mc_inventory *inv, ends *e)
{
    e->looked = true;
    for (size_t i = 0; i < inv->names.n; i++) {
        mc_str name = inv->names.keys[i];
        if (!e->head && mc_name_is_head(name))
            e->head = inv->first[i];
        if (!e->embedding && mc_name_is_embedding(name))
            e->embedding = inv->first[i];
        if (mc_str_is(name, "shared.weight"))
            e->shared = inv->first[i];
    }
}

/* What a missing head or embedding is tied to; NULL when nothing says that the two are one. */
static const mc_tensor *tied_twin(const mc_model *m, const join *j, ends *e, mc_str name)
{
    bool head = mc_name_is_head(name), embedding = mc_name_is_embedding(name);
    if ((!head && !embedding) || j->ix->component != 0 || !m->arch.tie.known || !m->arch.tie.v)
        return NULL;
    if (!e->looked)
        look_for_ends(j->inv, e);
    return head ? e->embedding : e->head ? e->head : e->shared;
}

static mc_finding *report_lines(mc_check *cx, mc_finding *out, const lines *l, const mc_index *ix)
{
    const mc_shard *s = &ix->shards[ix->map[l->first].shard];
    for (size_t i = 0; i < l->n && i < MC_SAMPLES; i++)
        mc_subject(out, l->samples[i]);
    mc_count(out, l->n);
    mc_because(cx, out, "entry", mc_origin_at(ix->file, "/weight_map"), "%.*s -> %.*s", MC_FMT(l->samples[0]), MC_FMT(s->name));
    return out;
}

static void report_misses(mc_check *cx, const mc_index *ix, const lines *nowhere, const lines *tied, const lines *elsewhere)
{
    if (nowhere->n && as_rule(cx, "MC203")) {
        mc_str shard = ix->shards[ix->map[nowhere->first].shard].name;
        report_lines(cx, mc_report(cx, ix->file, "%zu tensor%s of the index %s stored in no shard: %.*s is not in %.*s", nowhere->n, nowhere->n == 1 ? "" : "s",
                                   nowhere->n == 1 ? "is" : "are", MC_FMT(nowhere->samples[0]), MC_FMT(shard)), nowhere, ix);
    }
    if (tied->n && as_rule(cx, "MC206")) {
        mc_finding *out = report_lines(cx, mc_report(cx, ix->file, "the index lists %.*s, but only its tied twin %.*s is stored", MC_FMT(tied->samples[0]),
                                                     MC_FMT(tied->found->name)), tied, ix);
        mc_because(cx, out, "tie_word_embeddings", cx->model->arch.tie.from, "true");
    }
    if (elsewhere->n && as_rule(cx, "MC214")) {
        mc_str shard = ix->shards[ix->map[elsewhere->first].shard].name, other = mc_file_path(cx->model, elsewhere->found->file);
        report_lines(cx, mc_report(cx, ix->file, "%zu tensor%s in another shard than the index says: %.*s is not in %.*s but in %.*s", elsewhere->n,
                                   elsewhere->n == 1 ? " is" : "s are", MC_FMT(elsewhere->samples[0]), MC_FMT(shard), MC_FMT(other)), elsewhere, ix);
    }
}

static void misses(mc_check *cx, const join *j)
{
    const mc_model *m = cx->model;
    const mc_index *ix = j->ix;
    lines nowhere = { 0 }, tied = { 0 }, elsewhere = { 0 };
    ends  stored_ends = { 0 };
    for (size_t i = 0; i < ix->n_map; i++) {
        const mc_shard *s = &ix->shards[ix->map[i].shard];
        mc_str          name = ix->map[i].tensor;
        if (s->state != MC_SHARD_PRESENT || s->file == MC_NONE || stored_in(j->stored[i], s->file) || !mc_header_usable(&m->files[s->file]) || mc_name_is_buffer(name))
            continue;
        const mc_tensor *twin = j->stored[i] ? NULL : tied_twin(m, j, &stored_ends, name);
        if (j->stored[i])
            add(&elsewhere, i, name, j->stored[i]);
        else if (twin)
            add(&tied, i, name, twin);
        else
            add(&nowhere, i, name, NULL);
    }
    report_misses(cx, ix, &nowhere, &tied, &elsewhere);
}

void mc_check_join(mc_check *cx)
{
    const mc_model *m = cx->model;
    const mc_rule  *own = cx->rule;
    for (uint32_t c = 0; c < m->n_components; c++) {
        join j = { .ix = mc_ruling_index(m, c), .inv = &m->components[c].inv };
        if (!j.ix || m->files[j.ix->file].promised != MC_FMT_SAFETENSORS || !pair_up(cx, &j))
            continue;
        misses(cx, &j);
        unlisted(cx, &j);
    }
    cx->rule = own;
}
