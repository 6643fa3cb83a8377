#include "formats/formats.h"
mc_str mc_template_code(mc_str source) { (void)source; return MC_STR(""); }
