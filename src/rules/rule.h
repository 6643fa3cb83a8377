/* rule.h - a rule is a table row: its words and its check function live together.
 *
 * One family a file, named in families.list; a family is a table of rules. A check reads cx->model, ->floor, ->kb and
 * ->options, and reports with mc_report(): one finding per (rule, file), after it has counted what is affected. */
#ifndef MODELCHECK_RULE_H
#define MODELCHECK_RULE_H
#include "floor/floor.h"
#include "kb/kb.h"
#include "model/gguf.h"
#include "model/model.h"
#include "rules/matrix.h"

typedef enum { MC_INFO, MC_WARNING, MC_ERROR } mc_severity;
typedef enum { MC_CERTAIN, MC_LIKELY } mc_certainty;
typedef enum { MC_MODE_DEFAULT, MC_MODE_DEEP, MC_MODE_TARGET, MC_MODE_OPTION } mc_mode;

typedef struct { mc_str key, value; mc_origin from; } mc_evidence;
enum { MC_SAMPLES = 3, MC_EVIDENCE = 6 };

typedef struct mc_rule mc_rule;
typedef struct {
    const mc_rule *rule;
    mc_severity severity;             /* of the rule, unless the user overrides it */
    uint32_t    file;                 /* MC_NONE: about the model as a whole */
    size_t      count, named;         /* how many subjects (tensors, keys, files) it covers, at least 1; how many were named */
    mc_str      subjects[MC_SAMPLES]; size_t n_subjects; /* the first few of them */
    mc_str      message;              /* one line without the file's name in front */
    mc_str      fix;                  /* what to do */
    mc_evidence evidence[MC_EVIDENCE]; size_t n_evidence;
    const mc_rule *silenced_by;       /* suppressed as a consequence of that rule; NULL: reported */
    uint64_t    fingerprint;          /* XXH3 of code, file and first subject: stable across runs and machines */
} mc_finding;

/* One module that a rule affects. Rules that scope `s:` silences or silences by report hits instead of findings: suppression
 * looks at single hits, and what is left is folded to one finding a file. */
typedef struct {
    uint32_t       file;              /* where the finding belongs, or MC_NONE */
    uint32_t       module;            /* id in mc_quant.modules; MC_NONE: no module, silenced by no subject */
    mc_str         name;              /* as users see it: a module or a tensor */
    const char    *what;              /* what is wrong with it; for the rule's own `tell`, as are a and b */
    uint64_t       a, b;
    const mc_rule *silenced_by;       /* set by the engine */
    uint32_t       order;             /* set by the engine */
} mc_hit;
typedef struct mc_hits mc_hits;       /* the hits of one rule */

/* scratch: where reports go when memory is out; never read */
typedef struct { mc_finding *v; size_t n, cap; mc_hits *hits; size_t n_hits, cap_hits; mc_arena *arena; mc_finding scratch; } mc_findings;

/* What options add to the facts. */
typedef struct {
    bool     require_weights;
    uint64_t vram;                    /* bytes per device, 0: not given */
    const mc_floor_ask *ask;          /* what the floor was asked for; NULL: nothing in particular */
    bool     target;                  /* --target was given */
    int64_t  tp;                      /* --tp, for rules of users; 0: not given */
    const mc_matrix *matrix;          /* what frameworks make of the model; NULL: they were not asked */
} mc_rule_options;

typedef struct {
    const mc_model        *model;
    mc_kb                 *kb;
    const mc_floor        *floor;
    const mc_rule_options *options;
    const mc_rule         *rule;
    mc_findings           *out;
    mc_arena              *arena;     /* for texts and scratch; lives as long as the findings */
    void                  *memo;      /* what the checks of one family share; NULL before the first of them runs */
    const mc_rule         *silencer;  /* of the hits that are being told; NULL: none, and in every check */
} mc_check;

/* Words for hits of one file, in the order in which they were found (n >= 1): reports one finding with mc_report. The engine
 * adds subjects and count. May be called twice for a file: for what is reported, and for what is silenced. */
typedef mc_finding *mc_tell(mc_check *cx, const mc_hit *v, size_t n);
struct mc_hits { const mc_rule *rule; mc_tell *tell; mc_hit *v; size_t n, cap; };

struct mc_rule {
    const char  *code;                /* "MC101": never reused, never renumbered */
    const char  *slug;                /* "lfs-pointer" */
    mc_severity  severity;
    mc_certainty certainty;
    mc_mode      mode;
    const char  *summary;             /* one line, no full stop */
    const char  *why;                 /* what goes wrong if ignored */
    const char  *fix;                 /* what to do, when a finding has nothing better */
    const char  *silent;              /* what looks like it and is legal */
    const char  *source;              /* public source of the fact, "" if it is our own rule */
    const char  *suppresses;          /* "f:MC302-MC309 m:MC503": see engine.c; NULL: nothing */
    void       (*check)(mc_check *cx);/* NULL: reported by another rule's check */
};

/* Adds a finding about a file (or MC_NONE). A second one of the same rule and file adds to the first's count and subjects.
 * Never NULL: out of memory gives a scratch finding, and the arena remembers, so that the run reports itself incomplete. */
mc_finding *mc_report(mc_check *cx, uint32_t file, const char *fmt, ...) MC_PRINTF(3, 4);
/* The same, but never joined with an earlier one: each limit of a framework is a finding of its own. */
mc_finding *mc_report_apart(mc_check *cx, uint32_t file, const char *fmt, ...) MC_PRINTF(3, 4);
/* Names one affected thing. The first call leaves the count at 1. */
void mc_subject(mc_finding *f, mc_str subject);
/* Sets the count when it is known without naming each. */
void mc_count(mc_finding *f, size_t count);
void mc_because(mc_check *cx, mc_finding *f, const char *key, mc_origin from, const char *fmt, ...) MC_PRINTF(5, 6);
void mc_fix(mc_check *cx, mc_finding *f, const char *fmt, ...) MC_PRINTF(3, 4);
/* Adds one affected module; `tell` is the same in all calls of a rule. Cheap: nothing is formatted before suppression. */
void mc_hit_add(mc_check *cx, mc_tell *tell, mc_hit hit);
mc_origin mc_origin_at(uint32_t file, const char *where);
mc_str    mc_size_text(mc_arena *a, uint64_t bytes);  /* "3.71 GiB", exact below 1 KiB: "512 bytes" */

typedef struct { const char *name; const mc_rule *rules; size_t n; } mc_family;
extern const mc_family *const mc_families[];
extern const size_t           mc_n_families;
const mc_rule *mc_rule_find(mc_str code_or_slug);      /* NULL if unknown */

/* Suppression of single hits, their folding to findings, then suppression of findings. The last step of mc_run_rules. */
void mc_settle(mc_check *cx);
/* Runs every rule, then suppression, order (severity, code, file) and fingerprints. */
void mc_run_rules(const mc_model *m, mc_kb *kb, const mc_floor *floor, const mc_rule_options *options, mc_findings *out);
/* custom.c: the rules that files given with --rules hold, after all others. */
void mc_run_custom(mc_check *cx);
/* The order of reports: severity, code, file. For whoever changed a severity afterwards. */
void mc_order_findings(const mc_model *m, mc_findings *all);

#endif
