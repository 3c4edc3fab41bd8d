/* SPDX-License-Identifier: MIT */
/* Two or three ends over loopverbs, in any order of events and with any fault: the property sim. */
#include "props/talk/sim.h"
#include "fuzz/property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_sim_run run;
	const struct o2_property property = o2_sim_property(&run);

	o2_fuzz_property(&property, data, size);
	return 0;
}
