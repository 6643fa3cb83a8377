/* Quantization in reports: the words of the header, the JSON object, the mix by module class as bars, modules one by one. */
#include "model/quant.h"
#include "report/report.h"

#include <inttypes.h>

/* ---- words ---- */

static bool stated(mc_text t)
{
    return t.known && t.v.n;
}

/* "block 128x128", "g128", "channel": how far one scale reaches. */
static void put_grain(mc_out *o, mc_grain grain, uint64_t group, const uint64_t block[2])
{
    const char *name = mc_grain_name(grain);
    if (grain == MC_GRAIN_BLOCK && block[0] && block[1])
        mc_putf(o, " block %" PRIu64 "x%" PRIu64, block[0], block[1]);
    else if (grain == MC_GRAIN_GROUP && group)
        mc_putf(o, " g%" PRIu64, group);
    else if (name)
        mc_putf(o, " per %s", name);
}

bool mc_text_scheme(mc_out *o, const char *before, const mc_model *m)
{
    const mc_quant *q = m->quant;
    if (mc_gguf_label(m)) {
        mc_put(o, before);
        mc_put(o, mc_gguf_label(m));
        return true;
    }
    if (!q || !stated(q->method) || m->format == MC_FMT_GGUF)
        return false;
    mc_put(o, before);
    mc_put_text(o, q->method.v);
    if (stated(q->format) && !mc_str_eq(q->format.v, q->method.v)) {
        mc_put(o, " ");
        mc_put_text(o, q->format.v);
    }
    if (q->bits.known && q->bits.v > 0)
        mc_putf(o, " %" PRId64 "-bit", q->bits.v);
    put_grain(o, q->grain, q->group.known && q->group.v > 0 ? (uint64_t)q->group.v : 0, q->block);
    return true;
}

/* ---- JSON ---- */

/* "config.json#/quantization_config" */
static mc_str claimed_by(const mc_model *m, mc_arena *a)
{
    const mc_quant *q = m->quant;
    if (m->format == MC_FMT_GGUF)
        return mc_str_of(mc_gguf_label(m) ? "general.file_type" : NULL);
    if (!q || q->declared >= q->n_claims)
        return MC_STR("");
    const mc_claim *c = &q->claims[q->declared];
    mc_str          file = mc_file_path(m, c->file);
    return c->at.n ? mc_format(a, "%.*s#%.*s", MC_FMT(file), MC_FMT(c->at)) : file;
}

static bool linear_bits(const mc_model *m, const mc_mix *mix, double *out)
{
    double whole;
    if (m->quant && m->quant->linear_known) {
        *out = m->quant->linear_bpw;
        return true;
    }
    if (mix->n != 1 || !mix->rows[0].elements || !mc_bits_per_weight(m, &whole))
        return false;
    *out = 8.0 * (double)mix->rows[0].bytes / (double)mix->rows[0].elements; /* one dtype: no need to look at any of them */
    return true;
}

static void fixed(mc_out *o, const char *key, bool known, double v)
{
    if (known)
        mc_js_fixed(o, key, v);
    else
        mc_js_null(o, key);
}

static void grain_members(mc_out *o, mc_grain grain, bool group_known, uint64_t group, const uint64_t block[2], mc_tri symmetric)
{
    mc_js_known(o, "group_size", grain == MC_GRAIN_GROUP && group_known && group, group);
    mc_js_text(o, "granularity", mc_str_of(mc_grain_name(grain)));
    if (grain == MC_GRAIN_BLOCK && block[0] && block[1]) {
        mc_js_open(o, "block", '[', true);
        mc_js_u64(o, NULL, block[0]);
        mc_js_u64(o, NULL, block[1]);
        mc_js_close(o, ']');
    } else {
        mc_js_null(o, "block");
    }
    if (symmetric == MC_UNKNOWN)
        mc_js_null(o, "symmetric");
    else
        mc_js_bool(o, "symmetric", symmetric == MC_YES);
}

void mc_json_quantization(mc_out *o, const mc_model *m, const mc_mix *mix, mc_arena *a)
{
    static const mc_quant nothing = { .symmetric = MC_UNKNOWN, .declared = MC_NONE };
    const mc_quant *q = m->quant ? m->quant : &nothing;
    bool            gguf = m->format == MC_FMT_GGUF;
    const char     *label = mc_gguf_label(m);
    double          whole = 0, linear = 0;
    bool            known = mc_bits_per_weight(m, &whole), linear_known = linear_bits(m, mix, &linear);
    mc_js_open(o, "quantization", '{', true);
    mc_js_text(o, "method", gguf ? MC_STR("gguf") : stated(q->method) ? q->method.v : MC_STR(""));
    mc_js_text(o, "format", gguf && label ? mc_str_of(label) : stated(q->format) ? q->format.v : MC_STR(""));
    mc_js_known(o, "bits", q->bits.known && q->bits.v > 0, (uint64_t)q->bits.v);
    grain_members(o, q->grain, q->group.known && q->group.v > 0, (uint64_t)q->group.v, q->block, q->method.known || gguf ? q->symmetric : MC_UNKNOWN);
    fixed(o, "bits_per_weight", known, whole);
    fixed(o, "linear_bits_per_weight", linear_known, linear);
    mc_js_text(o, "claimed_by", claimed_by(m, a));
    mc_js_text(o, "seen", q->seen);
    mc_js_text(o, "label", label ? mc_str_of(label) : gguf ? MC_STR("") : mc_bits_label_of(m->given).text);
    mc_js_close(o, '}');
}

void mc_json_quant_mix(mc_out *o, const mc_model *m)
{
    const mc_quant *q = m->quant;
    mc_js_open(o, "mix", '[', false);
    for (int i = 0; q && i < MC_N_CLASSES; i++) {
        if (!q->by_class[i].modules)
            continue;
        mc_js_open(o, NULL, '{', true);
        mc_js_str(o, "class", mc_str_of(mc_class_name((mc_module_class)i)));
        mc_js_u64(o, "modules", q->by_class[i].modules);
        mc_js_u64(o, "quantized_modules", q->by_class[i].packed);
        mc_js_known(o, "parameters", q->by_class[i].known, q->by_class[i].parameters);
        mc_js_known(o, "quantized_parameters", q->by_class[i].known, q->by_class[i].packed_parameters);
        mc_js_u64(o, "bytes", q->by_class[i].bytes);
        mc_js_close(o, '}');
    }
    mc_js_close(o, ']');
}

void mc_json_modules(mc_out *o, const mc_model *m)
{
    mc_js_open(o, "modules", '[', false);
    for (size_t i = 0; m->quant && i < m->quant->n_modules; i++) {
        const mc_module *x = &m->quant->modules[i];
        mc_js_open(o, NULL, '{', true);
        mc_js_str(o, "name", x->name);
        mc_js_str(o, "class", mc_str_of(mc_class_name(x->cls)));
        mc_js_known(o, "layer", x->layer != MC_NONE, x->layer);
        mc_js_str(o, "layout", mc_str_of(mc_layout_name(x->layout)));
        fixed(o, "bits", x->bits > 0 && x->bits_certain, x->bits);
        grain_members(o, x->grain, x->group > 0, x->group, x->block, x->layout == MC_Q_PLAIN ? MC_UNKNOWN : x->symmetric);
        mc_js_known(o, "parameters", x->elements_known, x->elements);
        mc_js_u64(o, "bytes", x->bytes);
        mc_js_close(o, '}');
    }
    mc_js_close(o, ']');
}

/* ---- show ---- */

/* A bar of eighths. Block elements are in the fonts of every terminal that shows UTF-8. */
static void put_bar(mc_out *o, double share, unsigned width)
{
    static const char *const parts[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
    unsigned eighths = (unsigned)(share * width * 8 + 0.5), full = eighths / 8, used = full + (eighths % 8 != 0);
    if (share > 0 && eighths == 0)
        eighths = used = 1;
    for (unsigned i = 0; i < full; i++)
        mc_put(o, "█");
    mc_put(o, parts[eighths % 8]);
    for (unsigned i = used; i < width; i++)
        mc_put(o, "·");
}

/* What is left beside name and figures, between 10 and 40. */
static unsigned bar_width(unsigned columns)
{
    enum { OTHERS = 74 };
    if (columns == 0)
        columns = 100;
    return columns < OTHERS + 10 ? 10 : columns > OTHERS + 40 ? 40 : columns - OTHERS;
}

static void class_row(mc_out *o, const mc_quant *q, mc_module_class i, unsigned width)
{
    double params = (double)q->by_class[i].parameters, share = params > 0 ? (double)q->by_class[i].packed_parameters / params : 0;
    mc_putf(o, "  %-14s%-11s", "", mc_class_name(i));
    put_bar(o, share, width);
    mc_putf(o, " %3.0f %% of ", share > 0.99 && share < 1 ? 99.0 : share * 100);
    mc_put_number(o, q->by_class[i].parameters);
    mc_putf(o, ", %.2f bits per weight, ", params > 0 ? 8.0 * (double)q->by_class[i].bytes / params : 0.0);
    mc_put_size(o, q->by_class[i].bytes);
    mc_put(o, "\n");
}

void mc_text_quant_mix(mc_out *o, const mc_model *m, unsigned columns, mc_arena *a)
{
    static const mc_module_class order[] = { MC_CLS_ATTENTION, MC_CLS_MLP, MC_CLS_EXPERTS, MC_CLS_ROUTER, MC_CLS_EMBEDDING, MC_CLS_HEAD, MC_CLS_NORM,
                                             MC_CLS_VISION, MC_CLS_MTP, MC_CLS_OTHER };
    const mc_quant *q = m->quant;
    uint64_t        all = 0, packed = 0;
    if (!q || (q->n_packed == 0 && !stated(q->method)))
        return;
    mc_putf(o, "  %-14s", "quantization");
    if (!mc_text_scheme(o, "", m))
        mc_put(o, m->format == MC_FMT_GGUF ? "block types of GGUF" : "of no known method");
    mc_str by = claimed_by(m, a);
    if (by.n) {
        mc_put(o, ", claimed by ");
        mc_put_text(o, by);
    }
    mc_put(o, q->n_packed ? "\n" : "; no tensor is packed\n");
    for (size_t i = 0; q->n_packed && i < MC_N_CLASSES; i++)
        if (q->by_class[i].known && (ckd_add(&all, all, q->by_class[i].parameters) || ckd_add(&packed, packed, q->by_class[i].packed_parameters)))
            return;
    for (size_t i = 0; q->n_packed && i < MC_COUNT(order); i++)
        if (q->by_class[order[i]].known && q->by_class[order[i]].parameters)
            class_row(o, q, order[i], bar_width(columns));
    if (all)
        mc_putf(o, "  %-14s%.1f %% of the parameters are quantized\n", "", packed < all && packed > all / 1000 * 999 ? 99.9 : 100.0 * (double)packed / (double)all);
}

/* The packed ones; what is plain, the list of tensors says. */
void mc_text_modules(mc_out *o, const mc_model *m)
{
    for (size_t i = 0; m->quant && i < m->quant->n_modules; i++) {
        const mc_module *x = &m->quant->modules[i];
        if (x->layout == MC_Q_PLAIN)
            continue;
        mc_put(o, "  ");
        mc_put_text(o, x->name);
        mc_putf(o, "  %s", mc_layout_name(x->layout));
        if (x->bits > 0 && x->bits_certain)
            mc_putf(o, " %.4g-bit", x->bits);
        put_grain(o, x->grain, x->group, x->block);
        mc_put(o, "  ");
        mc_put_size(o, x->bytes);
        mc_put(o, "\n");
    }
}
