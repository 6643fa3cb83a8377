/* What a configuration implies: names of keys, nesting, class defaults, and values that say nothing. */
#include "model_of.h"

#include <inttypes.h>
#include <stdio.h>

/* One fact of one configuration; want < 0: not known. `where` may be NULL. */
typedef struct { const char *json; size_t fact; int64_t want; const char *where; } row;
#define F(member) offsetof(mc_arch, member)

static void check(const row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fixture         f;
        const mc_model *m = model_of(&f, MC_ROLE_CONFIG, rows[i].json);
        const mc_int   *fact = (const mc_int *)(const void *)((const char *)&m->arch + rows[i].fact);
        if (fact->known != (rows[i].want >= 0) || (fact->known && fact->v != rows[i].want))
            fail_msg("%s\n  gives %lld (%s), not %lld", rows[i].json, (long long)fact->v, fact->known ? "known" : "unknown", (long long)rows[i].want);
        if (rows[i].where)
            assert_str(fact->from.where, rows[i].where);
        fixture_free(&f);
    }
}

static void names(void **state)
{
    static const row rows[] = {
        { "{\"model_type\":\"gpt2\",\"n_layer\":24,\"n_head\":16,\"n_embd\":1024,\"n_positions\":512}", F(layers), 24, "/n_layer" },
        { "{\"model_type\":\"gpt2\",\"n_layer\":24,\"n_head\":16,\"n_embd\":1024,\"n_positions\":512}", F(kv_heads), 16, "/n_head" },
        { "{\"model_type\":\"gpt2\",\"n_layer\":24,\"n_head\":16,\"n_embd\":1024,\"n_positions\":512}", F(context), 512, "/n_positions" },
        { "{\"model_type\":\"bloom\",\"n_layer\":70,\"num_attention_heads\":112,\"n_embed\":14336}", F(head_dim), 128, NULL },
        { "{\"model_type\":\"dbrx\",\"attn_config\":{\"kv_n_heads\":8},\"n_heads\":48,\"d_model\":6144}", F(kv_heads), 8, "/attn_config/kv_n_heads" },
        { "{\"model_type\":\"chatglm\",\"num_attention_heads\":32,\"multi_query_attention\":true,\"multi_query_group_num\":2}", F(kv_heads), 2, NULL },
        { "{\"model_type\":\"chatglm\",\"num_attention_heads\":32,\"multi_query_attention\":false,\"multi_query_group_num\":2}", F(kv_heads), 32, NULL },
        { "{\"model_type\":\"t5\",\"d_model\":512,\"num_heads\":6,\"d_kv\":64}", F(head_dim), 64, "/d_kv" },
        { "{\"model_type\":\"bart\",\"encoder_layers\":12,\"decoder_layers\":6}", F(layers), 6, "/decoder_layers" },
        { "{\"model_type\":\"xglm\",\"attention_heads\":16,\"num_layers\":24}", F(heads), 16, "/attention_heads" },
        { "{\"model_type\":\"qwen2_moe\",\"num_experts\":60,\"num_experts_per_tok\":4}", F(experts), 60, NULL },
        { "{\"model_type\":\"nemotron_h\",\"layers_block_type\":[\"mamba\",\"moe\",\"attention\"]}", F(layers), 3, "/layers_block_type" },
        { "{\"model_type\":\"nemotron_h\",\"num_hidden_layers\":9,\"hybrid_override_pattern\":\"M-M*\"}", F(layers), 4, NULL },
        { "{\"model_type\":\"deepseek_v3\",\"num_nextn_predict_layers\":0}", F(mtp_layers), 0, NULL },
        { "{\"model_type\":\"deepseek_v3\"}", F(mtp_layers), -1, NULL },
    };
    (void)state;
    check(rows, MC_COUNT(rows));
}

static void class_defaults(void **state)
{
    static const row rows[] = {
        { "{\"model_type\":\"llama\"}", F(layers), 32, "default of llama" },
        { "{\"model_type\":\"qwen3\",\"hidden_size\":1024,\"num_attention_heads\":16}", F(head_dim), 128, "default of qwen3" },
        { "{\"model_type\":\"mistral\"}", F(sliding_window), 4096, "default of mistral" },
        { "{\"model_type\":\"mistral\",\"sliding_window\":null}", F(sliding_window), -1, NULL },
        { "{\"model_type\":\"mistral\",\"num_attention_heads\":32,\"num_key_value_heads\":null}", F(kv_heads), 32, NULL },
        { "{\"model_type\":\"mistral\",\"num_attention_heads\":32}", F(kv_heads), 8, "default of mistral" },
        { "{\"model_type\":\"llama\",\"hidden_size\":6656,\"num_attention_heads\":52,\"head_dim\":null}", F(head_dim), 128, NULL },
        { "{\"model_type\":\"llama\",\"hidden_size\":100,\"num_attention_heads\":3}", F(head_dim), -1, NULL },
        /* of a type outside the tables nothing is taken for granted */
        { "{\"model_type\":\"tinynet\",\"hidden_size\":128,\"num_attention_heads\":4}", F(kv_heads), -1, NULL },
        { "{\"model_type\":\"tinynet\",\"hidden_size\":128,\"num_attention_heads\":4}", F(head_dim), -1, NULL },
        { "{\"model_type\":\"tinynet\"}", F(layers), -1, NULL },
        /* latent attention has no one head width */
        { "{\"model_type\":\"deepseek_v3\",\"head_dim\":64}", F(head_dim), -1, NULL },
        /* falcon-7b and falcon-180b */
        { "{\"model_type\":\"falcon\",\"num_attention_heads\":71,\"hidden_size\":4544,\"multi_query\":true}", F(kv_heads), 1, "/multi_query" },
        { "{\"model_type\":\"falcon\",\"num_attention_heads\":232,\"num_kv_heads\":8,\"new_decoder_architecture\":true}", F(kv_heads), 8, NULL },
        { "{\"model_type\":\"gpt_bigcode\",\"n_head\":48}", F(kv_heads), 1, NULL },
    };
    (void)state;
    check(rows, MC_COUNT(rows));
}

static void nesting(void **state)
{
    static const row rows[] = {
        { "{\"model_type\":\"qwen3_vl\",\"text_config\":{\"num_hidden_layers\":28}}", F(layers), 28, "/text_config/num_hidden_layers" },
        { "{\"model_type\":\"internvl_chat\",\"llm_config\":{\"model_type\":\"qwen2\",\"num_hidden_layers\":24}}", F(layers), 24, "/llm_config/num_hidden_layers" },
        { "{\"model_type\":\"qwen2_5_omni\",\"thinker_config\":{\"model_type\":\"qwen2_5_omni_thinker\",\"text_config\":{\"num_hidden_layers\":36}}}", F(layers), 36,
          "/thinker_config/text_config/num_hidden_layers" },
        /* gemma-3-4b leaves heads out; the class of the block is fixed, whatever it calls itself */
        { "{\"model_type\":\"gemma3\",\"text_config\":{\"model_type\":\"llama\",\"num_hidden_layers\":34}}", F(kv_heads), 4, "default of gemma3_text" },
        { "{\"model_type\":\"gemma3\",\"text_config\":{\"num_hidden_layers\":34}}", F(head_dim), 256, NULL },
        /* llava: by the block's own type, llama when it has none */
        { "{\"model_type\":\"llava\",\"text_config\":{\"model_type\":\"mistral\"}}", F(kv_heads), 8, "default of mistral" },
        { "{\"model_type\":\"llava\",\"text_config\":{\"num_attention_heads\":40}}", F(kv_heads), 40, NULL },
        /* older qwen2_vl files have the keys at the top */
        { "{\"model_type\":\"qwen2_vl\",\"num_hidden_layers\":28,\"vision_config\":{}}", F(layers), 28, "/num_hidden_layers" },
        /* the whole block left out */
        { "{\"model_type\":\"mistral3\"}", F(layers), 40, "default of mistral" },
        { "{\"model_type\":\"gemma3\"}", F(layers), 26, "default of gemma3_text" },
        { "{\"model_type\":\"qwen3_vl\",\"text_config\":[28]}", F(layers), 32, NULL },
    };
    (void)state;
    check(rows, MC_COUNT(rows));
}

static void values_that_say_nothing(void **state)
{
    static const char *const values[] = {
        "0", "-1", "32.0", "3.5", "1e300", "\"32\"", "[32]", "{\"a\":32}", "true", "99999999999999999999999", "9223372036854775807", "NaN", "Infinity",
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(values); i++) {
        fixture  f;
        mc_arena a = arena_new();
        mc_str   json = mc_format(&a, "{\"model_type\":\"llama\",\"num_hidden_layers\":%s,\"num_attention_heads\":%s,\"num_key_value_heads\":%s,"
                                      "\"hidden_size\":%s,\"head_dim\":%s,\"max_position_embeddings\":%s,\"vocab_size\":%s,\"sliding_window\":%s}",
                                values[i], values[i], values[i], values[i], values[i], values[i], values[i], values[i]);
        const mc_arch *x = &model_of(&f, MC_ROLE_CONFIG, json.p)->arch;
        if (x->layers.known || x->heads.known || x->kv_heads.known || x->hidden.known || x->head_dim.known || x->context.known || x->vocab.known || x->sliding_window.known)
            fail_msg("%s was taken for a number", values[i]);
        fixture_free(&f);
        mc_arena_free(&a);
    }
}

static void shapes_of_documents(void **state)
{
    static const char *const texts[] = {
        "[]", "null", "3", "\"x\"", "{}", "{\"model_type\":5}", "{\"architectures\":\"LlamaForCausalLM\"}", "{\"architectures\":[3]}",
        "{\"text_config\":{\"text_config\":{\"text_config\":{\"text_config\":{\"text_config\":{\"text_config\":{}}}}}}}",
        "{\"model_type\":\"llama\",\"text_config\":null}", "{\"layer_types\":{},\"hybrid_override_pattern\":7,\"tie_word_embeddings\":\"yes\",\"dtype\":{\"a\":1}}",
        "{\"model_type\":\"falcon\",\"multi_query\":3,\"new_decoder_architecture\":\"no\"}", "{\"model_type\":\"gemma3\",\"text_config\":{\"model_type\":null}}",
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(texts); i++) {
        fixture      f;
        mc_floor_ask ask = { 0 };
        mc_floor     out;
        mc_model    *m = model_of(&f, MC_ROLE_CONFIG, texts[i]);
        mc_infer(m, &f.kb);
        mc_floor_compute(m, &f.kb, &ask, &f.arena, &out);
        assert_true(out.cache == MC_CACHE_COMPUTED || out.cache_reason.n > 0);
        fixture_free(&f);
    }
}

static void ties(void **state)
{
    static const struct { const char *json; int tie, stated_false; } rows[] = { /* tie: -1 not known */
        { "{\"model_type\":\"llama\"}", 0, 0 },
        { "{\"model_type\":\"gemma2\"}", 1, 0 },
        { "{\"model_type\":\"tinynet\"}", -1, 0 },
        { "{\"model_type\":\"llama\",\"tie_word_embeddings\":true}", 1, 0 },
        { "{\"model_type\":\"qwen3_vl\",\"tie_word_embeddings\":false,\"text_config\":{\"tie_word_embeddings\":true}}", 1, 1 },
        { "{\"model_type\":\"qwen3_vl\",\"text_config\":{\"tie_word_embeddings\":false}}", 0, 1 },
        { "{\"model_type\":\"x\",\"thinker_config\":{\"tie_word_embeddings\":true,\"text_config\":{}}}", 1, 0 },
        { "{\"model_type\":\"vision-encoder-decoder\",\"decoder\":{\"tie_word_embeddings\":true}}", 1, 0 },
        { "{\"model_type\":\"llama\",\"tie_word_embeddings\":\"true\"}", 0, 0 },
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        fixture        f;
        const mc_arch *a = &model_of(&f, MC_ROLE_CONFIG, rows[i].json)->arch;
        if ((a->tie.known ? (int)a->tie.v : -1) != rows[i].tie || (int)a->tie_false.known != rows[i].stated_false)
            fail_msg("%s", rows[i].json);
        fixture_free(&f);
    }
}

static void texts(void **state)
{
    fixture        f;
    const mc_arch *a = &model_of(&f, MC_ROLE_CONFIG, "{\"architectures\":[\"Qwen3VLForConditionalGeneration\"],\"model_type\":\"qwen3_vl\","
                                                     "\"text_config\":{\"dtype\":\"torch.bfloat16\"}}")->arch;
    (void)state;
    assert_str(a->name.v, "Qwen3VLForConditionalGeneration");
    assert_str(a->model_type.v, "qwen3_vl_text");
    assert_str(a->text_at, "/text_config");
    assert_str(a->dtype.v, "bfloat16");
    assert_str(a->dtype.from.where, "/text_config/dtype");
    fixture_free(&f);
    a = &model_of(&f, MC_ROLE_CONFIG, "{\"torch_dtype\":\"float16\",\"text_config\":{\"torch_dtype\":\"float32\"}}")->arch;
    assert_str(a->dtype.v, "float16");
    fixture_free(&f);
}

static void params_json(void **state)
{
    fixture        f;
    const mc_arch *a = &model_of(&f, MC_ROLE_PARAMS, "{\"dim\":5120,\"n_layers\":40,\"head_dim\":128,\"hidden_dim\":32768,\"n_heads\":32,\"n_kv_heads\":8,"
                                                     "\"vocab_size\":131072,\"moe\":{\"num_experts\":8}}")->arch;
    (void)state;
    assert_int_equal(a->layers.v, 40);
    assert_int_equal(a->hidden.v, 5120);
    assert_int_equal(a->kv_heads.v, 8);
    assert_int_equal(a->head_dim.v, 128);
    assert_int_equal(a->intermediate.v, 32768);
    assert_int_equal(a->experts.v, 8);
    assert_false(a->model_type.known);
    fixture_free(&f);
    a = &model_of(&f, MC_ROLE_PARAMS, "{\"dim\":4096,\"n_layers\":32,\"n_heads\":32,\"vocab_size\":-1}")->arch;
    assert_false(a->vocab.known);
    assert_int_equal(a->kv_heads.v, 32);
    assert_int_equal(a->head_dim.v, 128);
    fixture_free(&f);
}

/* Parameters by dimensions, against the totals that the models were published with. */
static void parameters_of_dimensions(void **state)
{
    static const struct { const char *type, *architecture; int64_t v[6]; const char *more; int64_t parameters; } rows[] = {
        { "gemma2", "Gemma2ForCausalLM", { 26, 2304, 9216, 8, 4, 256000 }, ",\"head_dim\":256", INT64_C(2614341888) },
        { "cohere", "CohereForCausalLM", { 40, 8192, 22528, 64, 64, 256000 }, ",\"use_qk_norm\":false", INT64_C(34980831232) },
        { "starcoder2", "Starcoder2ForCausalLM", { 30, 3072, 12288, 24, 2, 49152 }, ",\"use_bias\":true", INT64_C(3030371328) },
        { "stablelm", "StableLmForCausalLM", { 24, 2048, 5632, 32, 32, 100352 }, ",\"use_qkv_bias\":true,\"tie_word_embeddings\":false", INT64_C(1644515328) },
        { "olmo2", "Olmo2ForCausalLM", { 32, 4096, 11008, 32, 32, 100352 }, ",\"tie_word_embeddings\":false", INT64_C(7298617344) },
        { "smollm3", "SmolLM3ForCausalLM", { 36, 2048, 11008, 16, 4, 128256 }, "", INT64_C(3075098624) },
        { "granite", "GraniteForCausalLM", { 40, 2048, 8192, 32, 8, 49155 }, ",\"tie_word_embeddings\":true", INT64_C(2533531648) },
        { "mistral", "MistralForCausalLM", { 32, 4096, 14336, 32, 8, 32000 }, "", INT64_C(7241732096) },
        { "cohere", "CohereForCausalLM", { 64, 12288, 33792, 96, 8, 256000 }, ",\"use_qk_norm\":true", INT64_C(103810674688) },
        { "llama", "LlamaForCausalLM", { 32, 4096, 14336, 32, 8, 128256 }, "", INT64_C(8030261248) },
        { "qwen2", "Qwen2ForCausalLM", { 24, 896, 4864, 14, 2, 151936 }, ",\"tie_word_embeddings\":true", 494032768 },
        { "qwen3", "Qwen3ForCausalLM", { 28, 1024, 3072, 16, 8, 151936 }, ",\"head_dim\":128,\"tie_word_embeddings\":true", 596049920 },
        { "gemma", "GemmaForCausalLM", { 18, 2048, 16384, 8, 1, 256000 }, ",\"head_dim\":256", INT64_C(2506172416) },
        { "phi3", "Phi3ForCausalLM", { 32, 3072, 8192, 32, 32, 32064 }, "", INT64_C(3821079552) },
        { "llama", "LlamaForSequenceClassification", { 32, 4096, 14336, 32, 8, 128256 }, "", -1 },   /* another head */
        { "deepseek_v3", "DeepseekV3ForCausalLM", { 61, 7168, 18432, 128, 128, 129280 }, "", -1 },   /* not in the table */
        { "llama", "LlamaForCausalLM", { 32, 4096, -14336, 32, 8, 128256 }, "", -1 },
        { "llama", "LlamaForCausalLM", { 10000, 16777216, 67108864, 65536, 65536, 4294967296 }, ",\"head_dim\":65536", -1 }, /* beyond 63 bits */
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        fixture        f;
        char           json[512];
        const int64_t *v = rows[i].v;
        snprintf(json, sizeof json,
                 "{\"model_type\":\"%s\",\"architectures\":[\"%s\"],\"num_hidden_layers\":%" PRId64 ",\"hidden_size\":%" PRId64 ",\"intermediate_size\":%" PRId64
                 ",\"num_attention_heads\":%" PRId64 ",\"num_key_value_heads\":%" PRId64 ",\"vocab_size\":%" PRId64 "%s}",
                 rows[i].type, rows[i].architecture, v[0], v[1], v[2], v[3], v[4], v[5], rows[i].more);
        const mc_model *m = model_of(&f, MC_ROLE_CONFIG, json);
        if ((m->expected.known ? m->expected.v : -1) != rows[i].parameters)
            fail_msg("%s: %" PRId64 ", wants %" PRId64, json, m->expected.v, rows[i].parameters);
        fixture_free(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),   cmocka_unit_test(class_defaults), cmocka_unit_test(nesting), cmocka_unit_test(values_that_say_nothing),
        cmocka_unit_test(shapes_of_documents), cmocka_unit_test(ties), cmocka_unit_test(texts), cmocka_unit_test(params_json), cmocka_unit_test(parameters_of_dimensions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
