/* shape.h - what a model keeps for the tokens it has seen, before context, sequences, element types and an engine come in.
 *
 * shape_config.c and shape_gguf.c fill it, from the configuration or from GGUF keys, with class defaults and the families of
 * rules/families/; the engines (engine_*.c) turn it into bytes. Private to floor.
 * Sources and measurements: docs/memory.md. */
#ifndef MODELCHECK_FLOOR_SHAPE_H
#define MODELCHECK_FLOOR_SHAPE_H
#include "floor/floor.h"

typedef enum {
    MC_KEEP_FULL,               /* keys and values of all tokens */
    MC_KEEP_WINDOW,             /* of the last `window` tokens (each engine adds its own margin) */
    MC_KEEP_CHUNK,              /* of the current chunk of `window` tokens (Llama 4) */
    MC_KEEP_LATENT,             /* one compressed row, no values (MLA); k is its width */
    MC_KEEP_INDEX,              /* index keys beside another cache (DSA, MSA) */
    MC_KEEP_COMPRESSED,         /* one row for every `window` tokens (DeepSeek-V4) */
    MC_KEEP_CROSS,              /* of `window` encoder positions, once per sequence; left out where their number is not known */
    MC_N_KEEPS
} mc_keep;

/* What llama.cpp keeps for the layers of a group, where it differs from the model's own way: windows that it does not know,
 * latents that it stores decompressed, index keys with more beside them. layers 0: nothing at all. */
typedef struct { bool differs; mc_keep keep; uint64_t layers, heads, k, v, window; } mc_keep_llama;

/* Layers that are alike. */
typedef struct {
    mc_keep  keep;
    uint64_t layers;
    uint64_t heads;             /* KV heads of one layer; 1 for latent and index rows */
    uint64_t k, v;              /* elements a head keeps for a token; v 0: no values */
    uint64_t window;            /* see mc_keep; 0 for FULL, LATENT, INDEX */
    uint64_t decompressed_k, decompressed_v; /* LATENT: per head and for `decompressed_heads` heads, where an engine keeps the full form */
    uint64_t decompressed_heads;
    bool     mtp;               /* belongs to a prediction layer: engines skip it unless asked to speculate */
    bool     index;             /* COMPRESSED: the rows are index keys */
    mc_keep_llama llama;
    mc_str   formula;           /* the terms of one token as text: "30*2*128*2" without the element size */
    mc_str   from[6]; size_t n_from; /* "config.json#/num_hidden_layers" */
} mc_keep_group;

/* What one sequence keeps whatever its length: convolution and recurrent state. Elements of one layer. */
typedef struct {
    uint64_t layers, conv, state;
    bool     conv_f32, state_f32; /* by the model's own definition; else the model dtype (llama.cpp: always f32) */
    const char *what;           /* "Mamba-2", "gated delta net", "short convolution", ... */
    mc_str   formula;
    mc_str   from[6]; size_t n_from;
} mc_state_group;

enum { MC_MAX_KEEPS = 24, MC_MAX_STATES = 4 };

typedef struct {
    int      cache;             /* MC_CACHE_COMPUTED, MC_CACHE_NOT_COMPUTED or MC_CACHE_NONE */
    mc_str   reason;            /* when not computed, or none */
    mc_keep_group  keeps[MC_MAX_KEEPS];   size_t n_keeps;   /* in order of layers: full first where both occur */
    mc_state_group states[MC_MAX_STATES]; size_t n_states;
    bool     bound_known;       /* unknown attention: bound_elements is an upper bound of elements per token, all layers */
    uint64_t bound_elements;
    uint64_t max_context;       /* 0 unknown */
    uint64_t vocab, hidden;     /* 0 unknown */
    uint64_t expert_layers;     /* for padding rules of engines; 0 if dense */
    uint64_t  n_layers;         /* of the stack, without prediction layers; 0 unknown */
    uint32_t *layer_keeps, *layer_states; /* [n_layers] bit g: the layer belongs to keeps[g], states[g]; for layer splits */
    mc_assumption assumptions[MC_MAX_ASSUMPTIONS]; size_t n_assumptions;
} mc_shape;

void mc_shape_of(const mc_model *m, mc_kb *kb, mc_arena *a, mc_shape *out);

#endif
