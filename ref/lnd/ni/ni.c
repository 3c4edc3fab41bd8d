/* SPDX-License-Identifier: MIT */
#include "lnd/ni/ni.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "mem/dma_map.h"
#include "reg/bind.h"

static int open_device(const char *name, struct ibv_context **context, struct o2_error *error)
{
	int ndevices = 0;
	struct ibv_device **list;
	int rc = 0;

	errno = 0;
	list = ibv_get_device_list(&ndevices);
	if (list == NULL)
		return o2_fail(error, o2_errno_or(errno, ENODEV), "ni/device-list", "device", 0);
	*context = NULL;
	for (int i = 0; i < ndevices && *context == NULL && rc == 0; i++) {
		if (strcmp(ibv_get_device_name(list[i]), name) != 0)
			continue;
		errno = 0;
		*context = ibv_open_device(list[i]);
		if (*context == NULL)
			rc = o2_fail(error, o2_errno_or(errno, ENODEV), "ni/open-device", "device",
				     (uint64_t)i);
	}
	ibv_free_device_list(list);
	if (rc == 0 && *context == NULL)
		rc = o2_fail(error, -ENODEV, "ni/no-such-device", "device (number of devices there)",
			     (uint64_t)ndevices);
	return rc;
}

static int check_port(struct o2_ni *ni, struct o2_error *error)
{
	static const union ibv_gid empty;
	uint8_t port = ni->config.port;
	struct ibv_port_attr attr;
	int rc;

	memset(&attr, 0, sizeof(attr));
	rc = ibv_query_port(ni->context, port, &attr);
	if (rc != 0)
		return o2_fail(error, o2_errno_or(rc, EINVAL), "ni/port", "port", port);
	if (attr.state != IBV_PORT_ACTIVE)
		return o2_refuse_other(error, -ENETDOWN, "ni/port-not-active", "port state", attr.state,
				       IBV_PORT_ACTIVE);
	ni->mtu = attr.active_mtu;
	if (ni->config.gid_index >= attr.gid_tbl_len)
		return o2_refuse_value(error, -EADDRNOTAVAIL, "ni/gid-index", "gid_index",
				       ni->config.gid_index,
				       attr.gid_tbl_len > 0 ? (uint64_t)attr.gid_tbl_len - 1 : O2_NO_LIMIT);
	rc = ibv_query_gid(ni->context, port, ni->config.gid_index, &ni->gid);
	if (rc != 0 || memcmp(&ni->gid, &empty, sizeof(empty)) == 0)
		return o2_fail(error, -EADDRNOTAVAIL, "ni/gid-empty", "gid_index", ni->config.gid_index);
	return 0;
}

/* Make the channel non-blocking, so that taking events ends when none is left. */
static int open_channel(struct o2_ni *ni, struct o2_error *error)
{
	int flags;

	errno = 0;
	ni->channel = ibv_create_comp_channel(ni->context);
	if (ni->channel == NULL)
		return o2_fail(error, o2_errno_or(errno, ENOMEM), "ni/channel", "channel", 0);
	flags = fcntl(ni->channel->fd, F_GETFL);
	if (flags >= 0 && fcntl(ni->channel->fd, F_SETFL, flags | O_NONBLOCK) == 0)
		return 0;
	return o2_fail(error, o2_errno_or(errno, EIO), "ni/channel", "fd", (uint64_t)ni->channel->fd);
}

static uint32_t value_or(uint32_t value, uint32_t otherwise)
{
	return value != 0 ? value : otherwise;
}

/* Set the sizes and tunables that the caller left at 0. */
static int settle_sizes(struct o2_ni_config *config, struct o2_error *error)
{
	struct o2_pool_tunables *tunables = &config->tunables;
	struct o2_pool_sizes made;
	int rc;

	*tunables = (struct o2_pool_tunables){
		.ntx = value_or(tunables->ntx, O2_POOL_NTX),
		.fmr_pool_size = value_or(tunables->fmr_pool_size, O2_POOL_REG_SIZE),
		.fmr_flush_trigger = value_or(tunables->fmr_flush_trigger, O2_POOL_FLUSH),
		.ncpts = value_or(tunables->ncpts, 1),
	};
	rc = o2_pool_sizes(tunables, &made, error);
	if (rc != 0)
		return rc;
	made.tx_size = value_or(config->sizes.tx_size, made.tx_size);
	made.reg_size = value_or(config->sizes.reg_size, made.reg_size);
	/* If the caller asks for small pools, the watermark is the one asked for, or at most the pool's size. */
	if (config->sizes.flush_trigger != 0)
		made.flush_trigger = config->sizes.flush_trigger;
	else if (config->sizes.reg_size != 0 && made.flush_trigger > made.reg_size)
		made.flush_trigger = made.reg_size;
	config->sizes = made;
	return 0;
}

static int open_arena(struct o2_ni *ni, const struct o2_ni_config *config, struct o2_error *error)
{
	const uint32_t windows = value_or(config->windows, O2_ARENA_WINDOWS);
	int rc = o2_refuse_range(error, -EINVAL, "ni/windows", "windows", windows, 2, O2_ARENA_WINDOWS);

	if (rc != 0)
		return rc;
	if (config->arena != NULL)
		ni->arena = *config->arena;
	else if (config->plain_arena)
		rc = o2_arena_create_plain(config->arena_pages, &ni->arena, error);
	else
		rc = o2_arena_create(config->arena_pages, &ni->arena, error);
	ni->arena.nwindows = windows;
	ni->kept_windows = (windows + 3) / 4;
	return rc;
}

/* The capabilities that the device has and the configuration permits. */
static int find_caps(struct o2_ni *ni, const struct o2_reg_caps *asked, struct o2_reg_caps *caps,
		     struct o2_error *error)
{
	int rc = o2_reg_detect(ni->context, caps, error);

	if (rc == 0 && asked != NULL)
		*caps = (struct o2_reg_caps){
			.global = caps->global && asked->global,
			.fmr = caps->fmr && asked->fmr,
			.fastreg = caps->fastreg && asked->fastreg,
			.gaps = caps->gaps && asked->gaps,
		};
	return rc;
}

/* The device's view of the slots of one pool: DMA mapping and memory region. */
struct slot_area {
	struct o2_dma_single dma;
	struct ibv_mr *mr;
};

static void end_area(struct slot_area *area)
{
	o2_dma_unmap_single(&area->dma);
	free(area);
}

/* The slots of a pool form a region of their own without remote access: their bytes leave only by SEND. */
static int area_create(void *context, uint64_t device, void *area, size_t bytes, void **handle,
		       struct o2_error *error)
{
	struct o2_ni *ni = context;
	struct slot_area *made = calloc(1, sizeof(*made));
	int rc;

	(void)device;
	if (made == NULL)
		return o2_fail(error, -ENOMEM, "ni/slots", "bytes", sizeof(*made));
	rc = o2_dma_map_single(area, bytes, O2_DMA_TO_DEVICE, ni->config.bounce, &made->dma, error);
	if (rc == 0)
		rc = o2_reg_region_make(&ni->domain, made->dma.device, bytes, (uintptr_t)made->dma.device, 0,
					&made->mr, error);
	if (rc == 0)
		*handle = made;
	else
		end_area(made);
	return rc;
}

static void area_destroy(void *context, void *handle)
{
	struct o2_ni *ni = context;
	struct slot_area *area = handle;

	(void)o2_reg_region_end(&ni->domain, &area->mr);
	end_area(area);
}

/* The region uses the addresses of this process. */
static int slot_map(void *context, void *handle, void *slot, uint64_t *addr)
{
	const struct slot_area *area = handle;

	(void)context;
	*addr = (uintptr_t)area->dma.device + (size_t)((uint8_t *)slot - area->dma.cpu);
	return 0;
}

/* The address is valid as long as the area's region; there is nothing to undo. */
static void slot_unmap(void *context, void *handle, void *slot, uint64_t addr)
{
	(void)context;
	(void)handle;
	(void)slot;
	(void)addr;
}

static const struct o2_tx_ops tx_ops = {area_create, area_destroy, slot_map, slot_unmap};

/* Open one set per CPU partition.  After a failure close_tx_sets frees those that were opened. */
static int open_tx_sets(struct o2_ni *ni, struct o2_error *error)
{
	const uint32_t ncpts = ni->config.tunables.ncpts;

	ni->tx_sets = calloc(ncpts, sizeof(*ni->tx_sets));
	if (ni->tx_sets == NULL)
		return o2_fail(error, -ENOMEM, "ni/tx-sets", "ncpts", ncpts);
	for (; ni->ntx_sets < ncpts; ni->ntx_sets++) {
		const struct o2_tx_config config = {
			.set = {.clock = &ni->clock, .device = ni->device, .max_pools = ni->config.max_pools},
			.ops = &tx_ops,
			.context = ni,
			.pool_size = ni->config.sizes.tx_size,
			.page_bytes = ni->arena.page_bytes,
			.tx_bytes = O2_NI_TX_BYTES,
			.storage_bytes = O2_NI_TX_STORAGE_BYTES,
		};
		int rc = o2_tx_set_init(&ni->tx_sets[ni->ntx_sets], &config, error);

		if (rc != 0)
			return rc;
	}
	return 0;
}

static void close_tx_sets(struct o2_ni *ni)
{
	for (uint32_t cpt = 0; cpt < ni->ntx_sets; cpt++)
		(void)o2_pool_set_close(&ni->tx_sets[cpt].set, NULL);
	free(ni->tx_sets);
	ni->tx_sets = NULL;
	ni->ntx_sets = 0;
}

/* Open registration pools before transmit pools: docs/pools.md, "At an interface". */
static int open_pools(struct o2_ni *ni, const struct o2_ni_config *config, struct o2_error *error)
{
	struct o2_reg_config reg = {
		.pd = ni->pd,
		.arena = &ni->arena,
		.kind = config->dma_kind,
		.base = config->dma_base,
		.bounce = config->bounce,
		.sizes = ni->config.sizes,
		.ncpts = ni->config.tunables.ncpts,
		.max_pools = config->max_pools,
		.fmr_cache = !config->fmr_cache_off,
		.clock = &ni->clock,
		.device = ni->device,
		.ops = config->reg_ops,
		.reg_gaps = config->reg_gaps,
		.fast = config->reg_fast,
	};
	int rc = find_caps(ni, config->caps, &reg.caps, error);

	if (rc == 0)
		rc = o2_reg_domain_open(&reg, &ni->domain, error);
	if (rc == 0)
		rc = open_tx_sets(ni, error);
	return rc;
}

int o2_ni_open(const struct o2_ni_config *config, struct o2_ni *ni, struct o2_error *error)
{
	int rc;

	memset(ni, 0, sizeof(*ni));
	ni->config = *config;
	ni->config.device = NULL;
	ni->config.caps = NULL;
	ni->arena.fd = -1;
	rc = settle_sizes(&ni->config, error);
	if (rc == 0)
		rc = open_device(config->device, &ni->context, error);
	if (rc == 0)
		rc = check_port(ni, error);
	if (rc == 0) {
		errno = 0;
		ni->pd = ibv_alloc_pd(ni->context);
		if (ni->pd == NULL)
			rc = o2_fail(error, o2_errno_or(errno, ENOMEM), "ni/alloc-pd", "pd", 0);
	}
	if (rc == 0 && config->events)
		rc = open_channel(ni, error);
	if (rc == 0)
		rc = open_arena(ni, config, error);
	if (rc == 0)
		rc = open_pools(ni, config, error);
	if (rc != 0)
		o2_ni_close(ni);
	return rc;
}

void o2_ni_close(struct o2_ni *ni)
{
	close_tx_sets(ni);
	o2_reg_domain_close(&ni->domain);
	if (ni->config.arena == NULL)
		o2_arena_destroy(&ni->arena);
	else
		ni->arena = (struct o2_arena){.fd = -1};
	if (ni->channel != NULL)
		ibv_destroy_comp_channel(ni->channel);
	if (ni->pd != NULL)
		ibv_dealloc_pd(ni->pd);
	if (ni->context != NULL)
		ibv_close_device(ni->context);
	ni->channel = NULL;
	ni->pd = NULL;
	ni->context = NULL;
}

int o2_ni_fd(const struct o2_ni *ni)
{
	return ni->channel != NULL ? ni->channel->fd : -1;
}

int o2_ni_take_events(struct o2_ni *ni)
{
	struct ibv_cq *cq;
	void *armed;
	int taken = 0;

	if (ni->channel == NULL)
		return -EOPNOTSUPP;
	for (;;) {
		errno = 0;
		if (ibv_get_cq_event(ni->channel, &cq, &armed) != 0)
			break;
		/* Acknowledge at once: ibv_destroy_cq blocks until every event has been acknowledged. */
		ibv_ack_cq_events(cq, 1);
		*(bool *)armed = false;
		taken++;
	}
	return errno == EAGAIN ? taken : o2_errno_or(errno, EIO);
}

uint32_t o2_ni_slot_ready(const struct o2_pool_tx *tx, size_t bytes)
{
	const struct slot_area *area = tx->pool->area_handle;

	o2_dma_sync_for_device(&area->dma, (size_t)((uint8_t *)tx->message - area->dma.cpu), bytes);
	return area->mr->lkey;
}

int o2_ni_set_dma(struct o2_ni *ni, enum o2_dma_kind kind, uint64_t base, struct o2_error *error)
{
	int rc = o2_reg_domain_set_dma(&ni->domain, kind, base, error);

	if (rc != 0)
		return rc;
	ni->config.dma_kind = kind;
	ni->config.dma_base = base;
	return 0;
}

int o2_ni_set_bounce(struct o2_ni *ni, bool bounce, struct o2_error *error)
{
	return o2_reg_domain_set_bounce(&ni->domain, bounce, error);
}

/* Any hash would do that spreads the low bits, in which the NIDs of one network differ. */
uint32_t o2_ni_cpt(const struct o2_ni *ni, uint64_t nid)
{
	return (uint32_t)((nid * UINT64_C(0x9e3779b97f4a7c15) >> 32) % ni->config.tunables.ncpts);
}

void o2_ni_failover(struct o2_ni *ni)
{
	ni->device++;
	o2_reg_fail_pools(&ni->domain, ni->device);
	for (uint32_t cpt = 0; cpt < ni->ntx_sets; cpt++)
		(void)o2_pool_set_fail(&ni->tx_sets[cpt].set, ni->device);
}
