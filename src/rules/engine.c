/* The engine: runs every family, silences consequences, orders what is left.
 *
 * Suppression items are "<scope>:<code or range>", separated by blanks:
 *   f: the same file    m: the same model    w: the same model, if the silencing finding is about a weight file or index
 *   c: the same model, if the silencing finding is about config.json or a quantization side file
 *   s: the same module: between rules that report hits (hits.c), before these are folded
 * A silenced finding still silences: the result does not depend on the order of rules. */
#include "rules/hits.h"

#include <stdlib.h>
#include <string.h>

#define FAMILY(name) extern const mc_family mc_family_##name;
#include "rules/families.list"
#undef FAMILY

const mc_family *const mc_families[] = {
#define FAMILY(name) &mc_family_##name,
#include "rules/families.list"
#undef FAMILY
};
const size_t mc_n_families = MC_COUNT(mc_families);

const mc_rule *mc_rule_find(mc_str name)
{
    for (size_t f = 0; f < mc_n_families; f++)
        for (size_t i = 0; i < mc_families[f]->n; i++) {
            const mc_rule *r = &mc_families[f]->rules[i];
            if (mc_str_is(name, r->code) || mc_str_is(name, r->slug))
                return r;
        }
    return NULL;
}

/* ---- reporting, as the checks see it ---- */

MC_PRINTF(3, 0)
static mc_finding *add_finding(mc_check *cx, uint32_t file, const char *fmt, va_list ap)
{
    mc_findings *out = cx->out;
    mc_finding  *v = mc_grow(out->arena, out->v, out->n, &out->cap, sizeof *v);
    if (!v)
        return &out->scratch;
    out->v = v;
    mc_finding *f = &v[out->n++];
    *f = (mc_finding){ .rule = cx->rule, .severity = cx->rule->severity, .file = file, .count = 1, .fix = mc_str_of(cx->rule->fix),
                         .silenced_by = cx->silencer };
    f->message = mc_vformat(out->arena, fmt, ap);
    return f;
}

mc_finding *mc_report(mc_check *cx, uint32_t file, const char *fmt, ...)
{
    mc_findings *out = cx->out;
    for (size_t i = 0; i < out->n; i++)
        if (out->v[i].rule == cx->rule && out->v[i].file == file && out->v[i].silenced_by == cx->silencer) {
            out->v[i].count++;
            return &out->v[i];
        }
    va_list ap;
    va_start(ap, fmt);
    mc_finding *f = add_finding(cx, file, fmt, ap);
    va_end(ap);
    return f;
}

mc_finding *mc_report_apart(mc_check *cx, uint32_t file, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    mc_finding *f = add_finding(cx, file, fmt, ap);
    va_end(ap);
    return f;
}

void mc_subject(mc_finding *f, mc_str subject)
{
    f->named++;
    if (f->n_subjects < MC_SAMPLES)
        f->subjects[f->n_subjects++] = subject;
    if (f->count < f->named)
        f->count = f->named;
}

void mc_count(mc_finding *f, size_t count)
{
    f->count = count;
}

void mc_because(mc_check *cx, mc_finding *f, const char *key, mc_origin from, const char *fmt, ...)
{
    if (f->n_evidence == MC_EVIDENCE)
        return;
    va_list ap;
    va_start(ap, fmt);
    mc_str value = mc_vformat(cx->out->arena, fmt, ap);
    va_end(ap);
    f->evidence[f->n_evidence++] = (mc_evidence){ mc_str_of(key), value, from };
}

void mc_fix(mc_check *cx, mc_finding *f, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    f->fix = mc_vformat(cx->out->arena, fmt, ap);
    va_end(ap);
}

mc_origin mc_origin_at(uint32_t file, const char *where)
{
    return (mc_origin){ file, mc_str_of(where) };
}

mc_str mc_size_text(mc_arena *a, uint64_t bytes)
{
    static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    double v = (double)bytes / 1024;
    size_t u = 0;
    if (bytes < 1024)
        return mc_format(a, "%u byte%s", (unsigned)bytes, bytes == 1 ? "" : "s");
    while (v >= 1024 && u < 5) {
        v /= 1024;
        u++;
    }
    bool whole = v < 1024 && v == (double)(unsigned)v;
    return mc_format(a, whole || v >= 99.95 ? "%.0f %s" : v < 9.995 ? "%.2f %s" : "%.1f %s", v, units[u]);
}

/* ---- suppression ---- */

static bool in_scope(const mc_model *m, char scope, const mc_finding *cause, const mc_finding *f)
{
    mc_role role = cause->file == MC_NONE ? MC_ROLE_OTHER : m->files[cause->file].role;
    switch (scope) {
    case 'f': return cause->file == f->file && f->file != MC_NONE;
    case 'm': return true;
    case 'w': return role == MC_ROLE_WEIGHTS || role == MC_ROLE_INDEX || role == MC_ROLE_BYTE_PART;
    case 'c': return role == MC_ROLE_CONFIG || role == MC_ROLE_QUANTIZE_CONFIG || role == MC_ROLE_HF_QUANT_CONFIG;
    default: return false;
    }
}

static bool silences(const mc_model *m, const mc_finding *cause, const mc_finding *f)
{
    static const char scopes[] = "fmwc";
    if (!cause->rule->suppresses || cause == f || cause->rule == f->rule)
        return false;
    for (const char *s = scopes; *s; s++)
        if (in_scope(m, *s, cause, f) && mc_rule_silences(cause->rule, *s, f->rule))
            return true;
    return false;
}

static void suppress(const mc_model *m, mc_findings *all)
{
    for (size_t i = 0; i < all->n; i++)
        for (size_t k = 0; k < all->n && !all->v[i].silenced_by; k++)
            if (silences(m, &all->v[k], &all->v[i]))
                all->v[i].silenced_by = all->v[k].rule;
}

void mc_settle(mc_check *cx)
{
    mc_fold_hits(cx);
    suppress(cx->model, cx->out);
}

/* ---- order and identity ---- */

typedef struct { const mc_model *model; mc_finding f; } keyed;

static int by_rank(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->f.severity != y->f.severity)
        return x->f.severity > y->f.severity ? -1 : 1;
    int d = strcmp(x->f.rule->code, y->f.rule->code);
    return d ? d : mc_str_cmp(mc_file_path(x->model, x->f.file), mc_file_path(y->model, y->f.file));
}

static uint64_t fingerprint(const mc_model *m, mc_arena *a, const mc_finding *f)
{
    mc_str path = mc_file_path(m, f->file), subject = f->n_subjects ? f->subjects[0] : MC_STR("");
    mc_str text = mc_format(a, "%s\n%.*s\n%.*s", f->rule->code, MC_FMT(path), MC_FMT(subject));
    return mc_hash((mc_span){ (const uint8_t *)text.p, text.n });
}

void mc_order_findings(const mc_model *m, mc_findings *all)
{
    keyed *k = all->n ? MC_NEW(all->arena, keyed, all->n) : NULL;
    if (!k)
        return;
    for (size_t i = 0; i < all->n; i++)
        k[i] = (keyed){ m, all->v[i] };
    qsort(k, all->n, sizeof *k, by_rank);
    for (size_t i = 0; i < all->n; i++) {
        all->v[i] = k[i].f;
        all->v[i].fingerprint = fingerprint(m, all->arena, &all->v[i]);
    }
}

void mc_run_rules(const mc_model *m, mc_kb *kb, const mc_floor *floor, const mc_rule_options *options, mc_findings *out)
{
    mc_check cx = { .model = m, .kb = kb, .floor = floor, .options = options, .out = out, .arena = out->arena };
    for (size_t f = 0; f < mc_n_families; f++) {
        cx.memo = NULL;
        for (size_t i = 0; i < mc_families[f]->n; i++) {
            cx.rule = &mc_families[f]->rules[i];
            if (cx.rule->check)
                cx.rule->check(&cx);
        }
    }
    cx.memo = NULL;
    mc_run_custom(&cx);
    mc_settle(&cx);
    mc_order_findings(m, out);
}
