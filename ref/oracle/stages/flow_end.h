/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_STAGES_FLOW_END_H
#define O2_ORACLE_STAGES_FLOW_END_H

#include <stdbool.h>
#include <stdint.h>

#include "lnd/conn/credits.h"
#include "o2ref/impl.h"
#include "oracle/case.h"

/*
 * One end of a connection in stage flow: its credits, its queues, its receives.  It is told what happens and
 * what is sent, so that it follows whoever sends: the reference, or an implementation.
 */

/* The rule of whoever asks what cannot happen. */
#define O2_FLOW_QUESTION "flow/question"

/* Events that stand in line; of sends: messages. */
#define O2_FLOW_SENDS (2u * O2_IMPL_FLOW_EVENTS)

struct o2_flow_line {
	uint32_t first, end;
	uint32_t item[O2_FLOW_SENDS];
};

struct o2_flow_end {
	const struct o2_case_flow *asked;
	struct o2_credits credits;
	struct o2_flow_line nocred, queue, reserved; /* events that queued what waits */
	struct o2_flow_line in_flight;		     /* types */
	struct o2_flow_line arrived;		     /* events that brought what holds a receive */
	uint8_t answered[O2_IMPL_FLOW_EVENTS]; /* a PUT_REQ that has arrived: by which type; 0: not yet */
	uint32_t noops_held;		       /* receives that hold a NOOP */
	/* Requests and PUT_ACKs without their answer: those of the peer that have arrived, ours that were sent.
	 */
	uint32_t peer_puts, peer_gets, peer_acks, our_puts, our_gets, our_acks;
	uint64_t now_ms, last_post_ms;
	bool closed;
};

enum o2_flow_verdict {
	O2_FLOW_TAKEN,
	O2_FLOW_CLOSES,	    /* the event, or what has arrived, closes the connection */
	O2_FLOW_UNPAID,	    /* so does this: the peer had no credit for it, or no reservation */
	O2_FLOW_IMPOSSIBLE, /* it cannot happen in this state: no question */
};

/* No setting gives a lower mark than half of the depth less one (docs/transport.md, "Tunables"). */
uint32_t o2_flow_least_mark(uint32_t depth);

void o2_flow_begin(struct o2_flow_end *end, const struct o2_case_flow *asked);

/* The event happens. */
enum o2_flow_verdict o2_flow_take(struct o2_flow_end *end, uint32_t event);

/* Messages that wait. */
uint32_t o2_flow_waiting(const struct o2_flow_end *end);

/* Is there a reason for a NOOP?  may_wait: also if the peer may still hold the last two that gave credits. */
bool o2_flow_noop_due(const struct o2_flow_end *end, bool may_wait);

/* The event that queued what comes next, a NOOP aside; O2_NO_INDEX: nothing waits that has its reservation. */
uint32_t o2_flow_head(struct o2_flow_end *end);

/* What goes out now, with type, credits and of; false: nothing can. */
bool o2_flow_next(struct o2_flow_end *end, struct o2_impl_flow_message *message);

/* It is sent: a NOOP, or what o2_flow_head names. */
void o2_flow_post(struct o2_flow_end *end, const struct o2_impl_flow_message *message);

/* Are there such questions?  Returns 0, or -EINVAL with *error filled. */
int o2_flow_check(const struct o2_case_flow *asked, struct o2_error *error);

#endif
