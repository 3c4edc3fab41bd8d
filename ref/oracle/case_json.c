/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "mem/dma_json.h"
#include "mem/sg_json.h"
#include "oracle/case.h"
#include "reg/plan_json.h"
#include "wire/msg_json.h"

/* Cases as the input forms of their stages; that of a whole transfer is put together from parts of others. */

static const char *const op_names[] = {"put", "get"};
static const char *const node_names[] = {[O2_SOURCE] = "source", [O2_SINK] = "sink"};

/* --- writing ------------------------------------------------------------------------------------------- */

static json_t *node_to_json(const struct o2_case_node *node)
{
	static const struct o2_sg_list no_list;
	const char *mode = o2_reg_mode_name(node->mode);
	json_t *memory = o2_sg_input_to_json(&node->memory.buffer, &node->memory.space, node->max_pages);
	json_t *device = o2_dma_input_to_json(&no_list, &node->device.device);
	json_t *object = NULL;

	if (mode != NULL && memory != NULL && device != NULL)
		object = json_pack("{s:s, s:I, s:o, s:o, s:O, s:O, s:O}", "mode", mode, "max_pages",
				   (json_int_t)node->max_pages, "iova", o2_json_hex(node->iova), "key",
				   o2_json_hex(node->key), "space", json_object_get(memory, "space"),
				   "buffer", json_object_get(memory, "buffer"), "device",
				   json_object_get(device, "device"));
	json_decref(memory);
	json_decref(device);
	return object;
}

static json_t *transfer_to_json(const struct o2_case_transfer *transfer)
{
	return json_pack("{s:s, s:i, s:s, s:I, s:I, s:o, s:o}", "form",
			 o2_stage_input_form(O2_STAGE_TRANSFER), "version", (int)O2_JSON_VERSION, "op",
			 op_names[transfer->get], "max_frags", (json_int_t)transfer->max_frags, "wrq_sge",
			 (json_int_t)transfer->wrq_sge, "source", node_to_json(&transfer->node[O2_SOURCE]),
			 "sink", node_to_json(&transfer->node[O2_SINK]));
}

/* With the room for the bytes, where that is not all that a message can need. */
static json_t *encode_to_json(const struct o2_case_msg_encode *asked)
{
	json_t *object = NULL;

	if (o2_msg_payload_fits(&asked->msg))
		object = o2_msg_encode_input_to_json(&asked->msg, &asked->options);
	if (object != NULL && asked->capacity_bytes != O2_MSG_BYTES &&
	    json_object_set_new(object, "capacity_bytes", json_integer(asked->capacity_bytes)) != 0) {
		json_decref(object);
		return NULL;
	}
	return object;
}

json_t *o2_case_to_json(const struct o2_case *asked)
{
	switch (asked->stage) {
	case O2_STAGE_MSG_DECODE:
		return o2_msg_decode_input_to_json(asked->msg_decode.bytes, asked->msg_decode.length_bytes,
						   &asked->msg_decode.options);
	case O2_STAGE_MSG_ENCODE:
		return encode_to_json(&asked->msg_encode);
	case O2_STAGE_SG_BUILD:
		return o2_sg_input_to_json(&asked->sg.memory.buffer, &asked->sg.memory.space,
					   asked->sg.max_entries);
	case O2_STAGE_DMA_MAP:
		return o2_dma_input_to_json(&asked->dma.list, &asked->dma.device.device);
	case O2_STAGE_REG_PLAN:
		return o2_reg_input_to_json(&asked->reg.request, &asked->reg.list);
	case O2_STAGE_RDMA_PLAN:
		return o2_rdma_input_to_json(&asked->rdma);
	case O2_STAGE_TRANSFER:
		return transfer_to_json(&asked->transfer);
	case O2_STAGES:
		break;
	}
	return NULL;
}

/* --- reading ------------------------------------------------------------------------------------------- */

static int too_many(struct o2_error *error, const char *field, uint64_t count, uint64_t limit)
{
	return o2_refuse(error, -EINVAL, "case/too-many", field, O2_NO_INDEX, count, limit);
}

/* What the reader allocated moves into the case. */
static int take_memory(const struct o2_sg_input *input, struct o2_case_buffer *memory, struct o2_error *error)
{
	if (input->buffer.count > O2_CASE_PIECES)
		return too_many(error, "buffer.pieces", input->buffer.count, O2_CASE_PIECES);
	if (input->space.nranges > O2_CASE_RANGES)
		return too_many(error, "space.ranges", input->space.nranges, O2_CASE_RANGES);
	memory->buffer = input->buffer;
	memory->space = input->space;
	if (input->buffer.kind == O2_IOV) {
		memory->buffer.iov = memory->iov;
		if (input->buffer.count > 0)
			memcpy(memory->iov, input->buffer.iov, input->buffer.count * sizeof(memory->iov[0]));
	} else {
		memory->buffer.kiov = memory->kiov;
		if (input->buffer.count > 0)
			memcpy(memory->kiov, input->buffer.kiov,
			       input->buffer.count * sizeof(memory->kiov[0]));
	}
	memory->space.range = memory->range;
	for (uint32_t i = 0; i < input->space.nranges; i++) {
		memory->range[i] = input->space.range[i];
		memory->range[i].page = memory->page[i];
		if (memory->range[i].npages > O2_CASE_PAGES)
			return too_many(error, "space.ranges[].pages", memory->range[i].npages,
					O2_CASE_PAGES);
		memcpy(memory->page[i], input->space.range[i].page,
		       memory->range[i].npages * sizeof(memory->page[i][0]));
	}
	return 0;
}

static int read_memory(const json_t *object, uint32_t *max_entries, struct o2_case_buffer *memory,
		       struct o2_error *error)
{
	struct o2_sg_input input;
	int rc = o2_sg_input_from_json(object, &input, error);

	if (rc != 0)
		return rc;
	*max_entries = input.max_entries;
	rc = take_memory(&input, memory, error);
	o2_sg_input_free(&input);
	return rc;
}

static int take_device(const struct o2_dma_input *input, struct o2_case_device *device,
		       struct o2_error *error)
{
	const uint32_t npages = input->device.npages;

	device->device = input->device;
	if ((input->unmapped != NULL || input->device_page != NULL) && npages > O2_CASE_PAGES)
		return too_many(error, "device.npages", npages, O2_CASE_PAGES);
	if (input->unmapped != NULL) {
		memcpy(device->unmapped, input->unmapped, (npages + 7) / 8);
		device->device.unmapped = device->unmapped;
	}
	if (input->device_page != NULL) {
		memcpy(device->device_page, input->device_page, npages * sizeof(device->device_page[0]));
		device->device.iommu.device_page = device->device_page;
	}
	return 0;
}

static int read_device(const json_t *object, struct o2_sg_list *list, struct o2_case_device *device,
		       struct o2_error *error)
{
	struct o2_dma_input input;
	int rc = o2_dma_input_from_json(object, &input, error);

	if (rc != 0)
		return rc;
	if (list != NULL)
		*list = input.sg;
	rc = take_device(&input, device, error);
	o2_dma_input_free(&input);
	return rc;
}

/* The parts of a node as the input forms of the stages that have readers for them. */
static int read_node_parts(const json_t *object, struct o2_case_node *node, struct o2_error *error)
{
	uint32_t unused;
	json_t *memory =
		json_pack("{s:s, s:i, s:i, s:O?, s:O?}", "form", O2_SG_INPUT_FORM, "version",
			  (int)O2_JSON_VERSION, "max_entries", 0, "space", json_object_get(object, "space"),
			  "buffer", json_object_get(object, "buffer"));
	json_t *device = json_pack("{s:s, s:i, s:O?, s:{s:b, s:i, s:[]}}", "form", O2_DMA_INPUT_FORM,
				   "version", (int)O2_JSON_VERSION, "device",
				   json_object_get(object, "device"), "list", "gaps", 0, "nob", 0, "entries");
	int rc = memory == NULL || device == NULL ? -ENOMEM : 0;

	if (rc == 0)
		rc = read_memory(memory, &unused, &node->memory, error);
	if (rc == 0)
		rc = read_device(device, NULL, &node->device, error);
	json_decref(memory);
	json_decref(device);
	return rc;
}

static int read_node(const json_t *object, const char *name, struct o2_case_node *node,
		     struct o2_error *error)
{
	const struct o2_json_member members[] = {
		{"max_pages", "max_pages", O2_JSON_U32, &node->max_pages},
		{"iova", "iova", O2_JSON_HEX64, &node->iova},
		{"key", "key", O2_JSON_HEX32, &node->key},
	};
	const json_t *child;
	const char *mode;
	int rc = o2_json_get_object(object, name, &child, error);

	if (rc != 0)
		return rc;
	mode = json_string_value(json_object_get(child, "mode"));
	if (mode == NULL || o2_reg_mode_from_name(mode, &node->mode) != 0)
		return o2_refuse(error, -EINVAL, "json/unknown-name", "mode", O2_NO_INDEX, 0, O2_NO_LIMIT);
	rc = o2_json_get_members(child, members, 3, O2_NO_INDEX, error);
	return rc != 0 ? rc : read_node_parts(child, node, error);
}

static int read_transfer(const json_t *object, struct o2_case_transfer *transfer, struct o2_error *error)
{
	uint32_t op;
	int rc = o2_json_expect_form(object, o2_stage_input_form(O2_STAGE_TRANSFER), error);

	if (rc == 0)
		rc = o2_json_get_name(object, "op", op_names, 2, &op, error);
	if (rc == 0)
		rc = o2_json_get_u32(object, "max_frags", UINT32_MAX, &transfer->max_frags, error);
	if (rc == 0)
		rc = o2_json_get_u32(object, "wrq_sge", UINT32_MAX, &transfer->wrq_sge, error);
	for (uint32_t i = 0; rc == 0 && i < 2; i++)
		rc = read_node(object, node_names[i], &transfer->node[i], error);
	if (rc == 0)
		transfer->get = op == 1;
	return rc;
}

static int read_decode(const json_t *object, struct o2_case_msg_decode *asked, struct o2_error *error)
{
	struct o2_wire_bytes bytes;
	int rc = o2_msg_decode_input_from_json(object, &bytes, &asked->options, error);

	if (rc == 0) {
		asked->length_bytes = (uint32_t)bytes.length_bytes;
		memcpy(asked->bytes, bytes.bytes, bytes.length_bytes);
	}
	return rc;
}

static int read_encode(const json_t *object, struct o2_case_msg_encode *asked, struct o2_error *error)
{
	struct o2_msg_json read;
	int rc = o2_msg_encode_input_from_json(object, &read, &asked->options, error);

	if (rc != 0)
		return rc;
	asked->capacity_bytes = O2_MSG_BYTES;
	if (json_object_get(object, "capacity_bytes") != NULL)
		rc = o2_json_get_u32(object, "capacity_bytes", O2_MSG_BYTES, &asked->capacity_bytes, error);
	asked->msg = read.msg;
	if (read.msg.ibm_type == O2_MSG_IMMEDIATE) {
		memcpy(asked->payload, read.payload, sizeof(asked->payload));
		asked->msg.u.immediate.payload = asked->payload;
	}
	return rc;
}

int o2_case_from_json(const json_t *object, struct o2_case *asked, struct o2_error *error)
{
	const char *form = json_string_value(json_object_get(object, "form"));

	memset(asked, 0, sizeof(*asked));
	for (asked->stage = 0; asked->stage < O2_STAGES; asked->stage++)
		if (form != NULL && strcmp(form, o2_stage_input_form(asked->stage)) == 0)
			break;
	switch (asked->stage) {
	case O2_STAGE_MSG_DECODE:
		return read_decode(object, &asked->msg_decode, error);
	case O2_STAGE_MSG_ENCODE:
		return read_encode(object, &asked->msg_encode, error);
	case O2_STAGE_SG_BUILD:
		return read_memory(object, &asked->sg.max_entries, &asked->sg.memory, error);
	case O2_STAGE_DMA_MAP:
		return read_device(object, &asked->dma.list, &asked->dma.device, error);
	case O2_STAGE_REG_PLAN:
		return o2_reg_input_from_json(object, &asked->reg.request, &asked->reg.list, error);
	case O2_STAGE_RDMA_PLAN:
		return o2_rdma_input_from_json(object, &asked->rdma, error);
	case O2_STAGE_TRANSFER:
		return read_transfer(object, &asked->transfer, error);
	case O2_STAGES:
		break;
	}
	return o2_refuse(error, -EINVAL, "json/unknown-name", "form", O2_NO_INDEX, 0, O2_NO_LIMIT);
}
