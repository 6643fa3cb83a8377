#include "scan/scan.h"
void mc_geometry_gguf(mc_model *m, const mc_kb *kb) { (void)m; (void)kb; }
