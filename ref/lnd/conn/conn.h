/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_CONN_H
#define O2_LND_CONN_H

#include <assert.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "lnd/conn/credits.h"
#include "lnd/conn/transfer.h"
#include "lnd/ni/ni.h"
#include "rdma/rdma_plan.h"
#include "wire/msg.h"

/*
 * A connection: one RC queue pair to one peer, the messages of o2iblnd over it, and their flow control.
 * Source: docs/transport.md.
 *
 * It is a state machine without a thread or a global of its own, and the clock is its interface's.  Events
 * reach it as calls: a work completion (o2_conn_complete), the time (o2_conn_clock), and what the application
 * wants.  It reports by the functions of struct o2_conn_ops.  The same code is driven by a simulator that
 * chooses the order of events and by o2_conn_progress, which takes them from the completion queue.
 */

enum o2_conn_state {
	O2_CONN_INIT, /* receives are posted; what arrives is kept for later */
	O2_CONN_ESTABLISHED,
	O2_CONN_CLOSING,      /* being taken apart: only seen from inside ops */
	O2_CONN_DISCONNECTED, /* everything was handed back; nothing happens any more */
};

/* What the two ends tell each other to connect directly; plain data, may travel over any channel. */
struct o2_conn_address {
	union ibv_gid gid;
	uint32_t qp_num;
	uint32_t psn;
	uint64_t nid;
	uint64_t incarnation;
	/* What this end can do; the connection uses the smaller of both ends' figures.  0: not said. */
	uint32_t queue_depth;
	uint32_t max_frags;
};

/* Who the peer is and what was agreed with it: known before the connection is established. */
struct o2_conn_peer {
	uint64_t nid;
	uint64_t incarnation;
	uint16_t version;	/* what the connection was created with */
	uint32_t queue_depth;	/* 2 (version 1: 3) to what the connection was created with */
	uint32_t max_frags;	/* 1 to what the connection was created with */
	uint32_t max_msg_bytes; /* the largest message that it takes, O2_MIN_MSG_BYTES to O2_MSG_BYTES */
	enum o2_cksum_flavour cksum_flavour; /* that its sums have shown; O2_CKSUM_NONE: not yet */
};

/* Defaults and limits are those of o2iblnd (docs/transport.md, "Tunables"). */
/* o2iblnd: peer_credits, peer_credits_hiw, concurrent_sends, wrq_sge, timeout, keepalive */
/* o2iblnd: cksum, retry_count, rnr_retry_count */
struct o2_conn_config {
	uint16_t version; /* O2_MSG_VERSION_1 or O2_MSG_VERSION_2 */
	/* Credits of each side, 2 (version 1: 3) to O2_MAX_QUEUE_DEPTH; the device may allow less. */
	uint32_t queue_depth;
	uint32_t max_frags; /* work requests per transfer and fragments per descriptor, 1 to wire.max_frags */
	uint32_t wrq_sge;   /* gather entries per work request, 1 to O2_MAX_WRQ_SGE */
	/* The tunables behind the high-water mark; 0: queue_depth, and half of peer_tx_credits. */
	uint32_t peer_tx_credits;
	uint32_t peercredits_hiw;
	uint32_t concurrent_sends; /* messages in flight; 0: peer_tx_credits.  Half .. twice of that */
	uint32_t max_transfers;	   /* of ours, answers included, open or queued; 1 to O2_MAX_TRANSFERS */
	uint32_t timeout_ms;	   /* an operation older than this closes the connection; 0: never */
	uint32_t keepalive_ms;	   /* a NOOP when nothing was sent for so long; 0: never */
	bool immediate_gather;	   /* send payloads from where they lie instead of copying them */
	enum o2_byte_order order;  /* of the messages that we send */
	enum o2_cksum_flavour cksum_flavour; /* of the messages that we send */
	/* With O2_CKSUM_NONE: none until a sum of the peer's shows which flavour it sums, then that one. */
	bool cksum_auto;
	struct o2_wire_options wire; /* what decoding accepts */
	uint8_t retry_count;	     /* 0 to 6; 7 would be endless on soft-RoCE */
	uint8_t rnr_retry_count;     /* 0 to 6 */
	/* Exponent, as in ibv_modify_qp(3): 4.096 us times two to the power of it, at most 31; 0: no limit. */
	uint8_t ack_timeout;
};

#define O2_MAX_TRANSFERS   65535u
#define O2_MAX_ACK_TIMEOUT 31u
#define O2_MAX_RETRIES	   6u
static_assert(O2_MAX_ACK_TIMEOUT < 1u << 5 && O2_MAX_RETRIES < (1u << 3) - 1,
	      "5 bits; 3 bits, where all ones mean endless");

/* o2iblnd: IBLND_CREDITS_DEFAULT */
#define O2_CONN_DEFAULTS                                              \
	((struct o2_conn_config){.version = O2_MSG_VERSION_2,         \
				 .queue_depth = 8,                    \
				 .max_frags = O2_MAX_FRAGS,           \
				 .wrq_sge = O2_DEFAULT_WRQ_SGE,       \
				 .max_transfers = 256,                \
				 .timeout_ms = 50000,                 \
				 .keepalive_ms = 100000,              \
				 .order = O2_LITTLE_ENDIAN,           \
				 .cksum_flavour = O2_CKSUM_NONE,      \
				 .wire = {.max_frags = O2_MAX_FRAGS}, \
				 .retry_count = 5,                    \
				 .rnr_retry_count = 6,                \
				 .ack_timeout = 19})

/*
 * What the upper layer (LNet's place) answers, and what it is told.  From inside, o2_conn_put, o2_conn_get,
 * o2_conn_send and o2_conn_close of any connection may be called; the events (o2_conn_complete,
 * o2_conn_clock, o2_conn_check_time, o2_conn_progress, o2_conn_establish) and o2_conn_destroy of this one may
 * not.
 */
struct o2_conn_ops {
	/*
	 * The peer wants to PUT request->u.putreq.hdr.payload_length bytes, or to GET into a sink of
	 * sink_bytes: fill *memory with where they go to or come from.  memory->buffer.nob may be smaller
	 * than what the peer offers (a short PUT or GET, also 0), never larger.  Return 0, and done will be
	 * called; -ENODATA: no match (PUT_NAK with status 0, GET_DONE with -ENODATA); -EPROTO: the LNet
	 * header is not acceptable, the connection closes; another negative errno becomes the status that the
	 * peer sees.  If it closes the connection from inside and returns 0, done is called with
	 * -ECONNABORTED when it has returned, which is after closed.
	 */
	int (*match)(void *context, const struct o2_msg *request, uint64_t sink_bytes,
		     struct o2_transfer_memory *memory);
	/*
	 * An IMMEDIATE has arrived: msg->u.immediate.hdr, and hdr.payload_length bytes at
	 * msg->u.immediate.payload, all of it valid only during the call.  Return 0; a negative errno: the
	 * LNet header is not acceptable, the connection closes.  NULL: every IMMEDIATE is dropped.
	 */
	int (*receive)(void *context, const struct o2_msg *msg);
	/* An operation has ended: one of ours, or one that match accepted.  Called exactly once for each. */
	void (*done)(void *context, const struct o2_transfer_result *result);
	/* cksum_auto: the first sum of the peer's has shown its flavour.  May be NULL. */
	void (*checksum_shown)(void *context, enum o2_cksum_flavour flavour);
	/*
	 * The connection is DISCONNECTED and everything was handed back, except the request of a match call
	 * that has closed it; fault->code is 0 for an orderly close.  Called exactly once, at the latest by
	 * o2_conn_destroy.  May be NULL.
	 */
	void (*closed)(void *context, const struct o2_transfer_fault *fault);
};

struct o2_conn;

/*
 * Create a connection in state INIT with its queue pair, completion queue and receives posted.
 * ni outlives the connection.  Returns 0 or -errno.
 * o2iblnd: kiblnd_create_conn
 */
int o2_conn_create(struct o2_ni *ni, const struct o2_conn_config *config, const struct o2_conn_ops *ops,
		   void *context, struct o2_conn **conn, struct o2_error *error);

/*
 * The queue pair, in INIT after creation, for a connection manager to move to RTR and RTS.  It belongs to the
 * connection: NULL once that is DISCONNECTED.
 */
struct ibv_qp *o2_conn_qp(const struct o2_conn *conn);

/* The completion queue, for a caller that polls it and hands each completion to o2_conn_complete. */
struct ibv_cq *o2_conn_cq(const struct o2_conn *conn);

/*
 * Say who the peer is and what was agreed (state INIT).  The queue depth may shrink; what was allocated for
 * the larger one stays.  Returns 0; -EPROTO for figures outside their ranges; -EISCONN in another state.
 */
int o2_conn_set_peer(struct o2_conn *conn, const struct o2_conn_peer *peer, struct o2_error *error);

/*
 * The queue pair is in RTS and the peer has been set: the state becomes ESTABLISHED.  Messages that came
 * before are validated and handled now, in their order; one of them may close the connection again.
 */
void o2_conn_establish(struct o2_conn *conn);

/* Our address for a direct connection, valid from creation on. */
void o2_conn_get_address(const struct o2_conn *conn, struct o2_conn_address *address);

/*
 * Connect directly, without a connection manager: move the queue pair to RTS, set the peer, establish.
 * Returns 0; -EISCONN in another state than INIT; -EPROTO for figures outside their ranges; or -errno of the
 * device.  After a failure the state is INIT as before.
 */
int o2_conn_connect(struct o2_conn *conn, const struct o2_conn_address *peer, struct o2_error *error);

/*
 * Change max_frags, wrq_sge, order and cksum_flavour of a connection on which nothing is open; the other
 * members of config are ignored.  max_frags and wrq_sge may not exceed what the connection was created with.
 * Both ends are expected to agree on max_frags.  Returns 0; -EBUSY while an operation is open; -EINVAL.
 */
int o2_conn_set_limits(struct o2_conn *conn, const struct o2_conn_config *config, struct o2_error *error);

/*
 * The LNet header for a message to the peer: both ends' NIDs, LNet's own pid, match bits, no acknowledgement
 * asked for, a return handle for GETs, a sink of nob bytes.  The caller changes what it wants otherwise.
 */
struct o2_lnet_hdr o2_conn_lnet_hdr(const struct o2_conn *conn, enum o2_lnet_type type, uint64_t match_bits,
				    uint64_t nob);

/*
 * Start an operation (docs/transport.md, "PUT", "GET", "IMMEDIATE").  It waits in a queue while credits are
 * missing; a put or get whose memory cannot be mapped because all windows of the interface are in use waits
 * for one ("Windows"), and so do those after it.  An error that mapping meets only then is reported in the
 * result.
 *
 * put: hdr->type is PUT or REPLY.  get: GET.  send: ACK, PUT, GET or REPLY in one message, with the payload
 * of *memory (may be NULL: none), at most o2_conn_immediate_max bytes.  *hdr is copied; hdr->payload_length
 * is set here.  The vectors of *memory stay with the caller until the operation is done; memory->tag comes
 * back in the result.  cookie_out, may be NULL: names it in the result.
 *
 * Returns 0: the outcome comes through ops->done, exactly once, possibly before the call returns.  On a
 * negative errno nothing was sent and ops->done is not called: -EPROTONOSUPPORT, -EINVAL, -EFBIG, -EFAULT ..
 * of the mapping stages (*error names the rule), -ENOBUFS (no window, and nothing that gives one back),
 * -EBUSY (max_transfers; max_pools of transmits), -EAGAIN or -ENOMEM (nothing is free in a pool, and it
 * could not grow), -EMSGSIZE (payload too long for a message), -ENOTCONN (not ESTABLISHED).
 * o2iblnd: kiblnd_send
 */
int o2_conn_put(struct o2_conn *conn, const struct o2_lnet_hdr *hdr, const struct o2_transfer_memory *source,
		uint64_t *cookie_out, struct o2_error *error);
int o2_conn_get(struct o2_conn *conn, const struct o2_lnet_hdr *hdr, const struct o2_transfer_memory *sink,
		uint64_t *cookie_out, struct o2_error *error);
int o2_conn_send(struct o2_conn *conn, const struct o2_lnet_hdr *hdr, const struct o2_transfer_memory *memory,
		 uint64_t *cookie_out, struct o2_error *error);

/* The same with plain bytes, copied before the call returns; payload may be NULL when there are none. */
int o2_conn_send_bytes(struct o2_conn *conn, const struct o2_lnet_hdr *hdr, const void *payload,
		       uint32_t payload_bytes, uint64_t tag, uint64_t *cookie_out, struct o2_error *error);

/* The longest payload of one message to this peer. */
uint32_t o2_conn_immediate_max(const struct o2_conn *conn);

/* Event: one work completion of this connection's queue pair.  Nothing happens once it is DISCONNECTED. */
/* o2iblnd: kiblnd_complete */
void o2_conn_complete(struct o2_conn *conn, const struct ibv_wc *wc);

/*
 * Event: it is now_ms.  Tells the interface's clock, then does what o2_conn_check_time does; to
 * be called about four times per timeout.
 */
void o2_conn_clock(struct o2_conn *conn, uint64_t now_ms);

/* Event: the interface's clock was told another time, by whomever.  Checks deadlines and keep-alive. */
void o2_conn_check_time(struct o2_conn *conn);

/*
 * The thin loop: hand all completions that are there to o2_conn_complete, and go on with what waits for a
 * window that another connection has given back, which counts as one.  Returns how many, or the
 * connection's negative close error once it is DISCONNECTED; -ENOTCONN when it was closed without an error.
 * o2iblnd: kiblnd_scheduler
 */
int o2_conn_progress(struct o2_conn *conn);

/*
 * Before a loop sleeps on o2_ni_fd: ask to be woken by the next completion, then handle completions that came
 * before the device knew.  Returns what o2_conn_progress does, 0 if the loop may sleep; -EOPNOTSUPP: the
 * interface has no events.  When the device refuses, the connection closes with -EIO.
 * o2iblnd: kiblnd_cq_completion
 * kernel: ib_req_notify_cq
 */
int o2_conn_arm(struct o2_conn *conn);

enum o2_conn_state o2_conn_get_state(const struct o2_conn *conn);

/* Why the connection closed: rule, work-completion status and side; code 0 while it has not. */
const struct o2_transfer_fault *o2_conn_get_fault(const struct o2_conn *conn);

/*
 * Close with an error (0: orderly): the queue pair goes to ERROR and is destroyed, everything that
 * operations had registered is released, open operations end with -ECONNABORTED.  All of that has happened
 * when it returns.  Nothing tells the peer: that is the connection manager's work.
 * o2iblnd: kiblnd_close_conn, kiblnd_close_conn_locked
 */
void o2_conn_close(struct o2_conn *conn, int code);

/* The same for a reason that is known: *fault comes back from o2_conn_get_fault, in ops->closed, and in
 * what ends with it. */
void o2_conn_end(struct o2_conn *conn, const struct o2_transfer_fault *fault);

/* Close if need be, hand everything back, free.  NULL is allowed; not to be called from inside ops. */
/* o2iblnd: kiblnd_destroy_conn */
void o2_conn_destroy(struct o2_conn *conn);

/* The numbers of a connection, for properties and for people (docs/transport.md, "Flow control"). */
struct o2_conn_view {
	enum o2_conn_state state;
	struct o2_credits flow;

	uint32_t queued_noops; /* lengths of the queues */
	uint32_t queued;
	uint32_t queued_reserved;
	uint32_t queued_nocred;
	uint32_t queued_window; /* requests of ours whose memory waits for a window */
	uint32_t active;	/* posted and not ended */
	uint32_t waiting;	/* requests of ours, queued for a credit or sent, without their answer */
	uint32_t puts_accepted; /* PUT_REQs answered with PUT_ACK whose PUT_DONE was not handled */
	uint32_t parked;	/* messages in receive slots that wait to be handled */
	bool parked_for_window; /* the first of them, a request, waits for a window */
	uint32_t open;		/* operations of ours and of the peer's that have not ended */

	/* Work requests posted and not known to be complete, and what the queues were made for. */
	uint32_t send_wrs;
	uint32_t send_wrs_max;
	uint32_t recv_wrs;
	uint32_t recv_wrs_max;
	uint32_t cq_entries;
};

/* Fill *view.  Of a connection in any state. */
/* o2iblnd: kiblnd_debug_conn */
void o2_conn_view(const struct o2_conn *conn, struct o2_conn_view *view);

#endif
