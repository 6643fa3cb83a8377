/* What all rules of the family ask: the declared block, its verdict on a module, words for modules. */
#include "rules/quant_rules.h"

/* The scheme that the rules of modules go by; NULL where the block excludes a module or loaders disagree about it. */
static const mc_scheme *scheme_of(const mc_claim *c, const mc_module *m)
{
    mc_verdict v = mc_claim_verdict(c, m);
    return v.scheme && !v.doubt && v.scheme->quantized != MC_NO ? v.scheme : NULL;
}

static bool ask_claim(mc_check *cx, mc_quant_facts *f)
{
    const mc_claim *c = f->claim;
    f->component = c->component;
    f->gptq = mc_quant_method(f, "gptq");
    f->awq = mc_quant_method(f, "awq");
    f->fp8 = mc_quant_method(f, "fp8");
    f->compressed = mc_quant_method(f, "compressed-tensors");
    f->bitsandbytes = mc_quant_method(f, "bitsandbytes");
    f->uniform = !c->n_excludes && !c->n_overrides && !c->whole_scope && c->base.quantized != MC_NO;
    if (f->uniform)
        return true;
    f->schemes = MC_NEW(cx->arena, const mc_scheme *, f->q->n_modules + 1);
    for (size_t i = 0; f->schemes && i < f->q->n_modules; i++)
        if (f->q->modules[i].component == f->component)
            f->schemes[i] = scheme_of(c, &f->q->modules[i]);
    return f->schemes != NULL;
}

bool mc_quant_bare(const mc_check *cx, const mc_module *m)
{
    const mc_tensor *w = m->parts[MC_PART_WEIGHT];
    if (m->layout != MC_Q_PLAIN || !w || w->rank < 2 || m->layer == MC_NONE || (m->cls != MC_CLS_ATTENTION && m->cls != MC_CLS_MLP && m->cls != MC_CLS_EXPERTS))
        return false;
    const mc_dtype *d = mc_kb_dtype(cx->kb, w->dtype);
    return d && d->cls == MC_CLASS_INT;
}

/* One walk, so that most rules need none: there are 46,000 modules in a large mixture of experts. */
static void survey(const mc_check *cx, mc_quant_facts *f)
{
    for (size_t i = 0; i < f->q->n_modules; i++) {
        const mc_module *m = &f->q->modules[i];
        f->layouts |= MC_LAYOUT_BIT(m->layout);
        f->missing |= m->missing.what != NULL;
        f->shape |= m->shape.what != NULL;
        f->zero |= m->parts[MC_PART_ZERO] != NULL;
        f->index |= m->parts[MC_PART_INDEX] != NULL;
        f->turned |= m->transposed;
        f->bare |= mc_quant_bare(cx, m);
    }
}

const mc_quant_facts *mc_quant_gather(mc_check *cx)
{
    const mc_model *m = cx->model;
    if (cx->memo || !m->quant || !m->n_components)
        return cx->memo;
    mc_quant_facts *f = MC_NEW(cx->arena, mc_quant_facts, 1);
    if (!f)
        return NULL;
    f->q = m->quant;
    survey(cx, f);
    if (f->q->declared < f->q->n_claims) {
        f->claim = &f->q->claims[f->q->declared];
        if (!ask_claim(cx, f))
            return NULL;
    }
    f->complete = f->component < m->n_components && m->components[f->component].inv.complete;
    return cx->memo = f;
}

bool mc_quant_excluded(const mc_quant_facts *f, const mc_module *m)
{
    if (!f->claim || f->uniform || m->component != f->component || f->schemes[m - f->q->modules])
        return false;
    mc_verdict v = mc_claim_verdict(f->claim, m);
    return !v.doubt && (v.scheme ? v.scheme->quantized == MC_NO : v.excluded_by || v.target);
}

const mc_scheme *mc_quant_scheme(const mc_quant_facts *f, const mc_module *m)
{
    if (!f->claim || m->component != f->component)
        return NULL;
    return f->uniform ? &f->claim->base : f->schemes[m - f->q->modules];
}

bool mc_quant_method(const mc_quant_facts *f, const char *method)
{
    return f->claim && mc_str_is(f->claim->method, method);
}

mc_hit mc_quant_hit(const mc_quant_facts *f, const mc_module *m, uint32_t file, const char *what, uint64_t a, uint64_t b)
{
    return (mc_hit){ .file = file, .module = (uint32_t)(m - f->q->modules), .name = m->name, .what = what, .a = a, .b = b };
}

const mc_module *mc_quant_of(const mc_quant_facts *f, const mc_hit *h)
{
    return h->module < f->q->n_modules ? &f->q->modules[h->module] : NULL;
}

