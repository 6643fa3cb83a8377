/* Cache element types. Block types store their scales with each block (ggml: block_q8_0 and the others of ggml-common.h);
 * fp8 has one scale per tensor, which is left out. nvfp4 and fp4_e2m1: 16 values of 4 bits and one byte of scale.
 * The per-token-head types of vLLM add an f32 scale to each head of a token; fp8_ds_mla is a row of DeepSeek-V3.2: 512 values of
 * fp8, a scale for each 128 of them, and 64 rotary values of 16 bits. */
#include "floor/engine.h"

bool mc_kv_type(mc_str name, uint32_t *block, uint32_t *bytes)
{
    static const struct { const char *name; uint32_t block, bytes; } types[] = {
        { "f32", 1, 4 },       { "float32", 1, 4 },  { "f16", 1, 2 },       { "float16", 1, 2 },  { "bf16", 1, 2 },     { "bfloat16", 1, 2 },
        { "fp8", 1, 1 },       { "fp8_e4m3", 1, 1 }, { "fp8_e5m2", 1, 1 },  { "q8_0", 32, 34 },   { "q5_1", 32, 24 },   { "q5_0", 32, 22 },
        { "q4_1", 32, 20 },    { "q4_0", 32, 18 },   { "iq4_nl", 32, 18 },  { "nvfp4", 16, 9 },   { "fp4_e2m1", 16, 9 }, { "fp8_ds_mla", 1, 1 },
        { "fp8_per_token_head", 1, 1 }, { "int8_per_token_head", 1, 1 },
    };
    for (size_t i = 0; i < MC_COUNT(types); i++)
        if (mc_str_is(name, types[i].name)) {
            *block = types[i].block;
            *bytes = types[i].bytes;
            return true;
        }
    return false;
}

bool mc_row_bytes(mc_job *j, mc_str type, uint64_t heads, uint64_t width, uint64_t *out)
{
    uint32_t block, bytes;
    *out = 0;
    if (width == 0 || heads == 0)
        return true;
    if (!mc_kv_type(type, &block, &bytes)) {
        j->refusal = MC_STR("the element type of the cache is not known");
        return false;
    }
    if (width % block != 0) {
        j->refusal = mc_format(j->a, "heads of %llu elements are no whole number of %.*s blocks of %u", (unsigned long long)width, MC_FMT(type), block);
        return false;
    }
    uint64_t head = mc_times(j, width / block, bytes);
    if (mc_str_ends(type, "_per_token_head"))
        head = mc_plus(j, head, 4);
    *out = mc_times(j, heads, head);
    return true;
}
