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

#endif
