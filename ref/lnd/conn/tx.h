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
 * Transmits.  Each side of an operation has one from the start of the operation to its report.  A transmit holds
 * the mapped memory of the operation and the slot that its messages are encoded in (docs/transport.md,
 * "Operations").  Transmits come from the pools of the interface.
 */

struct o2_conn;

/* The list that a transmit is on.  o2iblnd has the same lists, except WINDOW and INVALIDATE. */
enum o2_tx_place {
	O2_LIST_NONE,	    /* being set up, or taken from a list to be examined */
	O2_LIST_NOOPS,	    /* version 1: a NOOP that waits for a credit */
	O2_LIST_QUEUE,	    /* a message that waits for a credit */
	O2_LIST_RESERVED,   /* a request that waits for a reservation; it then moves to QUEUE */
	O2_LIST_WINDOW,	    /* a request whose memory waits for a window; it then moves to RESERVED */
	O2_LIST_NOCRED,	    /* a message that needs no credit and waits for its turn */
	O2_LIST_INVALIDATE, /* a sink whose outcome is known and whose LOCAL_INV waits to be posted */
	O2_LIST_ACTIVE,	    /* posted, and not ended */
	O2_TX_LISTS,
};

/* Who uses a transmit.  Each owner has a limit of its own, so none can use up the transmits of the others. */
enum o2_tx_owner {
	O2_TX_OURS,  /* operations that we start */
	O2_TX_PEERS, /* operations that the peer starts */
	O2_TX_NOOPS,
	O2_TX_OWNERS,
};

/*
 * One side of one operation ("transmit").  It ends when it is on list ACTIVE, none of its sends is in flight, it
 * waits for no message, and its key is invalid.
 * o2iblnd: kib_tx
 */
struct o2_tx {
	struct o2_pool_tx base; /* must be first; message slot and cookie */
	struct o2_tx_set *set;	/* the pool set that the transmit belongs to */
	TAILQ_ENTRY(o2_tx) link;
	enum o2_tx_place list;
	enum o2_tx_owner owner;
	enum o2_msg_type type; /* type of the message that is queued, or was posted last */
	enum o2_transfer_op op;
	enum o2_side side;
	bool initiator;
	bool silent;	   /* unknown to the upper layer: ends without ops->done */
	bool waiting;	   /* waits for the answer to its message of this type */
	bool invalidating; /* its LOCAL_INV is not posted yet, or has not completed */
	bool gather;	   /* IMMEDIATE: the payload is sent from its own memory, not copied */
	uint64_t tag;	   /* the upper layer's */
	uint64_t peer_cookie;
	int64_t status; /* PUT_NAK, PUT_DONE, GET_DONE: bytes to move, or a negative errno */
	uint64_t deadline_ms;
	uint32_t nsends;	/* messages whose send completion is outstanding */
	uint32_t posted_wrs[2]; /* work requests of each of these sends, the older one first */
	uint64_t nob_mapped;	/* bytes of our memory that take part in this operation */
	struct o2_dma_mapping mapping;
	struct o2_binding binding;

	/* The outcome. */
	uint64_t nob;
	uint32_t nfrags;
	uint32_t nwr;
	enum o2_health health;
	struct o2_transfer_fault fault;

	struct o2_transfer_memory memory; /* on list WINDOW: the memory to map */
	struct o2_lnet_hdr hdr;		  /* IMMEDIATE, PUT_REQ, GET_REQ */
	struct o2_tx_arrays *arrays;	  /* storage that belongs to the slot */
};

/* Members that are too large to be cleared for every use. */
struct o2_tx_arrays {
	struct o2_sg_list frags;       /* their count; the pages, if they bounce; o2iblnd: tx_frags */
	struct o2_rdma_desc desc;      /* describes our memory; o2iblnd: tx_rd */
	struct o2_rdma_desc sink_desc; /* at a source: describes the peer's memory */
};

static_assert(offsetof(struct o2_tx, base) == 0, "what the pool hands out is a transmit");
static_assert(sizeof(struct o2_tx) <= O2_NI_TX_BYTES, "the pools of an interface have room for it");
static_assert(sizeof(struct o2_tx_arrays) <= O2_NI_TX_STORAGE_BYTES, "and for these");

TAILQ_HEAD(o2_tx_list, o2_tx);

/* May this owner take one more transmit? */
bool o2_tx_left(const struct o2_conn *conn, enum o2_tx_owner owner);
/*
 * Take a transmit, which is silent and on no list.  Returns 0, or -errno with *error (may be NULL): the owner
 * holds as many as it may, or the pool has none, or only those kept for peers.
 */
int o2_tx_start(struct o2_conn *conn, enum o2_tx_owner owner, enum o2_transfer_op op, struct o2_tx **tx,
		struct o2_error *error);
/* Move the transmit to the end of that list. */
void o2_tx_move(struct o2_conn *conn, struct o2_tx *tx, enum o2_tx_place list);
/*
 * Find the active transmit that has this cookie and waits for the answer to its message of that type.  NULL: there
 * is none; then the message that named the cookie in that field is refused, which closes the connection.
 */
struct o2_tx *o2_tx_find(struct o2_conn *conn, uint64_t cookie, enum o2_msg_type type, const char *field);
/* Queue the transmit's message of that type for posting, with a deadline that starts now. */
void o2_tx_queue(struct o2_conn *conn, struct o2_tx *tx, enum o2_msg_type type);
/* Put the transmit on list WINDOW, with a deadline that starts now. */
void o2_tx_await_window(struct o2_conn *conn, struct o2_tx *tx, enum o2_msg_type type);
/* The outcome is known: invalidate the key if needed, end when nothing is in flight.  May call ops->done. */
void o2_tx_settle(struct o2_conn *conn, struct o2_tx *tx);
/* End the transmit if nothing of it is in flight any more. */
void o2_tx_check_done(struct o2_conn *conn, struct o2_tx *tx);
/* Release everything, return the transmit to its pool, and report it unless it is silent. */
void o2_tx_end(struct o2_conn *conn, struct o2_tx *tx);
/* Record why the operation fails.  The first fault stays. */
void o2_tx_fault_stage(struct o2_tx *tx, int code, const struct o2_error *error);
void o2_tx_fault_peer(struct o2_tx *tx, int32_t status);

/* Run the mapping stages on *memory.  Fills binding, desc and nob_mapped. */
int o2_tx_map(struct o2_conn *conn, struct o2_tx *tx, const struct o2_transfer_memory *memory,
	      struct o2_error *error);
/* The most fragments of our sink: as agreed, and as fit into a GET_REQ of the peer's largest message. */
uint32_t o2_sink_frags(const struct o2_conn *conn);
/* Run the mapping stages up to the plan, in conn->scratch, without mapping: the device may still refuse. */
int o2_tx_plan(struct o2_conn *conn, const struct o2_tx *tx, const struct o2_transfer_memory *memory,
	       struct o2_error *error);
/*
 * Undo the mapping, however far it came, once the outcome is known.  If the transfer succeeded, staged bytes are
 * copied to their place first.  Does nothing for a transmit that was never mapped.  If the device fails to
 * deregister a region, the operation fails.
 */
void o2_tx_unmap(struct o2_conn *conn, struct o2_tx *tx);

#endif
