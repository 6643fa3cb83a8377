/* vLLM V1: a pool of blocks, made before the first request; a request takes whole blocks. Sources: kv_cache_interface and
 * kv_cache_utils (2025-2026), checked against printed pools (docs/memory.md).
 *
 * Layers of one kind: one group, a block of all layers holds `block` tokens. Layers of several kinds: every kind is cut into
 * groups of `g` layers, g the smallest number of layers of a kind (the largest if it is less than half as much again), and all
 * groups take pages of one size from one pool; narrow layers get more tokens into a page. With recurrent states the attention
 * block grows until it holds a state, and each request holds a state in each group of recurrent layers. */
#include "floor/engine.h"

enum { BLOCK = 16, BLOCK_LATENT_HYBRID = 64, BLOCK_CPU_HPU = 128, BATCHED_TOKENS = 2048 };

/* ---- rows ------------------------------------------------------------------------------------------------- */

static bool has(const mc_shape *shape, mc_keep keep)
{
    for (size_t g = 0; g < shape->n_keeps; g++)
        if (shape->keeps[g].keep == keep)
            return true;
    return false;
}

static bool fp8(mc_str type)
{
    return mc_str_is(type, "fp8_ds_mla") || mc_str_is(type, "fp8") || mc_str_is(type, "fp8_e4m3");
}

bool mc_server_row(mc_job *j, const mc_keep_group *k, uint64_t heads, uint64_t *row_k, uint64_t *row_v)
{
    mc_str k_type = j->f->kv_dtype_k;
    bool   dsa = has(j->shape, MC_KEEP_LATENT) && has(j->shape, MC_KEEP_INDEX), own = mc_str_is(k_type, "fp8_ds_mla");
    *row_v = 0;
    if (k->keep == MC_KEEP_INDEX && dsa) { /* always fp8, whatever the type of the cache */
        *row_k = mc_times(j, heads, mc_plus(j, k->k, mc_times(j, mc_ceil_div(k->k, 128), 4)));
        return true;
    }
    if (k->keep == MC_KEEP_LATENT && k->k == 576 && (own || (dsa && fp8(k_type)))) {
        *row_k = 512 + 4 * 4 + 64 * 2;
        return true;
    }
    if (own) {
        j->refusal = MC_STR("fp8_ds_mla is a row of a latent of 512 and 64 elements");
        return false;
    }
    return mc_row_bytes(j, k_type, heads, k->k, row_k) && mc_row_bytes(j, j->f->kv_dtype_v, heads, k->v, row_v);
}

/* ---- layers of one kind ----------------------------------------------------------------------------------- */

typedef struct { const mc_keep_group *group; mc_keep kind; uint64_t window, layers, heads, row_k, row_v, row, block; } spec;
typedef struct {
    mc_job   *j;
    mc_slice  s;
    mc_sums  *out;
    spec      specs[MC_MAX_KEEPS]; size_t n;
    bool      paged;            /* every kind is one that the allocator divides into blocks */
    uint64_t  block, states, state_page, slots;
    uint64_t  blocks_per_request, page, groups;
} plan;

static uint64_t speculative(const plan *p)
{
    return p->j->ask->switches.speculative;
}

static bool add_spec(plan *p, const mc_keep_group *k, uint64_t layers)
{
    mc_job *j = p->j;
    spec    x = { .group = k, .kind = k->keep, .window = k->window, .layers = layers, .heads = mc_heads_of_rank(k->heads, p->s.tp), .block = p->block };
    if (k->keep == MC_KEEP_INDEX || k->keep == MC_KEEP_LATENT)
        x.kind = MC_KEEP_FULL;
    if ((x.kind == MC_KEEP_WINDOW || x.kind == MC_KEEP_CHUNK) && (j->ask->switches.no_hybrid || x.window == 0))
        x.kind = MC_KEEP_FULL;
    if (x.kind == MC_KEEP_FULL)
        x.window = 0;
    p->paged &= x.kind == MC_KEEP_FULL || x.kind == MC_KEEP_WINDOW || x.kind == MC_KEEP_CHUNK;
    if (!mc_server_row(j, k, x.heads, &x.row_k, &x.row_v))
        return false;
    x.row = mc_plus(j, x.row_k, x.row_v);
    p->out->per_token = mc_plus(j, p->out->per_token, x.kind == MC_KEEP_FULL ? mc_times(j, layers, x.row) : mc_keep_growth(j, k, layers, x.row));
    for (size_t i = 0; i < p->n; i++)
        if (p->specs[i].kind == x.kind && p->specs[i].window == x.window && p->specs[i].row_k == x.row_k && p->specs[i].row_v == x.row_v) {
            p->specs[i].layers += layers;
            return true;
        }
    p->specs[p->n++] = x;
    return true;
}

static bool gather(plan *p)
{
    for (size_t g = 0; g < p->j->shape->n_keeps; g++) {
        const mc_keep_group *k = &p->j->shape->keeps[g];
        uint64_t             layers = mc_keep_layers(p->j->shape, g, &p->s);
        if (layers && (!k->mtp || speculative(p)) && !add_spec(p, k, layers))
            return false;
    }
    return true;
}

static uint64_t blocks_of(plan *p, const spec *x)
{
    uint64_t batched = p->j->ask->switches.batched_tokens ? p->j->ask->switches.batched_tokens : BATCHED_TOKENS, len = p->j->f->context, held;
    if (x->kind == MC_KEEP_FULL)
        return mc_ceil_div(len, x->block);
    held = mc_plus(p->j, x->kind == MC_KEEP_WINDOW ? x->window - 1 : x->window, batched);
    return mc_ceil_div(held < len ? held : len, x->block) + (x->kind == MC_KEEP_WINDOW);
}

static void list(plan *p, const spec *x, uint64_t cells)
{
    mc_keep_group k = *x->group;
    if (x->kind == MC_KEEP_FULL && (k.keep == MC_KEEP_WINDOW || k.keep == MC_KEEP_CHUNK)) /* by --disable-hybrid-kv-cache-manager */
        k.keep = MC_KEEP_FULL;
    mc_add_cache(p->j, p->out, &k, x->layers, x->heads, cells, p->j->f->sequences, x->row_k, x->row_v);
}

/* What the blocks hold beyond the caches that were listed. */
static void settle(plan *p, uint64_t kv)
{
    mc_sums *o = p->out;
    if (kv > o->kv) {
        o->padding = kv - o->kv;
        o->kv = kv;
    }
}

static uint64_t layers_per_group(uint64_t smallest, uint64_t largest)
{
    return largest < smallest + (smallest + 1) / 2 ? largest : smallest; /* largest < 1.5 * smallest */
}

/* Full caches of any widths, or windows of one kind: one group. */
static void one_group(plan *p)
{
    uint64_t row = 0, blocks = blocks_of(p, &p->specs[0]);
    for (size_t i = 0; i < p->n; i++) {
        row = mc_plus(p->j, row, mc_times(p->j, p->specs[i].layers, p->specs[i].row));
        list(p, &p->specs[i], mc_times(p->j, blocks, p->block));
    }
    p->page = mc_times(p->j, row, p->block);
    p->groups = 1;
    p->blocks_per_request = blocks;
}

/* Several kinds: pages of one size, groups of g layers. False: the pages cannot be made equal. */
static bool many_groups(plan *p)
{
    uint64_t widest = 0, smallest = UINT64_MAX, largest = 0;
    for (size_t i = 0; i < p->n; i++) {
        const spec *x = &p->specs[i];
        widest = x->row > widest ? x->row : widest;
        smallest = x->layers < smallest ? x->layers : smallest;
        largest = x->layers > largest ? x->layers : largest;
    }
    uint64_t g = layers_per_group(smallest, largest);
    for (size_t i = 0; i < p->n; i++) {
        if (p->specs[i].row == 0 || widest % p->specs[i].row != 0)
            return false;
        p->specs[i].block = mc_times(p->j, p->block, widest / p->specs[i].row);
    }
    p->page = mc_times(p->j, mc_times(p->j, widest, p->block), g);
    for (size_t i = 0; i < p->n; i++) {
        uint64_t groups = mc_ceil_div(p->specs[i].layers, g), blocks = blocks_of(p, &p->specs[i]);
        p->groups += groups;
        p->blocks_per_request = mc_plus(p->j, p->blocks_per_request, mc_times(p->j, groups, blocks));
        list(p, &p->specs[i], mc_times(p->j, blocks, p->specs[i].block));
    }
    settle(p, mc_times(p->j, mc_times(p->j, p->blocks_per_request, p->page), p->j->f->sequences));
    return true;
}

/* The allocator's rules do not reach this far: exact rows in whole blocks, and no pool. */
static void exact(plan *p)
{
    p->out->n_caches = p->out->n_terms = 0;
    p->out->kv = p->out->k = p->out->v = p->out->padding = 0;
    p->groups = 0;
    for (size_t i = 0; i < p->n; i++) {
        spec    *x = &p->specs[i];
        x->block = p->block;
        uint64_t cells = x->kind == MC_KEEP_FULL ? mc_up(p->j, p->j->f->context, p->block) : mc_keep_cells(x->group, p->j->f->context);
        list(p, x, cells);
    }
}

/* ---- recurrent states ------------------------------------------------------------------------------------- */

/* Rows of a convolution's state are its kernel less one: speculation adds a row for each token ahead. */
static uint64_t with_ahead(plan *p, uint64_t conv)
{
    uint64_t kernel = p->j->base->conv_kernel, ahead = speculative(p);
    if (ahead == 0 || kernel < 2)
        return conv;
    return mc_times(p->j, conv / (kernel - 1), mc_plus(p->j, kernel - 1, ahead));
}

static void gather_states(plan *p)
{
    mc_job *j = p->j;
    p->slots = 1 + speculative(p) + j->ask->switches.prefix_caching;
    for (size_t g = 0; g < j->shape->n_states; g++) {
        const mc_state_group *st = &j->shape->states[g];
        uint64_t layers = mc_state_layers(j->shape, g, &p->s), n = mc_times(j, mc_times(j, layers, p->slots), j->f->sequences);
        bool     f32 = st->state_f32 && !(j->base->state_16 && mc_str_is(mc_str_of(st->what), "gated delta net")); /* KDA is f32 by its kernels */
        uint64_t conv = mc_times(j, with_ahead(p, mc_ceil_div(st->conv, p->s.tp)), st->conv_f32 ? 4 : 2);
        uint64_t state = mc_times(j, mc_ceil_div(st->state, p->s.tp), f32 ? 4 : 2), page = mc_plus(j, conv, state);
        if (layers == 0)
            continue;
        p->states += layers;
        p->state_page = page > p->state_page ? page : p->state_page;
        p->out->conv = mc_plus(j, p->out->conv, mc_times(j, n, conv));
        p->out->state = mc_plus(j, p->out->state, mc_times(j, n, state));
        if (conv)
            mc_more_formula(j, &p->out->conv_formula, mc_format(j->a, "%llu*%llu", (unsigned long long)n, (unsigned long long)conv));
        if (state)
            mc_more_formula(j, &p->out->state_formula, mc_format(j->a, "%llu*%llu", (unsigned long long)n, (unsigned long long)state));
    }
}

/* One kind of full attention beside recurrent layers. False: anything else. */
static bool hybrid(plan *p)
{
    mc_job  *j = p->j;
    spec    *x = &p->specs[0];
    uint64_t layers = 0;
    for (size_t i = 0; i < p->n; i++) {
        layers += p->specs[i].layers;
        if (p->specs[i].kind != MC_KEEP_FULL || p->specs[i].row != x->row || p->specs[i].row == 0)
            return false;
    }
    uint64_t unit = x->group->keep == MC_KEEP_LATENT && p->block < BLOCK_LATENT_HYBRID ? BLOCK_LATENT_HYBRID : p->block;
    uint64_t g = layers_per_group(layers < p->states ? layers : p->states, layers < p->states ? p->states : layers);
    uint64_t bytes = mc_times(j, unit, x->row), block = mc_times(j, unit, mc_ceil_div(p->state_page, bytes));
    uint64_t attention = mc_ceil_div(layers, g), recurrent = mc_ceil_div(p->states, g), blocks;
    for (size_t i = 0; i < p->n; i++)
        list(p, &p->specs[i], mc_up(j, j->f->context, p->block));
    p->block = block;
    blocks = mc_times(j, attention, mc_ceil_div(j->f->context, block));
    p->page = mc_times(j, g, mc_times(j, block, x->row));
    p->groups = attention + recurrent;
    p->blocks_per_request = mc_plus(j, blocks, mc_times(j, recurrent, p->slots));
    settle(p, mc_times(j, mc_times(j, blocks, p->page), j->f->sequences));
    uint64_t held = mc_times(j, mc_times(j, mc_times(j, recurrent, p->slots), p->page), j->f->sequences), own = mc_plus(j, p->out->conv, p->out->state);
    p->out->state_padding = held > own ? held - own : 0;
    return true;
}

/* ---- all of it -------------------------------------------------------------------------------------------- */

static bool one_kind(const plan *p)
{
    for (size_t i = 1; i < p->n; i++) {
        const spec *a = &p->specs[0], *b = &p->specs[i];
        if (a->kind != b->kind || a->window != b->window)
            return false;
    }
    return true;
}

static void pool(plan *p)
{
    mc_job  *j = p->j;
    mc_pool *o = &p->out->pool;
    uint64_t bytes = j->ask->switches.cache_bytes, product;
    *o = (mc_pool){ .used = true, .block_tokens = p->block, .page_bytes = p->page, .groups = p->groups, .blocks_per_request = p->blocks_per_request };
    if (bytes == 0 || p->page == 0 || p->blocks_per_request == 0)
        return;
    o->blocks = bytes / p->page;
    if (!ckd_mul(&product, o->blocks, j->f->context))
        o->tokens = product / p->blocks_per_request;
}

static void cache(mc_job *j, const mc_slice *s, mc_sums *out)
{
    plan p = { .j = j, .s = *s, .out = out, .paged = true, .block = j->ask->switches.block_size };
    bool done = false;
    if (p.block == 0)
        p.block = j->ask->gpu.kind == MC_GPU_CPU || j->ask->gpu.kind == MC_GPU_HPU ? BLOCK_CPU_HPU : BLOCK;
    if (!gather(&p))
        return;
    gather_states(&p);
    if (p.n == 0)
        return;
    if (p.paged && p.states == 0 && one_kind(&p)) {
        one_group(&p);
        done = true;
    } else if (p.paged) {
        done = p.states ? hybrid(&p) : many_groups(&p);
    }
    if (done)
        pool(&p);
    else
        exact(&p);
}

const mc_engine mc_engine_vllm = { .name = "vllm", .follows_model = true, .skips_mtp = true, .narrows = true, .cache = cache };
