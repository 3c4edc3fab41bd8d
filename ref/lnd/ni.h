/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_NI_H
#define O2_LND_NI_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "base/error.h"
#include "mem/arena.h"
#include "mem/ledger.h"
#include "reg/bind.h"

/*
 * A network interface: one port of one verbs device, an arena of memory, and the registration domain over
 * both.
 */
struct o2_ni_config {
	const char *device;   /* "rxe0", "loop0", ...: a name that ibv_devices(1) lists */
	uint8_t port;	      /* 1 */
	uint8_t gid_index;    /* of the RoCEv2 GID to use */
	uint64_t nid;	      /* NID4, see docs/wire.md */
	uint64_t incarnation; /* stamp of this start; microseconds since 1970 in o2iblnd */
	enum o2_dma_kind dma_kind;
	uint64_t dma_base; /* kinds bus and iommu: device address of the first page */
	uint32_t arena_pages;
};

struct o2_ni {
	struct o2_ni_config config;
	struct ibv_context *context;
	struct ibv_pd *pd;
	enum ibv_mtu mtu;
	union ibv_gid gid;
	struct o2_arena arena;
	struct o2_reg_domain domain;
	struct o2_dma_ledger ledger; /* of the mappings of its transfers */
};

/*
 * Open the device by name, check that the port is active and the GID is there, make arena and domain.
 * Returns 0 or -errno: -ENODEV (no such device), -ENETDOWN (port not active), -EADDRNOTAVAIL (GID empty) ...;
 * *error names field and value.  config is copied, config->device is only used during the call.
 */
int o2_ni_open(const struct o2_ni_config *config, struct o2_ni *ni, struct o2_error *error);

/* Every connection must have been destroyed. */
void o2_ni_close(struct o2_ni *ni);

/*
 * Change how the domain's addresses look (another kind or base) without opening the device again; no binding
 * may be alive.  Returns 0 or -errno.
 */
int o2_ni_set_dma(struct o2_ni *ni, enum o2_dma_kind kind, uint64_t base, struct o2_error *error);

#endif
