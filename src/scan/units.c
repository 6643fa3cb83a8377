#include "scan/scan.h"
mc_err mc_scan_path(const char *path, const mc_scan_options *o, mc_kb *kb, mc_model_list *out, int *os_error)
{ (void)path; (void)o; (void)kb; (void)out; *os_error = 2; return (mc_err){ MC_E_IO, 0, "not built yet" }; }
void mc_model_free(mc_model *m) { (void)m; }
