/* MC707, MC708: how many runtimes read the way the weights are stored, and how many devices can share them. */
#include "model/quant.h"
#include "rules/files.h"
#include "rules/frameworks.h"

#include <inttypes.h>

/* ---- MC707 ---- */

enum { FEW = 2 };

/* Does the data say that this framework does not take the method? What it says of parameters and of the architecture does not count. */
static bool against(const mc_verdict_list *v)
{
    static const char *const ids[] = { "quant-unknown", "quant-removed", "quant-too-new", "files" };
    for (size_t k = 0; k < v->n_limits; k++) {
        const mc_limit_hit *h = &v->limits[k];
        if (h->verdict == MC_TARGET_WRONG && !mc_str_is(h->id, "arch"))
            return true;
        for (size_t i = 0; h->verdict == MC_TARGET_REFUSES && i < MC_COUNT(ids); i++)
            if (mc_str_is(h->id, ids[i]))
                return true;
    }
    return false;
}

/* Does some row of the framework speak of it, so that silence means something? */
static bool judged(const mc_verdict_list *v)
{
    for (size_t k = 0; k < v->n_not_checked; k++)
        if (mc_str_starts(v->not_checked[k].id, "quant-unknown") || mc_str_is(v->not_checked[k].id, "quant"))
            return false;
    for (size_t k = 0; k < v->n_limits; k++)
        if (v->limits[k].verdict == MC_TARGET_UNKNOWN && mc_limit_is_storage(&v->limits[k]))
            return false;
    return !v->outside;
}

void mc_check_few_runtimes(mc_check *cx)
{
    const mc_matrix *x = cx->options->matrix;
    const mc_quant  *q = cx->model->quant;
    mc_names         yes = { .n = 0 }, no = { .n = 0 };
    if (!x || x->asked || !q || cx->model->gguf || q->n_packed == 0)
        return;
    for (size_t i = 0; i < x->n; i++)
        if (mc_matrix_listed(x, i) && judged(&x->v[i]))
            mc_names_add(cx->arena, against(&x->v[i]) ? &no : &yes, x->v[i].framework->name);
    if (yes.n == 0 || yes.n > FEW || no.n <= yes.n)
        return;
    mc_str method = q->method.known ? q->method.v : q->seen;
    mc_str bits = q->bits.known && q->bits.v > 0 ? mc_format(cx->arena, " %" PRId64 "-bit", q->bits.v) : MC_STR("");
    mc_report(cx, MC_NONE, "%.*s%.*s: read by %.*s; not by %.*s", MC_FMT(method), MC_FMT(bits), MC_FMT(mc_names_text(cx->arena, &yes)), MC_FMT(mc_names_text(cx->arena, &no)));
}

/* ---- MC708 ---- */

static const int64_t sizes[] = { 1, 2, 4, 8, 16 };

/* What must divide: heads, and the groups or blocks of the MLP's inner side. 0: no condition. */
typedef struct { int64_t heads, kv_heads, inner, unit; } shape;

static int64_t inner_of(const mc_model *m)
{
    const mc_value *config = mc_model_config(m), *text = mc_get(config, "text_config");
    int64_t         v = 0;
    if (m->arch.experts.known && m->arch.experts.v > 1) {
        const mc_value *own = mc_get(text ? text : config, "moe_intermediate_size");
        if (own)
            return mc_as_int(own, &v) ? v : 0;
    }
    return m->arch.intermediate.known ? m->arch.intermediate.v : 0;
}

static shape shape_of(const mc_model *m)
{
    const mc_quant *q = m->quant;
    shape           s = { 0 };
    s.heads = m->arch.heads.known ? m->arch.heads.v : 0;
    s.kv_heads = m->arch.kv_heads.known ? m->arch.kv_heads.v : 0;
    if (q && q->n_packed && q->grain == MC_GRAIN_GROUP && q->group.known && q->group.v > 1)
        s.unit = q->group.v;
    else if (q && q->n_packed && q->grain == MC_GRAIN_BLOCK && q->block[1] > 1 && q->block[1] < INT32_MAX)
        s.unit = (int64_t)q->block[1];
    int64_t inner = s.unit ? inner_of(m) : 0;
    if (inner > 0 && inner % s.unit == 0)
        s.inner = inner;
    return s;
}

static bool divides(const shape *s, int64_t tp)
{
    return (s->heads <= 0 || s->heads % tp == 0) && (s->inner <= 0 || (s->inner / s->unit) % tp == 0);
}

/* "3*7*11" */
static mc_str factors(mc_arena *a, int64_t n)
{
    mc_str text = MC_STR("");
    for (int64_t p = 2; p * p <= n && p < 65536; p++)
        for (; n % p == 0; n /= p)
            text = mc_format(a, "%.*s%s%" PRId64, MC_FMT(text), text.n ? "*" : "", p);
    return n > 1 || !text.n ? mc_format(a, "%.*s%s%" PRId64, MC_FMT(text), text.n ? "*" : "", n) : text;
}

static mc_str why(mc_check *cx, const shape *s)
{
    mc_str text = MC_STR("");
    if (s->inner) {
        int64_t n = s->inner / s->unit;
        mc_str  f = factors(cx->arena, n);
        text = mc_format(cx->arena, "MLP groups %" PRId64 "%s%.*s", n, mc_str_find(f, '*') < f.n ? " = " : "", mc_str_find(f, '*') < f.n ? (int)f.n : 0, f.p);
    }
    if (s->heads)
        text = mc_format(cx->arena, "%.*s%sheads %" PRId64, MC_FMT(text), text.n ? "; " : "", s->heads);
    if (s->heads && s->kv_heads && s->kv_heads != s->heads)
        text = mc_format(cx->arena, "%.*s, kv heads %" PRId64, MC_FMT(text), s->kv_heads);
    return text;
}

void mc_check_tp_limit(mc_check *cx)
{
    const mc_model *m = cx->model;
    shape           s = shape_of(m);
    mc_str          list = MC_STR("");
    if (m->gguf || m->format == MC_FMT_NONE || (m->kind != MC_KIND_CAUSAL_LM && m->kind != MC_KIND_VISION_LANGUAGE && m->kind != MC_KIND_SEQ2SEQ) || (!s.heads && !s.inner))
        return;
    if (divides(&s, 2) && divides(&s, 4) && divides(&s, 8))
        return;
    for (size_t i = 0; i < MC_COUNT(sizes); i++)
        if (divides(&s, sizes[i]))
            list = mc_format(cx->arena, "%.*s%s%" PRId64, MC_FMT(list), list.n ? ", " : "", sizes[i]);
    mc_finding *out = mc_report(cx, MC_NONE, "tensor parallel sizes that divide: %.*s (%.*s)", MC_FMT(list), MC_FMT(why(cx, &s)));
    if (s.heads)
        mc_because(cx, out, "heads", m->arch.heads.from, "%" PRId64, s.heads);
    if (s.inner)
        mc_because(cx, out, "inner side", m->arch.intermediate.from, "%" PRId64 " = %" PRId64 " times the group or block of %" PRId64, s.inner, s.inner / s.unit, s.unit);
}
