/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "base/fields_json.h"
#include "base/json.h"
#include "forms/dma_json.h"
#include "forms/msg_json.h"
#include "forms/plan_json.h"
#include "forms/sg_json.h"
#include "oracle/stage_ops.h"

/* Cases as the input forms of their stages.  The form of a transfer is composed of parts of other forms. */

static const char *const op_names[] = {[false] = "put", [true] = "get"};

/* The fields of a transfer, except its two nodes; the fields of a node, except its memory and device. */
static const struct o2_field transfer_fields[] = {
	{O2_FIELD("op", NAME, struct o2_case_transfer, get), .names = op_names, .limit = 2},
	{O2_FIELD("max_frags", UINT, struct o2_case_transfer, max_frags)},
	{O2_FIELD("wrq_sge", UINT, struct o2_case_transfer, wrq_sge)},
	{0},
};
static const struct o2_field node_fields[] = {
	{O2_FIELD("mode", NAME, struct o2_case_node, mode), .names = o2_reg_mode_names,
	 .limit = O2_REG_MODES},
	{O2_FIELD("max_pages", UINT, struct o2_case_node, max_pages)},
	{O2_FIELD("iova", HEX, struct o2_case_node, iova)},
	{O2_FIELD("key", HEX, struct o2_case_node, key)},
	{0},
};

/* --- writing --- */

json_t *o2_case_node_to_json(const struct o2_case_node *node)
{
	json_t *object = o2_sg_memory_into_json(o2_fields_to_json(node_fields, node), &node->memory.buffer,
						&node->memory.space);

	return o2_json_with(object, "device", o2_dma_device_to_json(&node->device.device));
}

static json_t *transfer_to_json(const struct o2_case_transfer *transfer)
{
	json_t *form = o2_fields_into_json(o2_json_form(o2_stage_input_form(O2_STAGE_TRANSFER)),
					   transfer_fields, transfer);

	for (uint32_t i = 0; i < 2; i++)
		form = o2_json_with(form, o2_side_names[i], o2_case_node_to_json(&transfer->node[i]));
	return form;
}

/* Add the capacity if it is less than the maximum size of a message. */
static json_t *encode_to_json(const struct o2_case_msg_encode *asked)
{
	json_t *object = NULL;

	if (o2_msg_payload_fits(&asked->msg))
		object = o2_msg_encode_input_to_json(&asked->msg, &asked->options);
	if (asked->capacity_bytes != O2_MSG_BYTES)
		object = o2_json_with(object, "capacity_bytes", json_integer(asked->capacity_bytes));
	return object;
}

json_t *o2_case_to_json(const struct o2_case *asked)
{
	if (o2_stage_ops(asked->stage) != NULL)
		return o2_stage_case_to_json(asked);
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
	default:
		break;
	}
	return NULL;
}

/* --- reading --- */

static int too_many(struct o2_error *error, const char *field, uint64_t count, uint64_t limit)
{
	return o2_refuse_value(error, -EINVAL, "case/too-many", field, count, limit);
}

/* Copy the arrays that the JSON reader allocated into the case. */
static int take_memory(const struct o2_sg_input *input, struct o2_case_buffer *memory, struct o2_error *error)
{
	if (input->buffer.count > O2_CASE_PIECES)
		return too_many(error, "buffer.pieces", input->buffer.count, O2_CASE_PIECES);
	if (input->space.nranges > O2_CASE_RANGES)
		return too_many(error, "space.ranges", input->space.nranges, O2_CASE_RANGES);
	memory->buffer = input->buffer;
	memory->space = input->space;
	if (input->buffer.kind == O2_IOV)
		memory->buffer.iov =
			memcpy(memory->iov, input->iov, input->buffer.count * sizeof(memory->iov[0]));
	else
		memory->buffer.kiov =
			memcpy(memory->kiov, input->kiov, input->buffer.count * sizeof(memory->kiov[0]));
	memory->space.range = memory->range;
	for (uint32_t i = 0; i < input->space.nranges; i++) {
		memory->range[i] = input->space.range[i];
		if (memory->range[i].npages > O2_CASE_PAGES)
			return too_many(error, "space.ranges[].pages", memory->range[i].npages,
					O2_CASE_PAGES);
		memory->range[i].page = memcpy(memory->page[i], input->space.range[i].page,
					       memory->range[i].npages * sizeof(memory->page[i][0]));
	}
	return 0;
}

static int take_device(const struct o2_dma_input *input, struct o2_case_device *device,
		       struct o2_error *error)
{
	const uint32_t npages = input->device.npages;

	device->device = input->device;
	if ((input->unmapped != NULL || input->device_page != NULL) && npages > O2_CASE_PAGES)
		return too_many(error, "device.npages", npages, O2_CASE_PAGES);
	if (input->unmapped != NULL)
		device->device.unmapped = memcpy(device->unmapped, input->unmapped, (npages + 7) / 8);
	if (input->device_page != NULL)
		device->device.iommu.device_page = memcpy(device->device_page, input->device_page,
							  npages * sizeof(device->device_page[0]));
	return 0;
}

static int read_sg(const json_t *object, struct o2_case_sg *asked, struct o2_error *error)
{
	struct o2_sg_input input;
	int rc = o2_sg_input_from_json(object, &input, error);

	if (rc != 0)
		return rc;
	asked->max_entries = input.max_entries;
	rc = take_memory(&input, &asked->memory, error);
	o2_sg_input_free(&input);
	return rc;
}

static int read_dma(const json_t *object, struct o2_case_dma *asked, struct o2_error *error)
{
	struct o2_dma_input input;
	int rc = o2_dma_input_from_json(object, &input, error);

	if (rc != 0)
		return rc;
	asked->list = input.sg;
	rc = take_device(&input, &asked->device, error);
	o2_dma_input_free(&input);
	return rc;
}

int o2_case_node_from_json(const json_t *object, const char *name, struct o2_case_node *node,
			   struct o2_error *error)
{
	const json_t *child = json_object_get(object, name);
	struct o2_sg_input memory;
	struct o2_dma_input device;
	int rc = o2_part_from_json(object, name, node_fields, node, error);

	if (rc == 0)
		rc = o2_sg_memory_from_json(child, &memory, error);
	if (rc != 0)
		return rc;
	rc = take_memory(&memory, &node->memory, error);
	o2_sg_input_free(&memory);
	if (rc == 0)
		rc = o2_dma_device_from_json(child, &device, error);
	if (rc != 0)
		return rc;
	rc = take_device(&device, &node->device, error);
	o2_dma_input_free(&device);
	return rc;
}

static int read_transfer(const json_t *object, struct o2_case_transfer *transfer, struct o2_error *error)
{
	int rc = o2_json_expect_form(object, o2_stage_input_form(O2_STAGE_TRANSFER), error);

	if (rc == 0)
		rc = o2_fields_from_json(object, transfer_fields, transfer, error);
	for (uint32_t i = 0; rc == 0 && i < 2; i++)
		rc = o2_case_node_from_json(object, o2_side_names[i], &transfer->node[i], error);
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
	if (read.msg.ibm_type == O2_MSG_IMMEDIATE)
		asked->msg.u.immediate.payload = memcpy(asked->payload, read.payload, sizeof(asked->payload));
	return rc;
}

int o2_case_from_json(const json_t *object, struct o2_case *asked, struct o2_error *error)
{
	const char *form = json_string_value(json_object_get(object, "form"));

	memset(asked, 0, sizeof(*asked));
	for (asked->stage = 0; asked->stage < O2_STAGES; asked->stage++)
		if (form != NULL && strcmp(form, o2_stage_input_form(asked->stage)) == 0)
			break;
	if (o2_stage_ops(asked->stage) != NULL)
		return o2_stage_case_from_json(object, asked, error);
	switch (asked->stage) {
	case O2_STAGE_MSG_DECODE:
		return read_decode(object, &asked->msg_decode, error);
	case O2_STAGE_MSG_ENCODE:
		return read_encode(object, &asked->msg_encode, error);
	case O2_STAGE_SG_BUILD:
		return read_sg(object, &asked->sg, error);
	case O2_STAGE_DMA_MAP:
		return read_dma(object, &asked->dma, error);
	case O2_STAGE_REG_PLAN:
		return o2_reg_input_from_json(object, &asked->reg.request, &asked->reg.list, error);
	case O2_STAGE_RDMA_PLAN:
		return o2_rdma_input_from_json(object, &asked->rdma, error);
	case O2_STAGE_TRANSFER:
		return read_transfer(object, &asked->transfer, error);
	default:
		break;
	}
	return o2_json_refuse_kind("json/unknown-name", "form", error);
}
