/* run.h - checks of the run family that live in files of their own; the table is in run.c. */
#ifndef MODELCHECK_RULES_RUN_H
#define MODELCHECK_RULES_RUN_H
#include "rules/rule.h"

void mc_rule_geometry_unknown(mc_check *cx); /* MC906, run_geometry.c */

#endif
