/* SPDX-License-Identifier: MIT */
/* Checks of messages: one part of check_list.h. */
O2_CHECK_GROUP("Rules of messages: what must be refused")
O2_CHECK(WIRE_HEADER_SHORT_FOR_VERSION, "wire/header/short-for-version", MUST, MUST,
	 "6 bytes or more were received. What breaks it is to be refused (magic and version are the "
	 "only places that are fixed for ever).")
O2_CHECK(WIRE_HEADER_MAGIC, "wire/header/magic", MUST, MUST,
	 "The magic, in either order; LNet's generic 0x45726963 is not accepted here. What breaks it "
	 "is to be refused (tells the order of everything else).")
O2_CHECK(WIRE_HEADER_VERSION, "wire/header/version", MUST, MUST,
	 "0x11 or 0x12. What breaks it is to be refused (other versions may have another layout).")
O2_CHECK(WIRE_HEADER_SHORT_FOR_HEADER, "wire/header/short-for-header", MUST, MUST,
	 "48 bytes or more were received. What breaks it is to be refused (a whole header).")
O2_CHECK(WIRE_HEADER_NOB_OVER_RECEIVED, "wire/header/nob-over-received", MUST, MUST,
	 "Nob, unsigned, is at most what was received. What breaks it is to be refused (2^31 and more "
	 "is too much; read as signed it would be negative and pass).")
O2_CHECK(WIRE_HEADER_NOB_OVER_LIMIT, "wire/header/nob-over-limit", MUST, OFF,
	 "Nob is at most 4096; when encoding: the payload is at most 3976 bytes. What breaks it is to "
	 "be refused (a message slot is that large).")
O2_CHECK(WIRE_HEADER_CHECKSUM_ABSENT, "wire/header/checksum-absent", MUST, OFF,
	 "With the option require_checksum: the checksum is not 0. What breaks it is to be refused "
	 "(without the option a message may always come without one).")
O2_CHECK(WIRE_HEADER_CHECKSUM, "wire/header/checksum", MUST, MUST,
	 "A checksum that is not 0 is the unsigned or the signed sum of the nob bytes; the option "
	 "tolerate_immediate_checksum makes the one exception that \"Checksum\" describes. What "
	 "breaks it is to be refused (both kinds of peers exist).")
O2_CHECK(WIRE_HEADER_SRCNID_WILDCARD, "wire/header/srcnid-wildcard", MUST, MUST,
	 "Srcnid is not the wildcard. What breaks it is to be refused (nobody is \"any\").")
O2_CHECK(WIRE_HEADER_SRCNID_TOP_BYTE, "wire/header/srcnid-top-byte", MUST, OFF,
	 "Srcnid: bits 63..56 are zero. What breaks it is to be refused (they are not part of the "
	 "NID: dropping them would give two NIDs one meaning).")
O2_CHECK(WIRE_HEADER_SRCNID_LND_ANY, "wire/header/srcnid-lnd-any", MUST, OFF,
	 "Srcnid: the LND type is not 0xff, whatever the options. What breaks it is to be refused "
	 "(some receivers take the type alone for the wildcard).")
O2_CHECK(WIRE_HEADER_SRCNID_LND_FOREIGN, "wire/header/srcnid-lnd-foreign", MUST, OFF,
	 "Srcnid: the LND type is 5 (o2ib); any other with the option any_lnd. What breaks it is to "
	 "be refused (this protocol connects o2ib nodes).")
O2_CHECK(WIRE_HEADER_SRCNID_ADDRESS_ZERO, "wire/header/srcnid-address-zero", MUST, OFF,
	 "Srcnid: the address is not 0.0.0.0. What breaks it is to be refused (names no node).")
O2_CHECK(WIRE_HEADER_SRCNID_ADDRESS_ONES, "wire/header/srcnid-address-ones", MUST, OFF,
	 "Srcnid: the address is not 255.255.255.255. What breaks it is to be refused (names no "
	 "single node).")
O2_CHECK(WIRE_HEADER_DSTNID_TOP_BYTE, "wire/header/dstnid-top-byte", MUST, OFF,
	 "Dstnid: bits 63..56 are zero. What breaks it is to be refused (they are not part of the "
	 "NID: dropping them would give two NIDs one meaning).")
O2_CHECK(WIRE_HEADER_DSTNID_LND_ANY, "wire/header/dstnid-lnd-any", MUST, OFF,
	 "Dstnid: the LND type is not 0xff, whatever the options. What breaks it is to be refused "
	 "(some receivers take the type alone for the wildcard).")
O2_CHECK(WIRE_HEADER_DSTNID_LND_FOREIGN, "wire/header/dstnid-lnd-foreign", MUST, OFF,
	 "Dstnid: the LND type is 5 (o2ib); any other with the option any_lnd. What breaks it is to "
	 "be refused (this protocol connects o2ib nodes).")
O2_CHECK(WIRE_HEADER_DSTNID_ADDRESS_ZERO, "wire/header/dstnid-address-zero", MUST, OFF,
	 "Dstnid: the address is not 0.0.0.0. What breaks it is to be refused (names no node).")
O2_CHECK(WIRE_HEADER_DSTNID_ADDRESS_ONES, "wire/header/dstnid-address-ones", MUST, OFF,
	 "Dstnid: the address is not 255.255.255.255. What breaks it is to be refused (names no "
	 "single node).")
O2_CHECK(WIRE_CONNREQ_NOB_UNDER_MINIMUM, "wire/connreq/nob-under-minimum", MUST, MUST,
	 "Nob is at least 56. What breaks it is to be refused (the fixed part of the body lies inside "
	 "the message).")
O2_CHECK(WIRE_CONNACK_NOB_UNDER_MINIMUM, "wire/connack/nob-under-minimum", MUST, MUST,
	 "Nob is at least 56. What breaks it is to be refused (the fixed part of the body lies inside "
	 "the message).")
O2_CHECK(WIRE_NOOP_NOB_UNDER_MINIMUM, "wire/noop/nob-under-minimum", MUST, MUST,
	 "Nob is at least 48. What breaks it is to be refused (the fixed part of the body lies inside "
	 "the message).")
O2_CHECK(WIRE_IMMEDIATE_NOB_UNDER_MINIMUM, "wire/immediate/nob-under-minimum", MUST, MUST,
	 "Nob is at least 120. What breaks it is to be refused (the fixed part of the body lies "
	 "inside the message).")
O2_CHECK(WIRE_PUT_REQ_NOB_UNDER_MINIMUM, "wire/put_req/nob-under-minimum", MUST, MUST,
	 "Nob is at least 128. What breaks it is to be refused (the fixed part of the body lies "
	 "inside the message).")
O2_CHECK(WIRE_PUT_NAK_NOB_UNDER_MINIMUM, "wire/put_nak/nob-under-minimum", MUST, MUST,
	 "Nob is at least 60. What breaks it is to be refused (the fixed part of the body lies inside "
	 "the message).")
O2_CHECK(WIRE_PUT_ACK_NOB_UNDER_MINIMUM, "wire/put_ack/nob-under-minimum", MUST, MUST,
	 "Nob is at least 72. What breaks it is to be refused (the fixed part of the body lies inside "
	 "the message).")
O2_CHECK(WIRE_PUT_DONE_NOB_UNDER_MINIMUM, "wire/put_done/nob-under-minimum", MUST, MUST,
	 "Nob is at least 60. What breaks it is to be refused (the fixed part of the body lies inside "
	 "the message).")
O2_CHECK(WIRE_GET_REQ_NOB_UNDER_MINIMUM, "wire/get_req/nob-under-minimum", MUST, MUST,
	 "Nob is at least 136. What breaks it is to be refused (the fixed part of the body lies "
	 "inside the message).")
O2_CHECK(WIRE_GET_DONE_NOB_UNDER_MINIMUM, "wire/get_done/nob-under-minimum", MUST, MUST,
	 "Nob is at least 60. What breaks it is to be refused (the fixed part of the body lies inside "
	 "the message).")
O2_CHECK(WIRE_HEADER_TYPE, "wire/header/type", MUST, MUST,
	 "The type is one of the ten. What breaks it is to be refused (no layout is known for others).")
O2_CHECK(WIRE_IMMEDIATE_LNET_TYPE, "wire/immediate/lnet-type", MUST, OFF,
	 "The LNet type is ACK, PUT, GET or REPLY. What breaks it is to be refused (HELLO and unknown "
	 "types have no use here).")
O2_CHECK(WIRE_PUT_REQ_LNET_TYPE, "wire/put_req/lnet-type", MUST, OFF,
	 "The LNet type is PUT or REPLY. What breaks it is to be refused (only these have bytes to "
	 "announce).")
O2_CHECK(WIRE_GET_REQ_LNET_TYPE, "wire/get_req/lnet-type", MUST, OFF,
	 "The LNet type is GET. What breaks it is to be refused (memory is not mapped for anything "
	 "else).")
O2_CHECK(WIRE_PUT_ACK_NFRAGS_ZERO, "wire/put_ack/nfrags-zero", MUST, MUST,
	 "Rd_nfrags is not 0. What breaks it is to be refused (a descriptor of nothing can never be "
	 "satisfied).")
O2_CHECK(WIRE_PUT_ACK_NFRAGS_OVER_LIMIT, "wire/put_ack/nfrags-over-limit", MUST, MUST,
	 "Rd_nfrags, unsigned, is at most max_frags. What breaks it is to be refused (before any "
	 "arithmetic with it, so that none can overflow).")
O2_CHECK(WIRE_PUT_ACK_NOB_UNDER_FRAGS, "wire/put_ack/nob-under-frags", MUST, MUST,
	 "Nob is at least 72 + 12 * rd_nfrags. What breaks it is to be refused (every fragment lies "
	 "inside).")
O2_CHECK(WIRE_PUT_ACK_FRAG_NOB_ZERO, "wire/put_ack/frag-nob-zero", MUST, OFF,
	 "No rf_nob is 0. What breaks it is to be refused (no write can serve it).")
O2_CHECK(WIRE_PUT_ACK_FRAG_NOB_OVER_LIMIT, "wire/put_ack/frag-nob-over-limit", MUST, OFF,
	 "Every rf_nob, unsigned, is at most 1 MiB. What breaks it is to be refused (no transfer is "
	 "larger; 2^31 and more must not look negative).")
O2_CHECK(WIRE_PUT_ACK_FRAG_SUM_OVER_LIMIT, "wire/put_ack/frag-sum-over-limit", MUST, OFF,
	 "The sum of all rf_nob, in 64 bits, is at most 1 MiB. What breaks it is to be refused (the "
	 "same, for all together; value is the sum up to the fragment that broke it).")
O2_CHECK(WIRE_PUT_ACK_FRAG_ADDR_WRAPS, "wire/put_ack/frag-addr-wraps", MUST, OFF,
	 "Every rf_addr + rf_nob is below 2^64. What breaks it is to be refused (memory does not go "
	 "on at address 0).")
O2_CHECK(WIRE_GET_REQ_NFRAGS_ZERO, "wire/get_req/nfrags-zero", MUST, MUST,
	 "Rd_nfrags is not 0. What breaks it is to be refused (a descriptor of nothing can never be "
	 "satisfied).")
O2_CHECK(WIRE_GET_REQ_NFRAGS_OVER_LIMIT, "wire/get_req/nfrags-over-limit", MUST, MUST,
	 "Rd_nfrags, unsigned, is at most max_frags. What breaks it is to be refused (before any "
	 "arithmetic with it, so that none can overflow).")
O2_CHECK(WIRE_GET_REQ_NOB_UNDER_FRAGS, "wire/get_req/nob-under-frags", MUST, MUST,
	 "Nob is at least 136 + 12 * rd_nfrags. What breaks it is to be refused (every fragment lies "
	 "inside).")
O2_CHECK(WIRE_GET_REQ_FRAG_NOB_ZERO, "wire/get_req/frag-nob-zero", MUST, OFF,
	 "No rf_nob is 0. What breaks it is to be refused (no write can serve it).")
O2_CHECK(WIRE_GET_REQ_FRAG_NOB_OVER_LIMIT, "wire/get_req/frag-nob-over-limit", MUST, OFF,
	 "Every rf_nob, unsigned, is at most 1 MiB. What breaks it is to be refused (no transfer is "
	 "larger; 2^31 and more must not look negative).")
O2_CHECK(WIRE_GET_REQ_FRAG_SUM_OVER_LIMIT, "wire/get_req/frag-sum-over-limit", MUST, OFF,
	 "The sum of all rf_nob, in 64 bits, is at most 1 MiB. What breaks it is to be refused (the "
	 "same, for all together; value is the sum up to the fragment that broke it).")
O2_CHECK(WIRE_GET_REQ_FRAG_ADDR_WRAPS, "wire/get_req/frag-addr-wraps", MUST, OFF,
	 "Every rf_addr + rf_nob is below 2^64. What breaks it is to be refused (memory does not go "
	 "on at address 0).")
O2_CHECK(WIRE_PUT_NAK_STATUS_OVER_LIMIT, "wire/put_nak/status-over-limit", MUST, OFF,
	 "Ibcm_status is at most 1 MiB; any negative value will do. What breaks it is to be refused "
	 "(no transfer moves more; what the sink asked for is compared by the connection).")
O2_CHECK(WIRE_PUT_DONE_STATUS_OVER_LIMIT, "wire/put_done/status-over-limit", MUST, OFF,
	 "Ibcm_status is at most 1 MiB; any negative value will do. What breaks it is to be refused "
	 "(no transfer moves more; what the sink asked for is compared by the connection).")
O2_CHECK(WIRE_GET_DONE_STATUS_OVER_LIMIT, "wire/get_done/status-over-limit", MUST, OFF,
	 "Ibcm_status is at most 1 MiB; any negative value will do. What breaks it is to be refused "
	 "(no transfer moves more; what the sink asked for is compared by the connection).")
O2_CHECK(WIRE_IMMEDIATE_PAYLOAD_NOT_ZERO, "wire/immediate/payload-not-zero", MUST, OFF,
	 "ACK and GET: payload_length is 0. What breaks it is to be refused (they have none).")
O2_CHECK(WIRE_IMMEDIATE_PAYLOAD_OVER_LIMIT, "wire/immediate/payload-over-limit", MUST, OFF,
	 "PUT and REPLY: payload_length is at most 1 MiB. What breaks it is to be refused (LNet's own "
	 "limit).")
O2_CHECK(WIRE_IMMEDIATE_PAYLOAD_PAST_NOB, "wire/immediate/payload-past-nob", MUST, OFF,
	 "The payload ends at nob or before it. What breaks it is to be refused (bytes after nob were "
	 "not covered by the checksum; only this message fails).")
O2_CHECK(WIRE_PUT_REQ_PAYLOAD_OVER_LIMIT, "wire/put_req/payload-over-limit", MUST, OFF,
	 "Payload_length is at most 1 MiB. What breaks it is to be refused (LNet's own limit).")
O2_CHECK(WIRE_GET_REQ_PAYLOAD_NOT_ZERO, "wire/get_req/payload-not-zero", MUST, OFF,
	 "Payload_length is 0. What breaks it is to be refused (a GET has none).")
O2_CHECK(WIRE_ENCODE_CAPACITY, "wire/encode/capacity", MUST, MUST,
	 "The message fits into capacity_bytes. What breaks it is to be refused (the caller's "
	 "mistake).")
O2_CHECK_GROUP("Refusals of messages: whether, and with which words")
O2_CHECK(WIRE_CONNREQ_REFUSED_LEGAL, "wire/connreq/refused-legal", MUST, MUST,
	 "A legal CONNREQ is decoded, and a legal one is encoded.")
O2_CHECK(WIRE_CONNACK_REFUSED_LEGAL, "wire/connack/refused-legal", MUST, MUST,
	 "A legal CONNACK is decoded, and a legal one is encoded.")
O2_CHECK(WIRE_NOOP_REFUSED_LEGAL, "wire/noop/refused-legal", MUST, MUST,
	 "A legal NOOP is decoded, and a legal one is encoded.")
O2_CHECK(WIRE_IMMEDIATE_REFUSED_LEGAL, "wire/immediate/refused-legal", MUST, MUST,
	 "A legal IMMEDIATE is decoded, and a legal one is encoded.")
O2_CHECK(WIRE_PUT_REQ_REFUSED_LEGAL, "wire/put_req/refused-legal", MUST, MUST,
	 "A legal PUT_REQ is decoded, and a legal one is encoded.")
O2_CHECK(WIRE_PUT_NAK_REFUSED_LEGAL, "wire/put_nak/refused-legal", MUST, MUST,
	 "A legal PUT_NAK is decoded, and a legal one is encoded.")
O2_CHECK(WIRE_PUT_ACK_REFUSED_LEGAL, "wire/put_ack/refused-legal", MUST, MUST,
	 "A legal PUT_ACK is decoded, and a legal one is encoded.")
O2_CHECK(WIRE_PUT_DONE_REFUSED_LEGAL, "wire/put_done/refused-legal", MUST, MUST,
	 "A legal PUT_DONE is decoded, and a legal one is encoded.")
O2_CHECK(WIRE_GET_REQ_REFUSED_LEGAL, "wire/get_req/refused-legal", MUST, MUST,
	 "A legal GET_REQ is decoded, and a legal one is encoded.")
O2_CHECK(WIRE_GET_DONE_REFUSED_LEGAL, "wire/get_done/refused-legal", MUST, MUST,
	 "A legal GET_DONE is decoded, and a legal one is encoded.")
O2_CHECK(WIRE_ERRNO, "wire/errno", MUST, SHOULD,
	 "A refusal carries the errno of the rule that is broken (the tables of refusals). Of several "
	 "broken rules the first in the order of the checks counts.")
O2_CHECK(WIRE_RULE, "wire/rule", MUST, SHOULD,
	 "The refusal names the rule that is broken first. Compared when the error map knows the "
	 "name, or when the name is a rule id itself.")
O2_CHECK(WIRE_INDEX, "wire/index", SHOULD, OFF,
	 "A refusal that is about one entry of a list names that entry. Compared when the same rule "
	 "was named and an index was given.")
O2_CHECK(WIRE_COST, "wire/cost", MUST, MUST,
	 "A refusal of a received message says rightly whether the connection is kept (class message) "
	 "or closes. Compared when it is said.")
O2_CHECK_GROUP("Decoded messages")
O2_CHECK(WIRE_DECODE_BYTE_ORDER, "wire/decode/byte-order", MUST, MUST,
	 "The magic tells the sender's byte order.")
O2_CHECK(WIRE_DECODE_VERSION, "wire/decode/version", MUST, MUST, "ibm_version is that of the message.")
O2_CHECK(WIRE_DECODE_TYPE, "wire/decode/type", MUST, MUST, "ibm_type is that of the message.")
O2_CHECK(WIRE_DECODE_CREDITS, "wire/decode/credits", MUST, MUST, "ibm_credits is that of the message.")
O2_CHECK(WIRE_DECODE_NOB, "wire/decode/nob", MUST, MUST,
	 "ibm_nob is that of the message, bytes behind its body included.")
O2_CHECK(WIRE_DECODE_CKSUM_FLAVOUR, "wire/decode/cksum-flavour", MUST, MUST,
	 "The flavour is the one whose sum matches: unsigned where both do, none where the field is "
	 "0, unverified where only the tolerance option let it pass.")
O2_CHECK(WIRE_DECODE_SRCNID, "wire/decode/srcnid", MUST, MUST,
	 "ibm_srcnid, swapped if the sender's order asks for it.")
O2_CHECK(WIRE_DECODE_SRCSTAMP, "wire/decode/srcstamp", MUST, MUST, "ibm_srcstamp, likewise.")
O2_CHECK(WIRE_DECODE_DSTNID, "wire/decode/dstnid", MUST, MUST, "ibm_dstnid, likewise.")
O2_CHECK(WIRE_DECODE_DSTSTAMP, "wire/decode/dststamp", MUST, MUST, "ibm_dststamp, likewise.")
O2_CHECK(WIRE_DECODE_CONNPARAMS, "wire/decode/connparams", MUST, MUST,
	 "Queue depth, fragments and message size of CONNREQ and CONNACK stand in the sender's order "
	 "and are unsigned.")
O2_CHECK(WIRE_DECODE_LNET_HDR, "wire/decode/lnet-hdr", MUST, MUST,
	 "The LNet header is little-endian whatever the sender's order is; the fields are those of "
	 "its type.")
O2_CHECK(WIRE_DECODE_COOKIE, "wire/decode/cookie", MUST, MUST, "A cookie is 8 bytes that nobody swaps.")
O2_CHECK(WIRE_DECODE_STATUS, "wire/decode/status", MUST, MUST,
	 "ibcm_status is signed and stands in the sender's order.")
O2_CHECK(WIRE_DECODE_RD_KEY, "wire/decode/rd_key", MUST, MUST, "The descriptor's key, in the sender's order.")
O2_CHECK(WIRE_DECODE_RD_NFRAGS, "wire/decode/rd_nfrags", MUST, MUST, "The number of fragments.")
O2_CHECK(WIRE_DECODE_RF_NOB, "wire/decode/rf_nob", MUST, MUST,
	 "Bytes of each fragment, unsigned, in the sender's order.")
O2_CHECK(WIRE_DECODE_RF_ADDR, "wire/decode/rf_addr", MUST, MUST,
	 "Address of each fragment: 64 bits at offset 4 of 12, not aligned.")
O2_CHECK(WIRE_DECODE_PAYLOAD, "wire/decode/payload", MUST, MUST,
	 "The payload is the payload_length bytes from offset 120 on.")
O2_CHECK_GROUP("Encoded messages")
O2_CHECK(WIRE_ENCODE_LENGTH, "wire/encode/length", MUST, MUST,
	 "A message is as long as its type, fragments and payload make it; ibm_nob says so.")
O2_CHECK(WIRE_ENCODE_HEADER, "wire/encode/header", MUST, MUST,
	 "The 48 bytes of the header, but for the checksum, in the order that was asked for.")
O2_CHECK(WIRE_ENCODE_CHECKSUM, "wire/encode/checksum", MUST, MUST,
	 "The checksum in the flavour that was asked for, over all bytes with its own taken as zero; "
	 "0 for none.")
O2_CHECK(WIRE_ENCODE_CONNPARAMS, "wire/encode/connparams", MUST, MUST,
	 "Connection parameters in the sender's order.")
O2_CHECK(WIRE_ENCODE_LNET_HDR, "wire/encode/lnet-hdr", MUST, MUST,
	 "The LNet header little-endian in both orders.")
O2_CHECK(WIRE_ENCODE_UNUSED_BYTES, "wire/encode/unused-bytes", SHOULD, SHOULD,
	 "The bytes of the LNet header that its type does not use are zero: canonical messages "
	 "compare equal.")
O2_CHECK(WIRE_ENCODE_COOKIE, "wire/encode/cookie", MUST, MUST, "Cookies as they came.")
O2_CHECK(WIRE_ENCODE_STATUS, "wire/encode/status", MUST, MUST,
	 "ibcm_status in two's complement, in the sender's order.")
O2_CHECK(WIRE_ENCODE_DESCRIPTOR, "wire/encode/descriptor", MUST, MUST,
	 "Key, count and 12 bytes for each fragment, in the sender's order.")
O2_CHECK(WIRE_ENCODE_PAYLOAD, "wire/encode/payload", MUST, MUST, "The payload from offset 120 on.")
