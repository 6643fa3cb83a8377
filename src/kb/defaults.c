/* Class defaults: rules/config-defaults.tsv, sorted by model_type. Columns: model_type, key, default, rule, note. */
#include "kb/kb.h"
#include "kb/tsv.h"

bool mc_kb_has_type(const mc_kb *kb, mc_str type)
{
    (void)kb;
    mc_span table = mc_embedded_find("config-defaults.tsv");
    return mc_tsv_find(table, type) < table.n;
}

/* The table writes an empty column as "-". */
static mc_str column(mc_str line, unsigned i)
{
    mc_str s = mc_tsv_field(line, i);
    return mc_str_is(s, "-") ? MC_STR("") : s;
}

bool mc_kb_next_default(const mc_kb *kb, mc_str type, const char **cursor, mc_default *out)
{
    (void)kb;
    mc_span table = mc_embedded_find("config-defaults.tsv");
    size_t  at = *cursor ? (size_t)((const uint8_t *)*cursor - table.p) : mc_tsv_find(table, type), next;
    if (at >= table.n)
        return false;
    mc_str line = mc_tsv_line(table, at, &next);
    if (!mc_str_eq(mc_tsv_field(line, 0), type))
        return false;
    *out = (mc_default){ mc_tsv_field(line, 1), mc_tsv_field(line, 2), column(line, 3), column(line, 4) };
    *cursor = (const char *)table.p + next;
    return true;
}

bool mc_kb_default(const mc_kb *kb, mc_str type, const char *key, mc_default *out)
{
    mc_default d;
    for (const char *cursor = NULL; mc_kb_next_default(kb, type, &cursor, &d);)
        if (mc_str_is(d.key, key)) {
            *out = d;
            return true;
        }
    return false;
}
