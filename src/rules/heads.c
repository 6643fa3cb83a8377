/* Heads, ties and extra decoding layers: MC455 to MC458. What the configuration says about tying is read at every level,
 * since composed models keep it in text_config, decoder or llm_config; an image encoder's own tie says nothing here. */
#include "rules/config.h"
#include "rules/levels.h"

/* tie_word_embeddings wherever it stands. */
typedef struct { bool anywhere_true, own_true, is_false; mc_str true_at, false_at; } ties;

static ties stated_ties(mc_check *cx)
{
    ties            t = { 0 };
    const mc_field *f;
    bool            v;
    for (mc_levels l = mc_levels_of(mc_model_config(cx->model)); (f = mc_levels_next(&l));) {
        if (!mc_str_is(f->key, "tie_word_embeddings") || !mc_as_bool(f->value, &v))
            continue;
        if (v) {
            t.anywhere_true = true;
            if (!mc_levels_in_tower(&l) && !t.own_true) {
                t.own_true = true;
                t.true_at = mc_levels_pointer(&l, cx->arena);
            }
        } else if (!t.is_false) {
            t.is_false = true;
            t.false_at = mc_levels_pointer(&l, cx->arena);
        }
    }
    return t;
}

/* ---- MC455 ---- */

static bool numeric(mc_str part)
{
    uint64_t n;
    return mc_str_u64(part, &n);
}

static bool numbered(mc_str name)
{
    while (name.n)
        if (numeric(mc_name_part(&name)))
            return true;
    return false;
}

/* A head of any kind outside the numbered layers, packed or not, under any prefix; or one that stands in for it. */
static bool any_head(mc_str name)
{
    static const char *const exact[] = { "output", "head", "generator", "score", "v_head", "value_head", "reward_head", "classifier", NULL };
    static const char *const begins[] = { "lm_head", "embed_out", "ff_out", "output_layer", "proj_out", NULL };
    if (mc_names_tower(name))
        return false;
    while (name.n) {
        mc_str part = mc_name_part(&name);
        if (numeric(part))
            return false;
        if (mc_str_is_any(part, exact) || mc_str_starts_any(part, begins))
            return true;
    }
    return false;
}

static bool decoder_layer(mc_str name)
{
    static const char *const words[] = { "layers", "h", "blocks", "layer", "block", NULL };
    uint64_t n;
    return mc_name_layer(name, &n) && !mc_names_tower(name) && mc_name_has_part(name, words);
}

static bool generates(const mc_value *config)
{
    const mc_value *a = mc_get(config, "architectures"), *v;
    for (size_t i = 0; (v = mc_item(a, i)); i++)
        if (mc_str_ends(mc_as_str(v), "ForCausalLM") || mc_str_ends(mc_as_str(v), "ForConditionalGeneration"))
            return true;
    return false;
}

/* The input embedding of the text model, or NULL when no tensor is surely it. */
static const mc_tensor *embedding_of(const mc_model *m)
{
    const mc_inventory *inv = &m->components[0].inv;
    if (m->heads.embed)
        return m->heads.embed;
    for (size_t i = 0; i < inv->form_names.n; i++) {
        const mc_tensor *t = inv->forms[i].first;
        if (t->rank == 2 && (inv->forms[i].tags & MC_TAG_EMBEDDING) && !numbered(t->name) && !mc_names_tower(t->name))
            return t;
    }
    return NULL;
}

void mc_check_head_missing(mc_check *cx)
{
    const mc_model *m = cx->model;
    const mc_doc   *config = mc_model_doc(m, 0, MC_ROLE_CONFIG);
    if (m->unit == MC_UNIT_GGUF || !config || !generates(config->root) || !m->components[0].inv.complete)
        return;
    if (m->kind == MC_KIND_ADAPTER || m->kind == MC_KIND_SENTENCE || m->kind == MC_KIND_ENCODER || m->kind == MC_KIND_DRAFT
        || mc_model_doc(m, 0, MC_ROLE_MODULES) || mc_model_doc(m, 0, MC_ROLE_ADAPTER_CONFIG))
        return;
    ties t = stated_ties(cx);
    if (!t.is_false || t.anywhere_true)
        return;
    const mc_inventory *inv = &m->components[0].inv;
    const mc_tensor    *embed = embedding_of(m);
    bool                layers = false;
    if (!embed || embed->rank != 2)
        return;
    for (size_t i = 0; i < inv->form_names.n; i++) { /* a name without numbers is the only one of its form */
        const mc_tensor *x = inv->forms[i].first;
        if (any_head(x->name))
            return;
        bool second = x->rank == 2 && x->dims[0] == embed->dims[0] && !mc_str_eq(mc_name_module(x->name), mc_name_module(embed->name));
        if (second && !numbered(x->name))
            return;
        layers |= decoder_layer(x->name);
    }
    if (!layers)
        return;
    mc_finding *f = mc_report(cx, config->file, "tie_word_embeddings is false but no output head is stored: Transformers starts it from random values");
    mc_because(cx, f, "stated", mc_from_doc(config, t.false_at), "false");
    mc_because(cx, f, "embedding", mc_origin_at(embed->file, ""), "%.*s [%llu, %llu]", MC_FMT(embed->name), (unsigned long long)embed->dims[0], (unsigned long long)embed->dims[1]);
    mc_fix(cx, f, "restore lm_head.weight, or set tie_word_embeddings to true if the model ties it");
}

/* ---- MC456, MC457 ---- */

/* A plain head and embedding of the model itself under a configuration that ties them. */
static bool tied_pair(mc_check *cx, ties *t)
{
    const mc_heads *h = &cx->model->heads;
    if (cx->model->unit == MC_UNIT_GGUF || !h->embed || !h->head || h->embed == h->head)
        return false;
    if (!mc_dtype_is_plain(mc_kb_dtype(cx->kb, h->embed->dtype)) || !mc_dtype_is_plain(mc_kb_dtype(cx->kb, h->head->dtype)) || numbered(h->embed->name) || numbered(h->head->name))
        return false;
    *t = stated_ties(cx);
    return t->own_true;
}

static void pair_evidence(mc_check *cx, mc_finding *f, const ties *t)
{
    const mc_heads *h = &cx->model->heads;
    mc_subject(f, h->head->name);
    mc_because(cx, f, "stated", mc_from_doc(mc_model_doc(cx->model, 0, MC_ROLE_CONFIG), t->true_at), "true");
    mc_because(cx, f, "head", mc_origin_at(h->head->file, ""), "%.*s %.*s", MC_FMT(h->head->name), MC_FMT(mc_shape_text(cx->arena, h->head)));
    mc_because(cx, f, "embedding", mc_origin_at(h->embed->file, ""), "%.*s %.*s", MC_FMT(h->embed->name), MC_FMT(mc_shape_text(cx->arena, h->embed)));
}

void mc_check_head_repeated(mc_check *cx)
{
    const mc_heads *h = &cx->model->heads;
    ties            t;
    if (!tied_pair(cx, &t) || h->same == MC_SAME_NO || !mc_same_shape(h->embed, h->head) || h->embed->dtype != h->head->dtype)
        return;
    uint64_t    bytes = h->head->end - h->head->begin;
    const char *how = h->same == MC_SAME_UNKNOWN || h->compared == 0 ? "has the shape of the tied embedding (bytes not compared)"
                    : h->compared >= bytes                           ? "repeats the tied embedding"
                                                                     : "repeats the first 64 MiB of the tied embedding";
    mc_finding *f = mc_report(cx, MC_NONE, "%.*s %s: %.*s on disk; loaders that tie use one copy", MC_FMT(h->head->name), how,
                              MC_FMT(mc_size_text(cx->arena, bytes)));
    pair_evidence(cx, f, &t);
}

void mc_check_head_differs(mc_check *cx)
{
    const mc_heads *h = &cx->model->heads;
    ties            t;
    if (!tied_pair(cx, &t) || t.is_false)
        return;
    bool shape = !mc_same_shape(h->embed, h->head);
    if (!shape && (h->embed->dtype != h->head->dtype || h->same != MC_SAME_NO))
        return;
    mc_finding *f = mc_report(cx, MC_NONE, "tie_word_embeddings is true but %.*s is not the embedding (%s): loaders that tie drop it and answer with the wrong head",
                              MC_FMT(h->head->name), shape ? "another shape" : "other bytes");
    pair_evidence(cx, f, &t);
    if (!shape)
        mc_because(cx, f, "first difference", mc_origin_at(h->head->file, ""), "byte %llu of the tensor", (unsigned long long)h->compared);
    mc_fix(cx, f, "set tie_word_embeddings to false, or drop %.*s if it is a leftover", MC_FMT(h->head->name));
}

/* ---- MC458 ---- */

static bool mtp_name(mc_str name)
{
    static const char *const words[] = { "mtp", "nextn", "eh_proj", "enorm", "hnorm", NULL };
    return mc_str_contains_any_nocase(name, words);
}

static bool mtp_tensor(mc_str name, uint64_t layers)
{
    uint64_t n;
    return mtp_name(name) || (mc_name_layer(name, &n) && n >= layers && !mc_names_tower(name) && mc_str_contains(name, "layers."));
}

/* Tensors of prediction layers: by its words, or a decoder layer behind the last. */
static bool mtp_form(const mc_form *f, uint64_t layers)
{
    mc_str name = f->first->name;
    return mtp_name(name) || (f->layers > layers && !mc_names_tower(name) && mc_str_contains(name, "layers."));
}

static bool mlx_or_exllama(const mc_model *m)
{
    const mc_value *config = mc_model_config(m);
    mc_str          method = mc_as_str(mc_at(config, "/quantization_config/quant_method"));
    if (mc_is(mc_get(config, "quantization"), MC_OBJECT) || mc_str_is(method, "exl2") || mc_str_is(method, "exl3"))
        return true;
    for (size_t i = 0; i < m->n_files; i++)
        if (m->files[i].in_read_set && m->files[i].st && mc_str_is(m->files[i].st->format, "mlx"))
            return true;
    const mc_inventory *inv = &m->components[0].inv;
    for (size_t i = 0; i < inv->form_names.n; i++)
        if (mc_str_ends(inv->forms[i].first->name, ".q_weight") || mc_str_ends(inv->forms[i].first->name, ".trellis"))
            return true;
    return false;
}

/* Are prediction layers stored, named by the index, or in a file of their own? */
static bool mtp_somewhere(const mc_model *m, uint64_t layers)
{
    const mc_inventory *inv = &m->components[0].inv;
    for (size_t i = 0; i < inv->form_names.n; i++)
        if (mtp_form(&inv->forms[i], layers))
            return true;
    for (size_t k = 0; k < m->n_indexes; k++)
        for (size_t i = 0; m->indexes[k].component == 0 && i < m->indexes[k].n_map; i++)
            if (!mc_inventory_find(inv, m->indexes[k].map[i].tensor) && mtp_tensor(m->indexes[k].map[i].tensor, layers))
                return true;
    for (size_t i = 0; i < m->n_files; i++)
        if (m->files[i].role == MC_ROLE_WEIGHTS && mtp_name(m->files[i].base))
            return true;
    return false;
}

/* The number of decoder layers beside the key, else that of the model. */
static bool layers_beside(const mc_model *m, const mc_levels *l, uint64_t *out)
{
    int64_t n;
    if (l->depth && mc_as_int(mc_get(l->stack[l->depth - 1].v, "num_hidden_layers"), &n) && n >= 0) {
        *out = (uint64_t)n;
        return true;
    }
    *out = m->arch.layers.known && m->arch.layers.v >= 0 ? (uint64_t)m->arch.layers.v : 0;
    return m->arch.layers.known && m->arch.layers.v >= 0;
}

void mc_check_mtp_absent(mc_check *cx)
{
    const mc_model *m = cx->model;
    const mc_doc   *config = mc_model_doc(m, 0, MC_ROLE_CONFIG);
    const mc_field *f;
    if (m->unit == MC_UNIT_GGUF || !config || !m->components[0].inv.complete || m->components[0].inv.names.n == 0
        || m->kind == MC_KIND_ADAPTER || mlx_or_exllama(m))
        return;
    for (mc_levels l = mc_levels_of(config->root); (f = mc_levels_next(&l));) {
        int64_t  n;
        uint64_t layers;
        if (!mc_str_is(f->key, "num_nextn_predict_layers") && !mc_str_is(f->key, "mtp_num_hidden_layers"))
            continue;
        if (!mc_as_int(f->value, &n) || n <= 0 || !layers_beside(m, &l, &layers))
            continue;
        if (mtp_somewhere(m, layers))
            return;
        mc_finding *r = mc_report(cx, config->file, "%.*s is %lld but no tensors of such a layer are stored: speculative decoding with this head is off or fails",
                                  MC_FMT(f->key), (long long)n);
        mc_because(cx, r, "stated", mc_from_doc(config, mc_levels_pointer(&l, cx->arena)), "%lld", (long long)n);
        mc_because(cx, r, "stored", mc_origin_at(MC_NONE, ""), "%zu tensors, no name with mtp, nextn, eh_proj, enorm or hnorm, no layer from %llu on",
                   m->components[0].inv.names.n, (unsigned long long)layers);
        mc_fix(cx, r, "set %.*s to 0, or restore the layer from the source repository", MC_FMT(f->key));
        return;
    }
}
