/* SPDX-License-Identifier: MIT */
#include "wire/lnet_hdr.h"

#include <string.h>

#include "wire/bytes.h"
#include "wire/layout.h"

/* All variants but HELLO start with a handle of 16 bytes. */
#define AT_INTERFACE_COOKIE 0
#define AT_OBJECT_COOKIE    8
#define AT_MATCH_BITS	    16

/* The LNet header is little-endian in messages of either byte order. */
#define ORDER O2_LITTLE_ENDIAN

static struct o2_lnet_handle load_handle(const uint8_t *bytes)
{
	return (struct o2_lnet_handle){.wh_interface_cookie = o2_load64(bytes + AT_INTERFACE_COOKIE, ORDER),
				       .wh_object_cookie = o2_load64(bytes + AT_OBJECT_COOKIE, ORDER)};
}

static void store_handle(const struct o2_lnet_handle *handle, uint8_t *bytes)
{
	o2_store64(bytes + AT_INTERFACE_COOKIE, ORDER, handle->wh_interface_cookie);
	o2_store64(bytes + AT_OBJECT_COOKIE, ORDER, handle->wh_object_cookie);
}

void o2_lnet_hdr_load(const uint8_t *bytes, struct o2_lnet_hdr *hdr)
{
	const uint8_t *rest = bytes + O2_LNET_AT_UNION;

	hdr->dest_nid = o2_load64(bytes + O2_LNET_AT_DEST_NID, ORDER);
	hdr->src_nid = o2_load64(bytes + O2_LNET_AT_SRC_NID, ORDER);
	hdr->dest_pid = o2_load32(bytes + O2_LNET_AT_DEST_PID, ORDER);
	hdr->src_pid = o2_load32(bytes + O2_LNET_AT_SRC_PID, ORDER);
	hdr->type = o2_load32(bytes + O2_LNET_AT_TYPE, ORDER);
	hdr->payload_length = o2_load32(bytes + O2_LNET_AT_PAYLOAD_LENGTH, ORDER);
	memset(&hdr->msg, 0, sizeof(hdr->msg));
	switch (hdr->type) {
	case O2_LNET_ACK:
		hdr->msg.ack.dst_wmd = load_handle(rest);
		hdr->msg.ack.match_bits = o2_load64(rest + AT_MATCH_BITS, ORDER);
		hdr->msg.ack.mlength = o2_load32(rest + 24, ORDER);
		break;
	case O2_LNET_PUT:
		hdr->msg.put.ack_wmd = load_handle(rest);
		hdr->msg.put.match_bits = o2_load64(rest + AT_MATCH_BITS, ORDER);
		hdr->msg.put.hdr_data = o2_load64(rest + 24, ORDER);
		hdr->msg.put.ptl_index = o2_load32(rest + 32, ORDER);
		hdr->msg.put.offset = o2_load32(rest + 36, ORDER);
		break;
	case O2_LNET_GET:
		hdr->msg.get.return_wmd = load_handle(rest);
		hdr->msg.get.match_bits = o2_load64(rest + AT_MATCH_BITS, ORDER);
		hdr->msg.get.ptl_index = o2_load32(rest + 24, ORDER);
		hdr->msg.get.src_offset = o2_load32(rest + 28, ORDER);
		hdr->msg.get.sink_length = o2_load32(rest + 32, ORDER);
		break;
	case O2_LNET_REPLY:
		hdr->msg.reply.dst_wmd = load_handle(rest);
		break;
	case O2_LNET_HELLO:
		hdr->msg.hello.incarnation = o2_load64(rest, ORDER);
		hdr->msg.hello.type = o2_load32(rest + 8, ORDER);
		break;
	}
}

void o2_lnet_hdr_store(const struct o2_lnet_hdr *hdr, uint8_t *bytes)
{
	uint8_t *rest = bytes + O2_LNET_AT_UNION;

	o2_store64(bytes + O2_LNET_AT_DEST_NID, ORDER, hdr->dest_nid);
	o2_store64(bytes + O2_LNET_AT_SRC_NID, ORDER, hdr->src_nid);
	o2_store32(bytes + O2_LNET_AT_DEST_PID, ORDER, hdr->dest_pid);
	o2_store32(bytes + O2_LNET_AT_SRC_PID, ORDER, hdr->src_pid);
	o2_store32(bytes + O2_LNET_AT_TYPE, ORDER, hdr->type);
	o2_store32(bytes + O2_LNET_AT_PAYLOAD_LENGTH, ORDER, hdr->payload_length);
	memset(rest, 0, O2_LNET_UNION_BYTES);
	switch (hdr->type) {
	case O2_LNET_ACK:
		store_handle(&hdr->msg.ack.dst_wmd, rest);
		o2_store64(rest + AT_MATCH_BITS, ORDER, hdr->msg.ack.match_bits);
		o2_store32(rest + 24, ORDER, hdr->msg.ack.mlength);
		break;
	case O2_LNET_PUT:
		store_handle(&hdr->msg.put.ack_wmd, rest);
		o2_store64(rest + AT_MATCH_BITS, ORDER, hdr->msg.put.match_bits);
		o2_store64(rest + 24, ORDER, hdr->msg.put.hdr_data);
		o2_store32(rest + 32, ORDER, hdr->msg.put.ptl_index);
		o2_store32(rest + 36, ORDER, hdr->msg.put.offset);
		break;
	case O2_LNET_GET:
		store_handle(&hdr->msg.get.return_wmd, rest);
		o2_store64(rest + AT_MATCH_BITS, ORDER, hdr->msg.get.match_bits);
		o2_store32(rest + 24, ORDER, hdr->msg.get.ptl_index);
		o2_store32(rest + 28, ORDER, hdr->msg.get.src_offset);
		o2_store32(rest + 32, ORDER, hdr->msg.get.sink_length);
		break;
	case O2_LNET_REPLY:
		store_handle(&hdr->msg.reply.dst_wmd, rest);
		break;
	case O2_LNET_HELLO:
		o2_store64(rest, ORDER, hdr->msg.hello.incarnation);
		o2_store32(rest + 8, ORDER, hdr->msg.hello.type);
		break;
	}
}

const char *const o2_lnet_type_names[] = {
	[O2_LNET_ACK] = "ACK",	   [O2_LNET_PUT] = "PUT",     [O2_LNET_GET] = "GET",
	[O2_LNET_REPLY] = "REPLY", [O2_LNET_HELLO] = "HELLO",
};

const char *o2_lnet_type_name(uint32_t type)
{
	return type <= O2_LNET_HELLO ? o2_lnet_type_names[type] : NULL;
}
