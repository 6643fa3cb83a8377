/* engine.h - how engines turn a shape (shape.h) and the tensors of a model into bytes on devices. Private to floor.
 *
 * One engine is one row of functions. It is asked for a slice of the model at a time: the layers of one device, or of one
 * stage of a pipeline, as one of `tp` ranks holds them. floor.c adds the slices up.
 * Sources and measurements: docs/memory.md. */
#ifndef MODELCHECK_FLOOR_ENGINE_H
#define MODELCHECK_FLOOR_ENGINE_H
#include "floor/shape.h"

/* ---- weights: where the tensors lie (residency.c) --------------------------------------------------------- */

/* Bytes that are divided by tp, by the smaller of tp and the KV heads, or held by every rank. */
typedef struct { uint64_t split, by_heads, whole; } mc_part;
/* input: embeddings; output: head and last norm; other: what belongs to neither nor to a text layer. */
typedef struct {
    bool     known;
    mc_part  input, output, other;
    mc_part *layers; uint64_t n_layers;
    uint64_t tied_copy;         /* bytes of the embedding that serves as head too, when no head is stored; else 0 */
    uint64_t total;             /* all of the above, once */
    uint64_t repacked;          /* llama.cpp: copies in another layout */
    mc_str   formula;
    mc_assumption assumptions[MC_MAX_ASSUMPTIONS]; size_t n_assumptions;
} mc_residency;

/* ---- caches ----------------------------------------------------------------------------------------------- */

/* Layers [from, to) of n, on one of `tp` ranks. */
typedef struct { uint64_t from, to, n, tp; } mc_slice;

struct mc_floor_base {
    const mc_model *m;
    mc_kb          *kb;
    const struct mc_engine *engine;
    mc_shape        shape;
    mc_residency    weights;
    const char     *type16;     /* "bf16" or "f16": what the model computes in */
    const char     *own_type;   /* the cache type that the checkpoint or the model asks of an engine that follows it */
    bool            state_16;   /* vllm: recurrent states in the model's type, no f32 asked for */
};

typedef struct {
    uint64_t kv, k, v, conv, state;
    mc_cache caches[MC_MAX_CACHES]; size_t n_caches;
    uint64_t per_token;         /* growth of one sequence */
    uint64_t padding;           /* in kv: what rounding to whole blocks adds to the caches */
    mc_pool  pool;
    mc_str   kv_formula, state_formula;
} mc_sums;

typedef struct {
    const mc_floor_base *base;
    const mc_floor_ask  *ask;
    const mc_shape      *shape;
    mc_arena            *a;
    mc_floor            *f;     /* context, sequences and types are set */
    bool                 overflow;
    mc_str               refusal; /* why the engine takes no such cache; "": it does */
} mc_job;

typedef struct mc_engine {
    const char *name;
    bool        follows_model;  /* cache type: the model's, else f16 */
    bool        skips_mtp;      /* unless asked to speculate */
    bool        narrows;        /* float32 weights are held in 16 bits */
    void      (*cache)(mc_job *j, const mc_slice *s, mc_sums *out);
} mc_engine;

extern const mc_engine mc_engine_generic, mc_engine_llama, mc_engine_vllm, mc_engine_sglang, mc_engine_transformers;
const mc_engine *mc_engine_find(const char *name);           /* NULL: unknown */

void mc_residency_of(const mc_model *m, mc_kb *kb, const mc_floor_ask *ask, const mc_engine *e, const mc_shape *shape, mc_arena *a, mc_residency *out);

/* ---- what the engines share (cells.c) --------------------------------------------------------------------- */

/* All of these set j->overflow instead of wrapping. */
uint64_t mc_times(mc_job *j, uint64_t a, uint64_t b);
uint64_t mc_plus(mc_job *j, uint64_t a, uint64_t b);
uint64_t mc_up(mc_job *j, uint64_t n, uint64_t multiple);    /* to the next multiple */
uint64_t mc_ceil_div(uint64_t a, uint64_t b);
uint64_t mc_heads_of_rank(uint64_t heads, uint64_t tp);      /* at least one: heads are replicated beyond their number */

/* Layers of keeps[g] (states[g]) in the slice; where the layers of a group are not known, in proportion. */
uint64_t mc_keep_layers(const mc_shape *shape, size_t g, const mc_slice *s);
uint64_t mc_state_layers(const mc_shape *shape, size_t g, const mc_slice *s);
/* Bytes of `heads` heads of `width` elements of a cache type; false: not in whole blocks, or the type is for other rows. */
bool     mc_row_bytes(mc_job *j, mc_str type, uint64_t heads, uint64_t width, uint64_t *out);
/* Adds `layers` x `cells` x `streams` rows to the cache called `name`, merged with an entry of the same name and cells. */
void     mc_add_cache(mc_job *j, mc_sums *out, const char *name, uint64_t layers, uint64_t cells, uint64_t streams, uint64_t k_row, uint64_t v_row);

#endif
