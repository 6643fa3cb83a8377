/* What a claim says of each module, in time that grows with names and entries and not with their product.
 *
 * A configuration may list 22,000 layers and a model hold 60,000 modules. What a list says mostly does not depend on numbers, so
 * questions are asked once a form (mc_form): where can an entry occur in names of this form? Entries are kept in a hash by their
 * text. A form in which entries occur around a number is looked at module by module: the text at that place is looked up.
 * Regular expressions and globs without a literal stem are asked once a form when they do not look at digits; else once a module
 * whose first number is theirs, or once a module when they begin with none. (There a bare dot counts as the dot it nearly always is.)
 * mc_pattern_matches and mc_pattern_any have the last word on every candidate, so that this file cannot change an answer. */
#include "model/matcher.h"

#include <string.h>

/* ---- forms of texts ---- */

enum { MOST_NUMBERS = 16 };
typedef struct { uint16_t form, at, n; } number;    /* a whole component of digits: where in the form, where in the name, digits */
typedef struct { char text[MC_LONGEST_NAME]; size_t n; number numbers[MOST_NUMBERS]; size_t n_numbers; } shape;

static bool shape_of(mc_str name, shape *s)
{
    s->n = s->n_numbers = 0;
    if (name.n > sizeof s->text)
        return false;
    for (size_t i = 0; i < name.n;) {
        size_t start = i, digits = 0;
        while (i < name.n && name.p[i] != '.')
            digits += mc_is_digit(name.p[i]) ? 1 : 0, i++;
        if (digits == i - start && digits > 0) {
            if (s->n_numbers == MOST_NUMBERS)
                return false;
            s->numbers[s->n_numbers++] = (number){ (uint16_t)s->n, (uint16_t)start, (uint16_t)digits };
            s->text[s->n++] = '#';
        } else {
            memcpy(s->text + s->n, name.p + start, i - start);
            s->n += i - start;
        }
        if (i < name.n)
            s->text[s->n++] = name.p[i++];
    }
    return true;
}

/* ---- the index ---- */

typedef struct { mc_entry e; uint32_t next; } ref;     /* entries of one text; next: index + 1, 0 ends */
typedef struct { uint16_t from, to; bool open; /* ends in a number that may go on */ } place;
typedef struct {
    bool  ready, alone;             /* alone: too long or too many numbers, asked entry by mc_entry */
    bool  varies;                   /* depends on numbers */
    place *places; size_t n_places, cap_places; /* where entries with numbers may occur */
    mc_tally tally;                    /* of all entries that do not depend on numbers */
    const mc_verdict *last;         /* of the last module of this form */
} form_answer;

typedef struct {
    mc_arena *a;
    mc_claim *c;
    mc_strset texts; uint32_t *heads; size_t cap_heads;
    ref      *refs; size_t n_refs, cap_refs;
    mc_strset forms; bool *numbers; size_t cap_forms; /* forms of the texts; which have numbers */
    mc_entry *fixed; size_t n_fixed, cap_fixed;     /* no literal stem, blind to digits */
    mc_strset numbers_of; uint32_t *number_heads; size_t cap_number_heads; /* no literal stem, may look at digits: by first number, "" none */
    uint64_t  budget;                               /* steps left; none: what is left is in doubt */
    bool      failed;
} matcher;

/* Enough for every list that was ever published, ten times over; about a second. */
#define MC_MATCH_BUDGET (UINT64_C(1) << 30)

static bool spend(matcher *x, uint64_t steps)
{
    bool ok = x->budget > steps;
    x->budget = ok ? x->budget - steps : 0;
    return ok;
}

static bool keep(matcher *x, mc_entry **list, size_t *n, size_t *cap, mc_entry e)
{
    mc_entry *v = mc_grow(x->a, *list, *n, cap, sizeof *v);
    if (!v)
        return false;
    *list = v;
    v[(*n)++] = e;
    return true;
}

static bool add_form(matcher *x, mc_str text)
{
    shape s;
    bool  added;
    if (!shape_of(text, &s))
        return false;
    mc_str   form = { s.text, s.n };
    uint32_t id = mc_strset_find(&x->forms, form);
    if (id != MC_NO_ID)
        return true;
    id = mc_strset_add(&x->forms, mc_str_copy(x->a, form), &added);
    bool *v = id == MC_NO_ID ? NULL : mc_grow(x->a, x->numbers, id, &x->cap_forms, sizeof *v);
    if (!v)
        return false;
    x->numbers = v;
    v[id] = s.n_numbers > 0;
    return true;
}

/* Chains an entry to those of the same key. */
static bool chain(matcher *x, mc_strset *keys, uint32_t **heads, size_t *cap, mc_str key, mc_entry e)
{
    bool     added;
    ref     *r = mc_grow(x->a, x->refs, x->n_refs, &x->cap_refs, sizeof *r);
    uint32_t id = r ? mc_strset_add(keys, key, &added) : MC_NO_ID;
    if (r)
        x->refs = r;
    uint32_t *h = id == MC_NO_ID ? NULL : mc_grow(x->a, *heads, id, cap, sizeof *h);
    if (!h)
        return false;
    *heads = h;
    r[x->n_refs] = (ref){ e, added ? 0 : h[id] };
    h[id] = (uint32_t)++x->n_refs;
    return true;
}

static bool add_text(matcher *x, mc_str text, mc_entry e)
{
    return add_form(x, text) && chain(x, &x->texts, &x->heads, &x->cap_heads, text, e);
}

static bool is_word(mc_str s, size_t i)
{
    return i < s.n && ((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z') || s.p[i] == '_');
}

/* Could the pattern answer otherwise for another number? Digits, classes, counts and single wildcards look at numbers. */
static bool looks_at_digits(mc_str s, bool regex)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i], next = i + 1 < s.n ? s.p[i + 1] : '\0';
        if (mc_is_digit(c) || c == '[' || c == '{' || (c == '?' && !regex))
            return true;
        if (regex && c == '\\' && (next == 'd' || next == 'w' || next == 'D' || next == 'W' || next == 's' || next == 'S')) {
            char after = i + 2 < s.n ? s.p[i + 2] : '\0';
            if (after != '+' && after != '*')
                return true;
        }
        if (c == '\\')
            i++;
        else if (regex && c == '.' && next != '*' && next != '+' && !(i > 0 && is_word(s, i - 1) && is_word(s, i + 1)))
            return true;
    }
    return false;
}

/* Digits that are a whole component at the front of the pattern, where every match has them: the 10 of "model\\.layers\\.10\\..*". */
static mc_str first_number(mc_str s, bool regex)
{
    bool start = true; /* of a component */
    for (size_t i = 0; i < s.n; i++) {
        size_t end = i, dot;
        while (end < s.n && mc_is_digit(s.p[end]))
            end++;
        dot = end + (regex && end < s.n && s.p[end] == '\\');
        char after = dot + 1 < s.n ? s.p[dot + 1] : '\0';
        if (start && end > i && dot < s.n && s.p[dot] == '.' && (!regex || (after != '*' && after != '?' && after != '{')))
            return mc_str_cut(s, i, end);
        if (regex && s.p[i] == '\\' && i + 1 < s.n && s.p[i + 1] == '.')
            i++;
        start = s.p[i] == '.';
        if (!start && !mc_is_digit(s.p[i]) && !is_word(s, i) && s.p[i] != '-')
            break;
        if (end > i && end - i > 1)
            start = false;
    }
    return MC_STR("");
}

static bool add_loose(matcher *x, mc_entry e)
{
    bool regex = e.p->program != NULL, choice = regex && mc_str_find(e.p->pattern, '|') < e.p->pattern.n;
    bool literal = mc_pattern_stem(e.p).n > 0; /* may stand anywhere in a name */
    mc_str key = literal || choice || !e.p->supported ? MC_STR("") : first_number(e.p->pattern, regex); /* what cannot be evaluated is in doubt everywhere */
    return chain(x, &x->numbers_of, &x->number_heads, &x->cap_number_heads, key, e);
}

static void index_entry(matcher *x, mc_entry e)
{
    mc_str stem = mc_pattern_stem(e.p);
    if (stem.n == 0 || mc_is_digit(mc_without_root(stem).p[0]) || stem.n > MC_LONGEST_NAME) {
        bool blind = e.p->dialect == MC_DIALECT_CLASS || !looks_at_digits(e.p->pattern, e.p->program != NULL);
        x->failed |= !(blind ? keep(x, &x->fixed, &x->n_fixed, &x->cap_fixed, e) : add_loose(x, e));
        return;
    }
    const char *parts[MC_MAX_FUSED];
    mc_str      bare = mc_without_root(stem);
    size_t      cut, n = mc_fused_parts(bare, parts, &cut);
    if (!add_text(x, bare, e) && !chain(x, &x->numbers_of, &x->number_heads, &x->cap_number_heads, MC_STR(""), e))
        x->failed = true;
    for (size_t i = 0; i < n; i++)
        x->failed |= !add_text(x, mc_format(x->a, "%.*s%s", (int)cut, bare.p, parts[i]), e);
}

static bool build(matcher *x)
{
    mc_claim *c = x->c;
    if (!mc_strset_init(&x->texts, x->a, mc_claim_entries(c)) || !mc_strset_init(&x->forms, x->a, 32) || !mc_strset_init(&x->numbers_of, x->a, 16))
        return false;
    for (size_t i = 0; i < c->n_excludes; i++)
        index_entry(x, (mc_entry){ &c->excludes[i], NULL });
    for (size_t o = 0; o < c->n_overrides; o++)
        for (size_t i = 0; i < c->overrides[o].n_targets; i++)
            index_entry(x, (mc_entry){ &c->overrides[o].targets[i], &c->overrides[o] });
    return !x->failed;
}

/* ---- once a form ---- */

static void ask_chain(matcher *x, const mc_strset *keys, const uint32_t *heads, mc_str key, const mc_module *m, mc_tally *t)
{
    uint32_t id = mc_strset_find(keys, key);
    for (uint32_t r = id == MC_NO_ID ? 0 : heads[id]; r; r = x->refs[r - 1].next) {
        const mc_entry *e = &x->refs[r - 1].e;
        if (!spend(x, 32 + m->name.n * (e->p->program ? 16 : 1)))
            return;
        mc_entry_consider(t, e, m);
    }
}

static void ask_text(matcher *x, mc_str text, const mc_module *m, mc_tally *t)
{
    ask_chain(x, &x->texts, x->heads, text, m, t);
}

static void ask_list(matcher *x, const mc_entry *list, size_t n, const mc_module *m, mc_tally *t)
{
    for (size_t i = 0; i < n && spend(x, 16 + list[i].p->pattern.n + m->name.n * (list[i].p->program ? 8 : 1)); i++)
        mc_entry_consider(t, &list[i], m);
}

static bool add_place(matcher *x, form_answer *f, place p)
{
    place *v = mc_grow(x->a, f->places, f->n_places, &f->cap_places, sizeof *v);
    if (!v)
        return false;
    f->places = v;
    v[f->n_places++] = p;
    return true;
}

static size_t find_from(const char *text, size_t n, mc_str part, size_t from)
{
    for (; from + part.n <= n; from++) {
        const char *hit = memchr(text + from, part.p[0], n - part.n - from + 1);
        if (!hit)
            break;
        from = (size_t)(hit - text);
        if (memcmp(hit, part.p, part.n) == 0)
            return from;
    }
    return SIZE_MAX;
}

/* The places at which texts of the index may stand in names of this form. Texts without numbers are asked now. */
static void find_places(matcher *x, form_answer *f, const shape *name, const mc_module *m)
{
    for (size_t i = 0; i < x->forms.n && spend(x, name->n / 8 + 4); i++) {
        mc_str form = x->forms.keys[i];
        for (size_t at = 0; (at = find_from(name->text, name->n, form, at)) != SIZE_MAX; at++) {
            if (!x->numbers[i]) {
                ask_text(x, form, m, &f->tally);
                break; /* the same text: one answer for all its places */
            }
            place p = { (uint16_t)at, (uint16_t)(at + form.n), form.p[form.n - 1] == '#' };
            x->failed |= !add_place(x, f, p);
            f->varies = true;
        }
    }
}

static void prepare(matcher *x, form_answer *f, const mc_module *m)
{
    shape s;
    f->ready = true;
    f->alone = !shape_of(m->name, &s);
    f->varies = x->numbers_of.n > 0;
    if (f->alone)
        return;
    find_places(x, f, &s, m);
    ask_list(x, x->fixed, x->n_fixed, m, &f->tally);
}

/* ---- once a module, where numbers matter ---- */

static size_t in_name(const shape *s, size_t at)
{
    size_t n = at;
    for (size_t i = 0; i < s->n_numbers && s->numbers[i].form < at; i++)
        n += s->numbers[i].n - 1u;
    return n;
}

static void ask_place(matcher *x, const shape *s, const place *p, const mc_module *m, mc_tally *t)
{
    size_t from = in_name(s, p->from), to = in_name(s, p->to);
    if (!p->open || p->to == 0) {
        ask_text(x, mc_str_cut(m->name, from, to), m, t);
        return;
    }
    size_t first = in_name(s, p->to - 1u) + 1; /* "layers.1" stands in "layers.10" too */
    for (size_t end = first; end <= to; end++)
        ask_text(x, mc_str_cut(m->name, from, end), m, t);
}

static mc_verdict judge(matcher *x, const form_answer *f, const mc_module *m)
{
    shape s;
    mc_tally t = f->tally;
    if (f->alone) {
        t = (mc_tally){ 0 };
        for (size_t i = 0; i < x->n_refs && spend(x, 64 + m->name.n); i++)
            mc_entry_consider(&t, &x->refs[i].e, m);
        ask_list(x, x->fixed, x->n_fixed, m, &t);
    } else if (f->varies && shape_of(m->name, &s)) {
        for (size_t i = 0; i < f->n_places; i++)
            ask_place(x, &s, &f->places[i], m, &t);
        if (s.n_numbers > 0)
            ask_chain(x, &x->numbers_of, x->number_heads, mc_str_cut(m->name, s.numbers[0].at, s.numbers[0].at + s.numbers[0].n), m, &t);
        ask_chain(x, &x->numbers_of, x->number_heads, MC_STR(""), m, &t);
    }
    return mc_tally_conclude(x->c, &t, x->budget == 0);
}

static bool same(const mc_verdict *a, const mc_verdict *b)
{
    return a->scheme == b->scheme && a->excluded_by == b->excluded_by && a->target == b->target && a->doubt == b->doubt;
}

static const mc_verdict *verdict_of(matcher *x, form_answer *f, const mc_module *m)
{
    if (!f->ready)
        prepare(x, f, m);
    if (!f->varies && !f->alone && f->last)
        return f->last;
    mc_verdict v = judge(x, f, m), *own;
    if (f->last && same(f->last, &v))
        return f->last;
    own = MC_NEW(x->a, mc_verdict, 1);
    if (own)
        *own = v;
    return f->last = own;
}

void mc_claim_resolve(mc_arena *a, mc_claim *c, const mc_module *modules, size_t n)
{
    matcher  x = { .a = a, .c = c, .budget = MC_MATCH_BUDGET };
    uint32_t forms = 0;
    if (mc_claim_entries(c) == 0 || n == 0 || !build(&x))
        return;
    for (size_t i = 0; i < n; i++)
        if (modules[i].component == c->component && modules[i].form >= forms)
            forms = modules[i].form + 1;
    form_answer       *f = MC_NEW(a, form_answer, forms ? forms : 1);
    const mc_verdict **v = MC_NEW(a, const mc_verdict *, n);
    if (!f || !v)
        return;
    for (size_t i = 0; i < n && !x.failed; i++)
        if (modules[i].component == c->component)
            v[i] = verdict_of(&x, &f[modules[i].form], &modules[i]);
    if (x.failed)
        return;
    c->modules = modules;
    c->verdicts = v;
    c->n_verdicts = n;
}
