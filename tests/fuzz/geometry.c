/* A config.json of any content: its geometry holds plausible numbers only, the groups of its shape add up to layers, and its
 * cache is a figure or a reason. */
#include "floor/shape.h"
#include "fuzz/fuzz.h"
#include "scan/scan.h"

static void check_shape(const mc_model *m, mc_kb *kb, mc_arena *a)
{
    mc_shape s;
    mc_shape_of(m, kb, a, &s);
    MUST(s.cache == MC_CACHE_COMPUTED ? s.n_keeps + s.n_states > 0 : s.reason.n > 0 && s.n_keeps + s.n_states == 0);
    MUST(s.n_keeps <= MC_MAX_KEEPS && s.n_states <= MC_MAX_STATES && s.n_assumptions <= MC_MAX_ASSUMPTIONS);
    uint64_t times = s.n_layers && s.n_keeps ? 2 : 1; /* LongCat: two caches in one layer */
    for (size_t g = 0; g < s.n_keeps; g++) {
        const mc_keep_group *k = &s.keeps[g];
        uint64_t             member = 0;
        for (uint64_t i = 0; i < s.n_layers; i++)
            member += s.layer_keeps[i] >> g & 1;
        MUST(k->layers > 0 && k->heads > 0 && k->k > 0 && k->n_from <= MC_COUNT(k->from) && k->formula.n > 0);
        MUST(k->mtp ? member == 0 : member > 0 && k->layers >= member && k->layers <= member * times);
        MUST((k->keep != MC_KEEP_WINDOW && k->keep != MC_KEEP_CHUNK && k->keep != MC_KEEP_COMPRESSED) || k->window > 0);
    }
    for (size_t g = 0; g < s.n_states; g++) {
        uint64_t member = 0;
        for (uint64_t i = 0; i < s.n_layers; i++)
            member += s.layer_states[i] >> g & 1;
        MUST(s.states[g].layers == member && s.states[g].what != NULL);
    }
}

static void check(const mc_model *m, mc_kb *kb, mc_arena *a, mc_floor_ask ask)
{
    mc_floor f;
    uint64_t sum = 0;
    mc_floor_compute(m, kb, &ask, a, &f);
    MUST(f.cache == MC_CACHE_COMPUTED ? !f.overflow : f.cache_reason.n > 0 && f.kv_bytes == 0 && f.n_caches == 0);
    for (size_t i = 0; i < f.n_caches; i++)
        sum += f.caches[i].k_bytes + f.caches[i].v_bytes;
    MUST(f.cache != MC_CACHE_COMPUTED || sum == f.kv_bytes);
    MUST(f.n_terms <= MC_MAX_TERMS && f.n_assumptions <= MC_MAX_ASSUMPTIONS && (!f.bound_known || f.cache == MC_CACHE_NOT_COMPUTED));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static mc_kb kb; /* decoded once */
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
    check_shape(&m, &kb, &a);
    check(&m, &kb, &a, (mc_floor_ask){ 0 });
    check(&m, &kb, &a, (mc_floor_ask){ .context = 100, .sequences = 7, .kv_k = "q8_0", .kv_v = "f16" });
    check(&m, &kb, &a, (mc_floor_ask){ .context = UINT64_MAX, .sequences = UINT64_MAX });
    mc_arena_free(&a);
    return 0;
}
