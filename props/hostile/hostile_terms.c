/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "props/hostile/hostile.h"
#include "wire/reject.h"

/* Liars that ask for a connection, or answer when they are asked (docs/connection.md, "Negotiation"). */

#define ASKS(name, offset, width, value, length)                                                      \
	static bool name(struct o2_hostile *h)                                                        \
	{                                                                                             \
		return o2_liar_asks(h, &(struct o2_liar_spoil){offset, width, length, value, false}); \
	}
#define ANSWERS(name, offset, width, value)                                                         \
	static bool name(struct o2_hostile *h)                                                      \
	{                                                                                           \
		return o2_liar_answers(h, &(struct o2_liar_spoil){offset, width, 0, value, false}); \
	}
/* Another one than the right one. */
#define ASKS_OTHER(name, offset)                                                        \
	static bool name(struct o2_hostile *h)                                          \
	{                                                                               \
		return o2_liar_asks(h, &(struct o2_liar_spoil){offset, 0, 0, 0, true}); \
	}
#define ANSWERS_OTHER(name, offset)                                                        \
	static bool name(struct o2_hostile *h)                                             \
	{                                                                                  \
		return o2_liar_answers(h, &(struct o2_liar_spoil){offset, 0, 0, 0, true}); \
	}

ASKS(asks_magic, O2_AT_MAGIC, 4, 0x12345678, 0)
ASKS(asks_checksum, O2_AT_CKSUM, 4, 0xdeadbeef, 0)
ASKS(asks_cut, O2_AT_NOB, 4, 55, 0)
ASKS_OTHER(asks_other_nid, O2_AT_DSTNID)
ASKS(asks_other_life, O2_AT_DSTSTAMP, 1, 0x55, 0)
ASKS(asks_with_connack, O2_AT_TYPE, 1, O2_MSG_CONNACK, 0)
ASKS(asks_depth_9, O2_AT_QUEUE_DEPTH, 2, 9, 0)
ASKS(asks_depth_1, O2_AT_QUEUE_DEPTH, 2, 1, 0)
ASKS(asks_depth_0, O2_AT_QUEUE_DEPTH, 2, 0, 0)
ASKS(asks_frags_258, O2_AT_MAX_FRAGS, 2, 258, 0)
ASKS(asks_frags_0, O2_AT_MAX_FRAGS, 2, 0, 0)
ASKS(asks_large, O2_AT_MAX_MSG_SIZE, 4, 8192, 0)
ASKS(asks_small, O2_AT_MAX_MSG_SIZE, 4, 147, 0)
ASKS_OTHER(asks_as_another, O2_AT_SRCNID)

ANSWERS(replies_magic, O2_AT_MAGIC, 4, 0x12345678)
ANSWERS(replies_request, O2_AT_TYPE, 1, O2_MSG_CONNREQ)
ANSWERS(replies_version, O2_AT_VERSION, 2, O2_MSG_VERSION_1)
ANSWERS(replies_depth_9, O2_AT_QUEUE_DEPTH, 2, 9)
ANSWERS(replies_depth_1, O2_AT_QUEUE_DEPTH, 2, 1)
ANSWERS(replies_frags_258, O2_AT_MAX_FRAGS, 2, 258)
ANSWERS(replies_frags_0, O2_AT_MAX_FRAGS, 2, 0)
ANSWERS(replies_large, O2_AT_MAX_MSG_SIZE, 4, 8192)
ANSWERS(replies_small, O2_AT_MAX_MSG_SIZE, 4, 147)
ANSWERS_OTHER(replies_other_nid, O2_AT_DSTNID)
ANSWERS_OTHER(replies_other_life, O2_AT_DSTSTAMP)

#define REQUEST(name, text, rule, why, ...)                                               \
	{                                                                                 \
		name, "request", text, rule, "connection.md", O2_REACT_REJECT, why, NULL, \
			.script = __VA_ARGS__                                             \
	}
#define REPLY(name, text, rule, code, ...)                                                                   \
	{                                                                                                    \
		name, "reply", text, rule, "connection.md", O2_REACT_FAIL, code, NULL, .script = __VA_ARGS__ \
	}

const struct o2_misbehaviour o2_hostile_connreq[] = {
	REQUEST("asks-magic", "asks in another protocol", "wire/header/magic", O2_REJECT_FATAL, asks_magic),
	REQUEST("asks-checksum", "asks with a wrong checksum", "wire/header/checksum", O2_REJECT_FATAL,
		asks_checksum),
	REQUEST("asks-cut", "a request whose last byte is cut", "wire/connreq/nob-under-minimum",
		O2_REJECT_FATAL, asks_cut),
	REQUEST("asks-for-another", "asks for another node", "connreq/dstnid", O2_REJECT_FATAL,
		asks_other_nid),
	REQUEST("asks-other-life", "asks for another life of its victim", "connreq/dststamp",
		O2_REJECT_CONN_STALE, asks_other_life),
	REQUEST("asks-with-connack", "asks with what is an answer", "connreq/type", O2_REJECT_FATAL,
		asks_with_connack),
	REQUEST("asks-depth-9", "asks for a deeper queue than there is", "connreq/queue-depth-over",
		O2_REJECT_MSG_QUEUE_SIZE, asks_depth_9),
	REQUEST("asks-depth-1", "asks for a queue that one message fills", "connreq/queue-depth-under",
		O2_REJECT_MSG_QUEUE_SIZE, asks_depth_1, O2_KERNEL_TOLERATES),
	REQUEST("asks-depth-0", "asks for no queue", "connreq/queue-depth-under", O2_REJECT_MSG_QUEUE_SIZE,
		asks_depth_0, O2_KERNEL_TOLERATES),
	REQUEST("asks-frags-258", "asks for 258 fragments", "connreq/max-frags-over", O2_REJECT_RDMA_FRAGS,
		asks_frags_258),
	REQUEST("asks-frags-0", "asks for no fragments", "connreq/max-frags-zero", O2_REJECT_RDMA_FRAGS,
		asks_frags_0, O2_KERNEL_TOLERATES),
	REQUEST("asks-large", "asks for messages of 8192 bytes", "connreq/max-msg-size-over", O2_REJECT_FATAL,
		asks_large),
	REQUEST("asks-small", "asks for messages that hold no request", "connreq/max-msg-size-under",
		O2_REJECT_FATAL, asks_small, O2_KERNEL_TOLERATES),
	REQUEST("asks-as-another", "asks under another node's address", "connreq/srcnid-address",
		O2_REJECT_FATAL, asks_as_another, O2_KERNEL_TOLERATES),
	{.name = NULL},
};

const struct o2_misbehaviour o2_hostile_connack[] = {
	REPLY("replies-magic", "answers in another protocol", "wire/header/magic", -EPROTO, replies_magic),
	REPLY("replies-request", "answers with a request", "connack/type", -EPROTO, replies_request),
	REPLY("replies-version", "answers in another version than it was asked in", "connack/version",
	      -EPROTO, replies_version),
	REPLY("replies-depth-9", "accepts a deeper queue than was asked for", "connack/queue-depth-over",
	      -EPROTO, replies_depth_9),
	REPLY("replies-depth-1", "accepts a queue that one message fills", "connack/queue-depth-under",
	      -EPROTO, replies_depth_1),
	REPLY("replies-frags-258", "accepts more fragments than were asked for", "connack/max-frags-over",
	      -EPROTO, replies_frags_258),
	REPLY("replies-frags-0", "accepts no fragments", "connack/max-frags-zero", -EPROTO, replies_frags_0),
	REPLY("replies-large", "wants messages of 8192 bytes", "connack/max-msg-size-over", -EPROTO,
	      replies_large),
	REPLY("replies-small", "wants messages that hold no request", "connack/max-msg-size-under", -EPROTO,
	      replies_small),
	REPLY("replies-to-another", "answers another node", "connack/dstnid", -ESTALE, replies_other_nid),
	REPLY("replies-other-life", "answers another life of its victim", "connack/dststamp", -ESTALE,
	      replies_other_life),
	{.name = NULL},
};
