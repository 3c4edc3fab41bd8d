/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "oracle/compare.h"
#include "wire/msg.h"

/* Messages, field by field; and encoded bytes, by what they stand for (docs/wire.md). */

struct wire {
	struct o2_comparison *comparison;
	const struct o2_msg *e;
	const struct o2_msg *f;
};

/* "u.connparams.ibcp_queue_depth": the last name. */
static const char *last_name(const char *member)
{
	const char *dot = strrchr(member, '.');

	return dot == NULL ? member : dot + 1;
}

/* Compare one member of both messages. */
#define FIELD(w, check, member)                                                                          \
	do {                                                                                             \
		if ((w)->e->member != (w)->f->member)                                                    \
			o2_differ_hex((w)->comparison, O2_CHECK_WIRE_DECODE_##check, last_name(#member), \
				      O2_NO_INDEX, (uint64_t)(w)->e->member, (uint64_t)(w)->f->member);  \
	} while (0)

static void compare_header(const struct wire *w)
{
	FIELD(w, BYTE_ORDER, order);
	FIELD(w, VERSION, ibm_version);
	FIELD(w, TYPE, ibm_type);
	FIELD(w, CREDITS, ibm_credits);
	FIELD(w, NOB, ibm_nob);
	FIELD(w, CKSUM_FLAVOUR, cksum_flavour);
	FIELD(w, SRCNID, ibm_srcnid);
	FIELD(w, SRCSTAMP, ibm_srcstamp);
	FIELD(w, DSTNID, ibm_dstnid);
	FIELD(w, DSTSTAMP, ibm_dststamp);
}

static void compare_number(struct o2_comparison *comparison, const char *field, uint64_t expected,
			   uint64_t found)
{
	if (expected != found)
		o2_differ_hex(comparison, O2_CHECK_WIRE_DECODE_LNET_HDR, field, O2_NO_INDEX, expected, found);
}

static void compare_handle(struct o2_comparison *comparison, const struct o2_lnet_handle *expected,
			   const struct o2_lnet_handle *found)
{
	compare_number(comparison, "hdr.wmd.wh_interface_cookie", expected->wh_interface_cookie,
		       found->wh_interface_cookie);
	compare_number(comparison, "hdr.wmd.wh_object_cookie", expected->wh_object_cookie,
		       found->wh_object_cookie);
}

static void compare_lnet(struct o2_comparison *c, const struct o2_lnet_hdr *e, const struct o2_lnet_hdr *f)
{
	compare_number(c, "hdr.type", e->type, f->type);
	compare_number(c, "hdr.dest_nid", e->dest_nid, f->dest_nid);
	compare_number(c, "hdr.src_nid", e->src_nid, f->src_nid);
	compare_number(c, "hdr.dest_pid", e->dest_pid, f->dest_pid);
	compare_number(c, "hdr.src_pid", e->src_pid, f->src_pid);
	compare_number(c, "hdr.payload_length", e->payload_length, f->payload_length);
	switch (e->type) {
	case O2_LNET_ACK:
		compare_handle(c, &e->msg.ack.dst_wmd, &f->msg.ack.dst_wmd);
		compare_number(c, "hdr.match_bits", e->msg.ack.match_bits, f->msg.ack.match_bits);
		compare_number(c, "hdr.mlength", e->msg.ack.mlength, f->msg.ack.mlength);
		break;
	case O2_LNET_PUT:
		compare_handle(c, &e->msg.put.ack_wmd, &f->msg.put.ack_wmd);
		compare_number(c, "hdr.match_bits", e->msg.put.match_bits, f->msg.put.match_bits);
		compare_number(c, "hdr.hdr_data", e->msg.put.hdr_data, f->msg.put.hdr_data);
		compare_number(c, "hdr.ptl_index", e->msg.put.ptl_index, f->msg.put.ptl_index);
		compare_number(c, "hdr.offset", e->msg.put.offset, f->msg.put.offset);
		break;
	case O2_LNET_GET:
		compare_handle(c, &e->msg.get.return_wmd, &f->msg.get.return_wmd);
		compare_number(c, "hdr.match_bits", e->msg.get.match_bits, f->msg.get.match_bits);
		compare_number(c, "hdr.ptl_index", e->msg.get.ptl_index, f->msg.get.ptl_index);
		compare_number(c, "hdr.src_offset", e->msg.get.src_offset, f->msg.get.src_offset);
		compare_number(c, "hdr.sink_length", e->msg.get.sink_length, f->msg.get.sink_length);
		break;
	default:
		compare_handle(c, &e->msg.reply.dst_wmd, &f->msg.reply.dst_wmd);
		break;
	}
}

static void compare_desc(struct o2_comparison *c, const struct o2_rdma_desc *e, const struct o2_rdma_desc *f)
{
	if (e->rd_key != f->rd_key)
		o2_differ_hex(c, O2_CHECK_WIRE_DECODE_RD_KEY, "rd_key", O2_NO_INDEX, e->rd_key, f->rd_key);
	if (e->rd_nfrags != f->rd_nfrags) {
		o2_differ(c, O2_CHECK_WIRE_DECODE_RD_NFRAGS, "rd_nfrags", O2_NO_INDEX, e->rd_nfrags,
			  f->rd_nfrags);
		return;
	}
	for (uint32_t i = 0; i < e->rd_nfrags; i++) {
		if (e->rd_frags[i].rf_nob != f->rd_frags[i].rf_nob)
			o2_differ(c, O2_CHECK_WIRE_DECODE_RF_NOB, "rd_frags[].rf_nob", i,
				  e->rd_frags[i].rf_nob, f->rd_frags[i].rf_nob);
		if (e->rd_frags[i].rf_addr != f->rd_frags[i].rf_addr)
			o2_differ_hex(c, O2_CHECK_WIRE_DECODE_RF_ADDR, "rd_frags[].rf_addr", i,
				      e->rd_frags[i].rf_addr, f->rd_frags[i].rf_addr);
	}
}

static void compare_immediate(const struct wire *w)
{
	const uint32_t length = w->e->u.immediate.hdr.payload_length;

	compare_lnet(w->comparison, &w->e->u.immediate.hdr, &w->f->u.immediate.hdr);
	if (w->f->u.immediate.hdr.payload_length != length)
		return;
	for (uint32_t i = 0; i < length; i++) {
		if (w->e->u.immediate.payload[i] == w->f->u.immediate.payload[i])
			continue;
		o2_differ_hex(w->comparison, O2_CHECK_WIRE_DECODE_PAYLOAD, "payload[]", i,
			      w->e->u.immediate.payload[i], w->f->u.immediate.payload[i]);
		return;
	}
}

void o2_compare_decoded(struct o2_comparison *comparison, const struct o2_msg *expected,
			const struct o2_msg *found)
{
	const struct wire wire = {.comparison = comparison, .e = expected, .f = found};
	const struct wire *w = &wire;

	compare_header(w);
	if (expected->ibm_type != found->ibm_type)
		return;
	switch (expected->ibm_type) {
	case O2_MSG_CONNREQ:
	case O2_MSG_CONNACK:
		FIELD(w, CONNPARAMS, u.connparams.ibcp_queue_depth);
		FIELD(w, CONNPARAMS, u.connparams.ibcp_max_frags);
		FIELD(w, CONNPARAMS, u.connparams.ibcp_max_msg_size);
		break;
	case O2_MSG_IMMEDIATE:
		compare_immediate(w);
		break;
	case O2_MSG_PUT_REQ:
		compare_lnet(comparison, &expected->u.putreq.hdr, &found->u.putreq.hdr);
		FIELD(w, COOKIE, u.putreq.ibprm_cookie);
		break;
	case O2_MSG_PUT_ACK:
		FIELD(w, COOKIE, u.putack.ibpam_src_cookie);
		FIELD(w, COOKIE, u.putack.ibpam_dst_cookie);
		compare_desc(comparison, &expected->u.putack.ibpam_rd, &found->u.putack.ibpam_rd);
		break;
	case O2_MSG_GET_REQ:
		compare_lnet(comparison, &expected->u.get.hdr, &found->u.get.hdr);
		FIELD(w, COOKIE, u.get.ibgm_cookie);
		compare_desc(comparison, &expected->u.get.ibgm_rd, &found->u.get.ibgm_rd);
		break;
	case O2_MSG_PUT_NAK:
	case O2_MSG_PUT_DONE:
	case O2_MSG_GET_DONE:
		FIELD(w, COOKIE, u.completion.ibcm_cookie);
		FIELD(w, STATUS, u.completion.ibcm_status);
		break;
	default:
		break;
	}
}

/* --- encoded -----------------------------------------------------------------------------------------------
 */

/* The bytes from `offset` on belong to this check, up to the next one of the list. */
struct region {
	uint32_t offset;
	enum o2_check_id check;
};

#define LNET	   O2_MSG_HEADER_BYTES
#define AFTER_LNET (LNET + O2_LNET_HDR_BYTES)
#define VARIANT	   (LNET + 32u)

/* How many bytes of the LNet header's last 40 its type uses. */
static uint32_t variant_bytes(uint32_t type)
{
	static const uint32_t bytes[] = {
		[O2_LNET_ACK] = 28, [O2_LNET_PUT] = 40, [O2_LNET_GET] = 36, [O2_LNET_REPLY] = 16};

	return type <= O2_LNET_REPLY ? bytes[type] : 0;
}

static void regions_with_lnet(const struct o2_lnet_hdr *hdr, enum o2_check_id after, struct region *region)
{
	region[0] = (struct region){LNET, O2_CHECK_WIRE_ENCODE_LNET_HDR};
	region[1] = (struct region){VARIANT + variant_bytes(hdr->type), O2_CHECK_WIRE_ENCODE_UNUSED_BYTES};
	region[2] = (struct region){AFTER_LNET, after};
}

/* What stands where in the body of this message; *count: how many regions. */
static void find_regions(const struct o2_msg *msg, struct region *region, uint32_t *count)
{
	*count = 1;
	switch (msg->ibm_type) {
	case O2_MSG_IMMEDIATE:
		regions_with_lnet(&msg->u.immediate.hdr, O2_CHECK_WIRE_ENCODE_PAYLOAD, region);
		*count = 3;
		break;
	case O2_MSG_PUT_REQ:
		regions_with_lnet(&msg->u.putreq.hdr, O2_CHECK_WIRE_ENCODE_COOKIE, region);
		*count = 3;
		break;
	case O2_MSG_GET_REQ:
		regions_with_lnet(&msg->u.get.hdr, O2_CHECK_WIRE_ENCODE_COOKIE, region);
		region[3] = (struct region){AFTER_LNET + 8, O2_CHECK_WIRE_ENCODE_DESCRIPTOR};
		*count = 4;
		break;
	case O2_MSG_PUT_ACK:
		region[0] = (struct region){O2_MSG_HEADER_BYTES, O2_CHECK_WIRE_ENCODE_COOKIE};
		region[1] = (struct region){O2_MSG_HEADER_BYTES + 16, O2_CHECK_WIRE_ENCODE_DESCRIPTOR};
		*count = 2;
		break;
	case O2_MSG_PUT_NAK:
	case O2_MSG_PUT_DONE:
	case O2_MSG_GET_DONE:
		region[0] = (struct region){O2_MSG_HEADER_BYTES, O2_CHECK_WIRE_ENCODE_COOKIE};
		region[1] = (struct region){O2_MSG_HEADER_BYTES + 8, O2_CHECK_WIRE_ENCODE_STATUS};
		*count = 2;
		break;
	default:
		region[0] = (struct region){O2_MSG_HEADER_BYTES, O2_CHECK_WIRE_ENCODE_CONNPARAMS};
		break;
	}
}

static enum o2_check_id check_of(uint32_t offset, const struct region *region, uint32_t count)
{
	enum o2_check_id check = O2_CHECK_WIRE_ENCODE_HEADER;

	if (offset >= 8 && offset < 12)
		return O2_CHECK_WIRE_ENCODE_LENGTH;
	for (uint32_t i = 0; i < count; i++)
		if (offset >= region[i].offset)
			check = region[i].check;
	return check;
}

void o2_compare_encoded(struct o2_comparison *comparison, const struct o2_msg *msg,
			const struct o2_answer_bytes *expected, const struct o2_answer_bytes *found)
{
	const uint32_t shorter =
		expected->length_bytes < found->length_bytes ? expected->length_bytes : found->length_bytes;
	struct region region[4];
	bool others = expected->length_bytes != found->length_bytes;
	uint32_t count;

	find_regions(msg, region, &count);
	if (others)
		o2_differ(comparison, O2_CHECK_WIRE_ENCODE_LENGTH, "length_bytes", O2_NO_INDEX,
			  expected->length_bytes, found->length_bytes);
	for (uint32_t i = 0; i < shorter; i++) {
		if (expected->bytes[i] == found->bytes[i] || (i >= 12 && i < 16))
			continue;
		others = true;
		o2_differ_hex(comparison, check_of(i, region, count), "bytes[]", i, expected->bytes[i],
			      found->bytes[i]);
	}
	/* A sum of other bytes is another sum. */
	if (!others && memcmp(expected->bytes + 12, found->bytes + 12, 4) != 0)
		o2_differ(comparison, O2_CHECK_WIRE_ENCODE_CHECKSUM, "bytes[]", 12, expected->bytes[12],
			  found->bytes[12]);
}
