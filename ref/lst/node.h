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
 * A test node of LNet selftest: it answers a console, is the server of pings and bulks, and the client of the
 * tests that the console adds.  Source: docs/lst.md, "The node".
 *
 * It has no thread, and the clock is its interface's.  What comes from outside is refused as the protocol says,
 * or dropped; how much memory it makes a node take is bounded by the configuration.
 */

struct o2_lst_node_config {
	uint32_t first_page;   /* o2_lst_node_pages of the arena belong to the node */
	uint32_t server_pages; /* of bulks that are served; more requests wait */
	uint32_t client_pages; /* of bulks that its own tests move */
	uint32_t max_calls;    /* of its own tests, at a time; more units wait */
	uint32_t max_served;   /* requests at a time; more are dropped */
	uint32_t max_sessions; /* with those that wait for their last RPC; at least 2 */
	uint32_t max_batches;  /* these three: of all sessions */
	uint32_t max_tests;
	uint32_t max_units;
	uint32_t session_timeout_s; /* 0: never */
	uint64_t first_id;	    /* match bits of its first call (lst/rpc.h) */
	enum o2_byte_order order;   /* of what it sends */
	enum o2_reg_mode mode;	    /* of its memory, where it goes by RDMA */
	bool flip_bit;		    /* one bit of each bulk that it PUTs is wrong: o2_lst_node_flipped */
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
				     .first_id = 1,                                 \
				     .order = O2_LITTLE_ENDIAN})

/* Bytes that are not what they must be. */
struct o2_lst_node_wrong {
	uint64_t nid;	/* of the other side */
	bool is_client; /* a read of ours; else a write to us */
	uint32_t len;	/* of the bulk */
	struct o2_lst_wrong word;
};

/* Each may be NULL, and is called from inside of what the node is told. */
struct o2_lst_node_ops {
	void (*wrong)(void *context, const struct o2_lst_node_wrong *wrong);
	/* What the NID asks for cannot be begun here, for -errno, and is dropped: it waits for its reply in vain. */
	void (*unserved)(void *context, uint64_t nid, int code);
};

/* What it has done since it was made. */
struct o2_lst_node_report {
	uint64_t sessions, expired;    /* made; gone by their timeout */
	uint64_t pings, reads, writes; /* served, and answered with status 0 */
	uint64_t wrong_writes;	       /* answered with EBADMSG */
	uint64_t bytes;		       /* of bulks that were served */
	uint64_t refused;	       /* requests answered with another status */
	uint64_t tries, failed;	       /* of its own tests: RPCs that ended, and not well */
};

struct o2_lst_node;

/* What such a node takes: pages of the arena; entries and messages of the LNet. */
uint32_t o2_lst_node_pages(const struct o2_lst_node_config *config, uint32_t page_bytes);
uint32_t o2_lst_node_entries(const struct o2_lst_node_config *config);
uint32_t o2_lst_node_messages(const struct o2_lst_node_config *config);

/*
 * lnet, arena and clock outlive it; ops are copied.  It answers from now on.  Returns 0, -EINVAL (a limit of
 * 0, pages that do not exist), -ENOMEM, or what o2_lnet_attach says.
 * LNet: sfw_startup
 */
int o2_lst_node_create(const struct o2_lst_node_config *config, struct o2_lnet *lnet,
		       const struct o2_arena *arena, const struct o2_clock *clock,
		       const struct o2_lst_node_ops *ops, void *context, struct o2_lst_node **node,
		       struct o2_error *error);

/*
 * The session ends, calls and requests end with code; nothing new is served or started.  What LNet still has
 * ends when LNet tells.
 * LNet: sfw_shutdown
 */
void o2_lst_node_stop(struct o2_lst_node *node, int code);

/* Its RPCs, for calls of the owner's own: as many at a time as max_calls has room for. */
struct o2_lst_rpc *o2_lst_node_rpc(struct o2_lst_node *node);

/* Of calls and requests under way. */
uint32_t o2_lst_node_active(const struct o2_lst_node *node);

/* Stopped, and nothing active.  NULL: nothing. */
void o2_lst_node_destroy(struct o2_lst_node *node);

/* LNet's owner hands over all that ops->done and ops->event are told; true: it was the node's. */
bool o2_lst_node_done(struct o2_lst_node *node, const struct o2_lnet_result *result);
bool o2_lst_node_event(struct o2_lst_node *node, const struct o2_lnet_event *event);

/*
 * The clock was told another time: end what has waited too long, start what waits.
 * LNet: sfw_session_expired
 */
void o2_lst_node_check_time(struct o2_lst_node *node);

const struct o2_lst_node_report *o2_lst_node_report(const struct o2_lst_node *node);

/* The session that it is in; O2_LST_NO_SID. */
struct o2_lst_sid o2_lst_node_sid(const struct o2_lst_node *node);

/*
 * Which byte flip_bit changes in a bulk of so many; its lowest bit.  From 24 bytes on check simple does not look
 * there.
 */
static inline uint32_t o2_lst_node_flipped(uint32_t len)
{
	return (len < O2_LST_PAGE_BYTES ? len : O2_LST_PAGE_BYTES) / 2;
}

#endif
