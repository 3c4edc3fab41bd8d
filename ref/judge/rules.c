/* SPDX-License-Identifier: MIT */
#include "judge/rules.h"

const char *const o2_judge_severity_names[] = {"must", "should", "note"};

#define NEGOTIATION "docs/connection.md, \"Negotiation\""
#define CONNACK	    "docs/connection.md, \"Checks of a CONNACK\""
#define REJECTS	    "docs/connection.md, \"What a reject means\""
#define WIRE	    "docs/wire.md, \"Rules\""
#define CHECKSUM    "docs/wire.md, \"Checksum\""
#define RECEIVING   "docs/transport.md, \"Receiving\""
#define FLOW	    "docs/transport.md, \"Flow control\""
#define NOOPS	    "docs/transport.md, \"NOOP\""
#define PUMP	    "docs/transport.md, \"The pump\""
#define TIME	    "docs/transport.md, \"Time\""
#define LISTS	    "docs/transport.md, \"Lists of transmits\""
#define PUT	    "docs/transport.md, \"PUT\""
#define GET	    "docs/transport.md, \"GET\""
#define PLAN	    "docs/mapping.md, \"rdma_plan\""
#define KEYS	    "docs/pools.md, \"The life of a key\""
#define ANSWERS	    "docs/peer.md, \"Operations\""
#define CLOSING	    "docs/transport.md, \"Closing\""
#define PAYLOADS    "docs/judge.md, \"Payloads\""
#define TRANSPORT   "docs/judge.md, \"What it cannot see\""

#define RULE(rule, id, severity, proof, source, sentence) \
	[O2_JUDGE_##rule] = {id, O2_JUDGE_##severity, O2_JUDGE_##proof, sentence, source}

const struct o2_judge_rule o2_judge_rules[O2_JUDGE_RULES] = {
	RULE(CONNECT_TYPE, "connect/type", MUST, PROVEN, NEGOTIATION,
	     "a request carries a CONNREQ and a reply a CONNACK"),
	RULE(CONNECT_LIMITS, "connect/limits", SHOULD, PROVEN, NEGOTIATION,
	     "depth, fragments and message size are what a connection can live with"),
	RULE(CONNECT_VERSION, "connect/version", MUST, PROVEN, CONNACK,
	     "a CONNACK has the version of its CONNREQ"),
	RULE(CONNECT_NIDS, "connect/nids", MUST, PROVEN, CONNACK,
	     "a CONNACK goes from the NID that was asked to the one that asks"),
	RULE(CONNECT_STAMP, "connect/stamp", MUST, PROVEN, CONNACK,
	     "a CONNACK names the incarnation of the node that asks"),
	RULE(CONNECT_OVER_ASKED, "connect/over-asked", MUST, PROVEN, CONNACK,
	     "a CONNACK grants no more than the CONNREQ asks for"),
	RULE(CONNECT_REJECT_UNTRUE, "connect/reject-untrue", SHOULD, PROVEN, REJECTS,
	     "a reject for a limit tells one that the request does not keep to"),
	RULE(CONNECT_REFUSED, "connect/refused", NOTE, PROVEN, REJECTS,
	     "a request asks for what the other side grants"),
	RULE(CONNECT_REJECT_VERSION, "connect/reject-version", SHOULD, PROVEN, REJECTS,
	     "a reject of a request that was understood has its version"),
	RULE(CONNECT_RETRY, "connect/retry", NOTE, PROVEN, REJECTS,
	     "a request that follows a reject heeds what the reject has told"),

	RULE(MESSAGE_WIRE, "message/wire", MUST, PROVEN, WIRE,
	     "every message keeps to the rules of the codec"),
	RULE(MESSAGE_TYPE, "message/type", MUST, PROVEN, RECEIVING,
	     "no CONNREQ and no CONNACK travels over a connection"),
	RULE(MESSAGE_VERSION, "message/version", MUST, PROVEN, RECEIVING,
	     "every message has the version of the connection"),
	RULE(MESSAGE_NIDS, "message/nids", MUST, PROVEN, RECEIVING,
	     "every message goes from and to the NIDs of the connection"),
	RULE(MESSAGE_STAMPS, "message/stamps", MUST, PROVEN, RECEIVING,
	     "every message names the incarnations of both ends"),
	RULE(MESSAGE_SIZE, "message/size", MUST, PROVEN, NEGOTIATION,
	     "no message is longer than its receiver takes"),
	RULE(MESSAGE_LENGTH, "message/length", SHOULD, PROVEN, WIRE, "a message is as long as what is in it"),

	RULE(MESSAGE_UNSUMMED, "message/unsummed", NOTE, PROVEN, CHECKSUM,
	     "a side that sums its messages sums each of them"),
	RULE(CREDITS_NONE, "credits/none", MUST, OF_PEER, FLOW, "a message that takes a credit has one"),
	RULE(CREDITS_OVER_OWED, "credits/over-owed", MUST, OF_PEER, FLOW,
	     "no more credits are given back than are owed"),
	RULE(CREDITS_LAST, "credits/last", MUST, OF_PEER, PUMP, "in version 1 the last credit is for a NOOP"),
	RULE(CREDITS_REQUESTS, "credits/requests", MUST, OF_PEER, FLOW,
	     "no more requests are without an answer than the queue is deep"),
	RULE(CREDITS_NOOP_UNCALLED, "credits/noop-uncalled", SHOULD, PROVEN, PUMP,
	     "a NOOP gives back a high-water mark, or keeps alive"),
	RULE(CREDITS_NOOP_STORM, "credits/noop-storm", MUST, PROVEN, NOOPS,
	     "a second has at most 16 NOOPs of a side that give nothing"),
	RULE(CREDITS_WITHHELD, "credits/withheld", SHOULD, OF_CULPRIT, FLOW,
	     "a peer to whom all of its credits are owed gets some within the time-out"),

	RULE(TRANSFER_COOKIE_REUSED, "transfer/cookie-reused", MUST, OF_PEER, LISTS,
	     "a cookie names one operation at a time"),
	RULE(TRANSFER_UNASKED, "transfer/unasked", MUST, OF_PEER, LISTS,
	     "an answer has the cookie of what it answers, and answers it once"),
	RULE(TRANSFER_KIND, "transfer/kind", MUST, OF_PEER, LISTS,
	     "each request is answered by a message of the right type"),
	RULE(TRANSFER_FRAGS, "transfer/frags", MUST, PROVEN, NEGOTIATION,
	     "a descriptor has no more fragments than were agreed"),
	RULE(TRANSFER_SINK, "transfer/sink", MUST, OF_PEER, PUT,
	     "a sink describes no more bytes than the request is about"),
	RULE(TRANSFER_STATUS, "transfer/status", MUST, OF_PEER, PUT,
	     "a PUT moves what the sink described, a GET at most that"),
	RULE(TRANSFER_ERRNO, "transfer/errno", SHOULD, PROVEN, PUT,
	     "a NAK reports no bytes, and a failure is an errno: -1 to -4095"),
	RULE(TRANSFER_BYTES, "transfer/bytes-written", MUST, OF_PEER, PLAN,
	     "the bytes written are those that are reported"),
	RULE(TRANSFER_UNANSWERED, "transfer/unanswered", SHOULD, OF_CULPRIT, TIME,
	     "a request is answered within the time-out"),

	RULE(WRITE_KEY, "write/key", MUST, OF_PEER, PLAN, "an RDMA WRITE uses a key that was offered"),
	RULE(WRITE_ENDED, "write/ended", MUST, OF_PEER, PUT,
	     "no RDMA WRITE comes after the message that ends its transfer"),
	RULE(WRITE_OUTSIDE, "write/outside", MUST, OF_PEER, PLAN,
	     "an RDMA WRITE stays inside one fragment of its descriptor"),
	RULE(WRITE_TWICE, "write/twice", MUST, OF_PEER, PLAN, "each byte of a sink is written once"),
	RULE(WRITE_ORDER, "write/order", SHOULD, OF_PEER, PLAN,
	     "fragments are filled in their order, without holes"),
	RULE(WRITE_ANNOUNCED, "write/announced", MUST, PROVEN, PLAN,
	     "an RDMA WRITE has as many bytes as its first packet says"),

	RULE(KEY_IN_USE, "key/in-use", NOTE, OF_PEER, KEYS,
	     "memory under one key is offered to one transfer at a time"),

	RULE(LNET_ACK, "lnet/ack", MUST, OF_PEER, ANSWERS, "an ACK says how many bytes the PUT has moved"),
	RULE(LNET_UNASKED, "lnet/unasked", SHOULD, PROVEN, ANSWERS, "no ACK comes for a PUT that wants none"),
	RULE(LNET_REPLY, "lnet/reply", MUST, OF_PEER, ANSWERS,
	     "a REPLY has no more bytes than the GET has room for"),

	RULE(PAYLOAD_PUT, "payload/put", MUST, OF_PEER, PAYLOADS,
	     "each byte of a PUT is the one that belongs there"),
	RULE(PAYLOAD_GET, "payload/get", SHOULD, OF_PEER, PAYLOADS,
	     "a GET brings what is served there, or what the same node has PUT there"),

	RULE(END_MESSAGE, "end/message", SHOULD, PROVEN, CLOSING, "who disconnects sends no more messages"),
	RULE(END_OPEN, "end/open", NOTE, OF_PEER, CLOSING, "no connection ends with a transfer under way"),

	RULE(TRANSPORT_LOST, "transport/lost", NOTE, PROVEN, TRANSPORT,
	     "no packets are missing from what was seen"),
	RULE(TRANSPORT_NAK, "transport/nak", NOTE, PROVEN, TRANSPORT,
	     "a receiver is ready, and asks for no packet again"),
};
