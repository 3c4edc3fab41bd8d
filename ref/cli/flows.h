/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_FLOWS_H
#define O2_CLI_FLOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/roce.h"

/*
 * One direction of a connection each: who sends to which queue pair, which packet comes next, and the message
 * that is being put together.
 */

/*
 * More than the largest message, so that one that is too long is still seen to be; the rest is counted only.
 */
#define O2_FLOW_KEPT_BYTES 8192u
/* When there are more, the one that was quiet for longest is forgotten: memory is bounded for any file. */
#define O2_FLOWS_MAX 1024

struct o2_flow {
	bool used;
	struct o2_roce_address src, dst;
	uint32_t dest_qp;
	uint64_t last_use;
	uint64_t new_ns; /* when its last packet came that was not repeated; 0: not known */
	bool known;	 /* next_psn is */
	uint32_t next_psn;
	bool has_gap; /* packets are missing from gap_psn on: they may come again */
	uint32_t gap_psn;
	/* The message at work. */
	bool open;
	bool cut;		/* not all of its payload was captured */
	bool suspended;		/* it goes on where the gap began, or not at all */
	enum o2_roce_kind kind; /* SEND or WRITE */
	uint32_t packets;
	uint64_t bytes;
	uint64_t va;
	uint32_t rkey, dma_bytes;
	size_t kept_bytes, kept_room;
	uint8_t *kept; /* kept_room bytes, owned: at most O2_FLOW_KEPT_BYTES, NULL until needed */
};

/*
 * Room for them grows as they come: most captures hold a few, and those of a fuzzer are many and short.  All
 * zero is empty.
 */
struct o2_flows {
	uint64_t clock;
	size_t count, room;
	struct o2_flow *flow; /* `count` of them, each in use */
};

/* What they hold goes back to the process; they are empty again. */
void o2_flows_end(struct o2_flows *flows);

/*
 * The flow that the packet belongs to, a new one if need be; NULL when memory runs out.  It may lie elsewhere
 * after the next call.  *lost: a copy of the flow that was forgotten to make room, without the kept bytes;
 * lost->used is false if there was room.
 */
struct o2_flow *o2_flows_of(struct o2_flows *flows, const struct o2_roce_packet *packet,
			    struct o2_flow *lost);

/* A queue pair begins a new life: what was sent to it before means nothing now. */
void o2_flows_forget(struct o2_flows *flows, const struct o2_roce_address *dst, uint32_t dest_qp);

enum o2_flow_order {
	O2_FLOW_NEXT,
	O2_FLOW_BACK,	  /* the first of those that were missing; then those behind it come again */
	O2_FLOW_REPEATED, /* seen before */
	O2_FLOW_GAP,	  /* packets before it are missing; an open message is suspended */
};

/* Where a request packet stands in its flow, which then expects the one after it. */
enum o2_flow_order o2_flow_advance(struct o2_flow *flow, const struct o2_roce_packet *packet);

/* Begin the message whose first packet this is; one that was open is dropped. */
void o2_flow_open(struct o2_flow *flow, const struct o2_roce_packet *packet);
/* Add the packet's payload.  Returns false when memory runs out. */
bool o2_flow_add(struct o2_flow *flow, const struct o2_roce_packet *packet);

#endif
