/* The answers of the floor: verdicts and margins, the largest context and number of sequences, which part is the larger, levers,
 * halving, other precisions, estimates. Figures are worked out by hand from published configurations. */
#include "model_of.h"

#include "floor/answers.h"

#define GIB (UINT64_C(1) << 30)
/* 36 layers x 8 KV heads x 128: 147,456 bytes a token in 16 bits */
#define QWEN3_8B                                                                                                                              \
    "{\"model_type\":\"qwen3\",\"num_hidden_layers\":36,\"num_attention_heads\":32,\"num_key_value_heads\":8,\"head_dim\":128,\"hidden_size\":4096,"   \
    "\"torch_dtype\":\"bfloat16\",\"max_position_embeddings\":40960"
#define QWEN3_WEIGHTS UINT64_C(16381470720)

typedef struct { fixture f; mc_floor_ask ask; mc_floor floor; mc_question q; mc_answers a; } answered;

static void answer(answered *t, const char *json, uint64_t weights, mc_floor_ask ask, uint64_t vram)
{
    model_of(&t->f, MC_ROLE_CONFIG, json);
    t->f.model.weights_bytes = (mc_int){ .known = weights > 0, .v = (int64_t)weights };
    t->ask = ask;
    mc_floor_compute(&t->f.model, &t->f.kb, &t->ask, &t->f.arena, &t->floor);
    t->q = (mc_question){ .m = &t->f.model, .kb = &t->f.kb, .ask = &t->ask, .floor = &t->floor, .vram = vram };
    mc_answer(&t->q, false, &t->f.arena, &t->a);
}

static void verdicts(void **state)
{
    static const struct { const char *engine; uint64_t vram, margin; mc_fit fit; } rows[] = {
        { "generic", 16 * GIB, GIB + GIB * 6 / 10, MC_FIT_NO },        { "generic", 17 * GIB, 0, MC_FIT_TIGHT },
        { "generic", 24 * GIB, 24 * GIB / 10, MC_FIT_YES },            { "llama.cpp", 17 * GIB, GIB, MC_FIT_TIGHT },
        { "llama.cpp", 18 * GIB, GIB, MC_FIT_YES },                    { "vllm", 18 * GIB, 18 * GIB / 10, MC_FIT_TIGHT },
        { "sglang", 9 * GIB, GIB, MC_FIT_NO },
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        answered t;
        answer(&t, QWEN3_8B "}", QWEN3_WEIGHTS, (mc_floor_ask){ .context = 8192, .engine = rows[i].engine }, rows[i].vram);
        if (t.a.fit != rows[i].fit)
            fail_msg("%s on %llu: verdict %d, need %llu", rows[i].engine, (unsigned long long)rows[i].vram, (int)t.a.fit, (unsigned long long)mc_floor_need(&t.floor));
        if (rows[i].margin)
            assert_int_equal(t.a.margin, rows[i].margin);
        assert_int_equal(t.a.advice.n > 0, rows[i].fit == MC_FIT_NO);
        fixture_free(&t.f);
    }
}

/* Published: 22.5 GiB hold 190,272 tokens of 126,976 bytes (vLLM; the memory is printed to one decimal). */
static void largest_context(void **state)
{
    static const char json[] = "{\"model_type\":\"llama\",\"num_hidden_layers\":31,\"num_attention_heads\":32,\"num_key_value_heads\":8,\"head_dim\":128,\"hidden_size\":4096,"
                               "\"torch_dtype\":\"bfloat16\",\"max_position_embeddings\":1000000}";
    answered t;
    (void)state;
    answer(&t, json, 1, (mc_floor_ask){ .engine = "generic" }, 22 * GIB + GIB / 2 + 1);
    assert_int_equal(t.a.context.n, (22 * GIB + GIB / 2) / 126976);
    assert_false(t.a.context.by_model);
    fixture_free(&t.f);
    answer(&t, json, 1, (mc_floor_ask){ .engine = "sglang", .context = 100 }, GIB + 1);
    assert_int_equal(t.a.context.n, GIB / 126976 - 1); /* one row more than tokens */
    fixture_free(&t.f);
    answer(&t, QWEN3_8B "}", QWEN3_WEIGHTS, (mc_floor_ask){ .context = 8192 }, 80 * GIB);
    assert_int_equal(t.a.context.n, 40960);
    assert_true(t.a.context.known && t.a.context.by_model);
    assert_int_equal(t.a.sequences.n, (80 * GIB - QWEN3_WEIGHTS) / (8192 * UINT64_C(147456)));
    assert_int_equal(t.a.sequences.with_margin, (72 * GIB - QWEN3_WEIGHTS) / (8192 * UINT64_C(147456)));
    fixture_free(&t.f);
    answer(&t, QWEN3_8B "}", QWEN3_WEIGHTS, (mc_floor_ask){ .context = 8192 }, 8 * GIB); /* the weights alone are larger */
    assert_int_equal(t.a.context.n, 0);
    assert_int_equal(t.a.sequences.n, 0);
    assert_true(mc_str_starts(t.a.advice, "context and sequences cannot help"));
    fixture_free(&t.f);
}

/* Whatever an engine rounds: the answer fits, and one token more (to its next step) does not. */
static void searches_are_exact(void **state)
{
    static const char *const engines[] = { "generic", "llama.cpp", "vllm", "sglang", "transformers" };
    static const char *const models[] = {
        QWEN3_8B "}",
        "{\"model_type\":\"gpt_oss\",\"num_hidden_layers\":36,\"num_attention_heads\":64,\"num_key_value_heads\":8,\"head_dim\":64,\"sliding_window\":128}",
        "{\"model_type\":\"deepseek_v3\",\"num_hidden_layers\":61,\"kv_lora_rank\":512,\"qk_rope_head_dim\":64}",
        "{\"model_type\":\"qwen3_next\",\"num_hidden_layers\":48,\"num_attention_heads\":16,\"num_key_value_heads\":2,\"head_dim\":256,\"hidden_size\":2048,"
        "\"linear_num_key_heads\":16,\"linear_key_head_dim\":128,\"linear_num_value_heads\":32,\"linear_value_head_dim\":128,\"linear_conv_kernel_dim\":4}",
    };
    (void)state;
    for (size_t e = 0; e < MC_COUNT(engines); e++)
        for (size_t i = 0; i < MC_COUNT(models); i++)
            for (uint64_t s = 1; s <= 3; s += 2) {
                answered     t;
                mc_floor     f;
                answer(&t, models[i], 4 * GIB, (mc_floor_ask){ .engine = engines[e], .sequences = s, .context = 4000 }, 5 * GIB);
                if (t.floor.cache != MC_CACHE_COMPUTED)
                    fail_msg("%s %s: %.*s", engines[e], models[i], MC_FMT(t.floor.cache_reason));
                mc_floor_ask ask = t.ask;
                assert_true(t.a.context.known && t.a.sequences.known);
                ask.context = t.a.context.n;
                assert_true(ask.context == 0 || (mc_floor_at(&t.q, &ask, &f) && mc_floor_need(&f) <= 5 * GIB));
                ask.context++;
                assert_true(t.a.context.by_model || (mc_floor_at(&t.q, &ask, &f) && mc_floor_need(&f) > 5 * GIB));
                assert_true(t.a.context.with_margin <= t.a.context.n);
                ask.context = 4000;
                ask.sequences = t.a.sequences.n + 1;
                assert_true((strcmp(engines[e], "llama.cpp") == 0 && t.a.sequences.n == 256) || (mc_floor_at(&t.q, &ask, &f) && mc_floor_need(&f) > 5 * GIB));
                for (size_t k = 0; k < t.a.n_levers; k++)
                    assert_int_equal(t.a.levers[k].saves_bytes + t.a.levers[k].floor_bytes, mc_floor_need(&t.floor));
                fixture_free(&t.f);
            }
}

static void weights_or_cache(void **state)
{
    answered t;
    (void)state;
    answer(&t, QWEN3_8B "}", QWEN3_WEIGHTS, (mc_floor_ask){ .context = 8192 }, 0);
    assert_int_equal(t.a.larger, MC_LARGER_WEIGHTS);
    assert_int_equal(t.a.crossover, QWEN3_WEIGHTS / 147456); /* 111 thousand tokens */
    fixture_free(&t.f);
    answer(&t, QWEN3_8B "}", QWEN3_WEIGHTS, (mc_floor_ask){ .context = 40960, .sequences = 4 }, 0);
    assert_int_equal(t.a.larger, MC_LARGER_CACHE);
    assert_int_equal(t.a.crossover, QWEN3_WEIGHTS / 147456 / 4);
    fixture_free(&t.f);
    answer(&t, "{\"model_type\":\"mamba\",\"num_hidden_layers\":48,\"hidden_size\":2048,\"intermediate_size\":4096,\"state_size\":16,\"conv_kernel\":4}", GIB,
           (mc_floor_ask){ .context = 8192 }, 4 * GIB); /* a state never crosses, and no length of it is too much */
    assert_int_equal(t.a.larger, MC_LARGER_WEIGHTS);
    assert_false(t.a.crossover_known);
    assert_false(t.a.context.known);
    assert_true(t.a.sequences.known);
    assert_int_equal(t.a.halving_saves, 0);
    fixture_free(&t.f);
}

/* medgemma-27b: 10 full layers of 81,920 bytes a token together, 52 of a window of 1024. */
static void halving(void **state)
{
    answered t;
    (void)state;
    answer(&t, "{\"model_type\":\"gemma3_text\",\"num_hidden_layers\":62,\"num_attention_heads\":32,\"num_key_value_heads\":16,\"head_dim\":128,\"hidden_size\":5376,"
               "\"sliding_window\":1024}", GIB, (mc_floor_ask){ .context = 32768, .sequences = 2 }, 0);
    assert_true(t.a.halving_known);
    assert_int_equal(t.a.halving_to, 16384);
    assert_int_equal(t.a.halving_saves, UINT64_C(81920) * 16384 * 2);
    fixture_free(&t.f);
}

static void levers_in_order(void **state)
{
    answered t;
    (void)state;
    answer(&t, QWEN3_8B "}", QWEN3_WEIGHTS, (mc_floor_ask){ .context = 40960, .sequences = 4, .engine = "vllm" }, 20 * GIB);
    assert_true(t.a.n_levers >= 4);
    assert_string_equal(t.a.levers[0].lever, "context");
    assert_str(t.a.levers[0].to, "20480");
    assert_string_equal(t.a.levers[1].lever, "sequences");
    assert_string_equal(t.a.levers[2].lever, "kv-dtype");
    assert_str(t.a.levers[2].to, "fp8");
    assert_int_equal(t.a.levers[2].saves_bytes, 40960 * UINT64_C(147456) * 4 / 2);
    assert_string_equal(t.a.levers[t.a.n_levers - 1].lever, "devices");
    assert_true(mc_str_starts(t.a.advice, "shorten the context to "));
    fixture_free(&t.f);
    answer(&t, QWEN3_8B "}", QWEN3_WEIGHTS, (mc_floor_ask){ .context = 4096, .engine = "llama.cpp" }, 0);
    assert_str(t.a.levers[1].from, "f16");
    assert_str(t.a.levers[1].to, "q8_0"); /* 34 of 64 bytes */
    assert_int_equal(t.a.levers[1].saves_bytes, 4096 * UINT64_C(147456) / 64 * 30);
    fixture_free(&t.f);
}

static void not_computed(void **state)
{
    answered t;
    (void)state;
    answer(&t, "{\"model_type\":\"tinynet\",\"num_hidden_layers\":2,\"num_attention_heads\":4,\"hidden_size\":128}", 3 * GIB, (mc_floor_ask){ .context = 8192 }, 4 * GIB);
    assert_int_equal(t.a.fit, MC_FIT_UNKNOWN);
    assert_false(t.a.context.known);
    assert_int_equal(t.a.larger, MC_LARGER_UNKNOWN);
    assert_false(t.a.halving_known);
    assert_int_equal(t.a.n_levers, 0);
    fixture_free(&t.f);
    answer(&t, "{\"model_type\":\"tinynet\"}", 5 * GIB, (mc_floor_ask){ .context = 8192 }, 4 * GIB);
    assert_int_equal(t.a.fit, MC_FIT_NO); /* the weights alone */
    assert_true(t.a.advice.n > 0);
    fixture_free(&t.f);
    answer(&t, QWEN3_8B "}", 0, (mc_floor_ask){ .context = 8192 }, 4 * GIB); /* no weights: only the cache is known */
    assert_int_equal(t.a.fit, MC_FIT_UNKNOWN);
    assert_false(t.a.context.known);
    fixture_free(&t.f);
    answer(&t, QWEN3_8B "}", 0, (mc_floor_ask){ .context = 40960 }, 4 * GIB);
    assert_int_equal(t.a.fit, MC_FIT_NO);
    fixture_free(&t.f);
}

static void other_precisions(void **state)
{
    answered t;
    (void)state;
    answer(&t, QWEN3_8B "}", QWEN3_WEIGHTS, (mc_floor_ask){ .context = 8192 }, 8 * GIB);
    assert_int_equal(t.a.n_what_if, 0); /* neither tensors nor parameters are known */
    t.f.model.parameters = (mc_int){ .known = true, .v = 8190735360 };
    mc_answer(&t.q, true, &t.f.arena, &t.a);
    assert_true(t.a.n_what_if > 6);
    for (size_t i = 0; i < t.a.n_what_if; i++) {
        const mc_what_if *w = &t.a.what_if[i];
        assert_false(w->by_tensors);
        if (strcmp(w->precision, "f16") == 0)
            assert_int_equal(w->weights_bytes, QWEN3_WEIGHTS);
        if (strcmp(w->precision, "q8_0") == 0)
            assert_int_equal(w->weights_bytes, UINT64_C(8190735360) / 32 * 34);
        if (strcmp(w->precision, "q4_k") == 0) /* 144 bytes for 256 */
            assert_int_equal(w->weights_bytes, UINT64_C(8190735360) / 256 * 144);
        assert_int_equal(w->floor_bytes, w->weights_bytes + 8192 * UINT64_C(147456));
    }
    assert_non_null(strstr(t.a.advice.p, "weights in q6_k (6.3 GiB) would fit"));
    assert_true(t.a.n_estimates > 0);
    for (size_t i = 0; i < t.a.n_estimates; i++)
        assert_true(t.a.estimates[i].min_bytes <= t.a.estimates[i].max_bytes && *t.a.estimates[i].source);
    fixture_free(&t.f);
}

static void picture(void **state)
{
    answered  t;
    mc_curves c;
    (void)state;
    answer(&t, QWEN3_8B "}", QWEN3_WEIGHTS, (mc_floor_ask){ .context = 8192 }, 20 * GIB);
    mc_floor_curves(&t.q, &c);
    assert_true(c.known && !c.crossover_known); /* 111 thousand tokens lie beyond the model's maximum */
    assert_int_equal(c.context[0], 1);
    assert_int_equal(c.context[MC_CURVE_POINTS - 1], 40960);
    for (size_t i = 0; i < MC_CURVE_POINTS; i++) {
        assert_int_equal(c.one.bytes[i], QWEN3_WEIGHTS + c.context[i] * 147456);
        assert_int_equal(c.several.bytes[i], QWEN3_WEIGHTS + c.context[i] * 147456 * 4);
    }
    assert_int_equal(c.one.most.n, (20 * GIB - QWEN3_WEIGHTS) / 147456);
    fixture_free(&t.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts),        cmocka_unit_test(largest_context), cmocka_unit_test(searches_are_exact), cmocka_unit_test(weights_or_cache),
        cmocka_unit_test(halving),         cmocka_unit_test(levers_in_order), cmocka_unit_test(not_computed),       cmocka_unit_test(other_precisions),
        cmocka_unit_test(picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
