/* Memory over context as two curves of equal distance, with the points where they meet the device and the weights. */
#include "floor/answers_internal.h"

enum { SEVERAL = 4 };
#define LEAST_TOP UINT64_C(131072)

/* The end of the picture: the model's maximum, or nearer when all that matters happens in its first sixth. */
static uint64_t top_of(const mc_question *q, const mc_most *one)
{
    const mc_int *own = &q->m->arch.context;
    uint64_t      top = own->known && own->v > 0 ? (uint64_t)own->v : LEAST_TOP;
    if (q->floor->context > top)
        top = q->floor->context;
    if (one->known && one->n > 0 && one->n < top / 6)
        top = one->n * 3;
    return top < MC_CURVE_POINTS ? MC_CURVE_POINTS : top;
}

static void fill(const mc_question *q, const mc_curves *all, mc_curve *c)
{
    mc_floor_ask ask = *q->ask;
    mc_floor     f;
    ask.sequences = c->sequences;
    for (size_t i = 0; i < MC_CURVE_POINTS; i++) {
        ask.context = all->context[i];
        c->bytes[i] = mc_floor_at(q, &ask, &f) ? mc_floor_need(&f) : UINT64_MAX;
    }
}

static void crossover(const mc_question *q, mc_curves *out)
{
    mc_floor_ask ask = *q->ask;
    mc_floor     f;
    ask.sequences = 1;
    out->crossover_known = mc_crossover(q, 1, &out->crossover) && out->crossover <= out->context[MC_CURVE_POINTS - 1];
    ask.context = out->crossover;
    out->crossover_known &= out->crossover_known && mc_floor_at(q, &ask, &f);
    out->crossover_bytes = out->crossover_known ? mc_floor_need(&f) : 0;
}

void mc_floor_curves(const mc_question *q, mc_curves *out)
{
    const mc_floor *f = q->floor;
    *out = (mc_curves){ .known = mc_floor_known(f) };
    if (!out->known)
        return;
    out->one.sequences = 1;
    out->several.sequences = f->sequences > 1 ? f->sequences : SEVERAL;
    out->one.most = mc_most_context(q, out->one.sequences);
    out->several.most = mc_most_context(q, out->several.sequences);
    mc_floor alone = *f;
    alone.cache = MC_CACHE_NOT_COMPUTED;
    out->weights = mc_floor_need(&alone);
    uint64_t top = top_of(q, &out->one.most);
    for (uint64_t i = 0; i < MC_CURVE_POINTS; i++)
        out->context[i] = i == 0 ? 1 : (top / (MC_CURVE_POINTS - 1)) * i + top % (MC_CURVE_POINTS - 1) * i / (MC_CURVE_POINTS - 1);
    fill(q, out, &out->one);
    fill(q, out, &out->several);
    crossover(q, out);
}
