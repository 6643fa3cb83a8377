/* hits.h - how the engine treats rules that report module by module. Internal to engine.c and hits.c. */
#ifndef MODELCHECK_RULES_HITS_H
#define MODELCHECK_RULES_HITS_H
#include "rules/rule.h"

/* Does the row of `cause` name `rule` under this scope? */
bool mc_rule_silences(const mc_rule *cause, char scope, const mc_rule *rule);
/* Scope s: between hits, then one finding for each rule, file and silencer. */
void mc_fold_hits(mc_check *cx);

#endif
