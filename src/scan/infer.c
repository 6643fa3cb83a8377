/* What the tensors of the read set show: bytes, stored elements, the embedding and the head, and for an adapter, which has no
 * configuration, the number of layers. Logical elements need the modules: summary.c. */
#include "model/gguf.h"
#include "scan/infer.h"

/* ---- sums ---- */

typedef struct { bool any, complete, bytes, stored; uint64_t n, n_bytes, n_stored; } sums;

static void add_tensor(const mc_kb *kb, const mc_tensor *t, sums *s)
{
    s->n++;
    s->bytes = s->bytes && mc_kb_dtype(kb, t->dtype) && t->end >= t->begin && !ckd_add(&s->n_bytes, s->n_bytes, t->end - t->begin);
    s->stored = s->stored && !t->overflow && !ckd_add(&s->n_stored, s->n_stored, t->elements);
}

bool mc_all_listed(const mc_model *m, const mc_component *k)
{
    return k->inv.complete || (m->unit == MC_UNIT_GGUF && k->set == MC_NONE && m->gguf && m->gguf->fault == MC_GGUF_SOUND &&
                               m->gguf->n_tensors == k->inv.names.n);
}

static sums add_up(const mc_model *m, const mc_kb *kb)
{
    sums s = { .complete = true, .bytes = true, .stored = true };
    for (size_t c = 0; c < m->n_components; c++) {
        const mc_component *k = &m->components[c];
        if (k->kind == MC_COMP_COPY || (k->set == MC_NONE && k->inv.names.n == 0))
            continue;
        s.any = true;
        s.complete &= mc_all_listed(m, k);
        for (size_t i = 0; i < k->inv.names.n; i++)
            add_tensor(kb, k->inv.first[i], &s);
    }
    return s;
}

/* ---- embedding and head ---- */

static bool plain_matrix(const mc_kb *kb, const mc_tensor *t)
{
    return t->rank == 2 && mc_dtype_is_plain(mc_kb_dtype(kb, t->dtype));
}

/* Embeddings of prediction layers, of position and of other towers carry the same words. */
static bool elsewhere(mc_str name)
{
    static const char *const parts[] = { "vision", "visual", "audio", "mtp", "position", "token_type", "image", "draft" };
    uint64_t                 layer;
    for (size_t i = 0; i < MC_COUNT(parts); i++)
        if (mc_str_contains(name, parts[i]))
            return true;
    return mc_name_layer(name, &layer);
}

static void find_heads(mc_model *m, const mc_kb *kb)
{
    const mc_inventory *inv = &m->components[0].inv;
    for (size_t i = 0; i < inv->form_names.n; i++) { /* a name without numbers is the only one of its form */
        const mc_tensor *t = inv->forms[i].first;
        if (!plain_matrix(kb, t) || elsewhere(t->name))
            continue;
        bool rows = !m->arch.vocab.known || t->dims[0] == (uint64_t)m->arch.vocab.v;
        if ((inv->forms[i].tags & MC_TAG_EMBEDDING) && (!m->heads.embed || (rows && m->heads.embed->dims[0] != t->dims[0])))
            m->heads.embed = t;
        else if ((inv->forms[i].tags & MC_TAG_HEAD) && (!m->heads.head || mc_str_is(t->name, "lm_head.weight")))
            m->heads.head = t;
    }
}

/* ---- all of it ---- */

static void adapter_layers(mc_model *m)
{
    const mc_inventory *inv = &m->components[0].inv;
    uint64_t            layers = 0;
    for (size_t i = 0; i < inv->form_names.n; i++)
        if (inv->forms[i].layers <= 10000 && inv->forms[i].layers > layers)
            layers = inv->forms[i].layers;
    if (layers && !m->arch.layers.known)
        m->arch.layers = (mc_int){ true, (int64_t)layers, { inv->first[0]->file, MC_STR("tensor names") } };
}

static mc_int fact(bool known, uint64_t v)
{
    return known && v <= INT64_MAX ? (mc_int){ true, (int64_t)v, { MC_NONE, MC_STR("tensor tables") } } : (mc_int){ 0 };
}

void mc_infer(mc_model *m, mc_kb *kb)
{
    if (m->n_components == 0)
        return;
    m->kind = mc_infer_kind(m, kb);
    if (m->unit != MC_UNIT_GGUF)
        find_heads(m, kb);
    if (m->kind == MC_KIND_ADAPTER)
        adapter_layers(m);
    sums s = add_up(m, kb);
    bool whole = s.any && s.complete;
    m->n_tensors = s.n;
    m->weights_bytes = fact(whole && s.bytes, s.n_bytes);
    m->stored_elements = fact(whole && s.stored, s.n_stored);
}
