/* A config.json of any content: its geometry holds plausible numbers only, and its cache is a figure that adds up or a reason. */
#include "floor/floor.h"
#include "fuzz/fuzz.h"
#include "scan/scan.h"

static void check(const mc_model *m, const mc_kb *kb, mc_arena *a, mc_floor_ask ask)
{
    mc_floor f;
    mc_floor_compute(m, kb, &ask, a, &f);
    MUST(f.cache == MC_CACHE_COMPUTED ? f.n_caches == 1 && !f.overflow : f.cache_reason.n > 0 && f.kv_bytes == 0 && f.n_caches == 0);
    MUST(f.cache != MC_CACHE_COMPUTED || f.caches[0].k_bytes + f.caches[0].v_bytes == f.kv_bytes);
    MUST(f.cache != MC_CACHE_COMPUTED || f.kv_bytes / f.context / f.sequences == f.kv_bytes_per_token);
    MUST(f.n_terms <= MC_MAX_TERMS && f.n_assumptions <= MC_MAX_ASSUMPTIONS && (!f.bound_known || f.cache == MC_CACHE_NOT_COMPUTED));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static mc_kb kb; /* decoded once: geometry and floor only read it */
    if (!kb.dtypes)
        MUST(mc_kb_init(&kb).code == MC_OK);
    mc_arena     a;
    mc_err       e;
    mc_file      file = { .path = MC_STR("config.json"), .base = MC_STR("config.json") };
    mc_component c = { .index = MC_NONE, .set = MC_NONE };
    mc_arena_init(&a, (size_t)1 << 26);
    mc_doc   doc = { .file = 0, .role = MC_ROLE_CONFIG, .root = mc_json_tree(&a, (mc_span){ bytes, n }, &e, NULL) };
    mc_model m = { .arena = &a, .files = &file, .n_files = 1, .components = &c, .n_components = 1, .docs = &doc, .n_docs = 1 };
    for (size_t i = 0; i < MC_N_ROLES; i++)
        c.docs[i] = MC_NONE;
    c.docs[MC_ROLE_CONFIG] = 0;
    mc_geometry(&m, &kb);
    mc_infer(&m, &kb);
    const mc_int *facts[] = { &m.arch.layers, &m.arch.hidden, &m.arch.heads, &m.arch.kv_heads, &m.arch.head_dim, &m.arch.vocab, &m.arch.context };
    for (size_t i = 0; i < MC_COUNT(facts); i++)
        MUST(!facts[i]->known || (facts[i]->v > 0 && facts[i]->from.where.n > 0));
    check(&m, &kb, &a, (mc_floor_ask){ 0 });
    check(&m, &kb, &a, (mc_floor_ask){ .context = 100, .sequences = 7, .kv_k = "q8_0", .kv_v = "f16" });
    check(&m, &kb, &a, (mc_floor_ask){ .context = UINT64_MAX, .sequences = UINT64_MAX });
    mc_arena_free(&a);
    return 0;
}
