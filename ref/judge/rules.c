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

#define RULE(id, severity, proof, sentence, source)                         \
	{                                                                   \
		id, O2_JUDGE_##severity, O2_JUDGE_##proof, sentence, source \
	}

const struct o2_judge_rule o2_judge_rules[O2_JUDGE_RULES] = {
	[O2_JUDGE_CONNECT_TYPE] = RULE("connect/type", MUST, PROVEN,
				       "a request carries a CONNREQ and a reply a CONNACK", NEGOTIATION),
	[O2_JUDGE_CONNECT_LIMITS] =
		RULE("connect/limits", SHOULD, PROVEN,
		     "depth, fragments and message size are what a connection can live with", NEGOTIATION),
	[O2_JUDGE_CONNECT_VERSION] =
		RULE("connect/version", MUST, PROVEN, "a CONNACK has the version of its CONNREQ", CONNACK),
	[O2_JUDGE_CONNECT_NIDS] =
		RULE("connect/nids", MUST, PROVEN,
		     "a CONNACK goes from the NID that was asked to the one that asks", CONNACK),
	[O2_JUDGE_CONNECT_STAMP] = RULE("connect/stamp", MUST, PROVEN,
					"a CONNACK names the incarnation of the node that asks", CONNACK),
	[O2_JUDGE_CONNECT_OVER_ASKED] = RULE("connect/over-asked", MUST, PROVEN,
					     "a CONNACK grants no more than the CONNREQ asks for", CONNACK),
	[O2_JUDGE_CONNECT_REJECT_UNTRUE] =
		RULE("connect/reject-untrue", SHOULD, PROVEN,
		     "a reject for a limit tells one that the request is beyond", REJECTS),
	[O2_JUDGE_CONNECT_REFUSED] = RULE("connect/refused", NOTE, PROVEN,
					  "a request asks for what the other side grants", REJECTS),
	[O2_JUDGE_CONNECT_REJECT_VERSION] =
		RULE("connect/reject-version", SHOULD, PROVEN,
		     "a reject of a request that was understood has its version", REJECTS),
	[O2_JUDGE_CONNECT_RETRY] =
		RULE("connect/retry", NOTE, PROVEN,
		     "a request that follows a reject heeds what the reject has told", REJECTS),

	[O2_JUDGE_MESSAGE_WIRE] =
		RULE("message/wire", MUST, PROVEN, "every message keeps to the rules of the codec", WIRE),
	[O2_JUDGE_MESSAGE_TYPE] = RULE("message/type", MUST, PROVEN,
				       "no CONNREQ and no CONNACK travels over a connection", RECEIVING),
	[O2_JUDGE_MESSAGE_VERSION] = RULE("message/version", MUST, PROVEN,
					  "every message has the version of the connection", RECEIVING),
	[O2_JUDGE_MESSAGE_NIDS] =
		RULE("message/nids", MUST, PROVEN,
		     "every message goes from and to the NIDs of the connection", RECEIVING),
	[O2_JUDGE_MESSAGE_STAMPS] = RULE("message/stamps", MUST, PROVEN,
					 "every message names the incarnations of both ends", RECEIVING),
	[O2_JUDGE_MESSAGE_SIZE] =
		RULE("message/size", MUST, PROVEN, "no message is longer than was agreed", NEGOTIATION),
	[O2_JUDGE_MESSAGE_LENGTH] =
		RULE("message/length", SHOULD, PROVEN, "a message is as long as what is in it", WIRE),

	[O2_JUDGE_MESSAGE_UNSUMMED] = RULE("message/unsummed", NOTE, PROVEN,
					   "a side that sums its messages sums each of them", CHECKSUM),
	[O2_JUDGE_CREDITS_NONE] =
		RULE("credits/none", MUST, OF_PEER, "a message that takes a credit has one", FLOW),
	[O2_JUDGE_CREDITS_OVER_OWED] = RULE("credits/over-owed", MUST, OF_PEER,
					    "no more credits are given back than are owed", FLOW),
	[O2_JUDGE_CREDITS_LAST] =
		RULE("credits/last", MUST, OF_PEER, "in version 1 the last credit is for a NOOP", PUMP),
	[O2_JUDGE_CREDITS_REQUESTS] =
		RULE("credits/requests", MUST, OF_PEER,
		     "no more requests are without an answer than the queue is deep", FLOW),
	[O2_JUDGE_CREDITS_NOOP_UNCALLED] = RULE("credits/noop-uncalled", SHOULD, PROVEN,
						"a NOOP gives back a high-water mark, or keeps alive", PUMP),
	[O2_JUDGE_CREDITS_NOOP_STORM] =
		RULE("credits/noop-storm", MUST, PROVEN,
		     "a second has at most 16 NOOPs of a side that give nothing", NOOPS),
	[O2_JUDGE_CREDITS_WITHHELD] = RULE("credits/withheld", SHOULD, OF_CULPRIT,
					   "a peer without credits gets some within the time-out", FLOW),

	[O2_JUDGE_TRANSFER_COOKIE_REUSED] = RULE("transfer/cookie-reused", MUST, OF_PEER,
						 "a cookie names one operation at a time", LISTS),
	[O2_JUDGE_TRANSFER_UNASKED] =
		RULE("transfer/unasked", MUST, OF_PEER,
		     "an answer has the cookie of what it answers, and answers it once", LISTS),
	[O2_JUDGE_TRANSFER_KIND] = RULE("transfer/kind", MUST, OF_PEER,
					"each request is answered by a message of the right type", LISTS),
	[O2_JUDGE_TRANSFER_FRAGS] = RULE("transfer/frags", MUST, PROVEN,
					 "a descriptor has no more fragments than were agreed", NEGOTIATION),
	[O2_JUDGE_TRANSFER_SINK] = RULE("transfer/sink", MUST, OF_PEER,
					"a sink describes no more bytes than the request is about", PUT),
	[O2_JUDGE_TRANSFER_STATUS] = RULE("transfer/status", MUST, OF_PEER,
					  "a PUT moves what the sink described, a GET at most that", PUT),
	[O2_JUDGE_TRANSFER_ERRNO] =
		RULE("transfer/errno", SHOULD, PROVEN,
		     "a NAK reports no bytes, and a failure is an errno: -1 to -4095", PUT),
	[O2_JUDGE_TRANSFER_BYTES] = RULE("transfer/bytes-written", MUST, PROVEN,
					 "the bytes written are those that are reported", PLAN),
	[O2_JUDGE_TRANSFER_UNANSWERED] = RULE("transfer/unanswered", SHOULD, OF_CULPRIT,
					      "a request is answered within the time-out", TIME),

	[O2_JUDGE_WRITE_KEY] =
		RULE("write/key", MUST, OF_PEER, "an RDMA WRITE uses a key that was offered", PLAN),
	[O2_JUDGE_WRITE_ENDED] = RULE("write/ended", MUST, OF_PEER,
				      "no RDMA WRITE comes after the message that ends its transfer", PUT),
	[O2_JUDGE_WRITE_OUTSIDE] = RULE("write/outside", MUST, OF_PEER,
					"an RDMA WRITE stays inside one fragment of its descriptor", PLAN),
	[O2_JUDGE_WRITE_TWICE] =
		RULE("write/twice", MUST, OF_PEER, "each byte of a sink is written once", PLAN),
	[O2_JUDGE_WRITE_ORDER] = RULE("write/order", SHOULD, OF_PEER,
				      "fragments are filled in their order, without holes", PLAN),
	[O2_JUDGE_WRITE_ANNOUNCED] = RULE("write/announced", MUST, PROVEN,
					  "an RDMA WRITE has as many bytes as its first packet says", PLAN),

	[O2_JUDGE_KEY_IN_USE] = RULE("key/in-use", NOTE, OF_PEER,
				     "memory under one key is offered to one transfer at a time", KEYS),

	[O2_JUDGE_LNET_ACK] =
		RULE("lnet/ack", MUST, OF_PEER, "an ACK says how many bytes the PUT has moved", ANSWERS),
	[O2_JUDGE_LNET_UNASKED] =
		RULE("lnet/unasked", SHOULD, PROVEN, "no ACK comes for a PUT that wants none", ANSWERS),
	[O2_JUDGE_LNET_REPLY] = RULE("lnet/reply", MUST, OF_PEER,
				     "a REPLY has no more bytes than the GET has room for", ANSWERS),

	[O2_JUDGE_PAYLOAD_PUT] = RULE("payload/put", MUST, OF_PEER,
				      "each byte of a PUT is the one that belongs there", PAYLOADS),
	[O2_JUDGE_PAYLOAD_GET] =
		RULE("payload/get", SHOULD, OF_PEER,
		     "a GET brings what is served there, or what the same node has PUT there", PAYLOADS),

	[O2_JUDGE_END_MESSAGE] =
		RULE("end/message", SHOULD, PROVEN, "who disconnects sends no more messages", CLOSING),
	[O2_JUDGE_END_OPEN] =
		RULE("end/open", NOTE, PROVEN, "a connection ended with a transfer under way", CLOSING),

	[O2_JUDGE_TRANSPORT_LOST] =
		RULE("transport/lost", NOTE, PROVEN, "packets are missing from what was seen", TRANSPORT),
	[O2_JUDGE_TRANSPORT_NAK] = RULE("transport/nak", NOTE, PROVEN,
					"a receiver was not ready, or asked for packets again", TRANSPORT),
};
