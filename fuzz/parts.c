/* SPDX-License-Identifier: MIT */
/* Reject records and NIDs as text, compared with a second codec: the property parts. */
#include "props/stage/parts.h"
#include "fuzz/property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_parts_run run;
	const struct o2_property property = o2_parts_property(&run);

	o2_fuzz_property(&property, data, size);
	return 0;
}
