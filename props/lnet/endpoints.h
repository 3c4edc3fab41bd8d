/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_ENDPOINTS_H
#define O2_PROPS_ENDPOINTS_H

#include "props/engine/property.h"
#include "props/engine/tally.h"
#include "props/world/ground.h"

/*
 * The property: whole peers (lnet/endpoint.h), two to four of them, used as `o2ref serve` and the commands
 * use theirs, do what LNet's place promises (docs/peer.md), whatever is offered and asked for, in whatever
 * order things happen, and whoever leaves in the middle of it.
 *
 *   - which entry takes a request, at which offset and how many bytes, or by which rule it is dropped, is
 *     what a model of the match table says that knows the case alone;
 *   - `done`, `started` and `event` are called exactly once where they are due, with the right figures;
 *   - an operation fails only where nothing is there for it, or by what the case has brought about between
 *     its two ends, and then with the errno and the culprit that this foretells;
 *   - all memory of all peers holds what it should, after each operation and, every byte, whenever all is at
 *     rest;
 *   - hours without a message end no connection;
 *   - nothing is left when it is over.
 */

enum o2_endpoints_situation {
	O2_ENDPOINTS_SEEN_PUT_IMMEDIATE,
	O2_ENDPOINTS_SEEN_PUT_RDMA,
	O2_ENDPOINTS_SEEN_PUT_EMPTY,
	O2_ENDPOINTS_SEEN_GET_IMMEDIATE,
	O2_ENDPOINTS_SEEN_GET_RDMA,
	O2_ENDPOINTS_SEEN_PING,
	O2_ENDPOINTS_SEEN_PUSH,
	O2_ENDPOINTS_SEEN_ACK,
	O2_ENDPOINTS_SEEN_ACK_DISABLED,
	O2_ENDPOINTS_SEEN_TRUNCATED,
	O2_ENDPOINTS_SEEN_NOTHING_LEFT,
	O2_ENDPOINTS_SEEN_LOCAL_OFFSET,
	O2_ENDPOINTS_SEEN_REMOTE_OFFSET,
	O2_ENDPOINTS_SEEN_SECOND_ENTRY,
	O2_ENDPOINTS_SEEN_USED_UP,
	O2_ENDPOINTS_SEEN_NO_MATCH,
	O2_ENDPOINTS_SEEN_PAST_END,
	O2_ENDPOINTS_SEEN_TOO_LONG,
	O2_ENDPOINTS_SEEN_NO_ANSWER,
	O2_ENDPOINTS_SEEN_DETACH_BUSY,
	O2_ENDPOINTS_SEEN_UNLINKED_BY_USES,
	O2_ENDPOINTS_SEEN_UNLINK_IN_USE,
	O2_ENDPOINTS_SEEN_CANCELED_PUT,
	O2_ENDPOINTS_SEEN_CANCELED_GET,
	O2_ENDPOINTS_SEEN_CANCELED_TOO_LATE,
	O2_ENDPOINTS_SEEN_OTHER_PID,
	O2_ENDPOINTS_SEEN_OWN_TIMEOUT,
	O2_ENDPOINTS_SEEN_TABLE_FULL,
	O2_ENDPOINTS_SEEN_GAPS,
	O2_ENDPOINTS_SEEN_SCATTERED,
	O2_ENDPOINTS_SEEN_NO_WINDOW,
	O2_ENDPOINTS_SEEN_FOLLOWED,
	O2_ENDPOINTS_SEEN_THREE,
	O2_ENDPOINTS_SEEN_FOUR,
	O2_ENDPOINTS_SEEN_MANY,
	O2_ENDPOINTS_SEEN_DEEP,
	O2_ENDPOINTS_SEEN_HOURS_IDLE,
	O2_ENDPOINTS_SEEN_HOURS_BUSY,
	O2_ENDPOINTS_SEEN_NETWORK_FAILED,
	O2_ENDPOINTS_SEEN_KILLED,
	O2_ENDPOINTS_SEEN_CLOSED_PEER,
	O2_ENDPOINTS_SEEN_LEFT,
	O2_ENDPOINTS_SEEN_RETURNED,
	O2_ENDPOINTS_SEEN_ASKED_WHILE_AWAY,
	O2_ENDPOINTS_SEEN_START_WHILE_CLOSING,
	O2_ENDPOINTS_SEEN_AT_IMMEDIATE,
	O2_ENDPOINTS_SEEN_AT_PUT_REQ,
	O2_ENDPOINTS_SEEN_AT_PUT_ACK,
	O2_ENDPOINTS_SEEN_AT_PUT_NAK,
	O2_ENDPOINTS_SEEN_AT_PUT_DONE,
	O2_ENDPOINTS_SEEN_AT_GET_REQ,
	O2_ENDPOINTS_SEEN_AT_GET_DONE,
	O2_ENDPOINTS_SEEN_LOST_HERE,
	O2_ENDPOINTS_SEEN_LOST_THERE,
	O2_ENDPOINTS_SEEN_LOST_WAITING,
	O2_ENDPOINTS_SEEN_LATE,
	O2_ENDPOINTS_SITUATIONS,
};

struct o2_endpoints;

struct o2_endpoints_run {
	struct o2_tally tally; /* first: props/engine/tally.h */
	struct o2_tally_row situation[O2_ENDPOINTS_SITUATIONS];
	const struct o2_ground_ops *ground;
	struct o2_ground_devices *devices; /* NULL: on loopverbs */
	struct o2_endpoints *endpoints;	   /* the case at hand; NULL before the first */
};

/* *run: zeros at first but for the ground and its devices; the caller's.  NULL: to speak of the property. */
struct o2_property o2_endpoints_property(struct o2_endpoints_run *run);

#endif
