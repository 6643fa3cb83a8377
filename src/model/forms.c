/* forms.c - tensor names without their numbers.
 *
 * "model.layers.3.mlp.experts.17.up_proj.weight" has the form "model.layers.#.mlp.experts.#.up_proj.weight". A model of 92,000
 * tensors has about 60 forms, and what a name says does not depend on its numbers: questions are asked once a form. */
#include "model/model.h"

#include <string.h>

enum { LONGEST = 512 };

/* Writes the form of a name and finds its first number; the length, or 0 for names too long for `out`. */
static size_t write_form(mc_str name, char *out, uint32_t *layer)
{
    size_t w = 0, i = 0;
    *layer = MC_NONE;
    if (name.n > LONGEST)
        return 0;
    while (i < name.n) {
        size_t   start = i;
        uint64_t v = 0;
        while (i < name.n && name.p[i] >= '0' && name.p[i] <= '9' && i - start < 9)
            v = v * 10 + (uint64_t)(name.p[i++] - '0');
        if (i > start && (i == name.n || name.p[i] == '.')) {
            if (*layer == MC_NONE && start > 0)
                *layer = (uint32_t)v;
            out[w++] = '#';
        } else {
            while (i < name.n && name.p[i] != '.')
                i++;
            memcpy(out + w, name.p + start, i - start);
            w += i - start;
        }
        if (i < name.n)
            out[w++] = name.p[i++];
    }
    return w;
}

bool mc_form_add(mc_inventory *inv, mc_tensor *t)
{
    mc_arena *a = inv->form_names.arena;
    char      text[LONGEST];
    bool      added = false;
    size_t    n = write_form(t->name, text, &t->layer);
    mc_str    form = n ? (mc_str){ text, n } : t->name;
    uint32_t  id = mc_strset_find(&inv->form_names, form);
    if (id == MC_NO_ID) {
        id = mc_strset_add(&inv->form_names, n ? mc_str_copy(a, form) : form, &added);
        mc_form *v = id == MC_NO_ID ? NULL : mc_grow(a, inv->forms, id, &inv->cap_forms, sizeof *v);
        if (!v)
            return false;
        inv->forms = v;
        v[id] = (mc_form){ .first = t, .tags = mc_name_tags(t->name) };
    }
    mc_form *f = &inv->forms[id];
    f->n++;
    if (t->layer != MC_NONE && t->layer >= f->layers)
        f->layers = (uint64_t)t->layer + 1;
    t->form = id;
    return true;
}

unsigned mc_name_tags(mc_str name)
{
    return (mc_name_is_buffer(name) ? MC_TAG_BUFFER : 0u) | (mc_name_is_embedding(name) ? MC_TAG_EMBEDDING : 0u) | (mc_name_is_head(name) ? MC_TAG_HEAD : 0u);
}
