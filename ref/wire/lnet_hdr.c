/* SPDX-License-Identifier: MIT */
#include "wire/lnet_hdr.h"

#include <string.h>

#include "wire/bytes.h"
#include "wire/layout.h"

/* All variants but HELLO start with a handle of 16 bytes. */
#define AT_INTERFACE_COOKIE 0
#define AT_OBJECT_COOKIE    8
#define AT_MATCH_BITS	    16

static struct o2_lnet_handle load_handle(const uint8_t *bytes)
{
	return (struct o2_lnet_handle){.wh_interface_cookie = o2_load64_le(bytes + AT_INTERFACE_COOKIE),
				       .wh_object_cookie = o2_load64_le(bytes + AT_OBJECT_COOKIE)};
}

static void store_handle(const struct o2_lnet_handle *handle, uint8_t *bytes)
{
	o2_store64_le(bytes + AT_INTERFACE_COOKIE, handle->wh_interface_cookie);
	o2_store64_le(bytes + AT_OBJECT_COOKIE, handle->wh_object_cookie);
}

static void load_union(const uint8_t *bytes, struct o2_lnet_hdr *hdr)
{
	memset(&hdr->msg, 0, sizeof(hdr->msg));
	switch (hdr->type) {
	case O2_LNET_ACK:
		hdr->msg.ack.dst_wmd = load_handle(bytes);
		hdr->msg.ack.match_bits = o2_load64_le(bytes + AT_MATCH_BITS);
		hdr->msg.ack.mlength = o2_load32_le(bytes + 24);
		break;
	case O2_LNET_PUT:
		hdr->msg.put.ack_wmd = load_handle(bytes);
		hdr->msg.put.match_bits = o2_load64_le(bytes + AT_MATCH_BITS);
		hdr->msg.put.hdr_data = o2_load64_le(bytes + 24);
		hdr->msg.put.ptl_index = o2_load32_le(bytes + 32);
		hdr->msg.put.offset = o2_load32_le(bytes + 36);
		break;
	case O2_LNET_GET:
		hdr->msg.get.return_wmd = load_handle(bytes);
		hdr->msg.get.match_bits = o2_load64_le(bytes + AT_MATCH_BITS);
		hdr->msg.get.ptl_index = o2_load32_le(bytes + 24);
		hdr->msg.get.src_offset = o2_load32_le(bytes + 28);
		hdr->msg.get.sink_length = o2_load32_le(bytes + 32);
		break;
	case O2_LNET_REPLY:
		hdr->msg.reply.dst_wmd = load_handle(bytes);
		break;
	case O2_LNET_HELLO:
		hdr->msg.hello.incarnation = o2_load64_le(bytes);
		hdr->msg.hello.type = o2_load32_le(bytes + 8);
		break;
	default:
		break;
	}
}

static void store_union(const struct o2_lnet_hdr *hdr, uint8_t *bytes)
{
	memset(bytes, 0, O2_LNET_UNION_BYTES);
	switch (hdr->type) {
	case O2_LNET_ACK:
		store_handle(&hdr->msg.ack.dst_wmd, bytes);
		o2_store64_le(bytes + AT_MATCH_BITS, hdr->msg.ack.match_bits);
		o2_store32_le(bytes + 24, hdr->msg.ack.mlength);
		break;
	case O2_LNET_PUT:
		store_handle(&hdr->msg.put.ack_wmd, bytes);
		o2_store64_le(bytes + AT_MATCH_BITS, hdr->msg.put.match_bits);
		o2_store64_le(bytes + 24, hdr->msg.put.hdr_data);
		o2_store32_le(bytes + 32, hdr->msg.put.ptl_index);
		o2_store32_le(bytes + 36, hdr->msg.put.offset);
		break;
	case O2_LNET_GET:
		store_handle(&hdr->msg.get.return_wmd, bytes);
		o2_store64_le(bytes + AT_MATCH_BITS, hdr->msg.get.match_bits);
		o2_store32_le(bytes + 24, hdr->msg.get.ptl_index);
		o2_store32_le(bytes + 28, hdr->msg.get.src_offset);
		o2_store32_le(bytes + 32, hdr->msg.get.sink_length);
		break;
	case O2_LNET_REPLY:
		store_handle(&hdr->msg.reply.dst_wmd, bytes);
		break;
	case O2_LNET_HELLO:
		o2_store64_le(bytes, hdr->msg.hello.incarnation);
		o2_store32_le(bytes + 8, hdr->msg.hello.type);
		break;
	default:
		break;
	}
}

void o2_lnet_hdr_load(const uint8_t *bytes, struct o2_lnet_hdr *hdr)
{
	hdr->dest_nid = o2_load64_le(bytes + O2_LNET_AT_DEST_NID);
	hdr->src_nid = o2_load64_le(bytes + O2_LNET_AT_SRC_NID);
	hdr->dest_pid = o2_load32_le(bytes + O2_LNET_AT_DEST_PID);
	hdr->src_pid = o2_load32_le(bytes + O2_LNET_AT_SRC_PID);
	hdr->type = o2_load32_le(bytes + O2_LNET_AT_TYPE);
	hdr->payload_length = o2_load32_le(bytes + O2_LNET_AT_PAYLOAD_LENGTH);
	load_union(bytes + O2_LNET_AT_UNION, hdr);
}

void o2_lnet_hdr_store(const struct o2_lnet_hdr *hdr, uint8_t *bytes)
{
	o2_store64_le(bytes + O2_LNET_AT_DEST_NID, hdr->dest_nid);
	o2_store64_le(bytes + O2_LNET_AT_SRC_NID, hdr->src_nid);
	o2_store32_le(bytes + O2_LNET_AT_DEST_PID, hdr->dest_pid);
	o2_store32_le(bytes + O2_LNET_AT_SRC_PID, hdr->src_pid);
	o2_store32_le(bytes + O2_LNET_AT_TYPE, hdr->type);
	o2_store32_le(bytes + O2_LNET_AT_PAYLOAD_LENGTH, hdr->payload_length);
	store_union(hdr, bytes + O2_LNET_AT_UNION);
}

const char *const o2_lnet_type_names[] = {
	[O2_LNET_ACK] = "ACK",	   [O2_LNET_PUT] = "PUT",     [O2_LNET_GET] = "GET",
	[O2_LNET_REPLY] = "REPLY", [O2_LNET_HELLO] = "HELLO",
};

const char *o2_lnet_type_name(uint32_t type)
{
	return type <= O2_LNET_HELLO ? o2_lnet_type_names[type] : NULL;
}
