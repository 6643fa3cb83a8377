/* MC202, MC204, MC209: weight files beside the indexed ones. Do they replace what is absent, were they forgotten, or are they
 * left over? */
#include "rules/index.h"

typedef unsigned long long ull;

static uint32_t id_of(const mc_index *ix, mc_str tensor)
{
    return mc_strset_find(&ix->keys, tensor);
}

static const mc_shard *shard_of(const mc_index *ix, mc_str tensor)
{
    uint32_t id = id_of(ix, tensor);
    return id == MC_NO_ID ? NULL : &ix->shards[ix->map[id].shard];
}

/* The numbers in the name of a shard that may not exist. */
static mc_file parsed(mc_str name)
{
    mc_file f = { .path = name, .base = mc_str_base(name) };
    mc_name_parse(&f);
    return f;
}

/* ---- MC202 ---- */

/* Modules with a tensor in an absent file. */
static bool absent_modules(mc_check *cx, const mc_index *ix, mc_strset *out)
{
    if (!mc_strset_init(out, cx->arena, 64))
        return false;
    for (size_t i = 0; i < ix->n_map; i++)
        if (ix->shards[ix->map[i].shard].state == MC_SHARD_ABSENT && mc_strset_add(out, mc_name_module(ix->map[i].tensor), NULL) == MC_NO_ID)
            return false;
    return true;
}

static bool other_total(const mc_index *ix, const mc_file *f)
{
    for (size_t i = 0; i < ix->n_shards && f->shards > 0; i++) {
        mc_file s = parsed(ix->shards[i].name);
        if (ix->shards[i].state == MC_SHARD_ABSENT && s.shards > 0 && s.shards != f->shards && mc_str_eq(s.stem, f->stem))
            return true;
    }
    return false;
}

/* The file stands for something absent: it has its tensors, other tensors of its modules, or another total. */
static bool replaces(const mc_index *ix, const mc_file *f, const mc_strset *modules)
{
    for (size_t i = 0; i < f->n_tensors; i++) {
        const mc_shard *s = shard_of(ix, f->tensors[i].name);
        if (s ? s->state == MC_SHARD_ABSENT : mc_strset_find(modules, mc_name_module(f->tensors[i].name)) != MC_NO_ID)
            return true;
    }
    return other_total(ix, f);
}

/* Marks the lines of weight_map whose tensor the file holds; returns how many were new. */
static size_t mark(const mc_index *ix, const mc_file *f, bool *held)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n_tensors; i++) {
        uint32_t id = id_of(ix, f->tensors[i].name);
        if (id != MC_NO_ID && !held[id]) {
            held[id] = true;
            n++;
        }
    }
    return n;
}

static bool holds_all(mc_check *cx, const mc_index *ix, const mc_file *f)
{
    bool *held = f->n_tensors >= ix->keys.n ? MC_NEW(cx->arena, bool, ix->n_map) : NULL;
    return held && mark(ix, f, held) == ix->keys.n;
}

bool mc_index_is_stale(mc_check *cx, const mc_index *ix, mc_stale *out)
{
    const mc_model *m = cx->model;
    mc_strset named, modules, absent;
    bool     *held = NULL, stale = false;
    *out = (mc_stale){ .n_absent = mc_absent_shards(ix), .total = ix->n_map, .single = MC_NONE };
    if (out->n_absent == 0 || !mc_shard_names(cx->arena, ix, &named) || !mc_absent_names(cx->arena, ix, &absent) ||
        !absent_modules(cx, ix, &modules) || !(held = MC_NEW(cx->arena, bool, ix->n_map)))
        return false;
    for (size_t i = 0; i < absent.n; i++)
        mc_names_add(cx->arena, &out->absent, absent.keys[i]);
    for (size_t i = 0; i < ix->n_shards; i++)
        if (ix->shards[i].file != MC_NONE)
            out->held += mark(ix, &m->files[ix->shards[i].file], held);
    for (uint32_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        if (!mc_unindexed(m, ix, &named, i) || !replaces(ix, f, &modules))
            continue;
        stale = true;
        mc_names_add(cx->arena, &out->present, f->base);
        out->held += mark(ix, f, held);
        if (!f->numbered && mc_str_eq(f->stem, m->files[ix->file].stem) && holds_all(cx, ix, f))
            out->single = i;
    }
    return stale;
}

void mc_check_stale(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (uint32_t c = 0; c < m->n_components && !m->alone; c++) {
        const mc_index *ix = mc_ruling_index(m, c);
        mc_stale        s;
        if (!ix || !mc_index_is_stale(cx, ix, &s))
            continue;
        mc_str      absent = mc_names_text(cx->arena, &s.absent), present = mc_names_text(cx->arena, &s.present);
        mc_finding *out = mc_report(cx, ix->file, "the index names %zu absent file%s (%.*s) and not %.*s; the files here hold %zu of the %zu tensors it lists", s.n_absent,
                                    s.n_absent == 1 ? "" : "s", MC_FMT(absent), MC_FMT(present), s.held, s.total);
        mc_strset names;
        if (mc_absent_names(cx->arena, ix, &names))
            for (size_t i = 0; i < names.n; i++)
                mc_subject(out, names.keys[i]);
        mc_because(cx, out, "absent", mc_origin_at(ix->file, "/weight_map"), "%.*s", MC_FMT(absent));
        mc_because(cx, out, "not named", mc_origin_at(ix->file, "/weight_map"), "%.*s", MC_FMT(present));
        if (s.single != MC_NONE)
            mc_fix(cx, out, "%.*s holds every tensor: delete the index", MC_FMT(m->files[s.single].base));
        else if (s.held == s.total)
            mc_fix(cx, out, "every tensor of the index is here: write a new index from the headers");
    }
}

/* ---- MC204 ---- */

/* A tensor that a model cannot do without: in a numbered layer, an embedding or a head. */
static bool essential(mc_str name)
{
    uint64_t layer;
    return !mc_name_is_buffer(name) && (mc_name_layer(name, &layer) || mc_name_is_embedding(name) || mc_name_is_head(name));
}

/* The name belongs to the family of the index: same stem, total and extension as a file it names. */
static bool same_family(const mc_index *ix, const mc_file *f)
{
    for (size_t i = 0; i < ix->n_shards; i++) {
        mc_file s = parsed(ix->shards[i].name);
        if (s.shards == f->shards && s.promised == f->promised && mc_str_eq(s.stem, f->stem) && mc_str_eq(s.variant, f->variant))
            return true;
    }
    return false;
}

bool mc_forgotten_shard(const mc_model *m, const mc_index *ix, uint32_t file)
{
    const mc_file *f = &m->files[file];
    if (f->shards == 0 || !mc_header_usable(f) || !same_family(ix, f))
        return false;
    for (size_t i = 0; i < f->n_tensors; i++)
        if (id_of(ix, f->tensors[i].name) == MC_NO_ID && essential(f->tensors[i].name))
            return true;
    return false;
}

void mc_check_not_indexed(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (uint32_t c = 0; c < m->n_components && !m->alone; c++) {
        const mc_index *ix = mc_ruling_index(m, c);
        mc_strset       named;
        if (!ix || !mc_shard_names(cx->arena, ix, &named))
            continue;
        for (uint32_t i = 0; i < m->n_files; i++) {
            const mc_file *f = &m->files[i];
            if (f->shards == 0 || !mc_unindexed(m, ix, &named, i) || !mc_forgotten_shard(m, ix, i))
                continue;
            mc_str      size = mc_size_text(cx->arena, f->size);
            mc_finding *out = mc_report(cx, i, "the index does not name this shard (%zu tensors, %.*s): loaders that follow it leave these weights out", f->n_tensors, MC_FMT(size));
            for (size_t t = 0; t < f->n_tensors; t++)
                if (id_of(ix, f->tensors[t].name) == MC_NO_ID)
                    mc_subject(out, f->tensors[t].name);
            mc_because(cx, out, "index", mc_origin_at(ix->file, "/weight_map"), "names %zu other files", ix->n_shards);
        }
    }
}

/* ---- MC209 ---- */

static bool shares_a_name(const mc_index *ix, const mc_file *f)
{
    for (size_t i = 0; i < f->n_tensors; i++)
        if (id_of(ix, f->tensors[i].name) != MC_NO_ID)
            return true;
    return false;
}

static bool index_complete(const mc_index *ix)
{
    for (size_t i = 0; i < ix->n_shards; i++)
        if (ix->shards[i].state != MC_SHARD_PRESENT)
            return false;
    return true;
}

static void leftovers_of(mc_check *cx, const mc_index *ix)
{
    const mc_model *m = cx->model;
    mc_strset named;
    mc_names  names = { 0 };
    uint64_t  bytes = 0;
    uint32_t  first = MC_NONE;
    mc_finding *out = NULL;
    if (!index_complete(ix) || !mc_shard_names(cx->arena, ix, &named))
        return;
    for (uint32_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        if (!mc_unindexed(m, ix, &named, i) || !shares_a_name(ix, f) || mc_forgotten_shard(m, ix, i))
            continue;
        first = first == MC_NONE ? i : first;
        mc_names_add(cx->arena, &names, f->base);
        if (ckd_add(&bytes, bytes, f->size))
            bytes = UINT64_MAX;
    }
    if (first == MC_NONE)
        return;
    mc_str list = mc_names_text(cx->arena, &names), size = mc_size_text(cx->arena, bytes), used = ix->shards[0].name;
    out = mc_report(cx, MC_NONE, "%.*s (%.*s) repeat%s tensors of the indexed set (%.*s%s), which is the one in use", MC_FMT(list), MC_FMT(size), names.n == 1 ? "s" : "",
                    MC_FMT(used), ix->n_shards > 1 ? ", ..." : "");
    mc_subject(out, m->files[first].path);
    mc_count(out, names.n);
    mc_because(cx, out, "bytes", mc_origin_at(first, ""), "%llu in %zu file%s", (ull)bytes, names.n, names.n == 1 ? "" : "s");
    mc_because(cx, out, "index", mc_origin_at(ix->file, "/weight_map"), "names %zu files, none of these", ix->n_shards);
    mc_fix(cx, out, "delete %s: TGI refuses names that occur twice, MLX, TensorRT-LLM and ExLlama merge all files; the others ignore %s", names.n == 1 ? "it" : "them",
           names.n == 1 ? "it" : "them");
}

void mc_check_leftover(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (uint32_t c = 0; c < m->n_components && !m->alone; c++) {
        const mc_index *ix = mc_ruling_index(m, c);
        if (ix)
            leftovers_of(cx, ix);
    }
}
