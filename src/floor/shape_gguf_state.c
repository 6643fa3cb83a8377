/* Recurrent and convolution state by GGUF keys, in elements of one layer and sequence (llama-hparams.cpp, n_embd_r, n_embd_s):
 *
 *   ssm               conv (conv_kernel - 1) * (inner + 2 * group_count * state)   state inner * state
 *   kda               conv 3 * (conv_kernel - 1) * heads * dim                     state heads * dim * dim
 *   lightning         -                                                            state heads * key_length^2
 *   short-convolution conv (l_cache - 1) * embedding                               -
 *   rwkv              conv shifts * embedding                                      state embedding * head_size */
#include "floor/shape_gguf.h"

typedef struct { mc_keys *l; mc_sources from; bool bad; } reader;

static uint64_t need(reader *r, const char *key, bool optional)
{
    uint64_t v;
    if (!mc_keys_of_layer(r->l, key, 0, &v) || v > MC_MAX_WIDTH) {
        r->bad |= !optional || mc_gguf_arch(r->l->m->gguf, key) != NULL;
        return 0;
    }
    mc_keys_from(r->l, &r->from, key);
    return v;
}

static void ssm(reader *r, mc_state_group *g)
{
    uint64_t inner = need(r, "ssm.inner_size", false), state = need(r, "ssm.state_size", false), groups = need(r, "ssm.group_count", true);
    g->conv = mc_mul(&r->bad, mc_less_one(need(r, "ssm.conv_kernel", false)), mc_add(&r->bad, inner, mc_mul(&r->bad, 2 * groups, state)));
    g->state = mc_mul(&r->bad, inner, state);
    g->what = "recurrent";
}

static void kda(reader *r, mc_state_group *g)
{
    uint64_t heads = need(r, "attention.head_count", false), dim = need(r, "kda.head_dim", false);
    uint64_t width = mc_mul(&r->bad, heads, dim);
    g->conv = mc_mul(&r->bad, 3 * mc_less_one(need(r, "ssm.conv_kernel", false)), width);
    g->state = mc_mul(&r->bad, width, dim);
    g->state_f32 = true;
    g->what = "Kimi delta attention";
}

static void lightning(reader *r, mc_state_group *g)
{
    uint64_t heads = need(r, "attention.head_count", false), width = need(r, "attention.key_length", false);
    g->state = mc_mul(&r->bad, mc_mul(&r->bad, heads, width), width);
    g->state_f32 = true;
    g->what = "lightning attention";
}

static void short_convolution(reader *r, mc_state_group *g)
{
    g->conv = mc_mul(&r->bad, mc_less_one(need(r, "shortconv.l_cache", false)), need(r, "embedding_length", false));
    g->what = "short convolution";
}

static void rwkv(reader *r, mc_state_group *g)
{
    uint64_t width = need(r, "embedding_length", false), shifts = need(r, "token_shift_count", true);
    g->conv = mc_mul(&r->bad, shifts ? shifts : mc_family_number(r->l->family, "shifts", 2), width);
    g->state = mc_mul(&r->bad, width, need(r, "wkv.head_size", false));
    g->state_f32 = true;
    g->what = "RWKV";
}

void mc_keys_state(mc_keys *l, uint64_t layer)
{
    static const struct { const char *name; void (*read)(reader *, mc_state_group *); } kinds[] = {
        { "ssm", ssm }, { "kda", kda }, { "lightning", lightning }, { "short-convolution", short_convolution }, { "rwkv", rwkv },
    };
    reader         r = { .l = l };
    mc_state_group g = { 0 };
    for (size_t i = 0; i < MC_COUNT(kinds); i++)
        if (mc_family_is(l->family, "state", kinds[i].name))
            kinds[i].read(&r, &g);
    if (r.bad || !g.what) {
        mc_shape_not(l->s, MC_STR("the keys do not give the size of the recurrent state"));
        return;
    }
    g.state_f32 |= mc_flag(l->family, "state_f32");
    mc_shape_state(l->s, layer, &g, &r.from);
}
