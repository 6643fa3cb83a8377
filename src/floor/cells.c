/* What the engines share: checked arithmetic, the layers of a slice, rows of a cache and the sums over them. */
#include "floor/engine.h"

uint64_t mc_times(mc_job *j, uint64_t a, uint64_t b)
{
    return mc_mul(&j->overflow, a, b);
}

uint64_t mc_plus(mc_job *j, uint64_t a, uint64_t b)
{
    return mc_add(&j->overflow, a, b);
}

uint64_t mc_up(mc_job *j, uint64_t n, uint64_t multiple)
{
    return mc_times(j, mc_ceil_div(n, multiple), multiple);
}

uint64_t mc_heads_of_rank(uint64_t heads, uint64_t tp)
{
    return tp >= heads ? (heads ? 1 : 0) : mc_ceil_div(heads, tp);
}

/* ---- layers of a slice ------------------------------------------------------------------------------------ */

static uint64_t count(const mc_shape *shape, const uint32_t *map, size_t g, uint64_t layers, const mc_slice *s)
{
    uint64_t n = 0;
    if (s->from == 0 && s->to >= s->n)
        return layers;
    if (!map || g >= 32 || shape->n_layers == 0) /* in proportion */
        return s->n ? layers * s->to / s->n - layers * s->from / s->n : layers;
    for (uint64_t i = s->from; i < s->to && i < shape->n_layers; i++)
        n += map[i] >> g & 1;
    return n;
}

uint64_t mc_keep_layers(const mc_shape *shape, size_t g, const mc_slice *s)
{
    const mc_keep_group *k = &shape->keeps[g];
    if (k->mtp) /* behind all others */
        return s->to >= s->n ? k->layers : 0;
    return count(shape, shape->layer_keeps, g, k->layers, s);
}

uint64_t mc_state_layers(const mc_shape *shape, size_t g, const mc_slice *s)
{
    return count(shape, shape->layer_states, g, shape->states[g].layers, s);
}

/* ---- sums ------------------------------------------------------------------------------------------------- */

/* The cache's name in reports, and the term's. */
static const struct { const char *cache, *term; } names[MC_N_KEEPS] = {
    [MC_KEEP_FULL] = { "full", "kv cache" },   [MC_KEEP_WINDOW] = { "window", "kv window" }, [MC_KEEP_CHUNK] = { "window", "kv window" },
    [MC_KEEP_LATENT] = { "full", "kv latent" }, [MC_KEEP_INDEX] = { "index", "kv index" },    [MC_KEEP_COMPRESSED] = { "compressed", "kv compressed" },
    [MC_KEEP_CROSS] = { "cross", "kv cross" },
};

mc_cache *mc_cache_entry(mc_sums *out, const char *name, uint64_t cells, uint64_t streams)
{
    for (size_t i = 0; i < out->n_caches; i++)
        if (mc_str_is(mc_str_of(out->caches[i].name), name) && out->caches[i].cells == cells && out->caches[i].streams == streams)
            return &out->caches[i];
    if (out->n_caches == MC_MAX_CACHES) /* more kinds than any model has: the last entry takes the rest */
        return &out->caches[MC_MAX_CACHES - 1];
    mc_cache *c = &out->caches[out->n_caches++];
    *c = (mc_cache){ .name = name, .cells = cells, .streams = streams };
    return c;
}

mc_term *mc_term_entry(mc_sums *out, const char *name)
{
    for (size_t i = 0; i < out->n_terms; i++)
        if (mc_str_is(out->terms[i].name, name))
            return &out->terms[i];
    mc_term *t = &out->terms[out->n_terms++]; /* names are fewer than places */
    *t = (mc_term){ .name = mc_str_of(name) };
    return t;
}

/* "2", "34/32", "(1+4/128)": bytes of an element as the formulas print them. */
static mc_str element(mc_job *j, mc_str type, uint64_t width)
{
    uint32_t block = 1, bytes = 1;
    if (!mc_kv_type(type, &block, &bytes))
        return MC_STR("0");
    if (mc_str_ends(type, "_per_token_head"))
        return mc_format(j->a, "(1+4/%llu)", (unsigned long long)width);
    return block == 1 ? mc_format(j->a, "%u", bytes) : mc_format(j->a, "%u/%u", bytes, block);
}

/* The row as heads, width and element where that is what it is made of, else as its bytes. */
static mc_str formula(mc_job *j, const mc_keep_group *k, uint64_t heads, uint64_t layers, uint64_t cells, uint64_t streams, uint64_t k_row, uint64_t v_row)
{
    mc_str             ek = element(j, j->f->kv_dtype_k, k->k), ev = element(j, j->f->kv_dtype_v, k->v), h = MC_STR("");
    uint64_t           plain_k, plain_v;
    unsigned long long l = layers, dk = k->k, dv = k->v, c = cells, s = streams;
    mc_str             refusal = j->refusal;
    bool plain = mc_row_bytes(j, j->f->kv_dtype_k, heads, k->k, &plain_k) && mc_row_bytes(j, j->f->kv_dtype_v, heads, k->v, &plain_v) && plain_k == k_row && plain_v == v_row;
    j->refusal = refusal;
    if (heads != 1 || k->v)
        h = mc_format(j->a, "%llu*", (unsigned long long)heads);
    if (!plain)
        return mc_format(j->a, "%llu*%llu*%llu*%llu", l, (unsigned long long)(k_row + v_row), c, s);
    if (dv == 0)
        return mc_format(j->a, "%llu*%.*s%llu*%.*s*%llu*%llu", l, MC_FMT(h), dk, MC_FMT(ek), c, s);
    if (dk == dv && mc_str_eq(ek, ev))
        return mc_format(j->a, "2*%llu*%.*s%llu*%.*s*%llu*%llu", l, MC_FMT(h), dk, MC_FMT(ek), c, s);
    return mc_format(j->a, "%llu*%.*s(%llu*%.*s+%llu*%.*s)*%llu*%llu", l, MC_FMT(h), dk, MC_FMT(ek), dv, MC_FMT(ev), c, s);
}

void mc_add_cache(mc_job *j, mc_sums *out, const mc_keep_group *k, uint64_t layers, uint64_t heads, uint64_t cells, uint64_t streams, uint64_t k_row, uint64_t v_row)
{
    if (layers == 0)
        return;
    mc_keep   keep = k->keep == MC_KEEP_COMPRESSED && k->index ? MC_KEEP_INDEX : k->keep;
    mc_cache *c = mc_cache_entry(out, names[keep].cache, cells, streams);
    mc_term  *t = mc_term_entry(out, names[keep].term);
    uint64_t  rows = mc_times(j, mc_times(j, layers, cells), streams), kb = mc_times(j, rows, k_row), vb = mc_times(j, rows, v_row), both = mc_plus(j, kb, vb);
    c->layers += layers;
    c->k_bytes = mc_plus(j, c->k_bytes, kb);
    c->v_bytes = mc_plus(j, c->v_bytes, vb);
    t->bytes = mc_plus(j, t->bytes, both);
    mc_more_formula(j, &t->formula, formula(j, k, heads, layers, cells, streams, k_row, v_row));
    mc_more_from(t, k->from, k->n_from);
    out->k = mc_plus(j, out->k, kb);
    out->v = mc_plus(j, out->v, vb);
    out->kv = mc_plus(j, out->kv, both);
}

void mc_more_from(mc_term *t, const mc_str *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool there = false;
        for (size_t k = 0; k < t->n_from; k++)
            there |= mc_str_eq(t->from[k], from[i]);
        if (!there && t->n_from < MC_COUNT(t->from))
            t->from[t->n_from++] = from[i];
    }
}

void mc_more_formula(mc_job *j, mc_str *to, mc_str one)
{
    *to = to->n ? mc_format(j->a, "%.*s + %.*s", MC_FMT(*to), MC_FMT(one)) : one;
}

/* ---- state ------------------------------------------------------------------------------------------------ */

void mc_add_states(mc_job *j, const mc_slice *s, uint64_t slots, uint64_t conv_bytes, uint64_t state_bytes, mc_sums *out)
{
    for (size_t g = 0; g < j->shape->n_states; g++) {
        const mc_state_group *st = &j->shape->states[g];
        uint64_t layers = mc_state_layers(j->shape, g, s), n = mc_times(j, layers, slots);
        uint64_t conv = mc_ceil_div(st->conv, s->tp), state = mc_ceil_div(st->state, s->tp);
        uint64_t bc = st->conv_f32 ? 4 : conv_bytes, bs = st->state_f32 ? 4 : state_bytes;
        out->conv = mc_plus(j, out->conv, mc_times(j, n, mc_times(j, conv, bc)));
        out->state = mc_plus(j, out->state, mc_times(j, n, mc_times(j, state, bs)));
        if (layers && conv)
            mc_more_formula(j, &out->conv_formula, mc_format(j->a, "%llu*%llu*%llu*%llu", (unsigned long long)layers, (unsigned long long)conv,
                                                             (unsigned long long)bc, (unsigned long long)slots));
        if (layers && state)
            mc_more_formula(j, &out->state_formula, mc_format(j->a, "%llu*%llu*%llu*%llu", (unsigned long long)layers, (unsigned long long)state,
                                                              (unsigned long long)bs, (unsigned long long)slots));
    }
}
