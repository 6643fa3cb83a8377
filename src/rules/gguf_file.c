/* One GGUF file by itself: what the reference reader refuses (ggml/src/gguf.cpp), in its order, and where it looks away. */
#include "rules/gguf.h"

const mc_file *mc_gguf_sound(const mc_model *m, size_t file)
{
    const mc_file *f = file < m->n_files ? &m->files[file] : NULL;
    return f && f->gguf && f->gguf->fault == MC_GGUF_SOUND ? f : NULL;
}

bool mc_gguf_has_size(const mc_kb *kb, const mc_tensor *t)
{
    const mc_dtype *d = mc_kb_dtype(kb, t->dtype);
    return d && d->block_bits && (t->rank ? t->dims[0] : 1) % d->block == 0;
}

unsigned mc_gguf_rank(const mc_tensor *t)
{
    unsigned rank = t->rank;
    while (rank > 1 && t->dims[rank - 1] == 1)
        rank--;
    return rank;
}

/* ---- MC601 - MC603: header and metadata ---- */

/* The next file with that fault, from *i on. */
static const mc_file *faulty(const mc_model *m, mc_gguf_fault fault, uint32_t *i)
{
    for (; *i < m->n_files; ++*i) {
        const mc_file *f = &m->files[*i];
        bool no_gguf = f->gguf && f->gguf->version == 0 && fault == MC_GGUF_INVALID; /* not even the magic: MC104 */
        if (f->gguf && f->gguf->fault == fault && !no_gguf)
            return f;
    }
    return NULL;
}

void mc_check_601(mc_check *cx)
{
    const mc_file *f;
    for (uint32_t i = 0; (f = faulty(cx->model, MC_GGUF_BAD_VERSION, &i)); i++) {
        uint32_t    v = f->gguf->version;
        const char *hint = v == 0 ? "there is no such version" : v == 1 ? "files of August 2023, which no loader reads any more" : "written by newer software, or damaged";
        mc_finding *o = mc_report(cx, i, "GGUF version %u: %s", v, hint);
        if (v > 3)
            mc_fix(cx, o, "Use a loader that reads version %u, or download the file again.", v);
        mc_because(cx, o, "version", (mc_origin){ i, MC_STR("byte 4") }, "%u", v);
    }
}

static mc_str about(mc_check *cx, const mc_gguf *g)
{
    return g->err_subject.n ? mc_format(cx->arena, " (%.*s)", MC_FMT(g->err_subject)) : MC_STR("");
}

void mc_check_602(mc_check *cx)
{
    const mc_file *f;
    for (uint32_t i = 0; (f = faulty(cx->model, MC_GGUF_DAMAGED, &i)); i++) {
        const mc_gguf *g = f->gguf;
        mc_str         what = about(cx, g);
        mc_finding    *o = mc_report(cx, i, "%s at byte %llu%.*s runs past the end of the file (%llu bytes): the download was cut short or the file is damaged",
                                     g->err.what, (mc_ull)g->err.at, MC_FMT(what), (mc_ull)f->size);
        if (g->err_subject.n)
            mc_subject(o, g->err_subject);
    }
}

void mc_check_603(mc_check *cx)
{
    const mc_file *f;
    for (uint32_t i = 0; (f = faulty(cx->model, MC_GGUF_INVALID, &i)); i++) {
        const mc_gguf *g = f->gguf;
        mc_str         what = about(cx, g);
        mc_finding    *o = mc_report(cx, i, "%s at byte %llu%.*s: llama.cpp refuses the file", g->err.what, (mc_ull)g->err.at, MC_FMT(what));
        if (g->err_subject.n)
            mc_subject(o, g->err_subject);
    }
}

/* ---- MC604 - MC606: rows, offsets, end ---- */

/* What llama-quantize falls back to when rows do not divide (src/llama-quant.cpp). */
static const char *fallback(mc_str type, uint64_t row)
{
    static const struct { const char *type, *to; } table[] = {
        { "Q4_K", "Q5_0" }, { "Q5_K", "Q5_1" }, { "Q6_K", "Q8_0" }, { "Q2_K", "Q4_0" }, { "Q3_K", "Q4_0" },
        { "TQ1_0", "Q4_0" }, { "TQ2_0", "Q4_0" }, { "Q2_0", "Q4_0" },
    };
    if (row % 32 != 0)
        return "F16";
    for (size_t i = 0; i < MC_COUNT(table); i++)
        if (mc_str_is(type, table[i].type))
            return table[i].to;
    return mc_str_starts(type, "IQ") ? "IQ4_NL" : "Q8_0";
}

void mc_check_604(mc_check *cx)
{
    for (uint32_t i = 0; i < cx->model->n_files; i++) {
        const mc_file *f = &cx->model->files[i];
        for (size_t k = 0; f->gguf && k < f->n_tensors; k++) {
            const mc_tensor *t = &f->tensors[k];
            const mc_dtype  *d = mc_kb_dtype(cx->kb, t->dtype);
            uint64_t         row = t->rank ? t->dims[0] : 1;
            if (!d || d->foreign || row % d->block == 0)
                continue;
            const char *alt = fallback(d->name, row);
            mc_finding *o = mc_report(cx, i, "%.*s is %.*s with rows of %llu, not a multiple of %u: the quantizer was forced or stopped half way",
                                      MC_FMT(t->name), MC_FMT(d->name), (mc_ull)row, d->block);
            mc_subject(o, t->name);
            if (o->named == 1)
                mc_fix(cx, o, "Quantize again with a type whose blocks divide the rows, for this tensor %s.", alt);
        }
    }
}

void mc_check_605(mc_check *cx)
{
    for (uint32_t i = 0; i < cx->model->n_files; i++) {
        const mc_file   *f = mc_gguf_sound(cx->model, i);
        const mc_tensor *first = NULL;
        uint64_t         last = 0, n = 0, end;
        for (size_t k = 0; f && k < f->n_tensors; k++) {
            const mc_tensor *t = &f->tensors[k];
            if (!mc_gguf_has_size(cx->kb, t))
                continue;
            if (ckd_add(&end, f->data_start, t->end))
                end = UINT64_MAX;
            if (end > f->size && !first)
                first = t;
            n += end > f->size;
            last = end > last ? end : last;
        }
        if (!first)
            continue;
        mc_str      size = last - f->size < 1024 ? MC_STR("") : mc_format(cx->arena, " (%.*s)", MC_FMT(mc_size_text(cx->arena, last - f->size)));
        mc_finding *o = mc_report(cx, i, "cut short: %llu bytes%.*s are missing, %llu of %zu tensors are incomplete (first %.*s)", (mc_ull)(last - f->size),
                                  MC_FMT(size), (mc_ull)n, f->n_tensors, MC_FMT(first->name));
        mc_subject(o, first->name);
        mc_count(o, (size_t)n);
        mc_because(cx, o, "end of the last tensor", (mc_origin){ i, MC_STR("tensor table") }, "%llu", (mc_ull)last);
        mc_because(cx, o, "file size", (mc_origin){ i, MC_STR("") }, "%llu", (mc_ull)f->size);
    }
}

/* Why the next tensor begins too early: a writer that counted rows without the header that each row has. */
static mc_str short_rows(mc_check *cx, const mc_tensor *t, uint64_t alignment, uint64_t reserved)
{
    const mc_dtype *d = mc_kb_dtype(cx->kb, t->dtype);
    uint64_t        rows = t->rank && t->dims[0] ? t->elements / t->dims[0] : 1, headers;
    if (!d->row_meta || ckd_mul(&headers, rows, (uint64_t)d->row_meta) || headers > t->end - t->begin)
        return MC_STR("");
    if (mc_gguf_pad(t->end - t->begin - headers, alignment) != reserved)
        return MC_STR("");
    return mc_format(cx->arena, ": rows of %.*s are %u bytes short, the converter left out the row header", MC_FMT(d->name), d->row_meta);
}

/* Offsets that are not the running sum; afterwards the sum goes on from the offset that is there. */
static void offsets_of(mc_check *cx, uint32_t i, const mc_file *f)
{
    uint64_t alignment = f->gguf->alignment, expected = 0;
    for (size_t k = 0; k < f->n_tensors; k++) {
        const mc_tensor *t = &f->tensors[k];
        if (t->begin != expected) {
            const mc_tensor *before = k ? &f->tensors[k - 1] : NULL;
            mc_str hint = before && t->begin > before->begin ? short_rows(cx, before, alignment, t->begin - before->begin) : MC_STR("");
            mc_finding *o = mc_report(cx, i, "%.*s starts at %llu, expected %llu%.*s", MC_FMT(t->name), (mc_ull)t->begin, (mc_ull)expected, MC_FMT(hint));
            mc_subject(o, t->name);
            if (before && t->begin > before->begin && o->named == 1) {
                mc_because(cx, o, "bytes reserved before it", (mc_origin){ i, MC_STR("tensor table") }, "%llu", (mc_ull)(t->begin - before->begin));
                mc_because(cx, o, "bytes needed", (mc_origin){ i, MC_STR("tensor table") }, "%llu", (mc_ull)(before->end - before->begin));
            }
        }
        if (!mc_gguf_has_size(cx->kb, t) || ckd_add(&expected, t->begin, mc_gguf_pad(t->end - t->begin, alignment)))
            return; /* nothing can be compared from here on */
    }
}

void mc_check_606(mc_check *cx)
{
    for (uint32_t i = 0; i < cx->model->n_files; i++)
        if (mc_gguf_sound(cx->model, i))
            offsets_of(cx, i, &cx->model->files[i]);
}

/* ---- MC607: names ---- */

void mc_check_607(mc_check *cx)
{
    const mc_model *m = cx->model;
    size_t          total = 0;
    mc_strset       names;
    for (size_t i = 0; i < m->n_files; i++)
        total += m->files[i].gguf ? m->files[i].n_tensors : 0;
    if (total < 2 || !mc_strset_init(&names, cx->arena, total))
        return;
    for (uint32_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        for (size_t k = 0; f->gguf && k < f->n_tensors; k++) {
            mc_str name = f->tensors[k].name;
            bool   added, whole = mc_str_find(name, '\0') == name.n;
            name.n = mc_str_find(name, '\0');
            if (mc_strset_add_hashed(&names, name, whole ? f->tensors[k].hash : mc_str_hash(name), &added) == MC_NO_ID)
                return;
            if (!added)
                mc_subject(mc_report(cx, i, "tensor %.*s occurs twice: llama.cpp stops with 'duplicated'", MC_FMT(name)), name);
        }
    }
}

/* ---- MC608: types ---- */

static mc_str type_hint(mc_check *cx, uint32_t id, const mc_dtype *d)
{
    const mc_dtype *first = mc_kb_dtype(cx->kb, mc_kb_ggml_dtype(cx->kb, id, 0));
    const mc_dtype *second = mc_kb_dtype(cx->kb, mc_kb_ggml_dtype(cx->kb, id, 1));
    mc_str          by = d ? d->fork : MC_STR("");
    if (!first)
        return MC_STR("unknown here");
    if (first->foreign && first->fork.n == 0)
        return mc_format(cx->arena, "removed upstream in %s%s%.*s, quantize again as %.*s", id < 10 ? "2023" : "December 2024", by.n ? ", still written by " : "",
                         MC_FMT(by), MC_FMT(first->advice));
    if (by.n)
        return mc_format(cx->arena, "written for %.*s", MC_FMT(by));
    return second ? mc_format(cx->arena, "no known layout of this id fits; %.*s uses it too", MC_FMT(second->fork)) : MC_STR("unknown here");
}

void mc_check_608(mc_check *cx)
{
    for (uint32_t i = 0; i < cx->model->n_files; i++) {
        const mc_file *f = mc_gguf_sound(cx->model, i);
        uint32_t       shown = 0;
        size_t         of_shown = 0;
        mc_finding    *o = NULL;
        for (size_t k = 0; f && k < f->n_tensors; k++) {
            const mc_dtype *d = mc_kb_dtype(cx->kb, f->tensors[k].dtype);
            uint32_t        id = f->gguf->type_ids[k];
            if (d && !d->foreign)
                continue;
            of_shown += o && id == shown;
            if (!o) {
                const mc_dtype *named = d ? d : mc_kb_dtype(cx->kb, mc_kb_ggml_dtype(cx->kb, id, 0));
                mc_str          name = named ? named->name : MC_STR("no known name"), hint = type_hint(cx, id, d);
                shown = id;
                o = mc_report(cx, i, "tensors of ggml type %d (%.*s): %.*s; llama.cpp refuses it", (int)(int32_t)id, MC_FMT(name), MC_FMT(hint));
                of_shown = 1;
            }
            mc_subject(o, f->tensors[k].name);
        }
        if (o && of_shown < o->named)
            mc_because(cx, o, "tensors of other foreign types", (mc_origin){ i, MC_STR("tensor table") }, "%zu", o->named - of_shown);
    }
}

void mc_check_610(mc_check *cx)
{
    for (uint32_t i = 0; i < cx->model->n_files; i++)
        if (mc_gguf_sound(cx->model, i) && cx->model->files[i].gguf->big_endian)
            mc_report(cx, i, "big-endian GGUF: loads on s390x or AIX, not on x86 or ARM");
}
