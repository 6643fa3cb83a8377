/* api.h - the inside of the public handle, shared by the files of this folder. */
#ifndef MODELCHECK_API_API_H
#define MODELCHECK_API_API_H
#include "api/options.h"
#include "modelcheck.h"

struct modelcheck {
    mc_arena      arena;        /* options and paths */
    mc_options    options;
    mc_str       *paths; size_t n_paths, cap_paths;
    bool          ran, kb_ready;
    const char   *unfit;        /* why data files or targets are not accepted */
    bool          unchecked;    /* something could not be checked: exit status 3 unless there are findings */
    mc_strset     seen;         /* paths of the models so far, in one spelling */
    mc_run_result run;
};

/* lint.c: the data files (*.json, *.tsv) below a directory. `problem`: why one could not be read, or NULL. */
enum { MC_MAX_RULES_FILE = 16 << 20 };
typedef struct { mc_str path; mc_span text; const char *problem; } mc_rules_file;
typedef struct { mc_rules_file *v; size_t n; } mc_rules_files;
bool        mc_rules_read(mc_arena *a, const char *dir, mc_rules_files *out, int *os_error) MC_MUST_USE;
/* Adds them to the knowledge base; NULL, or the first thing that is wrong, with its place. */
const char *mc_rules_take(mc_arena *a, mc_kb *kb, const mc_rules_files *files, mc_str dir);

#endif
