/* Rules that users write: files of schema "modelcheck/rules-1" among those given at run time. docs/custom-rules.md. */
#include "kb/framework.h"

mc_each mc_each_of(mc_str word)
{
    static const char *const words[MC_N_EACH] = { "", "row_parallel", "column_parallel", "linear", "experts", "embedding", "fused_group", "config_group" };
    for (unsigned i = 1; i < MC_N_EACH; i++)
        if (mc_str_is(word, words[i]))
            return (mc_each)i;
    return MC_EACH_NONE;
}

/* "X-" and capitals, digits, '-'. */
static bool is_code(mc_str s)
{
    bool good = s.n > 2 && s.n <= 32 && mc_str_starts(s, "X-");
    good = good && s.p[s.n - 1] != '-' && s.p[2] != '-';
    for (size_t i = 2; good && i < s.n; i++)
        good = mc_is_upper(s.p[i]) || mc_is_digit(s.p[i]) || s.p[i] == '-';
    return good;
}

/* "X-LICENSE" -> "license", unless the row says otherwise. */
static mc_str slug_of(mc_arena *a, mc_str own, mc_str code)
{
    char *p = own.n ? NULL : mc_alloc(a, code.n + 1, 1);
    for (size_t i = 2; p && i < code.n; i++)
        p[i - 2] = mc_to_lower(code.p[i]);
    return p ? (mc_str){ p, code.n - 2 } : own;
}

/* Small letters, digits, '-' between them. */
static bool is_slug(mc_str s)
{
    bool good = s.n > 0 && s.n <= 48 && s.p[0] != '-' && s.p[s.n - 1] != '-';
    for (size_t i = 0; good && i < s.n; i++)
        good = mc_is_lower(s.p[i]) || mc_is_digit(s.p[i]) || s.p[i] == '-';
    return good;
}

static void check_codes(const mc_value *rows, mc_faults *faults)
{
    for (size_t i = 0; mc_is(rows, MC_ARRAY) && i < rows->n; i++) {
        const mc_value *code = mc_get(mc_item(rows, i), "code");
        if (!is_code(code->s))
            mc_fault_add(faults, code, "a code is X- and up to 30 capitals, digits and dashes: X-LICENSE");
        if (mc_get(mc_item(rows, i), "slug") && !is_slug(mc_as_str(mc_get(mc_item(rows, i), "slug"))))
            mc_fault_add(faults, mc_get(mc_item(rows, i), "slug"), "a slug is small letters, digits and dashes");
        for (size_t k = 0; k < i; k++)
            if (mc_str_eq(mc_as_str(mc_get(mc_item(rows, k), "code")), code->s))
                mc_fault_add(faults, code, "the code %.*s occurs twice", MC_FMT(code->s));
    }
}

const mc_custom_rule *mc_custom_decode(mc_arena *a, mc_span text, mc_faults *faults, size_t *n)
{
    mc_err          err;
    size_t          before = faults->n;
    const mc_value *root = mc_json_tree(a, text, &err, NULL), *rows = mc_get(root, "rules");
    mc_value        at = { .at = (uint32_t)err.at };
    *n = 0;
    if (!root) {
        mc_fault_add(faults, &at, "not JSON: %s", err.what ? err.what : "out of memory");
        return NULL;
    }
    mc_custom_shape(root, faults);
    if (faults->n == before)
        check_codes(rows, faults);
    mc_custom_rule *v = faults->n == before ? MC_NEW(a, mc_custom_rule, rows->n + 1) : NULL;
    for (size_t i = 0; v && i < rows->n; i++) {
        const mc_value *r = mc_item(rows, i);
        v[(*n)++] = (mc_custom_rule){
            mc_as_str(mc_get(r, "code")), slug_of(a, mc_as_str(mc_get(r, "slug")), mc_as_str(mc_get(r, "code"))), mc_as_str(mc_get(r, "severity")), mc_as_str(mc_get(r, "message")), mc_as_str(mc_get(r, "fix")),
            mc_as_str(mc_get(r, "why")), mc_as_str(mc_get(r, "source")), mc_get(r, "when"), mc_each_of(mc_as_str(mc_get(r, "each"))),
        };
    }
    return v;
}

size_t mc_kb_custom_rules(mc_kb *kb, const mc_custom_rule **rules)
{
    mc_custom_rule *all = NULL;
    size_t          n = 0, cap = 0;
    mc_faults       faults = { .arena = &kb->arena };
    for (size_t i = 0; i < kb->n_extra; i++) {
        mc_str name = mc_str_of(kb->extra[i].name);
        size_t more = 0;
        if (!mc_str_starts(name, "custom/"))
            continue;
        const mc_custom_rule *v = mc_custom_decode(&kb->arena, (mc_span){ kb->extra[i].p, kb->extra[i].n }, &faults, &more);
        for (size_t k = 0; k < more; k++) {
            mc_custom_rule *grown = mc_grow(&kb->arena, all, n, &cap, sizeof *grown);
            if (!grown)
                break;
            all = grown;
            all[n++] = v[k];
        }
    }
    *rules = all;
    return n;
}
