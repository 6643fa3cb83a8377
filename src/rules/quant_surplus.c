/* MC422: companions that nothing needs.
 *
 * A companion without a weight is looked for by forms: as many scales as weights of the same form are taken for pairs, so that a
 * set of 92,000 tensors costs some dozen look-ups. Only where the counts differ each companion is looked up. */
#include "rules/quant_rules.h"

#include <string.h>

static const char *const companions[] = { ".scales", ".qzeros", ".weight_scale", ".weight_scale_inv", ".weight_scale_2", ".weight_zero_point", ".g_idx", ".weight_g_idx" };
/* What a weight may be called in any scheme that has one of these companions. */
static const char *const weights[] = { ".weight", ".qweight", ".weight_packed", ".B", ".codes", ".indices", ".blocks", ".q_weight", ".W_q", ".dqweight", ".trellis", ".Qidxs",
                                       ".dense_weights", ".B_24", ".weight.compressed", ".weight._data", ".weight._data._data" };

typedef struct {
    mc_check             *cx;
    const mc_quant_facts *f;
    const mc_inventory   *inv;
} surplus;

static size_t suffix_of(mc_str name)
{
    for (size_t i = 0; i < MC_COUNT(companions); i++)
        if (mc_str_ends(name, companions[i]))
            return strlen(companions[i]);
    return 0;
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

static const mc_tensor *weight_of(const mc_inventory *inv, mc_str stem)
{
    for (size_t i = 0; i < MC_COUNT(weights); i++) {
        const mc_tensor *t = sibling(inv, stem, weights[i]);
        if (t)
            return t;
    }
    return NULL;
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

/* ---- companions without a weight ---- */

/* Marks forms whose companions and weights differ in number; true if there are any. */
static bool suspicious_forms(const surplus *s, bool *suspicious)
{
    bool any = false;
    for (size_t i = 0; i < s->inv->form_names.n; i++) {
        const mc_form *form = &s->inv->forms[i];
        size_t         n = suffix_of(form->first->name);
        if (!n)
            continue;
        const mc_tensor *w = weight_of(s->inv, mc_str_cut(form->first->name, 0, form->first->name.n - n));
        suspicious[i] = !w || s->inv->forms[w->form].n != form->n;
        any |= suspicious[i];
    }
    return any;
}

static void orphans(surplus *s)
{
    bool *suspicious = MC_NEW(s->cx->arena, bool, s->inv->form_names.n + 1);
    if (!suspicious || !suspicious_forms(s, suspicious))
        return;
    for (size_t i = 0; i < s->inv->names.n; i++) {
        const mc_tensor *t = s->inv->first[i];
        if (suspicious[t->form] && !weight_of(s->inv, mc_str_cut(t->name, 0, t->name.n - suffix_of(t->name))))
            add(s, t, MC_NONE, orphan);
    }
}

/* ---- companions of a kind that the scheme does not have ---- */

static bool in_list(mc_str s, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (mc_str_is(s, list[i]))
            return true;
    return false;
}

static void of_module(surplus *s, const mc_module *m, bool compressed)
{
    static const char *const modes[] = { "mxfp4", "mxfp8", "nvfp4" };
    const mc_scheme         *said = mc_quant_scheme(s->f, m);
    const mc_tensor         *zero = m->parts[MC_PART_ZERO], *index = m->parts[MC_PART_INDEX];
    uint32_t                 id = (uint32_t)(m - s->f->q->modules);
    if (!said)
        return;
    if (m->layout == MC_Q_MLX && zero && said->format.known && in_list(said->format.v, modes, MC_COUNT(modes)))
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
        if (mc_quant_packed(m) || m->component != s->f->component || !w || w->rank < 2 || !half(s->cx, w))
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
    bool compressed = mc_quant_method(s.f, "compressed-tensors");
    for (size_t i = 0; s.f->claim && i < s.f->q->n_modules; i++)
        if (mc_quant_packed(&s.f->q->modules[i]))
            of_module(&s, &s.f->q->modules[i], compressed);
    orphans(&s);
    scales_of_plain(&s);
}
