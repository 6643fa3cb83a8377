/* Patterns of exclude and target lists against module names, each in the dialect of who reads the list.
 *
 * Transformers: re.match or str.endswith; vLLM: exact, substring (AWQ, bitsandbytes) or fnmatch (ModelOpt); compressed-tensors:
 * exact, "re:" or class names. See docs/quantization.md for the table with its sources.
 *
 * mc_pattern_any is the second opinion: where it disagrees with the own dialect, loaders disagree about the module. */
#include "model/matcher.h"

#include <string.h>

/* ---- kinds ---- */

static bool is_meta(char c)
{
    return strchr("\\[](){}*+?^$|", c) != NULL && c != '\0';
}

bool mc_pattern_literal(mc_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (is_meta(s.p[i]))
            return false;
    return true;
}

mc_pattern mc_pattern_make(mc_arena *a, mc_str text, mc_dialect dialect, mc_origin from)
{
    mc_pattern p = { .pattern = text, .dialect = dialect, .from = from, .supported = true };
    if (dialect == MC_DIALECT_REGEX || (dialect == MC_DIALECT_HF && !mc_pattern_literal(text))) {
        p.program = mc_regex_compile(a, text);
        p.supported = p.program != NULL;
    }
    return p;
}

/* ---- the own dialect ---- */

static bool at_boundary(mc_str s, size_t at)
{
    return at == s.n || s.p[at] == '.';
}

static bool starts(mc_str s, mc_str head)
{
    return head.n <= s.n && memcmp(s.p, head.p, head.n) == 0;
}

static bool ends(mc_str s, mc_str tail)
{
    return tail.n <= s.n && memcmp(s.p + s.n - tail.n, tail.p, tail.n) == 0;
}

mc_tri mc_pattern_matches(const mc_pattern *p, mc_str m)
{
    bool yes = false;
    if (!p->supported)
        return MC_UNKNOWN;
    if (p->pattern.n == 0 || m.n == 0)
        return MC_NO;
    switch (p->dialect) {
    case MC_DIALECT_EXACT: yes = mc_str_eq(p->pattern, m); break;
    case MC_DIALECT_PREFIX: yes = starts(m, p->pattern) && at_boundary(m, p->pattern.n); break;
    case MC_DIALECT_SUBSTRING: yes = mc_str_has(m, p->pattern); break;
    case MC_DIALECT_GLOB: yes = mc_glob(p->pattern, m); break;
    case MC_DIALECT_REGEX: yes = mc_regex_match(p->program, m, false); break;
    case MC_DIALECT_CLASS: return MC_UNKNOWN;
    case MC_DIALECT_HF: yes = (p->program ? mc_regex_match(p->program, m, false) : starts(m, p->pattern)) || ends(m, p->pattern); break;
    }
    return yes ? MC_YES : MC_NO;
}

/* A torch class by what is known of a module: matrices outside embeddings are Linear, nearly always. */
static mc_tri class_matches(mc_str name, const mc_module *m)
{
    const mc_tensor *w = m->parts[MC_PART_WEIGHT];
    if (mc_str_is(name, "Linear")) {
        bool vector = m->cls == MC_CLS_NORM || (m->layout == MC_Q_PLAIN && w && w->rank < 2);
        return vector || m->cls == MC_CLS_EMBEDDING || mc_str_contains(m->name, "conv1d") ? MC_NO : MC_YES;
    }
    if (mc_str_is(name, "Embedding") || mc_str_is(name, "VocabParallelEmbedding"))
        return m->cls == MC_CLS_EMBEDDING ? MC_YES : MC_NO;
    if (mc_str_is(name, "ParallelLMHead"))
        return m->cls == MC_CLS_HEAD ? MC_YES : MC_NO;
    return MC_UNKNOWN;
}

mc_tri mc_pattern_of_module(const mc_pattern *p, const mc_module *m)
{
    return p->dialect == MC_DIALECT_CLASS ? class_matches(p->pattern, m) : mc_pattern_matches(p, m->name);
}

/* ---- every dialect ---- */

mc_str mc_without_root(mc_str s)
{
    static const char *const roots[] = { "model.language_model.", "language_model.model.", "model." };
    for (size_t i = 0; i < MC_COUNT(roots); i++)
        if (mc_str_starts(s, roots[i]) && s.n > strlen(roots[i]))
            return mc_str_cut(s, strlen(roots[i]), s.n);
    return s;
}

/* Does `part` occur so that it ends at the end of a component? A pattern that ends with a dot ends there by itself. */
static bool occurs(mc_str s, mc_str part)
{
    if (part.n == 0)
        return false;
    bool dot = part.p[part.n - 1] == '.';
    for (size_t from = 0; from + part.n <= s.n;) {
        const char *hit = memchr(s.p + from, part.p[0], s.n - part.n - from + 1);
        if (!hit)
            return false;
        size_t at = (size_t)(hit - s.p);
        if (memcmp(hit, part.p, part.n) == 0 && (dot || at_boundary(s, at + part.n)))
            return true;
        from = at + 1;
    }
    return false;
}

/* Engines list the layer that they fuse: these are its parts on disk. */
size_t mc_fused_parts(mc_str entry, const char *out[MC_MAX_FUSED], size_t *stem)
{
    static const struct { const char *fused, *parts[MC_MAX_FUSED]; } table[] = {
        { "qkv_proj", { "q_proj", "k_proj", "v_proj" } }, { "gate_up_proj", { "gate_proj", "up_proj" } },
    };
    for (size_t i = 0; i < MC_COUNT(table); i++) {
        size_t n = 0;
        if (!mc_str_ends(entry, table[i].fused))
            continue;
        *stem = entry.n - strlen(table[i].fused);
        if (*stem && entry.p[*stem - 1] != '.')
            continue;
        for (; n < MC_MAX_FUSED && table[i].parts[n]; n++)
            out[n] = table[i].parts[n];
        return n;
    }
    return 0;
}

static bool literal_any(mc_str e, mc_str m)
{
    if (occurs(m, e))
        return true;
    mc_str short_e = mc_without_root(e), short_m = mc_without_root(m);
    if (starts(short_m, short_e) && (at_boundary(short_m, short_e.n) || (short_e.n && short_e.p[short_e.n - 1] == '.')))
        return true;
    const char *parts[MC_MAX_FUSED];
    size_t      stem, n = mc_fused_parts(short_e, parts, &stem);
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(parts[i]);
        if (short_m.n >= stem + len && memcmp(short_m.p, short_e.p, stem) == 0 && memcmp(short_m.p + stem, parts[i], len) == 0 && at_boundary(short_m, stem + len))
            return true;
    }
    return false;
}

/* The name under each of the usual roots, for patterns that are no literals. */
static bool under_roots(const mc_pattern *p, mc_str m)
{
    static const char *const roots[] = { "", "model.", "model.language_model.", "language_model.model." };
    mc_str bare = mc_without_root(m);
    char   name[MC_LONGEST_NAME];
    for (size_t i = 0; i < MC_COUNT(roots); i++) {
        size_t n = strlen(roots[i]);
        if (n + bare.n > sizeof name)
            return false;
        memcpy(name, roots[i], n);
        memcpy(name + n, bare.p, bare.n);
        mc_str s = { name, n + bare.n };
        if (p->program ? mc_regex_match(p->program, s, false) : mc_glob(p->pattern, s))
            return true;
    }
    return false;
}

/* "prefix*" and "prefix.*" without the star; the pattern itself when it is a literal; else "". */
mc_str mc_pattern_stem(const mc_pattern *p)
{
    mc_str s = p->pattern;
    if (p->dialect == MC_DIALECT_REGEX || p->dialect == MC_DIALECT_CLASS)
        return MC_STR("");
    if (s.n > 1 && s.p[s.n - 1] == '*' && p->dialect == MC_DIALECT_GLOB)
        s = mc_str_cut(s, 0, s.n - 1);
    return mc_pattern_literal(s) ? s : MC_STR("");
}

bool mc_pattern_any(const mc_pattern *p, mc_str m)
{
    mc_str stem = mc_pattern_stem(p);
    if (m.n == 0 || p->pattern.n == 0)
        return false;
    if (stem.n)
        return literal_any(stem, m);
    if (p->dialect == MC_DIALECT_CLASS)
        return false;
    if (p->program || (p->dialect != MC_DIALECT_REGEX && mc_str_find(p->pattern, '*') < p->pattern.n))
        return mc_pattern_matches(p, m) == MC_YES || under_roots(p, m);
    return false;
}
