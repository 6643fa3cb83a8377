/* gguf.h - what the two halves of the GGUF parser share: the walk over metadata (gguf.c) and over tensors (gguf_tensors.c). */
#ifndef MODELCHECK_FORMATS_GGUF_H
#define MODELCHECK_FORMATS_GGUF_H
#include "formats/formats.h"

/* The reference loader refuses longer strings and arrays (ggml/src/gguf.cpp). */
#define MC_GGUF_MAX_LENGTH (UINT64_C(1) << 30)

typedef struct {
    mc_reader    r;
    mc_gguf     *g;
    mc_arena    *a;
    const mc_kb *kb;
    uint64_t     guess;         /* where the header may end, when the prefix turns out too short */
} mc_gguf_walk;

/* Records the first fault; always false. */
bool mc_gguf_fail(mc_gguf_walk *w, mc_gguf_fault kind, uint64_t at, const char *what, mc_str subject);
bool mc_gguf_string(mc_gguf_walk *w, mc_str *out, const char *what, mc_str subject) MC_MUST_USE;
bool mc_gguf_tensors(mc_gguf_walk *w, uint32_t id, mc_file *f) MC_MUST_USE;     /* table and data start */
void mc_gguf_sizes(mc_gguf_walk *w, mc_file *f);                                /* dtype and end of every tensor */

#endif
