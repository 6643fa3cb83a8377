/* matrix.h - what the frameworks of the data make of one model: judged once a run and framework, read by rules and reports. */
#ifndef MODELCHECK_RULES_MATRIX_H
#define MODELCHECK_RULES_MATRIX_H
#include "kb/frameworks.h"
#include "model/model.h"

/* --target, --gpu, --platform, --tp, --pp, --kv-dtype. `options.files` and, by framework, `options.platform` are filled for each model. */
typedef struct { mc_str name, version; } mc_target; /* as asked; version "": the newest one known */
typedef struct {
    mc_target        *v; size_t n, cap;
    mc_target_options options;
    mc_str            backends;         /* of the device, the usual one first: "xpu,sycl" */
} mc_targets;

/* Which of the model's weight files a framework opens. */
typedef struct {
    bool            known;              /* the framework's file rules are in the data, and one of its patterns fits */
    mc_file_choice  choice;             /* over mc_matrix.files */
    uint64_t        read_bytes, ignored_bytes;
    size_t          n_read, n_ignored;
    uint64_t        twice_bytes;        /* of further whole copies among what is opened */
} mc_reading;

typedef struct {
    bool                   asked;       /* by --target: only these. Otherwise every framework of the data, in the order of its list of names */
    mc_verdict_list       *v; mc_reading *reading; size_t n, cap;
    const mc_target_files *files;
} mc_matrix;

/* Nothing is judged (n is 0) without weights, and without --target for what is no model on its own (adapters, projectors ...). */
const mc_matrix *mc_matrix_judge(mc_arena *a, const mc_model *m, mc_kb *kb, const mc_targets *t);

/* A framework that only stands for part of another one (an engine of it) is left out of lists without --target. */
bool   mc_matrix_listed(const mc_matrix *x, size_t i);
/* Do two frameworks open the same files? False when one is not known. */
bool   mc_matrix_same_files(const mc_matrix *x, size_t a, size_t b);
/* Is framework i the first of those that open the same files, and listed? */
bool   mc_matrix_first_reader(const mc_matrix *x, size_t i);
mc_str mc_matrix_name(mc_arena *a, const mc_verdict_list *v);   /* "vLLM 0.33.0" */
/* Is a limit about how the weights are stored (method, type, scheme), whatever the architecture? */
bool   mc_limit_is_storage(const mc_limit_hit *h);
/* Patterns that leave out what a framework does not open: --exclude "original/" ...; "" if there is nothing. */
mc_str mc_matrix_excludes(mc_arena *a, const mc_model *m, const mc_matrix *x, size_t i);

#endif
