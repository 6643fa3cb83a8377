/* What llama.cpp's loader wants to find in a GGUF, by architecture: rules/gguf-architectures.json, decoded at first use. */
#include "kb/kb.h"

typedef struct {
    bool              ready;
    mc_gguf_arch_info *archs; size_t n;
    mc_field         *types[2]; size_t n_types[2];  /* keys of every architecture, keys of some */
} table;

static void put(mc_str *to, size_t *n, const mc_value *list)
{
    for (size_t i = 0; list && i < list->n; i++)
        if (mc_is(mc_item(list, i), MC_STRING))
            to[(*n)++] = mc_item(list, i)->s;
}

static bool read_arch(mc_kb *kb, const mc_value *root, const mc_value *v, mc_gguf_arch_info *out)
{
    const mc_value *always = mc_get(root, "required"), *common = mc_get(root, "common"), *own = mc_get(v, "required");
    const mc_value *some = mc_get(v, "conditional"), *more = mc_get(v, "optional");
    size_t n_own = own ? own->n : 0, n = 0;
    mc_str *required = MC_NEW(&kb->arena, mc_str, always->n + n_own);
    mc_str *read = MC_NEW(&kb->arena, mc_str, common->n + n_own + (some ? some->n : 0) + (more ? more->n : 0));
    if (!required || !read)
        return false;
    *out = (mc_gguf_arch_info){ .name = mc_as_str(mc_get(v, "name")), .required = required, .read = read };
    put(required, &n, always);
    put(required, &n, own);
    out->n_required = n;
    for (n = 0; n < common->n; n++)
        read[n] = common->u.fields[n].key;
    put(read, &n, own);
    put(read, &n, some);
    put(read, &n, more);
    out->n_read = n;
    return true;
}

static void decode(mc_kb *kb, table *t)
{
    mc_err          err;
    const mc_value *root = mc_json_tree(&kb->arena, mc_embedded_find("gguf-architectures.json"), &err, NULL);
    const mc_value *list = mc_get(root, "architectures"), *types[] = { mc_get(root, "common"), mc_get(root, "keys") };
    if (!mc_is(list, MC_ARRAY) || !mc_is(types[0], MC_OBJECT) || !mc_is(types[1], MC_OBJECT) || !mc_is(mc_get(root, "required"), MC_ARRAY))
        return;
    t->archs = MC_NEW(&kb->arena, mc_gguf_arch_info, list->n);
    for (size_t i = 0; t->archs && i < list->n && read_arch(kb, root, mc_item(list, i), &t->archs[i]); i++)
        t->n++;
    for (int k = 0; k < 2; k++) {
        t->types[k] = types[k]->u.fields;
        t->n_types[k] = types[k]->n;
    }
}

static const table *table_of(mc_kb *kb)
{
    static const table none;
    table *t = kb->gguf;
    if (!t) {
        kb->gguf = t = MC_NEW(&kb->arena, table, 1);
        if (t)
            decode(kb, t);
    }
    return t ? t : &none;
}

const mc_gguf_arch_info *mc_kb_gguf_arch(mc_kb *kb, mc_str arch)
{
    const table *t = table_of(kb);
    for (size_t i = 0; i < t->n; i++)
        if (mc_str_eq(t->archs[i].name, arch))
            return &t->archs[i];
    return NULL;
}

mc_str mc_kb_gguf_key_type(mc_kb *kb, mc_str key)
{
    const table *t = table_of(kb);
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < t->n_types[k]; i++)
            if (mc_str_eq(t->types[k][i].key, key))
                return t->types[k][i].value->s;
    return MC_STR("");
}
