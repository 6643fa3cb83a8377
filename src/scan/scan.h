/* scan.h - from a path to models: the only place where io, formats, kb and model meet.
 *
 *   walk (io) -> units -> classify -> documents -> headers -> sets and read sets -> inventory -> geometry -> kind
 *
 * units.c      which models a path holds          classify.c  the files and components of one, by name
 * load.c       documents, tokenizers, small reads headers.c   weights and indexes, by a few threads
 * sets.c       shard sets and the read set        inventory.c tensors of a read set by name
 * geometry.c   what the configuration implies     infer.c     what the tensors show: parameters, heads, kind
 * expected.c   parameters that it implies
 * tokens.c     added tokens and the end token     claims*.c   what configuration files say about quantization
 * modules*.c   what is quantized, and how         summary.c   sums over modules, logical parameters */
#ifndef MODELCHECK_SCAN_H
#define MODELCHECK_SCAN_H
#include "io/io.h"
#include "kb/kb.h"
#include "model/gguf.h"
#include "model/model.h"

typedef struct {
    bool recursive;             /* every directory with a model is a model */
    bool follow_links;
} mc_scan_options;

typedef struct mc_model_list { mc_model **v; size_t n, cap; mc_arena *arena; } mc_model_list; /* arena: of the list itself */

/* Appends the models of one path. Each has an arena of its own, which the list's owner frees (mc_model_free).
 * MC_E_IO with errno in *os_error: the path cannot be opened at all (status 3, no finding). */
mc_err mc_scan_path(const char *path, const mc_scan_options *o, mc_kb *kb, mc_model_list *out, int *os_error) MC_MUST_USE;
void   mc_model_free(mc_model *m);

/* Steps that tests call on their own. */
void mc_geometry(mc_model *m, mc_kb *kb);               /* fills arch from config.json and class defaults, or from GGUF keys */
void mc_geometry_gguf(mc_model *m, mc_kb *kb);          /* the same from GGUF keys; called by mc_geometry */
void mc_infer(mc_model *m, mc_kb *kb);                  /* stored elements, bytes, heads, kind */
/* Fills quant->modules from the inventories. `read` gets all small reads at once and sets `got` of those it can; NULL: no data.
 * m->quant stays NULL when there is no inventory. */
struct mc_small;
typedef void mc_small_reader(void *arg, struct mc_small *v, size_t n);
void mc_find_modules(mc_model *m, const mc_kb *kb, mc_small_reader *read, void *arg);
void mc_settle_summary(mc_model *m, mc_kb *kb);         /* summary_claim.c: method and granularity where claim and tensors differ in words */
void mc_sum_modules(mc_model *m, const mc_kb *kb);      /* the summary in quant, parameters; after the claims */

/* claims.c: what the files say about quantization. Needs the documents and, to work out what each claim says of each module,
 * the modules. Fills claims and declared of m->quant, which it makes if there is a claim and no inventory. */
void mc_quant_claims(mc_model *m, mc_kb *kb);

/* tokens.c: facts of the tokenizer's side files. The text of eos_token comes first, since mc_parse_tokenizer looks for it
 * (wanted = m->tokens.eos.v); once tokenizer.json has been read, the second call adds everything else. */
void mc_tokens_eos(mc_model *m);
void mc_tokens_from_docs(mc_model *m);

/* adapter.c: fills base_exists, once adapter_config.json has been read. root: directory of the model as the system knows it. */
void mc_adapter_base(mc_model *m, mc_str root);

#endif
