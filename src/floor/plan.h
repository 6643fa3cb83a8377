/* plan.h - what of a model has a cache, before context, sequences and element types come in. Private to floor. */
#ifndef MODELCHECK_FLOOR_PLAN_H
#define MODELCHECK_FLOOR_PLAN_H
#include "floor/floor.h"

typedef struct {
    int      cache;             /* MC_CACHE_COMPUTED, MC_CACHE_NOT_COMPUTED or MC_CACHE_NONE */
    mc_str   reason;            /* when not computed or none */
    bool     bound;             /* the numbers below are an upper bound (always so when computed) */
    uint64_t layers;            /* that have a cache */
    uint64_t heads;             /* key/value heads of all layers together */
    uint64_t k, v;              /* elements a head caches for a token */
    uint64_t index;             /* bound only: elements of index keys per token, all layers together */
    mc_str   heads_text;        /* "32*8", or the sum where layers differ */
    mc_str   from[6]; size_t n_from;
} mc_plan;

void mc_plan_config(const mc_model *m, const mc_kb *kb, uint64_t context, mc_arena *a, mc_plan *p);
void mc_plan_gguf(const mc_model *m, const mc_kb *kb, mc_arena *a, mc_plan *p);

/* Not computed: `reason` names the shape, to be read behind "not computed:". */

void mc_plan_not(mc_plan *p, mc_str reason);
void mc_plan_from(mc_plan *p, const mc_model *m, mc_arena *a, mc_origin o);

#endif
