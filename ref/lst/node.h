/* SPDX-License-Identifier: MIT */
#ifndef O2_LST_NODE_H
#define O2_LST_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "lnet/lnet.h"
#include "lst/pattern.h"
#include "lst/rpc.h"
#include "lst/wire/msg.h"
#include "mem/arena.h"

/*
 * A test node of LNet selftest.  It answers a console, serves pings and bulks, and is the client of the tests
 * that the console adds.  Source: docs/lst.md, "The node".
 *
 * It has no thread, and uses its interface's clock.  It refuses wrong requests as the protocol says, or drops
 * them.  The configuration limits the memory that peers can make a node use.
 */

struct o2_lst_node_config {
	uint32_t first_page;   /* first of the o2_lst_node_pages() pages that the node uses */
	uint32_t server_pages; /* pages for served bulks; further requests wait */
	uint32_t client_pages; /* pages for the bulks of the node's own tests */
	uint32_t max_calls;    /* RPCs of its own tests at a time; further units wait */
	uint32_t max_served;   /* requests at a time; further ones are dropped */
	uint32_t max_sessions; /* includes ended ones that wait for their last RPC; at least 2 */
	uint32_t max_batches;  /* these three limits are for all sessions together */
	uint32_t max_tests;
	uint32_t max_units;
	uint32_t session_timeout_s; /* 0: sessions never expire */
	uint32_t timeout_ms;	    /* of its RPCs, as in struct o2_lst_rpc_config */
	uint64_t first_id;	    /* match bits of its first call (lst/rpc.h) */
	enum o2_byte_order order;   /* byte order of its messages */
	enum o2_reg_mode mode;	    /* how its memory is registered for RDMA */
	bool flip_bit;		    /* corrupt one bit of each bulk that it PUTs: o2_lst_node_flipped */
};

#define O2_LST_NODE_DEFAULTS                                                        \
	((struct o2_lst_node_config){.server_pages = 1024,                          \
				     .client_pages = 1024,                          \
				     .max_calls = 64,                               \
				     .max_served = 256,                             \
				     .max_sessions = 8,                             \
				     .max_batches = 64,                             \
				     .max_tests = 256,                              \
				     .max_units = 4096,                             \
				     .session_timeout_s = O2_LST_SESSION_TIMEOUT_S, \
				     .timeout_ms = O2_LST_RPC_TIMEOUT_S * 1000u,    \
				     .first_id = 1,                                 \
				     .order = O2_LITTLE_ENDIAN})

/* Bulk data that differs from the pattern, or that is not all there. */
struct o2_lst_node_wrong {
	uint64_t nid;	/* NID of the other side */
	bool is_client; /* true: this node read it; false: a peer wrote it here */
	uint32_t len;	/* length of the bulk */
	uint64_t bytes; /* how many came; if fewer, there is no word */
	struct o2_lst_wrong word;
};

/* Callbacks; each may be NULL.  They are called from inside the node's functions. */
struct o2_lst_node_ops {
	void (*wrong)(void *context, const struct o2_lst_node_wrong *wrong);
	/* A request of `nid` cannot be started, for -errno, and is dropped: the client will get no reply. */
	void (*unserved)(void *context, uint64_t nid, int code);
};

/* Counts since the node was created. */
struct o2_lst_node_report {
	uint64_t sessions, expired;    /* sessions made; of these, ended by timeout */
	uint64_t pings, reads, writes; /* requests answered with status 0 */
	uint64_t wrong_writes;	       /* writes answered with EBADMSG */
	uint64_t checked_writes; /* writes that were compared, or too short for that: with the wrong ones */
	uint64_t bytes;		 /* bulk bytes moved as a server */
	uint64_t refused;	 /* requests answered with any other status */
	uint64_t tries, failed;	 /* RPCs of its own tests that have ended; of these, failed */
};

struct o2_lst_node;

/* Resources that such a node needs: pages of the arena; entries and messages of the LNet. */
uint32_t o2_lst_node_pages(const struct o2_lst_node_config *config, uint32_t page_bytes);
uint32_t o2_lst_node_entries(const struct o2_lst_node_config *config);
uint32_t o2_lst_node_messages(const struct o2_lst_node_config *config);

/*
 * lnet, arena and clock must outlive the node; ops are copied.  The node answers requests from now on.  Returns
 * 0, -EINVAL (a limit too small, pages that do not exist), -ENOMEM, or an error of o2_lnet_attach.
 * LNet: sfw_startup
 */
int o2_lst_node_create(const struct o2_lst_node_config *config, struct o2_lnet *lnet,
		       const struct o2_arena *arena, const struct o2_clock *clock,
		       const struct o2_lst_node_ops *ops, void *context, struct o2_lst_node **node,
		       struct o2_error *error);

/*
 * End the session, and all calls and requests with `code`; serve and start nothing new.  What LNet is still
 * working on ends when LNet reports it.
 * LNet: sfw_shutdown
 */
void o2_lst_node_stop(struct o2_lst_node *node, int code);

/* The node's RPC layer, for calls by the owner: these share max_calls with the node's own tests. */
struct o2_lst_rpc *o2_lst_node_rpc(struct o2_lst_node *node);

/* Number of open calls and requests. */
uint32_t o2_lst_node_active(const struct o2_lst_node *node);

/* The node must be stopped, and o2_lst_node_active 0.  node may be NULL. */
void o2_lst_node_destroy(struct o2_lst_node *node);

/* LNet's owner must pass every result of ops->done and event of ops->event.  Return true if it was the node's. */
bool o2_lst_node_done(struct o2_lst_node *node, const struct o2_lnet_result *result);
bool o2_lst_node_event(struct o2_lst_node *node, const struct o2_lnet_event *event);

/*
 * To be called when the clock has advanced: ends what has waited too long, starts what waits.
 * LNet: sfw_session_expired
 */
void o2_lst_node_check_time(struct o2_lst_node *node);

const struct o2_lst_node_report *o2_lst_node_report(const struct o2_lst_node *node);

/* The node's session, or O2_LST_NO_SID. */
struct o2_lst_sid o2_lst_node_sid(const struct o2_lst_node *node);

/*
 * The byte of a bulk of len bytes whose lowest bit flip_bit changes.  Check simple does not cover this byte if
 * len is at least 24.
 */
static inline uint32_t o2_lst_node_flipped(uint32_t len)
{
	return (len < O2_LST_PAGE_BYTES ? len : O2_LST_PAGE_BYTES) / 2;
}

#endif
