/* What the keys of a GGUF file say about its cache, as llama.cpp reads them (llama-model.cpp, load_hparams):
 * head_count_kv is one number or one for each layer, 0 meaning that the layer caches nothing; widths default to
 * embedding_length / head_count; prediction layers at the end have no cache; llama.cpp keeps whole caches for the windows
 * of Mistral, Phi-3 and Qwen2. */
#include "floor/plan.h"

typedef struct { const mc_model *m; mc_arena *a; mc_plan *p; uint64_t layers; } look;

static bool number(const look *l, const char *key, uint64_t *out)
{
    return mc_gguf_uint(mc_gguf_arch(l->m->gguf, key), out);
}

static void origin(look *l, const char *key)
{
    const mc_gguf_kv *kv = mc_gguf_arch(l->m->gguf, key);
    if (kv && l->p->n_from < MC_COUNT(l->p->from))
        l->p->from[l->p->n_from++] = mc_format(l->a, "%.*s#%.*s", MC_FMT(mc_str_base(mc_file_path(l->m, l->m->gguf_file))), MC_FMT(kv->key));
}

/* Key/value heads of all layers, from one number or from a list. */
static bool heads(look *l)
{
    const mc_gguf *g = l->m->gguf;
    const char    *key = mc_gguf_arch(g, "attention.head_count_kv") ? "attention.head_count_kv" : "attention.head_count";
    const mc_gguf_kv *kv = mc_gguf_arch(g, key);
    uint64_t       one;
    origin(l, key);
    if (mc_gguf_uint(kv, &one)) {
        l->p->layers = one ? l->layers : 0;
        l->p->heads_text = mc_format(l->a, "%llu*%llu", (unsigned long long)l->layers, (unsigned long long)one);
        return one < 1 << 16 && !ckd_mul(&l->p->heads, l->layers, one);
    }
    for (uint64_t i = 0; i < l->layers; i++) {
        int64_t n;
        if (!kv || !mc_gguf_element(g, kv, i, &n) || n < 0 || n >= 1 << 16)
            return false;
        l->p->heads += (uint64_t)n;
        l->p->layers += n > 0;
    }
    l->p->heads_text = mc_format(l->a, "%llu", (unsigned long long)l->p->heads);
    return true;
}

static bool width(look *l, const char *key, uint64_t *out)
{
    uint64_t embedding, count;
    int64_t  first;
    if (mc_gguf_arch(l->m->gguf, key)) {
        origin(l, key);
        return number(l, key, out) && *out > 0 && *out < 1 << 20;
    }
    const mc_gguf_kv *kv = mc_gguf_arch(l->m->gguf, "attention.head_count");
    if (!mc_gguf_uint(kv, &count)) {
        if (!kv || !mc_gguf_element(l->m->gguf, kv, 0, &first) || first <= 0)
            return false;
        count = (uint64_t)first;
    }
    if (!number(l, "embedding_length", &embedding) || count == 0 || embedding % count != 0)
        return false;
    *out = embedding / count;
    if (*out == 0 || *out >= 1 << 20)
        return false;
    origin(l, "embedding_length");
    return true;
}

static bool standard(look *l)
{
    uint64_t blocks, next = 0, k_swa, v_swa;
    if (!number(l, "block_count", &blocks) || blocks == 0 || blocks > 10000)
        return false;
    if (number(l, "nextn_predict_layers", &next) && next < blocks)
        origin(l, "nextn_predict_layers");
    else
        next = 0;
    l->layers = blocks - next;
    origin(l, "block_count");
    if (!heads(l) || !width(l, "attention.key_length", &l->p->k) || !width(l, "attention.value_length", &l->p->v))
        return false;
    if (number(l, "attention.key_length_swa", &k_swa) && k_swa > l->p->k)
        l->p->k = k_swa;
    if (number(l, "attention.value_length_swa", &v_swa) && v_swa > l->p->v)
        l->p->v = v_swa;
    return true;
}

static bool windowed(look *l, mc_str shape)
{
    uint64_t w;
    if (mc_str_is(shape, "window-key"))
        return mc_gguf_arch(l->m->gguf, "attention.sliding_window") && !(number(l, "attention.sliding_window", &w) && w == 0);
    return mc_str_is(shape, "sliding64") && l->layers == 64;
}

void mc_plan_gguf(const mc_model *m, const mc_kb *kb, mc_arena *a, mc_plan *p)
{
    const mc_gguf *g = m->gguf;
    mc_str         arch = mc_gguf_str(mc_gguf_get(g, "general.architecture"));
    mc_cache_shape shape = { .shape = MC_STR("") };
    if (!g || g->n < g->n_kv) {
        mc_plan_not(p, g ? MC_STR("the metadata could not be read to its end") : MC_STR("there is no metadata to read"));
        return;
    }
    bool known = mc_kb_cache_shape(kb, true, arch, &shape);
    if (known && mc_str_is(shape.shape, "none")) {
        p->cache = MC_CACHE_NONE;
        p->reason = shape.reason;
        return;
    }
    look l = { .m = m, .a = a, .p = p };
    p->bound = standard(&l) && (!known || shape.bound);
    bool plain = mc_str_is(shape.shape, "full") || mc_str_is(shape.shape, "window-key") || mc_str_is(shape.shape, "sliding64");
    if (!known)
        mc_plan_not(p, arch.n ? mc_format(a, "architecture %.*s is not known to this version", MC_FMT(arch)) : MC_STR("the file names no architecture"));
    else if (!plain || windowed(&l, shape.shape))
        mc_plan_not(p, shape.reason);
    else if (mc_gguf_arch(g, "attention.kv_lora_rank"))
        mc_plan_not(p, MC_STR("multi-head latent attention"));
    else if (!p->bound)
        mc_plan_not(p, MC_STR("the keys do not give layers, key/value heads and widths"));
}
