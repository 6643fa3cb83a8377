/* JSON: the scanner and the tree accept the same documents (Python's dialect), the strict scanner accepts no more, and
 * every failure names a place inside the input. */
#include <math.h>

#include "fuzz/fuzz.h"

static bool scan(mc_span text, bool python, mc_err *err, const uint8_t **literal)
{
    mc_json j = mc_json_of(text);
    j.python = python;
    bool ok = mc_json_skip(&j) && mc_json_end(&j);
    MUST(ok == (j.err.code == MC_OK));
    MUST(j.p >= j.beg && j.p <= j.end);
    MUST(ok || (j.err.what && j.err.at <= text.n));
    *err = j.err;
    *literal = j.literal;
    return ok;
}

/* Every value reachable, with a bound instead of recursion: paths are at most MC_MAX_JSON_DEPTH long. */
static void walk(const mc_value *root, mc_span text)
{
    struct { const mc_value *v; size_t i; } stack[MC_MAX_JSON_DEPTH + 1];
    size_t depth = 0;
    stack[depth].v = root;
    stack[depth++].i = 0;
    while (depth) {
        const mc_value *v = stack[depth - 1].v;
        size_t          i = stack[depth - 1].i++;
        if (i == 0) {
            MUST(v->at < text.n);
            if (v->type == MC_STRING)
                MUST(mc_utf8_valid((mc_span){ (const uint8_t *)v->s.p, v->s.n }));
        }
        if ((v->type != MC_OBJECT && v->type != MC_ARRAY) || i >= v->n) {
            depth--;
            continue;
        }
        MUST(depth <= MC_MAX_JSON_DEPTH);
        const mc_value *child = v->type == MC_OBJECT ? v->u.fields[i].value : &v->u.items[i];
        if (v->type == MC_OBJECT)
            MUST(mc_get_str(v, v->u.fields[i].key) != NULL);
        stack[depth].v = child;
        stack[depth++].i = 0;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    mc_span        text = { bytes, n };
    mc_err         strict, python, tree;
    const uint8_t *none, *literal;
    mc_arena       a;
    uint64_t       at = 0;
    bool           as_strict = scan(text, false, &strict, &none), as_python = scan(text, true, &python, &literal);
    MUST(!as_strict || as_python);
    MUST(none == NULL);
    mc_arena_init(&a, (size_t)1 << 28);
    mc_value *v = mc_json_tree(&a, text, &tree, &at);
    MUST(v ? tree.code == MC_OK : tree.code != MC_OK);
    if (tree.code != MC_E_NOMEM) {
        MUST((v != NULL) == as_python);
        MUST(v || (tree.at <= n && tree.what));
        if (v) {
            MUST(literal ? at == (uint64_t)(literal - bytes) : at == UINT64_MAX);
            walk(v, text);
        }
    }
    mc_arena_free(&a);
    return 0;
}
