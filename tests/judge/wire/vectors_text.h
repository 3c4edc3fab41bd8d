/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_WIRE_VECTORS_TEXT_H
#define O2_TESTS_WIRE_VECTORS_TEXT_H

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "wire/msg.h"
#include "wire/reject.h"

/*
 * Writes decoded fields, or a refusal, in the flat text form of corpus/vectors/vectors.txt (described in its
 * README).  Uses only the C library, and no JSON, so that a cross compiler can build it without other libraries.
 */

/* Enough for a header and 257 fragments of at most 35 characters, or for a payload of 3976 bytes. */
#define VECTOR_TEXT_BYTES 16384u

struct vector_text {
	size_t used;
	char text[VECTOR_TEXT_BYTES];
};

static inline void vector_put(struct vector_text *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static inline void vector_put(struct vector_text *out, const char *format, ...)
{
	size_t room = sizeof(out->text) - out->used;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(out->text + out->used, room, format, args);
	va_end(args);
	/* Text that does not fit is cut, so the comparison with the expected text fails. */
	out->used += length < 0 ? 0 : (size_t)length < room ? (size_t)length : room - 1;
}

static inline void vector_put_field(struct vector_text *out, const char *name, uint64_t value)
{
	vector_put(out, "%s%s=%" PRIx64, out->used == 0 ? "" : ",", name, value);
}

static inline void vector_put_handle(struct vector_text *out, const struct o2_lnet_handle *handle)
{
	vector_put_field(out, "wh_interface_cookie", handle->wh_interface_cookie);
	vector_put_field(out, "wh_object_cookie", handle->wh_object_cookie);
}

static inline void vector_put_variant(struct vector_text *out, const struct o2_lnet_hdr *hdr)
{
	switch (hdr->type) {
	case O2_LNET_ACK:
		vector_put_handle(out, &hdr->msg.ack.dst_wmd);
		vector_put_field(out, "match_bits", hdr->msg.ack.match_bits);
		vector_put_field(out, "mlength", hdr->msg.ack.mlength);
		break;
	case O2_LNET_PUT:
		vector_put_handle(out, &hdr->msg.put.ack_wmd);
		vector_put_field(out, "match_bits", hdr->msg.put.match_bits);
		vector_put_field(out, "hdr_data", hdr->msg.put.hdr_data);
		vector_put_field(out, "ptl_index", hdr->msg.put.ptl_index);
		vector_put_field(out, "offset", hdr->msg.put.offset);
		break;
	case O2_LNET_GET:
		vector_put_handle(out, &hdr->msg.get.return_wmd);
		vector_put_field(out, "match_bits", hdr->msg.get.match_bits);
		vector_put_field(out, "ptl_index", hdr->msg.get.ptl_index);
		vector_put_field(out, "src_offset", hdr->msg.get.src_offset);
		vector_put_field(out, "sink_length", hdr->msg.get.sink_length);
		break;
	default:
		vector_put_handle(out, &hdr->msg.reply.dst_wmd);
	}
}

static inline void vector_put_lnet(struct vector_text *out, const struct o2_lnet_hdr *hdr)
{
	vector_put_field(out, "dest_nid", hdr->dest_nid);
	vector_put_field(out, "src_nid", hdr->src_nid);
	vector_put_field(out, "dest_pid", hdr->dest_pid);
	vector_put_field(out, "src_pid", hdr->src_pid);
	vector_put_field(out, "type", hdr->type);
	vector_put_field(out, "payload_length", hdr->payload_length);
	vector_put_variant(out, hdr);
}

static inline void vector_put_desc(struct vector_text *out, const struct o2_rdma_desc *desc)
{
	uint32_t i;

	vector_put_field(out, "rd_key", desc->rd_key);
	for (i = 0; i < desc->rd_nfrags && i < O2_MAX_FRAGS; i++)
		vector_put(out, ",frag=%" PRIx64 "@%" PRIx64, (uint64_t)desc->rd_frags[i].rf_nob,
			   (uint64_t)desc->rd_frags[i].rf_addr);
}

static inline void vector_put_payload(struct vector_text *out, const uint8_t *payload, uint32_t length_bytes)
{
	uint32_t i;

	vector_put(out, ",payload=");
	for (i = 0; i < length_bytes && i < O2_MSG_BYTES; i++)
		vector_put(out, "%02x", payload[i]);
}

static inline void vector_put_body(struct vector_text *out, const struct o2_msg *msg)
{
	switch (msg->ibm_type) {
	case O2_MSG_NOOP:
		break;
	case O2_MSG_CONNREQ:
	case O2_MSG_CONNACK:
		vector_put_field(out, "ibcp_queue_depth", msg->u.connparams.ibcp_queue_depth);
		vector_put_field(out, "ibcp_max_frags", msg->u.connparams.ibcp_max_frags);
		vector_put_field(out, "ibcp_max_msg_size", msg->u.connparams.ibcp_max_msg_size);
		break;
	case O2_MSG_IMMEDIATE:
		vector_put_lnet(out, &msg->u.immediate.hdr);
		vector_put_payload(out, msg->u.immediate.payload, msg->u.immediate.hdr.payload_length);
		break;
	case O2_MSG_PUT_REQ:
		vector_put_lnet(out, &msg->u.putreq.hdr);
		vector_put_field(out, "ibprm_cookie", msg->u.putreq.ibprm_cookie);
		break;
	case O2_MSG_PUT_ACK:
		vector_put_field(out, "ibpam_src_cookie", msg->u.putack.ibpam_src_cookie);
		vector_put_field(out, "ibpam_dst_cookie", msg->u.putack.ibpam_dst_cookie);
		vector_put_desc(out, &msg->u.putack.ibpam_rd);
		break;
	case O2_MSG_GET_REQ:
		vector_put_lnet(out, &msg->u.get.hdr);
		vector_put_field(out, "ibgm_cookie", msg->u.get.ibgm_cookie);
		vector_put_desc(out, &msg->u.get.ibgm_rd);
		break;
	default:
		vector_put_field(out, "ibcm_cookie", msg->u.completion.ibcm_cookie);
		vector_put_field(out, "ibcm_status", (uint64_t)(int64_t)msg->u.completion.ibcm_status);
	}
}

static inline void vector_put_msg(struct vector_text *out, const struct o2_msg *msg)
{
	vector_put_field(out, "byte_order", (uint64_t)msg->order);
	vector_put_field(out, "ibm_version", msg->ibm_version);
	vector_put_field(out, "ibm_type", msg->ibm_type);
	vector_put_field(out, "ibm_credits", msg->ibm_credits);
	vector_put_field(out, "ibm_nob", msg->ibm_nob);
	vector_put_field(out, "cksum_flavour", (uint64_t)msg->cksum_flavour);
	vector_put_field(out, "ibm_srcnid", msg->ibm_srcnid);
	vector_put_field(out, "ibm_srcstamp", msg->ibm_srcstamp);
	vector_put_field(out, "ibm_dstnid", msg->ibm_dstnid);
	vector_put_field(out, "ibm_dststamp", msg->ibm_dststamp);
	vector_put_body(out, msg);
}

static inline void vector_put_reject(struct vector_text *out, const struct o2_reject *reject)
{
	vector_put_field(out, "byte_order", (uint64_t)reject->order);
	vector_put_field(out, "ibr_magic", reject->generic_magic ? O2_LNET_PROTO_MAGIC : O2_MSG_MAGIC);
	vector_put_field(out, "ibr_version", reject->ibr_version);
	vector_put_field(out, "ibr_why", reject->ibr_why);
	vector_put_field(out, "ibr_incarnation", reject->ibr_incarnation);
	vector_put_field(out, "ibcp_queue_depth", reject->ibr_cp.ibcp_queue_depth);
	vector_put_field(out, "ibcp_max_frags", reject->ibr_cp.ibcp_max_frags);
	vector_put_field(out, "ibcp_max_msg_size", reject->ibr_cp.ibcp_max_msg_size);
}

/* Format: rule,class,errno,field,offset_bytes=..,value=..,limit=.. and, if the refusal has an index, index=.. */
static inline void vector_put_refusal(struct vector_text *out, const struct o2_error *error)
{
	static const char *const classes[] = {[O2_CLASS_NONE] = "local",
					      [O2_CLASS_MESSAGE] = "message",
					      [O2_CLASS_CONNECTION] = "connection"};
	const char *code = error->code == -EPROTO   ? "EPROTO"
			   : error->code == -EINVAL ? "EINVAL"
			   : error->code == -ENOSPC ? "ENOSPC"
						    : "another errno";

	vector_put(out, "%s,%s,%s,%s", error->rule == NULL ? "no rule" : error->rule, classes[error->class],
		   code, error->field == NULL ? "no field" : error->field);
	vector_put_field(out, "offset_bytes", error->offset_bytes);
	vector_put_field(out, "value", error->value);
	vector_put_field(out, "limit", error->limit);
	if (error->index != O2_NO_INDEX)
		vector_put_field(out, "index", error->index);
}

#endif
