/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_NODES_H
#define O2_PROPS_NODES_H

#include "props/engine/property.h"
#include "props/engine/tally.h"
#include "props/world/ground.h"

/*
 * The property: nodes come to terms and serve each other, whatever they are set to, in whatever order
 * messages and completions are handled, and whatever the network does to them (docs/connection.md).  Two or
 * three run over loopverbs and the connection manager in one process, two over kernel devices and librdmacm.
 *
 *   - every operation ends exactly once, as was foretold when it was drawn, with its bytes in place and no
 *     other byte changed, or with an errno that says how its connection was lost;
 *   - the account of credits of each connection holds after every step (props/world/account.h);
 *   - a connection that comes up has the most that both of its ends can do, and both have the same;
 *   - what a reject has told is heeded: no attempt is refused twice for the same;
 *   - 300 s after the last use a set of pools that is used once more has its first pool and no other; a pool
 *     that could not be made can be made a second later;
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
	O2_NODES_SEEN_RECONFIGURED,
	O2_NODES_SEEN_CLOSE,
	O2_NODES_SEEN_HEADER_REFUSED,
	O2_NODES_SEEN_SHORT_PUT,
	O2_NODES_SEEN_SHORT_GET,
	O2_NODES_SEEN_NO_MATCH,
	O2_NODES_SEEN_DENIED,
	O2_NODES_SEEN_GAPS,
	O2_NODES_SEEN_GAPS_REFUSED,
	O2_NODES_SEEN_TOO_MANY_FRAGS,
	O2_NODES_SEEN_GLOBAL,
	O2_NODES_SEEN_FMR,
	O2_NODES_SEEN_FASTREG,
	O2_NODES_SEEN_USER,
	O2_NODES_SEEN_PHYS,
	O2_NODES_SEEN_FASTREG_GAPS,
	O2_NODES_SEEN_KILL,
	O2_NODES_SEEN_LOST_UNDER_WAY,
	O2_NODES_SEEN_VERSION_1,
	O2_NODES_SEEN_NO_CREDITS,
	O2_NODES_SEEN_NO_RESERVED,
	O2_NODES_SEEN_NOOP,
	O2_NODES_SEEN_BOTH_ENDS,
	O2_NODES_SEEN_SHRUNK,
	O2_NODES_SEEN_GROWN_LATE,
	O2_NODES_SEEN_DEEP,
	O2_NODES_SEEN_BURST,
	O2_NODES_SEEN_SETTINGS_REFUSED,
	O2_NODES_SITUATIONS,
};

struct o2_nodes;

struct o2_nodes_run {
	struct o2_tally tally; /* first: props/engine/tally.h */
	struct o2_tally_row situation[O2_NODES_SITUATIONS];
	const struct o2_ground_ops *ground;
	struct o2_nodes *nodes;		   /* the case at hand; NULL before the first */
	struct o2_ground_devices *devices; /* NULL: on loopverbs */
};

/* *run: zeros at first but for the ground and its devices; the caller's.  NULL: to speak of the property. */
struct o2_property o2_nodes_property(struct o2_nodes_run *run);

#endif
