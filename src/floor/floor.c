/* The memory floor: bytes that are certain. Weights as a loader keeps them, plus the cache of keys and values for the
 * context and sequences asked for. One token of one head costs width * bytes of the element type, for K and for V. */
#include "floor/plan.h"

enum { DEFAULT_CONTEXT = 8192 };

typedef struct { const mc_model *m; const mc_kb *kb; const mc_floor_ask *ask; mc_arena *a; mc_floor *f; mc_plan plan; } job;

static void assume(job *j, int64_t effect, mc_str text)
{
    if (j->f->n_assumptions < MC_MAX_ASSUMPTIONS)
        j->f->assumptions[j->f->n_assumptions++] = (mc_assumption){ text, effect };
}

static mc_term *add_term(job *j, const char *name, uint64_t bytes, mc_str formula)
{
    mc_term *t = &j->f->terms[j->f->n_terms++];
    *t = (mc_term){ .name = mc_str_of(name), .bytes = bytes, .formula = formula };
    return t;
}

/* ---- what was asked for ---- */

static void context(job *j)
{
    mc_floor     *f = j->f;
    const mc_int *own = &j->m->arch.context;
    f->sequences = j->ask->sequences ? j->ask->sequences : 1;
    f->context = j->ask->context;
    if (f->context && own->known && f->context > (uint64_t)own->v)
        assume(j, 0, mc_format(j->a, "the context asked for is above the model's own maximum of %lld", (long long)own->v));
    if (f->context)
        return;
    f->context = own->known && own->v < DEFAULT_CONTEXT ? (uint64_t)own->v : DEFAULT_CONTEXT;
    if (!own->known)
        assume(j, 0, mc_format(j->a, "the model's maximum context is not known: %d tokens are assumed", DEFAULT_CONTEXT));
    else if (own->v > DEFAULT_CONTEXT)
        assume(j, 0, mc_format(j->a, "context %d: the model's own maximum is %lld", DEFAULT_CONTEXT, (long long)own->v));
}

/* The 16-bit type of the model: by its configuration, else by what most of its tensors are stored in. */
static const char *model_type16(const job *j)
{
    const mc_model *m = j->m;
    if (mc_str_is(m->arch.dtype.v, "bfloat16"))
        return "bf16";
    if (m->arch.dtype.known || m->unit == MC_UNIT_GGUF || m->n_components == 0)
        return "f16";
    uint64_t            bf16 = 0, f16 = 0;
    const mc_inventory *inv = &m->components[0].inv;
    for (size_t i = 0; i < inv->names.n; i++) {
        const mc_dtype *d = mc_kb_dtype(j->kb, inv->first[i]->dtype);
        bf16 += d && mc_str_is(d->name, "BF16");
        f16 += d && mc_str_is(d->name, "F16");
    }
    return bf16 > f16 ? "bf16" : "f16";
}

/* ---- weights ---- */

static void weights(job *j)
{
    const mc_model *m = j->m;
    mc_floor       *f = j->f;
    f->weights_known = m->weights_bytes.known;
    if (!f->weights_known)
        return;
    uint64_t all = (uint64_t)m->weights_bytes.v, head = 0;
    if (m->arch.tie.known && m->arch.tie.v && m->heads.embed && m->heads.head)
        head = m->heads.head->end - m->heads.head->begin;
    f->weights_bytes = head <= all ? all - head : all;
    mc_term *t = add_term(j, "weights", f->weights_bytes,
                          head ? mc_format(j->a, "%llu - %llu", (unsigned long long)all, (unsigned long long)head)
                               : mc_format(j->a, "sum of %llu tensors", (unsigned long long)m->n_tensors));
    for (size_t i = 0; i < m->n_files && t->n_from < MC_COUNT(t->from); i++)
        if (m->files[i].in_read_set && m->files[i].n_tensors)
            t->from[t->n_from++] = m->files[i].path;
    if (head)
        assume(j, -(int64_t)head, mc_format(j->a, "%.*s is tied to the embedding and counted once", MC_FMT(m->heads.head->name)));
    if (m->arch.mtp_layers.known && m->arch.mtp_layers.v > 0)
        assume(j, 0, MC_STR("weights of prediction layers, where stored, are counted"));
}

/* ---- cache ---- */

/* Bytes of a token: heads * width elements, in blocks of the element type. */
static bool token_bytes(uint64_t heads, uint64_t width, uint32_t block, uint32_t bytes, uint64_t *out)
{
    uint64_t blocks = (width + block - 1) / block;
    return !ckd_mul(out, heads, blocks) && !ckd_mul(out, *out, (uint64_t)bytes);
}

static bool grow(const job *j, uint64_t per_token, uint64_t *out)
{
    return !ckd_mul(out, per_token, j->f->context) && !ckd_mul(out, *out, j->f->sequences);
}

typedef struct { uint32_t k_block, k_bytes, v_block, v_bytes; uint64_t k, v, all; } token; /* k, v, all: bytes of one token */

static bool token_of(job *j, token *t)
{
    const mc_plan *p = &j->plan;
    if (!mc_kv_type(j->f->kv_dtype_k, &t->k_block, &t->k_bytes) || !mc_kv_type(j->f->kv_dtype_v, &t->v_block, &t->v_bytes)) {
        if (p->cache == MC_CACHE_COMPUTED)
            mc_plan_not(&j->plan, MC_STR("the element type of the cache is not known"));
        return false;
    }
    j->f->overflow = !token_bytes(p->heads, p->k, t->k_block, t->k_bytes, &t->k) || !token_bytes(p->heads, p->v, t->v_block, t->v_bytes, &t->v) ||
                     !token_bytes(1, p->index, t->k_block, t->k_bytes, &t->all) || ckd_add(&t->all, t->all, t->k) || ckd_add(&t->all, t->all, t->v);
    return !j->f->overflow;
}

static mc_str bytes_text(const job *j, uint32_t block, uint32_t bytes)
{
    return block == 1 ? mc_format(j->a, "%u", bytes) : mc_format(j->a, "%u/%u", bytes, block);
}

static mc_str formula(const job *j, const token *t)
{
    const mc_plan     *p = &j->plan;
    mc_str             k = bytes_text(j, t->k_block, t->k_bytes), v = bytes_text(j, t->v_block, t->v_bytes);
    unsigned long long dk = p->k, dv = p->v, c = j->f->context, s = j->f->sequences;
    if (dk == dv && t->k_block == t->v_block && t->k_bytes == t->v_bytes)
        return mc_format(j->a, "2*%.*s*%llu*%.*s*%llu*%llu", MC_FMT(p->heads_text), dk, MC_FMT(k), c, s);
    return mc_format(j->a, "%.*s*(%llu*%.*s+%llu*%.*s)*%llu*%llu", MC_FMT(p->heads_text), dk, MC_FMT(k), dv, MC_FMT(v), c, s);
}

static void full_cache(job *j, const token *t)
{
    mc_floor *f = j->f;
    mc_plan  *p = &j->plan;
    mc_cache  c = { "full", p->layers, f->context, f->sequences, 0, 0 };
    uint64_t  bytes;
    if (p->k % t->k_block != 0 || p->v % t->v_block != 0) {
        mc_plan_not(p, mc_format(j->a, "heads of %llu and %llu elements are no whole number of %.*s and %.*s blocks", (unsigned long long)p->k,
                                 (unsigned long long)p->v, MC_FMT(f->kv_dtype_k), MC_FMT(f->kv_dtype_v)));
        return;
    }
    if (!grow(j, t->k, &c.k_bytes) || !grow(j, t->v, &c.v_bytes) || ckd_add(&bytes, c.k_bytes, c.v_bytes)) {
        f->overflow = true;
        return;
    }
    f->kv_bytes = bytes;
    f->kv_bytes_per_token = t->all;
    f->caches[f->n_caches++] = c;
    mc_term *term = add_term(j, "kv cache", bytes, formula(j, t));
    for (size_t i = 0; i < p->n_from; i++)
        term->from[term->n_from++] = p->from[i];
}

/* What the configuration leaves out and its class supplies: certain only as long as the class does not change. */
static void supplied(job *j)
{
    const mc_arch *a = &j->m->arch;
    const struct { const mc_int *fact; const char *name; } facts[] = {
        { &a->layers, "the number of layers" }, { &a->kv_heads, "the number of key/value heads" }, { &a->head_dim, "the head width" },
    };
    for (size_t i = 0; i < MC_COUNT(facts); i++)
        if (mc_str_starts(facts[i].fact->from.where, "default of "))
            assume(j, 0, mc_format(j->a, "%s is not in the configuration: %lld, %.*s", facts[i].name, (long long)facts[i].fact->v, MC_FMT(facts[i].fact->from.where)));
}

static void cache(job *j)
{
    token    t = { 0 };
    mc_plan *p = &j->plan;
    bool     fits = p->bound && token_of(j, &t);
    if (p->cache == MC_CACHE_COMPUTED && !p->bound)
        mc_plan_not(p, MC_STR("layers, heads or widths are not known"));
    if (p->cache == MC_CACHE_COMPUTED && fits)
        full_cache(j, &t);
    if (p->cache == MC_CACHE_COMPUTED)
        supplied(j);
    if (p->cache == MC_CACHE_COMPUTED && j->f->overflow)
        mc_plan_not(p, MC_STR("the product of layers, heads, widths and context does not fit 64 bits"));
    j->f->bound_known = fits && p->cache == MC_CACHE_NOT_COMPUTED;
    j->f->upper_bound_per_token = j->f->bound_known ? t.all : 0;
}

static const char *no_cache(const mc_model *m)
{
    static const struct { mc_kind kind; const char *why; } kinds[] = {
        { MC_KIND_ADAPTER, "an adapter has no cache of its own: it belongs to the base model" },
        { MC_KIND_PROJECTOR, "a projector has no attention cache" },
        { MC_KIND_VOCAB, "a vocabulary has no attention cache" },
        { MC_KIND_IMATRIX, "an importance matrix has no attention cache" },
        { MC_KIND_STATIC_EMBEDDING, "a static embedding has no attention cache" },
        { MC_KIND_SENTENCE, "an embedding model has no attention cache" },
        { MC_KIND_ENCODER, "an encoder has no attention cache" },
        { MC_KIND_DIFFUSERS, "a diffusion pipeline has no attention cache" },
    };
    for (size_t i = 0; i < MC_COUNT(kinds); i++)
        if (m->kind == kinds[i].kind)
            return kinds[i].why;
    return NULL;
}

void mc_floor_compute(const mc_model *m, mc_kb *kb, const mc_floor_ask *ask, mc_arena *a, mc_floor *out)
{
    *out = (mc_floor){ .engine = "generic" };
    job         j = { .m = m, .kb = kb, .ask = ask, .a = a, .f = out, .plan = { .cache = MC_CACHE_COMPUTED } };
    const char *type16 = model_type16(&j);
    out->kv_dtype_k = mc_str_of(ask->kv_k ? ask->kv_k : type16);
    out->kv_dtype_v = mc_str_of(ask->kv_v ? ask->kv_v : ask->kv_k ? ask->kv_k : type16);
    context(&j);
    weights(&j);
    const char *none = no_cache(m);
    if (none)
        j.plan = (mc_plan){ .cache = MC_CACHE_NONE, .reason = mc_str_of(none) };
    else if (m->unit == MC_UNIT_GGUF)
        mc_plan_gguf(m, kb, a, &j.plan);
    else
        mc_plan_config(m, kb, out->context, a, &j.plan);
    cache(&j);
    out->cache = j.plan.cache == MC_CACHE_COMPUTED ? MC_CACHE_COMPUTED : j.plan.cache == MC_CACHE_NONE ? MC_CACHE_NONE : MC_CACHE_NOT_COMPUTED;
    out->cache_reason = out->cache == MC_CACHE_COMPUTED ? MC_STR("") : j.plan.reason;
    if (ckd_add(&out->floor_bytes, out->weights_bytes, out->kv_bytes)) {
        out->floor_bytes = UINT64_MAX;
        out->overflow = true;
    }
}
