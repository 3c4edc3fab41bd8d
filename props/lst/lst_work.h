/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_LST_WORK_H
#define O2_PROPS_LST_WORK_H

#include "props/lst/lst_internal.h"

/*
 * A console that is in no hurry, over a network that loses nothing: what a node does of the tests that it was
 * given, and what it counts, is then known to the last RPC (docs/properties.md, "The lst property").
 */

#define O2_WORK_HALVES	 6u
#define O2_WORK_BATCHES	 4u
#define O2_WORK_UNITS	 128u
#define O2_WORK_DESTS	 2u
#define O2_WORK_UNSERVED 32u

/* A half of a test, as it was asked for. */
struct o2_work_half {
	uint32_t batch; /* from 1 */
	struct o2_lst_test_reqst asked;
	bool there; /* it was added */
	bool is_client, is_brw, is_read;
	uint32_t length_bytes, offset, check;
	bool absent
		[O2_WORK_DESTS]; /* nobody is at that destination, or the node itself, which is no peer of its own */
	bool fails;		 /* each of its RPCs does */
	uint32_t active;	 /* units */
	bool stopped;
};

/* A unit that waits, or does an RPC. */
struct o2_work_unit {
	struct o2_work_half *half;
	bool absent, trying;
	bool ended;
};

/* A write of the console's. */
struct o2_work_write {
	uint32_t len, at;
	uint64_t got;
	bool found; /* a word of it is wrong, and looked at */
};

/* The account: what the node has to have done. */
struct o2_work {
	struct o2_lst_case *the;
	struct o2_lst_node_config config;
	bool flips;
	enum o2_byte_order order; /* of the other node */
	uint32_t features;
	uint32_t nhalves, nadded, nunits;
	struct o2_work_half half[O2_WORK_HALVES];
	bool made[O2_WORK_BATCHES + 1]; /* a batch is there */
	uint32_t nbatches;
	uint32_t nqueue;
	struct o2_work_unit queue[O2_WORK_UNITS];
	uint32_t calls, pages; /* of units at work */
	uint32_t most;	       /* calls under way at a time when the node heard something */
	bool forced;	       /* some were, in the middle of an RPC */
	bool kept;	       /* and pages of the other node wait for what one of these was to write */
	uint32_t nth;	       /* of the allocations that come now, the one that fails; 0: none does */
	/* Counts. */
	uint64_t tries, failed, pings, reads, writes, bytes, wrong;
	uint64_t brw_errors, ping_errors, fetched_bytes, requests, refused;
	struct o2_lst_lnet_counters lnet;
	/* The console's own writes. */
	uint64_t written, wrong_written, written_bytes;
	/* Reads and writes that have come to the other node and of which nothing is moved yet, in their order. */
	uint32_t nunserved;
	uint64_t unserved[O2_WORK_UNSERVED];
	struct o2_lst_bulk held; /* pages of the other node that somebody else has */
};

/* What a TEST is answered with; the half is there from now on if that is 0. */
uint32_t o2_work_add(struct o2_work *work, struct o2_work_half *half);
/* False: without that allocation it is not answered at all. */
bool o2_work_answers(const struct o2_work *work, const struct o2_work_half *half);
/* RUN, STOP, and QUERY of the half that was added as the index-th, 0: of the batch; *active is what it tells. */
uint32_t o2_work_run(struct o2_work *work, uint32_t batch);
uint32_t o2_work_stop(struct o2_work *work, uint32_t batch, bool force);
/* Has the batch a unit that writes just now? */
bool o2_work_writes(const struct o2_work *work, uint32_t batch);
uint32_t o2_work_query(struct o2_work *work, uint32_t batch, uint32_t index, uint32_t *active);
/* All that is under way comes to its end. */
void o2_work_finish(struct o2_work *work);
/* A letter arrives, of either side. */
void o2_work_letter(struct o2_work *work, const struct o2_letter *letter);

/* lst_work_bulk.c */
void o2_work_draw_bulk(struct o2_work *work, struct o2_work_half *half);
bool o2_work_has_large(const struct o2_work *work);
/* A letter arrives, of either side: reads and writes are served in their order. */
void o2_work_check_order(struct o2_work *work, const struct o2_letter *letter);
/* Somebody else may have nearly all pages of the other node, as long as held is not given back. */
void o2_work_draw_scarce(struct o2_work *work);
static inline bool o2_work_is_scarce(const struct o2_work *work)
{
	return work->held.count > 0;
}
/* What the console asks for next, with the bytes of it; and what was told of it, where nwrong were before. */
struct o2_lst_msg o2_work_lay_write(struct o2_work *work, uint8_t *bytes, struct o2_work_write *write);
void o2_work_check_write(struct o2_work *work, const struct o2_work_write *write, uint32_t nwrong);

/* lst_work_count.c */
void o2_work_count_wrong(struct o2_work *work, const char *what, uint64_t found, uint64_t expected);
/* The answer to STAT, with what LNet had counted when it was asked for, and the reports of both. */
void o2_work_check_counts(struct o2_work *work, const struct o2_lst_stat_reply *stat,
			  const struct o2_lst_lnet_counters *lnet, uint64_t started_ms);

/* The case.  Returns whether nothing is left. */
bool o2_lst_work_case(struct o2_lst_case *the);

#endif
