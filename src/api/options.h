/* options.h - the one table of options: the command line parses and explains itself from it, the C API sets by it. */
#ifndef MODELCHECK_API_OPTIONS_H
#define MODELCHECK_API_OPTIONS_H
#include "report/report.h"
#include "scan/scan.h"

/* Commands an option belongs to. */
enum { MC_CMD_CHECK = 1, MC_CMD_SHOW = 2, MC_CMD_MEMORY = 4, MC_CMD_EXPLAIN = 8, MC_CMD_RULES = 16, MC_CMD_MODELS = 7, MC_CMD_ALL = 31 };

typedef struct { mc_str name; const mc_rule *rule; } mc_selector;    /* a code or slug (rule set), or the prefix of codes */
typedef struct { mc_selector rule; mc_severity level; } mc_override;
typedef struct { mc_selector *v; size_t n, cap; } mc_selectors;

typedef struct {
    mc_arena          *arena;       /* texts of the options */
    mc_scan_options    scan;
    mc_floor_ask       floor;
    const char        *engine_given, *switch_given, *switch_engine; /* --engine; the first --engine-option and its engine */
    mc_rule_options    rules;
    mc_targets         targets;
    mc_report_options  report;
    mc_selectors       select, ignore;
    mc_str            *ignored_limits; size_t n_ignored_limits, cap_ignored_limits; /* --ignore vllm/heads-tp */
    mc_override       *overrides; size_t n_overrides, cap_overrides;
    mc_str            *rules_dirs; size_t n_rules_dirs, cap_rules_dirs; /* --rules */
    mc_severity        fail_on;
    bool               fail_never;
    enum { MC_COLOR_AUTO, MC_COLOR_ALWAYS, MC_COLOR_NEVER } color;
} mc_options;

/* NULL, or what is wrong with the value and what is accepted (a text in the arena). */
typedef const char *mc_setter(mc_options *o, const char *value);
typedef struct {
    const char *name, *arg;         /* "context", "N"; arg NULL: a switch */
    unsigned    commands;
    mc_setter  *set;                /* NULL: the command line itself handles it */
    const char *help;
} mc_option;
extern const mc_option mc_option_table[];
extern const size_t    mc_n_options;

const mc_option *mc_option_find(const char *name); /* NULL if unknown */
bool mc_option_later(const char *name);            /* documented, but not in this version */
bool mc_selects(const mc_selectors *s, const mc_rule *r);
bool mc_selector_hits(const mc_selector *s, const mc_rule *r);

/* engines.c */
mc_setter mc_set_engine, mc_set_engine_option, mc_set_tp, mc_set_pp, mc_set_gpu_layers, mc_set_gpu;

/* targets.c */
mc_setter mc_set_target, mc_set_platform;
const char *mc_ignore_limit(mc_options *o, mc_str name);
/* NULL, or which target (or ignored limit) the data does not know, and what it knows. */
const char *mc_targets_known(mc_options *o, mc_kb *kb);
bool        mc_ignores_limit(const mc_options *o, const mc_finding *f);

/* values.c: readers of values; each returns false for what cannot be meant. */
bool mc_parse_size(mc_str text, uint64_t *out) MC_MUST_USE;  /* "24GiB", "24GB", "1.5KiB", "4096": bytes */
bool mc_parse_level(mc_str text, mc_severity *out) MC_MUST_USE;
/* A code or slug of this version, or a prefix ("MC2") that at least one code has. The name is copied to the arena. */
bool mc_parse_selector(mc_arena *a, mc_str text, mc_selector *out) MC_MUST_USE;

#endif
