/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_NODES_H
#define O2_PROPS_NODES_H

#include "props/property.h"
#include "props/tally.h"

/*
 * The property: two or three nodes over loopverbs and the connection manager in one process come to terms and
 * serve each other, whatever they are set to, in whatever order messages and completions are handled, and
 * whatever the network does to them (docs/connection.md).
 *
 *   - every operation ends exactly once, with its bytes in place or with a documented errno;
 *   - a connection that comes up has the most that both of its ends can do, and both have the same;
 *   - what a reject has told is heeded: no attempt is refused twice for the same;
 *   - once the network is well again all comes to rest, and nothing is left when it is over.
 */

enum o2_nodes_situation {
	O2_NODES_SEEN_PUT,
	O2_NODES_SEEN_GET,
	O2_NODES_SEEN_IMMEDIATE,
	O2_NODES_SEEN_THREE,
	O2_NODES_SEEN_RACE,
	O2_NODES_SEEN_REJECT_DEPTH,
	O2_NODES_SEEN_REJECT_FRAGS,
	O2_NODES_SEEN_REJECT_VERSION,
	O2_NODES_SEEN_STALE,
	O2_NODES_SEEN_NO_RESOURCES,
	O2_NODES_SEEN_NO_LISTENER,
	O2_NODES_SEEN_UNREACHABLE,
	O2_NODES_SEEN_LOST,
	O2_NODES_SEEN_REFUSED,
	O2_NODES_SEEN_BUSY,
	O2_NODES_SEEN_RECONNECT,
	O2_NODES_SEEN_SEVERAL,
	O2_NODES_SEEN_RESTART,
	O2_NODES_SEEN_CLOSE,
	O2_NODES_SEEN_HEADER_REFUSED,
	O2_NODES_SITUATIONS,
};

struct o2_nodes;

struct o2_nodes_run {
	struct o2_tally tally;	/* first: props/tally.h */
	struct o2_nodes *nodes; /* the case at hand; NULL before the first */
};

/* *run: zeros at first, the caller's. */
struct o2_property o2_nodes_property(struct o2_nodes_run *run);

#endif
