/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_LST_WORK_H
#define O2_PROPS_LST_WORK_H

#include "props/lst/lst_internal.h"

/*
 * A console that waits for each answer, and loses none.  Every RPC that a node makes for its tests, and
 * every counter of the node, can then be predicted exactly (docs/properties.md, "The lst property").
 */

#define O2_WORK_HALVES	 6u
#define O2_WORK_BATCHES	 4u
#define O2_WORK_UNITS	 128u
#define O2_WORK_DESTS	 2u
#define O2_WORK_UNSERVED 32u
#define O2_WORK_CALLS	 8u /* most calls of the console in flight: o2_lst_side_config */

/* One half of a test, as requested. */
struct o2_work_half {
	uint32_t batch; /* from 1 */
	struct o2_lst_test_reqst asked;
	bool there; /* the node has added it */
	bool is_client, is_brw, is_read;
	uint32_t length_bytes, offset, check;
	bool absent
		[O2_WORK_DESTS]; /* no node at that destination, or the node itself, not a peer of its own */
	bool fails;		 /* each of its RPCs fails */
	uint32_t active;	 /* number of units at work */
	bool stopped;
};

/* A unit of a test that waits, or has an RPC in flight. */
struct o2_work_unit {
	struct o2_work_half *half;
	bool absent, trying;
	bool ended;
};

/* A bulk write of the console. */
struct o2_work_write {
	uint32_t len, at;
	uint32_t bytes; /* that come */
	uint64_t got;
	bool found; /* a word that is checked is wrong, or fewer bytes come than are announced */
};

/* What the network does to the node's requests of a round. */
enum o2_work_network {
	O2_WORK_SOUND,
	O2_WORK_LOSES, /* all are lost, and the node is told */
	O2_WORK_SHORTENS, /* all bulks of more than a word are shortened by a word, or of more than a page by a page */
};

/* A request and its predicted answer. */
struct o2_work_question {
	struct o2_work *work;
	uint32_t type, status, features, active;
	bool queries, answered;
	bool counts; /* STAT: with this many active batches, and sessions that wait */
	bool fresh;  /* of a session that has run nothing */
	uint32_t zombies;
	struct o2_lst_stat_reply stat; /* the reply to a STAT */
};

/* The model: what the node must have done. */
struct o2_work {
	struct o2_lst_case *the;
	struct o2_lst_node_config config;
	bool flips;
	enum o2_byte_order order; /* byte order of the other node */
	uint32_t features;
	uint32_t nhalves, nadded, nunits;
	struct o2_work_half half[O2_WORK_HALVES];
	bool made[O2_WORK_BATCHES + 1]; /* the batch exists */
	uint32_t nbatches;
	uint32_t nqueue;
	struct o2_work_unit queue[O2_WORK_UNITS];
	uint32_t calls, pages; /* calls and pages in use by units at work */
	uint32_t most;	       /* most calls in flight at a time when a message reached the node */
	bool forced;	       /* some units were stopped in the middle of an RPC */
	bool kept;	       /* and their writes still hold pages of the other node */
	enum o2_work_network network;
	uint32_t nth; /* the next allocations: the nth fails; 0: none */
	/* Counts. */
	uint64_t tries, failed, pings, reads, writes, bytes, wrong;
	uint64_t brw_errors, ping_errors, fetched_bytes, requests, refused;
	struct o2_lst_lnet_counters lnet;
	uint64_t lost; /* requests of the node */
	uint64_t next_ping,
		not_pinged; /* number of the next ping; pings that may have had one and were not sent */
	/* The same of the ids of replies and bulks: the node's next one; those that RPCs not sent may have had. */
	uint64_t next_id, ids_unsent;
	/* Counts of the console's own writes. */
	uint64_t written, wrong_written, checked, written_bytes;
	uint32_t withheld; /* bytes of the present one that do not come */
	/* Reads and writes that reached the other node and whose data has not moved yet, in order. */
	uint32_t nunserved;
	uint64_t unserved[O2_WORK_UNSERVED];
	struct o2_lst_bulk held; /* pages of the other node that a third party occupies */
	uint32_t nquestions;
	struct o2_work_question question[O2_WORK_CALLS];
};

/* Predict the status of a TEST; if 0, the half exists from now on. */
uint32_t o2_work_add(struct o2_work *work, struct o2_work_half *half);
/* The id after `id`, and after as many more as `skipped`: 0 is none. */
uint64_t o2_work_id_after(uint64_t id, uint64_t skipped);
/* False: the TEST is not answered, because the failing allocation is the one it needs for that. */
bool o2_work_answers(const struct o2_work *work, const struct o2_work_half *half);
/* Predict RUN, STOP and QUERY of the index-th half added (0: of the batch); *active: the count QUERY returns. */
uint32_t o2_work_run(struct o2_work *work, uint32_t batch);
uint32_t o2_work_stop(struct o2_work *work, uint32_t batch, bool force);
/* By how many bytes the network shortens a read or write of this length now. */
uint32_t o2_work_shortens(const struct o2_work *work, uint32_t length_bytes);
/* True if a unit of the batch has a write in flight. */
bool o2_work_writes(const struct o2_work *work, uint32_t batch);
uint32_t o2_work_query(struct o2_work *work, uint32_t batch, uint32_t index, uint32_t *active);
/* Everything in flight comes to its end. */
void o2_work_finish(struct o2_work *work);
/* A letter of either side arrives. */
void o2_work_letter(struct o2_work *work, const struct o2_letter *letter);

/* lst_work_ask.c */
/* Start a request, which is sent when A's letters are delivered.  Returns where its answer will be. */
struct o2_work_question *o2_work_ask(struct o2_work *work, struct o2_lst_msg msg, uint32_t status);
void o2_work_deliver_ours(struct o2_work *work);
/* Deliver all letters, in any order of the sides; all requests are answered then. */
void o2_work_deliver_all(struct o2_work *work);
/* Draw which of the next allocations fails; 0: none. */
uint32_t o2_work_draw_nth(struct o2_work *work);
/* Deliver the request and its answer while the nth allocation fails. */
void o2_work_deliver_without(struct o2_work *work, uint32_t nth);

/* lst_work_bulk.c */
void o2_work_draw_bulk(struct o2_work *work, struct o2_work_half *half);
bool o2_work_has_large(const struct o2_work *work);
/* A letter of either side arrives: check that reads and writes are served in order. */
void o2_work_check_order(struct o2_work *work, const struct o2_letter *letter);
/* Perhaps let a third party occupy nearly all pages of the other node, until `held` is given back. */
void o2_work_draw_scarce(struct o2_work *work);
static inline bool o2_work_is_scarce(const struct o2_work *work)
{
	return work->held.count > 0;
}
/* Draw the console's next write and its bytes; check the report of it.  nwrong: number of reports before. */
struct o2_lst_msg o2_work_lay_write(struct o2_work *work, uint8_t *bytes, struct o2_work_write *write);
void o2_work_check_write(struct o2_work *work, const struct o2_work_write *write, uint32_t nwrong);

/* lst_work_count.c */
void o2_work_count_wrong(struct o2_work *work, const char *what, uint64_t found, uint64_t expected);
/* Check the answer to STAT, against LNet's counters at its request, and the reports of both sides. */
void o2_work_check_counts(struct o2_work *work, const struct o2_lst_stat_reply *stat,
			  const struct o2_lst_lnet_counters *lnet, uint64_t started_ms);

/* Run the case.  Returns 0, or -errno if the nodes cannot be made. */
int o2_lst_work_case(struct o2_lst_case *the);

#endif
