/* SPDX-License-Identifier: MIT */
/* Interfaces and connections at their limits and just past them: the property settings. */
#include "props/talk/settings.h"
#include "fuzz/property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_settings_run run;
	const struct o2_property property = o2_settings_property(&run);

	o2_fuzz_property(&property, data, size);
	return 0;
}
