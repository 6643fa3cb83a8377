#include "rules/rule.h"

static const mc_rule rules[] = { { 0 } };
const mc_family mc_family_tensors = { "tensors", rules, 0 };
