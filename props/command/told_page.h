/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_TOLD_PAGE_H
#define O2_PROPS_TOLD_PAGE_H

#include "props/command/told_report.h"

/* Parts of the page of a capture: docs/judge.md, "The page". */

#define O2_PAGE_NONE	    UINT32_MAX
#define O2_PAGE_CONNS	    (O2_TOLD_TWINS + 1)
#define O2_PAGE_SPANS	    32u /* separate stretches of a descriptor that are remembered */
#define O2_PAGE_LEAST(a, b) ((a) < (b) ? (a) : (b))

/* What was written into a descriptor. */
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
	uint32_t file;			/* number of the capture on the page */
	uint32_t conns, conn;		/* conversations; the number of the one at work */
	uint32_t cause[O2_TOLD_EVENTS]; /* NONE: nothing */
	bool kept[O2_PAGE_CONNS][O2_TOLD_EVENTS];
	bool placed[O2_PAGE_CONNS][O2_HEARING_LOG]; /* findings that stand at their events */
	/* The same, as they were found. */
	uint32_t nshown;
	struct {
		uint32_t found, conn;
	} shown[O2_PAGE_CONNS * O2_HEARING_LOG];
	struct o2_page_sink sink[O2_TOLD_EVENTS];
	uint32_t gap; /* the step behind the last gap; NONE: there was none */
};

static inline const struct o2_told_step *o2_page_step(const struct o2_page *page, uint32_t i)
{
	return &page->told->step[i];
}

/* What a step is called there.  Each step is that of all conversations, in their order. */
static inline uint64_t o2_page_id(const struct o2_page *page, uint32_t i)
{
	return (uint64_t)i * page->conns + page->conn + 1;
}

/* The packet of the conversation at work, in place of one of the first. */
static inline uint64_t o2_page_packet(const struct o2_page *page, uint64_t first)
{
	return first + page->conn;
}

/* Of a message; NULL: none. */
const struct o2_rdma_desc *o2_page_desc(const struct o2_page *page, uint32_t i);
/* The step of a packet of the first conversation. */
uint32_t o2_page_at(const struct o2_page *page, uint64_t packet);
/* The same of what was found: a packet that is missing on either side is an event of each. */
uint32_t o2_page_of(const struct o2_page *page, const struct o2_told_found *found);
/* Of the findings that stand there; O2_JUDGE_SEVERITIES: none does. */
int o2_page_severest(const struct o2_page *page, uint32_t at);

/* A line of the ladder, with all that is under it. */
void o2_page_row(struct o2_page *page, uint32_t at);

/* The bar of a step: of the descriptor of step `of`, which may be its own; and what is said of it before. */
void o2_page_bar_text(const struct o2_page *page, uint32_t at, uint32_t of);
void o2_page_bar(struct o2_page *page, uint32_t at, uint32_t of);

#endif
