/* framework.h - what the files of kb that read and judge framework data share. Private to kb. */
#ifndef MODELCHECK_KB_FRAMEWORK_H
#define MODELCHECK_KB_FRAMEWORK_H
#include "kb/frameworks.h"

/* A boundary: "0.14.0" (low == high) or "0.13.0..0.14.0": last known without, first known with. */
bool mc_boundary_parse(mc_str text, bool build, mc_version *low, mc_version *high) MC_MUST_USE;

void mc_framework_shape(const mc_value *root, mc_faults *f);    /* framework_shape.c: keys and kinds of values */
void mc_custom_shape(const mc_value *root, mc_faults *f);       /* the same for a file of rules */
void mc_framework_sense(const mc_value *root, mc_faults *f);    /* framework_sense.c: ids, sources, references, order of boundaries */

/* A text of a data file, also one that was given at run time. */
mc_span mc_kb_file(const mc_kb *kb, const char *name);

/* ---- one judgement ---------------------------------------------------------------------------------------- */

typedef struct {
    mc_kb                   *kb;
    mc_arena                *a;
    const mc_framework      *f;             /* whose rows are read */
    mc_version               v;
    const mc_target_options *o;
    const mc_facts          *model;         /* the model's facts */
    mc_facts                 facts;         /* those, and the target's over them */
    mc_verdict_list         *out;
    bool                     flip;          /* take approximate boundaries the other way */
    bool                     near;          /* an approximate boundary within reach was met */
    mc_fact                  method, act_dtype, builtin;
    mc_three                 arch;          /* is the architecture one that the framework runs? maybe: not judged */
} mc_judge;

/* Inside since and until, and for this back end? maybe: no back end is named, and the row is for one only. */
mc_three mc_row_live(mc_judge *j, const mc_value *row);
/* Where the version lies: -1 not yet begun, 0 inside, 1 ended. */
int      mc_row_when(mc_judge *j, const mc_value *row);
mc_fact  mc_judge_fact(mc_judge *j, const char *name);
mc_fact  mc_judge_fact_at(mc_judge *j, mc_scope scope, const char *name);
bool     mc_on_cuda(const mc_judge *j);     /* the back end is CUDA, or none is named */
mc_str   mc_target_name(const mc_judge *j); /* "vLLM 0.33.0" */
mc_str   mc_capability_text(mc_judge *j, int64_t sm); /* "8.9" of 89 */
mc_str   mc_release_before(mc_judge *j, mc_str version); /* the newest release below a version, else "before <version>" */

/* Adds a hit; a second one of the same id adds to its subjects. message and fix are not filled here. */
mc_limit_hit *mc_hit(mc_judge *j, const char *block, const mc_value *row, mc_str id, mc_target_verdict v, mc_str message, mc_str fix);
/* The same from an outcome { verdict, message, fix } of the data, whose parts may be absent: then what is given here counts. */
mc_limit_hit *mc_hit_outcome(mc_judge *j, const char *block, const mc_value *row, const char *key, mc_str id, mc_target_verdict v, mc_str message, mc_str fix);
/* The same with the outcome itself. */
mc_limit_hit *mc_hit_said(mc_judge *j, const char *block, const mc_value *row, const mc_value *outcome, mc_str id, mc_target_verdict v, mc_str message, mc_str fix);
void mc_unchecked(mc_judge *j, mc_str id, mc_str because);
mc_target_verdict mc_verdict_of(mc_str word);

void mc_judge_arch(mc_judge *j);            /* judge_arch.c */
void mc_judge_method(mc_judge *j);          /* judge_quant.c; before everything that asks for quant_method */
void mc_judge_quant(mc_judge *j);
void mc_judge_rows(mc_judge *j, const mc_framework *over); /* judge_rows.c: files, platforms, kv_dtypes, as far as `over` has none; gguf */
void mc_judge_limits(mc_judge *j);          /* judge_rows.c */
void mc_judge_kv(mc_judge *j);              /* judge_kv.c */
void mc_judge_dtype(mc_judge *j);           /* judge_dtype.c: act_dtype */
/* May the activations be of this dtype on that GPU? maybe: no GPU is named. */
mc_three mc_dtype_offered(mc_judge *j, mc_str dtype);
mc_three mc_scheme_groups(mc_judge *j, const mc_value *row, const mc_value *table); /* judge_scheme.c: is the row of `quant` satisfied? reports if not */

#endif
