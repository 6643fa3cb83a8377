/* The answers of `memory` in plain words: what fits, what is large, what one step saves. */
#include "report/report.h"

#include <inttypes.h>
#include <string.h>

static void label(mc_out *o, const char *name)
{
    mc_putf(o, "  %-12s  ", name);
}

static void sized(mc_out *o, const char *before, uint64_t bytes, const char *after)
{
    mc_put(o, before);
    mc_put_size(o, bytes);
    mc_put(o, after);
}

static void devices(mc_out *o, const mc_floor *f)
{
    for (size_t i = 0; i < f->n_devices && f->n_devices > 1; i++) {
        const mc_device_floor *d = &f->devices[i];
        bool                   whole = mc_floor_known(f);
        label(o, d->name);
        sized(o, whole ? "" : "at least ", d->floor_bytes, ""); /* the sum of what is known */
        sized(o, f->weights_known ? " = weights " : " = cache ", f->weights_known ? d->weights_bytes : d->kv_bytes, "");
        if (f->weights_known && d->kv_bytes)
            sized(o, " + cache ", d->kv_bytes, "");
        if (d->state_bytes)
            sized(o, " + state ", d->state_bytes, "");
        mc_put(o, "\n");
    }
}

static void pool(mc_out *o, const mc_pool *p)
{
    if (!p->used)
        return;
    label(o, "pool");
    mc_putf(o, "blocks of %" PRIu64 " tokens", p->block_tokens);
    if (p->page_bytes)
        sized(o, ", ", p->page_bytes, " each");
    if (p->groups > 1)
        mc_putf(o, ", %" PRIu64 " groups of layers", p->groups);
    if (p->blocks_per_request)
        mc_putf(o, "; a request takes %" PRIu64, p->blocks_per_request);
    if (p->blocks)
        mc_putf(o, " of %" PRIu64, p->blocks);
    if (p->tokens)
        mc_putf(o, "; room for %" PRIu64 " tokens", p->tokens);
    mc_put(o, "\n");
}

/* ---- with --vram ---- */

static void verdict(mc_out *o, const mc_floor *f, const mc_answers *a)
{
    uint64_t need = mc_floor_need(f), vram = a->vram;
    label(o, "vram");
    mc_put_size(o, vram);
    if (a->fit == MC_FIT_UNKNOWN) {
        mc_put(o, f->weights_known ? ": the weights fit; the cache is not known\n" : ": not known, no weights were read\n");
        return;
    }
    if (a->fit == MC_FIT_NO) {
        sized(o, ": does not fit, certain: ", need - vram, " too much\n");
        return;
    }
    sized(o, a->fit == MC_FIT_TIGHT ? ": tight, " : ": fits, ", vram - need, " left for activations and the runtime");
    sized(o, " (at least ", a->margin, " is usual)\n");
}

static void most(mc_out *o, const mc_floor *f, const mc_answers *a)
{
    const mc_most *c = &a->context, *s = &a->sequences;
    if (c->known) {
        label(o, "context");
        if (c->n == 0)
            mc_put(o, "not even one token fits");
        else if (c->by_model)
            mc_putf(o, "all %" PRIu64 " tokens of the model fit", c->n);
        else
            mc_putf(o, "at most %" PRIu64 " tokens fit", c->n);
        if (c->n && c->with_margin < c->n)
            mc_putf(o, ", %" PRIu64 " with the margin", c->with_margin);
        if (c->n && f->sequences > 1)
            mc_putf(o, strcmp(f->engine, "llama.cpp") == 0 ? ", shared by %" PRIu64 " sequences" : " for each of %" PRIu64 " sequences", f->sequences);
        mc_put(o, "\n");
    }
    if (s->known) {
        label(o, "sequences");
        if (s->n == 0)
            mc_putf(o, "not even one fits with %" PRIu64 " tokens of context", f->context);
        else
            mc_putf(o, "at most %" PRIu64 " fit with %" PRIu64 " tokens of context", s->n, f->context);
        if (s->n && s->with_margin < s->n)
            mc_putf(o, ", %" PRIu64 " with the margin", s->with_margin);
        mc_put(o, "\n");
    }
    if (a->advice.n) {
        label(o, "to fit");
        mc_put_text(o, a->advice);
        mc_put(o, "\n");
    }
}

/* ---- always ---- */

static void larger(mc_out *o, const mc_floor *f, const mc_answers *a)
{
    if (a->larger == MC_LARGER_UNKNOWN || f->cache == MC_CACHE_NONE)
        return;
    label(o, "larger");
    mc_put(o, a->larger == MC_LARGER_CACHE ? "the cache" : "the weights");
    if (a->crossover_known)
        mc_putf(o, "; with %" PRIu64 " sequence%s they are equal at about %" PRIu64 " tokens", f->sequences, f->sequences == 1 ? "" : "s", a->crossover);
    mc_put(o, "\n");
}

static void levers(mc_out *o, const mc_floor *f, const mc_answers *a)
{
    for (size_t i = 0; i < a->n_levers; i++) {
        const mc_lever *l = &a->levers[i];
        label(o, i ? "" : "one step");
        mc_putf(o, "%-9s  ", l->lever);
        mc_put_text(o, l->from);
        mc_put(o, " → ");
        mc_put_text(o, l->to);
        for (size_t w = mc_text_width(l->from) + mc_text_width(l->to); w < 15; w++)
            mc_put(o, " ");
        sized(o, " saves ", l->saves_bytes, "");
        sized(o, ", leaves ", l->floor_bytes, a->vram && a->fit == MC_FIT_NO && l->enough ? "; that fits\n" : "\n");
    }
    if (!a->halving_known)
        return;
    label(o, "halving");
    mc_putf(o, "%" PRIu64 " → %" PRIu64 " tokens should free ", a->halving_from, a->halving_to);
    sized(o, "", a->halving_saves, f->pool.used ? ": compare free blocks; the server reserves its pool in advance and looks full either way\n"
                                                : ": measure it; much less means that weights and overhead dominate\n");
}

static void what_if(mc_out *o, const mc_answers *a)
{
    for (size_t i = 0; i < a->n_what_if; i++) {
        const mc_what_if *w = &a->what_if[i];
        label(o, i ? "" : "what if");
        mc_putf(o, "%-6s  weights ", w->precision);
        mc_put_size(o, w->weights_bytes);
        if (w->floor_known)
            sized(o, ", floor ", w->floor_bytes, "");
        mc_put(o, i ? "\n" : w->by_tensors ? "   (every matrix in that type, the rest as stored)\n" : "   (all parameters at that width)\n");
    }
}

static void estimates(mc_out *o, const mc_answers *a)
{
    uint64_t least = 0, most_bytes = 0;
    for (size_t i = 0; i < a->n_estimates; i++) {
        const mc_estimate *e = &a->estimates[i];
        label(o, "ESTIMATE");
        mc_putf(o, "%s ", e->name);
        mc_put_size(o, e->min_bytes);
        if (e->max_bytes != e->min_bytes)
            sized(o, " to ", e->max_bytes, "");
        mc_putf(o, " (%s)\n", e->source);
        if (ckd_add(&least, least, e->min_bytes) || ckd_add(&most_bytes, most_bytes, e->max_bytes))
            return;
    }
    if (a->n_estimates) {
        label(o, "ESTIMATE");
        sized(o, "together ", least, "");
        sized(o, " to ", most_bytes, " beside the floor, and never part of it\n");
    }
}

void mc_text_answers(mc_out *o, const mc_floor *f, const mc_answers *a)
{
    pool(o, &f->pool);
    devices(o, f);
    if (!a)
        return;
    if (a->vram) {
        verdict(o, f, a);
        most(o, f, a);
    }
    larger(o, f, a);
    levers(o, f, a);
    what_if(o, a);
    estimates(o, a);
}
