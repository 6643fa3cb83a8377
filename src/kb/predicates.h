/* predicates.h - the one predicate evaluator: frameworks' limits, conditional aliases and users' rules are written in it.
 *
 *   { "all": [P, ...] } { "any": [P, ...] } { "not": P } { "fact": NAME, "op": OP, "args": [...] }
 *   OP: eq ne lt le gt ge (one arg), in not_in (any number), glob (patterns, any one fits), known (no args)
 *
 * Three-valued (Kleene): a fact that could not be computed is unknown, and only a definite true fires.
 * A fact that is known to be absent (null: a file that states no bits) compares only with null; every other comparison
 * with it is unknown, and "known" is false. A list (set) fact: eq, in and glob hold if any element does, ne and not_in if none
 * does, lt le gt ge if any does. Facts come through a callback: the knowledge base knows no model. No arithmetic here. */
#ifndef MODELCHECK_PREDICATES_H
#define MODELCHECK_PREDICATES_H
#include "base/base.h"

/* ---- facts ------------------------------------------------------------------------------------------------ */

typedef enum { MC_FACT_UNKNOWN, MC_FACT_NULL /* known to be absent */, MC_FACT_BOOL, MC_FACT_INT, MC_FACT_REAL, MC_FACT_TEXT, MC_FACT_LIST } mc_fact_type;
typedef struct mc_fact mc_fact;
struct mc_fact {
    mc_fact_type type;
    union { bool b; int64_t i; double r; } u;
    mc_str         s;           /* TEXT */
    const mc_fact *items; size_t n; /* LIST: scalars; empty is a known empty set */
    const char    *why;         /* UNKNOWN: what is missing ("no --gpu"), or NULL */
};
#define MC_FACT_NONE ((mc_fact){ MC_FACT_UNKNOWN, { 0 }, { NULL, 0 }, NULL, 0, NULL })
mc_fact mc_fact_int(int64_t v);
mc_fact mc_fact_bool(bool v);
mc_fact mc_fact_text(mc_str v);
mc_fact mc_fact_list(const mc_fact *items, size_t n);
mc_fact mc_fact_null(void);
mc_fact mc_fact_unknown(const char *why);
mc_str  mc_fact_words(mc_arena *a, const mc_fact *f);   /* "128", "true", "a, b"; "" for unknown and null */

/* What `each` walks over: one linear layer of a role, one fused group (q, k, v; gate, up), one compressed-tensors config group. */
typedef enum {
    MC_EACH_NONE, MC_EACH_ROW_PARALLEL, MC_EACH_COLUMN_PARALLEL, MC_EACH_LINEAR /* both */, MC_EACH_EXPERTS, MC_EACH_EMBEDDING,
    MC_EACH_FUSED_GROUP, MC_EACH_CONFIG_GROUP, MC_N_EACH
} mc_each;
typedef struct { mc_each each; size_t i; } mc_scope;
#define MC_SCOPE_MODEL ((mc_scope){ MC_EACH_NONE, 0 })

/* Where facts come from. get: a name the provider does not know is unknown, and so is a fact of layers without a layer. count: things of a kind that `each` walks. */
typedef struct {
    mc_fact (*get)(const void *cx, mc_scope scope, mc_str name);
    size_t  (*count)(const void *cx, mc_each each);
    const void *cx;
} mc_facts;

/* Is it a fact that data may name (the list of docs/frameworks.md)? Members of open groups count: config.<key>, file.<name> ... */
bool        mc_fact_exists(mc_str name);
const char *mc_fact_name(size_t i);                     /* each name outside the open groups, sorted; NULL at the end */

/* ---- predicates ------------------------------------------------------------------------------------------- */

typedef enum { MC_FALSE, MC_TRUE, MC_MAYBE } mc_three;

/* A fault in a data file: where (the byte offset of a value) and what, in words. */
typedef struct { uint32_t at; mc_str what; } mc_fault;
typedef struct { mc_fault *v; size_t n, cap; mc_arena *arena; } mc_faults;
void mc_fault_add(mc_faults *f, const mc_value *at, const char *fmt, ...) MC_PRINTF(3, 4);

/* Adds a fault for every unknown key, operator or fact and every argument of a wrong kind; false if there was one. */
bool     mc_predicate_check(const mc_value *p, mc_faults *f);
/* `p` has passed mc_predicate_check; NULL is true (a row without `when`). *because (may be NULL) gets what is missing
 * when the answer is maybe: fact.why, or the name of the fact. */
mc_three mc_predicate_eval(const mc_value *p, const mc_facts *facts, mc_scope scope, mc_str *because);

/* The same where an absent fact makes its comparison false: would it be worth asking for what is missing? */
mc_three mc_predicate_closed(const mc_value *p, const mc_facts *facts, mc_scope scope, mc_str *because);
mc_three mc_fact_compare(const mc_fact *f, mc_str op, const mc_value *args);
mc_three mc_three_and(mc_three a, mc_three b);
mc_three mc_three_or(mc_three a, mc_three b);
mc_three mc_three_not(mc_three t);

/* "{name}" -> the words of the fact. Per-layer facts go without their prefix. A fact without a value leaves "?" and *hole true. */
mc_str   mc_fill(mc_arena *a, mc_str text, const mc_facts *facts, mc_scope scope, bool *hole);
/* Adds a fault for each placeholder that names no fact. */
bool     mc_fill_check(const mc_value *text, mc_faults *f);

/* ---- versions --------------------------------------------------------------------------------------------- */

/* Numbers of a version, missing ones 0. "v0.11" and "b10573" lose their letter. written: parts that the text has. */
enum { MC_VERSION_PARTS = 4 };
typedef struct { uint32_t part[MC_VERSION_PARTS]; unsigned written; } mc_version;
/* build: "b10573" or "10573". Otherwise up to four dotted numbers, "v" optional; a suffix (rc1, .post2, .dev3, +cu128) is dropped: an rc counts as its release. */
bool mc_version_parse(mc_str text, bool build, mc_version *out) MC_MUST_USE;
int  mc_version_cmp(const mc_version *a, const mc_version *b);  /* <0, 0, >0 */

#endif
