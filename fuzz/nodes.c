/* SPDX-License-Identifier: MIT */
/* Two or three nodes that connect through the in-process connection manager: the property nodes. */
#include "props/talk/nodes.h"
#include "fuzz/property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_nodes_run run = {.ground = &o2_ground_on_loop};
	const struct o2_property property = o2_nodes_property(&run);

	o2_fuzz_property(&property, data, size);
	return 0;
}
