/* The rules of the engines, one by one, with worked numbers: cells that llama.cpp printed, pools and blocks that vllm printed. */
#include "model_of.h"

#define MIB UINT64_C(1048576)

static const char llama8b[] = "{\"model_type\":\"llama\",\"num_hidden_layers\":32,\"num_attention_heads\":32,\"num_key_value_heads\":8,\"hidden_size\":4096,"
                              "\"max_position_embeddings\":131072,\"torch_dtype\":\"bfloat16\"}";
static const char gemma12b[] = "{\"model_type\":\"gemma4_text\",\"num_hidden_layers\":6,\"num_attention_heads\":16,\"num_key_value_heads\":8,"
                               "\"num_global_key_value_heads\":1,\"attention_k_eq_v\":true,\"head_dim\":256,\"global_head_dim\":512,\"hidden_size\":3840,\"sliding_window\":1024,"
                               "\"layer_types\":[\"sliding_attention\",\"sliding_attention\",\"sliding_attention\",\"sliding_attention\",\"sliding_attention\",\"full_attention\"]}";
static const char gemma31b[] = "{\"model_type\":\"gemma4_text\",\"num_hidden_layers\":60,\"num_attention_heads\":32,\"num_key_value_heads\":16,\"num_global_key_value_heads\":4,"
                               "\"attention_k_eq_v\":true,\"head_dim\":256,\"global_head_dim\":512,\"hidden_size\":5376,\"sliding_window\":1024,\"torch_dtype\":\"bfloat16\","
                               "\"sliding_window_pattern\":6}";
static const char gpt_oss[] = "{\"model_type\":\"gpt_oss\",\"num_hidden_layers\":36,\"num_attention_heads\":64,\"num_key_value_heads\":8,\"head_dim\":64,\"hidden_size\":2880,"
                              "\"sliding_window\":128,\"torch_dtype\":\"bfloat16\"}";
static const char qwen27b[] = "{\"model_type\":\"qwen3_5_text\",\"num_hidden_layers\":64,\"num_attention_heads\":24,\"num_key_value_heads\":4,\"head_dim\":256,\"hidden_size\":5120,"
                              "\"full_attention_interval\":4,\"linear_num_key_heads\":16,\"linear_key_head_dim\":128,\"linear_num_value_heads\":48,\"linear_value_head_dim\":128,"
                              "\"linear_conv_kernel_dim\":4,\"mamba_ssm_dtype\":\"float32\",\"dtype\":\"bfloat16\"}";
static const char qwen35b[] = "{\"model_type\":\"qwen3_5_moe_text\",\"num_hidden_layers\":40,\"num_attention_heads\":16,\"num_key_value_heads\":2,\"head_dim\":256,\"hidden_size\":2048,"
                              "\"full_attention_interval\":4,\"linear_num_key_heads\":16,\"linear_key_head_dim\":128,\"linear_num_value_heads\":32,\"linear_value_head_dim\":128,"
                              "\"linear_conv_kernel_dim\":4,\"mamba_ssm_dtype\":\"float32\",\"dtype\":\"bfloat16\"}";
static const char kimi[] = "{\"model_type\":\"kimi_linear\",\"num_hidden_layers\":27,\"num_attention_heads\":32,\"num_key_value_heads\":32,\"hidden_size\":2304,\"kv_lora_rank\":512,"
                           "\"qk_nope_head_dim\":128,\"qk_rope_head_dim\":64,\"v_head_dim\":128,\"linear_attn_config\":{\"kda_layers\":[1,2,3,5,6,7,9,10,11,13,14,15,17,18,19,21,22,23,"
                           "25,26],\"full_attn_layers\":[4,8,12,16,20,24,27],\"head_dim\":128,\"num_heads\":32,\"short_conv_kernel_size\":4}}";
static const char deepseek[] = "{\"model_type\":\"deepseek_v3\",\"num_hidden_layers\":61,\"num_attention_heads\":128,\"num_key_value_heads\":128,\"hidden_size\":7168,"
                               "\"kv_lora_rank\":512,\"qk_rope_head_dim\":64,\"qk_nope_head_dim\":128,\"v_head_dim\":128,\"torch_dtype\":\"bfloat16\"}";
static const char deepseek32[] = "{\"model_type\":\"deepseek_v32\",\"num_hidden_layers\":61,\"num_attention_heads\":128,\"num_key_value_heads\":128,\"hidden_size\":7168,"
                                 "\"kv_lora_rank\":512,\"qk_rope_head_dim\":64,\"qk_nope_head_dim\":128,\"v_head_dim\":128,\"index_head_dim\":128,\"torch_dtype\":\"bfloat16\"}";
static const char deepseek4[] = "{\"model_type\":\"deepseek_v4\",\"num_hidden_layers\":43,\"num_attention_heads\":64,\"num_key_value_heads\":1,\"head_dim\":512,\"hidden_size\":4096,"
                                "\"index_head_dim\":128,\"sliding_window\":128,\"torch_dtype\":\"bfloat16\",\"compress_ratios\":[0,0,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,"
                                "4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4]}";
static const char mistral[] = "{\"model_type\":\"mistral\",\"num_hidden_layers\":32,\"num_attention_heads\":32,\"num_key_value_heads\":8,\"hidden_size\":4096,\"sliding_window\":4096,"
                              "\"torch_dtype\":\"bfloat16\"}";

static mc_floor ask_of(const char *json, mc_floor_ask ask)
{
    static mc_floor out; /* texts are not read once the arena is gone */
    fixture         f;
    model_of(&f, MC_ROLE_CONFIG, json);
    mc_floor_compute(&f.model, &f.kb, &ask, &f.arena, &out);
    if (out.cache != MC_CACHE_COMPUTED)
        out.cache_reason = S(strstr(out.cache_reason.p, "refuses") ? "refused" : "other");
    fixture_free(&f);
    return out;
}

#define FLOOR(json, ...) ask_of(json, (mc_floor_ask){ __VA_ARGS__ })
#define LLAMA(json, ...) FLOOR(json, .engine = "llama.cpp", __VA_ARGS__)
#define VLLM(json, ...) FLOOR(json, .engine = "vllm", __VA_ARGS__)

static const mc_cache *cache_named(const mc_floor *f, const char *name)
{
    for (size_t i = 0; i < f->n_caches; i++)
        if (strcmp(f->caches[i].name, name) == 0)
            return &f->caches[i];
    fail_msg("no cache %s", name);
    return NULL;
}

/* ---- llama.cpp -------------------------------------------------------------------------------------------- */

static void llama_pads_the_context(void **state)
{
    (void)state;
    mc_floor f = LLAMA(llama8b, .context = 10000);
    assert_int_equal(f.caches[0].cells, 10240);
    assert_int_equal(f.kv_bytes, UINT64_C(131072) * 10240);
    assert_int_equal(LLAMA(llama8b, .context = 1).caches[0].cells, 256);
    assert_int_equal(LLAMA(llama8b, .context = 200000).caches[0].cells, 200192); /* beyond the model's own: as asked */
}

static void llama_streams(void **state)
{
    (void)state;
    mc_floor f = LLAMA(llama8b, .context = 1024, .sequences = 3);
    assert_int_equal(f.caches[0].cells, 512);
    assert_int_equal(f.caches[0].streams, 3);
    f = LLAMA(llama8b, .context = 1024, .sequences = 3, .switches = { .kv_unified = true });
    assert_int_equal(f.caches[0].cells, 1024);
    assert_int_equal(f.caches[0].streams, 1);
    assert_int_equal(f.kv_bytes, UINT64_C(131072) * 1024);
}

static void llama_windows(void **state)
{
    (void)state;
    mc_floor f = LLAMA(gemma12b, .context = 8192, .sequences = 4, .kv_k = "q8_0", .switches = { .kv_unified = true });
    assert_int_equal(cache_named(&f, "window")->cells, 4608);
    assert_int_equal(8 * (cache_named(&f, "window")->k_bytes + cache_named(&f, "window")->v_bytes), 765 * MIB); /* 5 of 40 layers */
    f = LLAMA(gemma12b, .context = 16384, .sequences = 4, .switches = { .kv_unified = true, .ubatch = 2048 });
    assert_int_equal(cache_named(&f, "window")->cells, 6144);
    f = LLAMA(gemma12b, .context = 16384, .switches = { .ubatch = 2048, .batch = 100 });
    assert_int_equal(cache_named(&f, "window")->cells, 1280);
    f = LLAMA(gemma12b, .context = 16384, .switches = { .swa_full = true });
    assert_int_equal(cache_named(&f, "window")->cells, 16384);
    f = LLAMA(gpt_oss, .context = 131072);
    assert_int_equal(cache_named(&f, "window")->cells, 768);
    f = LLAMA(mistral, .context = 16384); /* a window that it does not know */
    assert_int_equal(f.n_caches, 1);
    assert_int_equal(f.kv_bytes, UINT64_C(131072) * 16384);
}

static void llama_without_flash_attention(void **state)
{
    (void)state;
    mc_floor f = LLAMA(gemma31b, .context = 1400, .switches = { .flash_attn_off = true });
    assert_int_equal(cache_named(&f, "full")->k_bytes, 60 * MIB);
    assert_int_equal(cache_named(&f, "full")->v_bytes, 120 * MIB);
    assert_int_equal(LLAMA(llama8b, .kv_v = "q8_0", .kv_k = "f16", .switches = { .flash_attn_off = true }).cache, MC_CACHE_NOT_COMPUTED);
}

static void llama_refuses(void **state)
{
    (void)state;
    mc_floor f = LLAMA(deepseek, .kv_k = "q8_0", .kv_v = "f16");
    assert_int_equal(f.cache, MC_CACHE_NOT_COMPUTED);
    assert_str(f.cache_reason, "refused");
    assert_int_equal(f.kv_bytes, 0);
    f = LLAMA("{\"model_type\":\"phi\",\"num_hidden_layers\":32,\"num_attention_heads\":32,\"hidden_size\":2560}", .kv_k = "q8_0");
    assert_str(f.cache_reason, "refused"); /* heads of 80 */
}

static void llama_latents_and_states(void **state)
{
    (void)state;
    assert_int_equal(LLAMA(deepseek, .context = 163840, .kv_k = "f16").kv_bytes, 10980 * MIB);
    assert_int_equal(LLAMA(deepseek, .context = 32768, .kv_k = "q8_0").kv_bytes, UINT64_C(1223294976)); /* 1166.625 MiB */
    assert_int_equal(LLAMA(qwen27b, .sequences = 3).state_bytes, 3 * UINT64_C(156893184));               /* 149.625 MiB each */
    assert_int_equal(LLAMA(qwen27b, .context = 8192, .sequences = 4, .switches = { .state_copies = 2 }).state_bytes, UINT64_C(1882718208));
    mc_floor f = LLAMA(deepseek4, .context = 5000, .sequences = 2, .switches = { .kv_unified = true });
    assert_int_equal(f.kv_bytes, UINT64_C(146931712)); /* 140.12 MiB: a stream for each sequence though unified */
    assert_int_equal(f.state_bytes, UINT64_C(24412160));
    assert_int_equal(cache_named(&f, "compressed")->cells, 1280);
}

/* ---- vllm ------------------------------------------------------------------------------------------------- */

static void vllm_blocks(void **state)
{
    (void)state;
    mc_floor f = VLLM(llama8b, .context = 29000, .switches = { .cache_bytes = UINT64_C(3103113871) }); /* 2.89 GiB */
    assert_int_equal(f.pool.block_tokens, 16);
    assert_int_equal(f.pool.blocks, 1479);
    assert_int_equal(f.pool.blocks_per_request, 1813);
    assert_int_equal(f.pool.tokens, 23657);
    assert_int_equal(f.kv_bytes, UINT64_C(131072) * 29008);
    assert_int_equal(VLLM(llama8b, .context = 100, .switches = { .block_size = 128 }).kv_bytes, UINT64_C(131072) * 128);
    assert_int_equal(VLLM(llama8b, .context = 100, .gpu = { MC_GPU_CPU, 0 }).pool.block_tokens, 128);
}

static void vllm_windows(void **state)
{
    (void)state;
    mc_floor f = VLLM(mistral, .context = 32768);
    assert_int_equal(f.pool.blocks_per_request, (4095 + 2048 + 15) / 16 + 1);
    f = VLLM(mistral, .context = 32768, .switches = { .no_hybrid = true });
    assert_int_equal(f.pool.blocks_per_request, 2048);
}

static void vllm_groups(void **state)
{
    (void)state;
    mc_floor f = VLLM(gemma31b, .context = 262144, .switches = { .batched_tokens = 8192, .cache_bytes = UINT64_C(111583250350) }); /* 103.92 GiB */
    assert_int_equal(f.pool.groups, 6);
    assert_int_equal(f.pool.page_bytes, 2621440);
    assert_int_equal(f.pool.blocks_per_request, 11077);
    assert_int_equal(f.pool.blocks, 42565);
    assert_int_equal(f.pool.tokens, 1007326);
    f = VLLM(gpt_oss, .context = 131072);
    assert_int_equal(f.pool.groups, 2);
    assert_int_equal(f.pool.page_bytes, 18 * 32768);
}

static void vllm_hybrids(void **state)
{
    (void)state;
    mc_floor f = VLLM(qwen27b, .context = 8192, .kv_k = "fp8", .switches = { .cache_bytes = UINT64_C(4) << 30 });
    assert_int_equal(f.pool.block_tokens, 1568);
    assert_int_equal(f.pool.page_bytes, 51380224);
    assert_int_equal(f.pool.groups, 4);
    assert_int_equal(f.pool.blocks, 83);
    assert_int_equal(f.pool.blocks_per_request, 9);
    assert_int_equal(f.pool.tokens, 75548);
    assert_int_equal(f.kv_bytes, 6 * UINT64_C(51380224));
    assert_int_equal(f.state_bytes, 3 * UINT64_C(51380224));
    f = VLLM(qwen35b, .context = 131072, .kv_k = "fp8", .switches = { .prefix_caching = true, .cache_bytes = UINT64_C(6420976107) }); /* 5.98 GiB */
    assert_int_equal(f.pool.block_tokens, 2096);
    assert_int_equal(f.pool.blocks_per_request, 69);
    assert_int_equal(f.pool.blocks, 299);
    assert_int_equal(f.pool.tokens, 567978);
    assert_int_equal(VLLM(qwen35b, .context = 131072, .kv_k = "fp8", .switches = { .speculative = 2 }).pool.block_tokens, 2128);
    f = VLLM(kimi, .context = 120000, .tp = 2, .switches = { .cache_bytes = UINT64_C(2469606195) }); /* 2.30 GiB */
    assert_int_equal(f.pool.block_tokens, 960);
    assert_int_equal(f.pool.blocks / f.pool.groups * f.pool.block_tokens, 75840);
}

static void rows_with_scales(void **state)
{
    (void)state;
    assert_int_equal(VLLM("{\"model_type\":\"llama\",\"num_hidden_layers\":1,\"num_attention_heads\":4,\"num_key_value_heads\":4,\"head_dim\":256}", .context = 16,
                          .kv_k = "int8_per_token_head").kv_bytes_per_token, 2080);
    assert_int_equal(VLLM(deepseek32, .kv_k = "fp8_ds_mla").kv_bytes_per_token, 61 * (656 + 132));
    assert_int_equal(VLLM(deepseek32, .kv_k = "bf16").kv_bytes_per_token, 61 * (1152 + 132));
    assert_int_equal(VLLM(llama8b, .kv_k = "fp8_ds_mla").cache, MC_CACHE_NOT_COMPUTED);
    assert_int_equal(VLLM(llama8b, .kv_k = "nvfp4").kv_bytes_per_token, 131072 / 2 * 9 / 16);
}

/* ---- sglang, transformers, generic ------------------------------------------------------------------------ */

static void sglang_rows(void **state)
{
    (void)state;
    mc_floor f = FLOOR(llama8b, .engine = "sglang", .context = 1000, .sequences = 2, .switches = { .page_size = 64 });
    assert_int_equal(f.caches[0].cells, 2048 + 64);
    f = FLOOR(qwen27b, .engine = "sglang", .context = 8192, .switches = { .mamba_slots = 124 });
    assert_int_equal(f.state_bytes, 125 * UINT64_C(48) * (48 * 128 * 128 * 4 + 10240 * 3 * 2));
    f = FLOOR(gpt_oss, .engine = "sglang", .context = 10000, .switches = { .swa_ratio = 500000 });
    assert_int_equal(cache_named(&f, "full")->cells, 10001);
    assert_int_equal(cache_named(&f, "window")->cells, 5001);
}

static void transformers_rows(void **state)
{
    (void)state;
    assert_int_equal(FLOOR(mistral, .engine = "transformers", .context = 32768).caches[0].cells, 4095);
    assert_int_equal(FLOOR(deepseek, .engine = "transformers", .context = 1).kv_bytes, 61 * UINT64_C(81920)); /* decompressed */
    assert_int_equal(FLOOR(deepseek, .engine = NULL, .context = 1).kv_bytes, 70272);
}

/* ---- devices ---------------------------------------------------------------------------------------------- */

static void ranks(void **state)
{
    (void)state;
    mc_floor f = VLLM(llama8b, .context = 1024, .tp = 2);
    assert_int_equal(f.n_devices, 2);
    assert_int_equal(f.devices[0].kv_bytes, 65536 * 1024);
    assert_int_equal(f.kv_bytes, 131072 * 1024);
    f = VLLM(llama8b, .context = 1024, .tp = 16); /* 8 heads: two ranks hold the same */
    assert_int_equal(f.devices[15].kv_bytes, 16384 * 1024);
    assert_int_equal(f.kv_bytes, 2 * 131072 * 1024);
    f = VLLM(deepseek, .context = 1024, .tp = 8); /* latents do not divide */
    assert_int_equal(f.devices[0].kv_bytes, 70272 * 1024);
}

static void pipeline(void **state)
{
    (void)state;
    mc_floor f = VLLM(deepseek, .context = 1024, .pp = 4); /* 61 layers: 15, 15, 16, 15 */
    assert_int_equal(f.n_devices, 4);
    assert_int_equal(f.devices[0].kv_bytes, 15 * 1152 * 1024);
    assert_int_equal(f.devices[2].kv_bytes, 16 * 1152 * 1024);
    assert_int_equal(f.device_bytes, f.devices[2].floor_bytes);
    assert_int_equal(f.kv_bytes, 70272 * 1024);
    f = FLOOR(gpt_oss, .context = 1024, .pp = 36); /* even layers have the window */
    assert_int_equal(f.devices[0].kv_bytes, 2 * 8 * 64 * 2 * 128);
    assert_int_equal(f.devices[1].kv_bytes, 2 * 8 * 64 * 2 * 1024);
}

static void layer_split(void **state)
{
    (void)state;
    mc_floor f = LLAMA(gpt_oss, .context = 1024, .gpu_layers_given = true, .gpu_layers = 3); /* the output, layers 35 (full) and 34 (window) */
    assert_int_equal(f.n_devices, 2);
    assert_string_equal(f.devices[1].name, "host");
    assert_int_equal(f.devices[0].kv_bytes, 2 * 8 * 64 * 2 * (1024 + 768));
    assert_int_equal(f.devices[1].kv_bytes, 17 * 2 * 8 * 64 * 2 * (1024 + 768));
    f = LLAMA(gpt_oss, .context = 1024, .gpu_layers_given = true, .gpu_layers = 0);
    assert_int_equal(f.devices[0].kv_bytes, 0);
    assert_int_equal(f.devices[1].kv_bytes, f.kv_bytes);
    f = LLAMA(llama8b, .context = 1024, .pp = 3, .gpu_layers_given = true, .gpu_layers = UINT64_MAX); /* 33 with the output */
    assert_int_equal(f.n_devices, 4);
    assert_int_equal(f.devices[0].kv_bytes, 11 * 4096 * 1024);
    assert_int_equal(f.devices[2].kv_bytes, 10 * 4096 * 1024);
    assert_int_equal(f.devices[3].kv_bytes, 0);
}

/* Products that leave 64 bits are said, never wrapped. */
static void beyond_64_bits(void **state)
{
    static const char *const engines[] = { "generic", "llama.cpp", "vllm", "sglang", "transformers" };
    const char *const models[] = { llama8b, gemma31b, qwen27b, kimi, deepseek4, deepseek32 };
    (void)state;
    for (size_t e = 0; e < MC_COUNT(engines); e++)
        for (size_t i = 0; i < MC_COUNT(models); i++) {
            mc_floor f = FLOOR(models[i], .engine = engines[e], .context = UINT64_MAX - 5, .sequences = UINT64_MAX / 3, .tp = 3, .pp = 5);
            assert_int_equal(f.cache, MC_CACHE_NOT_COMPUTED);
            assert_true(f.overflow);
            assert_int_equal(f.kv_bytes, 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llama_pads_the_context), cmocka_unit_test(llama_streams),      cmocka_unit_test(llama_windows), cmocka_unit_test(llama_without_flash_attention),
        cmocka_unit_test(llama_refuses),          cmocka_unit_test(llama_latents_and_states), cmocka_unit_test(vllm_blocks), cmocka_unit_test(vllm_windows),
        cmocka_unit_test(vllm_groups),            cmocka_unit_test(vllm_hybrids),       cmocka_unit_test(rows_with_scales), cmocka_unit_test(sglang_rows),
        cmocka_unit_test(transformers_rows),      cmocka_unit_test(ranks),              cmocka_unit_test(pipeline),      cmocka_unit_test(layer_split),
        cmocka_unit_test(beyond_64_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
