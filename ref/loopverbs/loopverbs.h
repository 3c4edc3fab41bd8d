/* SPDX-License-Identifier: MIT */
#ifndef O2_LOOPVERBS_LOOPVERBS_H
#define O2_LOOPVERBS_LOOPVERBS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * loopverbs: an in-process libibverbs device (docs/loopverbs.md).
 *
 * A program uses it through <infiniband/verbs.h> alone: link this library in place of libibverbs, or preload
 * libloopverbs.so with LD_PRELOAD.  This header declares what a test can do beyond verbs.  All functions may be
 * called at any time, from any thread.
 */

/* Two devices, "loop0" and "loop1", one port each, on one fabric. */
#define O2_LOOP_DEVICES 2u
/* Index of each port's IPv4-mapped RoCE v2 GID, as in soft-RoCE; index 0 is the link-local GID. */
#define O2_LOOP_GID_INDEX 1u

enum o2_loop_option {
	/*
	 * 1 (default): registration fails with EFAULT unless every page is present, readable, and writable if
	 * the access flags need it, as when a kernel driver pins the pages.  0: no check.
	 * Environment: LOOPVERBS_CHECK_PAGES.
	 */
	O2_LOOP_CHECK_PAGES,
	/*
	 * 1 (default): an access through a memory window must lie inside the window.  0: it must only lie
	 * inside the window's region, as in soft-RoCE.  Environment: LOOPVERBS_WINDOW_BOUNDS.
	 */
	O2_LOOP_WINDOW_BOUNDS,
	/*
	 * 1 (default): retry_cnt 7 means seven retries, as in the specification.  0: it means endless retries,
	 * as in soft-RoCE.  Environment: LOOPVERBS_FINITE_RETRY.
	 */
	O2_LOOP_FINITE_RETRY,
	/*
	 * 1: the device overwrites the memory of a receive as soon as it is posted, to a queue pair or an SRQ.
	 * This exposes a program that still reads it.  0 (default): only a message writes to the memory.
	 */
	O2_LOOP_SCRIBBLE,
	/* 1 (default): the ports are active.  0: they are down, as far as ibv_query_port(3) says. */
	O2_LOOP_PORT_ACTIVE,
	O2_LOOP_OPTIONS,
};

/* Returns 0, or -EINVAL for an unknown option or a value that is not 0 or 1. */
int o2_loop_set_option(enum o2_loop_option option, unsigned int value);

/*
 * Free every object of every open context, close the contexts, and reset keys, numbers, counters and the clock
 * to those of a new process.  Options and hooks stay.  All verbs pointers that the caller still holds become
 * invalid, except those of the device list.
 */
void o2_loop_reset(void);

/* Counts of events since the start or the last reset, and of objects that exist now. */
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
	uint64_t packets;	 /* packets that would carry those bytes */
	uint64_t refused_access; /* remote accesses refused because of key, range or permission */
	uint64_t local_errors;	 /* requests that failed because of a local key, range or permission */
	uint64_t flushed;	 /* completions with IBV_WC_WR_FLUSH_ERR */
	uint64_t rnr_waits;	 /* times that a request waited for a receive */
	uint64_t lost;		 /* times that no peer answered a request */
	uint64_t completions;	 /* completions written to a queue */
	uint64_t overruns;	 /* completions lost because a queue was full */
	uint64_t registrations;	 /* regions registered */
	uint64_t left;		 /* objects that existed when their context was closed, which freed them */
	uint64_t clock_ns;	 /* virtual time */
	/* Objects alive now. */
	uint32_t live_contexts, live_pds, live_mrs, live_mws, live_cqs, live_channels, live_qps, live_srqs,
		live_ahs;
};

void o2_loop_get_counters(struct o2_loop_counters *counters);

/*
 * Interleaving.  Without a hook, the queue pairs that have work execute one work request each in turn, until
 * none has work left.  With a hook, the device calls pick before each work request, with the numbers of the
 * runnable queue pairs (at least one, at most the oldest 64, oldest first).  pick returns the index of the
 * queue pair to run, modulo count, or a negative number to postpone all work to the next call into the device.
 * The hook runs under the device's lock and must not call verbs.
 */
typedef int (*o2_loop_pick_fn)(void *arg, const uint32_t *qp_nums, unsigned int count);

void o2_loop_set_pick(o2_loop_pick_fn pick, void *arg);

/* Maximum number of entries of a region with gaps: as many as o2iblnd asks a device for. */
#define O2_LOOP_GAP_ENTRIES 257u

struct ibv_cq;
struct ibv_mr;
struct ibv_pd;
struct ibv_send_wr;
struct ibv_sge;

/* Where a test may inject a fault (docs/loopverbs.md, "Faults"). */
enum o2_loop_call {
	O2_LOOP_CALL_POST_SEND, /* each work request of a post; also each type 1 bind */
	O2_LOOP_CALL_POST_RECV, /* each receive of a post; qp_num is 0 for an SRQ */
	O2_LOOP_CALL_REGISTER,	/* registration of a region */
	O2_LOOP_CALL_MAKE,	/* creation of a completion queue, queue pair or window */
	O2_LOOP_CALL_MODIFY,	/* change of a queue pair */
	O2_LOOP_CALL_POLL,	/* poll of a completion queue, or request for notification */
	O2_LOOP_CALL_EXECUTE,	/* execution of a work request */
	O2_LOOP_CALLS,
};

/*
 * Called before each of these; qp_num 0: no queue pair is involved.  Returns 0 to continue, or an error.
 * EXECUTE: the enum ibv_wc_status with which the request fails without being executed.  POST_SEND, POST_RECV,
 * REGISTER and a request for notification fail with this errno, MAKE and MODIFY with ENOMEM, a poll returns -1.
 * The hook may run under the device's lock and must not call verbs or create a thread.
 */
typedef int (*o2_loop_fault_fn)(void *arg, enum o2_loop_call call, uint32_t qp_num);

void o2_loop_set_fault(o2_loop_fault_fn fault, void *arg);

/* A SEND or RDMA WRITE of an RC queue pair that has arrived at the peer; a WRITE also if the peer refuses it. */
struct o2_loop_seen {
	uint32_t from_qp, to_qp;
	bool is_write;
	uint64_t length_bytes;
	/* SEND: its first bytes_seen bytes (at most O2_LOOP_SEEN_BYTES), in one piece even if gathered. */
	const uint8_t *bytes;
	uint64_t bytes_seen;
	/* WRITE: */
	uint64_t addr;
	uint32_t rkey;
};

#define O2_LOOP_SEEN_BYTES 8192u

/* Called for each such message, in the order of arrival.  The hook may run under the device's lock and must not
 * call verbs. */
typedef void (*o2_loop_tap_fn)(void *arg, const struct o2_loop_seen *seen);

void o2_loop_set_tap(o2_loop_tap_fn tap, void *arg);

/*
 * Deliver a SEND of these bytes to queue pair qp_num, as if its peer had sent it.
 * False: no receive is posted, the SEND is refused, or qp_num is not connected (one for datagrams never is), or
 * not in RTR or RTS.
 */
bool o2_loop_forge(uint32_t qp_num, const void *bytes, uint32_t length);

/*
 * Would queue pair qp_num, in RTR or RTS, accept this RDMA WRITE now?  Key and range are checked for a length of
 * 0 too.  Nothing is written, and the state of the queue pair does not change.
 */
bool o2_loop_admits_write(uint32_t qp_num, uint32_t rkey, uint64_t addr, uint64_t length);

/* Number of completions in a queue. */
uint32_t o2_loop_cq_entries(struct ibv_cq *cq);

/* Number of posted work requests that a queue pair has not executed yet; 0 if there is no such queue pair. */
uint32_t o2_loop_sends_waiting(uint32_t qp_num);

/* Advance the clock to the next timer and let it fire; false: there is none. */
bool o2_loop_tick(void);

/*
 * Register count byte ranges (addr: address in this process, length; lkey is ignored) as one region.  In the
 * region's addresses they follow each other directly: byte k of them is at iova + k, remotely under rkey and
 * locally under lkey.  mr->addr is not accessible memory.  No alignment is needed.  Kernels offer this as
 * IB_MR_TYPE_SG_GAPS; user-space verbs have no such call.  Returns NULL with errno: EINVAL, EFAULT, EOPNOTSUPP
 * (IBV_ACCESS_REMOTE_ATOMIC), ENOMEM.  ibv_dereg_mr frees the region.
 */
struct ibv_mr *o2_loop_reg_gaps(struct ibv_pd *pd, const struct ibv_sge *entry, uint32_t count, uint64_t iova,
				unsigned int access);

/*
 * Fast registration, as kernels have it (docs/loopverbs.md, "Fast registration").  User-space verbs have no
 * such calls.
 *
 * Allocate a region for up to max_entries byte ranges (at most O2_LOOP_GAP_ENTRIES).  It is not registered: an
 * access with its keys, which are equal, fails.  ibv_dereg_mr frees it.  Returns NULL with errno: EINVAL,
 * ENOMEM.  kernel: ib_alloc_mr
 */
struct ibv_mr *o2_loop_alloc_mr(struct ibv_pd *pd, uint32_t max_entries);

/*
 * Set the byte ranges for the region's next registration: byte k of them is at address iova + k.  The current
 * registration does not change.  Returns count, or -EINVAL, -EFAULT, -ENOMEM.  kernel: ib_map_mr_sg
 */
int o2_loop_map_mr(struct ibv_mr *mr, const struct ibv_sge *entry, uint32_t count, uint64_t iova);

/*
 * Fill *wr (unsignalled, wr_id 0) with a request that registers the mapped ranges, under `key` and with these
 * rights: local write, remote write, remote read.  Only the low byte of the key may be new.  The execution of
 * *wr sets mr->lkey and mr->rkey to `key`.  IBV_WR_LOCAL_INV ends the registration.  kernel: IB_WR_REG_MR
 */
void o2_loop_reg_mr(struct ibv_mr *mr, uint32_t key, unsigned int access, struct ibv_send_wr *wr);

/* Opcode of that request.  verbs.h reserves this one for drivers. */
#define O2_LOOP_WR_REG_MR IBV_WR_DRIVER1

/* Execute the runnable work, as any verbs call does.  Returns true if anything was executed. */
bool o2_loop_progress(void);

#endif
