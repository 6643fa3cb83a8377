/* frameworks.h - which framework loads what: rules/frameworks/<name>.json, decoded strictly, and the verdict on one model.
 * The shape of the data and what its rows mean is docs/frameworks.md. Nothing here knows a framework by name. */
#ifndef MODELCHECK_FRAMEWORKS_H
#define MODELCHECK_FRAMEWORKS_H
#include "kb/kb.h"
#include "kb/predicates.h"

/* ---- data ------------------------------------------------------------------------------------------------- */

/* From best to worst. WRONG (loads, but computes with wrong or missing weights) ranks below REFUSES only in this order. */
typedef enum { MC_NO_KNOWN_OBSTACLE, MC_TARGET_UNKNOWN, MC_TARGET_SLOW, MC_TARGET_NEEDS, MC_TARGET_WRONG, MC_TARGET_REFUSES } mc_target_verdict;
const char *mc_target_verdict_name(mc_target_verdict v); /* "no-known-obstacle", "unknown", "slow", "needs", "wrong", "refuses" */

typedef struct {
    mc_str          name, display;          /* "vllm", "vLLM" */
    mc_str          date;                   /* newest `read` date of the file: "data as of" */
    bool            build;                  /* version_scheme "build" */
    bool            has_range;              /* false: no version is known, every target is unknown (MC705) */
    mc_str          known_from, known_to, default_target;
    const mc_value *root;                   /* the whole file, checked */
    mc_str          file;                   /* "frameworks/vllm.json" */
    mc_str          maps_to, fallback;      /* names of other frameworks, "" */
    const void     *priv;
} mc_framework;

/* Decodes every data file at the first call (mc_kb.rules_dir replaces and adds files). Files with faults are left out, and kb->faults tells. */
size_t mc_kb_frameworks(mc_kb *kb, const mc_framework *const **list);
/* By name or alias (rules/framework-names.tsv); case folded, blanks and '_' as '-'. NULL: no such framework. Decodes only that file. */
const mc_framework *mc_kb_framework(mc_kb *kb, mc_str name);

/* Which version a target means: "" gives default_target; two parts the newest known patch of that minor release; else as written.
 * False: malformed (usage error). *outside: not in known_from..known_to, `v` is then the nearest known one and *text what was asked. */
bool mc_framework_version(const mc_framework *f, mc_str text, mc_version *v, mc_str *resolved, bool *outside) MC_MUST_USE;
mc_str mc_version_text(mc_arena *a, const mc_framework *f, const mc_version *v);    /* "0.33.0", "b11549"; "" for none */

/* ---- verdict ---------------------------------------------------------------------------------------------- */

enum { MC_LIMIT_SUBJECTS = 3 };
typedef struct {
    mc_str            id;                   /* "heads-tp" or a generated one: "quant-gpu" */
    mc_target_verdict verdict;
    mc_str            message, fix;         /* placeholders filled; fix "" if none */
    mc_str            since, until;         /* "" if the row has none */
    mc_str            source, date;
    mc_str            match;                /* what the framework prints, "" */
    size_t            count;                /* `each`: how many layers or groups; else 1 */
    mc_str            subjects[MC_LIMIT_SUBJECTS]; size_t n_subjects; /* the first of them: tensor names */
} mc_limit_hit;
typedef struct { mc_str id, because; } mc_not_checked; /* "quant-gpu", "no --gpu" */

typedef struct {
    const mc_framework *framework;
    mc_str            version;              /* resolved: "0.33.0", "b11549"; outside: as asked */
    mc_target_verdict verdict;              /* the worst of limits; outside the known versions: UNKNOWN whatever the limits say */
    bool              outside;              /* MC705: knowledge ends; the limits are those of the nearest known version */
    mc_str            nearest;              /* that version */
    bool              approximate;          /* MC705: an approximate boundary within one release decides a verdict */
    mc_str            note;                 /* outside, approximate: the sentence to print; else "" */
    mc_limit_hit     *limits; size_t n_limits, cap_limits;             /* worst first */
    mc_not_checked   *not_checked; size_t n_not_checked, cap_not_checked;
    mc_str            by;                   /* name of the framework that answered when another one did (fallback), else "" */
} mc_verdict_list;

/* Does any framework take a cache type of this name, at any version? */
bool mc_kb_kv_name(mc_kb *kb, mc_str name);

/* ---- files ------------------------------------------------------------------------------------------------ */

/* Weight files of the model's directory as a framework would meet them. */
typedef struct { mc_str path; uint64_t bytes; } mc_target_file;
typedef struct { mc_str path; const mc_str *shards; size_t n_shards; } mc_target_index;
/* repeats: does a tensor occur in two of the files that are taken (one flag a file)? *name gets the first. NULL: not known. */
typedef struct {
    const mc_target_file  *files; size_t n_files;
    const mc_target_index *indexes; size_t n_indexes;
    mc_three             (*repeats)(const void *cx, const bool *taken, mc_str *name);
    const void            *cx;
} mc_target_files;

/* What the target is judged for, beside facts. All may be unset. Facts of the target (gpu, platform, tp ...) are derived from it. */
typedef struct {
    int64_t gpu;                            /* CUDA capability x 10, 0: no CUDA device named */
    mc_str  platform;                       /* back end: "cuda", "rocm", "metal", "cpu", "tpu" ...; "": no --gpu */
    mc_str  gpu_arch;                       /* "gfx942", "sm90", "" */
    mc_str  host;                           /* --platform: "s390x", "" */
    int64_t tp, pp;                         /* 0: not given */
    mc_str  kv_dtype;                       /* "": not given; "q8_0,q4_0" for K and V */
    const mc_target_files *files;           /* of the model; NULL: which files would be read is not judged */
} mc_target_options;

/* The model's facts (scan/facts.h); the facts of framework and target are laid over them here: quant_method, act_dtype,
 * model_type_builtin, target_version, gpu, gpu_major, platform, host, tp, kv_dtype. */
void mc_framework_judge(mc_kb *kb, mc_arena *a, const mc_framework *f, mc_str version, const mc_target_options *o, const mc_facts *facts,
                        mc_verdict_list *out);

/* ---- files: what would be read ---------------------------------------------------------------------------- */

/* What the live `files` row takes. taken: one flag a file. row NULL: the framework has no live row (not known). */
typedef struct {
    const mc_value *row;
    mc_str          pattern;                /* of the rung that matched, "" if none did */
    bool           *taken; size_t n_taken;
    mc_str          index;                  /* path of the index that filters, "" */
    size_t          missing;                /* files that this index names and that are not there */
    size_t          unlisted;               /* files that the pattern fits and the index does not name */
} mc_file_choice;
mc_file_choice mc_framework_choose(mc_arena *a, const mc_framework *f, const mc_version *v, const mc_target_files *files);

/* ---- errors ----------------------------------------------------------------------------------------------- */

/* Each message whose `match` occurs in the text: start with *cursor 0; false at the end. rule: a limit id or an MC code. */
typedef struct { const mc_framework *framework; mc_str match, rule; const mc_value *limit /* row of `limits`, or NULL */; } mc_error_hit;
bool mc_kb_error(mc_kb *kb, mc_str text, size_t *cursor, mc_error_hit *out);

/* ---- data files ------------------------------------------------------------------------------------------- */

/* One data file, checked: faults are added with offsets in `text`. NULL if there was one. */
mc_framework *mc_framework_decode(mc_arena *a, mc_str file, mc_span text, mc_faults *faults);
/* The table of architectures of a decoded file, block i of `architectures`: name as `table` says; "" beyond the last. */
mc_str        mc_framework_table(const mc_framework *f, size_t i);
void          mc_framework_table_check(const mc_framework *f, size_t i, mc_span table, mc_faults *faults); /* offsets in `table` */

/* ---- rules of users ---------------------------------------------------------------------------------------- */

/* A row of `rules` in a file of schema "modelcheck/rules-1": docs/custom-rules.md. */
typedef struct { mc_str code, slug, severity, message, fix, why, source; const mc_value *when; mc_each each; } mc_custom_rule;
/* Checked; those of a file with faults are none. */
const mc_custom_rule *mc_custom_decode(mc_arena *a, mc_span text, mc_faults *faults, size_t *n);
/* Of all files that were given at run time. */
size_t mc_kb_custom_rules(mc_kb *kb, const mc_custom_rule **rules);
mc_each mc_each_of(mc_str word);

#endif
