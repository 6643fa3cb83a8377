/* MC301-MC309: what is wrong inside a safetensors header, file by file.
 *
 * Law: the reference reader, https://github.com/huggingface/safetensors (safetensors/src/tensor.rs). What it refuses is an
 * error; what it takes although others do not is MC309. The parser has gathered the faults, so nothing is judged twice.
 * Only files that a loader would open are judged; files with another explanation (pointer, page, empty) were never parsed. */
#include "rules/rule.h"

#define REFERENCE "https://github.com/huggingface/safetensors (safetensors/src/tensor.rs)"

/* The headers of the read set, one after the other: start with *id = 0. NULL at the end. */
static const mc_file *next_header(const mc_check *cx, uint32_t *id)
{
    const mc_model *m = cx->model;
    while (*id < m->n_files) {
        const mc_file *f = &m->files[(*id)++];
        if (f->st && f->in_read_set && f->promised == MC_FMT_SAFETENSORS)
            return f;
    }
    return NULL;
}

static uint32_t id_of(const mc_check *cx, const mc_file *f)
{
    return (uint32_t)(f - cx->model->files);
}

static void header_length(mc_check *cx)
{
    const mc_file *f;
    for (uint32_t i = 0; (f = next_header(cx, &i));) {
        if (f->st->fault != MC_ST_LENGTH)
            continue;
        unsigned long long n = f->st->header_bytes, size = f->size;
        mc_finding *out;
        if (f->size < 8) {
            out = mc_report(cx, id_of(cx, f), "no header length: the file has only %llu byte%s, a header takes at least 8", size, size == 1 ? "" : "s");
        } else if (n == 0) {
            out = mc_report(cx, id_of(cx, f), f->bytes == MC_BYTES_ZEROS ? "header length 0: the head of the file is zero-filled, the save or upload was interrupted"
                                                                         : "header length 0: no header was written");
        } else {
            out = mc_report(cx, id_of(cx, f), n > MC_MAX_ST_HEADER ? "header length %llu is above the limit of 100,000,000 bytes: not safetensors"
                                                                   : "no JSON object follows the header length %llu: not safetensors", n);
        }
        mc_because(cx, out, "header length", mc_origin_at(id_of(cx, f), "byte 0"), "%llu", n);
        mc_because(cx, out, "file size", mc_origin_at(id_of(cx, f), ""), "%llu", size);
    }
}

static void header_json(mc_check *cx)
{
    const mc_file *f;
    for (uint32_t i = 0; (f = next_header(cx, &i));) {
        if (f->st->fault != MC_ST_HEADER)
            continue;
        mc_finding *out = mc_report(cx, id_of(cx, f), "header JSON is invalid at byte %llu: %s", (unsigned long long)f->parse.at, f->parse.what);
        mc_because(cx, out, "header", mc_origin_at(id_of(cx, f), "byte 8"), "%llu bytes, %zu entries read before the fault",
                   (unsigned long long)f->st->header_bytes, f->n_tensors);
    }
}

static void duplicate_name(mc_check *cx)
{
    const mc_file *f;
    for (uint32_t i = 0; (f = next_header(cx, &i));) {
        const mc_st_tensors *d = &f->st->duplicate;
        if (f->st->fault != MC_ST_SOUND || d->n == 0)
            continue;
        mc_finding *out = mc_report(cx, id_of(cx, f), "%zu name%s declared twice: the reference reader keeps the last entry, others the first or refuse", d->n,
                                    d->n == 1 ? " is" : "s are");
        mc_subject(out, d->name);
        mc_count(out, d->n);
        mc_because(cx, out, "entries", mc_origin_at(id_of(cx, f), ""), "number %llu and number %llu of the header", (unsigned long long)d->a + 1,
                   (unsigned long long)d->b + 1);
    }
}

/* " (64 bytes)": by how much a range misses the end of the one before it. */
static mc_str distance(mc_check *cx, const mc_file *f, const mc_st_tensors *d)
{
    const mc_tensor *t = &f->tensors[d->tensor];
    if (t->end < t->begin || d->a == d->b || d->b == t->end)
        return MC_STR("");
    uint64_t n = d->a > d->b ? d->a - d->b : d->b - d->a;
    return mc_format(cx->arena, " (%llu byte%s)", (unsigned long long)n, n == 1 ? "" : "s");
}

static void offsets(mc_check *cx)
{
    const mc_file *f;
    for (uint32_t i = 0; (f = next_header(cx, &i));) {
        const mc_st_tensors *d = &f->st->offsets;
        if (f->st->fault != MC_ST_SOUND || d->n == 0)
            continue;
        const mc_tensor *t = &f->tensors[d->tensor];
        mc_finding      *out = mc_report(cx, id_of(cx, f), "the byte range of %.*s %s%.*s", MC_FMT(d->name), d->what, MC_FMT(distance(cx, f, d)));
        mc_subject(out, d->name);
        mc_count(out, d->n);
        if (t->begin | t->end)
            mc_because(cx, out, "data_offsets", mc_origin_at(id_of(cx, f), ""), "[%llu, %llu]", (unsigned long long)t->begin,
                       (unsigned long long)t->end);
    }
}

static void shape_bytes(mc_check *cx)
{
    const mc_file *f;
    for (uint32_t i = 0; (f = next_header(cx, &i));) {
        const mc_st_tensors *d = &f->st->shape;
        if (f->st->fault != MC_ST_SOUND || d->n == 0)
            continue;
        const mc_tensor *t = &f->tensors[d->tensor];
        const mc_dtype  *type = mc_kb_dtype(cx->kb, t->dtype);
        mc_str           shape = mc_shape_text(cx->arena, t), name = type ? type->name : MC_STR("");
        unsigned long long need = d->a, have = d->b;
        mc_finding *out;
        if (t->overflow || need == 0)
            out = mc_report(cx, id_of(cx, f), "%.*s %.*s %.*s %s, the header declares %llu bytes", MC_FMT(d->name), MC_FMT(name), MC_FMT(shape), d->what, have);
        else if (need % 8 != 0 && need / 8 != have && type && type->block_bits % 8 != 0)
            out = mc_report(cx, id_of(cx, f), "%.*s %.*s %.*s %s (%llu bits)", MC_FMT(d->name), MC_FMT(name), MC_FMT(shape), d->what, need);
        else
            out = mc_report(cx, id_of(cx, f), "%.*s %.*s %.*s needs %llu bytes, the header declares %llu", MC_FMT(d->name), MC_FMT(name), MC_FMT(shape), need, have);
        mc_subject(out, d->name);
        mc_count(out, d->n);
    }
}

/* How many tensors reach beyond the end of the file, and the first of them. */
static size_t incomplete(const mc_file *f, mc_str *first)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n_tensors; i++)
        if (f->tensors[i].end > f->size - f->data_start && n++ == 0)
            *first = f->tensors[i].name;
    return n;
}

static void cut_header(mc_check *cx, const mc_file *f)
{
    uint64_t    missing = 8 + f->st->header_bytes - f->size; /* at most 100,000,008: checked by the parser */
    mc_finding *out = mc_report(cx, id_of(cx, f), "the file is cut short inside its header: at least %llu bytes are missing", (unsigned long long)missing);
    mc_because(cx, out, "header length", mc_origin_at(id_of(cx, f), "byte 0"), "%llu", (unsigned long long)f->st->header_bytes);
    mc_because(cx, out, "file size", mc_origin_at(id_of(cx, f), ""), "%llu", (unsigned long long)f->size);
}

static void truncated(mc_check *cx)
{
    const mc_file *f;
    for (uint32_t i = 0; (f = next_header(cx, &i));) {
        uint64_t end;
        if (f->st->fault == MC_ST_CUT)
            cut_header(cx, f);
        if (f->st->fault != MC_ST_SOUND || ckd_add(&end, f->data_start, f->st->data_end) || end <= f->size)
            continue;
        mc_str      first = MC_STR("");
        size_t      n = incomplete(f, &first);
        uint64_t    missing = end - f->size;
        mc_str      size = missing < 1024 ? MC_STR("") : mc_format(cx->arena, " (%.*s)", MC_FMT(mc_size_text(cx->arena, missing)));
        mc_finding *out = mc_report(cx, id_of(cx, f), "the file is cut short: %llu bytes are missing%.*s, %zu tensor%s incomplete", (unsigned long long)missing, MC_FMT(size), n,
                                    n == 1 ? " is" : "s are");
        if (n)
            mc_subject(out, first);
        mc_count(out, n ? n : 1);
        mc_because(cx, out, "end of the data", mc_origin_at(id_of(cx, f), ""), "%llu", (unsigned long long)end);
        mc_because(cx, out, "file size", mc_origin_at(id_of(cx, f), ""), "%llu", (unsigned long long)f->size);
    }
}

static void trailing(mc_check *cx)
{
    const mc_file *f;
    for (uint32_t i = 0; (f = next_header(cx, &i));) {
        uint64_t end;
        if (f->st->fault != MC_ST_SOUND || ckd_add(&end, f->data_start, f->st->data_end) || end >= f->size)
            continue;
        mc_finding *out = mc_report(cx, id_of(cx, f), "%llu byte%s the last tensor: the reference reader refuses the file, others ignore them",
                                    (unsigned long long)(f->size - end), f->size - end == 1 ? " follows" : "s follow");
        mc_because(cx, out, "end of the data", mc_origin_at(id_of(cx, f), ""), "%llu", (unsigned long long)end);
        mc_because(cx, out, "file size", mc_origin_at(id_of(cx, f), ""), "%llu", (unsigned long long)f->size);
        mc_fix(cx, out, "Truncate the file to %llu bytes, or save it again", (unsigned long long)end);
    }
}

static void unknown_dtype(mc_check *cx)
{
    const mc_file *f;
    for (uint32_t i = 0; (f = next_header(cx, &i));) {
        if (f->st->fault != MC_ST_SOUND || f->st->n_unknown_dtype == 0)
            continue;
        size_t      n = f->st->n_unknown_dtype, k = 0;
        mc_finding *out = mc_report(cx, id_of(cx, f), "dtype %.*s on %zu tensor%s is in no known release of safetensors: readers refuse the file", MC_FMT(f->st->unknown_dtype),
                                    n, n == 1 ? "" : "s");
        for (size_t t = 0; t < f->n_tensors && k < MC_SAMPLES; t++)
            if (f->tensors[t].dtype == MC_DTYPE_UNKNOWN) {
                mc_subject(out, f->tensors[t].name);
                k++;
            }
        mc_count(out, n);
    }
}

/* ---- MC309 ---- */

/* "0.4.1" against "0.6.0": numeric parts, each below 1000. */
static uint64_t version(mc_str s)
{
    uint64_t v = 0, part = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '.') {
            v = (v + part) * 1000;
            part = 0;
        } else if (part < 100) {
            part = part * 10 + (uint64_t)(s.p[i] - '0');
        }
    }
    return v + part;
}

/* The dtype that needs the newest reader, or NULL when every reader knows all. */
static const mc_dtype *youngest(const mc_check *cx, const mc_file *f)
{
    const mc_dtype *best = NULL;
    uint16_t        seen = MC_DTYPE_UNKNOWN;
    for (size_t i = 0; i < f->n_tensors; i++) {
        if (f->tensors[i].dtype == seen)
            continue;
        seen = f->tensors[i].dtype;
        const mc_dtype *d = mc_kb_dtype(cx->kb, seen);
        if (d && d->since.n && (!best || version(d->since) > version(best->since)))
            best = d;
    }
    return best;
}

static void note(mc_check *cx, const mc_file *f, mc_str text)
{
    mc_finding *out = mc_report(cx, id_of(cx, f), "%.*s", MC_FMT(text));
    if (out->count > 1) /* a further note of this file joins the first */
        out->message = mc_format(cx->arena, "%.*s; %.*s", MC_FMT(out->message), MC_FMT(text));
}

static void metadata_note(mc_check *cx, const mc_file *f)
{
    static const char *const known[] = { "pt", "tf", "flax", "mlx" };
    const mc_st *st = f->st;
    for (size_t i = 0; i < MC_COUNT(known); i++)
        if (mc_str_is(st->format, known[i]))
            return;
    const char *what = st->metadata == MC_META_ABSENT ? "no __metadata__" : st->metadata == MC_META_NULL ? "__metadata__ is null"
                       : st->format.n ? "__metadata__ names an unusual format" : "__metadata__ names no format";
    note(cx, f, mc_format(cx->arena, "%s: older releases of Transformers want format=pt", what));
}

static void reader_notes(mc_check *cx)
{
    const mc_file *f;
    for (uint32_t i = 0; (f = next_header(cx, &i));) {
        if (f->st->fault != MC_ST_SOUND)
            continue;
        const mc_dtype *d = youngest(cx, f);
        metadata_note(cx, f);
        if (d)
            note(cx, f, mc_format(cx->arena, "%.*s needs safetensors %.*s or newer", MC_FMT(d->name), MC_FMT(d->since)));
        if (f->st->header_bytes > 25000000)
            note(cx, f, MC_STR("a header above 25,000,000 bytes is refused by the readers of the Hub"));
        if (f->st->leading_space)
            note(cx, f, MC_STR("white space before the header's '{' is against the format's text"));
        if (f->st->extra_fields)
            note(cx, f, MC_STR("tensor entries have fields the format does not know"));
        if (f->st->array_form)
            note(cx, f, MC_STR("a tensor entry is spelt as a list or its dtype as an object: only the reference reader takes that"));
    }
}

/* ---- the table ---- */

#define UNREADABLE                                                                                                                       \
    "m:MC112 m:MC203 m:MC212 m:MC403 m:MC416 m:MC417 m:MC420 m:MC422 m:MC424 m:MC425 m:MC437 m:MC455 m:MC458 m:MC502 m:MC503 m:MC508 " \
    "m:MC903 m:MC904 m:MC214"

static const mc_rule rules[] = {
    { "MC301", "st-header-length", MC_ERROR, MC_CERTAIN, MC_MODE_DEFAULT, "The first bytes of the file are not a usable safetensors header length",
      "Every safetensors file begins with the length of its header. Without a usable one no reader finds a single tensor: loaders report \"header too large\", \"header too small\" or invalid JSON.",
      "Download the file again, or save it again from the source model",
      "A header that begins properly but runs past the end of the file (that is a truncated file, MC306).", REFERENCE,
      "f:MC302-MC309 f:MC330 f:MC331 " UNREADABLE, header_length },
    { "MC302", "st-header-invalid", MC_ERROR, MC_CERTAIN, MC_MODE_DEFAULT, "The safetensors header is not the JSON object the format demands",
      "The header must be one JSON object whose entries have dtype, shape and data_offsets. The reference reader refuses anything else as an invalid header, so the weights cannot be loaded.",
      "Save the file again with a current safetensors library, or download it again",
      "__metadata__ absent, empty or null; unknown extra fields of an entry; any order of keys; white space before or behind the object.", REFERENCE,
      "f:MC303-MC309 f:MC330 f:MC331 " UNREADABLE, header_json },
    { "MC303", "st-duplicate-name", MC_ERROR, MC_CERTAIN, MC_MODE_DEFAULT, "The header declares the same tensor twice",
      "Readers disagree about which of two entries of one name counts, so the same file gives different weights in different programs.",
      "Save the file again so that each name is written once", "Keys that occur twice inside __metadata__.", REFERENCE, "f:MC304 m:MC503", duplicate_name },
    { "MC304", "st-offsets", MC_ERROR, MC_CERTAIN, MC_MODE_DEFAULT, "Tensor byte ranges are malformed, overlap or leave a hole",
      "The format demands that the tensors fill the data section without gap and overlap. The reference reader refuses the file (\"invalid offset\"); a reader that does not check hands out the wrong bytes.",
      "The file was written or edited wrongly: save it again from the source model",
      "Any order of the entries; tensors without elements that lie on a boundary; a last tensor that runs past the end of the file (MC306).", REFERENCE,
      "f:MC305-MC307 m:MC503", offsets },
    { "MC305", "st-shape-bytes", MC_ERROR, MC_CERTAIN, MC_MODE_DEFAULT, "Shape and dtype do not give the number of bytes declared",
      "The range of a tensor must hold exactly the bytes that its dtype and shape need. Readers refuse the file.",
      "The header was edited or written by a faulty tool: save the file again from the source model",
      "Tensors without elements and an empty range; scalars (shape []); 4-bit and 6-bit types that fill whole bytes; types this version does not know.", REFERENCE,
      "f:MC330 f:MC331 m:MC503", shape_bytes },
    { "MC306", "st-truncated", MC_ERROR, MC_CERTAIN, MC_MODE_DEFAULT, "The file ends before its tensor data does",
      "The download, copy or save stopped early. The reference reader refuses the file; loaders that map it read zeros or crash.",
      "Download the file again, or copy it again and compare the sizes",
      "A shard that is smaller than its siblings, or a tensor one would expect but no header names: only the offsets decide.", REFERENCE,
      "f:MC330 f:MC331 m:MC503 m:MC508", truncated },
    { "MC307", "st-trailing-bytes", MC_ERROR, MC_CERTAIN, MC_MODE_DEFAULT, "Bytes follow the last tensor",
      "The reference reader demands that the data ends with the file, so Transformers and vLLM refuse this one, although readers that map files accept it.",
      "Truncate the file to the end of its data, or save it again", "Padding inside the header, in front of the data.", REFERENCE, "m:MC503", trailing },
    { "MC308", "st-unknown-dtype", MC_WARNING, MC_CERTAIN, MC_MODE_DEFAULT, "The header uses a dtype this version does not know",
      "Readers refuse a whole file for one dtype they do not know. The sizes of these tensors cannot be checked here.",
      "If a newer library wrote the file, read it with that one; otherwise convert the tensors to a known dtype",
      "Every dtype of the reference, in upper case as it writes them, sub-byte types included.", REFERENCE, NULL, unknown_dtype },
    { "MC309", "st-reader-notes", MC_INFO, MC_CERTAIN, MC_MODE_DEFAULT, "The file is legal but some readers refuse or misread it",
      "The reference reader takes this file; older or other readers may not.", "Nothing to do, unless one of the readers concerned is yours",
      "Files with format=pt, tf, flax or mlx and long-standing dtypes.", REFERENCE, NULL, reader_notes },
};
const mc_family mc_family_tensors = { "tensors", rules, MC_COUNT(rules) };
