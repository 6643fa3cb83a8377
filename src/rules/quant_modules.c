/* MC420, MC421: companions without which a module cannot be decoded, and companions that do not fit.
 *
 * What a module shows by itself was found while the modules were built (missing, shape); here come the faults that only a
 * claim reveals. A transposed module is MC434's. */
#include "rules/quant_rules.h"

static uint32_t file_of(const mc_module *m)
{
    return m->parts[MC_PART_WEIGHT] ? m->parts[MC_PART_WEIGHT]->file : MC_NONE;
}

/* ---- MC420 ---- */

static bool group_is(const mc_scheme *s, int64_t v)
{
    return s->group.known && s->group.v == v;
}

static bool format_in(const mc_text *format, const char *const *names, size_t n)
{
    for (size_t i = 0; format->known && i < n; i++)
        if (format->v.n == mc_str_of(names[i]).n && mc_str_ends_nocase(format->v, names[i]))
            return true;
    return false;
}

/* GPTQ and AWQ: zero points and the group index depend on what is declared. */
static const char *lacks_gptq(const mc_scheme *s, const mc_module *m)
{
    if (m->layout == MC_Q_GPTQ && s->desc_act == MC_YES && s->group.known && !group_is(s, -1) && !m->parts[MC_PART_INDEX])
        return "g_idx";
    if (m->layout == MC_Q_AWQ && s->symmetric == MC_NO && !m->parts[MC_PART_ZERO])
        return "qzeros";
    return NULL;
}

static const char *lacks_compressed(const mc_scheme *s, const mc_module *m)
{
    if (m->layout != MC_Q_CT_PACK)
        return NULL;
    if (s->symmetric == MC_NO && (s->grain == MC_GRAIN_GROUP || s->grain == MC_GRAIN_CHANNEL) && !m->parts[MC_PART_ZERO])
        return "weight_zero_point";
    return s->desc_act == MC_YES && !m->parts[MC_PART_INDEX] ? "weight_g_idx" : NULL;
}

static bool is_dtype(const mc_check *cx, const mc_tensor *t, const char *name)
{
    const mc_dtype *d = mc_kb_dtype(cx->kb, t->dtype);
    return d && mc_str_is(d->name, name);
}

enum { MOST_DTYPES = 64 };
/* scaled: types (by id) of weights that have scales in some module. */
typedef struct { mc_check *cx; const mc_quant_facts *f; bool scaled[MOST_DTYPES]; } companions;

/* Codes without any scale, declared as quantized, while other weights of that type have theirs. */
static const char *lacks_scale(const companions *c, const mc_scheme *s, const mc_module *m)
{
    const mc_tensor *w = m->parts[MC_PART_WEIGHT];
    bool             f8 = m->layout == MC_Q_RAW8 && !is_dtype(c->cx, w, "I8");
    if ((m->layout != MC_Q_RAW8 && !mc_quant_bare(c->cx, m)) || w->rank < 2)
        return NULL;
    if (c->f->bitsandbytes)
        return !f8 && w->rank == 2 && s->bits.known && s->bits.v == 8 ? "SCB" : NULL;
    if (w->dtype >= MOST_DTYPES || !c->scaled[w->dtype] || !s->bits.known || s->bits.v > 8 || (f8 && s->bits.v != 8))
        return NULL;
    return c->f->fp8 ? "weight_scale_inv or weight_scale" : "weight_scale";
}

/* A part that the declared scheme needs and the module lacks; NULL: none. */
static const char *lacks_declared(const companions *c, const mc_module *m)
{
    const mc_scheme *s = (m->layout != MC_Q_PLAIN || c->f->bare) && m->parts[MC_PART_WEIGHT] ? mc_quant_scheme(c->f, m) : NULL;
    const char      *what = s ? lacks_scale(c, s, m) : NULL;
    if (!s || what)
        return what;
    return c->f->compressed ? lacks_compressed(s, m) : lacks_gptq(s, m);
}

/* Zero points that the layout alone calls for may be left out by a declared format. */
static bool forgiven(const companions *c, const mc_module *m)
{
    static const char *const without[] = { "marlin", "gptq_p", "bitblas" };
    if (!m->parts[MC_PART_SCALE] || m->parts[MC_PART_ZERO])
        return false;
    return (m->layout == MC_Q_GPTQ && c->f->claim && format_in(&c->f->claim->base.format, without, MC_COUNT(without))) ||
           m->layout == MC_Q_AWQ || m->layout == MC_Q_AWQ_GEMV;
}

static mc_finding *tell_missing(mc_check *cx, const mc_hit *v, size_t n)
{
    mc_finding *f = n == 1 ? mc_report(cx, v->file, "%.*s has no %s: it cannot be decoded", MC_FMT(v->name), v->what)
                           : mc_report(cx, v->file, "%zu modules lack %s (first %.*s): they cannot be decoded", n, v->what, MC_FMT(v->name));
    const mc_quant_facts *facts = mc_quant_gather(cx);
    const mc_module      *m = facts ? mc_quant_of(facts, v) : NULL;
    if (m && m->parts[MC_PART_WEIGHT])
        mc_because(cx, f, "present", (mc_origin){ v->file, m->parts[MC_PART_WEIGHT]->name }, "%.*s", MC_FMT(m->parts[MC_PART_WEIGHT]->name));
    return f;
}

void mc_check_companion_missing(mc_check *cx)
{
    companions c = { .cx = cx, .f = mc_quant_gather(cx) };
    if (!c.f || !c.f->complete)
        return;
    const uint64_t asked = MC_LAYOUT_BIT(MC_Q_RAW8) | MC_LAYOUT_BIT(MC_Q_GPTQ) | MC_LAYOUT_BIT(MC_Q_AWQ) | MC_LAYOUT_BIT(MC_Q_CT_PACK);
    bool           declared = c.f->claim && ((c.f->layouts & asked) || c.f->bare);
    for (size_t i = 0; declared && ((c.f->layouts & MC_LAYOUT_BIT(MC_Q_RAW8)) || c.f->bare) && i < c.f->q->n_modules; i++) {
        const mc_tensor *w = c.f->q->modules[i].parts[MC_PART_WEIGHT];
        if (mc_module_packed(&c.f->q->modules[i]) && w && w->dtype < MOST_DTYPES)
            c.scaled[w->dtype] = true;
    }
    for (size_t i = 0; (declared || c.f->missing) && i < c.f->q->n_modules; i++) {
        const mc_module *m = &c.f->q->modules[i];
        const char      *what = m->missing.what && !forgiven(&c, m) ? m->missing.what : c.f->claim ? lacks_declared(&c, m) : NULL;
        if (what && !mc_quant_turned(m) && m->component == c.f->component)
            mc_hit_add(cx, tell_missing, mc_quant_hit(c.f, m, file_of(m), what, 0, 0));
    }
}

/* ---- MC421 ---- */

/* Rows and columns that block scales of a matrix must have, against those of the stored scale. */
bool mc_quant_blocks_differ(const mc_scheme *s, const mc_module *m, uint64_t want[2])
{
    const mc_tensor *w = m->parts[MC_PART_WEIGHT], *scale = m->parts[MC_PART_SCALE];
    if (m->layout != MC_Q_FP8 || !scale || scale->elements == 1 || scale->rank < 2 || w->rank < 2 || w->rank != scale->rank)
        return false;
    if (!s->block_rows.known || !s->block_cols.known || s->block_rows.v <= 0 || s->block_cols.v <= 0)
        return false;
    const uint64_t *dims = &w->dims[w->rank - 2], *have = &scale->dims[scale->rank - 2], block[2] = { (uint64_t)s->block_rows.v, (uint64_t)s->block_cols.v };
    for (size_t i = 0; i < 2; i++)
        want[i] = dims[i] / block[i] + (dims[i] % block[i] != 0);
    return have[0] != want[0] || have[1] != want[1];
}

/* NVFP4 has groups of 16; groups of 32 are those of a scheme that says so. */
static bool wide_nvfp4(const mc_scheme *s, const mc_module *m)
{
    return m->layout == MC_Q_NVFP4 && m->group == 32 && s->group.known && s->group.v == 16;
}

static const char block_scales[] = "block scales";
static const char nvfp4_groups[] = "groups";

static mc_finding *tell_shape(mc_check *cx, const mc_hit *v, size_t n)
{
    const mc_quant_facts *facts = mc_quant_gather(cx);
    const mc_module      *m = facts ? mc_quant_of(facts, v) : NULL;
    const mc_tensor      *scale = m ? m->parts[MC_PART_SCALE] : NULL;
    mc_str                shape = scale ? mc_shape_text(cx->arena, scale) : MC_STR("?");
    mc_str                of = m && m->shape.tensor && v->what == m->shape.what ? m->shape.tensor->name : v->name;
    mc_str                first = n == 1 ? of : mc_format(cx->arena, "%zu modules are inconsistent: %.*s", n, MC_FMT(of));
    unsigned long long    a = v->a, b = v->b;
    mc_finding           *f;
    if (v->what == block_scales)
        f = mc_report(cx, v->file, "%.*s needs block scales [%llu, %llu], stored are %.*s", MC_FMT(first), a, b, MC_FMT(shape));
    else if (v->what == nvfp4_groups)
        f = mc_report(cx, v->file, "%.*s has groups of %llu, NVFP4 has groups of %llu", MC_FMT(first), a, b);
    else if (a || b)
        f = mc_report(cx, v->file, "%.*s %s (%llu needed, %llu stored)", MC_FMT(first), v->what, a, b);
    else
        f = mc_report(cx, v->file, "%.*s %s", MC_FMT(first), v->what);
    for (size_t i = 0; m && i < MC_N_PARTS; i++)
        if (m->parts[i] && i != MC_PART_BIAS && i != MC_PART_INPUT)
            mc_because(cx, f, "stored", (mc_origin){ m->parts[i]->file, m->parts[i]->name }, "%.*s", MC_FMT(mc_shape_text(cx->arena, m->parts[i])));
    return f;
}

/* Stored in a 4 or 6-bit type of the container: no writer of such models is known, nor what its scales must be. */
static bool narrow(const mc_check *cx, const mc_module *m)
{
    const mc_dtype *d = m->parts[MC_PART_WEIGHT] ? mc_kb_dtype(cx->kb, m->parts[MC_PART_WEIGHT]->dtype) : NULL;
    return d && d->block == 1 && d->block_bits < 8;
}

void mc_check_companion_shape(mc_check *cx)
{
    const mc_quant_facts *f = mc_quant_gather(cx);
    bool                  sized = f && (f->fp8 || f->compressed || mc_quant_method(f, "auto-round"));
    bool                  asked = f && (f->shape || (f->layouts & MC_LAYOUT_BIT(MC_Q_NVFP4)) || (sized && (f->layouts & MC_LAYOUT_BIT(MC_Q_FP8))));
    for (size_t i = 0; asked && i < f->q->n_modules; i++) {
        const mc_module *m = &f->q->modules[i];
        uint64_t         want[2];
        if (!mc_module_packed(m) || mc_quant_turned(m) || narrow(cx, m))
            continue;
        const mc_scheme *s = mc_quant_scheme(f, m);
        if (m->shape.what)
            mc_hit_add(cx, tell_shape, mc_quant_hit(f, m, file_of(m), m->shape.what, m->shape.a, m->shape.b));
        else if (s && sized && mc_quant_blocks_differ(s, m, want))
            mc_hit_add(cx, tell_shape, mc_quant_hit(f, m, file_of(m), block_scales, want[0], want[1]));
        else if (s && wide_nvfp4(s, m))
            mc_hit_add(cx, tell_shape, mc_quant_hit(f, m, file_of(m), nvfp4_groups, m->group, 16));
    }
}
