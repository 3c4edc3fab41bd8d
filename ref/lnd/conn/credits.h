/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_CREDITS_H
#define O2_LND_CREDITS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "wire/msg.h"

/*
 * Flow control as pure arithmetic, without queue, verbs or clock: what a connection may send, what it owes its
 * peer, what the peer may send, and which outcome of an operation the peer may report.
 * Source: docs/transport.md, "Flow control".
 */

/* In version 1, the number of owed credits that makes a NOOP due: all but one of the 8 credits. */
#define O2_HIGH_WATER_V1 7u /* o2iblnd: IBLND_CREDIT_HIGHWATER_V1 */

/*
 * The smallest queue depth.  A peer must be able to have a request and its completion in flight.  In version 1 a
 * NOOP takes a credit and earns the other end one: at a mark of 1, NOOPs would answer each other for ever.
 */
static inline uint32_t o2_min_queue_depth(uint16_t version)
{
	return version == O2_MSG_VERSION_1 ? 3 : 2;
}

/* Version 1 limits the messages in flight to a number from 4 to 16, whatever the tunable says. */
#define O2_CONCURRENT_MIN_V1 4u
#define O2_CONCURRENT_MAX_V1 16u
static_assert(O2_CONCURRENT_MIN_V1 <= O2_CONCURRENT_MAX_V1, "a range");

/* Version 2: NOOPs that may be in flight.  They take no credit; the receiver keeps extra receives for them. */
#define O2_OOB_MESSAGES 2u /* o2iblnd: IBLND_OOB_MSGS, IBLND_OOB_CAPABLE */

/* Tunables of one side, as an administrator sets them.  0: not set. */
struct o2_flow_tunables {
	uint32_t queue_depth;
	uint32_t peer_tx_credits;
	uint32_t peercredits_hiw;
	uint32_t concurrent_sends;
};

/* Set the tunables that are 0, and clamp as o2iblnd does (docs/transport.md, "Tunables"). */
/* o2iblnd: kiblnd_tunables_setup, kiblnd_concurrent_sends */
void o2_flow_resolve(struct o2_flow_tunables *tunables, uint16_t version);

/* The number of full transfers that the send queue can hold; also the most invalidates in flight at a time. */
uint32_t o2_full_transfers(const struct o2_flow_tunables *flow);

/* What posting a receive again gives: a credit to the peer, a reservation to us, or nothing. */
/* o2iblnd: IBLND_POSTRX_NO_CREDIT, IBLND_POSTRX_PEER_CREDIT, IBLND_POSTRX_RSRVD_CREDIT */
enum o2_repost {
	O2_REPOST_NONE,	    /* nothing: the receive is kept for a message that takes no credit */
	O2_REPOST_PEER,	    /* one credit to the peer */
	O2_REPOST_RESERVED, /* one reservation to us */
};

struct o2_credits {
	uint16_t version;
	uint32_t queue_depth;
	uint32_t high_water;
	uint32_t concurrent_sends;

	uint32_t credits;     /* our credits: messages that we may still send */
	uint32_t outstanding; /* credits that we owe: receives posted again, not yet reported to the peer */
	uint32_t reserved;    /* requests that we may still send: each has a receive kept for its answer */
	uint32_t granted;     /* the peer's credits: messages that it may still send, as far as it can know */
	uint32_t peer_requests; /* requests of the peer for which no answer was posted yet */

	uint32_t in_flight; /* messages posted and not completed */
	uint32_t noops_in_flight;

	uint64_t messages_sent; /* messages sent that took a credit */
	uint64_t messages_handled;
	uint64_t credits_sent; /* sums of credit bytes */
	uint64_t credits_received;
	uint64_t noops_sent;
	uint64_t noops_received;

	/* Version 2: NOOPs that gave back high_water credits or more; credits_sent before each of the last ones. */
	uint64_t giving_noops;
	uint64_t given_before[O2_OOB_MESSAGES];
};

/* Begin a connection.  tunables: resolved; queue_depth: as agreed, at most tunables->queue_depth. */
/* o2iblnd: kiblnd_credits_highwater, IBLND_CREDITS_HIGHWATER */
void o2_credits_init(struct o2_credits *credits, uint16_t version, uint32_t queue_depth,
		     const struct o2_flow_tunables *tunables);

/* Does a message of this type take a credit?  IMMEDIATE, PUT_REQ, GET_REQ do, and NOOP of version 1. */
bool o2_takes_credit(uint16_t version, enum o2_msg_type type);

/* Does a message of this type reserve a receive for its answer?  PUT_REQ and GET_REQ do. */
bool o2_takes_reserve(enum o2_msg_type type);

/* May a message of this type be posted now?  The reservation is not checked here. */
/* o2iblnd: kiblnd_post_tx_locked */
bool o2_credits_may_post(const struct o2_credits *credits, enum o2_msg_type type);

/* Version 2: are already as many NOOPs in flight as may be?  Then no further one may be sent. */
/* o2iblnd: kiblnd_post_tx_locked */
bool o2_credits_noops_out(const struct o2_credits *credits);

/* The credit byte of a message that is posted now: the number of outstanding credits. */
uint8_t o2_credits_byte(const struct o2_credits *credits);

/* Account for the post of a message of this type that carries o2_credits_byte. */
/* o2iblnd: kiblnd_post_tx_locked */
void o2_credits_post(struct o2_credits *credits, enum o2_msg_type type);

/* Account for the completion of the send of a message of this type. */
void o2_credits_sent(struct o2_credits *credits, enum o2_msg_type type);

/*
 * Account for an arrived message of this type and credit byte.  Returns 0, or -EPROTO (class connection): more
 * credits than can exist, a message for which the peer had no credit, a request beyond its reservations.
 * o2iblnd: kiblnd_handle_rx
 */
int o2_credits_receive(struct o2_credits *credits, enum o2_msg_type type, uint8_t byte,
		       struct o2_error *error);

/*
 * What does posting the receive of such a message again give?  counted: the credit of the message is accounted for
 * elsewhere: for a PUT_REQ answered by PUT_ACK, with the PUT_DONE; for a NOOP of version 1 that carries credits,
 * by o2_credits_receive.
 */
enum o2_repost o2_repost_of(uint16_t version, enum o2_msg_type type, bool counted);

/* Account for posting the receive of a handled message again. */
/* o2iblnd: kiblnd_post_rx, IBLND_POSTRX_DONT_POST */
void o2_credits_repost(struct o2_credits *credits, enum o2_msg_type type, enum o2_repost repost);

/* What o2_need_noop considers besides the credits. */
struct o2_noop_question {
	bool keepalive_due;
	bool nocred_queued; /* a message that needs no credit waits; it will carry the owed credits */
	bool noop_queued;   /* version 1: a NOOP waits for a credit */
	bool queued;	    /* a message that needs a credit waits */
};

/* Must a NOOP be sent? */
/* o2iblnd: kiblnd_need_noop */
bool o2_need_noop(const struct o2_credits *credits, const struct o2_noop_question *question);

/*
 * May a PUT_NAK, PUT_DONE or GET_DONE report this status for an operation of nob bytes?  A status below 0 is an
 * errno.  Otherwise it is the number of bytes moved: for a NAK 0, for a PUT exactly nob, for a GET at most nob.
 * Returns 0, or -EPROTO with *error.  Source: docs/transport.md, "Operations".
 * o2iblnd: kiblnd_handle_completion
 */
int o2_outcome_judge(enum o2_msg_type type, int32_t status, uint64_t nob, struct o2_error *error);

#endif
