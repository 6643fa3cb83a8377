/* Quantization methods: the files under rules/quants/, decoded at first use.
 *
 * A file holds `methods` and the tables that its methods share (ModelOpt's algorithms, the formats of compressed-tensors, ...).
 * A method: name, aliases, what plain weights mean under it, the layouts it may be stored in (words of mc_layout_name), its
 * numbers { keys, min, max, whole_row, integer, list, default } and its exclude lists { key, dialect }. */
#include "kb/kb.h"

typedef struct { mc_kb_method *v; size_t n, cap; } methods;

static char folded(char c)
{
    return c == '-' ? '_' : mc_to_lower(c);
}

bool mc_quant_name_eq(mc_str a, mc_str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (folded(a.p[i]) != folded(b.p[i]))
            return false;
    return true;
}

static mc_plain plain_of(mc_str word)
{
    static const struct { const char *word; mc_plain plain; } words[] = {
        { "broken", MC_PLAIN_BROKEN }, { "on-load", MC_PLAIN_ON_LOAD }, { "legal", MC_PLAIN_LEGAL }, { "by-format", MC_PLAIN_BY_FORMAT },
        { "run-time", MC_PLAIN_RUN_TIME },
    };
    for (size_t i = 0; i < MC_COUNT(words); i++)
        if (mc_str_is(word, words[i].word))
            return words[i].plain;
    return MC_PLAIN_UNKNOWN;
}

static void decode_file(mc_kb *kb, methods *t, const mc_embedded *e)
{
    mc_err          err;
    const mc_value *root = mc_json_tree(&kb->arena, (mc_span){ e->p, e->n }, &err, NULL), *list = mc_get(root, "methods");
    for (size_t i = 0; mc_is(list, MC_ARRAY) && i < list->n; i++) {
        const mc_value  *m = mc_item(list, i);
        mc_kb_method *v = mc_grow(&kb->arena, t->v, t->n, &t->cap, sizeof *v);
        bool             decoded = true;
        if (!v)
            return;
        t->v = v;
        if (!mc_as_bool(mc_get(m, "decoded"), &decoded))
            decoded = true;
        v[t->n++] = (mc_kb_method){ mc_as_str(mc_get(m, "name")), plain_of(mc_as_str(mc_get(m, "plain"))), decoded, m, root };
    }
}

static const methods *methods_of(mc_kb *kb)
{
    static const methods none;
    methods *t = kb->quants;
    if (!t) {
        kb->quants = t = MC_NEW(&kb->arena, methods, 1);
        for (const mc_embedded *e = NULL; t && (e = mc_embedded_next(e, "quants/"));)
            decode_file(kb, t, e);
    }
    return t ? t : &none;
}

const mc_kb_method *mc_kb_quant_method(mc_kb *kb, mc_str name)
{
    const methods *t = methods_of(kb);
    for (size_t i = 0; name.n && i < t->n; i++) {
        const mc_value *aliases = mc_get(t->v[i].spec, "aliases");
        if (mc_quant_name_eq(t->v[i].name, name))
            return &t->v[i];
        for (size_t k = 0; mc_is(aliases, MC_ARRAY) && k < aliases->n; k++)
            if (mc_quant_name_eq(mc_as_str(mc_item(aliases, k)), name))
                return &t->v[i];
    }
    return NULL;
}

const mc_value *mc_kb_quant_entry(mc_kb *kb, const char *method, const char *table, mc_str name)
{
    const mc_kb_method *m = mc_kb_quant_method(kb, mc_str_of(method));
    const mc_value        *v = m ? mc_get(m->file, table) : NULL;
    for (size_t i = 0; mc_is(v, MC_OBJECT) && i < v->n; i++)
        if (mc_quant_name_eq(v->u.fields[i].key, name))
            return v->u.fields[i].value;
    return NULL;
}

/* ---- numbers of a block ---- */

/* "4", "-1", " 128", "3.5": a plain number as text. */
static bool number_in_quotes(mc_str s, double *out)
{
    double v = 0, scale = 0;
    bool   minus, digits = false;
    while (s.n && s.p[0] == ' ')
        s = mc_str_cut(s, 1, s.n);
    minus = s.n && s.p[0] == '-';
    for (size_t i = minus; i < s.n; i++) {
        if (s.p[i] == '.' && scale == 0) {
            scale = 1;
            continue;
        }
        if (s.p[i] < '0' || s.p[i] > '9' || i > 20)
            return false;
        v = v * 10 + (s.p[i] - '0');
        scale *= 10;
        digits = true;
    }
    *out = (minus ? -v : v) / (scale > 0 ? scale : 1);
    return digits;
}

static bool in_range(const mc_value *spec, double v)
{
    double min, max, row;
    bool   integer = mc_flag(spec, "integer");
    if (mc_as_number(mc_get(spec, "whole_row"), &row) && v == row)
        return true;
    if (!mc_as_number(mc_get(spec, "min"), &min) || !mc_as_number(mc_get(spec, "max"), &max))
        return false;
    return v >= min && v <= max && (!integer || v == (double)(int64_t)v);
}

mc_number mc_quant_number(const mc_value *spec, const mc_value *block)
{
    const mc_value *keys = mc_get(spec, "keys");
    bool            list = mc_flag(spec, "list");
    for (size_t i = 0; mc_is(keys, MC_ARRAY) && i < keys->n; i++) {
        mc_number       n = { .key = mc_as_str(mc_item(keys, i)) };
        const mc_value *v = mc_get_str(block, n.key);
        if (!v || v->type == MC_NULL || (list && v->type == MC_ARRAY))
            continue;
        n.value = v;
        bool text = v->type == MC_STRING;
        bool read = text ? number_in_quotes(v->s, &n.v) : mc_as_number(v, &n.v);
        n.state = !read || !in_range(spec, n.v) ? MC_NUMBER_BAD : text ? MC_NUMBER_TEXT : MC_NUMBER_GOOD;
        return n;
    }
    return (mc_number){ .state = MC_NUMBER_ABSENT };
}
