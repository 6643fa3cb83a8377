/* *.index.json: { "metadata": { "total_size": bytes, ... }, "weight_map": { tensor name: shard file name, ... } }.
 *
 * Written by huggingface_hub, transformers, diffusers and mlx-lm, read by every loader of sharded checkpoints
 * (https://huggingface.co/docs/huggingface_hub/package_reference/serialization). Up to 9 MB: pulled, never a tree. */
#include "formats/formats.h"

#include <string.h>

typedef struct {
    mc_json    j;
    mc_arena  *a;
    mc_index  *x;
    size_t     cap_map, cap_shards;
    mc_strset  shard_names;
    uint32_t   last;            /* the shard of the line before: most lines repeat it */
} parser;

static bool out_of_memory(parser *p)
{
    return mc_json_fail(&p->j, MC_E_NOMEM, "memory budget exhausted");
}

/* A number, or a decimal string; a float without a fraction is taken too. */
static mc_int read_size(mc_json *j, mc_arena *a, const char *where)
{
    const uint8_t *start = (mc_json_peek(j), j->p);
    mc_err         err;
    if (!mc_json_skip(j))
        return (mc_int){ 0 };
    mc_value *v = mc_json_tree(a, (mc_span){ start, (size_t)(j->p - start) }, &err, NULL);
    mc_int    out = { .from = { MC_NONE, mc_str_of(where) } };
    uint64_t  u;
    if (mc_is(v, MC_STRING) && mc_str_u64(v->s, &u) && u <= INT64_MAX) {
        out.v = (int64_t)u;
        out.known = true;
    } else {
        out.known = mc_as_int(v, &out.v) && out.v >= 0;
    }
    return out;
}

static bool read_metadata(parser *p)
{
    mc_index *x = p->x;
    mc_str    key;
    bool      escaped;
    int       c = mc_json_peek(&p->j);
    x->total_size = x->total_parameters = (mc_int){ 0 }; /* of repeated keys the last counts */
    x->metadata = c == '{' ? MC_INDEX_META_OBJECT : c == 'n' ? MC_INDEX_META_NULL : MC_INDEX_META_OTHER;
    if (c != '{')
        return mc_json_skip(&p->j);
    p->j.p++;
    for (bool first = true; mc_json_member(&p->j, &first, &key, &escaped);) {
        key = mc_json_unescape(p->a, key, escaped);
        if (mc_str_is(key, "total_size"))
            x->total_size = read_size(&p->j, p->a, "/metadata/total_size");
        else if (mc_str_is(key, "total_parameters"))
            x->total_parameters = read_size(&p->j, p->a, "/metadata/total_parameters");
        else if (!mc_json_skip(&p->j))
            return false;
    }
    return p->j.err.code == MC_OK;
}

static uint32_t shard_of(parser *p, mc_str name)
{
    mc_index *x = p->x;
    bool      added;
    if (p->last < x->n_shards && mc_str_eq(x->shards[p->last].name, name))
        return p->last;
    uint32_t id = mc_strset_add(&p->shard_names, name, &added);
    if (id == MC_NO_ID)
        return MC_NO_ID;
    if (added) {
        mc_shard *v = mc_grow(p->a, x->shards, x->n_shards, &p->cap_shards, sizeof *v);
        if (!v)
            return MC_NO_ID;
        x->shards = v;
        v[x->n_shards++] = (mc_shard){ .name = name, .file = MC_NONE, .state = mc_name_unsafe(name) ? MC_SHARD_UNSAFE : MC_SHARD_ABSENT };
    }
    return p->last = id;
}

/* One line whose value is not a string. */
static bool bad_value(parser *p, mc_str key)
{
    if (p->x->n_bad_values++ == 0)
        p->x->bad_value_key = key;
    return mc_json_skip(&p->j);
}

static bool map_line(parser *p, mc_str key)
{
    mc_index *x = p->x;
    mc_str    raw;
    bool      escaped;
    if (mc_json_peek(&p->j) != '"')
        return bad_value(p, key);
    if (!mc_json_str(&p->j, &raw, &escaped))
        return false;
    uint32_t   shard = shard_of(p, mc_json_unescape(p->a, raw, escaped));
    mc_mapped *v = shard == MC_NO_ID ? NULL : mc_grow(p->a, x->map, x->n_map, &p->cap_map, sizeof *v);
    if (!v)
        return out_of_memory(p);
    x->map = v;
    v[x->n_map++] = (mc_mapped){ key, shard };
    return true;
}

/* Gives every key its id and drops repeated lines. A pass of its own, so that slots can be fetched ahead. */
static bool number_keys(parser *p)
{
    mc_index *x = p->x;
    size_t    lines = x->n_map;
    uint64_t  ahead[MC_TOUCH_AHEAD];
    bool      added;
    if (!mc_strset_init(&x->keys, p->a, lines))
        return out_of_memory(p);
    x->n_map = 0;
    for (size_t i = 0; i < lines + MC_TOUCH_AHEAD; i++) {
        if (i >= MC_TOUCH_AHEAD) {
            mc_mapped line = x->map[i - MC_TOUCH_AHEAD];
            uint32_t  id = mc_strset_add_hashed(&x->keys, line.tensor, ahead[i % MC_TOUCH_AHEAD], &added);
            if (id == MC_NO_ID)
                return out_of_memory(p);
            if (added) {
                x->map[x->n_map++] = line;
                x->shards[line.shard].n_tensors++;
            } else if (x->map[id].shard != line.shard && x->conflict.n == 0) {
                x->conflict = line.tensor;
            }
        }
        if (i < lines) {
            ahead[i % MC_TOUCH_AHEAD] = mc_str_hash(x->map[i].tensor);
            mc_strset_touch(&x->keys, ahead[i % MC_TOUCH_AHEAD]);
        }
    }
    return true;
}

/* Of two weight_maps the last counts, as in Python. */
static bool read_map(parser *p)
{
    mc_str key;
    bool   escaped;
    p->x->n_map = p->x->n_shards = p->x->n_bad_values = 0;
    p->last = MC_NO_ID;
    if (!mc_strset_init(&p->shard_names, p->a, 64))
        return out_of_memory(p);
    if (!mc_json_lit(&p->j, '{')) {
        if (mc_json_skip(&p->j))
            p->x->err = (mc_err){ MC_E_SYNTAX, (uint64_t)(p->j.p - p->j.beg), "weight_map is not an object" };
        return p->j.err.code == MC_OK;
    }
    for (bool first = true; mc_json_member(&p->j, &first, &key, &escaped);)
        if (!map_line(p, mc_json_unescape(p->a, key, escaped)))
            return false;
    return p->j.err.code == MC_OK;
}

static bool read_document(parser *p)
{
    mc_str key;
    bool   escaped, map = false;
    if (!mc_json_lit(&p->j, '{'))
        return mc_json_fail(&p->j, MC_E_SYNTAX, "the index is not a JSON object");
    for (bool first = true; mc_json_member(&p->j, &first, &key, &escaped);) {
        key = mc_json_unescape(p->a, key, escaped);
        bool is_map = mc_str_is(key, "weight_map");
        map |= is_map;
        if (!(is_map ? read_map(p) : mc_str_is(key, "metadata") ? read_metadata(p) : mc_json_skip(&p->j)))
            return false;
    }
    if (p->j.err.code != MC_OK || !mc_json_end(&p->j) || !number_keys(p))
        return false;
    if (p->x->err.code == MC_OK && (!map || p->x->n_map + p->x->n_bad_values == 0))
        p->x->err = (mc_err){ MC_E_SYNTAX, 0, map ? "weight_map is empty" : "weight_map is absent" };
    return true;
}

const char *mc_json_hint(mc_span text, mc_err err)
{
    size_t at = err.at < text.n ? (size_t)err.at : text.n, line = at;
    mc_str before = { (const char *)text.p, at }, rest = { (const char *)text.p + at, text.n - at };
    if (text.n >= 3 && memcmp(text.p, "\xef\xbb\xbf", 3) == 0)
        return "byte order mark";
    while (line > 0 && text.p[line - 1] != '\n')
        line--;
    mc_str from_line = { (const char *)text.p + line, text.n - line };
    if (mc_str_starts(from_line, "<<<<<<<") || mc_str_starts(from_line, "=======") || mc_str_starts(from_line, ">>>>>>>"))
        return "git conflict marker";
    if (mc_str_starts(rest, "//") || mc_str_starts(rest, "/*") || mc_str_starts(rest, "#"))
        return "comment";
    if (mc_str_starts(rest, "'"))
        return "single quotes";
    if (mc_str_starts(rest, "{") && err.what && strcmp(err.what, "bytes after the JSON value") == 0)
        return "two documents joined";
    while (before.n && strchr(" \t\r\n", before.p[before.n - 1]))
        before.n--;
    if ((mc_str_starts(rest, "}") || mc_str_starts(rest, "]")) && before.n && before.p[before.n - 1] == ',')
        return "trailing comma";
    if (mc_str_starts(rest, "True") || mc_str_starts(rest, "False") || mc_str_starts(rest, "None"))
        return "Python literal";
    return NULL;
}

mc_err mc_parse_index(mc_span text, mc_arena *a, mc_index *x)
{
    parser p = { .j = mc_json_of(text), .a = a, .x = x, .last = MC_NO_ID };
    p.j.python = true;
    p.cap_map = text.n / 80 + 8; /* a short line: growing would cost as much memory again */
    x->map = MC_NEW(a, mc_mapped, p.cap_map);
    x->metadata = MC_INDEX_META_ABSENT;
    if (!x->map)
        return x->err = (mc_err){ MC_E_NOMEM, 0, "memory budget exhausted" };
    if (!read_document(&p))
        x->err = p.j.err;
    x->hint = x->err.code == MC_OK ? NULL : mc_json_hint(text, x->err);
    x->valid = x->err.code == MC_OK && x->conflict.n == 0 && x->n_bad_values == 0;
    return x->err;
}
