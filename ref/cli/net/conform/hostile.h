/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_CONFORM_HOSTILE_H
#define O2_CLI_NET_CONFORM_HOSTILE_H

#include "cli/net/conform/listen.h"
#include "cli/net/conform/report.h"

/*
 * --hostile: the misbehaviours of docs/hostile.md, done by the program that has them, o2props beside this
 * one.  A row of the report is "hostile/NAME".
 */

#define O2_CONFORM_HOSTILE "hostile/"

struct o2_conform_hostile {
	const char *device; /* NULL: there is none that the liar could use */
	uint8_t gid_index;
	bool place; /* the peer has one at --portal */
};

/*
 * Our own interface is closed.  What is said meanwhile the listener hears.  False: it could not be done to the
 * end; that was said.
 */
bool o2_conform_hostile_try(const struct o2_conform_hostile *hostile, struct o2_conform_listener *listener,
			    struct o2_conform_report *report);

/* A line of what was said by the liar or by the honest node, for the listener.  False: it is none. */
bool o2_conform_hostile_said(const char *line, struct o2_conform_listener *listener);

/*
 * A line of what the liar prints about a misbehaviour: its name, and what came of it.  False: it is none.
 */
bool o2_conform_hostile_line(const char *line, char name[O2_CONFORM_ID_BYTES],
			     struct o2_conform_result *result);

/* A row of its table: name, and what such a peer does and must meet.  False: it is none. */
bool o2_conform_hostile_row(const char *line, char name[O2_CONFORM_ID_BYTES], char *sentence, size_t bytes);

#endif
