/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_LADDER_H
#define O2_CLI_LADDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "cli/judge_report.h"
#include "cli/pcap_walk.h"

/*
 * The events of a capture that its page shows, in bounded memory: the first ones, and those around findings.
 * Source: docs/judge.md, "The page".
 *
 * The last O2_LADDER_RECENT events are held as well, so that those before a finding, and the one that it
 * refers back to, can be kept when the finding is reported.
 */

#define O2_LADDER_RECENT   4096u /* recent events that are held, over all connections */
#define O2_LADDER_BEFORE   10u	 /* events kept before a finding, on its connection */
#define O2_LADDER_AFTER	   5u
#define O2_LADDER_EACH	   4u	 /* findings shown of one rule that one node has broken towards another */
#define O2_LADDER_FINDINGS 512u	 /* findings shown at their events; further ones are only in the report */
#define O2_LADDER_FIRST	   1000u /* the first events, unless the caller wants another number */

struct o2_ladder_conn;
struct o2_ladder_bar;

struct o2_ladder_event {
	TAILQ_ENTRY(o2_ladder_event) of_conn, recent;
	struct o2_ladder_conn *conn;
	bool kept;	/* false: it is one of the recent events, and may be dropped */
	uint64_t id;	/* its number among all events of the capture, from 1 */
	uint64_t place; /* its number among the events of its connection, from 1 */
	enum o2_judge_event_kind kind;
	enum o2_judge_side from;
	uint64_t number, time_ns;					      /* of the packet */
	uint32_t least_credits[O2_JUDGE_SIDES], most_credits[O2_JUDGE_SIDES]; /* after the event */
	/* Of messages; else 0. */
	uint8_t type;
	uint64_t cookie;      /* of the request; of a PUT_DONE: the sink's */
	uint64_t sink_cookie; /* of a PUT_ACK */
	bool has_desc;
	uint64_t low, high; /* its descriptor's fragments lie in [low, high) */
	/* Of WRITEs; rkey also of a descriptor. */
	uint32_t rkey, announced_bytes;
	uint64_t addr, bytes;	   /* bytes: also of a message */
	struct o2_ladder_bar *bar; /* of its descriptor, once it is drawn; owned */
	size_t raw_bytes;
	uint8_t *raw; /* the bytes to decode, owned; NULL: none */
};

TAILQ_HEAD(o2_ladder_events, o2_ladder_event);

struct o2_ladder_conn {
	TAILQ_ENTRY(o2_ladder_conn) link;
	LIST_ENTRY(o2_ladder_conn) hashed;
	struct o2_judge_view view; /* as of its last event */
	enum o2_judge_seen seen;   /* as of the first event that was heard since it has held events */
	bool later;		   /* that was not the connection's first one */
	uint32_t keep;		   /* how many of the next events to keep */
	uint32_t held, kept;	   /* numbers of events; held: recent ones included */
	struct o2_ladder_events events;
	/* Each side's address, and the queue pair that packets to it name. */
	bool has_addr, has_qp[O2_JUDGE_SIDES];
	struct o2_roce_address addr[O2_JUDGE_SIDES];
	uint32_t qp[O2_JUDGE_SIDES];
};

TAILQ_HEAD(o2_ladder_conns, o2_ladder_conn);

struct o2_ladder_finding {
	struct o2_judge_row row; /* its `times` is 1 */
	uint64_t conn_id;
	enum o2_judge_side who; /* the side that broke the rule */
	bool placed;		/* its events have been looked for */
	/* NULL: the event is not held. */
	struct o2_ladder_event *event, *earlier;
};

struct o2_ladder {
	struct o2_wire_options wire; /* how messages are decoded */
	uint32_t first;		     /* number of first events that are always kept */
	bool failed;		     /* memory ran out: events are missing */
	uint64_t heard, kept;	     /* numbers of events */
	uint64_t start_ns;	     /* time of the first event that has one; 0: none */
	const struct o2_event *now;  /* the event that the judge is being told of; NULL: none */
	struct o2_ladder_events recent;
	uint32_t recent_count;
	struct o2_ladder_conns conns; /* those with held events, in the order of their first one */
	LIST_HEAD(, o2_ladder_conn) * hash;
	uint32_t findings, unplaced;
	struct o2_ladder_finding finding[O2_LADDER_FINDINGS];
};

/* NULL: no memory. */
struct o2_ladder *o2_ladder_new(uint32_t first, const struct o2_wire_options *wire);
void o2_ladder_free(struct o2_ladder *ladder);

/* An o2_judge_listener.  context: the ladder; its member `now` holds what the judge's event lacks. */
void o2_ladder_hear(void *context, const struct o2_judge_conn *conn, const struct o2_judge_event *event);
void o2_ladder_find(struct o2_ladder *ladder, const struct o2_judge_finding *finding);
/* The capture has ended: drop the events that are not kept. */
void o2_ladder_end(struct o2_ladder *ladder);

/* The earlier event that this one answers, or whose descriptor it writes to; NULL: none is held. */
struct o2_ladder_event *o2_ladder_cause(const struct o2_ladder_event *event);

#endif
