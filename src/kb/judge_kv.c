/* The block `kv_dtypes`: may the cache be of the element type that the user asks for?
 *
 * `types`, `when` and `head_dim` choose the row of a name; if none fits, nothing is known. The other keys are limits. */
#include "kb/framework.h"

/* Names that users and frameworks spell differently. */
static bool same_type(mc_str listed, mc_str asked)
{
    static const char *const pairs[][2] = { { "f16", "float16" }, { "bf16", "bfloat16" }, { "f32", "float32" } };
    if (mc_str_eq(listed, asked))
        return true;
    for (size_t i = 0; i < MC_COUNT(pairs); i++)
        if ((mc_str_is(asked, pairs[i][0]) && mc_str_is(listed, pairs[i][1])) || (mc_str_is(asked, pairs[i][1]) && mc_str_is(listed, pairs[i][0])))
            return true;
    return false;
}

static bool names(const mc_value *row, mc_str asked)
{
    const mc_value *list = mc_get(row, "names");
    for (size_t i = 0; mc_is(list, MC_ARRAY) && i < list->n; i++)
        if (same_type(mc_item(list, i)->s, asked))
            return true;
    return false;
}

static mc_three one_of(mc_judge *j, const mc_value *list, const char *fact)
{
    mc_fact f = mc_judge_fact(j, fact);
    return list ? mc_fact_compare(&f, MC_STR("in"), list) : MC_TRUE;
}

/* Is it the row for this model? */
static mc_three chosen(mc_judge *j, const mc_value *row)
{
    mc_three t = mc_three_and(one_of(j, mc_get(row, "types"), "config.model_type"), one_of(j, mc_get(row, "head_dim"), "head_dim"));
    return mc_three_and(t, mc_predicate_closed(mc_get(row, "when"), &j->facts, MC_SCOPE_MODEL, NULL));
}

/* NULL: no limit is hit. *because: what is missing to say so. */
static const char *fault(mc_judge *j, const mc_value *row, mc_str *because)
{
    int64_t n;
    mc_fact dim = mc_judge_fact(j, "head_dim");
    if (mc_on_cuda(j) && (mc_get(row, "gpu_min") || mc_get(row, "gpu_major")) && !j->o->gpu)
        *because = MC_STR("no --gpu");
    if (mc_on_cuda(j) && j->o->gpu && mc_as_int(mc_get(row, "gpu_min"), &n) && j->o->gpu < n)
        return "this GPU";
    if (mc_on_cuda(j) && j->o->gpu && mc_as_int(mc_get(row, "gpu_major"), &n) && j->o->gpu / 10 != n)
        return "this GPU";
    if (mc_as_int(mc_get(row, "head_dim_max"), &n) && dim.type == MC_FACT_INT && dim.u.i > n)
        return "heads of this size";
    mc_three act = one_of(j, mc_get(row, "act_dtypes"), "act_dtype");
    if (act == MC_MAYBE && !because->n)
        *because = j->act_dtype.why ? mc_str_of(j->act_dtype.why) : MC_STR("act_dtype");
    return act == MC_FALSE ? "this activation dtype" : NULL;
}

static void judge_row(mc_judge *j, const mc_value *row, mc_str type)
{
    mc_str      because = MC_STR(""), id = MC_STR("kv-dtype"), said = mc_as_str(mc_get(row, "message")), word = mc_as_str(mc_get(row, "verdict"));
    mc_str      fix = mc_fill(j->a, mc_as_str(mc_get(row, "fix")), &j->facts, MC_SCOPE_MODEL, NULL);
    const char *what = fault(j, row, &because);
    if (what)
        mc_hit(j, "kv_dtypes", row, id, MC_TARGET_REFUSES, mc_format(j->a, "a %.*s cache is not for %s", MC_FMT(type), what), fix);
    else if (word.n)
        mc_hit(j, "kv_dtypes", row, id, mc_verdict_of(word), said.n ? mc_fill(j->a, said, &j->facts, MC_SCOPE_MODEL, NULL) : mc_format(j->a, "a %.*s cache", MC_FMT(type)), fix);
    else
        mc_unchecked(j, id, because);
}

static void judge_type(mc_judge *j, const mc_value *rows, mc_str type)
{
    const mc_value *coming = NULL, *ended = NULL, *elsewhere = NULL, *live = NULL;
    mc_str          id = MC_STR("kv-dtype"), target = mc_target_name(j);
    for (size_t i = 0; i < rows->n; i++) {
        const mc_value *row = mc_item(rows, i);
        if (!names(row, type))
            continue;
        int when = mc_row_when(j, row);
        coming = when < 0 && !coming ? row : coming;
        ended = when > 0 ? row : ended;
        if (when == 0 && mc_row_live(j, row) == MC_FALSE)
            elsewhere = row;
        if (when != 0 || mc_row_live(j, row) == MC_FALSE)
            continue;
        live = row;
        if (chosen(j, row) == MC_TRUE) {
            if (mc_row_live(j, row) == MC_TRUE)
                judge_row(j, row, type);
            else
                mc_unchecked(j, id, MC_STR("no --gpu"));
            return;
        }
    }
    if (live)
        mc_hit(j, "kv_dtypes", live, id, MC_TARGET_UNKNOWN, mc_format(j->a, "nothing is known of a %.*s cache for this model", MC_FMT(type)), MC_STR(""));
    else if (elsewhere)
        mc_hit(j, "kv_dtypes", elsewhere, id, MC_TARGET_REFUSES, mc_format(j->a, "a %.*s cache is not for this back end", MC_FMT(type)), MC_STR(""));
    else if (coming)
        mc_hit(j, "kv_dtypes", coming, id, MC_TARGET_REFUSES, mc_format(j->a, "a %.*s cache came with %.*s", MC_FMT(type), MC_FMT(mc_as_str(mc_get(coming, "since")))), MC_STR(""));
    else if (ended)
        mc_hit(j, "kv_dtypes", ended, id, MC_TARGET_REFUSES, mc_format(j->a, "a %.*s cache was removed with %.*s", MC_FMT(type), MC_FMT(mc_as_str(mc_get(ended, "until")))), MC_STR(""));
    else
        mc_hit(j, "kv_dtypes", NULL, id, MC_TARGET_REFUSES, mc_format(j->a, "%.*s has no %.*s cache", MC_FMT(target), MC_FMT(type)), MC_STR(""));
}

void mc_judge_kv(mc_judge *j)
{
    const mc_value *rows = mc_get(j->f->root, "kv_dtypes");
    mc_str          asked = j->o->kv_dtype;
    size_t          comma = mc_str_find(asked, ',');
    if (!mc_is(rows, MC_ARRAY) || asked.n == 0)
        return;
    judge_type(j, rows, mc_str_cut(asked, 0, comma));
    if (comma < asked.n && !mc_str_eq(mc_str_cut(asked, 0, comma), mc_str_cut(asked, comma + 1, asked.n)))
        judge_type(j, rows, mc_str_cut(asked, comma + 1, asked.n));
}

bool mc_kb_kv_name(mc_kb *kb, mc_str name)
{
    const mc_framework *const *list;
    size_t                     n = mc_kb_frameworks(kb, &list);
    for (size_t k = 0; k < n; k++) {
        const mc_value *rows = mc_get(list[k]->root, "kv_dtypes");
        for (size_t i = 0; mc_is(rows, MC_ARRAY) && i < rows->n; i++)
            if (names(mc_item(rows, i), name))
                return true;
    }
    return false;
}
