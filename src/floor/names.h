/* names.h - what the names of tensors and the keys of a configuration say to the memory floor. Private to floor. */
#ifndef MODELCHECK_FLOOR_NAMES_H
#define MODELCHECK_FLOOR_NAMES_H
#include "floor/floor.h"

typedef enum { MC_PLACE_OTHER, MC_PLACE_INPUT, MC_PLACE_LAYER, MC_PLACE_OUTPUT } mc_place;
typedef enum { MC_SHARE_SPLIT, MC_SHARE_HEADS, MC_SHARE_WHOLE } mc_share;
typedef struct {
    mc_place place;
    mc_share share;             /* under tensor parallelism */
    bool     mtp;               /* of a prediction layer, by its name */
    bool     linear;            /* a matrix of a layer, without routers */
    bool     vocabulary;        /* a row for each token */
    bool     companion;         /* scales and the like: kept in the width they are stored in */
    bool     group_index, zeros, mxfp4_values;
    bool     repacked;          /* GGUF: a type that llama.cpp keeps in another layout on a CPU */
} mc_weight_kind;
void mc_weight_kind_of(const mc_model *m, const mc_kb *kb, const mc_tensor *first, unsigned tags, mc_weight_kind *out);

/* quantization_config and its like, as far as loading depends on it. */
typedef struct { mc_str method; bool act_order, symmetric; const char *cache_type; /* that the checkpoint asks for, or NULL */ } mc_load_quant;
void mc_load_quant_of(const mc_model *m, mc_load_quant *out);

uint64_t mc_rotary_width(const mc_model *m);               /* elements of a head that rotary embedding turns; 0: none, or not known */
uint64_t mc_conv_kernel(const mc_model *m, mc_kb *kb);      /* of recurrent layers; 0: not known */
bool     mc_asks_f32_state(const mc_model *m);              /* mamba_ssm_dtype or mamba_ssm_cache_dtype says float32 */

#endif
