/* MC445-MC447. */
#include "rules/quant_rules.h"

void mc_check_zero_version(mc_check *cx)
{
    (void)cx;
}

void mc_check_group_index(mc_check *cx)
{
    (void)cx;
}

void mc_check_quant_state(mc_check *cx)
{
    (void)cx;
}
