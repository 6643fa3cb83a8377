/* What fits, and where weights and cache are equal: the floor asked again, by doubling and bisection. The floor never falls
 * when context or sequences grow, so the largest value that fits is found exactly, whatever an engine rounds. */
#include "floor/answers_internal.h"

#include <string.h>

#define MARGIN_LEAST (UINT64_C(1) << 30)
enum { LLAMA_MAX_SEQUENCES = 256 };           /* LLAMA_MAX_SEQ of llama.cpp's src/llama-cparams.h */
#define CONTEXT_TOP  (UINT64_C(1) << 36)      /* beyond that a context counts as unbounded */
#define SEQUENCE_TOP (UINT64_C(1) << 24)

/* ---- one floor ---- */

bool mc_floor_known(const mc_floor *f)
{
    return f->weights_known && f->cache != MC_CACHE_NOT_COMPUTED && !f->overflow;
}

static bool cache_known(const mc_floor *f)
{
    return f->cache != MC_CACHE_NOT_COMPUTED && !f->overflow;
}

uint64_t mc_floor_need(const mc_floor *f)
{
    uint64_t most = 0;
    bool     any = false, known = cache_known(f);
    for (size_t i = 0; i < f->n_devices; i++) {
        const mc_device_floor *d = &f->devices[i];
        uint64_t               bytes = known ? d->floor_bytes : d->weights_bytes;
        if (strcmp(d->name, "host") == 0)
            continue;
        any = true;
        most = bytes > most ? bytes : most;
    }
    return any ? most : known ? f->floor_bytes : f->weights_bytes;
}

/* llama.cpp: the target of its --fit. The others stop at nine tenths of a device by default. */
uint64_t mc_floor_margin(const mc_floor *f, uint64_t vram)
{
    return strcmp(f->engine, "llama.cpp") == 0 || vram / 10 < MARGIN_LEAST ? MARGIN_LEAST : vram / 10;
}

mc_fit mc_fits(const mc_floor *f, uint64_t vram)
{
    uint64_t need = mc_floor_need(f);
    if (need > vram)
        return MC_FIT_NO;
    if (!mc_floor_known(f))
        return MC_FIT_UNKNOWN;
    return vram - need < mc_floor_margin(f, vram) ? MC_FIT_TIGHT : MC_FIT_YES;
}

const char *mc_fit_name(mc_fit fit)
{
    static const char *const names[] = { [MC_FIT_UNKNOWN] = NULL, [MC_FIT_NO] = "does-not-fit", [MC_FIT_TIGHT] = "tight", [MC_FIT_YES] = "fits" };
    return names[fit];
}

bool mc_floor_at(const mc_question *q, const mc_floor_ask *ask, mc_floor *out)
{
    mc_arena scratch;
    mc_arena_init(&scratch, MC_MAX_ARENA);
    if (q->base)
        mc_floor_answer(q->base, ask, &scratch, out);
    else
        mc_floor_compute(q->m, q->kb, ask, &scratch, out);
    bool ok = cache_known(out) && !scratch.failed;
    mc_arena_free(&scratch);
    return ok;
}

/* ---- searches ---- */

typedef enum { CONTEXT, SEQUENCES } axis;
typedef struct { const mc_question *q; axis axis; mc_floor_ask ask; bool cache_only; uint64_t room; } search;

static bool fits_at(const search *s, uint64_t n)
{
    mc_floor_ask ask = s->ask;
    mc_floor     f;
    uint64_t     cache;
    if (s->axis == CONTEXT)
        ask.context = n;
    else
        ask.sequences = n;
    if (!mc_floor_at(s->q, &ask, &f))
        return false;
    if (!s->cache_only)
        return mc_floor_need(&f) <= s->room;
    return !ckd_add(&cache, f.kv_bytes, f.state_bytes) && cache <= s->room;
}

/* The largest n of 1..top that fits, 0 if not even one does. */
static uint64_t largest(const search *s, uint64_t top)
{
    uint64_t good = 0, bad = 1;
    while (bad <= top && fits_at(s, bad)) {
        good = bad;
        if (good == top)
            return top;
        bad = good > top / 2 ? top : good * 2;
    }
    while (good + 1 < bad) {
        uint64_t middle = good + (bad - good) / 2;
        if (fits_at(s, middle))
            good = middle;
        else
            bad = middle;
    }
    return good;
}

static search search_of(const mc_question *q, axis along)
{
    search s = { .q = q, .axis = along, .ask = *q->ask };
    s.ask.context = q->floor->context;
    s.ask.sequences = q->floor->sequences;
    return s;
}

static mc_most most(search *s, uint64_t top, bool own)
{
    mc_most        out = { .known = false };
    const mc_floor *f = s->q->floor;
    uint64_t        margin = mc_floor_margin(f, s->q->vram);
    if (s->q->vram == 0 || !cache_known(f))
        return out;
    s->room = s->q->vram;
    out.n = largest(s, top);
    s->room = s->q->vram > margin ? s->q->vram - margin : 0;
    out.with_margin = largest(s, out.n);
    out.by_model = out.n == top;
    out.known = out.n < top || own; /* what nothing bounds is not known */
    return out;
}

mc_most mc_most_context(const mc_question *q, uint64_t sequences)
{
    const mc_int *own = &q->m->arch.context;
    bool          bound = own->known && own->v > 0;
    search        s = search_of(q, CONTEXT);
    s.ask.sequences = sequences;
    return most(&s, bound ? (uint64_t)own->v : CONTEXT_TOP, bound);
}

mc_most mc_most_sequences(const mc_question *q)
{
    search s = search_of(q, SEQUENCES);
    bool   llama = strcmp(q->floor->engine, "llama.cpp") == 0;
    return most(&s, llama ? LLAMA_MAX_SEQUENCES : SEQUENCE_TOP, llama);
}

bool mc_crossover(const mc_question *q, uint64_t sequences, uint64_t *out)
{
    search s = search_of(q, CONTEXT);
    s.cache_only = true;
    s.room = q->floor->weights_bytes;
    s.ask.sequences = sequences;
    *out = mc_floor_known(q->floor) && q->floor->cache == MC_CACHE_COMPUTED && s.room > 0 ? largest(&s, CONTEXT_TOP) : 0;
    return *out > 0 && *out < CONTEXT_TOP;
}

/* ---- answers ---- */

static void larger(const mc_question *q, mc_answers *out)
{
    const mc_floor *f = q->floor;
    uint64_t        cache;
    if (!mc_floor_known(f) || ckd_add(&cache, f->kv_bytes, f->state_bytes))
        return;
    out->larger = cache > f->weights_bytes ? MC_LARGER_CACHE : MC_LARGER_WEIGHTS;
    out->crossover_known = mc_crossover(q, f->sequences, &out->crossover);
}

static void halving(const mc_question *q, mc_answers *out)
{
    search       s = search_of(q, CONTEXT);
    mc_floor     half;
    uint64_t     now = mc_floor_need(q->floor);
    if (!mc_floor_known(q->floor) || q->floor->cache != MC_CACHE_COMPUTED || q->floor->context < 2)
        return;
    out->halving_from = q->floor->context;
    out->halving_to = s.ask.context = q->floor->context / 2;
    if (!mc_floor_at(q, &s.ask, &half))
        return;
    out->halving_known = true;
    out->halving_saves = now > mc_floor_need(&half) ? now - mc_floor_need(&half) : 0;
}

static void fit(const mc_question *q, mc_answers *out)
{
    out->vram = q->vram;
    if (q->vram == 0)
        return;
    out->margin = mc_floor_margin(q->floor, q->vram);
    out->fit = mc_fits(q->floor, q->vram);
    if (!mc_floor_known(q->floor))
        return;
    out->context = mc_most_context(q, q->floor->sequences);
    out->sequences = mc_most_sequences(q);
}

void mc_answer(const mc_question *asked, bool estimates, mc_arena *a, mc_answers *out)
{
    mc_question q = *asked;
    *out = (mc_answers){ .fit = MC_FIT_UNKNOWN };
    if (!q.base)
        q.base = mc_floor_prepare(q.m, q.kb, q.ask, a);
    fit(&q, out);
    larger(&q, out);
    halving(&q, out);
    if (q.base)
        mc_answer_what_if(&q, out);
    mc_answer_levers(&q, a, out);
    if (estimates)
        mc_answer_estimates(&q, out);
}
