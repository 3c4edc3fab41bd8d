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
 * A network interface: one port of one verbs device, an arena of memory, the registration domain over both, and
 * the pools of transmits.  Source: docs/transport.md, docs/pools.md.
 *
 * Only one thread at a time may use an interface and all that is built on it; different threads may use different
 * interfaces (docs/pools.md, "Threads").  The struct must not be moved while the interface is open.
 */
struct o2_ni_config {
	const char *device;   /* name as ibv_devices(1) lists it: "rxe0", "loop0", ... */
	uint8_t port;	      /* port number, usually 1 */
	uint8_t gid_index;    /* index of the RoCEv2 GID to use */
	uint64_t nid;	      /* NID4, see docs/wire.md */
	uint64_t incarnation; /* distinguishes restarts; microseconds since 1970 in o2iblnd */
	enum o2_dma_kind dma_kind;
	uint64_t dma_base; /* kinds bus and iommu: device address of the first page */
	/* Use bounce buffers (docs/mapping.md) for message buffers and for the memory of transfers. */
	bool bounce;
	uint32_t arena_pages;
	/* The caller's memory, used instead of an arena of the interface's own, by one interface at a time.  It
	 * must outlive the interface, and other processes may share it.  NULL: create an arena of arena_pages. */
	const struct o2_arena *arena;
	bool plain_arena; /* create the arena without the views that scatter pages (mem/arena.h) */
	/* The most windows of the arena in use at a time, 2 to O2_ARENA_WINDOWS; 0: O2_ARENA_WINDOWS.  A quarter
	 * of them, rounded up, is kept for operations that peers start. */
	uint32_t windows;

	/* Pools.  A tunable that is 0 means o2iblnd's default; ncpts 0 means one CPU partition. */
	struct o2_pool_tunables tunables;
	struct o2_pool_sizes sizes; /* a member that is not 0 overrides what the tunables give */
	uint32_t max_pools;	    /* limit per pool set, which needs 2 elements; 0: none */
	bool fmr_cache_off;	    /* switch the tunable fmr_cache off; it is on by default */

	bool events; /* create a completion channel, so that a loop can sleep: o2_ni_fd */

	/* Registration.  caps: capabilities to use if the device has them; NULL: all that it has. */
	const struct o2_reg_caps *caps;
	struct o2_reg_policy policy;	  /* for transfers that name no mode */
	const struct o2_reg_ops *reg_ops; /* operations of the registration pools; NULL: libibverbs */
	o2_reg_gaps_fn reg_gaps;	  /* registers regions with gaps; NULL if the device cannot */
	/* mode fastreg in the kernel's order, if supported; NULL: by MWs (docs/modes.md, "fastreg") */
	const struct o2_reg_fast *reg_fast;

	const struct o2_work_ops *work_ops; /* work requests of connections; NULL: libibverbs */
	const struct o2_watch *watch; /* observes connections and nodes; NULL: none; outlives the interface */
};

/*
 * The space of a transmit in the pools: struct o2_tx of a connection, and its arrays of fragments.  lnd/conn/tx.h,
 * which this directory does not include, asserts that both fit.
 */
#define O2_NI_TX_BYTES	       640u
#define O2_NI_TX_STORAGE_BYTES (12u << 10)

/* o2iblnd: kib_dev, kib_hca_dev, kib_net */
struct o2_ni {
	struct o2_ni_config config; /* a copy without device and caps; tunables and sizes as computed */
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel; /* for all completion queues; NULL without config.events */
	enum ibv_mtu mtu;
	union ibv_gid gid;
	struct o2_arena arena;
	struct o2_reg_domain domain;
	struct o2_tx_set *tx_sets;   /* one per CPU partition */
	uint32_t ntx_sets;	     /* config.tunables.ncpts, once the interface is open */
	struct o2_dma_ledger ledger; /* records the mappings of transfers */
	uint32_t kept_windows;	     /* windows kept for what peers start, while anything is bound */
	uint64_t device;	     /* counts failovers; pools and connections store it */
	/*
	 * The clock of everything that is built on the interface.  o2_clock_tell sets it, on any scale that never
	 * goes back; o2_conn_clock, o2_node_clock and o2_endpoint_clock call o2_clock_tell.
	 */
	struct o2_clock clock;
};

/*
 * Open the device by name, check that the port is active and that the GID exists, create arena and domain, then
 * the pools: those for registrations first, then those of transmits.  config is copied.  What it points to is used
 * only during the call, except arena, reg_ops, reg_fast, work_ops and watch, which must outlive the interface.
 *
 * Returns 0 or -errno: -ENODEV (no such device), -ENETDOWN (port not active), -EADDRNOTAVAIL (GID empty), -EINVAL
 * (tunables), or another; *error names field and value.  After a failure nothing is left open.
 * o2iblnd: kiblnd_startup
 */
int o2_ni_open(const struct o2_ni_config *config, struct o2_ni *ni, struct o2_error *error);

/* The caller must have destroyed every connection.  Does nothing if the interface is not open. */
/* o2iblnd: kiblnd_shutdown */
void o2_ni_close(struct o2_ni *ni);

/*
 * A file descriptor for poll(2): readable when an armed connection of this interface (o2_conn_arm, o2_node_arm)
 * may have completions.  -1: the interface was opened without events.  The interface owns the descriptor; the
 * caller must not read from it.  Source: docs/transport.md, "Sleeping"; ibv_create_comp_channel(3).
 */
int o2_ni_fd(const struct o2_ni *ni);

/*
 * Take and acknowledge the completion events that made o2_ni_fd readable; their connections are no longer armed.
 * o2_node_arm calls this.  Returns the number of events; -EOPNOTSUPP without events; another -errno if the device
 * has failed.
 */
int o2_ni_take_events(struct o2_ni *ni);

/*
 * Change how the domain makes addresses (another kind or base) without reopening the device.  No binding may
 * exist.  Returns 0 or -errno.
 */
int o2_ni_set_dma(struct o2_ni *ni, enum o2_dma_kind kind, uint64_t base, struct o2_error *error);

/*
 * Choose whether the memory of transfers uses bounce buffers from now on.  No binding may exist.  Message buffers
 * keep the mapping that they were created with.  Returns 0 or -errno.
 */
int o2_ni_set_bounce(struct o2_ni *ni, bool bounce, struct o2_error *error);

/* The CPU partition that serves a peer: less than config.tunables.ncpts, and always the same for one NID. */
/* LNet: lnet_cpt_of_nid */
uint32_t o2_ni_cpt(const struct o2_ni *ni, uint64_t nid);

/* Make the first `bytes` bytes, just written, of a transmit's slot visible to the device.  Returns the lkey. */
uint32_t o2_ni_slot_ready(const struct o2_pool_tx *tx, size_t bytes);

/*
 * Another device has replaced the interface's: all pools fail, and new pools are created on demand.  Connections
 * that were created before cannot post any more (-ENETDOWN); their resources are released when they close
 * (docs/pools.md, "Failover").
 * o2iblnd: kiblnd_dev_failover
 */
void o2_ni_failover(struct o2_ni *ni);

#endif
