/* MC111, MC112: more than one copy of the weights in a directory. Legal and common; worth knowing, and worth a warning when
 * the copies are not the same model. */
#include "rules/files.h"

#include <string.h>

typedef unsigned long long ull;

/* ---- which sets there are ---- */

static bool set_has_content(const mc_model *m, const mc_set *s)
{
    for (size_t i = 0; i < s->n_files; i++)
        if (!mc_file_has_content(&m->files[s->files[i]]))
            return false;
    return s->n_files > 0;
}

/* A whole copy of weights: no adapter, and nothing that needs a second set to be a model. */
static bool whole_set(const mc_model *m, const mc_set *s)
{
    if (!s->complete || s->container == MC_FMT_NONE || s->container == MC_FMT_TORCH_DCP || !set_has_content(m, s))
        return false;
    return !mc_str_starts(s->stem, "adapter_model") && !mc_str_contains_nocase(s->stem, "mmproj") && !mc_str_contains(s->stem, "lora") &&
           !mc_str_contains(s->stem, "imatrix");
}

/* "pytorch_model-*-of-00002.bin": matches the files of the set and nothing else. */
static mc_str pattern(mc_check *cx, const mc_set *s)
{
    const mc_model     *m = cx->model;
    const mc_component *c = &m->components[s->component];
    const mc_file      *f = &m->files[s->files[0]];
    if (c->kind == MC_COMP_COPY)
        return mc_format(cx->arena, "%.*s*", MC_FMT(c->dir));
    size_t of = 0;
    while (of < f->base.n && !mc_str_starts(mc_str_cut(f->base, of, f->base.n), "-of-"))
        of++;
    if (s->n_files == 1 || of == f->base.n)
        return f->path;
    size_t from = of;
    while (from > 0 && f->base.p[from - 1] >= '0' && f->base.p[from - 1] <= '9')
        from--;
    mc_str dir = mc_str_dir(f->path), head = mc_str_cut(f->base, 0, from), tail = mc_str_cut(f->base, of, f->base.n);
    return mc_format(cx->arena, "%.*s%.*s*%.*s", MC_FMT(dir), MC_FMT(head), MC_FMT(tail));
}

/* Who opens a set that is not the read set. */
static const char *readers(const mc_model *m, const mc_set *s)
{
    static const struct { mc_container c; const char *who; } by[] = {
        { MC_FMT_GGUF, "llama.cpp, Ollama and LM Studio" }, { MC_FMT_ONNX, "ONNX Runtime and Transformers.js" },
        { MC_FMT_HDF5, "TensorFlow (Transformers 4 and earlier)" }, { MC_FMT_TF, "TensorFlow" }, { MC_FMT_FLAX, "Flax (Transformers 4 and earlier)" },
        { MC_FMT_OPENVINO, "OpenVINO" }, { MC_FMT_COREML, "Core ML" }, { MC_FMT_TFLITE, "LiteRT" }, { MC_FMT_TENSORRT, "TensorRT" },
        { MC_FMT_NPZ, "older MLX" }, { MC_FMT_GGML, "llama.cpp before GGUF" }, { MC_FMT_CTRANSLATE2, "CTranslate2" },
    };
    const char *dir = m->components[s->component].dir.n ? m->components[s->component].dir.p : "";
    if (s->read)
        return "Transformers, vLLM, SGLang, MLX";
    for (size_t i = 0; i < MC_COUNT(by); i++)
        if (s->container == by[i].c)
            return by[i].who;
    if (m->components[s->component].kind == MC_COMP_COPY && strncmp(dir, "metal/", 6) == 0)
        return "the publisher's Metal program";
    if (m->components[s->component].kind == MC_COMP_COPY)
        return "the publisher's own code";
    if (s->variant.n)
        return "loaders that are asked for this variant";
    if (mc_str_starts(s->stem, "consolidated"))
        return "mistral-inference, and vLLM from 0.12 on";
    return s->container == MC_FMT_TORCH ? "nobody while safetensors are there" : "loaders that merge every file";
}

typedef struct { size_t n, n_patterns; uint64_t beyond; mc_str list, patterns, read; } tally;

static void take(mc_check *cx, tally *t, const mc_set *s, uint64_t bytes)
{
    const mc_model *m = cx->model;
    bool   copy = m->components[s->component].kind == MC_COMP_COPY;
    mc_str size = mc_size_text(cx->arena, bytes), p = pattern(cx, s), name = copy ? m->components[s->component].dir : p;
    if (t->n < 6)
        t->list = mc_format(cx->arena, "%.*s%s%.*s (%.*s)", MC_FMT(t->list), t->n ? ", " : "", MC_FMT(name), MC_FMT(size));
    t->n++;
    if (s->read) {
        t->read = t->read.n ? t->read : name;
        return;
    }
    if (ckd_add(&t->beyond, t->beyond, bytes))
        t->beyond = UINT64_MAX;
    if (t->n_patterns++ < 4)
        t->patterns = mc_format(cx->arena, "%.*s%s--exclude \"%.*s\"", MC_FMT(t->patterns), t->patterns.n ? " " : "", MC_FMT(p));
}

/* Bytes by set: 0 for what is no copy of the weights. A directory of copies (onnx/, original/) is one copy, counted at its
 * first set. NULL when out of memory. */
static uint64_t *copy_bytes(mc_check *cx)
{
    const mc_model *m = cx->model;
    uint64_t *bytes = MC_NEW(cx->arena, uint64_t, m->n_sets + 1);
    uint32_t *first = MC_NEW(cx->arena, uint32_t, m->n_components + 1); /* by component: its first copy + 1 */
    for (uint32_t i = 0; bytes && first && i < m->n_sets; i++) {
        const mc_set *s = &m->sets[i];
        if (!whole_set(m, s) || s->component >= m->n_components)
            continue;
        bool     copy = m->components[s->component].kind == MC_COMP_COPY;
        uint32_t at = copy && first[s->component] ? first[s->component] - 1 : i;
        if (ckd_add(&bytes[at], bytes[at], s->bytes))
            bytes[at] = UINT64_MAX;
        if (copy)
            first[s->component] = at + 1;
    }
    return first ? bytes : NULL;
}

/* The sets that are read count as one: components of a pipeline are parts of the model, not copies. */
static size_t count_copies(const mc_model *m, const uint64_t *bytes)
{
    size_t read = 0, n = 0;
    for (size_t i = 0; i < m->n_sets; i++) {
        read += bytes[i] > 0 && m->sets[i].read;
        n += bytes[i] > 0 && !m->sets[i].read;
    }
    return n + (read > 0);
}

/* Which frameworks open what: one line for those that agree. */
static void by_framework(mc_check *cx, mc_finding *out)
{
    const mc_matrix *x = cx->options->matrix;
    for (size_t i = 0; x && x->files && x->reading && i < x->n; i++) {
        const mc_reading *r = &x->reading[i];
        mc_names          who = { .n = 0 };
        for (size_t k = i; mc_matrix_first_reader(x, i) && k < x->n; k++)
            if (mc_matrix_listed(x, k) && mc_matrix_same_files(x, i, k))
                mc_names_add(cx->arena, &who, x->v[k].framework->name);
        if (who.n == 0)
            continue;
        mc_str again = r->twice_bytes ? mc_format(cx->arena, ", %s of them twice", mc_size_text(cx->arena, r->twice_bytes).p) : MC_STR("");
        mc_because(cx, out, "opened", mc_origin_at(MC_NONE, ""), "%zu file%s, %s%.*s by %.*s; %s not", r->n_read, r->n_read == 1 ? "" : "s", mc_size_text(cx->arena, r->read_bytes).p, MC_FMT(again),
                   MC_FMT(mc_names_text(cx->arena, &who)), mc_size_text(cx->arena, r->ignored_bytes).p);
    }
}

void mc_check_copies(mc_check *cx)
{
    const mc_model *m = cx->model;
    tally     t = { 0 };
    uint64_t *bytes = m->alone ? NULL : copy_bytes(cx);
    if (!bytes || count_copies(m, bytes) < 2)
        return;
    for (size_t i = 0; i < m->n_sets; i++)
        if (bytes[i] > 0)
            take(cx, &t, &m->sets[i], bytes[i]);
    mc_str      beyond = mc_size_text(cx->arena, t.beyond), read = t.read.n ? t.read : MC_STR("none of them");
    mc_finding *out = mc_report(cx, MC_NONE, "%zu weight sets: %.*s%s; loaders read %.*s, %.*s could be left out (%.*s%s)", t.n, MC_FMT(t.list), t.n > 6 ? ", ..." : "",
                                MC_FMT(read), MC_FMT(beyond), MC_FMT(t.patterns), t.n_patterns > 4 ? " ..." : "");
    mc_count(out, t.n);
    for (size_t i = 0; i < m->n_sets; i++)
        if (bytes[i] > 0)
            mc_because(cx, out, m->sets[i].read ? "read" : "copy", mc_origin_at(m->sets[i].files[0], ""), "%llu bytes, for %s", (ull)bytes[i], readers(m, &m->sets[i]));
    by_framework(cx, out);
    if (t.patterns.n)
        mc_fix(cx, out, "leave out what your loader does not read: hf download %.*s%s", MC_FMT(t.patterns), t.n_patterns > 4 ? " ..." : "");
}

/* ---- MC112 ---- */

/* Tensor bytes of a safetensors set. False when a header is not known. */
static bool tensor_bytes(const mc_model *m, const mc_set *s, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < s->n_files; i++) {
        const mc_file *f = &m->files[s->files[i]];
        if (!f->st || f->parse.code != MC_OK)
            return false;
        for (size_t t = 0; t < f->n_tensors; t++)
            if (!mc_name_is_buffer(f->tensors[t].name) && ckd_add(out, *out, f->tensors[t].end - f->tensors[t].begin))
                return false;
    }
    return *out > 0;
}

static bool storage_bytes(const mc_model *m, const mc_set *s, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < s->n_files; i++) {
        const mc_file *f = &m->files[s->files[i]];
        if (!f->torch_known || ckd_add(out, *out, f->torch_bytes))
            return false;
    }
    return *out > 0;
}

static bool one_model(const mc_set *a, const mc_set *b)
{
    if (a->component != b->component || a->container != MC_FMT_SAFETENSORS || b->container != MC_FMT_TORCH || a->variant.n || b->variant.n)
        return false;
    if (mc_str_starts(a->stem, "consolidated"))
        return false;
    return mc_str_eq(a->stem, b->stem) || (mc_str_is(a->stem, "model") && mc_str_is(b->stem, "pytorch_model"));
}

/* The same elements in another precision: 1/4, 1/2, 1, 2 or 4, within 5 %. */
static bool precision_ratio(double r)
{
    for (double k = 0.25; k <= 4; k *= 2)
        if (r >= 0.95 * k && r <= 1.05 * k)
            return true;
    return false;
}

static void differ(mc_check *cx, const mc_set *a, const mc_set *b)
{
    const mc_model *m = cx->model;
    uint64_t na, nb;
    if (!a->complete || !b->complete || !m->components[a->component].inv.complete || !tensor_bytes(m, a, &na) || !storage_bytes(m, b, &nb) ||
        precision_ratio((double)nb / (double)na))
        return;
    mc_str pa = pattern(cx, a), pb = pattern(cx, b), sa = mc_size_text(cx->arena, na), sb = mc_size_text(cx->arena, nb);
    mc_finding *out = mc_report(cx, MC_NONE, "%.*s and %.*s hold different weights (%.*s against %.*s, %.2f times): loaders take the safetensors copy", MC_FMT(pa), MC_FMT(pb),
                                MC_FMT(sa), MC_FMT(sb), (double)nb / (double)na);
    mc_subject(out, pb);
    mc_because(cx, out, "tensor bytes", mc_origin_at(a->files[0], ""), "%llu", (ull)na);
    mc_because(cx, out, "storage bytes", mc_origin_at(b->files[0], ""), "%llu", (ull)nb);
}

void mc_check_differ(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (size_t i = 0; i < m->n_sets; i++) {
        const mc_component *c = m->sets[i].component < m->n_components ? &m->components[m->sets[i].component] : NULL;
        if (c && c->kind != MC_COMP_COPY && c->set != MC_NONE && one_model(&m->sets[c->set], &m->sets[i]))
            differ(cx, &m->sets[c->set], &m->sets[i]);
    }
}
