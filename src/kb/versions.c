/* Versions as tuples of numbers. */
#include "kb/predicates.h"

static bool digit(mc_str s, size_t i)
{
    return i < s.n && mc_is_digit(s.p[i]);
}

/* What may follow the numbers: rc1, a2, b3, .post1, .dev4, -rc.1, +cu128. They do not move the version. */
static bool is_suffix(mc_str s)
{
    static const char *const words[] = { "rc", "a", "b", "alpha", "beta", "post", "dev" };
    if (s.n && s.p[0] == '+')
        return s.n > 1;
    if (s.n && (s.p[0] == '.' || s.p[0] == '-'))
        s = mc_str_cut(s, 1, s.n);
    for (size_t i = 0; i < MC_COUNT(words); i++) {
        if (!mc_str_starts(s, words[i]))
            continue;
        size_t k = mc_str_of(words[i]).n;
        if (k < s.n && s.p[k] == '.')
            k++;
        while (digit(s, k))
            k++;
        if (k == s.n || s.p[k] == '+')
            return true;
    }
    return false;
}

bool mc_version_parse(mc_str s, bool build, mc_version *out)
{
    size_t i = s.n > 1 && (s.p[0] == 'v' || (build && s.p[0] == 'b')) ? 1 : 0;
    *out = (mc_version){ .written = 0 };
    if (!digit(s, i))
        return false;
    while (digit(s, i) && out->written < MC_VERSION_PARTS) {
        uint32_t v = 0;
        for (; digit(s, i); i++)
            if (ckd_mul(&v, v, 10u) || ckd_add(&v, v, (uint32_t)(s.p[i] - '0')))
                return false;
        out->part[out->written++] = v;
        if (i < s.n && s.p[i] == '.' && digit(s, i + 1))
            i++;
        else
            break;
    }
    return i == s.n || is_suffix(mc_str_cut(s, i, s.n));
}

int mc_version_cmp(const mc_version *a, const mc_version *b)
{
    for (unsigned i = 0; i < MC_VERSION_PARTS; i++)
        if (a->part[i] != b->part[i])
            return a->part[i] < b->part[i] ? -1 : 1;
    return 0;
}
