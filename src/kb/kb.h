/* kb.h - the knowledge base: what the files under rules/ say. They are embedded in the program at build time.
 * Each table is decoded at its first use into the kb's arena, so that --version and small checks pay for nothing.
 * A kb belongs to one run and is used by one thread. */
#ifndef MODELCHECK_KB_H
#define MODELCHECK_KB_H
#include "base/base.h"

/* ---- embedded files --------------------------------------------------------------------------------------- */

struct mc_kb;
typedef struct { const char *name; const uint8_t *p; size_t n; } mc_embedded; /* name: "ggml-types.json" */
mc_span mc_embedded_find(const char *name);                                   /* { NULL, 0 } if there is none */
/* Each file whose name begins with the prefix: start with NULL; NULL at the end. */
const mc_embedded *mc_embedded_next(const mc_embedded *last, const char *prefix);

/* Files given at run time (--rules DIR): an embedded file of the same name is replaced. Before the first use of the tables. */
bool mc_kb_add_file(struct mc_kb *kb, const char *name, mc_span text) MC_MUST_USE;

/* ---- element types: rules/dtypes.json, rules/ggml-types.json ---------------------------------------------- */

typedef enum { MC_CLASS_FLOAT, MC_CLASS_INT, MC_CLASS_BOOL, MC_CLASS_COMPLEX, MC_CLASS_BLOCK /* quantized in blocks */ } mc_class;
typedef struct {
    mc_str   name;              /* as users know it: "BF16", "F8_E4M3", "Q4_K" */
    mc_class cls;
    uint32_t block, block_bits; /* elements per block and bits per block: F4 1, 4; Q4_0 32, 144 */
    uint32_t row_meta;          /* bytes before each row (ik_llama.cpp types) */
    uint32_t tensor_meta;       /* bytes behind each tensor (I2_S) */
    int32_t  ggml_id;           /* -1: a safetensors dtype */
    bool     foreign;           /* ggml: removed upstream or known from a fork only */
    mc_str   fork, advice;      /* ggml foreign: who writes it; what to use instead */
    mc_str   since;             /* safetensors: first release that reads it, "" if all; ggml: first llama.cpp build, "" if all */
} mc_dtype;

typedef struct mc_kb mc_kb;
struct mc_kb {
    mc_arena  arena;
    mc_dtype *dtypes; size_t n_dtypes;  /* safetensors dtypes first, then ggml types; filled by mc_kb_init */
    size_t    n_st_dtypes;
    void     *gguf;                     /* private: decoded rules/gguf-architectures.json */
    void     *quants;                   /* private: decoded rules/quants/ */
    void     *families;                 /* private: decoded rules/families/ */
    mc_embedded *extra; size_t n_extra, cap_extra; /* mc_kb_add_file */
    void     *frameworks;               /* private: decoded rules/frameworks/ */
};

mc_err mc_kb_init(mc_kb *kb) MC_MUST_USE;
void   mc_kb_free(mc_kb *kb);

uint16_t        mc_kb_st_dtype(const mc_kb *kb, mc_str name);                 /* id or UINT16_MAX; exact, case-sensitive */
/* Live upstream types and those of forks may share an id: the first call gives upstream, `nth` counts on. UINT16_MAX: no more. */
uint16_t        mc_kb_ggml_dtype(const mc_kb *kb, uint32_t ggml_id, unsigned nth);
const mc_dtype *mc_kb_dtype(const mc_kb *kb, uint16_t id);                    /* NULL for UINT16_MAX */
/* Bytes of `elements` in rows of `row` elements. False: not a whole number of blocks or bytes, or overflow. */
bool            mc_dtype_bytes(const mc_dtype *d, uint64_t elements, uint64_t row, uint64_t *out) MC_MUST_USE;
bool            mc_dtype_is_float(const mc_dtype *d, unsigned bits);          /* a plain float of that width */
bool            mc_dtype_is_plain(const mc_dtype *d);                         /* of 16, 32 or 64 bits: values as they are */

/* ---- class defaults: rules/config-defaults.tsv ------------------------------------------------------------ */

/* One row of a model_type: what a key is when config.json leaves it out. value is JSON text; "null" with rule "=x". */
typedef struct { mc_str key, value, rule, note; } mc_default;
bool mc_kb_has_type(const mc_kb *kb, mc_str model_type);                      /* the table has rows for it */
bool mc_kb_default(const mc_kb *kb, mc_str model_type, const char *key, mc_default *out);
/* Each row of a model_type in file order: start with *cursor = NULL; false at the end. */
bool mc_kb_next_default(const mc_kb *kb, mc_str model_type, const char **cursor, mc_default *out);

/* ---- names that a framework has built in: rules/builtin-names.tsv ----------------------------------------- */

bool mc_kb_builtin(mc_kb *kb, mc_str model_type_or_architecture);

/* ---- families of architectures: rules/families/ ------------------------------------------------------------ */

/* The entry of a model_type, or of a GGUF architecture: what kind of cache it has and by which keys. NULL: not known.
 * The members are described in docs/memory.md; floor/ reads them. */
const mc_value *mc_kb_family(mc_kb *kb, bool gguf, mc_str name);
bool            mc_family_is(const mc_value *family, const char *key, const char *word); /* the member is that text */

/* ---- GGUF architectures: rules/gguf-architectures.json ---------------------------------------------------- */

/* Keys without the "{arch}." prefix. Source: llama.cpp src/models, see the file. */
typedef struct {
    mc_str        name;
    const mc_str *required; size_t n_required;  /* the loader stops without them */
    const mc_str *read; size_t n_read;          /* every key it looks at, the required ones included */
} mc_gguf_arch_info;
const mc_gguf_arch_info *mc_kb_gguf_arch(mc_kb *kb, mc_str arch);             /* NULL: not a known architecture */
/* What llama.cpp takes for "{arch}.<key>": types divided by '|', "u32", "f32", "bool", "str", "i32[]", "u32|u32[]" ...; "": not in the table. */
mc_str mc_kb_gguf_key_type(mc_kb *kb, mc_str key);

/* ---- quantization methods: rules/quants/ ------------------------------------------------------------------- */

/* What plain 16-bit weights mean under a block of this method. */
typedef enum {
    MC_PLAIN_UNKNOWN,
    MC_PLAIN_BROKEN,            /* loaders want packed tensors (MC416) */
    MC_PLAIN_ON_LOAD,           /* loaders quantize them (MC417) */
    MC_PLAIN_LEGAL,
    MC_PLAIN_BY_FORMAT,         /* compressed-tensors: `packed_formats` want packed tensors */
    MC_PLAIN_RUN_TIME           /* the name exists at run time only, never in a stored block (MC412) */
} mc_plain;
typedef struct {
    mc_str          name;       /* canonical: "gptq" */
    mc_plain        plain;
    bool            decoded;    /* false: a name that is known and a layout that is not */
    const mc_value *spec;       /* its object in the file: aliases, layouts, bits, group, excludes, ... */
    const mc_value *file;       /* the whole file: tables of algorithms, formats, presets */
} mc_kb_method;
/* By canonical name or alias; case is folded and '-' equals '_'. NULL: unknown. */
const mc_kb_method *mc_kb_quant_method(mc_kb *kb, mc_str name);
/* A member of a table of the method's file, folded likewise: ("modelopt", "algos", "nvfp4"). NULL: none. */
const mc_value *mc_kb_quant_entry(mc_kb *kb, const char *method, const char *table, mc_str name);
bool mc_quant_name_eq(mc_str a, mc_str b);                                    /* equal but for case and '-' against '_' */

/* A number of a block, under any of the keys of a specification ("bits", "group", "average" of a method). */
typedef enum { MC_NUMBER_ABSENT, MC_NUMBER_GOOD, MC_NUMBER_TEXT /* good, but in quotes */, MC_NUMBER_BAD } mc_number_state;
typedef struct { mc_number_state state; double v; mc_str key; const mc_value *value; } mc_number;
mc_number mc_quant_number(const mc_value *spec, const mc_value *block);

/* ---- accelerators: rules/gpus.tsv ------------------------------------------------------------------------- */

/* target: "sm90", "gfx942", "-"; backend: "cuda", "rocm", "metal", ...; backends: all that drive it, that one first: "xpu,sycl";
 * capability: 90 of sm90, 0 for others. */
typedef struct { mc_str name, target, backend, backends; unsigned capability; } mc_kb_gpu;
bool mc_kb_gpu_find(mc_arena *a, mc_str name, mc_kb_gpu *out) MC_MUST_USE;    /* by name, alias, smNN or gfxNNN */
mc_str mc_kb_gpu_names(mc_arena *a);                                          /* "p100, p40, ..." */

#endif
