/* The verdict of one framework on one model: rows that are live, hits, approximate boundaries, the order of it all.
 *
 * Every block is a compact spelling of limits: judge_*.c lower its rows to hits. An approximate boundary within one release
 * of the target is taken both ways; what differs is unknown. */
#include "kb/framework.h"

#include <stdlib.h>

/* ---- versions of rows ---- */

/* How many releases of the list are not above v. */
static size_t rank(const mc_judge *j, const mc_version *v)
{
    const mc_value *rows = mc_get(j->f->root, "releases");
    mc_version      r;
    size_t          n = 0;
    for (size_t i = 0; mc_is(rows, MC_ARRAY) && i < rows->n; i++)
        n += mc_version_parse(mc_as_str(mc_get(mc_item(rows, i), "v")), j->f->build, &r) && mc_version_cmp(&r, v) <= 0;
    return n;
}

/* At most one release apart. Where no releases are listed: builds 100 apart, the same or the next minor release. */
static bool close_by(const mc_judge *j, const mc_version *a, const mc_version *b)
{
    if (mc_get(j->f->root, "releases")) {
        size_t x = rank(j, a), y = rank(j, b);
        return (x > y ? x - y : y - x) <= 1;
    }
    unsigned k = j->f->build ? 0 : 1;
    uint32_t reach = j->f->build ? 100 : 1, x = a->part[k], y = b->part[k];
    return (k == 0 || a->part[0] == b->part[0]) && (x > y ? x - y : y - x) <= reach;
}

/* Is the boundary reached? "A..B": surely not at A, surely at B, between them nobody knows. */
static bool reached(mc_judge *j, mc_str boundary, bool approx)
{
    mc_version low, high;
    if (!mc_boundary_parse(boundary, j->f->build, &low, &high))
        return true;
    bool range = mc_version_cmp(&low, &high) != 0, is = mc_version_cmp(&j->v, &high) >= 0;
    bool doubt = range ? mc_version_cmp(&j->v, &low) > 0 && !is : approx && close_by(j, &j->v, &high);
    j->near |= doubt;
    return doubt && j->flip ? !is : is;
}

int mc_row_when(mc_judge *j, const mc_value *row)
{
    const mc_value *approx = mc_get(row, "approx");
    mc_str          since = mc_as_str(mc_get(row, "since")), until = mc_as_str(mc_get(row, "until")), edge = mc_as_str(approx);
    bool            both = mc_is(approx, MC_BOOL);
    if (!j->f->has_range)
        return 0;
    if (until.n && reached(j, until, both || mc_str_is(edge, "until")))
        return 1;
    return since.n && !reached(j, since, both || mc_str_is(edge, "since")) ? -1 : 0;
}

static mc_three on_platform(const mc_judge *j, const mc_value *names)
{
    if (!names)
        return MC_TRUE;
    if (!j->o->platform.n)
        return MC_MAYBE;
    for (size_t i = 0; mc_is(names, MC_ARRAY) && i < names->n; i++)
        if (mc_str_eq(mc_item(names, i)->s, j->o->platform))
            return MC_TRUE;
    return mc_str_eq(mc_as_str(names), j->o->platform) ? MC_TRUE : MC_FALSE;
}

mc_three mc_row_live(mc_judge *j, const mc_value *row)
{
    return mc_row_when(j, row) == 0 ? on_platform(j, mc_get(row, "platform")) : MC_FALSE;
}

mc_str mc_release_before(mc_judge *j, mc_str version)
{
    const mc_value *rows = mc_get(j->f->root, "releases");
    mc_version      low, want, r, best = { .written = 0 };
    mc_str          text = MC_STR("");
    if (!mc_boundary_parse(version, j->f->build, &low, &want))
        return version;
    for (size_t i = 0; mc_is(rows, MC_ARRAY) && i < rows->n; i++) {
        mc_str s = mc_as_str(mc_get(mc_item(rows, i), "v"));
        if (mc_version_parse(s, j->f->build, &r) && mc_version_cmp(&r, &want) < 0 && mc_version_cmp(&r, &best) > 0) {
            best = r;
            text = s;
        }
    }
    return text.n ? text : mc_format(j->a, "before %.*s", MC_FMT(version));
}

/* ---- facts ---- */

bool mc_on_cuda(const mc_judge *j)
{
    return j->o->platform.n == 0 || mc_str_is(j->o->platform, "cuda");
}

static mc_fact gpu_fact(const mc_judge *j)
{
    return j->o->gpu ? mc_fact_int(j->o->gpu) : mc_fact_unknown(j->o->platform.n ? NULL : "no --gpu");
}

static mc_fact text_or(mc_str s, const char *why)
{
    return s.n ? mc_fact_text(s) : mc_fact_unknown(why);
}

/* Facts of the target, which no model knows. */
static mc_fact get(const void *cx, mc_scope scope, mc_str name)
{
    const mc_judge *j = cx;
    if (mc_str_is(name, "quant_method"))
        return j->method;
    if (mc_str_is(name, "act_dtype"))
        return j->act_dtype;
    if (mc_str_is(name, "model_type_builtin"))
        return j->builtin;
    if (mc_str_is(name, "target_version"))
        return mc_fact_text(j->out->outside ? j->out->nearest : j->out->version);
    if (mc_str_is(name, "gpu"))
        return gpu_fact(j);
    if (mc_str_is(name, "gpu_major"))
        return j->o->gpu ? mc_fact_int(j->o->gpu / 10) : gpu_fact(j);
    if (mc_str_is(name, "platform"))
        return text_or(j->o->platform, "no --gpu");
    if (mc_str_is(name, "host"))
        return text_or(j->o->host, "no --platform");
    if (mc_str_is(name, "kv_dtype"))
        return text_or(j->o->kv_dtype, "no --kv-dtype");
    if (mc_str_is(name, "gguf.general.architecture"))
        name = MC_STR("gguf.architecture");
    return j->model->get(j->model->cx, scope, name);
}

static size_t count(const void *cx, mc_each each)
{
    const mc_judge *j = cx;
    return j->model->count ? j->model->count(j->model->cx, each) : 0;
}

mc_fact mc_judge_fact(mc_judge *j, const char *name)
{
    return mc_judge_fact_at(j, MC_SCOPE_MODEL, name);
}

mc_fact mc_judge_fact_at(mc_judge *j, mc_scope scope, const char *name)
{
    return j->facts.get(j->facts.cx, scope, mc_str_of(name));
}

/* ---- hits ---- */

mc_target_verdict mc_verdict_of(mc_str word)
{
    for (unsigned v = MC_NO_KNOWN_OBSTACLE; v <= MC_TARGET_REFUSES; v++)
        if (mc_str_is(word, mc_target_verdict_name((mc_target_verdict)v)))
            return (mc_target_verdict)v;
    return MC_TARGET_UNKNOWN;
}

mc_str mc_capability_text(mc_judge *j, int64_t sm)
{
    return mc_format(j->a, "%lld.%lld", (long long)(sm / 10), (long long)(sm % 10));
}

mc_str mc_target_name(const mc_judge *j)
{
    mc_str name = j->out->framework->display.n ? j->out->framework->display : j->out->framework->name, v = j->out->outside ? j->out->nearest : j->out->version;
    return v.n ? mc_format(j->a, "%.*s %.*s", MC_FMT(name), MC_FMT(v)) : name;
}

static mc_str first(mc_str a, mc_str b)
{
    return a.n ? a : b;
}

mc_limit_hit *mc_hit(mc_judge *j, const char *block, const mc_value *row, mc_str id, mc_target_verdict v, mc_str message, mc_str fix)
{
    mc_verdict_list *out = j->out;
    for (size_t i = 0; i < out->n_limits; i++)
        if (mc_str_eq(out->limits[i].id, id) && mc_str_eq(out->limits[i].message, message)) {
            out->limits[i].count++;
            return &out->limits[i];
        }
    mc_limit_hit *h = mc_grow(j->a, out->limits, out->n_limits, &out->cap_limits, sizeof *h);
    if (!h)
        return NULL;
    out->limits = h;
    h += out->n_limits++;
    const mc_value *root = j->f->root;
    if (mc_str_is(mc_as_str(mc_get(row, "mark")), "?") && v != MC_NO_KNOWN_OBSTACLE)
        v = MC_TARGET_UNKNOWN;
    *h = (mc_limit_hit){
        .id = id, .verdict = v, .message = message, .fix = fix, .since = mc_as_str(mc_get(row, "since")), .until = mc_as_str(mc_get(row, "until")),
        .source = first(mc_as_str(mc_get(row, "source")), mc_as_str(mc_get(mc_get(root, "default_source"), block))),
        .date = first(mc_as_str(mc_get(row, "date")), j->f->date), .match = mc_as_str(mc_get(row, "match")), .count = 1,
    };
    return h;
}

mc_limit_hit *mc_hit_outcome(mc_judge *j, const char *block, const mc_value *row, const char *key, mc_str id, mc_target_verdict v, mc_str message, mc_str fix)
{
    return mc_hit_said(j, block, row, mc_get(row, key), id, v, message, fix);
}

mc_limit_hit *mc_hit_said(mc_judge *j, const char *block, const mc_value *row, const mc_value *o, mc_str id, mc_target_verdict v, mc_str message, mc_str fix)
{
    if (mc_get(o, "verdict"))
        v = mc_verdict_of(mc_as_str(mc_get(o, "verdict")));
    if (mc_get(o, "message"))
        message = mc_format(j->a, "%.*s%s%.*s", MC_FMT(message), message.n ? ": " : "", MC_FMT(mc_fill(j->a, mc_as_str(mc_get(o, "message")), &j->facts, MC_SCOPE_MODEL, NULL)));
    if (mc_get(o, "fix"))
        fix = mc_fill(j->a, mc_as_str(mc_get(o, "fix")), &j->facts, MC_SCOPE_MODEL, NULL);
    mc_limit_hit *h = mc_hit(j, block, row, id, v, message, fix);
    if (h && mc_get(o, "source"))
        h->source = mc_as_str(mc_get(o, "source"));
    if (h && mc_get(o, "match"))
        h->match = mc_as_str(mc_get(o, "match"));
    return h;
}

void mc_unchecked(mc_judge *j, mc_str id, mc_str because)
{
    mc_verdict_list *out = j->out;
    if (because.n == 0)
        return;
    for (size_t i = 0; i < out->n_not_checked; i++)
        if (mc_str_eq(out->not_checked[i].id, id))
            return;
    mc_not_checked *v = mc_grow(j->a, out->not_checked, out->n_not_checked, &out->cap_not_checked, sizeof *v);
    if (!v)
        return;
    out->not_checked = v;
    v[out->n_not_checked++] = (mc_not_checked){ id, because };
}

/* ---- a whole framework ---- */

/* The build that a version stands for: that of the newest row not above it. Between two rows that differ it may be that of the
 * next one as well: the other way of reading. */
static bool mapped_version(mc_judge *j, mc_judge *to)
{
    const mc_value *rows = mc_get(j->f->root, "builds");
    mc_version      r, b, below = { .written = 0 }, above = { .written = 0 }, next = { .written = 0 };
    bool            found = false;
    if (!rows)
        return true; /* the same versions */
    for (size_t i = 0; mc_is(rows, MC_ARRAY) && i < rows->n; i++) {
        if (!mc_version_parse(mc_as_str(mc_get(mc_item(rows, i), "v")), j->f->build, &r) ||
            !mc_version_parse(mc_as_str(mc_get(mc_item(rows, i), "build")), to->f->build, &b))
            continue;
        if (mc_version_cmp(&r, &j->v) <= 0 && (!found || mc_version_cmp(&r, &below) >= 0)) {
            found = true;
            below = r;
            to->v = b;
        } else if (mc_version_cmp(&r, &j->v) > 0 && (!above.written || mc_version_cmp(&r, &above) < 0)) {
            above = r;
            next = b;
        }
    }
    if (found && above.written && mc_version_cmp(&below, &j->v) < 0 && mc_version_cmp(&next, &to->v) != 0) {
        j->near = true;
        to->v = j->flip ? next : to->v;
    }
    return found;
}

static void judge_blocks(mc_judge *j, const mc_framework *skip)
{
    mc_judge_method(j);
    mc_judge_dtype(j);
    if (!skip || !mc_get(skip->root, "architectures"))
        mc_judge_arch(j);
    if (!skip || !mc_get(skip->root, "quant"))
        mc_judge_quant(j);
    mc_judge_rows(j, skip);
    mc_judge_limits(j);
}

/* The own blocks, then those of the framework that this one is built on, as far as it has none of its own. */
static void judge_once(mc_judge *j)
{
    const mc_framework *f = j->f, *base = f->maps_to.n ? mc_kb_framework(j->kb, f->maps_to) : NULL;
    mc_version          v = j->v;
    mc_judge            under = *j;
    judge_blocks(j, NULL);
    if (!base)
        return;
    under.f = base;
    under.facts.cx = &under;
    under.out = j->out;
    if (mapped_version(j, &under)) {
        judge_blocks(&under, f);
        j->near |= under.near;
        j->arch = j->arch == MC_MAYBE ? under.arch : j->arch;
    } else {
        mc_unchecked(j, MC_STR("arch"), MC_STR("no build is known for this version"));
    }
    j->f = f;
    j->v = v;
}

static bool has_hit(const mc_verdict_list *l, const mc_limit_hit *h)
{
    for (size_t i = 0; i < l->n_limits; i++)
        if (mc_str_eq(l->limits[i].id, h->id) && l->limits[i].verdict == h->verdict)
            return true;
    return false;
}

static mc_target_verdict worst(const mc_verdict_list *l)
{
    mc_target_verdict v = MC_NO_KNOWN_OBSTACLE;
    for (size_t i = 0; i < l->n_limits; i++)
        v = l->limits[i].verdict > v ? l->limits[i].verdict : v;
    return v;
}

/* Two readings of the same rows: what only one of them says becomes unknown. */
static void reconcile(mc_judge *j, const mc_verdict_list *other)
{
    mc_verdict_list *out = j->out;
    size_t           n = out->n_limits;
    for (size_t i = 0; i < n; i++)
        if (!has_hit(other, &out->limits[i])) {
            mc_limit_hit *h = &out->limits[i];
            h->message = mc_format(j->a, "%.*s (%s), or not: the release where that changes is not known exactly", MC_FMT(h->message), mc_target_verdict_name(h->verdict));
            h->verdict = MC_TARGET_UNKNOWN;
            out->approximate = true;
        }
    for (size_t i = 0; i < other->n_limits; i++) {
        const mc_limit_hit *h = &other->limits[i];
        bool                here = false;
        for (size_t k = 0; k < n && !here; k++)
            here = mc_str_eq(out->limits[k].id, h->id);
        mc_limit_hit *v = here ? NULL : mc_grow(j->a, out->limits, out->n_limits, &out->cap_limits, sizeof *v);
        if (!v)
            continue;
        out->limits = v;
        v += out->n_limits++;
        *v = *h;
        v->verdict = MC_TARGET_UNKNOWN;
        v->message = mc_format(j->a, "%.*s (%s), or not: the release where that changes is not known exactly", MC_FMT(h->message), mc_target_verdict_name(h->verdict));
        out->approximate = true;
    }
}

static int by_verdict(const void *a, const void *b)
{
    const mc_limit_hit *x = a, *y = b;
    return x->verdict != y->verdict ? (x->verdict < y->verdict ? 1 : -1) : mc_str_cmp(x->id, y->id);
}

static mc_three judge_both_ways(mc_judge *j)
{
    mc_verdict_list other = *j->out, *out = j->out;
    judge_once(j);
    if (j->near) {
        mc_judge flipped = *j;
        flipped.flip = true;
        flipped.out = &other;
        flipped.facts.cx = &flipped;
        judge_once(&flipped);
        reconcile(j, &other);
    }
    if (out->n_limits)
        qsort(out->limits, out->n_limits, sizeof *out->limits, by_verdict);
    return j->arch;
}

static void settle(mc_judge *j, mc_str asked)
{
    mc_verdict_list    *out = j->out;
    const mc_framework *f = out->framework;
    mc_str              name = f->display.n ? f->display : f->name;
    out->verdict = worst(out);
    if (out->outside) {
        out->verdict = MC_TARGET_UNKNOWN;
        if (f->has_range)
            out->note = mc_format(j->a, "knowledge of %.*s covers %.*s to %.*s (%.*s); the answer for %.*s is that for %.*s", MC_FMT(name), MC_FMT(f->known_from),
                                  MC_FMT(f->known_to), MC_FMT(f->date), MC_FMT(asked), MC_FMT(out->nearest));
        else
            out->note = mc_format(j->a, "no version of %.*s has been read as a whole (%.*s); what is known is shown, no verdict is given", MC_FMT(name), MC_FMT(f->date));
    } else if (out->approximate) {
        out->note = mc_format(j->a, "%.*s %.*s lies within one release of a change whose release is not known exactly", MC_FMT(name), MC_FMT(out->version));
    }
}

void mc_framework_judge(mc_kb *kb, mc_arena *a, const mc_framework *f, mc_str version, const mc_target_options *o, const mc_facts *facts, mc_verdict_list *out)
{
    const mc_framework *asked = f;
    for (unsigned hops = 0; hops < 2; hops++) {
        mc_judge j = { .kb = kb, .a = a, .f = f, .o = o, .model = facts, .out = out, .arch = MC_MAYBE };
        j.facts = (mc_facts){ get, count, &j };
        *out = (mc_verdict_list){ .framework = f };
        if (!mc_framework_version(f, version, &j.v, &out->version, &out->outside)) {
            out->outside = true;
            out->verdict = MC_TARGET_UNKNOWN;
            return;
        }
        if (out->outside)
            out->nearest = mc_version_text(a, f, &j.v);
        else if (j.v.written)
            out->version = mc_version_text(a, f, &j.v); /* "v0.11" is 0.11.2 */
        mc_three             known = judge_both_ways(&j);
        const mc_value      *when = mc_get(f->root, "fallback_when");
        bool                 other = known == MC_FALSE || (when && mc_predicate_closed(when, &j.facts, MC_SCOPE_MODEL, NULL) == MC_TRUE);
        const mc_framework *next = other && f->fallback.n ? mc_kb_framework(kb, f->fallback) : NULL;
        settle(&j, out->version);
        if (f != asked) {
            out->by = f->name;
            out->framework = asked;
        }
        if (!next || next == f || hops)
            return;
        f = next;
    }
}
