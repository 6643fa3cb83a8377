/* Shapes of cache and state: the worked numbers of published models, every mechanism from the configuration and from GGUF
 * keys, and that both say the same. Configurations: as their makers published them, cut to the keys that count. */
#include "model_of.h"

#include "floor/shape.h"

static mc_floor floor_of(fixture *f, uint64_t context)
{
    mc_floor out;
    mc_floor_compute(&f->model, &f->kb, &(mc_floor_ask){ .context = context, .kv_k = "bf16" }, &f->arena, &out);
    return out;
}

/* ---- worked numbers: growth of a token, windows, state; element size 2, one sequence ---- */

typedef struct { const char *name, *json; uint64_t per_token, window, state; } worked;

#define P4(x) x "," x "," x "," x
#define P6(x) x "," x "," x "," x "," x "," x
static const worked published[] = {
    { "Qwen3-0.6B", "{\"model_type\":\"qwen3\",\"num_hidden_layers\":28,\"num_attention_heads\":16,\"num_key_value_heads\":8,\"head_dim\":128,\"hidden_size\":1024}", 114688, 0, 0 },
    { "Qwen3-8B", "{\"model_type\":\"qwen3\",\"num_hidden_layers\":36,\"num_attention_heads\":32,\"num_key_value_heads\":8,\"head_dim\":128,\"hidden_size\":4096,\"sliding_window\":null,\"use_sliding_window\":false,\"max_window_layers\":36}", 147456, 0, 0 },
    { "Qwen3-32B", "{\"model_type\":\"qwen3\",\"num_hidden_layers\":64,\"num_attention_heads\":64,\"num_key_value_heads\":8,\"head_dim\":128,\"hidden_size\":5120}", 262144, 0, 0 },
    { "Qwen3-30B-A3B", "{\"model_type\":\"qwen3_moe\",\"num_hidden_layers\":48,\"num_attention_heads\":32,\"num_key_value_heads\":4,\"head_dim\":128,\"hidden_size\":2048}", 98304, 0, 0 },
    { "Llama-3.1-8B", "{\"model_type\":\"llama\",\"num_hidden_layers\":32,\"num_attention_heads\":32,\"num_key_value_heads\":8,\"hidden_size\":4096}", 131072, 0, 0 },
    { "Llama-3.1-70B", "{\"model_type\":\"llama\",\"num_hidden_layers\":80,\"num_attention_heads\":64,\"num_key_value_heads\":8,\"hidden_size\":8192}", 327680, 0, 0 },
    { "Llama-3.1-405B", "{\"model_type\":\"llama\",\"num_hidden_layers\":126,\"num_attention_heads\":128,\"num_key_value_heads\":8,\"hidden_size\":16384}", 516096, 0, 0 },
    { "MiniMax-M2.7", "{\"model_type\":\"minimax_m2\",\"num_hidden_layers\":62,\"num_attention_heads\":48,\"num_key_value_heads\":8,\"head_dim\":128,\"hidden_size\":3072}", 253952, 0, 0 },
    { "DeepSeek-V3", "{\"model_type\":\"deepseek_v3\",\"num_hidden_layers\":61,\"num_attention_heads\":128,\"num_key_value_heads\":128,\"kv_lora_rank\":512,\"qk_rope_head_dim\":64,\"qk_nope_head_dim\":128,\"v_head_dim\":128,\"num_nextn_predict_layers\":1}", 70272, 0, 0 },
    { "DeepSeek-V3.2", "{\"model_type\":\"deepseek_v32\",\"num_hidden_layers\":61,\"num_attention_heads\":128,\"kv_lora_rank\":512,\"qk_rope_head_dim\":64,\"index_head_dim\":128,\"index_n_heads\":64}", 85888, 0, 0 },
    { "GLM-5", "{\"model_type\":\"glm_moe_dsa\",\"num_hidden_layers\":78,\"num_attention_heads\":64,\"kv_lora_rank\":512,\"qk_rope_head_dim\":64,\"index_head_dim\":128,\"num_nextn_predict_layers\":1}", 109824, 0, 0 },
    { "GLM-5.2", "{\"model_type\":\"glm_moe_dsa\",\"num_hidden_layers\":78,\"num_attention_heads\":64,\"kv_lora_rank\":512,\"qk_rope_head_dim\":64,\"index_head_dim\":128,\"index_topk_freq\":4,\"index_skip_topk_offset\":3}", 78 * 1152 + 21 * 256, 0, 0 },
    { "DeepSeek-V4-Flash", "{\"model_type\":\"deepseek_v4\",\"num_hidden_layers\":43,\"num_attention_heads\":64,\"num_key_value_heads\":1,\"head_dim\":512,\"hidden_size\":4096,\"index_head_dim\":128,\"sliding_window\":128,\"compress_ratios\":[0,0,"
      P4("4,128,4,128,4,128,4,128") ",4,128,4,128,4,128,4,128,4,0]}", 6880, UINT64_C(43) * 512 * 2 * 128, 0 },
    { "Kimi-K3", "{\"model_type\":\"kimi_linear\",\"num_hidden_layers\":93,\"num_attention_heads\":96,\"num_key_value_heads\":96,\"hidden_size\":7168,\"kv_lora_rank\":512,\"qk_rope_head_dim\":64,\"qk_nope_head_dim\":128,\"v_head_dim\":128,"
      "\"linear_attn_config\":{\"full_attn_layers\":[4,8,12,16,20,24,28,32,36,40,44,48,52,56,60,64,68,72,76,80,84,88,92,93],\"head_dim\":128,\"num_heads\":96,\"short_conv_kernel_size\":4}}",
      27648, 0, UINT64_C(69) * (3 * 3 * 96 * 128 * 2 + 96 * 128 * 128 * 4) },
    { "MiniCPM3-4B", "{\"model_type\":\"minicpm3\",\"num_hidden_layers\":62,\"num_attention_heads\":40,\"num_key_value_heads\":40,\"hidden_size\":2560,\"kv_lora_rank\":256,\"qk_rope_head_dim\":32,\"qk_nope_head_dim\":64}", 35712, 0, 0 },
    { "gpt-oss-20b", "{\"model_type\":\"gpt_oss\",\"num_hidden_layers\":24,\"num_attention_heads\":64,\"num_key_value_heads\":8,\"head_dim\":64,\"hidden_size\":2880,\"sliding_window\":128}", 24576, 3 << 20, 0 },
    { "gpt-oss-120b", "{\"model_type\":\"gpt_oss\",\"num_hidden_layers\":36,\"num_attention_heads\":64,\"num_key_value_heads\":8,\"head_dim\":64,\"hidden_size\":2880,\"sliding_window\":128}", 36864, 9 << 19, 0 },
    { "medgemma-27b", "{\"model_type\":\"gemma3\",\"text_config\":{\"model_type\":\"gemma3_text\",\"num_hidden_layers\":62,\"num_attention_heads\":32,\"num_key_value_heads\":16,\"head_dim\":128,\"hidden_size\":5376,\"sliding_window\":1024}}", 81920, 416 << 20, 0 },
    { "gemma-4-31B", "{\"model_type\":\"gemma4\",\"text_config\":{\"model_type\":\"gemma4_text\",\"num_hidden_layers\":60,\"num_attention_heads\":32,\"num_key_value_heads\":16,\"num_global_key_value_heads\":4,\"attention_k_eq_v\":true,\"head_dim\":256,"
      "\"global_head_dim\":512,\"hidden_size\":5376,\"sliding_window\":1024}}", 81920, 800 << 20, 0 },
    { "gemma-4-26B-A4B", "{\"model_type\":\"gemma4\",\"text_config\":{\"model_type\":\"gemma4_text\",\"num_hidden_layers\":30,\"num_attention_heads\":16,\"num_key_value_heads\":8,\"num_global_key_value_heads\":2,\"attention_k_eq_v\":true,\"head_dim\":256,"
      "\"global_head_dim\":512,\"hidden_size\":2816,\"sliding_window\":1024}}", 20480, 200 << 20, 0 },
    { "Llama-4-Scout", "{\"model_type\":\"llama4\",\"text_config\":{\"model_type\":\"llama4_text\",\"num_hidden_layers\":48,\"num_attention_heads\":40,\"num_key_value_heads\":8,\"head_dim\":128,\"hidden_size\":5120,\"attention_chunk_size\":8192}}", 49152, 1152 << 20, 0 },
    { "MiMo-V2-Flash", "{\"model_type\":\"mimo_v2_flash\",\"num_hidden_layers\":48,\"num_attention_heads\":64,\"num_key_value_heads\":4,\"head_dim\":192,\"v_head_dim\":128,\"swa_num_key_value_heads\":8,\"swa_head_dim\":192,\"swa_v_head_dim\":128,"
      "\"hidden_size\":4096,\"sliding_window\":128,\"hybrid_layer_pattern\":[0,1,1,1,1,0," P6("1,1,1,1,1,0") ",1,1,1,1,1,0]}", 23040, UINT64_C(39) * 8 * 320 * 2 * 128, 0 },
    { "Step-3.7-Flash", "{\"model_type\":\"step3p5\",\"num_hidden_layers\":45,\"num_attention_heads\":64,\"num_key_value_heads\":8,\"head_dim\":128,\"hidden_size\":4096,\"sliding_window\":512,\"num_nextn_predict_layers\":3,\"layer_types\":["
      P4("\"full_attention\",\"sliding_attention\",\"sliding_attention\",\"sliding_attention\"") "," P6("\"full_attention\",\"sliding_attention\",\"sliding_attention\",\"sliding_attention\"")
      ",\"full_attention\",\"sliding_attention\",\"sliding_attention\",\"sliding_attention\",\"full_attention\"]}", 49152, 66 << 20, 0 },
    { "Qwen3.5-27B", "{\"model_type\":\"qwen3_5\",\"text_config\":{\"model_type\":\"qwen3_5_text\",\"num_hidden_layers\":64,\"num_attention_heads\":24,\"num_key_value_heads\":4,\"head_dim\":256,\"hidden_size\":5120,\"full_attention_interval\":4,"
      "\"linear_conv_kernel_dim\":4,\"linear_key_head_dim\":128,\"linear_num_key_heads\":16,\"linear_num_value_heads\":48,\"linear_value_head_dim\":128,\"mamba_ssm_dtype\":\"float32\",\"mtp_num_hidden_layers\":1}}",
      65536, 0, UINT64_C(48) * (3 * 10240 * 2 + 48 * 128 * 128 * 4) },
    { "Qwen3.5-35B-A3B", "{\"model_type\":\"qwen3_5_moe_text\",\"num_hidden_layers\":40,\"num_attention_heads\":16,\"num_key_value_heads\":2,\"head_dim\":256,\"hidden_size\":2048,\"linear_conv_kernel_dim\":4,\"linear_key_head_dim\":128,"
      "\"linear_num_key_heads\":16,\"linear_num_value_heads\":32,\"linear_value_head_dim\":128}", 20480, 0, UINT64_C(30) * (3 * 8192 * 2 + 32 * 128 * 128 * 4) },
    { "Nemotron-3-Nano-30B", "{\"model_type\":\"nemotron_h\",\"hybrid_override_pattern\":\"MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME\",\"num_attention_heads\":32,\"num_key_value_heads\":2,\"head_dim\":128,\"hidden_size\":2688,"
      "\"mamba_num_heads\":64,\"mamba_head_dim\":64,\"n_groups\":8,\"ssm_state_size\":128,\"conv_kernel\":4}", 6144, 0, UINT64_C(23) * (3 * 6144 * 2 + 64 * 64 * 128 * 4) },
    { "Nemotron-Super-49B (blocks)", "{\"model_type\":\"nemotron-nas\",\"num_hidden_layers\":4,\"num_attention_heads\":64,\"num_key_value_heads\":null,\"hidden_size\":8192,\"block_configs\":["
      "{\"attention\":{\"n_heads_in_group\":8,\"no_op\":false,\"replace_with_linear\":false}},{\"attention\":{\"n_heads_in_group\":null,\"no_op\":true}},"
      "{\"attention\":{\"n_heads_in_group\":null,\"replace_with_linear\":true}},{\"attention\":{\"n_heads_in_group\":16}}]}", (8 + 4) * 512, 0, 0 },
    { "Falcon-H1-7B", "{\"model_type\":\"falcon_h1\",\"num_hidden_layers\":44,\"num_attention_heads\":12,\"num_key_value_heads\":2,\"head_dim\":128,\"hidden_size\":3072,\"mamba_d_state\":256,\"mamba_n_groups\":1,\"mamba_n_heads\":24,\"mamba_d_head\":128,"
      "\"mamba_d_ssm\":3072,\"mamba_d_conv\":4}", 45056, 0, UINT64_C(44) * (3 * 3584 * 2 + 3072 * 256 * 4) },
    { "Jamba-1.5-Mini", "{\"model_type\":\"jamba\",\"num_hidden_layers\":32,\"num_attention_heads\":32,\"num_key_value_heads\":8,\"hidden_size\":4096,\"attn_layer_offset\":4,\"attn_layer_period\":8,\"mamba_d_conv\":4,\"mamba_d_state\":16,\"mamba_expand\":2}",
      16384, 0, UINT64_C(28) * (3 * 8192 * 2 + 8192 * 16 * 2) },
    { "LFM2-1.2B", "{\"model_type\":\"lfm2\",\"num_hidden_layers\":16,\"num_attention_heads\":32,\"num_key_value_heads\":8,\"hidden_size\":2048,\"full_attn_idxs\":[2,5,8,10,12,14],\"conv_L_cache\":3}", 12288, 0, 10 * 2 * 2048 * 2 },
    { "falcon-mamba-7b", "{\"model_type\":\"falcon_mamba\",\"num_hidden_layers\":64,\"hidden_size\":4096,\"intermediate_size\":8192,\"expand\":16,\"state_size\":16,\"conv_kernel\":4}", 0, 0, UINT64_C(64) * (3 * 8192 * 2 + 8192 * 16 * 2) },
    { "falcon-180B", "{\"model_type\":\"falcon\",\"num_hidden_layers\":80,\"num_attention_heads\":232,\"num_kv_heads\":8,\"hidden_size\":14848,\"new_decoder_architecture\":true}", 163840, 0, 0 },
    { "BLOOM-176B", "{\"model_type\":\"bloom\",\"n_layer\":70,\"num_attention_heads\":112,\"n_embed\":14336}", 4014080, 0, 0 },
    { "Phi-3-mini-4k", "{\"model_type\":\"phi3\",\"num_hidden_layers\":32,\"num_attention_heads\":32,\"num_key_value_heads\":32,\"hidden_size\":3072,\"sliding_window\":2047}", 0, UINT64_C(32) * 2047 * 32 * 96 * 4, 0 },
};

static void worked_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < MC_COUNT(published); i++) {
        const worked *w = &published[i];
        fixture       f;
        model_of(&f, MC_ROLE_CONFIG, w->json);
        mc_floor out = floor_of(&f, 32768);
        if (out.cache != MC_CACHE_COMPUTED || out.kv_bytes_per_token != w->per_token || out.kv_bytes != w->per_token * 32768 + w->window || out.state_bytes != w->state)
            fail_msg("%s: %llu a token, %llu of windows, state %llu (%.*s)", w->name, (unsigned long long)out.kv_bytes_per_token,
                     (unsigned long long)(out.kv_bytes - out.kv_bytes_per_token * 32768), (unsigned long long)out.state_bytes, MC_FMT(out.cache_reason));
        fixture_free(&f);
    }
}

/* ---- the kind of each layer ---- */

/* One letter a layer: F full, W window, C chunk, L latent, I index beside it, S state, A attention and state, - nothing. */
static void letters_of(const mc_shape *s, char *out)
{
    static const char names[] = { 'F', 'W', 'C', 'L', 'I', 'Z', 'X' };
    for (uint64_t i = 0; i < s->n_layers; i++) {
        char c = s->layer_states[i] ? 'S' : '-';
        for (size_t g = 0; g < s->n_keeps; g++)
            if (s->layer_keeps[i] >> g & 1)
                c = c == 'S' ? (s->keeps[g].keep == MC_KEEP_WINDOW ? 'a' : 'A') : s->keeps[g].keep == MC_KEEP_INDEX ? 'I' : names[s->keeps[g].keep];
        out[i] = c;
    }
    out[s->n_layers] = '\0';
}

static void layer_rules(void **state)
{
    static const struct { const char *json, *layers; } rows[] = {
        { "{\"model_type\":\"gemma2\",\"num_hidden_layers\":6}", "WFWFWF" },
        { "{\"model_type\":\"gemma3_text\",\"num_hidden_layers\":8}", "WWWWWFWW" },
        { "{\"model_type\":\"gemma3_text\",\"num_hidden_layers\":8,\"sliding_window_pattern\":3}", "WWFWWFWW" },
        { "{\"model_type\":\"gemma3_text\",\"num_hidden_layers\":4,\"sliding_window\":null}", "FFFF" },
        { "{\"model_type\":\"gemma3n_text\",\"num_hidden_layers\":12,\"num_kv_shared_layers\":4}", "WWWWFWWW----" },
        { "{\"model_type\":\"gemma4_text\",\"num_hidden_layers\":8}", "WWWWWFWF" },
        { "{\"model_type\":\"gemma4_text\",\"num_hidden_layers\":3,\"layer_types\":[\"sliding_attention\",\"full_attention\",\"sliding_attention\"]}", "WFF" },
        { "{\"model_type\":\"cohere2\",\"num_hidden_layers\":8}", "WWWFWWWF" },
        { "{\"model_type\":\"cohere2_moe\",\"num_hidden_layers\":9,\"first_k_dense_replace\":1}", "FWWWFWWWF" },
        { "{\"model_type\":\"exaone4\",\"num_hidden_layers\":8}", "WWWFWWWF" },
        { "{\"model_type\":\"exaone4\",\"num_hidden_layers\":4,\"sliding_window\":null}", "FFFF" },
        { "{\"model_type\":\"afmoe\",\"num_hidden_layers\":6,\"global_attn_every_n_layers\":3}", "WWFWWF" },
        { "{\"model_type\":\"cwm\",\"num_hidden_layers\":6}", "FWWWFW" },
        { "{\"model_type\":\"beam\",\"num_hidden_layers\":8}", "WWWWWFWF" },
        { "{\"model_type\":\"flint\",\"num_hidden_layers\":8}", "FFWWWFWF" },
        { "{\"model_type\":\"muse_spark_text\",\"num_hidden_layers\":6}", "WFWWWF" },
        { "{\"model_type\":\"mimo_v2_flash\",\"num_hidden_layers\":7}", "FWWWWFW" },
        { "{\"model_type\":\"llama4_text\",\"num_hidden_layers\":5}", "CCCFC" },
        { "{\"model_type\":\"llama4_text\",\"num_hidden_layers\":3,\"no_rope_layers\":[1,0,1]}", "CFC" },
        { "{\"model_type\":\"mistral\",\"num_hidden_layers\":2}", "WW" },
        { "{\"model_type\":\"mistral\",\"num_hidden_layers\":2,\"sliding_window\":null}", "FF" },
        { "{\"model_type\":\"mixtral\",\"num_hidden_layers\":2}", "FF" },
        { "{\"model_type\":\"qwen2\",\"num_hidden_layers\":4,\"sliding_window\":4096,\"max_window_layers\":2}", "FFFF" },
        { "{\"model_type\":\"qwen2\",\"num_hidden_layers\":4,\"use_sliding_window\":true,\"sliding_window\":4096,\"max_window_layers\":2}", "FFWW" },
        { "{\"model_type\":\"qwen2_moe\",\"num_hidden_layers\":6,\"use_sliding_window\":true,\"sliding_window\":4096,\"max_window_layers\":4}", "WFWFFF" },
        { "{\"model_type\":\"dots1\",\"num_hidden_layers\":4,\"max_window_layers\":3}", "FFFW" },
        { "{\"model_type\":\"smollm3\",\"num_hidden_layers\":4,\"use_sliding_window\":true,\"sliding_window\":64,\"no_rope_layers\":[1,1,1,0]}", "FFFW" },
        { "{\"model_type\":\"qwen3_next\",\"num_hidden_layers\":8}", "SSSFSSSF" },
        { "{\"model_type\":\"lara_mini\",\"num_hidden_layers\":5}", "SWSFW" },
        { "{\"model_type\":\"jamba\",\"num_hidden_layers\":8}", "SSSSFSSS" },
        { "{\"model_type\":\"zamba\",\"num_hidden_layers\":9}", "SSASSSSAS" },
        { "{\"model_type\":\"bamba\",\"num_hidden_layers\":4,\"attn_layer_indices\":[2]}", "SSFS" },
        { "{\"model_type\":\"granitemoehybrid\",\"num_hidden_layers\":2,\"layer_types\":[\"mamba\",\"attention\"]}", "SF" },
        { "{\"model_type\":\"nemotron_h\",\"hybrid_override_pattern\":\"M-*E\"}", "S-F-" },
        { "{\"model_type\":\"nemotron_h\",\"layers_block_type\":[\"mamba\",\"moe\",\"attention\"]}", "S-F" },
        { "{\"model_type\":\"recurrent_gemma\",\"num_hidden_layers\":5}", "SSWSS" },
        { "{\"model_type\":\"minimax\",\"num_hidden_layers\":4}", "FSFS" },
        { "{\"model_type\":\"lfm2\",\"num_hidden_layers\":2}", "FF" },
        { "{\"model_type\":\"lfm3\",\"num_hidden_layers\":6}", "SSFSWS" },
        { "{\"model_type\":\"kimi_linear\",\"num_hidden_layers\":6}", "SSSSLS" },
        { "{\"model_type\":\"bailing_hybrid\",\"num_hidden_layers\":6}", "SSSSSL" },
        { "{\"model_type\":\"glm5_next_text\",\"num_hidden_layers\":4}", "SSSI" },
        { "{\"model_type\":\"hy_v4\",\"num_hidden_layers\":6}", "IILLLI" },
        { "{\"model_type\":\"dots3_note_text\",\"num_hidden_layers\":6}", "IIWWWI" },
        { "{\"model_type\":\"inkling_text\",\"num_hidden_layers\":6}", "aaaaaA" },
        { "{\"model_type\":\"minimax_m3_vl_text\",\"num_hidden_layers\":3,\"sparse_attention_config\":{\"sparse_attention_freq\":[0,1,1],\"sparse_index_dim\":128}}", "FII" },
        { "{\"model_type\":\"hunyuan\",\"num_hidden_layers\":4,\"num_attention_heads\":8,\"hidden_size\":512,\"use_cla\":true,\"cla_share_factor\":2}", "F-F-" },
        { "{\"model_type\":\"openelm\",\"num_transformer_layers\":3,\"num_kv_heads\":[3,4,4],\"head_dim\":64}", "FFF" },
        { "{\"model_type\":\"llama\",\"num_hidden_layers\":3,\"sliding_window\":64,\"layer_types\":[\"full_attention\",\"sliding_attention\",\"full_attention\"]}", "FWF" },
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        fixture  f;
        mc_shape s;
        char     got[128] = "";
        model_of(&f, MC_ROLE_CONFIG, rows[i].json);
        mc_shape_of(&f.model, &f.kb, &f.arena, &s);
        if (s.cache == MC_CACHE_COMPUTED)
            letters_of(&s, got);
        if (strcmp(got, rows[i].layers) != 0)
            fail_msg("%s\n  gives %s (%.*s), not %s", rows[i].json, got, MC_FMT(s.reason), rows[i].layers);
        fixture_free(&f);
    }
}

/* ---- single facts ---- */

static mc_shape shape_of(fixture *f, const char *json)
{
    mc_shape s;
    model_of(f, MC_ROLE_CONFIG, json);
    mc_shape_of(&f->model, &f->kb, &f->arena, &s);
    return s;
}

static void layers_of_their_own(void **state)
{
    fixture f;
    (void)state;
    mc_shape s = shape_of(&f, "{\"model_type\":\"llama\",\"num_hidden_layers\":4,\"num_attention_heads\":8,\"num_key_value_heads\":4,\"head_dim\":64,"
                              "\"per_layer_config\":{\"1\":{\"num_key_value_heads\":2},\"3\":{\"head_dim\":32}}}");
    assert_int_equal(s.n_keeps, 3);
    assert_int_equal(s.keeps[0].layers, 2);
    assert_int_equal(s.keeps[1].heads, 2);
    assert_int_equal(s.keeps[2].k, 32);
    assert_int_equal(s.keeps[2].v, 32);
    assert_int_equal(s.layer_keeps[1], 2);
    fixture_free(&f);
    s = shape_of(&f, "{\"model_type\":\"plamo\",\"num_hidden_layers\":40,\"num_attention_heads\":40,\"hidden_size\":5120,\"hidden_size_per_head\":128,\"n_shared_head\":8}");
    assert_int_equal(s.keeps[0].heads, 5);
    assert_int_equal(s.keeps[0].k, 128);
    fixture_free(&f);
    s = shape_of(&f, "{\"model_type\":\"zamba2\",\"num_hidden_layers\":2,\"num_attention_heads\":32,\"hidden_size\":2560,\"layers_block_type\":[\"mamba\",\"hybrid\"],\"mamba_ngroups\":1,\"n_mamba_heads\":8,\"mamba_expand\":2,\"mamba_d_state\":64,\"mamba_d_conv\":4}");
    assert_int_equal(s.cache, MC_CACHE_COMPUTED);
    assert_int_equal(s.keeps[0].k, 160); /* of twice the hidden size */
    assert_int_equal(s.states[0].state, 5120 * 64);
    fixture_free(&f);
    s = shape_of(&f, "{\"architectures\":[\"CogVLMVideoForCausalLM\"],\"num_hidden_layers\":32,\"num_attention_heads\":32,\"num_multi_query_heads\":8,\"hidden_size\":4096}");
    assert_int_equal(s.cache, MC_CACHE_COMPUTED);
    assert_int_equal(s.keeps[0].heads, 8);
    fixture_free(&f);
}

static void latents_keep_their_other_form(void **state)
{
    fixture f;
    (void)state;
    mc_shape s = shape_of(&f, "{\"model_type\":\"deepseek_v3\",\"num_hidden_layers\":61,\"num_attention_heads\":128,\"kv_lora_rank\":512,\"qk_rope_head_dim\":64,\"qk_nope_head_dim\":128,\"v_head_dim\":128,\"num_nextn_predict_layers\":1}");
    assert_int_equal(s.n_keeps, 2);
    assert_int_equal(s.keeps[0].decompressed_heads, 128);
    assert_int_equal(s.keeps[0].decompressed_k, 192);
    assert_int_equal(s.keeps[0].decompressed_v, 128);
    assert_false(s.keeps[0].mtp);
    assert_true(s.keeps[1].mtp);
    assert_int_equal(s.keeps[1].layers, 1);
    assert_str(s.keeps[0].formula, "61*576");
    assert_false(s.keeps[0].llama.differs);
    fixture_free(&f);
    s = shape_of(&f, "{\"model_type\":\"minicpm3\"}");
    assert_true(s.keeps[0].llama.differs);
    assert_int_equal(s.keeps[0].llama.keep, MC_KEEP_FULL);
    assert_int_equal(s.keeps[0].llama.layers, 62);
    assert_int_equal(s.keeps[0].llama.heads, 40);
    assert_int_equal(s.keeps[0].llama.k, 96);
    assert_int_equal(s.keeps[0].llama.v, 64);
    fixture_free(&f);
    s = shape_of(&f, "{\"model_type\":\"longcat_flash\"}"); /* two attentions in each layer */
    assert_int_equal(s.keeps[0].layers, 56);
    assert_int_equal(s.n_layers, 28);
    fixture_free(&f);
    s = shape_of(&f, "{\"model_type\":\"mistral\"}");
    assert_true(s.keeps[0].llama.differs);
    assert_int_equal(s.keeps[0].llama.keep, MC_KEEP_FULL);
    fixture_free(&f);
}

static void encoder_decoder(void **state)
{
    fixture f;
    (void)state;
    mc_shape s = shape_of(&f, "{\"model_type\":\"whisper\",\"d_model\":384,\"decoder_layers\":4,\"decoder_attention_heads\":6,\"max_source_positions\":1500,\"is_encoder_decoder\":true}");
    assert_int_equal(s.n_keeps, 2);
    assert_int_equal(s.keeps[0].keep, MC_KEEP_FULL);
    assert_int_equal(s.keeps[0].k, 64);
    assert_int_equal(s.keeps[1].keep, MC_KEEP_CROSS);
    assert_int_equal(s.keeps[1].window, 1500);
    assert_true(s.keeps[1].llama.differs && s.keeps[1].llama.layers == 0);
    fixture_free(&f);
    s = shape_of(&f, "{\"model_type\":\"t5\",\"d_model\":768,\"d_kv\":64,\"num_heads\":12,\"num_layers\":12,\"num_decoder_layers\":6}");
    assert_int_equal(s.keeps[0].layers, 6);
    assert_int_equal(s.n_keeps, 1); /* how long the encoder's input is stands in no file */
    assert_int_equal(s.keeps[0].llama.layers, 12);
    assert_true(s.n_assumptions >= 1);
    fixture_free(&f);
    s = shape_of(&f, "{\"model_type\":\"mllama\",\"vision_config\":{\"max_num_tiles\":4,\"image_size\":560,\"patch_size\":14},\"text_config\":{\"model_type\":\"mllama_text_model\","
                     "\"num_hidden_layers\":4,\"num_attention_heads\":32,\"num_key_value_heads\":8,\"hidden_size\":4096,\"cross_attention_layers\":[3]}}");
    assert_int_equal(s.n_keeps, 2);
    assert_int_equal(s.keeps[0].layers, 3);
    assert_int_equal(s.keeps[1].window, 4 * 1601);
    fixture_free(&f);
}

static void not_computed(void **state)
{
    static const struct { const char *json, *reason; } rows[] = {
        { "{\"model_type\":\"gemma3_text\",\"sliding_window\":\"wide\"}", "the width of the window is no usable number" },
        { "{\"model_type\":\"llama\",\"num_hidden_layers\":1,\"layer_types\":[\"telepathy\"]}", "layers of the kind \"telepathy\", which this version does not know" },
        { "{\"model_type\":\"nemotron_h\",\"hybrid_override_pattern\":\"MQ\"}", "layers of the kind \"Q\", which this version does not know" },
        { "{\"model_type\":\"kimi_linear\",\"num_hidden_layers\":2,\"linear_attn_config\":{\"full_attn_layers\":[3]}}", "/linear_attn_config/full_attn_layers names a layer that is not there" },
        { "{\"model_type\":\"deepseek_v3\",\"kv_lora_rank\":null}", "the configuration does not give the width of the latent (kv_lora_rank, qk_rope_head_dim)" },
        { "{\"model_type\":\"plamo3\",\"num_hidden_layers\":8,\"num_attention_heads\":8,\"num_key_value_heads\":2,\"hidden_size\":512}", "the configuration does not give the width of the window" },
        { "{\"model_type\":\"llama\",\"num_hidden_layers\":100000}", "the configuration does not give the number of layers" },
        { "{\"model_type\":\"deepseek_v4\",\"compress_ratios\":[0]}", "compress_ratios does not tell how each layer is compressed" },
        { "{\"model_type\":\"mamba2\",\"state_size\":\"x\"}", "the configuration does not give the size of the Mamba-2 state" },
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        fixture  f;
        mc_shape s = shape_of(&f, rows[i].json);
        if (s.cache != MC_CACHE_NOT_COMPUTED || !mc_str_is(s.reason, rows[i].reason) || s.n_keeps || s.n_states)
            fail_msg("%s\n  gives \"%.*s\"", rows[i].json, MC_FMT(s.reason));
        fixture_free(&f);
    }
}

/* ---- GGUF keys, from text: "block_count=32 attention.head_count_kv=[8x4,0x28]" ---- */

enum { MAX_KEYS = 40 };

static uint64_t number_at(const char **p)
{
    uint64_t v = 0;
    while (**p >= '0' && **p <= '9')
        v = v * 10 + (uint64_t)(*(*p)++ - '0');
    return v;
}

static mc_gguf_kv key_of(fixture *f, const char *arch, const char **p)
{
    const char *name = *p, *eq = strchr(name, '=');
    assert_non_null(eq);
    mc_str key = mc_format(&f->arena, "%s.%.*s", arch, (int)(eq - name), name);
    *p = eq + 1;
    if (**p != '[')
        return gguf_u32(key.p, number_at(p));
    uint32_t *list = MC_NEW(&f->arena, uint32_t, 256);
    size_t    n = 0;
    for (++*p; **p != ']'; *p += **p == ',') {
        uint64_t v = number_at(p), times = **p == 'x' ? (++*p, number_at(p)) : 1;
        while (times--)
            list[n++] = (uint32_t)v;
    }
    ++*p;
    return gguf_list(key.p, list, n);
}

static mc_shape shape_of_keys(fixture *f, mc_arena *own, mc_gguf_kv *kv, const char *arch, const char *text)
{
    fixture  scratch = { .arena = *own };
    size_t   n = 0;
    mc_shape s;
    kv[n++] = gguf_text("general.architecture", arch);
    for (const char *p = text; *p;) {
        kv[n++] = key_of(&scratch, arch, &p);
        while (*p == ' ')
            p++;
    }
    *own = scratch.arena;
    model_of_keys(f, kv, n);
    mc_shape_of(&f->model, &f->kb, &f->arena, &s);
    return s;
}

#define GQA "attention.head_count=32 attention.head_count_kv=8 attention.key_length=128 attention.value_length=128 embedding_length=4096 context_length=131072 "

static void gguf_layers(void **state)
{
    static const struct { const char *arch, *keys, *layers; } rows[] = {
        { "llama", "block_count=3 " GQA, "FFF" },
        { "llama", "block_count=2 attention.sliding_window=64 " GQA, "WW" },
        { "qwen2", "block_count=2 attention.sliding_window=64 " GQA, "FF" },
        { "phi3", "block_count=2 attention.sliding_window=64 " GQA, "WW" },
        { "gemma2", "block_count=4 " GQA, "WFWF" },
        { "gemma3", "block_count=7 attention.sliding_window=512 " GQA, "WWWWWFW" },
        { "gemma3", "block_count=2 " GQA, "FF" },
        { "gemma3n", "block_count=22 attention.sliding_window=512 " GQA, "WWWWFWWWWFWWWWFWWWWF--" },
        { "gemma4", "block_count=6 attention.sliding_window=512 attention.sliding_window_pattern=[1x2,0,1x2,0] attention.shared_kv_layers=2 " GQA, "WWFW--" },
        { "cohere2", "block_count=4 attention.sliding_window=512 " GQA, "WWWF" },
        { "cohere2moe", "block_count=5 attention.sliding_window=512 " GQA, "FWWWF" },
        { "exaone4", "block_count=4 attention.sliding_window=512 " GQA, "FFFF" },
        { "gpt-oss", "block_count=2 attention.sliding_window=128 " GQA, "WF" },
        { "olmo2", "block_count=4 attention.sliding_window=128 " GQA, "WWWF" },
        { "smallthinker", "block_count=5 attention.sliding_window=128 " GQA, "FWWWF" },
        { "smallthinker", "block_count=2 " GQA, "FF" },
        { "laguna", "block_count=5 attention.sliding_window=128 " GQA, "FWWWF" },
        { "mellum", "block_count=4 attention.sliding_window=128 attention.sliding_window_pattern=2 " GQA, "WFWF" },
        { "muse-glimmer", "block_count=3 attention.sliding_window=128 attention.sliding_window_pattern=[1,0,1] " GQA, "WFW" },
        { "plamo3", "block_count=9 attention.sliding_window=128 " GQA, "WWWWWWWFW" },
        { "llama4", "block_count=4 " GQA, "WWWF" },
        { "deci", "block_count=4 attention.head_count=32 attention.head_count_kv=[8,0,8,4] embedding_length=4096", "F-FF" },
        { "glm4moe", "block_count=3 nextn_predict_layers=1 " GQA, "FF" },
        { "qwen35", "block_count=8 full_attention_interval=4 ssm.conv_kernel=4 ssm.inner_size=4096 ssm.state_size=128 ssm.group_count=16 " GQA, "SSSFSSSF" },
        { "minimax-01", "block_count=8 " GQA, "SSSSSSSF" },
        { "jamba", "block_count=3 attention.head_count=32 attention.head_count_kv=[0,8,0] embedding_length=4096 ssm.conv_kernel=4 ssm.inner_size=8192 ssm.state_size=16", "SFS" },
        { "nemotron_h", "block_count=3 attention.head_count=32 attention.head_count_kv=[0,8,0] feed_forward_length=[0,0,64] embedding_length=4096 ssm.conv_kernel=4 ssm.inner_size=8192 "
                        "ssm.state_size=128 ssm.group_count=8", "SF-" },
        { "falcon-h1", "block_count=2 ssm.conv_kernel=4 ssm.inner_size=1536 ssm.state_size=128 ssm.group_count=1 " GQA, "AA" },
        { "lfm2", "block_count=3 attention.head_count=16 attention.head_count_kv=[0,8,0] embedding_length=1024 shortconv.l_cache=3", "SFS" },
        { "rwkv7", "block_count=2 attention.head_count=0 embedding_length=2560 wkv.head_size=64", "SS" },
        { "deepseek32", "block_count=2 attention.head_count=128 attention.head_count_kv=1 attention.key_length=576 attention.value_length=512 attention.key_length_mla=192 "
                        "attention.value_length_mla=128 attention.indexer.key_length=128", "II" },
        { "glm-dsa", "block_count=11 context_length=1048576 attention.head_count=64 attention.head_count_kv=1 attention.key_length=576 attention.value_length=512 attention.key_length_mla=256 "
                     "attention.value_length_mla=256 attention.indexer.key_length=128", "IIILLLILLLI" },
        { "bailingmoe3", "block_count=3 attention.head_count=32 attention.head_count_kv=[0,1,0] attention.key_length=576 attention.value_length=512 attention.key_length_mla=192 "
                         "attention.value_length_mla=128 ssm.conv_kernel=4 kda.head_dim=128", "SLS" },
        { "minimax-m3", "block_count=3 leading_dense_block_count=1 attention.indexer.key_length=128 " GQA, "FII" },
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        fixture    f;
        mc_gguf_kv kv[MAX_KEYS];
        mc_arena   own = arena_new();
        char       got[128] = "";
        mc_shape   s = shape_of_keys(&f, &own, kv, rows[i].arch, rows[i].keys);
        if (s.cache == MC_CACHE_COMPUTED)
            letters_of(&s, got);
        for (char *c = got; *c; c++)
            *c = *c == 'C' ? 'W' : *c;
        if (strcmp(got, rows[i].layers) != 0)
            fail_msg("%s: %s\n  gives %s (%.*s), not %s", rows[i].arch, rows[i].keys, got, MC_FMT(s.reason), rows[i].layers);
        fixture_free(&f);
        mc_arena_free(&own);
    }
}

/* ---- both formats say the same ---- */

static void both_formats_agree(void **state)
{
    static const struct { const char *json, *arch, *keys; } rows[] = {
        { "{\"model_type\":\"llama\",\"num_hidden_layers\":32,\"num_attention_heads\":32,\"num_key_value_heads\":8,\"hidden_size\":4096}", "llama", "block_count=32 " GQA },
        { "{\"model_type\":\"phi3\",\"num_hidden_layers\":32,\"num_attention_heads\":32,\"num_key_value_heads\":32,\"hidden_size\":3072,\"sliding_window\":2047}", "phi3",
          "block_count=32 attention.head_count=32 attention.head_count_kv=32 embedding_length=3072 attention.sliding_window=2047" },
        { "{\"model_type\":\"starcoder2\",\"num_hidden_layers\":30,\"num_attention_heads\":24,\"num_key_value_heads\":2,\"hidden_size\":3072,\"sliding_window\":4096}", "starcoder2",
          "block_count=30 attention.head_count=24 attention.head_count_kv=2 embedding_length=3072 attention.sliding_window=4096" },
        { "{\"model_type\":\"gemma2\",\"num_hidden_layers\":42,\"num_attention_heads\":16,\"num_key_value_heads\":8,\"head_dim\":256,\"sliding_window\":4096}", "gemma2",
          "block_count=42 attention.head_count=16 attention.head_count_kv=8 attention.key_length=256 attention.value_length=256 attention.sliding_window=4096" },
        { "{\"model_type\":\"gemma3_text\",\"num_hidden_layers\":34,\"num_attention_heads\":8,\"num_key_value_heads\":4,\"head_dim\":256,\"sliding_window\":1024}", "gemma3",
          "block_count=34 attention.head_count=8 attention.head_count_kv=4 attention.key_length=256 attention.value_length=256 attention.sliding_window=1024" },
        { "{\"model_type\":\"gemma3n_text\",\"num_hidden_layers\":35,\"num_attention_heads\":8,\"num_key_value_heads\":2,\"head_dim\":256,\"sliding_window\":512,\"num_kv_shared_layers\":15}", "gemma3n",
          "block_count=35 attention.head_count=8 attention.head_count_kv=2 attention.key_length=256 attention.value_length=256 attention.sliding_window=512" },
        { "{\"model_type\":\"gemma4_text\",\"num_hidden_layers\":12,\"num_attention_heads\":32,\"num_key_value_heads\":16,\"num_global_key_value_heads\":4,\"attention_k_eq_v\":true,\"sliding_window\":1024}", "gemma4",
          "block_count=12 attention.head_count=32 attention.head_count_kv=[16x5,4,16x5,4] attention.key_length=512 attention.value_length=512 attention.key_length_swa=256 "
          "attention.value_length_swa=256 attention.sliding_window=1024 attention.sliding_window_pattern=[1x5,0,1x5,0]" },
        { "{\"model_type\":\"gpt_oss\",\"num_hidden_layers\":24,\"num_attention_heads\":64,\"num_key_value_heads\":8,\"head_dim\":64,\"sliding_window\":128}", "gpt-oss",
          "block_count=24 attention.head_count=64 attention.head_count_kv=8 attention.key_length=64 attention.value_length=64 attention.sliding_window=128" },
        { "{\"model_type\":\"cohere2\",\"num_hidden_layers\":64,\"num_attention_heads\":96,\"num_key_value_heads\":8,\"hidden_size\":12288,\"sliding_window\":4096}", "cohere2",
          "block_count=64 attention.head_count=96 attention.head_count_kv=8 embedding_length=12288 attention.sliding_window=4096" },
        { "{\"model_type\":\"exaone4\",\"num_hidden_layers\":64,\"num_attention_heads\":40,\"num_key_value_heads\":8,\"head_dim\":128,\"sliding_window\":4096}", "exaone4",
          "block_count=64 attention.head_count=40 attention.head_count_kv=8 attention.key_length=128 attention.value_length=128 attention.sliding_window=4096" },
        { "{\"model_type\":\"olmo3\",\"num_hidden_layers\":32,\"num_attention_heads\":32,\"num_key_value_heads\":32,\"hidden_size\":4096,\"sliding_window\":4096}", "olmo2",
          "block_count=32 attention.head_count=32 attention.head_count_kv=32 embedding_length=4096 attention.sliding_window=4096" },
        { "{\"model_type\":\"afmoe\",\"num_hidden_layers\":32,\"num_attention_heads\":32,\"num_key_value_heads\":4,\"head_dim\":128,\"sliding_window\":2048}", "afmoe",
          "block_count=32 attention.head_count=32 attention.head_count_kv=4 attention.key_length=128 attention.value_length=128 attention.sliding_window=2048" },
        { "{\"model_type\":\"llama4_text\",\"num_hidden_layers\":48,\"num_attention_heads\":40,\"num_key_value_heads\":8,\"head_dim\":128}", "llama4",
          "block_count=48 attention.head_count=40 attention.head_count_kv=8 attention.key_length=128 attention.value_length=128" },
        { "{\"model_type\":\"mimo_v2_flash\",\"num_hidden_layers\":6,\"num_attention_heads\":64,\"num_key_value_heads\":4,\"head_dim\":192,\"v_head_dim\":128,\"swa_num_key_value_heads\":8,\"swa_head_dim\":192,\"swa_v_head_dim\":128,\"sliding_window\":128}", "mimo2",
          "block_count=6 attention.head_count=64 attention.head_count_kv=[4,8x4,4] attention.key_length=192 attention.value_length=128 attention.key_length_swa=192 attention.value_length_swa=128 "
          "attention.sliding_window=128 attention.sliding_window_pattern=[0,1x4,0]" },
        { "{\"model_type\":\"nemotron-nas\",\"num_hidden_layers\":2,\"num_attention_heads\":64,\"hidden_size\":8192,\"block_configs\":[{\"attention\":{\"n_heads_in_group\":8}},{\"attention\":{\"no_op\":true}}]}", "deci",
          "block_count=2 attention.head_count=64 attention.head_count_kv=[8,0] embedding_length=8192" },
        { "{\"model_type\":\"deepseek_v3\",\"num_hidden_layers\":61,\"num_attention_heads\":128,\"num_nextn_predict_layers\":1}", "deepseek2",
          "block_count=61 attention.head_count=128 attention.head_count_kv=1 attention.key_length=576 attention.value_length=512 attention.key_length_mla=192 attention.value_length_mla=128" },
        { "{\"model_type\":\"minicpm3\"}", "minicpm3", "block_count=62 attention.head_count=40 attention.head_count_kv=40 attention.key_length=96 attention.value_length=64 attention.kv_lora_rank=256 rope.dimension_count=32" },
        { "{\"model_type\":\"deepseek_v32\",\"num_hidden_layers\":61}", "deepseek32", "block_count=61 attention.head_count=128 attention.head_count_kv=1 attention.key_length=576 attention.value_length=512 "
          "attention.key_length_mla=192 attention.value_length_mla=128 attention.indexer.key_length=128" },
        { "{\"model_type\":\"deepseek_v4\",\"num_hidden_layers\":4,\"head_dim\":512,\"index_head_dim\":128,\"sliding_window\":128,\"compress_ratios\":[0,4,128,4]}", "deepseek4",
          "block_count=4 attention.head_count=64 attention.head_count_kv=1 attention.key_length=512 attention.value_length=512 attention.indexer.key_length=128 attention.sliding_window=128 attention.compress_ratios=[0,4,128,4]" },
        { "{\"model_type\":\"minimax_m3_vl_text\",\"num_hidden_layers\":3,\"num_attention_heads\":64,\"num_key_value_heads\":4,\"head_dim\":128,\"sparse_attention_config\":{\"sparse_attention_freq\":[0,1,1],\"sparse_index_dim\":128}}", "minimax-m3",
          "block_count=3 leading_dense_block_count=1 attention.head_count=64 attention.head_count_kv=4 attention.key_length=128 attention.value_length=128 attention.indexer.key_length=128" },
        { "{\"model_type\":\"qwen3_5_text\",\"num_hidden_layers\":8,\"num_attention_heads\":24,\"num_key_value_heads\":4,\"head_dim\":256,\"linear_num_key_heads\":16,\"linear_key_head_dim\":128,\"linear_num_value_heads\":48,\"linear_value_head_dim\":128,\"mtp_num_hidden_layers\":1}", "qwen35",
          "block_count=9 nextn_predict_layers=1 attention.head_count=24 attention.head_count_kv=4 attention.key_length=256 attention.value_length=256 ssm.conv_kernel=4 ssm.inner_size=6144 ssm.state_size=128 ssm.group_count=16" },
        { "{\"model_type\":\"kimi_linear\",\"num_hidden_layers\":4,\"num_attention_heads\":32,\"linear_attn_config\":{\"full_attn_layers\":[4],\"head_dim\":128,\"num_heads\":32,\"short_conv_kernel_size\":4}}", "kimi-linear",
          "block_count=4 attention.head_count=32 attention.head_count_kv=[0x3,1] attention.key_length=576 attention.value_length=512 attention.key_length_mla=192 attention.value_length_mla=128 ssm.conv_kernel=4 kda.head_dim=128" },
        { "{\"model_type\":\"jamba\",\"num_hidden_layers\":8,\"num_attention_heads\":32,\"num_key_value_heads\":8,\"hidden_size\":4096}", "jamba",
          "block_count=8 attention.head_count=32 attention.head_count_kv=[0x4,8,0x3] embedding_length=4096 ssm.conv_kernel=4 ssm.inner_size=8192 ssm.state_size=16" },
        { "{\"model_type\":\"nemotron_h\",\"hybrid_override_pattern\":\"M*-\",\"num_attention_heads\":32,\"num_key_value_heads\":2,\"head_dim\":128,\"mamba_num_heads\":64,\"mamba_head_dim\":64,\"n_groups\":8,\"ssm_state_size\":128,\"conv_kernel\":4}", "nemotron_h",
          "block_count=3 attention.head_count=32 attention.head_count_kv=[0,2,0] feed_forward_length=[0,0,64] attention.key_length=128 attention.value_length=128 ssm.conv_kernel=4 ssm.inner_size=4096 ssm.state_size=128 ssm.group_count=8" },
        { "{\"model_type\":\"falcon_h1\",\"num_hidden_layers\":36,\"num_attention_heads\":8,\"num_key_value_heads\":2,\"head_dim\":64,\"mamba_d_ssm\":1536,\"mamba_n_heads\":24,\"mamba_d_state\":128,\"mamba_n_groups\":1,\"mamba_d_conv\":4}", "falcon-h1",
          "block_count=36 attention.head_count=8 attention.head_count_kv=2 attention.key_length=64 attention.value_length=64 ssm.conv_kernel=4 ssm.inner_size=1536 ssm.state_size=128 ssm.group_count=1" },
        { "{\"model_type\":\"mamba2\",\"num_hidden_layers\":64,\"num_heads\":80,\"head_dim\":64,\"hidden_size\":2560,\"state_size\":128,\"n_groups\":1,\"conv_kernel\":4}", "mamba2",
          "block_count=64 attention.head_count=0 ssm.conv_kernel=4 ssm.inner_size=5120 ssm.state_size=128 ssm.group_count=1" },
        { "{\"model_type\":\"lfm2\",\"num_hidden_layers\":3,\"num_attention_heads\":16,\"num_key_value_heads\":8,\"hidden_size\":1024,\"full_attn_idxs\":[1],\"conv_L_cache\":3}", "lfm2",
          "block_count=3 attention.head_count=16 attention.head_count_kv=[0,8,0] embedding_length=1024 shortconv.l_cache=3" },
        { "{\"model_type\":\"minimax_text_01\",\"num_hidden_layers\":80,\"num_attention_heads\":64,\"num_key_value_heads\":8,\"head_dim\":128,\"hidden_size\":6144}", "minimax-01",
          "block_count=80 attention.head_count=64 attention.head_count_kv=8 attention.key_length=128 attention.value_length=128" },
        { "{\"model_type\":\"rwkv7\",\"num_hidden_layers\":32,\"hidden_size\":2560,\"head_dim\":64}", "rwkv7", "block_count=32 attention.head_count=0 embedding_length=2560 wkv.head_size=64" },
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        fixture    a, b;
        mc_gguf_kv kv[MAX_KEYS];
        mc_arena   own = arena_new();
        model_of(&a, MC_ROLE_CONFIG, rows[i].json);
        (void)shape_of_keys(&b, &own, kv, rows[i].arch, rows[i].keys);
        mc_floor x = floor_of(&a, 20000), y = floor_of(&b, 20000);
        if (x.cache != MC_CACHE_COMPUTED || y.cache != MC_CACHE_COMPUTED || x.kv_bytes != y.kv_bytes || x.state_bytes != y.state_bytes || x.kv_bytes_per_token != y.kv_bytes_per_token)
            fail_msg("%s: %llu + %llu (%.*s), GGUF %llu + %llu (%.*s)", rows[i].arch, (unsigned long long)x.kv_bytes, (unsigned long long)x.state_bytes, MC_FMT(x.cache_reason),
                     (unsigned long long)y.kv_bytes, (unsigned long long)y.state_bytes, MC_FMT(y.cache_reason));
        fixture_free(&a);
        fixture_free(&b);
        mc_arena_free(&own);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_numbers), cmocka_unit_test(layer_rules), cmocka_unit_test(layers_of_their_own), cmocka_unit_test(latents_keep_their_other_form),
        cmocka_unit_test(encoder_decoder), cmocka_unit_test(not_computed), cmocka_unit_test(gguf_layers), cmocka_unit_test(both_formats_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
