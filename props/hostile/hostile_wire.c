/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "props/hostile/hostile.h"

/* Misbehaviours that the codec must refuse: in headers and LNet headers. */

#define LNET_TYPE	    (O2_AT_LNET_HDR + O2_LNET_AT_TYPE)
#define LNET_PAYLOAD_LENGTH (O2_AT_LNET_HDR + O2_LNET_AT_PAYLOAD_LENGTH)

static bool no_checksum(struct o2_hostile *h)
{
	if (!o2_victim_does(h, O2_ACT_CHECKSUMS, 0, 0))
		return false;
	o2_liar_begin(h, O2_MSG_NOOP);
	return o2_liar_send(h);
}

#define DEPTH 8u

/*
 * Claim a payload beyond the message's end, in bytes that were received but do not belong to the message.  Do it as
 * often as there are credits: a message that is dropped gives its credit back.
 */
static bool payload_past_end(struct o2_hostile *h)
{
	for (uint32_t i = 0; i < DEPTH; i++) {
		o2_liar_begin(h, O2_MSG_IMMEDIATE);
		if (!o2_liar_send_spoiled(
			    h, &(struct o2_liar_spoil){LNET_PAYLOAD_LENGTH, 4, 8, O2_AT_PAYLOAD + 8, false}))
			return false;
		o2_hostile_settle(h);
	}
	return o2_victim_received(h, 0);
}

#define HEADER(name, text, rule, ...)                                                                     \
	{                                                                                                 \
		name, "header", text, "wire/" rule, "wire.md", O2_REACT_CLOSE, -EPROTO, NULL, __VA_ARGS__ \
	}
#define LNET(name, text, rule, ...)                                                                     \
	{                                                                                               \
		name, "lnet", text, "wire/" rule, "wire.md", O2_REACT_CLOSE, -EPROTO, NULL, __VA_ARGS__ \
	}

const struct o2_misbehaviour o2_hostile_wire[] = {
	HEADER("stump", "a message of five bytes", "header/short-for-version", O2_CUTS(O2_MSG_NOOP, 5)),
	HEADER("magic", "another protocol's magic", "header/magic",
	       O2_SAYS(O2_MSG_NOOP, O2_AT_MAGIC, 4, 0x45726963)),
	HEADER("version", "a version that does not exist", "header/version",
	       O2_SAYS(O2_MSG_NOOP, O2_AT_VERSION, 2, 0x13)),
	HEADER("short-header", "a header that lacks its last byte", "header/short-for-header",
	       O2_CUTS(O2_MSG_NOOP, 47)),
	HEADER("nob-beyond", "a length one byte beyond what was sent", "header/nob-over-received",
	       O2_SAYS(O2_MSG_NOOP, O2_AT_NOB, 4, 49)),
	HEADER("checksum", "a checksum of other bytes", "header/checksum",
	       O2_SAYS(O2_MSG_NOOP, O2_AT_CKSUM, 4, 0xdeadbeef)),
	HEADER("no-checksum", "no checksum, where one is asked for", "header/checksum-absent",
	       .script = no_checksum),
	HEADER("anybody", "a sender that is everybody", "header/srcnid-wildcard",
	       O2_SAYS(O2_MSG_NOOP, O2_AT_SRCNID, 8, UINT64_MAX)),
	HEADER("src-top-byte", "a sender with a top byte", "header/srcnid-top-byte",
	       O2_SAYS(O2_MSG_NOOP, O2_AT_SRCNID + 7, 1, 1), O2_KERNEL_TOLERATES),
	HEADER("src-any", "a sender on any network", "header/srcnid-lnd-any",
	       O2_SAYS(O2_MSG_NOOP, O2_AT_SRCNID + 6, 1, 0xff)),
	HEADER("src-foreign", "a sender on a TCP network", "header/srcnid-lnd-foreign",
	       O2_SAYS(O2_MSG_NOOP, O2_AT_SRCNID + 6, 1, 2)),
	HEADER("src-zero", "a sender without an address", "header/srcnid-address-zero",
	       O2_SAYS(O2_MSG_NOOP, O2_AT_SRCNID, 4, 0)),
	HEADER("src-ones", "a sender that is a broadcast", "header/srcnid-address-ones",
	       O2_SAYS(O2_MSG_NOOP, O2_AT_SRCNID, 4, UINT32_MAX)),
	HEADER("dst-top-byte", "a receiver with a top byte", "header/dstnid-top-byte",
	       O2_SAYS(O2_MSG_NOOP, O2_AT_DSTNID + 7, 1, 1), O2_KERNEL_TOLERATES),
	HEADER("dst-any", "a receiver on any network", "header/dstnid-lnd-any",
	       O2_SAYS(O2_MSG_NOOP, O2_AT_DSTNID + 6, 1, 0xff)),
	HEADER("dst-foreign", "a receiver on a TCP network", "header/dstnid-lnd-foreign",
	       O2_SAYS(O2_MSG_NOOP, O2_AT_DSTNID + 6, 1, 2)),
	HEADER("dst-zero", "a receiver without an address", "header/dstnid-address-zero",
	       O2_SAYS(O2_MSG_NOOP, O2_AT_DSTNID, 4, 0)),
	HEADER("dst-ones", "a receiver that is a broadcast", "header/dstnid-address-ones",
	       O2_SAYS(O2_MSG_NOOP, O2_AT_DSTNID, 4, UINT32_MAX)),
	HEADER("short-immediate", "an IMMEDIATE without room for its LNet header",
	       "immediate/nob-under-minimum", O2_SAYS(O2_MSG_IMMEDIATE, O2_AT_NOB, 4, 119)),
	HEADER("short-put-req", "a PUT_REQ whose cookie is cut", "put_req/nob-under-minimum",
	       O2_SAYS(O2_MSG_PUT_REQ, O2_AT_NOB, 4, 127)),
	HEADER("short-put-nak", "a PUT_NAK whose status is cut", "put_nak/nob-under-minimum",
	       O2_SAYS(O2_MSG_PUT_NAK, O2_AT_NOB, 4, 59)),
	HEADER("short-put-ack", "a PUT_ACK whose count is cut", "put_ack/nob-under-minimum",
	       O2_SAYS(O2_MSG_PUT_ACK, O2_AT_NOB, 4, 71)),
	HEADER("short-put-done", "a PUT_DONE whose status is cut", "put_done/nob-under-minimum",
	       O2_SAYS(O2_MSG_PUT_DONE, O2_AT_NOB, 4, 59)),
	HEADER("short-get-req", "a GET_REQ whose count is cut", "get_req/nob-under-minimum",
	       O2_SAYS(O2_MSG_GET_REQ, O2_AT_NOB, 4, 135)),
	HEADER("short-get-done", "a GET_DONE whose status is cut", "get_done/nob-under-minimum",
	       O2_SAYS(O2_MSG_GET_DONE, O2_AT_NOB, 4, 59)),
	{"nob-negative", "header", "a length that is negative where it is signed",
	 "wire/header/nob-over-received", "wire.md", O2_REACT_CLOSE, -EPROTO, "nob-signed",
	 O2_SAYS(O2_MSG_NOOP, O2_AT_NOB, 4, 0x80000030)},
	{"unknown-type", "header", "a type that nothing has", "wire/header/type", "wire.md", O2_REACT_CLOSE,
	 -EPROTO, "type-asserted", O2_SAYS(O2_MSG_NOOP, O2_AT_TYPE, 1, 0xd8)},
	{"request-on-qp", "header", "a request for a connection, on a connection", "conn/unexpected-type",
	 "transport.md", O2_REACT_CLOSE, -EPROTO, NULL,
	 O2_SAYS(O2_MSG_GET_REQ, O2_AT_TYPE, 1, O2_MSG_CONNREQ)},
	{"reply-on-qp", "header", "an answer to such a request, on a connection", "conn/unexpected-type",
	 "transport.md", O2_REACT_CLOSE, -EPROTO, NULL,
	 O2_SAYS(O2_MSG_GET_REQ, O2_AT_TYPE, 1, O2_MSG_CONNACK)},

	LNET("hello", "an LNet HELLO", "immediate/lnet-type",
	     O2_SAYS(O2_MSG_IMMEDIATE, LNET_TYPE, 4, O2_LNET_HELLO)),
	LNET("lnet-type", "an LNet type that does not exist", "immediate/lnet-type",
	     O2_SAYS(O2_MSG_IMMEDIATE, LNET_TYPE, 4, 77)),
	LNET("get-in-put", "a PUT_REQ that carries a GET", "put_req/lnet-type",
	     O2_SAYS(O2_MSG_PUT_REQ, LNET_TYPE, 8, O2_LNET_GET), O2_KERNEL_TOLERATES),
	LNET("put-in-get", "a GET_REQ that carries a PUT", "get_req/lnet-type",
	     O2_SAYS(O2_MSG_GET_REQ, LNET_TYPE, 4, O2_LNET_PUT), O2_KERNEL_TOLERATES),
	LNET("ack-payload", "an acknowledgement with a payload", "immediate/payload-not-zero",
	     O2_SAYS(O2_MSG_IMMEDIATE, LNET_TYPE, 8, (uint64_t)4 << 32 | O2_LNET_ACK)),
	LNET("endless-payload", "an IMMEDIATE of more than 1 MiB", "immediate/payload-over-limit",
	     O2_SAYS(O2_MSG_IMMEDIATE, LNET_PAYLOAD_LENGTH, 4, 0x100001)),
	LNET("endless-put", "a PUT of more than 1 MiB", "put_req/payload-over-limit",
	     O2_SAYS(O2_MSG_PUT_REQ, LNET_PAYLOAD_LENGTH, 4, 0x100001)),
	LNET("get-payload", "a GET with a payload", "get_req/payload-not-zero",
	     O2_SAYS(O2_MSG_GET_REQ, LNET_PAYLOAD_LENGTH, 4, 1)),
	{"payload-past-end", "lnet", "a payload that goes on behind its message",
	 "wire/immediate/payload-past-nob", "wire.md", O2_REACT_KEEP, 0, NULL, .script = payload_past_end},
	{.name = NULL},
};
