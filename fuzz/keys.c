/* SPDX-License-Identifier: MIT */
/* The life of a fast-registration key in modes fastreg and fastreg_gaps: the property keys. */
#include "props/stage/keys.h"
#include "fuzz/property.h"

O2_FUZZ_PROPERTY(keys, {0})
