/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HOSTILE_PROCESS_H
#define O2_PROPS_HOSTILE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "props/hostile/hostile_line.h"

/* A victim in a process of its own (docs/hostile.md, "A victim of its own process"). */

struct o2_victim_options {
	const char *device;
	uint8_t gid_index;
	uint64_t liar_nid;
	const char *mutant; /* NULL: none */
};

/*
 * Run as that process: read orders from standard input until it ends, write answers to standard output (first
 * line: "victim NID").  Returns an exit status: 0, or O2_PROPS_EXIT_CANNOT with a line on standard error.
 */
int o2_victim_process(const struct o2_victim_options *options);

/* Such a process, as its parent sees it. */
struct o2_victim_child {
	pid_t pid; /* 0: none */
	int to, from;
	uint64_t nid; /* from its first line */
	char line[O2_LINE_BYTES];
	size_t length; /* bytes of the next line received so far */
};

/* Start this program again as a victim.  Returns 0 or -errno.  Its complaints go to standard error. */
int o2_victim_child_start(const struct o2_victim_options *options, struct o2_victim_child *child);
/* Send a line and read the answer.  False: the victim is dead, or its answer is late or malformed. */
bool o2_victim_child_ask(struct o2_victim_child *child, const struct o2_victim_line *line,
			 struct o2_victim_answer *answer, uint32_t *work);
/* Let the process end, and wait for it.  how: its end for people: "", or "status 1", "signal 11". */
void o2_victim_child_end(struct o2_victim_child *child, char how[32]);

#endif
