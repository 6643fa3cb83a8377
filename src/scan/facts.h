/* facts.h - the named facts of one model, as predicates ask for them (kb/predicates.h). docs/frameworks.md lists them.
 * Scan supplies what the model is; framework and target (quant_method, act_dtype, gpu ...) lie over it in kb/judge.c. */
#ifndef MODELCHECK_SCAN_FACTS_H
#define MODELCHECK_SCAN_FACTS_H
#include "kb/frameworks.h"
#include "model/model.h"
#include "model/quant.h"

/* Per-layer things that `each` walks over. */
typedef struct { const mc_module *m; bool row, column; } mc_linear;
typedef struct { mc_str first; mc_three mixed; } mc_fused_group;

/* What takes a walk over all modules or tensors: made at the first question that needs it. */
typedef enum { MC_LIST_DTYPES, MC_LIST_TYPES, MC_LIST_SUFFIXES, MC_LIST_DIVISORS, MC_N_FACT_LISTS } mc_fact_list_id;
typedef struct {
    mc_linear      *linears; size_t n_linears;  /* linear layers of the decoder, experts left out; row- or column-parallel */
    mc_linear      *experts; size_t n_experts;
    mc_linear      *ends; size_t n_ends;        /* embedding and head */
    mc_fused_group *groups; size_t n_groups;
    bool            layers_made, groups_made, list_made[MC_N_FACT_LISTS];
    mc_fact         lists[MC_N_FACT_LISTS];
} mc_facts_lazy;

typedef struct mc_model_facts mc_model_facts;
struct mc_model_facts {
    const mc_model *m;
    mc_kb          *kb;
    mc_arena       *a;
    int64_t         tp;                         /* 1 without --tp */
    const mc_value *config;                     /* config.json of the root, NULL */
    const mc_claim *claim;                      /* the block that counts, NULL */
    const mc_value **config_groups; size_t n_config_groups; /* of compressed-tensors */
    mc_facts_lazy  *lazy;                       /* NULL: out of memory */
};

/* Fills f; everything it points to lives in the arena. tp 0: not given. */
void     mc_model_facts_init(mc_model_facts *f, mc_arena *a, const mc_model *m, mc_kb *kb, int64_t tp);
mc_facts mc_model_facts_of(const mc_model_facts *f);
/* Weight files and indexes, for which files a framework would read. */
mc_target_files *mc_model_files(mc_arena *a, const mc_model *m);

/* ---- private to facts*.c: each answers for its group of names ---- */
typedef mc_fact mc_fact_reader(const mc_model_facts *f, mc_scope scope, mc_str name);
mc_fact_reader mc_fact_quant, mc_fact_ct;      /* facts_quant.c */
mc_fact_reader mc_fact_layer, mc_fact_tp;      /* facts_layers.c */
mc_fact_reader mc_fact_files;                  /* facts_files.c */
mc_fact_reader mc_fact_gguf;                   /* facts_files.c */
const mc_facts_lazy *mc_facts_layers(const mc_model_facts *f);  /* with linears, experts and ends; NULL: none */
const mc_facts_lazy *mc_facts_groups(const mc_model_facts *f);  /* with groups */
mc_fact mc_facts_list(const mc_model_facts *f, mc_fact_list_id id);
mc_fact mc_fact_of_int(const mc_int *v);
mc_fact mc_fact_of_json(mc_arena *a, const mc_value *v); /* scalars and arrays of scalars; null and objects: absent */
mc_fact mc_fact_tri(mc_tri t);                  /* UNKNOWN: absent */
mc_fact mc_fact_texts(mc_arena *a, const mc_str *v, size_t n);

#endif
