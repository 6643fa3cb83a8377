/* answers.h - what follows from the floor: does it fit a device, how much would fit, which part is the larger, what one step
 * of each lever saves, what other precisions would take. Every number comes from mc_floor_compute() asked again with
 * another context, number of sequences, cache type or number of devices, so that it has the rounding of the engine. */
#ifndef MODELCHECK_FLOOR_ANSWERS_H
#define MODELCHECK_FLOOR_ANSWERS_H
#include "floor/floor.h"

typedef enum { MC_FIT_UNKNOWN /* the weights fit, the cache is not known */, MC_FIT_NO, MC_FIT_TIGHT, MC_FIT_YES } mc_fit;

/* The largest context, or number of sequences, that fits: n by the floor alone, with_margin with the margin of the engine. */
typedef struct { bool known; uint64_t n, with_margin; bool by_model; /* the model's own maximum binds, not memory */ } mc_most;
/* One step: what the fullest device saves and then holds. */
typedef struct { const char *lever; mc_str from, to; uint64_t saves_bytes, floor_bytes; bool enough; /* with --vram: it fits then */ } mc_lever;
/* The weights in another precision: matrices of the files converted one by one, or all parameters at its width. */
typedef struct { const char *precision; bool by_tensors; uint64_t weights_bytes; bool floor_known; uint64_t floor_bytes; } mc_what_if;
/* Never part of the floor. */
typedef struct { const char *name; uint64_t min_bytes, max_bytes; const char *source; } mc_estimate;
enum { MC_MAX_LEVERS = 8, MC_MAX_WHAT_IF = 12, MC_MAX_ESTIMATES = 8 };

typedef struct {
    uint64_t    vram, margin;           /* vram 0: nothing was asked about a device */
    mc_fit      fit;
    mc_most     context, sequences;     /* with vram only */
    mc_str      advice;                 /* with vram: the first lever that is enough, in words; "" when it fits */
    enum { MC_LARGER_UNKNOWN, MC_LARGER_WEIGHTS, MC_LARGER_CACHE } larger;
    bool        crossover_known;        /* context up to which the weights are at least as large as cache and state */
    uint64_t    crossover;
    bool        halving_known;          /* half the context, all else equal */
    uint64_t    halving_from, halving_to, halving_saves;
    mc_lever    levers[MC_MAX_LEVERS];       size_t n_levers;    /* context, sequences, kv-dtype, weights, devices */
    mc_what_if  what_if[MC_MAX_WHAT_IF];     size_t n_what_if;   /* widest first */
    mc_estimate estimates[MC_MAX_ESTIMATES]; size_t n_estimates; /* only when asked for */
} mc_answers;

typedef struct { const mc_model *m; mc_kb *kb; const mc_floor_ask *ask; const mc_floor *floor; uint64_t vram; const mc_floor_base *base; /* of ask, may be NULL */ } mc_question;

void mc_answer(const mc_question *asked, bool estimates, mc_arena *a, mc_answers *out);

/* Memory over context, for the picture: what the fullest device holds with one sequence and with several. */
enum { MC_CURVE_POINTS = 97 };
typedef struct { uint64_t sequences, bytes[MC_CURVE_POINTS]; mc_most most; } mc_curve; /* most: where it meets the device */
typedef struct {
    bool     known;
    uint64_t context[MC_CURVE_POINTS];  /* from one token to the end of the picture */
    mc_curve one, several;
    uint64_t weights;                   /* of the fullest device */
    bool     crossover_known;           /* where cache and state of one sequence are as large as the weights */
    uint64_t crossover, crossover_bytes;
} mc_curves;
void mc_floor_curves(const mc_question *q, mc_curves *out);

/* ---- parts, also of use alone ---- */

bool        mc_floor_known(const mc_floor *f);               /* floor_bytes holds: weights and cache are both known */
uint64_t    mc_floor_need(const mc_floor *f);                /* what the fullest device certainly holds: what is known of weights and cache */
/* The engine's own margin on a device of that size: llama.cpp leaves 1 GiB free, the others the larger of 1 GiB and a tenth. */
uint64_t    mc_floor_margin(const mc_floor *f, uint64_t vram);
mc_fit      mc_fits(const mc_floor *f, uint64_t vram);
const char *mc_fit_name(mc_fit fit);                         /* "does-not-fit", ...; NULL: unknown */
/* The floor for another ask; its texts are gone, only numbers may be read. False: the cache is not known, or leaves 64 bits. */
bool        mc_floor_at(const mc_question *q, const mc_floor_ask *ask, mc_floor *out);
mc_most     mc_most_context(const mc_question *q, uint64_t sequences);
mc_most     mc_most_sequences(const mc_question *q);
/* The context up to which the weights are at least as large as cache and state of all sequences. */
bool        mc_crossover(const mc_question *q, uint64_t sequences, uint64_t *out);

#endif
