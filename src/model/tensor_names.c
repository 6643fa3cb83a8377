/* tensor_names.c - what a tensor's name says about its kind: buffers, module paths, embeddings and heads.
 *
 * Names as written by transformers, Megatron-style, Meta and Mistral checkpoints and their quantizers. */
#include "model/model.h"

#include <string.h>

#define W(literal) { literal, sizeof(literal) - 1 }

/* The name ends in one of these words, as whole dotted parts. Asked of every tensor: the last byte decides most. */
static bool ends_in_part(mc_str name, const mc_str *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t k = words[i].n;
        if (name.n < k || name.p[name.n - 1] != words[i].p[k - 1] || memcmp(name.p + (name.n - k), words[i].p, k) != 0)
            continue;
        if (name.n == k || name.p[name.n - k - 1] == '.')
            return true;
    }
    return false;
}

bool mc_name_is_buffer(mc_str name)
{
    static const mc_str words[] = {
        W("inv_freq"), W("original_inv_freq"), W("inv_freq_local"), W("cos_cached"), W("sin_cached"), W("freqs_cis"), W("rope.freqs"), W("position_ids"),
        W("token_type_ids"), W("masked_bias"), W("attn.bias"), W("attn.attention.bias"), W("attention.bias"), W("causal_mask"), W("attn_mask"), W("attention_mask"),
        W("bias_mask"), W("tril"), W("relative_position_index"), W("num_batches_tracked"),
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

mc_str mc_name_part(mc_str *rest)
{
    size_t n = mc_str_find(*rest, '.');
    mc_str part = mc_str_cut(*rest, 0, n);
    *rest = mc_str_cut(*rest, n + 1, rest->n);
    return part;
}

bool mc_name_has_part(mc_str name, const char *const *words)
{
    while (name.n)
        if (mc_str_is_any(mc_name_part(&name), words))
            return true;
    return false;
}

bool mc_name_is_embedding(mc_str name)
{
    static const mc_str words[] = {
        W("embed_tokens"), W("wte"), W("embed_in"), W("word_embeddings"), W("tok_embeddings"), W("shared"), W("embeddings"), W("embedding"), W("embedder"),
    };
    return ends_in_part(mc_name_module(name), words, MC_COUNT(words));
}

bool mc_name_is_head(mc_str name)
{
    static const mc_str words[] = { W("lm_head"), W("embed_out"), W("output"), W("output_layer"), W("proj_out"), W("predictions.decoder"), W("lm_head.decoder") };
    mc_str module = mc_name_module(name);
    if (!ends_in_part(module, words, MC_COUNT(words)))
        return false;
    if (mc_str_ends(module, "attention.output") || mc_str_ends(module, "attn.output"))
        return false;
    /* BERT and GLM name inner projections "output": a head lies outside the numbered layers. */
    for (size_t i = 0; i + 1 < module.n; i++)
        if (module.p[i] == '.' && module.p[i + 1] >= '0' && module.p[i + 1] <= '9')
            return false;
    return true;
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
