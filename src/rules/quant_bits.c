/* MC430-MC432. */
#include "rules/quant_rules.h"

void mc_check_bits(mc_check *cx)
{
    (void)cx;
}

void mc_check_group(mc_check *cx)
{
    (void)cx;
}

void mc_check_layout(mc_check *cx)
{
    (void)cx;
}
