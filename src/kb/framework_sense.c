/* What the shape of a framework file cannot say: ids are unique and not reserved, every row has a source, names refer to
 * something, boundaries are in order. */
#include "kb/framework.h"

static const char *const generated[] = {
    "arch", "quant-unknown", "quant-removed", "quant-too-new", "quant-plugin", "quant-deprecated", "quant-gpu", "quant-slow", "quant-dtype", "quant-params",
    "quant-scheme", "platform", "kv-dtype", "files", NULL,
};

static bool is_generated(mc_str id)
{
    return mc_str_is_any(id, generated);
}

typedef struct { const mc_value *root; mc_faults *f; bool build; } sense;

static void check_row(sense *s, const char *block, const mc_value *row)
{
    mc_version low, high, end;
    mc_str     since = mc_as_str(mc_get(row, "since")), until = mc_as_str(mc_get(row, "until"));
    if (since.n && until.n && mc_boundary_parse(since, s->build, &low, &high) && mc_boundary_parse(until, s->build, &low, &end) && mc_version_cmp(&high, &end) >= 0)
        mc_fault_add(s->f, mc_get(row, "until"), "the row ends where it begins, or before");
    if (!mc_get(row, "source") && !mc_get(mc_get(s->root, "default_source"), block))
        mc_fault_add(s->f, row, "a row of \"%s\" without a source, and \"default_source\" has none for it", block);
}

static void check_rows(sense *s, const char *block, const mc_value *rows)
{
    for (size_t i = 0; mc_is(rows, MC_ARRAY) && i < rows->n; i++)
        check_row(s, block, mc_item(rows, i));
}

static void check_tables(sense *s, const char *block)
{
    const mc_value *tables = mc_get(s->root, block);
    for (size_t i = 0; mc_is(tables, MC_OBJECT) && i < tables->n; i++)
        check_rows(s, block, tables->u.fields[i].value);
}

static void check_ids(sense *s)
{
    const mc_value *limits = mc_get(s->root, "limits"), *ids = mc_get(s->root, "generated_limits");
    for (size_t i = 0; mc_is(ids, MC_ARRAY) && i < ids->n; i++)
        if (!is_generated(mc_item(ids, i)->s))
            mc_fault_add(s->f, mc_item(ids, i), "no lowered row has the id \"%.*s\"", MC_FMT(mc_item(ids, i)->s));
    for (size_t i = 0; mc_is(limits, MC_ARRAY) && i < limits->n; i++) {
        const mc_value *id = mc_get(mc_item(limits, i), "id");
        if (is_generated(id->s))
            mc_fault_add(s->f, id, "the id \"%.*s\" belongs to lowered rows", MC_FMT(id->s));
    }
}

static bool has_limit(const sense *s, mc_str id)
{
    const mc_value *limits = mc_get(s->root, "limits");
    for (size_t i = 0; mc_is(limits, MC_ARRAY) && i < limits->n; i++)
        if (mc_str_eq(mc_as_str(mc_get(mc_item(limits, i), "id")), id))
            return true;
    return is_generated(id) || (id.n == 5 && mc_str_starts(id, "MC"));
}

static void check_references(sense *s)
{
    const mc_value *errors = mc_get(s->root, "errors"), *quant = mc_get(s->root, "quant");
    for (size_t i = 0; mc_is(errors, MC_ARRAY) && i < errors->n; i++) {
        const mc_value *rule = mc_get(mc_item(errors, i), "rule"), *match = mc_get(mc_item(errors, i), "match");
        if (!has_limit(s, rule->s))
            mc_fault_add(s->f, rule, "\"%.*s\" is neither a limit of this file nor a rule", MC_FMT(rule->s));
        if (match->s.n < 8)
            mc_fault_add(s->f, match, "too short to tell one error from another");
    }
    for (size_t i = 0; mc_is(quant, MC_ARRAY) && i < quant->n; i++) {
        const mc_value *name = mc_get(mc_item(quant, i), "schemes");
        if (name && !mc_get_str(mc_get(s->root, "schemes"), name->s))
            mc_fault_add(s->f, name, "there are no schemes \"%.*s\"", MC_FMT(name->s));
    }
}

static void check_platforms(sense *s)
{
    const mc_value *tables = mc_get(s->root, "platforms");
    for (size_t i = 0; mc_is(tables, MC_OBJECT) && i < tables->n; i++)
        for (size_t k = 0; k < tables->u.fields[i].value->n; k++) {
            const mc_value *row = mc_item(tables->u.fields[i].value, k);
            if ((mc_get(row, "allow") != NULL) == (mc_get(row, "verdict") != NULL))
                mc_fault_add(s->f, row, "a row of \"platforms\" has either \"allow\" or \"verdict\"");
        }
}

static void check_head(sense *s)
{
    static const char *const keys[] = { "known_from", "known_to", "default_target" };
    size_t n = 0;
    for (size_t i = 0; i < MC_COUNT(keys); i++)
        n += mc_get(s->root, keys[i]) != NULL;
    if (n != 0 && n != MC_COUNT(keys))
        mc_fault_add(s->f, s->root, "known_from, known_to and default_target: all or none");
}

void mc_framework_sense(const mc_value *root, mc_faults *f)
{
    static const char *const lists[] = { "files", "quant", "quant_aliases", "quant_detect", "kv_dtypes", "limits" };
    static const char *const tables[] = { "schemes", "platforms" };
    sense s = { root, f, mc_str_is(mc_as_str(mc_get(root, "version_scheme")), "build") };
    check_head(&s);
    for (size_t i = 0; i < MC_COUNT(lists); i++)
        check_rows(&s, lists[i], mc_get(root, lists[i]));
    for (size_t i = 0; i < MC_COUNT(tables); i++)
        check_tables(&s, tables[i]);
    check_rows(&s, "gguf", mc_get(mc_get(root, "gguf"), "source") ? NULL : mc_get(mc_get(root, "gguf"), "types"));
    check_ids(&s);
    check_references(&s);
    check_platforms(&s);
}
