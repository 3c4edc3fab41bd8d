/* SPDX-License-Identifier: MIT */
#ifndef O2_REG_BIND_H
#define O2_REG_BIND_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "mem/arena.h"
#include "mem/dma_map.h"
#include "reg/plan.h"

/*
 * The only stage that registers memory.  It sees the plan and nothing else: never the buffer, never the
 * scatter list (docs/architecture.md, "The way of the data").  How each mode is realised on user-space verbs:
 * docs/modes.md.
 */

/* Memory windows that a domain keeps for mode fastreg. */
#define O2_DOMAIN_WINDOWS 32u

/* Contiguous buffers that a domain keeps for mode fastreg_gaps, of 1 MiB and a page each. */
#define O2_DOMAIN_STAGINGS 8u

struct o2_staging;

/* Released regions that mode fmr keeps when it is lazy; one more flushes them all. */
#define O2_DOMAIN_LAZY 8u

/* A released region that is still registered, and the window under it. */
struct o2_lazy_region {
	struct ibv_mr *mr;
	struct o2_arena_window window;
};

/* The memory of one endpoint as its device sees it.  Everything below belongs to the domain but pd and arena.
 */
struct o2_reg_domain {
	struct ibv_pd *pd;
	struct o2_arena *arena;
	struct o2_dma_device dma;     /* how page numbers become device addresses */
	struct ibv_mr *global_local;  /* mode global, sources: no remote access */
	struct ibv_mr *global_remote; /* mode global, sinks */
	struct ibv_mw *idle_mw[O2_DOMAIN_WINDOWS];
	uint32_t nidle_mw;
	uint32_t nbusy_mw; /* held by bindings */
	/*
	 * Mode fastreg_gaps: do not use a region with gaps although the device offers one, but a contiguous
	 * region in its place.  The caller may set it; false after opening.
	 */
	bool gaps_by_staging;
	/* Mode fmr: one fragment per segment for lists without gaps as well; false after opening. */
	bool fmr_per_segment;
	/* Mode fmr: released regions stay registered, and their keys alive, until o2_reg_flush; false after
	 * opening. */
	bool fmr_lazy;
	struct o2_lazy_region lazy[O2_DOMAIN_LAZY];
	uint32_t nlazy;
	struct o2_staging *idle_staging[O2_DOMAIN_STAGINGS];
	uint32_t nidle_staging;
	uint32_t nbound; /* bindings alive: 0 after everything was handed back */
};

/*
 * Open a domain: register the device-wide regions of mode global, allocate no window yet.
 * base: device address of the first page (kinds bus and iommu), a multiple of the page size; ignored for kind
 * virtual, whose page 0 is the arena's memory.  The caller may set domain->dma.iommu.merge and .fault.
 * Returns 0 or -errno.  -ENOMEM for RLIMIT_MEMLOCK names the limit in *error.
 */
int o2_reg_domain_open(struct ibv_pd *pd, struct o2_arena *arena, enum o2_dma_kind kind, uint64_t base,
		       struct o2_reg_domain *domain, struct o2_error *error);

/* Close it.  Every binding must have been released. */
void o2_reg_domain_close(struct o2_reg_domain *domain);

enum o2_binding_state {
	O2_BINDING_NONE,     /* nothing bound; what a zeroed struct says */
	O2_BINDING_READY,    /* usable */
	O2_BINDING_PREPARED, /* a window bind has to be posted before the key is advertised */
	O2_BINDING_POSTED,   /* fastreg sink: the bind was posted; the key is alive */
	O2_BINDING_DEAD,     /* fastreg sink: the invalidate completed; memory may be released */
};

struct o2_binding {
	enum o2_binding_state state;
	enum o2_reg_mode mode;
	enum o2_side side;
	uint32_t key; /* lkey of a source, rkey of a sink */
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct o2_arena_window window;
	struct o2_staging *staging; /* mode fastreg_gaps where the device has no regions with gaps */
	uint64_t iova;
	uint64_t length;
};

/*
 * Register what the plan says.  On success binding->key is the key for the descriptor.
 * In mode fastreg a sink is PREPARED: o2_binding_bind_wr makes the request that must go ahead of the message
 * that advertises the key, on the same queue pair. Returns 0 or -errno; nothing is left behind on failure.
 */
int o2_reg_bind(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, struct o2_binding *binding,
		struct o2_error *error);

/*
 * Fill *wr with the request that binds the window of a PREPARED binding (unsignalled, wr_id as given).
 * o2_binding_posted must be called right after it was posted successfully.
 */
void o2_binding_bind_wr(const struct o2_binding *binding, uint64_t wr_id, struct ibv_send_wr *wr);
void o2_binding_posted(struct o2_binding *binding);

/* True while the peer could still use the key and an invalidate has to be posted and completed
 * (docs/modes.md). */
bool o2_binding_needs_invalidate(const struct o2_binding *binding);

/* Fill *wr with the signalled LOCAL_INV of a POSTED binding; o2_binding_invalidated after its completion. */
void o2_binding_invalidate_wr(const struct o2_binding *binding, uint64_t wr_id, struct ibv_send_wr *wr);
void o2_binding_invalidated(struct o2_binding *binding);

/*
 * The first nob bytes of a sink have arrived, and the key is dead: put them where the plan says.  Does
 * something only where a contiguous region stands in for one with gaps; to be called before o2_reg_unbind.
 */
void o2_reg_deliver(const struct o2_reg_domain *domain, const struct o2_binding *binding, uint64_t nob);

/* Whether mode fastreg_gaps uses regions with gaps here, and not a contiguous region in their place. */
bool o2_reg_has_gaps(const struct o2_reg_domain *domain);

/*
 * Release: deregister, give windows back.  A POSTED binding is one whose queue pair is in error: its window
 * is deallocated, which takes the key away as well, and must happen before the queue pair is destroyed.
 * Afterwards *binding is NONE.  Calling it on NONE does nothing.
 */
void o2_reg_unbind(struct o2_reg_domain *domain, struct o2_binding *binding);

/* Mode fmr, lazy: deregister what was released.  Only now are those keys dead. */
void o2_reg_flush(struct o2_reg_domain *domain);

/* Make the descriptor for a message, or for rdma_plan: the plan's fragments under the binding's key. */
void o2_binding_desc(const struct o2_binding *binding, const struct o2_reg_plan *plan,
		     struct o2_rdma_desc *desc);

#endif
