/* levels.h - every key of a configuration at every depth, for rules that say "at any level". Internal to the rules. */
#ifndef MODELCHECK_RULES_LEVELS_H
#define MODELCHECK_RULES_LEVELS_H
#include "rules/rule.h"

typedef struct { const mc_value *v; size_t next; } mc_level;
typedef struct {
    mc_level        stack[MC_MAX_JSON_DEPTH + 1];
    unsigned        depth;
    const mc_value *pending;    /* value of the field returned last: entered by the next step */
} mc_levels;

/* `for (mc_levels l = mc_levels_of(root); (f = mc_levels_next(&l));)`: the fields of all objects, in the document's order. */
mc_levels       mc_levels_of(const mc_value *root);
const mc_field *mc_levels_next(mc_levels *l);
void            mc_levels_leave(mc_levels *l);                          /* do not enter the field returned last */
mc_str          mc_levels_pointer(const mc_levels *l, mc_arena *a);     /* of the field returned last: "/text_config/dtype" */
bool            mc_levels_in_tower(const mc_levels *l);                 /* is that field below an encoder of images, sound ...? */

/* A part of a model that is no text decoder, by a configuration key or a tensor name: vision_config, visual.blocks.0 ... */
bool mc_names_tower(mc_str name);

#endif
