/* The tensors of each read set, by name. */
#include "scan/internal.h"

static bool usable(const mc_file *f)
{
    if (f->os_error || f->limit || f->link == MC_LINK_DANGLING || f->link == MC_LINK_OUTSIDE)
        return false;
    if (f->promised == MC_FMT_SAFETENSORS)
        return f->st && f->st->fault == MC_ST_SOUND;
    if (f->gguf)
        return f->gguf->fault == MC_GGUF_SOUND;
    return false;
}

static bool add(mc_arena *a, mc_inventory *inv, mc_tensor *t)
{
    bool     added;
    uint32_t id = mc_strset_add_hashed(&inv->names, t->name, t->hash, &added);
    if (id == MC_NO_ID || !mc_form_add(inv, t))
        return false;
    if (added) {
        mc_tensor **v = mc_grow(a, inv->first, id, &inv->cap, sizeof *v);
        if (!v)
            return false;
        inv->first = v;
        v[id] = t;
    } else {
        mc_tensor *last = inv->first[id];
        while (last->twin)
            last = last->twin;
        last->twin = t;
    }
    inv->n_tensors++;
    if (t->end > t->begin && ckd_add(&inv->bytes, inv->bytes, t->end - t->begin))
        inv->bytes = UINT64_MAX;
    return true;
}

/* A hostile file can name one tensor a million times: chains longer than this are cut, the finding (MC303, MC607) stands anyway. */
static bool chained(const mc_inventory *inv, const mc_tensor *t)
{
    const mc_tensor *k = mc_inventory_find(inv, t->name);
    unsigned         n = 0;
    while (k && n < 64) {
        k = k->twin;
        n++;
    }
    return n == 64;
}

/* The component whose read set a file belongs to: that of its index, else its directory. */
static uint32_t owner(const mc_model *m, const mc_file *f)
{
    const mc_set *s = f->set == MC_NONE ? NULL : &m->sets[f->set];
    return s && s->index != MC_NONE ? s->component : f->component;
}

static bool add_file(mc_model *m, mc_file *f)
{
    mc_inventory *inv = &m->components[owner(m, f)].inv;
    bool          duplicates = f->gguf || (f->st && f->st->duplicate.n > 64); /* a GGUF does not count them: MC607 does */
    for (size_t i = 0; i < f->n_tensors; i++) {
        if (i + MC_TOUCH_AHEAD < f->n_tensors)
            mc_strset_touch(&inv->names, f->tensors[i + MC_TOUCH_AHEAD].hash);
        if (!(duplicates && chained(inv, &f->tensors[i])) && !add(m->arena, inv, &f->tensors[i]))
            return false;
    }
    return true;
}

static void completeness(mc_model *m)
{
    for (uint32_t c = 0; c < m->n_components; c++) {
        const mc_component *k = &m->components[c];
        mc_inventory       *inv = &m->components[c].inv;
        const mc_index     *x = k->index == MC_NONE ? NULL : &m->indexes[k->index];
        inv->complete = k->set != MC_NONE && m->sets[k->set].complete && (!x || x->valid);
        for (size_t i = 0; x && i < x->n_shards; i++)
            inv->complete &= x->shards[i].state == MC_SHARD_PRESENT;
    }
    for (size_t i = 0; i < m->n_files; i++)
        if (m->files[i].in_read_set && !usable(&m->files[i]))
            m->components[owner(m, &m->files[i])].inv.complete = false;
}

void mc_build_inventories(mc_builder *b)
{
    mc_model *m = b->m;
    size_t   *expected = MC_NEW(m->arena, size_t, m->n_components);
    if (!expected)
        return;
    for (size_t i = 0; i < m->n_files; i++)
        if (m->files[i].in_read_set)
            expected[owner(m, &m->files[i])] += m->files[i].n_tensors;
    for (uint32_t c = 0; c < m->n_components; c++) {
        mc_inventory *inv = &m->components[c].inv;
        inv->cap = expected[c] + 1;
        inv->first = MC_NEW(m->arena, mc_tensor *, inv->cap);
        if (!mc_strset_init(&inv->names, m->arena, expected[c]) || !mc_strset_init(&inv->form_names, m->arena, 128) || !inv->first)
            return;
    }
    for (size_t i = 0; i < m->n_files; i++)
        if (m->files[i].in_read_set && m->files[i].promised != MC_FMT_NONE && !add_file(m, &m->files[i]))
            return;
    completeness(m);
}
