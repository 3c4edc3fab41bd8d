/* SPDX-License-Identifier: MIT */
#ifndef O2_FUZZ_COMMON_H
#define O2_FUZZ_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/limits.h"
#include "props/engine/choice.h"
#include "props/engine/report.h"

/*
 * What the fuzz targets share: the prototype of the entry point, decoding, and the one way to report a violation.
 * Source: docs/fuzzing.md, "How a target is written".
 *
 * All state is in statics that are initialised anew for each input: if one input could affect the next, a finding
 * would not replay.
 */

/* Called by every engine for each input.  Returns 0; a violation aborts. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Called by every engine once before that, if the target defines it.  Returns 0. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Print "o2ref fuzz: " and one line that describes the violation to stderr, then abort(). */
_Noreturn void o2_fuzz_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The choice sequence that reads this input.  Only one exists at a time; data must outlive its use. */
struct o2_choice *o2_fuzz_choice(const uint8_t *data, size_t size);

/*
 * Returns if the property held; otherwise prints the report's lines and fails with the property's name and the
 * signature.
 */
void o2_fuzz_report(const char *name, const struct o2_report *report);

#endif
