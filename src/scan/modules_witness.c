/* Who else says how wide the input of a module is: the norm before it, the layer that makes its input, the configuration.
 * Needed where shapes tell only bits x group size. */
#include "scan/modules.h"

#include <string.h>

/* a.b.c -> a.b; "" at the end. */
static mc_str parent(mc_str path)
{
    size_t dot = mc_str_rfind(path, '.');
    return dot == SIZE_MAX ? MC_STR("") : mc_str_cut(path, 0, dot);
}

static const mc_tensor *beside(const mc_pack *p, mc_str path, const char *leaf)
{
    char   room[600];
    size_t n = strlen(leaf);
    if (path.n + n > sizeof room)
        return NULL;
    memcpy(room, path.p, path.n);
    memcpy(room + path.n, leaf, n);
    return mc_inventory_find(p->inv, (mc_str){ room, path.n + n });
}

/* The length of the first of these vectors below `path`. */
static uint64_t vector_beside(const mc_pack *p, mc_str path, const char *const *leaves, mc_str *who)
{
    for (; *leaves; leaves++) {
        const mc_tensor *t = beside(p, path, *leaves);
        if (t && t->rank == 1 && !t->overflow) {
            *who = t->name;
            return t->dims[0];
        }
    }
    return 0;
}

static uint64_t known(mc_int v, const char *name, mc_str *who)
{
    if (!v.known || v.v <= 0)
        return 0;
    *who = mc_str_of(name);
    return (uint64_t)v.v;
}

static uint64_t from_config(const mc_model *m, const char *key, mc_str *who)
{
    const mc_value *v = mc_model_config(m);
    int64_t         n;
    if (m->arch.text_at.n > 1)
        v = mc_get_str(v, mc_str_cut(m->arch.text_at, 1, m->arch.text_at.n));
    if (!mc_as_int(mc_get(v, key), &n) || n <= 0)
        return 0;
    *who = mc_str_of(key);
    return (uint64_t)n;
}

/* ---- by role ---- */

/* Reads the hidden state. */
static uint64_t hidden(const mc_pack *p, const mc_module *q, mc_str *who)
{
    static const char *const norms[] = { ".input_layernorm.weight", ".post_attention_layernorm.weight", ".pre_feedforward_layernorm.weight", ".attention_norm.weight", ".ffn_norm.weight",
                                         ".norm1.weight", ".ln_1.weight", NULL };
    static const char *const last[] = { "model.norm.weight", "language_model.model.norm.weight", "model.language_model.norm.weight", "norm.weight", NULL };
    mc_str                   at = parent(q->name);
    for (unsigned i = 0; i < 4 && at.n; i++) { /* self_attn, or mlp.experts.3 */
        uint64_t n = q->layer == MC_NONE ? 0 : vector_beside(p, at, norms, who);
        if (n)
            return n;
        at = parent(at);
    }
    uint64_t n = vector_beside(p, MC_STR(""), last, who);
    return n ? n : known(p->m->arch.hidden, "hidden_size", who);
}

/* Rows of a matrix that makes the input: of packed weights those whose first dimension is the output. */
static uint64_t rows_of(const mc_pack *p, mc_str path, const char *const *leaves, mc_str *who)
{
    for (; *leaves; leaves++) {
        const mc_tensor *t = beside(p, path, *leaves);
        if (t && t->rank >= 2 && !t->overflow) {
            *who = t->name;
            return t->dims[t->rank - 2];
        }
    }
    return 0;
}

static uint64_t inner(const mc_pack *p, const mc_module *q, mc_str *who)
{
    static const char *const rows[] = { ".up_proj.weight", ".gate_proj.weight", ".w3.weight", ".w1.weight", ".up_proj.weight_packed", ".gate_proj.weight_packed", NULL };
    static const char *const columns[] = { ".up_proj.scales", ".gate_proj.scales", NULL }; /* GPTQ: scales [G, O] */
    uint64_t                 n = rows_of(p, parent(q->name), rows, who);
    for (const char *const *c = columns; n == 0 && q->layout == MC_Q_GPTQ && *c; c++) {
        const mc_tensor *t = beside(p, parent(q->name), *c);
        if (t && t->rank == 2) {
            *who = t->name;
            n = t->dims[1];
        }
    }
    if (n == 0 && q->cls == MC_CLS_EXPERTS)
        n = from_config(p->m, "moe_intermediate_size", who);
    if (n == 0 && (q->cls == MC_CLS_MLP || q->cls == MC_CLS_EXPERTS) && !mc_str_contains(q->name, "shared"))
        n = known(p->m->arch.intermediate, "intermediate_size", who);
    return n;
}

static uint64_t heads_wide(const mc_pack *p, mc_str *who)
{
    const mc_arch *a = &p->m->arch;
    int64_t        dim = a->v_head_dim.known ? a->v_head_dim.v : a->head_dim.known ? a->head_dim.v : 0;
    if (!a->heads.known || a->heads.v <= 0 || dim <= 0 || a->heads.v > (1 << 20) || dim > (1 << 20))
        return 0;
    *who = MC_STR("num_attention_heads * head_dim");
    return (uint64_t)(a->heads.v * dim);
}

uint64_t mc_in_witness(const mc_pack *p, const mc_module *q, mc_str *who)
{
    static const char *const of_hidden[] = { "q_proj", "k_proj", "v_proj", "qkv_proj", "query_key_value", "gate_proj", "up_proj", "gate_up_proj", "w1", "w3", "fc1", "gate", "router",
                                             "embed_tokens", "lm_head", "q_a_proj", "kv_a_proj_with_mqa", "wq", "wk", "wv", "in_proj_qkvz", "in_proj_ba", "in_proj_qkv", "in_proj_z",
                                             "in_proj_a", "in_proj_b", "shared_expert_gate", NULL };
    static const char *const of_inner[] = { "down_proj", "w2", "fc2", NULL };
    static const char *const of_heads[] = { "o_proj", "wo", NULL };
    static const char *const q_norm[] = { ".q_a_layernorm.weight", NULL }, *const kv_norm[] = { ".kv_a_layernorm.weight", NULL };
    mc_str leaf = mc_str_last(q->name);
    *who = MC_STR("");
    if (q->cls == MC_CLS_VISION)
        return 0;
    if (mc_str_is_any(leaf, of_hidden))
        return hidden(p, q, who);
    if (mc_str_is_any(leaf, of_inner))
        return inner(p, q, who);
    if (mc_str_is_any(leaf, of_heads))
        return heads_wide(p, who);
    if (mc_str_is(leaf, "q_b_proj"))
        return vector_beside(p, parent(q->name), q_norm, who);
    return mc_str_is(leaf, "kv_b_proj") ? vector_beside(p, parent(q->name), kv_norm, who) : 0;
}
