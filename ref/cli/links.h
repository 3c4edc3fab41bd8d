/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_LINKS_H
#define O2_CLI_LINKS_H

#include <stdint.h>

#include "cli/pcap_walk.h"
#include "judge/judge.h"

/*
 * Which connection an event of a capture is of, and on which side: what the judge is fed with.
 * Source: docs/judge.md, "Captures".
 *
 * A packet says which queue pair it goes to, not which one it comes from.  A connection whose request and
 * reply are seen has both; for others an acknowledgement shows which queue pair answers which.
 */

/* More than this at a time, and the connection that was quiet for longest is forgotten. */
#define O2_LINKS_MAX 512

struct o2_links;

struct o2_links_totals {
	uint64_t connections; /* that were judged */
	uint64_t whole;	      /* of these, seen from their request on */
	uint64_t one_way;     /* of these, never seen both ways */
	uint64_t forgotten;
	uint64_t other_protocols;		/* further connections, not judged */
	uint64_t messages, writes, write_bytes; /* that the judge heard */
};

/* NULL when memory runs out.  Does not own the judge, whose connections are all made here. */
struct o2_links *o2_links_new(struct o2_judge *judge);
/* The capture is over, with the last event that was heard: what connections that fell silent owe is told now. */
void o2_links_free(struct o2_links *links);

/* Tell the judge.  Returns 0 or -ENOMEM. */
int o2_links_hear(struct o2_links *links, const struct o2_event *event);

/* Of all connections, those that are still open included. */
struct o2_links_totals o2_links_totals(const struct o2_links *links);

#endif
