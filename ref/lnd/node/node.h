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
 * A node: one interface, the peers that it has connections with, and the operations that wait for a connection.
 * Source: docs/connection.md.
 *
 * Like a connection, a node is a state machine without a thread or a clock of its own.  Events reach it as calls:
 * events of the connection manager (the node installs itself as the handler), the time, the application's
 * operations, and completions.
 */

#define O2_SERVICE_PORT 987u /* o2iblnd's default */

#define O2_MAX_CONNS_PER_PEER 127u

/* Defaults are those of o2iblnd, if it has any (docs/connection.md, "Times", "Caps"). */
/* o2iblnd: service, require_privileged_port, use_privileged_port, conns_per_peer */
struct o2_node_config {
	struct o2_conn_config conn; /* used for every connection; its timeout also limits the attempts */
	uint16_t port;		    /* port that the node listens on, and at which it asks its peers */
	bool listen;		    /* false: the node only opens connections itself */
	bool use_privileged_port;   /* use a source port below 1024, which needs the privilege */
	bool require_privileged_port;
	bool registers; /* see struct o2_connreq_self */
	bool bind_nid_to_address;
	enum o2_race_ranking ranking;
	uint32_t conns_per_peer; /* number that the active side opens, 1 to O2_MAX_CONNS_PER_PEER */
	/* Limits, so that no peer can exhaust the node: */
	uint32_t max_peers;
	uint32_t max_conns_per_peer; /* whichever side opened them; our unanswered attempts do not count */
	uint32_t max_waiting; /* operations, answers included, that wait for a connection to one peer */
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
 * Callbacks to the upper layer (LNet's place), as in struct o2_conn_ops, with the peer's NID.  From inside them
 * the upper layer may start operations and close peers; it must not call the events or o2_node_destroy.
 */
struct o2_node_ops {
	int (*match)(void *context, uint64_t nid, const struct o2_msg *request, uint64_t sink_bytes,
		     struct o2_transfer_memory *memory);
	int (*receive)(void *context, uint64_t nid, const struct o2_msg *msg); /* NULL: each is dropped */
	/* An operation has ended.  Called exactly once for each.  result->cookie has no meaning here. */
	void (*done)(void *context, uint64_t nid, const struct o2_transfer_result *result);
	/* May be NULL.  up: a connection is up.  down: one ended or was not made (fault->code 0: orderly). */
	void (*up)(void *context, uint64_t nid);
	void (*down)(void *context, uint64_t nid, const struct o2_transfer_fault *fault);
};

struct o2_node;

/*
 * Create a node on ni and cm, both of which must outlive it; the node becomes cm's handler.  Returns 0 or -errno:
 * -EINVAL (a figure out of range), -EADDRINUSE, -EACCES or another of the connection manager.
 */
int o2_node_create(struct o2_ni *ni, struct o2_cm *cm, const struct o2_node_config *config,
		   const struct o2_node_ops *ops, void *context, struct o2_node **node,
		   struct o2_error *error);

/* Whether requests are accepted, at first true.  Else, and without .listen, they are refused as "too early". */
void o2_node_set_up(struct o2_node *node, bool up);

/*
 * Start an operation with a peer: over an existing connection, or over one that is made for the operation, which
 * waits until then.  Otherwise as o2_conn_put and the like.
 *
 * Attempts to connect start in o2_node_work, o2_node_clock or o2_node_progress.
 *
 * Returns 0: ops->done reports the outcome exactly once, possibly before the call returns.  On a negative errno
 * nothing was sent and done is not called: the codes of o2_conn_put, and -EINVAL (our own NID, or no NID), -EBUSY
 * (max_waiting, max_peers), -ENOMEM, -ESHUTDOWN, -ENODEV (the device is lost).
 *
 * A waiting operation can end with: -EHOSTUNREACH, -ECONNREFUSED, -ENETDOWN, -ENOTCONN, -ECONNRESET, or an -errno
 * of our own side (-ENOMEM, -EINVAL): the attempt to connect failed; -ETIMEDOUT: it took too long; -ECONNABORTED:
 * the connection broke while coming up, or was closed; -ENODEV: the device is lost; a code of o2_conn_put.
 * o2iblnd: kiblnd_launch_tx
 */
int o2_node_put(struct o2_node *node, uint64_t nid, const struct o2_lnet_hdr *hdr,
		const struct o2_transfer_memory *source, struct o2_error *error);
int o2_node_get(struct o2_node *node, uint64_t nid, const struct o2_lnet_hdr *hdr,
		const struct o2_transfer_memory *sink, struct o2_error *error);
/* As above.  memory may be NULL: no payload, and tag 0 in the result. */
/* A payload too long for one message of the connection is sent as by o2_node_put; the result's op says so. */
int o2_node_send(struct o2_node *node, uint64_t nid, const struct o2_lnet_hdr *hdr,
		 const struct o2_transfer_memory *memory, struct o2_error *error);
/* As o2_node_send, with plain bytes, copied before the call returns; the result returns tag. */
int o2_node_send_bytes(struct o2_node *node, uint64_t nid, const struct o2_lnet_hdr *hdr, const void *payload,
		       uint32_t payload_bytes, uint64_t tag, struct o2_error *error);

/*
 * Event: the time is now_ms.  Sets the interface's clock and checks the deadlines of connections, attempts and
 * waiting operations.  Call this about four times a second.
 * o2iblnd: kiblnd_connd
 */
void o2_node_clock(struct o2_node *node, uint64_t now_ms);

/* Polling loop: handle all waiting completions of all connections.  Returns their number. */
int o2_node_progress(struct o2_node *node);

/*
 * To be the last call before a loop sleeps on o2_ni_fd and on the connection manager's descriptor: arms all
 * connections.  Returns 0: the loop may sleep, but not past the time of the next o2_node_clock.  Positive:
 * something has happened or is due now, so run the loop again.  -EOPNOTSUPP: the interface has no events; another
 * -errno: the device has failed, and no event will wake the loop.
 */
int o2_node_arm(struct o2_node *node);

/* Start attempts that are due, free what has ended.  Called by o2_node_clock and o2_node_progress. */
/* o2iblnd: kiblnd_connd */
void o2_node_work(struct o2_node *node);

/* Close all connections to a peer and abandon attempts.  Waiting operations, and those that done and down start as
 * these end, end with -ECONNABORTED.  What done starts at the end of a waiting one connects again. */
/* o2iblnd: kiblnd_del_peer, kiblnd_close_peer_conns_locked */
void o2_node_close_peer(struct o2_node *node, uint64_t nid, int code);

/* Close everything, end every operation, free the node.  NULL is allowed. */
void o2_node_destroy(struct o2_node *node);

/* --- for property tests, other tests and display --- */

/*
 * o2iblnd: IBLND_CONN_INIT, IBLND_CONN_ACTIVE_CONNECT, IBLND_CONN_PASSIVE_WAIT
 * o2iblnd: IBLND_CONN_ESTABLISHED, IBLND_CONN_CLOSING, IBLND_CONN_DISCONNECTED
 */
enum o2_link_state {
	O2_LINK_INIT,
	O2_LINK_ACTIVE_CONNECT, /* we have asked to connect */
	O2_LINK_PASSIVE_WAIT,	/* we have accepted the peer's request */
	O2_LINK_ESTABLISHED,
	O2_LINK_CLOSING,      /* the connection has ended; the connection manager's id still exists */
	O2_LINK_DISCONNECTED, /* to be freed */
};

struct o2_peer_view {
	bool known;
	uint16_t version; /* 0: not known yet */
	uint64_t incarnation;
	uint32_t queue_depth; /* depth that we ask for */
	uint32_t max_frags;
	uint32_t connecting, accepting; /* our attempts; the peer's attempts */
	uint32_t attempts_due;
	uint32_t attempts; /* consecutive: reset when one succeeds, all fail, or the peer is closed */
	uint32_t races;	   /* consecutive requests of the peer that lost the race */
	uint32_t waiting;  /* operations that wait for a connection */
	uint32_t established, links; /* established connections; links in any state */
};

/* Fill *view.  For a NID that the node has no record of, .known is false and the other members are 0. */
/* o2iblnd: kiblnd_get_peer_info, kiblnd_get_conn_by_idx, kiblnd_ctl */
void o2_node_peer(const struct o2_node *node, uint64_t nid, struct o2_peer_view *view);
/* The number of peers that the node keeps a record of. */
uint32_t o2_node_npeers(const struct o2_node *node);
/* Established connection number index to a peer, the newest first; NULL if there are not so many. */
struct o2_conn *o2_node_conn(const struct o2_node *node, uint64_t nid, uint32_t index);

#endif
