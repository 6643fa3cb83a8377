/* tokenizer.json of the tokenizers library: pulled in one pass, never a tree, since real files reach 35 MB.
 *
 *   { "added_tokens": [ {"id": 0, "content": "<s>", "special": true, ...} ],
 *     "model": { "type": "BPE", "vocab": { piece: id } } }            BPE, WordPiece, WordLevel
 *     "model": { "type": "Unigram", "vocab": [ [piece, score] ] }     the id is the position
 *
 * Source: https://github.com/huggingface/tokenizers (tokenizers/src/tokenizer/serialization.rs, src/models).
 * The whole text is validated; what has an unexpected type is passed over, for it is no matter of JSON. */
#include "formats/formats.h"

typedef struct {
    mc_json    j;
    mc_arena  *arena;
    uint32_t   file;
    mc_str     wanted;          /* "": nothing is looked for */
    mc_tokens *into;
    bool       added_id;        /* eos_id came from added_tokens, which the library asks before the vocabulary */
} scan;

/* The text of the value that comes next, skipped and validated. */
static bool value(scan *s, mc_str *text)
{
    (void)mc_json_peek(&s->j);
    const uint8_t *start = s->j.p;
    if (!mc_json_skip(&s->j))
        return false;
    *text = (mc_str){ (const char *)start, (size_t)(s->j.p - start) };
    return true;
}

static bool is_object(scan *s) { return mc_json_peek(&s->j) == '{'; }
static bool is_array(scan *s) { return mc_json_peek(&s->j) == '['; }
static bool is_string(scan *s) { return mc_json_peek(&s->j) == '"'; }

static void enter(scan *s)
{
    s->j.p++;
    s->j.depth++;
}

/* Behind the last member: true unless that was a failure. */
static bool leave(scan *s)
{
    s->j.depth--;
    return s->j.err.code == MC_OK;
}

static bool skip(scan *s)
{
    return mc_json_skip(&s->j);
}

static bool as_id(mc_str digits, int64_t *out)
{
    uint64_t v;
    if (!mc_str_u64(digits, &v) || v > INT64_MAX)
        return false;
    *out = (int64_t)v;
    return true;
}

/* Is a scanned string the text wanted? Only those that could be are unescaped: no escape is longer than six bytes a byte. */
static bool matches(scan *s, mc_str raw, bool escaped)
{
    mc_str w = s->wanted;
    if (w.n == 0 || raw.n < w.n)
        return false;
    if (!escaped)
        return mc_str_eq(raw, w);
    if (raw.n > w.n * 6 || (raw.p[0] != '\\' && raw.p[0] != w.p[0]))
        return false;
    return mc_str_eq(mc_json_unescape(s->arena, raw, true), w);
}

static void found(scan *s, int64_t id, const char *where)
{
    s->into->eos_id = (mc_int){ true, id, { s->file, mc_str_of(where) } };
}

/* ---- added_tokens ---- */

static bool added_token(scan *s)
{
    mc_token t = { .id = -1, .file = s->file };
    mc_str   key, text;
    bool     escaped, content = false;
    if (!is_object(s))
        return skip(s);
    enter(s);
    for (bool first = true; mc_json_member(&s->j, &first, &key, &escaped);) {
        if (mc_str_is(key, "content") && is_string(s)) {
            mc_str raw;
            if (!mc_json_str(&s->j, &raw, &escaped))
                return false;
            t.text = escaped ? mc_json_unescape(s->arena, raw, true) : mc_str_copy(s->arena, raw);
            content = true;
        } else if (!value(s, &text)) {
            return false;
        } else if (mc_str_is(key, "id")) {
            if (!as_id(text, &t.id))
                t.id = -1;
        } else if (mc_str_is(key, "special")) {
            t.special = mc_str_is(text, "true");
        }
    }
    if (!leave(s))
        return false;
    if (t.id < 0 || !content)
        return true;
    if (s->wanted.n && mc_str_eq(t.text, s->wanted)) {
        s->added_id = true;
        found(s, t.id, "/added_tokens");
    }
    return mc_token_add(s->arena, s->into, t) || mc_json_fail(&s->j, MC_E_NOMEM, "memory budget exhausted");
}

static bool added_tokens(scan *s)
{
    if (!is_array(s))
        return skip(s);
    enter(s);
    for (bool first = true; mc_json_element(&s->j, &first);)
        if (!added_token(s))
            return false;
    return leave(s);
}

/* ---- model.vocab ---- */

static bool vocab_object(scan *s, int64_t *n)
{
    mc_str  key, text;
    bool    escaped;
    int64_t id;
    enter(s);
    for (bool first = true; mc_json_member(&s->j, &first, &key, &escaped); ++*n) {
        bool hit = matches(s, key, escaped);
        if (!value(s, &text))
            return false;
        if (hit && !s->added_id && as_id(text, &id))
            found(s, id, "/model/vocab");
    }
    return leave(s);
}

/* One [piece, score]. */
static bool vocab_piece(scan *s, int64_t id)
{
    mc_str raw;
    bool   escaped, first = true;
    if (!is_array(s))
        return skip(s);
    enter(s);
    for (bool piece = true; mc_json_element(&s->j, &first); piece = false) {
        if (!piece || !is_string(s)) {
            if (!skip(s))
                return false;
            continue;
        }
        if (!mc_json_str(&s->j, &raw, &escaped))
            return false;
        if (!s->added_id && matches(s, raw, escaped))
            found(s, id, "/model/vocab");
    }
    return leave(s);
}

static bool vocab(scan *s)
{
    int64_t n = 0;
    if (is_object(s)) {
        if (!vocab_object(s, &n))
            return false;
    } else if (is_array(s)) {
        enter(s);
        for (bool first = true; mc_json_element(&s->j, &first); n++)
            if (!vocab_piece(s, n))
                return false;
        if (!leave(s))
            return false;
    } else {
        return skip(s);
    }
    s->into->vocab = (mc_int){ true, n, { s->file, MC_STR("/model/vocab") } };
    return true;
}

static bool model(scan *s)
{
    mc_str key;
    bool   escaped;
    if (!is_object(s))
        return skip(s);
    enter(s);
    for (bool first = true; mc_json_member(&s->j, &first, &key, &escaped);)
        if (!(mc_str_is(key, "vocab") ? vocab(s) : skip(s)))
            return false;
    return leave(s);
}

static bool document(scan *s)
{
    mc_str key;
    bool   escaped;
    if (!mc_json_lit(&s->j, '{'))
        return mc_json_fail(&s->j, mc_json_peek(&s->j) < 0 ? MC_E_TRUNCATED : MC_E_SYNTAX, "the top level is no object");
    s->j.depth = 1;
    for (bool first = true; mc_json_member(&s->j, &first, &key, &escaped);)
        if (!(mc_str_is(key, "added_tokens") ? added_tokens(s) : mc_str_is(key, "model") ? model(s) : skip(s)))
            return false;
    return mc_json_end(&s->j);
}

mc_err mc_parse_tokenizer(mc_span text, mc_arena *a, uint32_t file, mc_str wanted, mc_tokens *into)
{
    scan s = { .j = mc_json_of(text), .arena = a, .file = file, .wanted = wanted, .into = into };
    s.j.python = true;
    if (text.n >= 3 && text.p[0] == 0xef && text.p[1] == 0xbb && text.p[2] == 0xbf)
        return (mc_err){ MC_E_SYNTAX, 0, "byte order mark" };
    mc_tokens before = *into;
    if (!document(&s))
        *into = before; /* a damaged file claims nothing */
    return s.j.err;
}
