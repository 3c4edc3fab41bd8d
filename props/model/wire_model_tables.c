/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "props/model/wire_model.h"

/* The tables of docs/wire.md, "Header", "Bodies" and "LNet header". */

#define COUNT(table)	     ((uint32_t)(sizeof(table) / sizeof((table)[0])))
#define MEMBER(type, member) offsetof(type, member), sizeof(((type *)0)->member)
#define SENDER(member, at, bytes)                                        \
	{                                                                \
#member, at, bytes, false, MEMBER(struct o2_msg, member) \
	}
#define OPAQUE(member, at, bytes)                                       \
	{                                                               \
#member, at, bytes, true, MEMBER(struct o2_msg, member) \
	}
#define LNET(member, at, bytes)                                                     \
	{                                                                           \
		"hdr." #member, at, bytes, true, MEMBER(struct o2_lnet_hdr, member) \
	}
#define HANDLE(member) LNET(member.wh_interface_cookie, 32, 8), LNET(member.wh_object_cookie, 40, 8)

const struct o2_wm_field o2_wm_header[] = {
	SENDER(ibm_version, 4, 2),   SENDER(ibm_type, 6, 1),	  SENDER(ibm_credits, 7, 1),
	SENDER(ibm_srcnid, 16, 8),   SENDER(ibm_srcstamp, 24, 8), SENDER(ibm_dstnid, 32, 8),
	SENDER(ibm_dststamp, 40, 8),
};
const uint32_t o2_wm_header_fields = COUNT(o2_wm_header);

const struct o2_wm_field o2_wm_lnet[] = {
	LNET(dest_nid, 0, 8), LNET(src_nid, 8, 8), LNET(dest_pid, 16, 4),
	LNET(src_pid, 20, 4), LNET(type, 24, 4),   LNET(payload_length, 28, 4),
};
const uint32_t o2_wm_lnet_fields = COUNT(o2_wm_lnet);

static const struct o2_wm_field ack[] = {
	HANDLE(msg.ack.dst_wmd),
	LNET(msg.ack.match_bits, 48, 8),
	LNET(msg.ack.mlength, 56, 4),
};
static const struct o2_wm_field put[] = {
	HANDLE(msg.put.ack_wmd),	LNET(msg.put.match_bits, 48, 8), LNET(msg.put.hdr_data, 56, 8),
	LNET(msg.put.ptl_index, 64, 4), LNET(msg.put.offset, 68, 4),
};
static const struct o2_wm_field get[] = {
	HANDLE(msg.get.return_wmd),	 LNET(msg.get.match_bits, 48, 8),  LNET(msg.get.ptl_index, 56, 4),
	LNET(msg.get.src_offset, 60, 4), LNET(msg.get.sink_length, 64, 4),
};
static const struct o2_wm_field reply[] = {HANDLE(msg.reply.dst_wmd)};

const struct o2_wm_field *o2_wm_variant(uint32_t lnet_type, uint32_t *fields)
{
	static const struct o2_wm_field *const variant[] = {ack, put, get, reply};
	static const uint32_t count[] = {COUNT(ack), COUNT(put), COUNT(get), COUNT(reply)};

	*fields = lnet_type < 4 ? count[lnet_type] : 0;
	return lnet_type < 4 ? variant[lnet_type] : NULL;
}

static const struct o2_wm_field connparams[] = {
	SENDER(u.connparams.ibcp_queue_depth, 48, 2),
	SENDER(u.connparams.ibcp_max_frags, 50, 2),
	SENDER(u.connparams.ibcp_max_msg_size, 52, 4),
};
static const struct o2_wm_field completion[] = {
	OPAQUE(u.completion.ibcm_cookie, 48, 8),
	SENDER(u.completion.ibcm_status, 56, 4),
};
static const struct o2_wm_field putreq[] = {OPAQUE(u.putreq.ibprm_cookie, 120, 8)};
static const struct o2_wm_field putack[] = {
	OPAQUE(u.putack.ibpam_src_cookie, 48, 8),
	OPAQUE(u.putack.ibpam_dst_cookie, 56, 8),
	SENDER(u.putack.ibpam_rd.rd_key, 64, 4),
	SENDER(u.putack.ibpam_rd.rd_nfrags, 68, 4),
};
static const struct o2_wm_field getreq[] = {
	OPAQUE(u.get.ibgm_cookie, 120, 8),
	SENDER(u.get.ibgm_rd.rd_key, 128, 4),
	SENDER(u.get.ibgm_rd.rd_nfrags, 132, 4),
};

#define NO_LNET	   .lnet_hdr = O2_WM_NONE
#define NO_DESC	   .desc = O2_WM_NONE
#define CONNPARAMS .minimum = 56, NO_LNET, NO_DESC, .field = connparams, .fields = COUNT(connparams)
#define COMPLETION \
	.minimum = 60, NO_LNET, NO_DESC, .has_status = true, .field = completion, .fields = COUNT(completion)

const struct o2_wm_type o2_wm_types[O2_WM_TYPES] = {
	{.type = 0xd0, .name = "noop", .minimum = 48, NO_LNET, NO_DESC},
	{.type = 0xc0, .name = "connreq", CONNPARAMS},
	{.type = 0xc1, .name = "connack", CONNPARAMS},
	{.type = 0xd1,
	 .name = "immediate",
	 .minimum = 120,
	 .lnet_types = 0xf,
	 .lnet_hdr = offsetof(struct o2_msg, u.immediate.hdr),
	 NO_DESC},
	{.type = 0xd2,
	 .name = "put_req",
	 .minimum = 128,
	 .lnet_types = 1 << 1 | 1 << 3,
	 .lnet_hdr = offsetof(struct o2_msg, u.putreq.hdr),
	 NO_DESC,
	 .field = putreq,
	 .fields = COUNT(putreq)},
	{.type = 0xd3, .name = "put_nak", COMPLETION},
	{.type = 0xd4,
	 .name = "put_ack",
	 .minimum = 72,
	 NO_LNET,
	 .desc = offsetof(struct o2_msg, u.putack.ibpam_rd),
	 .desc_at = 64,
	 .field = putack,
	 .fields = COUNT(putack)},
	{.type = 0xd5, .name = "put_done", COMPLETION},
	{.type = 0xd6,
	 .name = "get_req",
	 .minimum = 136,
	 .lnet_types = 1 << 2,
	 .lnet_hdr = offsetof(struct o2_msg, u.get.hdr),
	 .desc = offsetof(struct o2_msg, u.get.ibgm_rd),
	 .desc_at = 128,
	 .field = getreq,
	 .fields = COUNT(getreq)},
	{.type = 0xd7, .name = "get_done", COMPLETION},
};

const struct o2_wm_type *o2_wm_type(uint8_t type)
{
	for (uint32_t i = 0; i < O2_WM_TYPES; i++)
		if (o2_wm_types[i].type == type)
			return &o2_wm_types[i];
	return NULL;
}
