/* SPDX-License-Identifier: MIT */
/*
 * The target that must fail.  It has the form of the others, code under test and oracle, but its code has a
 * deliberate defect: an engine that reports nothing here does not work (docs/fuzzing.md, "The canary").
 *
 * Input: up to 16 lengths of one byte each.  The code adds them up, but skips the one after a 0xa0 that follows a
 * 0x50: two comparisons, each visible to an engine as an edge of its own.
 */
#include "fuzz/common.h"

#define MAX_LENGTHS 16u

static uint32_t sum_with_defect(const uint8_t *length, size_t count)
{
	bool armed = false;
	uint32_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		if (armed && length[i] == 0xa0) {
			i++;
			sum += 0xa0;
		} else {
			sum += length[i];
		}
		armed = i < count && length[i] == 0x50;
	}
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t count = size < MAX_LENGTHS ? size : MAX_LENGTHS;
	const uint32_t found = sum_with_defect(data, count);
	uint32_t expected = 0;

	for (size_t i = 0; i < count; i++)
		expected += data[i];
	if (found != expected)
		o2_fuzz_fail("canary: the lengths add up to %u, expected %u (this defect is planted)", found,
			     expected);
	return 0;
}
