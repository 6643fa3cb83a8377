/* What a module does, by its path: attention, mlp, experts, ... Asked once a form. Names of transformers, Meta, Mistral,
 * gpt-oss, MLX and GGUF. */
#include "scan/modules.h"

static bool is_router(mc_str path, mc_str leaf)
{
    static const char *const words[] = { "router", "gate_inp", "exp_probs_b", "e_score_correction_bias", "shared_expert_gate", "ffn_gate_inp", "ffn_gate_inp_shexp", "wg", NULL };
    static const char *const around[] = { "mlp.", "moe.", "ffn.", "feed_forward.", "mixer.", NULL };
    return mc_str_is_any(leaf, words) || mc_str_ends(path, "gate.e_score_correction_bias") || mc_str_contains(path, ".router.") || mc_str_contains(path, "ffn_gate_inp")
        || (mc_str_is(leaf, "gate") && mc_str_contains_any(path, around)) || mc_str_ends(path, "gate.bias");
}

mc_module_class mc_class_of(const mc_form *f, mc_str path)
{
    static const char *const mtp[] = { "mtp.", "mtp_", ".mtp", "nextn", "eagle", NULL };
    static const char *const vision[] = { "vision", "visual", "audio", "image", "multi_modal", "mm_projector", "mm.", "connector", "patch_embed", "aligner", "speech", "resampler",
                                          "embed_vision", "v.blk.", "a.blk.", NULL };
    static const char *const shared[] = { "shared_expert", "shexp", NULL };
    static const char *const experts[] = { "experts", "switch_mlp", "_exps", "mlp1_weight", "mlp2_weight", "mlp1_bias", "mlp2_bias", NULL };
    static const char *const attention[] = { "attn", "attention", "q_proj", "k_proj", "v_proj", "o_proj", "qkv", ".wq", ".wk", ".wv", ".wo", "indexer", NULL };
    static const char *const mlp[] = { "mlp", "ffn", "feed_forward", "gate_proj", "up_proj", "down_proj", ".fc1", ".fc2", "dense_h_to_4h", "dense_4h_to_h", ".w1", ".w2", ".w3",
                                       "shared_expert", "intermediate.dense", "output.dense", NULL };
    mc_str leaf = mc_str_last(path);
    if (mc_str_contains_any(path, mtp) || mc_str_starts(path, "mtp"))
        return MC_CLS_MTP;
    if (mc_str_contains_any(path, vision))
        return MC_CLS_VISION;
    if ((f->tags & MC_TAG_HEAD) || (mc_str_is(leaf, "unembedding")))
        return MC_CLS_HEAD;
    if ((f->tags & MC_TAG_EMBEDDING) || mc_str_contains(leaf, "embd") || mc_str_contains(leaf, "embed") || mc_str_is_any(leaf, (const char *const[]){ "wpe", "pos_emb", NULL }))
        return MC_CLS_EMBEDDING;
    if (mc_str_contains(leaf, "norm") || mc_str_starts(leaf, "ln_") || mc_str_contains(path, "norm."))
        return MC_CLS_NORM;
    if (is_router(path, leaf))
        return MC_CLS_ROUTER;
    if (mc_str_contains_any(path, experts) && !mc_str_contains_any(path, shared))
        return MC_CLS_EXPERTS;
    if (mc_str_contains_any(path, attention))
        return MC_CLS_ATTENTION;
    return mc_str_contains_any(path, mlp) ? MC_CLS_MLP : MC_CLS_OTHER;
}
