/* MC420-MC422: companions. */
#include "rules/quant_rules.h"

void mc_check_companion_missing(mc_check *cx)
{
    (void)cx;
}

void mc_check_companion_shape(mc_check *cx)
{
    (void)cx;
}

void mc_check_companion_surplus(mc_check *cx)
{
    (void)cx;
}
