/* config.h - checks of the configuration family that live in heads.c. Internal to the rules. */
#ifndef MODELCHECK_RULES_CONFIG_H
#define MODELCHECK_RULES_CONFIG_H
#include "rules/rule.h"

void mc_check_head_missing(mc_check *cx);      /* MC455 */
void mc_check_head_repeated(mc_check *cx);     /* MC456 */
void mc_check_head_differs(mc_check *cx);      /* MC457 */
void mc_check_mtp_absent(mc_check *cx);        /* MC458 */

#endif
