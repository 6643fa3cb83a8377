/* The memory floor: bytes that are certain. Weights as a loader keeps them, plus the cache of keys and values for the
 * context and sequences asked for. One token of one head costs width * bytes of the element type, for K and for V. */
#include "floor/shape_build.h"

enum { DEFAULT_CONTEXT = 8192 };

typedef struct { const mc_model *m; const mc_kb *kb; const mc_floor_ask *ask; mc_arena *a; mc_floor *f; mc_shape shape; } job;

static void assume(job *j, int64_t effect, mc_str text)
{
    if (j->f->n_assumptions < MC_MAX_ASSUMPTIONS)
        j->f->assumptions[j->f->n_assumptions++] = (mc_assumption){ text, effect };
}

static mc_term *add_term(job *j, const char *name, uint64_t bytes, mc_str formula)
{
    if (j->f->n_terms == MC_MAX_TERMS)
        return NULL;
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

/* ---- cache: every token as it is, a window of at most the context, nothing rounded ---- */

typedef struct { uint32_t k_block, k_bytes, v_block, v_bytes; } types;

/* Bytes of a row: whole blocks of the element type. */
static bool row_bytes(uint64_t layers, uint64_t heads, uint64_t width, uint32_t block, uint32_t bytes, uint64_t *out)
{
    uint64_t blocks = (width + block - 1) / block;
    return !ckd_mul(out, layers, heads) && !ckd_mul(out, *out, blocks) && !ckd_mul(out, *out, (uint64_t)bytes);
}

/* Rows that a group holds for one sequence. */
static uint64_t cells_of(const job *j, const mc_keep_group *g)
{
    uint64_t c = j->f->context;
    if (g->keep == MC_KEEP_WINDOW || g->keep == MC_KEEP_CHUNK)
        return g->window < c ? g->window : c;
    if (g->keep == MC_KEEP_COMPRESSED)
        return c / g->window;
    return g->keep == MC_KEEP_CROSS && g->window ? g->window : c;
}

static mc_str bytes_text(const job *j, uint32_t block, uint32_t bytes)
{
    return block == 1 ? mc_format(j->a, "%u", bytes) : mc_format(j->a, "%u/%u", bytes, block);
}

static mc_str formula(const job *j, const types *t, const mc_keep_group *g, uint64_t cells)
{
    mc_str             k = bytes_text(j, t->k_block, t->k_bytes), v = bytes_text(j, t->v_block, t->v_bytes);
    mc_str             heads = g->heads == 1 ? MC_STR("") : mc_format(j->a, "%llu*", (unsigned long long)g->heads);
    unsigned long long l = g->layers, dk = g->k, dv = g->v, s = j->f->sequences, c = cells;
    if (dk == dv && t->k_block == t->v_block && t->k_bytes == t->v_bytes)
        return mc_format(j->a, "2*%llu*%.*s%llu*%.*s*%llu*%llu", l, MC_FMT(heads), dk, MC_FMT(k), c, s);
    if (dv == 0)
        return mc_format(j->a, "%llu*%.*s%llu*%.*s*%llu*%llu", l, MC_FMT(heads), dk, MC_FMT(k), c, s);
    return mc_format(j->a, "%llu*%.*s(%llu*%.*s+%llu*%.*s)*%llu*%llu", l, MC_FMT(heads), dk, MC_FMT(k), dv, MC_FMT(v), c, s);
}

static bool keep_bytes(job *j, const types *t, const mc_keep_group *g)
{
    static const struct { const char *cache, *term; } names[MC_N_KEEPS] = {
        [MC_KEEP_FULL] = { "full", "kv cache" },     [MC_KEEP_WINDOW] = { "window", "kv window" },         [MC_KEEP_CHUNK] = { "chunk", "kv chunk" },
        [MC_KEEP_LATENT] = { "latent", "kv latent" }, [MC_KEEP_INDEX] = { "index", "kv index" },           [MC_KEEP_CROSS] = { "cross", "kv cross" },
        [MC_KEEP_COMPRESSED] = { "compressed", "kv compressed" },
    };
    mc_floor *f = j->f;
    uint64_t  k, v, token, bytes, cells = cells_of(j, g);
    mc_cache  c = { names[g->keep].cache, g->layers, cells, f->sequences, 0, 0 };
    if (!row_bytes(g->layers, g->heads, g->k, t->k_block, t->k_bytes, &k) || !row_bytes(g->layers, g->heads, g->v, t->v_block, t->v_bytes, &v) ||
        ckd_add(&token, k, v) || ckd_mul(&c.k_bytes, k, cells) || ckd_mul(&c.k_bytes, c.k_bytes, f->sequences) || ckd_mul(&c.v_bytes, v, cells) ||
        ckd_mul(&c.v_bytes, c.v_bytes, f->sequences) || ckd_add(&bytes, c.k_bytes, c.v_bytes) || ckd_add(&f->kv_bytes, f->kv_bytes, bytes))
        return false;
    if (g->keep == MC_KEEP_COMPRESSED)
        token /= g->window;
    bool grows = g->keep == MC_KEEP_FULL || g->keep == MC_KEEP_LATENT || g->keep == MC_KEEP_INDEX || g->keep == MC_KEEP_COMPRESSED;
    if (grows && ckd_add(&f->kv_bytes_per_token, f->kv_bytes_per_token, token))
        return false;
    if (f->n_caches < MC_MAX_CACHES)
        f->caches[f->n_caches++] = c;
    mc_term *term = add_term(j, names[g->keep].term, bytes, formula(j, t, g, cells));
    for (size_t i = 0; term && i < g->n_from && i < MC_COUNT(term->from); i++)
        term->from[term->n_from++] = g->from[i];
    return true;
}

static bool state_bytes(job *j, const mc_state_group *g)
{
    uint64_t conv, state, bytes, c = g->conv_f32 ? 4 : 2, s = g->state_f32 ? 4 : 2;
    if (ckd_mul(&conv, g->conv, c) || ckd_mul(&state, g->state, s) || ckd_add(&bytes, conv, state) || ckd_mul(&bytes, bytes, g->layers) ||
        ckd_mul(&bytes, bytes, j->f->sequences) || ckd_add(&j->f->state_bytes, j->f->state_bytes, bytes))
        return false;
    mc_term *term = add_term(j, "state", bytes, mc_format(j->a, "%llu*(%llu*%llu+%llu*%llu)*%llu", (unsigned long long)g->layers, (unsigned long long)g->conv,
                                                         (unsigned long long)c, (unsigned long long)g->state, (unsigned long long)s,
                                                         (unsigned long long)j->f->sequences));
    for (size_t i = 0; term && i < g->n_from && i < MC_COUNT(term->from); i++)
        term->from[term->n_from++] = g->from[i];
    return true;
}

/* Element types with blocks need rows of whole blocks. */
static bool whole_blocks(job *j, const types *t)
{
    for (size_t i = 0; i < j->shape.n_keeps; i++) {
        const mc_keep_group *g = &j->shape.keeps[i];
        if (g->k % t->k_block == 0 && g->v % t->v_block == 0)
            continue;
        mc_shape_not(&j->shape, mc_format(j->a, "heads of %llu and %llu elements are no whole number of %.*s and %.*s blocks", (unsigned long long)g->k,
                                          (unsigned long long)g->v, MC_FMT(j->f->kv_dtype_k), MC_FMT(j->f->kv_dtype_v)));
        return false;
    }
    return true;
}

static void cache(job *j)
{
    mc_shape *s = &j->shape;
    types     t;
    bool      known = mc_kv_type(j->f->kv_dtype_k, &t.k_block, &t.k_bytes) && mc_kv_type(j->f->kv_dtype_v, &t.v_block, &t.v_bytes), fits = true;
    if (!known && s->cache == MC_CACHE_COMPUTED)
        mc_shape_not(s, MC_STR("the element type of the cache is not known"));
    if (s->cache == MC_CACHE_COMPUTED && whole_blocks(j, &t)) {
        for (size_t i = 0; i < s->n_keeps && fits; i++)
            fits = s->keeps[i].mtp || keep_bytes(j, &t, &s->keeps[i]);
        for (size_t i = 0; i < s->n_states && fits; i++)
            fits = state_bytes(j, &s->states[i]);
    }
    if (s->cache == MC_CACHE_COMPUTED && !fits) {
        j->f->overflow = true;
        mc_shape_not(s, MC_STR("the product of layers, heads, widths and context does not fit 64 bits"));
    }
    for (size_t i = 0; i < s->n_assumptions; i++)
        assume(j, s->assumptions[i].effect_bytes, s->assumptions[i].text);
    for (size_t i = 0; i < s->n_keeps && s->cache == MC_CACHE_COMPUTED; i++)
        if (s->keeps[i].mtp)
            assume(j, 0, mc_format(j->a, "the cache of prediction layers (%llu) is not counted", (unsigned long long)s->keeps[i].layers));
    if (known && s->cache == MC_CACHE_NOT_COMPUTED && s->bound_known)
        j->f->bound_known = row_bytes(1, 1, s->bound_elements, t.k_block, t.k_bytes > t.v_bytes ? t.k_bytes : t.v_bytes, &j->f->upper_bound_per_token);
}

/* What the reason replaces. */
static void forget(mc_floor *f)
{
    f->kv_bytes = f->kv_bytes_per_token = f->state_bytes = 0;
    f->n_caches = 0;
    while (f->n_terms && !mc_str_is(f->terms[f->n_terms - 1].name, "weights"))
        f->n_terms--;
}

void mc_floor_compute(const mc_model *m, mc_kb *kb, const mc_floor_ask *ask, mc_arena *a, mc_floor *out)
{
    *out = (mc_floor){ .engine = "generic" };
    job         j = { .m = m, .kb = kb, .ask = ask, .a = a, .f = out };
    const char *type16 = model_type16(&j);
    out->kv_dtype_k = mc_str_of(ask->kv_k ? ask->kv_k : type16);
    out->kv_dtype_v = mc_str_of(ask->kv_v ? ask->kv_v : ask->kv_k ? ask->kv_k : type16);
    context(&j);
    weights(&j);
    mc_shape_of(m, kb, a, &j.shape);
    cache(&j);
    out->cache = j.shape.cache == MC_CACHE_COMPUTED ? MC_CACHE_COMPUTED : j.shape.cache == MC_CACHE_NONE ? MC_CACHE_NONE : MC_CACHE_NOT_COMPUTED;
    out->cache_reason = out->cache == MC_CACHE_COMPUTED ? MC_STR("") : j.shape.reason;
    if (out->cache != MC_CACHE_COMPUTED)
        forget(out);
    if (ckd_add(&out->floor_bytes, out->weights_bytes, out->kv_bytes) || ckd_add(&out->floor_bytes, out->floor_bytes, out->state_bytes)) {
        out->floor_bytes = UINT64_MAX;
        out->overflow = true;
    }
}
