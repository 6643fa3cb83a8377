/* What the entries of a safetensors header say together. The order and the arithmetic are those of the reference's
 * `validate` (safetensors/src/tensor.rs), but for one thing: it stops at the first fault, here all are gathered. */
#include "formats/safetensors.h"

#include <stdlib.h>

void mc_st_fault_of(mc_file *f, mc_st_kind kind, const mc_tensor *t, uint64_t at, const char *what, uint64_t a, uint64_t b)
{
    mc_st_tensors *slot = kind == MC_ST_AT_OFFSETS ? &f->st->offsets : kind == MC_ST_AT_SHAPE ? &f->st->shape : &f->st->duplicate;
    if (slot->n++ == 0)
        *slot = (mc_st_tensors){ 1, t->name, (uint32_t)(t - f->tensors), at, what, a, b };
}

static void check_names(mc_file *f, mc_arena *a)
{
    mc_arena  scratch;
    mc_strset names;
    bool      added;
    mc_arena_init(&scratch, a->budget - a->used);
    if (mc_strset_init(&names, &scratch, f->n_tensors))
        for (size_t i = 0; i < f->n_tensors; i++) {
            f->tensors[i].hash = mc_str_hash(f->tensors[i].name);
            uint32_t id = mc_strset_add_hashed(&names, f->tensors[i].name, f->tensors[i].hash, &added);
            if (id != MC_NO_ID && !added)
                mc_st_fault_of(f, MC_ST_AT_DUPLICATE, &f->tensors[i], 0, "declared twice", id, i);
        }
    a->failed |= scratch.failed;
    mc_arena_free(&scratch);
}

static int by_range(const void *a, const void *b)
{
    const mc_tensor *x = *(const mc_tensor *const *)a, *y = *(const mc_tensor *const *)b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* One tensor's range against the end of the one before it; false ends the walk, since nothing behind can be judged. */
static void check_range(mc_file *f, const mc_tensor *t, uint64_t *at, bool *broken)
{
    uint64_t sum;
    if (t->end < t->begin || ckd_add(&sum, f->data_start, t->end) || sum > (uint64_t)INT64_MAX) {
        mc_st_fault_of(f, MC_ST_AT_OFFSETS, t, 0, t->end < t->begin ? "ends before it begins" : "ends beyond 2^63", t->begin, t->end);
        *broken = true;
    } else if (t->begin != *at && !*broken) {
        mc_st_fault_of(f, MC_ST_AT_OFFSETS, t, 0, t->begin < *at ? "overlaps the tensor before it" : "leaves bytes unused before it", t->begin, *at);
    }
    if (t->end > *at)
        *at = t->end;
}

static void check_shape(const mc_kb *kb, mc_file *f, const mc_tensor *t)
{
    const mc_dtype *d = mc_kb_dtype(kb, t->dtype);
    uint64_t        bits;
    if (!d || t->end < t->begin)
        return;
    if (t->overflow || ckd_mul(&bits, t->elements, (uint64_t)d->block_bits))
        mc_st_fault_of(f, MC_ST_AT_SHAPE, t, 0, "has more elements than 64 bits can count", 0, t->end - t->begin);
    else if (bits % 8 != 0)
        mc_st_fault_of(f, MC_ST_AT_SHAPE, t, 0, "does not fill whole bytes", bits, t->end - t->begin);
    else if (bits / 8 != t->end - t->begin)
        mc_st_fault_of(f, MC_ST_AT_SHAPE, t, 0, "needs another number of bytes", bits / 8, t->end - t->begin);
}

static void check_ranges(mc_file *f, const mc_kb *kb, mc_arena *a)
{
    uint64_t          at = 0;
    bool              sorted = true, broken = f->st->offsets.n > 0;
    const mc_tensor **order = NULL;
    for (size_t i = 1; i < f->n_tensors && sorted; i++)
        sorted = f->tensors[i - 1].begin <= f->tensors[i].begin && f->tensors[i - 1].end <= f->tensors[i].end;
    if (!sorted && !(order = malloc(f->n_tensors * sizeof *order))) {
        a->failed = true;
        return;
    }
    for (size_t i = 0; order && i < f->n_tensors; i++)
        order[i] = &f->tensors[i];
    if (order)
        qsort(order, f->n_tensors, sizeof *order, by_range);
    for (size_t i = 0; i < f->n_tensors; i++) {
        check_range(f, order ? order[i] : &f->tensors[i], &at, &broken);
        check_shape(kb, f, &f->tensors[i]);
    }
    free(order);
    f->st->data_end = at;
}

void mc_st_check(mc_file *f, const mc_kb *kb, mc_arena *a)
{
    check_names(f, a);
    check_ranges(f, kb, a);
}
