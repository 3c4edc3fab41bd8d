/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HOSTILE_COMMAND_H
#define O2_PROPS_HOSTILE_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "props/cmd/options.h"
#include "props/hostile/hostile_net.h"

/*
 * o2props hostile (docs/hostile.md, "Commands"): against a victim on loop devices in this process, and on
 * devices of the machine, against one in another process or against any peer.
 */

/* What the command line says. */
struct o2_hostile_words {
	struct o2_command command;
	struct o2_net_liar_options net;
	const char *devices; /* "A,B" or "A" of this machine; NULL: on loop devices */
	int64_t gid_index;   /* -1: o2_props_gid_index */
	int64_t portal;	     /* -1: none was given */
	int64_t profile;     /* enum o2_hostile_profile; -1: not said */
	bool list, all, victim, tell;
	int64_t some; /* -1: not said */
	uint64_t seed;
	uint64_t liar_nid;
	char **names; /* ends with NULL */
};

/* props/cmd/hostile_options.c: returns as o2_options_read does. */
int o2_hostile_read(const char *program, int argc, char **argv, struct o2_hostile_words *words);

/*
 * Complain on stderr about a name on the command line that is not a misbehaviour's.  Returns O2_EXIT_USAGE.
 */
int o2_hostile_no_such(const struct o2_hostile_words *words, const char *name);

/*
 * Exit status: 0 each met its reaction, 1 one did not, 2 usage, 77 no device.
 */
int o2_hostile_command(const struct o2_hostile_words *words);
int o2_hostile_net_command(struct o2_hostile_words *words);

#endif
