/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_CONN_H
#define O2_LND_CONN_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "lnd/ni.h"
#include "lnd/transfer.h"
#include "rdma/rdma_plan.h"
#include "wire/msg.h"

/*
 * A connection: one RC queue pair between two network interfaces, and the transfers that run over it.
 * Source: docs/transport.md.
 *
 * A connection has no thread and no clock of its own: o2_conn_progress handles whatever completions are there
 * and returns.  Both ends may live in one process and one thread.
 */

enum o2_conn_state {
	O2_CONN_INIT,
	O2_CONN_ESTABLISHED,
	O2_CONN_CLOSED, /* the first error is in .close_error; nothing is sent or received any more */
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

struct o2_conn_config {
	uint32_t queue_depth; /* transfers that may be open at a time, 2 to 8; o2iblnd's default is 8 */
	uint32_t max_frags;   /* work requests per transfer and fragments per descriptor, 1 to O2_MAX_FRAGS */
	uint32_t wrq_sge;     /* gather entries per work request, 1 to O2_MAX_WRQ_SGE */
	enum o2_byte_order order;	     /* of the messages that we send */
	enum o2_cksum_flavour cksum_flavour; /* of the messages that we send */
	uint8_t retry_count;		     /* 0 to 6; 7 would be endless on soft-RoCE */
	uint8_t rnr_retry_count;	     /* 0 to 6 */
	uint8_t ack_timeout;		     /* local ack timeout exponent, as in ibv_modify_qp(3) */
};

#define O2_CONN_DEFAULTS                                         \
	((struct o2_conn_config){.queue_depth = 8,               \
				 .max_frags = O2_MAX_FRAGS,      \
				 .wrq_sge = O2_DEFAULT_WRQ_SGE,  \
				 .order = O2_LITTLE_ENDIAN,      \
				 .cksum_flavour = O2_CKSUM_NONE, \
				 .retry_count = 5,               \
				 .rnr_retry_count = 6,           \
				 .ack_timeout = 14})

/*
 * What the upper layer (LNet's place) answers.  All functions are called from inside o2_conn_progress (done:
 * also from o2_conn_put, o2_conn_get and o2_conn_close).
 */
struct o2_conn_ops {
	/*
	 * The peer wants to PUT request->u.putreq.hdr.payload_length bytes, or to GET into a sink of
	 * sink_bytes: fill *memory with where they go to or come from.  memory->buffer.nob may be smaller
	 * than what the peer offers (a short PUT or GET), never larger. Return 0; -ENODATA: no match (PUT_NAK
	 * 0 or GET_DONE -ENODATA); any other -errno is sent as the status.
	 */
	int (*match)(void *context, const struct o2_msg *request, uint64_t sink_bytes,
		     struct o2_transfer_memory *memory);

	/* A transfer has ended: one of ours, or one that match accepted.  Called exactly once for each. */
	void (*done)(void *context, const struct o2_transfer_result *result);
};

struct o2_conn;

/*
 * Create a connection in state INIT with its queue pair, completion queue and receive buffers.
 * ni outlives the connection.  Returns 0 or -errno.
 */
int o2_conn_create(struct o2_ni *ni, const struct o2_conn_config *config, const struct o2_conn_ops *ops,
		   void *context, struct o2_conn **conn, struct o2_error *error);

/* Our address, valid from creation on. */
void o2_conn_get_address(const struct o2_conn *conn, struct o2_conn_address *address);

/* Connect to the peer's address: the queue pair goes to RTS, the state to ESTABLISHED.  Returns 0 or -errno.
 */
int o2_conn_connect(struct o2_conn *conn, const struct o2_conn_address *peer, struct o2_error *error);

/*
 * Change max_frags, wrq_sge, order and cksum_flavour of a connection on which no transfer is open; the other
 * members of config are ignored.  max_frags and wrq_sge may not exceed what the connection was created with.
 * Both ends are expected to agree on max_frags.  Returns 0; -EBUSY while a transfer is open; -EINVAL.
 */
int o2_conn_set_limits(struct o2_conn *conn, const struct o2_conn_config *config, struct o2_error *error);

/*
 * Start a transfer (docs/transport.md, "PUT" and "GET").  cookie_out, may be NULL: names it in the result.
 *
 * Returns 0 when the request was posted: the result comes through ops->done.  On a negative errno nothing was
 * sent and ops->done is not called: -EPROTONOSUPPORT, -EINVAL, -EFBIG, -EFAULT .. of the mapping stages
 * (*error names the rule), -EBUSY (queue depth), -ENOTCONN.
 */
int o2_conn_put(struct o2_conn *conn, const struct o2_transfer_memory *source, uint64_t match_bits,
		uint64_t *cookie_out, struct o2_error *error);
int o2_conn_get(struct o2_conn *conn, const struct o2_transfer_memory *sink, uint64_t match_bits,
		uint64_t *cookie_out, struct o2_error *error);

/*
 * Handle all completions that are there.  Returns how many, or the connection's negative close error once it
 * is CLOSED and everything was handed back; -ENOTCONN when it was closed without an error.
 * Not to be called from inside ops; o2_conn_put, o2_conn_get and o2_conn_close may be.
 */
int o2_conn_progress(struct o2_conn *conn);

enum o2_conn_state o2_conn_get_state(const struct o2_conn *conn);

/* Why the connection closed: rule, work-completion status and side; code 0 while it has not. */
const struct o2_transfer_fault *o2_conn_get_fault(const struct o2_conn *conn);

/*
 * Close with an error (0: orderly): the queue pair goes to ERROR and is destroyed, everything that transfers
 * had registered is released, open transfers end with -ECONNABORTED.  All of that has happened when it
 * returns.
 */
void o2_conn_close(struct o2_conn *conn, int code);

/* Close if need be, hand everything back, free.  NULL is allowed; not to be called from inside ops. */
void o2_conn_destroy(struct o2_conn *conn);

#endif
