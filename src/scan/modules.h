/* modules.h - how the files that find quantized modules fit together; only for src/scan.
 *
 *   names   modules_names.c   a suffix of a tensor's name -> what it is to its module
 *   build   modules.c         tensors of one module together, its layout (modules_match.c) and class (modules_class.c)
 *   data    modules_wants.c   which few bytes shapes do not tell; modules_data.c reads them
 *   fill    modules_fill.c    logical shape, bits, groups, faults: modules_int.c, _float.c, _runtime.c, _books.c
 *   sums    summary.c         what all modules are together, logical parameters */
#ifndef MODELCHECK_SCAN_MODULES_H
#define MODELCHECK_SCAN_MODULES_H
#include "model/quant.h"
#include "scan/scan.h"

/* ---- element types, as far as layouts care ---- */

enum {
    MC_K_E4M3 = 1, MC_K_E5M2 = 2, MC_K_E8M0 = 4, MC_K_F4 = 8, MC_K_F16 = 16, MC_K_F32 = 32, MC_K_F64 = 64, MC_K_U8 = 128, MC_K_I8 = 256, MC_K_I16 = 512,
    MC_K_I32 = 1024, MC_K_U32 = 2048, MC_K_I64 = 4096, MC_K_BOOL = 8192, MC_K_BLOCK = 16384, MC_K_OTHER = 32768,
    MC_K_F8 = MC_K_E4M3 | MC_K_E5M2,
    MC_K_WIDE = MC_K_F16 | MC_K_F32 | MC_K_F64, /* MC_K_F16: BF16 as well */
    MC_K_INT = MC_K_U8 | MC_K_I8 | MC_K_I16 | MC_K_I32 | MC_K_U32 | MC_K_I64,
    MC_K_MX = MC_K_U8 | MC_K_E8M0               /* a shared exponent */
};

/* ---- names ---- */

/* What a suffix says. One id stands for one thing, whatever the spelling ("X.weight_scale", "X_weight_scale"). */
typedef enum {
    MC_S_WEIGHT, MC_S_QWEIGHT, MC_S_PACKED, MC_S_TRELLIS, MC_S_Q_WEIGHT, MC_S_QIDXS, MC_S_CODES, MC_S_INDICES, MC_S_DENSE, MC_S_W_Q, MC_S_BLOCKS, MC_S_B, MC_S_B24,
    MC_S_QUANTO, MC_S_QUANTO_SUB, MC_S_QDATA, MC_S_LAST_WEIGHT = MC_S_QDATA,
    MC_S_SCALE_OF_WEIGHT, MC_S_SCALE_INV, MC_S_SCALE, MC_S_SCALES, MC_S_EETQ_SCALES, MC_S_SCALE_2, MC_S_GLOBAL, MC_S_ZERO_OF_WEIGHT, MC_S_QZEROS, MC_S_SCALED_ZEROS,
    MC_S_BIASES, MC_S_QBIASES, MC_S_ZERO, MC_S_G_IDX, MC_S_SHAPE_OF_WEIGHT, MC_S_SHAPE, MC_S_NBITS, MC_S_META_SCALE, MC_S_META, MC_S_SCB, MC_S_WEIGHT_FORMAT,
    MC_S_ABSMAX, MC_S_QUANT_MAP, MC_S_NESTED_ABSMAX, MC_S_NESTED_MAP, MC_S_NF4, MC_S_FP4, MC_S_SUH, MC_S_SU, MC_S_SVH, MC_S_SV, MC_S_Q_SCALE, MC_S_Q_SCALE_MAX,
    MC_S_Q_GROUPS, MC_S_Q_INVPERM, MC_S_QUIP_SU, MC_S_QUIP_SV, MC_S_WSCALE, MC_S_CODEBOOK_ID, MC_S_CODEBOOKS, MC_S_CENTROIDS, MC_S_ROW_OFFSETS, MC_S_COL_VALS,
    MC_S_S, MC_S_S_CHANNEL, MC_S_S_GROUP, MC_S_SCALE_PACKED, MC_S_TABLES, MC_S_HADAMARD, MC_S_SHIFT, MC_S_INPUT, MC_S_EXTRA, MC_S_BIAS, MC_S_KV,
    MC_N_SUFFIXES
} mc_suffix_id;

typedef enum {
    MC_SFX_WEIGHT,              /* the weight of a module */
    MC_SFX_SURE,                /* never a parameter, with or without its weight */
    MC_SFX_MAYBE                /* belongs to a packed weight of the same name; without one it is a parameter of its own */
} mc_suffix_kind;

typedef struct { mc_str text; mc_suffix_id id; mc_part part; mc_suffix_kind kind; } mc_suffix;
/* The longest suffix of the table that the name has; the empty one (a weight without a suffix) if none. */
const mc_suffix *mc_suffix_of(mc_str name);

/* ---- one module ---- */

/* Rows and columns of a tensor: leading dimensions are experts; a vector is one row. */
typedef struct { uint64_t e, r, c; bool ok; } mc_view;
mc_view mc_view_of(const mc_tensor *t);         /* NULL: not ok */

typedef struct { mc_model *m; const mc_kb *kb; const uint32_t *kinds; mc_inventory *inv; } mc_pack; /* kinds: by dtype id */
uint32_t mc_kind_of(const mc_pack *p, const mc_tensor *t); /* 0 for NULL */

/* The layout that the tensors of a module show; t: by suffix id. */
mc_layout mc_match_layout(const mc_pack *p, mc_tensor *const *t, mc_suffix_id weight);
mc_module_class mc_class_of(const mc_form *f, mc_str module);

/* Bytes of one tensor that a layout wants to see: its first `want`. got is empty when they could not be read. */
typedef struct mc_small { const mc_tensor *t; uint32_t module; mc_part part; uint32_t want; mc_span got; } mc_small;

/* Small reads of all modules: those of one follow one another. */
typedef struct { mc_small *v; size_t n, cap; } mc_wants;
bool   mc_want_data(mc_wants *w, mc_arena *a, const mc_module *q, uint32_t id); /* adds those of a module; false: it has none */
size_t mc_next_module(const mc_wants *w, size_t i);         /* the first read of the module behind that of read i */
void   mc_thin_out(const mc_pack *p, mc_quant *q, mc_wants *w); /* leaves a sample; the modules without are filled */
static inline uint64_t mc_tensor_bytes(const mc_tensor *t)
{
    return t->end >= t->begin ? t->end - t->begin : 0;
}

/* Everything that layout, shapes and data tell of one module. s[0..n): its small reads. */
void mc_fill_module(const mc_pack *p, mc_module *q, const mc_small *s, size_t n);
typedef void mc_filler(const mc_pack *p, mc_module *q, const mc_small *s, size_t n);
mc_filler mc_fill_gptq, mc_fill_awq, mc_fill_awq_gemv, mc_fill_awq_fast, mc_fill_marlin, mc_fill_marlin24, mc_fill_ct_pack, mc_fill_quark_int4, mc_fill_int4_nibble, mc_fill_bytes,
    mc_fill_eetq, mc_fill_fp4, mc_fill_mxfp6, mc_fill_bnb4, mc_fill_bnb8, mc_fill_hqq, mc_fill_sinq, mc_fill_exl2, mc_fill_exl3, mc_fill_quip, mc_fill_aqlm,
    mc_fill_vptq, mc_fill_spqr, mc_fill_higgs, mc_fill_bitnet, mc_fill_quanto, mc_fill_torchao, mc_fill_mlx, mc_fill_ggml;

/* Helpers of the fillers. */
void     mc_set_fault(mc_module_fault *f, const char *what, const mc_tensor *t, uint64_t expected, uint64_t found); /* the first one stays */
void     mc_set_bits(mc_module *q, double bits, mc_tri symmetric);
void     mc_set_shape(mc_module *q, uint64_t experts, uint64_t out, uint64_t in);
void     mc_set_groups(mc_module *q, uint64_t groups);         /* along the input; q->in is set or 0 */
bool     mc_need(mc_module *q, mc_part part, const char *name); /* false, and `missing` set, when the part is absent */
mc_span  mc_small_of(const mc_small *s, size_t n, mc_part part);
bool     mc_all_zero(mc_span s);
int64_t  mc_small_int(const mc_pack *p, const mc_tensor *t, mc_span s, size_t i); /* element i of an integer tensor; -1 beyond what was read */
/* in_features by another witness: the norm of the same input, the layer that produces it, the configuration. 0: nobody says. */
uint64_t mc_in_witness(const mc_pack *p, const mc_module *q, mc_str *who);
/* Width and group when only width x group = product is known (32 x columns of codes / columns of scales). */
void     mc_settle_bits(const mc_pack *p, mc_module *q, uint64_t words, uint64_t groups, const unsigned *widths, const unsigned *sizes);

#endif
