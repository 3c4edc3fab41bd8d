/* SPDX-License-Identifier: MIT */
#include "wire/lnet_hdr_json.h"

#include <string.h>

#include "base/json.h"
#include "wire/bytes_json.h"
#include "wire/lnet_hdr.h"

static json_t *handle_to_json(const struct o2_lnet_handle *handle)
{
	return json_pack("{s:o, s:o}", "wh_interface_cookie", o2_json_hex(handle->wh_interface_cookie),
			 "wh_object_cookie", o2_json_hex(handle->wh_object_cookie));
}

/* The variant's own fields; NULL when memory runs out. */
static json_t *variant_to_json(const struct o2_lnet_hdr *hdr)
{
	switch (hdr->type) {
	case O2_LNET_ACK:
		return json_pack("{s:o, s:o, s:I}", "dst_wmd", handle_to_json(&hdr->msg.ack.dst_wmd),
				 "match_bits", o2_json_hex(hdr->msg.ack.match_bits), "mlength",
				 (json_int_t)hdr->msg.ack.mlength);
	case O2_LNET_PUT:
		return json_pack(
			"{s:o, s:o, s:o, s:I, s:I}", "ack_wmd", handle_to_json(&hdr->msg.put.ack_wmd),
			"match_bits", o2_json_hex(hdr->msg.put.match_bits), "hdr_data",
			o2_json_hex(hdr->msg.put.hdr_data), "ptl_index", (json_int_t)hdr->msg.put.ptl_index,
			"offset", (json_int_t)hdr->msg.put.offset);
	case O2_LNET_GET:
		return json_pack(
			"{s:o, s:o, s:I, s:I, s:I}", "return_wmd", handle_to_json(&hdr->msg.get.return_wmd),
			"match_bits", o2_json_hex(hdr->msg.get.match_bits), "ptl_index",
			(json_int_t)hdr->msg.get.ptl_index, "src_offset", (json_int_t)hdr->msg.get.src_offset,
			"sink_length", (json_int_t)hdr->msg.get.sink_length);
	case O2_LNET_REPLY:
		return json_pack("{s:o}", "dst_wmd", handle_to_json(&hdr->msg.reply.dst_wmd));
	case O2_LNET_HELLO:
		return json_pack("{s:o, s:I}", "incarnation", o2_json_hex(hdr->msg.hello.incarnation),
				 "hello_type", (json_int_t)hdr->msg.hello.type);
	default:
		return json_object();
	}
}

json_t *o2_lnet_hdr_to_json(const struct o2_lnet_hdr *hdr)
{
	const char *type = o2_lnet_type_name(hdr->type);
	json_t *variant, *object;

	if (type == NULL)
		return NULL;
	variant = variant_to_json(hdr);
	object = json_pack("{s:s, s:o, s:o, s:I, s:I, s:I}", "type", type, "dest_nid",
			   o2_nid_to_json(hdr->dest_nid), "src_nid", o2_nid_to_json(hdr->src_nid), "dest_pid",
			   (json_int_t)hdr->dest_pid, "src_pid", (json_int_t)hdr->src_pid, "payload_length",
			   (json_int_t)hdr->payload_length);
	if (variant == NULL || object == NULL || json_object_update(object, variant) != 0) {
		json_decref(object);
		object = NULL;
	}
	json_decref(variant);
	return object;
}

static int read_handle(const json_t *object, const char *key, struct o2_lnet_handle *handle,
		       struct o2_error *error)
{
	const struct o2_json_member members[] = {
		{"wh_interface_cookie", "hdr.wh_interface_cookie", O2_JSON_HEX64,
		 &handle->wh_interface_cookie},
		{"wh_object_cookie", "hdr.wh_object_cookie", O2_JSON_HEX64, &handle->wh_object_cookie},
	};
	const json_t *child;
	const int rc = o2_json_get_object(object, key, &child, error);

	return rc != 0 ? rc : o2_json_get_members(child, members, 2, O2_NO_INDEX, error);
}

static int read_put(const json_t *object, struct o2_lnet_hdr *hdr, struct o2_error *error)
{
	const struct o2_json_member members[] = {
		{"match_bits", "hdr.match_bits", O2_JSON_HEX64, &hdr->msg.put.match_bits},
		{"hdr_data", "hdr.hdr_data", O2_JSON_HEX64, &hdr->msg.put.hdr_data},
		{"ptl_index", "hdr.ptl_index", O2_JSON_U32, &hdr->msg.put.ptl_index},
		{"offset", "hdr.offset", O2_JSON_U32, &hdr->msg.put.offset},
	};
	const int rc = read_handle(object, "ack_wmd", &hdr->msg.put.ack_wmd, error);

	return rc != 0 ? rc : o2_json_get_members(object, members, 4, O2_NO_INDEX, error);
}

static int read_get(const json_t *object, struct o2_lnet_hdr *hdr, struct o2_error *error)
{
	const struct o2_json_member members[] = {
		{"match_bits", "hdr.match_bits", O2_JSON_HEX64, &hdr->msg.get.match_bits},
		{"ptl_index", "hdr.ptl_index", O2_JSON_U32, &hdr->msg.get.ptl_index},
		{"src_offset", "hdr.src_offset", O2_JSON_U32, &hdr->msg.get.src_offset},
		{"sink_length", "hdr.sink_length", O2_JSON_U32, &hdr->msg.get.sink_length},
	};
	const int rc = read_handle(object, "return_wmd", &hdr->msg.get.return_wmd, error);

	return rc != 0 ? rc : o2_json_get_members(object, members, 4, O2_NO_INDEX, error);
}

static int read_ack(const json_t *object, struct o2_lnet_hdr *hdr, struct o2_error *error)
{
	const struct o2_json_member members[] = {
		{"match_bits", "hdr.match_bits", O2_JSON_HEX64, &hdr->msg.ack.match_bits},
		{"mlength", "hdr.mlength", O2_JSON_U32, &hdr->msg.ack.mlength},
	};
	const int rc = read_handle(object, "dst_wmd", &hdr->msg.ack.dst_wmd, error);

	return rc != 0 ? rc : o2_json_get_members(object, members, 2, O2_NO_INDEX, error);
}

/* Never legal in a message, so a form may leave them out: then they are 0. */
static int read_hello(const json_t *object, struct o2_lnet_hdr *hdr, struct o2_error *error)
{
	const struct o2_json_member members[] = {
		{"incarnation", "hdr.incarnation", O2_JSON_HEX64, &hdr->msg.hello.incarnation},
		{"hello_type", "hdr.hello_type", O2_JSON_U32, &hdr->msg.hello.type},
	};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < 2; i++)
		if (json_object_get(object, members[i].key) != NULL)
			rc = o2_json_get_members(object, &members[i], 1, O2_NO_INDEX, error);
	return rc;
}

static int read_variant(const json_t *object, struct o2_lnet_hdr *hdr, struct o2_error *error)
{
	memset(&hdr->msg, 0, sizeof(hdr->msg));
	switch (hdr->type) {
	case O2_LNET_ACK:
		return read_ack(object, hdr, error);
	case O2_LNET_PUT:
		return read_put(object, hdr, error);
	case O2_LNET_GET:
		return read_get(object, hdr, error);
	case O2_LNET_REPLY:
		return read_handle(object, "dst_wmd", &hdr->msg.reply.dst_wmd, error);
	default:
		return read_hello(object, hdr, error);
	}
}

int o2_lnet_hdr_from_json(const json_t *object, struct o2_lnet_hdr *hdr, struct o2_error *error)
{
	const char *names[O2_LNET_HELLO + 1];
	const struct o2_json_member members[] = {
		{"dest_pid", "hdr.dest_pid", O2_JSON_U32, &hdr->dest_pid},
		{"src_pid", "hdr.src_pid", O2_JSON_U32, &hdr->src_pid},
		{"payload_length", "hdr.payload_length", O2_JSON_U32, &hdr->payload_length},
	};
	const json_t *child;
	int rc = o2_json_get_object(object, "hdr", &child, error);

	for (uint32_t type = 0; type <= O2_LNET_HELLO; type++)
		names[type] = o2_lnet_type_name(type);
	if (rc == 0)
		rc = o2_json_at(o2_json_get_name(child, "type", names, O2_LNET_HELLO + 1, &hdr->type, error),
				"hdr.type", O2_NO_INDEX, error);
	if (rc == 0)
		rc = o2_nid_from_json(child, "dest_nid", "hdr.dest_nid", &hdr->dest_nid, error);
	if (rc == 0)
		rc = o2_nid_from_json(child, "src_nid", "hdr.src_nid", &hdr->src_nid, error);
	if (rc == 0)
		rc = o2_json_get_members(child, members, 3, O2_NO_INDEX, error);
	return rc != 0 ? rc : read_variant(child, hdr, error);
}
