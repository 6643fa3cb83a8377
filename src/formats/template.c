/* A chat template is Jinja source. This lexer tells code from text, so that a vocabulary of dangerous words in a prompt is
 * no alarm (rule MC810).
 *
 *   {{ expression }}  {% statement %}  {# comment #}  {% raw %} text {% endraw %}      everything else is text
 *
 * Source: https://jinja.palletsprojects.com/en/stable/templates/ and jinja2/lexer.py. */
#include "formats/formats.h"

#include <string.h>

enum { TOK_END, TOK_NAME, TOK_STRING, TOK_OTHER };

typedef struct { int kind; mc_str text; char c; } token; /* text: of a name, or between the quotes; c: of anything else */
typedef struct { const char *p, *end; unsigned braces; bool statement; } lexer;

static bool name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool name_char(char c) { return name_start(c) || (c >= '0' && c <= '9'); }
static bool space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static bool at(const lexer *l, const char *two)
{
    return l->end - l->p >= 2 && l->p[0] == two[0] && l->p[1] == two[1];
}

static void skip_past(lexer *l, const char *two)
{
    while (l->p < l->end && !at(l, two))
        l->p++;
    l->p = at(l, two) ? l->p + 2 : l->end;
}

/* The next token of a block; TOK_END behind its closing bracket, which braces of a dictionary do not count as. */
static token next(lexer *l)
{
    while (l->p < l->end && space(*l->p))
        l->p++;
    if (l->p == l->end)
        return (token){ .kind = TOK_END };
    if (l->braces == 0 && at(l, l->statement ? "%}" : "}}")) {
        l->p += 2;
        return (token){ .kind = TOK_END };
    }
    char        c = *l->p;
    const char *start = l->p;
    if (name_start(c)) {
        while (l->p < l->end && name_char(*l->p))
            l->p++;
        return (token){ TOK_NAME, { start, (size_t)(l->p - start) }, 0 };
    }
    l->p++;
    if (c == '"' || c == '\'') {
        while (l->p < l->end && *l->p != c)
            l->p += *l->p == '\\' && l->end - l->p > 1 ? 2 : 1;
        token t = { TOK_STRING, { start + 1, (size_t)(l->p - start - 1) }, 0 };
        l->p += l->p < l->end;
        return t;
    }
    if (c == '{')
        l->braces++;
    else if (c == '}' && l->braces)
        l->braces--;
    return (token){ TOK_OTHER, { start, 1 }, c };
}

static bool internal(mc_str name)
{
    static const char *const names[] = { "__class__", "__globals__", "__subclasses__", "__mro__", "__builtins__", "__import__", NULL };
    return mc_str_is_any(name, names);
}

/* Words behind which '[' opens a list, not an item. */
static bool keyword(mc_str name)
{
    static const char *const names[] = { "in", "not", "and", "or", "is", "if", "else", "elif", "set", "for", "recursive", NULL };
    return mc_str_is_any(name, names);
}

/* Does '[' behind this token take an item of it? */
static bool indexable(token t)
{
    return t.kind == TOK_STRING || (t.kind == TOK_NAME && !keyword(t.text)) || (t.kind == TOK_OTHER && (t.c == ')' || t.c == ']' || t.c == '}'));
}

static bool is(token t, char c) { return t.kind == TOK_OTHER && t.c == c; }

/* Judges a token by the four before it, newest first. "" if it is harmless. */
static mc_str judge(token t, const token *before)
{
    static const char *const calls[] = { "popen", "eval", "exec", NULL };
    mc_str none = MC_STR("");
    if (t.kind == TOK_NAME && internal(t.text) && is(before[0], '.'))
        return t.text;
    /* x["__class__"], and the filter that does the same: x | attr("__class__") */
    if ((is(t, ']') || is(t, ')')) && before[0].kind == TOK_STRING && internal(before[0].text)) {
        bool item = is(t, ']') && is(before[1], '[') && indexable(before[2]);
        bool attr = is(t, ')') && is(before[1], '(') && mc_str_is(before[2].text, "attr") && is(before[3], '|');
        return item || attr ? before[0].text : none;
    }
    if (!is(t, '(') || before[0].kind != TOK_NAME)
        return none;
    if (mc_str_is_any(before[0].text, calls) || mc_str_is(before[0].text, "__import__"))
        return before[0].text;
    if (mc_str_is(before[0].text, "system") && is(before[1], '.') && before[2].kind == TOK_NAME && mc_str_is(before[2].text, "os"))
        return (mc_str){ before[2].text.p, (size_t)(before[0].text.p + before[0].text.n - before[2].text.p) };
    return none;
}

/* Behind "{{" or "{%"; *raw: the block was {% raw %}. */
static mc_str block(lexer *l, bool statement, bool *raw)
{
    token    before[4] = { { 0 } };
    unsigned n = 0;
    l->braces = 0;
    l->statement = statement;
    *raw = false;
    if (l->p < l->end && (*l->p == '-' || *l->p == '+'))
        l->p++;
    for (token t; (t = next(l)).kind != TOK_END; n++) {
        mc_str bad = judge(t, before);
        if (bad.n)
            return bad;
        if (n == 0)
            *raw = statement && t.kind == TOK_NAME && mc_str_is(t.text, "raw");
        memmove(before + 1, before, 3 * sizeof *before);
        before[0] = t;
    }
    return MC_STR("");
}

/* Text up to "{% endraw %}", which block() then reads as a statement of its own. */
static void skip_raw(lexer *l)
{
    while (l->p < l->end) {
        skip_past(l, "{%");
        lexer after = *l;
        if (after.p < after.end && (*after.p == '-' || *after.p == '+'))
            after.p++;
        after.braces = 1; /* only the word matters */
        token t = next(&after);
        if (t.kind == TOK_NAME && mc_str_is(t.text, "endraw")) {
            *l = after;
            skip_past(l, "%}");
            return;
        }
    }
}

mc_str mc_template_code(mc_str source)
{
    lexer l = { .p = source.p, .end = source.p ? source.p + source.n : source.p };
    while (l.p < l.end) {
        const char *open = memchr(l.p, '{', (size_t)(l.end - l.p));
        if (!open)
            break;
        l.p = open;
        bool statement = at(&l, "{%"), raw;
        if (at(&l, "{#")) {
            l.p += 2;
            skip_past(&l, "#}");
        } else if (statement || at(&l, "{{")) {
            l.p += 2;
            mc_str bad = block(&l, statement, &raw);
            if (bad.n)
                return bad;
            if (raw)
                skip_raw(&l);
        } else {
            l.p++;
        }
    }
    return MC_STR("");
}
