/* safetensors headers: a sound header has contiguous ranges of the right size, and asking for more means more. */
#include "formats/formats.h"
#include "fuzz/fuzz.h"

static void check_tensors(const mc_file *f, const mc_kb *kb)
{
    const mc_st *st = f->st;
    bool         clean = st->offsets.n == 0 && st->shape.n == 0 && st->duplicate.n == 0;
    uint64_t     sum = 0;
    for (size_t i = 0; i < f->n_tensors; i++) {
        const mc_tensor *t = &f->tensors[i];
        const mc_dtype  *d = mc_kb_dtype(kb, t->dtype);
        uint64_t         bytes;
        MUST(t->rank <= MC_MAX_RANK && t->begin <= t->end + (clean ? 0 : UINT64_MAX - t->end));
        if (!clean)
            continue;
        MUST(t->end <= st->data_end);
        if (d)
            MUST(mc_dtype_bytes(d, t->elements, 0, &bytes) && bytes == t->end - t->begin);
        sum += t->end - t->begin;
    }
    if (clean)
        MUST(sum == st->data_end);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static mc_kb kb; /* decoded once: it is not what is tested */
    static bool  ready;
    mc_arena     a;
    mc_file      f = { .size = n };
    mc_arena_init(&a, (size_t)64 << 20);
    MUST(ready || mc_kb_init(&kb).code == MC_OK);
    ready = true;
    mc_err e = mc_parse_safetensors((mc_span){ bytes, n }, n, &kb, &a, 0, &f);
    MUST(e.code != MC_MORE); /* the whole file was given */
    if (f.st && f.st->fault == MC_ST_SOUND) {
        MUST(e.code == MC_OK && f.data_start <= n);
        check_tensors(&f, &kb);
    } else {
        MUST(e.code != MC_OK && e.what && e.at <= n);
    }
    mc_file g = { .size = n };
    size_t  part = n / 2;
    e = mc_parse_safetensors((mc_span){ bytes, part }, n, &kb, &a, 0, &g);
    MUST(e.code != MC_MORE || (e.at > part && e.at <= n));
    mc_arena_free(&a);
    return 0;
}
