/* llama.cpp (build 11549, measured on a CPU; sources of b7847 and b10256): --context is the size of the whole cache (-c), cut
 * into one stream a sequence unless it is unified (-kvu, or slots left to the server). Sizes are padded to 256 cells; a window
 * has room for a micro batch more; states are f32; prediction layers have no cache. DeepSeek-V4 keeps a stream for each sequence,
 * unified or not. */
#include "floor/engine.h"

enum { PAD = 256, UBATCH = 512, BATCH = 2048 };

typedef struct { uint64_t cells, streams, in_window, ubatch; bool own_streams; } layout;

static layout layout_of(mc_job *j)
{
    const mc_engine_switches *o = &j->ask->switches;
    uint64_t all = mc_up(j, j->f->context, PAD), seqs = j->f->sequences;
    layout   l = { .cells = all, .streams = 1, .in_window = seqs };
    uint64_t ubatch = o->ubatch ? o->ubatch : UBATCH, batch = o->batch ? o->batch : BATCH;
    l.ubatch = ubatch < batch ? ubatch : batch;
    l.ubatch = l.ubatch < all ? l.ubatch : all;
    for (size_t g = 0; g < j->shape->n_keeps; g++)
        l.own_streams |= j->shape->keeps[g].keep == MC_KEEP_COMPRESSED;
    if (!o->kv_unified) {
        l.cells = mc_up(j, all / seqs ? all / seqs : 1, PAD);
        l.in_window = 1;
    }
    if (!o->kv_unified || l.own_streams)
        l.streams = seqs;
    return l;
}

static mc_keep_group as_kept(const mc_keep_group *k)
{
    mc_keep_group        r = *k;
    const mc_keep_llama *l = &k->llama;
    if (k->keep == MC_KEEP_CROSS && !l->differs)
        r.layers = 0; /* it keeps no cross cache */
    if (l->differs) {
        r.keep = l->keep;
        r.layers = l->layers;
        r.heads = l->heads;
        r.k = l->k;
        r.v = l->v;
        r.window = l->window;
    }
    return r;
}

static uint64_t cells_of(mc_job *j, const mc_keep_group *k, const layout *l)
{
    if (k->keep == MC_KEEP_COMPRESSED)
        return mc_up(j, mc_ceil_div(l->cells, k->window ? k->window : 1), PAD);
    if ((k->keep != MC_KEEP_WINDOW && k->keep != MC_KEEP_CHUNK) || k->window == 0 || j->ask->switches.swa_full)
        return l->cells;
    uint64_t room = mc_plus(j, mc_times(j, k->window, l->in_window), l->ubatch);
    return mc_up(j, room < l->cells ? room : l->cells, PAD);
}

/* Without flash attention the rows of V are as wide as the widest of any layer. */
static uint64_t widest(const mc_job *j)
{
    uint64_t w = 0;
    for (size_t g = 0; g < j->shape->n_keeps; g++) {
        mc_keep_group k = as_kept(&j->shape->keeps[g]);
        uint64_t      own;
        if (!k.mtp && k.layers && k.keep != MC_KEEP_INDEX && !ckd_mul(&own, k.heads, k.v) && own > w)
            w = own;
    }
    return w;
}

static bool in_blocks(mc_str type)
{
    uint32_t block, bytes;
    return mc_kv_type(type, &block, &bytes) && block > 1;
}

/* What the program refuses before it allocates anything. */
static bool accepted(mc_job *j, const mc_keep_group *k)
{
    const mc_str types[] = { j->f->kv_dtype_k, j->f->kv_dtype_v };
    uint64_t     widths[] = { k->k, k->v };
    for (int i = 0; i < 2; i++) {
        uint32_t block, bytes;
        if (mc_kv_type(types[i], &block, &bytes) && widths[i] % block) {
            j->refusal = mc_format(j->a, "llama.cpp refuses it: cache type %.*s with blocks of %u does not divide a head of %llu", MC_FMT(types[i]), block,
                                   (unsigned long long)widths[i]);
            return false;
        }
    }
    if ((k->keep == MC_KEEP_LATENT || k->keep == MC_KEEP_COMPRESSED) && !mc_str_eq(types[0], types[1]))
        j->refusal = MC_STR("llama.cpp refuses it: a cache without values wants one type for K and V");
    if (in_blocks(types[1]) && j->ask->switches.flash_attn_off && k->v)
        j->refusal = MC_STR("llama.cpp refuses it: a quantized V cache needs flash attention");
    return j->refusal.n == 0;
}

static uint64_t layers_of(mc_job *j, size_t g, const mc_keep_group *k, const mc_slice *s)
{
    uint64_t own = j->shape->keeps[g].layers, here = mc_keep_layers(j->shape, g, s);
    return own == k->layers || own == 0 ? here : mc_times(j, k->layers, here) / own;
}

static void states(mc_job *j, const mc_slice *s, mc_sums *out)
{
    uint64_t slots = mc_times(j, j->f->sequences, mc_plus(j, 1, j->ask->switches.state_copies));
    mc_shape shape = *j->shape;
    mc_job   all_f32 = *j;
    for (size_t g = 0; g < shape.n_states; g++)
        shape.states[g].conv_f32 = shape.states[g].state_f32 = true;
    all_f32.shape = &shape;
    mc_add_states(&all_f32, s, slots, 4, 4, out);
    j->overflow |= all_f32.overflow;
}

/* DeepSeek-V4: values and scores of the tokens that are not yet compressed, f32; where groups overlap (a ratio of 4), two groups of
 * two rows. */
static void compressors(mc_job *j, const mc_slice *s, mc_sums *out)
{
    for (size_t g = 0; g < j->shape->n_keeps; g++) {
        const mc_keep_group *k = &j->shape->keeps[g];
        uint64_t             layers = mc_keep_layers(j->shape, g, s), each = mc_times(j, k->window, k->k);
        if (k->keep != MC_KEEP_COMPRESSED || layers == 0)
            continue;
        each = mc_times(j, k->window == 4 ? mc_times(j, 4, each) : each, 2);
        uint64_t n = mc_times(j, layers, j->f->sequences);
        out->state = mc_plus(j, out->state, mc_times(j, n, mc_times(j, each, 4)));
        mc_more_formula(j, &out->state_formula, mc_format(j->a, "%llu*%llu*4*%llu", (unsigned long long)layers, (unsigned long long)each,
                                                          (unsigned long long)j->f->sequences));
    }
}

static void cache(mc_job *j, const mc_slice *s, mc_sums *out)
{
    layout   l = layout_of(j);
    uint64_t wide = j->ask->switches.flash_attn_off ? widest(j) : 0;
    for (size_t g = 0; g < j->shape->n_keeps; g++) {
        mc_keep_group k = as_kept(&j->shape->keeps[g]);
        uint64_t      row_k, row_v, layers = layers_of(j, g, &k, s), cells = cells_of(j, &k, &l), heads = k.heads, v = k.v;
        if (k.mtp || k.layers == 0)
            continue;
        if (!accepted(j, &k))
            return;
        if (wide && v && k.keep != MC_KEEP_INDEX && mc_times(j, heads, v) < wide) {
            if (!mc_row_bytes(j, j->f->kv_dtype_v, 1, wide, &row_v))
                return;
        } else if (!mc_row_bytes(j, j->f->kv_dtype_v, heads, v, &row_v)) {
            return;
        }
        if (!mc_row_bytes(j, j->f->kv_dtype_k, heads, k.k, &row_k))
            return;
        mc_add_cache(j, out, &k, layers, heads, cells, l.streams, row_k, row_v);
        out->per_token = mc_plus(j, out->per_token, mc_keep_growth(j, &k, layers, mc_plus(j, row_k, row_v)));
    }
    states(j, s, out);
    compressors(j, s, out);
}

const mc_engine mc_engine_llama = { .name = "llama.cpp", .skips_mtp = true, .cache = cache };
