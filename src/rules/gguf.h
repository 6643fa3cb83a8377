/* gguf.h - what the files of the GGUF family share. The table is in gguf.c; the checks stand beside their facts:
 * gguf_file.c one file's header and table    gguf_set.c split sets     gguf_keys.c metadata against the loader
 * gguf_model.c tensors against the loader    gguf_label.c file names   gguf_notes.c what some readers mind */
#ifndef MODELCHECK_RULES_GGUF_H
#define MODELCHECK_RULES_GGUF_H
#include "rules/rule.h"

typedef unsigned long long mc_ull; /* for printf */

/* A main model of an architecture that llama.cpp knows: what the model-level rules judge. */
typedef struct {
    const mc_model          *m;
    const mc_gguf           *g;
    uint32_t                 file;      /* anchor: the first file of the set, by name */
    mc_str                   arch;
    const mc_gguf_arch_info *info;
    bool                     complete;  /* every file of the set is here and sound */
    uint64_t                 blocks;    /* block_count; 0 when it is absent or no u32 */
} mc_gguf_main;

bool mc_gguf_main_model(const mc_check *cx, mc_gguf_main *out) MC_MUST_USE;
/* The file as far as the rules go: NULL unless a GGUF header was read to its end without fault. */
const mc_file *mc_gguf_sound(const mc_model *m, size_t file);
bool     mc_gguf_later_part(const mc_file *f);              /* a split file that is not the first of its set */
bool     mc_gguf_set_complete(const mc_model *m);
bool     mc_gguf_in_store(const mc_file *f);                /* named as blobs of an Ollama store are */
bool     mc_gguf_has_size(const mc_kb *kb, const mc_tensor *t); /* begin and end hold */
unsigned mc_gguf_rank(const mc_tensor *t);                  /* dimensions without trailing ones */
bool     mc_gguf_block(mc_str name, uint64_t *n);           /* "blk.12.", "enc.blk.12.", "dec.blk.12." */
/* The type that the quantization label of a file name stands for, NULL if there is none; label: its text, in buf. */
const char *mc_gguf_label_type(mc_str base, char *buf, size_t room, mc_str *label);
bool     mc_gguf_misaligned(const mc_check *cx, uint32_t file); /* MC625 reports it */

void mc_check_601(mc_check *cx);
void mc_check_602(mc_check *cx);
void mc_check_603(mc_check *cx);
void mc_check_604(mc_check *cx);
void mc_check_605(mc_check *cx);
void mc_check_606(mc_check *cx);
void mc_check_607(mc_check *cx);
void mc_check_608(mc_check *cx);
void mc_check_609(mc_check *cx);
void mc_check_610(mc_check *cx);
void mc_check_611(mc_check *cx);
void mc_check_612(mc_check *cx);
void mc_check_613(mc_check *cx);
void mc_check_614(mc_check *cx);
void mc_check_615(mc_check *cx);
void mc_check_616(mc_check *cx);
void mc_check_617(mc_check *cx);
void mc_check_618(mc_check *cx);
void mc_check_619(mc_check *cx);
void mc_check_620(mc_check *cx);
void mc_check_621(mc_check *cx);
void mc_check_622(mc_check *cx);
void mc_check_623(mc_check *cx);
void mc_check_624(mc_check *cx);
void mc_check_625(mc_check *cx);
void mc_check_626(mc_check *cx);
void mc_check_627(mc_check *cx);
void mc_check_628(mc_check *cx);

#endif
