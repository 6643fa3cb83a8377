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
/* input: embeddings; output: head and last norm; other: what belongs to neither nor to a text layer; each: tables that every
 * rank makes for itself. What an engine does not load is in none of them. */
typedef struct {
    bool     known, overflow;
    mc_part  input, output, other;
    mc_part *layers; uint64_t n_layers; /* prediction layers that are loaded lie behind the others, in the last one */
    uint64_t each;
    uint64_t tied;              /* bytes of the embedding that is head too: a second copy where the two lie apart; else 0 */
    uint64_t repacked;          /* llama.cpp: in `layers` and `output`, and once more in another layout */
    uint64_t kv_heads;          /* what by_heads stops dividing at; 0 unknown */
    const mc_tensor **kept; size_t n_kept; /* the tensors that are loaded; for sums in other precisions */
    mc_term  term;              /* formula and origin of all of it on one device */
    mc_assumption assumptions[MC_MAX_ASSUMPTIONS]; size_t n_assumptions;
} mc_residency;
uint64_t mc_part_of_rank(const mc_residency *r, const mc_part *p, uint64_t tp);

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
    uint64_t        conv_kernel; /* of the recurrent layers; 0 unknown */
};

typedef struct {
    uint64_t kv, k, v, conv, state;
    mc_cache caches[MC_MAX_CACHES]; size_t n_caches;
    uint64_t per_token;         /* growth of one sequence */
    uint64_t padding;           /* in kv: what rounding to whole blocks adds to the caches */
    uint64_t state_padding;     /* beside conv and state: what rounding to whole pages adds */
    mc_pool  pool;
    mc_term  terms[MC_N_KEEPS]; size_t n_terms; /* of the caches, one for each kind */
    mc_str   conv_formula, state_formula;
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

/* devices.c: fills the devices of the floor. whole: the caches of all layers as one rank holds them, ranks: how many do. */
void   mc_devices(mc_job *j, bool computed, mc_sums *whole, uint64_t *ranks);
mc_str mc_devices_formula(mc_job *j);                        /* weights of the devices, as a sum */

/* ---- what the engines share (cells.c) --------------------------------------------------------------------- */

/* All of these set j->overflow instead of wrapping. */
uint64_t mc_times(mc_job *j, uint64_t a, uint64_t b);
uint64_t mc_plus(mc_job *j, uint64_t a, uint64_t b);
uint64_t mc_up(mc_job *j, uint64_t n, uint64_t multiple);    /* to the next multiple */
uint64_t mc_heads_of_rank(uint64_t heads, uint64_t tp);      /* at least one: heads are replicated beyond their number */

/* Layers of keeps[g] (states[g]) in the slice; where the layers of a group are not known, in proportion. */
uint64_t mc_keep_layers(const mc_shape *shape, size_t g, const mc_slice *s);
uint64_t mc_state_layers(const mc_shape *shape, size_t g, const mc_slice *s);
/* Bytes of `heads` heads of `width` elements of a cache type; false: not in whole blocks, or the type is for other rows. */
bool     mc_row_bytes(mc_job *j, mc_str type, uint64_t heads, uint64_t width, uint64_t *out);
/* Adds `layers` x `cells` x `streams` rows of k_row and v_row bytes, as the group keeps them: to the cache of that kind and
 * size, and to the term of its kind with the formula "2*32*8*128*2*8192*1". */
void     mc_add_cache(mc_job *j, mc_sums *out, const mc_keep_group *k, uint64_t layers, uint64_t heads, uint64_t cells, uint64_t streams, uint64_t k_row, uint64_t v_row);
mc_cache *mc_cache_entry(mc_sums *out, const char *name, uint64_t cells, uint64_t streams); /* made if it is not there */
mc_term  *mc_term_entry(mc_sums *out, const char *name);
void     mc_more_formula(mc_job *j, mc_str *to, mc_str one); /* joined by " + " */
void     mc_more_from(mc_term *t, const mc_str *from, size_t n);
/* Convolution and recurrent states of `slots` sequences; bytes of an element where the model does not demand f32. */
void     mc_add_states(mc_job *j, const mc_slice *s, uint64_t slots, uint64_t conv_bytes, uint64_t state_bytes, mc_sums *out);
/* engine_generic.c: exact tokens. */
uint64_t    mc_keep_cells(const mc_keep_group *k, uint64_t tokens);
uint64_t    mc_keep_growth(mc_job *j, const mc_keep_group *k, uint64_t layers, uint64_t row);
bool        mc_plain_cache(mc_job *j, const mc_slice *s, const mc_keep_group *k, uint64_t layers, uint64_t cells, mc_sums *out);
/* engine_vllm.c, also for SGLang: rows of a server's cache. fp8_ds_mla latents and the fp8 index keys of DeepSeek-V3.2 have
 * layouts of their own. */
bool        mc_server_row(mc_job *j, const mc_keep_group *k, uint64_t heads, uint64_t *row_k, uint64_t *row_v);

#endif
