/* SPDX-License-Identifier: MIT */
/* A random program of verbs on the in-process devices: the property verbs. */
#include "props/verbs/verbs.h"
#include "fuzz/property.h"

O2_FUZZ_PROPERTY(verbs, {0})
