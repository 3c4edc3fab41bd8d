/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "base/errno_name.h"
#include "props/command/told.h"
#include "wire/nid.h"

const char *o2_told_type_name(uint8_t type)
{
	static const char *const names[] = {"NOOP",    "IMMEDIATE", "PUT_REQ", "PUT_NAK",
					    "PUT_ACK", "PUT_DONE",  "GET_REQ", "GET_DONE"};

	return type == O2_MSG_CONNREQ	? "CONNREQ"
	       : type == O2_MSG_CONNACK ? "CONNACK"
					: names[type - O2_MSG_NOOP];
}

static void lnet(FILE *out, const struct o2_lnet_hdr *hdr)
{
	if (hdr->type == O2_LNET_ACK)
		fprintf(out, " ACK %" PRIu32 " bytes match 0x%" PRIx64, hdr->msg.ack.mlength,
			hdr->msg.ack.match_bits);
	else if (hdr->type == O2_LNET_PUT)
		fprintf(out, " PUT %" PRIu32 " bytes portal %" PRIu32 " match 0x%" PRIx64,
			hdr->payload_length, hdr->msg.put.ptl_index, hdr->msg.put.match_bits);
	else if (hdr->type == O2_LNET_GET)
		fprintf(out, " GET %" PRIu32 " bytes portal %" PRIu32 " match 0x%" PRIx64,
			hdr->msg.get.sink_length, hdr->msg.get.ptl_index, hdr->msg.get.match_bits);
	else
		fprintf(out, " REPLY %" PRIu32 " bytes", hdr->payload_length);
}

static void sink(FILE *out, const struct o2_rdma_desc *desc)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < desc->rd_nfrags; i++)
		bytes += desc->rd_frags[i].rf_nob;
	fprintf(out, " sink %" PRIu64 " bytes frags %" PRIu32 " key 0x%" PRIx32 " addr 0x%" PRIx64, bytes,
		desc->rd_nfrags, desc->rd_key, desc->rd_frags[0].rf_addr);
}

static void terms(FILE *out, const struct o2_msg *msg)
{
	char src[O2_NID_TEXT_BYTES], dst[O2_NID_TEXT_BYTES];

	o2_nid_to_text(msg->ibm_srcnid, src, sizeof(src));
	o2_nid_to_text(msg->ibm_dstnid, dst, sizeof(dst));
	fprintf(out,
		" depth %u frags %u size %" PRIu32 " version 0x%x from %s to %s stamps 0x%" PRIx64
		" 0x%" PRIx64,
		msg->u.connparams.ibcp_queue_depth, msg->u.connparams.ibcp_max_frags,
		msg->u.connparams.ibcp_max_msg_size, msg->ibm_version, src, dst, msg->ibm_srcstamp,
		msg->ibm_dststamp);
}

void o2_told_status(int32_t status, char *text, size_t text_bytes)
{
	const char *name = status < 0 ? o2_errno_symbol(status) : NULL;

	snprintf(text, text_bytes, name == NULL ? "%" PRId32 "%s" : "%" PRId32 " %s", status,
		 name == NULL ? "" : name);
}

static void completion(FILE *out, const struct o2_msg *msg)
{
	char text[32];

	o2_told_status(msg->u.completion.ibcm_status, text, sizeof(text));
	fprintf(out, " cookie 0x%" PRIx64 " status %s", msg->u.completion.ibcm_cookie, text);
}

void o2_told_summary(FILE *out, const struct o2_msg *msg)
{
	fprintf(out, "%s", o2_told_type_name(msg->ibm_type));
	switch (msg->ibm_type) {
	case O2_MSG_CONNREQ:
	case O2_MSG_CONNACK:
		terms(out, msg);
		break;
	case O2_MSG_IMMEDIATE:
		lnet(out, &msg->u.immediate.hdr);
		break;
	case O2_MSG_PUT_REQ:
		fprintf(out, " cookie 0x%" PRIx64, msg->u.putreq.ibprm_cookie);
		lnet(out, &msg->u.putreq.hdr);
		break;
	case O2_MSG_PUT_ACK:
		fprintf(out, " cookie 0x%" PRIx64 " dst_cookie 0x%" PRIx64, msg->u.putack.ibpam_src_cookie,
			msg->u.putack.ibpam_dst_cookie);
		sink(out, &msg->u.putack.ibpam_rd);
		break;
	case O2_MSG_GET_REQ:
		fprintf(out, " cookie 0x%" PRIx64, msg->u.get.ibgm_cookie);
		lnet(out, &msg->u.get.hdr);
		sink(out, &msg->u.get.ibgm_rd);
		break;
	case O2_MSG_NOOP:
		break;
	default:
		completion(out, msg);
		break;
	}
	if (msg->ibm_credits != 0)
		fprintf(out, " credits %u", msg->ibm_credits);
	if (msg->order == O2_BIG_ENDIAN)
		fprintf(out, " big-endian");
}
