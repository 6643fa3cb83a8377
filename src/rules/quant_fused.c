/* MC437, MC438. */
#include "rules/quant_rules.h"

void mc_check_fused(mc_check *cx)
{
    (void)cx;
}

void mc_check_router(mc_check *cx)
{
    (void)cx;
}
