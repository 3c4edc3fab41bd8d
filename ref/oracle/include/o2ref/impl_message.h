/* SPDX-License-Identifier: MIT */
#ifndef O2REF_IMPL_MESSAGE_H
#define O2REF_IMPL_MESSAGE_H

#include "impl_base.h"

/* Questions and answers of msg_decode and msg_encode (docs/wire.md).  Include o2ref/impl.h. */

enum o2_impl_cksum_flavour {
	O2_IMPL_CKSUM_NONE = 0,
	O2_IMPL_CKSUM_UNSIGNED = 1, /* also where both sums are the same */
	O2_IMPL_CKSUM_SIGNED = 2,
	O2_IMPL_CKSUM_UNVERIFIED = 3, /* passed by tolerate_immediate_checksum */
};

struct o2_impl_wire_options {
	uint32_t max_frags;	   /* 256 or 257 */
	uint32_t require_checksum; /* 0 or 1, as the next two */
	uint32_t any_lnd;
	uint32_t tolerate_immediate_checksum;
};

/*
 * The LNet header with the fields of all variants side by side: those that the type does not have are 0 on
 * the way in and ignored on the way out.
 */
struct o2_impl_lnet_hdr {
	uint64_t dest_nid;
	uint64_t src_nid;
	uint32_t dest_pid;
	uint32_t src_pid;
	uint32_t type; /* ACK 0, PUT 1, GET 2, REPLY 3, HELLO 4 */
	uint32_t payload_length;
	uint64_t wmd_interface_cookie; /* ACK and REPLY: dst_wmd; PUT: ack_wmd; GET: return_wmd */
	uint64_t wmd_object_cookie;    /* opaque bytes, as a little-endian reader sees them */
	uint64_t match_bits;	       /* ACK, PUT, GET */
	uint64_t hdr_data;	       /* PUT; opaque, as the cookies */
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
 * One message, with the fields of all types side by side: those that its type does not have are 0 on the way
 * in and ignored on the way out.
 */
struct o2_impl_msg {
	uint8_t big_endian; /* 0: the sender is little-endian; 1: big-endian */
	uint8_t ibm_type;
	uint8_t ibm_credits;
	uint8_t cksum_flavour; /* enum o2_impl_cksum_flavour */
	uint16_t ibm_version;
	uint16_t reserved;
	uint32_t ibm_nob; /* decode: as received; encode: ignored, it is computed */
	int32_t ibcm_status;
	uint64_t ibm_srcnid;
	uint64_t ibm_srcstamp;
	uint64_t ibm_dstnid;
	uint64_t ibm_dststamp;

	uint16_t ibcp_queue_depth; /* CONNREQ, CONNACK */
	uint16_t ibcp_max_frags;
	uint32_t ibcp_max_msg_size;
	struct o2_impl_lnet_hdr hdr; /* IMMEDIATE, PUT_REQ, GET_REQ */
	uint64_t cookie;	     /* PUT_REQ: ibprm_cookie; GET_REQ: ibgm_cookie; the rest: ibcm_cookie */
	uint64_t ibpam_src_cookie;   /* PUT_ACK */
	uint64_t ibpam_dst_cookie;
	struct o2_impl_desc rd; /* PUT_ACK: ibpam_rd; GET_REQ: ibgm_rd */

	/* IMMEDIATE: hdr.payload_length bytes.  Decode copies them to payload, if it refuses nothing. */
	uint8_t *payload;
	uint64_t payload_capacity_bytes;
};

struct o2_impl_msg_decode_in {
	struct o2_impl_wire_options options;
	const uint8_t *bytes;
	uint64_t length_bytes; /* received; the message may be shorter */
};

struct o2_impl_msg_encode_in {
	struct o2_impl_wire_options options;
	struct o2_impl_msg msg; /* its arrays are for reading only */
};

struct o2_impl_bytes {
	uint8_t *bytes;
	uint64_t capacity_bytes;
	uint64_t length_bytes; /* how many were written */
};

#endif
