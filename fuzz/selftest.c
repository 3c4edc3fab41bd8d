/* SPDX-License-Identifier: MIT */
/* A test node of LNet selftest, any console, and a faulty network: the property lst. */
#include "fuzz/property.h"
#include "props/lst/lst.h"

O2_FUZZ_PROPERTY(lst, {0})
