/* SPDX-License-Identifier: MIT */
/* reg_plan in every mode: the property reg_plan. */
#include "props/stage/reg_plan.h"
#include "fuzz/property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_plan_run run;
	const struct o2_property property = o2_plan_property(&run);

	o2_fuzz_property(&property, data, size);
	return 0;
}
