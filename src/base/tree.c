/* A JSON document as a tree in an arena, in Python's dialect: what config files are read with.
 * Why not a library: exact 64-bit integers, offsets for messages, the last of equal keys, NaN and Infinity, an arena
 * budget, and text with NUL bytes are all needed at once (docs/architecture.md, "JSON"). */
#include "base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A container under construction. Its children are gathered in a chain and laid out once it closes. */
typedef struct link { struct link *before; mc_str key; mc_value *value; } link;
typedef struct { mc_value *v; link *last; mc_str key; } level;
typedef struct { mc_json j; mc_arena *a; level stack[MC_MAX_JSON_DEPTH]; unsigned depth; } builder;

static bool close_level(builder *b)
{
    level   *l = &b->stack[--b->depth];
    mc_value *v = l->v;
    if (v->n == 0)
        return true;
    if (v->type == MC_OBJECT)
        v->u.fields = MC_NEW(b->a, mc_field, v->n);
    else
        v->u.items = MC_NEW(b->a, mc_value, v->n);
    if (v->type == MC_OBJECT ? !v->u.fields : !v->u.items)
        return mc_json_fail(&b->j, MC_E_NOMEM, "memory budget exhausted");
    size_t i = v->n;
    for (link *k = l->last; k; k = k->before) {
        i--;
        if (v->type == MC_OBJECT)
            v->u.fields[i] = (mc_field){ k->key, k->value };
        else
            v->u.items[i] = *k->value;
    }
    return true;
}

static void number(mc_value *v)
{
    char   text[64];
    mc_str s = v->s;
    bool   integral = mc_str_find(s, '.') == s.n && mc_str_find(s, 'e') == s.n && mc_str_find(s, 'E') == s.n;
    bool   minus = s.n && s.p[0] == '-';
    uint64_t u;
    if (integral && mc_str_u64(mc_str_cut(s, minus, s.n), &u) && u <= (uint64_t)INT64_MAX + minus) {
        v->type = MC_INT;
        v->u.i = minus ? (int64_t)(0 - u) : (int64_t)u;
        return;
    }
    size_t n = s.n < sizeof text - 1 ? s.n : sizeof text - 1; /* 63 digits decide any double closely enough */
    memcpy(text, s.p, n);
    text[n] = 0;
    v->type = MC_REAL;
    v->u.r = n < s.n && integral ? (minus ? -INFINITY : INFINITY) : strtod(text, NULL);
}

/* Scanned and valid; its first byte says what it is. */
static void scalar(builder *b, mc_value *v, const uint8_t *start)
{
    v->s = (mc_str){ (const char *)start, (size_t)(b->j.p - start) };
    switch (*start) {
    case 't': case 'f': v->type = MC_BOOL; v->u.b = *start == 't'; break;
    case 'n': v->type = MC_NULL; break;
    case 'N': v->type = MC_REAL; v->u.r = NAN; break;
    case 'I': v->type = MC_REAL; v->u.r = INFINITY; break;
    case '"': {
        mc_str raw = mc_str_cut(v->s, 1, v->s.n - 1);
        v->type = MC_STRING;
        v->s = mc_json_unescape(b->a, raw, mc_str_find(raw, '\\') < raw.n);
        break;
    }
    default:
        if (v->s.n > 1 && v->s.p[1] == 'I') {
            v->type = MC_REAL;
            v->u.r = -INFINITY;
        } else {
            number(v);
        }
    }
}

static bool append(builder *b, mc_value *v)
{
    level *l = &b->stack[b->depth - 1];
    link  *k = MC_NEW(b->a, link, 1);
    if (!k)
        return mc_json_fail(&b->j, MC_E_NOMEM, "memory budget exhausted");
    *k = (link){ l->last, l->key, v };
    l->last = k;
    l->v->n++;
    return true;
}

static bool read_key(builder *b)
{
    level *l = &b->stack[b->depth - 1];
    mc_str raw;
    bool   escaped;
    if (!mc_json_str(&b->j, &raw, &escaped) || !(mc_json_lit(&b->j, ':') || mc_json_fail(&b->j, MC_E_SYNTAX, "expected ':'")))
        return false;
    l->key = mc_json_unescape(b->a, raw, escaped);
    return true;
}

/* Between two values: close what ends here, then the comma and the next key. False at the end of the document or on error. */
static bool advance(builder *b, bool opened)
{
    mc_json *j = &b->j;
    while (b->depth > 0) {
        bool object = b->stack[b->depth - 1].v->type == MC_OBJECT;
        if (!mc_json_lit(j, object ? '}' : ']')) {
            if (!opened && !mc_json_lit(j, ','))
                return mc_json_fail(j, mc_json_peek(j) < 0 ? MC_E_TRUNCATED : MC_E_SYNTAX, "expected ',' or a closing bracket");
            return !object || read_key(b);
        }
        if (!close_level(b))
            return false;
        opened = false;
    }
    return false;
}

static bool one_value(builder *b, mc_value *v, bool *opened)
{
    mc_json *j = &b->j;
    int      c = mc_json_peek(j);
    v->at = (uint32_t)(j->p - j->beg);
    if (b->depth > 0 && !append(b, v))
        return false;
    *opened = c == '{' || c == '[';
    if (*opened) {
        if (b->depth == MC_MAX_JSON_DEPTH)
            return mc_json_fail(j, MC_E_LIMIT, "nesting deeper than 64");
        v->type = c == '{' ? MC_OBJECT : MC_ARRAY;
        b->stack[b->depth++] = (level){ .v = v };
        j->p++;
        return true;
    }
    const uint8_t *start = j->p;
    if (!mc_json_skip(j)) /* a scalar: nothing nested begins here */
        return false;
    scalar(b, v, start);
    return true;
}

mc_value *mc_json_tree(mc_arena *a, mc_span text, mc_err *err, uint64_t *literal)
{
    builder   b = { .j = mc_json_of(text), .a = a };
    mc_value *root = NULL;
    bool      opened;
    b.j.python = true;
    do {
        mc_value *v = MC_NEW(a, mc_value, 1);
        if (!v) {
            mc_json_fail(&b.j, MC_E_NOMEM, "memory budget exhausted");
            break;
        }
        if (!root)
            root = v;
        if (!one_value(&b, v, &opened))
            break;
    } while (advance(&b, opened));
    if (b.j.err.code == MC_OK)
        mc_json_end(&b.j);
    if (literal)
        *literal = b.j.literal ? (uint64_t)(b.j.literal - b.j.beg) : UINT64_MAX;
    *err = b.j.err;
    return b.j.err.code == MC_OK ? root : NULL;
}

void mc_json_line_col(mc_span text, uint64_t at, unsigned *line, unsigned *col)
{
    *line = *col = 1;
    for (uint64_t i = 0; i < at && i < text.n; i++) {
        if (text.p[i] == '\n') {
            ++*line;
            *col = 1;
        } else {
            ++*col;
        }
    }
}

/* ---- look-ups ---- */

const mc_value *mc_get_str(const mc_value *o, mc_str key)
{
    if (!mc_is(o, MC_OBJECT))
        return NULL;
    for (size_t i = o->n; i-- > 0;)
        if (mc_str_eq(o->u.fields[i].key, key))
            return o->u.fields[i].value;
    return NULL;
}

const mc_value *mc_get(const mc_value *o, const char *key)
{
    return mc_get_str(o, mc_str_of(key));
}

const mc_value *mc_item(const mc_value *array, size_t i)
{
    return mc_is(array, MC_ARRAY) && i < array->n ? &array->u.items[i] : NULL;
}

const mc_value *mc_at(const mc_value *v, const char *pointer)
{
    while (v && *pointer == '/') {
        size_t   n = strcspn(++pointer, "/");
        mc_str   part = { pointer, n };
        uint64_t i;
        if (v->type == MC_ARRAY)
            v = mc_str_u64(part, &i) && i < v->n ? &v->u.items[i] : NULL;
        else
            v = mc_get_str(v, part);
        pointer += n;
    }
    return v;
}

bool mc_as_int(const mc_value *v, int64_t *out)
{
    if (mc_is(v, MC_INT)) {
        *out = v->u.i;
        return true;
    }
    if (!mc_is(v, MC_REAL) || !(fabs(v->u.r) < 9007199254740992.0) || v->u.r != floor(v->u.r))
        return false;
    *out = (int64_t)v->u.r;
    return true;
}

bool mc_as_number(const mc_value *v, double *out)
{
    if (mc_is(v, MC_INT))
        *out = (double)v->u.i;
    else if (mc_is(v, MC_REAL))
        *out = v->u.r;
    else
        return false;
    return true;
}

bool mc_as_bool(const mc_value *v, bool *out)
{
    if (!mc_is(v, MC_BOOL))
        return false;
    *out = v->u.b;
    return true;
}

bool mc_flag(const mc_value *object, const char *key)
{
    const mc_value *v = mc_get(object, key);
    return mc_is(v, MC_BOOL) && v->u.b;
}

mc_str mc_as_str(const mc_value *v)
{
    return mc_is(v, MC_STRING) ? v->s : (mc_str){ NULL, 0 };
}

bool mc_has_str(const mc_value *array, const char *s)
{
    for (size_t i = 0; mc_is(array, MC_ARRAY) && i < array->n; i++)
        if (array->u.items[i].type == MC_STRING && mc_str_is(array->u.items[i].s, s))
            return true;
    return false;
}
