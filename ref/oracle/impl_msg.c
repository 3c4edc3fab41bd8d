/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "oracle/impl_slot.h"
#include "wire/fields.h"

/* Messages as the struct of o2ref/impl.h, in which the fields of all types stand side by side. */

/* By the names that the fields have in wire/fields.h.  What is not here the struct does not have. */
static const struct o2_field impl_fields[] = {
	{O2_FIELD("byte_order", UINT, struct o2_impl_msg, big_endian)},
	{O2_FIELD("ibm_type", UINT, struct o2_impl_msg, ibm_type)},
	{O2_FIELD("ibm_version", UINT, struct o2_impl_msg, ibm_version)},
	{O2_FIELD("ibm_credits", UINT, struct o2_impl_msg, ibm_credits)},
	{O2_FIELD("ibm_nob", UINT, struct o2_impl_msg, ibm_nob)},
	{O2_FIELD("cksum_flavour", UINT, struct o2_impl_msg, cksum_flavour)},
	{O2_FIELD("ibm_srcnid", UINT, struct o2_impl_msg, ibm_srcnid)},
	{O2_FIELD("ibm_srcstamp", UINT, struct o2_impl_msg, ibm_srcstamp)},
	{O2_FIELD("ibm_dstnid", UINT, struct o2_impl_msg, ibm_dstnid)},
	{O2_FIELD("ibm_dststamp", UINT, struct o2_impl_msg, ibm_dststamp)},
	{O2_FIELD("ibcp_queue_depth", UINT, struct o2_impl_msg, ibcp_queue_depth)},
	{O2_FIELD("ibcp_max_frags", UINT, struct o2_impl_msg, ibcp_max_frags)},
	{O2_FIELD("ibcp_max_msg_size", UINT, struct o2_impl_msg, ibcp_max_msg_size)},
	{O2_FIELD("hdr.type", UINT, struct o2_impl_msg, hdr.type)},
	{O2_FIELD("hdr.dest_nid", UINT, struct o2_impl_msg, hdr.dest_nid)},
	{O2_FIELD("hdr.src_nid", UINT, struct o2_impl_msg, hdr.src_nid)},
	{O2_FIELD("hdr.dest_pid", UINT, struct o2_impl_msg, hdr.dest_pid)},
	{O2_FIELD("hdr.src_pid", UINT, struct o2_impl_msg, hdr.src_pid)},
	{O2_FIELD("hdr.payload_length", UINT, struct o2_impl_msg, hdr.payload_length)},
	{O2_FIELD("hdr.wh_interface_cookie", UINT, struct o2_impl_msg, hdr.wmd_interface_cookie)},
	{O2_FIELD("hdr.wh_object_cookie", UINT, struct o2_impl_msg, hdr.wmd_object_cookie)},
	{O2_FIELD("hdr.match_bits", UINT, struct o2_impl_msg, hdr.match_bits)},
	{O2_FIELD("hdr.hdr_data", UINT, struct o2_impl_msg, hdr.hdr_data)},
	{O2_FIELD("hdr.mlength", UINT, struct o2_impl_msg, hdr.mlength)},
	{O2_FIELD("hdr.ptl_index", UINT, struct o2_impl_msg, hdr.ptl_index)},
	{O2_FIELD("hdr.offset", UINT, struct o2_impl_msg, hdr.offset)},
	{O2_FIELD("hdr.src_offset", UINT, struct o2_impl_msg, hdr.src_offset)},
	{O2_FIELD("hdr.sink_length", UINT, struct o2_impl_msg, hdr.sink_length)},
	{O2_FIELD("ibprm_cookie", UINT, struct o2_impl_msg, cookie)},
	{O2_FIELD("ibgm_cookie", UINT, struct o2_impl_msg, cookie)},
	{O2_FIELD("ibcm_cookie", UINT, struct o2_impl_msg, cookie)},
	{O2_FIELD("ibcm_status", INT, struct o2_impl_msg, ibcm_status)},
	{O2_FIELD("ibpam_src_cookie", UINT, struct o2_impl_msg, ibpam_src_cookie)},
	{O2_FIELD("ibpam_dst_cookie", UINT, struct o2_impl_msg, ibpam_dst_cookie)},
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
