/* quant.h - how modules are stored, and how files say that they are. Part of the model layer.
 *
 * Two sides, never mixed: a module is what the tensors show (scan/modules*.c); a claim is one quantization block of a
 * configuration file (scan/claims*.c). Rules compare them. Layouts and arithmetic follow the writers and loaders named in
 * docs/quantization.md; names, keys and allowed values are data (rules/quants/).
 *
 * Notation: I in_features, O out_features, b bits, g group size, G = ceil(I / g) groups. */
#ifndef MODELCHECK_MODEL_QUANT_H
#define MODELCHECK_MODEL_QUANT_H
#include "model/model.h"

/* ---- what the tensors show -------------------------------------------------------------------------------- */

/* A row of the fingerprint table: how one module is packed. */
typedef enum {
    MC_Q_PLAIN,                 /* float matrix, vector or anything that is not packed */
    MC_Q_RAW8,                  /* F8 or I8 matrix without any scale: ask its dtype (MC423 is about F8 alone) */
    MC_Q_BNB4, MC_Q_BNB8, MC_Q_EXL2, MC_Q_EXL3, MC_Q_QUIP, MC_Q_AQLM, MC_Q_VPTQ, MC_Q_SPQR, MC_Q_HQQ, MC_Q_SINQ,
    MC_Q_CT_PACK,               /* weight_packed I32 + weight_scale + weight_shape */
    MC_Q_NVFP4,                 /* two codes a byte, F8_E4M3 scale a group, second-level scale (either dialect) */
    MC_Q_MXFP4, MC_Q_MXFP6, MC_Q_MXFP8, /* E8M0 scale per 32 */
    MC_Q_FP4_DSV4,              /* I8 holding two FP4, .scale F8_E8M0 */
    MC_Q_FP8, MC_Q_INT8,        /* one value a byte, with scales of any granularity */
    MC_Q_INT4_NIBBLE,           /* ModelOpt W4A16_AWQ: U8 [O/2, I], scale [O, I/g] */
    MC_Q_QUARK_INT4, MC_Q_EETQ, MC_Q_MLX, MC_Q_METAL,
    MC_Q_GPTQ, MC_Q_AWQ, MC_Q_AWQ_GEMV, MC_Q_AWQ_FAST, MC_Q_MARLIN, MC_Q_MARLIN24, MC_Q_QQQ, MC_Q_FP_QUANT,
    MC_Q_QUANTO, MC_Q_TORCHAO, MC_Q_BITNET, MC_Q_HIGGS,
    MC_Q_GGML,                  /* a block type of GGUF */
    MC_N_LAYOUTS
} mc_layout;
const char *mc_layout_name(mc_layout l);            /* "awq gemm" */

/* What a tensor is to its module. */
typedef enum {
    MC_PART_WEIGHT,             /* qweight, weight, weight_packed, trellis, W_q, codes, *_blocks, ... */
    MC_PART_SCALE,              /* scales, weight_scale, weight_scale_inv, SCB, absmax, *_scales, ... */
    MC_PART_SCALE2,             /* weight_scale_2, weight_global_scale, nested_absmax, scale2, Wscale */
    MC_PART_ZERO,               /* qzeros, weight_zero_point, biases (MLX), zero (HQQ), _shift */
    MC_PART_INDEX,              /* g_idx, weight_g_idx, q_invperm, perm, in_perm, SU / suh */
    MC_PART_SHAPE,              /* weight_shape, shape (HQQ) */
    MC_PART_STATE,              /* quant_state.bitsandbytes__*, q_groups, nbits */
    MC_PART_MAP,                /* quant_map, codebooks, centroids, tables, SV / svh */
    MC_PART_INPUT,              /* input_scale, activation_scale, input_global_scale, act_scale */
    MC_PART_EXTRA,              /* anything else of the scheme: pre_quant_scale, hadamard matrices, nested maps, weight_format, ... */
    MC_PART_BIAS,               /* a real bias */
    MC_N_PARTS
} mc_part;

typedef enum {
    MC_CLS_OTHER, MC_CLS_ATTENTION, MC_CLS_MLP, MC_CLS_EXPERTS, MC_CLS_EMBEDDING, MC_CLS_HEAD, MC_CLS_NORM, MC_CLS_ROUTER, MC_CLS_VISION /* towers, projectors */,
    MC_CLS_MTP, MC_N_CLASSES
} mc_module_class;
const char *mc_class_name(mc_module_class c);       /* "attention" */

typedef enum { MC_GRAIN_NONE, MC_GRAIN_TENSOR, MC_GRAIN_CHANNEL, MC_GRAIN_GROUP, MC_GRAIN_BLOCK, MC_GRAIN_TOKEN } mc_grain;
const char *mc_grain_name(mc_grain g);              /* "tensor"; NULL for NONE */

typedef enum { MC_UNKNOWN = -1, MC_NO = 0, MC_YES = 1 } mc_tri;

/* A fault of one module that can be seen without a configuration. what NULL: none.
 * missing (MC420): what = suffix of the absent companion ("qzeros"), tensor = the weight that lacks it.
 * shape (MC421): what = a phrase that follows the name ("has other rows than qweight"), tensor = the companion that does not
 *   fit; a = the number that the rest of the module needs, b = the one stored (both 0: no number, a dtype).
 * data (MC446, MC447): what = a phrase, tensor = the one read; a, b as its words say: needed, found. */
typedef struct { const char *what; const mc_tensor *tensor; uint32_t a, b; /* UINT32_MAX: that or more */ } mc_module_fault;

typedef struct {
    /* Every pass reads these. */
    mc_str      name;           /* path: "model.layers.0.mlp.up_proj", fused experts "model.layers.0.mlp.experts.gate_up_proj" */
    mc_layout   layout;
    mc_module_class cls;
    uint32_t    component, layer; /* layer: as mc_tensor.layer */
    uint32_t    form;           /* id of the weight's form: modules of one form are alike but for numbers */
    mc_grain    grain;
    mc_tri      symmetric;      /* no zero point at all: yes; stored zero points that are all one constant: yes; else no */
    mc_tri      ordered;        /* g_idx, as far as it was read: each entry is floor(i / group). UNKNOWN: not read, or nothing but zeros */
    bool        elements_known;
    bool        bits_certain;   /* false: bits x group fits several pairs and no witness decides (MC905) */
    bool        transposed;     /* EETQ, Marlin, NVFP4 stored [I/2, O] (MC434) */
    bool        zero_read;
    uint64_t    elements;       /* logical elements of the weight, 0 unknown (or an empty weight) */
    double      bits;           /* stored bits a weight by the codes alone (4, 8, 3, exl2: average); 0: unknown */
    uint64_t    bytes;          /* of all parts but input scales and bias */
    uint64_t    group;          /* g, when grain is GROUP */
    uint64_t    block[2];       /* rows, columns, when grain is BLOCK */
    uint64_t    groups;         /* stored groups along the input: rows or columns of the scales */
    uint64_t    in, out, experts; /* logical shape: `experts` matrices [out, in]; 0 unknown. experts is 1 for a plain linear */
    mc_tensor  *parts[MC_N_PARTS];
    /* Zero in most modules. */
    mc_str      in_witness;     /* who says I: a tensor name or "hidden_size"; "" if the layout itself does */
    uint32_t    zero_word;      /* GPTQ: first I32 word of qzeros, 0 unless zero_read */
    mc_module_fault missing;    /* a companion without which it cannot be decoded (MC420) */
    mc_module_fault shape;      /* companions that do not fit one another (MC421) */
    mc_module_fault data;       /* small reads: g_idx (MC446) or quant_state (MC447) */
} mc_module;

/* Needs companions to be read: neither plain nor raw F8. */
static inline bool mc_module_packed(const mc_module *m) { return m->layout != MC_Q_PLAIN && m->layout != MC_Q_RAW8; }

/* ---- what files say --------------------------------------------------------------------------------------- */

/* What a block says about some modules. Unset members are unknown. */
typedef struct {
    mc_tri      quantized;      /* NO: listed as not quantized (false, bits >= 16) */
    mc_int      bits, group;    /* group: -1 = whole row */
    mc_tri      symmetric, desc_act, dynamic_input, static_input;
    mc_grain    grain;
    mc_int      block_rows, block_cols;
    mc_text     format;         /* checkpoint_format, version, compressed-tensors format, mode, quant_algo */
    bool        is_float;
    mc_origin   from;
} mc_scheme;

typedef enum {
    MC_DIALECT_EXACT, MC_DIALECT_PREFIX, MC_DIALECT_SUBSTRING, MC_DIALECT_GLOB /* fnmatch */, MC_DIALECT_REGEX /* start-anchored */,
    MC_DIALECT_CLASS /* compressed-tensors class name */, MC_DIALECT_HF /* regex, prefix or suffix */
} mc_dialect;

/* `program` is the compiled regular expression of REGEX and HF patterns that are one (mc_pattern_make). `from` is the list. */
typedef struct mc_regex mc_regex;
typedef struct {
    mc_str      pattern;
    mc_dialect  dialect;
    mc_origin   from;
    bool        supported;      /* the pattern can be evaluated */
    bool        hit;            /* some module matches it, by its own or any other dialect; set by mc_claim_resolve */
    const mc_regex *program;
} mc_pattern;
typedef struct { mc_pattern *targets; size_t n_targets, cap_targets; mc_scheme scheme; mc_str name; } mc_override; /* scheme of the modules that any target matches */

/* What a claim says of one module, worked out once (matcher.c). */
typedef struct { const mc_scheme *scheme; const mc_pattern *excluded_by, *target; bool doubt; } mc_verdict;

/* One block: quantization_config, quantize_config.json, hf_quant_config.json, MLX quantization, ... */
typedef struct {
    uint32_t    file, component;
    mc_str      at;             /* JSON pointer of the block: "/quantization_config", "" for a side file */
    const mc_value *block;
    mc_text     raw_method;     /* quant_method as written */
    mc_str      method;         /* canonical: "gptq", "awq", "compressed-tensors", ...; "" if neither stated nor derivable */
    bool        known_method;   /* in rules/quants/ */
    mc_scheme   base;           /* for modules that no override names */
    mc_override *overrides; size_t n_overrides, cap_overrides;
    mc_pattern  *excludes;  size_t n_excludes, cap_excludes;
    mc_str      excludes_at;    /* pointer of the list, "" if there is none */
    mc_text     kv;             /* KV cache scheme: "FP8", ... */
    mc_text     packing;        /* auto-round packing_format */
    mc_text     status;         /* compressed-tensors quantization_status */
    mc_text     expert_dtype, moe_algo; /* experts stored otherwise: expert_dtype of DeepSeek-V4, moe_quant_algo of ModelOpt */
    bool        whole_scope;    /* explicit scope: targets or layers are listed, the rest is plain */
    const mc_module *modules; const mc_verdict **verdicts; size_t n_verdicts; /* filled by mc_claim_resolve */
} mc_claim;

struct mc_quant {
    mc_module *modules; size_t n_modules, cap_modules; /* every module of the read sets, packed or not, in order of the inventory */
    size_t     n_packed;        /* layout neither PLAIN nor RAW8 */
    mc_tensor **orphans; size_t n_orphans; /* companions whose module has no weight in the inventory (KV scales are none) */
    mc_claim  *claims; size_t n_claims, cap_claims;
    uint32_t   declared;        /* the claim that the method's loader reads first, MC_NONE if there is none */
    /* Summary over the packed modules, weighted by logical parameters. */
    mc_text    method, format;  /* the field's words; from the claim where tensors fit it, else from the tensors */
    mc_str     seen;            /* the method that the tensors show, "" if nothing is packed */
    mc_int     bits, group;     /* of most of the quantized parameters */
    mc_grain   grain;
    uint64_t   block[2];
    mc_tri     symmetric;
    bool       linear_known; double linear_bpw; /* 8 * bytes / parameters over quantizable linears */
    struct { uint64_t modules, packed, parameters, packed_parameters, bytes; bool known; } by_class[MC_N_CLASSES];
    mc_int     active;          /* parameters used for one token: experts_used of experts */
    uint64_t   biases_on_quantized; /* elements of biases beside packed weights */
    uint64_t   mtp_parameters;
};

/* A pattern that is ready to be matched. The dialects of lists are in docs/quantization.md. */
mc_pattern mc_pattern_make(mc_arena *a, mc_str pattern, mc_dialect dialect, mc_origin from);
/* Does the pattern match the module name, by its own dialect? UNKNOWN: it cannot be evaluated. Linear time. */
mc_tri mc_pattern_matches(const mc_pattern *p, mc_str module);
/* The same by exact, prefix and substring match at component boundaries, with and without the usual roots. */
bool   mc_pattern_any(const mc_pattern *p, mc_str module);
/* The same for a module: classes (compressed-tensors) are judged too. */
mc_tri mc_pattern_of_module(const mc_pattern *p, const mc_module *m);

/* What a claim says of one module: NO scheme (NULL) when it is excluded; *excluded_by names the entry; *doubt: dialects disagree. */
const mc_scheme *mc_claim_scheme(const mc_claim *c, const mc_module *m, const mc_pattern **excluded_by, bool *doubt);
/* All of it: also the entry (of a target list, by its own dialect, no class) that names the module. */
mc_verdict mc_claim_verdict(const mc_claim *c, const mc_module *m);
/* Works out the verdicts of all modules of a claim's component, in time that grows with names and entries, not with their product. */
void   mc_claim_resolve(mc_arena *a, mc_claim *c, const mc_module *modules, size_t n);
/* The claim that is read first for a component; NULL: none. */
const mc_claim *mc_claim_of(const struct mc_quant *q, uint32_t component);

#endif
