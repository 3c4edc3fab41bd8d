/* SPDX-License-Identifier: MIT */
/* Recorded conversations, and the judge's findings in them: the property verdicts. */
#include "props/judge/verdicts.h"
#include "fuzz/property.h"

O2_FUZZ_PROPERTY(verdicts, {0})
