/* The blocks `quant_aliases` and `quant`: which method the framework takes the model for, and whether a live row of it holds.
 *
 * A row is satisfied by its base set of conditions or by its `upgrade` set, which inherits what it does not say; one satisfied
 * live row is enough. If none is, the mildest reason counts, then the one with the fewest failing conditions. */
#include "kb/framework.h"

/* ---- the method ---- */

enum { MOST_ALIASES = 64 };
static const char variety[] = "which variety of the method it is";

static mc_str alias_of(mc_judge *j, mc_str name, uint64_t *used, bool *doubt)
{
    const mc_value *rows = mc_get(j->f->root, "quant_aliases");
    for (size_t i = 0; mc_is(rows, MC_ARRAY) && i < rows->n && i < MOST_ALIASES; i++) {
        const mc_value *row = mc_item(rows, i);
        if ((*used & UINT64_C(1) << i) || !mc_str_eq(mc_as_str(mc_get(row, "from")), name))
            continue;
        mc_three t = mc_three_and(mc_row_live(j, row), mc_predicate_closed(mc_get(row, "when"), &j->facts, MC_SCOPE_MODEL, NULL));
        *doubt |= t == MC_MAYBE;
        if (t != MC_TRUE)
            continue;
        *used |= UINT64_C(1) << i;
        return mc_as_str(mc_get(row, "to"));
    }
    return MC_STR("");
}

void mc_judge_method(mc_judge *j)
{
    const mc_value *detect = mc_get(j->f->root, "quant_detect");
    uint64_t        used = 0;
    bool            doubt = false;
    j->method = mc_judge_fact(j, "quant_method_raw");
    for (size_t i = 0; mc_is(detect, MC_ARRAY) && i < detect->n; i++) {
        mc_three t = mc_three_and(mc_row_live(j, mc_item(detect, i)), mc_predicate_closed(mc_get(mc_item(detect, i), "when"), &j->facts, MC_SCOPE_MODEL, NULL));
        if (t == MC_FALSE)
            continue;
        j->method = t == MC_TRUE ? mc_fact_text(mc_as_str(mc_get(mc_item(detect, i), "method"))) : mc_fact_unknown("how the weights are stored");
        break;
    }
    if (j->method.type != MC_FACT_TEXT)
        return;
    for (mc_str to; (to = alias_of(j, j->method.s, &used, &doubt)).n;)
        j->method = mc_fact_text(to);
    if (doubt)
        j->method = mc_fact_unknown(variety);
}

/* ---- one set of conditions ---- */

typedef enum { C_PARAMS, C_DTYPE, C_GPU, C_SLOW, N_CONDITIONS } condition;
typedef struct { mc_three is[N_CONDITIONS]; size_t failed; const char *param; mc_str because; const mc_value *dtypes; int64_t gpu; bool exact; } outcome;

/* The key of the upgrade set, or the row's. */
static const mc_value *key_of(const mc_value *row, const mc_value *upgrade, const char *key)
{
    const mc_value *v = mc_get(upgrade, key);
    return v ? v : mc_get(row, key);
}

/* Absent from the file: no condition. */
static mc_three in_list(const mc_fact *f, const mc_value *list)
{
    return !list || f->type == MC_FACT_NULL ? MC_TRUE : mc_fact_compare(f, MC_STR("in"), list);
}

static const char *because(const mc_fact *f, const char *name)
{
    return f->why ? f->why : name;
}

static void check_params(mc_judge *j, const mc_value *row, const mc_value *upgrade, outcome *o)
{
    static const struct { const char *key, *fact; } params[] = {
        { "bits", "quant_bits" }, { "groups", "group_size" }, { "sym", "sym" }, { "desc_act", "desc_act" }, { "formats", "quant_format" },
        { "algos", "modelopt.quant_algo" },
    };
    o->is[C_PARAMS] = MC_TRUE;
    for (size_t i = 0; i < MC_COUNT(params); i++) {
        const mc_value *list = key_of(row, upgrade, params[i].key);
        mc_fact         f = mc_judge_fact(j, params[i].fact);
        mc_three        t = in_list(&f, list);
        o->is[C_PARAMS] = mc_three_and(o->is[C_PARAMS], t);
        if (t == MC_FALSE && o->failed++ == 0)
            o->param = params[i].fact;
        if (t == MC_MAYBE && !o->because.n)
            o->because = mc_str_of(because(&f, params[i].fact));
    }
}

static void check_hardware(mc_judge *j, const mc_value *row, const mc_value *upgrade, outcome *o)
{
    int64_t n;
    bool    cuda = mc_on_cuda(j);
    o->is[C_GPU] = MC_TRUE;
    o->is[C_SLOW] = MC_FALSE;
    if (cuda && mc_as_int(key_of(row, upgrade, "gpu_min"), &n)) {
        o->is[C_GPU] = !j->o->gpu ? MC_MAYBE : j->o->gpu >= n ? MC_TRUE : MC_FALSE;
        o->gpu = n;
    }
    if (cuda && mc_as_int(key_of(row, upgrade, "gpu_exact"), &n)) {
        o->is[C_GPU] = mc_three_and(o->is[C_GPU], !j->o->gpu ? MC_MAYBE : j->o->gpu == n ? MC_TRUE : MC_FALSE);
        o->gpu = n;
        o->exact = true;
    }
    if (cuda && mc_as_int(key_of(row, upgrade, "slow_below"), &n))
        o->is[C_SLOW] = !j->o->gpu ? MC_MAYBE : j->o->gpu < n ? MC_TRUE : MC_FALSE;
    o->failed += o->is[C_GPU] == MC_FALSE;
    if ((o->is[C_GPU] == MC_MAYBE || o->is[C_SLOW] == MC_MAYBE) && !o->because.n)
        o->because = MC_STR("no --gpu");
}

static outcome check_set(mc_judge *j, const mc_value *row, const mc_value *upgrade)
{
    outcome o = { .failed = 0 };
    check_params(j, row, upgrade, &o);
    o.dtypes = key_of(row, upgrade, "dtypes");
    o.is[C_DTYPE] = in_list(&j->act_dtype, o.dtypes);
    o.failed += o.is[C_DTYPE] == MC_FALSE;
    if (o.is[C_DTYPE] == MC_MAYBE && !o.because.n)
        o.because = mc_str_of(because(&j->act_dtype, "act_dtype"));
    check_hardware(j, row, upgrade, &o);
    return o;
}

static mc_three satisfied(const outcome *o)
{
    return mc_three_and(mc_three_and(o->is[C_PARAMS], o->is[C_DTYPE]), o->is[C_GPU]);
}

/* ---- telling ---- */

static mc_str dtype_offered(mc_judge *j, const mc_value *dtypes, bool *perhaps)
{
    mc_str found = MC_STR("");
    *perhaps = false;
    for (size_t i = 0; mc_is(dtypes, MC_ARRAY) && i < dtypes->n; i++) {
        mc_three t = mc_dtype_offered(j, mc_item(dtypes, i)->s);
        if (t == MC_TRUE)
            return mc_item(dtypes, i)->s;
        if (t == MC_MAYBE && !found.n) {
            found = mc_item(dtypes, i)->s;
            *perhaps = true;
        }
    }
    return found;
}

static mc_target_verdict severity(mc_judge *j, const outcome *o)
{
    bool perhaps;
    if (o->is[C_PARAMS] != MC_FALSE && o->is[C_GPU] != MC_FALSE)
        return dtype_offered(j, o->dtypes, &perhaps).n ? MC_TARGET_NEEDS : MC_TARGET_REFUSES;
    return MC_TARGET_REFUSES;
}

static mc_str words(mc_judge *j, const mc_fact *f)
{
    return mc_fact_words(j->a, f);
}

static void tell_params(mc_judge *j, const mc_value *row, const outcome *o)
{
    mc_fact f = mc_judge_fact(j, o->param);
    mc_str  what = mc_str_is(mc_str_of(o->param), "quant_bits") ? mc_format(j->a, "%.*s bits", MC_FMT(words(j, &f))) :
                   mc_format(j->a, "%s %.*s", o->param, MC_FMT(words(j, &f)));
    mc_hit(j, "quant", row, MC_STR("quant-params"), MC_TARGET_REFUSES, mc_format(j->a, "%.*s with %.*s is not supported", MC_FMT(j->method.s), MC_FMT(what)), MC_STR(""));
}

static void tell_gpu(mc_judge *j, const mc_value *row, const outcome *o)
{
    mc_str need = mc_capability_text(j, o->gpu), message = mc_format(j->a, "%.*s needs compute capability %.*s%s; sm%lld is %.*s", MC_FMT(j->method.s), MC_FMT(need),
                                                             o->exact ? " exactly" : "", (long long)j->o->gpu, MC_FMT(mc_capability_text(j, j->o->gpu)));
    mc_hit(j, "quant", row, MC_STR("quant-gpu"), MC_TARGET_REFUSES, message, MC_STR(""));
}

static void tell_dtype(mc_judge *j, const mc_value *row, const outcome *o)
{
    bool   perhaps;
    mc_str other = dtype_offered(j, o->dtypes, &perhaps);
    mc_fact list = mc_judge_fact(j, "act_dtype");
    mc_str  message = mc_format(j->a, "%.*s does not run with %.*s activations here", MC_FMT(j->method.s), MC_FMT(words(j, &list)));
    mc_hit(j, "quant", row, MC_STR("quant-dtype"), other.n ? MC_TARGET_NEEDS : MC_TARGET_REFUSES, message,
           other.n ? mc_format(j->a, "--dtype %.*s", MC_FMT(other)) : MC_STR(""));
}

static void tell(mc_judge *j, const mc_value *row, const outcome *o)
{
    if (o->is[C_PARAMS] == MC_FALSE)
        tell_params(j, row, o);
    else if (o->is[C_GPU] == MC_FALSE)
        tell_gpu(j, row, o);
    else
        tell_dtype(j, row, o);
}

/* ---- rows of one method ---- */

typedef struct {
    size_t          rows, live, online;
    const mc_value *ended, *coming, *elsewhere; /* newest that ended, first that is to come, one for another back end */
    bool            yes, maybe, fast;   /* a live row is satisfied; might be; without a slow path */
    const mc_value *slow, *near;        /* the satisfied row that is slow; the row that is nearest to being satisfied */
    int64_t         slow_below;
    outcome         nearest;
    const mc_value *perhaps;            /* a row for some back ends, of which none is named, that is not satisfied */
    outcome         there;
    mc_str          because;
} survey;

static bool boundary_above(mc_judge *j, const mc_value *a, const mc_value *b, const char *key)
{
    mc_version low, x, y;
    if (!b || !mc_boundary_parse(mc_as_str(mc_get(a, key)), j->f->build, &low, &x) || !mc_boundary_parse(mc_as_str(mc_get(b, key)), j->f->build, &low, &y))
        return !b;
    return mc_version_cmp(&x, &y) > 0;
}

static void note_set(mc_judge *j, const mc_value *row, const mc_value *upgrade, survey *s)
{
    outcome o = check_set(j, row, upgrade);
    if (satisfied(&o) == MC_TRUE) {
        s->yes = true;
        s->fast |= o.is[C_SLOW] == MC_FALSE;
        if (o.is[C_SLOW] == MC_TRUE && mc_as_int(key_of(row, upgrade, "slow_below"), &s->slow_below))
            s->slow = row;
        return;
    }
    if (satisfied(&o) == MC_MAYBE) {
        s->maybe = true;
        s->because = s->because.n ? s->because : o.because;
        return;
    }
    mc_target_verdict here = severity(j, &o), best = s->near ? severity(j, &s->nearest) : MC_TARGET_REFUSES;
    bool fits = o.is[C_PARAMS] == MC_TRUE && s->nearest.is[C_PARAMS] == MC_FALSE; /* a row that is about this variety says more */
    if (!s->near || here < best || (here == best && (o.failed < s->nearest.failed || (o.failed == s->nearest.failed && fits)))) {
        s->near = row;
        s->nearest = o;
    }
}

static void note_live(mc_judge *j, const mc_value *row, survey *s)
{
    const mc_value *name = mc_get(row, "schemes"), *table = name ? mc_get_str(mc_get(j->f->root, "schemes"), name->s) : NULL;
    s->live++;
    if (mc_flag(row, "online")) {
        s->online++;
        s->yes = true;
        return;
    }
    if (table) {
        mc_three t = mc_scheme_groups(j, row, table);
        s->yes |= t != MC_MAYBE; /* what refuses has been told */
        s->fast |= t != MC_MAYBE;
        s->maybe |= t == MC_MAYBE;
    }
    mc_str   dep = mc_as_str(mc_get(row, "deprecated")), flag = mc_as_str(mc_get(row, "flag"));
    mc_value at = { .type = MC_STRING, .s = dep };
    mc_field field = { MC_STR("since"), &at };
    mc_value boundary = { .type = MC_OBJECT, .n = 1, .u.fields = &field };
    if (dep.n && mc_row_when(j, &boundary) == 0)
        mc_hit(j, "quant", row, MC_STR("quant-deprecated"), MC_TARGET_NEEDS, mc_format(j->a, "%.*s is deprecated%s%.*s", MC_FMT(j->method.s), flag.n ? ": needs " : "", MC_FMT(flag)), flag);
    mc_str package = mc_as_str(mc_get(row, "package")), least = mc_as_str(mc_get(row, "package_min"));
    if (package.n) {
        mc_str what = mc_format(j->a, "%.*s%s%.*s", MC_FMT(package), least.n ? " >= " : "", MC_FMT(least));
        mc_hit(j, "quant", row, MC_STR("quant-plugin"), MC_TARGET_NEEDS, mc_format(j->a, "%.*s needs the package %.*s", MC_FMT(j->method.s), MC_FMT(what)),
               mc_format(j->a, "install %.*s", MC_FMT(what)));
    }
    if (table) {
        outcome o = check_set(j, row, NULL);
        if (satisfied(&o) == MC_FALSE)
            tell(j, row, &o);
        return;
    }
    note_set(j, row, NULL, s);
    if (mc_get(row, "upgrade"))
        note_set(j, row, mc_get(row, "upgrade"), s);
}

static void note_row(mc_judge *j, const mc_value *row, survey *s)
{
    mc_str because_when;
    int    when = mc_row_when(j, row);
    s->rows++;
    if (when > 0 && boundary_above(j, row, s->ended, "until"))
        s->ended = row;
    if (when < 0 && !boundary_above(j, row, s->coming, "since"))
        s->coming = s->coming ? row : s->coming;
    if (when < 0 && !s->coming)
        s->coming = row;
    if (when != 0)
        return;
    mc_three t = mc_three_and(mc_row_live(j, row), mc_predicate_eval(mc_get(row, "when"), &j->facts, MC_SCOPE_MODEL, &because_when));
    if (t == MC_TRUE)
        note_live(j, row, s);
    else if (t == MC_MAYBE) {
        outcome o = check_set(j, row, NULL);
        s->maybe = true;
        s->live++;
        s->because = s->because.n ? s->because : because_when.n ? because_when : MC_STR("no --gpu");
        if (o.is[C_PARAMS] == MC_FALSE && mc_get(row, "platform")) {
            s->perhaps = row;
            s->there = o;
        }
    } else {
        s->elsewhere = row;
    }
}

static void tell_not_live(mc_judge *j, const survey *s)
{
    mc_str method = j->method.s, plugin = mc_as_str(mc_get(s->ended, "plugin_after")), until = mc_as_str(mc_get(s->ended, "until"));
    if (s->elsewhere) {
        mc_hit(j, "quant", s->elsewhere, MC_STR("platform"), MC_TARGET_REFUSES, mc_format(j->a, "%.*s is not for this back end or model", MC_FMT(method)), MC_STR(""));
    } else if (plugin.n) {
        mc_hit(j, "quant", s->ended, MC_STR("quant-plugin"), MC_TARGET_NEEDS,
               mc_format(j->a, "%.*s left with %.*s: it needs the plugin %.*s", MC_FMT(method), MC_FMT(until), MC_FMT(plugin)), mc_format(j->a, "install %.*s", MC_FMT(plugin)));
    } else if (s->ended) {
        mc_str last = mc_release_before(j, until);
        mc_hit(j, "quant", s->ended, MC_STR("quant-removed"), MC_TARGET_REFUSES,
               mc_format(j->a, "%.*s was removed; the last release with it is %.*s", MC_FMT(method), MC_FMT(last)), MC_STR(""));
    } else if (s->coming) {
        mc_str since = mc_as_str(mc_get(s->coming, "since"));
        mc_hit(j, "quant", s->coming, MC_STR("quant-too-new"), MC_TARGET_REFUSES, mc_format(j->a, "%.*s came with %.*s", MC_FMT(method), MC_FMT(since)),
               mc_format(j->a, "%.*s or newer", MC_FMT(since)));
    }
}

/* "cuda, rocm": the back ends that a row is for. */
static mc_str platforms_of(mc_judge *j, const mc_value *row)
{
    const mc_value *v = mc_get(row, "platform");
    mc_str          out = mc_as_str(v);
    for (size_t i = 0; mc_is(v, MC_ARRAY) && i < v->n; i++)
        out = mc_format(j->a, "%.*s%s%.*s", MC_FMT(out), out.n ? ", " : "", MC_FMT(mc_item(v, i)->s));
    return out;
}

/* Refused on some back ends and perhaps not on others: neither a refusal nor a pass without --gpu. */
static void tell_perhaps(mc_judge *j, const survey *s)
{
    mc_fact f = mc_judge_fact(j, s->there.param);
    mc_hit(j, "quant", s->perhaps, MC_STR("quant-params"), MC_TARGET_UNKNOWN,
           mc_format(j->a, "%.*s with %s %.*s is not supported on %.*s", MC_FMT(j->method.s), s->there.param, MC_FMT(words(j, &f)), MC_FMT(platforms_of(j, s->perhaps))),
           MC_STR("--gpu says which back end is meant"));
    mc_unchecked(j, MC_STR("quant-gpu"), s->because);
}

static void tell_slow(mc_judge *j, const survey *s)
{
    mc_hit(j, "quant", s->slow, MC_STR("quant-slow"), MC_TARGET_SLOW,
           mc_format(j->a, "%.*s runs weight-only or emulated below compute capability %.*s", MC_FMT(j->method.s), MC_FMT(mc_capability_text(j, s->slow_below))), MC_STR(""));
}

/* `quant_unknown`: one outcome, or the first whose `when` is absent or true. */
static const mc_value *unknown_outcome(mc_judge *j)
{
    const mc_value *v = mc_get(j->f->root, "quant_unknown");
    for (size_t i = 0; mc_is(v, MC_ARRAY) && i < v->n; i++)
        if (mc_predicate_closed(mc_get(mc_item(v, i), "when"), &j->facts, MC_SCOPE_MODEL, NULL) == MC_TRUE)
            return mc_item(v, i);
    return v;
}

void mc_judge_quant(mc_judge *j)
{
    const mc_value *rows = mc_get(j->f->root, "quant");
    survey          s = { .rows = 0 };
    if (!rows || j->method.type == MC_FACT_NULL)
        return;
    if (j->method.why == variety) {
        mc_hit(j, "quant_aliases", NULL, MC_STR("quant-params"), MC_TARGET_UNKNOWN, MC_STR("the file does not tell which variety of its method it is"), MC_STR(""));
        return;
    }
    if (j->method.type != MC_FACT_TEXT) {
        mc_unchecked(j, MC_STR("quant-params"), j->method.why ? mc_str_of(j->method.why) : MC_STR("quant_method"));
        return;
    }
    for (size_t i = 0; mc_is(rows, MC_ARRAY) && i < rows->n; i++)
        if (mc_str_eq(mc_as_str(mc_get(mc_item(rows, i), "method")), j->method.s))
            note_row(j, mc_item(rows, i), &s);
    if (s.rows == 0) {
        mc_hit_said(j, "quant", j->f->root, unknown_outcome(j), MC_STR("quant-unknown"), MC_TARGET_REFUSES,
                       mc_format(j->a, "%.*s knows no quantization method \"%.*s\"", MC_FMT(mc_target_name(j)), MC_FMT(j->method.s)), MC_STR(""));
    } else if (s.live == 0) {
        tell_not_live(j, &s);
    } else if (s.online == s.live) {
        mc_hit(j, "quant", NULL, MC_STR("quant-unknown"), MC_TARGET_UNKNOWN, mc_format(j->a, "%.*s has no layout on disk: it quantizes while loading", MC_FMT(j->method.s)), MC_STR(""));
    } else if (s.yes) {
        if (s.slow && !s.fast)
            tell_slow(j, &s);
    } else if (s.maybe && s.perhaps) {
        tell_perhaps(j, &s);
    } else if (s.maybe) {
        mc_unchecked(j, mc_str_is(s.because, "no --gpu") ? MC_STR("quant-gpu") : MC_STR("quant-params"), s.because);
    } else if (s.near) {
        tell(j, s.near, &s.nearest);
    }
}
