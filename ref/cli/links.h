/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_LINKS_H
#define O2_CLI_LINKS_H

#include <stdint.h>

#include "cli/pcap_walk.h"
#include "judge/judge.h"

/*
 * Feeds the judge: finds the connection that an event of a capture belongs to, and the side that sent it.
 * Source: docs/judge.md, "Captures".
 *
 * A packet names the queue pair that it goes to, not the one that it comes from.  If the connection's request
 * and reply are seen, both are known; otherwise an acknowledgement shows which queue pair answers which.
 */

/* If there are more at a time, the connection that was quiet for longest is forgotten. */
#define O2_LINKS_MAX 512

struct o2_links;

struct o2_links_totals {
	uint64_t connections; /* connections that were judged */
	uint64_t whole;	      /* those seen from their request on */
	uint64_t one_way;     /* those never seen both ways */
	uint64_t forgotten;
	uint64_t other_protocols;		/* further connections, which were not judged */
	uint64_t messages, writes, write_bytes; /* given to the judge */
};

/* NULL when memory runs out.  The caller keeps the judge, and leaves it to the links to add connections to it. */
struct o2_links *o2_links_new(struct o2_judge *judge);
/* The capture ended with the last event heard: report what silent connections still owe, and free the links. */
void o2_links_free(struct o2_links *links);

/* Tell the judge of an event.  Returns 0 or -ENOMEM. */
int o2_links_hear(struct o2_links *links, const struct o2_event *event);

/* Totals of all connections, including those that are still open. */
struct o2_links_totals o2_links_totals(const struct o2_links *links);

#endif
