/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "forms/wire_fields.h"
#include "oracle/impl_slot.h"

/* Convert messages to and from struct o2_impl_msg of o2ref/impl.h, which has the fields of all types. */

/* The fields of the struct, under their names in forms/wire_fields.h.  The struct has no other fields. */
#define SAME(name)                                              \
	{                                                       \
		O2_FIELD(#name, UINT, struct o2_impl_msg, name) \
	}
static const struct o2_field impl_fields[] = {
	{O2_FIELD("byte_order", UINT, struct o2_impl_msg, big_endian)},
	SAME(ibm_type),
	SAME(ibm_version),
	SAME(ibm_credits),
	SAME(ibm_nob),
	SAME(cksum_flavour),
	SAME(ibm_srcnid),
	SAME(ibm_srcstamp),
	SAME(ibm_dstnid),
	SAME(ibm_dststamp),
	SAME(ibcp_queue_depth),
	SAME(ibcp_max_frags),
	SAME(ibcp_max_msg_size),
	SAME(hdr.type),
	SAME(hdr.dest_nid),
	SAME(hdr.src_nid),
	SAME(hdr.dest_pid),
	SAME(hdr.src_pid),
	SAME(hdr.payload_length),
	{O2_FIELD("hdr.wh_interface_cookie", UINT, struct o2_impl_msg, hdr.wmd_interface_cookie)},
	{O2_FIELD("hdr.wh_object_cookie", UINT, struct o2_impl_msg, hdr.wmd_object_cookie)},
	SAME(hdr.match_bits),
	SAME(hdr.hdr_data),
	SAME(hdr.mlength),
	SAME(hdr.ptl_index),
	SAME(hdr.offset),
	SAME(hdr.src_offset),
	SAME(hdr.sink_length),
	{O2_FIELD("ibprm_cookie", UINT, struct o2_impl_msg, cookie)},
	{O2_FIELD("ibgm_cookie", UINT, struct o2_impl_msg, cookie)},
	{O2_FIELD("ibcm_cookie", UINT, struct o2_impl_msg, cookie)},
	{O2_FIELD("ibcm_status", INT, struct o2_impl_msg, ibcm_status)},
	SAME(ibpam_src_cookie),
	SAME(ibpam_dst_cookie),
	{O2_FIELD("rd_key", UINT, struct o2_impl_msg, rd.rd_key)},
	{0},
};

void o2_impl_put_msg(const struct o2_msg *msg, struct o2_impl_msg *out)
{
	o2_fields_flatten(o2_msg_header_fields, msg, impl_fields, out);
	o2_fields_flatten(o2_msg_body_fields(msg->ibm_type), msg, impl_fields, out);
}

void o2_impl_get_msg(const struct o2_impl_msg *from, struct o2_msg *msg)
{
	memset(msg, 0, sizeof(*msg));
	o2_fields_unflatten(impl_fields, from, o2_msg_header_fields, msg);
	o2_fields_unflatten(impl_fields, from, o2_msg_body_fields(msg->ibm_type), msg);
}
