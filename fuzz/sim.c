/* SPDX-License-Identifier: MIT */
/* Two or three ends over loopverbs, in any order of events and with any fault: the property sim. */
#include "props/talk/sim.h"
#include "fuzz/property.h"

O2_FUZZ_PROPERTY(sim, {0})
