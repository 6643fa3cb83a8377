/* Cache shapes: rules/cache-shapes.tsv, sorted. Columns: "config:<model_type>" or "gguf:<architecture>", shape, bound, reason. */
#include "kb/kb.h"
#include "kb/tsv.h"

#include <string.h>

bool mc_kb_cache_shape(const mc_kb *kb, bool gguf, mc_str name, mc_cache_shape *out)
{
    (void)kb;
    char        key[96];
    const char *prefix = gguf ? "gguf:" : "config:";
    size_t      n = strlen(prefix), next;
    mc_span     table = mc_embedded_find("cache-shapes.tsv");
    if (name.n == 0 || name.n > sizeof key - n)
        return false;
    memcpy(key, prefix, n);
    memcpy(key + n, name.p, name.n);
    size_t at = mc_tsv_find(table, (mc_str){ key, n + name.n });
    if (at >= table.n)
        return false;
    mc_str line = mc_tsv_line(table, at, &next);
    *out = (mc_cache_shape){ mc_tsv_field(line, 1), !mc_str_is(mc_tsv_field(line, 2), "-"), mc_str_is(mc_tsv_field(line, 3), "-") ? MC_STR("") : mc_tsv_field(line, 3) };
    return true;
}
