/* What the configuration of a model says about its cache: computed only where every layer is known to keep the keys and
 * values of all tokens. Everything else is a reason, with an upper bound where one holds. */
#include "floor/plan.h"

#define LIST(...) (const char *const[]){ __VA_ARGS__, NULL }

void mc_plan_not(mc_plan *p, mc_str reason)
{
    p->cache = MC_CACHE_NOT_COMPUTED;
    p->reason = reason;
}

void mc_plan_from(mc_plan *p, const mc_model *m, mc_arena *a, mc_origin o)
{
    mc_str path = mc_file_path(m, o.file);
    if (p->n_from < MC_COUNT(p->from))
        p->from[p->n_from++] = mc_str_starts(o.where, "/") ? mc_format(a, "%.*s#%.*s", MC_FMT(path), MC_FMT(o.where))
                                                           : mc_format(a, "%.*s (%.*s)", MC_FMT(path), MC_FMT(o.where));
}

typedef struct { const mc_model *m; const mc_kb *kb; const mc_value *text; mc_str type; mc_arena *a; uint64_t context; mc_plan *p; } look;

static const mc_value *stated(const look *l, const char *const *keys)
{
    for (; *keys; keys++) {
        const mc_value *v = mc_get(l->text, *keys);
        if (v && !mc_is(v, MC_NULL))
            return v;
    }
    return NULL;
}

/* An integer of the text configuration, or of its class when the key is absent. Null and other types: false. */
static bool number(const look *l, const char *key, uint64_t *out)
{
    const mc_value *v = mc_get(l->text, key);
    mc_default      d;
    int64_t         i;
    if (!v)
        return mc_kb_default(l->kb, l->type, key, &d) && mc_str_u64(d.value, out);
    if (!mc_is(v, MC_INT) || !mc_as_int(v, &i) || i < 0)
        return false;
    *out = (uint64_t)i;
    return true;
}

static bool is_true(const look *l, const char *key)
{
    bool b;
    return mc_as_bool(mc_get(l->text, key), &b) && b;
}

/* ---- numbers ---- */

static void standard(look *l)
{
    const mc_arch *a = &l->m->arch;
    mc_plan       *p = l->p;
    const mc_int  *facts[] = { &a->layers, a->kv_heads.known ? &a->kv_heads : &a->heads, &a->head_dim };
    mc_int         width = a->head_dim;
    if (!width.known && a->hidden.known && a->heads.known && a->hidden.v % a->heads.v == 0)
        width = (mc_int){ true, a->hidden.v / a->heads.v, { a->hidden.from.file, MC_STR("hidden_size / num_attention_heads") } };
    facts[2] = &width;
    p->bound = facts[0]->known && facts[1]->known && width.known;
    for (size_t i = 0; i < MC_COUNT(facts) && p->bound; i++)
        mc_plan_from(p, l->m, l->a, facts[i]->from);
    if (!p->bound)
        return;
    p->layers = (uint64_t)facts[0]->v;
    p->k = (uint64_t)width.v;
    p->v = a->v_head_dim.known ? (uint64_t)a->v_head_dim.v : p->k;
    if (a->v_head_dim.known)
        mc_plan_from(p, l->m, l->a, a->v_head_dim.from);
    p->bound = !ckd_mul(&p->heads, p->layers, (uint64_t)facts[1]->v);
    p->heads_text = mc_format(l->a, "%llu*%lld", (unsigned long long)p->layers, (long long)facts[1]->v);
}

/* Latent attention as a runtime without it would store it: every head, decompressed; and the keys of an index, if there is one. */
static void decompressed(look *l)
{
    mc_plan *p = l->p;
    uint64_t nope, rope, v = 0, index;
    p->bound = l->m->arch.layers.known && l->m->arch.heads.known && number(l, "qk_nope_head_dim", &nope) && number(l, "qk_rope_head_dim", &rope);
    if (!p->bound)
        return;
    if (!number(l, "v_head_dim", &v) && l->m->arch.hidden.known) /* MiniCPM3 leaves it out: hidden / heads */
        v = (uint64_t)(l->m->arch.hidden.v / l->m->arch.heads.v);
    else if (!number(l, "v_head_dim", &v))
        p->bound = false;
    p->layers = (uint64_t)l->m->arch.layers.v;
    p->v = v;
    p->bound = p->bound && !ckd_add(&p->k, nope, rope) && !ckd_mul(&p->heads, p->layers, (uint64_t)l->m->arch.heads.v);
    if (number(l, "index_head_dim", &index) && ckd_mul(&p->index, index, p->layers))
        p->bound = false;
}

/* Keys that a plain cache needs and that are not known. */
static bool incomplete(look *l)
{
    const mc_arch *a = &l->m->arch;
    const struct { const mc_int *fact; const char *what; } needed[] = {
        { &a->layers, "the number of layers" }, { &a->kv_heads, "the number of key/value heads" }, { &a->head_dim, "the width of a head" },
    };
    for (size_t i = 0; i < MC_COUNT(needed); i++)
        if (!needed[i].fact->known) {
            mc_plan_not(l->p, mc_format(l->a, "the configuration does not give %s", needed[i].what));
            return true;
        }
    return false;
}

/* ---- shapes that depend on keys ---- */

static void windows(look *l, uint64_t windowed)
{
    uint64_t layers = l->p->layers;
    if (windowed == 0 || windowed >= layers)
        mc_plan_not(l->p, mc_format(l->a, "sliding window attention%s", windowed ? "" : " on some layers"));
    else
        mc_plan_not(l->p, mc_format(l->a, "sliding window attention (%llu of %llu layers)", (unsigned long long)windowed, (unsigned long long)layers));
}

/* A window that is longer than the context holds every token: the cache is then the full one. Of a class that has windows
 * anyway (sliding), a width that is not known binds; of others no width means no window. */
static bool window_binds(look *l, bool sliding)
{
    const mc_value *v = stated(l, LIST("sliding_window", "sliding_window_size", "attention_window_size"));
    int64_t         w;
    if (v)
        return !mc_is(v, MC_INT) || !mc_as_int(v, &w) || w <= 0 || (uint64_t)w <= l->context;
    if (mc_get(l->text, "sliding_window") != NULL || !l->m->arch.sliding_window.known)
        return sliding;
    return (uint64_t)l->m->arch.sliding_window.v <= l->context;
}

/* Counts the kinds of layer_types. False: there is no such list. */
static bool listed(look *l)
{
    const mc_value *types = mc_get(l->text, "layer_types");
    const mc_value *list = mc_is(types, MC_ARRAY) ? types : mc_get(l->text, "layers_block_type");
    if (!mc_is(list, MC_ARRAY))
        return false;
    uint64_t full = 0, sliding = 0, chunked = 0;
    for (size_t i = 0; i < list->n; i++) {
        mc_str s = mc_as_str(mc_item(list, i));
        full += mc_str_is(s, "full_attention") || mc_str_is(s, "attention");
        sliding += mc_str_is(s, "sliding_attention");
        chunked += mc_str_is(s, "chunked_attention");
    }
    if (list->n != l->p->layers)
        mc_plan_not(l->p, mc_format(l->a, "layer_types has %llu entries for %llu layers", (unsigned long long)list->n, (unsigned long long)l->p->layers));
    else if (full + sliding == list->n && sliding > 0 && window_binds(l, true))
        windows(l, sliding);
    else if (full + chunked == list->n && chunked > 0)
        mc_plan_not(l->p, MC_STR("chunked attention"));
    else if (full + sliding != list->n)
        mc_plan_not(l->p, mc_format(l->a, "layers of other kinds beside full attention (%llu of %llu)",
                                                  (unsigned long long)(list->n - full), (unsigned long long)list->n));
    return true;
}

/* use_sliding_window (absent: off; dots1 has no such key) with windows on the layers from max_window_layers on, in qwen2_moe on
 * the even ones below it. */
static void switched(look *l)
{
    uint64_t from, layers = l->p->layers;
    bool     dots = mc_str_is(l->type, "dots1"), below = mc_str_is(l->type, "qwen2_moe");
    if (!(dots || is_true(l, "use_sliding_window")) || !window_binds(l, false))
        return;
    if (!number(l, "max_window_layers", &from))
        windows(l, 0);
    else if (below && from > 0)
        windows(l, ((from < layers ? from : layers) + 1) / 2);
    else if (!below && from < layers)
        windows(l, layers - from);
}

/* Full attention in every layer, unless keys of this model say otherwise. */
static void plain_shape(look *l, mc_str shape)
{
    if (incomplete(l) || listed(l))
        return;
    if (mc_str_is(shape, "switch"))
        switched(l);
    else if (mc_str_is(shape, "window") && window_binds(l, false))
        windows(l, l->p->layers);
    else if (mc_str_is(shape, "sliding") && window_binds(l, true))
        windows(l, 0);
    else if (mc_str_is(shape, "full") && mc_get(l->text, "use_sliding_window") == NULL && window_binds(l, false))
        mc_plan_not(l->p, MC_STR("sliding_window is set for a class that is not known to read it"));
}

/* What single keys say against a cache of one shape, whatever the class. */
static bool exceptions(look *l)
{
    const mc_value *layer = mc_get(l->text, "per_layer_config");
    const mc_value *kv = stated(l, LIST("num_key_value_heads", "num_kv_heads", "n_head_kv"));
    const char     *what = NULL;
    if (layer && layer->n && (mc_is(layer, MC_OBJECT) || mc_is(layer, MC_ARRAY)))
        what = "layers of their own geometry (per_layer_config)";
    else if (mc_is(kv, MC_ARRAY))
        what = "key/value heads that differ by layer";
    else if (is_true(l, "use_cla"))
        what = "layers that share the cache of others (use_cla)";
    if (!what)
        return false;
    mc_plan_not(l->p, mc_str_of(what));
    l->p->bound = false;
    return true;
}

/* The shape of the class; false with a reason when it is not known. */
static bool shape_of(look *l, mc_cache_shape *out)
{
    if (mc_kb_cache_shape(l->kb, false, l->type, out))
        return true;
    *out = (mc_cache_shape){ MC_STR("window"), true, MC_STR("") };
    if (l->type.n == 0 && !mc_model_config(l->m) && !stated(l, LIST("attention_chunk_size", "nope_layer_interval", "_sliding_window")))
        return true; /* params.json, the format of Meta and Mistral */
    mc_plan_not(l->p, l->type.n ? mc_format(l->a, "model_type %.*s is not known to this version", MC_FMT(l->type))
                                : MC_STR("the configuration names no model_type"));
    return false;
}

static void decide(look *l)
{
    static const char *const plain[] = { "full", "window", "switch", "layers", "sliding" };
    mc_cache_shape           shape;
    bool                     known = shape_of(l, &shape), mla = mc_str_is(shape.shape, "mla"), latent = mla || stated(l, LIST("kv_lora_rank"));
    if (known && mc_str_is(shape.shape, "none") && !is_true(l, "is_decoder")) {
        l->p->cache = MC_CACHE_NONE;
        l->p->reason = shape.reason;
        return;
    }
    if (latent)
        decompressed(l);
    else
        standard(l);
    l->p->bound = l->p->bound && shape.bound;
    if (!known || exceptions(l))
        return;
    bool is_plain = false;
    for (size_t i = 0; i < MC_COUNT(plain); i++)
        is_plain |= mc_str_is(shape.shape, plain[i]) && shape.bound;
    if (is_plain && latent)
        mc_plan_not(l->p, MC_STR("multi-head latent attention (kv_lora_rank)"));
    else if (is_plain)
        plain_shape(l, shape.shape);
    else
        mc_plan_not(l->p, mc_str_is(shape.shape, "none") ? MC_STR("a decoder made of an encoder class") : shape.reason);
}

void mc_plan_config(const mc_model *m, const mc_kb *kb, uint64_t context, mc_arena *a, mc_plan *p)
{
    const mc_value *root = mc_model_config(m) ? mc_model_config(m) : mc_model_root(m, 0, MC_ROLE_PARAMS);
    if (!root) {
        mc_plan_not(p, MC_STR("there is no configuration to read"));
        return;
    }
    look l = { m, kb, mc_at(root, m->arch.text_at.p ? m->arch.text_at.p : ""), m->arch.model_type.v, a, context, p };
    if (!l.text)
        mc_plan_not(p, MC_STR("the configuration leaves the language model out"));
    else
        decide(&l);
}
