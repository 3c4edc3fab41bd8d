/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_NODE_H
#define O2_LND_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "lnd/cm/cm.h"
#include "lnd/conn/conn.h"
#include "lnd/ni/ni.h"
#include "lnd/node/negotiate.h"

/*
 * A node: one interface, the peers that it has connections with, and the operations that wait for one.
 * Source: docs/connection.md.
 *
 * As a connection, it is a state machine without a thread or a clock of its own.  Events reach it as calls:
 * those of the connection manager (whose handler it becomes), the time, the application's operations, and
 * completions.
 */

#define O2_SERVICE_PORT 987u /* o2iblnd's */

#define O2_MAX_CONNS_PER_PEER 127u

/* Defaults are o2iblnd's where it has them (docs/connection.md, "Times", "Caps"). */
/* o2iblnd: service, require_privileged_port, use_privileged_port, conns_per_peer */
struct o2_node_config {
	struct o2_conn_config conn; /* of every connection; its timeout is also that of the attempts */
	uint16_t port;		    /* that the node listens on, and asks its peers at */
	bool listen;		    /* false: the node only asks */
	bool use_privileged_port;   /* ask from a port below 1024, which needs the right to */
	bool require_privileged_port;
	bool registers; /* see struct o2_connreq_self */
	bool bind_nid_to_address;
	enum o2_race_ranking ranking;
	uint32_t conns_per_peer; /* that the active side opens, 1 to O2_MAX_CONNS_PER_PEER */
	/* Caps, so that no peer can use us up: */
	uint32_t max_peers;
	uint32_t max_conns_per_peer; /* whoever has opened them; without attempts of ours */
	uint32_t max_waiting;	     /* operations, answers included, that wait for a connection to a peer */
	uint32_t resolve_timeout_ms;
};

#define O2_NODE_DEFAULTS                                      \
	((struct o2_node_config){.conn = O2_CONN_DEFAULTS,    \
				 .port = O2_SERVICE_PORT,     \
				 .listen = true,              \
				 .use_privileged_port = true, \
				 .registers = true,           \
				 .bind_nid_to_address = true, \
				 .conns_per_peer = 1,         \
				 .max_peers = 1024,           \
				 .max_conns_per_peer = 16,    \
				 .max_waiting = 256,          \
				 .resolve_timeout_ms = 5000})

/*
 * What the upper layer (LNet's place) answers, and is told; as in struct o2_conn_ops, with the peer's NID.
 * From inside, operations may be started and peers closed; the events and o2_node_destroy may not be called.
 */
struct o2_node_ops {
	int (*match)(void *context, uint64_t nid, const struct o2_msg *request, uint64_t sink_bytes,
		     struct o2_transfer_memory *memory);
	int (*receive)(void *context, uint64_t nid, const struct o2_msg *msg); /* NULL: dropped */
	/* An operation has ended; exactly once for each.  result->cookie means nothing here. */
	void (*done)(void *context, uint64_t nid, const struct o2_transfer_result *result);
	/* May be NULL: a connection is up, and one is gone or could not be made (fault->code 0: orderly). */
	void (*up)(void *context, uint64_t nid);
	void (*down)(void *context, uint64_t nid, const struct o2_transfer_fault *fault);
};

struct o2_node;

/*
 * A node over ni and cm, both of which outlive it; it takes over cm's handler.  Returns 0 or -errno: -EINVAL
 * (a figure out of range), -EADDRINUSE, -EACCES .. of the connection manager.
 */
int o2_node_create(struct o2_ni *ni, struct o2_cm *cm, const struct o2_node_config *config,
		   const struct o2_node_ops *ops, void *context, struct o2_node **node,
		   struct o2_error *error);

/* Whether requests are accepted; while they are not, they are answered "too early".  True from the start. */
void o2_node_set_up(struct o2_node *node, bool up);

/*
 * Start an operation towards a node: over a connection that is there, or one that is made for it, while the
 * operation waits.  The rest is as for o2_conn_put and its like.
 *
 * Attempts start in o2_node_work, o2_node_clock or o2_node_progress.
 *
 * Returns 0: the outcome comes through ops->done, exactly once, possibly before the call returns.  On a
 * negative errno nothing was sent and done is not called: those of o2_conn_put, and -EINVAL (our own NID, no
 * NID), -EBUSY (max_waiting, max_peers), -ENOMEM, -ESHUTDOWN.
 *
 * What can end an operation that waits: -EHOSTUNREACH, -ECONNREFUSED, -ENETDOWN, -ENOTCONN, -ECONNRESET: the
 * attempt failed; -ETIMEDOUT: it took too long; -ECONNABORTED: the connection broke as it came up, or was
 * closed.
 * o2iblnd: kiblnd_launch_tx
 */
int o2_node_put(struct o2_node *node, uint64_t nid, const struct o2_lnet_hdr *hdr,
		const struct o2_transfer_memory *source, struct o2_error *error);
int o2_node_get(struct o2_node *node, uint64_t nid, const struct o2_lnet_hdr *hdr,
		const struct o2_transfer_memory *sink, struct o2_error *error);
/* memory may be NULL: no payload, and tag 0 in the result. */
/* What the connection's messages are too short for goes as by o2_node_put, and the result's op says so. */
int o2_node_send(struct o2_node *node, uint64_t nid, const struct o2_lnet_hdr *hdr,
		 const struct o2_transfer_memory *memory, struct o2_error *error);
/* The same with plain bytes, copied before the call returns; tag comes back in the result. */
int o2_node_send_bytes(struct o2_node *node, uint64_t nid, const struct o2_lnet_hdr *hdr, const void *payload,
		       uint32_t payload_bytes, uint64_t tag, struct o2_error *error);

/*
 * Event: it is now_ms.  Tells the interface's clock and checks the deadlines of connections,
 * attempts and what waits; to be called about four times a second.
 * o2iblnd: kiblnd_connd
 */
void o2_node_clock(struct o2_node *node, uint64_t now_ms);

/* The thin loop: handle all completions that are there, of all connections.  Returns how many. */
int o2_node_progress(struct o2_node *node);

/*
 * The last call before a loop sleeps on o2_ni_fd and on the connection manager's descriptor: arms all
 * connections.  Returns 0: the loop may sleep, until the next clock at the latest.  More: something has
 * happened or is due now, so go round once more.  -EOPNOTSUPP: the interface has no events; another -errno:
 * the device has failed, and nothing will wake the loop.
 */
int o2_node_arm(struct o2_node *node);

/* Start attempts that are due and free what has ended; o2_node_clock and o2_node_progress call it. */
/* o2iblnd: kiblnd_connd */
void o2_node_work(struct o2_node *node);

/* Close all connections to a peer and give up attempts; what waits ends with -ECONNABORTED. */
/* o2iblnd: kiblnd_del_peer, kiblnd_close_peer_conns_locked */
void o2_node_close_peer(struct o2_node *node, uint64_t nid, int code);

/* Close everything, end every operation, free.  NULL is allowed. */
void o2_node_destroy(struct o2_node *node);

/* --- for properties, tests and people --- */

/*
 * o2iblnd: IBLND_CONN_INIT, IBLND_CONN_ACTIVE_CONNECT, IBLND_CONN_PASSIVE_WAIT
 * o2iblnd: IBLND_CONN_ESTABLISHED, IBLND_CONN_CLOSING, IBLND_CONN_DISCONNECTED
 */
enum o2_link_state {
	O2_LINK_INIT,
	O2_LINK_ACTIVE_CONNECT, /* we have asked */
	O2_LINK_PASSIVE_WAIT,	/* we have accepted */
	O2_LINK_ESTABLISHED,
	O2_LINK_CLOSING,      /* the connection is gone, the connection manager's part is not */
	O2_LINK_DISCONNECTED, /* to be freed */
};

struct o2_peer_view {
	bool known;
	uint16_t version; /* 0: nothing known yet */
	uint64_t incarnation;
	uint32_t queue_depth; /* that we ask for */
	uint32_t max_frags;
	uint32_t connecting, accepting; /* attempts of ours, of the peer's */
	uint32_t attempts_due;
	uint32_t attempts;	     /* in a row: since one came up, all failed, or the peer was closed */
	uint32_t races;		     /* in a row */
	uint32_t waiting;	     /* operations */
	uint32_t established, links; /* connections; those in any state */
};

/* Fill *view; .known is false, and the rest 0, for a NID of which the node has no record. */
/* o2iblnd: kiblnd_get_peer_info, kiblnd_get_conn_by_idx, kiblnd_ctl */
void o2_node_peer(const struct o2_node *node, uint64_t nid, struct o2_peer_view *view);
/* Peers that the node keeps a record of. */
uint32_t o2_node_npeers(const struct o2_node *node);
/* The established connections to a peer, the newest first; NULL from the last on. */
struct o2_conn *o2_node_conn(const struct o2_node *node, uint64_t nid, uint32_t index);

#endif
