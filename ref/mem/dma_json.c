/* SPDX-License-Identifier: MIT */
#include "mem/dma_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

static const char *const kind_names[] = {
	[O2_DMA_BUS] = "bus", [O2_DMA_VIRTUAL] = "virtual", [O2_DMA_IOMMU] = "iommu"};
static const char *const fault_names[] = {[O2_DMA_NO_FAULT] = "none",
					  [O2_DMA_FAULT_EIO] = "eio",
					  [O2_DMA_FAULT_ENOMEM] = "enomem",
					  [O2_DMA_FAULT_NOTHING] = "nothing"};

static json_t *give_up(json_t *json)
{
	json_decref(json);
	return NULL;
}

static json_t *unmapped_to_json(const struct o2_dma_device *device)
{
	json_t *array = json_array();

	for (uint32_t page = 0; array != NULL && device->unmapped != NULL && page < device->npages; page++) {
		if ((device->unmapped[page / 8] >> (page % 8) & 1) != 0 &&
		    json_array_append_new(array, json_integer(page)) != 0)
			return give_up(array);
	}
	return array;
}

static json_t *iommu_to_json(const struct o2_dma_device *device)
{
	const struct o2_dma_iommu *iommu = &device->iommu;
	json_t *array;

	if (iommu->device_page == NULL || (uint32_t)iommu->fault >= O2_DMA_FAULTS)
		return NULL;
	array = json_array();
	for (uint32_t page = 0; array != NULL && page < device->npages; page++)
		if (json_array_append_new(array, json_integer(iommu->device_page[page])) != 0)
			return give_up(array);
	return json_pack("{s:o, s:o, s:s}", "device_pages", array, "merge", o2_json_hex(iommu->merge),
			 "fault", fault_names[iommu->fault]);
}

json_t *o2_dma_input_to_json(const struct o2_sg_list *sg, const struct o2_dma_device *device)
{
	json_t *device_json;

	if ((uint32_t)device->kind >= O2_DMA_KINDS)
		return NULL;
	device_json = json_pack("{s:s, s:o, s:o, s:o, s:o}", "kind", kind_names[device->kind], "page_bytes",
				json_integer(device->page_bytes), "npages", json_integer(device->npages),
				"base", o2_json_hex(device->base), "unmapped", unmapped_to_json(device));
	if (device->kind == O2_DMA_IOMMU &&
	    json_object_set_new(device_json, "iommu", iommu_to_json(device)) != 0)
		return give_up(device_json);
	return json_pack("{s:s, s:i, s:o, s:o}", "form", O2_DMA_INPUT_FORM, "version", (int)O2_JSON_VERSION,
			 "device", device_json, "list", o2_sg_list_to_json(sg));
}

json_t *o2_dma_list_to_json(const struct o2_dma_list *list)
{
	json_t *array = list->count <= O2_MAX_FRAGS ? json_array() : NULL;

	for (uint32_t i = 0; array != NULL && i < list->count; i++) {
		const struct o2_dma_segment *segment = &list->segment[i];

		if (json_array_append_new(array, json_pack("{s:o, s:o}", "addr", o2_json_hex(segment->addr),
							   "length", json_integer(segment->length))) != 0)
			return give_up(array);
	}
	return json_pack("{s:o, s:o}", "nob", o2_json_length(list->nob), "segments", array);
}

json_t *o2_dma_output_to_json(const struct o2_dma_list *list, const struct o2_error *refused)
{
	json_t *form = o2_output_form(O2_DMA_OUTPUT_FORM, refused);

	if (form == NULL || (refused != NULL && refused->code != 0))
		return form;
	return json_object_set_new(form, "list", o2_dma_list_to_json(list)) == 0 ? form : give_up(form);
}

static int read_unmapped(const json_t *array, struct o2_dma_input *input, struct o2_error *error)
{
	uint32_t npages = input->device.npages;
	size_t count = json_array_size(array);

	if (count == 0)
		return 0;
	if (npages > O2_DMA_JSON_MAX_PAGES)
		return o2_refuse(error, -EINVAL, "json/integer-out-of-range", "device.npages", O2_NO_INDEX,
				 npages, O2_DMA_JSON_MAX_PAGES);
	input->unmapped = calloc(npages / 8 + 1, 1);
	if (input->unmapped == NULL)
		return o2_refuse(error, -ENOMEM, "json/no-memory", "device.unmapped", O2_NO_INDEX, count,
				 O2_NO_LIMIT);
	input->device.unmapped = input->unmapped;
	for (size_t i = 0; i < count; i++) {
		const json_t *item = json_array_get(array, i);
		json_int_t page = json_integer_value(item);

		if (!json_is_integer(item))
			return o2_refuse(error, -EINVAL, "json/not-an-integer", "device.unmapped[]",
					 (uint32_t)i, 0, O2_NO_LIMIT);
		if (page < 0 || page >= (json_int_t)npages)
			return o2_refuse(error, -EINVAL, "json/integer-out-of-range", "device.unmapped[]",
					 (uint32_t)i, (uint64_t)page, npages);
		input->unmapped[page / 8] |= (uint8_t)(1u << (page % 8));
	}
	return 0;
}

static int read_device_pages(const json_t *array, struct o2_dma_input *input, struct o2_error *error)
{
	uint32_t npages = input->device.npages;

	if (json_array_size(array) != npages)
		return o2_refuse(error, -EINVAL, "json/array-length", "device.iommu.device_pages",
				 O2_NO_INDEX, json_array_size(array), npages);
	input->device_page = calloc((size_t)npages + 1, sizeof(*input->device_page));
	if (input->device_page == NULL)
		return o2_refuse(error, -ENOMEM, "json/no-memory", "device.iommu.device_pages", O2_NO_INDEX,
				 npages, O2_NO_LIMIT);
	input->device.iommu.device_page = input->device_page;
	for (uint32_t i = 0; i < npages; i++) {
		const json_t *item = json_array_get(array, i);
		json_int_t page = json_integer_value(item);

		if (!json_is_integer(item))
			return o2_refuse(error, -EINVAL, "json/not-an-integer", "device.iommu.device_pages[]",
					 i, 0, O2_NO_LIMIT);
		if (page < 0 || page > UINT32_MAX)
			return o2_refuse(error, -EINVAL, "json/integer-out-of-range",
					 "device.iommu.device_pages[]", i, (uint64_t)page, UINT32_MAX);
		input->device_page[i] = (uint32_t)page;
	}
	return 0;
}

static int read_iommu(const json_t *device, struct o2_dma_input *input, struct o2_error *error)
{
	const json_t *object;
	const json_t *pages;
	uint32_t fault = 0;
	int rc = o2_json_at(o2_json_get_object(device, "iommu", &object, error), "device.iommu", O2_NO_INDEX,
			    error);

	if (rc != 0)
		return rc;
	rc = o2_json_at(o2_json_get_hex(object, "merge", &input->device.iommu.merge, error),
			"device.iommu.merge", O2_NO_INDEX, error);
	if (rc == 0)
		rc = o2_json_at(o2_json_get_name(object, "fault", fault_names, O2_DMA_FAULTS, &fault, error),
				"device.iommu.fault", O2_NO_INDEX, error);
	if (rc == 0)
		rc = o2_json_at(
			o2_json_get_array(object, "device_pages", O2_DMA_JSON_MAX_PAGES, &pages, error),
			"device.iommu.device_pages", O2_NO_INDEX, error);
	if (rc != 0)
		return rc;
	input->device.iommu.fault = (enum o2_dma_fault)fault;
	return read_device_pages(pages, input, error);
}

static int read_device(const json_t *form, struct o2_dma_input *input, struct o2_error *error)
{
	struct o2_dma_device *device = &input->device;
	const struct o2_json_member members[] = {
		{"page_bytes", "device.page_bytes", O2_JSON_U32, &device->page_bytes},
		{"npages", "device.npages", O2_JSON_U32, &device->npages},
		{"base", "device.base", O2_JSON_HEX64, &device->base},
	};
	const json_t *object;
	const json_t *unmapped;
	uint32_t kind;
	int rc = o2_json_get_object(form, "device", &object, error);

	if (rc != 0)
		return rc;
	rc = o2_json_at(o2_json_get_name(object, "kind", kind_names, O2_DMA_KINDS, &kind, error),
			"device.kind", O2_NO_INDEX, error);
	if (rc == 0)
		rc = o2_json_get_members(object, members, 3, O2_NO_INDEX, error);
	if (rc == 0)
		rc = o2_json_at(
			o2_json_get_array(object, "unmapped", O2_DMA_JSON_MAX_PAGES, &unmapped, error),
			"device.unmapped", O2_NO_INDEX, error);
	if (rc != 0)
		return rc;
	device->kind = (enum o2_dma_kind)kind;
	rc = read_unmapped(unmapped, input, error);
	return rc == 0 && device->kind == O2_DMA_IOMMU ? read_iommu(object, input, error) : rc;
}

int o2_dma_input_from_json(const json_t *object, struct o2_dma_input *input, struct o2_error *error)
{
	int rc = o2_json_expect_form(object, O2_DMA_INPUT_FORM, error);

	memset(input, 0, sizeof(*input));
	if (rc == 0)
		rc = read_device(object, input, error);
	if (rc == 0)
		rc = o2_sg_list_from_json(object, &input->sg, error);
	if (rc != 0)
		o2_dma_input_free(input);
	return rc;
}

void o2_dma_input_free(struct o2_dma_input *input)
{
	free(input->device_page);
	free(input->unmapped);
	memset(input, 0, sizeof(*input));
}

static int read_segment(const json_t *item, uint32_t i, struct o2_dma_segment *segment,
			struct o2_error *error)
{
	const struct o2_json_member members[] = {
		{"addr", "list.segments[].addr", O2_JSON_HEX64, &segment->addr},
		{"length", "list.segments[].length", O2_JSON_U32, &segment->length},
	};

	return o2_json_get_members(item, members, 2, i, error);
}

int o2_dma_list_from_json(const json_t *form, struct o2_dma_list *list, struct o2_error *error)
{
	const struct o2_json_member nob = {"nob", "list.nob", O2_JSON_LENGTH, &list->nob};
	const json_t *object;
	const json_t *segments;
	int rc = o2_json_get_object(form, "list", &object, error);

	if (rc == 0)
		rc = o2_json_get_members(object, &nob, 1, O2_NO_INDEX, error);
	if (rc == 0)
		rc = o2_json_at(o2_json_get_array(object, "segments", O2_MAX_FRAGS, &segments, error),
				"list.segments", O2_NO_INDEX, error);
	if (rc != 0)
		return rc;
	list->count = (uint32_t)json_array_size(segments);
	for (uint32_t i = 0; rc == 0 && i < list->count; i++)
		rc = read_segment(json_array_get(segments, i), i, &list->segment[i], error);
	return rc;
}

int o2_dma_output_from_json(const json_t *object, struct o2_dma_list *list, struct o2_refused *refused,
			    struct o2_error *error)
{
	int rc = o2_output_expect(object, O2_DMA_OUTPUT_FORM, refused, error);

	return rc != 0 || refused->code != 0 ? rc : o2_dma_list_from_json(object, list, error);
}
