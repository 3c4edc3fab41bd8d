/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_NODE_INTERNAL_H
#define O2_LND_NODE_INTERNAL_H

#include <sys/queue.h>

#include "lnd/node/node.h"

/* The inside of a node; shared by the files of this room (docs/connection.md). */

/* How much longer than one attempt may take an operation waits for a connection. */
#define O2_WAITING_EXTRA_MS 10000u

/* An attempt may take a quarter of the timeout, and no less than this. */
#define O2_CONNECT_MIN_MS 5000u

/* So many attempts in a row follow each other at once; then there is one in this time. */
#define O2_FAST_RECONNECTS   10u /* o2iblnd: KIB_RECONN_HIGH_RACE */
#define O2_RECONNECT_WAIT_MS 1000u

/* Attempts that one call starts. */
#define O2_RECONNECTS_AT_A_TIME 100u /* o2iblnd: KIB_RECONN_BREAK */

/* One operation of the application, from its start to done. */
struct o2_node_op {
	STAILQ_ENTRY(o2_node_op) entry; /* while it waits */
	enum o2_transfer_op op;
	struct o2_lnet_hdr hdr;
	struct o2_transfer_memory memory; /* tag: points to the operation */
	uint64_t tag;			  /* the application's */
	uint64_t deadline_ms;
	bool plain; /* SEND: what follows, not what lies in memory */
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
	struct o2_cm_id *id; /* NULL: none any more */
	bool asking;	     /* an attempt of ours, of which nothing has come */
	enum o2_link_state state;
	struct o2_conn_params params; /* asked for, or agreed */
	uint64_t incarnation;	      /* the peer's, once established */
	uint64_t deadline_ms;	      /* of the attempt; in CLOSING of the connection manager's part */
};

/* A node that we have, had a moment ago, or want a connection with. */
/* o2iblnd: kib_peer_ni */
struct o2_peer {
	LIST_ENTRY(o2_peer) entry;
	struct o2_node *node;
	uint64_t nid;
	uint16_t version; /* 0: nothing is known but the NID */
	uint64_t incarnation;
	/* What we ask for: our own figures, or less once the peer or the device has said so. */
	uint16_t queue_depth;
	uint16_t max_frags;
	enum o2_cksum_flavour cksum_flavour; /* of what we send it: our own, or what its sums have shown */
	uint32_t connecting;		     /* links in ACTIVE_CONNECT */
	uint32_t accepting;		     /* links in PASSIVE_WAIT */
	uint32_t attempts_due;		     /* to be started at due_ms */
	uint64_t due_ms;
	uint64_t attempt_ms; /* when the last one started */
	uint32_t attempts;   /* in a row: since one came up, all failed, or the peer was closed */
	uint32_t turn;	     /* counts operations, for taking turns */
	uint32_t races;
	LIST_HEAD(, o2_link) links; /* in any state, the newest first */
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
	bool ending; /* nothing new is started */
	bool lost;   /* likewise: the device is gone */
	LIST_HEAD(, o2_peer) peers;
	uint32_t npeers;
};

/* node.c */

uint32_t o2_node_connect_ms(const struct o2_node *node);
/* How long an operation may wait for a connection. */
uint64_t o2_node_waiting_ms(const struct o2_node *node);

/* peer.c: peers, and operations for them */

/* o2_conn_ops.done of a link's connection: the result, with the application's tag in place of ours. */
void o2_op_done(void *link, const struct o2_transfer_result *result);

struct o2_peer *o2_peer_find(const struct o2_node *node, uint64_t nid);
/* The peer with this NID, made if need be.  Returns 0, -ENOMEM, or -EBUSY: no room for another one. */
int o2_peer_get(struct o2_node *node, uint64_t nid, struct o2_peer **peer, struct o2_error *error);
/* With cksum_auto: the flavour of a sum of the peer's, in a message that was accepted. */
void o2_peer_learn_checksum(struct o2_peer *peer, const uint8_t *message, size_t length_bytes);
/* This node as that peer is to see it. */
struct o2_connreq_self o2_peer_self(const struct o2_peer *peer);
uint32_t o2_peer_established(const struct o2_peer *peer);
/* Those that count against max_conns_per_peer. */
uint32_t o2_peer_nconns(const struct o2_peer *peer);
/* Everything that waits goes to the link; if the link does not last, to the next, or ends. */
void o2_peer_flush(struct o2_peer *peer, struct o2_link *link);
/* An attempt has ended without a connection: what waits ends with it, unless there is another hope. */
void o2_peer_failed(struct o2_peer *peer, const struct o2_transfer_fault *fault);
void o2_peer_fail_waiting(struct o2_peer *peer, const struct o2_transfer_fault *fault);
/* The first of those. */
void o2_peer_fail_first(struct o2_peer *peer, const struct o2_transfer_fault *fault);
/* Close the established links for which this is another life or version than they were made with. */
void o2_peer_close_stale(struct o2_peer *peer, uint64_t incarnation, uint16_t version);

/* link.c: a link's life apart from how it is set up */

/* A link with a connection in INIT that can do params; params->queue_depth may shrink.  NULL: *error. */
struct o2_link *o2_link_new(struct o2_peer *peer, struct o2_conn_params *params, struct o2_error *error);
struct o2_cm_param o2_link_param(const struct o2_link *link, const uint8_t *bytes, size_t length_bytes);
int o2_link_set_peer(struct o2_link *link, const struct o2_conn_params *agreed, uint64_t incarnation,
		     struct o2_error *error);
/* Has it been asked for, or accepted, and is not up yet? */
bool o2_link_is_attempt(const struct o2_link *link);
/* The attempt has ended well: the connection comes up and takes what waits. */
void o2_link_up(struct o2_link *link);
/* It was up for the connection manager, but what the peer said of it is not acceptable. */
void o2_link_abort(struct o2_link *link, const struct o2_error *error);
/* The attempt is over; its peer decides what comes of it. */
void o2_link_drop(struct o2_link *link, int code);
/* The attempt has ended badly, and its peer may have lost its last hope. */
void o2_link_failed(struct o2_link *link, const struct o2_transfer_fault *fault);
/* End the link in whatever state it is; fault->code 0: in good order. */
void o2_link_close(struct o2_link *link, const struct o2_transfer_fault *fault);
/* The device is gone: the link ends in whatever state it is, and so does the connection manager's part. */
void o2_link_lost(struct o2_link *link, const struct o2_transfer_fault *fault);
/* The connection manager's part of the link is over, if it still has one. */
void o2_link_parted(struct o2_link *link);
void o2_link_free(struct o2_link *link);

/* connect.c: the active side, and the passive one */

void o2_link_attempt(struct o2_peer *peer);
void o2_node_on_reply(struct o2_link *link, const struct o2_cm_event *event);
void o2_node_on_reject(struct o2_link *link, const struct o2_cm_event *event);
void o2_node_on_request(struct o2_node *node, const struct o2_cm_event *event);

#endif
