/* infer.h - what a model is, from its files and configuration. Private to scan. */
#ifndef MODELCHECK_SCAN_INFER_H
#define MODELCHECK_SCAN_INFER_H
#include "scan/scan.h"

mc_kind mc_infer_kind(const mc_model *m, mc_kb *kb);
/* Every tensor of the read set is in the inventory. A GGUF cut into byte parts lists its tensors in the first of them. */
bool    mc_all_listed(const mc_model *m, const mc_component *k);

#endif
