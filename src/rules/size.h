/* size.h - private to the size family: what the tensors of the root's read set look like, layer by layer.
 *
 * Gathered in one pass over the inventory, linear in tensors, by the first check that asks. Neighbours in a header
 * usually share their prefix, so that most names cost one comparison. */
#ifndef MODELCHECK_RULES_SIZE_H
#define MODELCHECK_RULES_SIZE_H
#include "rules/rule.h"

/* Modules that a layer of a plain decoder cannot do without, in any storage form. */
enum { MC_HAS_NORM = 1, MC_HAS_Q = 2, MC_HAS_K = 4, MC_HAS_V = 8, MC_HAS_O = 16, MC_HAS_UP = 32, MC_HAS_DOWN = 64, MC_HAS_ALL = 127 };

typedef struct { mc_str prefix; bool decoder; } mc_stack;      /* "model.layers."; decoder: of text, as far as the name tells */
typedef struct {
    mc_str   prefix;            /* "model.layers.12." */
    uint32_t stack;
    uint64_t index;
    unsigned has;               /* MC_HAS_*; gathered for model types of the geometry table only */
    bool     mtp;               /* names of a multi-token-prediction layer occur in it */
} mc_layer;
/* "model.layers.3.mlp.experts.": n distinct indexes, one bit each. unknown: an index out of all proportion; nothing is judged. */
typedef struct { mc_str prefix; uint64_t *bits; size_t words, n; uint64_t min, max; bool unknown; } mc_experts;

typedef struct {
    mc_stack   *stacks;  size_t n_stacks, cap_stacks;
    mc_layer   *layers;  size_t n_layers, cap_layers;
    mc_experts *experts; size_t n_experts, cap_experts;
    mc_strset   stack_ids, layer_ids, expert_ids;
    uint32_t    decoder;        /* the only stack of text layers, or MC_NONE: none or several */
    size_t      n_decoder;      /* layers of it */
    bool        embedding;      /* something outside the layers could be an input embedding */
    bool        head;           /* an output head is stored */
    bool        draft;          /* names of EAGLE or Medusa heads */
    uint64_t    matrix_bytes, f32_bytes, f64_bytes, float_bytes; /* of tensors with rank >= 2 */
} mc_size_facts;

const mc_size_facts *mc_size_gather(mc_check *cx);             /* NULL: no readable inventory, or out of memory */
bool mc_size_table(const mc_model *m);                         /* config.json's model_type is in the geometry table */
bool mc_size_model_type(const mc_model *m, const char *type);  /* it is `type`, at the top level */
bool mc_size_config_int(const mc_model *m, const char *key, uint64_t *out); /* stated at the top level, > 0 */
bool mc_size_quantized(const mc_model *m);                     /* some configuration declares quantization, or tensors are packed */
bool mc_size_has_expert(const mc_experts *g, uint64_t index);
bool mc_size_digits(mc_str name, size_t at, size_t *end, uint64_t *v); /* name[at, end) is a number and '.' follows */

mc_str mc_size_count_text(mc_arena *a, uint64_t n);             /* "8.03 billion", exact below a million */

void mc_check_weights_missing(mc_check *cx);                   /* size_missing.c: MC503 */
void mc_check_layers_extra(mc_check *cx);                      /* size_missing.c: MC504 */
void mc_check_shapes(mc_check *cx);                            /* size_shapes.c: MC505 */
void mc_check_low_coverage(mc_check *cx);                      /* size_coverage.c: MC502 */
void mc_check_measured_bits(mc_check *cx);                     /* size_measured.c: MC508 */

#endif
