/* SPDX-License-Identifier: MIT */
#ifndef O2_LOOPVERBS_LOOPVERBS_H
#define O2_LOOPVERBS_LOOPVERBS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * loopverbs: an in-process libibverbs device (docs/loopverbs.md).
 *
 * A program uses it through <infiniband/verbs.h> alone: link this library in place of libibverbs, or put
 * libloopverbs.so in front of it with LD_PRELOAD.  This header has what a test may do beyond verbs.  All
 * functions may be called at any time, from any thread.
 */

/* Two devices, "loop0" and "loop1", one port each, on one fabric. */
#define O2_LOOP_DEVICES 2u
/* Where each port keeps its IPv4-mapped RoCE v2 GID, as soft-RoCE does; index 0 is link-local. */
#define O2_LOOP_GID_INDEX 1u

enum o2_loop_option {
	/*
	 * 1 (default): registration checks that every page is present, readable, and writable where the
	 * access flags need it, as the pinning of a kernel driver would, and fails with EFAULT.  0: no check.
	 * Environment: LOOPVERBS_CHECK_PAGES.
	 */
	O2_LOOP_CHECK_PAGES,
	/*
	 * 1 (default): an access through a memory window must lie inside the window.  0: inside its region is
	 * enough, as soft-RoCE has it.  Environment: LOOPVERBS_WINDOW_BOUNDS.
	 */
	O2_LOOP_WINDOW_BOUNDS,
	/*
	 * 1 (default): retry_cnt 7 means seven retries, as the specification has it.  0: it means without
	 * end, as soft-RoCE has it.  Environment: LOOPVERBS_FINITE_RETRY.
	 */
	O2_LOOP_FINITE_RETRY,
	/*
	 * 1: the device writes rubbish into a receive, of a queue pair or a shared queue, as soon as it is
	 * posted, so that a program that still reads it is noticed.  0 (default): not before a message comes.
	 */
	O2_LOOP_SCRIBBLE,
	O2_LOOP_OPTIONS,
};

/* Returns 0, or -EINVAL for an unknown option or a value that is not 0 or 1. */
int o2_loop_set_option(enum o2_loop_option option, unsigned int value);

/*
 * Free every object of every open context, close the contexts, and put keys, numbers, counters and the clock
 * back to where a fresh process has them.  Options and hooks stay.  Any verbs pointer the caller still holds
 * is dead afterwards, except those of the device list.
 */
void o2_loop_reset(void);

/* What the devices have done since the start or the last reset, and what exists now. */
struct o2_loop_counters {
	uint64_t posted_sends;	 /* work requests accepted by post_send and bind_mw */
	uint64_t posted_recvs;	 /* work requests accepted by post_recv and post_srq_recv */
	uint64_t sends;		 /* executed: SEND, with or without immediate or invalidate */
	uint64_t writes;	 /* executed: RDMA WRITE, with or without immediate */
	uint64_t reads;		 /* executed: RDMA READ */
	uint64_t atomics;	 /* executed: compare-and-swap, fetch-and-add */
	uint64_t binds;		 /* executed: type 1 and type 2 binds, fast registrations */
	uint64_t invalidates;	 /* executed: local and remote */
	uint64_t data_bytes;	 /* bytes copied between registered memory */
	uint64_t packets;	 /* packets that those bytes would have taken */
	uint64_t refused_access; /* remote accesses refused: key, range or permission */
	uint64_t local_errors;	 /* requests failed by their own key, range or permission */
	uint64_t flushed;	 /* completions with IBV_WC_WR_FLUSH_ERR */
	uint64_t rnr_waits;	 /* times a request waited for a receive */
	uint64_t lost;		 /* times a request found no peer that answers */
	uint64_t completions;	 /* completions written to a queue */
	uint64_t overruns;	 /* completions lost to a full queue */
	uint64_t registrations;	 /* regions registered */
	uint64_t clock_ns;	 /* virtual time */
	/* Objects alive now. */
	uint32_t live_contexts, live_pds, live_mrs, live_mws, live_cqs, live_channels, live_qps, live_srqs,
		live_ahs;
};

void o2_loop_get_counters(struct o2_loop_counters *counters);

/*
 * Interleaving.  Without a hook, queue pairs with work take turns, one work request each, until none is left.
 * With one, pick is called with the numbers of the runnable queue pairs (at least one, at most the
 * oldest 64, oldest first) before each work request; it returns the index of the one to run, or a negative
 * number to leave everything for the next call into the device.  An index beyond the list counts modulo
 * count.  The hook runs under the device's lock and must not call verbs.
 */
typedef int (*o2_loop_pick_fn)(void *arg, const uint32_t *qp_nums, unsigned int count);

void o2_loop_set_pick(o2_loop_pick_fn pick, void *arg);

/* Entries of a region with gaps, at most: what o2iblnd asks a device for. */
#define O2_LOOP_GAP_ENTRIES 257u

struct ibv_cq;
struct ibv_mr;
struct ibv_pd;
struct ibv_send_wr;
struct ibv_sge;

/* Where a fault may be put in (docs/loopverbs.md, "Faults"). */
enum o2_loop_call {
	O2_LOOP_CALL_POST_SEND, /* one work request of a post; also type 1 binds */
	O2_LOOP_CALL_POST_RECV, /* one receive of a post; of a shared queue: of no queue pair */
	O2_LOOP_CALL_REGISTER,	/* a region */
	O2_LOOP_CALL_MAKE,	/* a completion queue, a queue pair, a window */
	O2_LOOP_CALL_MODIFY,	/* a queue pair */
	O2_LOOP_CALL_POLL,	/* a completion queue, or a request to be told of its next completion */
	O2_LOOP_CALL_EXECUTE,	/* a work request by the device */
	O2_LOOP_CALLS,
};

/*
 * Called before each of these; qp_num 0: of no queue pair.  Returns 0 to go on; for EXECUTE else the enum
 * ibv_wc_status that the request fails with, without being carried out; POST_SEND, POST_RECV, REGISTER and a
 * request to be told fail with this errno, MAKE and MODIFY with ENOMEM, a poll with -1.  It may run
 * under the device's lock and must not call verbs.
 */
typedef int (*o2_loop_fault_fn)(void *arg, enum o2_loop_call call, uint32_t qp_num);

void o2_loop_set_fault(o2_loop_fault_fn fault, void *arg);

/* A SEND or RDMA WRITE of an RC queue pair that has arrived; a WRITE also if it is refused there. */
struct o2_loop_seen {
	uint32_t from_qp, to_qp;
	bool is_write;
	uint64_t length_bytes;
	/* SEND: the first bytes_seen of it, up to O2_LOOP_SEEN_BYTES, wherever they were gathered from. */
	const uint8_t *bytes;
	uint64_t bytes_seen;
	/* WRITE: */
	uint64_t addr;
	uint32_t rkey;
};

#define O2_LOOP_SEEN_BYTES 8192u

/* Called for each of these, in the order of arrival.  It may run under the device's lock and must not call
 * verbs. */
typedef void (*o2_loop_tap_fn)(void *arg, const struct o2_loop_seen *seen);

void o2_loop_set_tap(o2_loop_tap_fn tap, void *arg);

/*
 * Deliver a SEND of these bytes that nobody has sent, as if it came from the peer of queue pair qp_num.
 * False: there is no receive for it, it is refused, or qp_num is not connected.
 */
bool o2_loop_forge(uint32_t qp_num, const void *bytes, uint32_t length);

/*
 * Would queue pair qp_num admit an RDMA WRITE there now?  Nothing is written, and the queue pair's state does
 * not change.
 */
bool o2_loop_admits_write(uint32_t qp_num, uint32_t rkey, uint64_t addr, uint64_t length);

/* Completions that wait in a queue. */
uint32_t o2_loop_cq_entries(struct ibv_cq *cq);

/* Work requests of a queue pair that were posted and not executed; 0 if there is no such queue pair. */
uint32_t o2_loop_sends_waiting(uint32_t qp_num);

/* Move the clock to the next timer and let it fire; false: there is none. */
bool o2_loop_tick(void);

/*
 * Register count byte ranges (addr: address in this process, length; lkey is ignored) as one region: byte k
 * of all of them, one after the other, lies at iova + k, for the peer under rkey and for local use under
 * lkey. mr->addr is no memory.  No alignment is needed.  Kernels offer this as IB_MR_TYPE_SG_GAPS; user-space
 * verbs have no such call.  Returns NULL with errno: EINVAL, EFAULT, EOPNOTSUPP (IBV_ACCESS_REMOTE_ATOMIC),
 * ENOMEM.  ibv_dereg_mr ends the region.
 */
struct ibv_mr *o2_loop_reg_gaps(struct ibv_pd *pd, const struct ibv_sge *entry, uint32_t count, uint64_t iova,
				unsigned int access);

/*
 * Fast registration, as kernels have it (docs/loopverbs.md, "Fast registration").  User-space verbs have no
 * such calls.
 *
 * A region that holds up to max_entries byte ranges (at most O2_LOOP_GAP_ENTRIES) and is not registered yet:
 * nothing can be reached under its keys, which are equal.  ibv_dereg_mr ends it.  NULL with errno: EINVAL,
 * ENOMEM.  kernel: ib_alloc_mr
 */
struct ibv_mr *o2_loop_alloc_mr(struct ibv_pd *pd, uint32_t max_entries);

/*
 * Note the ranges that the region's next registration takes when it is executed: byte k of all of them, one
 * after the other, lies at iova + k.  What is registered now stays as it is.  Returns count, or -EINVAL,
 * -EFAULT, -ENOMEM.  kernel: ib_map_mr_sg
 */
int o2_loop_map_mr(struct ibv_mr *mr, const struct ibv_sge *entry, uint32_t count, uint64_t iova);

/*
 * Fill *wr (unsignalled, wr_id 0) with the request that registers what was mapped, under this key, whose low
 * byte alone is new, with these rights: local write, remote write, remote read.  Once it was executed
 * mr->lkey and mr->rkey are the key.  IBV_WR_LOCAL_INV ends it.  kernel: IB_WR_REG_MR
 */
void o2_loop_reg_mr(struct ibv_mr *mr, uint32_t key, unsigned int access, struct ibv_send_wr *wr);

/* Its opcode: verbs leave one to each driver. */
#define O2_LOOP_WR_REG_MR IBV_WR_DRIVER1

/* Run what is runnable (as any verbs call does).  Returns true if anything was executed. */
bool o2_loop_progress(void);

#endif
