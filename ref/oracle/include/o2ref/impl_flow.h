/* SPDX-License-Identifier: MIT */
#ifndef O2REF_IMPL_FLOW_H
#define O2REF_IMPL_FLOW_H

#include "impl_base.h"

/*
 * The question and the answer of stage flow, which came with version 2: one end of a connection that is
 * established, event by event (docs/transport.md, "Flow control").  Include o2ref/impl.h.
 *
 * It is a conversation that is asked at once: all events in, and out what this end does after each of them.
 * The state begins anew with each question: all credits and reservations at hand, nothing owed, nothing
 * queued, and nothing sent at time 0.
 */

#define O2_IMPL_FLOW_EVENTS   64u
#define O2_IMPL_FLOW_DEPTH    16u			/* at most */
#define O2_IMPL_FLOW_MESSAGES (O2_IMPL_FLOW_DEPTH + 2u) /* of one event, at most */

enum o2_impl_flow_event_kind {
	O2_IMPL_FLOW_QUEUE = 0,	  /* a message is to be sent: type */
	O2_IMPL_FLOW_SENT = 1,	  /* of the messages in flight the oldest has completed */
	O2_IMPL_FLOW_RECEIVE = 2, /* a message has arrived: type, credits */
	O2_IMPL_FLOW_REPOST = 3,  /* of the receives that hold a message the oldest is posted again */
	O2_IMPL_FLOW_TICK = 4,	  /* time goes on: ms */
	O2_IMPL_FLOW_FAIL = 5,	  /* a work request has completed with an error */
};

struct o2_impl_flow_event {
	uint32_t kind;	  /* enum o2_impl_flow_event_kind */
	uint32_t type;	  /* queue, receive: ibm_type, 0xd1 for an IMMEDIATE */
	uint32_t credits; /* receive: ibm_credits */
	uint32_t ms;	  /* tick */
};

struct o2_impl_flow_in {
	uint32_t ibm_version;	   /* 0x11, 0x12 */
	uint32_t queue_depth;	   /* as agreed */
	uint32_t high_water;	   /* a NOOP is due when so many receives were posted again and not told of */
	uint32_t concurrent_sends; /* messages in flight, at most */
	uint32_t keepalive_ms;	   /* a NOOP is due when nothing was sent for longer than this; 0: never */
	uint32_t count;
	const struct o2_impl_flow_event *event;
};

struct o2_impl_flow_message {
	uint16_t type;	  /* ibm_type */
	uint16_t credits; /* ibm_credits */
	uint32_t of;	  /* which event has queued it; a NOOP: 0 */
};

/* What one event came to. */
struct o2_impl_flow_step {
	uint32_t closed; /* 1: the connection is closed, from the event on that closes it */
	uint32_t queued; /* messages that wait, after the event; closed: 0 */
	uint32_t count;
	uint32_t reserved;
	struct o2_impl_flow_message message[O2_IMPL_FLOW_MESSAGES]; /* sent, in this order */
};

/* Nothing is refused: what breaks the rules closes the connection. */
struct o2_impl_flow_out {
	uint32_t count; /* as many as there are events */
	uint32_t capacity;
	struct o2_impl_flow_step *step;
};

#endif
