/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/checks.h"
#include "wire/checksum.h"
#include "wire/desc_codec.h"
#include "wire/layout.h"
#include "wire/lnet_hdr.h"
#include "wire/msg.h"
#include "wire/msg_type.h"
#include "wire/rules.h"

/* What no peer could send: a caller's mistake. */
static int check_local(const struct o2_msg *msg, const struct o2_wire_options *options,
		       struct o2_error *error)
{
	const int rc = o2_check_options(options, error);

	if (rc != 0)
		return rc;
	if (msg->order != O2_LITTLE_ENDIAN && msg->order != O2_BIG_ENDIAN)
		return o2_wire_refuse(error, O2_RULE_ENCODE_ORDER, O2_NO_INDEX, msg->order, O2_BIG_ENDIAN);
	if ((uint32_t)msg->cksum_flavour > O2_CKSUM_UNVERIFIED)
		return o2_wire_refuse(error, O2_RULE_ENCODE_CKSUM_FLAVOUR, O2_NO_INDEX, msg->cksum_flavour,
				      O2_CKSUM_UNVERIFIED);
	return 0;
}

static int check_header(const struct o2_msg *msg, const struct o2_wire_options *options,
			struct o2_error *error)
{
	const bool has_payload = msg->ibm_type == O2_MSG_IMMEDIATE;
	int rc;

	rc = o2_check_version(msg->ibm_version, error);
	if (rc != 0)
		return rc;
	/* Only a payload can make a message too long: a descriptor's count has a rule of its own. */
	if (has_payload && o2_msg_canonical_bytes(msg) > O2_MSG_BYTES)
		return o2_wire_refuse(error, O2_RULE_NOB_OVER_LIMIT, O2_NO_INDEX, o2_msg_canonical_bytes(msg),
				      O2_MSG_BYTES);
	if (options->require_checksum && msg->cksum_flavour == O2_CKSUM_NONE)
		return o2_wire_refuse(error, O2_RULE_CHECKSUM_ABSENT, O2_NO_INDEX, 0, 1);
	return o2_check_nids(msg->ibm_srcnid, msg->ibm_dstnid, options->any_lnd, error);
}

static int check_body(const struct o2_msg *msg, const struct o2_msg_type_info *info,
		      const struct o2_wire_options *options, struct o2_error *error)
{
	const struct o2_lnet_hdr *hdr;
	const struct o2_rdma_desc *desc;
	int rc = 0;

	if (info == NULL)
		return o2_wire_refuse(error, O2_RULE_TYPE, O2_NO_INDEX, msg->ibm_type, O2_MSG_GET_DONE);
	hdr = o2_msg_lnet_hdr(msg);
	desc = o2_msg_desc(msg);
	if (hdr != NULL)
		rc = o2_check_lnet_type(info, hdr->type, error);
	if (rc == 0 && desc != NULL)
		rc = o2_desc_check(desc, options->max_frags, info->desc_rule, error);
	if (rc == 0 && info->body == O2_BODY_COMPLETION)
		rc = o2_check_status(info, msg->u.completion.ibcm_status, error);
	if (rc == 0 && hdr != NULL)
		rc = o2_check_lnet_payload(info, hdr, error);
	if (rc == 0 && info->body == O2_BODY_IMMEDIATE && hdr->payload_length != 0 &&
	    msg->u.immediate.payload == NULL)
		rc = o2_wire_refuse(error, O2_RULE_ENCODE_PAYLOAD, O2_NO_INDEX, 0, hdr->payload_length);
	return rc;
}

static void store_header(const struct o2_msg *msg, uint32_t nob, uint8_t *bytes)
{
	o2_store32(bytes + O2_AT_MAGIC, msg->order, O2_MSG_MAGIC);
	o2_store16(bytes + O2_AT_VERSION, msg->order, msg->ibm_version);
	bytes[O2_AT_TYPE] = msg->ibm_type;
	bytes[O2_AT_CREDITS] = msg->ibm_credits;
	o2_store32(bytes + O2_AT_NOB, msg->order, nob);
	o2_store32(bytes + O2_AT_CKSUM, msg->order, 0);
	o2_store64(bytes + O2_AT_SRCNID, msg->order, msg->ibm_srcnid);
	o2_store64(bytes + O2_AT_SRCSTAMP, msg->order, msg->ibm_srcstamp);
	o2_store64(bytes + O2_AT_DSTNID, msg->order, msg->ibm_dstnid);
	o2_store64(bytes + O2_AT_DSTSTAMP, msg->order, msg->ibm_dststamp);
}

static void store_body(const struct o2_msg *msg, enum o2_msg_body body, uint8_t *bytes)
{
	switch (body) {
	case O2_BODY_NONE:
		break;
	case O2_BODY_CONNPARAMS:
		o2_store16(bytes + O2_AT_QUEUE_DEPTH, msg->order, msg->u.connparams.ibcp_queue_depth);
		o2_store16(bytes + O2_AT_MAX_FRAGS, msg->order, msg->u.connparams.ibcp_max_frags);
		o2_store32(bytes + O2_AT_MAX_MSG_SIZE, msg->order, msg->u.connparams.ibcp_max_msg_size);
		break;
	case O2_BODY_IMMEDIATE:
		/* First, because it may lie in the same buffer. */
		if (msg->u.immediate.hdr.payload_length != 0)
			memmove(bytes + O2_AT_PAYLOAD, msg->u.immediate.payload,
				msg->u.immediate.hdr.payload_length);
		o2_lnet_hdr_store(&msg->u.immediate.hdr, bytes + O2_AT_LNET_HDR);
		break;
	case O2_BODY_PUTREQ:
		o2_lnet_hdr_store(&msg->u.putreq.hdr, bytes + O2_AT_LNET_HDR);
		o2_store64_le(bytes + O2_AT_PUT_REQ_COOKIE, msg->u.putreq.ibprm_cookie);
		break;
	case O2_BODY_PUTACK:
		o2_store64_le(bytes + O2_AT_SRC_COOKIE, msg->u.putack.ibpam_src_cookie);
		o2_store64_le(bytes + O2_AT_DST_COOKIE, msg->u.putack.ibpam_dst_cookie);
		o2_desc_store(&msg->u.putack.ibpam_rd, msg->order, bytes + O2_AT_PUT_ACK_DESC);
		break;
	case O2_BODY_GET:
		o2_lnet_hdr_store(&msg->u.get.hdr, bytes + O2_AT_LNET_HDR);
		o2_store64(bytes + O2_AT_GET_REQ_COOKIE, O2_LITTLE_ENDIAN, msg->u.get.ibgm_cookie);
		o2_desc_store(&msg->u.get.ibgm_rd, msg->order, bytes + O2_AT_GET_REQ_DESC);
		break;
	case O2_BODY_COMPLETION:
		o2_store64_le(bytes + O2_AT_COMPLETION_COOKIE, msg->u.completion.ibcm_cookie);
		o2_store32(bytes + O2_AT_STATUS, msg->order, (uint32_t)msg->u.completion.ibcm_status);
		break;
	}
}

int o2_msg_encode(const struct o2_msg *msg, const struct o2_wire_options *options, uint8_t *bytes,
		  size_t capacity_bytes, struct o2_error *error)
{
	const struct o2_wire_options chosen = options == NULL ? O2_WIRE_DEFAULTS : *options;
	const struct o2_msg_type_info *info = o2_msg_type_info(msg->ibm_type);
	uint32_t nob;
	int rc;

	o2_error_clear(error);
	rc = check_local(msg, &chosen, error);
	if (rc == 0)
		rc = check_header(msg, &chosen, error);
	if (rc == 0)
		rc = check_body(msg, info, &chosen, error);
	if (rc != 0)
		return rc;
	nob = (uint32_t)o2_msg_canonical_bytes(msg);
	if (capacity_bytes < nob)
		return o2_wire_refuse(error, O2_RULE_ENCODE_CAPACITY, O2_NO_INDEX, capacity_bytes, nob);
	store_body(msg, info->body, bytes);
	store_header(msg, nob, bytes);
	if (msg->cksum_flavour != O2_CKSUM_NONE)
		o2_store32(bytes + O2_AT_CKSUM, msg->order,
			   o2_checksum_of(o2_msg_checksum_both(bytes, nob), msg->cksum_flavour));
	return (int)nob;
}
