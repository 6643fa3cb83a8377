/* Recognition: what a file is by its first bytes, whatever its name says. Sources of the magics: file formats' own
 * documentation, PyTorch torch/serialization.py, git-lfs docs/spec.md, onnx/onnx.proto, and for CTranslate2
 * src/models/model.cc (a u32 version, then a u16-counted name of the specification). */
#include "formats/formats.h"

#include <string.h>

static bool begins(mc_span h, size_t at, const void *magic, size_t n)
{
    return h.n >= at + n && memcmp(h.p + at, magic, n) == 0;
}

/* ---- text ---- */

static size_t skip_space(mc_span h)
{
    size_t i = begins(h, 0, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (i < h.n && memchr(" \t\r\n", h.p[i], 4))
        i++;
    return i;
}

static bool looks_like_text(mc_span h)
{
    for (size_t i = 0; i < h.n; i++)
        if (h.p[i] < 0x20 && !memchr("\t\n\r\f\x1b", h.p[i], 5))
            return false;
    return h.n > 0;
}

static bool starts_nocase(mc_span h, size_t at, const char *lower)
{
    size_t n = strlen(lower);
    if (h.n < at + n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (mc_to_lower((char)h.p[at + i]) != lower[i])
            return false;
    return true;
}

static bool web_page(mc_span h, size_t at)
{
    static const char *const tags[] = { "<!doctype", "<html", "<?xml", "<head" };
    for (size_t i = 0; i < MC_COUNT(tags); i++)
        if (starts_nocase(h, at, tags[i]))
            return true;
    return false;
}

static bool error_text(mc_span h, uint64_t size)
{
    static const char *const lines[] = { "Entry not found", "Repository not found", "Invalid username or password", "Access to model", "Not Found", "Forbidden" };
    for (size_t i = 0; size <= 512 && i < MC_COUNT(lines); i++)
        if (begins(h, 0, lines[i], strlen(lines[i])))
            return true;
    return false;
}

/* The whole file is a JSON object whose keys are those of an API's error answer. */
static bool error_object(mc_span h, uint64_t size)
{
    static const char *const keys[] = { "error", "message", "errors", "status", "code", "detail" };
    mc_json j = mc_json_of(h);
    mc_str  key;
    bool    escaped, first = true;
    if (h.n != size || !mc_json_lit(&j, '{'))
        return false;
    while (mc_json_member(&j, &first, &key, &escaped)) {
        bool known = false;
        for (size_t i = 0; i < MC_COUNT(keys); i++)
            known |= mc_str_is(key, keys[i]);
        if (!known || !mc_json_skip(&j))
            return false;
    }
    return j.err.code == MC_OK && !first && mc_json_end(&j);
}

/* ---- pointers ---- */

/* The next line that is not blank, trimmed; *pos moves behind it. */
static bool next_line(mc_str text, size_t *pos, mc_str *line)
{
    while (*pos < text.n) {
        mc_str rest = mc_str_cut(text, *pos, text.n);
        size_t n = mc_str_find(rest, '\n');
        *pos += n < rest.n ? n + 1 : n;
        *line = mc_str_cut(rest, 0, n);
        while (line->n && strchr(" \t\r", line->p[line->n - 1]))
            line->n--;
        while (line->n && strchr(" \t\r", line->p[0]))
            *line = mc_str_cut(*line, 1, line->n);
        if (line->n)
            return true;
    }
    return false;
}

static bool oid_line(mc_str line, mc_str *oid)
{
    *oid = mc_str_cut(line, 11, line.n);
    if (!mc_str_starts(line, "oid sha256:") || oid->n != 64)
        return false;
    for (size_t i = 0; i < 64; i++)
        if (!((oid->p[i] >= '0' && oid->p[i] <= '9') || (oid->p[i] >= 'a' && oid->p[i] <= 'f')))
            return false;
    return true;
}

/* version, any "ext-" lines, oid, size; git-lfs never takes a file of 1,024 bytes or more for a pointer. */
static bool lfs_pointer(mc_file *f)
{
    static const char *const versions[] = { "version https://git-lfs.github.com/spec/v1", "version http://git-media.io/v/2", "version https://hawser.github.com/spec/v1" };
    mc_str text = { (const char *)f->head.p, f->head.n }, line;
    size_t pos = 0;
    bool   known = false;
    if (f->size >= MC_HEAD_BYTES || !next_line(text, &pos, &line))
        return false;
    for (size_t i = 0; i < MC_COUNT(versions); i++)
        known |= mc_str_is(line, versions[i]);
    if (!known)
        return false;
    do {
        if (!next_line(text, &pos, &line))
            return false;
    } while (mc_str_starts(line, "ext-"));
    if (!oid_line(line, &f->pointer_oid))
        return false;
    return next_line(text, &pos, &line) && mc_str_starts(line, "size ") && mc_str_u64(mc_str_cut(line, 5, line.n), &f->pointer_size);
}

static bool xet_pointer(mc_file *f)
{
    mc_str text = { (const char *)f->head.p, f->head.n }, line;
    size_t pos = 0;
    if (f->size >= MC_HEAD_BYTES || !mc_str_starts(text, "# xet version 0"))
        return false;
    while (next_line(text, &pos, &line))
        if (mc_str_starts(line, "filesize = ") && !mc_str_u64(mc_str_cut(line, 11, line.n), &f->pointer_size))
            f->pointer_size = 0;
    return true;
}

/* ---- binaries ---- */

typedef struct { const char *magic; uint8_t n, at; mc_bytes bytes; } magic_row;
static const magic_row magics[] = {
    { "GGUF", 4, 0, MC_BYTES_GGUF }, { "FUGG", 4, 0, MC_BYTES_GGUF_SWAPPED },
    { "lmgg", 4, 0, MC_BYTES_GGML }, { "fmgg", 4, 0, MC_BYTES_GGML }, { "tjgg", 4, 0, MC_BYTES_GGML }, { "algg", 4, 0, MC_BYTES_GGML },
    { "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e", 15, 0, MC_BYTES_TORCH_LEGACY },
    { "\x89HDF\r\n\x1a\n", 8, 0, MC_BYTES_HDF5 }, { "\x93NUMPY", 6, 0, MC_BYTES_NPY },
    { "TFL3", 4, 4, MC_BYTES_TFLITE }, { "ORTM", 4, 4, MC_BYTES_ORT },
    { "\x1f\x8b\x08", 3, 0, MC_BYTES_GZIP }, { "\x28\xb5\x2f\xfd", 4, 0, MC_BYTES_ZSTD }, { "\xfd" "7zXZ", 5, 0, MC_BYTES_XZ },
    { "7z\xbc\xaf\x27\x1c", 6, 0, MC_BYTES_7Z }, { "Rar!", 4, 0, MC_BYTES_RAR }, { "BZh", 3, 0, MC_BYTES_BZIP2 },
    { "RKNN", 4, 0, MC_BYTES_RKNN }, { "T7\0\0", 4, 0, MC_BYTES_TORCH7 },
    { "\x7f" "ELF", 4, 0, MC_BYTES_EXECUTABLE }, { "MZ", 2, 0, MC_BYTES_EXECUTABLE },
};

/* The first member of a zip tells what it is: torch puts "<top>/data.pkl" or its kin first, NumPy "<name>.npy". */
static mc_bytes zip_kind(mc_span h)
{
    mc_str name = h.n >= 30 ? mc_str_cut((mc_str){ (const char *)h.p, h.n }, 30, 30 + (size_t)mc_u16le(h.p + 26)) : MC_STR("");
    static const char *const torch[] = { "/data.pkl", "/version", "/byteorder", "/.format_version", "/.storage_alignment", "/.data/serialization_id", "/constants.pkl" };
    if (mc_str_ends(name, ".npy"))
        return MC_BYTES_NPZ;
    for (size_t i = 0; i < MC_COUNT(torch); i++)
        if (mc_str_ends(name, torch[i]))
            return MC_BYTES_TORCH_ZIP;
    return mc_str_contains(name, "/data/") || mc_str_contains(name, "/code/") ? MC_BYTES_TORCH_ZIP : MC_BYTES_ZIP;
}

static mc_bytes by_magic(mc_span h)
{
    for (size_t i = 0; i < MC_COUNT(magics); i++)
        if (begins(h, magics[i].at, magics[i].magic, magics[i].n))
            return magics[i].bytes;
    if (begins(h, 0, "PK\3\4", 4))
        return zip_kind(h);
    if (begins(h, 257, "ustar", 5))
        return MC_BYTES_TAR;
    if (h.n >= 2 && h.p[0] == 0x80 && h.p[1] >= 2 && h.p[1] <= 5)
        return MC_BYTES_PICKLE;
    return MC_BYTES_UNKNOWN;
}

/* A header length that fits the file and '{' behind it, white space allowed. */
static bool safetensors(mc_span h, uint64_t size)
{
    size_t i = 8;
    if (h.n < 10)
        return false;
    uint64_t n = mc_u64le(h.p);
    while (i < h.n && memchr(" \t\r\n", h.p[i], 4))
        i++;
    return n >= 2 && n <= MC_MAX_ST_HEADER && n <= size - 8 && i < h.n && h.p[i] == '{';
}

/* ModelProto: field 1 (varint ir_version), then producer_name, graph or opset_import in the order of their numbers. */
static bool onnx(mc_span h)
{
    return h.n >= 3 && h.p[0] == 0x08 && h.p[1] >= 1 && h.p[1] <= 20 && (h.p[2] == 0x12 || h.p[2] == 0x1a || h.p[2] == 0x3a || h.p[2] == 0x42);
}

static bool ctranslate2(mc_span h)
{
    if (h.n < 8 || mc_u32le(h.p) == 0 || mc_u32le(h.p) > 64)
        return false;
    size_t n = mc_u16le(h.p + 4); /* with its NUL */
    return n >= 6 && n <= 64 && h.n >= 6 + n && h.p[6 + n - 1] == 0 && mc_str_contains((mc_str){ (const char *)h.p + 6, n }, "Spec");
}

static mc_bytes what(mc_file *f)
{
    static const uint8_t zeros[16];
    mc_span h = f->head;
    size_t  at = skip_space(h);
    if (lfs_pointer(f))
        return MC_BYTES_LFS_POINTER;
    if (xet_pointer(f))
        return MC_BYTES_XET_POINTER;
    if (web_page(h, at))
        return MC_BYTES_WEB_PAGE;
    if (error_text(h, f->size) || error_object(h, f->size))
        return MC_BYTES_ERROR_ANSWER;
    if (safetensors(h, f->size))
        return MC_BYTES_SAFETENSORS;
    mc_bytes m = by_magic(h);
    if (m != MC_BYTES_UNKNOWN)
        return m;
    if (begins(h, 0, zeros, sizeof zeros))
        return MC_BYTES_ZEROS;
    if (ctranslate2(h))
        return MC_BYTES_CTRANSLATE2;
    if (onnx(h))
        return MC_BYTES_ONNX;
    if (!looks_like_text(h))
        return h.n > 3 && h.p[0] == 0x0a && h.p[2] == 0x0a ? MC_BYTES_SENTENCEPIECE : MC_BYTES_UNKNOWN;
    return at < h.n && (h.p[at] == '{' || h.p[at] == '[') ? MC_BYTES_JSON : MC_BYTES_TEXT;
}

void mc_recognise(mc_file *f)
{
    f->bytes = f->size == 0 ? MC_BYTES_EMPTY : f->head.n == 0 ? MC_BYTES_UNREAD : what(f);
}
