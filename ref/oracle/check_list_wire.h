/* SPDX-License-Identifier: MIT */
/* Checks of messages: one part of check_list.h. */

#define MESSAGE_RULE(symbol, id, kernel, what, why) \
	O2_CHECK(symbol, id, MUST, kernel, what " What breaks it is to be refused (" why ").")

#define NID_RULES(NID, nid, Nid)                                                                    \
	MESSAGE_RULE(WIRE_HEADER_##NID##_TOP_BYTE, "wire/header/" nid "-top-byte", OFF,             \
		     Nid ": bits 63..56 are zero.",                                                 \
		     "they are not part of the NID: dropping them would give two NIDs one meaning") \
	MESSAGE_RULE(WIRE_HEADER_##NID##_LND_ANY, "wire/header/" nid "-lnd-any", OFF,               \
		     Nid ": the LND type is not 0xff, whatever the options.",                       \
		     "some receivers take the type alone for the wildcard")                         \
	MESSAGE_RULE(WIRE_HEADER_##NID##_LND_FOREIGN, "wire/header/" nid "-lnd-foreign", OFF,       \
		     Nid ": the LND type is 5 (o2ib); any other with the option any_lnd.",          \
		     "this protocol connects o2ib nodes")                                           \
	MESSAGE_RULE(WIRE_HEADER_##NID##_ADDRESS_ZERO, "wire/header/" nid "-address-zero", OFF,     \
		     Nid ": the address is not 0.0.0.0.", "names no node")                          \
	MESSAGE_RULE(WIRE_HEADER_##NID##_ADDRESS_ONES, "wire/header/" nid "-address-ones", OFF,     \
		     Nid ": the address is not 255.255.255.255.", "names no single node")

#define ROOM_FOR_BODY(TYPE, type, nob)                                                         \
	MESSAGE_RULE(WIRE_##TYPE##_NOB_UNDER_MINIMUM, "wire/" type "/nob-under-minimum", MUST, \
		     "Nob is at least " nob ".", "the fixed part of the body lies inside the message")

#define DESCRIPTOR_RULES(TYPE, type, nob)                                                                 \
	MESSAGE_RULE(WIRE_##TYPE##_NFRAGS_ZERO, "wire/" type "/nfrags-zero", MUST, "Rd_nfrags is not 0.", \
		     "a descriptor of nothing can never be satisfied")                                    \
	MESSAGE_RULE(WIRE_##TYPE##_NFRAGS_OVER_LIMIT, "wire/" type "/nfrags-over-limit", MUST,            \
		     "Rd_nfrags, unsigned, is at most max_frags.",                                        \
		     "before any arithmetic with it, so that none can overflow")                          \
	MESSAGE_RULE(WIRE_##TYPE##_NOB_UNDER_FRAGS, "wire/" type "/nob-under-frags", MUST,                \
		     "Nob is at least " nob " + 12 * rd_nfrags.", "every fragment lies inside")           \
	MESSAGE_RULE(WIRE_##TYPE##_FRAG_NOB_ZERO, "wire/" type "/frag-nob-zero", OFF, "No rf_nob is 0.",  \
		     "no write can serve it")                                                             \
	MESSAGE_RULE(WIRE_##TYPE##_FRAG_NOB_OVER_LIMIT, "wire/" type "/frag-nob-over-limit", OFF,         \
		     "Every rf_nob, unsigned, is at most 1 MiB.",                                         \
		     "no transfer is larger; 2^31 and more must not look negative")                       \
	MESSAGE_RULE(WIRE_##TYPE##_FRAG_SUM_OVER_LIMIT, "wire/" type "/frag-sum-over-limit", OFF,         \
		     "The sum of all rf_nob, in 64 bits, is at most 1 MiB.",                              \
		     "the same, for all together; value is the sum up to the fragment that broke it")     \
	MESSAGE_RULE(WIRE_##TYPE##_FRAG_ADDR_WRAPS, "wire/" type "/frag-addr-wraps", OFF,                 \
		     "Every rf_addr + rf_nob is below 2^64.", "memory does not go on at address 0")

#define STATUS_LIMIT(TYPE, type)                                                              \
	MESSAGE_RULE(WIRE_##TYPE##_STATUS_OVER_LIMIT, "wire/" type "/status-over-limit", OFF, \
		     "Ibcm_status is at most 1 MiB; any negative value will do.",             \
		     "no transfer moves more; what the sink asked for is compared by the connection")

#define TAKES_LEGAL(TYPE, type)                                                          \
	O2_CHECK(WIRE_##TYPE##_REFUSED_LEGAL, "wire/" type "/refused-legal", MUST, MUST, \
		 "A legal " #TYPE " is decoded, and a legal one is encoded.")

#define DECODES(WHAT, what, text) O2_CHECK(WIRE_DECODE_##WHAT, "wire/decode/" what, MUST, MUST, text)

#define ENCODES(WHAT, what, text) O2_CHECK(WIRE_ENCODE_##WHAT, "wire/encode/" what, MUST, MUST, text)

O2_CHECK_GROUP("Rules of messages: what must be refused")
MESSAGE_RULE(WIRE_HEADER_SHORT_FOR_VERSION, "wire/header/short-for-version", MUST,
	     "6 bytes or more were received.",
	     "magic and version are the only places that are fixed for ever")
MESSAGE_RULE(WIRE_HEADER_MAGIC, "wire/header/magic", MUST,
	     "The magic, in either order; LNet's generic 0x45726963 is not accepted here.",
	     "tells the order of everything else")
MESSAGE_RULE(WIRE_HEADER_VERSION, "wire/header/version", MUST, "0x11 or 0x12.",
	     "other versions may have another layout")
MESSAGE_RULE(WIRE_HEADER_SHORT_FOR_HEADER, "wire/header/short-for-header", MUST,
	     "48 bytes or more were received.", "a whole header")
MESSAGE_RULE(WIRE_HEADER_NOB_OVER_RECEIVED, "wire/header/nob-over-received", MUST,
	     "Nob, unsigned, is at most what was received.",
	     "2^31 and more is too much; read as signed it would be negative and pass")
MESSAGE_RULE(WIRE_HEADER_NOB_OVER_LIMIT, "wire/header/nob-over-limit", OFF,
	     "Nob is at most 4096; when encoding: the payload is at most 3976 bytes.",
	     "a message slot is that large")
MESSAGE_RULE(WIRE_HEADER_CHECKSUM_ABSENT, "wire/header/checksum-absent", OFF,
	     "With the option require_checksum: the checksum is not 0.",
	     "without the option a message may always come without one")
MESSAGE_RULE(WIRE_HEADER_CHECKSUM, "wire/header/checksum", MUST,
	     "A checksum that is not 0 is the unsigned or the signed sum of the nob bytes; the option "
	     "tolerate_immediate_checksum makes the one exception that \"Checksum\" describes.",
	     "both kinds of peers exist")
MESSAGE_RULE(WIRE_HEADER_SRCNID_WILDCARD, "wire/header/srcnid-wildcard", MUST, "Srcnid is not the wildcard.",
	     "nobody is \"any\"")
NID_RULES(SRCNID, "srcnid", "Srcnid")
NID_RULES(DSTNID, "dstnid", "Dstnid")
ROOM_FOR_BODY(CONNREQ, "connreq", "56")
ROOM_FOR_BODY(CONNACK, "connack", "56")
ROOM_FOR_BODY(NOOP, "noop", "48")
ROOM_FOR_BODY(IMMEDIATE, "immediate", "120")
ROOM_FOR_BODY(PUT_REQ, "put_req", "128")
ROOM_FOR_BODY(PUT_NAK, "put_nak", "60")
ROOM_FOR_BODY(PUT_ACK, "put_ack", "72")
ROOM_FOR_BODY(PUT_DONE, "put_done", "60")
ROOM_FOR_BODY(GET_REQ, "get_req", "136")
ROOM_FOR_BODY(GET_DONE, "get_done", "60")
MESSAGE_RULE(WIRE_HEADER_TYPE, "wire/header/type", MUST, "The type is one of the ten.",
	     "no layout is known for others")
MESSAGE_RULE(WIRE_IMMEDIATE_LNET_TYPE, "wire/immediate/lnet-type", OFF,
	     "The LNet type is ACK, PUT, GET or REPLY.", "HELLO and unknown types have no use here")
MESSAGE_RULE(WIRE_PUT_REQ_LNET_TYPE, "wire/put_req/lnet-type", OFF, "The LNet type is PUT or REPLY.",
	     "only these have bytes to announce")
MESSAGE_RULE(WIRE_GET_REQ_LNET_TYPE, "wire/get_req/lnet-type", OFF, "The LNet type is GET.",
	     "memory is not mapped for anything else")
DESCRIPTOR_RULES(PUT_ACK, "put_ack", "72")
DESCRIPTOR_RULES(GET_REQ, "get_req", "136")
STATUS_LIMIT(PUT_NAK, "put_nak")
STATUS_LIMIT(PUT_DONE, "put_done")
STATUS_LIMIT(GET_DONE, "get_done")
MESSAGE_RULE(WIRE_IMMEDIATE_PAYLOAD_NOT_ZERO, "wire/immediate/payload-not-zero", OFF,
	     "ACK and GET: payload_length is 0.", "they have none")
MESSAGE_RULE(WIRE_IMMEDIATE_PAYLOAD_OVER_LIMIT, "wire/immediate/payload-over-limit", OFF,
	     "PUT and REPLY: payload_length is at most 1 MiB.", "LNet's own limit")
MESSAGE_RULE(WIRE_IMMEDIATE_PAYLOAD_PAST_NOB, "wire/immediate/payload-past-nob", OFF,
	     "The payload ends at nob or before it.",
	     "bytes after nob were not covered by the checksum; only this message fails")
MESSAGE_RULE(WIRE_PUT_REQ_PAYLOAD_OVER_LIMIT, "wire/put_req/payload-over-limit", OFF,
	     "Payload_length is at most 1 MiB.", "LNet's own limit")
MESSAGE_RULE(WIRE_GET_REQ_PAYLOAD_NOT_ZERO, "wire/get_req/payload-not-zero", OFF, "Payload_length is 0.",
	     "a GET has none")
MESSAGE_RULE(WIRE_ENCODE_CAPACITY, "wire/encode/capacity", MUST, "The message fits into capacity_bytes.",
	     "the caller's mistake")
O2_CHECK_GROUP("Refusals of messages: whether, and with which words")
TAKES_LEGAL(CONNREQ, "connreq")
TAKES_LEGAL(CONNACK, "connack")
TAKES_LEGAL(NOOP, "noop")
TAKES_LEGAL(IMMEDIATE, "immediate")
TAKES_LEGAL(PUT_REQ, "put_req")
TAKES_LEGAL(PUT_NAK, "put_nak")
TAKES_LEGAL(PUT_ACK, "put_ack")
TAKES_LEGAL(PUT_DONE, "put_done")
TAKES_LEGAL(GET_REQ, "get_req")
TAKES_LEGAL(GET_DONE, "get_done")
SAYS_ERRNO(WIRE, "wire")
SAYS_RULE(WIRE, "wire")
SAYS_INDEX(WIRE, "wire")
O2_CHECK(WIRE_CHECKSUM_ONE_FLAVOUR, "wire/checksum-one-flavour", MUST, OFF,
	 "Both flavours of checksum are taken and given: messages are not refused for having the other one, "
	 "or for passing by tolerance alone, nor reported as unverified for that, and are encoded in the one "
	 "that was asked for.")
O2_CHECK(WIRE_COST, "wire/cost", MUST, MUST,
	 "A refusal of a received message says rightly whether the connection is kept (class message) or "
	 "closes. Compared when it is said.")
O2_CHECK_GROUP("Decoded messages")
DECODES(BYTE_ORDER, "byte-order", "The magic tells the sender's byte order.")
DECODES(VERSION, "version", "ibm_version is that of the message.")
DECODES(TYPE, "type", "ibm_type is that of the message.")
DECODES(CREDITS, "credits", "ibm_credits is that of the message.")
DECODES(NOB, "nob", "ibm_nob is that of the message, bytes behind its body included.")
DECODES(CKSUM_FLAVOUR, "cksum-flavour",
	"The flavour is the one whose sum matches: unsigned where both do, none where the field is 0, "
	"unverified where only the tolerance option let it pass.")
DECODES(SRCNID, "srcnid", "ibm_srcnid, swapped if the sender's order asks for it.")
DECODES(SRCSTAMP, "srcstamp", "ibm_srcstamp, likewise.")
DECODES(DSTNID, "dstnid", "ibm_dstnid, likewise.")
DECODES(DSTSTAMP, "dststamp", "ibm_dststamp, likewise.")
DECODES(CONNPARAMS, "connparams",
	"Queue depth, fragments and message size of CONNREQ and CONNACK stand in the sender's order and are "
	"unsigned.")
DECODES(LNET_HDR, "lnet-hdr",
	"The LNet header is little-endian whatever the sender's order is; the fields are those of its type.")
O2_CHECK(WIRE_LNET_NID_FOLDED, "wire/lnet-nid-folded", MUST, OFF,
	 "A NID of the LNet header keeps its highest byte, and LND type 0xff is a type like others, when "
	 "decoded and when encoded.")
DECODES(COOKIE, "cookie", "A cookie is 8 bytes that nobody swaps.")
DECODES(STATUS, "status", "ibcm_status is signed and stands in the sender's order.")
DECODES(RD_KEY, "rd_key", "The descriptor's key, in the sender's order.")
DECODES(RD_NFRAGS, "rd_nfrags", "The number of fragments.")
DECODES(RF_NOB, "rf_nob", "Bytes of each fragment, unsigned, in the sender's order.")
DECODES(RF_ADDR, "rf_addr", "Address of each fragment: 64 bits at offset 4 of 12, not aligned.")
DECODES(PAYLOAD, "payload", "The payload is the payload_length bytes from offset 120 on.")
O2_CHECK_GROUP("Encoded messages")
ENCODES(LENGTH, "length", "A message is as long as its type, fragments and payload make it; ibm_nob says so.")
ENCODES(HEADER, "header",
	"The 48 bytes of the header, but for the checksum, in the order that was asked for.")
ENCODES(CHECKSUM, "checksum",
	"The checksum of the bytes that were written, in the flavour that was asked for, its own four taken "
	"as zero; 0 for none.")
ENCODES(CONNPARAMS, "connparams", "Connection parameters in the sender's order.")
ENCODES(LNET_HDR, "lnet-hdr", "The LNet header little-endian in both orders.")
O2_CHECK(
	WIRE_ENCODE_UNUSED_BYTES, "wire/encode/unused-bytes", SHOULD, SHOULD,
	"The bytes of the LNet header that its type does not use are zero: canonical messages compare equal.")
ENCODES(COOKIE, "cookie", "Cookies as they came.")
ENCODES(STATUS, "status", "ibcm_status in two's complement, in the sender's order.")
ENCODES(DESCRIPTOR, "descriptor", "Key, count and 12 bytes for each fragment, in the sender's order.")
ENCODES(PAYLOAD, "payload", "The payload from offset 120 on.")
#undef MESSAGE_RULE
#undef NID_RULES
#undef ROOM_FOR_BODY
#undef DESCRIPTOR_RULES
#undef STATUS_LIMIT
#undef TAKES_LEGAL
#undef DECODES
#undef ENCODES
