/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_CONN_INTERNAL_H
#define O2_LND_CONN_INTERNAL_H

#include <stddef.h>

#include "lnd/conn/conn.h"
#include "lnd/conn/credits.h"
#include "lnd/conn/qp.h"
#include "lnd/conn/tx.h"
#include "mem/dma_map.h"
#include "mem/sg_build.h"
#include "rdma/post.h"
#include "rdma/rdma_plan.h"
#include "reg/plan.h"

/* The inside of a connection; shared by the files of this room (docs/transport.md). */

/* Pid of the kernel's LNet in the LNet header (docs/wire.md, "LNet header"). */
#define O2_LNET_PID 12345u

/* NOOPs that may exist at a time: those in flight, one that is being decided on, and one in reserve. */
#define O2_NOOP_TXS (O2_OOB_MESSAGES + 2)

/* A message that waits in its receive, which is posted again when it was handled. */
/* o2iblnd: kib_rx */
struct o2_parked {
	uint32_t rx;
	uint32_t length;
	bool accounted; /* its credits were taken into account already */
};

/* Buffers of the stages.  They keep no state: valid from one call to the next within one handler only. */
struct o2_scratch {
	struct o2_sg_list sg;
	struct o2_dma_list dma;
	struct o2_reg_plan reg;
	struct o2_rdma_plan rdma;
};

/* o2iblnd: kib_conn */
struct o2_conn {
	struct o2_ni *ni;
	uint64_t device;	      /* the interface's, when this was created: what may be posted here */
	struct o2_conn_config config; /* queue_depth and max_frags as device and peer allow */
	struct o2_flow_tunables flow; /* as resolved at creation */
	struct o2_conn_ops ops;
	void *context;
	enum o2_conn_state state;
	struct o2_transfer_fault fault;
	struct o2_conn_address self;
	struct o2_conn_peer peer;
	uint32_t cpt; /* CPU partition that serves the peer: whose pools are used */
	struct ibv_cq *cq;
	bool armed; /* the next completion makes o2_ni_fd readable, or has done so */
	struct ibv_qp *qp;

	struct o2_credits credits;
	struct o2_tx_list list[O2_TX_LISTS];
	uint32_t nlisted[O2_TX_LISTS]; /* transmits on each of them */
	uint32_t ntaken[O2_TX_OWNERS]; /* transmits that each has */
	uint32_t most[O2_TX_OWNERS];   /* and may have */
	uint32_t nopen;		       /* operations of ours and of the peer's that have not ended */
	uint32_t invalidates_in_flight;
	bool pumping;

	uint64_t last_post_ms;
	uint32_t empty_noops;
	uint64_t empty_noops_since_ms;

	uint32_t nrecv;
	uint8_t *rx_area;	     /* nrecv times O2_MSG_BYTES */
	struct o2_dma_single rx_dma; /* its mapping */
	struct ibv_mr *rx_mr;
	struct o2_parked *parked; /* a ring of nrecv */
	uint32_t parked_first;
	uint32_t nparked;
	uint32_t puts_accepted;

	/* Who waits for a window: what domain.unbinds was when there was none (pump.c). */
	uint64_t window_unbinds; /* list WINDOW */
	uint64_t parked_unbinds; /* the first of the parked messages, if parked_for_window */
	bool parked_for_window;

	/* What is posted and not known to be complete, and what the queues hold. */
	uint32_t send_wrs;
	uint32_t send_wrs_max;
	uint32_t recv_wrs;
	uint32_t cq_entries;

	struct o2_post_chain chain;

	/* Never read before they are written.  O2_CONN_STATE_BYTES are all that stands before them. */
	struct o2_msg rx_msg; /* the message being handled */
	struct o2_msg tx_msg; /* the message being made */
	struct o2_scratch scratch;
};

#define O2_CONN_STATE_BYTES offsetof(struct o2_conn, rx_msg)

/*
 * wr_id: what completed in the lowest bits, which one in the others: the number of a receive, or the address of
 * a transmit.
 * o2iblnd: IBLND_WID_RX, IBLND_WID_TX, IBLND_WID_MR, IBLND_WID_RDMA
 */
enum o2_work {
	O2_WORK_RECV,	 /* a receive */
	O2_WORK_MESSAGE, /* transmit: a SEND */
	O2_WORK_INV,	 /* transmit: its LOCAL_INV */
	O2_WORK_SILENT,	 /* transmit: RDMA WRITE or BIND_MW, unsignalled; seen only when it fails */
};

#define O2_WORK_MASK 7u
static_assert(O2_WORK_SILENT <= O2_WORK_MASK && _Alignof(struct o2_tx) > O2_WORK_MASK,
	      "no address of a transmit has these bits");

#define O2_WR_ID_RX(rx)	      ((uint64_t)(rx) << 3 | O2_WORK_RECV)
#define O2_WR_ID_TX(tx, work) ((uintptr_t)(tx) | (work))	     /* o2iblnd: kiblnd_ptr2wreqid */
#define O2_WR_ID_WORK(wr_id)  ((enum o2_work)((wr_id)&O2_WORK_MASK)) /* o2iblnd: kiblnd_wreqid2type */
#define O2_RX_OF(wr_id)	      ((uint32_t)((wr_id) >> 3))
/* o2iblnd: kiblnd_wreqid2ptr */
#define O2_TX_OF(wr_id) ((struct o2_tx *)((wr_id) & ~(uintptr_t)O2_WORK_MASK))

/* pump.c: what waits, in order, until it may be posted */

/*
 * Map a request of ours, and fill in what its message says of that.  *waits: all that is missing is a window that
 * comes back; nothing is mapped then.  Returns 0, or what mapping fails with.
 */
int o2_tx_map_request(struct o2_conn *conn, struct o2_tx *tx, const struct o2_transfer_memory *memory,
		      bool *waits, struct o2_error *error);
/* Post whatever may be posted now, in order.  May call ops->done, and may close the connection. */
void o2_pump(struct o2_conn *conn);
/* After an event: handle messages that wait, as far as they can be handled now, then the same. */
void o2_conn_resume(struct o2_conn *conn);

/*
 * The peer has left: count what the completion queue says was acknowledged before.  The connection manager's
 * events and that queue have no common order.
 * o2iblnd: none, the driver takes completions until the queue pair is flushed
 */
void o2_conn_settle(struct o2_conn *conn);
/*
 * Is rc the failure of an attempt to map that ends by itself: no window of the arena is free, and something
 * that is bound is released, or has been since the attempt?  unbinds: domain.unbinds before the attempt.
 */
bool o2_window_comes_back(const struct o2_conn *conn, int rc, uint64_t unbinds);

/* post.c */

/* Header of a message of this type to the peer, everything else zero, in conn->tx_msg. */
struct o2_msg *o2_msg_begin(struct o2_conn *conn, enum o2_msg_type type);
/*
 * Make the transmit's message and post it: behind the RDMA WRITEs that it completes, and behind the bind of
 * the transmit's memory window if one is due.  A failed post closes the connection.
 */
void o2_tx_post(struct o2_conn *conn, struct o2_tx *tx);
/* Post the LOCAL_INV of the transmit's key.  A failed post closes the connection. */
void o2_tx_post_invalidate(struct o2_conn *conn, struct o2_tx *tx);

/* receive.c */

/* The O2_MSG_BYTES that receive `rx` fills. */
uint8_t *o2_rx_bytes(const struct o2_conn *conn, uint32_t rx);
/* kernel: ib_post_recv */
int o2_rx_post(struct o2_conn *conn, uint32_t rx, struct o2_error *error);
/* Is the flavour of our sums still to be learnt from the peer's? */
bool o2_cksum_wanted(const struct o2_conn *conn);
/* A message of so many bytes has arrived in this receive.  o2iblnd: kiblnd_rx_complete */
void o2_receive_completed(struct o2_conn *conn, uint32_t rx, uint32_t length);
/* Handle messages that wait, as far as they can be handled now. */
void o2_receive_parked(struct o2_conn *conn);

/* end.c */

/* Close because of *fault.  culprit, may be NULL: the operation that it is about, which ends with it; all
 * others end with -ECONNABORTED. */
void o2_conn_fail(struct o2_conn *conn, const struct o2_transfer_fault *fault, struct o2_tx *culprit);
/* The same with what a rule or the device says, and whose doing that is. */
void o2_conn_fail_by(struct o2_conn *conn, enum o2_fault_side side, const struct o2_error *error,
		     struct o2_tx *culprit);
/* The peer broke a rule. */
void o2_conn_refuse_message(struct o2_conn *conn, struct o2_tx *culprit, const char *rule, const char *field,
			    uint64_t value, uint64_t limit);
/*
 * match has answered rc for the request of tx, and that is the end of it: it has closed the connection from
 * inside, or the LNet header is not acceptable and the connection closes now.  What it accepted is reported.
 */
void o2_match_ended(struct o2_conn *conn, struct o2_tx *tx, int rc, const struct o2_transfer_memory *memory,
		    uint32_t lnet_type);

#endif
