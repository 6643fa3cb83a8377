/* MC445-MC447: what a few bytes of tensor data say: zero points of GPTQ, its group index, the state of bitsandbytes. */
#include "rules/quant_rules.h"

/* ---- MC445 ---- */

/* The word of a symmetric model: every field is 2^(b-1), less one in version 1. 0: not told apart by one word. */
static uint32_t constant_of(double bits, unsigned version)
{
    static const struct { double bits; uint32_t word[2]; } words[] = {
        { 2, { 0x55555555u, 0xAAAAAAAAu } }, { 4, { 0x77777777u, 0x88888888u } }, { 8, { 0x7F7F7F7Fu, 0x80808080u } },
    };
    for (size_t i = 0; i < MC_COUNT(words); i++)
        if (bits >= words[i].bits && bits <= words[i].bits)
            return words[i].word[version - 1];
    return 0;
}

static bool is_nocase(mc_str s, const char *word)
{
    return s.n == mc_str_of(word).n && mc_str_ends_nocase(s, word);
}

/* 1 or 2; 0: the block leaves it open. */
static unsigned declared_version(const mc_quant_facts *f)
{
    const mc_claim *c = f->claim;
    if (f->gptq)
        return !c->base.format.known || is_nocase(c->base.format.v, "gptq") ? 1 : is_nocase(c->base.format.v, "gptq_v2") ? 2 : 0;
    if (!mc_quant_method(f, "auto-round") || !c->packing.known)
        return 0;
    if (is_nocase(c->packing.v, "auto_round:auto_gptq") || is_nocase(c->packing.v, "auto_round:gptq"))
        return 1;
    return is_nocase(c->packing.v, "auto_round:gptqmodel") ? 2 : 0;
}

/* A symmetric module whose first word was read and whose width has such a constant. */
static bool testifies(const mc_quant_facts *f, const mc_module *m)
{
    const mc_scheme *s = m->layout == MC_Q_GPTQ && m->zero_read && m->bits_certain && constant_of(m->bits, 1) ? mc_quant_scheme(f, m) : NULL;
    return s && s->symmetric != MC_NO;
}

static mc_finding *tell_zero(mc_check *cx, const mc_hit *v, size_t n)
{
    const mc_quant_facts *f = mc_quant_gather(cx);
    const mc_module      *m = f ? mc_quant_of(f, v) : NULL;
    unsigned              said = v->b == 1 ? 1 : 2, seen = 3 - said;
    bool                  stated = f && (mc_get(f->claim->block, "checkpoint_format") || mc_get(f->claim->block, "format") || f->claim->packing.known);
    mc_finding *out = mc_report(cx, v->file, "%s version %u of GPTQ, the zero points of %zu module%s are those of version %u", stated ? "declared is" : "no checkpoint_format means", said, n,
                                n == 1 ? "" : "s", seen);
    if (m && m->parts[MC_PART_ZERO])
        mc_because(cx, out, "first word", (mc_origin){ m->parts[MC_PART_ZERO]->file, m->parts[MC_PART_ZERO]->name }, "0x%08llX", (unsigned long long)v->a);
    mc_fix(cx, out, "Set checkpoint_format to %s", seen == 1 ? "gptq" : "gptq_v2");
    return out;
}

void mc_check_zero_version(mc_check *cx)
{
    const mc_quant_facts *f = mc_quant_gather(cx);
    unsigned              said = f && f->claim && (f->layouts & MC_LAYOUT_BIT(MC_Q_GPTQ)) ? declared_version(f) : 0;
    size_t                n = 0, own = 0, other = 0;
    for (size_t i = 0; said && i < f->q->n_modules; i++) {
        const mc_module *m = &f->q->modules[i];
        if (!testifies(f, m))
            continue;
        n++;
        own += m->zero_word == constant_of(m->bits, said);
        other += m->zero_word == constant_of(m->bits, 3 - said);
    }
    if (!other || own || other < n - n / 10)
        return;
    for (size_t i = 0; i < f->q->n_modules; i++) {
        const mc_module *m = &f->q->modules[i];
        if (testifies(f, m) && m->zero_word == constant_of(m->bits, 3 - said))
            mc_hit_add(cx, tell_zero, mc_quant_hit(f, m, f->claim->file, "zero version", m->zero_word, said));
    }
}

/* ---- MC446 ---- */

static const char out_of_order[] = "order";

static mc_finding *tell_index(mc_check *cx, const mc_hit *v, size_t n)
{
    mc_str first = n == 1 ? v->name : mc_format(cx->arena, "%zu modules: %.*s", n, MC_FMT(v->name));
    if (v->what == out_of_order)
        return mc_report(cx, v->file, "%.*s: g_idx is not in the order of the groups, desc_act is false", MC_FMT(first));
    return mc_report(cx, v->file, "%.*s: g_idx %s", MC_FMT(first), v->what);
}

void mc_check_group_index(mc_check *cx)
{
    const mc_quant_facts *f = mc_quant_gather(cx);
    for (size_t i = 0; f && f->index && i < f->q->n_modules; i++) {
        const mc_module *m = &f->q->modules[i];
        const mc_tensor *index = m->parts[MC_PART_INDEX];
        const mc_scheme *s = m->layout == MC_Q_GPTQ && index ? mc_quant_scheme(f, m) : NULL;
        if (m->layout != MC_Q_GPTQ || !index || (s && s->group.known && s->group.v == -1))
            continue;
        if (m->data.what)
            mc_hit_add(cx, tell_index, mc_quant_hit(f, m, index->file, m->data.what, m->data.a, m->data.b));
        else if (s && s->desc_act == MC_NO && m->ordered == MC_NO)
            mc_hit_add(cx, tell_index, mc_quant_hit(f, m, index->file, out_of_order, 0, 0));
    }
}

/* ---- MC447 ---- */

void mc_check_quant_state(mc_check *cx)
{
    const mc_quant_facts *f = mc_quant_gather(cx);
    for (size_t i = 0; f && (f->layouts & MC_LAYOUT_BIT(MC_Q_BNB4)) && i < f->q->n_modules; i++) {
        const mc_module *m = &f->q->modules[i];
        const mc_tensor *at = m->parts[MC_PART_STATE] ? m->parts[MC_PART_STATE] : m->parts[MC_PART_WEIGHT];
        if (m->layout != MC_Q_BNB4 || !m->data.what || !at)
            continue;
        mc_finding *out = mc_report(cx, at->file, m->data.a || m->data.b ? "%.*s: quant_state %s (%llu needed, %llu found)" : "%.*s: quant_state %s", MC_FMT(m->name), m->data.what,
                                    (unsigned long long)m->data.a, (unsigned long long)m->data.b);
        mc_subject(out, m->name);
        if (out->n_subjects == 1 && m->parts[MC_PART_WEIGHT])
            mc_because(cx, out, "stored", (mc_origin){ at->file, m->parts[MC_PART_WEIGHT]->name }, "%.*s", MC_FMT(mc_shape_text(cx->arena, m->parts[MC_PART_WEIGHT])));
    }
}
