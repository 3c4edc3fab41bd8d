/* SPDX-License-Identifier: MIT */
#ifndef O2_WIRE_MSG_H
#define O2_WIRE_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/limits.h"
#include "wire/desc.h"

/*
 * The codec for messages of o2iblnd: converts between wire bytes and plain structs.
 * Source: docs/wire.md.  Field names are Lustre's.
 *
 * The codec is pure: no allocation, no state, no byte read past those given, the input is never changed.
 */

#define O2_MSG_MAGIC	 0x0be91b91u /* o2iblnd: IBLND_MSG_MAGIC */
#define O2_MSG_VERSION_1 0x11u	     /* o2iblnd: IBLND_MSG_VERSION_1 */
#define O2_MSG_VERSION_2 0x12u	     /* o2iblnd: IBLND_MSG_VERSION_2 */

#define O2_MSG_HEADER_BYTES 48u
#define O2_LNET_HDR_BYTES   72u

enum o2_msg_type {
	O2_MSG_CONNREQ = 0xc0,	 /* o2iblnd: IBLND_MSG_CONNREQ */
	O2_MSG_CONNACK = 0xc1,	 /* o2iblnd: IBLND_MSG_CONNACK */
	O2_MSG_NOOP = 0xd0,	 /* o2iblnd: IBLND_MSG_NOOP */
	O2_MSG_IMMEDIATE = 0xd1, /* o2iblnd: IBLND_MSG_IMMEDIATE */
	O2_MSG_PUT_REQ = 0xd2,	 /* o2iblnd: IBLND_MSG_PUT_REQ */
	O2_MSG_PUT_NAK = 0xd3,	 /* o2iblnd: IBLND_MSG_PUT_NAK */
	O2_MSG_PUT_ACK = 0xd4,	 /* o2iblnd: IBLND_MSG_PUT_ACK */
	O2_MSG_PUT_DONE = 0xd5,	 /* o2iblnd: IBLND_MSG_PUT_DONE */
	O2_MSG_GET_REQ = 0xd6,	 /* o2iblnd: IBLND_MSG_GET_REQ */
	O2_MSG_GET_DONE = 0xd7,	 /* o2iblnd: IBLND_MSG_GET_DONE */
};

/* The byte order of a message's own numbers.  Cookies, handles and the LNet header have a fixed order. */
enum o2_byte_order {
	O2_LITTLE_ENDIAN,
	O2_BIG_ENDIAN,
};

/* How bytes are widened before they are added to a checksum; see docs/wire.md, "Checksum". */
enum o2_cksum_flavour {
	O2_CKSUM_NONE,	   /* field 0: not checksummed */
	O2_CKSUM_UNSIGNED, /* bytes are 0 to 255 */
	O2_CKSUM_SIGNED,   /* bytes are -128 to 127 */
	/*
	 * Decode only: the checksum is wrong, and tolerate_immediate_checksum let the message pass.  Encode
	 * treats this as O2_CKSUM_UNSIGNED and writes a correct checksum.
	 */
	O2_CKSUM_UNVERIFIED,
};

enum o2_lnet_type {
	O2_LNET_ACK = 0,   /* LNet: LNET_MSG_ACK */
	O2_LNET_PUT = 1,   /* LNet: LNET_MSG_PUT */
	O2_LNET_GET = 2,   /* LNet: LNET_MSG_GET */
	O2_LNET_REPLY = 3, /* LNet: LNET_MSG_REPLY */
	O2_LNET_HELLO = 4, /* LNet: LNET_MSG_HELLO */
};

/* 16 opaque bytes that only their creator understands; they are never swapped. */
/* LNet: lnet_handle_wire */
struct o2_lnet_handle {
	uint64_t wh_interface_cookie; /* the bytes read as little-endian, on every host */
	uint64_t wh_object_cookie;
};

/* The embedded LNet header, nid4 form: 72 bytes, little-endian in every message. */
/* LNet: lnet_hdr_nid4 */
struct o2_lnet_hdr {
	uint64_t dest_nid;
	uint64_t src_nid;
	uint32_t dest_pid;
	uint32_t src_pid;
	uint32_t type; /* enum o2_lnet_type */
	uint32_t payload_length;
	union {
		struct {
			struct o2_lnet_handle dst_wmd;
			uint64_t match_bits;
			uint32_t mlength;
		} ack;
		struct {
			struct o2_lnet_handle ack_wmd;
			uint64_t match_bits;
			uint64_t hdr_data; /* opaque, as a handle */
			uint32_t ptl_index;
			uint32_t offset;
		} put;
		struct {
			struct o2_lnet_handle return_wmd;
			uint64_t match_bits;
			uint32_t ptl_index;
			uint32_t src_offset;
			uint32_t sink_length;
		} get;
		struct {
			struct o2_lnet_handle dst_wmd;
		} reply;
		/* HELLO exists in LNet headers, but no message of o2iblnd may carry it. */
		struct {
			uint64_t incarnation;
			uint32_t type;
		} hello;
	} msg;
};

/* One decoded message.  About 4.2 KiB: it holds a whole descriptor. */
/* o2iblnd: kib_msg, kib_connparams, kib_immediate_msg, kib_putreq_msg, kib_putack_msg, kib_get_msg */
/* o2iblnd: kib_completion_msg */
struct o2_msg {
	enum o2_byte_order order;
	uint16_t ibm_version;
	uint8_t ibm_type; /* enum o2_msg_type: selects the member of u */
	uint8_t ibm_credits;
	uint32_t ibm_nob; /* encode computes it; decode reports the received value, trailing bytes included */
	enum o2_cksum_flavour cksum_flavour; /* decode: the flavour that matched; encode: the one to send */
	uint64_t ibm_srcnid;
	uint64_t ibm_srcstamp;
	uint64_t ibm_dstnid;
	uint64_t ibm_dststamp;
	union {
		struct {
			uint16_t ibcp_queue_depth;
			uint16_t ibcp_max_frags;
			uint32_t ibcp_max_msg_size;
		} connparams; /* CONNREQ, CONNACK */
		struct {
			struct o2_lnet_hdr hdr;
			/*
			 * hdr.payload_length bytes, borrowed: decode points into its input, encode copies
			 * from here. NULL is legal for 0 bytes; may be the place where encode writes it.
			 */
			const uint8_t *payload;
		} immediate;
		struct {
			struct o2_lnet_hdr hdr;
			uint64_t ibprm_cookie; /* opaque; read as little-endian on every host */
		} putreq;
		struct {
			uint64_t ibpam_src_cookie; /* echo of the PUT_REQ's cookie */
			uint64_t ibpam_dst_cookie; /* cookie chosen by the sink */
			struct o2_rdma_desc ibpam_rd;
		} putack;
		struct {
			struct o2_lnet_hdr hdr;
			uint64_t ibgm_cookie;
			struct o2_rdma_desc ibgm_rd;
		} get;
		struct {
			uint64_t ibcm_cookie;
			int32_t ibcm_status; /* negative errno, or bytes moved */
		} completion;		     /* PUT_NAK, PUT_DONE, GET_DONE */
	} u;
};

struct o2_wire_options {
	uint32_t max_frags;    /* O2_MAX_FRAGS or O2_MAX_FRAGS_LEGACY */
	bool require_checksum; /* refuse messages whose checksum field is 0 */
	bool any_lnd;	       /* accept header NIDs of LND types other than o2ib */
	/*
	 * Accept an IMMEDIATE with a payload, and nothing else, with a wrong checksum: some kernel peers
	 * compute it before the payload is in place.  Decoding then reports O2_CKSUM_UNVERIFIED.
	 */
	bool tolerate_immediate_checksum;
	/* Decoding: O2_CKSUM_UNSIGNED or _SIGNED: accept only this flavour.  Any other value: accept both. */
	enum o2_cksum_flavour only_flavour;
};

#define O2_WIRE_DEFAULTS ((struct o2_wire_options){.max_frags = O2_MAX_FRAGS})

/* Check the options, as every call of the codec does first: 0, or -EINVAL if an option is not legal. */
int o2_check_options(const struct o2_wire_options *options, struct o2_error *error);

/*
 * Decode the message that starts at bytes[0]; length_bytes were received (the message may be shorter).
 * options may be NULL: O2_WIRE_DEFAULTS.
 *
 * The checks of docs/wire.md, "Rules", are made in the order given there.  The first that fails is reported
 * in *error (may be NULL): rule id, class, field, its offset, its value and the limit.
 *
 * Returns 0, or -EPROTO (-EINVAL if an option is not legal).  After a refusal of class message only the
 * header members of *msg are valid; after any other refusal *msg is undefined.
 * o2iblnd: kiblnd_unpack_msg
 */
int o2_msg_decode(const uint8_t *bytes, size_t length_bytes, const struct o2_wire_options *options,
		  struct o2_msg *msg, struct o2_error *error);

/*
 * Encode *msg in its byte order and checksum flavour.  What decoding would refuse is refused with the same
 * rule.
 *
 * bytes, capacity_bytes: the output buffer; O2_MSG_BYTES always suffice.  The output has the canonical form
 * (docs/wire.md).  options may be NULL: O2_WIRE_DEFAULTS.  Returns the length of the message, or -EPROTO,
 * -EINVAL (an option), -ENOSPC (capacity).
 * o2iblnd: kiblnd_pack_msg
 */
int o2_msg_encode(const struct o2_msg *msg, const struct o2_wire_options *options, uint8_t *bytes,
		  size_t capacity_bytes, struct o2_error *error);

/*
 * Decode a bare descriptor: key, count and fragments, in the format used inside PUT_ACK and GET_REQ. The
 * rules are those for messages, with ids "wire/desc/...".  Bytes after the last fragment are ignored. Returns
 * 0, or -EPROTO (-EINVAL if an option is not legal).
 */
int o2_desc_decode(const uint8_t *bytes, size_t length_bytes, enum o2_byte_order order,
		   const struct o2_wire_options *options, struct o2_rdma_desc *desc, struct o2_error *error);

/* The LNet header and the descriptor of a message; NULL for types that have none. */
const struct o2_lnet_hdr *o2_msg_lnet_hdr(const struct o2_msg *msg);
const struct o2_rdma_desc *o2_msg_desc(const struct o2_msg *msg);

/* The name of a message type, such as "PUT_REQ"; NULL for a value that is not a type. */
/* o2iblnd: kiblnd_msgtype2str */
const char *o2_msg_type_name(uint8_t type);

/*
 * The length of *msg when encoded, header included, from its type, descriptor and payload. 0 if the type is
 * not known.  Pure arithmetic in 64 bits: nothing is checked.
 * o2iblnd: kiblnd_rd_msg_size
 */
uint64_t o2_msg_canonical_bytes(const struct o2_msg *msg);

#endif
