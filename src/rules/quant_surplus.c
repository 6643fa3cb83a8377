/* MC422: companions that nothing needs. Those without a weight were found while the modules were built. */
#include "rules/quant_rules.h"

#include <string.h>

static const char *const companions[] = { ".scales", ".qzeros", ".weight_scale", ".weight_scale_inv", ".weight_scale_2", ".weight_zero_point", ".g_idx", ".weight_g_idx", NULL };

typedef struct {
    mc_check             *cx;
    const mc_quant_facts *f;
    const mc_inventory   *inv;
} surplus;

static bool companion(mc_str name)
{
    return mc_str_ends_any(name, companions);
}

/* The tensor of that name with another end. */
static const mc_tensor *sibling(const mc_inventory *inv, mc_str stem, const char *end)
{
    char   name[512];
    size_t n = strlen(end);
    if (stem.n + n > sizeof name)
        return NULL;
    memcpy(name, stem.p, stem.n);
    memcpy(name + stem.n, end, n);
    return mc_inventory_find(inv, (mc_str){ name, stem.n + n });
}

static const char orphan[] = "without a weight", mlx_biases[] = "biases", zero_point[] = "zero point", group_index[] = "group index", plain_scale[] = "scale of a plain weight";

static mc_finding *tell(mc_check *cx, const mc_hit *v, size_t n)
{
    mc_str first = n == 1 ? v->name : mc_format(cx->arena, "%zu tensors have no use here: %.*s", n, MC_FMT(v->name));
    if (v->what == orphan)
        return mc_report(cx, v->file, "%.*s belongs to no weight", MC_FMT(first));
    if (v->what == mlx_biases)
        return mc_report(cx, v->file, "%.*s: the declared mode has no biases", MC_FMT(first));
    if (v->what == zero_point)
        return mc_report(cx, v->file, "%.*s: the declared scheme is symmetric", MC_FMT(first));
    if (v->what == group_index)
        return mc_report(cx, v->file, "%.*s: the declared scheme has no actorder group", MC_FMT(first));
    return mc_report(cx, v->file, "%.*s lies beside a 16-bit weight", MC_FMT(first));
}

static void add(surplus *s, const mc_tensor *t, uint32_t module, const char *what)
{
    mc_hit_add(s->cx, tell, (mc_hit){ .file = t->file, .module = module, .name = t->name, .what = what });
}

/* ---- companions of a kind that the scheme does not have ---- */

static void of_module(surplus *s, const mc_module *m, bool compressed)
{
    static const char *const modes[] = { "mxfp4", "mxfp8", "nvfp4", NULL };
    const mc_scheme         *said = mc_quant_scheme(s->f, m);
    const mc_tensor         *zero = m->parts[MC_PART_ZERO], *index = m->parts[MC_PART_INDEX];
    uint32_t                 id = (uint32_t)(m - s->f->q->modules);
    if (!said)
        return;
    if (m->layout == MC_Q_MLX && zero && said->format.known && mc_str_is_any(said->format.v, modes))
        add(s, zero, id, mlx_biases);
    if (compressed && zero && said->symmetric == MC_YES)
        add(s, zero, id, zero_point);
    if (compressed && index && said->desc_act != MC_YES)
        add(s, index, id, group_index);
}

static bool half(const mc_check *cx, const mc_tensor *t)
{
    const mc_dtype *d = mc_kb_dtype(cx->kb, t->dtype);
    return d && mc_dtype_is_float(d, 16);
}

/* weight_scale_inv beside F16 or BF16: the scale of FP8 that is no longer there, or was never made. */
static void scales_of_plain(surplus *s)
{
    bool any = false;
    for (size_t i = 0; i < s->inv->form_names.n && !any; i++)
        any = mc_str_ends(s->inv->forms[i].first->name, ".weight_scale_inv");
    for (size_t i = 0; any && i < s->f->q->n_modules; i++) {
        const mc_module *m = &s->f->q->modules[i];
        const mc_tensor *w = m->parts[MC_PART_WEIGHT];
        if (mc_module_packed(m) || m->component != s->f->component || !w || w->rank < 2 || !half(s->cx, w))
            continue;
        const mc_tensor *scale = sibling(s->inv, w->name, "_scale_inv");
        if (scale)
            add(s, scale, (uint32_t)i, plain_scale);
    }
}

void mc_check_companion_surplus(mc_check *cx)
{
    surplus s = { .cx = cx, .f = mc_quant_gather(cx) };
    if (!s.f || !s.f->complete)
        return;
    s.inv = &cx->model->components[s.f->component].inv;
    bool compressed = s.f->compressed;
    for (size_t i = 0; s.f->claim && (s.f->zero || s.f->index) && i < s.f->q->n_modules; i++)
        if (mc_module_packed(&s.f->q->modules[i]) && (s.f->q->modules[i].parts[MC_PART_ZERO] || s.f->q->modules[i].parts[MC_PART_INDEX]))
            of_module(&s, &s.f->q->modules[i], compressed);
    for (size_t i = 0; i < s.f->q->n_orphans; i++)
        if (companion(s.f->q->orphans[i]->name))
            add(&s, s.f->q->orphans[i], MC_NONE, orphan);
    scales_of_plain(&s);
}
