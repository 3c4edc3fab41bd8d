/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_CREDITS_H
#define O2_LND_CREDITS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "wire/msg.h"

/*
 * Flow control as arithmetic: what a connection may send, what it owes its peer, what the peer may send, and
 * what it may say of an operation.
 * Source: docs/transport.md, "Flow control".  Pure: no queue, no verbs, no clock.
 */

/* Version 1 owes this many before it sends a NOOP: all but one of its 8. */
#define O2_HIGH_WATER_V1 7u /* o2iblnd: IBLND_CREDIT_HIGHWATER_V1 */

/*
 * The least queue depth.  A peer must be able to have a request and its completion under way.  In version 1 a
 * NOOP takes a credit and earns the other end one: at a mark of 1 they would answer each other for ever.
 */
static inline uint32_t o2_min_queue_depth(uint16_t version)
{
	return version == O2_MSG_VERSION_1 ? 3 : 2;
}

/* Version 1 sends between 4 and 16 messages at a time, whatever the tunable says. */
#define O2_CONCURRENT_MIN_V1 4u
#define O2_CONCURRENT_MAX_V1 16u
static_assert(O2_CONCURRENT_MIN_V1 <= O2_CONCURRENT_MAX_V1, "a range");

/* Version 2: NOOPs that may be under way, for which the receiver keeps receives beside those of credits. */
#define O2_OOB_MESSAGES 2u /* o2iblnd: IBLND_OOB_MSGS, IBLND_OOB_CAPABLE */

/* Tunables of a side, as an administrator writes them; 0: not said. */
struct o2_flow_tunables {
	uint32_t queue_depth;
	uint32_t peer_tx_credits;
	uint32_t peercredits_hiw;
	uint32_t concurrent_sends;
};

/* Fill in the tunables that are 0, and clamp as o2iblnd does (docs/transport.md, "Tunables"). */
/* o2iblnd: kiblnd_tunables_setup, kiblnd_concurrent_sends */
void o2_flow_resolve(struct o2_flow_tunables *tunables, uint16_t version);

/* Transfers that the send queue has room for, and the most keys that may wait for their invalidate at a time. */
uint32_t o2_full_transfers(const struct o2_flow_tunables *flow);

/* Who gains a credit or a reservation when a receive is posted again. */
/* o2iblnd: IBLND_POSTRX_NO_CREDIT, IBLND_POSTRX_PEER_CREDIT, IBLND_POSTRX_RSRVD_CREDIT */
enum o2_repost {
	O2_REPOST_NONE,	    /* to nobody: kept for a message that takes no credit */
	O2_REPOST_PEER,	    /* one credit to the peer */
	O2_REPOST_RESERVED, /* one reservation to us */
};

struct o2_credits {
	uint16_t version;
	uint32_t queue_depth;
	uint32_t high_water;
	uint32_t concurrent_sends;

	uint32_t credits;	/* messages that we may still send */
	uint32_t outstanding;	/* receives posted again that the peer was not told of */
	uint32_t reserved;	/* requests whose answer we still have a receive for */
	uint32_t granted;	/* messages that the peer may still send, as far as it can know */
	uint32_t peer_requests; /* the peer's requests that no answer was posted for */

	uint32_t in_flight; /* messages posted and not completed */
	uint32_t noops_in_flight;

	uint64_t messages_sent; /* that took a credit */
	uint64_t messages_handled;
	uint64_t credits_sent; /* sums of credit bytes */
	uint64_t credits_received;
	uint64_t noops_sent;
	uint64_t noops_received;

	/* Version 2: NOOPs that gave back a high-water mark or more; credits_sent before the last ones. */
	uint64_t giving_noops;
	uint64_t given_before[O2_OOB_MESSAGES];
};

/* The start of a connection.  tunables: resolved; queue_depth: as agreed, at most that of the tunables. */
/* o2iblnd: kiblnd_credits_highwater, IBLND_CREDITS_HIGHWATER */
void o2_credits_init(struct o2_credits *credits, uint16_t version, uint32_t queue_depth,
		     const struct o2_flow_tunables *tunables);

/* Does a message of this type take a credit?  IMMEDIATE, PUT_REQ, GET_REQ do, and NOOP of version 1. */
bool o2_takes_credit(uint16_t version, enum o2_msg_type type);

/* A request that reserves room for its answer: PUT_REQ, GET_REQ. */
bool o2_takes_reserve(enum o2_msg_type type);

/* May a message of this type be posted now?  Says nothing about its reservation. */
/* o2iblnd: kiblnd_post_tx_locked */
bool o2_credits_may_post(const struct o2_credits *credits, enum o2_msg_type type);

/* Version 2: as many NOOPs as may be are on their way; another one is not sent. */
/* o2iblnd: kiblnd_post_tx_locked */
bool o2_credits_noops_out(const struct o2_credits *credits);

/* The credit byte of a message that is posted now: what is outstanding. */
uint8_t o2_credits_byte(const struct o2_credits *credits);

/* A message of this type, with that credit byte, is being posted. */
/* o2iblnd: kiblnd_post_tx_locked */
void o2_credits_post(struct o2_credits *credits, enum o2_msg_type type);

/* Its send has completed. */
void o2_credits_sent(struct o2_credits *credits, enum o2_msg_type type);

/*
 * A message of this type with this credit byte has arrived.  Returns 0, or -EPROTO (class connection): more
 * credits than there can be, a message for which the peer had no credit, a request beyond its reservations.
 * o2iblnd: kiblnd_handle_rx
 */
int o2_credits_receive(struct o2_credits *credits, enum o2_msg_type type, uint8_t byte,
		       struct o2_error *error);

/*
 * Who gains when the receive of such a message is posted again.  counted: its credit is accounted for
 * elsewhere: that of a PUT_REQ answered by PUT_ACK comes with the PUT_DONE, that of a NOOP of version 1 with
 * credits was counted by o2_credits_receive.
 */
enum o2_repost o2_repost_of(uint16_t version, enum o2_msg_type type, bool counted);

/* The receive of a handled message was posted again. */
/* o2iblnd: kiblnd_post_rx, IBLND_POSTRX_DONT_POST */
void o2_credits_repost(struct o2_credits *credits, enum o2_msg_type type, enum o2_repost repost);

/* What need_noop looks at besides the credits. */
struct o2_noop_question {
	bool keepalive_due;
	bool nocred_queued; /* a message that needs no credit waits, and will carry what is owed */
	bool noop_queued;   /* version 1 */
	bool queued;	    /* a message that needs a credit waits */
};

/* Has a NOOP to go out? */
/* o2iblnd: kiblnd_need_noop */
bool o2_need_noop(const struct o2_credits *credits, const struct o2_noop_question *question);

/*
 * May a PUT_NAK, PUT_DONE or GET_DONE say this of an operation of nob bytes?  A status below 0 is an errno;
 * else how many bytes have moved: of a NAK none, of a PUT all of them, of a GET no more than were asked for.
 * Returns 0, or -EPROTO with *error.  Source: docs/transport.md, "Operations".
 * o2iblnd: kiblnd_handle_completion
 */
int o2_outcome_judge(enum o2_msg_type type, int32_t status, uint64_t nob, struct o2_error *error);

#endif
