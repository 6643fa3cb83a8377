/* Framework files: finding, decoding, versions of targets, error texts. */
#include "kb/framework.h"

#include <string.h>

typedef struct { const mc_framework **v; size_t n, cap; mc_faults faults; bool all; } library;


const char *mc_target_verdict_name(mc_target_verdict v)
{
    static const char *const names[] = { "no-known-obstacle", "unknown", "slow", "needs", "wrong", "refuses" };
    return names[v];
}

/* ---- files ---- */

bool mc_kb_add_file(mc_kb *kb, const char *name, mc_span text)
{
    mc_embedded *v = mc_grow(&kb->arena, kb->extra, kb->n_extra, &kb->cap_extra, sizeof *v);
    if (!v)
        return false;
    kb->extra = v;
    v[kb->n_extra++] = (mc_embedded){ mc_str_copy(&kb->arena, mc_str_of(name)).p, text.p, text.n };
    return true;
}

/* The last one given counts. */
mc_span mc_kb_file(const mc_kb *kb, const char *name)
{
    for (size_t i = kb->n_extra; i > 0; i--)
        if (strcmp(kb->extra[i - 1].name, name) == 0)
            return (mc_span){ kb->extra[i - 1].p, kb->extra[i - 1].n };
    return mc_embedded_find(name);
}

static bool is_extra(const mc_kb *kb, const char *name)
{
    for (size_t i = 0; i < kb->n_extra; i++)
        if (strcmp(kb->extra[i].name, name) == 0)
            return true;
    return false;
}

/* ---- decoding ---- */

static mc_str newest_date(const mc_value *root)
{
    const mc_value *rows = mc_get(root, "read");
    mc_str          best = mc_as_str(mc_get(root, "default_date"));
    for (size_t i = 0; mc_is(rows, MC_ARRAY) && i < rows->n; i++) {
        mc_str d = mc_as_str(mc_get(mc_item(rows, i), "date"));
        if (mc_str_cmp(d, best) > 0)
            best = d;
    }
    return best;
}

static mc_framework *decode(mc_arena *a, mc_str file, const mc_value *root)
{
    mc_framework *f = MC_NEW(a, mc_framework, 1);
    if (!f)
        return NULL;
    *f = (mc_framework){
        .name = mc_as_str(mc_get(root, "name")), .display = mc_as_str(mc_get(root, "display")), .date = newest_date(root),
        .build = mc_str_is(mc_as_str(mc_get(root, "version_scheme")), "build"), .known_from = mc_as_str(mc_get(root, "known_from")),
        .known_to = mc_as_str(mc_get(root, "known_to")), .default_target = mc_as_str(mc_get(root, "default_target")), .root = root, .file = file,
        .maps_to = mc_as_str(mc_get(root, "maps_to")), .fallback = mc_as_str(mc_get(root, "fallback")),
    };
    f->has_range = f->known_from.n && f->known_to.n;
    return f;
}

mc_framework *mc_framework_decode(mc_arena *a, mc_str file, mc_span text, mc_faults *faults)
{
    mc_err    err;
    size_t    before = faults->n;
    mc_value *root = mc_json_tree(a, text, &err, NULL), at = { .at = (uint32_t)err.at };
    if (!root) {
        mc_fault_add(faults, &at, "not JSON: %s", err.what ? err.what : "out of memory");
        return NULL;
    }
    mc_framework_shape(root, faults);
    if (faults->n == before)
        mc_framework_sense(root, faults);
    return faults->n == before ? decode(a, file, root) : NULL;
}

static library *library_of(mc_kb *kb)
{
    library *l = kb->frameworks;
    if (!l) {
        kb->frameworks = l = MC_NEW(&kb->arena, library, 1);
        if (l)
            l->faults.arena = &kb->arena;
    }
    return l;
}

/* What is embedded has passed the tests and is not checked again. */
static const mc_framework *add(mc_kb *kb, library *l, const char *file)
{
    mc_err               err;
    mc_span              text = mc_kb_file(kb, file);
    mc_str               name = mc_str_of(file);
    const mc_framework  *f = NULL;
    for (size_t i = 0; i < l->n; i++)
        if (mc_str_eq(l->v[i]->file, name))
            return l->v[i];
    if (is_extra(kb, file)) {
        f = mc_framework_decode(&kb->arena, name, text, &l->faults);
    } else if (text.p) {
        const mc_value *root = mc_json_tree(&kb->arena, text, &err, NULL);
        f = root ? decode(&kb->arena, name, root) : NULL;
    }
    const mc_framework **v = f ? mc_grow(&kb->arena, l->v, l->n, &l->cap, sizeof *v) : NULL;
    if (!v)
        return NULL;
    l->v = v;
    return v[l->n++] = f;
}

static bool is_framework_file(const char *name)
{
    mc_str s = mc_str_of(name);
    return mc_str_starts(s, "frameworks/") && mc_str_ends(s, ".json") && mc_str_find(mc_str_cut(s, 11, s.n), '/') == s.n - 11;
}

size_t mc_kb_frameworks(mc_kb *kb, const mc_framework *const **list)
{
    library *l = library_of(kb);
    *list = NULL;
    if (!l)
        return 0;
    if (!l->all) {
        for (const mc_embedded *e = NULL; (e = mc_embedded_next(e, "frameworks/"));)
            if (is_framework_file(e->name))
                add(kb, l, e->name);
        for (size_t i = 0; i < kb->n_extra; i++)
            if (is_framework_file(kb->extra[i].name))
                add(kb, l, kb->extra[i].name);
        l->all = true;
    }
    *list = l->v;
    return l->n;
}

/* ---- names ---- */

static char folded(char c)
{
    return c == ' ' || c == '_' ? '-' : mc_to_lower(c);
}

static bool same_name(mc_str a, mc_str b)
{
    bool same = a.n == b.n && a.n > 0;
    for (size_t i = 0; same && i < a.n; i++)
        same = folded(a.p[i]) == folded(b.p[i]);
    return same;
}

static mc_str column(mc_str line, unsigned i)
{
    for (; i > 0; i--)
        line = mc_str_cut(line, mc_str_find(line, '\t') + 1, line.n);
    return mc_str_cut(line, 0, mc_str_find(line, '\t'));
}

/* The name that rules/framework-names.tsv has for a name or alias; "" if it has none. */
static mc_str canonical(const mc_kb *kb, mc_str name)
{
    mc_span table = mc_kb_file(kb, "framework-names.tsv");
    mc_str  rest = { (const char *)table.p, table.n };
    while (rest.n) {
        size_t end = mc_str_find(rest, '\n');
        mc_str line = mc_str_cut(rest, 0, end), alias = column(line, 1);
        rest = mc_str_cut(rest, end + 1, rest.n);
        if (line.n == 0 || line.p[0] == '#')
            continue;
        if (same_name(column(line, 0), name))
            return column(line, 0);
        while (alias.n) {
            size_t comma = mc_str_find(alias, ',');
            if (same_name(mc_str_cut(alias, 0, comma), name))
                return column(line, 0);
            alias = mc_str_cut(alias, comma + 1, alias.n);
        }
    }
    return MC_STR("");
}

const mc_framework *mc_kb_framework(mc_kb *kb, mc_str name)
{
    enum { LONGEST = 64 };
    library *l = library_of(kb);
    char     file[LONGEST + 32];
    mc_str   known = canonical(kb, name);
    size_t   n = sizeof "frameworks/" - 1;
    name = known.n ? known : name;
    if (!l || name.n == 0 || name.n > LONGEST || mc_str_find(name, '/') < name.n || mc_str_is(name, "name"))
        return NULL;
    memcpy(file, "frameworks/", n);
    for (size_t i = 0; i < name.n; i++)
        file[n++] = folded(name.p[i]);
    memcpy(file + n, ".json", sizeof ".json");
    return add(kb, l, mc_str_copy(&kb->arena, mc_str_of(file)).p);
}

/* ---- versions ---- */

bool mc_boundary_parse(mc_str text, bool build, mc_version *low, mc_version *high)
{
    for (size_t i = 0; i + 1 < text.n; i++)
        if (text.p[i] == '.' && text.p[i + 1] == '.')
            return mc_version_parse(mc_str_cut(text, 0, i), build, low) && mc_version_parse(mc_str_cut(text, i + 2, text.n), build, high) &&
                   mc_version_cmp(low, high) < 0;
    if (!mc_version_parse(text, build, low))
        return false;
    *high = *low;
    return true;
}

/* The newest release with the same first two parts. */
static bool newest_patch(const mc_framework *f, mc_version *v, mc_str *text)
{
    const mc_value *rows = mc_get(f->root, "releases");
    mc_version      r;
    bool            found = false;
    for (size_t i = 0; mc_is(rows, MC_ARRAY) && i < rows->n; i++) {
        mc_str s = mc_as_str(mc_get(mc_item(rows, i), "v"));
        if (!mc_version_parse(s, f->build, &r) || r.part[0] != v->part[0] || r.part[1] != v->part[1] || (found && mc_version_cmp(&r, v) < 0))
            continue;
        found = true;
        *v = r;
        *text = s;
    }
    return found;
}

/* A framework without known versions has nothing to clamp to: its rows are all live. */
static bool beyond(const mc_framework *f, mc_version *v)
{
    mc_version from, to;
    if (!f->has_range || !mc_version_parse(f->known_from, f->build, &from) || !mc_version_parse(f->known_to, f->build, &to))
        return true;
    if (mc_version_cmp(v, &from) < 0)
        *v = from;
    else if (mc_version_cmp(v, &to) > 0)
        *v = to;
    else
        return false;
    return true;
}

bool mc_framework_version(const mc_framework *f, mc_str text, mc_version *v, mc_str *resolved, bool *outside)
{
    bool named = text.n > 0;
    text = named ? text : f->default_target;
    *resolved = text;
    *outside = true;
    *v = (mc_version){ .written = 0 };
    if (text.n == 0)
        return true;
    if (!mc_version_parse(text, f->build, v))
        return false;
    if (f->build && v->written > 1) /* a release name is no build number */
        return !f->has_range || mc_version_parse(f->known_to, true, v);
    if (named && v->written == 2)
        newest_patch(f, v, resolved);
    *outside = beyond(f, v);
    return true;
}

mc_str mc_version_text(mc_arena *a, const mc_framework *f, const mc_version *v)
{
    if (v->written == 0)
        return MC_STR("");
    if (f->build)
        return mc_format(a, "b%u", v->part[0]);
    if (v->part[3])
        return mc_format(a, "%u.%u.%u.%u", v->part[0], v->part[1], v->part[2], v->part[3]);
    return mc_format(a, "%u.%u.%u", v->part[0], v->part[1], v->part[2]);
}

/* ---- errors ---- */

static const mc_value *limit_of(const mc_framework *f, mc_str id)
{
    const mc_value *rows = mc_get(f->root, "limits");
    for (size_t i = 0; mc_is(rows, MC_ARRAY) && i < rows->n; i++)
        if (mc_str_eq(mc_as_str(mc_get(mc_item(rows, i), "id")), id))
            return mc_item(rows, i);
    return NULL;
}

/* Row i of `errors`, or behind them of `limits`. False beyond the last. */
static bool error_row(const mc_framework *f, size_t i, mc_error_hit *out)
{
    const mc_value *errors = mc_get(f->root, "errors"), *limits = mc_get(f->root, "limits");
    size_t          n = mc_is(errors, MC_ARRAY) ? errors->n : 0, m = mc_is(limits, MC_ARRAY) ? limits->n : 0;
    if (i >= n + m)
        return false;
    const mc_value *row = i < n ? mc_item(errors, i) : mc_item(limits, i - n);
    mc_str          rule = mc_as_str(mc_get(row, i < n ? "rule" : "id"));
    *out = (mc_error_hit){ f, mc_as_str(mc_get(row, "match")), rule, i < n ? limit_of(f, rule) : row };
    for (size_t k = 0; i >= n && k < n; k++)
        if (mc_str_eq(mc_as_str(mc_get(mc_item(errors, k), "rule")), rule))
            out->match = MC_STR(""); /* told by the row of `errors` */
    return true;
}

bool mc_kb_error(mc_kb *kb, mc_str text, size_t *cursor, mc_error_hit *out)
{
    const mc_framework *const *list;
    size_t                     n = mc_kb_frameworks(kb, &list), seen = 0;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; error_row(list[k], i, out); i++)
            if (seen++ >= *cursor && out->match.n && mc_str_has(text, out->match)) {
                *cursor = seen;
                return true;
            }
    return false;
}
