/* SPDX-License-Identifier: MIT */
#ifndef O2_LST_NODE_INTERNAL_H
#define O2_LST_NODE_INTERNAL_H

#include <sys/queue.h>

#include "lst/node.h"
#include "lst/rpc.h"
#include "lst/test.h"

/* Internals of a test node, shared by the files node*.c. */

#define O2_LST_NODE_FETCHES 16u /* lists of destinations fetched at a time; further TESTs are dropped */

struct o2_lst_half;

/*
 * A unit of a client half: it does one RPC after the other.
 * LNet: sfw_test_unit
 */
struct o2_lst_unit {
	struct o2_lst_half *half;
	struct o2_lst_dest dest;
	bool active;
	bool trying; /* its RPC `id` has not ended */
	bool ready;  /* is in the queue of units that want to begin an RPC */
	uint64_t id;
	uint32_t left; /* RPCs left to do; O2_LST_LOOP_ENDLESS: no limit */
	TAILQ_ENTRY(o2_lst_unit) link;
};

/*
 * A half of a test.
 * LNet: sfw_test_instance
 */
struct o2_lst_half {
	struct o2_lst_batch *batch;
	STAILQ_ENTRY(o2_lst_half) link;
	struct o2_lst_test test; /* client half only */
	uint32_t loop;
	bool stop_onerr;
	bool stopping;
	uint32_t nactive;
	uint32_t nunits; /* 0: a server half */
	struct o2_lst_unit *unit;
};

/* LNet: sfw_batch */
struct o2_lst_batch {
	struct o2_lst_node_session *session;
	LIST_ENTRY(o2_lst_batch) link;
	uint64_t id;
	uint32_t nactive;		   /* active halves */
	STAILQ_HEAD(, o2_lst_half) halves; /* in the order of their addition */
};

/* LNet: sfw_session */
struct o2_lst_node_session {
	struct o2_lst_node *node;
	LIST_ENTRY(o2_lst_node_session) link;
	struct o2_lst_sid sid;
	struct o2_lst_name name;
	uint32_t features;
	uint64_t made; /* how often the console has made it; RMSN counts down */
	uint64_t started_ms;
	uint32_t brw_errors, ping_errors;
	uint32_t held; /* users that iterate over its tests; it is not freed above 0 */
	LIST_HEAD(, o2_lst_batch) batches;
};

/* A BRW request that is being served. */
struct o2_lst_brw_slot {
	bool in_use;
	bool waiting; /* is in the queue `waiting`, for pages */
	uint64_t served;
	uint64_t nid;
	uint32_t features;
	enum o2_byte_order order;
	struct o2_lst_brw_reqst reqst;
	struct o2_lst_bulk bulk;
	struct o2_transfer_memory memory;
	TAILQ_ENTRY(o2_lst_brw_slot) link;
};

/* A TEST request whose destinations are being fetched. */
struct o2_lst_fetch {
	bool in_use;
	uint64_t served;
	struct o2_lst_msg msg;
	struct o2_lst_bulk bulk;
	struct o2_transfer_memory memory;
};

struct o2_lst_node {
	struct o2_lst_node_config config;
	struct o2_lnet *lnet;
	const struct o2_clock *clock;
	struct o2_lst_node_ops ops;
	void *context;
	bool stopped;
	struct o2_lst_rpc *rpc;
	struct o2_lst_pages *server_pages, *client_pages, *fetch_pages;
	struct o2_lst_tester *tester;
	struct o2_lst_node_report report;
	struct o2_lst_lnet_counters lnet_counters;
	/* The current session (NULL: none); and all sessions, with ended ones that wait for their last RPC. */
	struct o2_lst_node_session *session;
	LIST_HEAD(, o2_lst_node_session) sessions;
	uint64_t heard_ms; /* time of the last request to the framework */
	uint32_t nsessions, nbatches, nhalves, nunits;
	/* Units that want to begin an RPC, in order. */
	TAILQ_HEAD(, o2_lst_unit) ready;
	uint32_t nready;
	bool pumping;
	struct o2_lst_brw_slot *brw;	       /* max_served slots */
	TAILQ_HEAD(, o2_lst_brw_slot) waiting; /* BRWs that wait for pages */
	struct o2_lst_fetch fetch[O2_LST_NODE_FETCHES];
};

/* node.c */
void o2_lst_node_reply(struct o2_lst_node *node, uint64_t served, struct o2_lst_msg *reply, uint32_t status);
/* A request cannot be started: tell the owner (ops->unserved), and drop it. */
void o2_lst_node_unserved(struct o2_lst_node *node, uint64_t nid, uint64_t served, int code);

/* node_session.c: requests to the framework.  Each ends with a reply or a drop. */
extern const struct o2_lst_service_ops o2_lst_node_framework_ops;
void o2_lst_node_end_session(struct o2_lst_node *node);
/* Free the session if it has ended and none of its tests is active. */
void o2_lst_session_release(struct o2_lst_node *node, struct o2_lst_node_session *session);
/* The node's session if its name is sid; else NULL. */
struct o2_lst_node_session *o2_lst_node_in(const struct o2_lst_node *node, struct o2_lst_sid sid);
/* Reply with the current session of the node and its features. */
void o2_lst_framework_reply(struct o2_lst_node *node, uint64_t served, struct o2_lst_msg *reply,
			    uint32_t status);

/* node_batch.c: TEST and BATCH. */
void o2_lst_node_add_test(struct o2_lst_node *node, const struct o2_lst_request *request);
void o2_lst_node_test_moved(struct o2_lst_node *node, uint64_t served, int status, uint64_t bytes);
void o2_lst_node_test_over(struct o2_lst_node *node, uint64_t served);
void o2_lst_node_control(struct o2_lst_node *node, const struct o2_lst_request *request);

/* node_unit.c: the work of client halves. */
void o2_lst_batch_run(struct o2_lst_node *node, struct o2_lst_batch *batch);
/* force: cancel open RPCs.  The session must be the node's, or held. */
void o2_lst_batch_stop(struct o2_lst_node *node, struct o2_lst_batch *batch, bool force);
/* Begin RPCs of the units in `ready`. */
void o2_lst_node_pump(struct o2_lst_node *node);

/* node_serve.c: the services of tests. */
extern const struct o2_lst_service_ops o2_lst_node_ping_ops, o2_lst_node_brw_ops;
/* Drop all requests that are being served, without a reply. */
void o2_lst_node_abort_brw(struct o2_lst_node *node);

#endif
