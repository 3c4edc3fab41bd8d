/* SPDX-License-Identifier: MIT */
#ifndef O2REF_IMPL_SETUP_H
#define O2REF_IMPL_SETUP_H

#include "impl_base.h"

/*
 * The question and the answer of stage setup (version 2): a device, the pools of its network and a connection
 * are set up and torn down, and the n-th acquisition fails (docs/oracle.md, "Setting up").
 * Include o2ref/impl.h.
 *
 * A question has rounds; each round sets up everything from nothing.  The answer logs all acquisitions and
 * releases in order.  Test doubles of the allocator and of the verbs, under the driver's code, write this log
 * with o2_impl_setup_acquire() and o2_impl_setup_release() below.
 */

#define O2_IMPL_MAX_ROUNDS   4u
#define O2_IMPL_SETUP_EVENTS 2048u
#define O2_IMPL_SETUP_MOST   16u /* maximum of queue_depth, tx_count and pool_size */

struct o2_impl_setup_round {
	uint32_t fails_at; /* the n-th acquisition of the round fails; 0: none */
	uint32_t reserved;
};

struct o2_impl_setup_in {
	uint32_t mode;	      /* enum o2_impl_mode: GLOBAL, FMR or FASTREG */
	uint32_t queue_depth; /* of the connection: 2 to O2_IMPL_SETUP_MOST */
	uint32_t tx_count;    /* messages in progress at once: 1 to O2_IMPL_SETUP_MOST */
	uint32_t pool_size;   /* memory regions of the pool in mode FASTREG: 1 to O2_IMPL_SETUP_MOST */
	uint32_t error;	      /* positive errno, 1 to 133, with which the n-th acquisition fails */
	uint32_t count;	      /* of rounds: 1 to O2_IMPL_MAX_ROUNDS */
	const struct o2_impl_setup_round *round;
};

enum o2_impl_setup_kind {
	O2_IMPL_SETUP_MEMORY = 0,
	O2_IMPL_SETUP_MAPPING = 1, /* a DMA mapping; built on memory */
	O2_IMPL_SETUP_PD = 2,
	O2_IMPL_SETUP_REGION = 3, /* a memory region; built on a PD; in mode GLOBAL the PD may include it */
	O2_IMPL_SETUP_POOL = 4,	  /* an FMR pool; built on a PD */
	O2_IMPL_SETUP_CQ = 5,
	O2_IMPL_SETUP_QP = 6,	 /* built on a PD and a CQ; after a failure a smaller one may be tried */
	O2_IMPL_SETUP_OTHER = 7, /* anything else: a CM id, a completion channel, a thread */
};

enum o2_impl_setup_op {
	O2_IMPL_SETUP_ACQUIRE = 0,
	O2_IMPL_SETUP_FAIL = 1, /* a failed acquisition, without a handle */
	O2_IMPL_SETUP_RELEASE = 2,
	O2_IMPL_SETUP_RETURN = 3, /* the set-up returned; after status 0 the releases of teardown follow */
};

struct o2_impl_setup_event {
	uint32_t round;
	uint32_t op;	  /* enum o2_impl_setup_op */
	uint32_t kind;	  /* ACQUIRE, FAIL: enum o2_impl_setup_kind */
	uint32_t handle;  /* ACQUIRE, RELEASE: not 0; unique among the resources that are held */
	uint32_t on;	  /* ACQUIRE, FAIL: handle of the resource that this one is built on; 0: none */
	uint32_t also_on; /* ACQUIRE, FAIL: handle of a second such resource; 0: none */
	uint32_t status;  /* RETURN: 0, or a positive errno */
	uint32_t reserved;
};

/* Events of all rounds, one round after the other; each round has exactly one RETURN. */
struct o2_impl_setup_out {
	uint32_t count;
	uint32_t capacity; /* O2_IMPL_SETUP_EVENTS */
	struct o2_impl_setup_event *event;
};

/* --- optional helpers with which a wrapper writes the log --- */

struct o2_impl_setup_log {
	const struct o2_impl_setup_in *in;
	struct o2_impl_setup_out *out;
	uint32_t round;	   /* the caller sets it, and sets `acquired` to 0, when a round begins */
	uint32_t acquired; /* acquisitions in the round so far, including the failed one */
};

static inline void o2_impl_setup_write(struct o2_impl_setup_log *log, uint32_t op, uint32_t kind,
				       uint32_t handle, uint32_t on, uint32_t also_on, uint32_t status)
{
	struct o2_impl_setup_event *event;

	if (log->out->count++ >= log->out->capacity)
		return;
	event = &log->out->event[log->out->count - 1];
	event->round = log->round;
	event->op = op;
	event->kind = kind;
	event->handle = handle;
	event->on = on;
	event->also_on = also_on;
	event->status = status;
	event->reserved = 0;
}

/* Log an acquisition.  Returns its handle; 0: this is the n-th acquisition and must fail with in->error. */
static inline uint32_t o2_impl_setup_acquire(struct o2_impl_setup_log *log, uint32_t kind, uint32_t on,
					     uint32_t also_on)
{
	const int fails = ++log->acquired == log->in->round[log->round].fails_at;
	const uint32_t handle = fails ? 0 : log->acquired;

	o2_impl_setup_write(log, fails ? O2_IMPL_SETUP_FAIL : O2_IMPL_SETUP_ACQUIRE, kind, handle, on,
			    also_on, 0);
	return handle;
}

static inline void o2_impl_setup_release(struct o2_impl_setup_log *log, uint32_t handle)
{
	o2_impl_setup_write(log, O2_IMPL_SETUP_RELEASE, 0, handle, 0, 0, 0);
}

/* Log the return of the set-up function.  status: 0, or a positive errno. */
static inline void o2_impl_setup_return(struct o2_impl_setup_log *log, uint32_t status)
{
	o2_impl_setup_write(log, O2_IMPL_SETUP_RETURN, 0, 0, 0, 0, status);
}

#endif
