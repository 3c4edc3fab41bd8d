/* SPDX-License-Identifier: MIT */
#include "mem/ledger.h"

#include <errno.h>
#include <stddef.h>

int o2_ledger_map(struct o2_dma_ledger *ledger, uint32_t entries, enum o2_dma_direction direction,
		  struct o2_dma_mapping *mapping, struct o2_error *error)
{
	if (mapping->ledger != NULL)
		return o2_refuse(error, -EBUSY, "ledger/already-mapped", "entries", O2_NO_INDEX,
				 mapping->entries, 0);
	if (entries == 0)
		return o2_refuse(error, -EINVAL, "ledger/nothing-mapped", "entries", O2_NO_INDEX, 0, 1);
	*mapping = (struct o2_dma_mapping){.ledger = ledger, .entries = entries, .direction = direction};
	ledger->maps++;
	ledger->live++;
	ledger->live_entries += entries;
	return 0;
}

int o2_ledger_unmap(struct o2_dma_ledger *ledger, enum o2_dma_direction direction,
		    struct o2_dma_mapping *mapping, struct o2_error *error)
{
	const enum o2_dma_direction mapped = mapping->direction;

	if (mapping->ledger != ledger) {
		ledger->wrong_unmaps++;
		return o2_refuse(error, -EINVAL, "ledger/not-mapped", "entries", O2_NO_INDEX,
				 mapping->entries, O2_NO_LIMIT);
	}
	ledger->unmaps++;
	ledger->live--;
	ledger->live_entries -= mapping->entries;
	*mapping = (struct o2_dma_mapping){.ledger = NULL};
	if (direction == mapped)
		return 0;
	ledger->wrong_unmaps++;
	return o2_refuse_other(error, -EINVAL, "ledger/direction", "direction", direction, mapped);
}

bool o2_ledger_balanced(const struct o2_dma_ledger *ledger)
{
	return ledger->maps == ledger->unmaps && ledger->live == 0 && ledger->live_entries == 0 &&
	       ledger->wrong_unmaps == 0;
}
