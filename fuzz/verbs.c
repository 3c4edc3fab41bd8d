/* SPDX-License-Identifier: MIT */
/* A random program of verbs on the in-process devices: the property verbs. */
#include "props/verbs/verbs.h"
#include "fuzz/property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_verbs_run run;
	const struct o2_property property = o2_verbs_property(&run);

	o2_fuzz_property(&property, data, size);
	return 0;
}
