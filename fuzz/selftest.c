/* SPDX-License-Identifier: MIT */
/* A test node of LNet selftest, any console, and a faulty network: the property lst. */
#include "fuzz/property.h"
#include "props/lst/lst.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_lst_run run;
	const struct o2_property property = o2_lst_property(&run);

	o2_fuzz_property(&property, data, size);
	return 0;
}
