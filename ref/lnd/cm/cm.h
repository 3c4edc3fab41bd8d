/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_CM_H
#define O2_LND_CM_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * The connection manager as a node sees it: it carries requests, replies and rejects with their private data
 * between nodes, and takes queue pairs to RTS.  Source: docs/connection.md, "Connection managers".
 *
 * Two of them: loop.h, in one process and in an order that its caller chooses, and rdma.h, librdmacm.
 * Each embeds the structs below as its first member.  Nothing is reported from inside a call: events come
 * from the backend's own loop.
 */

struct o2_cm_ops;
struct o2_cm_event;

struct o2_cm {
	const struct o2_cm_ops *ops;
	void (*handler)(void *context, const struct o2_cm_event *event); /* NULL: requests are refused */
	void *context;							 /* of handler */
};

enum o2_cm_id_state {
	O2_CM_ID_ASKING,   /* active: the request is out, or will be once the way there is known */
	O2_CM_ID_ASKED,	   /* passive: not answered yet */
	O2_CM_ID_ACCEPTED, /* passive: the reply is out */
	O2_CM_ID_CONNECTED,
	O2_CM_ID_OVER, /* refused, failed or disconnected: the other side needs to hear nothing */
};

/* One attempt to connect, later one connection.  Whoever made it, or got it in a request, destroys it. */
struct o2_cm_id {
	struct o2_cm *cm;
	void *context;		   /* the owner's */
	enum o2_cm_id_state state; /* the connection manager's */
};

enum o2_cm_event_type {
	O2_CM_REQUEST,	     /* a node asks; .id is new and the receiver's, its context NULL */
	O2_CM_ESTABLISHED,   /* the queue pair is in RTS; on the active side with the reply's private data */
	O2_CM_REJECTED,	     /* .reason, private data; also: the active side has refused our reply */
	O2_CM_UNRESOLVED,    /* no such address, or no way to it */
	O2_CM_UNREACHABLE,   /* there is a way, but no answer */
	O2_CM_CONNECT_ERROR, /* the attempt failed in the connection manager or on the device */
	O2_CM_DISCONNECTED,  /* the peer has ended the connection, or has confirmed that we have */
	/*
	 * The interface's device is gone, and all that is on it: .id is NULL.  Comes once, and is the last
	 * event.  Destroy each id: the device may wait for that.  listen and connect return -ENODEV.
	 */
	O2_CM_DEVICE_LOST,
};

/* Where a request comes from, as the connection manager says. */
struct o2_cm_origin {
	bool ipv4;	  /* the two below are known */
	uint32_t address; /* IPv4, as a number */
	uint16_t port;
};

/* Reasons of the connection manager's own that are told apart; the others mean a failure. */
enum o2_cm_reject {
	O2_CM_REJECT_NO_LISTENER = 8,
	O2_CM_REJECT_STALE = 10,
	O2_CM_REJECT_CONSUMER = 28, /* the peer's own: a reject record comes with it */
};

/* Private data is only valid during the call. */
struct o2_cm_event {
	enum o2_cm_event_type type;
	struct o2_cm_id *id;
	struct o2_cm_origin origin;  /* REQUEST */
	uint32_t reason;	     /* REJECTED: the connection manager's reason, enum o2_cm_reject .. */
	int code;		     /* UNRESOLVED, UNREACHABLE, CONNECT_ERROR: negative errno */
	const uint8_t *private_data; /* may be longer than what was sent: padded with zeros */
	size_t private_bytes;
};

/* Private data that a request, a reply and a reject have room for. */
#define O2_CM_REQUEST_BYTES 56u
#define O2_CM_REPLY_BYTES   196u
#define O2_CM_REJECT_BYTES  148u

/* What a queue pair is taken to RTS with, and what the other side sees with it. */
struct o2_cm_param {
	struct ibv_qp *qp; /* in INIT; stays the caller's, who keeps it as long as the id */
	uint8_t retry_count;
	uint8_t rnr_retry_count;
	uint8_t ack_timeout; /* exponent, as in ibv_modify_qp(3) */
	const uint8_t *private_data;
	size_t private_bytes;
};

struct o2_cm_target {
	uint32_t address; /* IPv4, as a number */
	uint16_t port;
	bool privileged_port;	     /* ask from a port below 1024 */
	uint32_t resolve_timeout_ms; /* of the address, and again of the route */
};

/* kernel: rdma_connect, rdma_accept, rdma_reject, rdma_listen, rdma_disconnect */
struct o2_cm_ops {
	/* Report requests for this port from now on, and no more for the one before.  Returns 0 or -errno. */
	int (*listen)(struct o2_cm *cm, uint16_t port, struct o2_error *error);
	/*
	 * Start an attempt to connect.  Returns 0 with *id; ESTABLISHED, REJECTED, UNRESOLVED, UNREACHABLE or
	 * CONNECT_ERROR follows, once, unless the id is destroyed before.  -errno: there is no id.
	 */
	int (*connect)(struct o2_cm *cm, const struct o2_cm_target *target, const struct o2_cm_param *param,
		       void *context, struct o2_cm_id **id, struct o2_error *error);
	/*
	 * Accept a request: takes the queue pair to RTS and replies.  Returns 0: ESTABLISHED, REJECTED,
	 * UNREACHABLE or CONNECT_ERROR follows.  -errno: nothing was sent; the id may still be rejected.
	 */
	int (*accept)(struct o2_cm_id *id, const struct o2_cm_param *param, struct o2_error *error);
	/* Refuse a request, with reason "consumer".  The id is to be destroyed next. */
	void (*reject)(struct o2_cm_id *id, const uint8_t *private_data, size_t private_bytes);
	/* End a connection; DISCONNECTED follows on both sides. */
	void (*disconnect)(struct o2_cm_id *id);
	/*
	 * Free the id: no further event of it comes, and the other side is told if it waits or is connected.
	 * May be called from inside the handler.  The queue pair must still exist.
	 */
	void (*destroy)(struct o2_cm_id *id);
};

#endif
