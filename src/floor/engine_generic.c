/* No engine in particular: the tokens asked for and nothing rounded. A window keeps at most its own length, a compressed cache
 * one row for each full group of tokens. What every engine needs at least. */
#include "floor/engine.h"

uint64_t mc_keep_cells(const mc_keep_group *k, uint64_t tokens)
{
    if (k->keep == MC_KEEP_WINDOW || k->keep == MC_KEEP_CHUNK)
        return k->window && k->window < tokens ? k->window : tokens;
    if (k->keep == MC_KEEP_COMPRESSED)
        return k->window ? tokens / k->window : tokens;
    return k->keep == MC_KEEP_CROSS ? k->window : tokens;
}

/* Bytes by which a sequence grows with a token. */
uint64_t mc_keep_growth(mc_job *j, const mc_keep_group *k, uint64_t layers, uint64_t row)
{
    if (k->keep == MC_KEEP_WINDOW || k->keep == MC_KEEP_CHUNK || k->keep == MC_KEEP_CROSS)
        return 0;
    uint64_t all = mc_times(j, layers, row);
    return k->keep == MC_KEEP_COMPRESSED && k->window ? all / k->window : all;
}

bool mc_plain_cache(mc_job *j, const mc_slice *s, const mc_keep_group *k, uint64_t layers, uint64_t cells, mc_sums *out)
{
    uint64_t heads = mc_heads_of_rank(k->heads, s->tp), row_k, row_v;
    if (!mc_row_bytes(j, j->f->kv_dtype_k, heads, k->k, &row_k) || !mc_row_bytes(j, j->f->kv_dtype_v, heads, k->v, &row_v))
        return false;
    mc_add_cache(j, out, k, layers, heads, cells, j->f->sequences, row_k, row_v);
    out->per_token = mc_plus(j, out->per_token, mc_keep_growth(j, k, layers, mc_plus(j, row_k, row_v)));
    return true;
}

static void cache(mc_job *j, const mc_slice *s, mc_sums *out)
{
    for (size_t g = 0; g < j->shape->n_keeps; g++) {
        const mc_keep_group *k = &j->shape->keeps[g];
        if (!k->mtp && !mc_plain_cache(j, s, k, mc_keep_layers(j->shape, g, s), mc_keep_cells(k, j->f->context), out))
            return;
    }
    mc_add_states(j, s, j->f->sequences, 2, 2, out);
}

const mc_engine mc_engine_generic = { .name = "generic", .follows_model = true, .cache = cache };
