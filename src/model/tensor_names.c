/* tensor_names.c - what a tensor's name says about its kind: buffers, module paths, embeddings and heads.
 *
 * Names as written by transformers, Megatron-style, Meta and Mistral checkpoints and their quantizers. */
#include "model/model.h"

/* The last `n` dotted parts of a name end in one of these words. */
static bool ends_in_part(mc_str name, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!mc_str_ends(name, words[i]))
            continue;
        mc_str head = mc_str_cut(name, 0, name.n - mc_str_of(words[i]).n);
        if (head.n == 0 || head.p[head.n - 1] == '.')
            return true;
    }
    return false;
}

bool mc_name_is_buffer(mc_str name)
{
    static const char *const words[] = {
        "inv_freq", "original_inv_freq", "inv_freq_local", "cos_cached", "sin_cached", "freqs_cis", "rope.freqs", "position_ids",
        "token_type_ids", "masked_bias", "attn.bias", "attn.attention.bias", "attention.bias", "causal_mask", "attn_mask", "attention_mask",
        "bias_mask", "tril", "relative_position_index", "num_batches_tracked",
    };
    return ends_in_part(name, words, MC_COUNT(words));
}

mc_str mc_name_module(mc_str name)
{
    static const char weight[] = ".weight.";
    for (size_t i = 0; i + sizeof weight - 1 <= name.n; i++) /* bitsandbytes: <module>.weight.absmax, .weight.quant_state.* */
        if (name.p[i] == '.' && mc_str_starts(mc_str_cut(name, i, name.n), weight))
            return mc_str_cut(name, 0, i);
    size_t dot = mc_str_rfind(name, '.');
    return dot == SIZE_MAX ? name : mc_str_cut(name, 0, dot);
}

bool mc_name_is_embedding(mc_str name)
{
    static const char *const words[] = {
        "embed_tokens", "wte", "embed_in", "word_embeddings", "tok_embeddings", "shared", "embeddings", "embedding", "embedder",
    };
    return ends_in_part(mc_name_module(name), words, MC_COUNT(words));
}

bool mc_name_is_head(mc_str name)
{
    static const char *const words[] = { "lm_head", "embed_out", "output", "output_layer", "proj_out", "predictions.decoder", "lm_head.decoder" };
    mc_str module = mc_name_module(name);
    if (mc_str_ends(module, "attention.output") || mc_str_ends(module, "attn.output"))
        return false;
    /* BERT and GLM name inner projections "output": a head lies outside the numbered layers. */
    for (size_t i = 0; i + 1 < module.n; i++)
        if (module.p[i] == '.' && module.p[i + 1] >= '0' && module.p[i + 1] <= '9')
            return false;
    return ends_in_part(module, words, MC_COUNT(words));
}

bool mc_name_layer(mc_str name, uint64_t *layer)
{
    for (size_t i = 0, start = 0; i < name.n; i++) {
        if (name.p[i] != '.')
            continue;
        if (start > 0 && mc_str_u64(mc_str_cut(name, start, i), layer))
            return true;
        start = i + 1;
    }
    return false;
}
