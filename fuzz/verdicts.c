/* SPDX-License-Identifier: MIT */
/* Recorded conversations, and the judge's findings in them: the property verdicts. */
#include "props/judge/verdicts.h"
#include "fuzz/property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_verdicts_run run;
	const struct o2_property property = o2_verdicts_property(&run);

	o2_fuzz_property(&property, data, size);
	return 0;
}
