/* shape_build.h - how a shape is put together, layer by layer, by shape_config*.c and shape_gguf*.c. Private to floor. */
#ifndef MODELCHECK_FLOOR_SHAPE_BUILD_H
#define MODELCHECK_FLOOR_SHAPE_BUILD_H
#include "floor/shape.h"

enum { MC_MAX_LAYERS = 10000, MC_MAX_HEADS = 1 << 16, MC_MAX_WIDTH = 1 << 20 };

/* Where the numbers of a group come from. */
typedef struct { mc_str v[6]; size_t n; } mc_sources;
void mc_source(mc_sources *s, mc_str origin);                                      /* once, while there is room */
void mc_source_of(mc_sources *s, const mc_model *m, mc_arena *a, mc_origin o);     /* "config.json#/num_hidden_layers" */

bool mc_shape_begin(mc_shape *s, mc_arena *a, uint64_t layers);                    /* false: out of memory, or not plausible */
/* One more layer that keeps this; layers that are alike end up in one group. layer: MC_MAX_LAYERS: a prediction layer. */
void mc_shape_keep(mc_shape *s, uint64_t layer, const mc_keep_group *g, const mc_sources *from);
void mc_shape_state(mc_shape *s, uint64_t layer, const mc_state_group *g, const mc_sources *from);
/* Layer `to` keeps what layer `like` does; times: caches that one layer adds to each of its groups. */
void mc_shape_repeat(mc_shape *s, uint64_t like, uint64_t to, uint64_t times);
void mc_shape_end(mc_shape *s, mc_arena *a);                                       /* order and formulas */

void mc_shape_not(mc_shape *s, mc_str reason);                                     /* not computed; the first reason stays */
void mc_shape_assume(mc_shape *s, mc_str text);
void mc_shape_bound(mc_shape *s, uint64_t layers, uint64_t heads, uint64_t k, uint64_t v); /* unless it does not fit */

/* What a convolution of that width keeps of the past. */
static inline uint64_t mc_less_one(uint64_t kernel) { return kernel ? kernel - 1 : 0; }

/* Members of a family's entry (rules/families/). */
mc_str   mc_family_text(const mc_value *family, const char *key);                  /* "" if there is none */
uint64_t mc_family_number(const mc_value *family, const char *key, uint64_t fallback);
/* The letter of layer i by the family's "layers" (a pattern that repeats; "from_end": counted from the last layer), "first"
 * and "last". 0: the family has no such pattern. */
char     mc_family_letter(const mc_value *family, uint64_t i, uint64_t layers);
/* "in" where i % period is at (negative: counted from the end of the period), else "out". Period 0: never. */
char     mc_every_letter(const mc_value *every, uint64_t i, uint64_t period, int64_t at);

void mc_shape_config(const mc_model *m, mc_kb *kb, mc_arena *a, mc_shape *s);
void mc_shape_gguf(const mc_model *m, mc_kb *kb, mc_arena *a, mc_shape *s);

#endif
