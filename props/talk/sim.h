/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SIM_H
#define O2_PROPS_SIM_H

#include "props/engine/property.h"
#include "props/engine/tally.h"

/*
 * The property: two or three ends over loopverbs behave as documented in whatever order events occur and whatever
 * fails (docs/simulation.md).  Every step chooses one of the possible events: an end handles a completion, the
 * device executes one work request, time passes, the application starts an operation, or something fails.
 *
 *   - every operation ends exactly once; success means that every byte is in its place and no other byte has
 *     changed; an error is the one documented for its cause;
 *   - the credits of all connections add up, both in an independent model and in the traffic seen on the fabric;
 *   - no queue overflows; both sides come to rest within a bound; nothing is left allocated at the end.
 */

#define O2_SIM_SITUATION_LIST(ENTRY)                                              \
	ENTRY(O2_SIM_SEEN_PUT, "put")                                             \
	ENTRY(O2_SIM_SEEN_GET, "get")                                             \
	ENTRY(O2_SIM_SEEN_IMMEDIATE, "immediate")                                 \
	ENTRY(O2_SIM_SEEN_SHORT, "short_transfer")                                \
	ENTRY(O2_SIM_SEEN_THREE_NODES, "three_nodes")                             \
	ENTRY(O2_SIM_SEEN_NO_CREDITS, "credits_exhausted")                        \
	ENTRY(O2_SIM_SEEN_NO_RESERVED, "reservations_exhausted")                  \
	ENTRY(O2_SIM_SEEN_SENDS_LIMITED, "concurrent_sends_reached")              \
	ENTRY(O2_SIM_SEEN_INVALIDATES_LIMITED, "invalidates_as_many_as_may_be")   \
	ENTRY(O2_SIM_SEEN_QUEUED, "message_queued")                               \
	ENTRY(O2_SIM_SEEN_PARKED, "request_parked")                               \
	ENTRY(O2_SIM_SEEN_WINDOW_AWAITED, "operation_waits_for_a_window")         \
	ENTRY(O2_SIM_SEEN_WINDOW_PARKED, "request_parked_for_a_window")           \
	ENTRY(O2_SIM_SEEN_WINDOW_WOKEN, "window_came_back_on_another_connection") \
	ENTRY(O2_SIM_SEEN_NOOP_V1, "noop_version_1")                              \
	ENTRY(O2_SIM_SEEN_NOOP_V2, "noop_version_2")                              \
	ENTRY(O2_SIM_SEEN_KEEPALIVE, "keep_alive")                                \
	ENTRY(O2_SIM_SEEN_FROM_INSIDE, "operation_started_from_inside")           \
	ENTRY(O2_SIM_SEEN_DEADLINE, "deadline_passed")                            \
	ENTRY(O2_SIM_SEEN_RNR, "receiver_not_ready")                              \
	ENTRY(O2_SIM_SEEN_CLOSED, "connection_closed")                            \
	ENTRY(O2_SIM_SEEN_NOT_CONNECTED, "start_refused_not_connected")           \
	ENTRY(O2_SIM_SEEN_TOO_MANY, "start_refused_too_many")                     \
	ENTRY(O2_SIM_SEEN_TOO_LONG, "start_refused_payload_too_long")             \
	ENTRY(O2_SIM_SEEN_NO_MATCH_PUT, "put_without_match")                      \
	ENTRY(O2_SIM_SEEN_NO_MATCH_GET, "get_without_match")                      \
	ENTRY(O2_SIM_SEEN_REFUSED, "refused_by_the_other_end")                    \
	ENTRY(O2_SIM_SEEN_MATCH_LONGER, "match_longer_than_asked")                \
	ENTRY(O2_SIM_SEEN_HEADER_REFUSED, "lnet_header_refused")                  \
	ENTRY(O2_SIM_SEEN_TOO_MANY_WRS, "too_many_work_requests")                 \
	ENTRY(O2_SIM_SEEN_TOO_MANY_FRAGS, "too_many_fragments")                   \
	ENTRY(O2_SIM_SEEN_GAPS_REFUSED, "gaps_refused")                           \
	ENTRY(O2_SIM_SEEN_LATE_WRITE_REFUSED, "late_write_refused")               \
	ENTRY(O2_SIM_SEEN_KEY_LEFT_ALIVE, "key_left_alive_in_the_kernels_order")  \
	ENTRY(O2_SIM_SEEN_POST_SEND_FAILED, "post_send_failed")                   \
	ENTRY(O2_SIM_SEEN_POST_RECV_FAILED, "post_recv_failed")                   \
	ENTRY(O2_SIM_SEEN_EXECUTE_FAILED, "work_request_failed")                  \
	ENTRY(O2_SIM_SEEN_REGISTER_FAILED, "registration_failed")                 \
	ENTRY(O2_SIM_SEEN_MAKE_FAILED, "object_not_made")                         \
	ENTRY(O2_SIM_SEEN_MODIFY_FAILED, "modify_failed")                         \
	ENTRY(O2_SIM_SEEN_POLL_FAILED, "poll_failed")                             \
	ENTRY(O2_SIM_SEEN_ALLOCATION_FAILED, "allocation_failed")                 \
	ENTRY(O2_SIM_SEEN_PEER_GONE, "peer_gone")                                 \
	ENTRY(O2_SIM_SEEN_QP_ERROR, "queue_pair_error")                           \
	ENTRY(O2_SIM_SEEN_FAILOVER, "failover")                                   \
	ENTRY(O2_SIM_SEEN_MAPPING_FAILED, "mapping_failed")                       \
	ENTRY(O2_SIM_SEEN_KMAPS_TAKEN, "no_temporary_mapping_left")               \
	ENTRY(O2_SIM_SEEN_FLUSHED, "work_request_flushed")                        \
	ENTRY(O2_SIM_SEEN_NEVER_READY, "receiver_never_ready")                    \
	ENTRY(O2_SIM_SEEN_SLOW, "peer_slow")                                      \
	ENTRY(O2_SIM_SEEN_CLOSED_BY_US, "closed_by_the_application")              \
	ENTRY(O2_SIM_SEEN_DESTROYED, "destroyed_by_the_application")              \
	ENTRY(O2_SIM_SEEN_CLOSED_INSIDE, "closed_from_inside")                    \
	ENTRY(O2_SIM_SEEN_CLOSED_BY_MATCH, "closed_by_match_that_accepts")        \
	ENTRY(O2_SIM_SEEN_ESTABLISHED_LATE, "message_before_establishment")       \
	ENTRY(O2_SIM_SEEN_DEPTH_254, "depth_254")                                 \
	ENTRY(O2_SIM_SEEN_DEPTH_255, "depth_255")                                 \
	ENTRY(O2_SIM_SEEN_NO_ROOM, "device_has_room_for_less")                    \
	ENTRY(O2_SIM_SEEN_MANY_CREDITS, "more_than_127_credits_in_a_message")     \
	ENTRY(O2_SIM_SEEN_MANY_MESSAGES, "255_messages_unhandled")                \
	ENTRY(O2_SIM_SEEN_MANY_IN_FLIGHT, "256_messages_in_flight")               \
	ENTRY(O2_SIM_SEEN_FRAGS_255, "fragments_255")                             \
	ENTRY(O2_SIM_SEEN_FRAGS_256, "fragments_256")                             \
	ENTRY(O2_SIM_SEEN_FRAGS_257, "fragments_257")

enum o2_sim_situation {
	O2_SIM_SITUATION_LIST(O2_SITUATION_ID)
	/* Forged messages, in the order of enum o2_sim_lie. */
	O2_SIM_SEEN_FORGED,
	O2_SIM_SEEN_FORGED_LAST = O2_SIM_SEEN_FORGED + 11,
	O2_SIM_SITUATIONS,
};

struct o2_sim;

struct o2_sim_run {
	struct o2_tally tally; /* first: props/engine/tally.h */
	uint64_t operations;   /* operations started and ended, summed over all cases */
	uint64_t events;
	uint64_t trace;	    /* sum of the cases' traces: equal for equal seeds */
	struct o2_sim *sim; /* the current case; NULL before the first.  Last: all before it are counts */
};

/* *run: owned by the caller, zeroed before the first case. */
struct o2_property o2_sim_property(struct o2_sim_run *run);

#endif
