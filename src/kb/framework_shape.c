/* The shape of a framework file, as tables, and the strict check against them: an unknown key, a value of a wrong kind, an
 * unknown verdict, fact or operator is a fault with its place. docs/frameworks.md says what the keys mean. */
#include "kb/framework.h"

typedef enum {
    K_ANY, K_TEXT, K_MESSAGE /* with placeholders */, K_INT, K_BOOL, K_VERSION /* or "A..B" */, K_WORD /* one of `words` */,
    K_TEXTS, K_INTS /* null stands for absent */, K_BOOLS, K_PREDICATE, K_EDGE /* approx: true, "since" or "until" */,
    K_OBJECT, K_ROWS, K_OBJECT_OR_ROWS, K_MAP_OF_ROWS, K_MAP_OF_TEXTS, K_MAP_OF_TEXT, K_WORD_OR_ROWS, K_TEXT_OR_TEXTS, K_INT_OR_NULL
} kind;
typedef struct shape shape;
typedef struct { const char *key; kind kind; const char *words; const shape *sub; } member;
/* required: keys with blanks between. row: since, until, approx and the like are allowed too. */
struct shape { const char *name; const member *v; size_t n; const char *required; bool row; };

#define VERDICTS "refuses wrong needs slow unknown"
#define SHAPE(id, name, required, row) static const shape id = { name, id##_keys, MC_COUNT(id##_keys), required, row }

static const member row_keys[] = {
    { "since", K_VERSION, NULL, NULL }, { "until", K_VERSION, NULL, NULL }, { "approx", K_EDGE, NULL, NULL }, { "platform", K_TEXT_OR_TEXTS, NULL, NULL },
    { "source", K_TEXT, NULL, NULL }, { "date", K_TEXT, NULL, NULL }, { "mark", K_WORD, "? docs", NULL }, { "note", K_TEXT, NULL, NULL }, { "id", K_TEXT, NULL, NULL },
};
static const member read_keys[] = {
    { "version", K_TEXT, NULL, NULL }, { "package", K_TEXT, NULL, NULL }, { "commit", K_TEXT, NULL, NULL }, { "tree", K_TEXT, NULL, NULL },
    { "date", K_TEXT, NULL, NULL }, { "note", K_TEXT, NULL, NULL }, { "part", K_TEXT, NULL, NULL },
};
SHAPE(read, "a row of \"read\"", "date", false);
static const member release_keys[] = { { "v", K_VERSION, NULL, NULL }, { "date", K_TEXT, NULL, NULL } };
SHAPE(release, "a release", "v", false);
static const member build_keys[] = { { "v", K_VERSION, NULL, NULL }, { "build", K_TEXT /* of the other framework */, NULL, NULL }, { "source", K_TEXT, NULL, NULL }, { "note", K_TEXT, NULL, NULL } };
SHAPE(build, "a row of \"builds\"", "v build", false);
static const member outcome_keys[] = {
    { "verdict", K_WORD, VERDICTS, NULL }, { "message", K_MESSAGE, NULL, NULL }, { "fix", K_MESSAGE, NULL, NULL }, { "source", K_TEXT, NULL, NULL },
    { "match", K_TEXT, NULL, NULL }, { "when", K_PREDICATE, NULL, NULL },
};
SHAPE(outcome, "an outcome", "verdict", false);
static const member is_keys[] = { { "is", K_TEXT, NULL, NULL } };
SHAPE(is, "a versioned value", "is", true);
static const member rung_keys[] = {
    { "glob", K_TEXT, NULL, NULL }, { "not", K_TEXTS, NULL, NULL }, { "index", K_TEXT, NULL, NULL }, { "no_index", K_WORD, "all first refuses", NULL },
    { "note", K_TEXT, NULL, NULL },
};
SHAPE(rung, "a rung of the ladder", "glob", false);
static const member files_keys[] = {
    { "depth", K_INT, NULL, NULL }, { "ladder", K_ROWS, NULL, &rung }, { "unlisted_shard", K_WORD_OR_ROWS, "ignored read refuses unknown", &is },
    { "missing_indexed_shard", K_WORD_OR_ROWS, "silent refuses unknown", &is },
    { "duplicate_tensor", K_WORD_OR_ROWS, "last-wins first-wins last-wins-unordered refuses unknown", &is }, { "on_none", K_OBJECT, NULL, &outcome },
};
SHAPE(files, "a row of \"files\"", "ladder", true);
static const member arch_keys[] = {
    { "key", K_WORD, "config.architectures config.model_type gguf.general.architecture gguf.architecture", NULL }, { "table", K_TEXT, NULL, NULL },
    { "columns", K_TEXTS, NULL, NULL }, { "pick", K_WORD, "first-supported first only", NULL }, { "on_unknown", K_OBJECT, NULL, &outcome },
    { "on_removed", K_OBJECT, NULL, &outcome }, { "on_too_new", K_OBJECT, NULL, &outcome }, { "boundaries", K_TEXT, NULL, NULL },
    { "when", K_PREDICATE, NULL, NULL },
};
SHAPE(arch, "\"architectures\"", "key table", true);
#define HARDWARE { "gpu_min", K_INT, NULL, NULL }, { "gpu_exact", K_INT, NULL, NULL }, { "slow_below", K_INT, NULL, NULL }
#define PARAMETERS                                                                                                                            \
    { "dtypes", K_TEXTS, NULL, NULL }, { "bits", K_INTS, NULL, NULL }, { "groups", K_INTS, NULL, NULL }, { "sym", K_BOOLS, NULL, NULL },       \
    { "desc_act", K_BOOLS, NULL, NULL }, { "formats", K_TEXTS, NULL, NULL }, { "algos", K_TEXTS, NULL, NULL }
static const member upgrade_keys[] = { HARDWARE, PARAMETERS, { "to", K_TEXT, NULL, NULL } };
SHAPE(upgrade, "\"upgrade\"", "", false);
static const member quant_keys[] = {
    { "method", K_TEXT, NULL, NULL }, HARDWARE, PARAMETERS, { "schemes", K_TEXT, NULL, NULL }, { "upgrade", K_OBJECT, NULL, &upgrade },
    { "deprecated", K_VERSION, NULL, NULL }, { "flag", K_TEXT, NULL, NULL }, { "plugin_after", K_TEXT, NULL, NULL }, { "online", K_BOOL, NULL, NULL },
    { "package", K_TEXT, NULL, NULL }, { "package_min", K_TEXT, NULL, NULL }, { "when", K_PREDICATE, NULL, NULL },
};
SHAPE(quant, "a row of \"quant\"", "method", true);
static const member alias_keys[] = { { "from", K_TEXT, NULL, NULL }, { "to", K_TEXT, NULL, NULL }, { "when", K_PREDICATE, NULL, NULL } };
SHAPE(alias, "a row of \"quant_aliases\"", "from to", true);
static const member detect_keys[] = { { "method", K_TEXT, NULL, NULL }, { "when", K_PREDICATE, NULL, NULL } };
SHAPE(detect, "a row of \"quant_detect\"", "method when", true);
static const member scheme_keys[] = {
    HARDWARE, PARAMETERS, { "act_bits", K_INTS, NULL, NULL }, { "act_type", K_TEXTS, NULL, NULL }, { "out_act_bits", K_INTS, NULL, NULL },
    { "sparsity_24", K_BOOLS, NULL, NULL },
};
SHAPE(scheme, "a scheme", "", true);
static const member platform_keys[] = {
    { "allow", K_TEXTS, NULL, NULL }, { "verdict", K_WORD, "unknown refuses", NULL }, { "message", K_MESSAGE, NULL, NULL }, { "fix", K_MESSAGE, NULL, NULL },
};
SHAPE(platform, "a row of \"platforms\"", "", true);
static const member struck_keys[] = { { "types", K_TEXTS, NULL, NULL } };
SHAPE(struck, "a row of \"types_without_float16\"", "types", true);
static const member act_keys[] = {
    { "types_without_float16", K_ROWS, NULL, &struck }, { "bfloat16_min_gpu", K_INT, NULL, NULL }, { "float16_min_gpu", K_INT, NULL, NULL },
    { "source", K_TEXT, NULL, NULL },
};
SHAPE(act, "\"act_dtype\"", "bfloat16_min_gpu float16_min_gpu", false);
static const member type_keys[] = { { "name", K_TEXT, NULL, NULL }, { "names", K_TEXTS, NULL, NULL } };
SHAPE(type, "a row of \"types\"", "", true);
static const member gguf_keys[] = { { "types", K_ROWS, NULL, &type }, { "slow", K_MAP_OF_TEXTS, NULL, NULL }, { "source", K_TEXT, NULL, NULL }, { "note", K_TEXT, NULL, NULL } };
SHAPE(gguf, "\"gguf\"", "", false);
static const member kv_keys[] = {
    { "names", K_TEXTS, NULL, NULL }, { "bytes", K_INT_OR_NULL, NULL, NULL }, { "bytes_num", K_INT, NULL, NULL }, { "bytes_den", K_INT, NULL, NULL },
    { "extra_bytes_per_head_token", K_INT, NULL, NULL }, { "bytes_per_head_token", K_INT, NULL, NULL }, { "bytes_per_token", K_INT, NULL, NULL },
    { "k_bits", K_INT, NULL, NULL }, { "k_extra_bytes", K_INT, NULL, NULL }, { "v_bits", K_INT, NULL, NULL }, { "v_extra_bytes", K_INT, NULL, NULL },
    { "round_sum_to", K_INT, NULL, NULL }, { "gpu_min", K_INT, NULL, NULL }, { "gpu_major", K_INT, NULL, NULL }, { "head_dim", K_INTS, NULL, NULL },
    { "head_dim_max", K_INT, NULL, NULL }, { "types", K_TEXTS, NULL, NULL }, { "act_dtypes", K_TEXTS, NULL, NULL }, { "when", K_PREDICATE, NULL, NULL },
    { "verdict", K_WORD, VERDICTS, NULL }, { "message", K_MESSAGE, NULL, NULL }, { "fix", K_MESSAGE, NULL, NULL },
};
SHAPE(kv, "a row of \"kv_dtypes\"", "names", true);
static const member limit_keys[] = {
    { "when", K_PREDICATE, NULL, NULL }, { "verdict", K_WORD, VERDICTS, NULL }, { "message", K_MESSAGE, NULL, NULL }, { "fix", K_MESSAGE, NULL, NULL },
    { "match", K_TEXT, NULL, NULL },
    { "each", K_WORD, "row_parallel column_parallel linear experts embedding fused_group config_group", NULL },
};
SHAPE(limit, "a limit", "id when verdict message", true);
static const member error_keys[] = { { "match", K_TEXT, NULL, NULL }, { "rule", K_TEXT, NULL, NULL }, { "note", K_TEXT, NULL, NULL }, { "source", K_TEXT, NULL, NULL } };
SHAPE(error, "a row of \"errors\"", "match rule", false);
static const member root_keys[] = {
    { "schema", K_WORD, "modelcheck/framework-1", NULL }, { "name", K_TEXT, NULL, NULL }, { "display", K_TEXT, NULL, NULL }, { "note", K_TEXT, NULL, NULL },
    { "version_scheme", K_WORD, "numeric-dots build", NULL }, { "read", K_ROWS, NULL, &read }, { "known_from", K_VERSION, NULL, NULL },
    { "known_to", K_VERSION, NULL, NULL }, { "default_target", K_VERSION, NULL, NULL }, { "releases", K_ROWS, NULL, &release }, { "compared", K_TEXTS, NULL, NULL },
    { "default_source", K_MAP_OF_TEXT, NULL, NULL }, { "default_date", K_TEXT, NULL, NULL }, { "generated_limits", K_TEXTS, NULL, NULL },
    { "maps_to", K_TEXT, NULL, NULL }, { "builds", K_ROWS, NULL, &build }, { "fallback", K_TEXT, NULL, NULL }, { "fallback_when", K_PREDICATE, NULL, NULL }, { "quant_sources", K_TEXTS, NULL, NULL },
    { "quant_unknown", K_OBJECT_OR_ROWS, NULL, &outcome }, { "quant_detect", K_ROWS, NULL, &detect }, { "files", K_ROWS, NULL, &files },
    { "architectures", K_OBJECT_OR_ROWS, NULL, &arch }, { "quant", K_ROWS, NULL, &quant }, { "quant_aliases", K_ROWS, NULL, &alias },
    { "schemes", K_MAP_OF_ROWS, NULL, &scheme }, { "platforms", K_MAP_OF_ROWS, NULL, &platform }, { "act_dtype", K_OBJECT, NULL, &act },
    { "gguf", K_OBJECT, NULL, &gguf }, { "kv_dtypes", K_ROWS, NULL, &kv }, { "limits", K_ROWS, NULL, &limit }, { "errors", K_ROWS, NULL, &error },
};
SHAPE(root, "a framework file", "schema name display version_scheme read", false);

static const member custom_keys[] = {
    { "code", K_TEXT, NULL, NULL }, { "slug", K_TEXT, NULL, NULL }, { "severity", K_WORD, "error warning info", NULL }, { "message", K_MESSAGE, NULL, NULL },
    { "fix", K_MESSAGE, NULL, NULL }, { "why", K_TEXT, NULL, NULL }, { "when", K_PREDICATE, NULL, NULL }, { "note", K_TEXT, NULL, NULL }, { "source", K_TEXT, NULL, NULL },
    { "each", K_WORD, "row_parallel column_parallel linear experts embedding fused_group config_group", NULL },
};
SHAPE(custom, "a rule", "code severity message when", false);
static const member rules_keys[] = { { "schema", K_WORD, "modelcheck/rules-1", NULL }, { "rules", K_ROWS, NULL, &custom }, { "note", K_TEXT, NULL, NULL } };
SHAPE(rules, "a file of rules", "schema rules", false);

/* ---- the check: a list of objects that are still to be looked at, so that nothing recurses ---- */

typedef struct { const mc_value *v; const shape *s; } task;
typedef struct { mc_faults *f; task *v; size_t n, cap; bool build; } work;

static void later(work *w, const mc_value *v, const shape *s)
{
    task *t = mc_grow(w->f->arena, w->v, w->n, &w->cap, sizeof *t);
    if (!t)
        return;
    w->v = t;
    t[w->n++] = (task){ v, s };
}

/* Is s one of the words, which have blanks between them? */
static bool one_of(mc_str s, const char *words)
{
    mc_str rest = mc_str_of(words);
    while (rest.n) {
        size_t blank = mc_str_find(rest, ' ');
        if (s.n && mc_str_eq(mc_str_cut(rest, 0, blank), s))
            return true;
        rest = mc_str_cut(rest, blank + 1, rest.n);
    }
    return false;
}

static bool scalars(const mc_value *v, mc_type t, bool null)
{
    for (size_t i = 0; mc_is(v, MC_ARRAY) && i < v->n; i++)
        if (!mc_is(mc_item(v, i), t) && !(null && mc_is(mc_item(v, i), MC_NULL)))
            return false;
    return mc_is(v, MC_ARRAY);
}

static void rows(work *w, const mc_value *v, const shape *s)
{
    if (!mc_is(v, MC_ARRAY))
        mc_fault_add(w->f, v, "not an array");
    for (size_t i = 0; mc_is(v, MC_ARRAY) && i < v->n; i++)
        later(w, mc_item(v, i), s);
}

static void map(work *w, const mc_value *v, const member *m)
{
    if (!mc_is(v, MC_OBJECT))
        mc_fault_add(w->f, v, "not an object");
    for (size_t i = 0; mc_is(v, MC_OBJECT) && i < v->n; i++) {
        const mc_value *x = v->u.fields[i].value;
        if (m->kind == K_MAP_OF_ROWS)
            rows(w, x, m->sub);
        else if (m->kind == K_MAP_OF_TEXTS ? !scalars(x, MC_STRING, false) : !mc_is(x, MC_STRING))
            mc_fault_add(w->f, x, m->kind == K_MAP_OF_TEXTS ? "not an array of texts" : "not a text");
    }
}

/* NULL, or what the value should be. */
static const char *scalar_fault(const work *w, const mc_value *v, const member *m)
{
    mc_version a, b;
    switch (m->kind) {
    case K_TEXT: case K_MESSAGE: return mc_is(v, MC_STRING) ? NULL : "not a text";
    case K_INT: return mc_is(v, MC_INT) ? NULL : "not an integer";
    case K_INT_OR_NULL: return mc_is(v, MC_INT) || mc_is(v, MC_NULL) ? NULL : "neither an integer nor null";
    case K_BOOL: return mc_is(v, MC_BOOL) ? NULL : "neither true nor false";
    case K_TEXTS: return scalars(v, MC_STRING, false) ? NULL : "not an array of texts";
    case K_INTS: return scalars(v, MC_INT, true) ? NULL : "not an array of integers";
    case K_BOOLS: return scalars(v, MC_BOOL, true) ? NULL : "not an array of true and false";
    case K_TEXT_OR_TEXTS: return mc_is(v, MC_STRING) || scalars(v, MC_STRING, false) ? NULL : "neither a text nor an array of texts";
    case K_EDGE: return (mc_is(v, MC_BOOL) && v->u.b) || one_of(mc_as_str(v), "since until") ? NULL : "not true, \"since\" or \"until\"";
    case K_VERSION: return mc_is(v, MC_STRING) && mc_boundary_parse(v->s, w->build, &a, &b) ? NULL : "not a version";
    case K_WORD: case K_WORD_OR_ROWS:
        return one_of(mc_as_str(v), m->words) ? NULL : mc_format(w->f->arena, "not one of: %s", m->words).p;
    case K_ANY: case K_PREDICATE: case K_OBJECT: case K_ROWS: case K_OBJECT_OR_ROWS: case K_MAP_OF_ROWS: case K_MAP_OF_TEXTS: case K_MAP_OF_TEXT: break;
    }
    return NULL;
}

static void check_member(work *w, const mc_value *v, const member *m)
{
    bool array = mc_is(v, MC_ARRAY);
    if (m->kind == K_PREDICATE)
        mc_predicate_check(v, w->f);
    else if (m->kind == K_ROWS || ((m->kind == K_OBJECT_OR_ROWS || m->kind == K_WORD_OR_ROWS) && array))
        rows(w, v, m->sub);
    else if (m->kind == K_OBJECT || m->kind == K_OBJECT_OR_ROWS)
        later(w, v, m->sub);
    else if (m->kind == K_MAP_OF_ROWS || m->kind == K_MAP_OF_TEXTS || m->kind == K_MAP_OF_TEXT)
        map(w, v, m);
    else {
        const char *fault = scalar_fault(w, v, m);
        if (fault)
            mc_fault_add(w->f, v, "\"%s\": %s", m->key, fault);
        else if (m->kind == K_MESSAGE)
            mc_fill_check(v, w->f);
    }
}

static const member *member_of(const shape *s, mc_str key)
{
    for (size_t i = 0; i < s->n; i++)
        if (mc_str_is(key, s->v[i].key))
            return &s->v[i];
    for (size_t i = 0; s->row && i < MC_COUNT(row_keys); i++)
        if (mc_str_is(key, row_keys[i].key))
            return &row_keys[i];
    return NULL;
}

static void check_required(work *w, const mc_value *v, const shape *s)
{
    for (mc_str rest = mc_str_of(s->required); rest.n;) {
        size_t blank = mc_str_find(rest, ' ');
        if (!mc_get_str(v, mc_str_cut(rest, 0, blank)))
            mc_fault_add(w->f, v, "%s without \"%.*s\"", s->name, (int)blank, rest.p);
        rest = mc_str_cut(rest, blank + 1, rest.n);
    }
}

static void check_object(work *w, const mc_value *v, const shape *s)
{
    if (!mc_is(v, MC_OBJECT)) {
        mc_fault_add(w->f, v, "%s is an object", s->name);
        return;
    }
    for (size_t i = 0; i < v->n; i++) {
        mc_str        key = v->u.fields[i].key;
        const member *m = member_of(s, key);
        if (mc_get_str(v, key) != v->u.fields[i].value)
            mc_fault_add(w->f, v->u.fields[i].value, "\"%.*s\" occurs twice", MC_FMT(key));
        else if (!m)
            mc_fault_add(w->f, v->u.fields[i].value, "unknown key \"%.*s\" of %s", MC_FMT(key), s->name);
        else
            check_member(w, v->u.fields[i].value, m);
    }
    check_required(w, v, s);
}

static void check_all(const mc_value *v, const shape *s, mc_faults *f)
{
    work w = { .f = f, .build = mc_str_is(mc_as_str(mc_get(v, "version_scheme")), "build") };
    later(&w, v, s);
    for (size_t i = 0; i < w.n; i++)
        check_object(&w, w.v[i].v, w.v[i].s);
}

void mc_framework_shape(const mc_value *v, mc_faults *f)
{
    check_all(v, &root, f);
}

void mc_custom_shape(const mc_value *v, mc_faults *f)
{
    check_all(v, &rules, f);
}
