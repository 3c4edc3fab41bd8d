/* SPDX-License-Identifier: MIT */
/* A peer that sends and writes anything, over loopverbs: the property hostile. */
#include "fuzz/property.h"
#include "props/hostile/hostile_random.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_hostile_run run;
	const struct o2_property property = o2_hostile_property(&run);

	o2_fuzz_property(&property, data, size);
	return 0;
}
