/* Accelerators by the names that users know: rules/gpus.tsv. "smNN" and "gfxNNN" stand for any device of that target. */
#include "kb/kb.h"
#include "kb/tsv.h"

/* Lower case, blanks and underscores as hyphens. */
static mc_str plain(mc_arena *a, mc_str s)
{
    char *p = mc_alloc(a, s.n + 1, 1);
    for (size_t i = 0; p && i < s.n; i++)
        p[i] = s.p[i] == ' ' || s.p[i] == '_' ? '-' : s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] + 32) : s.p[i];
    return p ? (mc_str){ p, s.n } : MC_STR("");
}

static bool in_list(mc_str list, mc_str name)
{
    while (list.n) {
        size_t comma = mc_str_find(list, ',');
        if (mc_str_eq(mc_str_cut(list, 0, comma), name))
            return true;
        list = mc_str_cut(list, comma + 1, list.n);
    }
    return false;
}

/* 90 of "sm90"; 0 for other targets. */
static unsigned capability(mc_str target)
{
    uint64_t v;
    return mc_str_starts(target, "sm") && mc_str_u64(mc_str_cut(target, 2, target.n), &v) && v >= 10 && v < 1000 ? (unsigned)v : 0;
}

static bool of_target(mc_str name, mc_kb_gpu *out)
{
    unsigned sm = capability(name);
    if (sm)
        *out = (mc_kb_gpu){ name, name, MC_STR("cuda"), MC_STR("cuda"), sm };
    else if (mc_str_starts(name, "gfx") && name.n >= 6 && name.n <= 8)
        *out = (mc_kb_gpu){ name, name, MC_STR("rocm"), MC_STR("rocm"), 0 };
    else
        return false;
    return true;
}

bool mc_kb_gpu_find(mc_arena *a, mc_str text, mc_kb_gpu *out)
{
    mc_span table = mc_embedded_find("gpus.tsv");
    mc_str  name = plain(a, text);
    if (of_target(name, out))
        return true;
    for (size_t at = 0, next; name.n && at < table.n; at = next) {
        mc_str line = mc_tsv_line(table, at, &next), backends = mc_tsv_field(line, 4);
        if (mc_str_starts(line, "#") || mc_str_starts(line, "name\t"))
            continue;
        if (!mc_str_eq(mc_tsv_field(line, 0), name) && !in_list(mc_tsv_field(line, 1), name))
            continue;
        mc_str target = mc_tsv_field(line, 3);
        *out = (mc_kb_gpu){ mc_tsv_field(line, 0), target, mc_str_cut(backends, 0, mc_str_find(backends, ',')), backends, capability(target) };
        return true;
    }
    return false;
}
