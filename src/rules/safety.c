#include "rules/rule.h"

static const mc_rule rules[] = { { 0 } };
const mc_family mc_family_safety = { "safety", rules, 0 };
