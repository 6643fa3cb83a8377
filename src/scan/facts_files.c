/* Facts of files, indexes, licences and GGUF keys; and the weight files as a framework would meet them. */
#include "scan/facts.h"

#include "model/gguf.h"

#include <string.h>

/* ---- counts ---- */

static bool in_root(const mc_model *m, const mc_file *f)
{
    return f->component == 0 && m->n_components && m->components[0].dir.n == 0 && mc_str_find(f->path, '/') == f->path.n;
}

static bool is_kind(const mc_file *f, mc_str kind)
{
    static const struct { const char *kind, *ends; } by_end[] = {
        { "safetensors", ".safetensors" }, { "bin", ".bin" }, { "gguf", ".gguf" }, { "pt", ".pt" }, { "onnx", ".onnx" }, { "python", ".py" },
    };
    if (mc_str_is(kind, "consolidated_safetensors"))
        return mc_glob(MC_STR("consolidated*.safetensors"), f->base);
    if (mc_str_is(kind, "pickle"))
        return f->promised == MC_FMT_TORCH;
    for (size_t i = 0; i < MC_COUNT(by_end); i++)
        if (mc_str_is(kind, by_end[i].kind))
            return mc_str_ends(f->base, by_end[i].ends);
    return false;
}

static mc_fact count(const mc_model_facts *f, mc_str kind)
{
    const mc_model *m = f->m;
    int64_t         n = 0, total = 0, largest = 0;
    mc_str         *names = mc_str_is(kind, "names") ? MC_NEW(f->a, mc_str, m->n_files + 1) : NULL;
    size_t          k = 0;
    for (size_t i = 0; i < m->n_files; i++) {
        const mc_file *file = &m->files[i];
        if (ckd_add(&total, total, (int64_t)(file->size < INT64_MAX ? file->size : INT64_MAX)))
            total = INT64_MAX;
        if (file->size < INT64_MAX && (int64_t)file->size > largest)
            largest = (int64_t)file->size;
        n += in_root(m, file) && is_kind(file, kind);
        if (names)
            names[k++] = file->path;
    }
    if (names)
        return mc_fact_texts(f->a, names, k);
    if (mc_str_is(kind, "total_bytes") || mc_str_is(kind, "largest_bytes"))
        return mc_fact_int(mc_str_is(kind, "total_bytes") ? total : largest);
    return mc_fact_int(n);
}

/* "config_json" is config.json: '_' stands for '.' and for itself. */
static bool fits(mc_str base, mc_str name)
{
    bool same = base.n == name.n;
    for (size_t i = 0; same && i < base.n; i++)
        same = base.p[i] == name.p[i] || (name.p[i] == '_' && (base.p[i] == '.' || base.p[i] == '-'));
    return same;
}

static mc_fact present(const mc_model_facts *f, mc_str name)
{
    for (size_t i = 0; i < f->m->n_files; i++)
        if (in_root(f->m, &f->m->files[i]) && fits(f->m->files[i].base, name))
            return mc_fact_bool(true);
    return f->m->alone ? MC_FACT_NONE : mc_fact_bool(false);
}

/* ---- index ---- */

static mc_fact fact_index(const mc_model_facts *f, mc_str what)
{
    const mc_component *c = f->m->n_components ? &f->m->components[0] : NULL;
    const mc_index     *x = c && c->index != MC_NONE ? &f->m->indexes[c->index] : NULL;
    int64_t             missing = 0, unlisted = 0;
    bool                below = false;
    if (!x || !x->valid)
        return x ? MC_FACT_NONE : mc_fact_null();
    for (size_t i = 0; i < x->n_shards; i++) {
        missing += x->shards[i].state == MC_SHARD_ABSENT;
        below |= mc_str_find(x->shards[i].name, '/') < x->shards[i].name.n;
    }
    for (size_t i = 0; i < f->m->n_files; i++) {
        const mc_file *file = &f->m->files[i];
        bool           listed = false;
        if (file->role != MC_ROLE_WEIGHTS || !in_root(f->m, file) || file->promised != f->m->files[x->file].promised)
            continue;
        for (size_t k = 0; k < x->n_shards && !listed; k++)
            listed = mc_str_eq(x->shards[k].name, file->path);
        unlisted += !listed;
    }
    if (mc_str_is(what, "listed"))
        return mc_fact_int((int64_t)x->n_shards);
    if (mc_str_is(what, "subfolder"))
        return mc_fact_bool(below);
    return mc_fact_int(mc_str_is(what, "missing") ? missing : unlisted);
}

/* ---- licence ---- */

/* "license: apache-2.0" of the YAML block that begins a model card. Unknown if the block is longer than what was read. */
static mc_fact card_license(const mc_model_facts *f)
{
    uint32_t id = mc_model_file(f->m, "README.md");
    if (id == MC_NONE)
        return f->m->alone ? MC_FACT_NONE : mc_fact_null();
    mc_str head = { (const char *)f->m->files[id].head.p, f->m->files[id].head.n }, value;
    if (!mc_str_starts(head, "---"))
        return head.n || f->m->files[id].size == 0 ? mc_fact_null() : MC_FACT_NONE;
    for (bool first = true; head.n; first = false) {
        size_t end = mc_str_find(head, '\n');
        mc_str line = mc_str_cut(head, 0, end);
        bool   cut = end == head.n;
        if (!first && mc_str_starts(line, "---"))
            return mc_fact_null();
        head = mc_str_cut(head, end + 1, head.n);
        if (!mc_str_starts(line, "license:") || cut)
            continue;
        value = mc_str_cut(line, 8, line.n);
        while (value.n && (value.p[0] == ' ' || value.p[0] == '"' || value.p[0] == '\''))
            value = mc_str_cut(value, 1, value.n);
        while (value.n && (value.p[value.n - 1] == ' ' || value.p[value.n - 1] == '\r' || value.p[value.n - 1] == '"' || value.p[value.n - 1] == '\''))
            value.n--;
        return value.n ? mc_fact_text(value) : MC_FACT_NONE;
    }
    return MC_FACT_NONE;
}

static mc_fact license(const mc_model_facts *f)
{
    mc_str s = mc_gguf_str(mc_gguf_get(f->m->gguf, "general.license"));
    return s.n ? mc_fact_text(s) : f->m->gguf ? mc_fact_null() : card_license(f);
}

mc_fact mc_fact_files(const mc_model_facts *f, mc_scope scope, mc_str name)
{
    (void)scope;
    if (mc_str_is(name, "license"))
        return license(f);
    if (mc_str_starts(name, "index."))
        return fact_index(f, mc_str_cut(name, 6, name.n));
    return mc_str_starts(name, "files.") ? count(f, mc_str_cut(name, 6, name.n)) : present(f, mc_str_cut(name, 5, name.n));
}

/* ---- GGUF ---- */

static mc_fact of_key(const mc_model_facts *f, const mc_gguf_kv *kv)
{
    mc_fact v = mc_fact_null();
    (void)f;
    if (!kv)
        return v;
    if (kv->type == MC_GGUF_STRING)
        return mc_fact_text(kv->s);
    if (kv->type == MC_GGUF_BOOL)
        return mc_fact_bool(kv->u != 0);
    if (kv->type == MC_GGUF_F32 || kv->type == MC_GGUF_F64) {
        v.type = MC_FACT_REAL;
        v.u.r = kv->f;
        return v;
    }
    if (kv->type == MC_GGUF_ARRAY || (kv->type == MC_GGUF_U64 && kv->u > INT64_MAX))
        return MC_FACT_NONE;
    return mc_fact_int(kv->i);
}

mc_fact mc_fact_gguf(const mc_model_facts *f, mc_scope scope, mc_str name)
{
    static const struct { const char *name, *key; } keys[] = {
        { "gguf.architecture", "general.architecture" }, { "gguf.pre", "tokenizer.ggml.pre" }, { "gguf.file_type", "general.file_type" }, { "gguf.split.count", "split.count" },
        { "gguf.split.no", "split.no" }, { "gguf.split.tensors", "split.tensors.count" },
    };
    const mc_gguf *g = f->m->gguf;
    (void)scope;
    if (!g)
        return f->m->format == MC_FMT_GGUF ? MC_FACT_NONE : mc_fact_null();
    if (mc_str_is(name, "gguf.types"))
        return mc_facts_list(f, MC_LIST_TYPES);
    if (mc_str_is(name, "gguf.byte_order"))
        return mc_fact_text(g->big_endian ? MC_STR("big") : MC_STR("little"));
    if (mc_str_is(name, "gguf.version"))
        return mc_fact_int(g->version);
    for (size_t i = 0; i < MC_COUNT(keys); i++)
        if (mc_str_is(name, keys[i].name))
            return of_key(f, mc_gguf_get(g, keys[i].key));
    return mc_str_starts(name, "gguf.kv.") ? of_key(f, mc_gguf_get(g, mc_str_copy(f->a, mc_str_cut(name, 8, name.n)).p)) : MC_FACT_NONE;
}

/* ---- files as a framework meets them ---- */

/* One set never repeats itself (MC304, MC307 would tell), so only files of several sets are looked at. */
typedef struct { mc_arena *a; const mc_model *m; const uint32_t *ids; size_t n; } taken_files;

static bool several_sets(const taken_files *t, const bool *taken)
{
    uint32_t one = MC_NONE;
    bool     first = true, several = false;
    for (size_t i = 0; i < t->n; i++) {
        if (!taken[i])
            continue;
        several |= !first && t->m->files[t->ids[i]].set != one;
        one = t->m->files[t->ids[i]].set;
        first = false;
    }
    return several;
}

static mc_three repeats(const void *cx, const bool *taken, mc_str *name)
{
    const taken_files *t = cx;
    mc_strset          seen;
    bool               unread = false;
    if (!several_sets(t, taken))
        return MC_FALSE;
    if (!mc_strset_init(&seen, t->a, 1024))
        return MC_MAYBE;
    for (size_t i = 0; i < t->n; i++) {
        const mc_file *f = &t->m->files[t->ids[i]];
        unread |= taken[i] && f->n_tensors == 0;
        for (size_t k = 0; taken[i] && k < f->n_tensors; k++) {
            bool added = true;
            if (mc_strset_add(&seen, f->tensors[k].name, &added) == MC_NO_ID)
                return MC_MAYBE;
            if (!added) {
                *name = f->tensors[k].name;
                return MC_TRUE;
            }
        }
    }
    return unread ? MC_MAYBE : MC_FALSE;
}

mc_target_files *mc_model_files(mc_arena *a, const mc_model *m)
{
    mc_target_files *out = MC_NEW(a, mc_target_files, 1);
    mc_target_file  *files = MC_NEW(a, mc_target_file, m->n_files + 1);
    mc_target_index *indexes = MC_NEW(a, mc_target_index, m->n_indexes + 1);
    taken_files     *all = MC_NEW(a, taken_files, 1);
    uint32_t        *ids = MC_NEW(a, uint32_t, m->n_files + 1);
    if (!out || !files || !indexes || !all || !ids)
        return NULL;
    for (uint32_t i = 0; i < m->n_files; i++)
        if (m->files[i].role == MC_ROLE_WEIGHTS || m->files[i].role == MC_ROLE_TRAINING) {
            ids[out->n_files] = i;
            files[out->n_files++] = (mc_target_file){ m->files[i].path, m->files[i].size };
        }
    for (size_t i = 0; i < m->n_indexes; i++) {
        const mc_index *x = &m->indexes[i];
        mc_str         *shards = MC_NEW(a, mc_str, x->n_shards + 1);
        if (!shards || !x->valid)
            continue;
        for (size_t k = 0; k < x->n_shards; k++)
            shards[k] = mc_format(a, "%.*s%.*s", MC_FMT(m->components[x->component].dir), MC_FMT(x->shards[k].name));
        indexes[out->n_indexes++] = (mc_target_index){ m->files[x->file].path, shards, x->n_shards };
    }
    *all = (taken_files){ a, m, ids, out->n_files };
    out->repeats = repeats;
    out->cx = all;
    out->files = files;
    out->indexes = indexes;
    return out;
}
