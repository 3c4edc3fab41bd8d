/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_FAR_H
#define O2_PROPS_FAR_H

#include <sys/types.h>

#include "props/world/end_life.h"
#include "props/world/far_memory.h"
#include "props/world/far_talk.h"
#include "props/world/far_words.h"

/*
 * An end on another machine: the same program with its own device, started by a command that the user gives ("ssh
 * node2").  It gets the questions of any end (props/world/end.h) over its standard streams; no memory is shared
 * (docs/properties.md, "Two machines").
 *
 * If the far end is lost, the answer has code -EPIPE: "far/exited" and "far/killed" with the status or the signal
 * of the command's process, "far/closed", "far/silent", "far/garbage".  The command's process is then gone.
 */
struct o2_far_config {
	const char *words;	 /* command for sh, which appends ->argv */
	const char *const *argv; /* the program on the other machine and its arguments; NULL-terminated */
	enum o2_side side;
	uint32_t timeout_ms; /* time limit of the start and of each answer */
	struct o2_far_identity identity;
};

struct o2_far {
	const struct o2_far_config *config; /* outlives this struct */
	pid_t pid;			    /* command's process, a group leader; 0: none */
	uint64_t nid;
	uint64_t number; /* number of questions so far */
	struct o2_far_talk talk;
	struct o2_far_copy copy; /* the caller sets ->image before the first BEGIN */
};

/*
 * Start the far end and check that it is the same program, before anything else happens on either side.  Returns 0;
 * -ENOTCONN, -ETIMEDOUT (it cannot be started, ended, or said nothing), -EBADMSG (it said something else), -EPROTO
 * (another program); -errno of fork(2) and the like.  After an error there is no process.
 */
int o2_far_start(struct o2_far *far, const struct o2_far_config *config, struct o2_error *error);

/* Call next: wait until it has opened its device.  Returns 0 with ->nid, or -errno of o2_end_open, or as above. */
int o2_far_opened(struct o2_far *far, struct o2_error *error);

/*
 * Ask, and wait for the answer.  BEGIN fills the far memory as the copy's image says; the answer to REST
 * brings those pages of the scenario that no longer match the image into the copy.
 */
void o2_far_ask(struct o2_far *far, const struct o2_end_question *question, struct o2_end_answer *answer);

/* Bring all pages that do not match the image into the copy, between scenarios.  0, or -EPIPE: the end is lost. */
int o2_far_fetch(struct o2_far *far, struct o2_error *error);

/* Make it close everything and exit.  Returns 0, or -EPIPE if it ended in another way. */
int o2_far_quit(struct o2_far *far, struct o2_end_farewell *farewell, struct o2_error *error);

/* Kill the command's process, if there is one. */
void o2_far_kill(struct o2_far *far);

/* The longest that the far end waits for a question before it considers the near end gone. */
#define O2_FAR_DESERTED_MS 600000u

struct o2_far_served {
	int in, out; /* closed at the end */
	struct o2_far_identity identity;
	struct o2_end_config end; /* without its arena */
	o2_network_open_fn open_network;
	uint64_t deserted_ms;
};

/*
 * Run the far end until the near end says so or is gone.  Returns 0, also when the device could not be opened
 * and the near end was told; or -errno with *error for a line on standard error.
 */
int o2_far_serve(const struct o2_far_served *served, struct o2_error *error);

#endif
