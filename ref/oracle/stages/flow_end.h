/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_STAGES_FLOW_END_H
#define O2_ORACLE_STAGES_FLOW_END_H

#include <stdbool.h>
#include <stdint.h>

#include "lnd/conn/credits.h"
#include "o2ref/impl.h"
#include "oracle/case.h"

/*
 * The state of one end of a connection in stage flow: its credits, its queues, its receives.  The caller
 * reports each event and each message sent, so the state can follow the reference or an implementation.
 */

/* The rule that refuses a question with impossible events or figures. */
#define O2_FLOW_QUESTION "flow/question"

/* Capacity of a line (FIFO); a line holds indices of events, in_flight holds types of messages. */
#define O2_FLOW_SENDS (2u * O2_IMPL_FLOW_EVENTS)

struct o2_flow_line {
	uint32_t first, end;
	uint32_t item[O2_FLOW_SENDS];
};

struct o2_flow_end {
	const struct o2_case_flow *asked;
	struct o2_credits credits;
	struct o2_flow_line nocred, queue, reserved; /* QUEUE events of the waiting messages, by list */
	struct o2_flow_line in_flight;		     /* types of the messages in flight */
	struct o2_flow_line arrived;		     /* RECEIVE events of the messages that hold a receive */
	uint8_t answered[O2_IMPL_FLOW_EVENTS]; /* by event of a PUT_REQ: type of our answer; 0: none yet */
	uint32_t noops_held;		       /* receives that hold a NOOP */
	/* Unanswered requests and PUT_ACKs: peer_*: received from the peer; our_*: sent by this end. */
	uint32_t peer_puts, peer_gets, peer_acks, our_puts, our_gets, our_acks;
	uint64_t now_ms, last_post_ms;
	bool closed;
};

enum o2_flow_verdict {
	O2_FLOW_TAKEN,	    /* the connection stays open, or was closed before */
	O2_FLOW_CLOSES,	    /* the event, or the received message, closes the connection */
	O2_FLOW_UNPAID,	    /* closes it too: the peer had no credit or no reservation for its message */
	O2_FLOW_IMPOSSIBLE, /* the event cannot happen in this state; no question contains it */
};

/* The lowest high-water mark of any setting: (depth - 1) / 2, at least 1 (docs/transport.md, "Tunables"). */
uint32_t o2_flow_least_mark(uint32_t depth);

void o2_flow_begin(struct o2_flow_end *end, const struct o2_case_flow *asked);

/* Apply the event. */
enum o2_flow_verdict o2_flow_take(struct o2_flow_end *end, uint32_t event);

/* The number of waiting messages. */
uint32_t o2_flow_waiting(const struct o2_flow_end *end);

/* Whether a NOOP is due.  may_wait: even if the peer may still hold the last two NOOPs that gave credits. */
bool o2_flow_noop_due(const struct o2_flow_end *end, bool may_wait);

/* The QUEUE event of the next message, NOOPs aside.  O2_NO_INDEX: no message waits that has a reservation. */
uint32_t o2_flow_head(struct o2_flow_end *end);

/* The message (type, credits and of) that must be sent now; false: none can be sent. */
bool o2_flow_next(struct o2_flow_end *end, struct o2_impl_flow_message *message);

/* Record that the message was sent: a NOOP, or the message that o2_flow_head names. */
void o2_flow_post(struct o2_flow_end *end, const struct o2_impl_flow_message *message);

/* Check that the question is possible.  Returns 0, or -EINVAL with *error. */
int o2_flow_check(const struct o2_case_flow *asked, struct o2_error *error);

#endif
