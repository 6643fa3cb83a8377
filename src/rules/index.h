/* index.h - what the index_*.c and files_*.c share about shard indexes, and the checks of the family's table. */
#ifndef MODELCHECK_RULES_INDEX_H
#define MODELCHECK_RULES_INDEX_H
#include "rules/files.h"

/* The index that rules the read set of a component, NULL if there is none or it is not valid. Copies have none. */
const mc_index *mc_ruling_index(const mc_model *m, uint32_t component);
/* Its header was read whole and lists its tensors: what it does not list, it does not hold. */
bool mc_header_usable(const mc_file *f);
mc_str mc_typed_shape(mc_arena *a, const mc_kb *kb, const mc_tensor *t); /* "BF16 [96, 64]" */
/* A weight file beside the indexed ones: same directory and container, no variant, no adapter, no consolidated file. */
bool mc_unindexed(const mc_model *m, const mc_index *ix, const mc_strset *named, uint32_t file);
/* Names of the index's shards, ids as in ix->shards. False: out of memory. */
bool mc_shard_names(mc_arena *a, const mc_index *ix, mc_strset *out) MC_MUST_USE;
size_t mc_absent_shards(const mc_index *ix);
bool mc_absent_names(mc_arena *a, const mc_index *ix, mc_strset *out) MC_MUST_USE; /* in order of name */

/* MC202 holds for the index: what is absent has a replacement. */
typedef struct {
    size_t   n_absent, held, total;     /* absent files; tensors of the index that present files hold, and all of them */
    mc_names absent, present;           /* names of the absent files, and of those that replace them */
    uint32_t single;                    /* a whole single file that holds everything, or MC_NONE */
} mc_stale;
bool mc_index_is_stale(mc_check *cx, const mc_index *ix, mc_stale *out);

void mc_check_index(mc_check *cx);          /* MC201, MC213 is its own */
void mc_check_stale(mc_check *cx);          /* MC202 */
void mc_check_join(mc_check *cx);           /* MC203, and reports MC205, MC206, MC214 */
void mc_check_not_indexed(mc_check *cx);    /* MC204 */
void mc_check_twins(mc_check *cx);          /* MC207, and reports MC208 */
void mc_check_leftover(mc_check *cx);       /* MC209 */
void mc_check_single(mc_check *cx);         /* MC210 */
void mc_check_no_index(mc_check *cx);       /* MC211 */
void mc_check_total(mc_check *cx);          /* MC212 */
void mc_check_metadata(mc_check *cx);       /* MC213 */
/* MC204 holds for the file: the index leaves out weights that no indexed file has. */
bool mc_forgotten_shard(const mc_model *m, const mc_index *ix, uint32_t file);

#endif
