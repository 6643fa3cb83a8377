/* regex.h - start-anchored regular expressions in linear time, for lists in configuration files. Private to model and scan.
 *
 * The lists were written for Python's re.match, and their text comes from whoever made the model: no backtracking here. A
 * pattern becomes its Glushkov automaton (Glushkov 1961, "The abstract theory of automata"): one position a symbol, and a set
 * of positions that may follow each. Matching walks sets of positions, so its time is the text times the pattern.
 *
 * Supported: literals, '.', \d \w \s \D \W \S and escaped signs, [classes], (groups), (?:groups), '|', '*', '+', '?', their
 * lazy forms, {m}, {m,n} and {m,} with small numbers, '^' in front, '$'. Look-around, back-references, \b and flags are not. */
#ifndef MODELCHECK_MODEL_REGEX_H
#define MODELCHECK_MODEL_REGEX_H
#include "model/model.h"

enum { MC_REGEX_POSITIONS = 256, MC_REGEX_WORDS = MC_REGEX_POSITIONS / 64 };

typedef struct { uint64_t w[MC_REGEX_WORDS]; } mc_posset;
typedef struct mc_regex mc_regex;

/* NULL: not in the supported subset, or out of memory. The program lives in the arena. */
mc_regex *mc_regex_compile(mc_arena *a, mc_str pattern);
/* Does the pattern match a prefix of the text? With `whole`, all of it. */
bool      mc_regex_match(const mc_regex *r, mc_str text, bool whole);

#endif
