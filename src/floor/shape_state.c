/* Recurrent and convolution state of a configuration, in elements of one layer and sequence. Keys by their several names:
 *
 *   mamba             conv (k - 1) * inner                                   state inner * d_state
 *   mamba2            conv (k - 1) * (inner + 2 * groups * d_state)          state heads * head_dim * d_state
 *   gated-delta-net   conv (k - 1) * (2 * k_heads * k_dim + v_heads * v_dim) state v_heads * v_dim * k_dim
 *   kda               conv 3 * (k - 1) * heads * dim                         state heads * dim * dim
 *   lightning         -                                                      state heads * dim * dim
 *   short-convolution conv (k - 1) * hidden                                  -
 *   rwkv              conv 2 * hidden (token shift)                          state hidden * head_size
 *   rg-lru            conv (k - 1) * width                                   state width
 *   inkling           conv (k - 1) * 2 * (kv_heads * head_dim + hidden)      - */
#include "floor/shape_config.h"

typedef struct { mc_look *l; mc_sources from; bool bad, windowed; } reader;

static uint64_t need(reader *r, const char *names)
{
    mc_num n = mc_look_number(r->l, names);
    if (!mc_num_known(n) || n.v > MC_MAX_WIDTH) {
        r->bad = true;
        return 0;
    }
    mc_look_from(r->l, &r->from, n);
    return n.v;
}

static uint64_t hidden(reader *r)
{
    const mc_int *h = &r->l->m->arch.hidden;
    r->bad |= !h->known;
    mc_look_from(r->l, &r->from, mc_num_of(*h));
    return h->known ? (uint64_t)h->v : 0;
}

/* Inner width of Mamba-1: named by the family, else expand * hidden. */
static uint64_t inner(reader *r)
{
    mc_num own = mc_look_member(r->l, r->l->family, "inner", NULL);
    if (mc_num_known(own)) {
        mc_look_from(r->l, &r->from, own);
        return own.v;
    }
    return mc_mul(&r->bad, need(r, "mamba_expand expand"), hidden(r));
}

static void mamba(reader *r, mc_state_group *g)
{
    uint64_t width = inner(r);
    g->conv = mc_mul(&r->bad, mc_less_one(need(r, "mamba_d_conv conv_kernel")), width);
    g->state = mc_mul(&r->bad, need(r, "mamba_d_state state_size"), width);
    g->what = "Mamba";
}

/* Head width of Mamba-2: a number, or "auto" for expand * hidden / heads. */
static uint64_t mamba2_inner(reader *r)
{
    mc_num   given = mc_look_number(r->l, "mamba_d_ssm"), width = mc_look_number(r->l, "mamba_head_dim mamba_d_head mamba_headdim");
    uint64_t heads = need(r, "mamba_num_heads mamba_n_heads n_mamba_heads num_heads");
    if (given.state == MC_NUM_SET || (given.state == MC_NUM_CLASS && !mc_num_known(width))) {
        mc_look_from(r->l, &r->from, given);
        return given.v;
    }
    if (!mc_num_known(width) && mc_str_is(r->l->cls, "mamba2"))
        width = mc_look_number(r->l, "head_dim");
    if (mc_num_known(width) && width.v <= MC_MAX_WIDTH) {
        mc_look_from(r->l, &r->from, width);
        return mc_mul(&r->bad, heads, width.v);
    }
    return mc_mul(&r->bad, need(r, "mamba_expand expand"), hidden(r));
}

static void mamba2(reader *r, mc_state_group *g)
{
    uint64_t width = mamba2_inner(r), d_state = need(r, "ssm_state_size mamba_d_state state_size");
    uint64_t grouped = mc_mul(&r->bad, 2 * need(r, "n_groups mamba_n_groups mamba_ngroups"), d_state);
    g->conv = mc_mul(&r->bad, mc_less_one(need(r, "conv_kernel mamba_d_conv")), mc_add(&r->bad, width, grouped));
    g->state = mc_mul(&r->bad, width, d_state);
    g->what = "Mamba-2";
}

static void gated_delta_net(reader *r, mc_state_group *g)
{
    uint64_t k = need(r, "linear_key_head_dim"), keys = mc_mul(&r->bad, need(r, "linear_num_key_heads"), k);
    uint64_t values = mc_mul(&r->bad, need(r, "linear_num_value_heads"), need(r, "linear_value_head_dim"));
    g->conv = mc_mul(&r->bad, mc_less_one(need(r, "linear_conv_kernel_dim")), mc_add(&r->bad, 2 * keys, values));
    g->state = mc_mul(&r->bad, values, k);
    g->state_f32 = true;
    g->what = "gated delta net";
}

/* Some classes take heads and widths of attention for it: the family then names the keys. */
static uint64_t kda_key(reader *r, const char *member, const char *names)
{
    mc_num n = mc_look_member(r->l, mc_get(r->l->family, "kda"), member, names);
    if (!mc_num_known(n) || n.v > MC_MAX_WIDTH) {
        r->bad = true;
        return 0;
    }
    mc_look_from(r->l, &r->from, n);
    return n.v;
}

static void kda(reader *r, mc_state_group *g)
{
    uint64_t heads = kda_key(r, "heads", "/linear_attn_config/num_heads linear_num_heads");
    uint64_t dim = kda_key(r, "dim", "/linear_attn_config/head_dim linear_head_dim");
    uint64_t kernel = kda_key(r, "kernel", "/linear_attn_config/short_conv_kernel_size linear_conv_kernel_dim"), width = mc_mul(&r->bad, heads, dim);
    g->conv = mc_mul(&r->bad, 3 * mc_less_one(kernel), width);
    g->state = mc_mul(&r->bad, width, dim);
    g->state_f32 = true;
    g->what = "Kimi delta attention";
}

static void lightning(reader *r, mc_state_group *g)
{
    mc_num   width = mc_look_width(r->l), heads = mc_num_of(r->l->m->arch.heads);
    r->bad |= !mc_num_known(width) || !mc_num_known(heads);
    mc_look_from(r->l, &r->from, heads);
    mc_look_from(r->l, &r->from, width);
    g->state = r->bad ? 0 : mc_mul(&r->bad, mc_mul(&r->bad, heads.v, width.v), width.v);
    g->state_f32 = true;
    g->what = "lightning attention";
}

static void short_convolution(reader *r, mc_state_group *g)
{
    g->conv = mc_mul(&r->bad, mc_less_one(need(r, "conv_L_cache conv_l_cache")), hidden(r));
    g->what = "short convolution";
}

static void rwkv(reader *r, mc_state_group *g)
{
    uint64_t h = hidden(r);
    g->conv = 2 * h;
    g->state = mc_mul(&r->bad, h, need(r, "head_size head_dim"));
    g->state_f32 = true;
    g->what = "RWKV";
}

/* RWKV-4 keeps two shifts and three vectors of the time mix. */
static void rwkv4(reader *r, mc_state_group *g)
{
    g->conv = 2 * hidden(r);
    g->state = 3 * need(r, "attention_hidden_size");
    g->state_f32 = true;
    g->what = "RWKV";
}

static void rg_lru(reader *r, mc_state_group *g)
{
    uint64_t width = need(r, "lru_width");
    g->conv = mc_mul(&r->bad, mc_less_one(need(r, "conv1d_width")), width);
    g->state = width;
    g->state_f32 = true;
    g->what = "RG-LRU";
}

/* Inkling: short convolutions over keys and values, and twice over the hidden state. */
static void inkling(reader *r, mc_state_group *g)
{
    const mc_value *swa = r->windowed ? mc_get(r->l->family, "swa") : NULL;
    mc_num          heads = mc_look_member(r->l, swa, "heads", "num_key_value_heads"), width = mc_look_member(r->l, swa, "k", "head_dim");
    r->bad |= !mc_num_known(heads) || !mc_num_known(width) || heads.v > MC_MAX_HEADS || width.v > MC_MAX_WIDTH;
    g->conv = r->bad ? 0 : mc_mul(&r->bad, 2 * mc_less_one(need(r, "conv_kernel_size sconv_kernel_size")), mc_add(&r->bad, mc_mul(&r->bad, heads.v, width.v), hidden(r)));
    g->what = "short convolution";
}

/* Classes that name the type of their state, and families that fix it. */
static void element_type(const mc_look *l, mc_state_group *g)
{
    static const char *const keys[] = { "mamba_ssm_cache_dtype", "mamba_ssm_dtype" };
    for (size_t i = 0; i < MC_COUNT(keys); i++) {
        mc_str     s = mc_as_str(mc_get(l->text, keys[i]));
        mc_default d;
        if (s.n == 0 && mc_kb_default(l->kb, l->cls, keys[i], &d))
            s = mc_str_is(d.value, "\"float32\"") ? MC_STR("float32") : MC_STR("");
        if (s.n)
            g->state_f32 = mc_str_is(s, "float32");
    }
    g->state_f32 |= mc_flag(l->family, "state_f32");
}

void mc_look_state(mc_look *l, uint64_t layer, bool windowed)
{
    static const struct { const char *name; void (*read)(reader *, mc_state_group *); } kinds[] = {
        { "mamba", mamba }, { "mamba2", mamba2 }, { "gated-delta-net", gated_delta_net }, { "kda", kda }, { "lightning", lightning },
        { "short-convolution", short_convolution }, { "rwkv", rwkv }, { "rwkv4", rwkv4 }, { "rg-lru", rg_lru }, { "inkling", inkling },
    };
    reader         r = { .l = l, .windowed = windowed };
    mc_state_group g = { 0 };
    for (size_t i = 0; i < MC_COUNT(kinds); i++)
        if (mc_family_is(l->family, "state", kinds[i].name))
            kinds[i].read(&r, &g);
    if (r.bad || !g.what) {
        mc_shape_not(l->s, g.what ? mc_format(l->a, "the configuration does not give the size of the %s state", g.what)
                                  : MC_STR("layers with a recurrent state that this version does not know"));
        return;
    }
    element_type(l, &g);
    mc_shape_state(l->s, layer, &g, &r.from);
}
