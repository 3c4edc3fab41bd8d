/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_RUNG_ENDS_H
#define O2_PROPS_RUNG_ENDS_H

#include "props/world/end_process.h"
#include "props/world/far.h"

/*
 * The two ends of a rung of nodes: both in this process, each in its own process, or one of them on another
 * machine.
 */
struct o2_rung_ends {
	struct o2_rung_nodes_config config;
	char device[2][64];
	struct o2_arena arena[2]; /* of an end on another machine: a copy */
	bool running;		  /* both ends are running */
	uint64_t nid[2];

	struct o2_network *network; /* if the ends are in this process */
	struct o2_end *end[2];
	struct o2_end_process process[2]; /* if the ends are in other processes */
	struct o2_far *far;		  /* NULL: no end is on another machine */
	/* Of the end on another machine: failed starts, and answers that did not come in time. */
	uint32_t waits;
};

/* Allocate what is possible before the ends start.  0 or -errno; call o2_rung_ends_close in either case. */
int o2_rung_ends_open(struct o2_rung_ends *ends, const struct o2_rung_nodes_config *config,
		      struct o2_error *error);
void o2_rung_ends_close(struct o2_rung_ends *ends);

/* Start both ends, which must not be running: 0 with ->nid, or -errno and no end running. */
int o2_rung_ends_start(struct o2_rung_ends *ends, struct o2_error *error);

/* Ask one end.  If the answer's code is -EPIPE, that end is lost, and both have been stopped. */
void o2_rung_ends_ask(struct o2_rung_ends *ends, enum o2_side side, const struct o2_end_question *question,
		      struct o2_end_answer *answer);

/*
 * True if the end on another machine failed this often to start or to answer in time.  Each attempt may cost
 * the full timeout, so nothing more is tried.
 */
#define O2_RUNG_ENDS_WAITS 3u
bool o2_rung_ends_given_up(const struct o2_rung_ends *ends);

/* For an end on another machine: set the images of its memory; fetch its memory.  Other ends need neither. */
void o2_rung_ends_images(struct o2_rung_ends *ends, struct o2_image *const image[2]);
int o2_rung_ends_fetch(struct o2_rung_ends *ends, struct o2_error *error);

/* Make a running end in another process close everything and exit.  0, or -EPIPE: it ended otherwise. */
int o2_rung_ends_quit(struct o2_rung_ends *ends, enum o2_side side, struct o2_end_farewell *farewell,
		      struct o2_error *error);

#endif
