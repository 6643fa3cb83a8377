/* limits.h - every bound this program sets itself, with its reason. Reaching one is a result (MC901), never a crash. */
#ifndef MODELCHECK_LIMITS_H
#define MODELCHECK_LIMITS_H

/* Memory of one model. The largest published headers (92,000 tensors) need about 40 MiB. */
#define MC_MAX_ARENA ((size_t)1 << 30)
/* The safetensors reference refuses longer headers (safetensors/src/tensor.rs, MAX_HEADER_SIZE). */
#define MC_MAX_ST_HEADER UINT64_C(100000000)
/* Vocabularies of 262,144 tokens with merges take about 15 MB of a GGUF header. */
#define MC_MAX_GGUF_HEADER (UINT64_C(256) << 20)
/* Largest published index: 9 MB. tokenizer.json reaches 35 MB. */
#define MC_MAX_DOCUMENT (UINT64_C(256) << 20)
/* serde_json stops at 128, Python's json near 1,000; real configurations stay below 10. */
#define MC_MAX_JSON_DEPTH 64
/* PyTorch's own dispatcher keeps 5, NumPy 32; no published weight has more than 6. */
#define MC_MAX_RANK 16
/* Directory walk. */
#define MC_MAX_DEPTH 16
#define MC_MAX_ENTRIES 100000
/* A Git LFS pointer is below 1,024 bytes (git-lfs, docs/spec.md), and every magic lies in the first 16. */
#define MC_HEAD_BYTES 1024
/* How much of two matrices the tied-head comparison reads (rule MC457). */
#define MC_TIED_COMPARE_BYTES (UINT64_C(64) << 20)

#endif
