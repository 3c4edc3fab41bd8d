/* SPDX-License-Identifier: MIT */
/* No code under test: measures the cost of the engine itself.  For ci/bench-fuzz (docs/fuzzing.md, "The rate"). */
#include "fuzz/common.h"

/* Volatile, or the compiler removes the only use of the input. */
static volatile uint8_t o2_fuzz_sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 0)
		o2_fuzz_sink = data[size - 1];
	return 0;
}
