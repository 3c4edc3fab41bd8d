/* SPDX-License-Identifier: MIT */
#include "cli/summary.h"

#include <inttypes.h>

#include "base/words.h"
#include "cli/errno_text.h"
#include "cli/lst_text.h"
#include "wire/desc_codec.h"
#include "wire/lnet_hdr.h"
#include "wire/msg_type.h"
#include "wire/nid.h"

static void add_lnet(struct o2_words *line, const struct o2_lnet_hdr *hdr)
{
	switch (hdr->type) {
	case O2_LNET_ACK:
		o2_words_add(line, " ACK %" PRIu32 " bytes match 0x%" PRIx64, hdr->msg.ack.mlength,
			     hdr->msg.ack.match_bits);
		break;
	case O2_LNET_PUT:
		o2_words_add(line, " PUT %" PRIu32 " bytes portal %" PRIu32 " match 0x%" PRIx64,
			     hdr->payload_length, hdr->msg.put.ptl_index, hdr->msg.put.match_bits);
		break;
	case O2_LNET_GET:
		o2_words_add(line, " GET %" PRIu32 " bytes portal %" PRIu32 " match 0x%" PRIx64,
			     hdr->msg.get.sink_length, hdr->msg.get.ptl_index, hdr->msg.get.match_bits);
		break;
	case O2_LNET_REPLY:
		o2_words_add(line, " REPLY %" PRIu32 " bytes", hdr->payload_length);
		break;
	default:
		break;
	}
}

static void add_lst(struct o2_words *line, const struct o2_msg *msg)
{
	char text[O2_LST_TEXT_BYTES];
	struct o2_lst_msg lst;

	if (!o2_lst_inside(msg, &lst))
		return;
	o2_lst_text(&lst, text);
	o2_words_add(line, " | %s", text);
}

static void add_desc(struct o2_words *line, const struct o2_rdma_desc *desc)
{
	o2_words_add(line, " sink %" PRIu64 " bytes frags %" PRIu32 " key 0x%" PRIx32 " addr 0x%" PRIx64,
		     o2_desc_bytes(desc), desc->rd_nfrags, desc->rd_key, desc->rd_frags[0].rf_addr);
}

static void add_nids(struct o2_words *line, const struct o2_msg *msg)
{
	char src[O2_NID_TEXT_BYTES], dst[O2_NID_TEXT_BYTES];

	o2_nid_to_text(msg->ibm_srcnid, src, sizeof(src));
	o2_nid_to_text(msg->ibm_dstnid, dst, sizeof(dst));
	o2_words_add(line, " from %s to %s stamps 0x%" PRIx64 " 0x%" PRIx64, src, dst, msg->ibm_srcstamp,
		     msg->ibm_dststamp);
}

static void add_body(struct o2_words *line, const struct o2_msg *msg, enum o2_msg_body body)
{
	char status[O2_STATUS_TEXT_BYTES];

	switch (body) {
	case O2_BODY_CONNPARAMS:
		o2_words_add(line, " depth %u frags %u size %" PRIu32 " version 0x%x",
			     msg->u.connparams.ibcp_queue_depth, msg->u.connparams.ibcp_max_frags,
			     msg->u.connparams.ibcp_max_msg_size, msg->ibm_version);
		add_nids(line, msg);
		break;
	case O2_BODY_IMMEDIATE:
		add_lnet(line, &msg->u.immediate.hdr);
		break;
	case O2_BODY_PUTREQ:
		o2_words_add(line, " cookie 0x%" PRIx64, msg->u.putreq.ibprm_cookie);
		add_lnet(line, &msg->u.putreq.hdr);
		break;
	case O2_BODY_PUTACK:
		o2_words_add(line, " cookie 0x%" PRIx64 " dst_cookie 0x%" PRIx64,
			     msg->u.putack.ibpam_src_cookie, msg->u.putack.ibpam_dst_cookie);
		add_desc(line, &msg->u.putack.ibpam_rd);
		break;
	case O2_BODY_GET:
		o2_words_add(line, " cookie 0x%" PRIx64, msg->u.get.ibgm_cookie);
		add_lnet(line, &msg->u.get.hdr);
		add_desc(line, &msg->u.get.ibgm_rd);
		break;
	case O2_BODY_COMPLETION:
		o2_status_text(msg->u.completion.ibcm_status, status);
		o2_words_add(line, " cookie 0x%" PRIx64 " status %s", msg->u.completion.ibcm_cookie, status);
		break;
	case O2_BODY_NONE:
		break;
	}
}

void o2_msg_summary(const struct o2_msg *msg, char text[O2_SUMMARY_TEXT_BYTES])
{
	const struct o2_msg_type_info *info = o2_msg_type_info(msg->ibm_type);
	struct o2_words line = {text, O2_SUMMARY_TEXT_BYTES, 0};

	text[0] = '\0';
	if (info == NULL)
		return;
	o2_words_add(&line, "%s", o2_msg_type_name(msg->ibm_type));
	add_body(&line, msg, info->body);
	if (msg->ibm_credits != 0)
		o2_words_add(&line, " credits %u", msg->ibm_credits);
	if (msg->order == O2_BIG_ENDIAN)
		o2_words_add(&line, " big-endian");
	add_lst(&line, msg);
}

void o2_reject_summary(const struct o2_reject *reject, char text[O2_SUMMARY_TEXT_BYTES])
{
	struct o2_words line = {text, O2_SUMMARY_TEXT_BYTES, 0};
	const char *why = o2_reject_why_name(reject->ibr_why);

	o2_words_add(&line, "%u %s version 0x%x", reject->ibr_why, why == NULL ? "(unknown)" : why,
		     reject->ibr_version);
	if (reject->ibr_version != O2_MSG_VERSION_1)
		o2_words_add(&line, " depth %u frags %u size %" PRIu32 " stamp 0x%" PRIx64,
			     reject->ibr_cp.ibcp_queue_depth, reject->ibr_cp.ibcp_max_frags,
			     reject->ibr_cp.ibcp_max_msg_size, reject->ibr_incarnation);
	if (reject->order == O2_BIG_ENDIAN)
		o2_words_add(&line, " big-endian");
}
