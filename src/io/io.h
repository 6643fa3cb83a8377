/* io.h - where bytes come from: the only layer that opens, stats and reads. It knows nothing of formats.
 *
 * Files are opened O_RDONLY | O_NONBLOCK | O_CLOEXEC and checked with fstat before a byte is read, so that a FIFO or a
 * device under a model's name cannot hang the run. Nothing is mapped: a file truncated under a mapping is SIGBUS. */
#ifndef MODELCHECK_IO_H
#define MODELCHECK_IO_H
#include "base/base.h"

typedef enum { MC_ENTRY_FILE, MC_ENTRY_DIR, MC_ENTRY_SPECIAL /* FIFO, socket, device */, MC_ENTRY_ERROR } mc_entry_type;
typedef enum { MC_SYM_NONE, MC_SYM_INSIDE, MC_SYM_CACHE, MC_SYM_OUTSIDE, MC_SYM_FOLLOWED, MC_SYM_DANGLING } mc_symlink;

typedef struct {
    mc_str        path;         /* relative to the root, '/' between the parts; any bytes but NUL */
    mc_entry_type type;         /* of the target when it is a link */
    mc_symlink    link;
    mc_str        target;       /* text of the link */
    uint64_t      size;
    int64_t       mtime_ns;
    int           os_error;     /* errno of stat, open or readdir, 0 if none */
    const char   *os_what;      /* what failed, static */
} mc_entry;

typedef struct {
    mc_str    root;             /* as given, without trailing slashes */
    mc_entry *entries; size_t n; /* sorted bytewise by path; directories included */
    bool      too_many, too_deep; /* MC_MAX_ENTRIES, MC_MAX_DEPTH reached: the listing is cut */
} mc_listing;

typedef struct { bool follow_links; bool shallow; /* this directory only */ } mc_walk_options;

/* Lists a directory and everything below it (".git" is left out). Loops of links are cut. Errors of single entries are in
 * the entries; MC_E_IO with errno in *os_error when the root itself cannot be listed. */
mc_err mc_walk(const char *root, mc_walk_options options, mc_arena *a, mc_listing *out, int *os_error) MC_MUST_USE;

/* One open file. */
typedef struct { int fd; uint64_t size; int64_t mtime_ns; int os_error; const char *os_what; } mc_input;
mc_input mc_open(mc_str root, mc_str path);          /* fd -1 with os_error and os_what set on failure; path "" opens the root itself */
void     mc_close(mc_input *in);
/* Bytes [at, at + n), short only at the end of the file. NULL span p with in->os_error set on failure. */
mc_span  mc_read(mc_input *in, uint64_t at, size_t n, mc_arena *a);
/* Grows *have (a prefix read before, or empty) to `want` bytes. */
bool     mc_read_prefix(mc_input *in, mc_span *have, uint64_t want, mc_arena *a) MC_MUST_USE;
bool     mc_changed(mc_input *in);                   /* size or mtime are no longer what mc_open saw */
/* Compares up to `n` bytes of two ranges in chunks. 1 equal, 0 different (*equal_bytes = where), -1 cannot read. */
int      mc_same_bytes(mc_input *a, uint64_t at_a, mc_input *b, uint64_t at_b, uint64_t n, uint64_t *equal_bytes);
/* Is there anything under this path (relative to root; root "": to the working directory)? One stat, nothing is opened. */
bool     mc_exists(mc_str root, mc_str path);

#endif
