/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_MUTANT_LIST_FLOW_H
#define O2_BASE_MUTANT_LIST_FLOW_H

/*
 * Deliberate defects of conversations, in the form of mutant_list.h: the bytes of each transfer are right,
 * the connection is not.  A single transfer does not show them; tests/test_lnd_mutants.c has a conversation
 * for each.
 */
#define O2_MUTANTS_OF_FLOW(X)                                                                                \
	X(SEND_QUEUE_SHORT, "send-queue-short", "wr-build", "LU-9943",                                       \
	  "the send queue has no room for the requests that bind and invalidate keys")                       \
	X(COMPLETION_QUEUE_SHORT, "completion-queue-short", "wr-build", "LU-9810",                           \
	  "the completion queue has no room for unsignalled requests that are flushed")                      \
	X(GATHER_WRONG_KEY, "gather-wrong-key", "wr-build", "",                                              \
	  "a gathered payload is read under the key of the message slots")                                   \
	X(GATHER_UNCHECKSUMMED, "gather-unchecksummed", "wr-build", "",                                      \
	  "the checksum of a gathered IMMEDIATE is of bytes that are not the payload")                       \
	X(HIGH_WATER_UNSCALED, "high-water-unscaled", "credits", "LU-12569",                                 \
	  "the high-water mark does not follow the queue depth that was agreed")                             \
	X(NOOP_UNCOUNTED, "noop-uncounted", "credits", "bug 14425",                                          \
	  "version 1: the credit that a NOOP took is never given back")                                      \
	X(LAST_CREDIT_SPENT, "last-credit-spent", "credits", "bug 14425",                                    \
	  "version 1: any message may take the last credit")                                                 \
	X(SENDS_UNLIMITED, "sends-unlimited", "credits", "", "messages in flight are not limited")           \
	X(OUTSTANDING_KEPT, "outstanding-kept", "credits", "", "credits that were given back stay owed")     \
	X(CREDITS_OVER_DEPTH, "credits-over-depth", "credits", "",                                           \
	  "a peer may give more credits than the queue depth")                                               \
	X(CREDIT_NOT_GRANTED, "credit-not-granted", "credits", "",                                           \
	  "a message for which the peer had no credit is accepted")                                          \
	X(REQUESTS_UNLIMITED, "requests-unlimited", "credits", "",                                           \
	  "a peer may have more requests without an answer than it can have reserved")                       \
	X(ACKED_PUT_CREDITED, "acked-put-credited", "credits", "",                                           \
	  "the credit of a PUT_REQ goes back with PUT_ACK, and again with PUT_DONE")                         \
	X(REFUSED_PUT_UNCREDITED, "refused-put-uncredited", "credits", "",                                   \
	  "the credit of a PUT_REQ that is refused does not go back")                                        \
	X(PUT_DONE_RESERVES, "put-done-reserves", "credits", "",                                             \
	  "the receive of a PUT_DONE counts as a reservation of ours")                                       \
	X(RESERVED_LOST, "reserved-lost", "credits", "", "a reservation does not come back with the answer") \
	X(NOOP_CREDITED, "noop-credited", "credits", "",                                                     \
	  "version 2: a NOOP is worth a credit, which another NOOP gives back")                              \
	X(NOOPS_PILE_UP, "noops-pile-up", "credits", "",                                                     \
	  "version 2: more NOOPs may wait at the other end than it keeps receives for")                      \
	X(NOOPS_UNLIMITED, "noops-unlimited", "credits", "", "empty NOOPs may come without end")             \
	X(KEEPALIVE_NEVER, "keepalive-never", "credits", "", "a silent connection stays silent")             \
	X(SUBMIT_WHEN_CLOSED, "submit-when-closed", "completion", "LU-11756",                                \
	  "an operation is accepted although the connection has ended")                                      \
	X(RECEIVE_POSTED_EARLY, "receive-posted-early", "completion", "LU-5678",                             \
	  "a receive is posted again before its payload was handed up")                                      \
	X(WAITING_ASSERTED, "waiting-asserted", "completion", "LU-17689",                                    \
	  "an assertion, not an error, says that a matched transmit waits")                                  \
	X(COOKIE_OF_ANY_TYPE, "cookie-of-any-type", "completion", "",                                        \
	  "an answer is matched by its cookie, whatever the transmit waits for")                             \
	X(NAK_STATUS_UNCHECKED, "nak-status-unchecked", "completion", "", "PUT_NAK may report success")      \
	X(PUT_DONE_UNCHECKED, "put-done-unchecked", "completion", "",                                        \
	  "PUT_DONE may report another number of bytes than was asked for")                                  \
	X(GET_DONE_UNCHECKED, "get-done-unchecked", "completion", "",                                        \
	  "GET_DONE may report more bytes than the sink has")                                                \
	X(WINDOW_NOT_AWAITED, "window-not-awaited", "registration", "",                                      \
	  "an operation for which all windows are in use fails instead of waiting for one")                  \
	X(WINDOW_WAKE_LOST, "window-wake-lost", "registration", "",                                          \
	  "nobody looks whether another connection has given back the window that is waited for")            \
	X(MATCH_CLOSED_LOST, "match-closed-lost", "completion", "",                                          \
	  "what match accepts is never reported if match has closed the connection")                         \
	X(PLAN_FAILURE_HIDDEN, "plan-failure-hidden", "completion", "",                                      \
	  "a source whose writes cannot be planned tells its owner that all is well")                        \
	X(STALE_SENDER, "stale-sender", "completion", "", "a message of another life of the peer is taken")  \
	X(STALE_RECEIVER, "stale-receiver", "completion", "",                                                \
	  "a message for another life of this node is taken")                                                \
	X(DEADLINE_IGNORED, "deadline-ignored", "completion", "", "no deadline ever passes")                 \
	X(DEADLINE_KEPT, "deadline-kept", "completion", "",                                                  \
	  "the deadline of a PUT is not renewed when its bytes are sent")                                    \
	X(QUEUED_ANSWERED, "queued-answered", "completion", "",                                              \
	  "an answer is matched with a request that was never sent")                                         \
	X(ABORT_QUEUED_ONLY, "abort-queued-only", "completion", "",                                          \
	  "closing ends what is queued, and forgets what was posted")                                        \
	X(PARKED_LOST, "parked-lost", "completion", "",                                                      \
	  "messages that came before the connection was established are dropped")

#endif
