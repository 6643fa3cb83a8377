/* The memory floor: published figures, cache types, shapes that are not computed, weights, and arithmetic at its limits.
 * Figures: bytes per token of the configurations as published by their makers; sizes that llama.cpp build 11549 printed. */
#include "model_of.h"

static mc_floor floor_of(fixture *f, mc_floor_ask ask)
{
    mc_floor out;
    mc_floor_compute(&f->model, &f->kb, &ask, &f->arena, &out);
    return out;
}

static void published_models(void **state)
{
    static const struct { const char *json; uint64_t per_token; } rows[] = {
        { "{\"model_type\":\"qwen3\",\"num_hidden_layers\":28,\"num_attention_heads\":16,\"num_key_value_heads\":8,\"head_dim\":128,\"hidden_size\":1024}", 114688 },
        { "{\"model_type\":\"qwen3\",\"num_hidden_layers\":36,\"num_attention_heads\":32,\"num_key_value_heads\":8,\"head_dim\":128,\"hidden_size\":4096}", 147456 },
        { "{\"model_type\":\"qwen3_moe\",\"num_hidden_layers\":48,\"num_attention_heads\":32,\"num_key_value_heads\":4,\"head_dim\":128,\"hidden_size\":2048}", 98304 },
        { "{\"model_type\":\"llama\",\"num_hidden_layers\":32,\"num_attention_heads\":32,\"num_key_value_heads\":8,\"hidden_size\":4096}", 131072 },
        { "{\"model_type\":\"llama\",\"num_hidden_layers\":126,\"num_attention_heads\":128,\"num_key_value_heads\":8,\"hidden_size\":16384}", 516096 },
        { "{\"model_type\":\"bloom\",\"n_layer\":70,\"num_attention_heads\":112,\"n_embed\":14336}", 4014080 },
        { "{\"model_type\":\"falcon\",\"num_hidden_layers\":80,\"num_attention_heads\":232,\"num_kv_heads\":8,\"hidden_size\":14848,\"new_decoder_architecture\":true}", 163840 },
        { "{\"model_type\":\"gemma\",\"num_hidden_layers\":18,\"num_attention_heads\":8,\"num_key_value_heads\":1,\"head_dim\":256,\"hidden_size\":2048}", 18432 },
        { "{\"model_type\":\"mistral\",\"num_hidden_layers\":40,\"num_attention_heads\":32,\"num_key_value_heads\":8,\"head_dim\":128,\"sliding_window\":null}", 163840 },
        { "{\"model_type\":\"glm4\",\"num_hidden_layers\":61,\"num_attention_heads\":48,\"num_key_value_heads\":2,\"head_dim\":128,\"hidden_size\":6144}", 62464 },
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        fixture f;
        model_of(&f, MC_ROLE_CONFIG, rows[i].json);
        mc_floor out = floor_of(&f, (mc_floor_ask){ .context = 32768, .sequences = 3 });
        if (out.cache != MC_CACHE_COMPUTED || out.kv_bytes_per_token != rows[i].per_token || out.kv_bytes != rows[i].per_token * 32768 * 3)
            fail_msg("%s\n  gives %llu a token (%.*s), not %llu", rows[i].json, (unsigned long long)out.kv_bytes_per_token, MC_FMT(out.cache_reason),
                     (unsigned long long)rows[i].per_token);
        assert_int_equal(out.n_caches, 1);
        assert_int_equal(out.caches[0].k_bytes + out.caches[0].v_bytes, out.kv_bytes);
        assert_int_equal(out.floor_bytes, out.kv_bytes);
        fixture_free(&f);
    }
}

static void terms_name_their_origin(void **state)
{
    fixture f;
    (void)state;
    model_of(&f, MC_ROLE_CONFIG, "{\"model_type\":\"llama\",\"num_hidden_layers\":32,\"num_attention_heads\":32,\"num_key_value_heads\":8,\"head_dim\":128,"
                                 "\"max_position_embeddings\":131072,\"torch_dtype\":\"bfloat16\"}");
    mc_floor out = floor_of(&f, (mc_floor_ask){ 0 });
    assert_int_equal(out.context, 8192);
    assert_str(out.kv_dtype_k, "bf16");
    assert_int_equal(out.n_terms, 1);
    assert_str(out.terms[0].formula, "2*32*8*128*2*8192*1");
    assert_str(out.terms[0].from[0], "config.json#/num_hidden_layers");
    assert_str(out.terms[0].from[1], "config.json#/num_key_value_heads");
    assert_str(out.terms[0].from[2], "config.json#/head_dim");
    assert_int_equal(out.kv_bytes, UINT64_C(1073741824));
    out = floor_of(&f, (mc_floor_ask){ .kv_k = "q8_0", .kv_v = "q4_0", .context = 100, .sequences = 2 });
    assert_str(out.terms[0].formula, "32*8*(128*34/32+128*18/32)*100*2");
    assert_int_equal(out.kv_bytes, UINT64_C(32) * 8 * (136 + 72) * 100 * 2);
    fixture_free(&f);
    model_of(&f, MC_ROLE_CONFIG, "{\"model_type\":\"llama\",\"max_position_embeddings\":2048}"); /* layers are the default of the class: a remark */
    assert_int_equal(floor_of(&f, (mc_floor_ask){ 0 }).context, 2048);
    assert_int_equal(floor_of(&f, (mc_floor_ask){ .context = 4096 }).context, 4096); /* as given, with a remark */
    assert_int_equal(floor_of(&f, (mc_floor_ask){ .context = 4096 }).n_assumptions, floor_of(&f, (mc_floor_ask){ .context = 2048 }).n_assumptions + 1);
    fixture_free(&f);
}

static void cache_types(void **state)
{
    static const struct { const char *name; uint32_t block, bytes; } types[] = {
        { "f32", 1, 4 }, { "f16", 1, 2 }, { "bf16", 1, 2 }, { "fp8", 1, 1 }, { "q8_0", 32, 34 }, { "q5_1", 32, 24 }, { "q5_0", 32, 22 },
        { "q4_1", 32, 20 }, { "q4_0", 32, 18 }, { "iq4_nl", 32, 18 },
    };
    uint32_t block, bytes;
    fixture  f;
    (void)state;
    for (size_t i = 0; i < MC_COUNT(types); i++) {
        assert_true(mc_kv_type(S(types[i].name), &block, &bytes));
        assert_int_equal(block, types[i].block);
        assert_int_equal(bytes, types[i].bytes);
    }
    assert_false(mc_kv_type(S("q9"), &block, &bytes));
    assert_false(mc_kv_type(S(""), &block, &bytes));
    /* Phi-2: heads of 80 are no whole number of blocks */
    model_of(&f, MC_ROLE_CONFIG, "{\"model_type\":\"phi\",\"num_hidden_layers\":32,\"num_attention_heads\":32,\"hidden_size\":2560}");
    mc_floor out = floor_of(&f, (mc_floor_ask){ .kv_k = "q8_0" });
    assert_int_equal(out.cache, MC_CACHE_NOT_COMPUTED);
    assert_int_equal(out.kv_bytes, 0);
    assert_int_equal(floor_of(&f, (mc_floor_ask){ .kv_k = "f16" }).cache, MC_CACHE_COMPUTED);
    fixture_free(&f);
}

/* Shapes that are left out, and the bound that is given in their place (0: none). */
static void other_shapes(void **state)
{
    static const struct { const char *json, *reason; uint64_t bound; } rows[] = {
        { "{\"model_type\":\"llama\",\"kv_lora_rank\":512}", "multi-head latent attention (kv_lora_rank) in a class that is not known to have it", 0 },
        { "{\"model_type\":\"llama\",\"num_key_value_heads\":[8,4]}", "the configuration does not give the number of key/value heads", 0 },
        { "{\"model_type\":\"llama\",\"sliding_window\":4096,\"max_position_embeddings\":8192}", "sliding_window is set for a class that is not known to read it", 131072 * 4 },
        { "{\"model_type\":\"zaya\"}", "attention with a convolution state", 0 },
        { "{\"model_type\":\"llama\",\"num_hidden_layers\":32,\"layer_types\":[\"full_attention\"]}", "layer_types has 1 entries for 32 layers", 32 * 32 * 128 * 4 },
        { "{\"model_type\":\"tinynet\",\"num_hidden_layers\":2,\"num_attention_heads\":4,\"hidden_size\":128}", "model_type tinynet is not known to this version", 2 * 128 * 4 },
        { "{\"num_hidden_layers\":2}", "the configuration names no model_type", 0 },
        { "{\"model_type\":\"llama\",\"num_hidden_layers\":\"32\"}", "the configuration does not give the number of layers", 0 },
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        fixture f;
        model_of(&f, MC_ROLE_CONFIG, rows[i].json);
        mc_floor out = floor_of(&f, (mc_floor_ask){ .context = 8192 });
        if (out.cache != MC_CACHE_NOT_COMPUTED || !mc_str_is(out.cache_reason, rows[i].reason) || out.kv_bytes || (out.bound_known ? out.upper_bound_per_token : 0) != rows[i].bound)
            fail_msg("%s\n  gives \"%.*s\", bound %llu", rows[i].json, MC_FMT(out.cache_reason), (unsigned long long)(out.bound_known ? out.upper_bound_per_token : 0));
        fixture_free(&f);
    }
}

/* Look-alikes that are plain after all. */
static void plain_after_all(void **state)
{
    static const char *const texts[] = {
        "{\"model_type\":\"qwen2\",\"use_sliding_window\":false,\"sliding_window\":4096,\"max_window_layers\":21}",
        "{\"model_type\":\"qwen2\",\"use_sliding_window\":true,\"sliding_window\":131072,\"max_window_layers\":21}",
        "{\"model_type\":\"qwen2\",\"use_sliding_window\":true,\"sliding_window\":4096,\"max_window_layers\":32}",
        "{\"model_type\":\"mistral\",\"sliding_window\":null}",
        "{\"model_type\":\"mixtral\"}",
        "{\"model_type\":\"phi3\",\"sliding_window\":262144}",
        "{\"model_type\":\"llama\",\"sliding_window\":null,\"per_layer_config\":{},\"kv_lora_rank\":null}",
        "{\"model_type\":\"gemma3\",\"text_config\":{\"num_hidden_layers\":2,\"layer_types\":[\"full_attention\",\"full_attention\"]}}",
        "{\"model_type\":\"qwen2_vl\",\"text_config\":{\"num_hidden_layers\":28}}",
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(texts); i++) {
        fixture f;
        model_of(&f, MC_ROLE_CONFIG, texts[i]);
        mc_floor out = floor_of(&f, (mc_floor_ask){ .context = 8192 });
        if (out.cache != MC_CACHE_COMPUTED)
            fail_msg("%s\n  is not computed: %.*s", texts[i], MC_FMT(out.cache_reason));
        fixture_free(&f);
    }
}

static void no_cache(void **state)
{
    fixture f;
    (void)state;
    model_of(&f, MC_ROLE_CONFIG, "{\"model_type\":\"bert\"}");
    assert_int_equal(floor_of(&f, (mc_floor_ask){ 0 }).cache, MC_CACHE_NONE);
    f.model.kind = MC_KIND_ADAPTER;
    assert_int_equal(floor_of(&f, (mc_floor_ask){ 0 }).cache, MC_CACHE_NONE);
    fixture_free(&f);
    model_of(&f, MC_ROLE_CONFIG, "{\"model_type\":\"bert\",\"is_decoder\":true}");
    assert_int_equal(floor_of(&f, (mc_floor_ask){ 0 }).cache, MC_CACHE_NOT_COMPUTED);
    fixture_free(&f);
}

static void gguf_keys(void **state)
{
    mc_gguf_kv kv[] = {
        gguf_text("general.architecture", "llama"), gguf_u32("llama.block_count", 32),          gguf_u32("llama.context_length", 131072),
        gguf_u32("llama.embedding_length", 4096),   gguf_u32("llama.attention.head_count", 32), gguf_u32("llama.attention.head_count_kv", 8),
    };
    fixture f;
    (void)state;
    model_of_keys(&f, kv, MC_COUNT(kv));
    mc_floor out = floor_of(&f, (mc_floor_ask){ .context = 5120, .kv_k = "f16" });
    assert_int_equal(out.cache, MC_CACHE_COMPUTED);
    assert_int_equal(out.kv_bytes, UINT64_C(640) << 20); /* printed as K 320.00 + V 320.00 MiB */
    assert_str(out.terms[0].from[0], "model.gguf#llama.block_count");
    f.gguf.n_kv++; /* a key was not reached: another head_count_kv may follow */
    assert_int_equal(floor_of(&f, (mc_floor_ask){ 0 }).cache, MC_CACHE_NOT_COMPUTED);
    fixture_free(&f);
}

static void gguf_layers_that_differ(void **state)
{
    static const uint32_t heads[] = { 8, 0, 4, 0, 2 };
    mc_gguf_kv kv[] = {
        gguf_text("general.architecture", "deci"), gguf_u32("deci.block_count", 5), gguf_u32("deci.embedding_length", 1024),
        gguf_u32("deci.attention.head_count", 8),  gguf_list("deci.attention.head_count_kv", heads, 5), gguf_u32("deci.nextn_predict_layers", 1),
    };
    fixture f;
    (void)state;
    model_of_keys(&f, kv, MC_COUNT(kv));
    mc_floor out = floor_of(&f, (mc_floor_ask){ .context = 100 });
    assert_int_equal(out.cache, MC_CACHE_COMPUTED);
    assert_int_equal(out.kv_bytes, 12 * 128 * 2 * 2 * 100); /* the prediction layer has no cache */
    assert_int_equal(out.n_caches, 1);
    assert_str(out.terms[0].formula, "2*1*8*128*2*100*1 + 2*1*4*128*2*100*1");
    fixture_free(&f);
    kv[4].n = 2; /* fewer entries than layers */
    model_of_keys(&f, kv, MC_COUNT(kv));
    assert_int_equal(floor_of(&f, (mc_floor_ask){ 0 }).cache, MC_CACHE_NOT_COMPUTED);
    fixture_free(&f);
}

static void gguf_other_shapes(void **state)
{
    static const struct { const char *arch; int cache; } rows[] = {
        { "gemma3", MC_CACHE_NOT_COMPUTED }, { "gpt-oss", MC_CACHE_NOT_COMPUTED }, { "deepseek2", MC_CACHE_NOT_COMPUTED }, { "qwen35", MC_CACHE_NOT_COMPUTED },
        { "mamba", MC_CACHE_NOT_COMPUTED },  { "bert", MC_CACHE_NONE },            { "llada", MC_CACHE_NONE },              { "clip", MC_CACHE_NONE },
        { "tinynet", MC_CACHE_NOT_COMPUTED },
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        mc_gguf_kv kv[] = { gguf_text("general.architecture", rows[i].arch) };
        fixture    f;
        model_of_keys(&f, kv, 1);
        mc_floor out = floor_of(&f, (mc_floor_ask){ 0 });
        if ((int)out.cache != rows[i].cache || out.cache_reason.n == 0)
            fail_msg("%s: %.*s", rows[i].arch, MC_FMT(out.cache_reason));
        fixture_free(&f);
    }
}

static void tied_head_counts_once(void **state)
{
    fixture   f;
    mc_tensor embed = { .name = S("model.embed_tokens.weight"), .end = 1000 }, head = { .name = S("lm_head.weight"), .begin = 1000, .end = 2000 };
    (void)state;
    model_of(&f, MC_ROLE_CONFIG, "{\"model_type\":\"llama\",\"tie_word_embeddings\":true}");
    f.model.weights_bytes = (mc_int){ true, 5000, { 0 } };
    assert_int_equal(floor_of(&f, (mc_floor_ask){ 0 }).weights_bytes, 5000);
    f.model.heads.embed = &embed;
    f.model.heads.head = &head;
    mc_floor out = floor_of(&f, (mc_floor_ask){ .context = 1 });
    assert_int_equal(out.weights_bytes, 4000);
    assert_str(out.terms[0].formula, "5000 - 1000");
    assert_int_equal(out.floor_bytes, 4000 + out.kv_bytes);
    f.model.arch.tie.v = false;
    assert_int_equal(floor_of(&f, (mc_floor_ask){ 0 }).weights_bytes, 5000);
    fixture_free(&f);
}

static void overflow(void **state)
{
    fixture f;
    (void)state;
    model_of(&f, MC_ROLE_CONFIG, "{\"model_type\":\"llama\",\"num_hidden_layers\":10000,\"num_attention_heads\":65536,\"num_key_value_heads\":65536,\"head_dim\":65536}");
    mc_floor out = floor_of(&f, (mc_floor_ask){ .context = UINT64_MAX, .sequences = UINT64_MAX });
    assert_true(out.overflow);
    assert_int_equal(out.cache, MC_CACHE_NOT_COMPUTED);
    assert_int_equal(out.kv_bytes, 0);
    assert_int_equal(out.n_caches, 0);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_models), cmocka_unit_test(terms_name_their_origin), cmocka_unit_test(cache_types), cmocka_unit_test(other_shapes),
        cmocka_unit_test(plain_after_all),  cmocka_unit_test(no_cache), cmocka_unit_test(gguf_keys), cmocka_unit_test(gguf_layers_that_differ),
        cmocka_unit_test(gguf_other_shapes), cmocka_unit_test(tied_head_counts_once), cmocka_unit_test(overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
