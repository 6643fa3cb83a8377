/* names.h - what the files that read names share; nobody else needs it. */
#ifndef MODELCHECK_MODEL_NAMES_H
#define MODELCHECK_MODEL_NAMES_H
#include "model/model.h"

/* How many bytes at the end of s satisfy `is`. */
static inline size_t mc_tail_run(mc_str s, bool (*is)(char))
{
    size_t n = 0;
    while (n < s.n && is(s.p[s.n - 1 - n]))
        n++;
    return n;
}

/* s without its last n bytes. */
static inline mc_str mc_str_less(mc_str s, size_t n)
{
    return mc_str_cut(s, 0, s.n > n ? s.n - n : 0);
}

/* The container that `name` promises by its extension and the length of that; MC_FMT_NONE: no weight name. */
mc_container mc_weight_extension(mc_str name, size_t *len);
/* Both fill role and part_of (and the numbers) and return true, or leave *f alone. */
bool mc_name_parse_partial(mc_file *f);
bool mc_name_parse_part(mc_file *f); /* control files and byte parts */

#endif
