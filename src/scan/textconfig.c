/* Which block of config.json describes the language model, and which configuration class supplies what it leaves out.
 *
 * Multimodal configurations nest: text_config, llm_config (InternVL), language_config (DeepSeek-VL), thinker_config with a
 * text_config inside (Qwen-Omni). A class decides for a nested block in one of two ways (rules/config-defaults.tsv): with a
 * class of its own whatever the block's model_type says, or by that model_type. Older files of some nested classes hold the
 * keys of the language model at the top. */
#include "scan/geometry.h"

static const char *const blocks[] = { "text_config", "llm_config", "language_config", "thinker_config" };

/* The class of the block `key` below a configuration of class `parent`. */
static mc_str nested_class(const mc_kb *kb, mc_str parent, const char *key, const mc_value *block)
{
    mc_default d;
    mc_str     own = mc_as_str(mc_get(block, "model_type"));
    if (!mc_kb_default(kb, parent, key, &d) || !mc_str_starts(d.value, "@"))
        return own;
    if (own.n == 0 || mc_str_is(d.rule, "class is fixed"))
        return mc_str_cut(d.value, 1, d.value.n);
    return own;
}

static bool descend(mc_geo *g)
{
    for (size_t i = 0; i < MC_COUNT(blocks); i++) {
        const mc_value *inner = mc_get(g->text, blocks[i]);
        if (!mc_is(inner, MC_OBJECT))
            continue;
        g->cls = nested_class(g->kb, g->cls, blocks[i], inner);
        g->at = mc_format(g->m->arena, "%.*s/%s", MC_FMT(g->at), blocks[i]);
        g->text = inner;
        return true;
    }
    return false;
}

/* A class that nests, and a file without the block: the keys stand at the top, or the whole block is left out. */
static void no_block(mc_geo *g)
{
    mc_default d;
    if (!mc_kb_default(g->kb, g->cls, "text_config", &d) || !mc_str_starts(d.value, "@"))
        return;
    static const char *const flat[] = { "num_hidden_layers", "hidden_size", "num_attention_heads" };
    bool                     top = false;
    for (size_t i = 0; i < MC_COUNT(flat); i++)
        top |= mc_get(g->text, flat[i]) != NULL;
    g->cls = mc_str_cut(d.value, 1, d.value.n);
    if (top)
        return;
    g->at = MC_STR("/text_config");
    mc_str head = MC_STR("when the whole block is absent: ");
    mc_err err;
    g->invented = true;
    g->text = NULL;
    if (mc_str_starts(d.note, "when the whole block is absent: ")) {
        mc_str json = mc_str_cut(d.note, head.n, d.note.n);
        g->text = mc_json_tree(g->m->arena, (mc_span){ (const uint8_t *)json.p, json.n }, &err, NULL);
    }
}

void mc_geo_text(mc_geo *g, const mc_value *root)
{
    g->text = root;
    g->at = MC_STR("");
    g->cls = mc_as_str(mc_get(root, "model_type"));
    bool nested = false;
    for (int level = 0; level < 4 && descend(g); level++)
        nested = true;
    if (!nested)
        no_block(g);
    g->known = mc_kb_has_type(g->kb, g->cls) || mc_kb_family(g->kb, false, g->cls) != NULL;
}

/* ---- keys ---- */

static mc_str pointer(mc_geo *g, const char *key)
{
    if (g->invented)
        return mc_format(g->m->arena, "default of %.*s", MC_FMT(g->cls));
    return mc_format(g->m->arena, "%.*s%s%s", MC_FMT(g->at), *key == '/' ? "" : "/", key);
}

static const mc_value *member(const mc_value *object, const char *key)
{
    return *key == '/' ? mc_at(object, key) : mc_get(object, key);
}

/* The name that the class itself has for a standard key: "@map:hidden_size" gives "d_model". "" if it is the same. */
static mc_str class_name(const mc_geo *g, const char *key)
{
    mc_default d;
    for (const char *cursor = NULL; mc_kb_next_default(g->kb, g->cls, &cursor, &d);)
        if (mc_str_starts(d.key, "@map:") && mc_str_is(mc_str_cut(d.key, 5, d.key.n), key))
            return d.value;
    return MC_STR("");
}

mc_key mc_geo_key(mc_geo *g, const char *const *names)
{
    mc_key   null = { .state = MC_KEY_ABSENT };
    for (; *names; names++) {
        const mc_value *v = member(g->text, *names);
        if (!v)
            continue;
        if (!mc_is(v, MC_NULL))
            return (mc_key){ MC_KEY_SET, v, pointer(g, *names) };
        null.state = MC_KEY_NULL;
    }
    return null;
}

mc_key mc_geo_class_key(mc_geo *g, const char *key)
{
    mc_str name = class_name(g, key);
    if (name.n == 0)
        return (mc_key){ .state = MC_KEY_ABSENT };
    const mc_value *v = mc_get_str(g->text, name);
    if (!v)
        return (mc_key){ .state = MC_KEY_ABSENT };
    if (mc_is(v, MC_NULL))
        return (mc_key){ .state = MC_KEY_NULL };
    return (mc_key){ MC_KEY_SET, v, mc_format(g->m->arena, "%.*s/%.*s", MC_FMT(g->at), MC_FMT(name)) };
}

/* A row of the class under one of the names, or under the class's own name. */
static bool class_row(const mc_geo *g, const char *const *names, mc_default *out)
{
    for (const char *const *n = names; *n; n++)
        if (mc_kb_default(g->kb, g->cls, *n, out))
            return true;
    mc_str     name = class_name(g, names[0]);
    mc_default d;
    for (const char *cursor = NULL; name.n && mc_kb_next_default(g->kb, g->cls, &cursor, &d);)
        if (mc_str_eq(d.key, name)) {
            *out = d;
            return true;
        }
    return false;
}

bool mc_geo_default(const mc_geo *g, const char *const *names, int64_t *out)
{
    mc_default d;
    uint64_t   u;
    if (!class_row(g, names, &d) || !mc_str_u64(d.value, &u) || u > INT64_MAX)
        return false;
    *out = (int64_t)u;
    return true;
}
