/* Evaluation of predicates: comparison of one fact, Kleene's all, any and not over an explicit stack, and placeholders. */
#include "kb/predicates.h"

#include <stdio.h>
#include <string.h>

/* ---- facts ---- */

mc_fact mc_fact_int(int64_t v)
{
    mc_fact f = MC_FACT_NONE;
    f.type = MC_FACT_INT;
    f.u.i = v;
    return f;
}

mc_fact mc_fact_bool(bool v)
{
    mc_fact f = MC_FACT_NONE;
    f.type = MC_FACT_BOOL;
    f.u.b = v;
    return f;
}

mc_fact mc_fact_text(mc_str v)
{
    mc_fact f = MC_FACT_NONE;
    f.type = MC_FACT_TEXT;
    f.s = v;
    return f;
}

mc_fact mc_fact_list(const mc_fact *items, size_t n)
{
    mc_fact f = MC_FACT_NONE;
    f.type = MC_FACT_LIST;
    f.items = items;
    f.n = n;
    return f;
}

mc_fact mc_fact_null(void)
{
    mc_fact f = MC_FACT_NONE;
    f.type = MC_FACT_NULL;
    return f;
}

mc_fact mc_fact_unknown(const char *why)
{
    mc_fact f = MC_FACT_NONE;
    f.why = why;
    return f;
}

static mc_str scalar_words(mc_arena *a, const mc_fact *f)
{
    if (f->type == MC_FACT_TEXT)
        return f->s;
    if (f->type == MC_FACT_BOOL)
        return f->u.b ? MC_STR("true") : MC_STR("false");
    if (f->type == MC_FACT_INT)
        return mc_format(a, "%lld", (long long)f->u.i);
    return f->type == MC_FACT_REAL ? mc_format(a, "%g", f->u.r) : MC_STR("");
}

mc_str mc_fact_words(mc_arena *a, const mc_fact *f)
{
    enum { SHOWN = 8 };
    mc_str out = MC_STR("");
    if (f->type != MC_FACT_LIST)
        return scalar_words(a, f);
    for (size_t i = 0; i < f->n && i < SHOWN; i++) {
        mc_str s = scalar_words(a, &f->items[i]);
        out = i ? mc_format(a, "%.*s, %.*s", MC_FMT(out), MC_FMT(s)) : s;
    }
    return f->n > SHOWN ? mc_format(a, "%.*s and %zu more", MC_FMT(out), f->n - SHOWN) : out;
}

/* ---- three values ---- */

static mc_three three(bool b)
{
    return b ? MC_TRUE : MC_FALSE;
}

mc_three mc_three_not(mc_three t)
{
    return t == MC_MAYBE ? MC_MAYBE : three(t == MC_FALSE);
}

mc_three mc_three_and(mc_three a, mc_three b)
{
    return a == MC_FALSE || b == MC_FALSE ? MC_FALSE : a == MC_MAYBE || b == MC_MAYBE ? MC_MAYBE : MC_TRUE;
}

mc_three mc_three_or(mc_three a, mc_three b)
{
    return mc_three_not(mc_three_and(mc_three_not(a), mc_three_not(b)));
}

/* ---- one fact against one argument ---- */

static bool number(const mc_fact *f, double *out)
{
    if (f->type == MC_FACT_INT)
        *out = (double)f->u.i;
    else if (f->type == MC_FACT_REAL)
        *out = f->u.r;
    return f->type == MC_FACT_INT || f->type == MC_FACT_REAL;
}

/* Things of different kinds cannot be compared: maybe. An absent fact equals null and nothing else. */
static mc_three equal(const mc_fact *f, const mc_value *v)
{
    double x, y;
    if (f->type == MC_FACT_NULL)
        return mc_is(v, MC_NULL) ? MC_TRUE : MC_MAYBE;
    if (mc_is(v, MC_NULL))
        return f->type == MC_FACT_UNKNOWN ? MC_MAYBE : MC_FALSE;
    if (f->type == MC_FACT_INT && mc_is(v, MC_INT))
        return three(f->u.i == v->u.i);
    if (number(f, &x) && mc_as_number(v, &y))
        return three(!(x < y) && !(x > y));
    if (f->type == MC_FACT_TEXT && mc_is(v, MC_STRING))
        return three(mc_str_eq(f->s, v->s));
    if (f->type == MC_FACT_BOOL && mc_is(v, MC_BOOL))
        return three(f->u.b == v->u.b);
    return MC_MAYBE;
}

typedef enum { OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE, OP_IN, OP_NOT_IN, OP_GLOB, OP_KNOWN, N_OPS } op;
static const char *const op_names[N_OPS] = { "eq", "ne", "lt", "le", "gt", "ge", "in", "not_in", "glob", "known" };

static op op_of(mc_str s)
{
    op o = OP_EQ;
    while (o < N_OPS && !mc_str_is(s, op_names[o]))
        o++;
    return o;
}

/* Numbers by value, texts as versions if both are. */
static mc_three ordered(const mc_fact *f, const mc_value *v, op o)
{
    double     x, y;
    mc_version a, b;
    int        sign;
    if (f->type == MC_FACT_INT && mc_is(v, MC_INT))
        sign = (f->u.i > v->u.i) - (f->u.i < v->u.i);
    else if (number(f, &x) && mc_as_number(v, &y) && x == x && y == y)
        sign = (x > y) - (x < y);
    else if (f->type == MC_FACT_TEXT && mc_is(v, MC_STRING) && mc_version_parse(f->s, true, &a) && mc_version_parse(v->s, true, &b))
        sign = mc_version_cmp(&a, &b);
    else
        return MC_MAYBE;
    return three(o == OP_LT ? sign < 0 : o == OP_LE ? sign <= 0 : o == OP_GT ? sign > 0 : sign >= 0);
}

/* One scalar fact against all arguments: true if it fits one, maybe if it could be compared with none. */
static mc_three fits_any(const mc_fact *f, const mc_value *args, op o)
{
    bool comparable = args->n == 0 && f->type != MC_FACT_UNKNOWN;
    for (size_t i = 0; i < args->n; i++) {
        const mc_value *v = mc_item(args, i);
        mc_three        t;
        if (o == OP_GLOB)
            t = f->type == MC_FACT_TEXT && mc_is(v, MC_STRING) ? three(mc_glob(v->s, f->s)) : MC_MAYBE;
        else
            t = o == OP_IN ? equal(f, v) : ordered(f, v, o);
        if (t == MC_TRUE)
            return MC_TRUE;
        comparable |= t == MC_FALSE;
    }
    return comparable ? MC_FALSE : MC_MAYBE;
}

static mc_three holds(const mc_fact *f, const mc_value *args, op o)
{
    if (f->type != MC_FACT_LIST)
        return fits_any(f, args, o);
    mc_three any = MC_FALSE;
    for (size_t i = 0; i < f->n && any != MC_TRUE; i++)
        any = mc_three_or(any, fits_any(&f->items[i], args, o));
    return any;
}

mc_three mc_fact_compare(const mc_fact *f, mc_str op_name, const mc_value *args)
{
    static const mc_value none = { .type = MC_ARRAY };
    op o = op_of(op_name);
    args = mc_is(args, MC_ARRAY) ? args : &none;
    if (o == OP_KNOWN)
        return f->type == MC_FACT_UNKNOWN ? MC_MAYBE : three(f->type != MC_FACT_NULL);
    if (o == N_OPS || f->type == MC_FACT_UNKNOWN)
        return MC_MAYBE;
    if (o == OP_NE || o == OP_NOT_IN)
        return mc_three_not(holds(f, args, OP_IN));
    return holds(f, args, o == OP_EQ ? OP_IN : o);
}

/* ---- a whole predicate ---- */

typedef struct { const mc_facts *facts; mc_scope scope; bool absent_is_false; mc_str because; } asking;

static mc_three ask(asking *q, const mc_value *leaf)
{
    mc_str   name = mc_as_str(mc_get(leaf, "fact")), o = mc_as_str(mc_get(leaf, "op"));
    mc_fact  f = q->facts->get(q->facts->cx, q->scope, name);
    mc_three t = mc_fact_compare(&f, o, mc_get(leaf, "args"));
    if (t == MC_MAYBE && f.type == MC_FACT_UNKNOWN && !q->because.n)
        q->because = f.why ? mc_str_of(f.why) : name;
    if (t == MC_MAYBE && f.type == MC_FACT_NULL && q->absent_is_false)
        return MC_FALSE;
    return t;
}

/* A node that is being worked on: `sofar` joins the answers of its first `next` parts. */
typedef struct { const mc_value *parts; size_t next; enum { JOIN_ALL, JOIN_ANY, JOIN_NOT } join; mc_three sofar; } node;

/* Opens a node; false for a leaf. The checker has refused everything else, so that what is neither is a leaf without a fact. */
static bool open_node(const mc_value *p, node *n)
{
    const mc_value *all = mc_get(p, "all"), *any = mc_get(p, "any"), *no = mc_get(p, "not");
    if (mc_is(all, MC_ARRAY))
        *n = (node){ all, 0, JOIN_ALL, MC_TRUE };
    else if (mc_is(any, MC_ARRAY))
        *n = (node){ any, 0, JOIN_ANY, MC_FALSE };
    else if (mc_is(no, MC_OBJECT))
        *n = (node){ no, 0, JOIN_NOT, MC_MAYBE };
    return mc_is(all, MC_ARRAY) || mc_is(any, MC_ARRAY) || mc_is(no, MC_OBJECT);
}

static const mc_value *next_part(node *n)
{
    bool decided = (n->join == JOIN_ALL && n->sofar == MC_FALSE) || (n->join == JOIN_ANY && n->sofar == MC_TRUE);
    if (n->join == JOIN_NOT)
        return n->next++ == 0 ? n->parts : NULL;
    return decided || n->next >= n->parts->n ? NULL : mc_item(n->parts, n->next++);
}

static void join(node *n, mc_three t)
{
    n->sofar = n->join == JOIN_ALL ? mc_three_and(n->sofar, t) : n->join == JOIN_ANY ? mc_three_or(n->sofar, t) : mc_three_not(t);
}

static mc_three evaluate(asking *q, const mc_value *p)
{
    node   stack[MC_MAX_JSON_DEPTH + 1];
    size_t depth = 0;
    if (!p)
        return MC_TRUE;
    if (!open_node(p, &stack[0]))
        return ask(q, p);
    for (;;) {
        const mc_value *part = next_part(&stack[depth]);
        if (part && depth < MC_MAX_JSON_DEPTH && open_node(part, &stack[depth + 1])) {
            depth++;
        } else if (part) {
            join(&stack[depth], ask(q, part));
        } else {
            mc_three done = stack[depth].sofar;
            if (depth == 0)
                return done;
            join(&stack[--depth], done);
        }
    }
}

mc_three mc_predicate_eval(const mc_value *p, const mc_facts *facts, mc_scope scope, mc_str *because)
{
    asking   q = { facts, scope, false, MC_STR("") };
    mc_three t = evaluate(&q, p);
    if (because)
        *because = t == MC_MAYBE ? q.because : MC_STR("");
    return t;
}

mc_three mc_predicate_closed(const mc_value *p, const mc_facts *facts, mc_scope scope, mc_str *because)
{
    asking   q = { facts, scope, true, MC_STR("") };
    mc_three t = evaluate(&q, p);
    if (because)
        *because = t == MC_MAYBE ? q.because : MC_STR("");
    return t;
}

/* ---- placeholders ---- */

/* The next "{name}" at or behind `from`; false if there is none. */
static bool placeholder(mc_str text, size_t from, size_t *open, size_t *close)
{
    for (; from < text.n; from = *open + 1) {
        *open = from + mc_str_find(mc_str_cut(text, from, text.n), '{');
        *close = *open + mc_str_find(mc_str_cut(text, *open, text.n), '}');
        if (*close >= text.n)
            return false;
        if (*close > *open + 1 && mc_str_find(mc_str_cut(text, *open, *close), ' ') == *close - *open)
            return true;
    }
    return false;
}

/* A capability reads as "sm75". */
static mc_str words_of(mc_arena *a, mc_str name, const mc_fact *f)
{
    if (mc_str_is(name, "gpu") && f->type == MC_FACT_INT)
        return mc_format(a, "sm%lld", (long long)f->u.i);
    return mc_fact_words(a, f);
}

mc_str mc_fill(mc_arena *a, mc_str text, const mc_facts *facts, mc_scope scope, bool *hole)
{
    size_t from = 0, open, close;
    mc_str out = MC_STR("");
    while (placeholder(text, from, &open, &close)) {
        mc_str  name = mc_str_cut(text, open + 1, close), before = mc_str_cut(text, from, open);
        mc_fact f = facts->get(facts->cx, scope, name);
        mc_str  words = words_of(a, name, &f);
        if (words.n == 0) {
            words = MC_STR("?");
            if (hole)
                *hole = true;
        }
        out = mc_format(a, "%.*s%.*s%.*s", MC_FMT(out), MC_FMT(before), MC_FMT(words));
        from = close + 1;
    }
    return from ? mc_format(a, "%.*s%.*s", MC_FMT(out), MC_FMT(mc_str_cut(text, from, text.n))) : text;
}

/* ---- checks ---- */

void mc_fault_add(mc_faults *f, const mc_value *at, const char *fmt, ...)
{
    mc_fault *v = mc_grow(f->arena, f->v, f->n, &f->cap, sizeof *v);
    va_list   ap;
    if (!v)
        return;
    f->v = v;
    va_start(ap, fmt);
    v[f->n++] = (mc_fault){ at ? at->at : 0, mc_vformat(f->arena, fmt, ap) };
    va_end(ap);
}

bool mc_fill_check(const mc_value *text, mc_faults *f)
{
    size_t before = f->n, from = 0, open, close;
    mc_str s = mc_as_str(text);
    for (; placeholder(s, from, &open, &close); from = close + 1) {
        mc_str name = mc_str_cut(s, open + 1, close);
        if (!mc_fact_exists(name))
            mc_fault_add(f, text, "the placeholder {%.*s} names no fact", MC_FMT(name));
    }
    return f->n == before;
}

static void check_args(const mc_value *leaf, op o, mc_faults *f)
{
    const mc_value *args = mc_get(leaf, "args");
    if (args && args->type != MC_ARRAY) {
        mc_fault_add(f, args, "\"args\" is not an array");
        return;
    }
    size_t n = args ? args->n : 0;
    if (o == OP_KNOWN && n)
        mc_fault_add(f, args, "\"known\" takes no arguments");
    if (o <= OP_GE && n != 1)
        mc_fault_add(f, args ? args : leaf, "\"%s\" takes one argument", op_names[o]);
    if ((o == OP_IN || o == OP_NOT_IN || o == OP_GLOB) && n == 0)
        mc_fault_add(f, args ? args : leaf, "\"%s\" needs arguments", op_names[o]);
    for (size_t i = 0; i < n; i++) {
        const mc_value *v = mc_item(args, i);
        if (v->type == MC_ARRAY || v->type == MC_OBJECT)
            mc_fault_add(f, v, "an argument is a text, a number, true, false or null");
        else if (o == OP_GLOB && v->type != MC_STRING)
            mc_fault_add(f, v, "\"glob\" takes patterns");
        else if (o >= OP_LT && o <= OP_GE && v->type != MC_INT && v->type != MC_REAL && v->type != MC_STRING)
            mc_fault_add(f, v, "\"%s\" compares numbers or versions", op_names[o]);
    }
}

static void check_leaf(const mc_value *p, mc_faults *f)
{
    const mc_value *fact = mc_get(p, "fact"), *o = mc_get(p, "op");
    for (size_t i = 0; i < p->n; i++) {
        mc_str key = p->u.fields[i].key;
        if (!mc_str_is(key, "fact") && !mc_str_is(key, "op") && !mc_str_is(key, "args"))
            mc_fault_add(f, p->u.fields[i].value, "unknown key \"%.*s\" of a predicate", MC_FMT(key));
    }
    if (!mc_is(fact, MC_STRING))
        mc_fault_add(f, p, "a predicate is all, any, not, or names a fact");
    else if (!mc_fact_exists(fact->s))
        mc_fault_add(f, fact, "unknown fact \"%.*s\"", MC_FMT(fact->s));
    if (!mc_is(o, MC_STRING) || op_of(o->s) == N_OPS)
        mc_fault_add(f, o ? o : p, "unknown operator: eq ne lt le gt ge in not_in glob known");
    else
        check_args(p, op_of(o->s), f);
}

/* A node has one key; its parts are looked at by the caller. False: a leaf. */
static bool check_node(const mc_value *p, node *n, mc_faults *f)
{
    static const char *const words[] = { "all", "any", "not" };
    if (!mc_is(p, MC_OBJECT)) {
        mc_fault_add(f, p, "a predicate is an object");
        return false;
    }
    if (open_node(p, n)) {
        if (p->n != 1)
            mc_fault_add(f, p, "all, any and not stand alone in their object");
        if (n->join != JOIN_NOT && n->parts->n == 0)
            mc_fault_add(f, n->parts, "\"%s\" of nothing", words[n->join]);
        n->sofar = MC_MAYBE; /* visit every part */
        return true;
    }
    for (size_t i = 0; i < MC_COUNT(words); i++)
        if (mc_get(p, words[i])) {
            mc_fault_add(f, mc_get(p, words[i]), "\"%s\" takes %s", words[i], i == 2 ? "a predicate" : "an array of predicates");
            return false;
        }
    check_leaf(p, f);
    return false;
}

bool mc_predicate_check(const mc_value *p, mc_faults *f)
{
    node   stack[MC_MAX_JSON_DEPTH + 1];
    size_t depth = 0, before = f->n;
    if (!check_node(p, &stack[0], f))
        return f->n == before;
    for (;;) {
        const mc_value *part = next_part(&stack[depth]);
        if (part && depth == MC_MAX_JSON_DEPTH)
            mc_fault_add(f, part, "nested too deeply");
        else if (part && check_node(part, &stack[depth + 1], f))
            depth++;
        else if (!part && depth-- == 0)
            return f->n == before;
    }
}
