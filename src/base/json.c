/* The pull scanner: strict RFC 8259, exact integers, bounded depth, no recursion. */
#include "base/base.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

bool mc_json_fail(mc_json *j, mc_code code, const char *what)
{
    if (j->err.code == MC_OK)
        j->err = (mc_err){ code, (uint64_t)(j->p - j->beg), what };
    return false;
}

mc_json mc_json_of(mc_span t)
{
    return (mc_json){ .beg = t.p, .p = t.p, .end = t.p ? t.p + t.n : t.p };
}

int mc_json_peek(mc_json *j)
{
    while (j->p < j->end && (*j->p == ' ' || *j->p == '\n' || *j->p == '\t' || *j->p == '\r'))
        j->p++;
    return j->p < j->end ? *j->p : -1;
}

bool mc_json_lit(mc_json *j, char c)
{
    if (mc_json_peek(j) != (unsigned char)c)
        return false;
    j->p++;
    return true;
}

bool mc_json_end(mc_json *j)
{
    return j->err.code == MC_OK && (mc_json_peek(j) == -1 || mc_json_fail(j, MC_E_SYNTAX, "bytes after the JSON value"));
}

/* ---- strings ---- */

/* Length of the well-formed UTF-8 sequence of two bytes or more at p (Unicode table 3-7), or 0. */
static size_t multibyte(const uint8_t *p, size_t n)
{
    size_t len = p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
    return len && len <= n && mc_utf8_valid((mc_span){ p, len }) ? len : 0;
}

static bool hex4(const uint8_t *p, const uint8_t *end, unsigned *out)
{
    unsigned v = 0;
    if (end - p < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        unsigned c = p[i], d = c - '0' < 10 ? c - '0' : (c | 32) - 'a' < 6 ? (c | 32) - 'a' + 10 : 16;
        if (d == 16)
            return false;
        v = v << 4 | d;
    }
    *out = v;
    return true;
}

/* "\uXXXX" at p, a low surrogate? */
static bool low_surrogate(const uint8_t *p, const uint8_t *end, unsigned *lo)
{
    return end - p >= 6 && p[0] == '\\' && p[1] == 'u' && hex4(p + 2, end, lo) && *lo >= 0xdc00 && *lo <= 0xdfff;
}

/* j->p is on the backslash. */
static bool skip_escape(mc_json *j)
{
    unsigned       hi, lo;
    const uint8_t *p = j->p + 1;
    if (p == j->end)
        return mc_json_fail(j, MC_E_TRUNCATED, "unterminated string");
    if (*p != 'u') {
        if (!memchr("\"\\/bfnrt", *p, 8))
            return mc_json_fail(j, MC_E_SYNTAX, "unknown escape in string");
        j->p += 2;
        return true;
    }
    if (!hex4(p + 1, j->end, &hi))
        return mc_json_fail(j, MC_E_SYNTAX, "bad \\u escape in string");
    bool high = hi >= 0xd800 && hi <= 0xdbff, paired = high && low_surrogate(j->p + 6, j->end, &lo);
    if (!paired && hi >= 0xd800 && hi <= 0xdfff && !j->python)
        return mc_json_fail(j, MC_E_SYNTAX, "lone surrogate in string");
    j->p += paired ? 12 : 6;
    return true;
}

/* The first byte that is a quote, a backslash, below 0x20 or above 0x7f. */
static const uint8_t *plain_run(const uint8_t *p, const uint8_t *end)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), space = _mm_set1_epi8(' ');
    for (; end - p >= 16; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i odd = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash)), _mm_cmplt_epi8(v, space));
        unsigned mask = (unsigned)_mm_movemask_epi8(odd); /* signed compare: bytes from 0x80 are below 0x20 too */
        if (mask)
            return p + __builtin_ctz(mask);
    }
#endif
    while (p < end && *p != '"' && *p != '\\' && *p >= 0x20 && *p < 0x80)
        p++;
    return p;
}

bool mc_json_str(mc_json *j, mc_str *raw, bool *escaped)
{
    if (!mc_json_lit(j, '"'))
        return mc_json_fail(j, MC_E_SYNTAX, "expected a string");
    const uint8_t *start = j->p;
    *escaped = false;
    for (;;) {
        size_t len;
        j->p = plain_run(j->p, j->end);
        if (j->p == j->end)
            return mc_json_fail(j, MC_E_TRUNCATED, "unterminated string");
        if (*j->p == '"') {
            *raw = (mc_str){ (const char *)start, (size_t)(j->p - start) };
            j->p++;
            return true;
        }
        if (*j->p == '\\') {
            *escaped = true;
            if (!skip_escape(j))
                return false;
        } else if (*j->p < 0x20) {
            return mc_json_fail(j, MC_E_SYNTAX, "control character in string");
        } else if ((len = multibyte(j->p, (size_t)(j->end - j->p))) > 0) {
            j->p += len;
        } else {
            return mc_json_fail(j, MC_E_SYNTAX, "invalid UTF-8 in string");
        }
    }
}

static char *put_utf8(char *w, unsigned c)
{
    if (c < 0x80) {
        *w++ = (char)c;
    } else if (c < 0x800) {
        *w++ = (char)(0xc0 | c >> 6);
        *w++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *w++ = (char)(0xe0 | c >> 12);
        *w++ = (char)(0x80 | (c >> 6 & 0x3f));
        *w++ = (char)(0x80 | (c & 0x3f));
    } else {
        *w++ = (char)(0xf0 | c >> 18);
        *w++ = (char)(0x80 | (c >> 12 & 0x3f));
        *w++ = (char)(0x80 | (c >> 6 & 0x3f));
        *w++ = (char)(0x80 | (c & 0x3f));
    }
    return w;
}

/* One "\uXXXX", or a pair of them, behind p[0] == '\\'; *p moves behind it. */
static unsigned code_point(const uint8_t **p, const uint8_t *end)
{
    unsigned hi = 0, lo;
    (void)hex4(*p + 2, end, &hi);
    *p += 6;
    if (hi >= 0xd800 && hi <= 0xdbff && low_surrogate(*p, end, &lo)) {
        *p += 6;
        return 0x10000 + ((hi - 0xd800) << 10) + (lo - 0xdc00);
    }
    return hi >= 0xd800 && hi <= 0xdfff ? 0xfffd : hi;
}

mc_str mc_json_unescape(mc_arena *a, mc_str raw, bool escaped)
{
    if (!escaped)
        return raw;
    char *out = mc_alloc(a, raw.n + 1, 1), *w = out; /* no escape is shorter than what it stands for */
    if (!out)
        return MC_STR("");
    const uint8_t *p = (const uint8_t *)raw.p, *end = p + raw.n;
    while (p < end) {
        if (*p != '\\') {
            *w++ = (char)*p++;
        } else if (p[1] == 'u') {
            w = put_utf8(w, code_point(&p, end));
        } else {
            static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
            const char *at = strchr(from, p[1]);
            *w++ = at ? to[at - from] : (char)p[1];
            p += 2;
        }
    }
    return (mc_str){ out, (size_t)(w - out) };
}

/* ---- numbers and everything else ---- */

static size_t skip_digits(mc_json *j)
{
    const uint8_t *start = j->p;
    while (j->p < j->end && *j->p >= '0' && *j->p <= '9')
        j->p++;
    return (size_t)(j->p - start);
}

bool mc_json_u64(mc_json *j, uint64_t *out)
{
    int            first = mc_json_peek(j);
    const uint8_t *start = j->p;
    uint64_t       v = 0;
    size_t         n = skip_digits(j);
    if (n == 0)
        return mc_json_fail(j, MC_E_SYNTAX, first == '-' ? "negative number" : "expected an unsigned integer");
    if (first == '0' && n > 1)
        return mc_json_fail(j, MC_E_SYNTAX, "integer with a leading zero");
    if (j->p < j->end && (*j->p == '.' || *j->p == 'e' || *j->p == 'E'))
        return mc_json_fail(j, MC_E_SYNTAX, "expected an integer, found a fraction or exponent");
    if (n < 19) {
        for (size_t i = 0; i < n; i++)
            v = v * 10 + (uint64_t)(start[i] - '0');
    } else {
        for (size_t i = 0; i < n; i++)
            if (ckd_mul(&v, v, 10u) || ckd_add(&v, v, (uint64_t)(start[i] - '0')))
                return mc_json_fail(j, MC_E_RANGE, "integer exceeds 64 bits");
    }
    *out = v;
    return true;
}

static bool skip_number(mc_json *j)
{
    if (*j->p == '-')
        j->p++;
    const uint8_t *start = j->p;
    size_t         n = skip_digits(j);
    if (n == 0 || (*start == '0' && n > 1))
        return mc_json_fail(j, MC_E_SYNTAX, "malformed number");
    if (j->p < j->end && *j->p == '.') {
        j->p++;
        if (skip_digits(j) == 0)
            return mc_json_fail(j, MC_E_SYNTAX, "malformed number");
    }
    if (j->p < j->end && (*j->p == 'e' || *j->p == 'E')) {
        j->p++;
        if (j->p < j->end && (*j->p == '+' || *j->p == '-'))
            j->p++;
        if (skip_digits(j) == 0)
            return mc_json_fail(j, MC_E_SYNTAX, "malformed number");
    }
    return true;
}

static bool word(mc_json *j, const char *w)
{
    size_t n = strlen(w);
    if ((size_t)(j->end - j->p) < n || memcmp(j->p, w, n) != 0)
        return false;
    j->p += n;
    return true;
}

static bool python_word(mc_json *j)
{
    const uint8_t *at = j->p;
    if (!j->python || !(word(j, "NaN") || word(j, "Infinity") || word(j, "-Infinity")))
        return false;
    if (!j->literal)
        j->literal = at;
    return true;
}

static bool skip_scalar(mc_json *j, int first)
{
    mc_str ignored;
    bool   escaped;
    if (first == '"')
        return mc_json_str(j, &ignored, &escaped);
    if (python_word(j))
        return true;
    if (first == '-' || (first >= '0' && first <= '9'))
        return skip_number(j);
    return word(j, "true") || word(j, "false") || word(j, "null")
        || mc_json_fail(j, first < 0 ? MC_E_TRUNCATED : MC_E_SYNTAX, first < 0 ? "the text ends where a value should be" : "expected a value");
}

static bool skip_key(mc_json *j)
{
    mc_str key;
    bool   escaped;
    return mc_json_str(j, &key, &escaped) && (mc_json_lit(j, ':') || mc_json_fail(j, MC_E_SYNTAX, "expected ':'"));
}

/* Nesting lives in a 64-bit stack (1 = object), so depth is bounded and nothing recurses. */
bool mc_json_skip(mc_json *j)
{
    uint64_t stack = 0;
    unsigned depth = 0;
    for (;;) {
        int  c = mc_json_peek(j);
        bool opened = c == '{' || c == '[';
        if (opened) {
            if (depth + j->depth >= MC_MAX_JSON_DEPTH)
                return mc_json_fail(j, MC_E_LIMIT, "nesting deeper than 64");
            stack = stack << 1 | (uint64_t)(c == '{');
            depth++;
            j->p++;
        } else if (!skip_scalar(j, c)) {
            return false;
        }
        while (depth > 0 && mc_json_lit(j, stack & 1 ? '}' : ']')) {
            stack >>= 1;
            depth--;
            opened = false;
        }
        if (depth == 0)
            return true;
        if (!opened && !mc_json_lit(j, ','))
            return mc_json_fail(j, mc_json_peek(j) < 0 ? MC_E_TRUNCATED : MC_E_SYNTAX, "expected ',' or a closing bracket");
        if ((stack & 1) && !skip_key(j))
            return false;
    }
}

static bool next_in(mc_json *j, bool *first, char close)
{
    if (j->err.code != MC_OK || (*first && mc_json_lit(j, close)))
        return false;
    if (!*first) {
        if (mc_json_lit(j, close))
            return false;
        if (!mc_json_lit(j, ','))
            return mc_json_fail(j, mc_json_peek(j) < 0 ? MC_E_TRUNCATED : MC_E_SYNTAX, "expected ',' or a closing bracket");
    }
    *first = false;
    return true;
}

bool mc_json_member(mc_json *j, bool *first, mc_str *key, bool *escaped)
{
    return next_in(j, first, '}') && mc_json_str(j, key, escaped) && (mc_json_lit(j, ':') || mc_json_fail(j, MC_E_SYNTAX, "expected ':'"));
}

bool mc_json_element(mc_json *j, bool *first)
{
    return next_in(j, first, ']');
}
