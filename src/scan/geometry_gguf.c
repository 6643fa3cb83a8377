/* Geometry of a GGUF unit, from the keys of its first file. Keys that are absent take the loader's defaults
 * (llama.cpp, load_hparams); the origin then says so. */
#include "model/gguf.h"
#include "scan/scan.h"

static mc_origin at_key(const mc_model *m, mc_str key)
{
    return (mc_origin){ m->gguf_file, key };
}

static mc_int set(const mc_model *m, mc_str key, uint64_t v)
{
    return v <= INT64_MAX ? (mc_int){ true, (int64_t)v, at_key(m, key) } : (mc_int){ 0 };
}

/* A per-layer array is one number only if all layers that have any agree. */
static bool uniform(const mc_gguf *g, const mc_gguf_kv *kv, uint64_t *out)
{
    int64_t v, seen = 0;
    for (uint64_t i = 0; i < kv->n; i++) {
        if (!mc_gguf_element(g, kv, i, &v) || v < 0 || (seen && v && v != seen))
            return false;
        if (v)
            seen = v;
    }
    *out = (uint64_t)seen;
    return seen > 0;
}

static mc_int read_int(const mc_model *m, const char *suffix)
{
    const mc_gguf_kv *kv = mc_gguf_arch(m->gguf, suffix);
    uint64_t          v;
    if (!kv || !(kv->type == MC_GGUF_ARRAY ? uniform(m->gguf, kv, &v) : mc_gguf_uint(kv, &v)))
        return (mc_int){ 0 };
    return set(m, kv->key, v);
}

/* Some table of the unit says that the head is there, or all of them say that it is not. */
static mc_bool read_tie(const mc_model *m)
{
    bool embedding = false, head = false, sound = true;
    for (size_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        sound &= !f->gguf || f->gguf->fault == MC_GGUF_SOUND;
        for (size_t k = 0; f->gguf && k < f->n_tensors; k++) {
            embedding |= mc_str_is(f->tensors[k].name, "token_embd.weight");
            head |= mc_str_is(f->tensors[k].name, "output.weight");
        }
    }
    if (!embedding || (!head && !sound))
        return (mc_bool){ 0 };
    return (mc_bool){ true, !head, at_key(m, MC_STR("output.weight")) };
}

static void derive_heads(mc_model *m)
{
    mc_arch *a = &m->arch;
    a->heads = read_int(m, "attention.head_count");
    a->kv_heads = read_int(m, "attention.head_count_kv");
    a->head_dim = read_int(m, "attention.key_length");
    a->v_head_dim = read_int(m, "attention.value_length");
    if (!a->kv_heads.known && a->heads.known && !mc_gguf_arch(m->gguf, "attention.head_count_kv")) {
        a->kv_heads = a->heads;
        a->kv_heads.from.where = MC_STR("attention.head_count (default of attention.head_count_kv)");
    }
    if (!a->heads.known || a->heads.v == 0 || !a->hidden.known)
        return;
    mc_int each = set(m, MC_STR("embedding_length / attention.head_count"), (uint64_t)(a->hidden.v / a->heads.v));
    if (!a->head_dim.known)
        a->head_dim = each;
    if (!a->v_head_dim.known)
        a->v_head_dim = each;
}

void mc_geometry_gguf(mc_model *m, mc_kb *kb)
{
    const mc_gguf    *g = m->gguf;
    const mc_gguf_kv *arch = mc_gguf_get(g, "general.architecture"), *tokens = mc_gguf_get(g, "tokenizer.ggml.tokens");
    mc_arch          *a = &m->arch;
    (void)kb;
    if (!g)
        return;
    if (mc_gguf_str(arch).n)
        a->name = a->model_type = (mc_text){ true, mc_gguf_str(arch), at_key(m, arch->key) };
    a->layers = read_int(m, "block_count");
    a->hidden = read_int(m, "embedding_length");
    a->context = read_int(m, "context_length");
    a->intermediate = read_int(m, "feed_forward_length");
    a->experts = read_int(m, "expert_count");
    a->experts_used = read_int(m, "expert_used_count");
    a->mtp_layers = read_int(m, "nextn_predict_layers");
    a->sliding_window = read_int(m, "attention.sliding_window");
    a->vocab = tokens && tokens->type == MC_GGUF_ARRAY && tokens->n ? set(m, tokens->key, tokens->n) : read_int(m, "vocab_size");
    derive_heads(m);
    a->tie = read_tie(m);
    a->tie_false = (mc_bool){ a->tie.known, a->tie.known && !a->tie.v, a->tie.from };
}
