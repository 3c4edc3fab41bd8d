/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_TOLD_PAGE_H
#define O2_PROPS_TOLD_PAGE_H

#include "props/command/told_report.h"

/* Parts of the HTML page for a capture: docs/judge.md, "The page". */

#define O2_PAGE_NONE	    UINT32_MAX
#define O2_PAGE_CONNS	    (O2_TOLD_TWINS + 1)
#define O2_PAGE_SPANS	    32u /* separate ranges kept per descriptor */
#define O2_PAGE_LEAST(a, b) ((a) < (b) ? (a) : (b))

/* The part of a descriptor's memory that was written. */
struct o2_page_sink {
	uint64_t total, filled;
	uint32_t nspans;
	uint64_t from[O2_PAGE_SPANS], to[O2_PAGE_SPANS];
};

struct o2_page {
	FILE *out;
	const struct o2_told_report *report;
	const struct o2_told *told;
	uint32_t steps;
	uint32_t file;			/* index of the capture on the page */
	uint32_t conns, conn;		/* number of conversations; index of the current one */
	uint32_t cause[O2_TOLD_EVENTS]; /* step that is its cause; NONE: none */
	bool kept[O2_PAGE_CONNS][O2_TOLD_EVENTS];
	bool placed[O2_PAGE_CONNS][O2_HEARING_LOG]; /* findings shown at their events */
	/* The same, in the order in which they were found. */
	uint32_t nshown;
	struct {
		uint32_t found, conn;
	} shown[O2_PAGE_CONNS * O2_HEARING_LOG];
	struct o2_page_sink sink[O2_TOLD_EVENTS];
	uint32_t gap; /* step behind the last gap; NONE: no gap */
};

static inline const struct o2_told_step *o2_page_step(const struct o2_page *page, uint32_t i)
{
	return &page->told->step[i];
}

/* The id of a step on the page.  A step has one id per conversation, in their order. */
static inline uint64_t o2_page_id(const struct o2_page *page, uint32_t i)
{
	return (uint64_t)i * page->conns + page->conn + 1;
}

/* The packet of the current conversation that corresponds to a packet of the first. */
static inline uint64_t o2_page_packet(const struct o2_page *page, uint64_t first)
{
	return first + page->conn;
}

/* The descriptor of a message; NULL: it has none. */
const struct o2_rdma_desc *o2_page_desc(const struct o2_page *page, uint32_t i);
/* The step that belongs to a packet of the first conversation. */
uint32_t o2_page_at(const struct o2_page *page, uint64_t packet);
/* The step of a finding.  A loss is an event of each side; take the step of the side that is blamed. */
uint32_t o2_page_of(const struct o2_page *page, const struct o2_told_found *found);
/* The severest finding shown at a step; O2_JUDGE_SEVERITIES: none. */
int o2_page_severest(const struct o2_page *page, uint32_t at);

/* Write a line of the ladder, with the details below it. */
void o2_page_row(struct o2_page *page, uint32_t at);

/* Write the bar of step `at` for the descriptor of step `of` (perhaps `at` itself), and the text before the bar. */
void o2_page_bar_text(const struct o2_page *page, uint32_t at, uint32_t of);
void o2_page_bar(struct o2_page *page, uint32_t at, uint32_t of);

#endif
