/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_CONFORM_HOSTILE_H
#define O2_CLI_NET_CONFORM_HOSTILE_H

#include "cli/net/conform/listen.h"
#include "cli/net/conform/report.h"

/*
 * --hostile: the misbehaviours of docs/hostile.md.  The program o2props beside this one, "the liar", does
 * them.  A row of the report is "hostile/NAME".
 */

#define O2_CONFORM_HOSTILE "hostile/"

struct o2_conform_hostile {
	const char *device; /* NULL: there is none that the liar could use */
	uint8_t gid_index;
	bool place; /* the peer has memory at --portal */
};

/*
 * Does a word of --only name a misbehaviour?  Asks the liar for its table; true, after a line on stderr, if it
 * has none: o2_conform_hostile_try fails then.
 */
bool o2_conform_hostile_has(const char *word);

/*
 * Our own interface must be closed.  The listener hears what is sent and received meanwhile.  Returns false,
 * after a line on stderr, if the liar did not come to its end; without a line if a signal has ended it.
 */
bool o2_conform_hostile_try(const struct o2_conform_hostile *hostile, struct o2_conform_listener *listener,
			    struct o2_conform_report *report);

/* How long the liar waits for a reaction: for the peer's own timeout, which is ours unless --timeout is longer. */
uint32_t o2_conform_hostile_patience_s(const struct o2_net_options *options);

/* Tell the listener what the liar or the honest node sent or heard, from a line.  False: it is no such line. */
bool o2_conform_hostile_said(const char *line, struct o2_conform_listener *listener);

/* Read a line of the liar about a misbehaviour: its name, and what came of it.  False: it is no such line. */
bool o2_conform_hostile_line(const char *line, char name[O2_CONFORM_ID_BYTES],
			     struct o2_conform_result *result);

/* Read a row of the liar's table: name, and what such a peer does and must meet.  False: it is no such row. */
bool o2_conform_hostile_row(const char *line, char name[O2_CONFORM_ID_BYTES], char *sentence, size_t bytes);

#endif
