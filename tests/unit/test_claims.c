#include "model_of.h"

#include "model/quant.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static fixture f;

static const mc_claim *claim_of(const char *json)
{
    mc_model *m = model_of(&f, MC_ROLE_CONFIG, json);
    mc_quant_claims(m, &f.kb);
    return m->quant && m->quant->declared != MC_NONE ? &m->quant->claims[m->quant->declared] : NULL;
}

static void done(void)
{
    fixture_free(&f);
}

static mc_verdict says(const mc_claim *c, const char *name)
{
    static mc_module m;
    m = (mc_module){ .name = S(name), .cls = MC_CLS_MLP, .layer = 0 };
    return mc_claim_verdict(c, &m);
}

#define BLOCK(text) "{\"quantization_config\": " text "}"

static void test_places(void **state)
{
    (void)state;
    const mc_claim *c = claim_of("{\"text_config\": {\"quantization_config\": {\"quant_method\": \"gptq_marlin\", \"bits\": 4}}}");
    assert_str(c->at, "/text_config/quantization_config");
    assert_str(c->method, "gptq");
    done();
    c = claim_of("{\"thinker_config\": {\"text_config\": {\"quantization_config\": {\"quant_method\": \"AWQ\"}}}}");
    assert_str(c->at, "/thinker_config/text_config/quantization_config");
    assert_str(c->method, "awq");
    assert_int_equal(c->base.bits.v, 4); /* the method's default */
    done();
    c = claim_of("{\"compression_config\": {\"config_groups\": {}}}");
    assert_str(c->method, "compressed-tensors");
    done();
    c = claim_of("{\"quip_params\": {\"codebook\": \"E8P12\"}}");
    assert_str(c->method, "quip#");
    done();
    c = claim_of("{\"quantization\": {\"bits\": 4, \"group_size\": 64}, \"quantization_config\": {\"bits\": 8, \"group_size\": 64}}");
    assert_str(c->at, "/quantization"); /* mlx-lm prefers it */
    done();
    c = claim_of("{\"quantization\": {\"quant_algo\": \"FP8\"}}");
    assert_str(c->method, "tensorrt-llm");
    done();
    assert_null(claim_of("{\"original_quantization_config\": {\"quant_method\": \"gptq\"}, \"quantization_config\": null}"));
    done();
    c = claim_of(BLOCK("{\"quant_method\": \"fairyquant\", \"bits\": 3}"));
    assert_false(c->known_method);
    assert_false(c->base.bits.known);
    done();
}

static void test_gptq(void **state)
{
    (void)state;
    const mc_claim *c = claim_of(BLOCK("{\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 128, \"desc_act\": true, \"dynamic\": {"
        "\"-:lm_head\": {}, \"+:.*\\\\.layers\\\\.[0-3]\\\\..*\": {\"bits\": 8, \"group_size\": 32}, \".*down_proj\": {\"bits\": 16}}}"));
    assert_int_equal(c->base.bits.v, 4);
    assert_int_equal(c->base.symmetric, MC_YES);
    assert_int_equal(c->base.desc_act, MC_YES);
    assert_str(c->base.format.v, "gptq");
    assert_non_null(says(c, "lm_head").excluded_by);
    assert_non_null(says(c, "model.layers.9.mlp.down_proj").excluded_by);
    assert_int_equal(says(c, "model.layers.2.mlp.up_proj").scheme->bits.v, 8);
    assert_int_equal(says(c, "model.layers.7.mlp.up_proj").scheme->bits.v, 4);
    done();
    c = claim_of(BLOCK("{\"quant_method\": \"gptq\", \"bits\": \"4\", \"group_size\": -1, \"checkpoint_format\": \"gptq_v2\", \"sym\": false}"));
    assert_int_equal(c->base.bits.v, 4);
    assert_int_equal(c->base.group.v, -1);
    assert_str(c->base.format.v, "gptq_v2");
    assert_int_equal(c->base.symmetric, MC_NO);
    done();
}

static void test_compressed_tensors(void **state)
{
    (void)state;
    const mc_claim *c = claim_of(BLOCK("{\"quant_method\": \"compressed-tensors\", \"format\": \"mixed-precision\", \"quantization_status\": \"compressed\", \"ignore\": [\"lm_head\", \"re:.*gate$\"],"
        "\"kv_cache_scheme\": {\"num_bits\": 8, \"type\": \"float\"}, \"config_groups\": {"
        "\"a\": {\"targets\": [\"re:.*self_attn.*\"], \"format\": \"int-quantized\", \"weights\": {\"num_bits\": 8, \"strategy\": \"channel\", \"symmetric\": false}, \"input_activations\": {\"dynamic\": true}},"
        "\"b\": {\"targets\": [\"Linear\"], \"format\": \"pack-quantized\", \"weights\": {\"num_bits\": 4, \"group_size\": 32, \"actorder\": \"group\"}},"
        "\"NVFP4\": [\"re:.*vision.*\"]}}"));
    assert_str(c->kv.v, "FP8");
    assert_true(c->whole_scope);
    assert_non_null(says(c, "model.layers.0.mlp.gate").excluded_by);
    const mc_scheme *s = says(c, "model.layers.0.self_attn.q_proj").scheme;
    assert_int_equal(s->bits.v, 8);
    assert_int_equal(s->grain, MC_GRAIN_CHANNEL);
    assert_int_equal(s->symmetric, MC_NO);
    assert_int_equal(s->dynamic_input, MC_YES);
    assert_str(s->format.v, "int-quantized");
    s = says(c, "model.layers.0.mlp.up_proj").scheme;
    assert_int_equal(s->group.v, 32);
    assert_int_equal(s->grain, MC_GRAIN_GROUP); /* inferred from the size */
    assert_int_equal(s->desc_act, MC_YES);
    s = says(c, "vision.blocks.0.fc").scheme;
    assert_int_equal(s->group.v, 16); /* by the preset */
    assert_true(s->is_float);
    done();
}

static void test_modelopt(void **state)
{
    (void)state;
    const mc_claim *c = claim_of(BLOCK("{\"quant_method\": \"modelopt\", \"quant_algo\": \"MIXED_PRECISION\", \"kv_cache_scheme\": \"FP8\", \"ignore\": [\"mtp*\"], \"quantized_layers\": {"
        "\"model.layers.0.mlp.experts\": {\"quant_algo\": \"NVFP4\", \"group_size\": 16}, \"model.layers.0.self_attn.q_proj\": {\"quant_algo\": \"FP8\"}}}"));
    assert_int_equal(says(c, "model.layers.0.mlp.experts.7.up_proj").scheme->bits.v, 4);
    assert_int_equal(says(c, "model.layers.0.self_attn.q_proj").scheme->bits.v, 8);
    assert_null(says(c, "model.layers.0.self_attn.k_proj").scheme);
    assert_non_null(says(c, "mtp.layers.0.fc").excluded_by);
    done();
    c = claim_of(BLOCK("{\"quant_algo\": \"fp8_pb_wo\"}"));
    assert_str(c->method, "modelopt");
    assert_int_equal(c->base.grain, MC_GRAIN_BLOCK);
    assert_int_equal(c->base.block_cols.v, 128);
    done();
}

static void test_mlx(void **state)
{
    (void)state;
    const mc_claim *c = claim_of("{\"quantization\": {\"group_size\": 32, \"bits\": 4, \"mode\": \"mxfp4\", \"model.embed_tokens\": {\"bits\": 8, \"group_size\": null}, \"lm_head\": false, \"model.norm\": true}}");
    assert_true(c->base.is_float);
    const mc_scheme *s = says(c, "model.embed_tokens").scheme;
    assert_str(s->format.v, "affine"); /* no mode: affine, and null is its default */
    assert_int_equal(s->bits.v, 8);
    assert_int_equal(s->group.v, 64);
    assert_non_null(says(c, "lm_head").excluded_by);
    bool doubt = says(c, "language_model.model.embed_tokens").doubt; /* another root */
    assert_true(doubt);
    done();
}

static void test_others(void **state)
{
    (void)state;
    const mc_claim *c = claim_of(BLOCK("{\"quant_method\": \"fp8\", \"weight_block_size\": [128, 64], \"activation_scheme\": \"static\", \"expert_dtype\": \"fp4\"}"));
    assert_int_equal(c->base.block_rows.v, 128);
    assert_int_equal(c->base.static_input, MC_YES);
    assert_str(c->expert_dtype.v, "fp4");
    done();
    c = claim_of(BLOCK("{\"quant_method\": \"anything\", \"load_in_4bit\": true}"));
    assert_str(c->method, "bitsandbytes");
    assert_str(c->base.format.v, "fp4");
    done();
    c = claim_of(BLOCK("{\"quant_method\": \"auto-round\", \"bits\": 8, \"group_size\": [128, 128], \"data_type\": \"fp\", \"extra_config\": {\".*gate.*\": {\"bits\": 16}, \"lm_head\": {\"bits\": 4, \"group_size\": 32}}}"));
    assert_int_equal(c->base.grain, MC_GRAIN_BLOCK);
    assert_non_null(says(c, "model.layers.0.mlp.gate").excluded_by);
    assert_int_equal(says(c, "lm_head").scheme->bits.v, 4);
    done();
    c = claim_of(BLOCK("{\"quant_method\": \"hqq\", \"quant_config\": {\"weight_quant_params\": {\"nbits\": 3, \"group_size\": 64}}, \"skip_modules\": [\"lm_head\"]}"));
    assert_int_equal(c->base.bits.v, 3);
    assert_int_equal(c->base.group.v, 64);
    done();
    c = claim_of(BLOCK("{\"quant_method\": \"torchao\", \"quant_type\": {\"default\": {\"_type\": \"IntxWeightOnlyConfig\", \"_data\": {\"weight_dtype\": {\"_data\": \"int4\"}, \"granularity\": {\"_data\": {\"group_size\": 32}}}}}}"));
    assert_int_equal(c->base.bits.v, 4);
    assert_int_equal(c->base.group.v, 32);
    done();
    c = claim_of(BLOCK("{\"quant_method\": \"torchao\", \"quant_type\": \"int4_weight_only\", \"quant_type_kwargs\": {\"group_size\": 64}}"));
    assert_int_equal(c->base.bits.v, 4);
    assert_int_equal(c->base.group.v, 64);
    done();
    c = claim_of(BLOCK("{\"quant_method\": \"quark\", \"global_quant_config\": {\"weight\": {\"dtype\": \"fp6_e2m3\", \"qscheme\": \"per_group\", \"group_size\": 32}}, \"exclude\": [\"re:.*router\", \"lm_head\"]}"));
    assert_int_equal(c->base.bits.v, 6);
    assert_non_null(says(c, "model.layers.0.router").excluded_by);
    done();
}

/* Values of every wrong kind: nothing is taken over, nothing crashes. */
static void test_bad_values(void **state)
{
    (void)state;
    static const char *const bad[] = { "-4", "1e300", "99999999999999999999", "\"four\"", "[4]", "{\"a\": 4}", "true", "4.5e-9", "NaN" };
    for (size_t i = 0; i < MC_COUNT(bad); i++) {
        char json[512];
        snprintf(json, sizeof json, BLOCK("{\"quant_method\": \"gptq\", \"bits\": %s, \"group_size\": %s, \"dynamic\": %s}"), bad[i], bad[i], bad[i]);
        const mc_claim *c = claim_of(json);
        assert_false(c->base.bits.known);
        assert_false(c->base.group.known);
        done();
        snprintf(json, sizeof json, BLOCK("{\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"g\": {\"targets\": %s, \"weights\": {\"num_bits\": %s, \"group_size\": %s}}}, \"ignore\": %s}"), bad[i], bad[i],
                 bad[i], bad[i]);
        c = claim_of(json);
        assert_false(c->base.bits.known);
        assert_false(c->base.group.known);
        done();
    }
}

/* 22,000 entries and 700 exclusions in less than a second, with every module found. */
static void test_long_lists(void **state)
{
    (void)state;
    enum { LAYERS = 57, EXPERTS = 128 };
    static char json[4 << 20];
    size_t      n = (size_t)snprintf(json, sizeof json, "{\"quantization_config\": {\"quant_method\": \"modelopt\", \"quant_algo\": \"MIXED_PRECISION\", \"ignore\": [\"lm_head\"");
    for (int i = 0; i < 700; i++)
        n += (size_t)snprintf(json + n, sizeof json - n, ", \"model.layers.%d.mlp.norm_%d*\"", i / 10, i % 10);
    n += (size_t)snprintf(json + n, sizeof json - n, "], \"quantized_layers\": {\"x\": {\"quant_algo\": \"FP8\"}");
    for (int l = 0; l < LAYERS; l++)
        for (int e = 0; e < EXPERTS * 3; e++)
            n += (size_t)snprintf(json + n, sizeof json - n, ", \"language_model.model.layers.%d.mlp.experts.%d.w%d\": {\"quant_algo\": \"NVFP4\", \"group_size\": 16}", l, e / 3, e % 3 + 1);
    snprintf(json + n, sizeof json - n, "}}}");
    const mc_claim *c = claim_of(json);
    assert_int_equal(c->n_overrides, 2);
    mc_claim        copy = *c;
    mc_module      *m = calloc(LAYERS * EXPERTS * 3, sizeof *m);
    size_t          k = 0;
    assert_non_null(m);
    for (int l = 0; l < LAYERS; l++)
        for (int e = 0; e < EXPERTS * 3; e++, k++)
            m[k] = (mc_module){ .name = mc_format(&f.arena, "language_model.model.layers.%d.mlp.experts.%d.w%d", l, e / 3, e % 3 + 1), .form = (uint32_t)(e % 3), .cls = MC_CLS_EXPERTS };
    clock_t start = clock();
    mc_claim_resolve(&f.arena, &copy, m, k);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 1);
    for (size_t i = 0; i < k; i++) {
        mc_verdict v = mc_claim_verdict(&copy, &m[i]);
        assert_non_null(v.target);
        assert_int_equal(v.scheme->bits.v, 4);
        assert_false(v.doubt);
    }
    free(m);
    done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places), cmocka_unit_test(test_gptq), cmocka_unit_test(test_compressed_tensors), cmocka_unit_test(test_modelopt), cmocka_unit_test(test_mlx),
        cmocka_unit_test(test_others), cmocka_unit_test(test_bad_values), cmocka_unit_test(test_long_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
