/* SPDX-License-Identifier: MIT */
/* Checks of flow: one part of check_list.h. */

/* Rules of the judge (judge/rules.h), with the judge's own ids. */
#define JUDGED(WHAT, what, severity, text) O2_CHECK(WHAT, what, severity, severity, text)
#define OF_FLOW(WHAT, what, text)	   O2_CHECK(FLOW_##WHAT, "flow/" what, MUST, MUST, text)

O2_CHECK_GROUP("Flow: what the judge says")
JUDGED(CREDITS_NONE, "credits/none", MUST, "A message that takes a credit has one.")
JUDGED(CREDITS_OVER_OWED, "credits/over-owed", MUST, "No more credits are given back than are owed.")
JUDGED(CREDITS_LAST, "credits/last", MUST, "In version 1 the last credit is for a NOOP.")
JUDGED(CREDITS_REQUESTS, "credits/requests", MUST,
       "No more requests are without an answer than the queue is deep.")
JUDGED(CREDITS_NOOP_UNCALLED, "credits/noop-uncalled", SHOULD,
       "A NOOP gives back a high-water mark, or keeps alive.")
JUDGED(CREDITS_NOOP_STORM, "credits/noop-storm", MUST,
       "A second has at most 16 NOOPs of a side that give nothing.")
JUDGED(END_MESSAGE, "end/message", MUST, "Who disconnects sends no more messages.")
O2_CHECK_GROUP("Flow")
OF_FLOW(REFUSED_LEGAL, "refused-legal",
	"A conversation is not refused: what breaks the rules closes the connection.")
OF_FLOW(STUCK, "stuck", "What can be sent with the credits at hand is sent, with the event that allows it.")
OF_FLOW(ORDER, "order",
	"What is sent was queued, and has its turn: what needs no credit, then the rest, each in order.")
OF_FLOW(RESERVED, "reserved", "A request is sent when there is a receive for its answer, and not before.")
OF_FLOW(IN_FLIGHT, "in-flight", "No more messages are in flight than concurrent_sends.")
OF_FLOW(CREDITS, "credits",
	"A message gives back all that is owed: the receives that were posted again, and not told of.")
OF_FLOW(QUEUED, "queued", "What was queued and not sent still waits.")
OF_FLOW(NOOP_MISSING, "noop-missing",
	"A NOOP is sent when one is due: nothing else takes along what has come to the mark, or nothing was "
	"sent for longer than keepalive_ms.")
O2_CHECK(FLOW_NOOP_IDLE, "flow/noop-idle", SHOULD, SHOULD, "No NOOP is sent when none is due.")
OF_FLOW(NOOPS_OUT, "noops-out", "In version 2 at most two NOOPs are in flight: no credit counts them.")
O2_CHECK(FLOW_NOOP_THIRD, "flow/noop-third", SHOULD, OFF,
	 "In version 2 no NOOP gives back credits while the peer may still hold two that did: it has two "
	 "receives for them.")
OF_FLOW(OPEN, "open",
	"A completion in error closes the connection, and so do more credits than the queue is deep, a "
	"CONNREQ and a CONNACK; it stays closed.")
O2_CHECK(FLOW_UNPAID, "flow/unpaid", MUST, OFF,
	 "A message for which the peer has no credit closes the connection, and so does a request beyond its "
	 "reservations.")
OF_FLOW(CLOSED, "closed", "Nothing else closes it.")
#undef OF_FLOW
#undef JUDGED
