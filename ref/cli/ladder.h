/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_LADDER_H
#define O2_CLI_LADDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "cli/judge_report.h"
#include "cli/pcap_walk.h"

/*
 * What the page of a capture holds of its events, in bounded memory: the first ones, and those around
 * findings.  Source: docs/judge.md, "The page".
 *
 * Besides, the last O2_LADDER_RECENT events are at hand, so that what comes before a finding, and what it goes
 * back to, can be kept when it is found.
 */

#define O2_LADDER_RECENT   4096u /* events, over all connections */
#define O2_LADDER_BEFORE   10u	 /* a finding, on its connection */
#define O2_LADDER_AFTER	   5u
#define O2_LADDER_EACH	   4u	 /* findings of one rule that a node has broken towards another */
#define O2_LADDER_FINDINGS 512u	 /* that are shown at their events; further ones are in the report */
#define O2_LADDER_FIRST	   1000u /* the first events, unless the caller wants another number */

struct o2_ladder_conn;
struct o2_ladder_bar;

struct o2_ladder_event {
	TAILQ_ENTRY(o2_ladder_event) of_conn, recent;
	struct o2_ladder_conn *conn;
	bool kept;	/* else it is among the recent ones */
	uint64_t id;	/* of all events of the capture, from 1 */
	uint64_t place; /* among the events of its connection, from 1 */
	enum o2_judge_event_kind kind;
	enum o2_judge_side from;
	uint64_t number, time_ns;					      /* packet */
	uint32_t least_credits[O2_JUDGE_SIDES], most_credits[O2_JUDGE_SIDES]; /* after it */
	/* Messages: 0 where there is none. */
	uint8_t type;
	uint64_t cookie;      /* that the message is about: of the request, of the sink for a PUT_DONE */
	uint64_t sink_cookie; /* PUT_ACK */
	bool has_desc;
	uint64_t low, high; /* of its descriptor: fragments lie from here to before there */
	/* WRITE; rkey also of a descriptor. */
	uint32_t rkey, announced_bytes;
	uint64_t addr, bytes;	   /* bytes: of messages too */
	struct o2_ladder_bar *bar; /* of a descriptor, once it is drawn; owned */
	size_t raw_bytes;
	uint8_t *raw; /* owned; NULL: none */
};

TAILQ_HEAD(o2_ladder_events, o2_ladder_event);

struct o2_ladder_conn {
	TAILQ_ENTRY(o2_ladder_conn) link;
	LIST_ENTRY(o2_ladder_conn) hashed;
	struct o2_judge_view view; /* when it was heard last */
	enum o2_judge_seen seen;   /* when it was heard first */
	uint32_t keep;		   /* so many events to come are kept */
	uint32_t held, kept;	   /* events; held: the recent ones too */
	struct o2_ladder_events events;
	/* Where packets came from, which queue pair they go to. */
	bool has_addr, has_qp[O2_JUDGE_SIDES];
	struct o2_roce_address addr[O2_JUDGE_SIDES];
	uint32_t qp[O2_JUDGE_SIDES];
};

TAILQ_HEAD(o2_ladder_conns, o2_ladder_conn);

struct o2_ladder_finding {
	struct o2_judge_row row; /* times is 1 */
	uint64_t conn_id;
	bool placed; /* looked for among the events */
	/* NULL: not held. */
	struct o2_ladder_event *event, *earlier;
};

struct o2_ladder {
	struct o2_wire_options wire; /* how messages are decoded */
	uint32_t first;		     /* events that are kept whatever they are */
	bool failed;		     /* memory ran out: something is missing */
	uint64_t heard, kept;	     /* events */
	uint64_t start_ns;	     /* of the first one */
	const struct o2_event *now;  /* that the judge is being told of; NULL: none */
	struct o2_ladder_events recent;
	uint32_t recent_count;
	struct o2_ladder_conns conns; /* those with events that are held, in the order of their first */
	LIST_HEAD(, o2_ladder_conn) * hash;
	uint32_t findings, unplaced;
	struct o2_ladder_finding finding[O2_LADDER_FINDINGS];
};

/* NULL: no memory. */
struct o2_ladder *o2_ladder_new(uint32_t first, const struct o2_wire_options *wire);
void o2_ladder_free(struct o2_ladder *ladder);

/* An o2_judge_listener: context is the ladder, whose member `now` says what is not in the judge's event. */
void o2_ladder_hear(void *context, const struct o2_judge_conn *conn, const struct o2_judge_event *event);
void o2_ladder_find(struct o2_ladder *ladder, const struct o2_judge_finding *finding);
/* The capture has ended: nothing is at hand any more but what is kept. */
void o2_ladder_end(struct o2_ladder *ladder);

/* The event that this one answers, or whose descriptor it writes to; NULL: none that is held. */
struct o2_ladder_event *o2_ladder_cause(const struct o2_ladder_event *event);

#endif
