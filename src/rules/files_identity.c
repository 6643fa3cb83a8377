/* MC101-MC104, MC108, MC110: is a file what its name says? Answered from its first bytes, its size and its link. */
#include "rules/files.h"

#include <string.h>

typedef unsigned long long ull;

static bool pointer(const mc_file *f)
{
    return f->size < MC_HEAD_BYTES && (f->bytes == MC_BYTES_LFS_POINTER || f->bytes == MC_BYTES_XET_POINTER);
}

/* A complete set in another container than ONNX makes an .onnx pointer a copy nobody asked for. */
static bool onnx_wanted(const mc_model *m)
{
    for (size_t i = 0; i < m->n_sets; i++)
        if (m->sets[i].container != MC_FMT_ONNX && m->sets[i].complete)
            return false;
    return true;
}

void mc_check_pointer(mc_check *cx)
{
    const mc_model *m = cx->model;
    size_t pointers = 0, weights = 0;
    bool   onnx = onnx_wanted(m);
    for (uint32_t i = 0; i < m->n_files; i++)
        if (m->files[i].role == MC_ROLE_WEIGHTS && mc_file_read(m, i)) {
            weights++;
            pointers += pointer(&m->files[i]);
        }
    for (uint32_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        if (!pointer(f) || (!mc_file_read(m, i) && !(onnx && f->role == MC_ROLE_WEIGHTS && f->promised == MC_FMT_ONNX)))
            continue;
        mc_str      of = MC_STR(""), size = mc_size_text(cx->arena, f->pointer_size), oid = mc_str_cut(f->pointer_oid, 0, 12);
        mc_finding *out;
        if (f->role == MC_ROLE_WEIGHTS && weights > 1)
            of = mc_format(cx->arena, "; %zu of %zu weight files are pointers", pointers, weights);
        if (f->bytes == MC_BYTES_XET_POINTER) {
            mc_report(cx, i, "a xet pointer lies here instead of the content%.*s", MC_FMT(of));
            continue;
        }
        out = mc_report(cx, i, "a Git LFS pointer lies here; the real file has %.*s (sha256 %.*s...)%.*s", MC_FMT(size), MC_FMT(oid), MC_FMT(of));
        mc_because(cx, out, "size", mc_origin_at(i, ""), "%llu bytes", (ull)f->pointer_size);
        mc_because(cx, out, "oid", mc_origin_at(i, ""), "sha256:%.*s", MC_FMT(f->pointer_oid));
    }
}

/* ---- nothing, or a page ---- */

static bool may_be_empty(const mc_file *f)
{
    return f->promised == MC_FMT_TORCH_DCP || f->role == MC_ROLE_ADDED_TOKENS || mc_str_is(f->base, "merges.txt");
}

void mc_check_empty(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (uint32_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        if (f->size != 0 || f->os_error != 0 || f->link == MC_LINK_DANGLING || f->link == MC_LINK_OUTSIDE || may_be_empty(f) || !mc_file_read(m, i))
            continue;
        if (f->role == MC_ROLE_WEIGHTS || f->role == MC_ROLE_INDEX || f->role == MC_ROLE_CONFIG || mc_role_is_tokenizer(f->role))
            mc_report(cx, i, "the file is empty (0 bytes): its download or copy failed");
    }
}

static const char *kind_of(const mc_file *f)
{
    if (f->role == MC_ROLE_WEIGHTS)
        return "a weight file";
    if (f->role == MC_ROLE_INDEX)
        return "a shard index";
    return mc_role_is_tokenizer(f->role) ? "a tokenizer file" : "a configuration";
}

/* The first words of a page, for the message: printable, white space folded. */
static mc_str beginning(mc_check *cx, const mc_file *f)
{
    char   text[40];
    size_t n = 0;
    for (size_t i = 0; i < f->head.n && n < sizeof text; i++) {
        char c = f->head.p[i] > ' ' && f->head.p[i] < 0x7f ? (char)f->head.p[i] : ' ';
        if (c != ' ' || (n > 0 && text[n - 1] != ' '))
            text[n++] = c;
    }
    return mc_str_copy(cx->arena, (mc_str){ text, n });
}

void mc_check_page(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (uint32_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        if ((f->bytes != MC_BYTES_WEB_PAGE && f->bytes != MC_BYTES_ERROR_ANSWER) || !mc_file_read(m, i))
            continue;
        mc_str      first = beginning(cx, f);
        mc_finding *out = mc_report(cx, i, "%s lies here, not %s", f->bytes == MC_BYTES_WEB_PAGE ? "a web page" : "a server's error answer", kind_of(f));
        mc_because(cx, out, "first bytes", mc_origin_at(i, "byte 0"), "%.*s", MC_FMT(first));
    }
}

/* ---- another container ---- */

/* Byte 8, behind JSON's white space, is '{': the first eight are a length, whatever else they look like. */
static bool may_be_header(const mc_file *f)
{
    size_t i = 8;
    while (i < f->head.n && (f->head.p[i] == ' ' || f->head.p[i] == '\t' || f->head.p[i] == '\n' || f->head.p[i] == '\r'))
        i++;
    return i < f->head.n && f->head.p[i] == '{';
}

static bool not_safetensors(const mc_file *f)
{
    static const mc_bytes others[] = {
        MC_BYTES_TORCH_ZIP, MC_BYTES_ZIP, MC_BYTES_NPZ, MC_BYTES_GGUF, MC_BYTES_TORCH_LEGACY, MC_BYTES_GZIP, MC_BYTES_ZSTD, MC_BYTES_HDF5,
        MC_BYTES_XZ, MC_BYTES_7Z, MC_BYTES_RAR, MC_BYTES_NPY,
    };
    if (may_be_header(f))
        return false;
    for (size_t i = 0; i < MC_COUNT(others); i++)
        if (f->bytes == others[i])
            return true;
    return f->bytes == MC_BYTES_PICKLE && f->head.n > 2 && f->head.p[1] == 0x02 && f->head.p[2] == 0x8a;
}

static bool not_gguf(const mc_file *f)
{
    return f->head.n > 0 && mc_file_has_content(f) && f->bytes != MC_BYTES_GGML && (f->head.n < 4 || memcmp(f->head.p, "GGUF", 4) != 0);
}

void mc_check_content(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (uint32_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        if (f->role != MC_ROLE_WEIGHTS || !mc_file_read(m, i) || f->bytes == MC_BYTES_UNREAD)
            continue;
        bool wrong = f->promised == MC_FMT_SAFETENSORS ? not_safetensors(f)
                     : f->promised == MC_FMT_GGUF      ? not_gguf(f)
                     : f->promised == MC_FMT_TORCH     ? f->bytes == MC_BYTES_SAFETENSORS || f->bytes == MC_BYTES_GGUF
                                                       : false;
        if (!wrong)
            continue;
        mc_finding *out = mc_report(cx, i, "the name promises %s, the file contains %s", mc_container_name(f->promised), mc_bytes_name(f->bytes));
        const uint8_t *p = f->head.p;
        if (f->head.n >= 4)
            mc_because(cx, out, "first bytes", mc_origin_at(i, "byte 0"), "%02x %02x %02x %02x", p[0], p[1], p[2], p[3]);
    }
}

/* ---- links ---- */

/* Where a blob of the name lies that a dangling link asks for, MC_NONE if nowhere. */
static uint32_t blob_named(const mc_strset *bases, const uint32_t *ids, mc_str target)
{
    uint32_t at = mc_strset_find(bases, mc_str_base(target));
    return at == MC_NO_ID ? MC_NONE : ids[at];
}

static bool index_blobs(mc_check *cx, mc_strset *bases, uint32_t **ids)
{
    const mc_model *m = cx->model;
    *ids = MC_NEW(cx->arena, uint32_t, m->n_files);
    if (!*ids || !mc_strset_init(bases, cx->arena, m->n_files))
        return false;
    for (uint32_t i = 0; i < m->n_files; i++) {
        uint32_t id = m->files[i].link == MC_LINK_NONE ? mc_strset_add(bases, m->files[i].base, NULL) : MC_NO_ID;
        if (id != MC_NO_ID)
            (*ids)[id] = i;
    }
    return true;
}

void mc_check_link(mc_check *cx)
{
    const mc_model *m = cx->model;
    mc_strset bases = { 0 };
    uint32_t *ids = NULL;
    for (uint32_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        if (f->link != MC_LINK_DANGLING || !mc_file_read(m, i) || (!ids && !index_blobs(cx, &bases, &ids)))
            continue;
        mc_finding *out = mc_report(cx, i, "the link leads to %.*s, which does not exist", MC_FMT(f->target));
        uint32_t    blob = blob_named(&bases, ids, f->target);
        mc_because(cx, out, "link", mc_origin_at(i, ""), "%.*s", MC_FMT(f->target));
        if (blob != MC_NONE)
            mc_fix(cx, out, "a file of that name lies at %.*s: the link was written with a wrong base, make it again", MC_FMT(m->files[blob].path));
        else if (!mc_str_contains(f->target, "blobs/"))
            mc_fix(cx, out, "put the file where the link leads, or replace the link by the file");
    }
}

/* ---- control files ---- */

void mc_check_control(mc_check *cx)
{
    const mc_model *m = cx->model;
    mc_strset owners;
    uint32_t *control = NULL;
    for (uint32_t i = 0; i < m->n_files; i++) {
        if (m->files[i].role != MC_ROLE_CONTROL)
            continue;
        if (!control && (!(control = MC_NEW(cx->arena, uint32_t, m->n_files)) || !mc_strset_init(&owners, cx->arena, 8)))
            return;
        uint32_t id = mc_strset_add(&owners, m->files[i].part_of, NULL);
        if (id != MC_NO_ID)
            control[id] = i;
    }
    for (uint32_t i = 0; control && i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        uint32_t id = mc_strset_find(&owners, f->path);
        if (id == MC_NO_ID || f->role != MC_ROLE_WEIGHTS || !mc_file_read(m, i) || !mc_file_has_content(f))
            continue;
        const mc_file *c = &m->files[control[id]];
        mc_finding    *out = mc_report(cx, i, "%.*s lies beside it: the size may look right while parts of the file are zeros", MC_FMT(c->base));
        mc_because(cx, out, "control file", mc_origin_at(control[id], ""), "%llu bytes", (ull)c->size);
    }
}
