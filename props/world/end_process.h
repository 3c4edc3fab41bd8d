/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_END_PROCESS_H
#define O2_PROPS_END_PROCESS_H

#include <sys/types.h>

#include "props/world/end_life.h"

/*
 * An end in its own process, which opens the device.  Questions and answers travel over a socket.  The
 * process that asks must not open a device before; both processes share the memory of config->arena.
 *
 * If the process ends by itself, or does not answer in time and is killed, the question fails with
 * "process/exited" or "process/killed" with its status or signal, or "process/silent".
 */
struct o2_end_process {
	pid_t pid; /* 0: no process */
	int fd;
	enum o2_side side;
	uint64_t nid;
	int answer_ms; /* time limit of an answer, initially O2_END_ANSWER_MS */
};

/* Twice the time of the longest question, a WAIT, which times out itself. */
#define O2_END_ANSWER_MS 40000

/*
 * Start a process.  Returns 0 with ->nid, or -errno of fork(2) and the like, or of o2_end_open; after an
 * error there is no process.
 */
int o2_end_process_start(const struct o2_end_config *config, o2_network_open_fn open_network,
			 struct o2_end_process *process, struct o2_error *error);

/* Ask, and wait for the answer.  If the process has ended, answer->code is -EPIPE and ->pid is 0. */
void o2_end_process_ask(struct o2_end_process *process, const struct o2_end_question *question,
			struct o2_end_answer *answer);

/* Make the process close everything and exit.  Returns 0, or -EPIPE if it ended in another way. */
int o2_end_process_quit(struct o2_end_process *process, struct o2_end_farewell *farewell,
			struct o2_error *error);

/* Kill the process, if there is one. */
void o2_end_process_kill(struct o2_end_process *process);

#endif
