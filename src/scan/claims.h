/* claims.h - how one quantization block is read; only for src/scan/claims*.c.
 *
 * Readers take what is valid and leave the rest unknown: rules/quant_blocks.c says what is wrong with a block, and an invalid
 * number must not be compared with tensors as well. */
#ifndef MODELCHECK_SCAN_CLAIMS_H
#define MODELCHECK_SCAN_CLAIMS_H
#include "kb/kb.h"
#include "model/quant.h"

typedef struct {
    mc_model              *m;
    mc_kb                 *kb;
    mc_arena              *a;
    mc_claim              *c;
    const mc_kb_method *method;  /* NULL: unknown */
    const mc_value        *root;    /* the document around the block */
} mc_claimant;

/* ---- claims_base.c: scalars, lists and what the data files describe ---- */
mc_origin mc_cl_from(const mc_claimant *x, const char *key);                     /* "<at>/<key>"; "" is the block itself */
mc_origin mc_cl_from_str(const mc_claimant *x, mc_str key);
void      mc_cl_int(mc_int *to, int64_t v, mc_origin from);
void      mc_cl_text(mc_text *to, mc_str v, mc_origin from);                     /* "" sets nothing */
mc_tri    mc_cl_tri(const mc_value *v);                                          /* UNKNOWN for what is no boolean */
bool      mc_cl_whole(const mc_value *v, int64_t least, int64_t most, int64_t *out) MC_MUST_USE;
/* A block of rows and columns, from [128, 128] or "128x128". */
bool      mc_cl_block(mc_scheme *s, const mc_value *v, mc_origin from);
void      mc_cl_exclude(mc_claimant *x, mc_str text, mc_dialect dialect, mc_origin list);
/* A list of names, or one name; each entry in the dialect, or as "re:" and class names (compressed-tensors, Quark) tell. */
typedef enum { MC_LIST_AS_IS, MC_LIST_CT, MC_LIST_QUARK } mc_list_kind;
void      mc_cl_exclude_list(mc_claimant *x, const mc_value *list, mc_dialect dialect, mc_list_kind kind, mc_origin from);
void      mc_cl_target(mc_claimant *x, const mc_scheme *s, mc_str name, mc_str text, mc_dialect dialect, mc_origin list);
void      mc_cl_target_list(mc_claimant *x, const mc_scheme *s, mc_str name, const mc_value *list, mc_list_kind kind, mc_origin from);
void      mc_cl_base(mc_claimant *x);                                            /* what rules/quants/ knows of the method */
/* Bits, group, flags of a GPTQ-like map (a block, a `dynamic` or `extra_config` entry) over what `s` holds already. */
void      mc_cl_affine(mc_claimant *x, mc_scheme *s, const mc_value *v, mc_origin from);

/* ---- readers of one method each ---- */
void mc_claim_gptq(mc_claimant *x);         /* claims_lists.c */
void mc_claim_auto_round(mc_claimant *x);
void mc_claim_mlx(mc_claimant *x);
void mc_claim_compressed(mc_claimant *x);   /* claims_ct.c */
void mc_claim_fp8(mc_claimant *x);          /* claims_modelopt.c */
void mc_claim_modelopt(mc_claimant *x);
void mc_claim_bnb(mc_claimant *x);          /* claims_types.c */
void mc_claim_hqq(mc_claimant *x);
void mc_claim_torchao(mc_claimant *x);
void mc_claim_quark(mc_claimant *x);

/* One group of config_groups: `weights` and the activations beside it. False: it has no weights. */
bool mc_cl_group(mc_claimant *x, const mc_value *group, mc_origin from, mc_scheme *out);
/* kv_cache_scheme in any spelling: "FP8", { num_bits 8, type float }. */
void mc_cl_kv(mc_claimant *x, const mc_value *v, mc_origin from);

#endif
