/* model.h - what is known about one model, whatever format said it. Rules read this and nothing else.
 *
 * Every fact carries its origin; evidence is made of origins. What configuration files claim (docs, arch) and what
 * the tensors show (inventories) are kept apart: neither overwrites the other. No I/O here.
 * Ownership: everything a model points to lives in its arena. Ids are indexes into the arrays of mc_model. */
#ifndef MODELCHECK_MODEL_H
#define MODELCHECK_MODEL_H
#include "base/base.h"

#define MC_NONE UINT32_MAX /* no file, no document, no set */

/* Who said so: a file, and a JSON pointer or GGUF key inside it. */
typedef struct { uint32_t file; mc_str where; } mc_origin;
typedef struct { bool known; int64_t v; mc_origin from; } mc_int;
typedef struct { bool known; bool    v; mc_origin from; } mc_bool;
typedef struct { bool known; mc_str  v; mc_origin from; } mc_text;

/* ---- files ------------------------------------------------------------------------------------------------ */

/* What the name promises. */
typedef enum {
    MC_ROLE_OTHER,
    MC_ROLE_WEIGHTS,            /* any weight container; mc_file.promised says which */
    MC_ROLE_INDEX,              /* <stem>.safetensors.index.json, pytorch_model.bin.index.json, variants */
    MC_ROLE_CONFIG,             /* config.json */
    MC_ROLE_GENERATION,         /* generation_config.json */
    MC_ROLE_TOKENIZER_CONFIG,   /* tokenizer_config.json */
    MC_ROLE_TOKENIZER_JSON,     /* tokenizer.json */
    MC_ROLE_SPECIAL_TOKENS,     /* special_tokens_map.json */
    MC_ROLE_ADDED_TOKENS,       /* added_tokens.json */
    MC_ROLE_VOCAB,              /* tokenizer.model, vocab.json, vocab.txt, merges.txt, tekken.json, *.tiktoken, spiece.model ... */
    MC_ROLE_PROCESSOR,          /* processor_config.json, preprocessor_config.json */
    MC_ROLE_TEMPLATE,           /* chat_template.jinja, chat_template.json */
    MC_ROLE_ADAPTER_CONFIG,     /* adapter_config.json */
    MC_ROLE_QUANTIZE_CONFIG,    /* quantize_config.json, quant_config.json, quantization_config.json */
    MC_ROLE_HF_QUANT_CONFIG,    /* hf_quant_config.json */
    MC_ROLE_PARAMS,             /* params.json (Mistral, Meta) */
    MC_ROLE_PIPELINE,           /* model_index.json (diffusers) */
    MC_ROLE_MODULES,            /* modules.json (sentence-transformers) */
    MC_ROLE_CODE,               /* *.py */
    MC_ROLE_TRAINING,           /* optimizer.pt, rng_state.pth, training_args.bin, scheduler.pt, ... */
    MC_ROLE_PARTIAL,            /* *.incomplete, *.part, *.crdownload, ...: an unfinished download */
    MC_ROLE_CONTROL,            /* <file>.aria2, .st, .!qB, .!ut: says that <file> is unfinished */
    MC_ROLE_BYTE_PART,          /* <name>.part1of2, <name>.part-aa, <name>.001: see mc_file.part_of */
    MC_N_ROLES
} mc_role;

/* A weight container, as promised by a name or proven by bytes. */
typedef enum {
    MC_FMT_NONE,
    MC_FMT_SAFETENSORS, MC_FMT_GGUF, MC_FMT_TORCH,              /* torch: zip, legacy stream or bare pickle */
    MC_FMT_ONNX, MC_FMT_TFLITE, MC_FMT_HDF5, MC_FMT_TF, MC_FMT_FLAX, MC_FMT_NPZ, MC_FMT_GGML, MC_FMT_CTRANSLATE2,
    MC_FMT_OPENVINO, MC_FMT_COREML, MC_FMT_TENSORRT, MC_FMT_TORCH_DCP, MC_FMT_OTHER
} mc_container;

/* What the first bytes prove, whatever the name says. */
typedef enum {
    MC_BYTES_UNREAD,            /* not opened: unreadable, outside, or of no interest */
    MC_BYTES_EMPTY,
    MC_BYTES_UNKNOWN,           /* binary without a magic we know */
    MC_BYTES_TEXT, MC_BYTES_JSON,
    MC_BYTES_LFS_POINTER, MC_BYTES_XET_POINTER, MC_BYTES_WEB_PAGE, MC_BYTES_ERROR_ANSWER,
    MC_BYTES_ZEROS,             /* at least 16 zero bytes at the start */
    MC_BYTES_SAFETENSORS,       /* a plausible length and '{' behind it */
    MC_BYTES_GGUF, MC_BYTES_GGUF_SWAPPED /* "FUGG" */, MC_BYTES_GGML /* lmgg fmgg tjgg algg */,
    MC_BYTES_TORCH_ZIP, MC_BYTES_ZIP, MC_BYTES_TORCH_LEGACY, MC_BYTES_PICKLE, MC_BYTES_TAR,
    MC_BYTES_ONNX, MC_BYTES_ORT, MC_BYTES_TFLITE, MC_BYTES_HDF5, MC_BYTES_NPY, MC_BYTES_NPZ, MC_BYTES_CTRANSLATE2,
    MC_BYTES_GZIP, MC_BYTES_ZSTD, MC_BYTES_XZ, MC_BYTES_7Z, MC_BYTES_RAR, MC_BYTES_BZIP2,
    MC_BYTES_RKNN, MC_BYTES_TORCH7, MC_BYTES_EXECUTABLE, MC_BYTES_SENTENCEPIECE
} mc_bytes;

typedef enum {
    MC_LINK_NONE, MC_LINK_INSIDE, MC_LINK_CACHE /* blobs of the same hub-cache repository */,
    MC_LINK_OUTSIDE /* not read */, MC_LINK_FOLLOWED /* outside, read on request */, MC_LINK_DANGLING
} mc_link;

typedef struct mc_tensor mc_tensor;
typedef struct mc_gguf   mc_gguf;
typedef struct mc_quant  mc_quant;

/* What a safetensors header says beside its tensors (rules MC301-MC309). */
typedef enum {
    MC_ST_SOUND,
    MC_ST_LENGTH,               /* MC301: no usable header length */
    MC_ST_HEADER,               /* MC302: the header is not the JSON object that the format demands */
    MC_ST_CUT,                  /* MC306: the file ends inside the header */
    MC_ST_LIMIT                 /* MC901 */
} mc_st_fault;
/* Faults of one kind: how many tensors, and the first of them. */
typedef struct { size_t n; mc_str name; uint32_t tensor; uint64_t at; const char *what; uint64_t a, b; } mc_st_tensors;

typedef struct {
    mc_st_fault fault;          /* where and what: mc_file.parse */
    uint64_t header_bytes;      /* N */
    enum { MC_META_ABSENT, MC_META_NULL, MC_META_OBJECT } metadata;
    mc_str   format;            /* __metadata__.format, "" if absent */
    bool     leading_space, extra_fields, array_form;
    bool     quantization;      /* a key of __metadata__ says that it describes the quantization */
    mc_str   unknown_dtype;     /* the first dtype string of no known name */
    size_t   n_unknown_dtype;
    mc_st_tensors duplicate;    /* a, b: the two places in the tensor table */
    mc_st_tensors offsets;      /* a: begin, b: end of a bad range; overlap and hole: begin, and where it should begin */
    mc_st_tensors shape;        /* a: bytes that dtype and shape need (bits if they fill no whole bytes), b: bytes declared */
    uint64_t data_end;          /* largest `end` of the data section, relative to data_start */
} mc_st;

typedef struct {
    mc_str       path;          /* relative to the model's path, '/' between the parts */
    mc_str       base;          /* last part of path, borrowed from it */
    uint32_t     component;     /* id of the directory it lies in */
    uint64_t     size;          /* bytes, of the link's target when it is a link */
    mc_role      role;
    mc_container promised;      /* of an index: the container it lists */
    mc_bytes     bytes;
    mc_span      head;          /* up to MC_HEAD_BYTES first bytes, if opened */
    mc_link      link;
    mc_str       target;        /* text of the link */
    int          os_error;      /* errno of open, stat or read; 0: none. Not a regular file: ENXIO */
    const char  *os_what;       /* "cannot open", "is a FIFO", "changed while it was read" */
    bool         limit;         /* a limit of ours was hit inside it (MC901): parse.what says which */
    mc_err       parse;         /* MC_OK, or why a weight file or index could not be understood; at: offset in the file */
    uint64_t     data_start;    /* first byte behind the header */
    mc_tensor   *tensors; size_t n_tensors;
    mc_st       *st;            /* safetensors only, else NULL */
    mc_gguf     *gguf;          /* GGUF only, else NULL */
    bool         torch_known;   /* central directory of a torch zip was read: torch_bytes and torch_storages hold */
    uint64_t     torch_bytes, torch_storages;
    mc_str       stem;          /* weights: "model" of model-00001-of-00002.safetensors and of model.safetensors */
    uint64_t     shard, shards; /* "00002-of-00007" -> 2, 7; shards 0: no such pattern (shard may hold a bare number) */
    bool         numbered;      /* shard is set */
    mc_str       variant;       /* "fp16", "ema", ... of <stem>.<variant>.<ext>, "" if none */
    uint32_t     set;           /* weight set, or MC_NONE */
    bool         in_read_set;   /* a loader would open it */
    mc_str       part_of;       /* MC_ROLE_BYTE_PART, MC_ROLE_CONTROL, MC_ROLE_PARTIAL: path it belongs to */
    uint64_t     part, parts;   /* number of a byte part (from its order if letters) and total, 0 unknown */
    mc_str       text;          /* MC_ROLE_TEMPLATE: the whole file, "" if not read */
    uint64_t     pointer_size;  /* LFS pointer: size and digest of what it stands for */
    mc_str       pointer_oid;   /* 64 hex digits */
} mc_file;

/* ---- tensors ---------------------------------------------------------------------------------------------- */

struct mc_tensor {
    mc_str          name;
    const uint64_t *dims;       /* as the file orders them: safetensors outermost first, GGUF row length first */
    uint64_t        begin, end; /* relative to the file's data_start; GGUF: end = begin + nbytes, == begin if unknown */
    uint64_t        hash;       /* mc_str_hash(name) */
    uint64_t        elements;   /* product of dims; UINT64_MAX with `overflow` */
    mc_tensor      *twin;       /* next tensor of the same name in the inventory */
    uint32_t        form;       /* id in mc_inventory.forms, once it is in an inventory */
    uint32_t        layer;      /* the first dotted part that is a number: 3 of model.layers.3.mlp; MC_NONE: none */
    uint32_t        file;
    uint16_t        dtype;      /* index into mc_kb.dtypes, MC_DTYPE_UNKNOWN */
    uint8_t         rank;
    bool            overflow;   /* the product of dims does not fit 64 bits */
};
#define MC_DTYPE_UNKNOWN UINT16_MAX

/* What a name says about its tensor. */
enum { MC_TAG_BUFFER = 1, MC_TAG_EMBEDDING = 2, MC_TAG_HEAD = 4 };

enum { MC_FORM_HOLES = 4 };

/* All tensors whose names differ only in numbers (forms.c). A question about names is asked once a form, of `first`. */
typedef struct {
    const mc_tensor *first;
    size_t           n;         /* tensors */
    uint64_t         layers;    /* largest layer + 1; 0: no number */
    unsigned         tags;
    uint32_t         next;      /* the form that followed the last tensor of this one: a good guess for the next */
    uint16_t         holes[MC_FORM_HOLES], n_holes; /* where the numbers stand; n_holes above MC_FORM_HOLES: too many to guess */
} mc_form;

/* Tensors of a read set by name. Iterate `first[0..names.n)`, and the twins of each. */
typedef struct {
    mc_strset   names;
    mc_tensor **first;          /* by name id */
    size_t      cap;
    mc_strset   form_names;     /* "model.layers.#.mlp.up_proj.weight" */
    mc_form    *forms; size_t cap_forms; /* form_names.n of them */
    uint32_t    last_form;      /* of the tensor added last */
    bool        complete;       /* every file of the read set was there and had a usable header */
    uint64_t    n_tensors, bytes;
} mc_inventory;
mc_tensor *mc_inventory_find(const mc_inventory *inv, mc_str name); /* NULL if absent */
bool       mc_form_add(mc_inventory *inv, mc_tensor *t) MC_MUST_USE;  /* fills form and layer of t; false: out of memory */

/* ---- documents and indexes -------------------------------------------------------------------------------- */

/* A JSON side file. root is NULL when absent, unreadable or invalid (err). */
typedef struct {
    uint32_t  file;
    mc_role   role;
    mc_value *root;
    mc_err    err;
    const char *hint;           /* "trailing comma", "comment", "byte order mark", ... or NULL */
    unsigned  line, col;        /* of err */
    unsigned  literal_line;     /* line of the first bare NaN or Infinity, 0 if none */
    mc_str    literal;          /* "Infinity" */
} mc_doc;

typedef enum { MC_SHARD_PRESENT, MC_SHARD_ABSENT, MC_SHARD_UNSAFE, MC_SHARD_WRONG_KIND } mc_shard_state;
typedef struct { mc_str name; uint32_t file; mc_shard_state state; size_t n_tensors; } mc_shard; /* file: MC_NONE unless present */
typedef struct { mc_str tensor; uint32_t shard; } mc_mapped; /* one weight_map line; shard: id in mc_index.shards */

typedef struct {
    uint32_t   file, component;
    bool       rules;           /* belongs to the read set of its component */
    bool       valid;           /* err is MC_OK, no conflict, no value of a wrong kind */
    mc_err     err;
    const char *hint;           /* "git conflict marker", "two documents joined", ... or NULL */
    mc_str     conflict;        /* a key that occurs twice with different values */
    size_t     n_bad_values;    /* values that are no string */
    mc_str     bad_value_key;
    enum { MC_INDEX_META_ABSENT, MC_INDEX_META_NULL, MC_INDEX_META_OBJECT, MC_INDEX_META_OTHER } metadata;
    mc_int     total_size;      /* metadata.total_size as an integer, from a number or a decimal string */
    mc_int     total_parameters;
    mc_mapped *map; size_t n_map;
    mc_strset  keys;            /* keys.keys[i] is map[i].tensor (repeated keys once) */
    mc_shard  *shards; size_t n_shards;
} mc_index;

/* ---- sets and components ---------------------------------------------------------------------------------- */

/* Files that are one copy of the weights: a single file, or the shards of one stem. */
typedef struct {
    uint32_t     component;
    mc_container container;
    mc_str       stem, variant;
    uint64_t     total;         /* n of -of-n, 0 if the names have none */
    uint32_t    *files; size_t n_files; /* in order of number, then name */
    uint32_t     index;         /* id in mc_model.indexes of the index that names it, or MC_NONE */
    bool         read;          /* this is the read set of its component */
    bool         complete;      /* as far as names and index tell */
    uint64_t     bytes;         /* file sizes */
} mc_set;

typedef enum {
    MC_COMP_ROOT,
    MC_COMP_PART,               /* loaded with the root: component of a pipeline, module of a sentence-transformer */
    MC_COMP_COPY                /* original/, metal/, onnx/, a complete model in a sub-directory: never read */
} mc_comp_kind;

typedef struct {
    mc_str       dir;           /* "" or "unet/" */
    mc_comp_kind kind;
    mc_str       library, cls;  /* of model_index.json or modules.json, "" if none */
    uint32_t     docs[MC_N_ROLES]; /* document of that role, or MC_NONE */
    uint32_t     index;         /* the index that rules the read set, or MC_NONE */
    uint32_t     set;           /* the read set, or MC_NONE */
    mc_inventory inv;           /* tensors of the read set */
} mc_component;

/* ---- tokenizer -------------------------------------------------------------------------------------------- */

typedef struct { int64_t id; mc_str text; bool special; uint32_t file; } mc_token; /* one added token, from one file */
typedef struct {
    mc_token *added; size_t n_added, cap_added; /* tokenizer.json added_tokens, added_tokens.json, added_tokens_decoder */
    mc_text   eos;                      /* text of eos_token, from tokenizer_config.json or special_tokens_map.json */
    mc_int    eos_id;                   /* its id by tokenizer.json, added_tokens or vocab */
    mc_int    vocab;                    /* entries of tokenizer.json model.vocab, when counted */
} mc_tokens;
bool mc_token_add(mc_arena *a, mc_tokens *t, mc_token token) MC_MUST_USE; /* false: out of memory */

/* ---- the model -------------------------------------------------------------------------------------------- */

/* Geometry that config.json (or GGUF keys) implies. Absent keys take the defaults of their class: origin.file is then
 * the configuration and origin.where says "default of <model_type>". */
typedef struct {
    mc_text name, model_type, dtype;    /* architectures[0], model_type of the text model, dtype or torch_dtype */
    mc_str  text_at;                    /* JSON pointer of the text config: "" or "/text_config" */
    mc_int  layers, hidden, heads, kv_heads, head_dim, v_head_dim, vocab, context, intermediate, experts, experts_used, mtp_layers, sliding_window;
    mc_bool tie;                        /* tie_word_embeddings: stated at any level, else the class default */
    mc_bool tie_false;                  /* known: `false` is stated at some level */
} mc_arch;

typedef enum { MC_UNIT_DIR, MC_UNIT_GGUF, MC_UNIT_FILE /* one weight file given alone */, MC_UNIT_CACHE, MC_UNIT_OLLAMA } mc_unit;
typedef enum {
    MC_KIND_NONE, MC_KIND_CAUSAL_LM, MC_KIND_SEQ2SEQ, MC_KIND_ENCODER, MC_KIND_VISION_LANGUAGE, MC_KIND_DIFFUSERS,
    MC_KIND_SENTENCE, MC_KIND_ADAPTER, MC_KIND_PROJECTOR, MC_KIND_VOCAB, MC_KIND_IMATRIX, MC_KIND_DRAFT,
    MC_KIND_STATIC_EMBEDDING, MC_KIND_OTHER
} mc_kind;

/* The tied-head question (rules MC455-MC457): the stored head and embedding of the root, and what their bytes say. */
typedef struct {
    const mc_tensor *embed, *head;      /* NULL if not stored */
    enum { MC_SAME_UNKNOWN, MC_SAME_YES, MC_SAME_NO } same;
    uint64_t compared;                  /* bytes of each that were read and equal */
} mc_heads;

/* Another unit of the same directory: a GGUF beside the safetensors, another quantization (rule MC111). */
typedef struct { mc_str path; uint64_t bytes; } mc_sibling;

typedef struct {
    mc_arena     *arena;
    mc_str        path;                 /* as the report prints it */
    mc_str        given;                /* last part of the resolved path: the name that users see (rule MC508) */
    mc_unit       unit;
    mc_kind       kind;
    mc_container  format;               /* of the read set; MC_FMT_NONE: no weights */
    bool          mixed;                /* read set spans containers, or "mixed" in the report */
    bool          alone;                /* a file given alone: siblings were not looked for (MC905) */
    bool          named;                /* the path given names this file or set, not its directory */
    bool          main_beside;          /* another unit of the same directory is a model of its own (MC904) */
    bool          incomplete;           /* a limit or an I/O error left something unread (MC901, MC902, MC805) */
    const char   *limit;                /* what limit, for the model as a whole; NULL: none */
    uint64_t      limit_value;
    mc_file      *files;      size_t n_files, cap_files;
    mc_component *components; size_t n_components, cap_components; /* [0] is the root */
    mc_set       *sets;       size_t n_sets, cap_sets;
    mc_doc       *docs;       size_t n_docs, cap_docs;
    mc_index     *indexes;    size_t n_indexes, cap_indexes;
    mc_sibling   *siblings;   size_t n_siblings;             /* GGUF units of the same directory, this one left out */
    const mc_gguf *gguf;                /* MC_UNIT_GGUF: metadata of the first file of the set, by name; else NULL */
    uint32_t      gguf_file;
    mc_arch       arch;
    mc_quant     *quant;                /* model/quant.h; NULL before the modules are built */
    mc_tokens     tokens;
    mc_heads      heads;
    bool          base_exists;          /* an adapter's base_model_name_or_path is a path under which there is something */
    mc_int        parameters;           /* logical elements of the read set; not known: null */
    mc_int        stored_elements;
    mc_int        expected;             /* parameters that config.json implies, for families whose modules are fixed */
    mc_int        weights_bytes;        /* tensor bytes of the read set */
    uint64_t      n_tensors, duplicate_bytes; /* duplicate_bytes: files of complete sets outside the read set */
    uint64_t      bytes_read;           /* by this program */
} mc_model;

/* Facts by name, all NULL-safe. */
const mc_doc   *mc_model_doc(const mc_model *m, uint32_t component, mc_role role);    /* NULL if absent or not read */
const mc_value *mc_model_root(const mc_model *m, uint32_t component, mc_role role);   /* its tree, NULL if absent or invalid */
const mc_value *mc_model_config(const mc_model *m);                                   /* config.json of the root */
uint32_t        mc_model_file(const mc_model *m, const char *path);                   /* id or MC_NONE */
mc_origin       mc_from_doc(const mc_doc *d, mc_str where);
mc_str          mc_file_path(const mc_model *m, uint32_t file);                       /* "" for MC_NONE */
const char     *mc_container_name(mc_container c);                                    /* "safetensors" */
mc_container    mc_bytes_container(mc_bytes b);                                       /* what they prove; MC_FMT_NONE: no container */
const char     *mc_bytes_name(mc_bytes b);                                            /* "a zip archive" */
const char     *mc_kind_name(mc_kind k);                                              /* "causal-lm" */

/* ---- shard names (model/names.c) -------------------------------------------------------------------------- */

/* Splits a file name (path and base are set): role, promised container, stem, shard numbers, variant, part_of, part, parts.
 * Fills only those fields. Stem and numbers also for indexes; bare numbers ("layers-22") for safetensors and torch only. */
void mc_name_parse(mc_file *f);
/* A weight_map value that must not be opened: absolute, drive letter, "..", backslash, NUL or control character. */
bool mc_name_unsafe(mc_str value);

/* The width that a directory or file name claims (model/bit_labels.c): "W4A16", "4bit", "FP8", "3.5bpw"; bits 0: none. */
typedef struct { mc_str text; double bits; } mc_bits_label;
mc_bits_label mc_bits_label_of(mc_str name);

/* ---- shapes (model/model.c) ------------------------------------------------------------------------------- */

bool   mc_same_shape(const mc_tensor *a, const mc_tensor *b);
mc_str mc_shape_text(mc_arena *a, const mc_tensor *t);   /* "[4096, 1024]", in the order of dims */

/* ---- tensor names (model/tensor_names.c) ------------------------------------------------------------------ */

/* Recomputed by every loader, so present or absent at will: inv_freq, position_ids, masked_bias, attn.bias, masks. */
unsigned mc_name_tags(mc_str tensor);
bool   mc_name_is_buffer(mc_str tensor);
/* "model.layers.0.mlp.up_proj" of ".weight", ".qweight", ".weight.absmax": the name without what the storage form adds. */
mc_str mc_name_module(mc_str tensor);
bool   mc_name_is_embedding(mc_str tensor);              /* an input embedding: embed_tokens, wte, tok_embeddings, shared ... */
bool   mc_name_is_head(mc_str tensor);                   /* an output head: lm_head, embed_out, output ... outside the layers */
mc_str mc_name_part(mc_str *rest);                       /* takes the next dotted part: "model" of model.layers.3 */
bool   mc_name_has_part(mc_str name, const char *const *words); /* a dotted part is one of them, NULL at the end */
bool   mc_name_layer(mc_str tensor, uint64_t *layer);    /* the first dotted part that is a number: 3 of model.layers.3.mlp */

#endif
