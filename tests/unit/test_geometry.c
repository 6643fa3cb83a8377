/* What a configuration implies: names of keys, nesting, class defaults, and values that say nothing. */
#include "model_of.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),   cmocka_unit_test(class_defaults), cmocka_unit_test(nesting), cmocka_unit_test(values_that_say_nothing),
        cmocka_unit_test(shapes_of_documents), cmocka_unit_test(ties), cmocka_unit_test(texts), cmocka_unit_test(params_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
