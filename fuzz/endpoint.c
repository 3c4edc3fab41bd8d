/* SPDX-License-Identifier: MIT */
/* Two to four complete peers over the in-process connection manager: the property endpoint. */
#include "fuzz/property.h"
#include "props/lnet/endpoints.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_endpoints_run run = {.ground = &o2_ground_on_loop};
	const struct o2_property property = o2_endpoints_property(&run);

	o2_fuzz_property(&property, data, size);
	return 0;
}
