/* MC433, MC434. */
#include "rules/quant_rules.h"

void mc_check_padded(mc_check *cx)
{
    (void)cx;
}

void mc_check_packed_transposed(mc_check *cx)
{
    (void)cx;
}
