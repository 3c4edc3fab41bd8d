/* SPDX-License-Identifier: MIT */
/* A peer that sends and writes anything, over loopverbs: the property hostile. */
#include "fuzz/property.h"
#include "props/hostile/hostile_random.h"

O2_FUZZ_PROPERTY(hostile, {0})
