/* Element types, from rules/dtypes.json (safetensors) and rules/ggml-types.json (GGUF). */
#include "kb/kb.h"

static uint32_t u32(const mc_value *v, uint32_t fallback)
{
    int64_t i;
    return mc_as_int(v, &i) && i >= 0 && i < UINT32_MAX ? (uint32_t)i : fallback;
}

static bool class_of(mc_str name, mc_class *out)
{
    static const struct { const char *name; mc_class cls; } classes[] = {
        { "float", MC_CLASS_FLOAT }, { "int", MC_CLASS_INT }, { "bool", MC_CLASS_BOOL }, { "complex", MC_CLASS_COMPLEX }, { "block", MC_CLASS_BLOCK },
    };
    for (size_t i = 0; i < MC_COUNT(classes); i++)
        if (mc_str_is(name, classes[i].name)) {
            *out = classes[i].cls;
            return true;
        }
    return false;
}

static mc_str text(const mc_value *v)
{
    return mc_is(v, MC_STRING) ? v->s : MC_STR("");
}

static bool read_type(const mc_value *v, mc_dtype *d)
{
    *d = (mc_dtype){
        .name = text(mc_get(v, "name")), .block = u32(mc_get(v, "block"), 1), .block_bits = u32(mc_get(v, "bits"), 0),
        .row_meta = u32(mc_get(v, "row_meta"), 0), .tensor_meta = u32(mc_get(v, "tensor_meta"), 0), .fork = text(mc_get(v, "fork")),
        .advice = text(mc_get(v, "advice")), .since = text(mc_get(v, "since")),
    };
    int64_t id;
    d->ggml_id = mc_as_int(mc_get(v, "id"), &id) ? (int32_t)id : -1;
    d->foreign = mc_flag(v, "foreign");
    return d->name.n > 0 && d->block > 0 && class_of(text(mc_get(v, "class")), &d->cls);
}

static const mc_value *types_of(mc_kb *kb, const char *file)
{
    mc_err err;
    return mc_get(mc_json_tree(&kb->arena, mc_embedded_find(file), &err, NULL), "types");
}

mc_err mc_kb_init(mc_kb *kb)
{
    *kb = (mc_kb){ 0 };
    mc_arena_init(&kb->arena, (size_t)64 << 20);
    const mc_value *lists[] = { types_of(kb, "dtypes.json"), types_of(kb, "ggml-types.json") };
    size_t          total = 0;
    for (size_t k = 0; k < MC_COUNT(lists); k++) {
        if (!mc_is(lists[k], MC_ARRAY))
            return (mc_err){ MC_E_SYNTAX, 0, "embedded type tables are damaged" };
        total += lists[k]->n;
    }
    kb->dtypes = MC_NEW(&kb->arena, mc_dtype, total);
    if (!kb->dtypes)
        return (mc_err){ MC_E_NOMEM, 0, "out of memory" };
    for (size_t k = 0; k < MC_COUNT(lists); k++) {
        for (size_t i = 0; i < lists[k]->n; i++)
            if (!read_type(mc_item(lists[k], i), &kb->dtypes[kb->n_dtypes++]))
                return (mc_err){ MC_E_SYNTAX, mc_item(lists[k], i)->at, "embedded type tables are damaged" };
        if (k == 0)
            kb->n_st_dtypes = kb->n_dtypes;
    }
    return MC_NO_ERR;
}

void mc_kb_free(mc_kb *kb)
{
    mc_arena_free(&kb->arena);
}

uint16_t mc_kb_st_dtype(const mc_kb *kb, mc_str name)
{
    for (size_t i = 0; i < kb->n_st_dtypes; i++)
        if (mc_str_eq(kb->dtypes[i].name, name))
            return (uint16_t)i;
    return UINT16_MAX;
}

uint16_t mc_kb_ggml_dtype(const mc_kb *kb, uint32_t id, unsigned nth)
{
    for (size_t i = kb->n_st_dtypes; i < kb->n_dtypes; i++)
        if (kb->dtypes[i].ggml_id >= 0 && (uint32_t)kb->dtypes[i].ggml_id == id && nth-- == 0)
            return (uint16_t)i;
    return UINT16_MAX;
}

const mc_dtype *mc_kb_dtype(const mc_kb *kb, uint16_t id)
{
    return id < kb->n_dtypes ? &kb->dtypes[id] : NULL;
}

bool mc_dtype_bytes(const mc_dtype *d, uint64_t elements, uint64_t row, uint64_t *out)
{
    uint64_t bits, meta = 0;
    if (d->block_bits == 0 || elements % d->block != 0 || (d->block > 1 && row % d->block != 0))
        return false;
    if (ckd_mul(&bits, elements / d->block, (uint64_t)d->block_bits) || bits % 8 != 0)
        return false;
    if (d->row_meta && row && ckd_mul(&meta, elements / row, (uint64_t)d->row_meta))
        return false;
    return !ckd_add(&bits, bits / 8, d->tensor_meta) && !ckd_add(out, bits, meta);
}

bool mc_dtype_is_float(const mc_dtype *d, unsigned bits)
{
    return d && d->cls == MC_CLASS_FLOAT && d->block == 1 && d->block_bits == bits;
}

bool mc_dtype_is_plain(const mc_dtype *d)
{
    return mc_dtype_is_float(d, 16) || mc_dtype_is_float(d, 32) || mc_dtype_is_float(d, 64);
}
