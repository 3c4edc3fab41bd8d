/* SPDX-License-Identifier: MIT */
#include "forms/wire_fields.h"

#include "wire/layout.h"
#include "wire/lnet_hdr.h"
#include "wire/msg_type.h"
#include "wire/nid.h"
#include "wire/reject.h"

#define BYTE_ORDERS (O2_BIG_ENDIAN + 1u)

static const char *const order_names[BYTE_ORDERS] = {[O2_LITTLE_ENDIAN] = "little", [O2_BIG_ENDIAN] = "big"};
static const char *const flavour_names[] = {
	[O2_CKSUM_NONE] = "none",
	[O2_CKSUM_UNSIGNED] = "unsigned",
	[O2_CKSUM_SIGNED] = "signed",
	[O2_CKSUM_UNVERIFIED] = "unverified",
};
static const char *const magic_names[] = {[false] = "o2iblnd", [true] = "lnet"};
static const struct o2_field_text nid_text = {.print = o2_nid_to_text, .parse = o2_nid_from_text};

static const struct o2_field no_fields[] = {{0}};

/* --- descriptors --- */

const struct o2_field o2_frag_fields[] = {
	{O2_FIELD("rf_nob", UINT, struct o2_rdma_frag, rf_nob), .wire_at = O2_FRAG_AT_NOB},
	{O2_FIELD("rf_addr", HEX, struct o2_rdma_frag, rf_addr), .wire_at = O2_FRAG_AT_ADDR},
	{0},
};

const struct o2_field o2_desc_fields[] = {
	{O2_FIELD("rd_key", HEX, struct o2_rdma_desc, rd_key), .wire_at = O2_DESC_AT_KEY},
	{O2_FIELD("rd_frags", LIST, struct o2_rdma_desc, rd_frags), .wire_at = O2_DESC_AT_FRAGS,
	 .part = o2_frag_fields, .stride_bytes = sizeof(struct o2_rdma_frag),
	 .count_bytes = offsetof(struct o2_rdma_desc, rd_nfrags),
	 .inside = (const char *const[]){"rd_frags[].rf_nob", "rd_frags[].rf_addr", NULL}},
	{0},
};

/* --- LNet header --- */

static const struct o2_field handle_fields[] = {
	{O2_FIELD("hdr.wh_interface_cookie", HEX, struct o2_lnet_handle, wh_interface_cookie), .wire_at = 0},
	{O2_FIELD("hdr.wh_object_cookie", HEX, struct o2_lnet_handle, wh_object_cookie), .wire_at = 8},
	{0},
};

static const struct o2_field ack_fields[] = {
	{O2_FIELD("dst_wmd", PART, struct o2_lnet_hdr, msg.ack.dst_wmd), .wire_at = 0, .part = handle_fields},
	{O2_FIELD("hdr.match_bits", HEX, struct o2_lnet_hdr, msg.ack.match_bits), .wire_at = 16},
	{O2_FIELD("hdr.mlength", UINT, struct o2_lnet_hdr, msg.ack.mlength), .wire_at = 24},
	{0},
};

static const struct o2_field put_fields[] = {
	{O2_FIELD("ack_wmd", PART, struct o2_lnet_hdr, msg.put.ack_wmd), .wire_at = 0, .part = handle_fields},
	{O2_FIELD("hdr.match_bits", HEX, struct o2_lnet_hdr, msg.put.match_bits), .wire_at = 16},
	{O2_FIELD("hdr.hdr_data", HEX, struct o2_lnet_hdr, msg.put.hdr_data), .wire_at = 24},
	{O2_FIELD("hdr.ptl_index", UINT, struct o2_lnet_hdr, msg.put.ptl_index), .wire_at = 32},
	{O2_FIELD("hdr.offset", UINT, struct o2_lnet_hdr, msg.put.offset), .wire_at = 36},
	{0},
};

static const struct o2_field get_fields[] = {
	{O2_FIELD("return_wmd", PART, struct o2_lnet_hdr, msg.get.return_wmd), .wire_at = 0,
	 .part = handle_fields},
	{O2_FIELD("hdr.match_bits", HEX, struct o2_lnet_hdr, msg.get.match_bits), .wire_at = 16},
	{O2_FIELD("hdr.ptl_index", UINT, struct o2_lnet_hdr, msg.get.ptl_index), .wire_at = 24},
	{O2_FIELD("hdr.src_offset", UINT, struct o2_lnet_hdr, msg.get.src_offset), .wire_at = 28},
	{O2_FIELD("hdr.sink_length", UINT, struct o2_lnet_hdr, msg.get.sink_length), .wire_at = 32},
	{0},
};

static const struct o2_field reply_fields[] = {
	{O2_FIELD("dst_wmd", PART, struct o2_lnet_hdr, msg.reply.dst_wmd), .wire_at = 0,
	 .part = handle_fields},
	{0},
};

/* A HELLO is never legal in a message, so a form may omit these. */
static const struct o2_field hello_fields[] = {
	{O2_FIELD("hdr.incarnation", HEX, struct o2_lnet_hdr, msg.hello.incarnation), .wire_at = 0,
	 .optional = true},
	{O2_FIELD("hdr.hello_type", UINT, struct o2_lnet_hdr, msg.hello.type), .wire_at = 8,
	 .optional = true},
	{0},
};

const struct o2_field *const o2_lnet_variant_fields[] = {
	[O2_LNET_ACK] = ack_fields,	[O2_LNET_PUT] = put_fields,	[O2_LNET_GET] = get_fields,
	[O2_LNET_REPLY] = reply_fields, [O2_LNET_HELLO] = hello_fields,
};

static const struct o2_field *variant_of(const void *holder)
{
	const struct o2_lnet_hdr *hdr = holder;

	return hdr->type <= O2_LNET_HELLO ? o2_lnet_variant_fields[hdr->type] : no_fields;
}

uint32_t o2_lnet_variant_bytes(uint32_t type)
{
	const struct o2_field *last;

	if (type > O2_LNET_REPLY)
		return 0;
	for (last = o2_lnet_variant_fields[type]; last[1].name != NULL; last++)
		;
	return last->wire_at + last->width_bytes;
}

const struct o2_field o2_lnet_hdr_fields[] = {
	{O2_FIELD("hdr.type", NAME, struct o2_lnet_hdr, type), .wire_at = O2_LNET_AT_TYPE,
	 .names = o2_lnet_type_names, .limit = O2_LNET_HELLO + 1},
	{O2_FIELD("hdr.dest_nid", TEXT, struct o2_lnet_hdr, dest_nid), .wire_at = O2_LNET_AT_DEST_NID,
	 .text = &nid_text},
	{O2_FIELD("hdr.src_nid", TEXT, struct o2_lnet_hdr, src_nid), .wire_at = O2_LNET_AT_SRC_NID,
	 .text = &nid_text},
	{O2_FIELD("hdr.dest_pid", UINT, struct o2_lnet_hdr, dest_pid), .wire_at = O2_LNET_AT_DEST_PID},
	{O2_FIELD("hdr.src_pid", UINT, struct o2_lnet_hdr, src_pid), .wire_at = O2_LNET_AT_SRC_PID},
	{O2_FIELD("hdr.payload_length", UINT, struct o2_lnet_hdr, payload_length),
	 .wire_at = O2_LNET_AT_PAYLOAD_LENGTH},
	{.name = "msg", .kind = O2_FIELD_MORE, .wire_at = O2_LNET_AT_UNION, .more = variant_of},
	{0},
};

/* --- messages --- */

static const struct o2_field connparams_fields[] = {
	{O2_FIELD("ibcp_queue_depth", UINT, struct o2_msg, u.connparams.ibcp_queue_depth),
	 .wire_at = O2_AT_QUEUE_DEPTH},
	{O2_FIELD("ibcp_max_frags", UINT, struct o2_msg, u.connparams.ibcp_max_frags),
	 .wire_at = O2_AT_MAX_FRAGS},
	{O2_FIELD("ibcp_max_msg_size", UINT, struct o2_msg, u.connparams.ibcp_max_msg_size),
	 .wire_at = O2_AT_MAX_MSG_SIZE},
	{0},
};

static const struct o2_field immediate_fields[] = {
	{O2_FIELD("hdr", PART, struct o2_msg, u.immediate.hdr), .wire_at = O2_AT_LNET_HDR, .little = true,
	 .part = o2_lnet_hdr_fields},
	{0},
};

static const struct o2_field putreq_fields[] = {
	{O2_FIELD("hdr", PART, struct o2_msg, u.putreq.hdr), .wire_at = O2_AT_LNET_HDR, .little = true,
	 .part = o2_lnet_hdr_fields},
	{O2_FIELD("ibprm_cookie", HEX, struct o2_msg, u.putreq.ibprm_cookie), .wire_at = O2_AT_PUT_REQ_COOKIE,
	 .little = true},
	{0},
};

static const struct o2_field putack_fields[] = {
	{O2_FIELD("ibpam_src_cookie", HEX, struct o2_msg, u.putack.ibpam_src_cookie),
	 .wire_at = O2_AT_SRC_COOKIE, .little = true},
	{O2_FIELD("ibpam_dst_cookie", HEX, struct o2_msg, u.putack.ibpam_dst_cookie),
	 .wire_at = O2_AT_DST_COOKIE, .little = true},
	{O2_FIELD("ibpam_rd", PART, struct o2_msg, u.putack.ibpam_rd), .wire_at = O2_AT_PUT_ACK_DESC,
	 .part = o2_desc_fields},
	{0},
};

static const struct o2_field getreq_fields[] = {
	{O2_FIELD("hdr", PART, struct o2_msg, u.get.hdr), .wire_at = O2_AT_LNET_HDR, .little = true,
	 .part = o2_lnet_hdr_fields},
	{O2_FIELD("ibgm_cookie", HEX, struct o2_msg, u.get.ibgm_cookie), .wire_at = O2_AT_GET_REQ_COOKIE,
	 .little = true},
	{O2_FIELD("ibgm_rd", PART, struct o2_msg, u.get.ibgm_rd), .wire_at = O2_AT_GET_REQ_DESC,
	 .part = o2_desc_fields},
	{0},
};

static const struct o2_field completion_fields[] = {
	{O2_FIELD("ibcm_cookie", HEX, struct o2_msg, u.completion.ibcm_cookie),
	 .wire_at = O2_AT_COMPLETION_COOKIE, .little = true},
	{O2_FIELD("ibcm_status", INT, struct o2_msg, u.completion.ibcm_status), .wire_at = O2_AT_STATUS},
	{0},
};

const struct o2_field *o2_msg_body_fields(uint8_t ibm_type)
{
	static const struct o2_field *const bodies[] = {
		[O2_BODY_NONE] = no_fields,
		[O2_BODY_CONNPARAMS] = connparams_fields,
		[O2_BODY_IMMEDIATE] = immediate_fields,
		[O2_BODY_PUTREQ] = putreq_fields,
		[O2_BODY_PUTACK] = putack_fields,
		[O2_BODY_GET] = getreq_fields,
		[O2_BODY_COMPLETION] = completion_fields,
	};
	const struct o2_msg_type_info *info = o2_msg_type_info(ibm_type);

	return info == NULL ? no_fields : bodies[info->body];
}

const struct o2_field o2_msg_header_fields[] = {
	{O2_FIELD("byte_order", NAME, struct o2_msg, order), .names = order_names, .limit = BYTE_ORDERS},
	{O2_FIELD("ibm_type", NAME, struct o2_msg, ibm_type), .wire_at = O2_AT_TYPE,
	 .names = o2_msg_type_names, .limit = O2_MSG_GET_DONE + 1},
	{O2_FIELD("ibm_version", UINT, struct o2_msg, ibm_version), .wire_at = O2_AT_VERSION},
	{O2_FIELD("ibm_credits", UINT, struct o2_msg, ibm_credits), .wire_at = O2_AT_CREDITS},
	/* Encoding computes it, so a form written by hand may omit it. */
	{O2_FIELD("ibm_nob", UINT, struct o2_msg, ibm_nob), .wire_at = O2_AT_NOB, .optional = true},
	{O2_FIELD("cksum_flavour", NAME, struct o2_msg, cksum_flavour), .names = flavour_names,
	 .limit = O2_CKSUM_UNVERIFIED + 1},
	{O2_FIELD("ibm_srcnid", TEXT, struct o2_msg, ibm_srcnid), .wire_at = O2_AT_SRCNID, .text = &nid_text},
	{O2_FIELD("ibm_srcstamp", HEX, struct o2_msg, ibm_srcstamp), .wire_at = O2_AT_SRCSTAMP},
	{O2_FIELD("ibm_dstnid", TEXT, struct o2_msg, ibm_dstnid), .wire_at = O2_AT_DSTNID, .text = &nid_text},
	{O2_FIELD("ibm_dststamp", HEX, struct o2_msg, ibm_dststamp), .wire_at = O2_AT_DSTSTAMP},
	{0},
};

/* A missing option keeps its value in the struct. */
const struct o2_field o2_wire_option_fields[] = {
	{O2_FIELD("max_frags", UINT, struct o2_wire_options, max_frags), .optional = true},
	{O2_FIELD("require_checksum", BOOL, struct o2_wire_options, require_checksum), .optional = true},
	{O2_FIELD("any_lnd", BOOL, struct o2_wire_options, any_lnd), .optional = true},
	{O2_FIELD("tolerate_immediate_checksum", BOOL, struct o2_wire_options, tolerate_immediate_checksum),
	 .optional = true},
	{0},
};

/* --- reject record --- */

const struct o2_field o2_reject_cp_fields[] = {
	{O2_FIELD("ibcp_queue_depth", UINT, struct o2_reject, ibr_cp.ibcp_queue_depth),
	 .wire_at = O2_REJECT_AT_QUEUE_DEPTH},
	{O2_FIELD("ibcp_max_frags", UINT, struct o2_reject, ibr_cp.ibcp_max_frags),
	 .wire_at = O2_REJECT_AT_MAX_FRAGS},
	{O2_FIELD("ibcp_max_msg_size", UINT, struct o2_reject, ibr_cp.ibcp_max_msg_size),
	 .wire_at = O2_REJECT_AT_MAX_MSG_SIZE},
	{0},
};

const struct o2_field o2_reject_fields[] = {
	{O2_FIELD("byte_order", NAME, struct o2_reject, order), .names = order_names, .limit = BYTE_ORDERS},
	/* A form written by hand may omit it: then it is the usual magic. */
	{O2_FIELD("ibr_magic", NAME, struct o2_reject, generic_magic), .names = magic_names, .limit = 2,
	 .optional = true},
	{O2_FIELD("ibr_version", UINT, struct o2_reject, ibr_version), .wire_at = O2_REJECT_AT_VERSION},
	{O2_FIELD("ibr_why", UINT, struct o2_reject, ibr_why), .wire_at = O2_REJECT_AT_WHY},
	{O2_FIELD("why", NAME, struct o2_reject, ibr_why), .wire_at = O2_REJECT_AT_WHY, .written_only = true,
	 .names = o2_reject_why_names, .limit = O2_REJECT_EARLY + 1},
	{O2_FIELD("ibr_incarnation", HEX, struct o2_reject, ibr_incarnation),
	 .wire_at = O2_REJECT_AT_INCARNATION},
	{.name = "ibr_cp", .kind = O2_FIELD_PART, .part = o2_reject_cp_fields},
	{0},
};
