/* What the floor leaves out, as ranges that were seen on running engines. They are never added to the floor and only shown
 * when asked for. Figures and their origins: docs/memory.md. */
#include "floor/answers_internal.h"

#include <string.h>

#define MIB(x) ((uint64_t)((x) * 1048576.0))
#define GIB(x) ((uint64_t)((x) * 1073741824.0))

/* engine NULL: all that run on a GPU. devices: 0 any, else up to that many under --tp. */
static const struct { const char *engine, *name; uint64_t devices, min, max; const char *source; } seen[] = {
    { NULL, "device context and kernels", 0, MIB(150), MIB(800), "one process on one GPU: 153 MiB left beside llama.cpp's buffers, 400 MiB under HIP, up to 800 MiB with PyTorch" },
    { "vllm", "activations", 0, GIB(0.2), GIB(7.4), "peak of the profiling run: 0.2-2.4 GiB logged in 2024, 2.1-7.4 GiB on H100 with v0.11" },
    { "vllm", "collectives and workspaces", 1, GIB(0.13), GIB(0.54), "non-torch memory logged on one device, and 394 MiB that FlashInfer takes at the first request" },
    { "vllm", "collectives and workspaces", 2, GIB(0.54), GIB(0.94), "non-torch memory logged with two devices, and 394 MiB that FlashInfer takes at the first request" },
    { "vllm", "collectives and workspaces", UINT64_MAX, GIB(0.54), GIB(2.13), "non-torch memory logged with two to eight devices, and 394 MiB that FlashInfer takes at the first request" },
    { "vllm", "CUDA graphs", 0, GIB(0.1), GIB(2.5), "logged; 0.13-1.2 GiB are typical" },
    { "sglang", "CUDA graphs", 0, GIB(0.1), GIB(0.8), "logged" },
    { "llama.cpp", "compute buffer", 0, MIB(266), MIB(1672), "logged at micro-batches of 512 (266-523 MiB) and 2048 (to 1672 MiB); more without flash attention" },
    { "llama.cpp", "host buffers", 0, MIB(8), MIB(140), "logged CUDA_Host compute buffers; in host memory" },
};

static void add(mc_answers *out, const char *name, uint64_t least, uint64_t most, const char *source)
{
    if (out->n_estimates < MC_MAX_ESTIMATES)
        out->estimates[out->n_estimates++] = (mc_estimate){ name, least, most, source };
}

void mc_answer_estimates(const mc_question *q, mc_answers *out)
{
    const char *engine = q->floor->engine;
    uint64_t    tp = q->ask->tp ? q->ask->tp : 1, logits;
    bool        told = false;
    for (size_t i = 0; i < MC_COUNT(seen); i++) {
        bool mine = !seen[i].engine || strcmp(seen[i].engine, engine) == 0;
        bool range = seen[i].devices == 0 || (!told && tp <= seen[i].devices);
        if (mine && range)
            add(out, seen[i].name, seen[i].min, seen[i].max, seen[i].source);
        told |= mine && range && seen[i].devices > 0;
    }
    if (q->m->arch.vocab.known && q->m->arch.vocab.v > 0 && !ckd_mul(&logits, (uint64_t)q->m->arch.vocab.v, q->floor->sequences) && !ckd_mul(&logits, logits, UINT64_C(4)) &&
        q->floor->cache != MC_CACHE_NONE && strcmp(engine, "generic") != 0)
        add(out, "logits", logits, logits, "one row of the vocabulary for each sequence in 32 bits; llama.cpp keeps it in host memory");
}
