/* Tables of `schemes`: sub-schemes of a method, judged for each config group of the file.
 *
 * A scheme has a description (what it stores) and hardware keys. A group that no description fits is refused; one that a
 * description fits and whose hardware keys do not, needs another GPU. In a description null stands for "absent". A file without
 * config groups is asked only for the schemes of plain weights (bits null), and only if it is 2:4 sparse. */
#include "kb/framework.h"

typedef struct { bool yes, maybe, fits, fast, slow; int64_t gpu; bool exact; int64_t slow_below; const mc_value *near, *slow_row; } outcome;

/* strict: absent fits only null. Else what the file does not state is no condition. */
typedef struct { const char *key, *fact; bool strict; } description;
static const description keys[] = {
    { "formats", "ct.format", false }, { "bits", "quant_bits", false }, { "sym", "sym", false }, { "groups", "group_size", false },
    { "act_bits", "ct.act_bits", true }, { "act_type", "ct.act_type", true }, { "out_act_bits", "ct.out_act_bits", true },
    { "sparsity_24", "ct.sparsity_24", false }, { "dtypes", "act_dtype", false },
};

static bool lists_null(const mc_value *list)
{
    for (size_t i = 0; mc_is(list, MC_ARRAY) && i < list->n; i++)
        if (mc_is(mc_item(list, i), MC_NULL))
            return true;
    return false;
}

static mc_three described(mc_judge *j, mc_scope scope, const mc_value *row, mc_str *because)
{
    mc_three all = MC_TRUE;
    for (size_t i = 0; i < MC_COUNT(keys) && all != MC_FALSE; i++) {
        const mc_value *list = mc_get(row, keys[i].key);
        if (!list)
            continue;
        mc_fact  f = mc_judge_fact_at(j, scope, keys[i].fact);
        mc_three t = mc_fact_compare(&f, MC_STR("in"), list);
        if (f.type == MC_FACT_NULL)
            t = lists_null(list) || !keys[i].strict ? MC_TRUE : MC_FALSE;
        if (t == MC_MAYBE && !because->n)
            *because = f.why ? mc_str_of(f.why) : mc_str_of(keys[i].fact);
        all = mc_three_and(all, t);
    }
    return all;
}

static mc_three hardware(mc_judge *j, const mc_value *row, outcome *o)
{
    int64_t  n;
    mc_three t = MC_TRUE;
    if (!mc_on_cuda(j))
        return t;
    if (mc_as_int(mc_get(row, "gpu_min"), &n))
        t = !j->o->gpu ? MC_MAYBE : j->o->gpu >= n ? MC_TRUE : MC_FALSE;
    if (t == MC_FALSE)
        o->gpu = n;
    if (mc_as_int(mc_get(row, "gpu_exact"), &n)) {
        mc_three exact = !j->o->gpu ? MC_MAYBE : j->o->gpu == n ? MC_TRUE : MC_FALSE;
        if (exact == MC_FALSE) {
            o->gpu = n;
            o->exact = true;
        }
        t = mc_three_and(t, exact);
    }
    return t;
}

static void note(mc_judge *j, const mc_value *row, mc_three desc, outcome *o)
{
    mc_three hw = desc == MC_FALSE ? MC_FALSE : hardware(j, row, o), all = mc_three_and(desc, hw);
    int64_t  slow;
    o->fits |= desc == MC_TRUE;
    o->maybe |= all == MC_MAYBE;
    if (desc == MC_TRUE && !o->near)
        o->near = row;
    if (all != MC_TRUE)
        return;
    o->yes = true;
    if (mc_on_cuda(j) && mc_as_int(mc_get(row, "slow_below"), &slow) && j->o->gpu && j->o->gpu < slow) {
        o->slow = true;
        o->slow_below = slow;
        o->slow_row = row;
    } else {
        o->fast = true;
    }
}

static mc_str group_words(mc_judge *j, mc_scope scope)
{
    static const struct { const char *fact, *word; } shown[] = {
        { "ct.format", "" }, { "quant_bits", " bits" }, { "group_size", " per group" }, { "ct.act_bits", "-bit activations" },
    };
    mc_str out = MC_STR("");
    for (size_t i = 0; i < MC_COUNT(shown); i++) {
        mc_fact f = mc_judge_fact_at(j, scope, shown[i].fact);
        mc_str  s = mc_fact_words(j->a, &f);
        if (s.n)
            out = mc_format(j->a, "%.*s%s%.*s%s", MC_FMT(out), out.n ? ", " : "", MC_FMT(s), shown[i].word);
    }
    return out;
}

static mc_three judge_group(mc_judge *j, mc_scope scope, const mc_value *method, const mc_value *table, bool plain)
{
    outcome o = { .yes = false };
    mc_str  because = MC_STR(""), here;
    for (size_t i = 0; i < table->n; i++) {
        const mc_value *row = mc_item(table, i);
        mc_three        live = mc_row_live(j, row);
        if (live == MC_FALSE || (plain && !lists_null(mc_get(row, "bits"))))
            continue;
        note(j, row, mc_three_and(live, described(j, scope, row, &because)), &o);
    }
    here = group_words(j, scope);
    if (o.yes) {
        if (o.slow && !o.fast)
            mc_hit(j, "schemes", o.slow_row, MC_STR("quant-slow"), MC_TARGET_SLOW,
                   mc_format(j->a, "%.*s (%.*s) runs weight-only below compute capability %.*s", MC_FMT(j->method.s), MC_FMT(here), MC_FMT(mc_capability_text(j, o.slow_below))), MC_STR(""));
        return MC_TRUE;
    }
    if (o.maybe) {
        mc_unchecked(j, because.n ? MC_STR("quant-scheme") : MC_STR("quant-gpu"), because.n ? because : MC_STR("no --gpu"));
        return MC_MAYBE;
    }
    if (o.fits)
        mc_hit(j, "schemes", o.near, MC_STR("quant-gpu"), MC_TARGET_REFUSES,
               mc_format(j->a, "%.*s (%.*s) needs compute capability %.*s%s; sm%lld is %.*s", MC_FMT(j->method.s), MC_FMT(here), MC_FMT(mc_capability_text(j, o.gpu)), o.exact ? " exactly" : "",
                         (long long)j->o->gpu, MC_FMT(mc_capability_text(j, j->o->gpu))), MC_STR(""));
    else
        mc_hit(j, "schemes", method, MC_STR("quant-scheme"), MC_TARGET_REFUSES,
               mc_format(j->a, "%.*s has no scheme for %.*s", MC_FMT(mc_target_name(j)), MC_FMT(here.n ? here : MC_STR("this file"))), MC_STR(""));
    return MC_FALSE;
}

mc_three mc_scheme_groups(mc_judge *j, const mc_value *row, const mc_value *table)
{
    size_t   n = j->facts.count(j->facts.cx, MC_EACH_CONFIG_GROUP);
    mc_three all = MC_TRUE;
    if (!mc_is(table, MC_ARRAY))
        return MC_TRUE;
    for (size_t i = 0; i < n; i++)
        all = mc_three_and(all, judge_group(j, (mc_scope){ MC_EACH_CONFIG_GROUP, i }, row, table, false));
    mc_fact sparse = mc_judge_fact(j, "ct.sparsity_24");
    if (n == 0 && sparse.type == MC_FACT_BOOL && sparse.u.b)
        return judge_group(j, MC_SCOPE_MODEL, row, table, true);
    return all;
}
