/* Where the declared block and the tensors differ in words: whose word the summary takes.
 *
 * The method is the claim's if it may be stored in the layout that most parameters have (rules/quants/), else what is seen:
 * auto-round in the layout of GPTQ stays auto-round, the geometry of AWQ under the name gptq is awq. A row that is one group
 * long has one scale, which is a group or a channel: the claim knows. */
#include "scan/modules.h"

static mc_layout main_layout(const mc_quant *s)
{
    uint64_t  weight[MC_N_LAYOUTS] = { 0 };
    mc_layout best = MC_Q_PLAIN;
    for (size_t i = 0; i < s->n_modules; i++) {
        const mc_module *q = &s->modules[i];
        if (q->layout == MC_Q_PLAIN || q->layout == MC_Q_RAW8)
            continue;
        if (ckd_add(&weight[q->layout], weight[q->layout], (q->elements_known ? q->elements : q->bytes) + 1))
            weight[q->layout] = UINT64_MAX;
    }
    for (unsigned i = 0; i < MC_N_LAYOUTS; i++)
        if (weight[i] > weight[best])
            best = (mc_layout)i;
    return best;
}

/* The widest input of the modules with one scale a row; 0: none, or one is not known. */
static uint64_t widest_channel(const mc_quant *s)
{
    uint64_t widest = 0;
    for (size_t i = 0; i < s->n_modules; i++) {
        const mc_module *q = &s->modules[i];
        if (q->layout == MC_Q_PLAIN || q->grain != MC_GRAIN_CHANNEL)
            continue;
        if (q->in == 0)
            return 0;
        widest = q->in > widest ? q->in : widest;
    }
    return widest;
}

static bool may_be_stored(const mc_kb_method *k, mc_layout layout)
{
    const mc_value *layouts = k ? mc_get(k->spec, "layouts") : NULL;
    return !mc_is(layouts, MC_ARRAY) || layout == MC_Q_PLAIN || mc_has_str(layouts, mc_layout_name(layout));
}

void mc_settle_summary(mc_model *m, mc_kb *kb)
{
    mc_quant       *s = m->quant;
    const mc_claim *c = s && s->declared < s->n_claims ? &s->claims[s->declared] : NULL;
    if (!c)
        return;
    if (s->seen.n && (c->method.n == 0 || !may_be_stored(mc_kb_quant_method(kb, c->method), main_layout(s)))) {
        s->method = (mc_text){ true, s->seen, { MC_NONE, MC_STR("tensor tables") } };
        if (c->method.n)
            s->format = (mc_text){ 0 }; /* a variety of the other method */
    }
    if (s->n_modules == 0 && !s->bits.known && c->base.bits.known && c->base.bits.v > 0)
        s->bits = c->base.bits; /* no tensor was read: the claim stands alone */
    if (s->grain == MC_GRAIN_CHANNEL && c->base.group.known && c->base.group.v > 0 && (c->base.grain == MC_GRAIN_GROUP || c->base.grain == MC_GRAIN_NONE)) {
        uint64_t widest = widest_channel(s);
        if (widest && widest <= (uint64_t)c->base.group.v) {
            s->grain = MC_GRAIN_GROUP;
            s->group = c->base.group;
        }
    }
}
