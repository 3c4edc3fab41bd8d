/* SPDX-License-Identifier: MIT */
/* Reject records and NIDs as text, compared with a second codec: the property parts. */
#include "props/stage/parts.h"
#include "fuzz/property.h"

O2_FUZZ_PROPERTY(parts, {0})
