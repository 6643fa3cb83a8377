/* What the tensors show. (First form: sums only.) */
#include "scan/scan.h"

void mc_infer(mc_model *m, const mc_kb *kb)
{
    (void)kb;
    for (uint32_t c = 0; c < m->n_components; c++)
        m->n_tensors += m->components[c].inv.n_tensors;
}
