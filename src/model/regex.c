/* Patterns to position automata, and their walk. See regex.h. */
#include "model/regex.h"

#include <string.h>

enum { TOKENS = 1024, LONGEST = 1024, DEEPEST = 32, REPEATS = 16, MOST_CLASSES = 64 };

/* What one position accepts. END stands for '$': a symbol behind the last byte. */
typedef enum { SYM_BYTE, SYM_ANY, SYM_CLASS, SYM_END } sym_kind;
typedef struct { uint8_t kind, byte; uint16_t cls; } symbol;
typedef struct { uint64_t w[4]; } byteset;

struct mc_regex {
    size_t    n;                    /* positions */
    size_t    forced;               /* how many symbols every match begins with: positions 0 to forced - 1, one after the other */
    bool      nullable;
    mc_posset first, last;
    mc_posset *follow;
    symbol    *symbols;
    byteset   *classes;
};

/* ---- pattern to postfix ---- */

typedef enum { T_SYMBOL, T_EMPTY, T_CONCAT, T_ALT, T_STAR, T_PLUS, T_OPT } token_kind;
typedef struct { uint8_t kind; symbol s; } token;
typedef struct { size_t alts, atoms, start; } group;

typedef struct {
    mc_str   p;
    size_t   i;
    token    out[TOKENS];
    size_t   n;
    group    stack[DEEPEST];
    size_t   depth;
    size_t   operand;               /* where the last operand begins in `out` */
    bool     can_repeat;            /* there is an operand, and it has no repetition yet */
    byteset  classes[MOST_CLASSES];
    size_t   n_classes;
    bool     bad;
} parser;

static void emit(parser *p, token t)
{
    if (p->n == TOKENS)
        p->bad = true;
    else
        p->out[p->n++] = t;
}

static group *top(parser *p)
{
    return &p->stack[p->depth - 1];
}

/* Before an atom: joins it to what stands in front of it. Joins are emitted late, so that the last operand stays contiguous. */
static void join_pending(parser *p)
{
    if (top(p)->atoms > 1) {
        top(p)->atoms--;
        emit(p, (token){ .kind = T_CONCAT });
    }
}

static void atom(parser *p, symbol s)
{
    join_pending(p);
    p->operand = p->n;
    p->can_repeat = true;
    emit(p, (token){ .kind = T_SYMBOL, .s = s });
    top(p)->atoms++;
}

static void close_branch(parser *p)
{
    if (top(p)->atoms == 0)
        emit(p, (token){ .kind = T_EMPTY });
    while (top(p)->atoms > 1) {
        top(p)->atoms--;
        emit(p, (token){ .kind = T_CONCAT });
    }
    top(p)->atoms = 0;
}

static void open_group(parser *p)
{
    join_pending(p);
    if (p->depth == DEEPEST) {
        p->bad = true;
        return;
    }
    p->stack[p->depth++] = (group){ .start = p->n };
    p->can_repeat = false;
}

static void close_group(parser *p)
{
    close_branch(p);
    for (; top(p)->alts > 0; top(p)->alts--)
        emit(p, (token){ .kind = T_ALT });
    p->operand = top(p)->start;
}

static void add_byte(byteset *b, unsigned c)
{
    b->w[c / 64] |= UINT64_C(1) << (c % 64);
}

static void add_range(byteset *b, unsigned from, unsigned to)
{
    for (unsigned c = from; c <= to; c++)
        add_byte(b, c);
}

static void invert(byteset *b)
{
    for (size_t i = 0; i < 4; i++)
        b->w[i] = ~b->w[i];
}

/* \d, \w, \s and their opposites; false for any other letter. */
static bool class_escape(char c, byteset *b)
{
    byteset s = { { 0 } };
    char    lower = (char)(c | 0x20);
    if (lower == 'd' || lower == 'w')
        add_range(&s, '0', '9');
    if (lower == 'w') {
        add_range(&s, 'a', 'z');
        add_range(&s, 'A', 'Z');
        add_byte(&s, '_');
    }
    for (const char *blank = " \t\n\r\f\v"; lower == 's' && *blank; blank++)
        add_byte(&s, (uint8_t)*blank);
    if (lower != 'd' && lower != 'w' && lower != 's')
        return false;
    if (c != lower)
        invert(&s);
    for (size_t i = 0; i < 4; i++)
        b->w[i] |= s.w[i];
    return true;
}

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static void class_atom(parser *p, const byteset *b)
{
    if (p->n_classes == MOST_CLASSES) {
        p->bad = true;
        return;
    }
    p->classes[p->n_classes] = *b;
    atom(p, (symbol){ .kind = SYM_CLASS, .cls = (uint16_t)p->n_classes++ });
}

/* One member of a class: a byte, or -1 when it was an escape for several (already added). */
static int class_member(parser *p, byteset *b)
{
    char c = p->p.p[p->i++];
    if (c != '\\')
        return (uint8_t)c;
    if (p->i == p->p.n) {
        p->bad = true;
        return -1;
    }
    c = p->p.p[p->i++];
    if (class_escape(c, b))
        return -1;
    p->bad |= is_letter_or_digit(c);
    return (uint8_t)c;
}

static void parse_class(parser *p)
{
    byteset b = { { 0 } };
    bool    not = p->i < p->p.n && p->p.p[p->i] == '^', closed = false;
    p->i += not;
    for (size_t first = p->i; p->i < p->p.n && !p->bad;) {
        if (p->p.p[p->i] == ']' && p->i > first) {
            closed = true;
            p->i++;
            break;
        }
        int from = class_member(p, &b);
        if (from < 0)
            continue;
        int to = from;
        if (p->i + 1 < p->p.n && p->p.p[p->i] == '-' && p->p.p[p->i + 1] != ']') {
            p->i++;
            to = class_member(p, &b);
        }
        p->bad |= to < from;
        if (!p->bad)
            add_range(&b, (unsigned)from, (unsigned)to);
    }
    p->bad |= !closed;
    if (not)
        invert(&b);
    class_atom(p, &b);
}

static void parse_escape(parser *p)
{
    byteset b = { { 0 } };
    if (p->i == p->p.n) {
        p->bad = true;
        return;
    }
    char c = p->p.p[p->i++];
    if (class_escape(c, &b))
        class_atom(p, &b);
    else if (is_letter_or_digit(c))
        p->bad = true; /* \b, \Z, \1 ... */
    else
        atom(p, (symbol){ .kind = SYM_BYTE, .byte = (uint8_t)c });
}

/* ---- repetition ---- */

static void copy_operand(parser *p, size_t from, size_t to)
{
    for (size_t k = from; k < to && !p->bad; k++)
        emit(p, p->out[k]);
}

static bool small_number(parser *p, unsigned *out)
{
    size_t start = p->i;
    *out = 0;
    while (p->i < p->p.n && p->p.p[p->i] >= '0' && p->p.p[p->i] <= '9' && *out <= REPEATS)
        *out = *out * 10 + (unsigned)(p->p.p[p->i++] - '0');
    return p->i > start && *out <= REPEATS;
}

/* "{m}", "{m,}" or "{m,n}" behind the '{': the operand is written out as often as it is asked for. */
static void parse_counted(parser *p)
{
    unsigned lo, hi;
    bool     open = false;
    p->bad |= !small_number(p, &lo);
    hi = lo;
    if (p->i < p->p.n && p->p.p[p->i] == ',') {
        p->i++;
        open = p->i < p->p.n && p->p.p[p->i] == '}';
        p->bad |= !open && !small_number(p, &hi);
    }
    p->bad |= p->i >= p->p.n || p->p.p[p->i] != '}' || hi < lo || (lo == 0 && hi == 0 && !open);
    p->i++;
    if (p->bad)
        return;
    size_t from = p->operand, to = p->n;
    if (lo == 0)
        emit(p, (token){ .kind = open ? T_STAR : T_OPT });
    else if (open && lo == 1)
        emit(p, (token){ .kind = T_PLUS });
    for (unsigned k = 1; k < hi; k++) {
        copy_operand(p, from, to);
        if (k >= lo)
            emit(p, (token){ .kind = T_OPT });
        else if (open && k + 1 == lo)
            emit(p, (token){ .kind = T_PLUS });
        emit(p, (token){ .kind = T_CONCAT });
    }
}

static void parse_repeat(parser *p, char c)
{
    if (!p->can_repeat) {
        p->bad = true;
        return;
    }
    if (c == '{')
        parse_counted(p);
    else
        emit(p, (token){ .kind = c == '*' ? T_STAR : c == '+' ? T_PLUS : T_OPT });
    p->can_repeat = false;
    if (p->i < p->p.n && p->p.p[p->i] == '?')
        p->i++; /* lazy: which match is found first does not matter here */
    else if (p->i < p->p.n && p->p.p[p->i] == '+')
        p->bad = true; /* possessive */
}

static void parse_open(parser *p)
{
    if (p->i < p->p.n && p->p.p[p->i] == '?') {
        if (p->i + 1 >= p->p.n || p->p.p[p->i + 1] != ':') {
            p->bad = true; /* look-around, flags, names */
            return;
        }
        p->i += 2;
    }
    open_group(p);
}

static void parse_close(parser *p)
{
    if (p->depth < 2) {
        p->bad = true;
        return;
    }
    close_group(p);
    p->depth--;
    top(p)->atoms++;
    p->can_repeat = true;
}

static void parse_one(parser *p)
{
    char c = p->p.p[p->i++];
    switch (c) {
    case '\\': parse_escape(p); break;
    case '[': parse_class(p); break;
    case '(': parse_open(p); break;
    case ')': parse_close(p); break;
    case '|':
        close_branch(p);
        top(p)->alts++;
        p->can_repeat = false;
        break;
    case '*': case '+': case '?': case '{': parse_repeat(p, c); break;
    case '.': atom(p, (symbol){ .kind = SYM_ANY }); break;
    case '$':
        atom(p, (symbol){ .kind = SYM_END });
        p->can_repeat = false;
        break;
    case '^':
        p->bad |= p->i != 1; /* in front of everything it says nothing: all patterns are anchored there */
        break;
    default: atom(p, (symbol){ .kind = SYM_BYTE, .byte = (uint8_t)c });
    }
}

static bool to_postfix(parser *p)
{
    p->stack[0] = (group){ 0 };
    p->depth = 1;
    p->bad = p->p.n > LONGEST;
    while (p->i < p->p.n && !p->bad)
        parse_one(p);
    if (p->bad || p->depth != 1)
        return false;
    close_group(p);
    return !p->bad;
}

/* ---- postfix to automaton ---- */

typedef struct { bool nullable; mc_posset first, last; } part;

static void unite(mc_posset *a, const mc_posset *b)
{
    for (size_t i = 0; i < MC_REGEX_WORDS; i++)
        a->w[i] |= b->w[i];
}

static void link_up(mc_regex *r, const mc_posset *from, const mc_posset *to)
{
    for (size_t i = 0; i < MC_REGEX_WORDS; i++)
        for (uint64_t w = from->w[i]; w; w &= w - 1)
            unite(&r->follow[i * 64 + (size_t)__builtin_ctzll(w)], to);
}

static void apply(mc_regex *r, part *stack, size_t *n, const token *t)
{
    part *b = *n ? &stack[*n - 1] : NULL, *a = *n > 1 ? &stack[*n - 2] : NULL;
    if (t->kind == T_SYMBOL) {
        part s = { 0 };
        r->symbols[r->n] = t->s;
        s.first.w[r->n / 64] = s.last.w[r->n / 64] = UINT64_C(1) << (r->n % 64);
        r->n++;
        stack[(*n)++] = s;
    } else if (t->kind == T_EMPTY) {
        stack[(*n)++] = (part){ .nullable = true };
    } else if (t->kind == T_CONCAT) {
        link_up(r, &a->last, &b->first);
        if (a->nullable)
            unite(&a->first, &b->first);
        if (b->nullable)
            unite(&b->last, &a->last);
        a->last = b->last;
        a->nullable = a->nullable && b->nullable;
        --*n;
    } else if (t->kind == T_ALT) {
        unite(&a->first, &b->first);
        unite(&a->last, &b->last);
        a->nullable = a->nullable || b->nullable;
        --*n;
    } else {
        if (t->kind != T_OPT)
            link_up(r, &b->last, &b->first);
        b->nullable |= t->kind != T_PLUS;
    }
}

static bool enough(const parser *p, size_t *positions, size_t *deepest)
{
    size_t depth = 0;
    *positions = *deepest = 0;
    for (size_t i = 0; i < p->n; i++) {
        *positions += p->out[i].kind == T_SYMBOL;
        if (p->out[i].kind == T_SYMBOL || p->out[i].kind == T_EMPTY)
            depth++;
        else if (p->out[i].kind == T_CONCAT || p->out[i].kind == T_ALT)
            depth--;
        if (depth > *deepest)
            *deepest = depth;
    }
    return *positions <= MC_REGEX_POSITIONS && depth == 1;
}

/* The only member of a set, or SIZE_MAX. */
static size_t single(const mc_posset *s)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < MC_REGEX_WORDS; i++)
        for (uint64_t w = s->w[i]; w; w &= w - 1) {
            if (found != SIZE_MAX)
                return SIZE_MAX;
            found = i * 64 + (size_t)__builtin_ctzll(w);
        }
    return found;
}

static size_t forced_prefix(const mc_regex *r)
{
    const mc_posset *next = &r->first;
    size_t           n = 0;
    while (!r->nullable && n < r->n && single(next) == n && r->symbols[n].kind != SYM_END) {
        bool ends = r->last.w[n / 64] >> (n % 64) & 1;
        next = &r->follow[n++];
        if (ends)
            break;
    }
    return n;
}

static mc_regex *build(mc_arena *a, const parser *p)
{
    size_t positions, deepest;
    if (!enough(p, &positions, &deepest))
        return NULL;
    mc_regex *r = MC_NEW(a, mc_regex, 1);
    part     *stack = MC_NEW(a, part, deepest + 1);
    if (!r || !stack)
        return NULL;
    r->follow = MC_NEW(a, mc_posset, positions + 1);
    r->symbols = MC_NEW(a, symbol, positions + 1);
    r->classes = MC_NEW(a, byteset, p->n_classes + 1);
    if (!r->follow || !r->symbols || !r->classes)
        return NULL;
    memcpy(r->classes, p->classes, p->n_classes * sizeof *r->classes);
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        apply(r, stack, &n, &p->out[i]);
    r->nullable = stack[0].nullable;
    r->first = stack[0].first;
    r->last = stack[0].last;
    r->forced = forced_prefix(r);
    return r;
}

mc_regex *mc_regex_compile(mc_arena *a, mc_str pattern)
{
    parser p;
    memset(&p, 0, offsetof(parser, out));
    p.n = p.depth = p.n_classes = p.operand = 0;
    p.can_repeat = p.bad = false;
    p.p = pattern;
    return to_postfix(&p) ? build(a, &p) : NULL;
}

/* ---- the walk ---- */

static bool accepts(const mc_regex *r, size_t position, int c)
{
    const symbol *s = &r->symbols[position];
    if (c < 0)
        return s->kind == SYM_END;
    switch ((sym_kind)s->kind) {
    case SYM_BYTE: return s->byte == c;
    case SYM_ANY: return c != '\n';
    case SYM_CLASS: return r->classes[s->cls].w[(unsigned)c / 64] >> ((unsigned)c % 64) & 1;
    case SYM_END: break;
    }
    return false;
}

static bool meets(const mc_posset *a, const mc_posset *b)
{
    for (size_t i = 0; i < MC_REGEX_WORDS; i++)
        if (a->w[i] & b->w[i])
            return true;
    return false;
}

/* From the positions that may come next to those that take c; `next` becomes what may follow them. False: none does. */
static bool step(const mc_regex *r, mc_posset *next, mc_posset *now, int c)
{
    mc_posset after = { { 0 } };
    bool      any = false;
    *now = (mc_posset){ { 0 } };
    for (size_t i = 0; i < MC_REGEX_WORDS; i++)
        for (uint64_t w = next->w[i]; w; w &= w - 1) {
            size_t position = i * 64 + (size_t)__builtin_ctzll(w);
            if (!accepts(r, position, c))
                continue;
            now->w[i] |= UINT64_C(1) << (position % 64);
            unite(&after, &r->follow[position]);
            any = true;
        }
    *next = after;
    return any;
}

bool mc_regex_match(const mc_regex *r, mc_str text, bool whole)
{
    mc_posset next = r->first, now = { { 0 } };
    bool      accepted = r->nullable;
    for (size_t i = 0; i < r->forced; i++) /* most names fail here */
        if (i == text.n || !accepts(r, i, (uint8_t)text.p[i]))
            return false;
    for (size_t i = 0; i < text.n; i++) {
        if (accepted && !whole)
            return true;
        if (!step(r, &next, &now, (uint8_t)text.p[i]))
            return false;
        accepted = meets(&now, &r->last);
    }
    for (size_t ends = 0; !accepted && ends < MC_REGEX_POSITIONS && step(r, &next, &now, -1); ends++)
        accepted = meets(&now, &r->last);
    return accepted;
}
