#include "scan/scan.h"
void mc_geometry(mc_model *m, const mc_kb *kb) { (void)m; (void)kb; }
