/* The weights in other precisions. Arithmetic on what the headers hold, not a prediction of what a quantizer would choose:
 * every matrix takes the type if its rows divide into blocks, else the type that llama.cpp falls back to (tensor_type_fallback
 * of src/llama-quant.cpp), and everything else stays as it is stored. Where shapes are packed away (quantized safetensors) all
 * logical parameters are counted at the width of the type. */
#include "floor/answers_internal.h"
#include "floor/engine.h"

/* Widest first. The types and their blocks are those of rules/dtypes.json and rules/ggml-types.json. */
static const struct { const char *precision, *dtype, *fallback; bool ggml; } precisions[] = {
    { "f16", "F16", NULL, false },   { "q8_0", "Q8_0", NULL, true },     { "fp8", "F8_E4M3", NULL, false },
    { "q6_k", "Q6_K", "Q8_0", true }, { "q5_k", "Q5_K", "Q5_1", true },  { "q4_k", "Q4_K", "Q5_0", true },
    { "mxfp4", "MXFP4", NULL, true }, { "q3_k", "Q3_K", "IQ4_NL", true }, { "q2_k", "Q2_K", "IQ4_NL", true },
};
typedef struct { const mc_dtype *type, *fallback; } target;

static const mc_dtype *type_of(const mc_kb *kb, const char *name, bool ggml)
{
    size_t from = ggml ? kb->n_st_dtypes : 0, to = ggml ? kb->n_dtypes : kb->n_st_dtypes;
    for (size_t i = from; i < to; i++)
        if (mc_str_is(kb->dtypes[i].name, name) && !kb->dtypes[i].foreign)
            return &kb->dtypes[i];
    return NULL;
}

/* A tensor whose elements are the logical ones. */
static bool plain(const mc_question *q, const mc_tensor *t)
{
    const mc_dtype *d = mc_kb_dtype(q->kb, t->dtype);
    return d && !t->overflow && (q->m->unit == MC_UNIT_GGUF || (d->cls == MC_CLASS_FLOAT && d->block_bits >= 16));
}

static uint64_t row_of(const mc_model *m, const mc_tensor *t)
{
    return t->rank == 0 ? 1 : m->unit == MC_UNIT_GGUF ? t->dims[0] : t->dims[t->rank - 1];
}

static uint64_t converted(const mc_question *q, const mc_tensor *t, target to, bool *any)
{
    uint64_t row = row_of(q->m, t), bytes;
    bool     matrix = t->rank >= 2 && row > 1 && t->elements > row;
    for (int i = 0; matrix && i < 2; i++) {
        const mc_dtype *d = i == 0 ? to.type : to.fallback;
        if (d && row % d->block == 0 && mc_dtype_bytes(d, t->elements, row, &bytes)) {
            *any |= i == 0;
            return bytes;
        }
    }
    return t->end > t->begin ? t->end - t->begin : 0;
}

static bool every_tensor_plain(const mc_question *q)
{
    const mc_residency *r = &q->base->weights;
    for (size_t i = 0; i < r->n_kept; i++)
        if (!plain(q, r->kept[i]))
            return false;
    return r->n_kept > 0;
}

/* False: nothing can take the type. */
static bool by_tensors(const mc_question *q, target to, uint64_t *out)
{
    const mc_residency *r = &q->base->weights;
    bool                any = false;
    *out = r->each;
    for (size_t i = 0; i < r->n_kept; i++)
        if (ckd_add(out, *out, converted(q, r->kept[i], to, &any)))
            return false;
    return any;
}

static bool by_parameters(const mc_model *m, const mc_dtype *to, uint64_t *out)
{
    uint64_t bits, blocks;
    if (!m->parameters.known || m->parameters.v <= 0)
        return false;
    blocks = ((uint64_t)m->parameters.v + to->block - 1) / to->block;
    if (ckd_mul(&bits, blocks, (uint64_t)to->block_bits))
        return false;
    *out = bits / 8;
    return true;
}

/* The type that holds most bytes, or UINT16_MAX. */
static uint16_t most_bytes(const mc_question *q, mc_arena *a)
{
    const mc_residency *r = &q->base->weights;
    uint64_t           *sums = MC_NEW(a, uint64_t, q->kb->n_dtypes + 1);
    uint16_t            best = MC_DTYPE_UNKNOWN;
    for (size_t i = 0; sums && i < r->n_kept; i++)
        if (r->kept[i]->dtype < q->kb->n_dtypes)
            sums[r->kept[i]->dtype] += r->kept[i]->end - r->kept[i]->begin;
    for (size_t d = 0; sums && d < q->kb->n_dtypes; d++)
        if (sums[d] > (best == MC_DTYPE_UNKNOWN ? 0 : sums[best]))
            best = (uint16_t)d;
    return best;
}

mc_str mc_answer_precision(const mc_question *q, mc_arena *a)
{
    const mc_model *m = q->m;
    const mc_dtype *d = q->base && every_tensor_plain(q) ? mc_kb_dtype(q->kb, most_bytes(q, a)) : NULL;
    if (d)
        return mc_str_lower(a, d->name);
    if (m->parameters.known && m->parameters.v > 0)
        return mc_format(a, "%.1f bits", 8.0 * (double)q->floor->weights_bytes / (double)m->parameters.v);
    return MC_STR("as stored");
}

void mc_answer_what_if(const mc_question *q, mc_answers *out)
{
    const mc_floor *f = q->floor;
    bool            tensors = every_tensor_plain(q);
    for (size_t i = 0; f->weights_known && i < MC_COUNT(precisions); i++) {
        target     to = { type_of(q->kb, precisions[i].dtype, precisions[i].ggml), precisions[i].fallback ? type_of(q->kb, precisions[i].fallback, true) : NULL };
        mc_what_if w = { .precision = precisions[i].precision, .by_tensors = tensors };
        if (!to.type || out->n_what_if == MC_MAX_WHAT_IF || !(tensors ? by_tensors(q, to, &w.weights_bytes) : by_parameters(q->m, to.type, &w.weights_bytes)))
            continue;
        w.floor_known = mc_floor_known(f) && !ckd_add(&w.floor_bytes, w.weights_bytes, f->kv_bytes) && !ckd_add(&w.floor_bytes, w.floor_bytes, f->state_bytes);
        out->what_if[out->n_what_if++] = w;
    }
}
