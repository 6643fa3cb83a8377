/* Cache element types. Block types store their scales with each block (ggml: block_q8_0 and the others of ggml-common.h);
 * fp8 has one scale per tensor, which is left out. nvfp4: 16 values of 4 bits and one byte of scale. */
#include "floor/floor.h"

bool mc_kv_type(mc_str name, uint32_t *block, uint32_t *bytes)
{
    static const struct { const char *name; uint32_t block, bytes; } types[] = {
        { "f32", 1, 4 },       { "float32", 1, 4 },  { "f16", 1, 2 },       { "float16", 1, 2 },  { "bf16", 1, 2 },  { "bfloat16", 1, 2 },
        { "fp8", 1, 1 },       { "fp8_e4m3", 1, 1 }, { "fp8_e5m2", 1, 1 },  { "q8_0", 32, 34 },   { "q5_1", 32, 24 }, { "q5_0", 32, 22 },
        { "q4_1", 32, 20 },    { "q4_0", 32, 18 },   { "iq4_nl", 32, 18 },  { "nvfp4", 16, 9 },
    };
    for (size_t i = 0; i < MC_COUNT(types); i++)
        if (mc_str_is(name, types[i].name)) {
            *block = types[i].block;
            *bytes = types[i].bytes;
            return true;
        }
    return false;
}
