/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_NODE_INTERNAL_H
#define O2_LND_NODE_INTERNAL_H

#include <sys/queue.h>

#include "lnd/node/node.h"

/* Internals of a node, shared by the files of this directory (docs/connection.md). */

/* An operation waits for a connection as long as one attempt may take, and this much longer. */
#define O2_WAITING_EXTRA_MS 10000u

/* An attempt may take a quarter of the timeout, but at least this long. */
#define O2_CONNECT_MIN_MS 5000u

/* The first O2_FAST_RECONNECTS attempts in a row start at once; further ones start at this interval. */
#define O2_FAST_RECONNECTS   10u /* o2iblnd: KIB_RECONN_HIGH_RACE */
#define O2_RECONNECT_WAIT_MS 1000u

/* The most attempts that one call starts. */
#define O2_RECONNECTS_AT_A_TIME 100u /* o2iblnd: KIB_RECONN_BREAK */

/* One operation of the application, from its start to the call of done. */
struct o2_node_op {
	STAILQ_ENTRY(o2_node_op) entry; /* list entry while the operation waits */
	enum o2_transfer_op op;
	struct o2_lnet_hdr hdr;
	struct o2_transfer_memory memory; /* memory.tag points to this operation */
	uint64_t tag;			  /* the application's tag */
	uint64_t deadline_ms;
	bool plain; /* SEND: the payload is the bytes below, not memory */
	uint32_t payload_bytes;
	uint8_t payload[];
};

/* One connection to a peer, from the first attempt on. */
/* o2iblnd: kib_conn */
struct o2_link {
	LIST_ENTRY(o2_link) entry;
	struct o2_node *node;
	struct o2_peer *peer;
	struct o2_conn *conn;
	struct o2_cm_id *id; /* NULL: none, or destroyed */
	bool asking;	     /* our attempt, not established so far */
	enum o2_link_state state;
	struct o2_conn_params params; /* parameters asked for, or agreed on */
	uint64_t incarnation;	      /* the peer's, once established */
	uint64_t deadline_ms; /* deadline of the attempt; in CLOSING, of the connection manager's part */
};

/* A node with which we have, recently had, or want a connection. */
/* o2iblnd: kib_peer_ni */
struct o2_peer {
	LIST_ENTRY(o2_peer) entry;
	struct o2_node *node;
	uint64_t nid;
	uint16_t version;     /* 0: none was agreed on or tried again */
	uint64_t incarnation; /* 0: unsaid, as after the connection manager's "stale", which sets version */
	/* The figures that we ask for: our own, or less if the peer or the device has limited them. */
	uint16_t queue_depth;
	uint16_t max_frags;
	enum o2_cksum_flavour cksum_flavour; /* for messages to the peer: our own, or as the peer's show */
	uint32_t connecting;		     /* links in ACTIVE_CONNECT */
	uint32_t accepting;		     /* links in PASSIVE_WAIT */
	uint32_t attempts_due;		     /* attempts to start at due_ms */
	uint64_t due_ms;
	uint64_t attempt_ms; /* when the last attempt started */
	uint32_t attempts;   /* consecutive: reset when one succeeds, all fail, or the peer is closed */
	uint32_t turn;	     /* counts operations, to distribute them over the links in turn */
	uint32_t races;
	LIST_HEAD(, o2_link) links; /* links in any state, the newest first */
	STAILQ_HEAD(, o2_node_op) waiting;
	uint32_t nwaiting;
};

struct o2_node {
	struct o2_ni *ni;
	struct o2_cm *cm;
	struct o2_node_config config;
	struct o2_connreq_self self;
	struct o2_node_ops ops;
	void *context;
	bool ending; /* being destroyed: nothing new is started */
	bool lost;   /* the device is gone: nothing new is started */
	LIST_HEAD(, o2_peer) peers;
	uint32_t npeers;
};

/* node.c */

uint32_t o2_node_connect_ms(const struct o2_node *node);
/* How long, in ms, an operation may wait for a connection. */
uint64_t o2_node_waiting_ms(const struct o2_node *node);

/* peer.c: peers, and operations with them */

/* o2_conn_ops.done of a link's connection: pass the result on, with the application's tag in place of ours. */
void o2_op_done(void *link, const struct o2_transfer_result *result);

struct o2_peer *o2_peer_find(const struct o2_node *node, uint64_t nid);
/* Find the peer with this NID, or create it.  Returns 0, -ENOMEM, or -EBUSY: max_peers is reached. */
int o2_peer_get(struct o2_node *node, uint64_t nid, struct o2_peer **peer, struct o2_error *error);
/* With cksum_auto: record the checksum flavour that the peer used in a message that was accepted. */
void o2_peer_learn_checksum(struct o2_peer *peer, const uint8_t *message, size_t length_bytes);
/* The properties of this node to present to that peer. */
struct o2_connreq_self o2_peer_self(const struct o2_peer *peer);
uint32_t o2_peer_established(const struct o2_peer *peer);
/* The number of links that count against max_conns_per_peer: not those that are to be freed. */
uint32_t o2_peer_nconns(const struct o2_peer *peer);
/* Submit all waiting operations to the link.  If it breaks, the rest go to the next link, or go on waiting. */
void o2_peer_flush(struct o2_peer *peer, struct o2_link *link);
/* An attempt has failed: end the waiting operations too, unless another attempt or link remains. */
void o2_peer_failed(struct o2_peer *peer, const struct o2_transfer_fault *fault);
void o2_peer_fail_waiting(struct o2_peer *peer, const struct o2_transfer_fault *fault);
/* As o2_peer_fail_waiting, but only the first waiting operation. */
void o2_peer_fail_first(struct o2_peer *peer, const struct o2_transfer_fault *fault);
/* Close the established links that were made with another incarnation or version than these. */
void o2_peer_close_stale(struct o2_peer *peer, uint64_t incarnation, uint16_t version);

/* link.c: a link's life, except how it is set up */

/* Make a link with a connection in INIT for *params; params->queue_depth may shrink.  NULL: see *error. */
struct o2_link *o2_link_new(struct o2_peer *peer, struct o2_conn_params *params, struct o2_error *error);
struct o2_cm_param o2_link_param(const struct o2_link *link, const uint8_t *bytes, size_t length_bytes);
int o2_link_set_peer(struct o2_link *link, const struct o2_conn_params *agreed, uint64_t incarnation,
		     struct o2_error *error);
/* Was the link asked for or accepted, without being established yet? */
bool o2_link_is_attempt(const struct o2_link *link);
/* The attempt has succeeded: establish the connection, and submit the waiting operations to it. */
void o2_link_up(struct o2_link *link);
/* Abandon a link that the connection manager has established but whose CONNACK is not acceptable. */
void o2_link_abort(struct o2_link *link, const struct o2_error *error);
/* End the attempt without a report to the application; the caller decides what follows. */
void o2_link_drop(struct o2_link *link, int code);
/* The attempt has failed: report that, and end the waiting operations unless another attempt or link remains. */
void o2_link_failed(struct o2_link *link, const struct o2_transfer_fault *fault);
/* End the link, whatever its state.  fault->code 0: in good order. */
void o2_link_close(struct o2_link *link, const struct o2_transfer_fault *fault);
/* The device is gone: end the link, whatever its state, and the connection manager's part of it. */
void o2_link_lost(struct o2_link *link, const struct o2_transfer_fault *fault);
/* Destroy the link's id, the connection manager's part, if there is one.  The link becomes DISCONNECTED. */
void o2_link_parted(struct o2_link *link);
void o2_link_free(struct o2_link *link);

/* connect.c: the active and the passive side of connecting */

void o2_link_attempt(struct o2_peer *peer);
void o2_node_on_reply(struct o2_link *link, const struct o2_cm_event *event);
void o2_node_on_reject(struct o2_link *link, const struct o2_cm_event *event);
void o2_node_on_request(struct o2_node *node, const struct o2_cm_event *event);

#endif
