/* SPDX-License-Identifier: MIT */
#include "wire/msg.h"

#include <assert.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/checksum.h"
#include "wire/desc_codec.h"
#include "wire/layout.h"
#include "wire/lnet_hdr.h"
#include "wire/msg_type.h"
#include "wire/nid.h"
#include "wire/rules.h"

const struct o2_lnet_hdr *o2_msg_lnet_hdr(const struct o2_msg *msg)
{
	if (msg->ibm_type == O2_MSG_IMMEDIATE)
		return &msg->u.immediate.hdr;
	if (msg->ibm_type == O2_MSG_PUT_REQ)
		return &msg->u.putreq.hdr;
	return msg->ibm_type == O2_MSG_GET_REQ ? &msg->u.get.hdr : NULL;
}

const struct o2_rdma_desc *o2_msg_desc(const struct o2_msg *msg)
{
	if (msg->ibm_type == O2_MSG_PUT_ACK)
		return &msg->u.putack.ibpam_rd;
	return msg->ibm_type == O2_MSG_GET_REQ ? &msg->u.get.ibgm_rd : NULL;
}

/* --- checks shared by decode and encode --- */

int o2_check_options(const struct o2_wire_options *options, struct o2_error *error)
{
	if (options->max_frags == O2_MAX_FRAGS || options->max_frags == O2_MAX_FRAGS_LEGACY)
		return 0;
	return o2_wire_refuse(error, O2_RULE_OPTION_MAX_FRAGS, options->max_frags, O2_MAX_FRAGS);
}

static int check_version(uint16_t version, struct o2_error *error)
{
	if (!o2_wire_breaks(O2_RULE_VERSION, version != O2_MSG_VERSION_1 && version != O2_MSG_VERSION_2))
		return 0;
	return o2_wire_refuse(error, O2_RULE_VERSION, version, O2_MSG_VERSION_2);
}

static int check_lnet_type(const struct o2_msg_type_info *info, uint32_t lnet_type, struct o2_error *error)
{
	bool fits = lnet_type <= O2_LNET_HELLO && (info->lnet_types >> lnet_type & 1) != 0;

	if (!o2_wire_breaks(info->lnet_type_rule, !fits))
		return 0;
	return o2_wire_refuse(error, info->lnet_type_rule, lnet_type, info->lnet_types);
}

static int check_payload(const struct o2_msg_type_info *info, const struct o2_lnet_hdr *hdr,
			 struct o2_error *error)
{
	const bool carries = hdr->type == O2_LNET_PUT || hdr->type == O2_LNET_REPLY;

	if (o2_wire_breaks(info->payload_not_zero_rule, !carries && hdr->payload_length != 0))
		return o2_wire_refuse(error, info->payload_not_zero_rule, hdr->payload_length, 0);
	if (o2_wire_breaks(info->payload_over_limit_rule,
			   carries && hdr->payload_length > O2_MAX_TRANSFER_BYTES))
		return o2_wire_refuse(error, info->payload_over_limit_rule, hdr->payload_length,
				      O2_MAX_TRANSFER_BYTES);
	return 0;
}

static int check_status(const struct o2_msg_type_info *info, int32_t status, struct o2_error *error)
{
	if (!o2_wire_breaks(info->status_rule, status > (int32_t)O2_MAX_TRANSFER_BYTES))
		return 0;
	return o2_wire_refuse(error, info->status_rule, (uint64_t)status, O2_MAX_TRANSFER_BYTES);
}

/* --- decode --- */

/* Magic and version have the same place in all versions; nothing else can be trusted before both are right. */
#define VERSION_END_BYTES 6u
static_assert(VERSION_END_BYTES == O2_AT_VERSION + 2, "they end with the version");

/* Everything that the stages of one decode share. */
struct decode {
	const uint8_t *bytes;
	size_t length_bytes;
	struct o2_wire_options options;
	struct o2_msg *msg;
	struct o2_error *error;
};

/* Byte order, version and length. */
static int decode_frame(const struct decode *d)
{
	struct o2_msg *msg = d->msg;
	uint32_t magic;
	int rc;

	if (o2_wire_breaks(O2_RULE_SHORT_FOR_VERSION, d->length_bytes < VERSION_END_BYTES))
		return o2_wire_refuse(d->error, O2_RULE_SHORT_FOR_VERSION, d->length_bytes,
				      VERSION_END_BYTES);
	magic = o2_load32(d->bytes + O2_AT_MAGIC, O2_LITTLE_ENDIAN);
	msg->order = o2_load32(d->bytes + O2_AT_MAGIC, O2_BIG_ENDIAN) == O2_MSG_MAGIC ? O2_BIG_ENDIAN
										      : O2_LITTLE_ENDIAN;
	if (o2_wire_breaks(O2_RULE_MAGIC, msg->order == O2_LITTLE_ENDIAN && magic != O2_MSG_MAGIC))
		return o2_wire_refuse(d->error, O2_RULE_MAGIC, magic, O2_MSG_MAGIC);
	msg->ibm_version = o2_load16(d->bytes + O2_AT_VERSION, msg->order);
	rc = check_version(msg->ibm_version, d->error);
	if (rc != 0)
		return rc;
	if (o2_wire_breaks(O2_RULE_SHORT_FOR_HEADER, d->length_bytes < O2_MSG_HEADER_BYTES))
		return o2_wire_refuse(d->error, O2_RULE_SHORT_FOR_HEADER, d->length_bytes,
				      O2_MSG_HEADER_BYTES);
	/* Unsigned, so that a value of 2^31 or more is too large and not negative. */
	msg->ibm_nob = o2_load32(d->bytes + O2_AT_NOB, msg->order);
	if (o2_wire_breaks(O2_RULE_NOB_OVER_RECEIVED, msg->ibm_nob > d->length_bytes))
		return o2_wire_refuse(d->error, O2_RULE_NOB_OVER_RECEIVED, msg->ibm_nob, d->length_bytes);
	if (msg->ibm_nob > O2_MSG_BYTES)
		return o2_wire_refuse(d->error, O2_RULE_NOB_OVER_LIMIT, msg->ibm_nob, O2_MSG_BYTES);
	return 0;
}

/*
 * Whether this is an IMMEDIATE with a payload inside nob: the only kind of message for which a wrong checksum
 * may be tolerated.
 */
static bool carries_payload(const struct decode *d)
{
	const uint8_t *hdr = d->bytes + O2_AT_LNET_HDR;
	uint32_t lnet_type, payload_length;

	if (d->bytes[O2_AT_TYPE] != O2_MSG_IMMEDIATE || d->msg->ibm_nob < O2_AT_PAYLOAD)
		return false;
	lnet_type = o2_load32(hdr + O2_LNET_AT_TYPE, O2_LITTLE_ENDIAN);
	payload_length = o2_load32(hdr + O2_LNET_AT_PAYLOAD_LENGTH, O2_LITTLE_ENDIAN);
	return (lnet_type == O2_LNET_PUT || lnet_type == O2_LNET_REPLY) && payload_length != 0 &&
	       payload_length <= d->msg->ibm_nob - O2_AT_PAYLOAD;
}

static int decode_checksum(const struct decode *d)
{
	const uint32_t found = o2_load32(d->bytes + O2_AT_CKSUM, d->msg->order);
	struct o2_checksums sums;

	d->msg->cksum_flavour = O2_CKSUM_NONE;
	if (o2_wire_breaks(O2_RULE_CHECKSUM_ABSENT, found == 0 && d->options.require_checksum))
		return o2_wire_refuse(d->error, O2_RULE_CHECKSUM_ABSENT, 0, 1);
	if (found == 0)
		return 0;
	sums = o2_msg_checksum_both(d->bytes, d->msg->ibm_nob);
	if (found == sums.of_unsigned && d->options.only_flavour != O2_CKSUM_SIGNED)
		d->msg->cksum_flavour = O2_CKSUM_UNSIGNED;
	else if (found == sums.of_signed && d->options.only_flavour != O2_CKSUM_UNSIGNED)
		d->msg->cksum_flavour = O2_CKSUM_SIGNED;
	else if (d->options.tolerate_immediate_checksum && carries_payload(d))
		d->msg->cksum_flavour = O2_CKSUM_UNVERIFIED;
	else if (o2_wire_breaks(O2_RULE_CHECKSUM, true))
		return o2_wire_refuse(d->error, O2_RULE_CHECKSUM, found,
				      d->options.only_flavour == O2_CKSUM_SIGNED ? sums.of_signed
										 : sums.of_unsigned);
	return 0;
}

static int decode_header(const struct decode *d)
{
	struct o2_msg *msg = d->msg;

	msg->ibm_type = d->bytes[O2_AT_TYPE];
	msg->ibm_credits = d->bytes[O2_AT_CREDITS];
	msg->ibm_srcnid = o2_load64(d->bytes + O2_AT_SRCNID, msg->order);
	msg->ibm_srcstamp = o2_load64(d->bytes + O2_AT_SRCSTAMP, msg->order);
	msg->ibm_dstnid = o2_load64(d->bytes + O2_AT_DSTNID, msg->order);
	msg->ibm_dststamp = o2_load64(d->bytes + O2_AT_DSTSTAMP, msg->order);
	return o2_check_nids(msg->ibm_srcnid, msg->ibm_dstnid, d->options.any_lnd, d->error);
}

static int decode_lnet_hdr(const struct decode *d, const struct o2_msg_type_info *info,
			   struct o2_lnet_hdr *hdr)
{
	const uint8_t *bytes = d->bytes + O2_AT_LNET_HDR;
	const int rc = check_lnet_type(info, o2_load32(bytes + O2_LNET_AT_TYPE, O2_LITTLE_ENDIAN), d->error);

	if (rc == 0)
		o2_lnet_hdr_load(bytes, hdr);
	return rc;
}

static int decode_immediate(const struct decode *d, const struct o2_msg_type_info *info)
{
	struct o2_lnet_hdr *hdr = &d->msg->u.immediate.hdr;
	const uint32_t room_bytes = d->msg->ibm_nob - O2_AT_PAYLOAD;
	int rc = decode_lnet_hdr(d, info, hdr);

	if (rc == 0)
		rc = check_payload(info, hdr, d->error);
	if (rc != 0)
		return rc;
	/* Bytes after nob are not covered by the checksum, so they are never payload. */
	if (o2_wire_breaks(O2_RULE_IMMEDIATE_PAYLOAD_PAST_NOB, hdr->payload_length > room_bytes))
		return o2_wire_refuse(d->error, O2_RULE_IMMEDIATE_PAYLOAD_PAST_NOB, hdr->payload_length,
				      room_bytes);
	d->msg->u.immediate.payload = d->bytes + O2_AT_PAYLOAD;
	return 0;
}

static int decode_desc(const struct decode *d, const struct o2_msg_type_info *info, uint32_t start_bytes,
		       struct o2_rdma_desc *desc)
{
	const struct o2_desc_place place = {
		.message = d->bytes,
		.start_bytes = start_bytes,
		.nob = d->msg->ibm_nob,
		.order = d->msg->order,
		.max_frags = d->options.max_frags,
		.first_rule = info->desc_rule,
	};

	return o2_desc_load(&place, desc, d->error);
}

static int decode_body(const struct decode *d)
{
	const struct o2_msg_type_info *info = o2_msg_type_info(d->msg->ibm_type);
	const uint8_t *bytes = d->bytes;
	struct o2_msg *msg = d->msg;
	int rc = 0;

	if (info == NULL)
		return o2_wire_refuse(d->error, O2_RULE_TYPE, d->msg->ibm_type, O2_MSG_GET_DONE);
	if (o2_wire_breaks(info->nob_rule, d->msg->ibm_nob < info->minimum_nob))
		return o2_wire_refuse(d->error, info->nob_rule, d->msg->ibm_nob, info->minimum_nob);
	switch (info->body) {
	case O2_BODY_NONE:
		break;
	case O2_BODY_CONNPARAMS:
		msg->u.connparams.ibcp_queue_depth = o2_load16(bytes + O2_AT_QUEUE_DEPTH, msg->order);
		msg->u.connparams.ibcp_max_frags = o2_load16(bytes + O2_AT_MAX_FRAGS, msg->order);
		msg->u.connparams.ibcp_max_msg_size = o2_load32(bytes + O2_AT_MAX_MSG_SIZE, msg->order);
		break;
	case O2_BODY_IMMEDIATE:
		rc = decode_immediate(d, info);
		break;
	case O2_BODY_PUTREQ:
		msg->u.putreq.ibprm_cookie = o2_load64(bytes + O2_AT_PUT_REQ_COOKIE, O2_LITTLE_ENDIAN);
		rc = decode_lnet_hdr(d, info, &msg->u.putreq.hdr);
		if (rc == 0)
			rc = check_payload(info, &msg->u.putreq.hdr, d->error);
		break;
	case O2_BODY_PUTACK:
		msg->u.putack.ibpam_src_cookie = o2_load64(bytes + O2_AT_SRC_COOKIE, O2_LITTLE_ENDIAN);
		msg->u.putack.ibpam_dst_cookie = o2_load64(bytes + O2_AT_DST_COOKIE, O2_LITTLE_ENDIAN);
		rc = decode_desc(d, info, O2_AT_PUT_ACK_DESC, &msg->u.putack.ibpam_rd);
		break;
	case O2_BODY_GET:
		msg->u.get.ibgm_cookie = o2_load64(bytes + O2_AT_GET_REQ_COOKIE, O2_LITTLE_ENDIAN);
		rc = decode_lnet_hdr(d, info, &msg->u.get.hdr);
		if (rc == 0)
			rc = decode_desc(d, info, O2_AT_GET_REQ_DESC, &msg->u.get.ibgm_rd);
		if (rc == 0)
			rc = check_payload(info, &msg->u.get.hdr, d->error);
		break;
	case O2_BODY_COMPLETION:
		msg->u.completion.ibcm_cookie = o2_load64(bytes + O2_AT_COMPLETION_COOKIE, O2_LITTLE_ENDIAN);
		msg->u.completion.ibcm_status = (int32_t)o2_load32(bytes + O2_AT_STATUS, msg->order);
		rc = check_status(info, msg->u.completion.ibcm_status, d->error);
		break;
	}
	return rc;
}

int o2_msg_decode(const uint8_t *bytes, size_t length_bytes, const struct o2_wire_options *options,
		  struct o2_msg *msg, struct o2_error *error)
{
	const struct decode d = {
		.bytes = bytes,
		.length_bytes = length_bytes,
		.options = options == NULL ? O2_WIRE_DEFAULTS : *options,
		.msg = msg,
		.error = error,
	};
	int rc;

	o2_error_clear(error);
	rc = o2_check_options(&d.options, error);
	if (rc == 0)
		rc = decode_frame(&d);
	if (rc == 0)
		rc = decode_checksum(&d);
	if (rc == 0)
		rc = decode_header(&d);
	if (rc == 0)
		rc = decode_body(&d);
	return rc;
}

/* --- encode --- */

static int check_header(const struct o2_msg *msg, uint64_t nob, const struct o2_wire_options *options,
			struct o2_error *error)
{
	int rc = o2_check_options(options, error);

	if (rc != 0)
		return rc;
	/* Values that no peer could send: mistakes of the caller. */
	if (msg->order != O2_LITTLE_ENDIAN && msg->order != O2_BIG_ENDIAN)
		return o2_wire_refuse(error, O2_RULE_ENCODE_ORDER, msg->order, O2_BIG_ENDIAN);
	if ((uint32_t)msg->cksum_flavour > O2_CKSUM_UNVERIFIED)
		return o2_wire_refuse(error, O2_RULE_ENCODE_CKSUM_FLAVOUR, msg->cksum_flavour,
				      O2_CKSUM_UNVERIFIED);
	rc = check_version(msg->ibm_version, error);
	if (rc != 0)
		return rc;
	/* Only a payload can make a message too long: a descriptor's count has a rule of its own. */
	if (msg->ibm_type == O2_MSG_IMMEDIATE && nob > O2_MSG_BYTES)
		return o2_wire_refuse(error, O2_RULE_NOB_OVER_LIMIT, nob, O2_MSG_BYTES);
	if (options->require_checksum && msg->cksum_flavour == O2_CKSUM_NONE)
		return o2_wire_refuse(error, O2_RULE_CHECKSUM_ABSENT, 0, 1);
	return o2_check_nids(msg->ibm_srcnid, msg->ibm_dstnid, options->any_lnd, error);
}

static int check_body(const struct o2_msg *msg, const struct o2_msg_type_info *info,
		      const struct o2_wire_options *options, struct o2_error *error)
{
	const struct o2_lnet_hdr *hdr = o2_msg_lnet_hdr(msg);
	const struct o2_rdma_desc *desc = o2_msg_desc(msg);
	int rc = 0;

	if (info == NULL)
		return o2_wire_refuse(error, O2_RULE_TYPE, msg->ibm_type, O2_MSG_GET_DONE);
	if (hdr != NULL)
		rc = check_lnet_type(info, hdr->type, error);
	if (rc == 0 && desc != NULL)
		rc = o2_desc_check(desc, options->max_frags, info->desc_rule, error);
	if (rc == 0 && info->body == O2_BODY_COMPLETION)
		rc = check_status(info, msg->u.completion.ibcm_status, error);
	if (rc != 0 || hdr == NULL)
		return rc;
	rc = check_payload(info, hdr, error);
	if (rc == 0 && info->body == O2_BODY_IMMEDIATE && hdr->payload_length != 0 &&
	    msg->u.immediate.payload == NULL)
		rc = o2_wire_refuse(error, O2_RULE_ENCODE_PAYLOAD, 0, hdr->payload_length);
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
		/* Move the payload first: it may lie in the same buffer, where the header would overwrite it. */
		if (msg->u.immediate.hdr.payload_length != 0)
			memmove(bytes + O2_AT_PAYLOAD, msg->u.immediate.payload,
				msg->u.immediate.hdr.payload_length);
		o2_lnet_hdr_store(&msg->u.immediate.hdr, bytes + O2_AT_LNET_HDR);
		break;
	case O2_BODY_PUTREQ:
		o2_lnet_hdr_store(&msg->u.putreq.hdr, bytes + O2_AT_LNET_HDR);
		o2_store64(bytes + O2_AT_PUT_REQ_COOKIE, O2_LITTLE_ENDIAN, msg->u.putreq.ibprm_cookie);
		break;
	case O2_BODY_PUTACK:
		o2_store64(bytes + O2_AT_SRC_COOKIE, O2_LITTLE_ENDIAN, msg->u.putack.ibpam_src_cookie);
		o2_store64(bytes + O2_AT_DST_COOKIE, O2_LITTLE_ENDIAN, msg->u.putack.ibpam_dst_cookie);
		o2_desc_store(&msg->u.putack.ibpam_rd, msg->order, bytes + O2_AT_PUT_ACK_DESC);
		break;
	case O2_BODY_GET:
		o2_lnet_hdr_store(&msg->u.get.hdr, bytes + O2_AT_LNET_HDR);
		o2_store64(bytes + O2_AT_GET_REQ_COOKIE, O2_LITTLE_ENDIAN, msg->u.get.ibgm_cookie);
		o2_desc_store(&msg->u.get.ibgm_rd, msg->order, bytes + O2_AT_GET_REQ_DESC);
		break;
	case O2_BODY_COMPLETION:
		o2_store64(bytes + O2_AT_COMPLETION_COOKIE, O2_LITTLE_ENDIAN, msg->u.completion.ibcm_cookie);
		o2_store32(bytes + O2_AT_STATUS, msg->order, (uint32_t)msg->u.completion.ibcm_status);
		break;
	}
}

int o2_msg_encode(const struct o2_msg *msg, const struct o2_wire_options *options, uint8_t *bytes,
		  size_t capacity_bytes, struct o2_error *error)
{
	const struct o2_wire_options chosen = options == NULL ? O2_WIRE_DEFAULTS : *options;
	const struct o2_msg_type_info *info = o2_msg_type_info(msg->ibm_type);
	const uint64_t nob = o2_msg_canonical_bytes(msg);
	int rc;

	o2_error_clear(error);
	rc = check_header(msg, nob, &chosen, error);
	if (rc == 0)
		rc = check_body(msg, info, &chosen, error);
	if (rc != 0)
		return rc;
	if (capacity_bytes < nob)
		return o2_wire_refuse(error, O2_RULE_ENCODE_CAPACITY, capacity_bytes, nob);
	store_body(msg, info->body, bytes);
	store_header(msg, (uint32_t)nob, bytes);
	if (msg->cksum_flavour != O2_CKSUM_NONE)
		o2_store32(bytes + O2_AT_CKSUM, msg->order,
			   o2_checksum_of(o2_msg_checksum_both(bytes, nob), msg->cksum_flavour));
	return (int)nob;
}
