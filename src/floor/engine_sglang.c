/* SGLang: one row for every token of the pool and a page more; K and V in buffers of their own. Layers with a window have a pool of
 * their own, a share of the other (--swa-full-tokens-ratio). States have a slot for each running request and one more. Index keys
 * of DeepSeek-V3.2 are fp8 with a scale for each 128 values. */
#include "floor/engine.h"

enum { RATIO = 800000 /* of a million: the default share of the window pool */ };

static uint64_t share(mc_job *j, uint64_t rows)
{
    uint64_t ratio = j->ask->switches.swa_ratio ? j->ask->switches.swa_ratio : RATIO, part;
    if (ckd_mul(&part, rows, ratio))
        return rows / 1000000 * ratio;
    return part / 1000000;
}

static bool has_compressed(const mc_shape *shape)
{
    for (size_t g = 0; g < shape->n_keeps; g++)
        if (shape->keeps[g].keep == MC_KEEP_COMPRESSED)
            return true;
    return false;
}

static bool full_rows(mc_job *j, const mc_slice *s)
{
    for (size_t g = 0; g < j->shape->n_keeps; g++) {
        mc_keep keep = j->shape->keeps[g].keep;
        if (!j->shape->keeps[g].mtp && mc_keep_layers(j->shape, g, s) && (keep == MC_KEEP_FULL || keep == MC_KEEP_LATENT))
            return true;
    }
    return false;
}

static void cache(mc_job *j, const mc_slice *s, mc_sums *out)
{
    const mc_engine_switches *o = &j->ask->switches;
    uint64_t page = o->page_size ? o->page_size : 1, asked = mc_times(j, j->f->context, j->f->sequences);
    uint64_t tokens = mc_up(j, o->total_tokens ? o->total_tokens : asked, page), slots = o->mamba_slots ? o->mamba_slots : j->f->sequences;
    bool     hybrid = full_rows(j, s), exact = has_compressed(j->shape); /* how it lays out DeepSeek-V4 is not known: the rows themselves */
    for (size_t g = 0; g < j->shape->n_keeps; g++) {
        const mc_keep_group *k = &j->shape->keeps[g];
        uint64_t layers = mc_keep_layers(j->shape, g, s), row_k, row_v, rows = mc_plus(j, tokens, page), heads = mc_heads_of_rank(k->heads, s->tp);
        if (k->mtp || layers == 0)
            continue;
        if (exact || k->keep == MC_KEEP_CROSS) {
            if (!mc_plain_cache(j, s, k, layers, mc_keep_cells(k, j->f->context), out))
                return;
            continue;
        }
        if ((k->keep == MC_KEEP_WINDOW || k->keep == MC_KEEP_CHUNK) && hybrid)
            rows = mc_plus(j, share(j, tokens), page);
        if (!mc_server_row(j, k, heads, &row_k, &row_v))
            return;
        mc_add_cache(j, out, k, layers, heads, rows, 1, row_k, row_v);
        out->per_token = mc_plus(j, out->per_token, mc_keep_growth(j, k, layers, mc_plus(j, row_k, row_v)));
    }
    mc_add_states(j, s, mc_plus(j, slots, 1), 2, 2, out);
    out->pool = (mc_pool){ .used = true, .block_tokens = page, .page_bytes = mc_times(j, out->per_token, page), .groups = 1,
                           .blocks = o->total_tokens ? tokens / page : 0, .blocks_per_request = mc_ceil_div(j->f->context, page),
                           .tokens = o->total_tokens ? tokens : 0 };
}

const mc_engine mc_engine_sglang = { .name = "sglang", .follows_model = true, .skips_mtp = true, .narrows = true, .cache = cache };
