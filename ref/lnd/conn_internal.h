/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_CONN_INTERNAL_H
#define O2_LND_CONN_INTERNAL_H

#include "lnd/conn.h"
#include "mem/dma_map.h"
#include "mem/sg_build.h"
#include "rdma/post.h"
#include "rdma/rdma_plan.h"
#include "reg/bind.h"
#include "reg/plan.h"

/* The inside of a connection; shared by the files of this room (docs/transport.md). */

/* Pid of the kernel's LNet in the LNet header (docs/wire.md, "LNet header"). */
#define O2_LNET_PID 12345u

/* Work requests of a transfer besides its RDMA WRITEs: a request or answer, a final message, and one for the
 * life of a key (bind or invalidate). */
#define O2_TX_EXTRA_WRS 3u

/* Receives for messages out of band, beside one per request and one per answer (docs/transport.md). */
#define O2_EXTRA_RECVS 2u

enum o2_tx_state {
	O2_TX_FREE,
	O2_TX_STARTING,	     /* being set up; nothing was sent */
	O2_TX_PUT_WAIT_ACK,  /* source: PUT_REQ is out; PUT_ACK or PUT_NAK ends the wait */
	O2_TX_PUT_WAIT_DONE, /* sink: PUT_ACK is out; PUT_DONE ends the wait */
	O2_TX_GET_WAIT_DONE, /* sink: GET_REQ is out; GET_DONE ends the wait */
	O2_TX_INVALIDATING,  /* the outcome is known; the sink's key is being killed */
	O2_TX_FINISHING,     /* the outcome is known; a send may still be in flight */
};

/* One side of one transfer ("transmit"). */
struct o2_tx {
	enum o2_tx_state state;
	enum o2_transfer_op op;
	enum o2_side side;
	bool initiator;
	bool silent;	     /* the upper layer does not know of it, or not yet: ends without ops->done */
	uint64_t tag;	     /* of the upper layer */
	uint64_t cookie;     /* ours */
	uint32_t nsends;     /* messages whose send completion is outstanding */
	uint64_t nob_mapped; /* bytes of our memory in this transfer */
	struct o2_dma_mapping mapping;
	struct o2_binding binding;
	struct o2_rdma_desc desc; /* of our memory */

	/* The outcome. */
	uint64_t nob;
	uint32_t nfrags;
	uint32_t nwr;
	struct o2_transfer_fault fault;
};

/* A request that waits for a free transmit; its receive slot is reposted when it is served. */
struct o2_parked {
	uint32_t slot;
	uint32_t length;
};

/* Buffers of the stages; nobody's state: valid from one call to the next within one handler only. */
struct o2_scratch {
	struct o2_sg_list sg;
	struct o2_dma_list dma;
	struct o2_reg_plan reg;
	struct o2_rdma_plan rdma;
};

struct o2_conn {
	struct o2_ni *ni;
	struct o2_conn_config config; /* queue_depth and max_frags as device and peer allow */
	struct o2_conn_ops ops;
	void *context;
	enum o2_conn_state state;
	struct o2_transfer_fault fault;
	struct o2_conn_address self;
	struct o2_conn_address peer;
	struct ibv_cq *cq;
	struct ibv_qp *qp;

	uint32_t ntx; /* 2 * queue_depth at creation: the first half is for transfers that we initiate */
	uint32_t nrecv;
	struct o2_tx *tx;
	uint64_t next_cookie;
	uint8_t *slots; /* nrecv for receiving, then one per transmit; O2_MSG_BYTES each */
	struct ibv_mr *slot_mr;
	struct o2_parked *parked; /* a ring of nrecv */
	uint32_t parked_first;
	uint32_t nparked;
	uint64_t now_ms;

	struct o2_msg rx_msg; /* the message being handled */
	struct o2_msg tx_msg; /* the message being made */
	struct o2_post_chain chain;
	struct o2_scratch scratch;
};

/* wr_id: what completed in the upper half, which one in the lower. */
enum o2_work {
	O2_WORK_RECV,	 /* receive slot */
	O2_WORK_MESSAGE, /* transmit: a SEND */
	O2_WORK_INV,	 /* transmit: its LOCAL_INV */
	O2_WORK_SILENT,	 /* transmit: RDMA WRITE or BIND_MW, unsignalled; seen only when it fails */
};

static inline uint64_t o2_wr_id(enum o2_work work, uint32_t index)
{
	return (uint64_t)work << 32 | index;
}

static inline enum o2_work o2_wr_id_work(uint64_t wr_id)
{
	return (enum o2_work)(wr_id >> 32);
}

static inline uint32_t o2_wr_id_index(uint64_t wr_id)
{
	return (uint32_t)wr_id;
}

/* qp.c */

/* Clip queue_depth to what the device can queue; refuses a device that cannot do a depth of 2. */
int o2_qp_fit(struct o2_ni *ni, struct o2_conn_config *config, struct o2_error *error);
uint32_t o2_qp_send_wrs(const struct o2_conn_config *config);
uint32_t o2_qp_recv_wrs(const struct o2_conn_config *config);
int o2_qp_create(struct o2_conn *conn, struct o2_error *error); /* to INIT */
int o2_qp_connect(struct o2_conn *conn, struct o2_error *error);
void o2_qp_fail(struct o2_conn *conn);

/* tx_slot.c */

/* Give a transmit its message slot and its cookie.  Returns 0 or -errno. */
int o2_tx_slot_take(struct o2_conn *conn, struct o2_tx *tx, struct o2_error *error);
void o2_tx_slot_give(struct o2_conn *conn, struct o2_tx *tx);
uint8_t *o2_tx_slot_bytes(const struct o2_conn *conn, const struct o2_tx *tx);
uint32_t o2_tx_slot_lkey(const struct o2_conn *conn, const struct o2_tx *tx);

/* tx_map.c */

/* Run the mapping stages on memory: fills binding, desc and nob_mapped. */
int o2_tx_map(struct o2_conn *conn, struct o2_tx *tx, const struct o2_transfer_memory *memory,
	      struct o2_error *error);
/* Undo it, however far it came; for a transmit that was never mapped nothing happens. */
void o2_tx_unmap(struct o2_conn *conn, struct o2_tx *tx);

/* transfer.c */

/* A free transmit of that half in state STARTING and silent, or NULL. */
struct o2_tx *o2_tx_start(struct o2_conn *conn, enum o2_transfer_op op, bool initiator, enum o2_side side);
bool o2_tx_available(const struct o2_conn *conn, bool initiator);
/* The transmit with our cookie that waits in this state, or NULL. */
struct o2_tx *o2_tx_find(struct o2_conn *conn, uint64_t cookie, enum o2_tx_state state);
/*
 * Start a transfer of our own: a transmit with its memory mapped, or nothing at all.
 * Returns 0, -ENOTCONN, -EBUSY, or what the mapping stages refuse.
 */
int o2_tx_initiate(struct o2_conn *conn, enum o2_transfer_op op, enum o2_side side,
		   const struct o2_transfer_memory *memory, struct o2_tx **tx_out, struct o2_error *error);
/* Post its request, which is in conn->tx_msg, and wait in that state.  On failure the transmit is gone. */
int o2_tx_request(struct o2_conn *conn, struct o2_tx *tx, enum o2_tx_state wait, uint64_t *cookie_out,
		  struct o2_error *error);
/* The outcome is known: kill the key if need be, wait for sends, then end.  May call ops->done. */
void o2_tx_settle(struct o2_conn *conn, struct o2_tx *tx);
/* Release everything, free the transmit and report it, unless it is silent. */
void o2_tx_end(struct o2_conn *conn, struct o2_tx *tx);
/* Note why the transfer fails; the first fault stays. */
void o2_tx_fault_stage(struct o2_tx *tx, int code, const struct o2_error *error);
void o2_tx_fault_peer(struct o2_tx *tx, int32_t status);

/* message.c */

/* Header of a message of this type to the peer, everything else zero, in conn->tx_msg. */
struct o2_msg *o2_msg_begin(struct o2_conn *conn, enum o2_msg_type type);
/*
 * Encode conn->tx_msg and post it: behind the RDMA WRITEs of plan (may be NULL), and behind the bind of the
 * transmit's window if one is due.  A failed post closes the connection.
 */
int o2_msg_post(struct o2_conn *conn, struct o2_tx *tx, const struct o2_rdma_plan *plan,
		struct o2_error *error);
/* The same for an answer, which must never be missing: whatever fails closes the connection. */
void o2_msg_answer(struct o2_conn *conn, struct o2_tx *tx, const struct o2_rdma_plan *plan);
/* A PUT_NAK, PUT_DONE or GET_DONE. */
void o2_msg_complete(struct o2_conn *conn, struct o2_tx *tx, enum o2_msg_type type, uint64_t cookie,
		     int64_t status, const struct o2_rdma_plan *plan);
int o2_recv_post(struct o2_conn *conn, uint32_t slot, struct o2_error *error);
static inline uint8_t *o2_recv_slot(const struct o2_conn *conn, uint32_t slot)
{
	return conn->slots + (uint64_t)slot * O2_MSG_BYTES;
}

/* put.c, get.c: one function per message received, which is in conn->rx_msg */
void o2_put_handle_req(struct o2_conn *conn);
void o2_put_handle_ack(struct o2_conn *conn);
void o2_put_handle_nak(struct o2_conn *conn);
void o2_put_handle_done(struct o2_conn *conn);
void o2_get_handle_req(struct o2_conn *conn);
void o2_get_handle_done(struct o2_conn *conn);
uint64_t o2_desc_bytes(const struct o2_rdma_desc *desc);

/* conn.c */

/* Close because of *fault.  culprit, may be NULL: the transfer that it is about, which ends with it; all
 * others end with -ECONNABORTED. */
void o2_conn_fail(struct o2_conn *conn, const struct o2_transfer_fault *fault, struct o2_tx *culprit);
/* The peer broke a rule. */
void o2_conn_refuse_peer(struct o2_conn *conn, struct o2_tx *culprit, const struct o2_error *error);
void o2_conn_refuse_message(struct o2_conn *conn, struct o2_tx *culprit, const char *rule, const char *field,
			    uint64_t value, uint64_t limit);

#endif
