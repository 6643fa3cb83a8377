/* The floor device by device: stages of a pipeline with the ranks of a tensor-parallel group in each, or llama.cpp's layers on
 * devices and host. */
#include "floor/engine.h"

/* Names outlive the arena of an answer: searches keep the figures only. */
#define EIGHT(a, b, c, d, e, f, g, h) "gpu" #a, "gpu" #b, "gpu" #c, "gpu" #d, "gpu" #e, "gpu" #f, "gpu" #g, "gpu" #h
static const char *const device_names[MC_MAX_DEVICES] = {
    EIGHT(0, 1, 2, 3, 4, 5, 6, 7),
    EIGHT(8, 9, 10, 11, 12, 13, 14, 15),
    EIGHT(16, 17, 18, 19, 20, 21, 22, 23),
    EIGHT(24, 25, 26, 27, 28, 29, 30, 31),
    EIGHT(32, 33, 34, 35, 36, 37, 38, 39),
    EIGHT(40, 41, 42, 43, 44, 45, 46, 47),
    EIGHT(48, 49, 50, 51, 52, 53, 54, 55),
    EIGHT(56, 57, 58, 59, 60, 61, 62, 63),
};

static mc_device_floor *device(mc_job *j, const char *name)
{
    mc_floor *f = j->f;
    if (f->n_devices == MC_MAX_DEVICES)
        return NULL;
    mc_device_floor *d = &f->devices[f->n_devices];
    *d = (mc_device_floor){ .name = name ? name : device_names[f->n_devices] };
    f->n_devices++;
    return d;
}

static void put(mc_job *j, mc_device_floor *d, uint64_t weights, const mc_sums *s)
{
    d->weights_bytes = weights;
    d->kv_bytes = s->kv;
    d->k_bytes = s->k;
    d->v_bytes = s->v;
    d->state_bytes = mc_plus(j, mc_plus(j, s->conv, s->state), s->state_padding);
}

static uint64_t part(mc_job *j, const mc_part *p, uint64_t tp)
{
    return mc_part_of_rank(&j->base->weights, p, tp);
}

static uint64_t layers(mc_job *j, uint64_t from, uint64_t to, uint64_t tp)
{
    const mc_residency *r = &j->base->weights;
    uint64_t            sum = 0;
    for (uint64_t i = from; i < to && i < r->n_layers; i++)
        sum = mc_plus(j, sum, part(j, &r->layers[i], tp));
    return sum;
}

static void cache_of(mc_job *j, bool computed, const mc_slice *s, mc_sums *out)
{
    *out = (mc_sums){ 0 };
    if (computed)
        j->base->engine->cache(j, s, out);
}

/* ---- stages and ranks ------------------------------------------------------------------------------------- */

/* The first layer of stage k of pp: as many layers each; what is left over goes to the stages before the last, from the back. */
static uint64_t stage_start(uint64_t n, uint64_t pp, uint64_t k)
{
    uint64_t each = n / pp, rest = n % pp, at = each * k;
    for (uint64_t i = 0; i < k; i++) /* stage i has one more if it is among the `rest` stages before the last */
        at += i + 1 < pp && i + 1 + rest >= pp;
    return k == pp ? n : at;
}

/* What one stage holds, added to the sums of all; formulas are not. */
static void add_stage(mc_job *j, mc_sums *all, const mc_sums *one)
{
    const struct { uint64_t *to; uint64_t n; } figures[] = {
        { &all->kv, one->kv }, { &all->k, one->k }, { &all->v, one->v }, { &all->conv, one->conv }, { &all->state, one->state },
        { &all->padding, one->padding }, { &all->state_padding, one->state_padding },
    };
    for (size_t i = 0; i < MC_COUNT(figures); i++)
        *figures[i].to = mc_plus(j, *figures[i].to, figures[i].n);
    if (one->pool.used && (!all->pool.used || one->pool.page_bytes > all->pool.page_bytes)) /* the dearest stage decides how many blocks there are */
        all->pool = one->pool;
    for (size_t i = 0; i < one->n_caches; i++) {
        const mc_cache *c = &one->caches[i];
        mc_cache       *to = mc_cache_entry(all, c->name, c->cells, c->streams);
        to->layers += c->layers;
        to->k_bytes = mc_plus(j, to->k_bytes, c->k_bytes);
        to->v_bytes = mc_plus(j, to->v_bytes, c->v_bytes);
    }
    for (size_t i = 0; i < one->n_terms; i++) {
        mc_term *to = mc_term_entry(all, one->terms[i].name.p);
        to->bytes = mc_plus(j, to->bytes, one->terms[i].bytes);
    }
}

static mc_str formula_of(mc_job *j, uint64_t bytes, uint64_t whole, mc_str formula)
{
    return bytes == whole ? formula : mc_format(j->a, "%llu", (unsigned long long)bytes);
}

/* The formulas of the undivided model stand for the stages too, unless each of them rounds for itself. */
static void explain_stages(mc_job *j, const mc_sums *whole, mc_sums *all)
{
    for (size_t i = 0; i < all->n_terms; i++)
        for (size_t k = 0; k < whole->n_terms; k++)
            if (mc_str_eq(all->terms[i].name, whole->terms[k].name)) {
                const mc_term *t = &whole->terms[k];
                uint64_t       bytes = all->terms[i].bytes;
                all->terms[i] = *t;
                all->terms[i].bytes = bytes;
                all->terms[i].formula = formula_of(j, bytes, t->bytes, t->formula);
            }
    all->conv_formula = formula_of(j, all->conv, whole->conv, whole->conv_formula);
    all->state_formula = formula_of(j, all->state, whole->state, whole->state_formula);
    all->per_token = whole->per_token;
}

static void stages(mc_job *j, bool computed, uint64_t tp, uint64_t pp, uint64_t n, mc_sums *all)
{
    const mc_residency *r = &j->base->weights;
    for (uint64_t k = 0; k < pp; k++) {
        mc_slice s = { stage_start(n, pp, k), stage_start(n, pp, k + 1), n, tp };
        uint64_t bytes = mc_plus(j, layers(j, s.from, k + 1 == pp ? UINT64_MAX : s.to, tp), r->each);
        mc_sums  sums;
        if (k == 0)
            bytes = mc_plus(j, bytes, mc_plus(j, part(j, &r->input, tp), part(j, &r->other, tp)));
        if (k + 1 == pp)
            bytes = mc_plus(j, bytes, part(j, &r->output, tp));
        if (k > 0 && k + 1 == pp && j->base->engine->narrows) /* a server: the tied matrix lies on the first and on the last stage */
            bytes = mc_plus(j, bytes, mc_ceil_div(r->tied, tp));
        cache_of(j, computed, &s, &sums);
        add_stage(j, all, &sums);
        for (uint64_t t = 0; t < tp; t++) {
            mc_device_floor *d = device(j, NULL);
            if (d)
                put(j, d, bytes, &sums);
        }
    }
}

/* ---- llama.cpp -------------------------------------------------------------------------------------------- */

/* Layer n is the output. The last `asked` of the n + 1 lie on the devices, in equal shares; input tensors stay on the host. */
static void split_layers(mc_job *j, bool computed, uint64_t gpus, uint64_t n)
{
    const mc_residency *r = &j->base->weights;
    uint64_t asked = j->ask->gpu_layers_given && j->ask->gpu_layers <= n ? j->ask->gpu_layers : n + 1, start = n + 1 - asked, next = start;
    mc_sums  sums;
    for (uint64_t k = 0; k < gpus; k++) {
        uint64_t         end = k + 1 == gpus ? n + 1 : start + mc_ceil_div((k + 1) * asked, gpus);
        mc_slice         s = { next < n ? next : n, end < n ? end : n, n, 1 };
        uint64_t         bytes = layers(j, s.from, end > n ? UINT64_MAX : s.to, 1);
        mc_device_floor *d = device(j, NULL);
        if (end > n && asked) /* the output, and a copy of an embedding that serves as such */
            bytes = mc_plus(j, bytes, mc_plus(j, part(j, &r->output, 1), mc_plus(j, part(j, &r->other, 1), r->tied)));
        cache_of(j, computed && s.to > s.from, &s, &sums);
        if (d)
            put(j, d, asked ? bytes : 0, &sums);
        next = end;
    }
    mc_slice         host = { 0, start < n ? start : n, n, 1 };
    mc_device_floor *d = device(j, "host");
    uint64_t         bytes = mc_plus(j, layers(j, 0, asked ? host.to : UINT64_MAX, 1), part(j, &r->input, 1));
    if (asked == 0)
        bytes = mc_plus(j, bytes, mc_plus(j, part(j, &r->output, 1), part(j, &r->other, 1)));
    cache_of(j, computed && host.to > 0, &host, &sums);
    if (d)
        put(j, d, bytes, &sums);
}

static void one_memory(mc_job *j, bool computed, uint64_t n)
{
    const mc_residency *r = &j->base->weights;
    mc_slice            s = { 0, n, n, 1 };
    mc_sums             sums;
    uint64_t            bytes = mc_plus(j, layers(j, 0, UINT64_MAX, 1), mc_plus(j, part(j, &r->input, 1), mc_plus(j, part(j, &r->output, 1), part(j, &r->other, 1))));
    if (j->ask->switches.repack)
        bytes = mc_plus(j, bytes, j->ask->switches.no_mmap ? r->tied : mc_plus(j, r->repacked, r->tied));
    cache_of(j, computed, &s, &sums);
    put(j, device(j, NULL), bytes, &sums);
}

/* ---- all of it -------------------------------------------------------------------------------------------- */

mc_str mc_devices_formula(mc_job *j)
{
    const mc_floor *f = j->f;
    mc_str          text = MC_STR("");
    for (size_t i = 0; i < f->n_devices;) {
        size_t same = 1;
        while (i + same < f->n_devices && f->devices[i + same].weights_bytes == f->devices[i].weights_bytes)
            same++;
        mc_str one = same > 1 ? mc_format(j->a, "%zu*%llu", same, (unsigned long long)f->devices[i].weights_bytes)
                              : mc_format(j->a, "%llu", (unsigned long long)f->devices[i].weights_bytes);
        mc_more_formula(j, &text, one);
        i += same;
    }
    return text;
}

void mc_devices(mc_job *j, bool computed, mc_sums *whole, uint64_t *ranks)
{
    const mc_floor_ask *ask = j->ask;
    const mc_model     *m = j->base->m;
    uint64_t tp = ask->tp ? ask->tp : 1, pp = ask->pp ? ask->pp : 1;
    uint64_t n = j->shape->n_layers ? j->shape->n_layers : m->arch.layers.known ? (uint64_t)m->arch.layers.v : 0;
    mc_slice all = { 0, n, n, tp };
    tp = tp > MC_MAX_DEVICES ? MC_MAX_DEVICES : tp;
    while (tp * pp > MC_MAX_DEVICES)
        pp--;
    if (pp > n)
        pp = n ? n : 1;
    if (j->base->engine == &mc_engine_llama) {
        all.tp = 1;
        uint64_t gpus = tp * pp;
        if (gpus > 1 && tp > 1)
            j->f->assumptions[j->f->n_assumptions < MC_MAX_ASSUMPTIONS ? j->f->n_assumptions++ : MC_MAX_ASSUMPTIONS - 1] =
                (mc_assumption){ MC_STR("llama.cpp divides a model by layers: --tp counts devices"), 0 };
        if (gpus > 1 || ask->gpu_layers_given)
            split_layers(j, computed, gpus > MC_MAX_DEVICES - 1 ? MC_MAX_DEVICES - 1 : gpus, n);
        else
            one_memory(j, computed, n);
    } else {
        all.tp = tp;
        *ranks = tp;
        mc_sums staged = { 0 };
        stages(j, computed, tp, pp, n, &staged);
        cache_of(j, computed, &all, whole);
        if (pp > 1) {
            explain_stages(j, whole, &staged);
            *whole = staged;
        }
        return;
    }
    cache_of(j, computed, &all, whole);
}
