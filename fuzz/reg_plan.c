/* SPDX-License-Identifier: MIT */
/* reg_plan in every mode: the property reg_plan. */
#include "props/stage/reg_plan.h"
#include "fuzz/property.h"

O2_FUZZ_PROPERTY(plan, {0})
