#include "floor/floor.h"
void mc_floor_compute(const mc_model *m, const mc_kb *kb, const mc_floor_ask *ask, mc_arena *a, mc_floor *out)
{
    (void)m; (void)kb; (void)ask; (void)a;
    *out = (mc_floor){ .engine = "generic", .cache = MC_CACHE_NOT_COMPUTED, .cache_reason = MC_STR("not built yet") };
}
bool mc_kv_type(mc_str name, uint32_t *block, uint32_t *bytes) { (void)name; *block = 1; *bytes = 2; return true; }
