/* SPDX-License-Identifier: MIT */
#include "lnd/ni_pools.h"

#include <errno.h>
#include <stdlib.h>

#include "reg/bind_modes.h"

/* The slots of one pool are a region of their own that gives a peer no access: what is there goes out by
 * SEND. */
static int area_create(void *context, uint64_t device, void *area, size_t bytes, void **handle,
		       struct o2_error *error)
{
	struct o2_ni *ni = context;
	struct ibv_mr *mr;
	int rc = o2_reg_region_make(&ni->domain, area, bytes, (uintptr_t)area, 0, &mr, error);

	(void)device;
	if (rc == 0)
		*handle = mr;
	return rc;
}

static void area_destroy(void *context, void *handle)
{
	struct o2_ni *ni = context;
	struct ibv_mr *mr = handle;

	(void)o2_reg_region_end(&ni->domain, &mr);
}

/* The area's region has the addresses of this process. */
static int slot_map(void *context, void *handle, void *slot, uint64_t *addr)
{
	(void)context;
	(void)handle;
	*addr = (uintptr_t)slot;
	return 0;
}

/* The address ends with the area's region. */
static void slot_unmap(void *context, void *handle, void *slot, uint64_t addr)
{
	(void)context;
	(void)handle;
	(void)slot;
	(void)addr;
}

static const struct o2_tx_ops tx_ops = {area_create, area_destroy, slot_map, slot_unmap};

int o2_ni_open_tx_sets(struct o2_ni *ni, struct o2_error *error)
{
	const uint32_t ncpts = ni->config.tunables.ncpts;

	ni->tx_sets = calloc(ncpts, sizeof(*ni->tx_sets));
	if (ni->tx_sets == NULL)
		return o2_refuse(error, -ENOMEM, "ni/tx-sets", "ncpts", O2_NO_INDEX, ncpts, O2_NO_LIMIT);
	for (; ni->ntx_sets < ncpts; ni->ntx_sets++) {
		const struct o2_tx_config config = {
			.set = {.clock = &ni->clock,
				.device = ni->device,
				.cpt = ni->ntx_sets,
				.max_pools = ni->config.max_pools},
			.ops = &tx_ops,
			.context = ni,
			.pool_size = ni->config.sizes.tx_size,
			.page_bytes = ni->arena.page_bytes,
		};
		int rc = o2_tx_set_init(&ni->tx_sets[ni->ntx_sets], &config, error);

		if (rc != 0)
			return rc;
	}
	return 0;
}

void o2_ni_close_tx_sets(struct o2_ni *ni)
{
	for (uint32_t cpt = 0; cpt < ni->ntx_sets; cpt++)
		(void)o2_tx_set_close(&ni->tx_sets[cpt], NULL);
	free(ni->tx_sets);
	ni->tx_sets = NULL;
	ni->ntx_sets = 0;
}

uint32_t o2_ni_slot_lkey(const struct o2_pool_tx *slot)
{
	return ((const struct ibv_mr *)slot->pool->area_handle)->lkey;
}
