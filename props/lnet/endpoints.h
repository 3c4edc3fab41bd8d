/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_ENDPOINTS_H
#define O2_PROPS_ENDPOINTS_H

#include "props/engine/property.h"
#include "props/engine/tally.h"
#include "props/world/ground.h"

/*
 * The property: two to four complete peers (lnet/endpoint.h), used as `o2ref serve` and the other commands use
 * theirs, behave as documented for LNet's place (docs/peer.md), whatever memory is offered, whatever is requested,
 * in any order of events, and whichever peer leaves in the middle.
 *
 *   - the entry that takes a request, the offset and the number of bytes, or the rule by which the request is
 *     dropped, are those of a model of the match table that is computed from the case alone;
 *   - `done`, `started` and `event` are each called exactly once when they are due, with the right figures;
 *   - an operation fails only if its target has nothing for it, or because of something the case has done between
 *     its two ends, and then with the predicted errno and the predicted culprit;
 *   - the memory of all peers has the expected content: of each operation when it ends, and every byte whenever
 *     all is at rest;
 *   - hours without a message end no connection;
 *   - nothing is left allocated at the end.
 */

#define O2_ENDPOINTS_SITUATION_LIST(ENTRY)                                          \
	ENTRY(O2_ENDPOINTS_SEEN_PUT_IMMEDIATE, "put_in_a_message")                  \
	ENTRY(O2_ENDPOINTS_SEEN_PUT_RDMA, "put_by_rdma")                            \
	ENTRY(O2_ENDPOINTS_SEEN_PUT_EMPTY, "put_of_nothing")                        \
	ENTRY(O2_ENDPOINTS_SEEN_GET_IMMEDIATE, "get_in_messages")                   \
	ENTRY(O2_ENDPOINTS_SEEN_GET_RDMA, "get_by_rdma")                            \
	ENTRY(O2_ENDPOINTS_SEEN_PING, "ping")                                       \
	ENTRY(O2_ENDPOINTS_SEEN_PUSH, "push")                                       \
	ENTRY(O2_ENDPOINTS_SEEN_ACK, "ack")                                         \
	ENTRY(O2_ENDPOINTS_SEEN_ACK_DISABLED, "ack_disabled")                       \
	ENTRY(O2_ENDPOINTS_SEEN_TRUNCATED, "truncated")                             \
	ENTRY(O2_ENDPOINTS_SEEN_NOTHING_LEFT, "nothing_left_by_rdma")               \
	ENTRY(O2_ENDPOINTS_SEEN_LOCAL_OFFSET, "local_offset")                       \
	ENTRY(O2_ENDPOINTS_SEEN_REMOTE_OFFSET, "remote_offset")                     \
	ENTRY(O2_ENDPOINTS_SEEN_SECOND_ENTRY, "passed_over_a_used_up_entry")        \
	ENTRY(O2_ENDPOINTS_SEEN_USED_UP, "dropped_all_used_up")                     \
	ENTRY(O2_ENDPOINTS_SEEN_NO_MATCH, "dropped_no_match")                       \
	ENTRY(O2_ENDPOINTS_SEEN_PAST_END, "dropped_offset_past_end")                \
	ENTRY(O2_ENDPOINTS_SEEN_TOO_LONG, "dropped_too_long")                       \
	ENTRY(O2_ENDPOINTS_SEEN_NO_ANSWER, "no_answer_in_time")                     \
	ENTRY(O2_ENDPOINTS_SEEN_DETACH_BUSY, "detach_while_in_use")                 \
	ENTRY(O2_ENDPOINTS_SEEN_UNLINKED_BY_USES, "unlinked_with_the_last_use")     \
	ENTRY(O2_ENDPOINTS_SEEN_UNLINK_IN_USE, "unlink_while_in_use")               \
	ENTRY(O2_ENDPOINTS_SEEN_CANCELED_PUT, "put_cancelled")                      \
	ENTRY(O2_ENDPOINTS_SEEN_CANCELED_GET, "get_cancelled")                      \
	ENTRY(O2_ENDPOINTS_SEEN_CANCELED_TOO_LATE, "cancelled_and_still_done")      \
	ENTRY(O2_ENDPOINTS_SEEN_OTHER_PID, "to_another_pid")                        \
	ENTRY(O2_ENDPOINTS_SEEN_OWN_TIMEOUT, "late_by_its_own_time")                \
	ENTRY(O2_ENDPOINTS_SEEN_TABLE_FULL, "table_full")                           \
	ENTRY(O2_ENDPOINTS_SEEN_GAPS, "gaps")                                       \
	ENTRY(O2_ENDPOINTS_SEEN_SCATTERED, "scattered")                             \
	ENTRY(O2_ENDPOINTS_SEEN_NO_WINDOW, "windows_run_out")                       \
	ENTRY(O2_ENDPOINTS_SEEN_FOLLOWED, "started_from_done")                      \
	ENTRY(O2_ENDPOINTS_SEEN_THREE, "three_endpoints")                           \
	ENTRY(O2_ENDPOINTS_SEEN_FOUR, "four_endpoints")                             \
	ENTRY(O2_ENDPOINTS_SEEN_MANY, "two_hundred_in_flight")                      \
	ENTRY(O2_ENDPOINTS_SEEN_PING_ON, "ping_on_and_on")                          \
	ENTRY(O2_ENDPOINTS_SEEN_DEEP, "depth_255")                                  \
	ENTRY(O2_ENDPOINTS_SEEN_HOURS_IDLE, "hours_without_a_message")              \
	ENTRY(O2_ENDPOINTS_SEEN_HOURS_BUSY, "hours_in_the_middle")                  \
	ENTRY(O2_ENDPOINTS_SEEN_NETWORK_FAILED, "network_failed")                   \
	ENTRY(O2_ENDPOINTS_SEEN_KILLED, "queue_pair_killed")                        \
	ENTRY(O2_ENDPOINTS_SEEN_CLOSED_PEER, "peer_closed")                         \
	ENTRY(O2_ENDPOINTS_SEEN_LEFT, "endpoint_left")                              \
	ENTRY(O2_ENDPOINTS_SEEN_RETURNED, "endpoint_returned")                      \
	ENTRY(O2_ENDPOINTS_SEEN_ASKED_WHILE_AWAY, "asked_while_away")               \
	ENTRY(O2_ENDPOINTS_SEEN_START_WHILE_CLOSING, "start_refused_while_closing") \
	ENTRY(O2_ENDPOINTS_SEEN_AT_IMMEDIATE, "harm_at_immediate")                  \
	ENTRY(O2_ENDPOINTS_SEEN_AT_PUT_REQ, "harm_at_put_req")                      \
	ENTRY(O2_ENDPOINTS_SEEN_AT_PUT_ACK, "harm_at_put_ack")                      \
	ENTRY(O2_ENDPOINTS_SEEN_AT_PUT_NAK, "harm_at_put_nak")                      \
	ENTRY(O2_ENDPOINTS_SEEN_AT_PUT_DONE, "harm_at_put_done")                    \
	ENTRY(O2_ENDPOINTS_SEEN_AT_GET_REQ, "harm_at_get_req")                      \
	ENTRY(O2_ENDPOINTS_SEEN_AT_GET_DONE, "harm_at_get_done")                    \
	ENTRY(O2_ENDPOINTS_SEEN_LOST_HERE, "lost_at_its_initiator")                 \
	ENTRY(O2_ENDPOINTS_SEEN_LOST_THERE, "lost_at_its_target")                   \
	ENTRY(O2_ENDPOINTS_SEEN_LOST_WAITING, "lost_waiting_for_an_answer")         \
	ENTRY(O2_ENDPOINTS_SEEN_LATE, "late")                                       \
	ENTRY(O2_ENDPOINTS_SEEN_STRAY_REFUSED, "stray_refused")                     \
	ENTRY(O2_ENDPOINTS_SEEN_STRAY_DROPPED, "stray_dropped")                     \
	ENTRY(O2_ENDPOINTS_SEEN_WRONG_DROPPED, "wrong_answer_dropped")              \
	ENTRY(O2_ENDPOINTS_SEEN_WRONG_ACK, "ack_of_too_many_bytes")                 \
	ENTRY(O2_ENDPOINTS_SEEN_WRONG_REPLY, "reply_of_too_many_bytes")             \
	ENTRY(O2_ENDPOINTS_SEEN_OTHER_ACK, "ack_of_too_few_bytes")                  \
	ENTRY(O2_ENDPOINTS_SEEN_SHORT_ANSWER, "answer_of_fewer_bytes")              \
	ENTRY(O2_ENDPOINTS_SEEN_REPLY_RDMA, "reply_by_rdma")                        \
	ENTRY(O2_ENDPOINTS_SEEN_REPLY_FAILED, "reply_by_rdma_failed")               \
	ENTRY(O2_ENDPOINTS_SEEN_ARM_FAILED, "arming_failed")                        \
	ENTRY(O2_ENDPOINTS_SEEN_POLL_FAILED, "looking_once_more_failed")

enum o2_endpoints_situation { O2_ENDPOINTS_SITUATION_LIST(O2_SITUATION_ID) O2_ENDPOINTS_SITUATIONS };

struct o2_endpoints;

struct o2_endpoints_run {
	struct o2_tally tally; /* first: props/engine/tally.h */
	const struct o2_ground_ops *ground;
	struct o2_ground_devices *devices; /* NULL: run on loopverbs */
	struct o2_endpoints *endpoints;	   /* the current case; NULL before the first */
};

/* *run: owned by the caller, zeroed except for ground and devices.  NULL: only list the property, do not run it. */
struct o2_property o2_endpoints_property(struct o2_endpoints_run *run);

#endif
