/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_TRANSFER_INTERNAL_H
#define O2_PROPS_TRANSFER_INTERNAL_H

#include "props/transfer/transfer.h"

/* Both lists cut against each other, plus the unused bytes before and after each range in every sink page. */
#define O2_EXPECTS (3u * O2_SCENARIO_EXTENTS)

/* Of the red zones' bytes: what lies around a transfer is the same in each run. */
#define O2_TRANSFER_RED_SEED 1u

/* Memory for one case's lists; about 300 KiB, allocated once. */
struct o2_transfer_scratch {
	struct o2_extent source_all[O2_SCENARIO_EXTENTS]; /* whole vectors */
	struct o2_extent sink_all[O2_SCENARIO_EXTENTS];
	int nsource_all, nsink_all;
	struct o2_extent source[O2_SCENARIO_EXTENTS]; /* the bytes that move */
	struct o2_extent sink[O2_SCENARIO_EXTENTS];
	int nsource, nsink;
	struct o2_extent sorted[O2_SCENARIO_EXTENTS]; /* sink, by page and offset */
	struct o2_expect expect[O2_EXPECTS];
	uint32_t fragment[O2_EXPECTS];	    /* sink fragment of each expect; O2_NO_INDEX outside the buffer */
	uint32_t fragment_byte[O2_EXPECTS]; /* offset of the expect's first byte in that fragment */
	uint32_t nexpect;
	uint32_t sink_page[O2_SCENARIO_PAGES];
	uint32_t nsink_pages;
	uint32_t source_page[O2_SCENARIO_PAGES];
	uint32_t nsource_pages;
	struct o2_origin_range range[O2_SCENARIO_PAGES + 2];
};

/* True if the rung is closed: there is no memory to check. */
static inline bool o2_transfer_is_closed(const struct o2_transfer_run *run)
{
	return run->rung == &run->given_back;
}

/* The page table of the view that a side's IOV points into; NULL for a KIOV. */
const uint32_t *o2_transfer_view_page(const struct o2_transfer_run *run, enum o2_side side);

/* Compute the lists of run->scenario, fill source pages with data and sink pages with poison. */
int o2_transfer_prepare(struct o2_transfer_run *run);

/* Check every byte of the pages in use; moved_bytes: 0 when the transfer was refused. */
void o2_transfer_check_bytes(struct o2_transfer_run *run, uint64_t moved_bytes, struct o2_report *report);

/* Count the current case, which held, with its situations. */
void o2_transfer_count(struct o2_transfer_run *run);

/* Fill the sink's pages with red bytes again. */
void o2_transfer_clean(struct o2_transfer_run *run);

#endif
