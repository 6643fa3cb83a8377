/* Families of architectures: rules/families/<name>.json. Each file has a source, a date, and two lists, "config" (for model_type)
 * and "gguf" (for general.architecture), whose entries name their "types"; what the other members mean: docs/memory.md.
 * A file is decoded when one of its names is asked for. */
#include "kb/kb.h"

#include <string.h>

typedef struct { const mc_embedded *file; const mc_value *root; } family_file; /* root: NULL until decoded */
typedef struct { size_t n; family_file *files; } table;

static table *table_of(mc_kb *kb)
{
    table *t = kb->families;
    if (t)
        return t;
    t = MC_NEW(&kb->arena, table, 1);
    if (!t)
        return NULL;
    for (const mc_embedded *e = NULL; (e = mc_embedded_next(e, "families/")) != NULL;)
        t->n++;
    t->files = MC_NEW(&kb->arena, family_file, t->n);
    if (!t->files)
        return NULL;
    const mc_embedded *e = NULL;
    for (size_t i = 0; i < t->n; i++)
        t->files[i].file = e = mc_embedded_next(e, "families/");
    return kb->families = t;
}

/* The name in quotes occurs in the text: only then the file is worth decoding. */
static bool mentions(mc_span text, mc_str quoted)
{
    const uint8_t *p = text.p, *end = text.p + text.n;
    for (; (p = memchr(p, '"', (size_t)(end - p))) != NULL; p++) {
        if ((size_t)(end - p) < quoted.n)
            return false;
        if (memcmp(p, quoted.p, quoted.n) == 0)
            return true;
    }
    return false;
}

static const mc_value *entry(const mc_value *root, const char *side, mc_str name)
{
    const mc_value *list = mc_get(root, side);
    for (size_t i = 0; mc_is(list, MC_ARRAY) && i < list->n; i++) {
        const mc_value *types = mc_get(mc_item(list, i), "types");
        for (size_t k = 0; mc_is(types, MC_ARRAY) && k < types->n; k++)
            if (mc_str_eq(mc_as_str(mc_item(types, k)), name))
                return mc_item(list, i);
    }
    return NULL;
}

const mc_value *mc_kb_family(mc_kb *kb, bool gguf, mc_str name)
{
    char   quoted[98];
    table *t = table_of(kb);
    if (!t || name.n == 0 || name.n > sizeof quoted - 2)
        return NULL;
    quoted[0] = quoted[name.n + 1] = '"';
    memcpy(quoted + 1, name.p, name.n);
    for (size_t i = 0; i < t->n; i++) {
        family_file *f = &t->files[i];
        mc_span      text = { f->file->p, f->file->n };
        mc_err       err;
        if (!mentions(text, (mc_str){ quoted, name.n + 2 }))
            continue;
        if (!f->root)
            f->root = mc_json_tree(&kb->arena, text, &err, NULL);
        const mc_value *found = entry(f->root, gguf ? "gguf" : "config", name);
        if (found)
            return found;
    }
    return NULL;
}

bool mc_family_is(const mc_value *family, const char *key, const char *word)
{
    return mc_str_is(mc_as_str(mc_get(family, key)), word);
}
