/* model_of.h - a model made of one configuration text, for tests of geometry and floor. */
#ifndef MODELCHECK_TEST_MODEL_OF_H
#define MODELCHECK_TEST_MODEL_OF_H
#include "unit.h"

#include "floor/floor.h"
#include "model/gguf.h"
#include "scan/scan.h"

typedef struct { mc_arena arena; mc_kb kb; mc_model model; mc_file file; mc_component component; mc_doc doc; mc_gguf gguf; } fixture;

static inline void fixture_init(fixture *f)
{
    memset(f, 0, sizeof *f);
    f->arena = arena_new();
    assert_int_equal(mc_kb_init(&f->kb).code, MC_OK);
    f->model = (mc_model){ .arena = &f->arena, .files = &f->file, .n_files = 1, .components = &f->component, .n_components = 1 };
    f->component = (mc_component){ .index = MC_NONE, .set = MC_NONE };
    for (size_t i = 0; i < MC_N_ROLES; i++)
        f->component.docs[i] = MC_NONE;
}

static inline void fixture_free(fixture *f)
{
    mc_kb_free(&f->kb);
    mc_arena_free(&f->arena);
}

/* The model that config.json (or params.json) of this text makes, with its geometry. */
static inline mc_model *model_of(fixture *f, mc_role role, const char *json)
{
    mc_err err;
    fixture_init(f);
    f->file.path = f->file.base = role == MC_ROLE_CONFIG ? S("config.json") : S("params.json");
    f->component.docs[role] = 0;
    f->doc = (mc_doc){ .file = 0, .role = role, .root = mc_json_tree(&f->arena, SPAN(json), &err, NULL) };
    assert_non_null(f->doc.root);
    f->model.docs = &f->doc;
    f->model.n_docs = 1;
    mc_geometry(&f->model, &f->kb);
    return &f->model;
}

/* ---- the same for GGUF keys ---- */

static inline mc_gguf_kv gguf_u32(const char *key, uint64_t v)
{
    return (mc_gguf_kv){ .key = S(key), .type = MC_GGUF_U32, .n = 1, .u = v, .i = (int64_t)v };
}

static inline mc_gguf_kv gguf_text(const char *key, const char *v)
{
    return (mc_gguf_kv){ .key = S(key), .type = MC_GGUF_STRING, .n = 1, .s = S(v) };
}

static inline mc_gguf_kv gguf_list(const char *key, const uint32_t *v, size_t n) /* in the order of this machine, which is little-endian */
{
    return (mc_gguf_kv){ .key = S(key), .type = MC_GGUF_ARRAY, .element = MC_GGUF_U32, .n = n, .raw = { (const uint8_t *)v, n * 4 } };
}

static inline mc_model *model_of_keys(fixture *f, mc_gguf_kv *kv, size_t n)
{
    fixture_init(f);
    f->file.path = f->file.base = S("model.gguf");
    f->gguf = (mc_gguf){ .version = 3, .kv = kv, .n = n, .n_kv = n, .fault = MC_GGUF_SOUND };
    assert_true(mc_strset_init(&f->gguf.keys, &f->arena, n));
    for (size_t i = 0; i < n; i++)
        mc_strset_add(&f->gguf.keys, kv[i].key, NULL);
    f->model.unit = MC_UNIT_GGUF;
    f->model.kind = MC_KIND_CAUSAL_LM;
    f->model.gguf = &f->gguf;
    mc_geometry(&f->model, &f->kb);
    return &f->model;
}

#endif
