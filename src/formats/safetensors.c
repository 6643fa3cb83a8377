/* safetensors: u64 LE header length N, N bytes of JSON, tensor data.
 *
 * The header maps names to { dtype, shape, data_offsets }, offsets relative to byte 8 + N, half open. Source and law:
 * https://github.com/huggingface/safetensors (safetensors/src/tensor.rs); what it refuses is an error here.
 * Two spellings are read: the compact one that every current writer produces, by plain comparison, and anything else
 * that serde_json would take, by the scanner. Faults of single tensors are gathered, the file is read to its end. */
#include "formats/safetensors.h"

#include <string.h>

typedef struct {
    mc_json      j;
    mc_arena    *a;
    const mc_kb *kb;
    mc_file     *f;
    uint32_t     id;
    size_t       cap;
    mc_str       last_dtype;    /* names repeat: look the last one up once */
    uint16_t     last_id;
    uint64_t    *pool;          /* dimensions, handed out from a block */
    size_t       pool_left;
} parser;

static bool limit(parser *p, const char *what)
{
    return mc_json_fail(&p->j, MC_E_LIMIT, what);
}

/* ---- one entry, any spelling ---- */

static bool shape_dims(parser *p, mc_tensor *t, const uint64_t *d, size_t n)
{
    if (!p->pool || n > p->pool_left) {
        p->pool_left = 1024;
        p->pool = MC_NEW(p->a, uint64_t, p->pool_left);
        if (!p->pool)
            return mc_json_fail(&p->j, MC_E_NOMEM, "memory budget exhausted");
    }
    memcpy(p->pool, d, n * sizeof *d);
    t->dims = p->pool;
    t->rank = (uint8_t)n;
    p->pool += n;
    p->pool_left -= n;
    t->elements = 1;
    for (size_t i = 0; i < n; i++) /* left to right, as the reference: [0, 2^64 - 1, 2] is empty, [2^64 - 1, 2, 0] overflows */
        t->overflow |= ckd_mul(&t->elements, t->elements, d[i]);
    if (t->overflow)
        t->elements = UINT64_MAX;
    return true;
}

static bool read_shape(parser *p, mc_tensor *t)
{
    uint64_t d[MC_MAX_RANK];
    size_t   n = 0;
    if (!mc_json_lit(&p->j, '['))
        return mc_json_fail(&p->j, MC_E_SYNTAX, "shape is not a list");
    for (bool first = true; mc_json_element(&p->j, &first); n++) {
        if (n == MC_MAX_RANK)
            return limit(p, "more than 16 dimensions");
        if (!mc_json_u64(&p->j, &d[n]))
            return false;
    }
    return p->j.err.code == MC_OK && shape_dims(p, t, d, n);
}

static void set_dtype(parser *p, mc_tensor *t, mc_str name)
{
    if (!mc_str_eq(name, p->last_dtype) || !p->last_dtype.p) {
        p->last_dtype = name;
        p->last_id = mc_kb_st_dtype(p->kb, name);
    }
    t->dtype = p->last_id;
    if (t->dtype == MC_DTYPE_UNKNOWN && p->f->st->n_unknown_dtype++ == 0)
        p->f->st->unknown_dtype = name;
}

/* A string; or an object of that one name with null, which serde takes for an enumeration too. */
static bool read_dtype(parser *p, mc_tensor *t)
{
    mc_str raw = MC_STR("");
    bool   escaped = false, first = true;
    if (mc_json_lit(&p->j, '{')) {
        p->f->st->array_form = true;
        if (!mc_json_member(&p->j, &first, &raw, &escaped))
            return mc_json_fail(&p->j, MC_E_SYNTAX, "dtype is not a string");
        if (mc_json_peek(&p->j) != 'n' || !mc_json_skip(&p->j) || !mc_json_lit(&p->j, '}'))
            return mc_json_fail(&p->j, MC_E_SYNTAX, "dtype is not a string");
    } else if (!mc_json_str(&p->j, &raw, &escaped)) {
        return false;
    }
    set_dtype(p, t, mc_json_unescape(p->a, raw, escaped));
    return true;
}

/* Not two integers is a fault of the tensor (MC304), as long as it is JSON. */
static bool read_offsets(parser *p, mc_tensor *t)
{
    mc_json  at = p->j;
    uint64_t v[2];
    if (!mc_json_skip(&p->j))
        return false;
    bool ok = mc_json_lit(&at, '[') && mc_json_u64(&at, &v[0]) && mc_json_lit(&at, ',') && mc_json_u64(&at, &v[1]) && mc_json_lit(&at, ']');
    if (ok) {
        t->begin = v[0];
        t->end = v[1];
    } else {
        mc_st_fault_of(p->f, MC_ST_AT_OFFSETS, t, 8 + (uint64_t)(at.p - at.beg), "is not a pair of non-negative integers", 0, 0);
    }
    return true;
}

enum { HAS_DTYPE = 1, HAS_SHAPE = 2, HAS_OFFSETS = 4, HAS_ALL = 7 };

static bool read_field(parser *p, mc_tensor *t, mc_str key, unsigned *seen)
{
    unsigned bit = mc_str_is(key, "dtype") ? HAS_DTYPE : mc_str_is(key, "shape") ? HAS_SHAPE : mc_str_is(key, "data_offsets") ? HAS_OFFSETS : 0;
    if (*seen & bit)
        return mc_json_fail(&p->j, MC_E_SYNTAX, "a field of a tensor occurs twice");
    *seen |= bit;
    switch (bit) {
    case HAS_DTYPE: return read_dtype(p, t);
    case HAS_SHAPE: return read_shape(p, t);
    case HAS_OFFSETS: return read_offsets(p, t);
    default: p->f->st->extra_fields = true; return mc_json_skip(&p->j);
    }
}

/* ["F32", [2], [0, 8]]: serde reads a struct from a sequence too. */
static bool read_array_form(parser *p, mc_tensor *t)
{
    static const char *const order[] = { "dtype", "shape", "data_offsets" };
    unsigned seen = 0, n = 0;
    p->f->st->array_form = true;
    for (bool first = true; mc_json_element(&p->j, &first); n++)
        if (n == MC_COUNT(order) || !read_field(p, t, mc_str_of(order[n]), &seen))
            return mc_json_fail(&p->j, MC_E_SYNTAX, "a tensor entry has more than three elements");
    return p->j.err.code == MC_OK && (seen == HAS_ALL || mc_json_fail(&p->j, MC_E_SYNTAX, "a tensor entry lacks dtype, shape or data_offsets"));
}

static bool read_entry(parser *p, mc_tensor *t)
{
    unsigned seen = 0;
    mc_str   key;
    bool     escaped;
    if (mc_json_lit(&p->j, '['))
        return read_array_form(p, t);
    if (!mc_json_lit(&p->j, '{'))
        return mc_json_fail(&p->j, MC_E_SYNTAX, "a tensor entry is not an object");
    for (bool first = true; mc_json_member(&p->j, &first, &key, &escaped);)
        if (!read_field(p, t, mc_json_unescape(p->a, key, escaped), &seen))
            return false;
    return p->j.err.code == MC_OK && (seen == HAS_ALL || mc_json_fail(&p->j, MC_E_SYNTAX, "a tensor entry lacks dtype, shape or data_offsets"));
}

/* ---- one entry in the compact spelling ---- */

static bool literal(const uint8_t **c, const uint8_t *end, const char *text, size_t n)
{
    if ((size_t)(end - *c) < n || memcmp(*c, text, n) != 0)
        return false;
    *c += n;
    return true;
}
#define LITERAL(text) literal(&c, end, text, sizeof(text) - 1)

/* Up to 18 digits without a leading zero: they cannot overflow. */
static bool digits(const uint8_t **c, const uint8_t *end, uint64_t *out)
{
    const uint8_t *s = *c;
    uint64_t       v = 0;
    while (s < end && *s >= '0' && *s <= '9' && s - *c < 19)
        v = v * 10 + (uint64_t)(*s++ - '0');
    if (s == *c || s - *c > 18 || (**c == '0' && s - *c > 1))
        return false;
    *c = s;
    *out = v;
    return true;
}

/* {"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]} and nothing else; false leaves the work to read_entry. */
static bool compact_entry(parser *p, mc_tensor *t)
{
    const uint8_t *c = p->j.p, *end = p->j.end, *name;
    uint64_t       d[8], begin, stop;
    size_t         n = 0;
    if (!LITERAL("{\"dtype\":\""))
        return false;
    for (name = c; c < end && c - name < 16 && *c != '"' && *c != '\\' && *c > ' ' && *c < 0x7f; c++)
        ;
    mc_str dtype = { (const char *)name, (size_t)(c - name) };
    if (!LITERAL("\",\"shape\":["))
        return false;
    if (!(c < end && *c == ']'))
        do {
            if (n == MC_COUNT(d) || !digits(&c, end, &d[n++]))
                return false;
        } while (LITERAL(","));
    if (!LITERAL("],\"data_offsets\":[") || !digits(&c, end, &begin) || !LITERAL(",") || !digits(&c, end, &stop) || !LITERAL("]}"))
        return false;
    if (!shape_dims(p, t, d, n))
        return false;
    t->begin = begin;
    t->end = stop;
    set_dtype(p, t, dtype);
    p->j.p = c;
    return true;
}

/* ---- the header ---- */

/* null, or an object of strings; only `format` matters later, and whether a key is about quantization. */
static bool read_metadata(parser *p)
{
    mc_st *st = p->f->st;
    mc_str key, value;
    bool   key_escaped, escaped;
    if (st->metadata != MC_META_ABSENT)
        return mc_json_fail(&p->j, MC_E_SYNTAX, "__metadata__ occurs twice");
    if (mc_json_peek(&p->j) == 'n') {
        st->metadata = MC_META_NULL;
        return mc_json_skip(&p->j);
    }
    st->metadata = MC_META_OBJECT;
    if (!mc_json_lit(&p->j, '{'))
        return mc_json_fail(&p->j, MC_E_SYNTAX, "__metadata__ is neither null nor an object");
    for (bool first = true; mc_json_member(&p->j, &first, &key, &key_escaped);) {
        if (mc_json_peek(&p->j) != '"')
            return mc_json_fail(&p->j, MC_E_SYNTAX, "a value of __metadata__ is not a string");
        if (!mc_json_str(&p->j, &value, &escaped))
            return false;
        key = mc_json_unescape(p->a, key, key_escaped);
        st->quantization |= mc_str_contains(key, "quantization") || mc_str_contains(key, "quant_config");
        if (mc_str_is(key, "format"))
            st->format = mc_json_unescape(p->a, value, escaped);
    }
    return p->j.err.code == MC_OK;
}

static mc_tensor *push(parser *p, mc_str name)
{
    mc_tensor *v = mc_grow(p->a, p->f->tensors, p->f->n_tensors, &p->cap, sizeof *v);
    if (!v) {
        mc_json_fail(&p->j, MC_E_NOMEM, "memory budget exhausted");
        return NULL;
    }
    p->f->tensors = v;
    v[p->f->n_tensors] = (mc_tensor){ .name = name, .file = p->id };
    return &v[p->f->n_tensors++];
}

static void read_header(parser *p)
{
    mc_json *j = &p->j;
    mc_str   key;
    bool     escaped;
    if (!mc_json_lit(j, '{')) {
        mc_json_fail(j, MC_E_SYNTAX, "the header is not a JSON object");
        return;
    }
    for (bool first = true; mc_json_member(j, &first, &key, &escaped);) {
        mc_str name = mc_json_unescape(p->a, key, escaped);
        if (mc_str_is(name, "__metadata__")) {
            if (!read_metadata(p))
                return;
            continue;
        }
        mc_tensor *t = push(p, name);
        if (!t || !(compact_entry(p, t) || read_entry(p, t)))
            return;
    }
    if (j->err.code == MC_OK)
        mc_json_end(j);
}

/* ---- entry ---- */

static mc_err refuse(mc_file *f, mc_st_fault kind, mc_code code, uint64_t at, const char *what)
{
    f->st->fault = kind;
    return f->parse = (mc_err){ code, at, what };
}

/* The length word, against the file's size and the first byte behind it. MC_OK: the whole header is in the prefix. */
static mc_err read_length(mc_span prefix, uint64_t size, mc_file *f)
{
    mc_st   *st = f->st;
    uint64_t want = size < MC_HEAD_BYTES ? size : MC_HEAD_BYTES, i = 8;
    if (size < 8)
        return refuse(f, MC_ST_LENGTH, MC_E_TRUNCATED, 0, "the file is shorter than the length word of 8 bytes");
    if (prefix.n < want)
        return (mc_err){ MC_MORE, want, "need a longer prefix" };
    uint64_t n = st->header_bytes = mc_u64le(prefix.p);
    if (n == 0)
        return refuse(f, MC_ST_LENGTH, MC_E_RANGE, 0, "the header length is 0");
    if (n > MC_MAX_ST_HEADER)
        return refuse(f, MC_ST_LENGTH, MC_E_RANGE, 0, "the header length is above 100,000,000");
    while (i < prefix.n && i < 8 + n && memchr(" \t\r\n", prefix.p[i], 4))
        i++;
    st->leading_space = i > 8;
    bool blank = i == prefix.n && i < size && i < 8 + n; /* more white space than the first bytes show */
    if (n >= 2 && !blank && (i >= prefix.n || i >= 8 + n || prefix.p[i] != '{'))
        return refuse(f, MC_ST_LENGTH, MC_E_SYNTAX, i, "no JSON object follows the length word");
    if (n > size - 8)
        return refuse(f, MC_ST_CUT, MC_E_TRUNCATED, size, "the file ends inside the header");
    return prefix.n < 8 + n ? (mc_err){ MC_MORE, 8 + n, "need a longer prefix" } : MC_NO_ERR;
}

mc_err mc_parse_safetensors(mc_span prefix, uint64_t file_size, const mc_kb *kb, mc_arena *a, uint32_t id, mc_file *f)
{
    if (!f->st && !(f->st = MC_NEW(a, mc_st, 1)))
        return f->parse = (mc_err){ MC_E_NOMEM, 0, "memory budget exhausted" };
    *f->st = (mc_st){ .format = MC_STR(""), .unknown_dtype = MC_STR("") };
    f->tensors = NULL;
    f->n_tensors = 0;
    mc_err e = read_length(prefix, file_size, f);
    if (e.code != MC_OK)
        return e;
    parser p = { .a = a, .kb = kb, .f = f, .id = id };
    p.j = mc_json_of((mc_span){ prefix.p + 8, (size_t)f->st->header_bytes });
    f->data_start = 8 + f->st->header_bytes;
    p.cap = (size_t)(f->st->header_bytes / 128) + 8; /* bytes of a usual entry: saves most of the growing */
    f->tensors = MC_NEW(a, mc_tensor, p.cap);
    if (!f->tensors)
        return refuse(f, MC_ST_LIMIT, MC_E_NOMEM, 0, "memory budget exhausted");
    read_header(&p);
    if (p.j.err.code == MC_E_LIMIT || p.j.err.code == MC_E_NOMEM)
        return refuse(f, MC_ST_LIMIT, p.j.err.code, 8 + p.j.err.at, p.j.err.what);
    if (p.j.err.code != MC_OK)
        return refuse(f, MC_ST_HEADER, MC_E_SYNTAX, 8 + p.j.err.at, p.j.err.what);
    mc_st_check(f, kb, a);
    return f->parse = MC_NO_ERR;
}
