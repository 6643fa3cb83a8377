#include "kb/tsv.h"

#include <string.h>

mc_str mc_tsv_line(mc_span table, size_t at, size_t *next)
{
    const uint8_t *p = table.p + at, *end = memchr(p, '\n', table.n - at);
    size_t         n = end ? (size_t)(end - p) : table.n - at;
    *next = at + n + (end != NULL);
    return (mc_str){ (const char *)p, n };
}

mc_str mc_tsv_field(mc_str line, unsigned i)
{
    for (; i > 0; i--) {
        size_t tab = mc_str_find(line, '\t');
        line = mc_str_cut(line, tab + 1, line.n);
    }
    return mc_str_cut(line, 0, mc_str_find(line, '\t'));
}

static size_t line_start(mc_span table, size_t at)
{
    while (at > 0 && table.p[at - 1] != '\n')
        at--;
    return at;
}

size_t mc_tsv_find(mc_span table, mc_str key)
{
    size_t lo = 0, hi = table.n, next; /* lines before lo are smaller than key, lines from hi on are not */
    while (lo < hi) {
        size_t mid = line_start(table, lo + (hi - lo) / 2);
        mc_str line = mc_tsv_line(table, mid, &next);
        if (mc_str_cmp(mc_tsv_field(line, 0), key) < 0)
            lo = next;
        else
            hi = mid;
    }
    if (key.n == 0 || lo == table.n || !mc_str_eq(mc_tsv_field(mc_tsv_line(table, lo, &next), 0), key))
        return table.n;
    return lo;
}
