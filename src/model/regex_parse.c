/* Regular expressions to postfix order, without recursion. See regex.h for what is supported. */
#include "model/regex_parse.h"

static void emit(mc_rx_parser *p, mc_rx_token t)
{
    if (p->n == MC_RX_TOKENS)
        p->bad = true;
    else
        p->out[p->n++] = t;
}

static mc_rx_group *top(mc_rx_parser *p)
{
    return &p->stack[p->depth - 1];
}

/* Before an atom: joins it to what stands in front of it. Joins are emitted late, so that the last operand stays contiguous. */
static void join_pending(mc_rx_parser *p)
{
    if (top(p)->atoms > 1) {
        top(p)->atoms--;
        emit(p, (mc_rx_token){ .kind = T_CONCAT });
    }
}

static void atom(mc_rx_parser *p, mc_rx_symbol s)
{
    join_pending(p);
    p->operand = p->n;
    p->can_repeat = true;
    emit(p, (mc_rx_token){ .kind = T_SYMBOL, .s = s });
    top(p)->atoms++;
}

static void close_branch(mc_rx_parser *p)
{
    if (top(p)->atoms == 0)
        emit(p, (mc_rx_token){ .kind = T_EMPTY });
    while (top(p)->atoms > 1) {
        top(p)->atoms--;
        emit(p, (mc_rx_token){ .kind = T_CONCAT });
    }
    top(p)->atoms = 0;
}

static void open_group(mc_rx_parser *p)
{
    join_pending(p);
    if (p->depth == MC_RX_DEEPEST) {
        p->bad = true;
        return;
    }
    p->stack[p->depth++] = (mc_rx_group){ .start = p->n };
    p->can_repeat = false;
}

static void close_group(mc_rx_parser *p)
{
    close_branch(p);
    for (; top(p)->alts > 0; top(p)->alts--)
        emit(p, (mc_rx_token){ .kind = T_ALT });
    p->operand = top(p)->start;
}

static void add_byte(mc_rx_bytes *b, unsigned c)
{
    b->w[c / 64] |= UINT64_C(1) << (c % 64);
}

static void add_range(mc_rx_bytes *b, unsigned from, unsigned to)
{
    for (unsigned c = from; c <= to; c++)
        add_byte(b, c);
}

static void invert(mc_rx_bytes *b)
{
    for (size_t i = 0; i < 4; i++)
        b->w[i] = ~b->w[i];
}

/* \d, \w, \s and their opposites; false for any other letter. */
static bool class_escape(char c, mc_rx_bytes *b)
{
    mc_rx_bytes s = { { 0 } };
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

static void class_atom(mc_rx_parser *p, const mc_rx_bytes *b)
{
    if (p->n_classes == MC_RX_CLASSES) {
        p->bad = true;
        return;
    }
    p->classes[p->n_classes] = *b;
    atom(p, (mc_rx_symbol){ .kind = SYM_CLASS, .cls = (uint16_t)p->n_classes++ });
}

/* One member of a class: a byte, or -1 when it was an escape for several (already added). */
static int class_member(mc_rx_parser *p, mc_rx_bytes *b)
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

static void parse_class(mc_rx_parser *p)
{
    mc_rx_bytes b = { { 0 } };
    bool    negated = p->i < p->p.n && p->p.p[p->i] == '^', closed = false;
    p->i += negated;
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
    if (negated)
        invert(&b);
    class_atom(p, &b);
}

static void parse_escape(mc_rx_parser *p)
{
    mc_rx_bytes b = { { 0 } };
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
        atom(p, (mc_rx_symbol){ .kind = SYM_BYTE, .byte = (uint8_t)c });
}

/* ---- repetition ---- */

static void copy_operand(mc_rx_parser *p, size_t from, size_t to)
{
    for (size_t k = from; k < to && !p->bad; k++)
        emit(p, p->out[k]);
}

static bool small_number(mc_rx_parser *p, unsigned *out)
{
    size_t start = p->i;
    *out = 0;
    while (p->i < p->p.n && p->p.p[p->i] >= '0' && p->p.p[p->i] <= '9' && *out <= MC_RX_REPEATS)
        *out = *out * 10 + (unsigned)(p->p.p[p->i++] - '0');
    return p->i > start && *out <= MC_RX_REPEATS;
}

/* "{m}", "{m,}" or "{m,n}" behind the '{': the operand is written out as often as it is asked for. */
static void parse_counted(mc_rx_parser *p)
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
        emit(p, (mc_rx_token){ .kind = open ? T_STAR : T_OPT });
    else if (open && lo == 1)
        emit(p, (mc_rx_token){ .kind = T_PLUS });
    for (unsigned k = 1; k < hi; k++) {
        copy_operand(p, from, to);
        if (k >= lo)
            emit(p, (mc_rx_token){ .kind = T_OPT });
        else if (open && k + 1 == lo)
            emit(p, (mc_rx_token){ .kind = T_PLUS });
        emit(p, (mc_rx_token){ .kind = T_CONCAT });
    }
}

static void parse_repeat(mc_rx_parser *p, char c)
{
    if (!p->can_repeat) {
        p->bad = true;
        return;
    }
    if (c == '{')
        parse_counted(p);
    else
        emit(p, (mc_rx_token){ .kind = c == '*' ? T_STAR : c == '+' ? T_PLUS : T_OPT });
    p->can_repeat = false;
    if (p->i < p->p.n && p->p.p[p->i] == '?')
        p->i++; /* lazy: which match is found first does not matter here */
    else if (p->i < p->p.n && p->p.p[p->i] == '+')
        p->bad = true; /* possessive */
}

static void parse_open(mc_rx_parser *p)
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

static void parse_close(mc_rx_parser *p)
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

static void parse_one(mc_rx_parser *p)
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
    case '.': atom(p, (mc_rx_symbol){ .kind = SYM_ANY }); break;
    case '$':
        atom(p, (mc_rx_symbol){ .kind = SYM_END });
        p->can_repeat = false;
        break;
    case '^':
        p->bad |= p->i != 1; /* in front of everything it says nothing: all patterns are anchored there */
        break;
    default: atom(p, (mc_rx_symbol){ .kind = SYM_BYTE, .byte = (uint8_t)c });
    }
}

bool mc_rx_postfix(mc_rx_parser *p)
{
    p->stack[0] = (mc_rx_group){ 0 };
    p->depth = 1;
    p->bad = p->p.n > MC_RX_LONGEST;
    while (p->i < p->p.n && !p->bad)
        parse_one(p);
    if (p->bad || p->depth != 1)
        return false;
    close_group(p);
    return !p->bad;
}
