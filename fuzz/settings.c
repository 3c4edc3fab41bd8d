/* SPDX-License-Identifier: MIT */
/* Interfaces and connections at their limits and just past them: the property settings. */
#include "props/talk/settings.h"
#include "fuzz/property.h"

O2_FUZZ_PROPERTY(settings, {0})
