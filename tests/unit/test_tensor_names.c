/* Tensor names: buffers, modules, embeddings, heads, layers, parts; and shapes. */
#include "model/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

typedef bool predicate(mc_str);

static void check(predicate *is, bool want, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is(mc_str_of(names[i])) != want)
            fail_msg("%s: not %d", names[i], want);
}

static void buffers(void **state)
{
    static const char *const yes[] = {
        "model.layers.0.self_attn.rotary_emb.inv_freq", "bert.embeddings.position_ids", "h.0.attn.masked_bias", "h.0.attn.bias",
        "transformer.h.0.attn.bias", "gpt_neox.layers.0.attention.bias", "rope.freqs",
    };
    static const char *const no[] = {
        "model.layers.0.self_attn.q_proj.bias", "h.0.attn.c_attn.bias", "layers.0.attn.qkv.bias", "embeddings.position_embeddings.weight",
        "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight", "model.norm.weight",
    };
    (void)state;
    check(mc_name_is_buffer, true, yes, MC_COUNT(yes));
    check(mc_name_is_buffer, false, no, MC_COUNT(no));
}

static void ends(void **state)
{
    static const char *const embeddings[] = {
        "model.embed_tokens.weight", "transformer.wte.weight", "gpt_neox.embed_in.weight", "tok_embeddings.weight", "shared.weight",
        "model.embed_tokens.qweight", "transformer.word_embeddings.weight", "backbone.embedding.weight",
    };
    static const char *const heads[] = { "lm_head.weight", "language_model.lm_head.weight", "embed_out.weight", "output.weight", "lm_head.qweight" };
    static const char *const neither[] = { "model.norm.weight", "bert.encoder.layer.0.output.dense.weight", "model.layers.0.output.weight", "bert.layer.attention.output.weight" };
    (void)state;
    check(mc_name_is_embedding, true, embeddings, MC_COUNT(embeddings));
    check(mc_name_is_embedding, false, heads, MC_COUNT(heads));
    check(mc_name_is_head, true, heads, MC_COUNT(heads));
    check(mc_name_is_head, false, embeddings, MC_COUNT(embeddings));
    check(mc_name_is_head, false, neither, MC_COUNT(neither));
}

static void modules(void **state)
{
    uint64_t layer = 0;
    (void)state;
    assert_true(mc_str_is(mc_name_module(MC_STR("a.up_proj.qweight")), "a.up_proj"));
    assert_true(mc_str_is(mc_name_module(MC_STR("a.up_proj.weight.quant_state.bitsandbytes__nf4")), "a.up_proj"));
    assert_true(mc_str_is(mc_name_module(MC_STR("x")), "x"));
    assert_true(mc_name_layer(MC_STR("model.layers.31.mlp.experts.2.w1.weight"), &layer) && layer == 31);
    assert_false(mc_name_layer(MC_STR("model.norm.weight"), &layer));
}

static void parts(void **state)
{
    (void)state;
    static const char *const words[] = { "layers", "h", NULL };
    mc_str rest = MC_STR("model.layers.");
    assert_true(mc_str_is(mc_name_part(&rest), "model") && mc_str_is(rest, "layers."));
    assert_true(mc_str_is(mc_name_part(&rest), "layers") && rest.n == 0);
    assert_true(mc_name_has_part(MC_STR("transformer.h.0"), words));
    assert_false(mc_name_has_part(MC_STR("transformer.ch.layers0"), words));
    assert_false(mc_name_has_part(MC_STR(""), words));
}

static void shapes(void **state)
{
    (void)state;
    mc_arena  a;
    const uint64_t wide[] = { 4096, 1024 }, other[] = { 4096, 1025 };
    mc_tensor x = { .rank = 2, .dims = wide }, y = { .rank = 1, .dims = wide }, z = { .rank = 2, .dims = other }, scalar = { .rank = 0 };
    mc_arena_init(&a, 1 << 16);
    assert_true(mc_str_is(mc_shape_text(&a, &x), "[4096, 1024]"));
    assert_true(mc_str_is(mc_shape_text(&a, &scalar), "[]"));
    assert_true(mc_same_shape(&x, &x) && mc_same_shape(&scalar, &scalar));
    assert_false(mc_same_shape(&x, &y));
    assert_false(mc_same_shape(&x, &z));
    mc_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(buffers), cmocka_unit_test(ends), cmocka_unit_test(modules), cmocka_unit_test(parts), cmocka_unit_test(shapes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
