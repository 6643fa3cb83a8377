/* What all rules of the family ask: the declared block, its verdict on a module, words for modules. */
#include "rules/quant_rules.h"

const mc_quant_facts *mc_quant_gather(mc_check *cx)
{
    const mc_model *m = cx->model;
    if (cx->memo || !m->quant || !m->n_components)
        return cx->memo;
    mc_quant_facts *f = MC_NEW(cx->arena, mc_quant_facts, 1);
    if (!f)
        return NULL;
    f->q = m->quant;
    if (f->q->declared < f->q->n_claims) {
        f->claim = &f->q->claims[f->q->declared];
        f->component = f->claim->component;
    }
    f->complete = f->component < m->n_components && m->components[f->component].inv.complete;
    return cx->memo = f;
}

bool mc_quant_packed(const mc_module *m)
{
    return m->layout != MC_Q_PLAIN && m->layout != MC_Q_RAW8;
}

bool mc_quant_excluded(const mc_quant_facts *f, const mc_module *m)
{
    if (!f->claim || m->component != f->component)
        return false;
    mc_verdict v = mc_claim_verdict(f->claim, m);
    return !v.doubt && (v.scheme ? v.scheme->quantized == MC_NO : v.excluded_by || v.target);
}

const mc_scheme *mc_quant_scheme(const mc_quant_facts *f, const mc_module *m)
{
    if (!f->claim || m->component != f->component)
        return NULL;
    mc_verdict v = mc_claim_verdict(f->claim, m);
    return v.scheme && !v.doubt && v.scheme->quantized != MC_NO ? v.scheme : NULL;
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

mc_str mc_quant_shape(mc_arena *a, const mc_tensor *t)
{
    mc_str s = MC_STR("[");
    for (unsigned i = 0; i < t->rank; i++)
        s = mc_format(a, "%.*s%s%llu", MC_FMT(s), i ? ", " : "", (unsigned long long)t->dims[i]);
    return mc_format(a, "%.*s]", MC_FMT(s));
}

mc_str mc_quant_leaf(mc_str module)
{
    size_t dot = mc_str_rfind(module, '.');
    return dot == SIZE_MAX ? module : mc_str_cut(module, dot + 1, module.n);
}
