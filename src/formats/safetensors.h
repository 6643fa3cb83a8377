/* safetensors.h - what the two files of the safetensors parser share. */
#ifndef MODELCHECK_FORMATS_SAFETENSORS_H
#define MODELCHECK_FORMATS_SAFETENSORS_H
#include "formats/formats.h"

typedef enum { MC_ST_AT_OFFSETS, MC_ST_AT_SHAPE, MC_ST_AT_DUPLICATE } mc_st_kind;

/* Gathers a fault of one tensor: the first of its kind is kept, the others are counted. */
void mc_st_fault_of(mc_file *f, mc_st_kind kind, const mc_tensor *t, uint64_t at, const char *what, uint64_t a, uint64_t b);
/* What the entries say together: names, ranges, shapes (safetensors_check.c). Fills the hashes of the names too. */
void mc_st_check(mc_file *f, const mc_kb *kb, mc_arena *a);

#endif
