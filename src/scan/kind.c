/* What kind of model a unit is. Files decide first (a pipeline, an adapter), then the class that the configuration names,
 * then the shape of its cache (an encoder has none), then the tensors. */
#include "model/gguf.h"
#include "scan/infer.h"

static const mc_set *read_set(const mc_model *m)
{
    return m->components[0].set == MC_NONE ? NULL : &m->sets[m->components[0].set];
}

/* An adapter without a full model beside it. */
static bool is_adapter(const mc_model *m)
{
    const mc_set *set = read_set(m);
    if (set && mc_str_starts(set->stem, "adapter_model"))
        return true;
    return m->components[0].docs[MC_ROLE_ADAPTER_CONFIG] != MC_NONE && !set && !mc_model_config(m);
}

/* A table of word vectors and nothing else: model2vec, sentence-transformers' StaticEmbedding. */
static bool is_static(const mc_model *m)
{
    const mc_value *modules = mc_model_root(m, 0, MC_ROLE_MODULES), *config = mc_model_config(m);
    for (size_t i = 0; mc_is(modules, MC_ARRAY) && i < modules->n; i++)
        if (mc_str_ends(mc_as_str(mc_get(mc_item(modules, i), "type")), ".StaticEmbedding"))
            return true;
    if (mc_str_is(m->arch.model_type.v, "model2vec"))
        return true;
    const mc_inventory *inv = &m->components[0].inv;
    if (inv->names.n == 0 || inv->names.n > 4 || m->arch.model_type.known || m->arch.name.known || !config)
        return false;
    return mc_inventory_find(inv, MC_STR("embeddings")) || mc_inventory_find(inv, MC_STR("embedding.weight"));
}

static bool has_tower(const mc_model *m)
{
    static const char *const keys[] = { "vision_config", "visual", "vision_tower", "mm_vision_tower", "vision_cfg", "visual_tokenizer_config" };
    static const char *const words[] = { "vision_", "visual.", "vision.", NULL };
    const mc_value          *config = mc_model_config(m);
    for (size_t i = 0; i < MC_COUNT(keys); i++) {
        const mc_value *v = mc_get(config, keys[i]);
        if (v && !mc_is(v, MC_NULL))
            return true;
    }
    const mc_inventory *inv = &m->components[0].inv;
    for (size_t i = 0; i < inv->form_names.n; i++)
        if (mc_str_contains_any(inv->forms[i].first->name, words))
            return true;
    return false;
}

static bool decoder_flag(const mc_model *m, const char *key)
{
    return mc_flag(mc_model_config(m), key);
}

static mc_kind of_class(const mc_model *m, mc_kb *kb)
{
    static const char *const lm[] = { "ForCausalLM", "LMHeadModel", NULL };
    static const char *const tasks[] = { "Classification", "RewardModel", "ForTokenClassification", "ForQuestionAnswering", NULL };
    static const char *const drafts[] = { "Eagle", "Medusa", "DFlash", "Speculator", NULL };
    mc_str                   name = m->arch.name.v;
    const mc_value          *family = mc_kb_family(kb, false, m->arch.model_type.v);
    bool                     known = family != NULL;
    if (mc_str_contains_any(name, drafts))
        return MC_KIND_DRAFT;
    if (mc_family_is(family, "cache", "none") && !decoder_flag(m, "is_decoder"))
        return MC_KIND_ENCODER;
    if (mc_str_ends_any(name, tasks))
        return MC_KIND_OTHER;
    bool generates = mc_str_ends_any(name, lm) || mc_str_ends(name, "ForConditionalGeneration") || known;
    if (generates && has_tower(m))
        return MC_KIND_VISION_LANGUAGE;
    if (decoder_flag(m, "is_encoder_decoder") || mc_family_is(family, "attention", "encoder-decoder"))
        return MC_KIND_SEQ2SEQ;
    if (generates)
        return MC_KIND_CAUSAL_LM;
    return MC_KIND_OTHER;
}

mc_kind mc_infer_kind(const mc_model *m, mc_kb *kb)
{
    if (m->unit == MC_UNIT_GGUF)
        return mc_gguf_kind(m);
    if (m->components[0].docs[MC_ROLE_PIPELINE] != MC_NONE)
        return MC_KIND_DIFFUSERS;
    if (is_adapter(m))
        return MC_KIND_ADAPTER;
    if (is_static(m))
        return MC_KIND_STATIC_EMBEDDING;
    if (m->components[0].docs[MC_ROLE_MODULES] != MC_NONE)
        return MC_KIND_SENTENCE;
    if (mc_model_config(m))
        return of_class(m, kb);
    if (mc_model_root(m, 0, MC_ROLE_PARAMS) && m->arch.layers.known && m->arch.heads.known)
        return MC_KIND_CAUSAL_LM;
    return read_set(m) ? MC_KIND_OTHER : MC_KIND_NONE;
}
