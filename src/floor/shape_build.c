/* A shape grows layer by layer: layers that keep the same become one group, and each layer remembers its groups. */
#include "floor/shape_build.h"

void mc_source(mc_sources *s, mc_str origin)
{
    for (size_t i = 0; i < s->n; i++)
        if (mc_str_eq(s->v[i], origin))
            return;
    if (s->n < MC_COUNT(s->v) && origin.n)
        s->v[s->n++] = origin;
}

void mc_source_of(mc_sources *s, const mc_model *m, mc_arena *a, mc_origin o)
{
    mc_str path = m->unit == MC_UNIT_GGUF ? mc_str_base(mc_file_path(m, o.file)) : mc_file_path(m, o.file);
    bool   key = mc_str_starts(o.where, "/") || m->unit == MC_UNIT_GGUF;
    mc_source(s, mc_format(a, key ? "%.*s#%.*s" : "%.*s (%.*s)", MC_FMT(path), MC_FMT(o.where)));
}

bool mc_shape_begin(mc_shape *s, mc_arena *a, uint64_t layers)
{
    if (layers == 0 || layers > MC_MAX_LAYERS)
        return false;
    s->n_layers = layers;
    s->layer_keeps = MC_NEW(a, uint32_t, layers);
    s->layer_states = MC_NEW(a, uint32_t, layers);
    return s->layer_keeps && s->layer_states;
}

void mc_shape_not(mc_shape *s, mc_str reason)
{
    if (s->cache == MC_CACHE_COMPUTED)
        s->reason = reason;
    s->cache = MC_CACHE_NOT_COMPUTED;
}

void mc_shape_assume(mc_shape *s, mc_str text)
{
    for (size_t i = 0; i < s->n_assumptions; i++)
        if (mc_str_eq(s->assumptions[i].text, text))
            return;
    if (s->n_assumptions < MC_MAX_ASSUMPTIONS)
        s->assumptions[s->n_assumptions++] = (mc_assumption){ text, 0 };
}

void mc_shape_bound(mc_shape *s, uint64_t layers, uint64_t heads, uint64_t k, uint64_t v)
{
    uint64_t width, all;
    if (!ckd_add(&width, k, v) && !ckd_mul(&all, layers, heads) && !ckd_mul(&all, all, width) && !ckd_add(&all, all, s->bound_elements)) {
        s->bound_elements = all;
        s->bound_known = true;
    }
}

/* ---- groups ---- */

static bool same_llama(const mc_keep_llama *a, const mc_keep_llama *b)
{
    return a->differs == b->differs && a->keep == b->keep && a->layers == b->layers && a->heads == b->heads && a->k == b->k && a->v == b->v &&
           a->window == b->window;
}

static bool alike(const mc_keep_group *a, const mc_keep_group *b)
{
    mc_keep_llama la = a->llama, lb = b->llama;
    la.layers = lb.layers = 0; /* counted with the group */
    return a->keep == b->keep && a->heads == b->heads && a->k == b->k && a->v == b->v && a->window == b->window &&
           a->decompressed_k == b->decompressed_k && a->decompressed_v == b->decompressed_v && a->decompressed_heads == b->decompressed_heads &&
           a->mtp == b->mtp && a->index == b->index && same_llama(&la, &lb) && (a->llama.layers > 0) == (b->llama.layers > 0);
}

static void merge_sources(mc_str *from, size_t *n, const mc_sources *add)
{
    mc_sources all = { .n = *n };
    for (size_t i = 0; i < *n; i++)
        all.v[i] = from[i];
    for (size_t i = 0; i < add->n; i++)
        mc_source(&all, add->v[i]);
    for (size_t i = 0; i < all.n; i++)
        from[i] = all.v[i];
    *n = all.n;
}

void mc_shape_keep(mc_shape *s, uint64_t layer, const mc_keep_group *g, const mc_sources *from)
{
    size_t i = 0;
    if (g->heads == 0 || g->k == 0)
        return;
    if (g->heads > MC_MAX_HEADS || g->k > MC_MAX_WIDTH || g->v > MC_MAX_WIDTH) {
        mc_shape_not(s, MC_STR("heads or widths are not plausible"));
        return;
    }
    while (i < s->n_keeps && !alike(&s->keeps[i], g))
        i++;
    if (i == MC_MAX_KEEPS) {
        mc_shape_not(s, MC_STR("the layers are of too many kinds"));
        return;
    }
    mc_keep_group *to = &s->keeps[i];
    if (i == s->n_keeps) {
        *to = *g;
        to->layers = to->n_from = to->llama.layers = 0;
        s->n_keeps++;
    }
    to->layers++;
    to->llama.layers += g->llama.layers;
    merge_sources(to->from, &to->n_from, from);
    if (layer < s->n_layers)
        s->layer_keeps[layer] |= UINT32_C(1) << i;
}

void mc_shape_state(mc_shape *s, uint64_t layer, const mc_state_group *g, const mc_sources *from)
{
    size_t i = 0;
    while (i < s->n_states && !(s->states[i].conv == g->conv && s->states[i].state == g->state && s->states[i].conv_f32 == g->conv_f32 &&
                                s->states[i].state_f32 == g->state_f32 && s->states[i].what == g->what))
        i++;
    if (i == MC_MAX_STATES) {
        mc_shape_not(s, MC_STR("the states of the layers are of too many kinds"));
        return;
    }
    mc_state_group *to = &s->states[i];
    if (i == s->n_states) {
        *to = *g;
        to->layers = to->n_from = 0;
        s->n_states++;
    }
    to->layers++;
    merge_sources(to->from, &to->n_from, from);
    if (layer < s->n_layers)
        s->layer_states[layer] |= UINT32_C(1) << i;
}

void mc_shape_repeat(mc_shape *s, uint64_t like, uint64_t to, uint64_t times)
{
    uint32_t keeps = s->layer_keeps[to] = s->layer_keeps[like], states = s->layer_states[to] = s->layer_states[like];
    for (size_t g = 0; keeps; g++, keeps >>= 1) {
        if (!(keeps & 1))
            continue;
        s->keeps[g].layers += times;
        s->keeps[g].llama.layers += s->keeps[g].llama.layers ? times : 0;
    }
    for (size_t g = 0; states; g++, states >>= 1)
        s->states[g].layers += states & 1;
}

/* ---- order and formulas ---- */

static mc_str formula(mc_arena *a, const mc_keep_group *g)
{
    unsigned long long l = g->layers, h = g->heads, k = g->k, v = g->v;
    mc_str             heads = h == 1 ? MC_STR("") : mc_format(a, "%llu*", h);
    if (v == k)
        return mc_format(a, "2*%llu*%.*s%llu", l, MC_FMT(heads), k);
    return v ? mc_format(a, "%llu*%.*s(%llu+%llu)", l, MC_FMT(heads), k, v) : mc_format(a, "%llu*%.*s%llu", l, MC_FMT(heads), k);
}

static void swap_first(mc_shape *s, size_t i)
{
    mc_keep_group g = s->keeps[i];
    for (size_t k = i; k > 0; k--)
        s->keeps[k] = s->keeps[k - 1];
    s->keeps[0] = g;
    for (uint64_t l = 0; l < s->n_layers; l++) {
        uint32_t bits = s->layer_keeps[l], low = bits & ((UINT32_C(1) << i) - 1), above = bits & ~((UINT32_C(2) << i) - 1);
        s->layer_keeps[l] = above | low << 1 | (bits >> i & 1);
    }
}

void mc_shape_end(mc_shape *s, mc_arena *a)
{
    for (size_t i = 1; i < s->n_keeps && s->keeps[0].keep != MC_KEEP_FULL; i++)
        if (s->keeps[i].keep == MC_KEEP_FULL && !s->keeps[i].mtp)
            swap_first(s, i);
    for (size_t i = 0; i < s->n_keeps; i++)
        s->keeps[i].formula = formula(a, &s->keeps[i]);
    for (size_t i = 0; i < s->n_states; i++) {
        mc_state_group *g = &s->states[i];
        g->formula = mc_format(a, "%llu*(%llu+%llu)", (unsigned long long)g->layers, (unsigned long long)g->conv, (unsigned long long)g->state);
    }
}

/* ---- families ---- */

mc_str mc_family_text(const mc_value *family, const char *key)
{
    mc_str s = mc_as_str(mc_get(family, key));
    return s.p ? s : MC_STR("");
}

uint64_t mc_family_number(const mc_value *family, const char *key, uint64_t fallback)
{
    int64_t v;
    return mc_as_int(mc_get(family, key), &v) && v >= 0 ? (uint64_t)v : fallback;
}

char mc_family_letter(const mc_value *family, uint64_t i, uint64_t layers)
{
    mc_str first = mc_family_text(family, "first"), last = mc_family_text(family, "last"), pattern = mc_family_text(family, "layers");
    if (i < first.n)
        return first.p[i];
    if (last.n && i + 1 == layers)
        return last.p[0];
    if (pattern.n == 0)
        return 0;
    return pattern.p[(mc_flag(family, "from_end") ? layers - 1 - i : i) % pattern.n];
}

char mc_every_letter(const mc_value *every, uint64_t i, uint64_t period, int64_t at)
{
    mc_str in = mc_family_text(every, "in"), out = mc_family_text(every, "out");
    if (in.n == 0 || out.n == 0)
        return 0;
    uint64_t place = at >= 0 ? (uint64_t)at : period - (uint64_t)-at;
    return period && i % period == place ? in.p[0] : out.p[0];
}
