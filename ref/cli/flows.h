/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_FLOWS_H
#define O2_CLI_FLOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/roce.h"
#include "wire/msg.h"

/*
 * A flow is one direction of a connection: who sends to which queue pair, which packet is expected next, and
 * the message that is being reassembled.
 */

/*
 * More than the largest message, so that a longer one is noticed.  Bytes beyond this are counted, not kept.
 */
#define O2_FLOW_KEPT_BYTES 8192u
/* If there are more, the flow that was quiet for longest is forgotten: memory is bounded for any file. */
#define O2_FLOWS_MAX 1024

/* A retransmission is at most this far behind; a first packet further behind begins a new sequence. */
#define O2_FLOW_REPEAT_MAX 0x10000u

struct o2_flow {
	bool used;
	struct o2_roce_address src, dst;
	uint32_t dest_qp;
	uint64_t last_use;
	uint64_t new_ns; /* when its last packet that was not repeated came; 0: not known */
	bool known;	 /* whether next_psn is known */
	bool far;	 /* .. or only that no packet before it is new */
	uint32_t next_psn;
	bool has_gap;			/* packets are missing, and may come again */
	uint32_t gap_psn, last_gap_psn; /* the first ones of the first gap and of the last one */
	/* The sender has gone back: it repeats what it sent before, up to the packet before new_psn. */
	bool again;
	uint32_t new_psn;
	/* The message that is being reassembled. */
	bool open;
	bool cut;	/* not all of its payload was captured */
	bool suspended; /* it goes on when packet resume_psn comes; else it stays incomplete */
	uint32_t resume_psn;
	enum o2_roce_kind kind; /* SEND or WRITE */
	uint32_t packets;
	uint64_t bytes;
	uint64_t va;
	uint32_t rkey, dma_bytes;
	size_t kept_bytes, kept_room;
	uint8_t *kept; /* owned, kept_room bytes, at most O2_FLOW_KEPT_BYTES; NULL until needed */
};

/* A queue pair's part in the setup of a connection, as a request or a reply of the connection manager names it. */
struct o2_flow_setup {
	struct o2_roce_address addr;
	uint32_t qp, cm_id, psn;
};

/*
 * The arrays grow as items are added: most captures have few flows, and a fuzzer's captures are many and
 * short.  An all-zero struct is empty.
 */
struct o2_flows {
	uint64_t clock;
	size_t count, room;
	struct o2_flow *flow; /* `count` flows, each in use */
	/* The latest setup of each queue pair.  nsetups: how many have been added; the oldest make room. */
	uint64_t nsetups;
	size_t setup_room;
	struct o2_flow_setup *setup;
};

/* Free what the flows hold; *flows is empty then. */
void o2_flows_end(struct o2_flows *flows);

/*
 * The flow that the packet belongs to; a new one is made if there is none.  NULL when memory runs out.  The
 * pointer is valid until the next call.  *lost: a copy, without the kept bytes, of the flow that was
 * forgotten to make room; lost->used is false if no flow was forgotten.
 */
struct o2_flow *o2_flows_of(struct o2_flows *flows, const struct o2_roce_packet *packet,
			    struct o2_flow *lost);

/*
 * The queue pair begins a new connection: forget the state of all flows to it.  A repetition of the same setup
 * changes nothing.  False: no memory; nothing has changed.
 */
bool o2_flows_setup(struct o2_flows *flows, const struct o2_flow_setup *setup);

enum o2_flow_order {
	O2_FLOW_NEXT,
	O2_FLOW_BACK,	  /* the first of the missing packets; the sender repeats those after it */
	O2_FLOW_REPEATED, /* the packet was seen before */
	O2_FLOW_GAP,	  /* packets before it are missing; an open message is suspended */
	O2_FLOW_ANEW,	  /* it is not known whether packets before it are missing */
	O2_FLOW_RESUMED,  /* the first new packet after those that the sender has repeated */
};

/* Where a request packet stands in its flow.  Unless it is repeated, the flow then expects the packet after it. */
enum o2_flow_order o2_flow_advance(struct o2_flow *flow, const struct o2_roce_packet *packet);

/* Begin a message with its first packet; a message that was open is dropped. */
void o2_flow_open(struct o2_flow *flow, const struct o2_roce_packet *packet);
/* Add the packet's payload to the open message.  Returns false when memory runs out. */
bool o2_flow_add(struct o2_flow *flow, const struct o2_roce_packet *packet);

/*
 * o2_msg_decode for a message of `bytes` bytes, of which the first kept_bytes are kept: all, or more than the largest
 * message has.  What the message says of its length is compared with all that came.
 */
int o2_flow_decode(const uint8_t *kept, size_t kept_bytes, uint64_t bytes,
		   const struct o2_wire_options *options, struct o2_msg *msg, struct o2_error *error);

#endif
