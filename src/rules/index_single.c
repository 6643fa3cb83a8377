/* MC210: model.safetensors beside an indexed set. Loaders disagree on which is the model, so it matters whether they are. */
#include "rules/index.h"

enum { LISTED = 1, COVERED = 2, SET_PLAIN = 4, SET_PACKED = 8, FILE_PLAIN = 16, FILE_PACKED = 32 };

/* A matrix in a plain float, or something that needs companions to be decoded. 0: neither (norms, biases, scalars). */
static unsigned storage(const mc_check *cx, const mc_tensor *t)
{
    static const char *const packed[] = { ".qweight", ".weight_packed", ".qzeros", ".scales", ".g_idx", ".trellis", ".q_weight", "_blocks", ".absmax" };
    const mc_dtype *d = mc_kb_dtype(cx->kb, t->dtype);
    for (size_t i = 0; i < MC_COUNT(packed); i++)
        if (mc_str_ends(t->name, packed[i]))
            return SET_PACKED;
    if (!d || !mc_str_ends(t->name, ".weight"))
        return 0;
    if (mc_dtype_is_plain(d))
        return t->rank >= 2 ? SET_PLAIN : 0;
    return SET_PACKED;
}

typedef struct { size_t listed, covered; const mc_tensor *ours, *theirs; size_t differ; } contrast;

/* Module by module: what the index lists, what the file has of it, and how both store it. */
static bool compare(mc_check *cx, const mc_index *ix, const mc_file *f, contrast *out)
{
    const mc_inventory *inv = &cx->model->components[ix->component].inv;
    mc_strset modules;
    if (!mc_strset_init(&modules, cx->arena, ix->n_map))
        return false;
    uint8_t *flags = MC_NEW(cx->arena, uint8_t, ix->n_map);
    const mc_tensor **sample = MC_NEW(cx->arena, const mc_tensor *, ix->n_map);
    if (!flags || !sample)
        return false;
    for (size_t i = 0; i < ix->n_map; i++) {
        uint32_t id = mc_strset_add(&modules, mc_name_module(ix->map[i].tensor), NULL);
        const mc_tensor *t = id == MC_NO_ID || mc_name_is_buffer(ix->map[i].tensor) ? NULL : mc_inventory_find(inv, ix->map[i].tensor);
        if (t) {
            flags[id] |= (uint8_t)(LISTED | storage(cx, t));
            sample[id] = t;
        }
    }
    for (size_t i = 0; i < f->n_tensors; i++) {
        const mc_tensor *t = &f->tensors[i], *same = mc_inventory_find(inv, t->name);
        uint32_t id = mc_strset_find(&modules, mc_name_module(t->name));
        if (id == MC_NO_ID || mc_name_is_buffer(t->name))
            continue;
        unsigned how = storage(cx, t);
        flags[id] |= (uint8_t)(COVERED | (how & SET_PLAIN ? FILE_PLAIN : 0) | (how & SET_PACKED ? FILE_PACKED : 0));
        if (same && !mc_same_shape(same, t) && out->differ++ == 0) {
            out->ours = t;
            out->theirs = same;
        }
    }
    for (size_t i = 0; i < modules.n; i++) {
        out->listed += (flags[i] & LISTED) != 0;
        out->covered += (flags[i] & LISTED) && (flags[i] & COVERED);
        bool a = (flags[i] & (SET_PACKED | FILE_PACKED)) == SET_PACKED && (flags[i] & FILE_PLAIN);
        bool b = (flags[i] & (SET_PACKED | FILE_PACKED)) == FILE_PACKED && (flags[i] & SET_PLAIN);
        if ((a || b) && out->differ++ == 0)
            out->theirs = sample[i];
    }
    return true;
}

/* "BF16, 168 KiB": the dtype with most bytes. */
static mc_str describe(mc_check *cx, const mc_tensor *const *tensors, size_t n)
{
    uint64_t *by = MC_NEW(cx->arena, uint64_t, cx->kb->n_dtypes), sum = 0;
    size_t    best = 0;
    for (size_t i = 0; by && i < n; i++) {
        sum += tensors[i]->end - tensors[i]->begin;
        if (tensors[i]->dtype < cx->kb->n_dtypes)
            by[tensors[i]->dtype] += tensors[i]->end - tensors[i]->begin;
    }
    for (size_t d = 0; by && d < cx->kb->n_dtypes; d++)
        best = by[d] > by[best] ? d : best;
    const mc_dtype *d = by && n ? mc_kb_dtype(cx->kb, (uint16_t)best) : NULL;
    mc_str name = d ? d->name : MC_STR("unknown"), size = mc_size_text(cx->arena, sum);
    return mc_format(cx->arena, "%.*s, %.*s", MC_FMT(name), MC_FMT(size));
}

static mc_str describe_file(mc_check *cx, const mc_file *f)
{
    const mc_tensor **v = MC_NEW(cx->arena, const mc_tensor *, f->n_tensors);
    for (size_t i = 0; v && i < f->n_tensors; i++)
        v[i] = &f->tensors[i];
    return describe(cx, v, v ? f->n_tensors : 0);
}

static mc_str describe_set(mc_check *cx, const mc_inventory *inv)
{
    const mc_tensor **v = MC_NEW(cx->arena, const mc_tensor *, inv->names.n);
    for (size_t i = 0; v && i < inv->names.n; i++)
        v[i] = inv->first[i];
    return describe(cx, v, v ? inv->names.n : 0);
}

static void judge(mc_check *cx, const mc_index *ix, uint32_t file)
{
    const mc_model *m = cx->model;
    contrast        k = { 0 };
    if (!mc_header_usable(&m->files[file]) || !compare(cx, ix, &m->files[file], &k) || k.differ == 0 || k.covered * 2 < k.listed)
        return;
    mc_str a = describe_file(cx, &m->files[file]), b = describe_set(cx, &m->components[ix->component].inv);
    mc_finding *out = mc_report(cx, file, "this file is %.*s, the indexed shards are %.*s: Transformers opens this file first, vLLM and SGLang the shards, MLX mixes both", MC_FMT(a), MC_FMT(b));
    if (k.theirs)
        mc_subject(out, k.theirs->name);
    mc_count(out, k.differ);
    mc_because(cx, out, "modules", mc_origin_at(file, ""), "%zu of the %zu indexed ones are here as well", k.covered, k.listed);
    if (k.ours && k.theirs) {
        mc_str x = mc_typed_shape(cx->arena, cx->kb, k.ours), y = mc_typed_shape(cx->arena, cx->kb, k.theirs);
        mc_because(cx, out, "here", mc_origin_at(file, ""), "%.*s %.*s", MC_FMT(k.ours->name), MC_FMT(x));
        mc_because(cx, out, "in the shards", mc_origin_at(k.theirs->file, ""), "%.*s %.*s", MC_FMT(k.theirs->name), MC_FMT(y));
    }
}

void mc_check_single(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (uint32_t c = 0; c < m->n_components && !m->alone; c++) {
        const mc_index *ix = mc_ruling_index(m, c);
        mc_strset       named;
        if (!ix || !mc_str_is(m->files[ix->file].base, "model.safetensors.index.json") || mc_absent_shards(ix) > 0 || !mc_shard_names(cx->arena, ix, &named))
            continue;
        for (uint32_t i = 0; i < m->n_files; i++)
            if (mc_str_is(m->files[i].base, "model.safetensors") && mc_unindexed(m, ix, &named, i))
                judge(cx, ix, i);
    }
}
