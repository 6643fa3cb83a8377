/* Sizes by the program's own functions, from headers of models at published size: bits per weight of one matrix of each method,
 * of whole checkpoints, logical parameters and exact bytes. The expected numbers are worked by hand from the writers' layouts. */
#include "written.h"

#include <math.h>

#include "model/quant.h"
#include "report/report.h"

/* ---- how methods store a matrix of O rows (outputs) and I columns (inputs) ---- */

typedef struct method method;
typedef void pack(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how);
struct method {
    const char *name;
    pack       *pack;
    uint64_t    bits, group;    /* group 0: the whole row */
    unsigned    flags;
    double      linear;         /* bits per weight of 4096 x 4096 */
    double      whole[5];       /* Llama-2-7B, Llama-3.1-8B, Qwen2.5-7B, Qwen2.5-0.5B, the last with its head stored twice; 0: not asked */
};
enum { INDEX = 1, ZEROS = 2, PADDED = 4, NESTED = 8, EVERYTHING = 16 /* embedding and head too */, HEAD6 = 32 };

static uint64_t ceil_div(uint64_t n, uint64_t d)
{
    return (n + d - 1) / d;
}

static uint64_t groups(uint64_t i, const method *how)
{
    return how->group ? ceil_div(i, how->group) : 1;
}

static void put_ints(w_model *w, const char *m, const char *suffix, const int64_t *v, size_t n)
{
    w_put(w, m, suffix, "I64", (const uint64_t[]){ n }, 1, v, n * 8);
}

static void gptq(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    W_PUT(w, m, ".qweight", "I32", ceil_div(i * how->bits, 32), o);
    W_PUT(w, m, ".qzeros", "I32", groups(i, how), ceil_div(o * how->bits, 32));
    W_PUT(w, m, ".scales", "F16", groups(i, how), o);
    if (how->flags & INDEX)
        W_PUT(w, m, ".g_idx", "I32", i);
}

static void awq(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    W_PUT(w, m, ".qweight", "I32", i, o / 8);
    W_PUT(w, m, ".qzeros", "I32", groups(i, how), o / 8);
    W_PUT(w, m, ".scales", "F16", groups(i, how), o);
}

static void ct_pack(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    uint64_t words = how->flags & PADDED ? ceil_div(i, 32 / how->bits) : ceil_div(i * how->bits, 32);
    W_PUT(w, m, ".weight_packed", "I32", o, words);
    W_PUT(w, m, ".weight_scale", "BF16", o, groups(i, how));
    put_ints(w, m, ".weight_shape", (const int64_t[]){ (int64_t)o, (int64_t)i }, 2);
    if (how->flags & ZEROS)
        W_PUT(w, m, ".weight_zero_point", "I32", ceil_div(o * how->bits, 32), groups(i, how));
}

static void bnb8(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    (void)how;
    W_PUT(w, m, ".weight", "I8", o, i);
    W_PUT(w, m, ".SCB", "F32", o);
    w_put(w, m, ".weight_format", "U8", NULL, 0, NULL, 0);
}

static void nf4(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    char     state[128];
    uint64_t n = o * i, blocks = n / 64;
    int      len = snprintf(state, sizeof state, "{\"quant_type\": \"nf4\", \"blocksize\": 64, \"dtype\": \"float16\", \"shape\": [%" PRIu64 ", %" PRIu64 "]}", o, i);
    W_PUT(w, m, ".weight", "U8", n / 2, 1);
    if (how->flags & NESTED) {
        len = snprintf(state, sizeof state, "{\"quant_type\":\"nf4\",\"blocksize\":64,\"dtype\":\"float16\",\"shape\":[%" PRIu64 ",%" PRIu64 "],\"nested_blocksize\":256,\"nested_offset\":0.1}", o, i);
        W_PUT(w, m, ".weight.absmax", "U8", blocks);
        W_PUT(w, m, ".weight.nested_absmax", "F32", ceil_div(blocks, 256));
        W_PUT(w, m, ".weight.nested_quant_map", "F32", 256);
    } else {
        W_PUT(w, m, ".weight.absmax", "F32", blocks);
    }
    W_PUT(w, m, ".weight.quant_map", "F32", 16);
    w_put(w, m, ".weight.quant_state.bitsandbytes__nf4", "U8", (const uint64_t[]){ (uint64_t)len }, 1, state, (size_t)len);
}

static void channel(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    (void)how;
    W_PUT(w, m, ".weight", "F8_E4M3", o, i);
    W_PUT(w, m, ".weight_scale", "BF16", o, 1);
}

static void int8(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    (void)how;
    W_PUT(w, m, ".weight", "I8", o, i);
    W_PUT(w, m, ".weight_scale", "BF16", o, 1);
}

static void per_tensor(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    (void)how;
    W_PUT(w, m, ".weight", "F8_E4M3", o, i);
    w_put(w, m, ".weight_scale", "F32", NULL, 0, NULL, 0);
    w_put(w, m, ".input_scale", "F32", NULL, 0, NULL, 0);
}

static void block(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    W_PUT(w, m, ".weight", "F8_E4M3", o, i);
    W_PUT(w, m, ".weight_scale_inv", "F32", ceil_div(o, how->group), ceil_div(i, how->group));
}

static void nvfp4(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    (void)how;
    W_PUT(w, m, ".weight", "U8", o, i / 2);
    W_PUT(w, m, ".weight_scale", "F8_E4M3", o, i / 16);
    w_put(w, m, ".weight_scale_2", "F32", NULL, 0, NULL, 0);
    w_put(w, m, ".input_scale", "F32", NULL, 0, NULL, 0);
}

static void ct_nvfp4(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    (void)how;
    W_PUT(w, m, ".weight_packed", "U8", o, i / 2);
    W_PUT(w, m, ".weight_scale", "F8_E4M3", o, i / 16);
    W_PUT(w, m, ".weight_global_scale", "F32", 1);
}

static void mxfp4(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    (void)how;
    W_PUT(w, m, ".weight_packed", "U8", o, i / 2);
    W_PUT(w, m, ".weight_scale", "U8", o, i / 32);
}

static void mxfp6(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    (void)how;
    W_PUT(w, m, ".weight", "U8", o, i * 3 / 4);
    W_PUT(w, m, ".weight_scale", "U8", o, i / 32);
}

static void mxfp8(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    (void)how;
    W_PUT(w, m, ".weight", "F8_E4M3", o, i);
    W_PUT(w, m, ".weight_scale", "U8", o, i / 32);
}

static void hqq(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    uint64_t rows = o * i / how->group;
    int32_t  bits = (int32_t)how->bits, axis = 1, group = (int32_t)how->group;
    if (how->bits == 3)
        W_PUT(w, m, ".W_q", "I32", ceil_div(rows, 10), how->group);
    else
        W_PUT(w, m, ".W_q", "U8", rows * how->bits / 8, how->group);
    W_PUT(w, m, ".scale", "F16", rows, 1);
    W_PUT(w, m, ".zero", "F16", rows, 1);
    put_ints(w, m, ".shape", (const int64_t[]){ (int64_t)o, (int64_t)i }, 2);
    w_put(w, m, ".nbits", "I32", NULL, 0, &bits, 4);
    w_put(w, m, ".group_size", "I32", NULL, 0, &group, 4);
    w_put(w, m, ".axis", "I32", NULL, 0, &axis, 4);
}

static void aqlm(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    uint64_t books = how->bits == 16 ? 1 : 2;
    W_PUT(w, m, ".codes", how->bits == 16 ? "I16" : "I8", o, i / 8, books);
    W_PUT(w, m, ".codebooks", "F16", books, UINT64_C(1) << how->bits, 1, 8);
    W_PUT(w, m, ".scales", "F16", o, 1, 1, 1);
}

static void quanto(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    W_PUT(w, m, ".weight._data._data", "U8", o * i / how->group * how->bits / 8, how->group);
    W_PUT(w, m, ".weight._scale", "BF16", o * i / how->group, 1);
    W_PUT(w, m, ".weight._shift", "BF16", o * i / how->group, 1);
}

static void eetq(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    (void)how;
    W_PUT(w, m, ".weight", "I8", i, o);
    W_PUT(w, m, ".weight_scales", "F16", o);
}

static void exl3(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    uint64_t k = how->flags & HEAD6 && strcmp(m, "lm_head") == 0 ? 6 : how->bits;
    W_PUT(w, m, ".trellis", "I16", i / 16, o / 16, 16 * k);
    W_PUT(w, m, ".suh", "F16", i);
    W_PUT(w, m, ".svh", "F16", o);
}

static void mlx(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    W_PUT(w, m, ".weight", "U32", o, i * how->bits / 32);
    W_PUT(w, m, ".scales", "BF16", o, groups(i, how));
    W_PUT(w, m, ".biases", "BF16", o, groups(i, how));
}

static void mlx_mxfp4(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    W_PUT(w, m, ".weight", "U32", o, i * how->bits / 32);
    W_PUT(w, m, ".scales", "U8", o, groups(i, how));
}

static void quip(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    (void)how;
    W_PUT(w, m, ".Qidxs", "I64", o, i / 32);
    W_PUT(w, m, ".SU", "F16", i);
    W_PUT(w, m, ".SV", "F16", o);
    w_put(w, m, ".Wscale", "F32", NULL, 0, NULL, 0);
    w_put(w, m, ".codebook_id", "I64", NULL, 0, NULL, 0);
}

static void bitnet(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    (void)how;
    W_PUT(w, m, ".weight", "U8", o / 4, i);
    W_PUT(w, m, ".weight_scale", "BF16", 1);
}

static void marlin(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    W_PUT(w, m, ".B", "I32", i / 16, o * 2);
    W_PUT(w, m, ".s", "F16", groups(i, how), o);
}

static void plain(w_model *w, const char *m, uint64_t o, uint64_t i, const method *how)
{
    (void)how;
    W_PUT(w, m, ".weight", "BF16", o, i);
}

static const method methods[] = {
    { "BF16", plain, 16, 0, 0, 16, { 16, 16, 16, 16, 20.41 } },
    { "GPTQ 4b g128 with g_idx", gptq, 4, 128, INDEX, 4.1641, { 4.623, 5.711, 5.857, 7.438, 11.85 } },
    { "GPTQ 4b g128", gptq, 4, 128, 0, 4.1562, { 4.617, 5.706, 5.852, 7.422, 11.83 } },
    { "GPTQ 4b g64", gptq, 4, 64, INDEX, 4.3203, { 4.773, 5.847, 5.991, 7.551, 11.96 } },
    { "GPTQ 4b g32", gptq, 4, 32, INDEX, 4.6328, { 5.073, 6.119, 6.258, 7.777, 12.19 } },
    { "GPTQ 4b g -1", gptq, 4, 0, INDEX, 4.0127, { 4.477, 5.579, 5.726, 7.337, 11.75 } },
    { "GPTQ 8b g128", gptq, 8, 128, INDEX, 8.1953, { 8.497, 9.215, 9.311, 10.357, 14.77 } },
    { "GPTQ 8b g -1", gptq, 8, 0, INDEX, 8.0137, { 8.322, 9.056, 9.155, 10.236, 14.65 } },
    { "GPTQ 3b g128", gptq, 3, 128, INDEX, 3.1562, { 3.654, 4.835, 4.993, 6.708, 11.12 } },
    { "GPTQ 2b g64", gptq, 2, 64, INDEX, 2.2891, { 2.821, 4.082, 4.250, 6.079, 10.49 } },
    { "AWQ 4b g128", awq, 4, 128, 0, 4.1562, { 4.617, 5.706, 5.852, 7.422, 11.83 } },
    { "AWQ 4b g64", awq, 4, 64, 0, 4.3125, { 4.768, 5.842, 5.986, 7.535, 11.94 } },
    { "Marlin 4b g128", marlin, 4, 128, 0, 4.125, { 4.587, 5.679, 5.825, 7.399, 11.81 } },
    { "CT W4A16 g128 sym", ct_pack, 4, 128, 0, 4.125, { 4.587, 5.679, 5.825, 7.399, 11.81 } },
    { "CT W4A16 g128 asym", ct_pack, 4, 128, ZEROS, 4.1563, { 4.617, 5.706, 5.852, 7.422, 11.83 } },
    { "CT W4A16 g32 sym", ct_pack, 4, 32, 0, 4.5, { 4.948, 6.005, 6.146, 7.671, 12.08 } },
    { "CT W3A16 g128 dense", ct_pack, 3, 128, 0, 3.125, { 3.626, 4.810, 4.968, 6.675, 11.08 } },
    { "CT W3A16 g128 padded", ct_pack, 3, 128, PADDED, 3.328, { 3.821, 4.986, 5.143, 6.828, 11.24 } },
    { "bnb int8", bnb8, 8, 0, 0, 8.0078, { 8.318, 9.052, 9.151, 10.225, 14.63 } },
    { "bnb nf4", nf4, 4, 64, 0, 4.5001, { 4.948, 6.005, 6.146, 7.671, 12.08 } },
    { "bnb nf4 double", nf4, 4, 64, NESTED, 4.1275, { 4.590, 5.681, 5.827, 7.404, 11.81 } },
    { "FP8 per channel", channel, 8, 0, 0, 8.0039, { 8.315, 9.050, 9.148, 10.215, 14.62 } },
    { "INT8 per channel", int8, 8, 0, 0, 8.0039, { 8.315, 9.050, 9.148, 10.215, 14.62 } },
    { "FP8 per tensor", per_tensor, 8, 0, 0, 8.000, { 8.312, 9.047, 9.145, 10.206, 14.62 } },
    { "FP8 block 128", block, 8, 128, 0, 8.002, { 8.313, 9.049, 9.147, 10.207, 14.62 } },
    { "NVFP4", nvfp4, 4, 16, 0, 4.5, { 4.948, 6.005, 6.146, 7.671, 12.08 } },
    { "CT NVFP4", ct_nvfp4, 4, 16, 0, 4.5, { 4.948, 6.005, 6.146, 7.671, 12.08 } },
    { "MXFP4", mxfp4, 4, 32, 0, 4.25, { 4.708, 5.788, 5.932, 7.490, 11.90 } },
    { "MXFP6", mxfp6, 6, 32, 0, 6.25, { 0 } },
    { "MXFP8", mxfp8, 8, 32, 0, 8.25, { 8.552, 9.264, 9.360, 10.387, 14.80 } },
    { "HQQ 4b g64", hqq, 4, 64, 0, 4.5001, { 4.948, 6.005, 6.146, 7.671, 12.08 } },
    { "HQQ 3b g64", hqq, 3, 64, 0, 3.7002, { 4.179, 5.310, 5.461, 7.092, 11.50 } },
    { "HQQ 2b g16", hqq, 2, 16, 0, 4.0001, { 4.467, 5.571, 5.718, 7.309, 11.72 } },
    { "AQLM 1x16 g8", aqlm, 16, 0, 0, 2.5039, { 2.827, 4.069, 4.223, 8.722, 13.13 } },
    { "AQLM 2x8 g8", aqlm, 8, 0, 0, 2.0078, { 2.551, 3.837, 4.009, 5.892, 10.30 } },
    { "quanto int4 g128", quanto, 4, 128, 0, 4.25, { 4.708, 5.788, 5.932, 7.490, 11.90 } },
    { "eetq", eetq, 8, 0, 0, 8.0039, { 8.315, 9.050, 9.148, 10.215, 14.62 } },
    { "exl3 K 3, head 6", exl3, 3, 0, HEAD6, 3.0078, { 3.318, 4.053, 4.151, 8.260, 0 } },
    { "exl3 K 4, head 6", exl3, 4, 0, HEAD6, 4.0078, { 4.279, 4.922, 5.008, 8.985, 0 } },
    { "MLX 4b g64", mlx, 4, 64, EVERYTHING, 4.5, { 4.5, 4.5, 4.501, 4.502, 0 } },
    { "MLX 4b g32", mlx, 4, 32, EVERYTHING, 5.0, { 5.0, 5.0, 5.0, 5.002, 0 } },
    { "MLX 3b g64", mlx, 3, 64, EVERYTHING, 3.5, { 3.5, 3.5, 3.501, 3.502, 0 } },
    { "MLX 6b g64", mlx, 6, 64, EVERYTHING, 6.5, { 6.5, 6.5, 6.5, 6.501, 0 } },
    { "MLX 8b g64", mlx, 8, 64, EVERYTHING, 8.5, { 8.5, 8.5, 8.5, 8.501, 0 } },
    { "MLX mxfp4", mlx_mxfp4, 4, 32, EVERYTHING, 4.25, { 4.25, 4.25, 4.25, 4.252, 0 } },
    { "QuIP# 2b", quip, 2, 0, 0, 2.0078, { 0 } },
    { "bitnet", bitnet, 2, 0, 0, 2.0, { 0 } },
};

/* ---- one matrix ---- */

static double linear_bits(const method *how, uint64_t o, uint64_t i, mc_kb *kb, uint64_t *parameters)
{
    w_model  w;
    mc_arena a = arena_new();
    char     config[256];
    w_begin(&w);
    how->pack(&w, "model.layers.0.mlp.up_proj", o, i, how);
    W_PUT(&w, "model.layers.0.input_layernorm", ".weight", "BF16", i);
    snprintf(config, sizeof config, "{\"model_type\":\"llama\",\"hidden_size\":%" PRIu64 ",\"intermediate_size\":%" PRIu64 "}", i, o);
    w_write(&w, config);
    mc_model *m = w_scan(&w, kb, &a);
    double    bits = m->quant && m->quant->linear_known ? m->quant->linear_bpw : -1;
    *parameters = m->parameters.known ? (uint64_t)m->parameters.v - i : 0; /* without the norm */
    mc_model_free(m);
    mc_arena_free(&a);
    w_end(&w);
    return bits;
}

static void bits_of_one_matrix(void **state)
{
    (void)state;
    mc_kb    kb;
    uint64_t parameters;
    size_t   bad = 0;
    assert_int_equal(mc_kb_init(&kb).code, MC_OK);
    for (size_t i = 0; i < MC_COUNT(methods); i++) {
        double bits = linear_bits(&methods[i], 4096, 4096, &kb, &parameters);
        if (fabs(bits - methods[i].linear) <= 0.0006 && parameters == 4096 * 4096)
            continue;
        bad++;
        print_error("%s: %.5f bits, wants %.4f; %" PRIu64 " parameters\n", methods[i].name, bits, methods[i].linear, parameters);
    }
    assert_int_equal(bad, 0);
    mc_kb_free(&kb);
}

/* ---- whole checkpoints ---- */

typedef struct {
    const char *name, *type, *architecture;
    uint64_t    layers, hidden, intermediate, heads, kv_heads, vocab;
    bool        tied, qkv_bias, twice;
    int64_t     parameters;
} checkpoint;

static const checkpoint checkpoints[] = {
    { "Llama-2-7B", "llama", "LlamaForCausalLM", 32, 4096, 11008, 32, 32, 32000, false, false, false, 6738415616 },
    { "Llama-3.1-8B", "llama", "LlamaForCausalLM", 32, 4096, 14336, 32, 8, 128256, false, false, false, 8030261248 },
    { "Qwen2.5-7B", "qwen2", "Qwen2ForCausalLM", 28, 3584, 18944, 28, 4, 152064, false, true, false, 7615616512 },
    { "Qwen2.5-0.5B", "qwen2", "Qwen2ForCausalLM", 24, 896, 4864, 14, 2, 151936, true, true, false, 494032768 },
    { "Qwen2.5-0.5B, head twice", "qwen2", "Qwen2ForCausalLM", 24, 896, 4864, 14, 2, 151936, true, true, true, 494032768 },
};

static void put_layer(w_model *w, const checkpoint *c, const method *how, uint64_t layer)
{
    uint64_t q = c->hidden, kv = c->hidden / c->heads * c->kv_heads;
    const struct { const char *name; uint64_t o, i; bool bias; } parts[] = {
        { "self_attn.q_proj", q, c->hidden, true },          { "self_attn.k_proj", kv, c->hidden, true },            { "self_attn.v_proj", kv, c->hidden, true },
        { "self_attn.o_proj", c->hidden, q, false },         { "mlp.gate_proj", c->intermediate, c->hidden, false }, { "mlp.up_proj", c->intermediate, c->hidden, false },
        { "mlp.down_proj", c->hidden, c->intermediate, false },
    };
    char name[96];
    for (size_t i = 0; i < MC_COUNT(parts); i++) {
        snprintf(name, sizeof name, "model.layers.%" PRIu64 ".%s", layer, parts[i].name);
        how->pack(w, name, parts[i].o, parts[i].i, how);
        if (parts[i].bias && c->qkv_bias)
            W_PUT(w, name, ".bias", "BF16", parts[i].o);
    }
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "model.layers.%" PRIu64 ".%s_layernorm", layer, i ? "post_attention" : "input");
        W_PUT(w, name, ".weight", "BF16", c->hidden);
    }
}

static void put_checkpoint(w_model *w, const checkpoint *c, const method *how)
{
    bool everything = how->flags & EVERYTHING, head = how->flags & (EVERYTHING | HEAD6);
    (everything ? how->pack : plain)(w, "model.embed_tokens", c->vocab, c->hidden, how);
    for (uint64_t i = 0; i < c->layers; i++)
        put_layer(w, c, how, i);
    W_PUT(w, "model.norm", ".weight", "BF16", c->hidden);
    if (!c->tied || c->twice || (how->flags & HEAD6)) /* EXL3 stores a tied head too */
        (head ? how->pack : plain)(w, "lm_head", c->vocab, c->hidden, how);
    char config[512];
    snprintf(config, sizeof config,
             "{\"architectures\":[\"%s\"],\"model_type\":\"%s\",\"num_hidden_layers\":%" PRIu64 ",\"hidden_size\":%" PRIu64 ",\"intermediate_size\":%" PRIu64
             ",\"num_attention_heads\":%" PRIu64 ",\"num_key_value_heads\":%" PRIu64 ",\"vocab_size\":%" PRIu64 ",\"tie_word_embeddings\":%s}",
             c->architecture, c->type, c->layers, c->hidden, c->intermediate, c->heads, c->kv_heads, c->vocab, c->tied ? "true" : "false");
    w_write(w, config);
}

static size_t judge(const checkpoint *c, const method *how, double want, mc_kb *kb)
{
    w_model  w;
    mc_arena a = arena_new();
    double   bits = -1;
    w_begin(&w);
    put_checkpoint(&w, c, how);
    mc_model *m = w_scan(&w, kb, &a);
    (void)mc_bits_per_weight(m, &bits);
    double tolerance = want < 10 ? 0.0016 : 0.011; /* names of the table are rounded; scalars and states add up to a thousandth */
    bool   good = fabs(bits - want) <= tolerance && m->parameters.known && m->parameters.v == c->parameters && m->expected.known && m->expected.v == c->parameters;
    if (!good)
        print_error("%s, %s: %.4f bits, wants %.3f; %" PRId64 " parameters, expected %" PRId64 "\n", c->name, how->name, bits, want, m->parameters.known ? m->parameters.v : -1,
                    m->expected.v);
    mc_model_free(m);
    mc_arena_free(&a);
    w_end(&w);
    return !good;
}

static void bits_of_whole_checkpoints(void **state)
{
    (void)state;
    mc_kb  kb;
    size_t bad = 0;
    assert_int_equal(mc_kb_init(&kb).code, MC_OK);
    for (size_t i = 0; i < MC_COUNT(methods); i++)
        for (size_t k = 0; k < MC_COUNT(checkpoints); k++)
            if (methods[i].whole[k] > 0)
                bad += judge(&checkpoints[k], &methods[i], methods[i].whole[k], &kb);
    assert_int_equal(bad, 0);
    mc_kb_free(&kb);
}

/* ---- to the byte ---- */

/* A published model: gpt-oss, whose experts alone are MXFP4. */
static void gpt_oss(uint64_t layers, uint64_t experts, int64_t parameters, int64_t bytes, int64_t active, mc_kb *kb)
{
    enum { HIDDEN = 2880, Q = 64 * 64, KV = 8 * 64, VOCAB = 201088 };
    w_model  w;
    mc_arena a = arena_new();
    char     p[96], config[512];
    w_begin(&w);
    plain(&w, "model.embed_tokens", VOCAB, HIDDEN, NULL);
    plain(&w, "lm_head", VOCAB, HIDDEN, NULL);
    W_PUT(&w, "model.norm", ".weight", "BF16", HIDDEN);
    for (uint64_t i = 0; i < layers; i++) {
        const struct { const char *name; uint64_t o, i; } parts[] = { { "q", Q, HIDDEN }, { "k", KV, HIDDEN }, { "v", KV, HIDDEN }, { "o", HIDDEN, Q } };
        for (size_t k = 0; k < MC_COUNT(parts); k++) {
            snprintf(p, sizeof p, "model.layers.%" PRIu64 ".self_attn.%s_proj", i, parts[k].name);
            plain(&w, p, parts[k].o, parts[k].i, NULL);
            W_PUT(&w, p, ".bias", "BF16", parts[k].o);
        }
        snprintf(p, sizeof p, "model.layers.%" PRIu64 ".", i);
        W_PUT(&w, p, "self_attn.sinks", "BF16", 64);
        W_PUT(&w, p, "input_layernorm.weight", "BF16", HIDDEN);
        W_PUT(&w, p, "post_attention_layernorm.weight", "BF16", HIDDEN);
        W_PUT(&w, p, "mlp.router.weight", "BF16", experts, HIDDEN);
        W_PUT(&w, p, "mlp.router.bias", "BF16", experts);
        W_PUT(&w, p, "mlp.experts.gate_up_proj_blocks", "U8", experts, 2 * HIDDEN, HIDDEN / 32, 16);
        W_PUT(&w, p, "mlp.experts.gate_up_proj_scales", "U8", experts, 2 * HIDDEN, HIDDEN / 32);
        W_PUT(&w, p, "mlp.experts.gate_up_proj_bias", "BF16", experts, 2 * HIDDEN);
        W_PUT(&w, p, "mlp.experts.down_proj_blocks", "U8", experts, HIDDEN, HIDDEN / 32, 16);
        W_PUT(&w, p, "mlp.experts.down_proj_scales", "U8", experts, HIDDEN, HIDDEN / 32);
        W_PUT(&w, p, "mlp.experts.down_proj_bias", "BF16", experts, HIDDEN);
    }
    snprintf(config, sizeof config,
             "{\"architectures\":[\"GptOssForCausalLM\"],\"model_type\":\"gpt_oss\",\"num_hidden_layers\":%" PRIu64 ",\"hidden_size\":2880,\"intermediate_size\":2880,\"num_local_experts\":%" PRIu64
             ",\"num_experts_per_tok\":4,\"vocab_size\":201088,\"tie_word_embeddings\":false,\"quantization_config\":{\"quant_method\":\"mxfp4\"}}", layers, experts);
    w_write(&w, config);
    mc_model *m = w_scan(&w, kb, &a);
    assert_true(m->parameters.known && m->weights_bytes.known);
    assert_int_equal(m->parameters.v, parameters);
    if (bytes)
        assert_int_equal(m->weights_bytes.v, bytes);
    assert_non_null(m->quant);
    assert_str(m->quant->method.v, "mxfp4");
    assert_int_equal(m->quant->bits.v, 4);
    assert_int_equal(m->quant->group.v, 32);
    assert_true(m->quant->active.known);
    assert_int_equal(m->quant->active.v, active);
    mc_model_free(m);
    mc_arena_free(&a);
    w_end(&w);
}

static void published_bytes(void **state)
{
    (void)state;
    mc_kb kb;
    assert_int_equal(mc_kb_init(&kb).code, MC_OK);
    /* per expert and layer: 3 matrices of 2880 x 2880 and their biases (5760 + 2880) */
    int64_t expert = INT64_C(3) * 2880 * 2880 + 8640;
    gpt_oss(24, 32, 20914757184, 13761264768, 20914757184 - 24 * 28 * expert, &kb);
    gpt_oss(36, 128, 116829156672, 0, 116829156672 - 36 * 124 * expert, &kb);
    mc_kb_free(&kb);
}

/* The layouts of one small linear, 256 inputs and 128 outputs: bytes of all tensors, logical parameters. */
static void small_linears(void **state)
{
    (void)state;
    static const struct { method how; uint64_t bytes; } rows[] = {
        { { .name = "GPTQ 4b g128", .pack = gptq, .bits = 4, .group = 128, .flags = INDEX }, 18048 },
        { { .name = "GPTQ 8b g128", .pack = gptq, .bits = 8, .group = 128, .flags = INDEX }, 34560 },
        { { .name = "GPTQ 3b g128", .pack = gptq, .bits = 3, .group = 128, .flags = INDEX }, 13920 },
        { { .name = "GPTQ 2b g64", .pack = gptq, .bits = 2, .group = 64, .flags = INDEX }, 10368 },
        { { .name = "GPTQ 4b g -1", .pack = gptq, .bits = 4, .flags = INDEX }, 17728 },
        { { .name = "AWQ gemm g128", .pack = awq, .bits = 4, .group = 128 }, 17024 },
        { { .name = "Marlin 4b g128", .pack = marlin, .bits = 4, .group = 128 }, 16896 },
        { { .name = "bnb int8", .pack = bnb8, .bits = 8 }, 33281 },
        { { .name = "CT pack 4b sym", .pack = ct_pack, .bits = 4, .group = 128 }, 16912 },
        { { .name = "CT pack 4b asym", .pack = ct_pack, .bits = 4, .group = 128, .flags = ZEROS }, 17040 },
        { { .name = "CT pack 3b dense", .pack = ct_pack, .bits = 3, .group = 128 }, 12816 },
        { { .name = "CT pack 3b padded", .pack = ct_pack, .bits = 3, .group = 128, .flags = PADDED }, 13840 },
        { { .name = "CT int8 channel", .pack = int8, .bits = 8 }, 33024 },
        { { .name = "CT nvfp4", .pack = ct_nvfp4, .bits = 4 }, 18436 },
        { { .name = "CT mxfp4", .pack = mxfp4, .bits = 4 }, 17408 },
        { { .name = "FP8 block", .pack = block, .bits = 8, .group = 128 }, 32776 },
        { { .name = "ModelOpt FP8", .pack = per_tensor, .bits = 8 }, 32776 },
        { { .name = "ModelOpt NVFP4", .pack = nvfp4, .bits = 4 }, 18440 },
        { { .name = "MXFP8", .pack = mxfp8, .bits = 8 }, 33792 },
        { { .name = "MLX 4b g64", .pack = mlx, .bits = 4, .group = 64 }, 18432 },
        { { .name = "MLX 3b g64", .pack = mlx, .bits = 3, .group = 64 }, 14336 },
        { { .name = "MLX 8b g32", .pack = mlx, .bits = 8, .group = 32 }, 36864 },
        { { .name = "MLX mxfp4", .pack = mlx_mxfp4, .bits = 4, .group = 32 }, 17408 },
        { { .name = "AQLM 1x16", .pack = aqlm, .bits = 16 }, 1057024 },
        { { .name = "QuIP# 2b", .pack = quip, .bits = 2 }, 8972 },
        { { .name = "exl3 K 3", .pack = exl3, .bits = 3 }, 13056 },
        { { .name = "bitnet", .pack = bitnet, .bits = 2 }, 8194 },
        { { .name = "eetq", .pack = eetq, .bits = 8 }, 33024 },
        { { .name = "quanto int4 g128", .pack = quanto, .bits = 4, .group = 128 }, 17408 },
    };
    mc_kb  kb;
    size_t bad = 0;
    assert_int_equal(mc_kb_init(&kb).code, MC_OK);
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        w_model  w;
        mc_arena a = arena_new();
        w_begin(&w);
        rows[i].how.pack(&w, "model.layers.0.mlp.up_proj", 128, 256, &rows[i].how);
        w_write(&w, "{\"model_type\":\"llama\",\"hidden_size\":256,\"intermediate_size\":128}");
        mc_model *m = w_scan(&w, &kb, &a);
        if (!m->parameters.known || m->parameters.v != 32768 || !m->weights_bytes.known || m->weights_bytes.v != (int64_t)rows[i].bytes) {
            print_error("%s: %" PRId64 " parameters, %" PRId64 " bytes, wants %" PRIu64 "\n", rows[i].how.name, m->parameters.known ? m->parameters.v : -1, m->weights_bytes.v,
                        rows[i].bytes);
            bad++;
        }
        mc_model_free(m);
        mc_arena_free(&a);
        w_end(&w);
    }
    assert_int_equal(bad, 0);
    mc_kb_free(&kb);
}

/* ---- labels ---- */

static void labels_in_names(void **state)
{
    (void)state;
    static const struct { const char *name, *label; double bits; } rows[] = {
        { "Llama-3.1-8B-Instruct-W4A16", "W4A16", 4 }, { "Qwen3-14B-MLX-4bit", "4bit", 4 }, { "Qwen-VL-Chat-Int4", "Int4", 4 }, { "x-FP8-dynamic", "FP8", 8 },
        { "Qwen3-235B-A22B-NVFP4", "NVFP4", 4 }, { "Llama-3-8B-3.5bpw-exl2", "3.5bpw", 3.5 }, { "m-4-bit", "4-bit", 4 }, { "model.w8a8.safetensors", "w8a8", 8 },
        { "Llama-3.1-8B", "", 0 }, { "gemma-3n-E4B-it", "", 0 }, { "model-00004-of-00008", "", 0 }, { "Qwen2.5-7B-Instruct-GPTQ", "", 0 }, { "x-W4A8-FP8", "", 0 }, { "", "", 0 },
        { "v4.2", "", 0 }, { "4bit", "4bit", 4 }, { "model_8bits", "8bits", 8 }, { "0bit", "", 0 }, { "9bit", "", 0 }, { "w4a", "", 0 }, { "phi-4-w4a16-awq", "w4a16", 4 },
    };
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        mc_bits_label l = mc_bits_label_of(S(rows[i].name));
        assert_str(l.text, rows[i].label);
        assert_true(fabs(l.bits - rows[i].bits) < 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_of_one_matrix), cmocka_unit_test(bits_of_whole_checkpoints), cmocka_unit_test(published_bytes), cmocka_unit_test(small_linears),
        cmocka_unit_test(labels_in_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
