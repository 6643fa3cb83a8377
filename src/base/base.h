/* base.h - the vocabulary every other layer is written in: text, errors, memory, checked reads, JSON.
 *
 * Ownership: everything made here lives in the arena that was passed in, or borrows the bytes it was made from.
 * Nothing here does I/O, prints, exits or keeps state between calls. */
#ifndef MODELCHECK_BASE_H
#define MODELCHECK_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"

/* C17: the GCC and Clang builtins have the same meaning as C23's macros of <stdckdint.h>. */
#ifndef ckd_add
#define ckd_add(r, a, b) __builtin_add_overflow((a), (b), (r))
#define ckd_sub(r, a, b) __builtin_sub_overflow((a), (b), (r))
#define ckd_mul(r, a, b) __builtin_mul_overflow((a), (b), (r))
#endif

#define MC_MUST_USE __attribute__((warn_unused_result))
#define MC_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
/* a * b, a + b; where they leave 64 bits 0, and *overflow is set. The flag is never cleared: a sum is judged once, at its end. */
static inline uint64_t mc_mul(bool *overflow, uint64_t a, uint64_t b)
{
    uint64_t r;
    if (!ckd_mul(&r, a, b))
        return r;
    *overflow = true;
    return 0;
}

static inline uint64_t mc_add(bool *overflow, uint64_t a, uint64_t b)
{
    uint64_t r;
    if (!ckd_add(&r, a, b))
        return r;
    *overflow = true;
    return 0;
}

/* n / d rounded up, 0 for d = 0; cannot overflow. */
static inline uint64_t mc_ceil_div(uint64_t n, uint64_t d) { return d ? n / d + (n % d != 0) : 0; }

#define MC_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- text ------------------------------------------------------------------------------------------------- */

/* A borrowed run of bytes; never owns, never NUL-terminated. */
typedef struct { const uint8_t *p; size_t n; } mc_span;
/* The same for text. It is UTF-8 where the source was checked; names from a file system may be anything. */
typedef struct { const char *p; size_t n; } mc_str;

#define MC_STR(literal) ((mc_str){ "" literal, sizeof(literal) - 1 })
#define MC_FMT(s) (int)((s).n > 4096 ? 4096 : (s).n), (s).p /* for "%.*s" */

/* ASCII only, whatever the locale. */
static inline bool mc_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool mc_is_lower(char c) { return c >= 'a' && c <= 'z'; }
static inline bool mc_is_upper(char c) { return c >= 'A' && c <= 'Z'; }
static inline char mc_to_lower(char c) { return mc_is_upper(c) ? (char)(c + ('a' - 'A')) : c; }
static inline char mc_to_upper(char c) { return mc_is_lower(c) ? (char)(c - ('a' - 'A')) : c; }

mc_str mc_str_of(const char *nul_terminated);               /* NULL gives "" */
bool   mc_str_eq(mc_str a, mc_str b);
bool   mc_str_is(mc_str a, const char *nul_terminated);     /* equal to a C string */
bool   mc_str_starts(mc_str s, const char *prefix);
bool   mc_str_ends(mc_str s, const char *suffix);
bool   mc_str_ends_nocase(mc_str s, const char *suffix);    /* ASCII case folded */
bool   mc_str_contains(mc_str s, const char *needle);
bool   mc_str_has(mc_str s, mc_str needle);                 /* the same for a slice */
bool   mc_str_contains_nocase(mc_str s, const char *needle);
/* The same for any of several words; NULL ends the list: static const char *const words[] = { "a", "b", NULL }. */
bool   mc_str_is_any(mc_str s, const char *const *words);
bool   mc_str_starts_any(mc_str s, const char *const *words);
bool   mc_str_ends_any(mc_str s, const char *const *words);
bool   mc_str_contains_any(mc_str s, const char *const *words);
bool   mc_str_contains_any_nocase(mc_str s, const char *const *words);
size_t mc_str_find(mc_str s, char c);                       /* index of the first c, or s.n */
size_t mc_str_rfind(mc_str s, char c);                      /* index of the last c, or SIZE_MAX */
int    mc_str_cmp(mc_str a, mc_str b);                      /* bytewise, shorter first: <0, 0, >0 */
mc_str mc_str_cut(mc_str s, size_t from, size_t to);        /* s[from, to), clamped */
mc_str mc_str_last(mc_str name);                            /* what follows the last '.', or all of it */
mc_str mc_str_base(mc_str path);                            /* what follows the last '/' */
mc_str mc_str_dir(mc_str path);                             /* up to and with the last '/', or "" */
bool   mc_str_u64(mc_str digits, uint64_t *out) MC_MUST_USE;/* only decimal digits, no overflow */
size_t mc_utf8_len(const uint8_t *p, size_t n);             /* bytes of the well-formed character at p (n >= 1), or 0 */
bool   mc_utf8_valid(mc_span s);                            /* Unicode table 3-7: no surrogates, nothing overlong */

/* ---- errors ----------------------------------------------------------------------------------------------- */

/* Errors are values. `what` is a static string, `at` the byte offset in the input at hand. */
typedef enum {
    MC_OK = 0,
    MC_MORE,        /* not wrong: the caller must supply a longer prefix, up to `at` bytes */
    MC_E_TRUNCATED, /* the input ends inside an item */
    MC_E_SYNTAX,
    MC_E_RANGE,     /* a number that cannot be right: overflow, beyond the file, negative */
    MC_E_LIMIT,     /* refused by one of our own limits (base/limits.h) */
    MC_E_IO,
    MC_E_NOMEM,
} mc_code;
typedef struct { mc_code code; uint64_t at; const char *what; } mc_err;
#define MC_NO_ERR ((mc_err){ MC_OK, 0, NULL })

/* ---- memory ----------------------------------------------------------------------------------------------- */

/* One arena per model: allocate forward, free everything at once, refuse beyond `budget`. A refusal sets `failed`,
 * and whoever owns the arena reports the run as incomplete (MC901). */
typedef struct mc_block mc_block;
typedef struct { mc_block *head; size_t left, used, budget; bool failed; } mc_arena;

void  mc_arena_init(mc_arena *a, size_t budget);
void  mc_arena_free(mc_arena *a);
void *mc_alloc(mc_arena *a, size_t count, size_t size) MC_MUST_USE; /* zeroed; NULL: out of budget or memory */
/* An array that doubles: returns room for at least n + 1 elements, the first n kept. NULL: as mc_alloc. */
void *mc_grow(mc_arena *a, void *array, size_t n, size_t *cap, size_t size) MC_MUST_USE;
#define MC_NEW(arena, type, count) ((type *)mc_alloc((arena), (count), sizeof(type)))
/* Moves every block of src to dst, so that what src held lives as long as dst. src is empty afterwards. */
void  mc_arena_adopt(mc_arena *dst, mc_arena *src);

mc_str mc_str_copy(mc_arena *a, mc_str s);                          /* NUL-terminated copy; "" when out of memory */
mc_str mc_str_lower(mc_arena *a, mc_str s);                         /* the same in small letters */
mc_str mc_format(mc_arena *a, const char *fmt, ...) MC_PRINTF(2, 3);/* NUL-terminated; "" when out of memory */
mc_str mc_vformat(mc_arena *a, const char *fmt, va_list ap) MC_PRINTF(2, 0);

/* ---- checked reads ---------------------------------------------------------------------------------------- */

/* Cursor over a prefix of a file. The first failure sticks; later reads return zeroes. */
typedef struct { const uint8_t *p; size_t pos, len; uint64_t file_size; bool big_endian; mc_err err; } mc_reader;
mc_reader mc_reader_of(mc_span prefix, uint64_t file_size);
uint8_t   mc_rd_u8(mc_reader *r);
uint16_t  mc_rd_u16(mc_reader *r);
uint32_t  mc_rd_u32(mc_reader *r);
uint64_t  mc_rd_u64(mc_reader *r);
mc_span   mc_rd_bytes(mc_reader *r, uint64_t n);
void      mc_rd_fail(mc_reader *r, mc_code code, const char *what);
uint16_t  mc_u16le(const uint8_t *p);
uint32_t  mc_u32le(const uint8_t *p);
uint64_t  mc_u64le(const uint8_t *p);

/* ---- JSON, pulled ----------------------------------------------------------------------------------------- */

/* RFC 8259 pull scanner: no DOM, no recursion, exact integers; the first failure sticks, with its offset.
 * With `python` it also takes what Python's json takes: NaN, Infinity, -Infinity and lone surrogates. */
typedef struct {
    const uint8_t *beg, *p, *end;
    bool           python;
    const uint8_t *literal;     /* the first NaN or Infinity that was taken, or NULL */
    unsigned       depth;       /* levels that the caller has opened by itself: mc_json_skip counts on from there */
    mc_err         err;
} mc_json;

mc_json mc_json_of(mc_span text);
int  mc_json_peek(mc_json *j);                              /* next byte after white space, -1 at the end */
bool mc_json_lit(mc_json *j, char c);                       /* consume c if it is next */
bool mc_json_str(mc_json *j, mc_str *raw, bool *escaped) MC_MUST_USE; /* raw: between the quotes, still escaped */
bool mc_json_u64(mc_json *j, uint64_t *out) MC_MUST_USE;
bool mc_json_skip(mc_json *j) MC_MUST_USE;                  /* any one value, validated */
bool mc_json_end(mc_json *j);                               /* only white space remains */
bool mc_json_fail(mc_json *j, mc_code code, const char *what);
/* Objects and arrays: `for (bool first = true; mc_json_member(&j, &first, &key, &escaped);)` after the '{'.
 * Returns false at the closing bracket (consumed) and on failure (j->err says which). */
bool mc_json_member(mc_json *j, bool *first, mc_str *key, bool *escaped);
bool mc_json_element(mc_json *j, bool *first);
/* Undo the escapes of a scanned string. A lone surrogate becomes U+FFFD. Returns raw itself when not escaped. */
mc_str mc_json_unescape(mc_arena *a, mc_str raw, bool escaped);

/* ---- JSON, as a tree -------------------------------------------------------------------------------------- */

typedef enum { MC_NULL, MC_BOOL, MC_INT, MC_REAL, MC_STRING, MC_ARRAY, MC_OBJECT } mc_type;
typedef struct mc_value mc_value;
typedef struct { mc_str key; mc_value *value; } mc_field;
/* A number is MC_INT if it is written without fraction and exponent and fits int64_t; its text stays in `s`. */
struct mc_value {
    mc_type  type;
    uint32_t at;                /* byte offset in the document */
    size_t   n;                 /* elements of an array, fields of an object */
    union { bool b; int64_t i; double r; mc_value *items; mc_field *fields; } u;
    mc_str   s;                 /* MC_STRING: decoded text; MC_INT, MC_REAL: as written */
};

/* A whole document, Python's dialect. NULL with *err set when it is not one value, or deeper than MC_MAX_JSON_DEPTH.
 * *literal (may be NULL) gets the offset of the first NaN or Infinity, else UINT64_MAX. */
mc_value *mc_json_tree(mc_arena *a, mc_span text, mc_err *err, uint64_t *literal) MC_MUST_USE;
void      mc_json_line_col(mc_span text, uint64_t at, unsigned *line, unsigned *col); /* both from 1; col counts bytes */

/* All take NULL and other types and then return NULL, false or the fallback. Of equal keys the last counts, as in Python. */
const mc_value *mc_get(const mc_value *object, const char *key);
const mc_value *mc_get_str(const mc_value *object, mc_str key);
const mc_value *mc_at(const mc_value *v, const char *pointer);          /* "/text_config/num_hidden_layers", no ~ escapes */
const mc_value *mc_item(const mc_value *array, size_t i);
static inline bool mc_is(const mc_value *v, mc_type t) { return v && v->type == t; }
bool   mc_as_int(const mc_value *v, int64_t *out) MC_MUST_USE;           /* MC_INT, or MC_REAL with an integral value */
bool   mc_as_number(const mc_value *v, double *out) MC_MUST_USE;
bool   mc_as_bool(const mc_value *v, bool *out) MC_MUST_USE;
bool   mc_flag(const mc_value *object, const char *key);                 /* the member is there, and true */
mc_str mc_as_str(const mc_value *v);                                     /* "" (p == NULL) when it is no string */
bool   mc_has_str(const mc_value *array, const char *s);                 /* an element equal to s */

/* ---- a set of strings ------------------------------------------------------------------------------------- */

/* Each distinct string gets the next id, from 0. Open addressing over XXH3; keys are borrowed. */
typedef struct { uint32_t id, tag; } mc_slot; /* id + 1, 0: free; upper half of the hash */
typedef struct { mc_arena *arena; mc_slot *slots; size_t n_slots; mc_str *keys; size_t n, cap; } mc_strset;
#define MC_NO_ID UINT32_MAX
bool     mc_strset_init(mc_strset *s, mc_arena *a, size_t expected) MC_MUST_USE;
uint32_t mc_strset_add(mc_strset *s, mc_str key, bool *added);           /* id; MC_NO_ID: out of memory. added may be NULL */
uint32_t mc_strset_find(const mc_strset *s, mc_str key);                 /* id or MC_NO_ID */
uint64_t mc_hash(mc_span bytes);                                         /* XXH3, 64 bits, seed 0 */
/* The same for callers that have the hash already, or ask for many strings: touch fetches the slot of one that comes soon. */
uint64_t mc_str_hash(mc_str s);
uint32_t mc_strset_add_hashed(mc_strset *s, mc_str key, uint64_t hash, bool *added);
uint32_t mc_strset_find_hashed(const mc_strset *s, mc_str key, uint64_t hash);
void     mc_strset_touch(const mc_strset *s, uint64_t hash);
enum { MC_TOUCH_AHEAD = 12 };                                            /* look-ups between touch and use */

/* ---- order and patterns ----------------------------------------------------------------------------------- */

/* '*' any run, '?' one byte, "[...]" a class; everything else itself. Linear time in the pattern times the text. */
bool mc_glob(mc_str pattern, mc_str text);

#endif
