/* floor.h - the memory floor: weights that would really be loaded + KV cache, every term with its formula and origin.
 * Where the cache of an architecture has a shape this version does not know, it says so: never a wrong number. */
#ifndef MODELCHECK_FLOOR_H
#define MODELCHECK_FLOOR_H
#include "kb/kb.h"
#include "model/gguf.h"
#include "model/model.h"

/* What --gpu says, as far as the floor needs it. */
typedef enum { MC_GPU_NONE /* not given */, MC_GPU_CUDA, MC_GPU_ROCM, MC_GPU_XPU, MC_GPU_CPU, MC_GPU_HPU, MC_GPU_OTHER } mc_gpu_kind;
typedef struct { mc_gpu_kind kind; unsigned capability; /* sm90: 90 */ } mc_gpu;

/* Switches of engines (--engine-option), by the engines' own names; 0, false, NULL: not given. */
typedef struct {
    bool     kv_unified, swa_full, flash_attn_off, repack, no_mmap;     /* llama.cpp */
    uint64_t ubatch, batch, state_copies;
    uint64_t block_size, batched_tokens, cache_bytes, speculative;      /* vllm; cache_bytes: kv-cache-memory-bytes */
    bool     prefix_caching, no_hybrid;
    const char *quantization;
    uint64_t total_tokens, mamba_slots, swa_ratio, page_size;           /* sglang; swa_ratio in millionths */
} mc_engine_switches;

typedef struct {
    uint64_t context;           /* tokens; 0: the model's own maximum, capped at 8192 */
    uint64_t sequences;         /* 0: 1 */
    const char *kv_k, *kv_v;    /* "f16", "q8_0", ...; NULL: the engine's default */
    const char *engine;         /* "llama.cpp", ...; NULL: generic */
    uint64_t tp, pp;            /* 0: 1 */
    bool     gpu_layers_given;  /* llama.cpp: how many layers go to the devices, UINT64_MAX: all; not given: no split is told */
    uint64_t gpu_layers;
    mc_gpu   gpu;
    mc_engine_switches switches;
} mc_floor_ask;

typedef struct { mc_str name; uint64_t bytes; mc_str formula; mc_str from[6]; size_t n_from; } mc_term; /* from: "config.json#/num_hidden_layers" */
typedef struct { const char *name; uint64_t layers, cells, streams, k_bytes, v_bytes; } mc_cache;       /* "full", "window", ... */
typedef struct { mc_str text; int64_t effect_bytes; } mc_assumption;
/* What one device holds. "gpu0", "gpu1", ..., "host". */
typedef struct { const char *name; uint64_t weights_bytes, kv_bytes, k_bytes, v_bytes, state_bytes, floor_bytes; } mc_device_floor;
/* The pool of an engine that divides memory in blocks before the first request; used: false for the others. 0: not known. */
typedef struct { bool used; uint64_t block_tokens, page_bytes, groups, blocks, blocks_per_request, tokens; } mc_pool;
typedef struct mc_floor_base mc_floor_base;
enum { MC_MAX_DEVICES = 64 };
enum { MC_MAX_TERMS = 32, MC_MAX_CACHES = 24, MC_MAX_ASSUMPTIONS = 16 };

typedef struct {
    const char *engine;                 /* "generic" */
    uint64_t    context, sequences;
    mc_str      kv_dtype_k, kv_dtype_v; /* "bf16" */
    bool        weights_known;
    uint64_t    weights_bytes;
    enum { MC_CACHE_COMPUTED, MC_CACHE_NOT_COMPUTED, MC_CACHE_NONE /* no attention cache: encoders, adapters, vocabularies */ } cache;
    mc_str      cache_reason;           /* why not computed, or why none; "" when computed */
    bool        bound_known;
    uint64_t    upper_bound_per_token;  /* all layers, full context, when standard keys exist */
    uint64_t    kv_bytes_per_token, kv_bytes, state_bytes, floor_bytes; /* kv: 0 unless computed */
    mc_term       terms[MC_MAX_TERMS];             size_t n_terms;
    mc_cache      caches[MC_MAX_CACHES];           size_t n_caches;
    mc_assumption assumptions[MC_MAX_ASSUMPTIONS]; size_t n_assumptions;
    mc_pool     pool;                   /* of one device */
    mc_device_floor devices[MC_MAX_DEVICES]; size_t n_devices; /* at least one; the figures above are sums over all of them */
    uint64_t    device_bytes;           /* floor of the fullest device, the host left out: what --vram is compared with */
    bool        overflow;               /* a product left 64 bits: then cache is NOT_COMPUTED */
} mc_floor;

/* Bits per element of a cache type name ("f32", "f16", "bf16", "fp8", "q8_0", "q4_0", ...) as block bytes and elements. */
bool mc_kv_type(mc_str name, uint32_t *block, uint32_t *bytes) MC_MUST_USE;
void mc_floor_compute(const mc_model *m, mc_kb *kb, const mc_floor_ask *ask, mc_arena *a, mc_floor *out);

/* The same in two steps. Engine, GPU and switches of `ask` must not change between the two. */
const mc_floor_base *mc_floor_prepare(const mc_model *m, mc_kb *kb, const mc_floor_ask *ask, mc_arena *a); /* NULL: out of memory */
void mc_floor_answer(const mc_floor_base *base, const mc_floor_ask *ask, mc_arena *a, mc_floor *out);

bool mc_engine_known(const char *name);                       /* "vllm" */

#endif
