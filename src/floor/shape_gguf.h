/* shape_gguf.h - reading GGUF keys for a shape. Private to floor. */
#ifndef MODELCHECK_FLOOR_SHAPE_GGUF_H
#define MODELCHECK_FLOOR_SHAPE_GGUF_H
#include "floor/shape_build.h"

typedef struct { const mc_model *m; mc_arena *a; mc_shape *s; const mc_value *family; uint64_t layers, index_times; } mc_keys;

/* Keys without the architecture in front. */
bool mc_keys_number(const mc_keys *l, const char *key, uint64_t *out) MC_MUST_USE;
bool mc_keys_of_layer(const mc_keys *l, const char *key, uint64_t i, uint64_t *out) MC_MUST_USE; /* one number for all, or a list */
bool mc_keys_width(const mc_keys *l, const char *key, uint64_t *out) MC_MUST_USE;                 /* default: embedding_length / head_count */
void mc_keys_from(const mc_keys *l, mc_sources *s, const char *key);
void mc_keys_state(mc_keys *l, uint64_t layer);

#endif
