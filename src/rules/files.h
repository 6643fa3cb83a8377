/* files.h - what the files_*.c share: which files a loader would open, and the checks of the family's table. */
#ifndef MODELCHECK_RULES_FILES_H
#define MODELCHECK_RULES_FILES_H
#include "rules/rule.h"

/* A file that a loader of this model opens: a weight file of the read set, its index, the configuration, the tokenizer.
 * Copies in directories of their own (original/, metal/) and copies in another format are none. */
bool mc_file_read(const mc_model *m, uint32_t file);
bool mc_role_is_tokenizer(mc_role role);
/* Bytes that are there and are not a known stand-in (pointer, page, empty). */
bool mc_file_has_content(const mc_file *f);
/* "a, b, c and 4 more" */
typedef struct { mc_str text; size_t n; } mc_names;
void   mc_names_add(mc_arena *a, mc_names *l, mc_str name);
mc_str mc_names_text(mc_arena *a, const mc_names *l);
/* Numbers of a shard family without an index: {1..n}, {0..n} or {0..n-1} is complete. False when s carries no total. */
bool mc_set_has_hole(const mc_model *m, const mc_set *s);

void mc_check_pointer(mc_check *cx);        /* MC101 */
void mc_check_empty(mc_check *cx);          /* MC102 */
void mc_check_page(mc_check *cx);           /* MC103 */
void mc_check_content(mc_check *cx);        /* MC104 */
void mc_check_byte_parts(mc_check *cx);     /* MC105 */
void mc_check_shards(mc_check *cx);         /* MC106 */
void mc_check_gap(mc_check *cx);            /* MC107 */
void mc_check_link(mc_check *cx);           /* MC108 */
void mc_check_interrupted(mc_check *cx);    /* MC109 */
void mc_check_control(mc_check *cx);        /* MC110 */
void mc_check_copies(mc_check *cx);         /* MC111 */
void mc_check_differ(mc_check *cx);         /* MC112 */

#endif
