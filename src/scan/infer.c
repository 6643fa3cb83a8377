/* What the tensors of the read set show: bytes, stored and logical elements, the embedding and the head, and for an adapter,
 * which has no configuration, the number of layers.
 *
 * Logical elements leave out what is no weight: buffers, scales, zero points, index lists. A tensor that packs several values
 * into an integer has no logical shape of its own: the sum is then unknown. GGUF states logical shapes for every type. */
#include "model/gguf.h"
#include "scan/infer.h"

/* ---- one tensor ---- */

static bool ends_in(mc_str name, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (mc_str_ends(name, words[i]))
            return true;
    return false;
}

/* What a quantizer stores beside a weight. */
static bool is_companion(mc_str name, bool gguf)
{
    static const char *const words[] = {
        ".weight_scale", ".weight_scale_inv", ".weight_scale_2", ".weight_global_scale", ".input_scale", ".input_global_scale",
        ".activation_scale", ".output_scale", ".q_scale", ".k_scale", ".v_scale", ".scale_inv", ".scales", ".zeros", ".qzeros",
        ".weight_zero_point", ".zero_point", ".g_idx", ".weight_g_idx", ".weight_shape", ".SCB", ".absmax", ".nested_absmax",
        ".quant_map", ".nested_quant_map",
    };
    static const char *const in_gguf[] = { ".scale", "rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight" };
    return ends_in(name, words, MC_COUNT(words)) || mc_str_contains(name, ".quant_state.") ||
           (gguf && ends_in(name, in_gguf, MC_COUNT(in_gguf)));
}

/* Logical elements of a tensor. False: not known. */
static bool logical(const mc_model *m, const mc_tensor *t, const mc_dtype *d, bool no_weight, uint64_t *out)
{
    bool gguf = d && d->ggml_id >= 0;
    *out = 0;
    if (no_weight)
        return true;
    if (m->kind == MC_KIND_STATIC_EMBEDDING) { /* beside the matrix: weights of tokens, a map from tokens to rows */
        *out = t->rank == 2 ? t->elements : 0;
        return !t->overflow;
    }
    if (!d || t->overflow)
        return false;
    if (!gguf && (d->cls == MC_CLASS_BOOL || mc_str_is(d->name, "I64") || mc_str_is(d->name, "F8_E8M0")))
        return true; /* masks, index lists, shared exponents */
    if (!gguf && d->cls == MC_CLASS_INT)
        return t->rank < 2;
    *out = t->elements;
    return true;
}

/* ---- sums ---- */

typedef struct { bool any, complete, bytes, stored, logical; uint64_t n, n_bytes, n_stored, n_logical; } sums;

static void add_tensor(const mc_model *m, const mc_kb *kb, const mc_tensor *t, bool no_weight, sums *s)
{
    const mc_dtype *d = mc_kb_dtype(kb, t->dtype);
    uint64_t        l = 0;
    s->n++;
    s->bytes = s->bytes && d && t->end >= t->begin && !ckd_add(&s->n_bytes, s->n_bytes, t->end - t->begin);
    s->stored = s->stored && !t->overflow && !ckd_add(&s->n_stored, s->n_stored, t->elements);
    s->logical = s->logical && logical(m, t, d, no_weight, &l) && !ckd_add(&s->n_logical, s->n_logical, l);
}

/* Every tensor of the read set is in the inventory. A GGUF cut into byte parts lists its tensors in the first of them. */
static bool all_listed(const mc_model *m, const mc_component *k)
{
    return k->inv.complete || (m->unit == MC_UNIT_GGUF && k->set == MC_NONE && m->gguf && m->gguf->fault == MC_GGUF_SOUND &&
                               m->gguf->n_tensors == k->inv.names.n);
}

/* By form: buffers and companions, which hold no weights. NULL: out of memory. */
static const bool *no_weights(const mc_model *m, const mc_inventory *inv)
{
    bool *out = MC_NEW(m->arena, bool, inv->form_names.n);
    for (size_t i = 0; out && i < inv->form_names.n; i++)
        out[i] = (inv->forms[i].tags & MC_TAG_BUFFER) || is_companion(inv->forms[i].first->name, m->unit == MC_UNIT_GGUF);
    return out;
}

static sums add_up(const mc_model *m, const mc_kb *kb)
{
    sums s = { .complete = true, .bytes = true, .stored = true, .logical = true };
    for (size_t c = 0; c < m->n_components; c++) {
        const mc_component *k = &m->components[c];
        if (k->kind == MC_COMP_COPY || (k->set == MC_NONE && k->inv.names.n == 0))
            continue;
        s.any = true;
        s.complete &= all_listed(m, k);
        const bool *no_weight = no_weights(m, &k->inv);
        for (size_t i = 0; no_weight && i < k->inv.names.n; i++)
            add_tensor(m, kb, k->inv.first[i], no_weight[k->inv.first[i]->form], &s);
        s.complete &= no_weight != NULL;
    }
    return s;
}

/* ---- embedding and head ---- */

static bool plain_matrix(const mc_kb *kb, const mc_tensor *t)
{
    const mc_dtype *d = mc_kb_dtype(kb, t->dtype);
    return t->rank == 2 && (mc_dtype_is_float(d, 16) || mc_dtype_is_float(d, 32) || mc_dtype_is_float(d, 64));
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
    sums             s = add_up(m, kb);
    const mc_tensor *head = m->heads.head, *embed = m->heads.embed;
    if (m->arch.tie.known && m->arch.tie.v && head && embed && head->elements == embed->elements && head->elements <= s.n_logical)
        s.n_logical -= head->elements;
    bool whole = s.any && s.complete;
    m->n_tensors = s.n;
    m->weights_bytes = fact(whole && s.bytes, s.n_bytes);
    m->stored_elements = fact(whole && s.stored, s.n_stored);
    m->parameters = fact(whole && s.logical, s.n_logical);
}
