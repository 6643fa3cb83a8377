#include "formats/formats.h"
mc_err mc_parse_gguf(mc_span prefix, uint64_t file_size, const mc_kb *kb, mc_arena *a, uint32_t id, mc_file *f)
{
    (void)prefix; (void)file_size; (void)kb; (void)a; (void)id; (void)f;
    return (mc_err){ MC_E_SYNTAX, 0, "not built yet" };
}
