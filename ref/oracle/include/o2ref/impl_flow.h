/* SPDX-License-Identifier: MIT */
#ifndef O2REF_IMPL_FLOW_H
#define O2REF_IMPL_FLOW_H

#include "impl_base.h"

/*
 * The question and the answer of stage flow (version 2): what one end of an established connection sends
 * after each event (docs/transport.md, "Flow control").  Include o2ref/impl.h.
 *
 * A question is a whole sequence of events; the answer has one step for each event.  Each question starts
 * from the same state at time 0: all credits and reservations are available, no credits are owed to the
 * peer, no message is queued, and no message has been sent.
 */

#define O2_IMPL_FLOW_EVENTS   64u
#define O2_IMPL_FLOW_DEPTH    16u			/* maximum queue depth */
#define O2_IMPL_FLOW_MESSAGES (O2_IMPL_FLOW_DEPTH + 2u) /* maximum number of messages sent after one event */

enum o2_impl_flow_event_kind {
	O2_IMPL_FLOW_QUEUE = 0,	  /* a message of `type` is to be sent */
	O2_IMPL_FLOW_SENT = 1,	  /* the oldest message in flight has completed */
	O2_IMPL_FLOW_RECEIVE = 2, /* a message of `type` has arrived and returns `credits` */
	O2_IMPL_FLOW_REPOST = 3,  /* the oldest receive buffer that holds a message is posted again */
	O2_IMPL_FLOW_TICK = 4,	  /* `ms` milliseconds pass */
	O2_IMPL_FLOW_FAIL = 5,	  /* a work request has completed with an error */
};

struct o2_impl_flow_event {
	uint32_t kind;	  /* enum o2_impl_flow_event_kind */
	uint32_t type;	  /* QUEUE, RECEIVE: ibm_type, e.g. 0xd1 for an IMMEDIATE */
	uint32_t credits; /* RECEIVE: ibm_credits */
	uint32_t ms;	  /* TICK: milliseconds */
};

struct o2_impl_flow_in {
	uint32_t ibm_version;	   /* 0x11, 0x12 */
	uint32_t queue_depth;	   /* as negotiated */
	uint32_t high_water;	   /* number of credits owed to the peer at which a NOOP is due */
	uint32_t concurrent_sends; /* maximum number of messages in flight */
	uint32_t keepalive_ms;	   /* a NOOP is due when nothing was sent for longer than this; 0: never */
	uint32_t count;		   /* of events */
	const struct o2_impl_flow_event *event;
};

struct o2_impl_flow_message {
	uint16_t type;	  /* ibm_type */
	uint16_t credits; /* ibm_credits */
	uint32_t of;	  /* index of the QUEUE event that queued this message; NOOP: 0 */
};

/* The reaction of this end to one event. */
struct o2_impl_flow_step {
	uint32_t closed; /* 0 or 1; 1 from the step of the event that closes the connection on */
	uint32_t queued; /* messages still waiting after the event; 0 if closed */
	uint32_t count;	 /* of messages sent */
	uint32_t reserved;
	struct o2_impl_flow_message message[O2_IMPL_FLOW_MESSAGES]; /* messages sent, in order */
};

/* This stage refuses no question: an event that violates the protocol closes the connection. */
struct o2_impl_flow_out {
	uint32_t count; /* must equal the number of events */
	uint32_t capacity;
	struct o2_impl_flow_step *step;
};

#endif
