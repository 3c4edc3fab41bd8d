/* SPDX-License-Identifier: MIT */
/* Pool sets of every kind, with time, failing devices and failover: the property pools. */
#include "props/stage/pools.h"
#include "fuzz/property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_pools_run run;
	const struct o2_property property = o2_pools_property(&run);

	o2_fuzz_property(&property, data, size);
	return 0;
}
