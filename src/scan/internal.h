/* internal.h - how the steps of a scan fit together; only for src/scan. */
#ifndef MODELCHECK_SCAN_INTERNAL_H
#define MODELCHECK_SCAN_INTERNAL_H
#include "scan/scan.h"

/* One model to be built: which directory of a listing, and for a GGUF which of its files. */
typedef struct {
    mc_unit unit;
    mc_str  dir;                /* relative to the listing's root: "" or "sub/" */
    mc_str  path;               /* for the report */
    mc_str  given;              /* last part of the resolved path */
    size_t *entries; size_t n_entries; /* GGUF and single files: indexes into the listing */
    bool    alone, named;       /* as in mc_model */
    bool    cut_at_units;       /* with --recursive: directories that are units of their own are left out */
    bool    with_config;        /* GGUF: config.json of the directory belongs to it (no other weights there) */
} mc_plan;
typedef struct { mc_plan *v; size_t n, cap; mc_arena *arena; mc_strset dirs; /* directories that are units */ } mc_plans;

typedef struct {
    mc_model        *m;
    mc_kb           *kb;
    const mc_listing *list;
    const mc_plan   *plan;
    const mc_plans  *plans;
    mc_strset        paths;     /* path -> file id */
} mc_builder;

/* units.c */
bool mc_plan_directory(const mc_listing *l, const mc_scan_options *o, mc_str path, mc_str given, mc_plans *out) MC_MUST_USE;
/* What a file given on the command line stands for. */
typedef enum { MC_FILE_IS_DIRECTORY, MC_FILE_IS_PLANNED, MC_FILE_NO_MEMORY } mc_file_plan;
mc_file_plan mc_plan_file(const mc_listing *l, mc_str path, mc_plans *out);
/* classify.c: files and components of the plan, from names and entries */
bool mc_collect(mc_builder *b) MC_MUST_USE;
uint32_t mc_find_file(const mc_builder *b, mc_str path);
/* load.c: side files */
void mc_load_documents(mc_builder *b);
void mc_load_tokenizers(mc_builder *b);
void mc_compare_heads(mc_builder *b);
/* headers.c: weights and indexes */
void mc_load_headers(mc_builder *b);
void mc_load_far_headers(mc_builder *b);

/* One thread's view of the loading: where it allocates and what it has read. */
typedef struct { mc_builder *b; mc_arena *arena; uint64_t bytes_read; } mc_loader;
bool     mc_readable(const mc_file *f);
mc_input mc_load_open(mc_loader *l, mc_file *f);        /* takes the size over */
void     mc_load_close(mc_file *f, mc_input *in);       /* takes over what went wrong */
bool     mc_load_prefix(mc_loader *l, mc_input *in, mc_span *have, uint64_t want) MC_MUST_USE;
void     mc_load_head(mc_loader *l, mc_file *f, mc_input *in, uint64_t want, mc_span *text); /* first bytes, and what they are */
void     mc_load_limit(mc_file *f, uint64_t at, const char *what);
bool     mc_explained(const mc_file *f);
/* sets.c */
void mc_resolve_indexes(mc_builder *b);
void mc_make_sets(mc_builder *b);
/* modules_data.c: a mc_small_reader over a builder */
void mc_read_small(void *builder, struct mc_small *v, size_t n);
/* inventory.c */
void mc_build_inventories(mc_builder *b);

#endif
