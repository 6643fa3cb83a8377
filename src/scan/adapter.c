/* The base model of an adapter, when it is named by a path: is there anything under it? Nothing is opened. */
#include "scan/scan.h"

void mc_adapter_base(mc_model *m, mc_str root)
{
    mc_str base = mc_as_str(mc_get(mc_model_root(m, 0, MC_ROLE_ADAPTER_CONFIG), "base_model_name_or_path"));
    /* Loaders resolve a relative path against the working directory; people mean the adapter's. */
    m->base_exists = base.n && (mc_exists(MC_STR(""), base) || mc_exists(root, base));
}
