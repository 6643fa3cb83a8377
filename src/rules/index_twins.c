/* MC207, MC208: names that two files of the read set store. Who wins depends on the loader. */
#include "rules/index.h"

typedef struct { size_t n; const mc_tensor *copy, *chosen; mc_str samples[MC_SAMPLES]; } pile; /* by file of the copy */

/* Files without an index of which loaders take all: one model in files of one name, beside its configuration. */
static bool one_model(const mc_model *m, uint32_t c)
{
    const mc_component *comp = &m->components[c];
    bool config = false;
    for (uint32_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        config |= f->role == MC_ROLE_CONFIG && f->component == c;
        if (f->role == MC_ROLE_INDEX && f->component == c && mc_file_read(m, i))
            return false; /* an index that cannot be read: which copy it names is not known */
    }
    if (!config || comp->set == MC_NONE || m->sets[comp->set].container != MC_FMT_SAFETENSORS)
        return false;
    return m->sets[comp->set].total > 0 || mc_str_starts(m->sets[comp->set].stem, "model");
}

static bool model_file(const mc_model *m, const mc_component *comp, const mc_tensor *t)
{
    const mc_file *f = &m->files[t->file];
    return f->variant.n == 0 && (f->set == comp->set || mc_str_starts(f->stem, "model"));
}

static bool equal(const mc_tensor *a, const mc_tensor *b)
{
    return a->dtype == b->dtype && mc_same_shape(a, b);
}

/* The copy that counts: the one the index names; without an index the first. NULL: the index names none of them. */
static const mc_tensor *choose(const mc_index *ix, const mc_tensor *first, bool *unknown)
{
    if (!ix)
        return first;
    uint32_t id = mc_strset_find(&ix->keys, first->name);
    if (id == MC_NO_ID)
        return NULL;
    const mc_shard *s = &ix->shards[ix->map[id].shard];
    *unknown = s->state != MC_SHARD_PRESENT;
    for (const mc_tensor *t = first; t; t = t->twin)
        if (t->file == s->file)
            return t;
    return NULL;
}

static void add(pile *p, const mc_tensor *copy, const mc_tensor *chosen)
{
    pile *f = &p[copy->file];
    if (f->n == 0) {
        f->copy = copy;
        f->chosen = chosen;
    }
    if (f->n < MC_SAMPLES)
        f->samples[f->n] = copy->name;
    f->n++;
}

/* Sorts the copies of one name: into conflicts, or into repetitions that the index settles. */
static void judge(const mc_model *m, const mc_index *ix, const mc_component *comp, const mc_tensor *first, pile *conflict, pile *repeated)
{
    bool unknown = false;
    const mc_tensor *chosen = choose(ix, first, &unknown), *base = chosen ? chosen : first;
    if (unknown)
        return;
    for (const mc_tensor *t = first; t; t = t->twin) {
        if (t == base || t->file == base->file) /* twice in one file: MC303 */
            continue;
        if (!ix && (!model_file(m, comp, t) || !model_file(m, comp, base)))
            continue;
        bool same = equal(t, base);
        if (same && (t->begin == t->end || (!ix && mc_name_is_buffer(t->name))))
            continue;
        add(same && ix && chosen ? repeated : conflict, t, base);
    }
}

static void report(mc_check *cx, const pile *v, const mc_index *ix, bool conflict)
{
    const mc_model *m = cx->model;
    for (uint32_t f = 0; f < m->n_files; f++) {
        const pile *p = &v[f];
        if (p->n == 0)
            continue;
        mc_str other = mc_file_path(m, p->chosen->file), a = mc_typed_shape(cx->arena, cx->kb, p->copy), b = mc_typed_shape(cx->arena, cx->kb, p->chosen);
        mc_finding *out;
        if (!conflict)
            out = mc_report(cx, f, "%zu tensor%s stored here and in %.*s (%.*s); the index chooses the latter, loaders that merge files may not", p->n,
                            p->n == 1 ? " is" : "s are", MC_FMT(other), MC_FMT(p->samples[0]));
        else if (equal(p->copy, p->chosen))
            out = mc_report(cx, f, "%zu tensor%s stored here and in %.*s (%.*s), and no index says which copy counts", p->n, p->n == 1 ? " is" : "s are",
                            MC_FMT(other), MC_FMT(p->samples[0]));
        else
            out = mc_report(cx, f, "%zu tensor%s stored here and in %.*s, not alike: %.*s is %.*s here and %.*s there", p->n, p->n == 1 ? " is" : "s are", MC_FMT(other),
                            MC_FMT(p->samples[0]), MC_FMT(a), MC_FMT(b));
        for (size_t i = 0; i < p->n && i < MC_SAMPLES; i++)
            mc_subject(out, p->samples[i]);
        mc_count(out, p->n);
        mc_because(cx, out, "here", mc_origin_at(f, ""), "%.*s", MC_FMT(a));
        mc_because(cx, out, "there", mc_origin_at(p->chosen->file, ""), "%.*s", MC_FMT(b));
        if (ix)
            mc_because(cx, out, "index", mc_origin_at(ix->file, "/weight_map"), "names %.*s", MC_FMT(other));
    }
}

/* Without an index, vLLM and MLX read numbered files beside model.safetensors, Transformers does not: names in both conflict.
 * The single file is what is read here, so the numbered ones are not in the inventory. */
static void beside_single(const mc_model *m, uint32_t c, pile *conflict)
{
    const mc_component *comp = &m->components[c];
    for (uint32_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        if (f->component != c || f->role != MC_ROLE_WEIGHTS || f->promised != MC_FMT_SAFETENSORS || f->in_read_set || f->shards == 0 || f->variant.n ||
            !mc_str_is(f->stem, "model") || !mc_header_usable(f))
            continue;
        for (size_t t = 0; t < f->n_tensors; t++) {
            const mc_tensor *read = mc_inventory_find(&comp->inv, f->tensors[t].name);
            if (read && !mc_name_is_buffer(read->name))
                add(conflict, read, &f->tensors[t]);
        }
    }
}

static bool has_twins(const mc_inventory *inv)
{
    for (size_t i = 0; i < inv->names.n; i++)
        if (inv->first[i]->twin)
            return true;
    return false;
}

static void twins_of(mc_check *cx, uint32_t c, const mc_rule *conflict_rule, const mc_rule *repeated_rule)
{
    const mc_model     *m = cx->model;
    const mc_component *comp = &m->components[c];
    const mc_index     *ix = mc_ruling_index(m, c);
    bool single = !ix && comp->set != MC_NONE && mc_str_is(m->sets[comp->set].stem, "model") && m->sets[comp->set].total == 0;
    if ((!ix && !one_model(m, c)) || (!single && !has_twins(&comp->inv)))
        return;
    pile *conflict = MC_NEW(cx->arena, pile, m->n_files), *repeated = MC_NEW(cx->arena, pile, m->n_files);
    if (!conflict || !repeated)
        return;
    for (size_t i = 0; i < comp->inv.names.n; i++)
        if (comp->inv.first[i]->twin)
            judge(m, ix, comp, comp->inv.first[i], conflict, repeated);
    if (single)
        beside_single(m, c, conflict);
    cx->rule = conflict_rule;
    report(cx, conflict, ix, true);
    cx->rule = repeated_rule;
    report(cx, repeated, ix, false);
}

void mc_check_twins(mc_check *cx)
{
    const mc_rule *own = cx->rule, *repeated = mc_rule_find(MC_STR("MC208"));
    for (uint32_t c = 0; c < cx->model->n_components && repeated; c++)
        if (cx->model->components[c].kind != MC_COMP_COPY)
            twins_of(cx, c, own, repeated);
    cx->rule = own;
}
