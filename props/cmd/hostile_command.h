/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HOSTILE_COMMAND_H
#define O2_PROPS_HOSTILE_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "props/cmd/options.h"
#include "props/hostile/hostile_net.h"

/*
 * o2props hostile (docs/hostile.md, "Commands"). The victim runs on loop devices in this process; or, on devices of
 * the machine, in another process, or it is any peer.
 */

/* The parsed command line. */
struct o2_hostile_words {
	struct o2_command command;
	struct o2_net_liar_options net;
	const char *devices; /* "A,B" or "A" of this machine; NULL: use loop devices */
	int64_t gid_index;   /* -1: o2_props_gid_index */
	int64_t portal;	     /* -1: not given */
	int64_t profile;     /* enum o2_hostile_profile; -1: not given */
	bool list, all, victim, tell;
	int64_t some; /* -1: not given */
	uint64_t seed;
	uint64_t liar_nid;
	char **names; /* NULL-terminated */
};

/* props/cmd/hostile_options.c: returns as o2_options_read does. */
int o2_hostile_read(const char *program, int argc, char **argv, struct o2_hostile_words *words);

/* Complain on stderr about a name on the command line that is no misbehaviour.  Returns O2_EXIT_USAGE. */
int o2_hostile_no_such(const struct o2_hostile_words *words, const char *name);

/* Returns the exit status: 0 each misbehaviour met its reaction, 1 one did not, 2 usage, 77 no device. */
int o2_hostile_command(const struct o2_hostile_words *words);
int o2_hostile_net_command(struct o2_hostile_words *words);

#endif
