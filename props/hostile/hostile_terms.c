/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "props/hostile/hostile.h"
#include "wire/reject.h"

/* Misbehaviours in connection requests and replies (docs/connection.md, "Negotiation"). */

#define REQUEST(name, text, rule, why, ...)                                                           \
	{                                                                                             \
		name, "request", text, rule, "connection.md", O2_REACT_REJECT, why, NULL, __VA_ARGS__ \
	}
#define REPLY(name, text, rule, code, ...)                                                         \
	{                                                                                          \
		name, "reply", text, rule, "connection.md", O2_REACT_FAIL, code, NULL, __VA_ARGS__ \
	}

const struct o2_misbehaviour o2_hostile_connreq[] = {
	REQUEST("asks-magic", "asks in another protocol", "wire/header/magic", O2_REJECT_FATAL,
		O2_SAYS(O2_MSG_CONNREQ, O2_AT_MAGIC, 4, 0x12345678)),
	REQUEST("asks-checksum", "asks with a wrong checksum", "wire/header/checksum", O2_REJECT_FATAL,
		O2_SAYS(O2_MSG_CONNREQ, O2_AT_CKSUM, 4, 0xdeadbeef)),
	REQUEST("asks-cut", "a request whose last byte is cut", "wire/connreq/nob-under-minimum",
		O2_REJECT_FATAL, O2_SAYS(O2_MSG_CONNREQ, O2_AT_NOB, 4, 55)),
	REQUEST("asks-for-another", "asks for another node", "connreq/dstnid", O2_REJECT_FATAL,
		O2_TURNS(O2_MSG_CONNREQ, O2_AT_DSTNID)),
	REQUEST("asks-other-life", "asks for another life of its victim", "connreq/dststamp",
		O2_REJECT_CONN_STALE, O2_SAYS(O2_MSG_CONNREQ, O2_AT_DSTSTAMP, 1, 0x55)),
	REQUEST("asks-with-connack", "asks with what is an answer", "connreq/type", O2_REJECT_FATAL,
		O2_SAYS(O2_MSG_CONNREQ, O2_AT_TYPE, 1, O2_MSG_CONNACK)),
	REQUEST("asks-depth-9", "asks for a deeper queue than there is", "connreq/queue-depth-over",
		O2_REJECT_MSG_QUEUE_SIZE, O2_SAYS(O2_MSG_CONNREQ, O2_AT_QUEUE_DEPTH, 2, 9)),
	REQUEST("asks-depth-1", "asks for a queue that one message fills", "connreq/queue-depth-under",
		O2_REJECT_MSG_QUEUE_SIZE, O2_SAYS(O2_MSG_CONNREQ, O2_AT_QUEUE_DEPTH, 2, 1),
		O2_KERNEL_TOLERATES),
	REQUEST("asks-depth-0", "asks for no queue", "connreq/queue-depth-under", O2_REJECT_MSG_QUEUE_SIZE,
		O2_SAYS(O2_MSG_CONNREQ, O2_AT_QUEUE_DEPTH, 2, 0), O2_KERNEL_TOLERATES),
	REQUEST("asks-frags-258", "asks for 258 fragments", "connreq/max-frags-over", O2_REJECT_RDMA_FRAGS,
		O2_SAYS(O2_MSG_CONNREQ, O2_AT_MAX_FRAGS, 2, 258)),
	REQUEST("asks-frags-0", "asks for no fragments", "connreq/max-frags-zero", O2_REJECT_RDMA_FRAGS,
		O2_SAYS(O2_MSG_CONNREQ, O2_AT_MAX_FRAGS, 2, 0), O2_KERNEL_TOLERATES),
	REQUEST("asks-large", "asks for messages of 8192 bytes", "connreq/max-msg-size-over", O2_REJECT_FATAL,
		O2_SAYS(O2_MSG_CONNREQ, O2_AT_MAX_MSG_SIZE, 4, 8192)),
	REQUEST("asks-small", "asks for messages that hold no request", "connreq/max-msg-size-under",
		O2_REJECT_FATAL, O2_SAYS(O2_MSG_CONNREQ, O2_AT_MAX_MSG_SIZE, 4, 147), O2_KERNEL_TOLERATES),
	REQUEST("asks-as-another", "asks under another node's address", "connreq/srcnid-address",
		O2_REJECT_FATAL, O2_TURNS(O2_MSG_CONNREQ, O2_AT_SRCNID), O2_KERNEL_TOLERATES),
	{.name = NULL},
};

const struct o2_misbehaviour o2_hostile_connack[] = {
	REPLY("replies-magic", "answers in another protocol", "wire/header/magic", -EPROTO,
	      O2_SAYS(O2_MSG_CONNACK, O2_AT_MAGIC, 4, 0x12345678)),
	REPLY("replies-request", "answers with a request", "connack/type", -EPROTO,
	      O2_SAYS(O2_MSG_CONNACK, O2_AT_TYPE, 1, O2_MSG_CONNREQ)),
	REPLY("replies-version", "answers in another version than it was asked in", "connack/version",
	      -EPROTO, O2_SAYS(O2_MSG_CONNACK, O2_AT_VERSION, 2, O2_MSG_VERSION_1)),
	REPLY("replies-depth-9", "accepts a deeper queue than was asked for", "connack/queue-depth-over",
	      -EPROTO, O2_SAYS(O2_MSG_CONNACK, O2_AT_QUEUE_DEPTH, 2, 9)),
	REPLY("replies-depth-1", "accepts a queue that one message fills", "connack/queue-depth-under",
	      -EPROTO, O2_SAYS(O2_MSG_CONNACK, O2_AT_QUEUE_DEPTH, 2, 1)),
	REPLY("replies-frags-258", "accepts more fragments than were asked for", "connack/max-frags-over",
	      -EPROTO, O2_SAYS(O2_MSG_CONNACK, O2_AT_MAX_FRAGS, 2, 258)),
	REPLY("replies-frags-0", "accepts no fragments", "connack/max-frags-zero", -EPROTO,
	      O2_SAYS(O2_MSG_CONNACK, O2_AT_MAX_FRAGS, 2, 0)),
	REPLY("replies-large", "wants messages of 8192 bytes", "connack/max-msg-size-over", -EPROTO,
	      O2_SAYS(O2_MSG_CONNACK, O2_AT_MAX_MSG_SIZE, 4, 8192)),
	REPLY("replies-small", "wants messages that hold no request", "connack/max-msg-size-under", -EPROTO,
	      O2_SAYS(O2_MSG_CONNACK, O2_AT_MAX_MSG_SIZE, 4, 147)),
	REPLY("replies-to-another", "answers another node", "connack/dstnid", -ESTALE,
	      O2_TURNS(O2_MSG_CONNACK, O2_AT_DSTNID)),
	REPLY("replies-other-life", "answers another life of its victim", "connack/dststamp", -ESTALE,
	      O2_TURNS(O2_MSG_CONNACK, O2_AT_DSTSTAMP)),
	{.name = NULL},
};
