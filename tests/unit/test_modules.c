/* Quantized modules from hand-made tensor tables: each layout whole, without a companion, and with one that does not fit.
 *
 * The table of shapes is one linear of 128 outputs and 256 inputs as each writer stores it; bytes are worked by hand. */
#include "model_of.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/quant.h"
#include "scan/modules.h"

/* ---- inventories from text: "name dtype dim dim; ..." ---- */

typedef struct { const char *part; const void *bytes; size_t n; } payload; /* part: end of the tensor's name */
typedef struct { fixture f; const payload *data; } lab;

#define CONFIG \
    "{\"model_type\":\"qwen3_moe\",\"architectures\":[\"Qwen3MoeForCausalLM\"],\"hidden_size\":256,\"intermediate_size\":512,\"moe_intermediate_size\":128," \
    "\"num_hidden_layers\":2,\"num_attention_heads\":4,\"head_dim\":64,\"vocab_size\":1000,\"num_experts\":4,\"num_experts_per_tok\":2,\"tie_word_embeddings\":false}"
#define NORM "; model.layers.0.post_attention_layernorm.weight BF16 256"

static void add_tensor(fixture *f, mc_inventory *inv, const char *prefix, char *text)
{
    char     *at = NULL, *name = strtok_r(text, " ", &at), *dtype = strtok_r(NULL, " ", &at), *dim;
    uint64_t *dims = MC_NEW(&f->arena, uint64_t, 8), bytes = 0;
    mc_tensor *t = MC_NEW(&f->arena, mc_tensor, 1);
    bool       rooted = strncmp(name, "model.", 6) == 0 || strncmp(name, "lm_head", 7) == 0;
    assert_non_null(dtype);
    *t = (mc_tensor){ .name = mc_format(&f->arena, "%s%s", rooted ? "" : prefix, name), .dims = dims, .elements = 1, .dtype = mc_kb_st_dtype(&f->kb, S(dtype)) };
    while ((dim = strtok_r(NULL, " ", &at))) {
        dims[t->rank] = strtoull(dim, NULL, 10);
        t->elements *= dims[t->rank++];
    }
    assert_true(mc_dtype_bytes(mc_kb_dtype(&f->kb, t->dtype), t->elements, 1, &bytes));
    t->end = bytes;
    bool     added;
    uint32_t id = mc_strset_add(&inv->names, t->name, &added);
    assert_true(added && mc_form_add(inv, t));
    inv->first[id] = t;
}

static void read_payloads(void *arg, mc_small *v, size_t n)
{
    const lab *l = arg;
    for (size_t i = 0; i < n; i++)
        for (const payload *p = l->data; p && p->part; p++)
            if (mc_str_ends(v[i].t->name, p->part))
                v[i].got = (mc_span){ p->bytes, v[i].want < p->n ? v[i].want : p->n };
}

static mc_model *lab_open(lab *l, const char *prefix, const char *tensors, const payload *data)
{
    mc_model     *m = model_of(&l->f, MC_ROLE_CONFIG, CONFIG);
    mc_inventory *inv = &l->f.component.inv;
    char         *text = strdup(tensors), *at = NULL;
    l->data = data;
    assert_true(mc_strset_init(&inv->names, &l->f.arena, 64) && mc_strset_init(&inv->form_names, &l->f.arena, 64));
    inv->first = MC_NEW(&l->f.arena, mc_tensor *, 64);
    for (char *one = strtok_r(text, ";", &at); one; one = strtok_r(NULL, ";", &at))
        add_tensor(&l->f, inv, prefix, one + strspn(one, " "));
    free(text);
    inv->complete = true;
    l->f.component.set = 0;
    l->f.model.sets = MC_NEW(&l->f.arena, mc_set, 1);
    l->f.model.n_sets = 1;
    mc_infer(m, &l->f.kb);
    mc_find_modules(m, &l->f.kb, read_payloads, l);
    mc_sum_modules(m, &l->f.kb);
    assert_non_null(m->quant);
    return m;
}

static const mc_module *module(const mc_model *m, const char *name)
{
    for (size_t i = 0; i < m->quant->n_modules; i++)
        if (mc_str_is(m->quant->modules[i].name, name))
            return &m->quant->modules[i];
    fail_msg("no module %s", name);
    return NULL;
}

/* ---- every layout, whole ---- */

#define UP "model.layers.0.mlp.up_proj"
#define INTS(name, ...) { name, (const int64_t[]){ __VA_ARGS__ }, sizeof((const int64_t[]){ __VA_ARGS__ }) }
#define WORDS(name, ...) { name, (const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }) }
#define TEXT(name, text) { name, text, sizeof(text) - 1 }

typedef struct {
    const char *tensors;
    mc_layout   layout;
    double      bits;
    uint64_t    group;          /* 0: another granularity */
    mc_grain    grain;
    mc_tri      symmetric;
    uint64_t    bytes;
    payload     data[3];
} row;

#define G MC_GRAIN_GROUP
#define C MC_GRAIN_CHANNEL
#define T MC_GRAIN_TENSOR
#define B MC_GRAIN_BLOCK
#define STATE(type) "{\"quant_type\": \"" type "\", \"blocksize\": 64, \"dtype\": \"bfloat16\", \"shape\": [128, 256]}"

static const row rows[] = {
    { "qweight I32 32 128; qzeros I32 2 16; scales F16 2 128; g_idx I32 256", MC_Q_GPTQ, 4, 128, G, MC_YES, 18048, { WORDS("qzeros", 0x77777777u) } },
    { "qweight I32 32 128; qzeros I32 2 16; scales F16 2 128; g_idx I32 256", MC_Q_GPTQ, 4, 128, G, MC_NO, 18048, { WORDS("qzeros", 0x77677777u) } },
    { "qweight I32 64 128; qzeros I32 2 32; scales F16 2 128; g_idx I32 256", MC_Q_GPTQ, 8, 128, G, MC_YES, 34560, { WORDS("qzeros", 0x80808080u) } },
    { "qweight I32 24 128; qzeros I32 2 12; scales F16 2 128; g_idx I32 256", MC_Q_GPTQ, 3, 128, G, MC_YES, 13920, { WORDS("qzeros", 0x24924924u) } },
    { "qweight I32 16 128; qzeros I32 4 8; scales F16 4 128; g_idx I32 256", MC_Q_GPTQ, 2, 64, G, MC_UNKNOWN, 10368, { { 0 } } },
    { "qweight I32 32 128; qzeros I32 1 16; scales F16 1 128; g_idx I32 256", MC_Q_GPTQ, 4, 0, C, MC_YES, 17728, { WORDS("qzeros", 0x88888888u) } },
    { "qweight I32 32 128; qzeros I32 2 16; scales F16 2 128", MC_Q_GPTQ, 4, 128, G, MC_UNKNOWN, 17024, { { 0 } } },
    { "qweight I32 256 16; qzeros I32 2 16; scales F16 2 128", MC_Q_AWQ, 4, 128, G, MC_YES, 17024, { WORDS("qzeros", 0x88888888u) } },
    { "qweight I32 256 16; scales F16 2 128", MC_Q_AWQ, 4, 128, G, MC_YES, 16896, { { 0 } } },
    { "qweight I32 128 32; qzeros I32 128 1; scales F16 128 8", MC_Q_AWQ_GEMV, 4, 128, G, MC_NO, 18944, { { 0 } } },
    { "qweight I16 32 256; qzeros F16 8 128; scales F16 8 128", MC_Q_AWQ_FAST, 4, 128, G, MC_NO, 20480, { { 0 } } },
    { "qweight I16 32 256; scaled_zeros F16 8 128; scales F16 8 128", MC_Q_AWQ_FAST, 4, 128, G, MC_NO, 20480, { { 0 } } },
    { "B I32 16 256; s F16 2 128", MC_Q_MARLIN, 4, 128, G, MC_YES, 16896, { { 0 } } },
    { "B I32 16 256; s_channel F32 1 128; s_group F16 2 128", MC_Q_QQQ, 4, 128, G, MC_YES, 17408, { { 0 } } },
    { "B_24 I32 8 256; B_meta I16 8 256; s F16 2 128", MC_Q_MARLIN24, 4, 128, G, MC_YES, 12800, { { 0 } } },
    { "weight I8 128 256; SCB F32 128; weight_format U8", MC_Q_BNB8, 8, 0, C, MC_YES, 33281, { { 0 } } },
    { "weight U8 16384 1; weight.absmax F32 512; weight.quant_map F32 16; weight.quant_state.bitsandbytes__nf4 U8 80", MC_Q_BNB4, 4, 64, G, MC_UNKNOWN, 18576,
      { TEXT("nf4", STATE("nf4")) } },
    { "weight BF16 8192 1; weight.absmax U8 512; weight.quant_map F32 16; weight.nested_absmax F32 2; weight.nested_quant_map F32 256; "
      "weight.quant_state.bitsandbytes__fp4 U8 80", MC_Q_BNB4, 4, 64, G, MC_UNKNOWN, 18072, { TEXT("fp4", STATE("fp4")) } },
    { "weight_packed I32 128 32; weight_scale BF16 128 2; weight_shape I64 2", MC_Q_CT_PACK, 4, 128, G, MC_YES, 16912, { INTS("weight_shape", 128, 256) } },
    { "weight_packed I32 128 32; weight_scale BF16 128 2; weight_zero_point I32 16 2; weight_shape I64 2", MC_Q_CT_PACK, 4, 128, G, MC_NO, 17040, { INTS("weight_shape", 128, 256) } },
    { "weight_packed I32 128 32; weight_scale BF16 128 2; weight_zero_point I8 128 2; weight_shape I32 2", MC_Q_CT_PACK, 4, 128, G, MC_NO, 17160, { WORDS("weight_shape", 128, 256) } },
    { "weight_packed I32 128 24; weight_scale BF16 128 2; weight_shape I64 2", MC_Q_CT_PACK, 3, 128, G, MC_YES, 12816, { INTS("weight_shape", 128, 256) } },
    { "weight_packed I32 128 26; weight_scale BF16 128 2; weight_shape I64 2", MC_Q_CT_PACK, 3, 128, G, MC_YES, 13840, { INTS("weight_shape", 128, 256) } },
    { "weight_packed I32 128 64; weight_scale BF16 128 1; weight_shape I64 2", MC_Q_CT_PACK, 8, 0, C, MC_YES, 33040, { INTS("weight_shape", 128, 256) } },
    { "weight_packed I32 128 32; weight_scale BF16 128 2; weight_shape I64 2", MC_Q_CT_PACK, 4, 128, G, MC_YES, 16912, { { 0 } } }, /* unread: the norm tells */
    { "weight I8 128 256; weight_scale BF16 128 1", MC_Q_INT8, 8, 0, C, MC_YES, 33024, { { 0 } } },
    { "weight I8 128 256; weight_scale BF16 128 2", MC_Q_INT8, 8, 128, G, MC_YES, 33280, { { 0 } } },
    { "weight I8 128 256; weight_scale F32; weight_zero_point I8", MC_Q_INT8, 8, 0, T, MC_YES, 32773, { { "zero_point", "\0", 1 } } },
    { "weight_packed U8 128 128; weight_scale F8_E4M3 128 16; weight_global_scale F32 1", MC_Q_NVFP4, 4, 16, G, MC_YES, 18436, { { 0 } } },
    { "weight U8 128 128; weight_scale F8_E4M3 128 16; weight_scale_2 F32; input_scale F32", MC_Q_NVFP4, 4, 16, G, MC_YES, 18436, { { 0 } } },
    { "weight U8 128 128; weight_scale F8_E4M3 128 8; weight_scale_2 F32", MC_Q_NVFP4, 4, 32, G, MC_YES, 17412, { { 0 } } },
    { "weight_packed U8 128 128; weight_scale U8 128 8", MC_Q_MXFP4, 4, 32, G, MC_UNKNOWN, 17408, { { 0 } } },
    { "weight U8 128 128; weight_scale F8_E8M0 128 8", MC_Q_MXFP4, 4, 32, G, MC_UNKNOWN, 17408, { { 0 } } },
    { "weight U8 128 192; weight_scale U8 128 8", MC_Q_MXFP6, 6, 32, G, MC_UNKNOWN, 25600, { { 0 } } },
    { "weight F8_E4M3 128 256; weight_scale U8 128 8", MC_Q_MXFP8, 8, 32, G, MC_YES, 33792, { { 0 } } },
    { "weight I8 128 128; scale F8_E8M0 128 8", MC_Q_FP4_DSV4, 4, 32, G, MC_UNKNOWN, 17408, { { 0 } } },
    { "weight F8_E4M3 128 256; weight_scale_inv F32 1 2", MC_Q_FP8, 8, 0, B, MC_YES, 32776, { { 0 } } },
    { "weight F8_E4M3 128 256; weight_scale F32 1 1 2 1", MC_Q_FP8, 8, 0, B, MC_YES, 32776, { { 0 } } },
    { "weight F8_E4M3 128 256; scale F8_E8M0 1 2", MC_Q_FP8, 8, 0, B, MC_YES, 32770, { { 0 } } },
    { "weight F8_E4M3 128 256; weight_scale F32; input_scale F32", MC_Q_FP8, 8, 0, T, MC_YES, 32772, { { 0 } } },
    { "weight F8_E4M3 128 256; weight_scale F32 3", MC_Q_FP8, 8, 0, T, MC_YES, 32780, { { 0 } } }, /* one of three fused parts each */
    { "weight F8_E4M3 128 256; weight_scale_inv F32 1 1; activation_scale F32", MC_Q_FP8, 8, 0, T, MC_YES, 32772, { { 0 } } },
    { "weight F8_E4M3 128 256; weight_scale F32 128", MC_Q_FP8, 8, 0, C, MC_YES, 33280, { { 0 } } },
    { "weight F8_E4M3 128 256; scale_weight F32", MC_Q_FP8, 8, 0, T, MC_YES, 32772, { { 0 } } },
    { "weight U8 64 256; weight_scale F16 128 2; pre_quant_scale F16 256", MC_Q_INT4_NIBBLE, 4, 128, G, MC_YES, 17408, { { 0 } } },
    { "weight I32 256 16; weight_scale BF16 2 128; weight_zero_point I32 2 16", MC_Q_QUARK_INT4, 4, 128, G, MC_YES, 17024, { WORDS("zero_point", 0) } },
    { "weight I8 256 128; weight_scales F16 128", MC_Q_EETQ, 8, 0, C, MC_YES, 33024, { { 0 } } },
    { "weight U32 128 32; scales BF16 128 4; biases BF16 128 4", MC_Q_MLX, 4, 64, G, MC_NO, 18432, { { 0 } } },
    { "weight U32 128 24; scales BF16 128 4; biases BF16 128 4", MC_Q_MLX, 3, 64, G, MC_NO, 14336, { { 0 } } },
    { "weight U32 128 64; scales BF16 128 8; biases BF16 128 8", MC_Q_MLX, 8, 32, G, MC_NO, 36864, { { 0 } } },
    { "weight U32 128 16; scales BF16 128 2; biases BF16 128 2", MC_Q_MLX, 2, 128, G, MC_NO, 9216, { { 0 } } }, /* 2 x 128 = 8 x 32: the norm tells */
    { "weight U32 128 32; scales U8 128 8", MC_Q_MLX, 4, 32, G, MC_UNKNOWN, 17408, { { 0 } } },
    { "weight U32 128 32; scales U8 128 16", MC_Q_MLX, 4, 16, G, MC_UNKNOWN, 18432, { { 0 } } },
    { "weight U32 128 64; scales U8 128 8", MC_Q_MLX, 8, 32, G, MC_UNKNOWN, 33792, { { 0 } } },
    { "weight U32 128 32; scales BF16 128 4; qbiases BF16 128 4", MC_Q_METAL, 4, 64, G, MC_NO, 18432, { { 0 } } },
    { "W_q U8 256 64; scale F16 512 1; zero F16 512 1; nbits I32; shape I64 2", MC_Q_HQQ, 4, 64, G, MC_NO, 18452, { INTS("shape", 128, 256), WORDS("nbits", 4) } },
    { "W_q I32 52 64; scale F32 512 1; zero F32 512 1; nbits I32; shape I64 2", MC_Q_HQQ, 3, 64, G, MC_NO, 17428, { INTS("shape", 128, 256), WORDS("nbits", 3) } },
    { "W_q U8 512 64; scale F16 512 1; zero F16 512 1; nbits I32; shape I64 2", MC_Q_HQQ, 5, 64, G, MC_NO, 34836, { INTS("shape", 128, 256), WORDS("nbits", 5) } },
    { "codes I16 128 32 1; codebooks F16 1 65536 1 8; scales F16 128 1 1 1", MC_Q_AQLM, 2, 0, MC_GRAIN_NONE, MC_UNKNOWN, 1057024, { { 0 } } },
    { "Qidxs I64 128 8; SU F16 256; SV F16 128; Wscale F32; codebook_id I64", MC_Q_QUIP, 2, 0, MC_GRAIN_NONE, MC_UNKNOWN, 8972, { { 0 } } },
    { "q_weight I32 32 128; q_scale I32 2 16; q_scale_max F16 2; q_groups I16 4; q_invperm I32 256", MC_Q_EXL2, 4, 128, G, MC_UNKNOWN, 17548,
      { { "q_groups", "\4\0\0\0\4\0\20\0", 8 } } },
    { "trellis I16 16 8 48; suh F16 256; svh F16 128; mcg I32", MC_Q_EXL3, 3, 0, MC_GRAIN_NONE, MC_UNKNOWN, 13060, { { 0 } } },
    { "trellis I16 16 8 64; su I16 16; sv I16 8", MC_Q_EXL3, 4, 0, MC_GRAIN_NONE, MC_UNKNOWN, 16432, { { 0 } } },
    { "dense_weights I64 2048; row_offsets I32 129; col_vals I32 10; in_perm I32 256", MC_Q_SPQR, 4, 0, MC_GRAIN_NONE, MC_UNKNOWN, 17964, { { 0 } } },
    { "weight U8 32 256; weight_scale BF16 1", MC_Q_BITNET, 2, 0, T, MC_YES, 8194, { { 0 } } },
    { "weight._data._data U8 128 128; weight._scale BF16 256 1; weight._shift BF16 256 1; input_scale BF16; output_scale BF16", MC_Q_QUANTO, 4, 128, G, MC_NO, 17410, { { 0 } } },
    { "weight._data I8 128 256; weight._scale BF16 128 1", MC_Q_QUANTO, 8, 0, C, MC_YES, 33024, { { 0 } } },
    { "_weight_qdata I8 128 256; _weight_scale BF16 128 8; _weight_zero_point I8 128 8", MC_Q_TORCHAO, 8, 32, G, MC_YES, 35840, { { "zero_point", "\0\0\0\0", 4 } } },
    { "_weight_qdata U8 128 128; _weight_scale BF16 2 128; _weight_zero_point BF16 2 128", MC_Q_TORCHAO, 4, 128, G, MC_NO, 17408, { { 0 } } },
    { "weight I16 64 128; scales F16 128 4; tables F16 16; tables2 F32 16 16 1", MC_Q_HIGGS, 4, 64, G, MC_UNKNOWN, 18464, { { 0 } } },
    { "qweight U8 128 128; scales U8 128 8; forward_hadamard_matrix BF16 32 32", MC_Q_FP_QUANT, 4, 32, G, MC_UNKNOWN, 19456, { { 0 } } },
    { "weight F8_E4M3 128 256", MC_Q_RAW8, 8, 0, MC_GRAIN_NONE, MC_UNKNOWN, 32768, { { 0 } } },
    { "weight BF16 128 256; weight_scale BF16 128 2; weight_zero_point I8 128 2", MC_Q_PLAIN, 16, 0, MC_GRAIN_NONE, MC_UNKNOWN, 66304, { { 0 } } }, /* saved uncompressed */
};

static void whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        const row *r = &rows[i];
        lab        l;
        char       text[1024];
        snprintf(text, sizeof text, "%s%s", r->tensors, NORM);
        const mc_model  *m = lab_open(&l, UP ".", text, r->data);
        const mc_module *q = module(m, UP);
        bool             ok = q->layout == r->layout && q->bits == r->bits && q->group == r->group && q->grain == r->grain && q->symmetric == r->symmetric && q->bytes == r->bytes;
        if (!ok || q->elements != 32768 || q->missing.what || q->shape.what || q->data.what || (q->in && (q->in != 256 || q->out != 128)))
            fail_msg("%s: %s, %g bits, group %" PRIu64 ", grain %d, symmetric %d, %" PRIu64 " bytes, %" PRIu64 " elements of %" PRIu64 " x %" PRIu64 ", missing %s, shape %s, data %s",
                     r->tensors, mc_layout_name(q->layout), q->bits, q->group, (int)q->grain, (int)q->symmetric, q->bytes, q->elements, q->out, q->in,
                     q->missing.what ? q->missing.what : "-", q->shape.what ? q->shape.what : "-", q->data.what ? q->data.what : "-");
        assert_int_equal(m->quant->n_modules, 2);
        assert_int_equal(m->quant->n_orphans, 0);
        assert_int_equal(m->parameters.v, 32768 + 256);
        assert_int_equal(m->quant->n_packed, r->layout != MC_Q_RAW8 && r->layout != MC_Q_PLAIN);
        fixture_free(&l.f);
    }
}

/* ---- without a companion ---- */

static void missing(void **state)
{
    static const struct { const char *tensors, *what; } lacks[] = {
        { "qweight I32 32 128; qzeros I32 2 16; g_idx I32 256", "scales" },
        { "qweight I32 32 128; scales F16 2 128; g_idx I32 256", "qzeros" },
        { "qweight I32 32 128; qzeros I32 0; scales F16 2 128; g_idx I32 256", NULL }, /* an empty one is legal */
        { "qweight I32 256 16; scales F16 2 128", NULL },
        { "weight_packed I32 128 32; weight_shape I64 2", "weight_scale" },
        { "weight_packed I32 128 32; weight_scale BF16 128 2", "weight_shape" },
        { "weight_packed U8 128 128; weight_scale F8_E4M3 128 16", "weight_global_scale" },
        { "weight_packed U8 128 128; weight_global_scale F32 1", "weight_scale" },
        { "weight_packed U8 128 128", "weight_scale" },
        { "weight U8 128 128; weight_scale F8_E4M3 128 16", "weight_scale_2" },
        { "weight U8 128 128; weight_scale_2 F32", "weight_scale" },
        { "weight U8 16384 1; weight.quant_map F32 16; weight.quant_state.bitsandbytes__nf4 U8 80", "weight.absmax" },
        { "weight U8 16384 1; weight.absmax F32 512; weight.quant_state.bitsandbytes__nf4 U8 80", "weight.quant_map" },
        { "weight U8 16384 1; weight.absmax F32 512; weight.quant_map F32 16", "weight.quant_state.bitsandbytes__nf4" },
        { "weight U8 16384 1; weight.absmax U8 512; weight.quant_map F32 16; weight.quant_state.bitsandbytes__nf4 U8 80", "weight.nested_absmax" },
        { "weight U8 16384 1", "weight.absmax" },
        { "weight I8 128 256; weight_format U8", "SCB" },
        { "weight U32 128 32; scales BF16 128 4", "biases" },
        { "weight U32 128 32; biases BF16 128 4", "scales" },
        { "weight U32 128 32; scales U8 128 8", NULL },
        { "W_q U8 256 64; zero F16 512 1; shape I64 2", "scale" },
        { "trellis I16 16 8 48; svh F16 128", "suh" },
        { "trellis I16 16 8 48; suh F16 256", "svh" },
        { "codes I16 128 32 1; scales F16 128 1 1 1", "codebooks" },
        { "weight F8_E4M3 128 256; input_scale F32", NULL }, /* whether scales are due is for the configuration to say */
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(lacks); i++) {
        lab              l;
        const mc_module *q = module(lab_open(&l, UP ".", lacks[i].tensors, NULL), UP);
        if (!lacks[i].what != !q->missing.what || (lacks[i].what && strcmp(lacks[i].what, q->missing.what) != 0))
            fail_msg("%s: missing %s", lacks[i].tensors, q->missing.what ? q->missing.what : "nothing");
        fixture_free(&l.f);
    }
}

/* ---- with one that does not fit ---- */

static const struct { const char *tensors, *tensor; payload data[2]; } odd[] = {
    { "qweight I32 32 128; qzeros I32 2 15; scales F16 2 128; g_idx I32 256", "qzeros", { { 0 } } },
    { "qweight I32 32 128; qzeros I32 2 16; scales F16 4 128; g_idx I32 256", "qzeros", { { 0 } } },
    { "qweight I32 32 128; qzeros I32 2 16; scales F16 2 64; g_idx I32 256", "scales", { { 0 } } },
    { "qweight I32 33 128; qzeros I32 2 16; scales F16 2 128; g_idx I32 256", "qzeros", { { 0 } } },
    { "qweight F16 32 128; qzeros I32 2 16; scales F16 2 128; g_idx I32 256", "qweight", { { 0 } } },
    { "qweight I32 256 16; qzeros I32 4 16; scales F16 2 128", "qzeros", { { 0 } } },
    { "weight_packed I32 128 25; weight_scale BF16 128 2; weight_shape I64 2", "weight_shape", { INTS("weight_shape", 128, 256) } },
    { "weight_packed I32 128 32; weight_scale BF16 64 2; weight_shape I64 2", "weight_scale", { INTS("weight_shape", 128, 256) } },
    { "weight_packed I32 128 32; weight_scale BF16 128 2; weight_zero_point I32 16 4; weight_shape I64 2", "weight_zero_point", { INTS("weight_shape", 128, 256) } },
    { "weight_packed I64 128 32; weight_scale BF16 128 2; weight_shape I64 2", "weight_packed", { { 0 } } },
    { "weight U8 128 128; weight_scale F8_E4M3 128 12; weight_scale_2 F32", "weight_scale", { { 0 } } },
    { "weight U8 128 128; weight_scale F8_E4M3 64 16; weight_scale_2 F32", "weight_scale", { { 0 } } },
    { "weight_packed U8 128 128; weight_scale U8 128 7", "weight_scale", { { 0 } } },
    { "weight U8 16384 1; weight.absmax F16 512; weight.quant_map F32 16; weight.quant_state.bitsandbytes__nf4 U8 80", "weight.absmax", { { 0 } } },
    { "weight I8 128 256; SCB F32 127", "SCB", { { 0 } } },
    { "weight U32 128 32; scales BF16 128 5; biases BF16 128 5", "scales", { { 0 } } },
    { "weight U32 128 32; scales BF16 64 4; biases BF16 64 4", "scales", { { 0 } } },
    { "weight U32 128 32; scales BF16 128 4; biases BF16 128 8", "biases", { { 0 } } },
    { "W_q U8 256 64; scale F16 512 1; zero F16 512 1; shape I64 2", "shape", { INTS("shape", 128, 300) } },
    { "q_weight I32 32 128; q_scale I32 2 16; q_scale_max F16 2; q_groups I16 4; q_invperm I32 256", "q_groups", { { "q_groups", "\4\0\0\0\2\0\20\0", 8 } } },
    { "q_weight I32 32 128; q_scale I32 2 16; q_scale_max F16 3; q_groups I16 4; q_invperm I32 256", "q_scale_max", { { 0 } } },
    { "trellis I16 16 8 48; suh F16 255; svh F16 128", "suh", { { 0 } } },
    { "trellis I32 16 8 48; suh F16 256; svh F16 128", "trellis", { { 0 } } },
    { "codes I16 128 32 2; codebooks F16 1 65536 1 8; scales F16 128 1 1 1", "codebooks", { { 0 } } },
    { "weight U8 64 256; weight_scale F16 127 2", "weight_scale", { { 0 } } },
};

static void unfit(void **state)
{
    (void)state;
    for (size_t i = 0; i < MC_COUNT(odd); i++) {
        lab              l;
        const mc_module *q = module(lab_open(&l, UP ".", odd[i].tensors, odd[i].data), UP);
        if (!q->shape.what || q->missing.what || !mc_str_ends(q->shape.tensor->name, odd[i].tensor))
            fail_msg("%s: %.*s %s, missing %s", odd[i].tensors, q->shape.tensor ? (int)q->shape.tensor->name.n : 0, q->shape.tensor ? q->shape.tensor->name.p : "",
                     q->shape.what ? q->shape.what : "fits", q->missing.what ? q->missing.what : "nothing");
        fixture_free(&l.f);
    }
}

/* ---- data ---- */

#define GPTQ "qweight I32 32 128; qzeros I32 2 16; scales F16 2 128; g_idx I32 256"
#define NF4 "weight U8 16384 1; weight.absmax F32 512; weight.quant_map F32 16; weight.quant_state.bitsandbytes__nf4 U8 "

static const struct { const char *tensors; payload data[2]; const char *what; mc_tri ordered; } reads[] = {
    { GPTQ, { { 0 } }, NULL, MC_UNKNOWN },
    { GPTQ, { WORDS("g_idx", 0, 0, 0, 0) }, NULL, MC_YES },
    { GPTQ, { WORDS("g_idx", 0, 1, 0, 1) }, NULL, MC_NO },
    { GPTQ, { WORDS("g_idx", 0, 2) }, "points beyond the rows of scales", MC_NO },
    { GPTQ, { WORDS("g_idx", UINT32_MAX) }, "has a negative value", MC_NO },
    { NF4 "80", { TEXT("nf4", STATE("nf4")) }, NULL, MC_UNKNOWN },
    { NF4 "80", { { "nf4", "\0\0\0\0", 4 } }, NULL, MC_UNKNOWN }, /* read in part */
    { NF4 "80", { TEXT("nf4", STATE("fp4")) }, "states another quant_type than nf4", MC_UNKNOWN },
    { NF4 "18", { TEXT("nf4", "{\"quant_type\": nf4}") }, "is not valid JSON", MC_UNKNOWN },
    { NF4 "52", { TEXT("nf4", "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[128,64]}") }, "states a shape of other size than the weight", MC_UNKNOWN },
    { NF4 "54", { TEXT("nf4", "{\"quant_type\":\"nf4\",\"blocksize\":128,\"shape\":[128,256]}") }, "states a blocksize that does not fit absmax", MC_UNKNOWN },
};

static void data(void **state)
{
    (void)state;
    for (size_t i = 0; i < MC_COUNT(reads); i++) {
        lab              l;
        const mc_module *q = module(lab_open(&l, UP ".", reads[i].tensors, reads[i].data), UP);
        if (!reads[i].what != !q->data.what || (reads[i].what && strcmp(reads[i].what, q->data.what) != 0) || q->ordered != reads[i].ordered)
            fail_msg("row %zu: %s, ordered %d", i, q->data.what ? q->data.what : "nothing", (int)q->ordered);
        assert_null(q->missing.what);
        fixture_free(&l.f);
    }
}

/* ---- experts ---- */

static void experts(void **state)
{
    static const struct { const char *tensors, *name; mc_layout layout; uint64_t e, out, in; mc_grain grain; } fused[] = {
        { "_blocks U8 4 256 8 16; _scales U8 4 256 8; _bias BF16 4 256", "", MC_Q_MXFP4, 4, 256, 256, G },                          /* gpt-oss */
        { ".blocks U8 4 256 8 16; .scales U8 4 256 8", "", MC_Q_MXFP4, 4, 256, 256, G },                                            /* the names of its makers */
        { " U8 4 128 256; _weight_scale F8_E4M3 4 16 256; _weight_scale_2 F32; _bias BF16 4 256", "", MC_Q_NVFP4, 4, 256, 256, G }, /* ModelOpt: [E, I/2, O] */
        { " F8_E4M3 4 256 256; _scale_inv F32 4 2 2", "", MC_Q_FP8, 4, 256, 256, B },                                               /* transformers */
        { " F8_E4M3 4 256 256; _scale F32 4 1 256", "", MC_Q_FP8, 4, 256, 256, C },                                                 /* Llama-4 by fbgemm */
        { ".weight U32 4 256 32; .scales BF16 4 256 4; .biases BF16 4 256 4", "", MC_Q_MLX, 4, 256, 256, G },                       /* switch_mlp */
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(fused); i++) {
        lab         l;
        char        text[512] = "", *at = NULL, *copy = strdup(fused[i].tensors);
        const char *path = i == 5 ? "model.layers.0.mlp.switch_mlp.gate_proj" : "model.layers.0.mlp.experts.gate_up_proj";
        for (char *one = strtok_r(copy, ";", &at); one; one = strtok_r(NULL, ";", &at)) /* a suffix that begins with a blank is none */
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s%s", text[0] ? "; " : "", path, one + (one > copy && *one == ' '));
        const mc_module *q = module(lab_open(&l, "", text, NULL), path);
        if (q->layout != fused[i].layout || q->experts != fused[i].e || q->out != fused[i].out || q->in != fused[i].in || q->grain != fused[i].grain || q->missing.what || q->shape.what)
            fail_msg("%s: %s, %" PRIu64 " x %" PRIu64 " x %" PRIu64 ", %s", text, mc_layout_name(q->layout), q->experts, q->out, q->in, q->shape.what ? q->shape.what : "fits");
        assert_int_equal(q->cls, MC_CLS_EXPERTS);
        assert_int_equal(q->elements, 4 * 256 * 256);
        assert_false(q->transposed);
        free(copy);
        fixture_free(&l.f);
    }
}

static void blocks_unfit(void **state)
{
    lab              l;
    const mc_module *q = module(lab_open(&l, "", "model.layers.0.mlp.experts.down_proj_blocks U8 1 128 8 16; model.layers.0.mlp.experts.down_proj_scales U8 1 128 7", NULL),
                                "model.layers.0.mlp.experts.down_proj");
    (void)state;
    assert_string_equal(q->shape.what, "has another shape than blocks");
    assert_int_equal(q->shape.a, 8);
    assert_int_equal(q->shape.b, 7);
    fixture_free(&l.f);
    q = module(lab_open(&l, "", "model.layers.0.mlp.experts.down_proj_blocks U8 1 128 8 16", NULL), "model.layers.0.mlp.experts.down_proj");
    assert_string_equal(q->missing.what, "scales");
    fixture_free(&l.f);
}

/* ---- what shapes cannot tell ---- */

static void undecided(void **state)
{
    static const struct { const char *tensors; bool certain; double bits; uint64_t in; const char *who; } rows2[] = {
        { "model.layers.0.mlp.up_proj.weight U32 64 16; model.layers.0.mlp.up_proj.scales F16 64 2; model.layers.0.mlp.up_proj.biases F16 64 2" NORM, true, 2, 256,
          "model.layers.0.post_attention_layernorm.weight" },
        { "model.layers.0.mlp.up_proj.weight U32 64 16; model.layers.0.mlp.up_proj.scales F16 64 2; model.layers.0.mlp.up_proj.biases F16 64 2", true, 2, 256, "hidden_size" },
        { "model.layers.0.mlp.odd.weight U32 64 16; model.layers.0.mlp.odd.scales F16 64 2; model.layers.0.mlp.odd.biases F16 64 2", false, 0, 0, "" },
        { "model.layers.0.mlp.odd.weight U32 64 48; model.layers.0.mlp.odd.scales F16 64 2; model.layers.0.mlp.odd.biases F16 64 2", true, 6, 256, "" },
        { "model.layers.0.mlp.down_proj.weight U32 64 64; model.layers.0.mlp.down_proj.scales F16 64 8; model.layers.0.mlp.down_proj.biases F16 64 8", true, 4, 512, "intermediate_size" },
        { "model.layers.0.mlp.experts.1.down_proj.weight U32 64 16; model.layers.0.mlp.experts.1.down_proj.scales F16 64 2; model.layers.0.mlp.experts.1.down_proj.biases F16 64 2", true,
          4, 128, "moe_intermediate_size" },
        { "model.layers.0.self_attn.o_proj.weight U32 64 16; model.layers.0.self_attn.o_proj.scales F16 64 2; model.layers.0.self_attn.o_proj.biases F16 64 2", true, 2, 256,
          "num_attention_heads * head_dim" },
        { "model.layers.0.self_attn.q_proj.qweight I32 32 64; model.layers.0.self_attn.q_proj.scales F16 2 64", true, 4, 256, "hidden_size" },
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(rows2); i++) {
        lab              l;
        const mc_model  *m = lab_open(&l, "", rows2[i].tensors, NULL);
        const mc_module *q = &m->quant->modules[0];
        if (q->bits_certain != rows2[i].certain || q->bits != rows2[i].bits || q->in != rows2[i].in || !mc_str_is(q->in_witness, rows2[i].who))
            fail_msg("%s: %g bits, in %" PRIu64 " by %.*s", rows2[i].tensors, q->bits, q->in, MC_FMT(q->in_witness));
        assert_int_equal(m->parameters.known, rows2[i].certain);
        fixture_free(&l.f);
    }
}

/* ---- sums and leftovers ---- */

static void transposed(void **state)
{
    lab              l;
    const mc_module *q = module(lab_open(&l, UP ".", "weight U8 128 128; weight_scale F8_E4M3 128 16; weight_scale_2 F32", NULL), UP);
    (void)state;
    assert_false(q->transposed);
    fixture_free(&l.f);
    q = module(lab_open(&l, UP ".", "weight U8 128 512; weight_scale F8_E4M3 512 16; weight_scale_2 F32", NULL), UP);
    assert_true(q->transposed);
    assert_null(q->shape.what);
    assert_int_equal(q->out, 512);
    assert_int_equal(q->in, 256);
    fixture_free(&l.f);
}

static void leftovers(void **state)
{
    static const char tensors[] =
        "model.layers.0.self_attn.k_proj.weight F8_E4M3 128 256; model.layers.0.self_attn.k_proj.weight_scale_inv F32 1 2; model.layers.0.self_attn.k_proj.bias BF16 128; "
        "model.layers.0.self_attn.k_scale F32 1; model.layers.0.self_attn.sinks BF16 4; model.layers.0.mlp.experts.down_proj_scale_inv F32 4 2 1; "
        "model.layers.0.mlp.gate.weight BF16 4 256; model.layers.0.mlp.gate.e_score_correction_bias F32 4; model.layers.0.norm.scale BF16 256; "
        "model.layers.2.eh_proj.weight BF16 256 512; model.layers.2.mlp.experts.0.up_proj.weight BF16 128 256; model.layers.1.mlp.experts.0.up_proj.weight BF16 128 256; "
        "model.embed_tokens.weight BF16 1000 256; lm_head.weight BF16 1000 256; model.rotary_emb.inv_freq F32 32";
    lab             l;
    const mc_model *m = lab_open(&l, "", tensors, NULL);
    const mc_quant *q = m->quant;
    (void)state;
    assert_int_equal(q->n_orphans, 1);
    assert_str(q->orphans[0]->name, "model.layers.0.mlp.experts.down_proj_scale_inv");
    assert_int_equal(module(m, "model.layers.0.mlp.gate")->cls, MC_CLS_ROUTER);
    assert_int_equal(module(m, "model.layers.2.mlp.experts.0.up_proj")->cls, MC_CLS_MTP);
    assert_int_equal(module(m, "model.layers.1.mlp.experts.0.up_proj")->cls, MC_CLS_EXPERTS);
    assert_int_equal(module(m, "lm_head")->cls, MC_CLS_HEAD);
    assert_int_equal(q->biases_on_quantized, 128);
    assert_int_equal(q->mtp_parameters, 256 * 512 + 128 * 256);
    uint64_t main = 128 * 256 + 128 + 4 + 4 * 256 + 4 + 256 + 128 * 256 + 2 * 1000 * 256;
    assert_int_equal(m->parameters.v, main + q->mtp_parameters);
    assert_int_equal(q->active.v, main - 128 * 256 / 2); /* two of four experts */
    assert_int_equal(q->by_class[MC_CLS_ATTENTION].packed_parameters, 128 * 256);
    assert_int_equal(q->bits.v, 8);
    assert_int_equal(q->grain, MC_GRAIN_BLOCK);
    assert_int_equal(q->block[0], 128);
    assert_str(q->seen, "fp8");
    fixture_free(&l.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole), cmocka_unit_test(missing),   cmocka_unit_test(unfit),      cmocka_unit_test(data),      cmocka_unit_test(experts),
        cmocka_unit_test(blocks_unfit), cmocka_unit_test(undecided), cmocka_unit_test(transposed), cmocka_unit_test(leftovers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
