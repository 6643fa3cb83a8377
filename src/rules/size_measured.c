/* MC508: what the bytes come to for each parameter, beside what a name or a declaration leads one to expect.
 *
 * Never more than information: legal 4-bit checkpoints measure from 4.13 bits (all linear layers, double quantization) to
 * 15.7 (a mixture of experts whose experts were not matched). Containers whose tensors are not read are measured by the
 * parameters that the configuration implies. */
#include "model/quant.h"
#include "rules/gguf.h"
#include "rules/size.h"

typedef struct {
    mc_str   label;             /* "W4A16" */
    mc_str   says;              /* "the directory name", "config.json" */
    mc_origin from;
    double   nominal;           /* bits per parameter that it stands for */
    double   bits;              /* measured */
    uint64_t bytes, parameters;
    bool     implied;           /* parameters are those of the configuration */
} measure;

/* ---- what is expected ---- */

/* An unindexed file's name; those of shards repeat the directory's. */
static bool file_label(const mc_model *m, measure *x)
{
    for (uint32_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        mc_bits_label  l = f->in_read_set && f->role == MC_ROLE_WEIGHTS ? mc_bits_label_of(f->base) : (mc_bits_label){ 0 };
        if (l.bits <= 0)
            continue;
        *x = (measure){ .label = l.text, .nominal = l.bits, .says = MC_STR("the file name"), .from = { i, MC_STR("file name") } };
        return true;
    }
    return false;
}

static bool gguf_label(mc_check *cx, measure *x)
{
    const mc_model *m = cx->model;
    char            buf[32];
    mc_str          label;
    const char     *type = mc_gguf_label_type(m->files[m->gguf_file].base, buf, sizeof buf, &label);
    for (size_t i = cx->kb->n_st_dtypes; type && i < cx->kb->n_dtypes; i++) {
        const mc_dtype *d = &cx->kb->dtypes[i];
        if (d->foreign || !mc_str_is(d->name, type))
            continue;
        *x = (measure){ .label = mc_str_copy(cx->arena, label), .nominal = (double)d->block_bits / d->block, .says = MC_STR("the file name"),
                        .from = { m->gguf_file, MC_STR("file name") } };
        return true;
    }
    return false;
}

static bool declared_bits(mc_check *cx, measure *x)
{
    const mc_quant *q = cx->model->quant;
    if (!q || q->declared >= q->n_claims)
        return false;
    const mc_claim *c = &q->claims[q->declared];
    int64_t         bits = c->n_overrides && q->bits.known ? q->bits.v : c->base.bits.known ? c->base.bits.v : 0; /* of several widths the one of most parameters */
    if (bits < 1 || bits > 8 || c->base.quantized == MC_NO)
        return false;
    *x = (measure){ .label = mc_format(cx->arena, "%lld bits", (long long)bits), .nominal = (double)bits, .says = mc_file_path(cx->model, c->file),
                    .from = c->base.bits.known ? c->base.bits.from : (mc_origin){ c->file, c->at } };
    return true;
}

/* Nothing said: weights that nobody quantized have the width of the declared type. Asked only where no tensor is read. */
static bool dtype_bits(const mc_model *m, measure *x)
{
    static const struct { const char *name; double bits; } types[] = { { "float16", 16 }, { "bfloat16", 16 }, { "float32", 32 } };
    for (size_t i = 0; m->arch.dtype.known && i < MC_COUNT(types); i++)
        if (mc_str_is(m->arch.dtype.v, types[i].name) && m->format == MC_FMT_TORCH && !mc_size_quantized(m)) {
            *x = (measure){ .label = m->arch.dtype.v, .nominal = types[i].bits, .says = mc_file_path(m, m->arch.dtype.from.file), .from = m->arch.dtype.from };
            return true;
        }
    return false;
}

static bool expectation(mc_check *cx, measure *x)
{
    const mc_model *m = cx->model;
    if (m->unit == MC_UNIT_GGUF)
        return m->gguf && mc_gguf_set_complete(m) && gguf_label(cx, x);
    mc_bits_label l = m->unit == MC_UNIT_DIR ? mc_bits_label_of(m->given) : (mc_bits_label){ 0 };
    if (l.bits > 0) {
        *x = (measure){ .label = l.text, .nominal = l.bits, .says = MC_STR("the name of the directory"), .from = { MC_NONE, MC_STR("directory name") } };
        return true;
    }
    return file_label(m, x) || declared_bits(cx, x) || dtype_bits(m, x);
}

/* ---- what is there ---- */

/* Bytes of a read set of torch files. A cut set is no measure. */
static bool torch_bytes(const mc_model *m, uint64_t *bytes)
{
    uint32_t set = m->n_components ? m->components[0].set : MC_NONE;
    *bytes = 0;
    if (m->format != MC_FMT_TORCH || m->mixed || set >= m->n_sets || !m->sets[set].complete)
        return false;
    for (size_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        if (f->in_read_set && (f->os_error || f->bytes == MC_BYTES_LFS_POINTER || ckd_add(bytes, *bytes, f->torch_known ? f->torch_bytes : f->size)))
            return false;
    }
    return *bytes > 0;
}

static bool weigh(const mc_model *m, measure *x)
{
    x->implied = !m->parameters.known;
    if (!x->implied && m->weights_bytes.known && m->parameters.v > 0) {
        x->bytes = (uint64_t)m->weights_bytes.v;
        x->parameters = (uint64_t)m->parameters.v;
    } else if (x->implied && m->expected.known && torch_bytes(m, &x->bytes)) {
        x->parameters = (uint64_t)m->expected.v;
    } else {
        return false;
    }
    x->bits = 8.0 * (double)x->bytes / (double)x->parameters;
    return true;
}

/* ---- why they differ ---- */

typedef struct { mc_module_class cls; double share; bool known; } cause;

/* The class of modules with most bytes beyond (or below) what the label would give it. */
static cause main_cause(const mc_quant *q, const measure *x)
{
    cause  best = { MC_CLS_OTHER, 0, false };
    double sum = 0, most = 0, sign = x->bits > x->nominal ? 1 : -1;
    for (int i = 0; q && i < MC_N_CLASSES; i++) {
        double excess = sign * ((double)q->by_class[i].bytes - (double)q->by_class[i].parameters * x->nominal / 8);
        if (!q->by_class[i].known || !q->by_class[i].parameters || excess <= 0)
            continue;
        sum += excess;
        if (excess > most) {
            most = excess;
            best = (cause){ (mc_module_class)i, 0, true };
        }
    }
    best.share = sum > 0 ? 100 * most / sum : 0;
    return best;
}

static void breakdown(mc_check *cx, mc_finding *out)
{
    const mc_quant *q = cx->model->quant;
    for (int i = 0; q && i < MC_N_CLASSES; i++) {
        if (!q->by_class[i].known || !q->by_class[i].parameters || q->by_class[i].bytes * 50 < (uint64_t)cx->model->weights_bytes.v)
            continue; /* under 2 % */
        mc_because(cx, out, mc_class_name((mc_module_class)i), mc_origin_at(MC_NONE, ""), "%.4g bits per parameter, %.*s",
                   8.0 * (double)q->by_class[i].bytes / (double)q->by_class[i].parameters, MC_FMT(mc_size_text(cx->arena, q->by_class[i].bytes)));
    }
}

static mc_finding *say_label(mc_check *cx, const measure *x)
{
    cause  c = x->implied ? (cause){ 0 } : main_cause(cx->model->quant, x);
    mc_str why = MC_STR("");
    if (c.known)
        why = mc_format(cx->arena, "; %s explain%s %.0f %% of the difference", mc_class_name(c.cls), mc_str_ends(mc_str_of(mc_class_name(c.cls)), "s") ? "" : "s", c.share);
    mc_finding *out = mc_report(cx, MC_NONE, "%.*s %s %.*s, measured are %.2f bits per parameter (%.*s for %.*s%s)%.*s", MC_FMT(x->says),
                                mc_str_ends(x->label, "bits") ? "declares" : "says", MC_FMT(x->label), x->bits, MC_FMT(mc_size_text(cx->arena, x->bytes)),
                                MC_FMT(mc_size_count_text(cx->arena, x->parameters)), x->implied ? " that the configuration implies" : "", MC_FMT(why));
    mc_because(cx, out, "label", x->from, "%.*s", MC_FMT(x->label));
    breakdown(cx, out);
    return out;
}

/* metadata.total_parameters of the index that rules. */
static void say_total(mc_check *cx, mc_finding *out)
{
    const mc_model *m = cx->model;
    uint32_t        id = m->n_components ? m->components[0].index : MC_NONE;
    if (id >= m->n_indexes || !m->indexes[id].total_parameters.known || !m->parameters.known || !m->stored_elements.known)
        return;
    const mc_int *total = &m->indexes[id].total_parameters;
    if (total->v == m->parameters.v || total->v == m->stored_elements.v)
        return;
    if (!out)
        out = mc_report(cx, MC_NONE, "the index counts %lld parameters, stored are %lld (%lld elements with scales and buffers)", (long long)total->v,
                        (long long)m->parameters.v, (long long)m->stored_elements.v);
    mc_because(cx, out, "total_parameters", total->from, "%lld, stored %lld", (long long)total->v, (long long)m->parameters.v);
}

void mc_check_measured_bits(mc_check *cx)
{
    static const mc_kind not_judged[] = { MC_KIND_ADAPTER, MC_KIND_PROJECTOR, MC_KIND_VOCAB, MC_KIND_IMATRIX, MC_KIND_STATIC_EMBEDDING, MC_KIND_NONE };
    const mc_model *m = cx->model;
    measure         x;
    mc_finding     *out = NULL;
    for (size_t i = 0; i < MC_COUNT(not_judged); i++)
        if (m->kind == not_judged[i])
            return;
    if (expectation(cx, &x) && weigh(m, &x) && (x.bits > 1.25 * x.nominal || x.bits < 0.95 * x.nominal))
        out = say_label(cx, &x);
    say_total(cx, out);
}
