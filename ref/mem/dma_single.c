/* SPDX-License-Identifier: MIT */
#include "mem/dma_single.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool bounces(const struct o2_dma_single *single)
{
	return single->device != single->cpu;
}

int o2_dma_map_single(void *cpu, size_t bytes, enum o2_dma_direction direction, bool bounce,
		      struct o2_dma_single *single, struct o2_error *error)
{
	void *device = cpu;

	assert(bytes > 0);
	*single = (struct o2_dma_single){.bytes = 0};
	if (bounce) {
		device = calloc(1, bytes);
		if (device == NULL)
			return o2_refuse_value(error, -ENOMEM, "dma/bounce-memory", "bytes", bytes,
					       O2_NO_LIMIT);
	}
	*single = (struct o2_dma_single){cpu, device, bytes, direction};
	return 0;
}

void o2_dma_unmap_single(struct o2_dma_single *single)
{
	if (single->bytes != 0 && bounces(single))
		free(single->device);
	*single = (struct o2_dma_single){.bytes = 0};
}

static void check_range(const struct o2_dma_single *single, size_t offset, size_t bytes)
{
	assert(offset <= single->bytes && bytes <= single->bytes - offset);
}

void o2_dma_sync_for_device(const struct o2_dma_single *single, size_t offset, size_t bytes)
{
	check_range(single, offset, bytes);
	if (bounces(single) && single->direction == O2_DMA_TO_DEVICE)
		memcpy(single->device + offset, single->cpu + offset, bytes);
}

void o2_dma_sync_for_cpu(const struct o2_dma_single *single, size_t offset, size_t bytes)
{
	check_range(single, offset, bytes);
	if (bounces(single) && single->direction == O2_DMA_FROM_DEVICE)
		memcpy(single->cpu + offset, single->device + offset, bytes);
}
