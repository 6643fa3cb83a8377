/* quant_rules.h - what the checks of the quantization family share. Internal to the rules.
 *
 * quant.c           the table
 * quant_facts.c     what all of them ask
 * quant_modules.c   MC420, MC421: companions        quant_surplus.c  MC422
 * quant_bits.c      MC430-MC432: bits, groups, layout    quant_dims.c   MC433, MC434
 * quant_scope.c     MC435, MC436: lists against tensors  quant_fused.c  MC437, MC438
 * quant_data.c      MC445-MC447: a few bytes of tensor data
 * quant_blocks.c    MC411, MC412: one block              quant_pairs.c  MC413, MC414: two of them
 * quant_stored.c    MC410, MC415-MC417: blocks and lists against what is stored as a whole
 * quant_scales.c    MC423-MC425, MC439 */
#ifndef MODELCHECK_RULES_QUANT_RULES_H
#define MODELCHECK_RULES_QUANT_RULES_H
#include "model/quant.h"
#include "rules/rule.h"

#define MC_LAYOUT_BIT(layout) (UINT64_C(1) << (layout))

typedef struct {
    const mc_quant *q;
    const mc_claim *claim;      /* the declared one; NULL: no file declares anything */
    uint32_t        component;  /* whose modules the claim is about */
    bool            complete;   /* every file of that component's read set could be read */
    bool            uniform;    /* the block says the same of every module: no list, no override */
    const mc_scheme **schemes;  /* by module id, see mc_quant_scheme; NULL: uniform, or no claim */
    uint64_t        layouts;    /* those that occur, as MC_LAYOUT_BIT: a rule without its layouts need not walk the modules */
    bool            missing, shape, zero, index, turned; /* some module has such a fault or part */
    bool            bare;       /* some matrix of a layer holds integers and has no layout */
    bool            gptq, awq, fp8, compressed, bitsandbytes; /* the method, where rules ask module by module */
} mc_quant_facts;

const mc_quant_facts *mc_quant_gather(mc_check *cx);                        /* NULL: no modules, or out of memory */
bool mc_quant_bare(const mc_check *cx, const mc_module *m);                  /* a matrix of integers inside a layer, no layout: codes without scales */
bool mc_quant_excluded(const mc_quant_facts *f, const mc_module *m);        /* by a list, or by an override that says so */
const mc_scheme *mc_quant_scheme(const mc_quant_facts *f, const mc_module *m); /* NULL: no claim, excluded, or in doubt */
bool mc_quant_method(const mc_quant_facts *f, const char *method);          /* the claim's canonical method */
mc_hit mc_quant_hit(const mc_quant_facts *f, const mc_module *m, uint32_t file, const char *what, uint64_t a, uint64_t b);
const mc_module *mc_quant_of(const mc_quant_facts *f, const mc_hit *h);     /* the module of a hit, NULL for MC_NONE */
/* MC433 explains the module: a packed dimension is the configuration's, rounded up. have, want and m may be NULL. */
bool mc_quant_padded(const mc_check *cx, const mc_module *m, const char **key, uint64_t *have, uint64_t *want, uint64_t *multiple);

/* FP8 block scales of another size than the scheme's blocks make; want: what they make. */
bool mc_quant_blocks_differ(const mc_scheme *s, const mc_module *m, uint64_t want[2]);
bool mc_quant_turned(const mc_module *m);                                   /* MC434 explains it: FP4 packed along the wrong axis */

const mc_inventory *mc_quant_inventory(const mc_model *m, uint32_t component);
const mc_dtype *mc_quant_dtype(const mc_check *cx, const mc_module *m);     /* of its weight, NULL if unknown */
/* Does a tensor's name end with (hold) one of these? Asked once a form; *first gets the first such tensor. */
bool mc_quant_any_ends(const mc_inventory *inv, const char *const *endings, const mc_tensor **first);
bool mc_quant_any_contains(const mc_inventory *inv, const char *const *words);

void mc_check_settings_missing(mc_check *cx);   /* MC410 */
void mc_check_block_invalid(mc_check *cx);      /* MC411 */
void mc_check_block_odd(mc_check *cx);          /* MC412 */
void mc_check_configs_disagree(mc_check *cx);   /* MC413 */
void mc_check_blocks_differ(mc_check *cx);      /* MC414 */
void mc_check_lists(mc_check *cx);              /* MC415 */
void mc_check_not_stored(mc_check *cx);         /* MC416 */
void mc_check_on_load(mc_check *cx);            /* MC417 */
void mc_check_fp8_unscaled(mc_check *cx);       /* MC423 */
void mc_check_activation_scale(mc_check *cx);   /* MC424 */
void mc_check_kv_scales(mc_check *cx);          /* MC425 */
void mc_check_head_quantized(mc_check *cx);     /* MC439 */
void mc_check_companion_missing(mc_check *cx);  /* MC420 */
void mc_check_companion_shape(mc_check *cx);    /* MC421 */
void mc_check_companion_surplus(mc_check *cx);  /* MC422 */
void mc_check_bits(mc_check *cx);               /* MC430 */
void mc_check_group(mc_check *cx);              /* MC431 */
void mc_check_layout(mc_check *cx);             /* MC432 */
void mc_check_padded(mc_check *cx);             /* MC433 */
void mc_check_packed_transposed(mc_check *cx);  /* MC434 */
void mc_check_excluded(mc_check *cx);           /* MC435 */
void mc_check_declared_plain(mc_check *cx);     /* MC436 */
void mc_check_fused(mc_check *cx);              /* MC437 */
void mc_check_router(mc_check *cx);             /* MC438 */
void mc_check_zero_version(mc_check *cx);       /* MC445 */
void mc_check_group_index(mc_check *cx);        /* MC446 */
void mc_check_quant_state(mc_check *cx);        /* MC447 */

#endif
