/* matcher.h - what patterns.c and matcher.c share. Private to model. */
#ifndef MODELCHECK_MODEL_MATCHER_H
#define MODELCHECK_MODEL_MATCHER_H
#include "model/quant.h"
#include "model/regex.h"

enum { MC_MAX_FUSED = 3, MC_LONGEST_NAME = 512 };

bool   mc_pattern_literal(mc_str s);                    /* no sign that means something in a glob or a regular expression, but '.' */
mc_str mc_pattern_stem(const mc_pattern *p);            /* the literal that must occur where the pattern matches; "" if there is none */
mc_str mc_without_root(mc_str s);                       /* without model., model.language_model. or language_model.model. */
/* "x.qkv_proj": q_proj, k_proj, v_proj behind the first *stem bytes. 0: no fused name. */
size_t mc_fused_parts(mc_str entry, const char *out[MC_MAX_FUSED], size_t *stem);

/* ---- verdict.c ---- */

typedef struct { mc_pattern *p; const mc_override *owner; /* NULL: an exclude entry */ } mc_entry;
typedef struct {
    bool              own, any, unknown;
    const mc_pattern *own_by;
    const mc_override *over, *any_over;
    const mc_pattern *target;           /* of over */
    unsigned          rank;
    bool              over_unknown;
} mc_tally;
void       mc_entry_consider(mc_tally *t, const mc_entry *e, const mc_module *m);
mc_verdict mc_tally_conclude(const mc_claim *c, const mc_tally *t, bool cut); /* cut: not every entry could be considered */
size_t     mc_claim_entries(const mc_claim *c);

#endif
