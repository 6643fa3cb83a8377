/* What a claim says of one module, from the entries that concern it. Which entries these are: all of them here, a few of them
 * in matcher.c. */
#include "model/matcher.h"

/* ---- the answer for one module, from the entries that concern it ---- */

/* An exact name beats a container, a container a pattern, a pattern a class. Of two containers the longer one counts. */
static unsigned rank_of(const mc_pattern *p)
{
    switch (p->dialect) {
    case MC_DIALECT_EXACT: return 0;
    case MC_DIALECT_PREFIX: return 1 + (p->pattern.n < 4096 ? 4096 - (unsigned)p->pattern.n : 0);
    case MC_DIALECT_SUBSTRING: case MC_DIALECT_GLOB: case MC_DIALECT_REGEX: case MC_DIALECT_HF: return 5000;
    case MC_DIALECT_CLASS: break;
    }
    return 6000;
}

void mc_entry_consider(mc_tally *t, const mc_entry *e, const mc_module *m)
{
    mc_tri own = mc_pattern_of_module(e->p, m);
    bool   any = e->p->dialect == MC_DIALECT_CLASS ? own == MC_YES : mc_pattern_any(e->p, m->name);
    if (own == MC_YES || any)
        e->p->hit = true;
    if (!e->owner) {
        t->unknown |= own == MC_UNKNOWN && e->p->dialect != MC_DIALECT_CLASS;
        t->any |= any;
        if (own == MC_YES && (!t->own_by || e->p < t->own_by))
            t->own_by = e->p;
        t->own |= own == MC_YES;
        return;
    }
    t->over_unknown |= own == MC_UNKNOWN;
    if (own == MC_YES && (!t->over || rank_of(e->p) < t->rank || (rank_of(e->p) == t->rank && e->owner < t->over))) {
        t->over = e->owner;
        t->target = e->p;
        t->rank = rank_of(e->p);
    } else if (any && own != MC_YES && (!t->any_over || e->owner < t->any_over)) {
        t->any_over = e->owner;
    }
}

mc_verdict mc_tally_conclude(const mc_claim *c, const mc_tally *t, bool cut)
{
    mc_verdict v = { .doubt = cut || t->own != t->any || (t->unknown && !t->own) };
    if (t->own) {
        v.excluded_by = t->own_by;
        return v;
    }
    if (t->over) {
        v.scheme = &t->over->scheme;
        v.target = t->target->dialect == MC_DIALECT_CLASS ? NULL : t->target;
        v.doubt |= t->over_unknown && t->target->dialect == MC_DIALECT_CLASS;
    } else {
        v.scheme = t->any_over ? &t->any_over->scheme : c->whole_scope ? NULL : &c->base;
        v.doubt |= t->any_over != NULL || t->over_unknown;
    }
    v.doubt |= v.scheme && v.scheme->quantized == MC_UNKNOWN;
    if (v.scheme && v.scheme->quantized == MC_NO)
        v.scheme = NULL;
    return v;
}

size_t mc_claim_entries(const mc_claim *c)
{
    size_t n = c->n_excludes;
    for (size_t i = 0; i < c->n_overrides; i++)
        n += c->overrides[i].n_targets;
    return n;
}

/* Entry by entry: for single questions, and the reference of what is below. */
static mc_verdict asked_alone(const mc_claim *c, const mc_module *m)
{
    mc_tally t = { 0 };
    for (size_t i = 0; i < c->n_excludes; i++)
        mc_entry_consider(&t, &(mc_entry){ &c->excludes[i], NULL }, m);
    for (size_t o = 0; o < c->n_overrides; o++)
        for (size_t i = 0; i < c->overrides[o].n_targets; i++)
            mc_entry_consider(&t, &(mc_entry){ &c->overrides[o].targets[i], &c->overrides[o] }, m);
    return mc_tally_conclude(c, &t, false);
}

mc_verdict mc_claim_verdict(const mc_claim *c, const mc_module *m)
{
    if (c->verdicts && m >= c->modules && m < c->modules + c->n_verdicts && c->verdicts[m - c->modules])
        return *c->verdicts[m - c->modules];
    return asked_alone(c, m);
}

const mc_scheme *mc_claim_scheme(const mc_claim *c, const mc_module *m, const mc_pattern **excluded_by, bool *doubt)
{
    mc_verdict v = mc_claim_verdict(c, m);
    if (excluded_by)
        *excluded_by = v.excluded_by;
    if (doubt)
        *doubt = v.doubt;
    return v.scheme;
}

const mc_claim *mc_claim_of(const struct mc_quant *q, uint32_t component)
{
    const mc_claim *unknown = NULL;
    for (size_t i = 0; q && i < q->n_claims; i++) {
        const mc_claim *c = &q->claims[i];
        if (c->component == component && c->known_method)
            return c;
        if (c->component == component && !unknown)
            unknown = c;
    }
    return unknown; /* better a block that is not understood than none */
}
