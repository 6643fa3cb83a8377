/* frameworks.h - what the frameworks_*.c share: the checks of the family's table. */
#ifndef MODELCHECK_RULES_FRAMEWORKS_H
#define MODELCHECK_RULES_FRAMEWORKS_H
#include "rules/rule.h"

void mc_check_target_refuses(mc_check *cx);     /* MC701: frameworks_target.c */
void mc_check_target_wrong(mc_check *cx);       /* MC702 */
void mc_check_target_needs(mc_check *cx);       /* MC703 */
void mc_check_target_slow(mc_check *cx);        /* MC704 */
void mc_check_target_unknown(mc_check *cx);     /* MC705 */
void mc_check_not_read(mc_check *cx);           /* MC706: frameworks_files.c */
void mc_check_few_runtimes(mc_check *cx);       /* MC707: frameworks_shape.c */
void mc_check_tp_limit(mc_check *cx);           /* MC708 */

#endif
