/* MC201, MC211-MC213: the index as a document: can it be used, is it there, and is its metadata right? */
#include "rules/index.h"

typedef unsigned long long ull;

/* ---- MC201 ---- */

static const mc_shard *wrong_kind(const mc_index *ix)
{
    for (size_t i = 0; i < ix->n_shards; i++)
        if (ix->shards[i].state == MC_SHARD_WRONG_KIND)
            return &ix->shards[i];
    return NULL;
}

static void unusable(mc_check *cx, const mc_index *ix)
{
    const mc_shard *odd = wrong_kind(ix);
    mc_finding     *out;
    if (ix->err.code != MC_OK) {
        const char *hint = ix->hint ? ix->hint : "";
        out = mc_report(cx, ix->file, "%s at byte %llu%s%s", ix->err.what ? ix->err.what : "invalid JSON", (ull)ix->err.at, ix->hint ? ": " : "", hint);
        mc_because(cx, out, "index", mc_origin_at(ix->file, ""), "%s", ix->err.what ? ix->err.what : "invalid JSON");
    } else if (ix->conflict.n) {
        out = mc_report(cx, ix->file, "weight_map lists %.*s twice, with different files", MC_FMT(ix->conflict));
        mc_subject(out, ix->conflict);
    } else if (ix->n_bad_values) {
        out = mc_report(cx, ix->file, "%zu value%s of weight_map %s no file name", ix->n_bad_values, ix->n_bad_values == 1 ? "" : "s", ix->n_bad_values == 1 ? "is" : "are");
        mc_subject(out, ix->bad_value_key);
        mc_count(out, ix->n_bad_values);
        mc_because(cx, out, "first", mc_origin_at(ix->file, "/weight_map"), "%.*s", MC_FMT(ix->bad_value_key));
    } else if (odd) {
        out = mc_report(cx, ix->file, "weight_map names %.*s, which is no weight file, for %zu tensors", MC_FMT(odd->name), odd->n_tensors);
        mc_subject(out, odd->name);
    }
}

void mc_check_index(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (size_t i = 0; i < m->n_indexes; i++) {
        const mc_index *ix = &m->indexes[i];
        if (ix->rules && !ix->valid && ix->component < m->n_components && m->components[ix->component].kind != MC_COMP_COPY)
            unusable(cx, ix);
    }
}

/* ---- MC213 ---- */

void mc_check_metadata(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (uint32_t c = 0; c < m->n_components; c++) {
        const mc_index *ix = mc_ruling_index(m, c);
        if (!ix || (ix->metadata != MC_INDEX_META_ABSENT && ix->metadata != MC_INDEX_META_NULL))
            continue;
        const char *what = ix->metadata == MC_INDEX_META_NULL ? "null" : "absent";
        mc_finding *out = mc_report(cx, ix->file, "metadata is %s: Transformers stops on it (%s), other loaders do not mind", what,
                                    ix->metadata == MC_INDEX_META_NULL ? "TypeError" : "KeyError");
        mc_because(cx, out, "metadata", mc_origin_at(ix->file, "/metadata"), "%s", what);
    }
}

/* ---- MC211 ---- */

static bool has_config(const mc_model *m, uint32_t c)
{
    for (uint32_t i = 0; i < m->n_files; i++)
        if (m->files[i].role == MC_ROLE_CONFIG && m->files[i].component == c)
            return true;
    return false;
}

/* model.safetensors or an index of it, readable or not. */
static bool has_single_or_index(const mc_model *m, uint32_t c)
{
    for (uint32_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        if (f->component == c && (mc_str_is(f->base, "model.safetensors") || mc_str_is(f->base, "model.safetensors.index.json")))
            return true;
    }
    return false;
}

void mc_check_no_index(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (uint32_t c = 0; c < m->n_components && !m->alone; c++) {
        const mc_component *comp = &m->components[c];
        if (comp->kind == MC_COMP_COPY || comp->set == MC_NONE || comp->index != MC_NONE)
            continue;
        const mc_set *s = &m->sets[comp->set];
        if (s->container != MC_FMT_SAFETENSORS || s->total < 2 || s->n_files < 2 || !mc_str_is(s->stem, "model") || s->variant.n != 0)
            continue;
        if (!mc_str_starts(m->files[s->files[0]].base, "model-") || mc_set_has_hole(m, s) || has_single_or_index(m, c) || !has_config(m, c))
            continue;
        mc_finding *out = mc_report(cx, MC_NONE, "%zu shards in %s%.*s but no model.safetensors.index.json: Transformers finds no weights, vLLM and MLX do", s->n_files,
                                    comp->dir.n ? "" : "the model's directory", MC_FMT(comp->dir));
        mc_subject(out, m->files[s->files[0]].path);
        mc_because(cx, out, "shards", mc_origin_at(s->files[0], ""), "%zu of %llu, without an index", s->n_files, (ull)s->total);
    }
}

/* ---- MC212 ---- */

typedef struct { uint64_t all, once, embedding, files; bool overflow; } sums;

static void add(sums *s, uint64_t *to, uint64_t n)
{
    s->overflow |= ckd_add(to, *to, n);
}

/* Every way in which writers count. */
static sums count(const mc_model *m, const mc_index *ix)
{
    const mc_inventory *inv = &m->components[ix->component].inv;
    sums s = { 0 };
    for (size_t i = 0; i < inv->names.n; i++) {
        const mc_tensor *t = inv->first[i];
        uint64_t n = t->end - t->begin;
        add(&s, &s.once, n);
        if (n > s.embedding && mc_name_is_embedding(t->name))
            s.embedding = n;
        for (; t; t = t->twin)
            add(&s, &s.all, t->end - t->begin);
    }
    for (size_t i = 0; i < ix->n_shards; i++)
        if (ix->shards[i].file != MC_NONE)
            add(&s, &s.files, m->files[ix->shards[i].file].size);
    return s;
}

static bool near(uint64_t claimed, uint64_t actual)
{
    uint64_t d = claimed > actual ? claimed - actual : actual - claimed;
    return d <= actual / 100;
}

void mc_check_total(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (uint32_t c = 0; c < m->n_components; c++) {
        const mc_index *ix = mc_ruling_index(m, c);
        if (!ix || !ix->total_size.known || ix->total_size.v < 0 || m->files[ix->file].promised != MC_FMT_SAFETENSORS || !m->components[c].inv.complete)
            continue;
        uint64_t claimed = (uint64_t)ix->total_size.v;
        sums     s = count(m, ix);
        if (s.overflow || s.all == 0 || near(claimed, s.all) || near(claimed, s.once) || near(claimed, s.files) || near(claimed, s.all + s.embedding) ||
            near(claimed, s.once + s.embedding))
            continue;
        mc_str      says = mc_size_text(cx->arena, claimed), hold = mc_size_text(cx->arena, s.all);
        mc_finding *out = mc_report(cx, ix->file, "metadata.total_size says %.*s, the shards hold %.*s (%.2f times as much)", MC_FMT(says), MC_FMT(hold),
                                    (double)claimed / (double)s.all);
        mc_because(cx, out, "total_size", mc_origin_at(ix->file, "/metadata/total_size"), "%llu", (ull)claimed);
        mc_because(cx, out, "tensor bytes", mc_origin_at(ix->file, ""), "%llu", (ull)s.all);
    }
}
