/* GGUF, versions 2 and 3 (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md): header, metadata, tensor table,
 * data. Integers are in the byte order of the file; a big-endian file shows itself by a version whose low half is zero
 * when it is read as little-endian.
 *
 *   "GGUF" u32 version, u64 tensors, u64 pairs | pairs: string key, u32 type, value | tensors: string name, u32 rank,
 *   u64 dims[rank] (row length first), u32 type, u64 offset | zeros up to the alignment | data
 *   string: u64 length, bytes    array: u32 element type, u64 length, elements
 *
 * Faults are looked for in the order of the reference loader (ggml/src/gguf.cpp), so that the first one is the one a user
 * would see there. Row lengths, offsets, the end of the data and repeated tensors are left to the rules: they are in the
 * table. Nothing is allocated by a count that was not compared with the bytes that are left. */
#include "formats/gguf.h"

#include <string.h>

enum { MIN_PAIR = 8 + 1 + 4 + 1, MIN_PREFIX = 1 << 20 };

bool mc_gguf_fail(mc_gguf_walk *w, mc_gguf_fault kind, uint64_t at, const char *what, mc_str subject)
{
    static const mc_code codes[] = { MC_OK, MC_E_SYNTAX, MC_E_TRUNCATED, MC_E_SYNTAX, MC_E_LIMIT };
    if (w->g->fault == MC_GGUF_SOUND && w->r.err.code != MC_MORE) {
        w->g->fault = kind;
        w->g->err = (mc_err){ codes[kind], at, what };
        w->g->err_subject = subject;
    }
    return false;
}

static bool no_memory(mc_gguf_walk *w)
{
    return mc_gguf_fail(w, MC_GGUF_LIMIT, w->r.pos, "the memory budget is used up", MC_STR(""));
}

/* After a read: is what was read there? */
static bool got(mc_gguf_walk *w, const char *what, mc_str subject)
{
    if (w->r.err.code == MC_OK)
        return true;
    return mc_gguf_fail(w, MC_GGUF_DAMAGED, w->r.err.at, what, subject);
}

bool mc_gguf_string(mc_gguf_walk *w, mc_str *out, const char *what, mc_str subject)
{
    uint64_t at = w->r.pos, n = mc_rd_u64(&w->r);
    if (!got(w, what, subject))
        return false;
    if (n > MC_GGUF_MAX_LENGTH || n > w->r.file_size - w->r.pos)
        return mc_gguf_fail(w, MC_GGUF_DAMAGED, at, what, subject);
    mc_span s = mc_rd_bytes(&w->r, n);
    *out = (mc_str){ (const char *)s.p, s.n };
    return w->r.err.code == MC_OK;
}

/* ---- metadata ---- */

static const uint8_t value_size[] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };

static uint64_t stored_bits(mc_reader *r, uint32_t size)
{
    return size == 1 ? mc_rd_u8(r) : size == 2 ? mc_rd_u16(r) : size == 4 ? mc_rd_u32(r) : mc_rd_u64(r);
}

static void set_scalar(mc_gguf_kv *kv, uint64_t bits)
{
    kv->n = 1;
    if (kv->type == MC_GGUF_F32) {
        uint32_t b = (uint32_t)bits;
        float    f;
        memcpy(&f, &b, sizeof f);
        kv->f = (double)f;
    } else if (kv->type == MC_GGUF_F64) {
        memcpy(&kv->f, &bits, sizeof kv->f);
    } else {
        unsigned shift = 64 - 8u * value_size[kv->type];
        bool     is_signed = kv->type == MC_GGUF_I8 || kv->type == MC_GGUF_I16 || kv->type == MC_GGUF_I32 || kv->type == MC_GGUF_I64;
        kv->u = bits;
        memcpy(&kv->i, &bits, sizeof kv->i);
        if (is_signed && shift && bits >> (63 - shift) & 1) { /* extend the sign */
            uint64_t wide = bits | ~(UINT64_MAX >> shift);
            memcpy(&kv->i, &wide, sizeof kv->i);
        }
    }
}

static inline uint64_t load64(const uint8_t *p, bool big_endian)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? v : __builtin_bswap64(v);
}

/* Where the header may end, given how long the first `done` of kv->n strings are. A vocabulary is followed by scores or
 * types of its tokens, and by merges, which are pairs of them. A guess only: it saves rounds. */
static void guess_end(mc_gguf_walk *w, const mc_gguf_kv *kv, uint64_t start, uint64_t done)
{
    if (done == 0)
        return;
    uint64_t each = (w->r.pos - start) / done + 1, all;
    if (mc_str_is(kv->key, "tokenizer.ggml.tokens"))
        each = each * 3 + 4;
    if (!ckd_mul(&all, each, kv->n) && !ckd_add(&all, all, start + MIN_PREFIX / 8))
        w->guess = all;
}

/* The bulk of most headers: a vocabulary and its merges, several 100,000 strings. */
static bool skip_strings(mc_gguf_walk *w, const mc_gguf_kv *kv)
{
    mc_reader     *r = &w->r;
    const uint8_t *p = r->p;
    size_t         pos = r->pos, start = pos, len = r->len;
    for (uint64_t i = 0; i < kv->n; i++) {
        uint64_t n = 0;
        if (len - pos >= 8) {
            n = load64(p + pos, r->big_endian);
            if (n <= len - pos - 8 && n <= MC_GGUF_MAX_LENGTH) {
                pos += 8 + (size_t)n;
                continue;
            }
        }
        r->pos = pos; /* the rare end: beyond the prefix or wrong */
        guess_end(w, kv, start, i);
        if (n > MC_GGUF_MAX_LENGTH)
            return mc_gguf_fail(w, MC_GGUF_DAMAGED, pos, "a string of an array", kv->key);
        (void)mc_rd_bytes(r, 8 + n);
        return got(w, "a string of an array", kv->key);
    }
    r->pos = pos;
    return true;
}

static bool read_array(mc_gguf_walk *w, mc_gguf_kv *kv)
{
    uint64_t at = w->r.pos;
    kv->element = mc_rd_u32(&w->r);
    kv->n = mc_rd_u64(&w->r);
    if (!got(w, "the head of an array", kv->key))
        return false;
    if (kv->element == MC_GGUF_ARRAY)
        return mc_gguf_fail(w, MC_GGUF_INVALID, at, "an array of arrays", kv->key);
    if (kv->element > MC_GGUF_F64)
        return mc_gguf_fail(w, MC_GGUF_INVALID, at, "an unknown element type", kv->key);
    size_t   start = w->r.pos;
    uint64_t each = kv->element == MC_GGUF_STRING ? 8 : value_size[kv->element];
    if (kv->n > MC_GGUF_MAX_LENGTH || kv->n > (w->r.file_size - start) / each)
        return mc_gguf_fail(w, MC_GGUF_DAMAGED, at + 4, "an array", kv->key);
    if (kv->element == MC_GGUF_STRING) {
        if (!skip_strings(w, kv))
            return false;
    } else {
        (void)mc_rd_bytes(&w->r, kv->n * each);
        if (w->r.err.code != MC_OK)
            return false;
    }
    kv->raw = (mc_span){ w->r.p + start, w->r.pos - start };
    return true;
}

static bool read_value(mc_gguf_walk *w, mc_gguf_kv *kv)
{
    uint64_t at = w->r.pos;
    kv->type = mc_rd_u32(&w->r);
    if (!got(w, "a value", kv->key))
        return false;
    if (kv->type > MC_GGUF_F64)
        return mc_gguf_fail(w, MC_GGUF_INVALID, at, "an unknown value type", kv->key);
    if (kv->type == MC_GGUF_ARRAY)
        return read_array(w, kv);
    if (kv->type == MC_GGUF_STRING) {
        kv->n = 1;
        return mc_gguf_string(w, &kv->s, "a string", kv->key);
    }
    uint64_t bits = stored_bits(&w->r, value_size[kv->type]);
    if (!got(w, "a value", kv->key))
        return false;
    set_scalar(kv, bits);
    return true;
}

static bool read_pair(mc_gguf_walk *w, size_t *cap)
{
    mc_gguf   *g = w->g;
    mc_gguf_kv kv = { .at = w->r.pos };
    bool       added;
    if (!mc_gguf_string(w, &kv.key, "a key", MC_STR("")))
        return false;
    if (kv.key.n == 0)
        return mc_gguf_fail(w, MC_GGUF_INVALID, kv.at, "an empty key", MC_STR(""));
    if (mc_strset_add(&g->keys, kv.key, &added) == MC_NO_ID)
        return no_memory(w);
    if (!added)
        return mc_gguf_fail(w, MC_GGUF_INVALID, kv.at, "a key that occurs twice", kv.key);
    if (!read_value(w, &kv))
        return false;
    mc_gguf_kv *v = mc_grow(w->a, g->kv, g->n, cap, sizeof *v);
    if (!v)
        return no_memory(w);
    g->kv = v;
    v[g->n++] = kv;
    return true;
}

/* The reference looks keys up as C strings: the first that is this one up to a NUL byte counts. */
static const mc_gguf_kv *find_alignment(const mc_gguf *g)
{
    static const char key[] = "general.alignment"; /* with its NUL */
    for (size_t i = 0; i < g->n; i++)
        if (g->kv[i].key.n >= sizeof key - 1 && memcmp(g->kv[i].key.p, key, g->kv[i].key.n < sizeof key ? sizeof key - 1 : sizeof key) == 0)
            return &g->kv[i];
    return NULL;
}

static bool read_alignment(mc_gguf_walk *w)
{
    const mc_gguf_kv *kv = find_alignment(w->g);
    w->g->alignment = 32;
    if (!kv)
        return true;
    if (kv->type != MC_GGUF_U32)
        return mc_gguf_fail(w, MC_GGUF_INVALID, kv->at, "an alignment that is no u32", kv->key);
    if (kv->u == 0 || (kv->u & (kv->u - 1)) != 0)
        return mc_gguf_fail(w, MC_GGUF_INVALID, kv->at, "an alignment that is no power of two", kv->key);
    w->g->alignment = kv->u;
    return true;
}

/* ---- the header ---- */

static bool read_version(mc_gguf_walk *w)
{
    mc_span magic = mc_rd_bytes(&w->r, 4);
    if (!got(w, "the magic", MC_STR("")))
        return false;
    if (memcmp(magic.p, "GGUF", 4) != 0)
        return mc_gguf_fail(w, MC_GGUF_INVALID, 0, "a magic that is not GGUF", MC_STR(""));
    uint32_t v = mc_rd_u32(&w->r);
    if (!got(w, "the version", MC_STR("")))
        return false;
    if (v != 0 && (v & 0xFFFF) == 0) {
        w->r.big_endian = w->g->big_endian = true;
        v = __builtin_bswap32(v);
    }
    w->g->version = v;
    return v == 2 || v == 3 || mc_gguf_fail(w, MC_GGUF_BAD_VERSION, 4, "the version", MC_STR(""));
}

static bool read_header(mc_gguf_walk *w)
{
    mc_gguf *g = w->g;
    size_t   cap = 0;
    if (!read_version(w))
        return false;
    g->n_tensors = mc_rd_u64(&w->r);
    g->n_kv = mc_rd_u64(&w->r);
    if (!got(w, "the header", MC_STR("")))
        return false;
    if (g->n_kv > (w->r.file_size - w->r.pos) / MIN_PAIR)
        return mc_gguf_fail(w, MC_GGUF_DAMAGED, 16, "the metadata", MC_STR(""));
    if (!mc_strset_init(&g->keys, w->a, g->n_kv < 64 ? (size_t)g->n_kv : 64))
        return no_memory(w);
    for (uint64_t i = 0; i < g->n_kv; i++)
        if (!read_pair(w, &cap))
            return false;
    return read_alignment(w);
}

/* How much to ask for: what is needed, or what the header seems to have, or twice what there was. */
static uint64_t next_prefix(const mc_gguf_walk *w)
{
    uint64_t want = (uint64_t)w->r.len * 2, most = (uint64_t)w->r.len * 16;
    if (want < MIN_PREFIX)
        want = most = MIN_PREFIX;
    if (w->guess > want)
        want = w->guess < most ? w->guess : most;
    if (want > MC_MAX_GGUF_HEADER)
        want = MC_MAX_GGUF_HEADER;
    if (want < w->r.err.at)
        want = w->r.err.at;
    return want < w->r.file_size ? want : w->r.file_size;
}

mc_err mc_parse_gguf(mc_span prefix, uint64_t file_size, const mc_kb *kb, mc_arena *a, uint32_t id, mc_file *f)
{
    mc_gguf_walk w = { .r = mc_reader_of(prefix, file_size), .g = MC_NEW(a, mc_gguf, 1), .a = a, .kb = kb };
    if (!w.g) {
        f->limit = true;
        return f->parse = (mc_err){ MC_E_NOMEM, 0, "the memory budget is used up" };
    }
    w.g->alignment = 32;
    f->tensors = NULL;
    f->n_tensors = 0;
    bool ok = read_header(&w) && mc_gguf_tensors(&w, id, f);
    if (!ok && w.r.err.code == MC_MORE && w.g->fault == MC_GGUF_SOUND) {
        if (w.r.err.at <= MC_MAX_GGUF_HEADER)
            return (mc_err){ MC_MORE, next_prefix(&w), "need a longer prefix" };
        uint64_t at = w.r.pos;
        w.r.err = MC_NO_ERR;
        (void)mc_gguf_fail(&w, MC_GGUF_LIMIT, at, "a header longer than 256 MiB", MC_STR(""));
    }
    f->gguf = w.g;
    f->limit = w.g->fault == MC_GGUF_LIMIT;
    mc_gguf_sizes(&w, f);
    return f->parse = w.g->err;
}
