/* Parameters, bytes, heads and kind, from inventories made by hand. */
#include "model_of.h"

typedef struct { const char *name, *dtype; uint64_t dims[3]; } entry;

/* Puts the tensors into the root's inventory, as a complete read set. */
static void stock(fixture *f, const entry *e, size_t n)
{
    mc_inventory *inv = &f->component.inv;
    assert_true(mc_strset_init(&inv->names, &f->arena, n) && mc_strset_init(&inv->form_names, &f->arena, n));
    inv->first = MC_NEW(&f->arena, mc_tensor *, n);
    for (size_t i = 0; i < n; i++) {
        mc_tensor *t = MC_NEW(&f->arena, mc_tensor, 1);
        uint64_t   bytes;
        *t = (mc_tensor){ .name = S(e[i].name), .dims = e[i].dims, .elements = 1, .dtype = mc_kb_st_dtype(&f->kb, S(e[i].dtype)) };
        for (; t->rank < 3 && e[i].dims[t->rank]; t->rank++)
            t->elements *= e[i].dims[t->rank];
        assert_true(mc_dtype_bytes(mc_kb_dtype(&f->kb, t->dtype), t->elements, 1, &bytes));
        t->end = bytes;
        inv->first[mc_strset_add(&inv->names, t->name, NULL)] = t;
        assert_true(mc_form_add(inv, t));
    }
    inv->complete = true;
    f->component.set = 0;
    f->model.sets = MC_NEW(&f->arena, mc_set, 1);
    f->model.n_sets = 1;
    f->model.sets[0].stem = S("model");
}

static void check(const char *json, const entry *e, size_t n, int64_t parameters, int64_t stored, int64_t bytes)
{
    fixture   f;
    mc_model *m = model_of(&f, MC_ROLE_CONFIG, json);
    stock(&f, e, n);
    mc_infer(m, &f.kb);
    mc_find_modules(m, &f.kb, NULL, NULL);
    mc_sum_modules(m, &f.kb);
    assert_int_equal(m->parameters.known ? m->parameters.v : -1, parameters);
    assert_int_equal(m->stored_elements.v, stored);
    assert_int_equal(m->weights_bytes.v, bytes);
    assert_int_equal(m->n_tensors, n);
    fixture_free(&f);
}

#define LLAMA "{\"model_type\":\"llama\",\"architectures\":[\"LlamaForCausalLM\"],\"vocab_size\":10,\"tie_word_embeddings\":"

static void sums(void **state)
{
    static const entry tied[] = {
        { "model.embed_tokens.weight", "BF16", { 10, 4 } }, { "lm_head.weight", "BF16", { 10, 4 } }, { "model.layers.0.self_attn.q_proj.weight", "BF16", { 4, 4 } },
        { "model.layers.0.self_attn.rotary_emb.inv_freq", "F32", { 2 } }, { "embeddings.position_ids", "I64", { 1, 8 } },
    };
    static const entry fp8[] = {
        { "model.layers.0.q_proj.weight", "F8_E4M3", { 4, 4 } }, { "model.layers.0.q_proj.weight_scale_inv", "F32", { 1, 1 } },
        { "model.layers.0.q_proj.input_scale", "F32", { 1 } },
    };
    static const entry packed[] = { { "model.layers.0.q_proj.qweight", "I32", { 4, 4 } }, { "model.layers.0.q_proj.scales", "F16", { 1, 4 } } };
    (void)state;
    check(LLAMA "true}", tied, 5, 56, 106, 2 * 96 + 8 + 64);
    check(LLAMA "false}", tied, 5, 96, 106, 2 * 96 + 8 + 64);
    check(LLAMA "false}", fp8, 3, 16, 18, 16 + 8);
    check(LLAMA "false}", packed, 2, -1, 20, 64 + 8);
}

static void heads(void **state)
{
    static const entry e[] = {
        { "model.visual.embeddings.weight", "BF16", { 10, 4 } },       { "model.language_model.embed_tokens.weight", "BF16", { 10, 4 } },
        { "model.layers.61.embed_tokens.weight", "BF16", { 10, 4 } },  { "model.layers.61.shared_head.head.weight", "BF16", { 10, 4 } },
        { "mtp.embed_tokens.weight", "BF16", { 10, 4 } },              { "lm_head.weight", "BF16", { 10, 4 } },
        { "model.layers.0.attention.output.weight", "BF16", { 4, 4 } },
    };
    fixture   f;
    mc_model *m = model_of(&f, MC_ROLE_CONFIG, LLAMA "true}");
    (void)state;
    stock(&f, e, MC_COUNT(e));
    mc_infer(m, &f.kb);
    assert_str(m->heads.embed->name, "model.language_model.embed_tokens.weight");
    assert_str(m->heads.head->name, "lm_head.weight");
    f.component.inv.complete = false; /* a shard is missing: sums would be too small */
    mc_infer(m, &f.kb);
    mc_find_modules(m, &f.kb, NULL, NULL);
    mc_sum_modules(m, &f.kb);
    assert_false(m->parameters.known);
    assert_false(m->weights_bytes.known);
    fixture_free(&f);
}

static void kinds(void **state)
{
    static const struct { const char *json; mc_kind kind; } rows[] = {
        { "{\"model_type\":\"llama\",\"architectures\":[\"LlamaForCausalLM\"]}", MC_KIND_CAUSAL_LM },
        { "{\"model_type\":\"bert\",\"architectures\":[\"BertModel\"]}", MC_KIND_ENCODER },
        { "{\"model_type\":\"t5\",\"is_encoder_decoder\":true,\"architectures\":[\"T5ForConditionalGeneration\"]}", MC_KIND_SEQ2SEQ },
        { "{\"model_type\":\"whisper\",\"architectures\":[\"WhisperForConditionalGeneration\"]}", MC_KIND_SEQ2SEQ },
        { "{\"model_type\":\"qwen3_vl\",\"architectures\":[\"Qwen3VLForConditionalGeneration\"],\"text_config\":{},\"vision_config\":{}}", MC_KIND_VISION_LANGUAGE },
        { "{\"model_type\":\"llama\",\"architectures\":[\"LlamaForSequenceClassification\"]}", MC_KIND_OTHER },
        { "{\"model_type\":\"tinynet\",\"architectures\":[\"TinyNetForCausalLM\"]}", MC_KIND_CAUSAL_LM },
        { "{\"model_type\":\"vit\",\"architectures\":[\"ViTModel\"]}", MC_KIND_ENCODER },
        { "{\"model_type\":\"llama\",\"architectures\":[\"LlamaForCausalLMEagle3\"]}", MC_KIND_DRAFT },
        { "{}", MC_KIND_OTHER },
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        fixture   f;
        mc_model *m = model_of(&f, MC_ROLE_CONFIG, rows[i].json);
        mc_infer(m, &f.kb);
        if (m->kind != rows[i].kind)
            fail_msg("%s: %s", rows[i].json, mc_kind_name(m->kind));
        fixture_free(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(sums), cmocka_unit_test(heads), cmocka_unit_test(kinds) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
