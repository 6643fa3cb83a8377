/* MC701-MC705: one finding for each limit of each --target. */
#include "rules/frameworks.h"

#include <inttypes.h>

/* Evidence: where the statement comes from, and since and until when it holds. */
static void source(mc_check *cx, mc_finding *out, const mc_limit_hit *h)
{
    mc_origin none = mc_origin_at(MC_NONE, "");
    mc_because(cx, out, "source", none, "%.*s (read %.*s)", MC_FMT(h->source.n ? h->source : MC_STR("not named")), MC_FMT(h->date));
    if (h->since.n || h->until.n)
        mc_because(cx, out, "versions", none, "%s%.*s%s%s%.*s", h->since.n ? "from " : "", MC_FMT(h->since), h->since.n && h->until.n ? ", " : "", h->until.n ? "before " : "",
                   MC_FMT(h->until));
    for (size_t i = 0; i < h->n_subjects && h->count > 1; i++)
        mc_because(cx, out, i ? "" : "tensors", none, "%.*s", MC_FMT(h->subjects[i]));
    if (h->match.n)
        mc_because(cx, out, "prints", none, "%.*s", MC_FMT(h->match));
}

/* The message without the name of the target, which stands in front of it anyway. */
static mc_str without_name(mc_str message, mc_str name)
{
    if (message.n <= name.n || !mc_str_eq(mc_str_cut(message, 0, name.n), name))
        return message;
    size_t at = name.n;
    while (at < message.n && (message.p[at] == ' ' || message.p[at] == ':'))
        at++;
    return mc_str_cut(message, at, message.n);
}

static void tell(mc_check *cx, const mc_verdict_list *v, const mc_limit_hit *h, const char *lead)
{
    mc_str      name = mc_matrix_name(cx->arena, v), text = without_name(h->message, name);
    mc_finding *out = mc_report_apart(cx, MC_NONE, "%.*s%s %.*s%s (data as of %.*s)", MC_FMT(name), lead, MC_FMT(text),
                                      h->count > 1 ? mc_format(cx->arena, " (%zu in all)", h->count).p : "", MC_FMT(h->date));
    mc_subject(out, mc_format(cx->arena, "%.*s/%.*s", MC_FMT(v->framework->name), MC_FMT(h->id)));
    source(cx, out, h);
    if (h->fix.n)
        mc_fix(cx, out, "%.*s", MC_FMT(h->fix));
}

static void each(mc_check *cx, mc_target_verdict verdict, const char *lead)
{
    const mc_matrix *x = cx->options->matrix;
    for (size_t i = 0; x && x->asked && i < x->n; i++)
        for (size_t k = 0; !x->v[i].outside && k < x->v[i].n_limits; k++)
            if (x->v[i].limits[k].verdict == verdict)
                tell(cx, &x->v[i], &x->v[i].limits[k], lead);
}

void mc_check_target_refuses(mc_check *cx)
{
    each(cx, MC_TARGET_REFUSES, ":");
}

void mc_check_target_wrong(mc_check *cx)
{
    each(cx, MC_TARGET_WRONG, ": loads without an error, but:");
}

void mc_check_target_needs(mc_check *cx)
{
    each(cx, MC_TARGET_NEEDS, " needs a step first:");
}

void mc_check_target_slow(mc_check *cx)
{
    each(cx, MC_TARGET_SLOW, ":");
}

void mc_check_target_unknown(mc_check *cx)
{
    const mc_matrix *x = cx->options->matrix;
    for (size_t i = 0; x && x->asked && i < x->n; i++) {
        const mc_verdict_list *v = &x->v[i];
        if (!v->outside && !v->approximate)
            continue;
        mc_finding *out = mc_report_apart(cx, MC_NONE, "%.*s", MC_FMT(v->note.n ? v->note : mc_format(cx->arena, "the data does not reach %.*s", MC_FMT(mc_matrix_name(cx->arena, v)))));
        mc_subject(out, mc_format(cx->arena, "%.*s/version", MC_FMT(v->framework->name)));
        for (size_t k = 0; k < v->n_limits; k++)
            mc_because(cx, out, k ? "" : v->outside ? "last known" : "either way", mc_origin_at(MC_NONE, ""), "%s: %.*s", mc_target_verdict_name(v->limits[k].verdict),
                       MC_FMT(v->limits[k].message));
    }
}
