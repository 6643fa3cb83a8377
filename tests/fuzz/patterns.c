/* A pattern of any text (the first line) against module names (the lines behind it), in every dialect: it ends in linear time,
 * and the matcher says of a list what asking entry by entry says. */
#include "fuzz/fuzz.h"
#include "model/quant.h"

enum { MOST = 24 };

static mc_str line(const uint8_t **p, size_t *n)
{
    size_t i = 0;
    while (i < *n && (*p)[i] != '\n')
        i++;
    mc_str s = { (const char *)*p, i };
    *p += i + (i < *n);
    *n -= i + (i < *n);
    return s;
}

/* Names as models have them: components are words, or numbers as a whole. */
static bool plausible(mc_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        bool first = i == 0 || s.p[i - 1] == '.', digit = s.p[i] >= '0' && s.p[i] <= '9';
        bool word = (s.p[i] >= 'a' && s.p[i] <= 'z') || s.p[i] == '_';
        if (!digit && !word && s.p[i] != '.')
            return false;
        if (word && !first && s.p[i - 1] >= '0' && s.p[i - 1] <= '9')
            return false;
        if (digit && !first && !(s.p[i - 1] >= '0' && s.p[i - 1] <= '9'))
            return false;
    }
    return s.n > 0 && s.n < 200;
}

/* The matcher takes a bare dot beside a number for a dot (matcher.c); a regular expression may mean a digit. */
static bool dot_at_number(mc_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        bool after = i > 0 && s.p[i - 1] >= '0' && s.p[i - 1] <= '9', before = i + 1 < s.n && s.p[i + 1] >= '0' && s.p[i + 1] <= '9';
        if (s.p[i] == '.' && (after || before))
            return true;
    }
    return false;
}

static size_t skip_number(mc_str s, size_t i)
{
    while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
        i++;
    return i;
}

/* Alike but for numbers that are whole components: one form, as the inventory has it. */
static bool alike(mc_str a, mc_str b)
{
    size_t i = 0, k = 0;
    for (bool start = true; i < a.n && k < b.n; ) {
        size_t x = skip_number(a, i), y = skip_number(b, k);
        bool   whole = start && x > i && y > k && (x == a.n || a.p[x] == '.') && (y == b.n || b.p[y] == '.');
        start = !whole && a.p[i] == '.';
        if (whole) {
            i = x;
            k = y;
        } else if (a.p[i++] != b.p[k++]) {
            return false;
        }
    }
    return i == a.n && k == b.n;
}

static uint32_t form_of(const mc_module *v, size_t n, mc_str name)
{
    for (size_t i = 0; i < n; i++)
        if (alike(v[i].name, name))
            return v[i].form;
    return (uint32_t)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const mc_dialect dialects[] = { MC_DIALECT_EXACT, MC_DIALECT_PREFIX, MC_DIALECT_SUBSTRING, MC_DIALECT_GLOB, MC_DIALECT_REGEX, MC_DIALECT_HF, MC_DIALECT_CLASS };
    mc_arena   a;
    mc_pattern entries[2 * MC_COUNT(dialects)];
    mc_module  modules[MOST];
    size_t     n_modules = 0, n_entries = 0;
    mc_arena_init(&a, (size_t)1 << 26);
    for (int k = 0; k < 2; k++) {
        mc_str text = line(&bytes, &n);
        for (size_t i = 0; i < MC_COUNT(dialects); i++)
            if (text.n)
                entries[n_entries++] = mc_pattern_make(&a, text, dialects[i], (mc_origin){ 0 });
    }
    while (n > 0 && n_modules < MOST) {
        mc_str name = line(&bytes, &n);
        for (size_t i = 0; i < n_entries; i++) {
            mc_tri t = mc_pattern_matches(&entries[i], name);
            MUST(t == MC_YES || t == MC_NO || t == MC_UNKNOWN);
            MUST(entries[i].dialect != MC_DIALECT_REGEX || t != MC_YES || mc_pattern_any(&entries[i], name));
        }
        if (plausible(name)) {
            modules[n_modules] = (mc_module){ .name = name, .form = form_of(modules, n_modules, name), .cls = MC_CLS_MLP };
            n_modules++;
        }
    }
    for (size_t i = 0; i < n_entries && n_modules; i++) {
        if (entries[i].program && dot_at_number(entries[i].pattern))
            continue;
        mc_claim c = { .excludes = &entries[i], .n_excludes = 1, .base = { .quantized = MC_YES } }, alone = c;
        mc_claim_resolve(&a, &c, modules, n_modules);
        for (size_t k = 0; k < n_modules; k++) {
            mc_verdict x = mc_claim_verdict(&alone, &modules[k]), y = mc_claim_verdict(&c, &modules[k]);
            MUST(x.excluded_by == y.excluded_by && x.doubt == y.doubt && (x.scheme != NULL) == (y.scheme != NULL));
        }
    }
    mc_arena_free(&a);
    return 0;
}
