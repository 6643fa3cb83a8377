/* The memory floor: bytes that are certain. Weights as an engine keeps them, plus the cache of keys and values and the state for
 * the context and sequences asked for, on each device. What stands for all contexts is prepared once. */
#include "floor/engine.h"
#include "floor/names.h"

enum { DEFAULT_CONTEXT = 8192 };

static const mc_engine *const engines[] = { &mc_engine_generic, &mc_engine_llama, &mc_engine_vllm, &mc_engine_sglang, &mc_engine_transformers };

const mc_engine *mc_engine_find(const char *name)
{
    for (size_t i = 0; i < MC_COUNT(engines); i++)
        if (name && mc_str_is(mc_str_of(name), engines[i]->name))
            return engines[i];
    return NULL;
}

bool mc_engine_known(const char *name)
{
    return mc_engine_find(name) != NULL;
}

/* ---- once a model ----------------------------------------------------------------------------------------- */

/* The 16-bit type of the model: by its configuration, else by what most of its tensors are stored in. */
static const char *model_type16(const mc_model *m, const mc_kb *kb)
{
    if (mc_str_is(m->arch.dtype.v, "bfloat16"))
        return "bf16";
    if (m->arch.dtype.known || m->unit == MC_UNIT_GGUF || m->n_components == 0)
        return "f16";
    uint64_t            bf16 = 0, f16 = 0;
    const mc_inventory *inv = &m->components[0].inv;
    for (size_t i = 0; i < inv->names.n; i++) {
        const mc_dtype *d = mc_kb_dtype(kb, inv->first[i]->dtype);
        bf16 += d && mc_str_is(d->name, "BF16");
        f16 += d && mc_str_is(d->name, "F16");
    }
    return bf16 > f16 ? "bf16" : "f16";
}

static const char *own_type(const mc_floor_base *b)
{
    mc_load_quant quant;
    if (!b->engine->follows_model)
        return "f16";
    mc_load_quant_of(b->m, &quant);
    if (b->engine->narrows && quant.cache_type)
        return quant.cache_type;
    return b->engine == &mc_engine_transformers && mc_str_is(b->m->arch.dtype.v, "float32") ? "f32" : b->type16;
}

const mc_floor_base *mc_floor_prepare(const mc_model *m, mc_kb *kb, const mc_floor_ask *ask, mc_arena *a)
{
    mc_floor_base *b = MC_NEW(a, mc_floor_base, 1);
    if (!b)
        return NULL;
    b->m = m;
    b->kb = kb;
    b->engine = mc_engine_find(ask->engine);
    b->engine = b->engine ? b->engine : &mc_engine_generic;
    mc_shape_of(m, kb, a, &b->shape);
    b->type16 = model_type16(m, kb);
    b->own_type = own_type(b);
    b->conv_kernel = b->shape.n_states ? mc_conv_kernel(m, kb) : 0;
    b->state_16 = !mc_asks_f32_state(m);
    mc_residency_of(m, kb, ask, b->engine, &b->shape, a, &b->weights);
    return b;
}

/* ---- one answer ------------------------------------------------------------------------------------------- */

static void assume(mc_floor *f, int64_t effect, mc_str text)
{
    if (f->n_assumptions < MC_MAX_ASSUMPTIONS)
        f->assumptions[f->n_assumptions++] = (mc_assumption){ text, effect };
}

static void context(mc_job *j)
{
    mc_floor *f = j->f;
    uint64_t  own = j->shape->max_context;
    f->sequences = j->ask->sequences ? j->ask->sequences : 1;
    f->context = j->ask->context;
    if (f->context && own && f->context > own)
        assume(f, 0, mc_format(j->a, "the context asked for is above the model's own maximum of %llu", (unsigned long long)own));
    if (f->context)
        return;
    f->context = own && own < DEFAULT_CONTEXT ? own : DEFAULT_CONTEXT;
    if (!own)
        assume(f, 0, mc_format(j->a, "the model's maximum context is not known: %d tokens are assumed", DEFAULT_CONTEXT));
    else if (own > DEFAULT_CONTEXT)
        assume(f, 0, mc_format(j->a, "context %d: the model's own maximum is %llu", DEFAULT_CONTEXT, (unsigned long long)own));
}

static mc_term *add_term(mc_floor *f, const char *name, uint64_t bytes, mc_str formula)
{
    mc_term *t = &f->terms[f->n_terms < MC_MAX_TERMS ? f->n_terms++ : MC_MAX_TERMS - 1];
    *t = (mc_term){ .name = mc_str_of(name), .bytes = bytes, .formula = formula };
    return t;
}

static mc_str of_ranks(mc_job *j, mc_str formula, uint64_t ranks)
{
    if (ranks <= 1 || formula.n == 0)
        return formula;
    bool sum = mc_str_contains(formula, " ");
    return mc_format(j->a, "%s%.*s%s*%llu", sum ? "(" : "", MC_FMT(formula), sum ? ")" : "", (unsigned long long)ranks);
}

static void cache_terms(mc_job *j, const mc_sums *s, uint64_t ranks)
{
    mc_floor *f = j->f;
    for (size_t i = 0; i < s->n_terms; i++) {
        mc_term *t = add_term(f, s->terms[i].name.p, mc_times(j, s->terms[i].bytes, ranks), of_ranks(j, s->terms[i].formula, ranks));
        mc_more_from(t, s->terms[i].from, s->terms[i].n_from);
    }
    if (s->padding)
        add_term(f, "block rounding", mc_times(j, s->padding, ranks),
                 of_ranks(j, mc_format(j->a, "%llu - %llu", (unsigned long long)s->kv, (unsigned long long)(s->kv - s->padding)), ranks));
    const struct { const char *name; uint64_t bytes; mc_str formula; } states[] = {
        { "conv state", s->conv, s->conv_formula }, { "ssm state", s->state, s->state_formula },
    };
    for (size_t i = 0; i < MC_COUNT(states); i++)
        if (states[i].bytes) {
            mc_term *t = add_term(f, states[i].name, mc_times(j, states[i].bytes, ranks), of_ranks(j, states[i].formula, ranks));
            for (size_t g = 0; g < j->shape->n_states; g++)
                mc_more_from(t, j->shape->states[g].from, j->shape->states[g].n_from);
        }
    if (s->state_padding) {
        uint64_t own = s->conv + s->state;
        add_term(f, "state rounding", mc_times(j, s->state_padding, ranks),
                 of_ranks(j, mc_format(j->a, "%llu - %llu", (unsigned long long)(own + s->state_padding), (unsigned long long)own), ranks));
    }
    f->n_caches = s->n_caches;
    for (size_t i = 0; i < s->n_caches; i++) {
        f->caches[i] = s->caches[i];
        f->caches[i].k_bytes = mc_times(j, f->caches[i].k_bytes, ranks);
        f->caches[i].v_bytes = mc_times(j, f->caches[i].v_bytes, ranks);
    }
    f->kv_bytes_per_token = mc_times(j, s->per_token, ranks);
    f->pool = s->pool;
}

/* What the cache of one token would take if every layer kept everything: only where the shape says that this is a bound. */
static void bound(mc_job *j)
{
    uint32_t  kb, kn, vb, vn;
    mc_floor *f = j->f;
    uint64_t  bytes;
    if (!j->shape->bound_known || !mc_kv_type(f->kv_dtype_k, &kb, &kn) || !mc_kv_type(f->kv_dtype_v, &vb, &vn))
        return;
    bool     k_wider = (uint64_t)kn * vb >= (uint64_t)vn * kb;
    uint64_t block = k_wider ? kb : vb, each = k_wider ? kn : vn;
    f->bound_known = !ckd_mul(&bytes, mc_ceil_div(j->shape->bound_elements, block), each);
    f->upper_bound_per_token = f->bound_known ? bytes : 0;
}

static void not_computed(mc_floor *f, mc_str reason)
{
    f->cache = MC_CACHE_NOT_COMPUTED;
    f->cache_reason = reason;
    f->kv_bytes = f->kv_bytes_per_token = f->state_bytes = 0;
    f->n_caches = 0;
    f->pool = (mc_pool){ 0 };
    f->n_terms = f->weights_known ? 1 : 0;
    for (size_t i = 0; i < f->n_devices; i++) {
        mc_device_floor *d = &f->devices[i];
        d->kv_bytes = d->k_bytes = d->v_bytes = d->state_bytes = 0;
        d->floor_bytes = d->weights_bytes;
    }
}

/* Sums over the devices; the weights come first among the terms. */
static void totals(mc_job *j)
{
    mc_floor *f = j->f;
    f->weights_bytes = f->kv_bytes = f->state_bytes = f->floor_bytes = f->device_bytes = 0;
    for (size_t i = 0; i < f->n_devices; i++) {
        mc_device_floor *d = &f->devices[i];
        d->floor_bytes = mc_plus(j, d->weights_bytes, mc_plus(j, d->kv_bytes, d->state_bytes));
        f->weights_bytes = mc_plus(j, f->weights_bytes, d->weights_bytes);
        f->kv_bytes = mc_plus(j, f->kv_bytes, d->kv_bytes);
        f->state_bytes = mc_plus(j, f->state_bytes, d->state_bytes);
        f->floor_bytes = mc_plus(j, f->floor_bytes, d->floor_bytes);
        if (d->floor_bytes > f->device_bytes && !(f->n_devices > 1 && mc_str_is(mc_str_of(d->name), "host")))
            f->device_bytes = d->floor_bytes;
    }
    if (!f->weights_known)
        return;
    const mc_term *own = &j->base->weights.term;
    for (size_t i = f->n_terms < MC_MAX_TERMS ? f->n_terms++ : MC_MAX_TERMS - 1; i > 0; i--)
        f->terms[i] = f->terms[i - 1];
    f->terms[0] = *own;
    f->terms[0].bytes = f->weights_bytes;
    if (f->n_devices > 1)
        f->terms[0].formula = mc_devices_formula(j);
}

static void types(mc_job *j)
{
    const mc_floor_ask *ask = j->ask;
    const char         *own = j->base->own_type;
    j->f->kv_dtype_k = mc_str_of(ask->kv_k ? ask->kv_k : own);
    j->f->kv_dtype_v = mc_str_of(ask->kv_v ? ask->kv_v : ask->kv_k ? ask->kv_k : own);
}

static void copy_assumptions(mc_floor *f, const mc_assumption *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assume(f, from[i].effect_bytes, from[i].text);
}

void mc_floor_answer(const mc_floor_base *base, const mc_floor_ask *ask, mc_arena *a, mc_floor *out)
{
    *out = (mc_floor){ .engine = base->engine->name, .weights_known = base->weights.known, .cache = MC_CACHE_COMPUTED };
    mc_job j = { .base = base, .ask = ask, .shape = &base->shape, .a = a, .f = out };
    bool   computed = base->shape.cache == MC_CACHE_COMPUTED;
    types(&j);
    context(&j);
    copy_assumptions(out, base->weights.assumptions, base->weights.n_assumptions);
    if (computed)
        copy_assumptions(out, base->shape.assumptions, base->shape.n_assumptions);
    for (size_t g = 0; computed && g < base->shape.n_keeps; g++)
        if (base->shape.keeps[g].mtp && ask->switches.speculative == 0)
            assume(out, 0, mc_format(a, "the cache of prediction layers (%llu) is not counted", (unsigned long long)base->shape.keeps[g].layers));
    mc_sums  whole = { 0 };
    uint64_t ranks = 1;
    mc_devices(&j, computed, &whole, &ranks);
    if (computed)
        cache_terms(&j, &whole, ranks);
    if (!computed) {
        out->cache = base->shape.cache == MC_CACHE_NONE ? MC_CACHE_NONE : MC_CACHE_NOT_COMPUTED;
        out->cache_reason = base->shape.reason;
    }
    totals(&j);
    if (j.refusal.n || (j.overflow && computed)) {
        out->overflow = j.overflow && j.refusal.n == 0;
        not_computed(out, j.refusal.n ? j.refusal : MC_STR("the product of layers, heads, widths and context does not fit 64 bits"));
        j.overflow = false;
        bool over = out->overflow;
        out->n_terms = 0;
        totals(&j);
        out->overflow = over;
    }
    if (out->cache == MC_CACHE_NOT_COMPUTED)
        bound(&j);
    if (j.overflow || base->weights.overflow) {
        out->floor_bytes = out->device_bytes = UINT64_MAX;
        out->overflow = true;
    }
}

void mc_floor_compute(const mc_model *m, mc_kb *kb, const mc_floor_ask *ask, mc_arena *a, mc_floor *out)
{
    const mc_floor_base *base = mc_floor_prepare(m, kb, ask, a);
    if (base)
        mc_floor_answer(base, ask, a, out);
    else
        *out = (mc_floor){ .engine = "generic", .cache = MC_CACHE_NOT_COMPUTED, .cache_reason = MC_STR("out of memory"), .sequences = 1 };
}
