/* Accelerators by the names that users know: rules/gpus.tsv. "smNN" and "gfxNNN" stand for any device of that target. */
#include "kb/kb.h"
#include "kb/tsv.h"

/* Lower case, blanks and underscores as hyphens. */
static mc_str plain(mc_arena *a, mc_str s)
{
    char *p = mc_alloc(a, s.n + 1, 1);
    for (size_t i = 0; p && i < s.n; i++)
        p[i] = s.p[i] == ' ' || s.p[i] == '_' ? '-' : mc_to_lower(s.p[i]);
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

/* Compute capabilities that exist (CUDA C++ programming guide), times ten. */
static bool exists(unsigned sm)
{
    static const unsigned known[] = { 30, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121 };
    for (size_t i = 0; i < MC_COUNT(known); i++)
        if (known[i] == sm)
            return true;
    return false;
}

/* "gfx" and three to five digits of which the last may be a letter: gfx90a, gfx1100. */
static bool is_gfx(mc_str name)
{
    bool good = mc_str_starts(name, "gfx") && name.n >= 6 && name.n <= 7;
    for (size_t i = 3; good && i < name.n; i++)
        good = (name.p[i] >= '0' && name.p[i] <= '9') || (i + 1 == name.n && name.p[i] >= 'a' && name.p[i] <= 'f');
    return good;
}

static bool of_target(mc_str name, mc_kb_gpu *out)
{
    unsigned sm = capability(name);
    if (exists(sm))
        *out = (mc_kb_gpu){ name, name, MC_STR("cuda"), MC_STR("cuda"), sm };
    else if (is_gfx(name))
        *out = (mc_kb_gpu){ name, name, MC_STR("rocm"), MC_STR("rocm"), 0 };
    else
        return false;
    return true;
}

static bool is_row(mc_str line)
{
    return line.n && !mc_str_starts(line, "#") && !mc_str_starts(line, "name\t");
}

mc_str mc_kb_gpu_names(mc_arena *a)
{
    mc_span table = mc_embedded_find("gpus.tsv");
    mc_str  text = MC_STR("");
    for (size_t at = 0, next; at < table.n; at = next) {
        mc_str line = mc_tsv_line(table, at, &next);
        if (is_row(line))
            text = mc_format(a, "%.*s%s%.*s", MC_FMT(text), text.n ? ", " : "", MC_FMT(mc_tsv_field(line, 0)));
    }
    return text;
}

bool mc_kb_gpu_find(mc_arena *a, mc_str text, mc_kb_gpu *out)
{
    mc_span table = mc_embedded_find("gpus.tsv");
    mc_str  name = plain(a, text);
    if (of_target(name, out))
        return true;
    for (size_t at = 0, next; name.n && at < table.n; at = next) {
        mc_str line = mc_tsv_line(table, at, &next), backends = mc_tsv_field(line, 4);
        if (!is_row(line))
            continue;
        if (!mc_str_eq(mc_tsv_field(line, 0), name) && !in_list(mc_tsv_field(line, 1), name))
            continue;
        mc_str target = mc_tsv_field(line, 3);
        *out = (mc_kb_gpu){ mc_tsv_field(line, 0), target, mc_str_cut(backends, 0, mc_str_find(backends, ',')), backends, capability(target) };
        return true;
    }
    return false;
}
