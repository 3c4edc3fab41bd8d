/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_FAR_H
#define O2_PROPS_FAR_H

#include <sys/types.h>

#include "props/world/end_life.h"
#include "props/world/far_memory.h"
#include "props/world/far_talk.h"
#include "props/world/far_words.h"

/*
 * An end on another machine: the same program, started through words that the user gives ("ssh node2"), with a
 * device of its own.  It is asked over its standard streams what any end is asked (props/world/end.h), and there
 * is no memory in common (docs/properties.md, "Two machines").
 *
 * Whatever becomes of it is an answer of code -EPIPE: "far/exited" and "far/killed" with the status or the signal
 * of the words' process, "far/closed", "far/silent", "far/garbage".  Then its process has been ended.
 */
struct o2_far_config {
	const char *words;	 /* for sh, which puts ->argv behind them */
	const char *const *argv; /* the program there and its arguments; NULL behind the last */
	enum o2_side side;
	uint32_t timeout_ms; /* the longest that it may take to start, and to answer */
	struct o2_far_identity identity;
};

struct o2_far {
	const struct o2_far_config *config; /* outlives it */
	pid_t pid;			    /* of the words' process, which leads a group; 0: there is none */
	uint64_t nid;
	uint64_t number; /* of questions so far */
	struct o2_far_talk talk;
	struct o2_far_copy copy; /* ->image is the caller's to set before the first BEGIN */
};

/*
 * Start it, and look whether it is the same program: before anything else happens on either side.  Returns 0;
 * -ENOTCONN, -ETIMEDOUT (it cannot be started, ended, said nothing), -EBADMSG (it said something else), -EPROTO
 * (another program); -errno of fork(2) and the like.  There is no process then.
 */
int o2_far_start(struct o2_far *far, const struct o2_far_config *config, struct o2_error *error);

/* Then: how its device was opened.  Returns 0 with ->nid, or -errno of o2_end_open, or as above. */
int o2_far_opened(struct o2_far *far, struct o2_error *error);

/*
 * Ask, and wait for the answer.  With BEGIN its memory becomes what the copy's image says; with the answer to REST
 * the copy gets the pages of the scenario that are not that any more.
 */
void o2_far_ask(struct o2_far *far, const struct o2_end_question *question, struct o2_end_answer *answer);

/* The same for all of the memory, between scenarios.  0, or -EPIPE: it is gone. */
int o2_far_fetch(struct o2_far *far, struct o2_error *error);

/* Have it close everything and end.  Returns 0, or -EPIPE if it ended otherwise, also with a status. */
int o2_far_quit(struct o2_far *far, struct o2_end_farewell *farewell, struct o2_error *error);

/* End it at once, if there is one. */
void o2_far_kill(struct o2_far *far);

/* The longest that the far end waits for a question; then the near end counts as gone. */
#define O2_FAR_DESERTED_MS 600000u

struct o2_far_served {
	int in, out; /* closed when it is over */
	struct o2_far_identity identity;
	struct o2_end_config end; /* but for its arena */
	o2_network_open_fn open_network;
	uint64_t deserted_ms;
};

/*
 * At the far end: be that, until the near end says so, or has gone.  Returns 0, also when the near end was told why
 * the device cannot be opened, or -errno with *error for a line on standard error.
 */
int o2_far_serve(const struct o2_far_served *served, struct o2_error *error);

#endif
