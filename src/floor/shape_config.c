/* What the configuration of a model says about its cache and state, layer by layer. The kind of each layer comes from
 * shape_layers.c, what attention keeps from shape_attention.c, recurrent state from shape_state.c, shapes of their own
 * (compressed caches, encoder-decoder) from shape_special.c; which keys a family reads from rules/families/. */
#include "floor/shape_config.h"

static bool stated(const mc_look *l, const char *key)
{
    const mc_value *v = mc_get(l->text, key);
    return v && !mc_is(v, MC_NULL);
}

/* ---- which layers own what they read ---- */

static uint64_t known(mc_num n)
{
    return mc_num_known(n) ? n.v : 0;
}

/* Layers that read the cache of another one have none: the last n, or all but every n-th. */
static void read_sharing(mc_look *l)
{
    l->shared = known(mc_look_number(l, "num_kv_shared_layers num_kv_reuse_layers"));
    l->share_factor = mc_look_flag(l, "use_cla") ? known(mc_look_number(l, "cla_share_factor")) : 0;
    l->index_freq = known(mc_look_number(l, "index_topk_freq"));
    l->index_skip = known(mc_look_number(l, "index_skip_topk_offset"));
}

static bool shares(const mc_look *l, uint64_t i)
{
    return (l->shared > 0 && l->shared <= l->layers && i >= l->layers - l->shared) || (l->share_factor > 1 && i % l->share_factor != 0);
}

/* Index keys of layer i: "indexer_types" tells full from shared; index_topk_freq and index_skip_topk_offset say the same. */
static bool owns_index(const mc_look *l, uint64_t i)
{
    const mc_value *types = mc_get(l->text, "indexer_types");
    const mc_value *rule = mc_get(l->family, "index_layers");
    if (mc_is(types, MC_ARRAY))
        return i >= types->n || !mc_str_is(mc_as_str(mc_item(types, i)), "shared");
    if (rule)
        return mc_family_letter(rule, i, l->layers) == 'X';
    return l->index_freq < 2 || i < l->index_skip || (i + 1 - l->index_skip) % l->index_freq == 0;
}

static void attention(mc_look *l, uint64_t i, char letter)
{
    if (mc_family_is(l->family, "attention", "mla"))
        mc_keep_latent(l, i, letter);
    else
        mc_keep_grouped(l, i, letter);
    if (letter == 'X' && i < l->layers && owns_index(l, i))
        mc_keep_index(l, i);
}

static void layer(mc_look *l, uint64_t i)
{
    char c = l->letters[i];
    if (c == 'L' || c == 'H' || c == 'h' || c == 'v')
        mc_look_state(l, i, c == 'h');
    if (c == 'F' || c == 'S' || c == 'C' || c == 'X' || c == 'H' || c == 'h')
        if (!shares(l, i))
            attention(l, i, c == 'h' ? 'S' : c);
    if (c == '?' || c == 'Z' || c == 'z')
        mc_shape_not(l->s, MC_STR("layers of a kind that this version does not know"));
}

/* Layers of one letter are alike unless the file tells layers apart: those are read one by one. */
static void all_layers(mc_look *l)
{
    static const char *const lists[] = { "per_layer_config", "block_configs", "num_key_value_heads", "num_kv_heads", "n_head_kv" };
    uint64_t                 first[128][4], times = mc_family_number(l->family, "times", 1);
    bool                     alike = true;
    for (size_t k = 0; k < MC_COUNT(lists); k++)
        alike &= !mc_is(mc_get(l->text, lists[k]), MC_ARRAY) && !mc_is(mc_get(l->text, lists[k]), MC_OBJECT);
    for (size_t k = 0; k < 128; k++)
        first[k][0] = first[k][1] = first[k][2] = first[k][3] = MC_MAX_LAYERS;
    for (uint64_t i = 0; i < l->layers && l->s->cache == MC_CACHE_COMPUTED; i++) {
        uint64_t *like = &first[l->letters[i] & 127][2 * shares(l, i) + (l->letters[i] == 'X' && owns_index(l, i))];
        if (alike && *like < i)
            mc_shape_repeat(l->s, *like, i, times);
        else {
            *like = i;
            layer(l, i);
        }
    }
}

/* Prediction layers are like a full layer of the stack; Nemotron names them one by one. */
static void prediction(mc_look *l)
{
    const mc_int   *n = &l->m->arch.mtp_layers;
    const mc_value *types = mc_get(l->text, "mtp_layers_block_type");
    uint64_t        each = 1, before = l->s->n_keeps;
    if (!n->known || n->v <= 0 || n->v > 64 || before == 0 || l->s->cache != MC_CACHE_COMPUTED)
        return;
    if (mc_is(mc_get(l->text, "num_key_value_heads"), MC_ARRAY) || mc_get(l->text, "block_configs"))
        return; /* heads by layer: of a prediction layer they are not known */
    if (mc_is(types, MC_ARRAY)) {
        each = 0;
        for (size_t i = 0; i < types->n; i++)
            each += mc_str_starts(mc_as_str(mc_item(types, i)), "full_attention") || mc_str_is(mc_as_str(mc_item(types, i)), "attention");
    }
    for (uint64_t k = 0; k < (uint64_t)n->v * (each < 8 ? each : 8); k++)
        attention(l, MC_MAX_LAYERS, 'F');
}

/* ---- the whole ---- */

/* Keys against a cache of one shape, for a class that is not known to read them. */
static bool contradicted(mc_look *l)
{
    bool   reads = mc_get(l->family, "layers") || mc_get(l->family, "every") || mc_get(l->family, "lists") || mc_get(l->family, "special");
    mc_num w = mc_look_window(l);
    mc_int max = l->m->arch.context;
    if (!reads && !mc_get(l->text, "layer_types") && !mc_get(l->text, "use_sliding_window") && (w.state == MC_NUM_SET || w.state == MC_NUM_BAD) &&
        !(w.state == MC_NUM_SET && (w.v == 0 || (max.known && w.v >= (uint64_t)max.v))))
        mc_shape_not(l->s, MC_STR("sliding_window is set for a class that is not known to read it"));
    else if (stated(l, "kv_lora_rank") && !mc_family_is(l->family, "attention", "mla") && mc_look_number(l, "kv_lora_rank").v)
        mc_shape_not(l->s, MC_STR("multi-head latent attention (kv_lora_rank) in a class that is not known to have it"));
    return l->s->cache != MC_CACHE_COMPUTED;
}

/* What the configuration leaves out and its class supplies: certain only as long as the class does not change. */
static void supplied(mc_look *l)
{
    const mc_arch *a = &l->m->arch;
    const struct { const mc_int *fact; const char *name; } facts[] = {
        { &a->layers, "the number of layers" }, { &a->kv_heads, "the number of key/value heads" }, { &a->head_dim, "the head width" },
    };
    for (size_t i = 0; i < MC_COUNT(facts); i++)
        if (facts[i].fact->known && mc_str_starts(facts[i].fact->from.where, "default of "))
            mc_shape_assume(l->s, mc_format(l->a, "%s is not in the configuration: %lld, %.*s", facts[i].name, (long long)facts[i].fact->v,
                                            MC_FMT(facts[i].fact->from.where)));
}

static void stack(mc_look *l)
{
    l->letters = MC_NEW(l->a, char, l->layers);
    if (!l->letters || !mc_shape_begin(l->s, l->a, l->layers)) {
        mc_shape_not(l->s, MC_STR("the number of layers is not plausible"));
        return;
    }
    if (!mc_look_letters(l))
        return;
    read_sharing(l);
    all_layers(l);
    prediction(l);
    supplied(l);
    mc_shape_end(l->s, l->a);
}

/* ---- an upper bound where the cache is not computed ---- */

/* All layers at full width. Layers of their own geometry have none. */
static void bound(mc_look *l)
{
    const mc_arch  *m = &l->m->arch;
    mc_num          k = mc_look_width(l), heads = mc_num_of(m->kv_heads.known ? m->kv_heads : m->heads);
    const mc_value *own = mc_get(l->text, "per_layer_config"), *list = mc_get(l->text, "num_key_value_heads");
    bool            differ = (own && own->n) || mc_is(list, MC_ARRAY) || mc_get(l->family, "full") || mc_get(l->family, "swa");
    bool            not_here = mc_family_is(l->family, "cache", "unknown") && !mc_flag(l->family, "bound");
    if (!m->layers.known || differ || not_here || mc_family_is(l->family, "attention", "compressed"))
        return;
    if (stated(l, "kv_lora_rank") || mc_family_is(l->family, "attention", "mla")) {
        mc_num nope = mc_look_number(l, "qk_nope_head_dim"), rope = mc_look_number(l, "qk_rope_head_dim"), v = mc_look_number(l, "v_head_dim");
        if (mc_num_known(nope) && mc_num_known(rope) && mc_num_known(v) && m->heads.known && nope.v < MC_MAX_WIDTH && rope.v < MC_MAX_WIDTH)
            mc_shape_bound(l->s, (uint64_t)m->layers.v, (uint64_t)m->heads.v, nope.v + rope.v, v.v);
        return;
    }
    if (mc_num_known(heads) && mc_num_known(k))
        mc_shape_bound(l->s, (uint64_t)m->layers.v, heads.v, k.v, m->v_head_dim.known ? (uint64_t)m->v_head_dim.v : k.v);
}

/* ---- the decision ---- */

static void not_known(mc_look *l)
{
    mc_shape_not(l->s, l->cls.n ? mc_format(l->a, "model_type %.*s is not known to this version", MC_FMT(l->cls))
                                : MC_STR("the configuration names no model_type"));
}

static void decide(mc_look *l)
{
    if (!l->family)
        not_known(l);
    else if (mc_family_is(l->family, "cache", "none")) {
        if (mc_flag(l->text, "is_decoder")) {
            mc_shape_not(l->s, MC_STR("a decoder made of an encoder class"));
            return;
        }
        l->s->cache = MC_CACHE_NONE;
        l->s->reason = mc_family_text(l->family, "reason");
    } else if (mc_family_is(l->family, "cache", "unknown"))
        mc_shape_not(l->s, mc_family_text(l->family, "reason"));
    else if (!mc_config_special(l)) {
        l->layers = l->m->arch.layers.known ? (uint64_t)l->m->arch.layers.v : 0;
        if (l->layers == 0)
            mc_shape_not(l->s, MC_STR("the configuration does not give the number of layers"));
        else if (!contradicted(l))
            stack(l);
    }
    if (l->s->cache == MC_CACHE_NOT_COMPUTED)
        bound(l);
}

/* Meta's and Mistral's own format names no class; some keys belong to shapes that are not plain. */
static void of_params(mc_look *l)
{
    static const char *const keys[] = { "attention_chunk_size", "nope_layer_interval", "_sliding_window" };
    for (size_t i = 0; i < MC_COUNT(keys); i++)
        if (stated(l, keys[i]))
            return;
    l->family = mc_kb_family(l->kb, false, MC_STR("mistral"));
}

void mc_shape_config(const mc_model *m, mc_kb *kb, mc_arena *a, mc_shape *s)
{
    const mc_doc   *doc = mc_model_doc(m, 0, mc_model_config(m) ? MC_ROLE_CONFIG : MC_ROLE_PARAMS);
    const mc_value *root = doc ? doc->root : NULL;
    if (!root) {
        mc_shape_not(s, MC_STR("there is no configuration to read"));
        return;
    }
    mc_look l = { .m = m, .kb = kb, .a = a, .s = s, .root = root, .file = doc->file, .at = m->arch.text_at.p ? m->arch.text_at : MC_STR(""), .cls = m->arch.model_type.v };
    l.text = mc_at(root, mc_format(a, "%.*s", MC_FMT(l.at)).p);
    l.family = mc_kb_family(kb, false, l.cls.n ? l.cls : m->arch.name.v); /* older files of own code name their class only */
    if (!l.text) {
        mc_shape_not(s, MC_STR("the configuration leaves the language model out"));
        return;
    }
    if (l.cls.n == 0 && doc->role == MC_ROLE_PARAMS)
        of_params(&l);
    decide(&l);
}
