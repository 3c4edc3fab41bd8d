/* SPDX-License-Identifier: MIT */
/* The life of a fast-registration key in modes fastreg and fastreg_gaps: the property keys. */
#include "props/stage/keys.h"
#include "fuzz/property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_keys_run run;
	const struct o2_property property = o2_keys_property(&run);

	o2_fuzz_property(&property, data, size);
	return 0;
}
