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
    bool          unchecked;    /* something could not be checked: exit status 3 unless there are findings */
    mc_strset     seen;         /* paths of the models so far, in one spelling */
    mc_run_result run;
};

#endif
