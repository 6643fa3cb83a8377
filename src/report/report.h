/* report.h - a reporter is one function: everything is known by the time it runs.
 * Hostile text is escaped in one place only: the writer of out.c. */
#ifndef MODELCHECK_REPORT_H
#define MODELCHECK_REPORT_H
#include <stdio.h>

#include "floor/answers.h"
#include "floor/floor.h"
#include "report/out.h"
#include "rules/rule.h"

/* One model and all that was found out about it. */
typedef struct {
    mc_model        *model;
    mc_floor         floor;
    mc_answers      *answers;         /* `memory` only, else NULL */
    const mc_matrix *matrix;          /* what frameworks make of it; NULL: out of memory, or not asked */
    mc_findings      findings;
} mc_result;
typedef struct { mc_str path, message; } mc_failure; /* a path that could not be opened */

typedef struct {
    mc_arena     arena;
    mc_kb        kb;
    mc_result   *results; size_t n_results, cap_results;   /* by path */
    mc_failure  *errors;  size_t n_errors, cap_errors;
    mc_severity  fail_on;             /* lowest severity that gives exit status 1 */
    bool         fail_never;
    mc_rule_options rules;            /* what the rules were given */
    int          exit_status;
} mc_run_result;

typedef struct {
    bool color, quiet, verbose;
    bool tensors, tree;               /* show --tensors, --tree */
    bool estimates;                   /* memory --estimates */
    const char *command;              /* "check", "show", "memory" */
    unsigned    columns;              /* of the terminal, for what adapts its width; 0: not known */
} mc_report_options;

typedef struct { const char *name, *summary; void (*write)(FILE *out, const mc_run_result *run, const mc_report_options *o); } mc_reporter;
#define REPORTER(name, summary) void mc_report_##name(FILE *out, const mc_run_result *run, const mc_report_options *o);
#include "report/reporters.list"
#undef REPORTER
const mc_reporter *mc_reporter_find(const char *name); /* NULL if unknown; the list is reporters.list */
const char        *mc_reporter_names(void);            /* "text, json" */

/* ---- figures that more than one reporter prints (facts.c) ------------------------------------------------- */

typedef struct { mc_str dtype; uint64_t tensors, elements, bytes; } mc_mix_row;
typedef struct { mc_mix_row *rows; size_t n; } mc_mix;

/* The dtypes of the read set, most bytes first. Empty when no header was parsed, or out of memory. */
mc_mix      mc_dtype_mix(const mc_run_result *run, const mc_model *m, mc_arena *a);
mc_question mc_question_of(mc_run_result *run, const mc_result *r); /* to be asked of the floor (floor/answers.h) */
bool        mc_tensors_known(const mc_model *m);             /* a header of the read set was understood */
size_t      mc_read_files(const mc_model *m);                /* how many files a loader would open */
const char *mc_format_name(const mc_model *m);               /* "safetensors", "mixed", ...; NULL: no weights */
/* Stored bits per parameter, all bytes of the read set counted. False when the parameters are not known. */
bool        mc_bits_per_weight(const mc_model *m, double *out);
const char *mc_gguf_label(const mc_model *m);                /* "Q4_K_M" by general.file_type, NULL if none */
uint64_t    mc_active_parameters(const mc_model *m, bool *known);
mc_str      mc_rules_date(mc_arena *a);                      /* newest date of the embedded data, "" if none */

/* Why a file was not judged by its content, or NULL. */
const char *mc_not_evaluated(const mc_model *m, const mc_file *f, mc_arena *a);
/* The option that a rule waits for ("--vram"), or NULL when it was run. */
const char *mc_needs_option(const mc_rule *r, const mc_rule_options *o);

typedef struct { size_t errors, warnings, infos, suppressed; } mc_totals;
mc_totals   mc_count_findings(const mc_run_result *run);
const char *mc_severity_name(mc_severity s);
const char *mc_certainty_name(mc_certainty c);

/* ---- what the rules say about themselves (catalogue.c) ---------------------------------------------------- */

/* One rule, or every rule (rule NULL), in format "text", "json" or, for all of them, "md". False: no such format. */
bool mc_write_rules(FILE *out, const mc_rule *rule, const char *format) MC_MUST_USE;

/* causes.c: every message of the framework data that occurs in the text. False: no such format ("text", "json"). */
bool mc_write_causes(FILE *out, mc_kb *kb, const char *text, const char *format, size_t *found) MC_MUST_USE;

/* ---- parts shared by the reporters ------------------------------------------------------------------------ */

void mc_json_head(mc_out *o, mc_arena *a);                                                     /* opens the document */
/* A document without models, up to the opened array `key`, and its end. */
void mc_json_empty(mc_out *o, const char *key);
void mc_json_foot(mc_out *o);
void mc_json_memory(mc_out *o, const mc_result *r, bool whole);                                /* whole: the memory view */
void mc_json_answers(mc_out *o, const mc_floor *f, const mc_answers *a);
void mc_json_tensors(mc_out *o, const mc_result *r, const mc_run_result *run);
/* frameworks.c */
void mc_json_frameworks(mc_out *o, const mc_matrix *x);
void mc_text_loads_in(mc_out *o, const mc_matrix *x);                                          /* check without --target: one line */
void mc_text_targets(mc_out *o, const mc_matrix *x, bool verbose);                             /* check with it */
void mc_text_matrix(mc_out *o, const mc_matrix *x);                                            /* show: the table */
void mc_text_copies(mc_out *o, const mc_model *m, const mc_matrix *x, mc_arena *a);            /* show: who opens which files */
void mc_text_header(mc_out *o, const mc_run_result *run, const mc_result *r);
void mc_text_memory_line(mc_out *o, const char *label, const mc_floor *f);
void mc_text_mix(mc_out *o, const mc_mix *mix);
void mc_text_findings(mc_out *o, const mc_result *r, const mc_report_options *options);
/* quant.c: false: nothing to say. modules: one line a module, for show --tensors. */
bool mc_text_scheme(mc_out *o, const char *before, const mc_model *m);                         /* "gptq 4-bit g128" */
void mc_text_quant_mix(mc_out *o, const mc_model *m, unsigned columns, mc_arena *a);
void mc_text_modules(mc_out *o, const mc_model *m);
void mc_json_quantization(mc_out *o, const mc_model *m, const mc_mix *mix, mc_arena *a);
void mc_json_quant_mix(mc_out *o, const mc_model *m);                                          /* by module class */
void mc_json_modules(mc_out *o, const mc_model *m);
void mc_text_show(FILE *out, const mc_run_result *run, const mc_report_options *o);
void mc_text_answers(mc_out *o, const mc_floor *f, const mc_answers *a);
void mc_text_memory(FILE *out, const mc_run_result *run, const mc_report_options *o);
void mc_plot_memory(FILE *out, mc_run_result *run);                                            /* SVG: memory over context */
void mc_text_tree(mc_out *o, const mc_run_result *run, const mc_model *m, mc_arena *a);        /* names folded into a tree */

#endif
