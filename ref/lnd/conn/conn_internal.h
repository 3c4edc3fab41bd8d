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

/* Internals of a connection, shared by the files of this directory (docs/transport.md). */

/* Pid of the kernel's LNet in the LNet header (docs/wire.md, "LNet header"). */
#define O2_LNET_PID 12345u

/* NOOP transmits that may exist at a time: those in flight, one that is being decided on, and one in reserve. */
#define O2_NOOP_TXS (O2_OOB_MESSAGES + 2)

/* A message that waits in its receive buffer.  The receive is posted again once the message has been handled. */
/* o2iblnd: kib_rx */
struct o2_parked {
	uint32_t rx;
	uint32_t length;
	bool accounted; /* its credits have been counted already */
};

/* Buffers of the mapping stages.  Their content is valid only within one event handler. */
struct o2_scratch {
	struct o2_sg_list sg;
	struct o2_dma_list dma;
	struct o2_reg_plan reg;
	struct o2_rdma_plan rdma;
};

/* o2iblnd: kib_conn */
struct o2_conn {
	struct o2_ni *ni;
	uint64_t device;	      /* ni->device at creation; posting fails once that has changed */
	struct o2_conn_config config; /* queue_depth and max_frags as limited by device and peer */
	struct o2_flow_tunables flow; /* as resolved at creation */
	struct o2_conn_ops ops;
	void *context;
	enum o2_conn_state state;
	struct o2_transfer_fault fault;
	struct o2_conn_address self;
	struct o2_conn_peer peer;
	uint32_t cpt; /* CPU partition that serves the peer: selects the pools to use */
	struct ibv_cq *cq;
	bool armed; /* a completion event is requested, or raised and not taken yet */
	struct ibv_qp *qp;

	struct o2_credits credits;
	struct o2_tx_list list[O2_TX_LISTS];
	uint32_t nlisted[O2_TX_LISTS]; /* transmits on each list */
	uint32_t ntaken[O2_TX_OWNERS]; /* transmits that each owner holds */
	uint32_t most[O2_TX_OWNERS];   /* transmits that each owner may hold */
	uint32_t nopen;		       /* operations, ours and the peer's, that have not ended */
	uint32_t invalidates_in_flight;
	bool pumping;

	uint64_t last_post_ms;
	uint32_t empty_noops;
	uint64_t empty_noops_since_ms;

	uint32_t nrecv;
	uint8_t *rx_area;	     /* receive buffers: nrecv times O2_MSG_BYTES */
	struct o2_dma_single rx_dma; /* DMA mapping of rx_area */
	struct ibv_mr *rx_mr;
	struct o2_parked *parked; /* a ring of nrecv */
	uint32_t parked_first;
	uint32_t nparked;
	uint32_t puts_accepted;

	/* Waiting for a window: domain.unbinds before the attempt that found none (pump.c). */
	uint64_t window_unbinds; /* for list WINDOW */
	uint64_t parked_unbinds; /* for the first parked message, if parked_for_window */
	bool parked_for_window;

	/* Work requests posted and not known to be complete, and the capacity of the queues. */
	uint32_t send_wrs;
	uint32_t send_wrs_max;
	uint32_t recv_wrs;
	uint32_t cq_entries;

	struct o2_post_chain chain;

	/* Always written before they are read.  O2_CONN_STATE_BYTES covers the members above. */
	struct o2_msg rx_msg; /* the message being handled */
	struct o2_msg tx_msg; /* the message being made */
	struct o2_scratch scratch;
};

#define O2_CONN_STATE_BYTES offsetof(struct o2_conn, rx_msg)

/*
 * wr_id: the lowest bits tell what kind of work completed; the others hold the number of a receive, or the address
 * of a transmit.
 * o2iblnd: IBLND_WID_RX, IBLND_WID_TX, IBLND_WID_MR, IBLND_WID_RDMA
 */
enum o2_work {
	O2_WORK_RECV,	 /* a receive */
	O2_WORK_MESSAGE, /* transmit: a SEND */
	O2_WORK_INV,	 /* transmit: its LOCAL_INV */
	O2_WORK_SILENT,	 /* transmit: RDMA WRITE or BIND_MW, unsignalled: completes only in an error */
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

/* pump.c: transmits that wait, and the order in which they are posted */

/*
 * Map the memory of our request, and fill in what its message says of the memory.  *waits: nothing is mapped, only
 * because no window is free, and one will come back.  Returns 0, or the error of mapping.
 */
int o2_tx_map_request(struct o2_conn *conn, struct o2_tx *tx, const struct o2_transfer_memory *memory,
		      bool *waits, struct o2_error *error);
/* Post every transmit that may be posted now, in order.  May call ops->done, and may close the connection. */
void o2_pump(struct o2_conn *conn);
/* After an event: handle parked messages, as far as that is possible now, then do what o2_pump does. */
void o2_conn_resume(struct o2_conn *conn);

/*
 * The peer has disconnected: process completions that the completion queue still holds, so that transmits which
 * were acknowledged before count as complete.  Connection manager events and completions have no common order.
 * o2iblnd: none, the driver takes completions until the queue pair is flushed
 */
void o2_conn_settle(struct o2_conn *conn);
/*
 * Does rc mean that the attempt to map failed for lack of a window, and that a window will become free?  It will
 * if something is bound now, or has been released since the attempt.  unbinds: domain.unbinds before the attempt.
 */
bool o2_window_comes_back(const struct o2_conn *conn, int rc, uint64_t unbinds);

/* post.c */

/* Fill the header of a message of this type to the peer in conn->tx_msg, and zero the rest. */
struct o2_msg *o2_msg_begin(struct o2_conn *conn, enum o2_msg_type type);
/*
 * Encode the transmit's message and post it, after the RDMA WRITEs that it completes, and after the bind of the
 * transmit's memory window if one is due.  A failed post closes the connection.
 */
void o2_tx_post(struct o2_conn *conn, struct o2_tx *tx);
/* Post the LOCAL_INV of the transmit's key.  A failed post closes the connection. */
void o2_tx_post_invalidate(struct o2_conn *conn, struct o2_tx *tx);

/* receive.c */

/* The buffer of O2_MSG_BYTES that receive `rx` fills. */
uint8_t *o2_rx_bytes(const struct o2_conn *conn, uint32_t rx);
/* kernel: ib_post_recv */
int o2_rx_post(struct o2_conn *conn, uint32_t rx, struct o2_error *error);
/* Must we still learn from the peer's checksums which flavour to send? */
bool o2_cksum_wanted(const struct o2_conn *conn);
/* A message of length bytes has arrived in receive rx.  o2iblnd: kiblnd_rx_complete */
void o2_receive_completed(struct o2_conn *conn, uint32_t rx, uint32_t length);
/* Handle parked messages, as far as that is possible now. */
void o2_receive_parked(struct o2_conn *conn);

/* end.c */

/* Close the connection because of *fault.  culprit (may be NULL) is the operation that caused the fault and ends
 * with it; all other operations end with -ECONNABORTED. */
void o2_conn_fail(struct o2_conn *conn, const struct o2_transfer_fault *fault, struct o2_tx *culprit);
/* As o2_conn_fail, with a fault made of *error (a rule's or the device's) and of the side that is to blame. */
void o2_conn_fail_by(struct o2_conn *conn, enum o2_fault_side side, const struct o2_error *error,
		     struct o2_tx *culprit);
/* As o2_conn_fail without a culprit, because a message of the peer broke a rule. */
void o2_conn_refuse_message(struct o2_conn *conn, const char *rule, const char *field, uint64_t value,
			    uint64_t limit);
/*
 * End tx after match returned rc, in two cases: match itself closed the connection, or rc says that the LNet
 * header is not acceptable, and the connection closes now.  If match accepted (rc 0), ops->done reports it.
 */
void o2_match_ended(struct o2_conn *conn, struct o2_tx *tx, int rc, const struct o2_transfer_memory *memory,
		    uint32_t lnet_type);

#endif
