/* MC435, MC436. */
#include "rules/quant_rules.h"

void mc_check_excluded(mc_check *cx)
{
    (void)cx;
}

void mc_check_declared_plain(mc_check *cx)
{
    (void)cx;
}
