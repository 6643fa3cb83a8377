/* The shape of a model's cache and state: from its configuration or from its GGUF keys; models without any say why. */
#include "floor/shape_build.h"

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

static uint64_t fact(mc_int n)
{
    return n.known && n.v > 0 ? (uint64_t)n.v : 0;
}

/* Layers with experts: all but the dense ones in front, as far as the usual keys tell. */
static uint64_t expert_layers(const mc_model *m, uint64_t layers)
{
    const mc_value *text = mc_at(mc_model_config(m), m->arch.text_at.n ? m->arch.text_at.p : "");
    int64_t         v;
    uint64_t        dense = 0;
    if (!m->arch.experts.known || m->arch.experts.v < 2)
        return 0;
    if (m->unit == MC_UNIT_GGUF) {
        if (!mc_gguf_uint(mc_gguf_arch(m->gguf, "leading_dense_block_count"), &dense))
            dense = 0;
    } else if (mc_as_int(mc_get(text, "first_k_dense_replace"), &v) && v > 0)
        dense = (uint64_t)v;
    return dense < layers ? layers - dense : 0;
}

void mc_shape_of(const mc_model *m, mc_kb *kb, mc_arena *a, mc_shape *out)
{
    const char *none = no_cache(m);
    *out = (mc_shape){ .cache = MC_CACHE_COMPUTED, .max_context = fact(m->arch.context), .vocab = fact(m->arch.vocab), .hidden = fact(m->arch.hidden) };
    if (none) {
        out->cache = MC_CACHE_NONE;
        out->reason = mc_str_of(none);
        return;
    }
    if (m->unit == MC_UNIT_GGUF)
        mc_shape_gguf(m, kb, a, out);
    else
        mc_shape_config(m, kb, a, out);
    if (out->cache == MC_CACHE_COMPUTED && out->n_keeps == 0 && out->n_states == 0)
        mc_shape_not(out, MC_STR("no layer is known to have a cache or a state"));
    if (out->cache != MC_CACHE_COMPUTED)
        out->n_keeps = out->n_states = 0;
    out->expert_layers = expert_layers(m, out->n_layers);
}
