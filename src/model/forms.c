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

/* Is this the form of the name? Layers repeat one another, so that one comparison mostly saves the writing and the hash. */
static bool has_form(mc_str name, mc_str form, const mc_form *f, uint32_t *layer)
{
    size_t i = 0, k = 0;
    *layer = MC_NONE;
    if (f->n_holes > MC_FORM_HOLES || name.n > LONGEST || form.n > LONGEST)
        return false;
    for (unsigned h = 0;; h++) {
        size_t run = (h < f->n_holes ? f->holes[h] : form.n) - k;
        if (name.n - i < run || memcmp(name.p + i, form.p + k, run) != 0)
            return false;
        i += run;
        k += run + 1;
        if (h == f->n_holes)
            return i == name.n;
        size_t   start = i;
        uint64_t v = 0;
        while (i < name.n && name.p[i] >= '0' && name.p[i] <= '9' && i - start < 9)
            v = v * 10 + (uint64_t)(name.p[i++] - '0');
        if (i == start || (i < name.n && name.p[i] != '.'))
            return false;
        if (*layer == MC_NONE && start > 0)
            *layer = (uint32_t)v;
    }
}

/* Where the numbers of a name stand in its form: each is a part of its own. A '#' that the name itself holds is no number. */
static void find_holes(mc_form *f, mc_str name, mc_str form)
{
    size_t shift = 0;
    for (size_t k = 0; k < form.n; k++) {
        bool part = form.p[k] == '#' && (k == 0 || form.p[k - 1] == '.') && (k + 1 == form.n || form.p[k + 1] == '.');
        if (!part)
            continue;
        if (f->n_holes == MC_FORM_HOLES || name.p[k + shift] == '#') {
            f->n_holes = MC_FORM_HOLES + 1;
            return;
        }
        f->holes[f->n_holes++] = (uint16_t)k;
        for (size_t at = k + shift + 1; at < name.n && name.p[at] != '.'; at++)
            shift++;
    }
}

static uint32_t new_form(mc_inventory *inv, mc_tensor *t, mc_str form)
{
    mc_arena *a = inv->form_names.arena;
    uint32_t  id = mc_strset_add(&inv->form_names, form.p == t->name.p ? form : mc_str_copy(a, form), NULL);
    mc_form  *v = id == MC_NO_ID ? NULL : mc_grow(a, inv->forms, id, &inv->cap_forms, sizeof *v);
    if (!v)
        return MC_NO_ID;
    inv->forms = v;
    v[id] = (mc_form){ .first = t, .tags = mc_name_tags(t->name) };
    if (form.p == t->name.p)
        v[id].n_holes = MC_FORM_HOLES + 1;
    else
        find_holes(&v[id], t->name, form);
    return id;
}

bool mc_form_add(mc_inventory *inv, mc_tensor *t)
{
    char     text[LONGEST];
    uint32_t id = inv->form_names.n ? inv->forms[inv->last_form].next : MC_NO_ID;
    if (id == MC_NO_ID || !has_form(t->name, inv->form_names.keys[id], &inv->forms[id], &t->layer)) {
        size_t n = write_form(t->name, text, &t->layer);
        mc_str form = n ? (mc_str){ text, n } : t->name;
        id = mc_strset_find(&inv->form_names, form);
        if (id == MC_NO_ID && (id = new_form(inv, t, form)) == MC_NO_ID)
            return false;
        inv->forms[inv->last_form].next = id;
    }
    mc_form *f = &inv->forms[id];
    f->n++;
    if (t->layer != MC_NONE && t->layer >= f->layers)
        f->layers = (uint64_t)t->layer + 1;
    t->form = inv->last_form = id;
    return true;
}

unsigned mc_name_tags(mc_str name)
{
    return (mc_name_is_buffer(name) ? MC_TAG_BUFFER : 0u) | (mc_name_is_embedding(name) ? MC_TAG_EMBEDDING : 0u) | (mc_name_is_head(name) ? MC_TAG_HEAD : 0u);
}
