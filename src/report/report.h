/* report.h - a reporter is one function: everything is known by the time it runs.
 * Hostile text is escaped in one place only: the writer of out.c. */
#ifndef MODELCHECK_REPORT_H
#define MODELCHECK_REPORT_H
#include <stdio.h>

#include "floor/floor.h"
#include "rules/rule.h"

/* One model and all that was found out about it. */
typedef struct { mc_model *model; mc_floor floor; mc_findings findings; } mc_result;

typedef struct {
    mc_arena     arena;
    mc_kb        kb;
    mc_result   *results; size_t n_results, cap_results;   /* by path */
    struct { mc_str path, message; } *errors; size_t n_errors, cap_errors;
    mc_severity  fail_on;             /* lowest severity that gives exit status 1 */
    bool         fail_never;
    int          exit_status;
} mc_run_result;

typedef struct {
    bool color, quiet, verbose;
    bool tensors, tree;               /* show --tensors, --tree */
    const char *command;              /* "check", "show", "memory" */
} mc_report_options;

typedef struct { const char *name, *summary; void (*write)(FILE *out, const mc_run_result *run, const mc_report_options *o); } mc_reporter;
const mc_reporter *mc_reporter_find(const char *name); /* NULL if unknown; the list is reporters.list */

#endif
