/* gguf.h - the facts of one GGUF file: its metadata as written and what is wrong with it. Part of the model layer.
 * Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md */
#ifndef MODELCHECK_MODEL_GGUF_H
#define MODELCHECK_MODEL_GGUF_H
#include "model/model.h"

typedef enum {
    MC_GGUF_U8, MC_GGUF_I8, MC_GGUF_U16, MC_GGUF_I16, MC_GGUF_U32, MC_GGUF_I32, MC_GGUF_F32, MC_GGUF_BOOL, MC_GGUF_STRING,
    MC_GGUF_ARRAY, MC_GGUF_U64, MC_GGUF_I64, MC_GGUF_F64
} mc_gguf_type;

typedef struct {
    mc_str   key;
    uint64_t at;                /* offset of the key in the file */
    uint32_t type, element;     /* mc_gguf_type; element: of an array */
    uint64_t n;                 /* elements of an array, else 1 */
    uint64_t u;                 /* scalar integers and bool, as stored (zero-extended) */
    int64_t  i;                 /* scalar integers, sign-extended */
    double   f;                 /* f32, f64 */
    mc_str   s;                 /* string */
    mc_span  raw;               /* array: its bytes in the file's order; strings are u64 length + bytes each */
} mc_gguf_kv;

/* The first fault in the reference loader's order, by the rule that reports it. */
typedef enum {
    MC_GGUF_SOUND, MC_GGUF_BAD_VERSION /* MC601 */, MC_GGUF_DAMAGED /* MC602 */, MC_GGUF_INVALID /* MC603 */,
    MC_GGUF_LIMIT /* MC901 */
} mc_gguf_fault;

struct mc_gguf {
    uint32_t      version;
    bool          big_endian;
    mc_gguf_fault fault;
    mc_err        err;          /* where and what, when fault is not MC_GGUF_SOUND */
    mc_str        err_subject;  /* the key or tensor concerned, "" if none */
    uint64_t      n_kv, n_tensors;      /* as the header counts them */
    mc_gguf_kv   *kv; size_t n;         /* those that were read */
    mc_strset     keys;                 /* keys.keys[i] is kv[i].key */
    uint64_t      alignment;            /* 32 unless general.alignment says otherwise */
    uint64_t      tensors_at;           /* offset of the tensor table */
    uint32_t     *type_ids;             /* ggml type of each tensor of the file, as stored */
    uint64_t      data_end;             /* end of the last tensor whose size is known, in the file, without its padding */
    bool          sizes_known;          /* every tensor's type has a known size: data_end is the end of all data */
    mc_span       tail;                 /* up to 64 bytes at the padded end of the tensor data (what cat appended: MC614) */
    bool          tail_zero;            /* all bytes behind the last tensor's end are zero, as far as `tail` tells */
};

/* What a file is, whatever it is named (rules MC611, MC612; formats of the side files: llama.cpp tools). */
typedef enum {
    MC_GGUF_MODEL,              /* a language model, or a split file that does not say */
    MC_GGUF_BUNDLE,             /* language model and vision or audio tower in one file (Ollama) */
    MC_GGUF_PROJECTOR, MC_GGUF_ADAPTER, MC_GGUF_CONTROL_VECTOR, MC_GGUF_IMATRIX, MC_GGUF_DRAFT,
    MC_GGUF_VOCABULARY,         /* no weights, and its name says so */
    MC_GGUF_VOCAB_ONLY          /* no weights under the name of a model */
} mc_gguf_content;

const mc_gguf_kv *mc_gguf_get(const mc_gguf *g, const char *key);                 /* NULL if absent, or g NULL */
const mc_gguf_kv *mc_gguf_arch(const mc_gguf *g, const char *suffix);             /* "{general.architecture}.suffix" */
bool   mc_gguf_uint(const mc_gguf_kv *kv, uint64_t *out) MC_MUST_USE;             /* any scalar integer >= 0 */
mc_str mc_gguf_str(const mc_gguf_kv *kv);                                         /* "" unless a string */
/* Element i of an array of integers or bools. False beyond the end and for other element types. */
bool   mc_gguf_element(const mc_gguf *g, const mc_gguf_kv *kv, uint64_t i, int64_t *out) MC_MUST_USE;
/* Walk an array of strings: start with *pos = 0; false at the end. */
bool   mc_gguf_next_str(const mc_gguf *g, const mc_gguf_kv *kv, size_t *pos, mc_str *out);
const char *mc_gguf_type_name(uint32_t type);                                     /* "u32"; "?" beyond the table */
uint64_t    mc_gguf_pad(uint64_t n, uint64_t alignment);                          /* up to a multiple; UINT64_MAX on overflow */

/* The tail is not in the prefix that is parsed: read bytes [g->data_end, ...) of the file, mc_gguf_tail_want() of them
 * (0: nothing to read), and hand them over. */
uint64_t mc_gguf_tail_want(const mc_file *f);
void     mc_gguf_set_tail(mc_file *f, mc_span bytes);

/* `file` is a GGUF of the unit; of a split set the metadata of the first file and the tensors of all count. */
mc_gguf_content mc_gguf_contents(const mc_model *m, uint32_t file);
const char     *mc_gguf_content_name(mc_gguf_content c);                          /* "LoRA adapter" */
mc_kind         mc_gguf_kind(const mc_model *m);                                  /* for mc_model.kind of a GGUF unit */

/* <prefix>-00001-of-00003.gguf: exactly five digits each. */
typedef struct { mc_str prefix; uint64_t no, count; } mc_gguf_split;
bool mc_gguf_split_name(mc_str base, mc_gguf_split *out) MC_MUST_USE;

#endif
