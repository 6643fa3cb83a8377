/* One step of each lever, in the order in which they should be pulled: what costs nothing but length or company first, what
 * costs quality later, what costs money last. A lever that saves nothing is left out. */
#include "floor/answers_internal.h"

#include <string.h>

typedef struct { const mc_question *q; mc_arena *a; mc_answers *out; uint64_t now; } levers;

static bool engine_is(const mc_question *q, const char *name)
{
    return strcmp(q->floor->engine, name) == 0;
}

static void add(levers *l, const char *name, mc_str from, mc_str to, uint64_t need)
{
    if (need >= l->now || l->out->n_levers == MC_MAX_LEVERS)
        return;
    l->out->levers[l->out->n_levers++] = (mc_lever){ name, from, to, l->now - need, need, l->q->vram > 0 && need <= l->q->vram };
}

static void asked(levers *l, const char *name, mc_str from, mc_str to, const mc_floor_ask *ask)
{
    mc_floor f;
    if (mc_floor_at(l->q, ask, &f))
        add(l, name, from, to, mc_floor_need(&f));
}

static mc_str number(const levers *l, uint64_t v)
{
    return mc_format(l->a, "%llu", (unsigned long long)v);
}

static mc_floor_ask same(const mc_question *q)
{
    mc_floor_ask ask = *q->ask;
    ask.context = q->floor->context;
    ask.sequences = q->floor->sequences;
    return ask;
}

static void half_of_each(levers *l)
{
    const mc_floor *f = l->q->floor;
    mc_floor_ask    ask = same(l->q);
    ask.context = f->context / 2;
    if (ask.context > 0)
        asked(l, "context", number(l, f->context), number(l, ask.context), &ask);
    ask = same(l->q);
    ask.sequences = f->sequences / 2;
    if (ask.sequences > 0)
        asked(l, "sequences", number(l, f->sequences), number(l, ask.sequences), &ask);
}

/* The next smaller cache type that the engine has; NULL: none. transformers quantizes its cache only in classes of its own. */
static const char *smaller(const mc_question *q, mc_str type)
{
    bool ggml = engine_is(q, "llama.cpp") || (engine_is(q, "generic") && q->m->unit == MC_UNIT_GGUF);
    if (engine_is(q, "transformers"))
        return NULL;
    if (mc_str_is(type, "f32"))
        return ggml ? "f16" : "bf16";
    if (mc_str_is(type, "f16") || mc_str_is(type, "bf16"))
        return ggml ? "q8_0" : "fp8";
    return ggml && mc_str_starts(type, "q") && !mc_str_starts(type, "q4") ? "q4_0" : NULL;
}

static void cache_type(levers *l)
{
    const mc_floor *f = l->q->floor;
    mc_floor_ask    ask = same(l->q);
    const char     *k = smaller(l->q, f->kv_dtype_k), *v = smaller(l->q, f->kv_dtype_v);
    mc_str          from[2] = { f->kv_dtype_k, f->kv_dtype_v }, to[2] = { k ? mc_str_of(k) : from[0], v ? mc_str_of(v) : from[1] };
    mc_str          text[2];
    if ((!k && !v) || f->cache != MC_CACHE_COMPUTED || f->kv_bytes == 0)
        return;
    ask.kv_k = mc_str_copy(l->a, to[0]).p;
    ask.kv_v = mc_str_copy(l->a, to[1]).p;
    text[0] = mc_str_eq(from[0], from[1]) ? from[0] : mc_format(l->a, "%.*s,%.*s", MC_FMT(from[0]), MC_FMT(from[1]));
    text[1] = mc_str_eq(to[0], to[1]) ? to[0] : mc_format(l->a, "%.*s,%.*s", MC_FMT(to[0]), MC_FMT(to[1]));
    asked(l, "kv-dtype", text[0], text[1], &ask);
}

/* Devices share weights about evenly: what conversion saves on all of them, it saves in that share on one. */
static uint64_t share(const mc_floor *f, uint64_t saved)
{
    uint64_t here = 0;
    if (f->n_devices == 0 || f->weights_bytes == 0)
        return saved;
    for (size_t i = 0; i < f->n_devices; i++)
        here = f->devices[i].weights_bytes > here && strcmp(f->devices[i].name, "host") != 0 ? f->devices[i].weights_bytes : here;
    return here >= f->weights_bytes ? saved : (uint64_t)((double)saved * ((double)here / (double)f->weights_bytes));
}

static void weights(levers *l)
{
    const mc_floor *f = l->q->floor;
    for (size_t i = 0; i < l->out->n_what_if; i++) {
        const mc_what_if *w = &l->out->what_if[i];
        if (w->weights_bytes >= f->weights_bytes - f->weights_bytes / 10) /* a step is at least a tenth */
            continue;
        uint64_t saved = share(f, f->weights_bytes - w->weights_bytes);
        add(l, "weights", mc_answer_precision(l->q, l->a), mc_str_of(w->precision), l->now > saved ? l->now - saved : 0);
        return;
    }
}

/* llama.cpp divides layers (pp), the others divide matrices (tp). */
static void devices(levers *l)
{
    mc_floor_ask ask = same(l->q);
    uint64_t    *n = engine_is(l->q, "llama.cpp") ? &ask.pp : &ask.tp, from = *n ? *n : 1;
    if (from > MC_MAX_DEVICES / 2)
        return;
    *n = from * 2;
    asked(l, "devices", number(l, from), number(l, *n), &ask);
}

/* ---- advice ---- */

static mc_str gib(const levers *l, uint64_t bytes)
{
    return mc_format(l->a, "%.1f GiB", (double)bytes / 1073741824.0);
}

static mc_str other_weights(const levers *l)
{
    const mc_floor *f = l->q->floor;
    uint64_t        rest = l->now > f->weights_bytes ? l->now - f->weights_bytes : 0;
    for (size_t i = 0; i < l->out->n_what_if; i++) {
        const mc_what_if *w = &l->out->what_if[i];
        if (w->weights_bytes < f->weights_bytes && w->weights_bytes <= l->q->vram && rest <= l->q->vram - w->weights_bytes)
            return mc_format(l->a, "weights in %s (%.*s) would fit; check the quality of the output, or take more devices", w->precision,
                             MC_FMT(gib(l, w->weights_bytes)));
    }
    return mc_format(l->a, "take at least %llu devices of this size, or a smaller model", (unsigned long long)((l->now - 1) / l->q->vram + 1));
}

static mc_str advise(levers *l)
{
    const mc_answers *out = l->out;
    if (out->fit != MC_FIT_NO)
        return MC_STR("");
    if (out->context.known && out->context.n > 0)
        return mc_format(l->a, "shorten the context to %llu tokens or less", (unsigned long long)out->context.n);
    if (out->sequences.known && out->sequences.n > 0)
        return mc_format(l->a, "run %llu sequences or fewer", (unsigned long long)out->sequences.n);
    mc_most alone = l->q->floor->sequences > 1 ? mc_most_context(l->q, 1) : (mc_most){ .known = false };
    if (alone.known && alone.n > 0)
        return mc_format(l->a, "run one sequence, of at most %llu tokens", (unsigned long long)alone.n);
    return mc_format(l->a, "context and sequences cannot help: %.*s", MC_FMT(other_weights(l)));
}

void mc_answer_levers(const mc_question *q, mc_arena *a, mc_answers *out)
{
    levers l = { q, a, out, mc_floor_need(q->floor) };
    if (!q->floor->weights_known)
        return;
    if (mc_floor_known(q->floor)) {
        half_of_each(&l);
        cache_type(&l);
    }
    weights(&l);
    if (mc_floor_known(q->floor))
        devices(&l);
    out->advice = advise(&l);
}
