/* Transformers (DynamicCache, read in 4.57 and 5.23): the keys and values of all tokens in the type of the model; a layer with a
 * window keeps the last window - 1 of them, and latents are kept decompressed, for every head. */
#include "floor/engine.h"

static void cache(mc_job *j, const mc_slice *s, mc_sums *out)
{
    for (size_t g = 0; g < j->shape->n_keeps; g++) {
        mc_keep_group k = j->shape->keeps[g];
        uint64_t      tokens = j->f->context;
        if (k.mtp)
            continue;
        if (k.keep == MC_KEEP_LATENT && k.decompressed_heads) {
            k.keep = MC_KEEP_FULL;
            k.heads = k.decompressed_heads;
            k.k = k.decompressed_k;
            k.v = k.decompressed_v;
        }
        if ((k.keep == MC_KEEP_WINDOW || k.keep == MC_KEEP_CHUNK) && k.window > 1)
            k.window--;
        if (!mc_plain_cache(j, s, &k, mc_keep_layers(j->shape, g, s), mc_keep_cells(&k, tokens), out))
            return;
    }
    uint64_t bytes = mc_str_is(j->f->kv_dtype_k, "f32") ? 4 : 2;
    mc_add_states(j, s, j->f->sequences, bytes, bytes, out);
}

const mc_engine mc_engine_transformers = { .name = "transformers", .follows_model = true, .skips_mtp = true, .cache = cache };
