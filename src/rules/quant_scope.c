/* MC435, MC436: exclude and target lists against what is stored.
 *
 * Lists are read by tools with different matching rules. Whatever they disagree about is left to MC414 and MC415. */
#include "rules/quant_rules.h"

#include <string.h>

/* ---- MC435 ---- */

static size_t literal_head(const mc_pattern *p)
{
    size_t n = 0;
    while (n < p->pattern.n && !strchr("*?[\\(", p->pattern.p[n]))
        n++;
    return n;
}

static bool begins(mc_str s, mc_str head)
{
    return s.n >= head.n && memcmp(s.p, head.p, head.n) == 0;
}

/* "layers.1*" also hits layers 10 to 19: nobody means that. */
static bool careless(const mc_pattern *p, mc_str module)
{
    size_t n = literal_head(p);
    return n && n < module.n && mc_is_digit(p->pattern.p[n - 1]) && mc_is_digit(module.p[n]) && begins(module, mc_str_cut(p->pattern, 0, n));
}

/* The entry names something that holds the module, not the module. */
static bool container(const mc_pattern *p, mc_str module)
{
    return literal_head(p) == p->pattern.n && p->pattern.n < module.n && begins(module, p->pattern) && (module.p[p->pattern.n] == '.' || mc_str_ends(p->pattern, "."));
}

/* Another list of the same weights does not have it: MC414 speaks. */
static bool only_here(const mc_quant_facts *f, const mc_module *m)
{
    for (size_t i = 0; i < f->q->n_claims; i++) {
        const mc_claim *c = &f->q->claims[i];
        if (c != f->claim && c->component == f->component && c->n_excludes && !mc_claim_verdict(c, m).excluded_by)
            return true;
    }
    return false;
}

static bool owns_codes(const mc_module *m)
{
    return mc_module_packed(m) && m->layout != MC_Q_GGML && (m->parts[MC_PART_SCALE] || m->parts[MC_PART_STATE] || m->parts[MC_PART_MAP]);
}

static mc_finding *tell_excluded(mc_check *cx, const mc_hit *v, size_t n)
{
    const mc_quant_facts *f = mc_quant_gather(cx);
    const mc_module      *m = f ? mc_quant_of(f, v) : NULL;
    mc_verdict            verdict = m ? mc_claim_verdict(f->claim, m) : (mc_verdict){ .scheme = NULL };
    const char           *layout = m ? mc_layout_name(m->layout) : "?";
    mc_finding           *out;
    if (verdict.excluded_by)
        out = mc_report(cx, v->file, "%.*s is excluded by %.*s, but stored as %s%s", MC_FMT(v->name), MC_FMT(verdict.excluded_by->pattern), layout, n == 1 ? "" : ", and others alike");
    else
        out = mc_report(cx, v->file, "%.*s is declared as not quantized, but stored as %s%s", MC_FMT(v->name), layout, n == 1 ? "" : ", and others alike");
    if (verdict.excluded_by)
        mc_because(cx, out, "excluded by", verdict.excluded_by->from, "%.*s", MC_FMT(verdict.excluded_by->pattern));
    for (size_t i = 0; m && i <= MC_PART_SCALE; i++)
        if (m->parts[i])
            mc_because(cx, out, "stored", (mc_origin){ m->parts[i]->file, m->parts[i]->name }, "%.*s", MC_FMT(mc_shape_text(cx->arena, m->parts[i])));
    return out;
}

void mc_check_excluded(mc_check *cx)
{
    const mc_quant_facts *f = mc_quant_gather(cx);
    for (size_t i = 0; f && f->claim && !f->uniform && i < f->q->n_modules; i++) {
        const mc_module *m = &f->q->modules[i];
        if (m->component != f->component || !owns_codes(m) || m->cls == MC_CLS_NORM || !mc_quant_excluded(f, m))
            continue;
        const mc_pattern *by = mc_claim_verdict(f->claim, m).excluded_by;
        if ((by && (careless(by, m->name) || container(by, m->name))) || only_here(f, m))
            continue;
        mc_hit_add(cx, tell_excluded, mc_quant_hit(f, m, by && by->from.file != MC_NONE ? by->from.file : f->claim->file, "excluded", 0, 0));
    }
}

/* ---- MC436 ---- */

typedef struct {
    mc_check             *cx;
    const mc_quant_facts *f;
    mc_strset             leaves;   /* last parts of the names of packed modules inside layers */
    bool                  scoped;   /* the method names what it quantizes */
} plain;

static bool sixteen(const mc_check *cx, const mc_tensor *t)
{
    const mc_dtype *d = t ? mc_kb_dtype(cx->kb, t->dtype) : NULL;
    return d && (mc_dtype_is_float(d, 16) || mc_dtype_is_float(d, 32));
}

/* Kinds of modules that stay wide in every recipe, by class and by name. */
static bool left_alone(const mc_module *m)
{
    static const char *const words[] = { "conv1d", "indexer", "A_log", "router", "weights_proj", "lora_", "embed" };
    if (m->cls != MC_CLS_ATTENTION && m->cls != MC_CLS_MLP && m->cls != MC_CLS_EXPERTS && m->cls != MC_CLS_MTP && m->cls != MC_CLS_OTHER)
        return true;
    for (size_t i = 0; i < MC_COUNT(words); i++)
        if (mc_str_contains(m->name, words[i]))
            return true;
    mc_str leaf = mc_str_last(m->name);
    return mc_str_is(leaf, "gate") || mc_str_ends(leaf, "_gate") || mc_str_contains(leaf, "norm") || mc_str_contains(leaf, "head");
}

static bool fits_group(const mc_scheme *s, const mc_tensor *w)
{
    uint64_t g = s->group.known && s->group.v > 0 ? (uint64_t)s->group.v : 16;
    return w->rank == 2 && w->dims[0] >= 64 && w->dims[1] >= 64 && w->dims[0] % g == 0 && w->dims[1] % g == 0;
}

/* No list has it, whoever reads the list: an entry that cannot be evaluated may be the one. */
static bool on_some_list(const mc_quant_facts *f, const mc_module *m)
{
    for (size_t i = 0; i < f->q->n_claims; i++) {
        const mc_claim *c = &f->q->claims[i];
        if (c->component != f->component)
            continue;
        if (mc_claim_verdict(c, m).excluded_by)
            return true;
        for (size_t k = 0; k < c->n_excludes; k++)
            if (mc_pattern_of_module(&c->excludes[k], m) != MC_NO || mc_pattern_any(&c->excludes[k], m->name))
                return true;
    }
    return false;
}

/* An entry that hits nothing and stands for a neighbour: an older name of this module, probably. */
static const mc_pattern *neighbour_entry(const mc_claim *c, mc_str module)
{
    mc_str parent = mc_str_cut(module, 0, module.n - mc_str_last(module).n);
    for (size_t i = 0; parent.n && i < c->n_excludes; i++) {
        const mc_pattern *p = &c->excludes[i];
        if (!p->hit && p->pattern.n > parent.n && begins(p->pattern, parent) && mc_str_find(mc_str_cut(p->pattern, parent.n, p->pattern.n), '.') == p->pattern.n - parent.n)
            return p;
    }
    return NULL;
}

/* The block counts it as quantized, by more than the silence of its lists. */
static bool counted(const plain *s, const mc_module *m, const mc_verdict *v)
{
    if (v->target)
        return true;
    if (!s->scoped)
        return false;
    return m->cls == MC_CLS_MTP || mc_strset_find(&s->leaves, mc_str_last(m->name)) != MC_NO_ID || neighbour_entry(s->f->claim, m->name);
}

static void report_plain(const plain *s, const mc_module *m, const mc_verdict *v)
{
    const mc_claim   *c = s->f->claim;
    const mc_pattern *near = neighbour_entry(c, m->name);
    const mc_dtype   *d = mc_kb_dtype(s->cx->kb, m->parts[MC_PART_WEIGHT]->dtype);
    mc_finding *out = mc_report(s->cx, c->file, "%.*s is stored in %.*s though the configuration counts it as quantized", MC_FMT(m->name), MC_FMT(d->name));
    mc_subject(out, m->name);
    if (out->named > 1)
        return;
    if (v->target)
        mc_because(s->cx, out, "listed", v->target->from, "%.*s", MC_FMT(v->target->pattern));
    if (near)
        mc_because(s->cx, out, "unmatched entry", near->from, "%.*s looks like an older name", MC_FMT(near->pattern));
    mc_because(s->cx, out, "stored", (mc_origin){ m->parts[MC_PART_WEIGHT]->file, m->parts[MC_PART_WEIGHT]->name }, "%.*s %.*s", MC_FMT(d->name),
               MC_FMT(mc_shape_text(s->cx->arena, m->parts[MC_PART_WEIGHT])));
}

static bool gather_leaves(plain *s)
{
    uint32_t form = MC_NONE;
    if (!mc_strset_init(&s->leaves, s->cx->arena, 32))
        return false;
    for (size_t i = 0; i < s->f->q->n_modules; i++) {
        const mc_module *m = &s->f->q->modules[i];
        if (m->form != form && mc_module_packed(m) && m->layer != MC_NONE && m->component == s->f->component)
            (void)mc_strset_add(&s->leaves, mc_str_last(m->name), NULL);
        form = mc_module_packed(m) ? m->form : form;
    }
    return true;
}

void mc_check_declared_plain(mc_check *cx)
{
    plain s = { .cx = cx, .f = mc_quant_gather(cx) };
    if (!s.f || !s.f->claim || !s.f->q->n_packed || s.f->gptq || s.f->awq || s.f->bitsandbytes)
        return;
    s.scoped = s.f->compressed || mc_quant_method(s.f, "modelopt") || mc_quant_method(s.f, "quark");
    if ((!s.scoped && !s.f->claim->n_overrides) || !gather_leaves(&s))
        return;
    for (size_t i = 0; i < s.f->q->n_modules; i++) {
        const mc_module *m = &s.f->q->modules[i];
        const mc_tensor *w = m->parts[MC_PART_WEIGHT];
        if (m->component != s.f->component || m->layout != MC_Q_PLAIN || m->layer == MC_NONE || left_alone(m) || !sixteen(cx, w))
            continue;
        mc_verdict v = mc_claim_verdict(s.f->claim, m);
        if (!v.scheme || v.doubt || v.scheme->quantized == MC_NO || !fits_group(v.scheme, w) || !counted(&s, m, &v) || on_some_list(s.f, m))
            continue;
        report_plain(&s, m, &v);
    }
}
