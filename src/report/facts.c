/* Figures that more than one reporter prints, and the words for enumerators. */
#include "model/quant.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

/* ---- dtypes and files of the read set --------------------------------------------------------------------- */

static bool parsed(const mc_file *f)
{
    return f->in_read_set && (f->st || f->gguf);
}

bool mc_tensors_known(const mc_model *m)
{
    for (size_t i = 0; i < m->n_files; i++)
        if (parsed(&m->files[i]))
            return true;
    return false;
}

size_t mc_read_files(const mc_model *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_files; i++)
        n += m->files[i].in_read_set;
    return n;
}

static int by_bytes(const void *a, const void *b)
{
    const mc_mix_row *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return mc_str_cmp(x->dtype, y->dtype);
}

static void add_saturated(uint64_t *sum, uint64_t v)
{
    if (ckd_add(sum, *sum, v))
        *sum = UINT64_MAX;
}

mc_mix mc_dtype_mix(const mc_run_result *run, const mc_model *m, mc_arena *a)
{
    size_t      n = run->kb.n_dtypes + 1; /* the last row: dtypes of no known name */
    mc_mix_row *rows = MC_NEW(a, mc_mix_row, n);
    mc_mix      mix = { rows, 0 };
    if (!rows)
        return mix;
    for (size_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        for (size_t k = 0; parsed(f) && k < f->n_tensors; k++) {
            const mc_tensor *t = &f->tensors[k];
            mc_mix_row      *row = &rows[t->dtype < n - 1 ? t->dtype : n - 1];
            row->tensors++;
            add_saturated(&row->elements, t->elements);
            add_saturated(&row->bytes, t->end > t->begin ? t->end - t->begin : 0);
        }
    }
    for (size_t i = 0; i < n; i++) {
        const mc_dtype *d = mc_kb_dtype(&run->kb, i < n - 1 ? (uint16_t)i : MC_DTYPE_UNKNOWN);
        if (rows[i].tensors) {
            rows[mix.n] = rows[i];
            rows[mix.n++].dtype = d ? d->name : MC_STR("unknown");
        }
    }
    qsort(rows, mix.n, sizeof *rows, by_bytes);
    return mix;
}

const char *mc_format_name(const mc_model *m)
{
    if (m->mixed)
        return "mixed";
    switch (m->format) {
    case MC_FMT_NONE: return NULL;
    case MC_FMT_SAFETENSORS: case MC_FMT_GGUF: case MC_FMT_TORCH: return mc_container_name(m->format);
    case MC_FMT_ONNX: case MC_FMT_TFLITE: case MC_FMT_HDF5: case MC_FMT_TF: case MC_FMT_FLAX: case MC_FMT_NPZ: case MC_FMT_GGML:
    case MC_FMT_CTRANSLATE2: case MC_FMT_OPENVINO: case MC_FMT_COREML: case MC_FMT_TENSORRT: case MC_FMT_TORCH_DCP: case MC_FMT_OTHER:
    default: return "other";
    }
}

/* ---- numbers ---------------------------------------------------------------------------------------------- */

bool mc_bits_per_weight(const mc_model *m, double *out)
{
    if (!m->parameters.known || m->parameters.v <= 0 || !m->weights_bytes.known)
        return false;
    *out = 8.0 * (double)m->weights_bytes.v / (double)m->parameters.v;
    return true;
}

/* enum llama_ftype of llama.cpp's include/llama.h; removed formats have no name. */
const char *mc_gguf_label(const mc_model *m)
{
    static const char *const labels[] = {
        [0] = "F32", [1] = "F16", [2] = "Q4_0", [3] = "Q4_1", [7] = "Q8_0", [8] = "Q5_0", [9] = "Q5_1", [10] = "Q2_K", [11] = "Q3_K_S",
        [12] = "Q3_K_M", [13] = "Q3_K_L", [14] = "Q4_K_S", [15] = "Q4_K_M", [16] = "Q5_K_S", [17] = "Q5_K_M", [18] = "Q6_K",
        [19] = "IQ2_XXS", [20] = "IQ2_XS", [21] = "Q2_K_S", [22] = "IQ3_XS", [23] = "IQ3_XXS", [24] = "IQ1_S", [25] = "IQ4_NL",
        [26] = "IQ3_S", [27] = "IQ3_M", [28] = "IQ2_S", [29] = "IQ2_M", [30] = "IQ4_XS", [31] = "IQ1_M", [32] = "BF16", [36] = "TQ1_0",
        [37] = "TQ2_0", [38] = "MXFP4_MOE", [39] = "NVFP4", [40] = "Q1_0", [41] = "Q2_0",
    };
    uint64_t type;
    if (!mc_gguf_uint(mc_gguf_get(m->gguf, "general.file_type"), &type) || type >= MC_COUNT(labels))
        return NULL;
    return labels[type];
}

static bool names_experts(const mc_model *m)
{
    for (size_t i = 0; i < m->n_files; i++)
        for (size_t k = 0; m->files[i].in_read_set && k < m->files[i].n_tensors; k++)
            if (mc_str_contains(m->files[i].tensors[k].name, "expert") || mc_str_contains(m->files[i].tensors[k].name, "_exps"))
                return true;
    return false;
}

/* A dense model uses all of its parameters for each token; what a mixture of experts uses, its modules tell. */
uint64_t mc_active_parameters(const mc_model *m, bool *known)
{
    if (m->quant && m->quant->active.known && m->quant->active.v >= 0) {
        *known = true;
        return (uint64_t)m->quant->active.v;
    }
    *known = m->parameters.known && m->parameters.v >= 0 && !(m->arch.experts.known && m->arch.experts.v > 0) && !names_experts(m);
    return *known ? (uint64_t)m->parameters.v : 0;
}

static mc_str newer(mc_arena *a, const char *file, mc_str best)
{
    mc_json json = mc_json_of(mc_embedded_find(file));
    mc_str  key, date;
    bool    escaped;
    if (!mc_json_lit(&json, '{'))
        return best;
    for (bool first = true; mc_json_member(&json, &first, &key, &escaped);) {
        if (!mc_str_is(key, "date")) {
            if (!mc_json_skip(&json))
                return best;
            continue;
        }
        if (!mc_json_str(&json, &date, &escaped))
            return best;
        return mc_str_cmp(date, best) > 0 ? mc_str_copy(a, date) : best;
    }
    return best;
}

mc_str mc_rules_date(mc_arena *a)
{
    return newer(a, "dtypes.json", newer(a, "ggml-types.json", MC_STR("")));
}

mc_question mc_question_of(mc_run_result *run, const mc_result *r)
{
    return (mc_question){ .m = r->model, .kb = &run->kb, .ask = run->rules.ask, .floor = &r->floor, .vram = run->rules.vram };
}

/* ---- coverage --------------------------------------------------------------------------------------------- */

const char *mc_not_evaluated(const mc_model *m, const mc_file *f, mc_arena *a)
{
    (void)m;
    if (f->os_error)
        return mc_format(a, "%s: %s", f->os_what ? f->os_what : "cannot read", strerror(f->os_error)).p;
    if (f->link == MC_LINK_OUTSIDE)
        return "link leaves the directory; --follow-links reads it";
    if (f->limit)
        return mc_format(a, "limit reached: %s", f->parse.what ? f->parse.what : "size").p;
    if (!f->in_read_set || f->st || f->gguf)
        return NULL;
    if (f->parse.code != MC_OK)
        return mc_format(a, "not understood: %s", f->parse.what ? f->parse.what : "damaged").p;
    return mc_format(a, "holds %s, which is not read as weights", mc_bytes_name(f->bytes)).p;
}

const char *mc_needs_option(const mc_rule *r, const mc_rule_options *o)
{
    static const struct { const char *code, *option; } options[] = {
        { "MC709", "--vram" }, { "MC806", "--hash" }, { "MC904", "--require-weights" },
    };
    if (r->mode == MC_MODE_DEFAULT)
        return NULL;
    if (r->mode == MC_MODE_TARGET)
        return o->target ? NULL : "--target";
    if (r->mode == MC_MODE_DEEP)
        return "--deep";
    for (size_t i = 0; i < MC_COUNT(options); i++)
        if (strcmp(options[i].code, r->code) == 0) {
            bool given = (i == 0 && o->vram) || (i == 2 && o->require_weights);
            return given ? NULL : options[i].option;
        }
    return NULL;
}

mc_totals mc_count_findings(const mc_run_result *run)
{
    mc_totals t = { 0 };
    for (size_t i = 0; i < run->n_results; i++)
        for (size_t k = 0; k < run->results[i].findings.n; k++) {
            const mc_finding *f = &run->results[i].findings.v[k];
            if (f->silenced_by)
                t.suppressed++;
            else if (f->severity == MC_ERROR)
                t.errors++;
            else if (f->severity == MC_WARNING)
                t.warnings++;
            else
                t.infos++;
        }
    return t;
}

const char *mc_severity_name(mc_severity s)
{
    static const char *const names[] = { [MC_INFO] = "info", [MC_WARNING] = "warning", [MC_ERROR] = "error" };
    return names[s];
}

const char *mc_certainty_name(mc_certainty c)
{
    return c == MC_CERTAIN ? "certain" : "likely";
}
