/* How the values of options are read: sizes, severities, names of rules. */
#include "api/options.h"

#include <string.h>

/* "12" or "12.5": a whole part and a fraction part / scale. */
static bool decimal(mc_str s, uint64_t *whole, uint64_t *part, uint64_t *scale)
{
    size_t dot = mc_str_find(s, '.');
    *part = 0;
    *scale = 1;
    if (!mc_str_u64(mc_str_cut(s, 0, dot), whole))
        return false;
    if (dot == s.n)
        return true;
    mc_str digits = mc_str_cut(s, dot + 1, s.n);
    for (size_t i = 0; i < digits.n && i < 6; i++)
        *scale *= 10;
    return digits.n <= 6 && mc_str_u64(digits, part);
}

bool mc_parse_size(mc_str text, uint64_t *out)
{
    static const struct { const char *suffix; uint64_t unit; } units[] = {
        { "KiB", UINT64_C(1) << 10 }, { "MiB", UINT64_C(1) << 20 }, { "GiB", UINT64_C(1) << 30 }, { "TiB", UINT64_C(1) << 40 },
        { "KB", 1000 }, { "MB", 1000000 }, { "GB", 1000000000 }, { "TB", UINT64_C(1000000000000) },
        { "K", UINT64_C(1) << 10 }, { "M", UINT64_C(1) << 20 }, { "G", UINT64_C(1) << 30 }, { "T", UINT64_C(1) << 40 }, { "B", 1 },
    };
    uint64_t unit = 1, whole, part, scale, small;
    for (size_t i = 0; i < MC_COUNT(units); i++)
        if (mc_str_ends_nocase(text, units[i].suffix)) {
            unit = units[i].unit;
            text.n -= strlen(units[i].suffix);
            break;
        }
    while (text.n && text.p[text.n - 1] == ' ')
        text.n--;
    if (!decimal(text, &whole, &part, &scale) || (unit == 1 && scale > 1))
        return false;
    if (ckd_mul(&small, part, unit) || ckd_mul(out, whole, unit))
        return false;
    return !ckd_add(out, *out, small / scale);
}

bool mc_parse_level(mc_str text, mc_severity *out)
{
    static const mc_severity levels[] = { MC_INFO, MC_WARNING, MC_ERROR };
    for (size_t i = 0; i < MC_COUNT(levels); i++)
        if (mc_str_is(text, mc_severity_name(levels[i]))) {
            *out = levels[i];
            return true;
        }
    return false;
}

bool mc_parse_selector(mc_arena *a, mc_str text, mc_selector *out)
{
    *out = (mc_selector){ mc_str_copy(a, text), mc_rule_find(text) };
    if (out->rule || (mc_str_starts(text, "X-") && text.n >= 2)) /* a rule of the user's own, or the beginning of its code */
        return true;
    for (size_t f = 0; f < mc_n_families && mc_str_starts(text, "MC"); f++)
        for (size_t i = 0; i < mc_families[f]->n; i++)
            if (mc_str_starts(mc_str_of(mc_families[f]->rules[i].code), out->name.p))
                return true;
    return false;
}

bool mc_selector_hits(const mc_selector *s, const mc_rule *r)
{
    return s->rule ? s->rule == r : mc_str_starts(mc_str_of(r->code), s->name.p);
}

bool mc_selects(const mc_selectors *s, const mc_rule *r)
{
    for (size_t i = 0; i < s->n; i++)
        if (mc_selector_hits(&s->v[i], r))
            return true;
    return false;
}
