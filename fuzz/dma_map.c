/* SPDX-License-Identifier: MIT */
/* dma_map with faults, and the ledger of mappings: the property dma. */
#include "fuzz/property.h"
#include "props/stage/dma.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_dma_run run;
	const struct o2_property property = o2_dma_property(&run);

	o2_fuzz_property(&property, data, size);
	return 0;
}
