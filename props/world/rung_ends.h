/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_RUNG_ENDS_H
#define O2_PROPS_RUNG_ENDS_H

#include "props/world/end_process.h"
#include "props/world/far.h"

/*
 * The two ends of a rung of nodes, wherever they are: both in this process, each in one of its own, or one of them
 * on another machine.
 */
struct o2_rung_ends {
	struct o2_rung_nodes_config config;
	char device[2][64];
	struct o2_arena arena[2]; /* of an end on another machine: a copy of its memory */
	bool running;		  /* both ends are there */
	uint64_t nid[2];

	struct o2_network *network; /* ends in this process */
	struct o2_end *end[2];
	struct o2_end_process process[2]; /* ends in others */
	struct o2_far *far;		  /* NULL: none is on another machine */
	uint32_t waits;			  /* for it that were in vain */
};

/* What can be had before they are started.  0 or -errno; o2_rung_ends_close is called in either case. */
int o2_rung_ends_open(struct o2_rung_ends *ends, const struct o2_rung_nodes_config *config,
		      struct o2_error *error);
void o2_rung_ends_close(struct o2_rung_ends *ends);

/* Start both: 0 with ->nid, or -errno, and then none is there.  They are not running. */
int o2_rung_ends_start(struct o2_rung_ends *ends, struct o2_error *error);

/* Ask one.  An answer of code -EPIPE: it has gone, and then both have. */
void o2_rung_ends_ask(struct o2_rung_ends *ends, enum o2_side side, const struct o2_end_question *question,
		      struct o2_end_answer *answer);

/*
 * An end on another machine was waited for in vain so often that nothing more is tried: it does not start, or
 * says nothing, and each time costs as long as it may take.
 */
#define O2_RUNG_ENDS_WAITS 3u
bool o2_rung_ends_given_up(const struct o2_rung_ends *ends);

/* What the memory must hold, and what it does hold, of an end on another machine; nothing is done for others. */
void o2_rung_ends_images(struct o2_rung_ends *ends, struct o2_image *const image[2]);
int o2_rung_ends_fetch(struct o2_rung_ends *ends, struct o2_error *error);

/* One that is not in this process, and runs, closes everything and ends.  0, or -EPIPE: it ended as it should not. */
int o2_rung_ends_quit(struct o2_rung_ends *ends, enum o2_side side, struct o2_end_farewell *farewell,
		      struct o2_error *error);

#endif
