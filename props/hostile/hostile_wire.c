/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "props/hostile/hostile.h"

/* Bytes that no codec may take: headers and LNet headers. */

#define LNET_TYPE	    (O2_AT_LNET_HDR + O2_LNET_AT_TYPE)
#define LNET_PAYLOAD_LENGTH (O2_AT_LNET_HDR + O2_LNET_AT_PAYLOAD_LENGTH)

/* A good message of a type, with `width` bytes at an offset replaced, and cut to a length (0: not cut). */
#define SPOILED(name, type, offset, width, value, cut)                     \
	static bool name(struct o2_hostile *h)                             \
	{                                                                  \
		o2_liar_begin(h, type);                                    \
		return o2_liar_send_patched(h, offset, width, value, cut); \
	}

SPOILED(stump, O2_MSG_NOOP, 0, 0, 0, 5)
SPOILED(bad_magic, O2_MSG_NOOP, O2_AT_MAGIC, 4, 0x45726963, 0)
SPOILED(bad_version, O2_MSG_NOOP, O2_AT_VERSION, 2, 0x13, 0)
SPOILED(short_header, O2_MSG_NOOP, 0, 0, 0, 47)
SPOILED(nob_beyond, O2_MSG_NOOP, O2_AT_NOB, 4, 49, 0)
SPOILED(nob_negative, O2_MSG_NOOP, O2_AT_NOB, 4, 0x80000030, 0)
SPOILED(bad_checksum, O2_MSG_NOOP, O2_AT_CKSUM, 4, 0xdeadbeef, 0)
SPOILED(anybody, O2_MSG_NOOP, O2_AT_SRCNID, 8, UINT64_MAX, 0)
SPOILED(src_top, O2_MSG_NOOP, O2_AT_SRCNID + 7, 1, 1, 0)
SPOILED(src_any, O2_MSG_NOOP, O2_AT_SRCNID + 6, 1, 0xff, 0)
SPOILED(src_foreign, O2_MSG_NOOP, O2_AT_SRCNID + 6, 1, 2, 0)
SPOILED(src_zero, O2_MSG_NOOP, O2_AT_SRCNID, 4, 0, 0)
SPOILED(src_ones, O2_MSG_NOOP, O2_AT_SRCNID, 4, UINT32_MAX, 0)
SPOILED(dst_top, O2_MSG_NOOP, O2_AT_DSTNID + 7, 1, 1, 0)
SPOILED(dst_any, O2_MSG_NOOP, O2_AT_DSTNID + 6, 1, 0xff, 0)
SPOILED(dst_foreign, O2_MSG_NOOP, O2_AT_DSTNID + 6, 1, 2, 0)
SPOILED(dst_zero, O2_MSG_NOOP, O2_AT_DSTNID, 4, 0, 0)
SPOILED(dst_ones, O2_MSG_NOOP, O2_AT_DSTNID, 4, UINT32_MAX, 0)
SPOILED(unknown_type, O2_MSG_NOOP, O2_AT_TYPE, 1, 0xd8, 0)
SPOILED(short_immediate, O2_MSG_IMMEDIATE, O2_AT_NOB, 4, 119, 0)
SPOILED(short_put_req, O2_MSG_PUT_REQ, O2_AT_NOB, 4, 127, 0)
SPOILED(short_put_nak, O2_MSG_PUT_NAK, O2_AT_NOB, 4, 59, 0)
SPOILED(short_put_ack, O2_MSG_PUT_ACK, O2_AT_NOB, 4, 71, 0)
SPOILED(short_put_done, O2_MSG_PUT_DONE, O2_AT_NOB, 4, 59, 0)
SPOILED(short_get_req, O2_MSG_GET_REQ, O2_AT_NOB, 4, 135, 0)
SPOILED(short_get_done, O2_MSG_GET_DONE, O2_AT_NOB, 4, 59, 0)
SPOILED(request_on_qp, O2_MSG_GET_REQ, O2_AT_TYPE, 1, O2_MSG_CONNREQ, 0)
SPOILED(reply_on_qp, O2_MSG_GET_REQ, O2_AT_TYPE, 1, O2_MSG_CONNACK, 0)

static bool no_checksum(struct o2_hostile *h)
{
	if (!o2_victim_wants_checksums(h))
		return false;
	o2_liar_begin(h, O2_MSG_NOOP);
	return o2_liar_send(h);
}

SPOILED(hello, O2_MSG_IMMEDIATE, LNET_TYPE, 4, O2_LNET_HELLO, 0)
SPOILED(type_of_nothing, O2_MSG_IMMEDIATE, LNET_TYPE, 4, 77, 0)
SPOILED(get_in_put, O2_MSG_PUT_REQ, LNET_TYPE, 8, O2_LNET_GET, 0)
SPOILED(put_in_get, O2_MSG_GET_REQ, LNET_TYPE, 4, O2_LNET_PUT, 0)
SPOILED(ack_with_payload, O2_MSG_IMMEDIATE, LNET_TYPE, 8, (uint64_t)4 << 32 | O2_LNET_ACK, 0)
SPOILED(endless_payload, O2_MSG_IMMEDIATE, LNET_PAYLOAD_LENGTH, 4, 0x100001, 0)
SPOILED(endless_put, O2_MSG_PUT_REQ, LNET_PAYLOAD_LENGTH, 4, 0x100001, 0)
SPOILED(get_with_payload, O2_MSG_GET_REQ, LNET_PAYLOAD_LENGTH, 4, 1, 0)

/* The bytes between the message's end and that of what was received are nobody's. */
static bool payload_past_end(struct o2_hostile *h)
{
	o2_liar_begin(h, O2_MSG_IMMEDIATE);
	if (!o2_liar_send_patched(h, LNET_PAYLOAD_LENGTH, 4, 8, O2_AT_PAYLOAD + 8))
		return false;
	o2_hostile_settle(h);
	return o2_victim_received(h, 0);
}

#define HEADER(name, text, rule, ...)                                                         \
	{                                                                                     \
		name, "header", text, "wire/" rule, "wire.md", O2_REACT_CLOSE, -EPROTO, NULL, \
			.script = __VA_ARGS__                                                 \
	}
#define LNET(name, text, rule, ...)                                                         \
	{                                                                                   \
		name, "lnet", text, "wire/" rule, "wire.md", O2_REACT_CLOSE, -EPROTO, NULL, \
			.script = __VA_ARGS__                                               \
	}

const struct o2_misbehaviour o2_hostile_wire[] = {
	HEADER("stump", "a message of five bytes", "header/short-for-version", stump),
	HEADER("magic", "another protocol's magic", "header/magic", bad_magic),
	HEADER("version", "a version that does not exist", "header/version", bad_version),
	HEADER("short-header", "a header that lacks its last byte", "header/short-for-header", short_header),
	HEADER("nob-beyond", "a length one byte beyond what was sent", "header/nob-over-received",
	       nob_beyond),
	HEADER("checksum", "a checksum of other bytes", "header/checksum", bad_checksum),
	HEADER("no-checksum", "no checksum, where one is asked for", "header/checksum-absent", no_checksum),
	HEADER("anybody", "a sender that is everybody", "header/srcnid-wildcard", anybody),
	HEADER("src-top-byte", "a sender with a top byte", "header/srcnid-top-byte", src_top,
	       O2_KERNEL_TOLERATES),
	HEADER("src-any", "a sender on any network", "header/srcnid-lnd-any", src_any),
	HEADER("src-foreign", "a sender on a TCP network", "header/srcnid-lnd-foreign", src_foreign),
	HEADER("src-zero", "a sender without an address", "header/srcnid-address-zero", src_zero),
	HEADER("src-ones", "a sender that is a broadcast", "header/srcnid-address-ones", src_ones),
	HEADER("dst-top-byte", "a receiver with a top byte", "header/dstnid-top-byte", dst_top,
	       O2_KERNEL_TOLERATES),
	HEADER("dst-any", "a receiver on any network", "header/dstnid-lnd-any", dst_any),
	HEADER("dst-foreign", "a receiver on a TCP network", "header/dstnid-lnd-foreign", dst_foreign),
	HEADER("dst-zero", "a receiver without an address", "header/dstnid-address-zero", dst_zero),
	HEADER("dst-ones", "a receiver that is a broadcast", "header/dstnid-address-ones", dst_ones),
	HEADER("short-immediate", "an IMMEDIATE without room for its LNet header",
	       "immediate/nob-under-minimum", short_immediate),
	HEADER("short-put-req", "a PUT_REQ whose cookie is cut", "put_req/nob-under-minimum", short_put_req),
	HEADER("short-put-nak", "a PUT_NAK whose status is cut", "put_nak/nob-under-minimum", short_put_nak),
	HEADER("short-put-ack", "a PUT_ACK whose count is cut", "put_ack/nob-under-minimum", short_put_ack),
	HEADER("short-put-done", "a PUT_DONE whose status is cut", "put_done/nob-under-minimum",
	       short_put_done),
	HEADER("short-get-req", "a GET_REQ whose count is cut", "get_req/nob-under-minimum", short_get_req),
	HEADER("short-get-done", "a GET_DONE whose status is cut", "get_done/nob-under-minimum",
	       short_get_done),
	{"nob-negative", "header", "a length that is negative where it is signed",
	 "wire/header/nob-over-received", "wire.md", O2_REACT_CLOSE, -EPROTO, "nob-signed",
	 .script = nob_negative},
	{"unknown-type", "header", "a type that nothing has", "wire/header/type", "wire.md", O2_REACT_CLOSE,
	 -EPROTO, "type-asserted", .script = unknown_type},
	{"request-on-qp", "header", "a request for a connection, on a connection", "conn/unexpected-type",
	 "transport.md", O2_REACT_CLOSE, -EPROTO, NULL, .script = request_on_qp},
	{"reply-on-qp", "header", "an answer to such a request, on a connection", "conn/unexpected-type",
	 "transport.md", O2_REACT_CLOSE, -EPROTO, NULL, .script = reply_on_qp},

	LNET("hello", "an LNet HELLO", "immediate/lnet-type", hello),
	LNET("lnet-type", "an LNet type that does not exist", "immediate/lnet-type", type_of_nothing),
	LNET("get-in-put", "a PUT_REQ that carries a GET", "put_req/lnet-type", get_in_put,
	     O2_KERNEL_TOLERATES),
	LNET("put-in-get", "a GET_REQ that carries a PUT", "get_req/lnet-type", put_in_get,
	     O2_KERNEL_TOLERATES),
	LNET("ack-payload", "an acknowledgement with a payload", "immediate/payload-not-zero",
	     ack_with_payload),
	LNET("endless-payload", "an IMMEDIATE of more than 1 MiB", "immediate/payload-over-limit",
	     endless_payload),
	LNET("endless-put", "a PUT of more than 1 MiB", "put_req/payload-over-limit", endless_put),
	LNET("get-payload", "a GET with a payload", "get_req/payload-not-zero", get_with_payload),
	{"payload-past-end", "lnet", "a payload that goes on behind its message",
	 "wire/immediate/payload-past-nob", "wire.md", O2_REACT_KEEP, 0, NULL, .script = payload_past_end},
	{.name = NULL},
};
