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
 * A connection: one RC queue pair to one peer, the o2iblnd messages that it carries, and their flow control.
 * Source: docs/transport.md.
 *
 * A connection is a state machine without a thread or global state; it reads its interface's clock.  Events reach
 * it as calls: a work completion (o2_conn_complete), the time (o2_conn_clock), and the application's operations.
 * It reports through the functions of struct o2_conn_ops.  The same code serves a simulator, which chooses the
 * order of events, and o2_conn_progress, which takes completions from the completion queue.
 */

enum o2_conn_state {
	O2_CONN_INIT, /* receives are posted; messages that arrive are kept for later */
	O2_CONN_ESTABLISHED,
	O2_CONN_CLOSING,      /* being taken apart; visible only from inside ops */
	O2_CONN_DISCONNECTED, /* all operations have ended and all resources are released; final */
};

/* What two ends exchange to connect directly.  Plain data, which may travel over any channel. */
struct o2_conn_address {
	union ibv_gid gid;
	uint32_t qp_num;
	uint32_t psn;
	uint64_t nid;
	uint64_t incarnation;
	/* What this end supports; the connection uses the smaller figure of both ends.  0: not stated. */
	uint32_t queue_depth;
	uint32_t max_frags;
};

/* The peer and the negotiated parameters, known before the connection is established. */
struct o2_conn_peer {
	uint64_t nid;
	uint64_t incarnation;
	uint16_t version;	/* the version that the connection was created with */
	uint32_t queue_depth;	/* from 2 (version 1: 3) up to the depth at creation */
	uint32_t max_frags;	/* from 1 up to the value at creation */
	uint32_t max_msg_bytes; /* largest message that the peer accepts, O2_MIN_MSG_BYTES to O2_MSG_BYTES */
	enum o2_cksum_flavour cksum_flavour; /* as the peer's checksums have shown; O2_CKSUM_NONE: unknown */
};

/* Defaults and limits are those of o2iblnd (docs/transport.md, "Tunables"). */
/* o2iblnd: peer_credits, peer_credits_hiw, concurrent_sends, wrq_sge, timeout, keepalive */
/* o2iblnd: cksum, retry_count, rnr_retry_count */
struct o2_conn_config {
	uint16_t version; /* O2_MSG_VERSION_1 or O2_MSG_VERSION_2 */
	/* Credits of each side, 2 (version 1: 3) to O2_MAX_QUEUE_DEPTH; lowered to what the device allows. */
	uint32_t queue_depth;
	uint32_t max_frags; /* work requests per transfer and fragments per descriptor, 1 to wire.max_frags */
	uint32_t wrq_sge;   /* gather entries per work request, 1 to O2_MAX_WRQ_SGE */
	/* Tunables from which the high-water mark is computed.  0: queue_depth, and half of peer_tx_credits. */
	uint32_t peer_tx_credits;
	uint32_t peercredits_hiw;
	uint32_t concurrent_sends; /* messages in flight; 0: peer_tx_credits; clamped to half .. twice that */
	uint32_t max_transfers; /* our open or queued operations, answers included; 1 to O2_MAX_TRANSFERS */
	uint32_t timeout_ms;	/* an operation as old as this closes the connection; 0: never */
	/* Send a NOOP after this time without any send; 0: never.  Below 62 a peer takes them for a NOOP storm. */
	uint32_t keepalive_ms;
	bool immediate_gather;		     /* send payloads from their own memory instead of copying them */
	enum o2_byte_order order;	     /* byte order of the messages that we send */
	enum o2_cksum_flavour cksum_flavour; /* checksums of the messages that we send */
	/* With O2_CKSUM_NONE: send none until the peer's checksums show their flavour, then use that. */
	bool cksum_auto;
	struct o2_wire_options wire; /* what the decoder accepts */
	uint8_t retry_count;	     /* 0 to 6; 7 would mean endless retries on soft-RoCE */
	uint8_t rnr_retry_count;     /* 0 to 6 */
	/* Exponent, as in ibv_modify_qp(3): the timeout is 4.096 us * 2^ack_timeout; at most 31; 0: no limit. */
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
 * Callbacks to the upper layer (LNet's place).  From inside them the upper layer may call o2_conn_put,
 * o2_conn_get, o2_conn_send and o2_conn_close of any connection.  It must not call the events (o2_conn_complete,
 * o2_conn_clock, o2_conn_check_time, o2_conn_progress, o2_conn_establish) or o2_conn_destroy of the connection
 * that calls back.
 */
struct o2_conn_ops {
	/*
	 * The peer wants to PUT request->u.putreq.hdr.payload_length bytes, or to GET into a sink of sink_bytes.
	 * Fill *memory with the local memory to write to or to read from.  memory->buffer.nob may be smaller than
	 * what the peer offers (a short PUT or GET, also 0), never larger.  Return 0: done will be called;
	 * -ENODATA: no match (PUT_NAK with status 0, GET_DONE with -ENODATA); -EPROTO: the LNet header is not
	 * acceptable, the connection closes; another negative errno: sent to the peer as the status.  If match
	 * itself closes the connection and returns 0, done is called with -ECONNABORTED after match has returned,
	 * and therefore after closed.
	 */
	int (*match)(void *context, const struct o2_msg *request, uint64_t sink_bytes,
		     struct o2_transfer_memory *memory);
	/*
	 * An IMMEDIATE has arrived: msg->u.immediate.hdr, and hdr.payload_length bytes at
	 * msg->u.immediate.payload, all of it valid only during the call.  Return 0; a negative errno: the LNet
	 * header is not acceptable, the connection closes.  NULL: every IMMEDIATE is dropped.
	 */
	int (*receive)(void *context, const struct o2_msg *msg);
	/* An operation of ours, or one that match accepted, has ended.  Called exactly once for each. */
	void (*done)(void *context, const struct o2_transfer_result *result);
	/* cksum_auto: the first checksum from the peer has shown its flavour.  May be NULL. */
	void (*checksum_shown)(void *context, enum o2_cksum_flavour flavour);
	/*
	 * The connection is DISCONNECTED, and all operations have ended, except the request of a match call that
	 * itself closed the connection.  fault->code is 0 for an orderly close.  Called exactly once, at the
	 * latest by o2_conn_destroy.  May be NULL.
	 */
	void (*closed)(void *context, const struct o2_transfer_fault *fault);
};

struct o2_conn;

/*
 * Create a connection in state INIT with its queue pair and completion queue, and post its receives.  ni must
 * outlive the connection.  Returns 0 or -errno.
 * o2iblnd: kiblnd_create_conn
 */
int o2_conn_create(struct o2_ni *ni, const struct o2_conn_config *config, const struct o2_conn_ops *ops,
		   void *context, struct o2_conn **conn, struct o2_error *error);

/*
 * The queue pair, in INIT after creation; a connection manager moves it to RTR and RTS.  The connection owns it.
 * NULL once the connection is DISCONNECTED.
 */
struct ibv_qp *o2_conn_qp(const struct o2_conn *conn);

/* The completion queue, for a caller that polls it itself and passes each completion to o2_conn_complete. */
struct ibv_cq *o2_conn_cq(const struct o2_conn *conn);

/*
 * Set the peer and the negotiated parameters (state INIT).  The queue depth may shrink; memory that was allocated
 * for the larger depth stays.  Returns 0; -EPROTO for figures outside their ranges; -EISCONN in another state.
 */
int o2_conn_set_peer(struct o2_conn *conn, const struct o2_conn_peer *peer, struct o2_error *error);

/*
 * Call this when the queue pair is in RTS and the peer has been set: the state becomes ESTABLISHED.  Messages that
 * have arrived before are validated and handled now, in order; one of them may close the connection again.
 */
void o2_conn_establish(struct o2_conn *conn);

/* Our address for a direct connection, valid from creation on. */
void o2_conn_get_address(const struct o2_conn *conn, struct o2_conn_address *address);

/*
 * Connect directly, without a connection manager: move the queue pair to RTS, set the peer, establish.  Returns 0;
 * -EISCONN in a state other than INIT; -EPROTO for figures outside their ranges; -EINVAL for a qp_num or psn above
 * 24 bits; or an -errno of the device.  After a failure the state is still INIT.
 */
int o2_conn_connect(struct o2_conn *conn, const struct o2_conn_address *peer, struct o2_error *error);

/*
 * Change max_frags, wrq_sge, order and cksum_flavour of a connection that has no open operation; the other members
 * of config are ignored.  max_frags and wrq_sge must not exceed the values at creation.  The caller must make sure
 * that both ends agree on max_frags.  Returns 0; -EBUSY while an operation is open; -EINVAL.
 */
int o2_conn_set_limits(struct o2_conn *conn, const struct o2_conn_config *config, struct o2_error *error);

/*
 * A default LNet header for a message to the peer: NIDs of both ends, LNet's own pid, match bits, no
 * acknowledgement requested, a return handle for GETs, a sink of nob bytes.  The caller may change any member.
 */
struct o2_lnet_hdr o2_conn_lnet_hdr(const struct o2_conn *conn, enum o2_lnet_type type, uint64_t match_bits,
				    uint64_t nob);

/*
 * Start an operation (docs/transport.md, "PUT", "GET", "IMMEDIATE").  An operation waits in a queue while credits
 * are missing.  If all windows of the interface are in use, a put or get that needs a window for its memory waits
 * for one ("Windows"), and so do the puts and gets after it.  If mapping then fails, the result reports the error.
 *
 * put: hdr->type is PUT or REPLY.  get: GET.  send: ACK, PUT, GET or REPLY in one message, with the payload of
 * *memory (may be NULL: none), at most o2_conn_immediate_max bytes.  *hdr is copied, and its payload_length is set
 * here.  The vectors of *memory stay with the caller until the operation is done; the result returns memory->tag.
 * *cookie_out (may be NULL) identifies the operation in the result.
 *
 * Returns 0: ops->done reports the outcome exactly once, possibly before the call returns.  On a negative errno
 * nothing was sent and ops->done is not called: -EPROTONOSUPPORT, -EINVAL, -EFBIG, -EFAULT and others from the
 * mapping stages (*error names the rule), -ENOBUFS (no free window, and none in use that could become free),
 * -EBUSY (max_transfers; max_pools of transmits), -EAGAIN or -ENOMEM (a pool has no free element and could not
 * grow), -EMSGSIZE (payload too long for a message), -ENOTCONN (not ESTABLISHED).
 * o2iblnd: kiblnd_send
 */
int o2_conn_put(struct o2_conn *conn, const struct o2_lnet_hdr *hdr, const struct o2_transfer_memory *source,
		uint64_t *cookie_out, struct o2_error *error);
int o2_conn_get(struct o2_conn *conn, const struct o2_lnet_hdr *hdr, const struct o2_transfer_memory *sink,
		uint64_t *cookie_out, struct o2_error *error);
int o2_conn_send(struct o2_conn *conn, const struct o2_lnet_hdr *hdr, const struct o2_transfer_memory *memory,
		 uint64_t *cookie_out, struct o2_error *error);

/* As o2_conn_send, with plain bytes, copied before the call returns; payload may be NULL if there are none. */
int o2_conn_send_bytes(struct o2_conn *conn, const struct o2_lnet_hdr *hdr, const void *payload,
		       uint32_t payload_bytes, uint64_t tag, uint64_t *cookie_out, struct o2_error *error);

/* The longest payload, in bytes, of one message to this peer. */
uint32_t o2_conn_immediate_max(const struct o2_conn *conn);

/* Event: one work completion of this connection's queue pair.  Ignored once the connection is DISCONNECTED. */
/* o2iblnd: kiblnd_complete */
void o2_conn_complete(struct o2_conn *conn, const struct ibv_wc *wc);

/*
 * Event: the time is now_ms.  Sets the interface's clock, then does what o2_conn_check_time does.  Call this about
 * four times per timeout.
 */
void o2_conn_clock(struct o2_conn *conn, uint64_t now_ms);

/* Event: somebody has set the interface's clock.  Checks deadlines and keep-alive. */
void o2_conn_check_time(struct o2_conn *conn);

/*
 * Polling loop: pass all waiting completions to o2_conn_complete, then resume operations that wait for a window if
 * any connection of the interface has released one (counts as one event).  Returns the number of events, or, once
 * the connection is DISCONNECTED, its negative close error, -ENOTCONN if it closed without an error.
 * o2iblnd: kiblnd_scheduler
 */
int o2_conn_progress(struct o2_conn *conn);

/*
 * To be called before a loop sleeps on o2_ni_fd: request an event for the next completion, then handle completions
 * that came before this request.  Returns what o2_conn_progress does; 0: the loop may sleep.  -EOPNOTSUPP: the
 * interface has no events.  If the device refuses the request, the connection closes with -EIO.
 * o2iblnd: kiblnd_cq_completion
 * kernel: ib_req_notify_cq
 */
int o2_conn_arm(struct o2_conn *conn);

enum o2_conn_state o2_conn_get_state(const struct o2_conn *conn);

/* Why the connection closed: rule, work-completion status and side.  code is 0 as long as it is open. */
const struct o2_transfer_fault *o2_conn_get_fault(const struct o2_conn *conn);

/*
 * Close with an error (0: orderly): move the queue pair to ERROR and destroy it, release everything that
 * operations had registered, end open operations with -ECONNABORTED.  All of this has happened when the call
 * returns.  The peer is not told: that is the connection manager's task.
 * o2iblnd: kiblnd_close_conn, kiblnd_close_conn_locked
 */
void o2_conn_close(struct o2_conn *conn, int code);

/* As o2_conn_close, for a given reason: o2_conn_get_fault and ops->closed report *fault, and the results of
 * operations that end with the connection derive from it. */
void o2_conn_end(struct o2_conn *conn, const struct o2_transfer_fault *fault);

/* Close the connection if it is open, release everything, free it.  NULL is allowed.  Not from inside ops. */
/* o2iblnd: kiblnd_destroy_conn */
void o2_conn_destroy(struct o2_conn *conn);

/* A snapshot of a connection, for property tests and for display (docs/transport.md, "Flow control"). */
struct o2_conn_view {
	enum o2_conn_state state;
	struct o2_credits flow;

	uint32_t queued_noops; /* lengths of the queues */
	uint32_t queued;
	uint32_t queued_reserved;
	uint32_t queued_nocred;
	uint32_t queued_window; /* our requests whose memory waits for a window */
	uint32_t active;	/* transmits posted and not ended */
	uint32_t waiting;	/* our requests, queued for a credit or sent, that have no answer yet */
	uint32_t puts_accepted; /* PUT_REQs answered with PUT_ACK whose PUT_DONE is not handled yet */
	uint32_t parked;	/* messages in receive slots that wait to be handled */
	bool parked_for_window; /* the first parked message is a request and waits for a window */
	uint32_t open;		/* operations, ours and the peer's, that have not ended */

	/* Work requests posted and not known to be complete, and the capacity of the queues. */
	uint32_t send_wrs;
	uint32_t send_wrs_max;
	uint32_t recv_wrs;
	uint32_t recv_wrs_max;
	uint32_t cq_entries;
};

/* Fill *view.  The connection may be in any state. */
/* o2iblnd: kiblnd_debug_conn */
void o2_conn_view(const struct o2_conn *conn, struct o2_conn_view *view);

#endif
