/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_NI_H
#define O2_LND_NI_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "lnd/ni/watch.h"
#include "mem/arena.h"
#include "mem/dma_map.h"
#include "rdma/post.h"
#include "reg/bind.h"
#include "reg/plan.h"
#include "reg/pool/pool_tx.h"

/*
 * A network interface: one port of one verbs device, an arena of memory, the registration domain over both,
 * and the pools of transmits.  Source: docs/transport.md, docs/pools.md.
 *
 * It, and the connections, nodes and endpoints on it, are used by one thread at a time; several interfaces
 * may be used by several (docs/pools.md, "Threads").  It must stay where it is while it is open.
 */
struct o2_ni_config {
	const char *device;   /* "rxe0", "loop0", ...: a name that ibv_devices(1) lists */
	uint8_t port;	      /* 1 */
	uint8_t gid_index;    /* of the RoCEv2 GID to use */
	uint64_t nid;	      /* NID4, see docs/wire.md */
	uint64_t incarnation; /* stamp of this start; microseconds since 1970 in o2iblnd */
	enum o2_dma_kind dma_kind;
	uint64_t dma_base; /* kinds bus and iommu: device address of the first page */
	/* The device bounces (docs/mapping.md): message buffers, and the memory of transfers. */
	bool bounce;
	uint32_t arena_pages;
	/* Memory of the caller's that takes the place of an arena of its own, for one interface at a time; it
	 * outlives the interface, and may be shared with other processes.  NULL: an arena of arena_pages. */
	const struct o2_arena *arena;
	bool plain_arena; /* an arena of its own is without the views that scatter pages (mem/arena.h) */
	/* Windows of the arena that may be in use, 2 to O2_ARENA_WINDOWS; 0: that many.  A quarter of them is
	 * kept for what peers start. */
	uint32_t windows;

	/* Pools.  In tunables 0 stands for o2iblnd's default, and for one CPU partition. */
	struct o2_pool_tunables tunables;
	struct o2_pool_sizes sizes; /* a member that is not 0 takes the place of what the tunables give */
	uint32_t max_pools;	    /* per pool set, or 0 for no cap */
	bool fmr_cache_off;	    /* the tunable fmr_cache, which is on by default */

	bool events; /* a loop wants to sleep until there are completions: o2_ni_fd */

	/* Registration.  caps: what may be used, as far as the device can; NULL for all of that. */
	const struct o2_reg_caps *caps;
	struct o2_reg_policy policy;	  /* for transfers that name no mode */
	const struct o2_reg_ops *reg_ops; /* of the registration pools; NULL: libibverbs */
	o2_reg_gaps_fn reg_gaps;	  /* regions with gaps, where the device has them; else NULL */
	/* mode fastreg in the kernel's order, where the device can; NULL: by MWs (docs/modes.md, "fastreg") */
	const struct o2_reg_fast *reg_fast;

	const struct o2_work_ops *work_ops; /* of connections; NULL: libibverbs */
	const struct o2_watch *watch; /* of connections and nodes; NULL: nobody.  Outlives the interface */
};

/*
 * What the transmits of the pools have room for: struct o2_tx of a connection, and its arrays of fragments.
 * lnd/conn/tx.h, which this room does not know, asserts that they fit.
 */
#define O2_NI_TX_BYTES	       640u
#define O2_NI_TX_STORAGE_BYTES (12u << 10)

/* o2iblnd: kib_dev, kib_hca_dev, kib_net */
struct o2_ni {
	struct o2_ni_config config; /* without device and caps; tunables and sizes as they came out */
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel; /* of all its completion queues; NULL without config.events */
	enum ibv_mtu mtu;
	union ibv_gid gid;
	struct o2_arena arena;
	struct o2_reg_domain domain;
	struct o2_tx_set *tx_sets;   /* one per CPU partition */
	uint32_t ntx_sets;	     /* as many as config.tunables.ncpts, once it is open */
	struct o2_dma_ledger ledger; /* of the mappings of its transfers */
	uint32_t kept_windows;	     /* for what peers start, while anything is open */
	uint64_t device;	     /* counts failovers: what pools and connections are built on */
	/*
	 * The clock of all that is built on the interface, told the time by o2_clock_tell: on any scale that never
	 * goes back.  o2_conn_clock, o2_node_clock and o2_endpoint_clock do that.
	 */
	struct o2_clock clock;
};

/*
 * Open the device by name, check that the port is active and the GID is there, make arena and domain, and the
 * pools: those for registrations first, then those of transmits.  config is copied; what it points to is only
 * used during the call, except arena, reg_ops, reg_fast, work_ops and watch, which outlive the interface.
 *
 * Returns 0 or -errno: -ENODEV (no such device), -ENETDOWN (port not active), -EADDRNOTAVAIL (GID empty),
 * -EINVAL (tunables) ...; *error names field and value.  Nothing is left behind then.
 * o2iblnd: kiblnd_startup
 */
int o2_ni_open(const struct o2_ni_config *config, struct o2_ni *ni, struct o2_error *error);

/* Every connection must have been destroyed.  Does nothing to an interface that is not open. */
/* o2iblnd: kiblnd_shutdown */
void o2_ni_close(struct o2_ni *ni);

/*
 * A descriptor for poll(2): readable when a connection of this interface that was armed (o2_conn_arm,
 * o2_node_arm) may have completions.  -1: the interface was opened without events.  It is the interface's,
 * and is not to be read.  Source: docs/transport.md, "Sleeping"; ibv_create_comp_channel(3).
 */
int o2_ni_fd(const struct o2_ni *ni);

/*
 * Take away what has made o2_ni_fd readable; the connections that it was about are no longer armed.
 * o2_node_arm does it.  Returns how many events there were; -EOPNOTSUPP without events; another -errno when
 * the device has failed.
 */
int o2_ni_take_events(struct o2_ni *ni);

/*
 * Change how the domain's addresses look (another kind or base) without opening the device again; no binding
 * may be alive.  Returns 0 or -errno.
 */
int o2_ni_set_dma(struct o2_ni *ni, enum o2_dma_kind kind, uint64_t base, struct o2_error *error);

/*
 * Whether the memory of transfers bounces from now on; no binding may be alive.  Message buffers stay as they
 * were mapped.  Returns 0 or -errno.
 */
int o2_ni_set_bounce(struct o2_ni *ni, bool bounce, struct o2_error *error);

/* The CPU partition that serves a peer: below config.tunables.ncpts, the same for a NID every time. */
/* LNet: lnet_cpt_of_nid */
uint32_t o2_ni_cpt(const struct o2_ni *ni, uint64_t nid);

/* The first `bytes` bytes of a transmit's slot were written: the device may read them under this lkey. */
uint32_t o2_ni_slot_ready(const struct o2_pool_tx *tx, size_t bytes);

/*
 * Another device has taken the place of the interface's: all pools have failed, new ones are made on demand.
 * Connections that were created before cannot post any more (-ENETDOWN); what they hold is given back when
 * they close (docs/pools.md, "Failover").
 * o2iblnd: kiblnd_dev_failover
 */
void o2_ni_failover(struct o2_ni *ni);

#endif
