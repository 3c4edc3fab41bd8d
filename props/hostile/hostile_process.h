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
 * Be that process: orders come from standard input until it ends, answers go to standard output; the first
 * line is "victim NID".  Returns an exit status: 0, or O2_PROPS_EXIT_CANNOT with a line on standard error.
 */
int o2_victim_process(const struct o2_victim_options *options);

/* Such a process, from outside. */
struct o2_victim_child {
	pid_t pid; /* 0: none */
	int to, from;
	uint64_t nid; /* as its first line says */
	char line[O2_LINE_BYTES];
	size_t length; /* of what of the next line is there */
};

/* Start this program anew as a victim.  Returns 0 or -errno; what it complained of is on standard error. */
int o2_victim_child_start(const struct o2_victim_options *options, struct o2_victim_child *child);
/* False: it has not answered as it has to, or is dead. */
bool o2_victim_child_ask(struct o2_victim_child *child, const struct o2_victim_line *line,
			 struct o2_victim_answer *answer, uint32_t *work);
/* Let it end, and wait for that.  How it ended, for people: "", or "status 1", "signal 11". */
void o2_victim_child_end(struct o2_victim_child *child, char how[32]);

#endif
