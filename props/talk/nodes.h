/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_NODES_H
#define O2_PROPS_NODES_H

#include "props/engine/property.h"
#include "props/engine/tally.h"
#include "props/world/ground.h"

/*
 * The property: nodes negotiate connections and serve each other's operations with any settings, in any order of
 * messages and completions, and under any network failure (docs/connection.md).  Two or three nodes run over
 * loopverbs and the in-process connection manager; two nodes run over kernel devices and librdmacm.
 *
 *   - every operation ends exactly once, with the result predicted when it was drawn, with its bytes in place and
 *     no other byte changed; or with an errno that says how its connection was lost;
 *   - the credit account of each connection holds after every step (props/world/account.h);
 *   - a connection that comes up has the largest parameters that both ends support, equal at both ends;
 *   - a node heeds what a reject tells it: no attempt is rejected twice for the same reason;
 *   - if a set of pools is used again 300 s after its last use, it has only its first pool left; a pool that could
 *     not be created can be created one second later;
 *   - once the network works again, all nodes come to rest, and nothing is left allocated at the end.
 */

#define O2_NODES_SITUATION_LIST(ENTRY)                                \
	ENTRY(O2_NODES_SEEN_PUT, "put")                               \
	ENTRY(O2_NODES_SEEN_GET, "get")                               \
	ENTRY(O2_NODES_SEEN_IMMEDIATE, "immediate")                   \
	ENTRY(O2_NODES_SEEN_THREE, "three_nodes")                     \
	ENTRY(O2_NODES_SEEN_RACE, "connection_race")                  \
	ENTRY(O2_NODES_SEEN_REJECT_DEPTH, "rejected_for_queue_depth") \
	ENTRY(O2_NODES_SEEN_REJECT_FRAGS, "rejected_for_fragments")   \
	ENTRY(O2_NODES_SEEN_REJECT_VERSION, "rejected_for_version")   \
	ENTRY(O2_NODES_SEEN_STALE, "rejected_as_stale")               \
	ENTRY(O2_NODES_SEEN_NO_RESOURCES, "rejected_for_resources")   \
	ENTRY(O2_NODES_SEEN_EARLY, "rejected_as_too_early")           \
	ENTRY(O2_NODES_SEEN_ASLEEP, "armed_to_sleep")                 \
	ENTRY(O2_NODES_SEEN_NO_LISTENER, "nobody_listens")            \
	ENTRY(O2_NODES_SEEN_UNREACHABLE, "unreachable")               \
	ENTRY(O2_NODES_SEEN_LOST, "message_lost")                     \
	ENTRY(O2_NODES_SEEN_REFUSED, "operation_refused")             \
	ENTRY(O2_NODES_SEEN_BUSY, "start_refused_too_many_wait")      \
	ENTRY(O2_NODES_SEEN_RECONNECT, "reconnected")                 \
	ENTRY(O2_NODES_SEEN_SEVERAL, "several_connections")           \
	ENTRY(O2_NODES_SEEN_TURNS, "connections_take_turns")          \
	ENTRY(O2_NODES_SEEN_RESTART, "node_restarted")                \
	ENTRY(O2_NODES_SEEN_RECONFIGURED, "node_reconfigured")        \
	ENTRY(O2_NODES_SEEN_CLOSE, "peer_closed")                     \
	ENTRY(O2_NODES_SEEN_HEADER_REFUSED, "lnet_header_refused")    \
	ENTRY(O2_NODES_SEEN_SHORT_PUT, "short_put")                   \
	ENTRY(O2_NODES_SEEN_SHORT_GET, "short_get")                   \
	ENTRY(O2_NODES_SEEN_NO_MATCH, "no_match")                     \
	ENTRY(O2_NODES_SEEN_DENIED, "answered_with_an_errno")         \
	ENTRY(O2_NODES_SEEN_GAPS, "gaps")                             \
	ENTRY(O2_NODES_SEEN_GAPS_REFUSED, "gaps_refused")             \
	ENTRY(O2_NODES_SEEN_TOO_MANY_FRAGS, "too_many_fragments")     \
	ENTRY(O2_NODES_SEEN_GLOBAL, "mode_global")                    \
	ENTRY(O2_NODES_SEEN_FMR, "mode_fmr")                          \
	ENTRY(O2_NODES_SEEN_FASTREG, "mode_fastreg")                  \
	ENTRY(O2_NODES_SEEN_USER, "mode_user")                        \
	ENTRY(O2_NODES_SEEN_PHYS, "mode_phys")                        \
	ENTRY(O2_NODES_SEEN_FASTREG_GAPS, "mode_fastreg_gaps")        \
	ENTRY(O2_NODES_SEEN_INSIDE, "started_from_inside")            \
	ENTRY(O2_NODES_SEEN_NOT_MADE, "attempt_not_made")             \
	ENTRY(O2_NODES_SEEN_KILL, "queue_pair_killed")                \
	ENTRY(O2_NODES_SEEN_LOST_UNDER_WAY, "lost_under_way")         \
	ENTRY(O2_NODES_SEEN_VERSION_1, "version_1")                   \
	ENTRY(O2_NODES_SEEN_NO_CREDITS, "credits_exhausted")          \
	ENTRY(O2_NODES_SEEN_NO_RESERVED, "reservations_exhausted")    \
	ENTRY(O2_NODES_SEEN_NOOP, "noop")                             \
	ENTRY(O2_NODES_SEEN_BOTH_ENDS, "both_ends_compared")          \
	ENTRY(O2_NODES_SEEN_SHRUNK, "idle_pools_unmade")              \
	ENTRY(O2_NODES_SEEN_GROWN_LATE, "pool_made_after_a_failure")  \
	ENTRY(O2_NODES_SEEN_DEEP, "deeper_than_32")                   \
	ENTRY(O2_NODES_SEEN_BURST, "burst_of_more_than_32")           \
	ENTRY(O2_NODES_SEEN_SETTINGS_REFUSED, "settings_refused")     \
	ENTRY(O2_NODES_SEEN_SLOW, "attempts_one_a_second")            \
	ENTRY(O2_NODES_SEEN_WAITED, "waited_too_long")                \
	ENTRY(O2_NODES_SEEN_BROKEN, "broken_as_it_came_up")           \
	ENTRY(O2_NODES_SEEN_DEVICE_LOST, "device_lost")               \
	ENTRY(O2_NODES_SEEN_BAD_REPLY, "reply_refused")               \
	ENTRY(O2_NODES_SEEN_UNCONFIRMED, "refused_reply_unconfirmed") \
	ENTRY(O2_NODES_SEEN_LONG, "send_too_long_for_a_message")      \
	ENTRY(O2_NODES_SEEN_LONG_SMALLER, "send_too_long_for_a_peer") \
	ENTRY(O2_NODES_SEEN_LONG_WAITED, "send_too_long_has_waited")  \
	ENTRY(O2_NODES_SEEN_FLAVOUR, "checksum_flavour_learnt")

enum o2_nodes_situation { O2_NODES_SITUATION_LIST(O2_SITUATION_ID) O2_NODES_SITUATIONS };

struct o2_nodes;

struct o2_nodes_run {
	struct o2_tally tally; /* first: props/engine/tally.h */
	const struct o2_ground_ops *ground;
	struct o2_nodes *nodes;		   /* the current case; NULL before the first */
	struct o2_ground_devices *devices; /* NULL: run on loopverbs */
};

/* *run: owned by the caller, zeroed except for ground and devices.  NULL: only list the property, do not run it. */
struct o2_property o2_nodes_property(struct o2_nodes_run *run);

#endif
