/* Names of tensors and keys of configurations, read for the memory floor: Transformers names, their quantized companions, and
 * llama.cpp's (llama-arch.cpp decides which of those are input, layer or output tensors). */
#include "floor/names.h"



#define ANY(s, ...) mc_str_contains_any(s, (const char *const[]){ __VA_ARGS__, NULL })
#define ONE_OF(s, ...) mc_str_is_any(s, (const char *const[]){ __VA_ARGS__, NULL })

/* ---- GGUF ------------------------------------------------------------------------------------------------- */

static void of_gguf(const mc_kb *kb, const mc_tensor *t, mc_weight_kind *k)
{
    static const char *const packed[] = { "Q4_0", "IQ4_NL", "Q4_K" };
    const mc_dtype *d = mc_kb_dtype(kb, t->dtype);
    bool            layer = mc_str_starts(t->name, "blk.") || mc_str_starts(t->name, "enc.blk.") || mc_str_starts(t->name, "dec.blk.");
    bool            input = mc_str_starts(t->name, "token_") || mc_str_starts(t->name, "position_embd") || mc_str_starts(t->name, "per_layer_token_embd");
    k->place = layer ? MC_PLACE_LAYER : input ? MC_PLACE_INPUT : MC_PLACE_OUTPUT;
    k->mtp = mc_str_contains(t->name, ".nextn.");
    if (t->rank < 2 || ANY(t->name, "ffn_gate_inp", "attn_kv_a", "attn_q_a", "_norm"))
        k->share = MC_SHARE_WHOLE;
    else if (ANY(t->name, ".attn_k.", ".attn_v."))
        k->share = MC_SHARE_HEADS;
    k->companion = true; /* types are per tensor and stay */
    for (size_t i = 0; d && i < MC_COUNT(packed); i++)
        k->repacked |= mc_str_is(d->name, packed[i]) && t->rank == 2 && t->dims[1] % 8 == 0 && k->place != MC_PLACE_INPUT;
}

/* ---- Transformers ----------------------------------------------------------------------------------------- */

/* What follows the last number: "self_attn.q_proj.weight" of model.layers.3.self_attn.q_proj.weight. */
static bool router(mc_str module)
{
    return mc_str_ends(module, ".gate") || mc_str_ends(module, "router") || mc_str_ends(module, ".wg") || mc_str_ends(module, "shared_expert_gate");
}

static bool companion(mc_str name)
{
    return ANY(mc_str_last(name), "scale", "zero", "absmax", "quant", "g_idx", "nested", "_blocks", "lookup", "codebook");
}

static void place_of(mc_str name, unsigned tags, mc_weight_kind *k)
{
    uint64_t layer;
    if (ANY(name, "vision", "visual", "audio", "vit.", "image", "mm_projector", "multi_modal", "resampler", "connector", "speech"))
        k->place = MC_PLACE_OTHER;
    else if (mc_name_layer(name, &layer))
        k->place = MC_PLACE_LAYER;
    else if ((tags & MC_TAG_EMBEDDING) || ANY(name, "wpe.", "embed_positions", "position_embedding"))
        k->place = MC_PLACE_INPUT;
    else if ((tags & MC_TAG_HEAD) || ANY(name, "norm", "ln_f"))
        k->place = MC_PLACE_OUTPUT;
    k->vocabulary = k->place != MC_PLACE_OTHER && k->place != MC_PLACE_LAYER && (tags & (MC_TAG_EMBEDDING | MC_TAG_HEAD));
    k->mtp = mc_str_starts(name, "mtp.") || ANY(name, ".mtp.", "mtp_layers", "mtp_block", "nextn");
}

void mc_weight_kind_of(const mc_model *m, const mc_kb *kb, const mc_tensor *t, unsigned tags, mc_weight_kind *k)
{
    *k = (mc_weight_kind){ .place = MC_PLACE_OTHER, .share = MC_SHARE_SPLIT };
    if (m->unit == MC_UNIT_GGUF) {
        of_gguf(kb, t, k);
        return;
    }
    mc_str module = mc_name_module(t->name);
    place_of(t->name, tags, k);
    k->companion = companion(t->name);
    k->group_index = mc_str_ends(t->name, ".g_idx");
    k->zeros = mc_str_ends(t->name, ".qzeros");
    k->mxfp4_values = mc_str_ends(t->name, "_proj_blocks");
    bool norm = ANY(module, "norm", "ln_");
    if (norm || router(module) || ANY(module, "kv_a_proj", "q_a_proj", "wkv_a", "wq_a", "indexer", "rotary"))
        k->share = MC_SHARE_WHOLE;
    else if (mc_str_ends(module, ".k_proj") || mc_str_ends(module, ".v_proj"))
        k->share = MC_SHARE_HEADS;
    k->linear = k->place == MC_PLACE_LAYER && !k->companion && t->rank >= 2 && !norm && !router(module) && !ANY(module, "conv", "embed", "A_log");
}

/* ---- configuration ---------------------------------------------------------------------------------------- */

static const mc_value *text_config(const mc_model *m)
{
    const mc_value *root = mc_model_config(m);
    return m->arch.text_at.n ? mc_at(root, m->arch.text_at.p) : root;
}

static bool says_fp8(const mc_value *scheme)
{
    int64_t bits;
    return mc_is(scheme, MC_OBJECT) && mc_as_int(mc_get(scheme, "num_bits"), &bits) && bits == 8 && mc_str_is(mc_as_str(mc_get(scheme, "type")), "float");
}

void mc_load_quant_of(const mc_model *m, mc_load_quant *out)
{
    const mc_value *root = mc_model_config(m), *text = text_config(m), *q = mc_get(root, "quantization_config");
    const mc_value *hf = mc_get(mc_model_root(m, 0, MC_ROLE_HF_QUANT_CONFIG), "quantization");
    bool            b;
    *out = (mc_load_quant){ 0 };
    if (!mc_is(q, MC_OBJECT))
        q = mc_get(text, "quantization_config");
    if (!mc_is(q, MC_OBJECT))
        q = mc_get(root, "compression_config");
    out->method = mc_as_str(mc_get(q, "quant_method"));
    if (out->method.n == 0)
        out->method = mc_as_str(mc_get(hf, "quant_algo"));
    if (out->method.n == 0 && mc_is(mc_model_root(m, 0, MC_ROLE_QUANTIZE_CONFIG), MC_OBJECT))
        out->method = MC_STR("gptq-or-awq");
    out->act_order = !(mc_as_bool(mc_get(q, "desc_act"), &b) && !b);
    out->symmetric = mc_flag(q, "sym");
    mc_str algo = mc_as_str(mc_get(hf, "kv_cache_quant_algo"));
    if (algo.n == 0)
        algo = mc_as_str(mc_get(q, "kv_cache_quant_algo"));
    if (says_fp8(mc_get(q, "kv_cache_scheme")) || mc_str_is(algo, "FP8"))
        out->cache_type = "fp8";
    else if (mc_str_is(algo, "NVFP4"))
        out->cache_type = "nvfp4";
}

/* Types whose heads are turned as a whole when their configuration says nothing else. */
static bool rotates(mc_str type)
{
    return ONE_OF(type, "llama", "mistral", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "gemma", "gemma2", "olmo", "olmo2", "olmoe", "phi3", "gpt_oss",
                  "cohere", "cohere2", "starcoder2", "granite", "granitemoe", "smollm3", "seed_oss", "exaone4", "internlm2", "deepseek_v2", "deepseek_v3", "kimi_k2");
}

/* Types that turn a part of a head even when the configuration does not say how much. */
static bool turns_part(mc_str type)
{
    return ONE_OF(type, "glm", "glm4", "glm4_moe", "chatglm", "phi", "gpt_neox", "gptj", "codegen", "stablelm", "persimmon", "nemotron", "qwen3_next", "qwen3_5_text",
                  "qwen3_5_moe_text", "minimax", "minimax_m2", "bamba", "mimo_v2", "mimo_v2_flash", "step3p5", "step3p7", "jamba", "nemotron_h", "kimi_linear");
}

static bool fraction(const mc_value *text, double *out)
{
    const mc_value *blocks[] = { text, mc_get(text, "rope_parameters"), mc_get(text, "rope_scaling") };
    for (size_t i = 0; i < MC_COUNT(blocks); i++)
        if (mc_as_number(mc_get(blocks[i], "partial_rotary_factor"), out) || mc_as_number(mc_get(blocks[i], "rotary_pct"), out))
            return *out > 0 && *out <= 1;
    return false;
}

uint64_t mc_rotary_width(const mc_model *m)
{
    const mc_value *text = text_config(m);
    mc_str          type = m->arch.model_type.v;
    bool            named = mc_get(text, "rope_theta") || mc_is(mc_get(text, "rope_parameters"), MC_OBJECT) || mc_is(mc_get(text, "rope_scaling"), MC_OBJECT);
    double          part;
    int64_t         v;
    if (m->unit == MC_UNIT_GGUF || (!named && !rotates(type)))
        return 0;
    if ((mc_as_int(mc_get(text, "qk_rope_head_dim"), &v) || mc_as_int(mc_get(text, "rotary_dim"), &v)) && v > 0 && v < 1 << 16)
        return (uint64_t)v;
    if (!m->arch.head_dim.known)
        return 0;
    if (fraction(text, &part))
        return (uint64_t)((double)m->arch.head_dim.v * part);
    return turns_part(type) ? 0 : (uint64_t)m->arch.head_dim.v;
}

uint64_t mc_conv_kernel(const mc_model *m, mc_kb *kb)
{
    static const char *const keys[] = { "linear_conv_kernel_dim", "mamba_d_conv", "conv_kernel", "conv_L_cache", "conv_kernel_size" };
    const mc_value *text = text_config(m), *linear = mc_get(text, "linear_attn_config");
    int64_t         v;
    uint64_t        u;
    mc_default      d;
    if (m->unit == MC_UNIT_GGUF)
        return mc_gguf_uint(mc_gguf_arch(m->gguf, "ssm.conv_kernel"), &u) ? u : 0;
    if (mc_as_int(mc_get(linear, "short_conv_kernel_size"), &v) && v > 0)
        return (uint64_t)v;
    for (size_t i = 0; i < MC_COUNT(keys); i++)
        if (mc_as_int(mc_get(text, keys[i]), &v) && v > 0)
            return (uint64_t)v;
    for (size_t i = 0; i < MC_COUNT(keys); i++)
        if (mc_kb_default(kb, m->arch.model_type.v, keys[i], &d) && mc_str_u64(d.value, &u))
            return u;
    return 0;
}

bool mc_asks_f32_state(const mc_model *m)
{
    const mc_value *text = text_config(m);
    return mc_str_is(mc_as_str(mc_get(text, "mamba_ssm_dtype")), "float32") || mc_str_is(mc_as_str(mc_get(text, "mamba_ssm_cache_dtype")), "float32");
}
