/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_END_PROCESS_H
#define O2_PROPS_END_PROCESS_H

#include <sys/types.h>

#include "props/world/end_life.h"

/*
 * An end in a process of its own, which opens the device.  Questions and answers travel over a socket.  The
 * process that asks may open no device before, and its memory that both look at is that of config->arena.
 *
 * A process that ends by itself, or does not answer in time and is ended, is an error of the question:
 * "process/exited" and "process/killed" with its status or signal, "process/silent".
 */
struct o2_end_process {
	pid_t pid; /* 0: there is none */
	int fd;
	enum o2_side side;
	uint64_t nid;
	int answer_ms; /* the longest that an answer may take, O2_END_ANSWER_MS from the start on */
};

/* Twice as long as the longest question, a wait, which gives up itself. */
#define O2_END_ANSWER_MS 40000

/*
 * Start one.  Returns 0 with ->nid, or -errno: of fork(2) and the like, or what o2_end_open said; there is no
 * process then.
 */
int o2_end_process_start(const struct o2_end_config *config, o2_network_open_fn open_network,
			 struct o2_end_process *process, struct o2_error *error);

/* Ask, and wait for the answer.  When the process has gone answer->code is -EPIPE, and ->pid 0. */
void o2_end_process_ask(struct o2_end_process *process, const struct o2_end_question *question,
			struct o2_end_answer *answer);

/* Have it close everything and end.  Returns 0, or -EPIPE if it ended otherwise, also with a status. */
int o2_end_process_quit(struct o2_end_process *process, struct o2_end_farewell *farewell,
			struct o2_error *error);

/* End it at once, if there is one. */
void o2_end_process_kill(struct o2_end_process *process);

#endif
