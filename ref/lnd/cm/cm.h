/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_CM_H
#define O2_LND_CM_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * The interface between a node and a connection manager, which carries requests, replies and rejects with their
 * private data between nodes and moves queue pairs to RTS.  Source: docs/connection.md, "Connection managers".
 *
 * There are two backends: loop.h, within one process and in an order that its caller chooses, and rdma.h, on
 * librdmacm.  Each embeds the structs below as the first member of its own.  No call below invokes the handler:
 * events come from the backend's own event loop.
 */

struct o2_cm_ops;
struct o2_cm_event;

struct o2_cm {
	const struct o2_cm_ops *ops;
	void (*handler)(void *context, const struct o2_cm_event *event); /* NULL: requests are refused */
	void *context;							 /* passed to handler */
};

enum o2_cm_id_state {
	O2_CM_ID_ASKING,   /* active: the request was sent, or will be once address and route are resolved */
	O2_CM_ID_ASKED,	   /* passive: the request is not answered yet */
	O2_CM_ID_ACCEPTED, /* passive: the reply was sent */
	O2_CM_ID_CONNECTED,
	O2_CM_ID_OVER, /* refused, failed or disconnected: the other side need not be told any more */
};

/* One attempt to connect, later one connection.  Whoever made the id, or received it in a request, destroys it. */
struct o2_cm_id {
	struct o2_cm *cm;
	void *context;		   /* belongs to the node that owns the id */
	enum o2_cm_id_state state; /* set by the connection manager */
};

enum o2_cm_event_type {
	O2_CM_REQUEST,	     /* a node asks; .id is new, owned by the receiver, with a NULL context */
	O2_CM_ESTABLISHED,   /* the queue pair is in RTS; active side: with the reply's private data */
	O2_CM_REJECTED,	     /* see .reason, private data; also if the active side refuses our reply */
	O2_CM_UNRESOLVED,    /* the address does not exist, or no route leads to it */
	O2_CM_UNREACHABLE,   /* there is a route, but the peer does not answer */
	O2_CM_CONNECT_ERROR, /* the attempt failed in the connection manager or on the device */
	O2_CM_DISCONNECTED,  /* the peer ended the connection, or confirmed that we ended it */
	/*
	 * The interface's device is gone, with everything on it; .id is NULL.  Reported once, as the last event.
	 * The receiver must destroy each id: the device may wait for that.  listen and connect return -ENODEV.
	 */
	O2_CM_DEVICE_LOST,
};

/* The source of a request, as the connection manager reports it. */
struct o2_cm_origin {
	bool ipv4;	  /* address and port are known */
	uint32_t address; /* IPv4, as a number */
	uint16_t port;
};

/* Reject reasons of the connection manager that callers distinguish.  All others count as failures. */
enum o2_cm_reject {
	O2_CM_REJECT_NO_LISTENER = 8,
	O2_CM_REJECT_STALE = 10,
	O2_CM_REJECT_CONSUMER = 28, /* the peer itself rejects, and sends a reject record */
};

/* An event.  private_data is valid only during the call of the handler. */
struct o2_cm_event {
	enum o2_cm_event_type type;
	struct o2_cm_id *id;
	struct o2_cm_origin origin;  /* REQUEST */
	uint32_t reason;	     /* REJECTED: enum o2_cm_reject, or another reason */
	int code;		     /* UNRESOLVED, UNREACHABLE, CONNECT_ERROR: negative errno */
	const uint8_t *private_data; /* may be longer than what the peer sent: padded with zeros */
	size_t private_bytes;
};

/* The most private data that a request, a reply and a reject can carry. */
#define O2_CM_REQUEST_BYTES 56u
#define O2_CM_REPLY_BYTES   196u
#define O2_CM_REJECT_BYTES  148u

/* How to move a queue pair to RTS, and the private data that the other side receives. */
struct o2_cm_param {
	struct ibv_qp *qp; /* in INIT; the caller's, who keeps it until ESTABLISHED or the attempt's end */
	uint8_t retry_count;
	uint8_t rnr_retry_count;
	uint8_t ack_timeout; /* exponent, as in ibv_modify_qp(3) */
	const uint8_t *private_data;
	size_t private_bytes;
};

struct o2_cm_target {
	uint32_t address; /* IPv4, as a number */
	uint16_t port;
	bool privileged_port;	     /* use a source port below 1024 */
	uint32_t resolve_timeout_ms; /* applies to the address, and again to the route */
};

/* kernel: rdma_connect, rdma_accept, rdma_reject, rdma_listen, rdma_disconnect */
struct o2_cm_ops {
	/* Report requests for this port from now on, and no longer for the previous port.  Returns 0 or -errno. */
	int (*listen)(struct o2_cm *cm, uint16_t port, struct o2_error *error);
	/*
	 * Start an attempt to connect.  Returns 0 with *id; then exactly one of ESTABLISHED, REJECTED, UNRESOLVED,
	 * UNREACHABLE and CONNECT_ERROR follows, unless the id is destroyed first.  On -errno no id exists.
	 */
	int (*connect)(struct o2_cm *cm, const struct o2_cm_target *target, const struct o2_cm_param *param,
		       void *context, struct o2_cm_id **id, struct o2_error *error);
	/*
	 * Accept a request: move the queue pair to RTS and send the reply.  Returns 0: ESTABLISHED, REJECTED,
	 * UNREACHABLE or CONNECT_ERROR follows.  On -errno nothing was sent, and the id may still be rejected.
	 */
	int (*accept)(struct o2_cm_id *id, const struct o2_cm_param *param, struct o2_error *error);
	/* Refuse a request, with reason O2_CM_REJECT_CONSUMER.  The caller must destroy the id next. */
	void (*reject)(struct o2_cm_id *id, const uint8_t *private_data, size_t private_bytes);
	/* End a connection; both sides then get DISCONNECTED. */
	void (*disconnect)(struct o2_cm_id *id);
	/*
	 * Free the id: no further event is reported for it.  If the other side is connected or waits for an
	 * answer, it is told.  May be called from inside the handler.
	 */
	void (*destroy)(struct o2_cm_id *id);
};

#endif
