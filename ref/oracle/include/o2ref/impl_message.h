/* SPDX-License-Identifier: MIT */
#ifndef O2REF_IMPL_MESSAGE_H
#define O2REF_IMPL_MESSAGE_H

#include "impl_base.h"

/* Questions and answers of msg_decode and msg_encode (docs/wire.md).  Include o2ref/impl.h. */

enum o2_impl_cksum_flavour {
	O2_IMPL_CKSUM_NONE = 0,
	O2_IMPL_CKSUM_UNSIGNED = 1, /* computed over unsigned char; also if both flavours give the same sum */
	O2_IMPL_CKSUM_SIGNED = 2,   /* computed over signed char */
	O2_IMPL_CKSUM_UNVERIFIED = 3, /* wrong, but accepted because of tolerate_immediate_checksum */
};

struct o2_impl_wire_options {
	uint32_t max_frags;		      /* 256 or 257 */
	uint32_t require_checksum;	      /* 0 or 1 */
	uint32_t any_lnd;		      /* 0 or 1 */
	uint32_t tolerate_immediate_checksum; /* 0 or 1 */
};

/*
 * The LNet header, with the fields of all its types.  Fields that a type does not have are 0 in a question
 * and ignored in an answer.
 */
struct o2_impl_lnet_hdr {
	uint64_t dest_nid;
	uint64_t src_nid;
	uint32_t dest_pid;
	uint32_t src_pid;
	uint32_t type; /* ACK 0, PUT 1, GET 2, REPLY 3, HELLO 4 */
	uint32_t payload_length;
	uint64_t wmd_interface_cookie; /* ACK and REPLY: dst_wmd; PUT: ack_wmd; GET: return_wmd */
	uint64_t wmd_object_cookie;    /* both cookies are opaque bytes, read as little-endian numbers */
	uint64_t match_bits;	       /* ACK, PUT, GET */
	uint64_t hdr_data;	       /* PUT; opaque bytes, read as a little-endian number */
	uint32_t mlength;	       /* ACK */
	uint32_t ptl_index;	       /* PUT, GET */
	uint32_t offset;	       /* PUT */
	uint32_t src_offset;	       /* GET */
	uint32_t sink_length;	       /* GET */
	uint32_t reserved;
};

struct o2_impl_frag {
	uint64_t rf_addr;
	uint32_t rf_nob;
	uint32_t reserved;
};

struct o2_impl_desc {
	uint32_t rd_key;
	uint32_t rd_nfrags;
	uint32_t capacity; /* of rd_frags */
	uint32_t reserved;
	struct o2_impl_frag *rd_frags;
};

/*
 * One message, with the fields of all its types.  Fields that a type does not have are 0 in a question and
 * ignored in an answer.
 */
struct o2_impl_msg {
	uint8_t big_endian; /* byte order of the sender; 0: little-endian; 1: big-endian */
	uint8_t ibm_type;
	uint8_t ibm_credits;
	uint8_t cksum_flavour; /* enum o2_impl_cksum_flavour */
	uint16_t ibm_version;
	uint16_t reserved;
	uint32_t ibm_nob; /* msg_decode: as received; msg_encode: ignored, the encoder computes it */
	int32_t ibcm_status;
	uint64_t ibm_srcnid;
	uint64_t ibm_srcstamp;
	uint64_t ibm_dstnid;
	uint64_t ibm_dststamp;

	uint16_t ibcp_queue_depth; /* CONNREQ, CONNACK */
	uint16_t ibcp_max_frags;
	uint32_t ibcp_max_msg_size;
	struct o2_impl_lnet_hdr hdr; /* IMMEDIATE, PUT_REQ, GET_REQ */
	uint64_t cookie;	   /* PUT_REQ: ibprm_cookie; GET_REQ: ibgm_cookie; completions: ibcm_cookie */
	uint64_t ibpam_src_cookie; /* PUT_ACK */
	uint64_t ibpam_dst_cookie;
	struct o2_impl_desc rd; /* PUT_ACK: ibpam_rd; GET_REQ: ibgm_rd */

	/* IMMEDIATE: hdr.payload_length bytes.  msg_decode copies them to `payload`, unless it refuses. */
	uint8_t *payload;
	uint64_t payload_capacity_bytes;
};

struct o2_impl_msg_decode_in {
	struct o2_impl_wire_options options;
	const uint8_t *bytes;
	uint64_t length_bytes; /* bytes received; the message itself may be shorter */
};

struct o2_impl_msg_encode_in {
	struct o2_impl_wire_options options;
	struct o2_impl_msg msg; /* its arrays are read-only */
};

struct o2_impl_bytes {
	uint8_t *bytes;
	uint64_t capacity_bytes;
	uint64_t length_bytes; /* bytes written */
};

#endif
