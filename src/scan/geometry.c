/* What config.json (or a params.json without one) implies: layers, heads, widths, vocabulary, context.
 *
 * Each fact has several spellings, tried in order. A value that is no plausible positive integer leaves the fact unknown:
 * a guess would turn into a wrong memory figure. An absent key takes the default of its class; a key that is null does not
 * (Mistral: sliding_window absent is 4096, null is none). */
#include "scan/geometry.h"

#include <stddef.h>

enum { NO_DEFAULT = 1, ZERO = 2 /* zero is a value */ };

/* names[0] is the standard name: configuration classes that call it otherwise have a @map row for it. */
typedef struct { size_t fact; int64_t max; unsigned flags; const char *const *names; } spelling;

#define NAMES(...) (const char *const[]){ __VA_ARGS__, NULL }
#define FACT(member, max, flags, ...) { offsetof(mc_arch, member), (max), (flags), NAMES(__VA_ARGS__) }

static const spelling spellings[] = {
    FACT(layers, 10000, 0, "num_hidden_layers", "n_layer", "num_layers", "n_layers", "decoder_layers", "num_decoder_layers",
         "num_transformer_layers"),
    FACT(hidden, 1 << 24, 0, "hidden_size", "n_embd", "n_embed", "d_model", "dim", "model_dim"),
    FACT(heads, 1 << 16, 0, "num_attention_heads", "n_head", "n_heads", "num_heads", "decoder_attention_heads"),
    FACT(kv_heads, 1 << 16, 0, "num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num", "num_attention_groups",
         "num_multi_query_heads", "/attn_config/kv_n_heads", "n_kv_heads"),
    FACT(head_dim, 1 << 16, 0, "head_dim", "hidden_size_per_head", "attention_head_dim", "kv_channels", "d_kv"),
    FACT(v_head_dim, 1 << 16, 0, "v_head_dim"),
    FACT(vocab, INT64_C(1) << 32, 0, "vocab_size", "padded_vocab_size"),
    FACT(context, INT64_C(1) << 40, 0, "max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length",
         "max_sequence_length", "max_target_positions", "context_length", "max_context_length"),
    FACT(intermediate, 1 << 26, 0, "intermediate_size", "n_inner", "ffn_hidden_size", "d_ff", "ffn_dim", "decoder_ffn_dim", "hidden_dim"),
    FACT(experts, 1 << 20, 0, "num_experts", "moe_num_experts", "n_routed_experts", "num_local_experts", "/ffn_config/moe_num_experts",
         "/moe/num_experts"),
    FACT(experts_used, 1 << 20, 0, "num_experts_per_tok", "num_experts_per_token", "top_k_experts", "moe_topk", "moe_top_k",
         "experts_per_token", "/ffn_config/moe_top_k", "/moe/num_experts_per_tok"),
    FACT(mtp_layers, 1000, NO_DEFAULT | ZERO, "num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers"),
    FACT(sliding_window, INT64_C(1) << 40, 0, "sliding_window", "sliding_window_size", "attention_window_size"),
};

static mc_str of_class(mc_geo *g)
{
    return mc_format(g->m->arena, "default of %.*s", MC_FMT(g->cls));
}

static mc_int known(mc_geo *g, int64_t v, mc_str where)
{
    return (mc_int){ true, v, { g->file, where } };
}

/* The state in which the file has the key; *out is set when it gives a value. */
static mc_key_state read_fact(mc_geo *g, const spelling *s, mc_int *out)
{
    mc_key k = mc_geo_key(g, s->names);
    if (k.state == MC_KEY_ABSENT)
        k = mc_geo_class_key(g, s->names[0]);
    int64_t v;
    if (k.state == MC_KEY_SET && mc_is(k.value, MC_INT) && mc_as_int(k.value, &v) && v <= s->max && v >= (s->flags & ZERO ? 0 : 1))
        *out = known(g, v, k.where);
    return k.state;
}

static void from_class(mc_geo *g, const spelling *s, mc_int *out)
{
    int64_t v;
    if (!(s->flags & NO_DEFAULT) && mc_geo_default(g, s->names, &v) && v >= 1 && v <= s->max)
        *out = known(g, v, of_class(g));
}

/* ---- facts with a rule of their own ---- */

/* Nemotron-H names every layer and may leave the count out; the list then counts, before the class default. */
static void layers_of_list(mc_geo *g, mc_key_state state)
{
    static const char *const lists[] = { "layers_block_type", "layer_types", "hybrid_override_pattern" };
    bool                     beats = mc_str_is(g->cls, "nemotron_h");
    for (size_t i = 0; i < MC_COUNT(lists); i++) {
        const mc_value *v = mc_get(g->text, lists[i]);
        size_t          n = mc_is(v, MC_ARRAY) ? v->n : mc_is(v, MC_STRING) ? v->s.n : 0;
        if (n == 0 || n > 10000 || (beats && i == 1) || (!beats && state == MC_KEY_SET))
            continue;
        g->m->arch.layers = known(g, (int64_t)n, mc_format(g->m->arena, "%.*s/%s", MC_FMT(g->at), lists[i]));
        return;
    }
}

static bool flag(const mc_geo *g, const char *key, bool fallback)
{
    bool       b;
    mc_default d;
    if (mc_as_bool(mc_get(g->text, key), &b))
        return b;
    return mc_kb_default(g->kb, g->cls, key, &d) ? mc_str_is(d.value, "true") : fallback;
}

/* Falcon and GPT-BigCode have one key/value head under multi_query, whatever else is written; ChatGLM reads its count only then. */
static bool multi_query(mc_geo *g)
{
    static const char *const falcons[] = { "falcon", "RefinedWeb", "RefinedWebModel" };
    mc_arch                 *a = &g->m->arch;
    bool                     falcon = false;
    for (size_t i = 0; i < MC_COUNT(falcons); i++)
        falcon |= mc_str_is(g->cls, falcons[i]);
    if (falcon && flag(g, "new_decoder_architecture", mc_get(g->text, "n_head_kv") != NULL))
        return false;
    if (falcon || mc_str_is(g->cls, "gpt_bigcode")) {
        bool one = flag(g, "multi_query", falcon && mc_str_is(g->cls, "RefinedWebModel"));
        a->kv_heads = one ? known(g, 1, mc_format(g->m->arena, "%.*s/multi_query", MC_FMT(g->at))) : a->heads;
        return true;
    }
    if (mc_str_is(g->cls, "chatglm") && !flag(g, "multi_query_attention", false)) {
        a->kv_heads = a->heads;
        return true;
    }
    return false;
}

static void kv_heads(mc_geo *g, const spelling *s, mc_key_state state)
{
    mc_arch *a = &g->m->arch;
    if (multi_query(g) || state == MC_KEY_SET)
        return;
    if (state == MC_KEY_ABSENT)
        from_class(g, s, &a->kv_heads);
    if (!a->kv_heads.known && g->known && a->heads.known)
        a->kv_heads = a->heads; /* the rule of every class without another one: as many as attention heads */
}

/* Latent attention has no one head width; the key then means a part of it, or nothing. */
static bool latent(mc_geo *g)
{
    int64_t v;
    mc_key  k = mc_geo_key(g, NAMES("kv_lora_rank"));
    return k.state == MC_KEY_SET || (k.state == MC_KEY_ABSENT && mc_geo_default(g, NAMES("kv_lora_rank"), &v));
}

static void head_dim(mc_geo *g, const spelling *s, mc_key_state state)
{
    mc_arch *a = &g->m->arch;
    if (latent(g)) {
        a->head_dim = (mc_int){ 0 };
        return;
    }
    if (state == MC_KEY_ABSENT)
        from_class(g, s, &a->head_dim);
    if (state == MC_KEY_SET || a->head_dim.known || !g->known || !a->hidden.known || !a->heads.known || a->hidden.v % a->heads.v != 0)
        return;
    a->head_dim = known(g, a->hidden.v / a->heads.v, MC_STR("hidden_size / num_attention_heads"));
}

static void all_facts(mc_geo *g)
{
    for (size_t i = 0; i < MC_COUNT(spellings); i++) {
        const spelling *s = &spellings[i];
        mc_int         *out = (mc_int *)(void *)((char *)&g->m->arch + s->fact);
        mc_key_state    state = read_fact(g, s, out);
        if (s->fact == offsetof(mc_arch, layers))
            layers_of_list(g, state);
        if (s->fact == offsetof(mc_arch, kv_heads))
            kv_heads(g, s, state);
        else if (s->fact == offsetof(mc_arch, head_dim))
            head_dim(g, s, state);
        else if (state == MC_KEY_ABSENT && !out->known)
            from_class(g, s, out);
    }
}

/* ---- texts and ties ---- */

static mc_text text_fact(uint32_t file, const mc_value *v, mc_str where)
{
    mc_str s = mc_as_str(v);
    return s.n ? (mc_text){ true, s, { file, where } } : (mc_text){ 0 };
}

static void dtype(mc_geo *g, const mc_value *root)
{
    static const char *const keys[] = { "dtype", "torch_dtype" };
    const struct { const mc_value *v; mc_str at; } levels[] = { { root, MC_STR("") }, { g->text, g->at } };
    for (size_t l = 0; l < MC_COUNT(levels); l++)
        for (size_t k = 0; k < MC_COUNT(keys) && !g->m->arch.dtype.known; k++)
            g->m->arch.dtype = text_fact(g->file, mc_get(levels[l].v, keys[k]), mc_format(g->m->arena, "%.*s/%s", MC_FMT(levels[l].at), keys[k]));
    mc_str *v = &g->m->arch.dtype.v;
    if (mc_str_starts(*v, "torch."))
        *v = mc_str_cut(*v, 6, v->n);
}

/* tie_word_embeddings at one level: true beats false, a higher level is looked at first. */
static void tie_at(mc_geo *g, const mc_value *level, mc_str at)
{
    static const char *const keys[] = { "tie_word_embeddings", "tie_embedding" };
    mc_arch                 *a = &g->m->arch;
    for (size_t i = 0; i < MC_COUNT(keys); i++) {
        bool b;
        if (!mc_as_bool(mc_get(level, keys[i]), &b))
            continue;
        mc_bool fact = { true, b, { g->file, mc_format(g->m->arena, "%.*s/%s", MC_FMT(at), keys[i]) } };
        if (!a->tie.known || (b && !a->tie.v))
            a->tie = fact;
        if (!b && !a->tie_false.known)
            a->tie_false = (mc_bool){ true, true, fact.from };
    }
}

static void tie(mc_geo *g, const mc_value *root)
{
    const mc_value *level = root;
    mc_str          at = MC_STR("");
    tie_at(g, root, at);
    for (size_t from = 1; from < g->at.n;) { /* every block on the way down to the language model */
        size_t to = from + mc_str_find(mc_str_cut(g->at, from, g->at.n), '/');
        level = mc_get_str(level, mc_str_cut(g->at, from, to));
        tie_at(g, level, mc_str_cut(g->at, 0, to));
        from = to + 1;
    }
    tie_at(g, mc_get(root, "decoder"), MC_STR("/decoder"));
    mc_default d;
    mc_str     types[] = { mc_as_str(mc_get(root, "model_type")), g->cls };
    for (size_t i = 0; i < MC_COUNT(types) && !g->m->arch.tie.known; i++)
        if (mc_kb_default(g->kb, types[i], "tie_word_embeddings", &d) && (mc_str_is(d.value, "true") || mc_str_is(d.value, "false")))
            g->m->arch.tie = (mc_bool){ true, mc_str_is(d.value, "true"), { g->file, mc_format(g->m->arena, "default of %.*s", MC_FMT(types[i])) } };
}

void mc_geometry(mc_model *m, mc_kb *kb)
{
    if (m->unit == MC_UNIT_GGUF) {
        mc_geometry_gguf(m, kb);
        return;
    }
    const mc_doc *doc = mc_model_doc(m, 0, MC_ROLE_CONFIG);
    bool          params = doc == NULL;
    if (params)
        doc = mc_model_doc(m, 0, MC_ROLE_PARAMS);
    if (!doc || !mc_is(doc->root, MC_OBJECT))
        return;
    mc_geo g = { .m = m, .kb = kb, .file = doc->file };
    mc_geo_text(&g, doc->root);
    g.known |= params; /* Meta's and Mistral's own format: what it leaves out is computed as everywhere */
    m->arch.text_at = g.at;
    m->arch.name = text_fact(g.file, mc_item(mc_get(doc->root, "architectures"), 0), MC_STR("/architectures/0"));
    m->arch.model_type = (mc_text){ g.cls.n > 0, g.cls, { g.file, mc_format(m->arena, "%.*s/model_type", MC_FMT(g.at)) } };
    all_facts(&g);
    dtype(&g, doc->root);
    tie(&g, doc->root);
    m->expected = mc_expected_parameters(&m->arch, params ? NULL : doc->root);
}
