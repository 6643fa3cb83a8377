/* Parameters that a configuration implies: embeddings, projections, norms, head. For decoders whose modules are fixed by
 * their class only (Transformers 5.23.0, models/<type>/modeling_<type>.py); for any other the number is not known. */
#include "scan/geometry.h"

/* QKV: biases of q, k, v; OUT: of o too; MLP: of the matrices of the MLP. */
enum { QKV = 1, OUT = 2, MLP = 4 };
enum { QK_NONE, QK_ONE_HEAD /* one vector for all heads */, QK_ALL /* one a head */ };

typedef struct {
    const char *type;
    unsigned    norms;          /* vectors of the hidden width in a layer */
    unsigned    matrices;       /* of the MLP: 3 with a gate */
    bool        norm_bias;
    const char *bias_key;       /* a key that turns `biases` on; "" none; NULL: always on */
    bool        bias_default;   /* when the key is absent */
    unsigned    biases;
    const char *qk_key;         /* a key that turns `qk` on; NULL: always on */
    unsigned    qk;
    const char *mlp_key;        /* a key that turns on biases in the MLP; NULL: none */
} family;

static const family families[] = {
    { "cohere", 1, 3, false, "attention_bias", false, QKV | OUT, "use_qk_norm", QK_ALL, NULL },
    { "gemma", 2, 3, false, "attention_bias", false, QKV | OUT, "", QK_NONE, NULL },
    { "gemma2", 4, 3, false, "attention_bias", false, QKV | OUT, "", QK_NONE, NULL },
    { "granite", 2, 3, false, "attention_bias", false, QKV | OUT, "", QK_NONE, "mlp_bias" },
    { "llama", 2, 3, false, "attention_bias", false, QKV | OUT, "", QK_NONE, "mlp_bias" },
    { "mistral", 2, 3, false, "", false, 0, "", QK_NONE, NULL },
    { "olmo2", 2, 3, false, "attention_bias", false, QKV | OUT, NULL, QK_ALL, NULL },
    { "phi3", 2, 3, false, "", false, 0, "", QK_NONE, NULL },
    { "qwen2", 2, 3, false, NULL, true, QKV, "", QK_NONE, NULL },
    { "qwen3", 2, 3, false, "attention_bias", false, QKV | OUT, NULL, QK_ONE_HEAD, NULL },
    { "smollm3", 2, 3, false, "attention_bias", false, QKV | OUT, "", QK_NONE, "mlp_bias" },
    { "stablelm", 2, 3, true, "use_qkv_bias", false, QKV, "qk_layernorm", QK_ALL, NULL },
    { "starcoder2", 2, 2, true, "use_bias", true, QKV | OUT | MLP, "", QK_NONE, NULL },
};

static const family *family_of(mc_str type)
{
    for (size_t i = 0; i < MC_COUNT(families); i++)
        if (mc_str_is(type, families[i].type))
            return &families[i];
    return NULL;
}

static bool flag(const mc_value *config, const char *key, bool fallback)
{
    bool b;
    return mc_as_bool(mc_get(config, key), &b) ? b : fallback;
}

/* A sum of products that notices when it leaves 63 bits. */
typedef struct { int64_t sum; bool over; } total;

static void add(total *t, int64_t n, int64_t rows, int64_t columns)
{
    int64_t v;
    t->over |= ckd_mul(&v, rows, columns) || ckd_mul(&v, v, n) || ckd_add(&t->sum, t->sum, v);
}

static void add_biases(total *t, unsigned biases, const family *f, const mc_arch *a, int64_t q, int64_t kv)
{
    int64_t layers = a->layers.v;
    if (biases & QKV) {
        add(t, layers, q, 1);
        add(t, layers, kv, 2);
    }
    if (biases & OUT)
        add(t, layers, a->hidden.v, 1);
    if (biases & MLP) {
        add(t, layers, a->intermediate.v, f->matrices - 1);
        add(t, layers, a->hidden.v, 1);
    }
}

static unsigned biases_of(const family *f, const mc_value *config)
{
    bool on = !f->bias_key || (f->bias_key[0] && flag(config, f->bias_key, f->bias_default));
    return (on ? f->biases : 0) | (f->mlp_key && flag(config, f->mlp_key, false) ? MLP : 0);
}

static void add_norms(total *t, const family *f, const mc_arch *a, const mc_value *config, int64_t q, int64_t kv)
{
    int64_t per_norm = f->norm_bias ? 2 : 1, norms = f->norms;
    if (mc_str_is(mc_str_of(f->type), "stablelm") && flag(config, "use_parallel_residual", false))
        norms = 1;
    add(t, a->layers.v, a->hidden.v, norms * per_norm);
    add(t, 1, a->hidden.v, per_norm);
    if (f->qk_key && !(f->qk_key[0] && flag(config, f->qk_key, false)))
        return;
    if (f->qk == QK_ONE_HEAD)
        add(t, a->layers.v, a->head_dim.v, 2);
    if (f->qk == QK_ALL) {
        add(t, a->layers.v, q, 1);
        add(t, a->layers.v, kv, 1);
    }
}

mc_int mc_expected_parameters(const mc_arch *a, const mc_value *config)
{
    const family *f = a->text_at.n == 0 && a->model_type.known ? family_of(a->model_type.v) : NULL;
    const mc_int  need[] = { a->layers, a->hidden, a->heads, a->kv_heads, a->head_dim, a->intermediate, a->vocab };
    if (!f || !a->tie.known || (a->name.known && !mc_str_ends(a->name.v, "ForCausalLM")) || mc_get(config, "per_layer_config"))
        return (mc_int){ 0 };
    for (size_t i = 0; i < MC_COUNT(need); i++)
        if (!need[i].known || need[i].v <= 0)
            return (mc_int){ 0 };
    total   t = { 0 };
    int64_t q, kv;
    if (ckd_mul(&q, a->heads.v, a->head_dim.v) || ckd_mul(&kv, a->kv_heads.v, a->head_dim.v))
        return (mc_int){ 0 };
    add(&t, a->tie.v ? 1 : 2, a->vocab.v, a->hidden.v);
    for (int i = 0; i < 2; i++) {
        add(&t, a->layers.v, q, a->hidden.v);
        add(&t, a->layers.v, kv, a->hidden.v);
    }
    int64_t mlp;
    t.over |= ckd_mul(&mlp, a->intermediate.v, (int64_t)f->matrices);
    add(&t, a->layers.v, mlp, a->hidden.v);
    add_norms(&t, f, a, config, q, kv);
    add_biases(&t, biases_of(f, config), f, a, q, kv);
    return t.over ? (mc_int){ 0 } : (mc_int){ true, t.sum, { a->hidden.from.file, MC_STR("dimensions") } };
}
