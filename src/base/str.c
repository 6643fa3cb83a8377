#include "base/base.h"

#include <string.h>

mc_str mc_str_of(const char *s)
{
    return s ? (mc_str){ s, strlen(s) } : MC_STR("");
}

bool mc_str_eq(mc_str a, mc_str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool mc_str_is(mc_str a, const char *b)
{
    return mc_str_eq(a, mc_str_of(b));
}

bool mc_str_starts(mc_str s, const char *prefix)
{
    size_t n = strlen(prefix);
    return s.n >= n && memcmp(s.p, prefix, n) == 0;
}

bool mc_str_ends(mc_str s, const char *suffix)
{
    size_t n = strlen(suffix);
    return s.n >= n && memcmp(s.p + s.n - n, suffix, n) == 0;
}

static bool same_nocase(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (mc_to_lower(a[i]) != mc_to_lower(b[i]))
            return false;
    return true;
}

bool mc_str_ends_nocase(mc_str s, const char *suffix)
{
    size_t n = strlen(suffix);
    return s.n >= n && same_nocase(s.p + s.n - n, suffix, n);
}

bool mc_str_has(mc_str s, mc_str needle)
{
    for (size_t i = 0; i + needle.n <= s.n; i++)
        if (needle.n == 0 || memcmp(s.p + i, needle.p, needle.n) == 0)
            return true;
    return false;
}

bool mc_str_contains(mc_str s, const char *needle)
{
    size_t n = strlen(needle);
    if (n == 0 || s.n < n)
        return n == 0;
    const char *last = s.p + (s.n - n);
    for (const char *p = s.p; p <= last && (p = memchr(p, needle[0], (size_t)(last - p) + 1)); p++)
        if (memcmp(p, needle, n) == 0)
            return true;
    return false;
}

bool mc_str_contains_nocase(mc_str s, const char *needle)
{
    size_t n = strlen(needle);
    if (n == 0 || s.n < n)
        return n == 0;
    char first = mc_to_lower(needle[0]); /* rules ask this of every tensor: most bytes end at the first comparison */
    for (size_t i = 0; i + n <= s.n; i++)
        if (mc_to_lower(s.p[i]) == first && same_nocase(s.p + i, needle, n))
            return true;
    return false;
}

static bool any(mc_str s, const char *const *words, bool (*test)(mc_str, const char *))
{
    for (; *words; words++)
        if (test(s, *words))
            return true;
    return false;
}

bool mc_str_is_any(mc_str s, const char *const *words)              { return any(s, words, mc_str_is); }
bool mc_str_starts_any(mc_str s, const char *const *words)          { return any(s, words, mc_str_starts); }
bool mc_str_ends_any(mc_str s, const char *const *words)            { return any(s, words, mc_str_ends); }
bool mc_str_contains_any(mc_str s, const char *const *words)        { return any(s, words, mc_str_contains); }
bool mc_str_contains_any_nocase(mc_str s, const char *const *words) { return any(s, words, mc_str_contains_nocase); }

size_t mc_str_find(mc_str s, char c)
{
    const char *p = s.n ? memchr(s.p, c, s.n) : NULL;
    return p ? (size_t)(p - s.p) : s.n;
}

size_t mc_str_rfind(mc_str s, char c)
{
    for (size_t i = s.n; i-- > 0;)
        if (s.p[i] == c)
            return i;
    return SIZE_MAX;
}

int mc_str_cmp(mc_str a, mc_str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int    d = n ? memcmp(a.p, b.p, n) : 0;
    return d ? d : (a.n > b.n) - (a.n < b.n);
}

mc_str mc_str_cut(mc_str s, size_t from, size_t to)
{
    if (to > s.n)
        to = s.n;
    if (from >= to)
        return MC_STR("");
    return (mc_str){ s.p + from, to - from };
}

mc_str mc_str_last(mc_str name)
{
    size_t i = mc_str_rfind(name, '.');
    return i == SIZE_MAX ? name : mc_str_cut(name, i + 1, name.n);
}

mc_str mc_str_base(mc_str path)
{
    size_t i = mc_str_rfind(path, '/');
    return i == SIZE_MAX ? path : mc_str_cut(path, i + 1, path.n);
}

mc_str mc_str_dir(mc_str path)
{
    size_t i = mc_str_rfind(path, '/');
    return i == SIZE_MAX ? MC_STR("") : mc_str_cut(path, 0, i + 1);
}

bool mc_str_u64(mc_str s, uint64_t *out)
{
    uint64_t v = 0;
    if (s.n == 0)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9' || ckd_mul(&v, v, 10u) || ckd_add(&v, v, (uint64_t)(s.p[i] - '0')))
            return false;
    *out = v;
    return true;
}

size_t mc_utf8_len(const uint8_t *p, size_t n)
{
    uint8_t c = p[0], lo = 0x80, hi = 0xbf;
    if (c < 0x80)
        return 1;
    size_t len = c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    if (len == 0 || n < len)
        return 0;
    switch (c) {
    case 0xe0: lo = 0xa0; break;
    case 0xed: hi = 0x9f; break;
    case 0xf0: lo = 0x90; break;
    case 0xf4: hi = 0x8f; break;
    default: break;
    }
    if (p[1] < lo || p[1] > hi)
        return 0;
    for (size_t i = 2; i < len; i++)
        if (p[i] < 0x80 || p[i] > 0xbf)
            return 0;
    return len;
}

bool mc_utf8_valid(mc_span s)
{
    for (size_t i = 0, len; i < s.n; i += len)
        if (!(len = mc_utf8_len(s.p + i, s.n - i)))
            return false;
    return true;
}

/* One class "[...]" at p[*i]; on return *i is behind it. An unclosed class is the byte '['. */
static bool class_has(mc_str p, size_t *i, char c)
{
    size_t j = *i + 1;
    bool   not = j < p.n && (p.p[j] == '!' || p.p[j] == '^'), hit = false;
    size_t first = j += not;
    for (; j < p.n && (p.p[j] != ']' || j == first); j++) {
        if (j + 2 < p.n && p.p[j + 1] == '-' && p.p[j + 2] != ']') {
            hit |= c >= p.p[j] && c <= p.p[j + 2];
            j += 2;
        } else {
            hit |= c == p.p[j];
        }
    }
    if (j >= p.n) {
        *i += 1;
        return c == '[';
    }
    *i = j + 1;
    return hit != not;
}

bool mc_glob(mc_str p, mc_str t)
{
    size_t pi = 0, ti = 0, star = SIZE_MAX, mark = 0;
    while (ti < t.n) {
        size_t next = pi;
        bool   ok = false;
        if (pi < p.n && p.p[pi] == '*') {
            star = pi++;
            mark = ti;
            continue;
        }
        if (pi < p.n) {
            ok = p.p[pi] == '[' ? class_has(p, &next, t.p[ti]) : (next = pi + 1, p.p[pi] == '?' || p.p[pi] == t.p[ti]);
        }
        if (ok) {
            pi = next;
            ti++;
        } else if (star != SIZE_MAX) {
            pi = star + 1;
            ti = ++mark;
        } else {
            return false;
        }
    }
    while (pi < p.n && p.p[pi] == '*')
        pi++;
    return pi == p.n;
}
