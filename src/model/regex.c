/* Patterns to position automata, and their walk. See regex.h. */
#include "model/regex_parse.h"

#include <string.h>

struct mc_regex {
    size_t    n;                    /* positions */
    size_t    forced;               /* how many symbols every match begins with: positions 0 to forced - 1, one after the other */
    bool      nullable;
    mc_posset first, last;
    mc_posset *follow;
    mc_rx_symbol *symbols;
    mc_rx_bytes *classes;
};

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

static void apply(mc_regex *r, part *stack, size_t *n, const mc_rx_token *t)
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
    } else if (!b || (!a && (t->kind == T_CONCAT || t->kind == T_ALT))) {
        return; /* not in postfix order: cannot be */
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

static bool enough(const mc_rx_parser *p, size_t *positions, size_t *deepest)
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

static mc_regex *build(mc_arena *a, const mc_rx_parser *p)
{
    size_t positions, deepest;
    if (!enough(p, &positions, &deepest))
        return NULL;
    mc_regex *r = MC_NEW(a, mc_regex, 1);
    part     *stack = MC_NEW(a, part, deepest + 1);
    if (!r || !stack)
        return NULL;
    r->follow = MC_NEW(a, mc_posset, positions + 1);
    r->symbols = MC_NEW(a, mc_rx_symbol, positions + 1);
    r->classes = MC_NEW(a, mc_rx_bytes, p->n_classes + 1);
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
    mc_rx_parser p;
    memset(&p, 0, offsetof(mc_rx_parser, out));
    p.n = p.depth = p.n_classes = p.operand = 0;
    p.can_repeat = p.bad = false;
    p.p = pattern;
    return mc_rx_postfix(&p) ? build(a, &p) : NULL;
}

/* ---- the walk ---- */

static bool accepts(const mc_regex *r, size_t position, int c)
{
    const mc_rx_symbol *s = &r->symbols[position];
    if (c < 0)
        return s->kind == SYM_END;
    switch ((mc_rx_kind)s->kind) {
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
