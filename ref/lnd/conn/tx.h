/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_CONN_TX_H
#define O2_LND_CONN_TX_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/error.h"
#include "lnd/conn/transfer.h"
#include "lnd/ni/ni.h"
#include "mem/dma_map.h"
#include "mem/sg_build.h"
#include "reg/bind.h"
#include "reg/pool/pool_tx.h"
#include "wire/desc.h"
#include "wire/msg.h"

/*
 * Transmits: one for each side of an operation, from its start to its report, with the memory that is mapped
 * for it and the slot that its messages are written to (docs/transport.md, "Operations").  They come from the
 * pools of the interface.
 */

struct o2_conn;

/* Where a transmit is; o2iblnd has the same lists, but WINDOW and INVALIDATE. */
enum o2_tx_place {
	O2_LIST_NONE,	    /* being set up, or taken from a list to be looked at */
	O2_LIST_NOOPS,	    /* version 1: a NOOP that waits for a credit */
	O2_LIST_QUEUE,	    /* waits for a credit */
	O2_LIST_RESERVED,   /* a request that waits for a reservation, and then for a credit */
	O2_LIST_WINDOW,	    /* a request whose memory waits for a window, and then for the rest */
	O2_LIST_NOCRED,	    /* needs no credit, waits for its turn */
	O2_LIST_INVALIDATE, /* the outcome is known: a sink's LOCAL_INV waits to be posted */
	O2_LIST_ACTIVE,	    /* posted, and not ended */
	O2_TX_LISTS,
};

/* Whom a transmit is reserved for, so that none of them can use up those of the others. */
enum o2_tx_owner {
	O2_TX_OURS,  /* operations that we start */
	O2_TX_PEERS, /* operations that the peer starts */
	O2_TX_NOOPS,
	O2_TX_OWNERS,
};

/*
 * One side of one operation ("transmit").  It ends when it is on no list but ACTIVE, no send of its own is
 * in flight, it waits for no message, and its key is dead.
 * o2iblnd: kib_tx
 */
struct o2_tx {
	struct o2_pool_tx base; /* first: its message slot and its cookie */
	struct o2_tx_set *set;	/* whose it is */
	TAILQ_ENTRY(o2_tx) link;
	enum o2_tx_place list;
	enum o2_tx_owner owner;
	enum o2_msg_type type; /* of the message that is queued, or was posted last */
	enum o2_transfer_op op;
	enum o2_side side;
	bool initiator;
	bool silent;	   /* the upper layer does not know of it: ends without ops->done */
	bool waiting;	   /* for the answer to a message of this type */
	bool invalidating; /* its LOCAL_INV is to be posted, or has not completed */
	bool gather;	   /* IMMEDIATE: the payload is sent from where it lies */
	uint64_t tag;	   /* of the upper layer */
	uint64_t peer_cookie;
	int64_t status; /* PUT_NAK, PUT_DONE, GET_DONE: bytes to move, or a negative errno */
	uint64_t deadline_ms;
	uint32_t nsends;	/* messages whose send completion is outstanding */
	uint32_t posted_wrs[2]; /* work requests of each of them, the older one first */
	uint64_t nob_mapped;	/* bytes of our memory in this operation */
	struct o2_dma_mapping mapping;
	struct o2_binding binding;

	/* The outcome. */
	uint64_t nob;
	uint32_t nfrags;
	uint32_t nwr;
	enum o2_health health;
	struct o2_transfer_fault fault;

	struct o2_transfer_memory memory; /* on list WINDOW: what is to be mapped */
	struct o2_lnet_hdr hdr;		  /* IMMEDIATE, PUT_REQ, GET_REQ */
	struct o2_tx_arrays *arrays;	  /* the storage of its slot */
};

/* What is too large to be cleared with every use. */
struct o2_tx_arrays {
	struct o2_sg_list frags;       /* what is mapped; o2iblnd: tx_frags */
	struct o2_rdma_desc desc;      /* of our memory; o2iblnd: tx_rd */
	struct o2_rdma_desc sink_desc; /* source: of the peer's memory */
};

static_assert(offsetof(struct o2_tx, base) == 0, "what the pool hands out is a transmit");
static_assert(sizeof(struct o2_tx) <= O2_NI_TX_BYTES, "the pools of an interface have room for it");
static_assert(sizeof(struct o2_tx_arrays) <= O2_NI_TX_STORAGE_BYTES, "and for these");

TAILQ_HEAD(o2_tx_list, o2_tx);

/* May this owner take one more? */
bool o2_tx_left(const struct o2_conn *conn, enum o2_tx_owner owner);
/*
 * A transmit, silent and on no list.  Returns 0, or -errno with *error (may be NULL): the owner has as many as it
 * may, or the pool has none.
 */
int o2_tx_start(struct o2_conn *conn, enum o2_tx_owner owner, enum o2_transfer_op op, struct o2_tx **tx,
		struct o2_error *error);
/* Move to the end of that list. */
void o2_tx_move(struct o2_conn *conn, struct o2_tx *tx, enum o2_tx_place list);
/*
 * The active transmit with our cookie whose message of that type waits for an answer.  NULL: there is none, and
 * the message at hand, which has the cookie in that field, is refused.
 */
struct o2_tx *o2_tx_find(struct o2_conn *conn, uint64_t cookie, enum o2_msg_type type, const char *field);
/* Queue its message of that type for posting, with a deadline from now on. */
void o2_tx_queue(struct o2_conn *conn, struct o2_tx *tx, enum o2_msg_type type);
/* Let it wait for a window, with a deadline from now on. */
void o2_tx_await_window(struct o2_conn *conn, struct o2_tx *tx, enum o2_msg_type type);
/* The outcome is known: invalidate the key if need be, end when nothing is under way.  May call ops->done. */
void o2_tx_settle(struct o2_conn *conn, struct o2_tx *tx);
/* End it if nothing is under way any more. */
void o2_tx_check_done(struct o2_conn *conn, struct o2_tx *tx);
/* Release everything, make the transmit idle and report it, unless it is silent. */
void o2_tx_end(struct o2_conn *conn, struct o2_tx *tx);
/* Note why the operation fails; the first fault stays. */
void o2_tx_fault_stage(struct o2_tx *tx, int code, const struct o2_error *error);
void o2_tx_fault_peer(struct o2_tx *tx, int32_t status);

/* Run the mapping stages on memory: fills binding, desc and nob_mapped. */
int o2_tx_map(struct o2_conn *conn, struct o2_tx *tx, const struct o2_transfer_memory *memory,
	      struct o2_error *error);
/*
 * The most fragments that a sink of ours may have: max_frags as agreed, and no more than fit a GET_REQ of the
 * largest message that the peer takes.
 */
uint32_t o2_sink_frags(const struct o2_conn *conn);
/* Run the stages up to the plan, in conn->scratch.  Nothing is mapped, so the device may still refuse. */
int o2_tx_plan(struct o2_conn *conn, const struct o2_tx *tx, const struct o2_transfer_memory *memory,
	       struct o2_error *error);
/*
 * Undo the mapping, however far it came, when the outcome is known: staged bytes of a good transfer are put
 * where they belong.  Does nothing for a transmit that was never mapped.  When the device does not deregister
 * a region, the operation fails.
 */
void o2_tx_unmap(struct o2_conn *conn, struct o2_tx *tx);

#endif
