/* The answers of `memory` as JSON: devices, pool, fit, levers and what they would save. */
#include "report/report.h"

static void device(mc_out *o, const mc_floor *f, const mc_device_floor *d)
{
    bool cache = f->cache != MC_CACHE_NOT_COMPUTED && !f->overflow;
    mc_js_open(o, NULL, '{', true);
    mc_js_str(o, "name", mc_str_of(d->name));
    mc_js_known(o, "weights_bytes", f->weights_known, d->weights_bytes);
    mc_js_known(o, "kv_bytes", cache, d->kv_bytes);
    mc_js_known(o, "k_bytes", cache, d->k_bytes);
    mc_js_known(o, "v_bytes", cache, d->v_bytes);
    mc_js_known(o, "state_bytes", cache, d->state_bytes);
    mc_js_known(o, "floor_bytes", mc_floor_known(f), d->floor_bytes);
    mc_js_close(o, '}');
}

static void devices(mc_out *o, const mc_floor *f)
{
    const mc_device_floor all = { .name = "gpu0", .weights_bytes = f->weights_bytes, .kv_bytes = f->kv_bytes, .state_bytes = f->state_bytes,
                                  .floor_bytes = f->floor_bytes };
    mc_js_open(o, "devices", '[', false);
    if (f->n_devices == 0)
        device(o, f, &all);
    for (size_t i = 0; i < f->n_devices; i++)
        device(o, f, &f->devices[i]);
    mc_js_close(o, ']');
}

static void pool(mc_out *o, const mc_pool *p)
{
    if (!p->used)
        return;
    mc_js_open(o, "pool", '{', true);
    mc_js_known(o, "block_tokens", p->block_tokens != 0, p->block_tokens);
    mc_js_known(o, "page_bytes", p->page_bytes != 0, p->page_bytes);
    mc_js_known(o, "groups", p->groups != 0, p->groups);
    mc_js_known(o, "blocks", p->blocks != 0, p->blocks);
    mc_js_known(o, "blocks_per_request", p->blocks_per_request != 0, p->blocks_per_request);
    mc_js_known(o, "tokens", p->tokens != 0, p->tokens);
    mc_js_close(o, '}');
}

static void most(mc_out *o, const char *key, const char *unit, const mc_most *m, bool limit)
{
    mc_js_open(o, key, '{', true);
    mc_js_known(o, unit, m->known, m->n);
    mc_js_known(o, "with_margin", m->known, m->with_margin);
    if (limit)
        mc_js_text(o, "limited_by", mc_str_of(!m->known ? NULL : m->by_model ? "model" : "memory"));
    mc_js_close(o, '}');
}

static void fit(mc_out *o, const mc_answers *a)
{
    if (a->vram == 0)
        return;
    mc_js_open(o, "fit", '{', false);
    mc_js_u64(o, "vram_bytes", a->vram);
    mc_js_u64(o, "margin_bytes", a->margin);
    mc_js_text(o, "verdict", mc_str_of(mc_fit_name(a->fit)));
    most(o, "max_context", "tokens", &a->context, true);
    most(o, "max_sequences", "count", &a->sequences, false);
    mc_js_text(o, "advice", a->advice);
    mc_js_close(o, '}');
}

static void levers(mc_out *o, const mc_answers *a)
{
    mc_js_open(o, "levers", '[', false);
    for (size_t i = 0; i < a->n_levers; i++) {
        const mc_lever *l = &a->levers[i];
        mc_js_open(o, NULL, '{', true);
        mc_js_str(o, "lever", mc_str_of(l->lever));
        mc_js_str(o, "from", l->from);
        mc_js_str(o, "to", l->to);
        mc_js_u64(o, "saves_bytes", l->saves_bytes);
        mc_js_u64(o, "floor_bytes", l->floor_bytes);
        mc_js_close(o, '}');
    }
    mc_js_close(o, ']');
    if (!a->halving_known) {
        mc_js_null(o, "halving");
        return;
    }
    mc_js_open(o, "halving", '{', true);
    mc_js_u64(o, "from", a->halving_from);
    mc_js_u64(o, "to", a->halving_to);
    mc_js_u64(o, "saves_bytes", a->halving_saves);
    mc_js_close(o, '}');
}

static void what_if(mc_out *o, const mc_answers *a)
{
    mc_js_open(o, "what_if", '[', false);
    for (size_t i = 0; i < a->n_what_if; i++) {
        const mc_what_if *w = &a->what_if[i];
        mc_js_open(o, NULL, '{', true);
        mc_js_str(o, "precision", mc_str_of(w->precision));
        mc_js_u64(o, "weights_bytes", w->weights_bytes);
        mc_js_known(o, "floor_bytes", w->floor_known, w->floor_bytes);
        mc_js_str(o, "by", mc_str_of(w->by_tensors ? "tensors" : "parameters"));
        mc_js_close(o, '}');
    }
    mc_js_close(o, ']');
}

static void estimates(mc_out *o, const mc_answers *a)
{
    mc_js_open(o, "estimates", '[', false);
    for (size_t i = 0; i < a->n_estimates; i++) {
        const mc_estimate *e = &a->estimates[i];
        mc_js_open(o, NULL, '{', true);
        mc_js_str(o, "name", mc_str_of(e->name));
        mc_js_u64(o, "min_bytes", e->min_bytes);
        mc_js_u64(o, "max_bytes", e->max_bytes);
        mc_js_str(o, "source", mc_str_of(e->source));
        mc_js_close(o, '}');
    }
    mc_js_close(o, ']');
}

void mc_json_answers(mc_out *o, const mc_floor *f, const mc_answers *a)
{
    static const char *const larger[] = { [MC_LARGER_UNKNOWN] = NULL, [MC_LARGER_WEIGHTS] = "weights", [MC_LARGER_CACHE] = "cache" };
    pool(o, &f->pool);
    devices(o, f);
    if (!a)
        return;
    fit(o, a);
    mc_js_text(o, "larger", mc_str_of(larger[a->larger]));
    mc_js_known(o, "crossover_context", a->crossover_known, a->crossover);
    levers(o, a);
    what_if(o, a);
    estimates(o, a);
}
