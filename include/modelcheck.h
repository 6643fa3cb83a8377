/* modelcheck.h - the public C API of modelcheck: check directories of LLM weights without loading them.
 *
 * A run takes options and paths, checks, and then answers questions and writes reports:
 *
 *     modelcheck *mc = modelcheck_new();
 *     modelcheck_set(mc, "context", "4096");
 *     modelcheck_add(mc, "./model_dir");
 *     int status = modelcheck_run(mc);               // 0, 1 or 3 as the command line
 *     modelcheck_write(mc, stdout, "json", NULL);
 *     modelcheck_free(mc);
 *
 * Not thread-safe: one run belongs to one thread; different runs may be used by different threads. Strings that are
 * returned live until modelcheck_free and are NUL-terminated; sizes are bytes. */
#ifndef MODELCHECK_H
#define MODELCHECK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MODELCHECK_VERSION "0.1.0"

#if defined(__GNUC__)
#define MODELCHECK_API __attribute__((visibility("default")))
#else
#define MODELCHECK_API
#endif

typedef struct modelcheck modelcheck;

MODELCHECK_API const char *modelcheck_version(void);

/* NULL when out of memory. */
MODELCHECK_API modelcheck *modelcheck_new(void);
MODELCHECK_API void        modelcheck_free(modelcheck *mc);

/* Sets an option by its command-line name without the dashes ("context", "kv-dtype", "ignore", ...); value NULL for
 * switches ("recursive"). Returns NULL, or the reason why the option or value is wrong usage. */
MODELCHECK_API const char *modelcheck_set(modelcheck *mc, const char *option, const char *value);
/* Adds a path. NULL, or the reason (out of memory). */
MODELCHECK_API const char *modelcheck_add(modelcheck *mc, const char *path);

/* Reads the data files of option "rules" and looks for the targets in the data: what can only be said when all options are set.
 * NULL, or why they are wrong usage. modelcheck_run does it too; it then checks nothing and says so in its errors. */
MODELCHECK_API const char *modelcheck_prepare(modelcheck *mc);
/* Checks every added path once. Exit status: 0 nothing at or above fail-on, 1 findings, 3 could not check. */
MODELCHECK_API int modelcheck_run(modelcheck *mc);
/* The exit status of a view: "check" (NULL) as above, "show" 0 or 3, "memory" 1 when a model certainly does not fit. */
MODELCHECK_API int modelcheck_status(const modelcheck *mc, const char *view);

/* Writes a report: format "text" or "json", for the view "memory" also "svg" (a picture of memory over context); view "check"
 * (NULL), "show" or "memory". NULL, or the reason. */
MODELCHECK_API const char *modelcheck_write(modelcheck *mc, FILE *out, const char *format, const char *view);

/* Writes what a rule means (by code or slug), or all rules (NULL): format "text", "json" or, for all, "md". NULL, or the reason. */
MODELCHECK_API const char *modelcheck_rules(FILE *out, const char *format, const char *rule);
MODELCHECK_API int         modelcheck_rule_known(const char *rule);   /* 1: a rule has that code or slug */

/* Writes what stands behind a message that a framework printed: format "text" or "json". NULL, or the reason. */
MODELCHECK_API const char *modelcheck_explain_error(FILE *out, const char *format, const char *message);

/* Checks the data files (frameworks, users' rules) below a directory: writes "file:line:column: message" for each fault.
 * 0 none, 1 some, -1 and *problem set: the directory cannot be read. */
MODELCHECK_API int modelcheck_lint(FILE *out, const char *dir, const char **problem);

/* Lists the framework data by the date at which it was read, the oldest first. NULL, or the reason. */
MODELCHECK_API const char *modelcheck_rules_age(FILE *out);

/* ---- walking the result ---- */

typedef struct {
    const char *code, *slug, *severity, *certainty;
    const char *file;                   /* NULL: the model itself */
    const char *message, *fix;
    size_t      count;                  /* subjects affected */
    uint64_t    fingerprint;
} modelcheck_finding;

/* Paths that could not be opened. 0 and the texts set, or -1 when there is no such error. */
MODELCHECK_API size_t      modelcheck_errors(const modelcheck *mc);
MODELCHECK_API int         modelcheck_error_at(const modelcheck *mc, size_t i, const char **path, const char **message);

MODELCHECK_API size_t      modelcheck_models(const modelcheck *mc);
MODELCHECK_API const char *modelcheck_model_path(const modelcheck *mc, size_t model);
MODELCHECK_API size_t      modelcheck_findings(const modelcheck *mc, size_t model);
/* 0 and *out filled, or -1 when there is no such finding. */
MODELCHECK_API int         modelcheck_finding_at(const modelcheck *mc, size_t model, size_t i, modelcheck_finding *out);
/* A fact by its place in the JSON report: "weights.tensors", "parameters.total", "memory.kv_bytes".
 * 0 and *out filled, or -1 when it is not known. */
MODELCHECK_API int         modelcheck_fact(const modelcheck *mc, size_t model, const char *name, uint64_t *out);

/* Parses one header in memory, as `modelcheck check` would: format "safetensors" or "gguf", `file_size` the size of the
 * whole file, of which `n` bytes are given. 0 accepted, 1 refused (*why: the rule code, "MC304"), -1 more bytes wanted. */
MODELCHECK_API int modelcheck_header(const char *format, const void *bytes, size_t n, uint64_t file_size, const char **why);

#ifdef __cplusplus
}
#endif
#endif
