/* SPDX-License-Identifier: MIT */
#include "forms/dma_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fields_json.h"
#include "base/json.h"
#include "forms/mem_fields.h"

/* The device's fields, except "unmapped" and "iommu". */
static const struct o2_field device_fields[] = {
	{O2_FIELD("device.kind", NAME, struct o2_dma_device, kind), .names = o2_dma_kind_names,
	 .limit = O2_DMA_KINDS},
	{O2_FIELD("device.page_bytes", UINT, struct o2_dma_device, page_bytes)},
	{O2_FIELD("device.npages", UINT, struct o2_dma_device, npages)},
	{O2_FIELD("device.base", HEX, struct o2_dma_device, base)},
	{0},
};

/* The IOMMU's fields, except "device_pages". */
static const struct o2_field iommu_fields[] = {
	{O2_FIELD("device.iommu.merge", HEX, struct o2_dma_iommu, merge)},
	{O2_FIELD("device.iommu.fault", NAME, struct o2_dma_iommu, fault), .names = o2_dma_fault_names,
	 .limit = O2_DMA_FAULTS},
	{0},
};

static const struct o2_field page_fields[] = {
	{.name = "device.iommu.device_pages[]", .kind = O2_FIELD_UINT, .width_bytes = sizeof(uint32_t)},
	{0},
};

static json_t *unmapped_to_json(const struct o2_dma_device *device)
{
	json_t *array = json_array();

	for (uint32_t page = 0; array != NULL && device->unmapped != NULL && page < device->npages; page++) {
		if (!o2_dma_has_cpu_mapping(device, page) &&
		    json_array_append_new(array, json_integer(page)) != 0)
			return o2_json_with(NULL, "", array);
	}
	return array;
}

static json_t *iommu_to_json(const struct o2_dma_device *device)
{
	const struct o2_dma_iommu *iommu = &device->iommu;
	json_t *pages = NULL;

	if (iommu->device_page != NULL)
		pages = o2_elements_to_json(page_fields, iommu->device_page, device->npages,
					    sizeof(uint32_t));
	return o2_fields_into_json(o2_json_with(json_object(), "device_pages", pages), iommu_fields, iommu);
}

json_t *o2_dma_device_to_json(const struct o2_dma_device *device)
{
	json_t *object =
		o2_json_with(o2_fields_to_json(device_fields, device), "unmapped", unmapped_to_json(device));

	return device->kind == O2_DMA_IOMMU ? o2_json_with(object, "iommu", iommu_to_json(device)) : object;
}

json_t *o2_dma_input_to_json(const struct o2_sg_list *sg, const struct o2_dma_device *device)
{
	json_t *form = o2_json_with(o2_json_form(O2_DMA_INPUT_FORM), "device", o2_dma_device_to_json(device));

	return o2_json_with(form, "list", o2_fields_to_json(o2_sg_list_fields, sg));
}

json_t *o2_dma_output_to_json(const struct o2_dma_list *list, const struct o2_error *refused)
{
	return o2_output_to_json(O2_DMA_OUTPUT_FORM, "list", o2_dma_list_fields, list, refused);
}

static int read_unmapped(const json_t *array, struct o2_dma_input *input, struct o2_error *error)
{
	static const char field[] = "device.unmapped[]";
	uint32_t npages = input->device.npages;
	size_t count = json_array_size(array);
	int rc = 0;

	if (count == 0)
		return 0;
	if (npages > O2_DMA_JSON_MAX_PAGES)
		return o2_refuse_value(error, -EINVAL, "json/integer-out-of-range", "device.npages", npages,
				       O2_DMA_JSON_MAX_PAGES);
	input->unmapped = calloc(npages / 8 + 1, 1);
	if (input->unmapped == NULL)
		return o2_fail(error, -ENOMEM, "json/no-memory", "device.unmapped", count);
	input->device.unmapped = input->unmapped;
	for (size_t i = 0; i < count; i++) {
		const json_t *item = json_array_get(array, i);
		json_int_t page = json_integer_value(item);

		if (!json_is_integer(item))
			rc = o2_json_refuse_kind("json/not-an-integer", field, error);
		else if (page < 0 || page >= (json_int_t)npages)
			rc = o2_json_refuse_range(page, field, 0, npages == 0 ? O2_NO_LIMIT : npages - 1,
						  error);
		if (rc != 0)
			return o2_json_at(rc, field, (uint32_t)i, error);
		input->unmapped[page / 8] |= (uint8_t)(1u << (page % 8));
	}
	return 0;
}

static int read_device_pages(const json_t *array, struct o2_dma_input *input, struct o2_error *error)
{
	uint32_t npages = input->device.npages;

	if (json_array_size(array) != npages)
		return o2_refuse_value(error, -EINVAL, "json/array-length", "device.iommu.device_pages",
				       json_array_size(array), npages);
	input->device_page = calloc((size_t)npages + 1, sizeof(*input->device_page));
	if (input->device_page == NULL)
		return o2_fail(error, -ENOMEM, "json/no-memory", "device.iommu.device_pages", npages);
	input->device.iommu.device_page = input->device_page;
	return o2_elements_from_json(array, page_fields, input->device_page, sizeof(*input->device_page),
				     error);
}

static int read_iommu(const json_t *device, struct o2_dma_input *input, struct o2_error *error)
{
	const json_t *object;
	const json_t *pages;
	int rc = o2_json_at(o2_json_get_object(device, "iommu", &object, error), "device.iommu", O2_NO_INDEX,
			    error);

	if (rc == 0)
		rc = o2_fields_from_json(object, iommu_fields, &input->device.iommu, error);
	if (rc == 0)
		rc = o2_json_at(
			o2_json_get_array(object, "device_pages", O2_DMA_JSON_MAX_PAGES, &pages, error),
			"device.iommu.device_pages", O2_NO_INDEX, error);
	return rc != 0 ? rc : read_device_pages(pages, input, error);
}

static int read_device(const json_t *form, struct o2_dma_input *input, struct o2_error *error)
{
	const json_t *object = json_object_get(form, "device");
	const json_t *unmapped;
	int rc = o2_part_from_json(form, "device", device_fields, &input->device, error);

	if (rc == 0)
		rc = o2_json_at(
			o2_json_get_array(object, "unmapped", O2_DMA_JSON_MAX_PAGES, &unmapped, error),
			"device.unmapped", O2_NO_INDEX, error);
	if (rc == 0)
		rc = read_unmapped(unmapped, input, error);
	return rc == 0 && input->device.kind == O2_DMA_IOMMU ? read_iommu(object, input, error) : rc;
}

int o2_dma_device_from_json(const json_t *form, struct o2_dma_input *input, struct o2_error *error)
{
	int rc;

	memset(input, 0, sizeof(*input));
	rc = read_device(form, input, error);
	if (rc != 0)
		o2_dma_input_free(input);
	return rc;
}

int o2_dma_input_from_json(const json_t *object, struct o2_dma_input *input, struct o2_error *error)
{
	int rc = o2_json_expect_form(object, O2_DMA_INPUT_FORM, error);

	if (rc == 0)
		rc = o2_dma_device_from_json(object, input, error);
	if (rc != 0)
		return rc;
	rc = o2_part_from_json(object, "list", o2_sg_list_fields, &input->sg, error);
	if (rc != 0)
		o2_dma_input_free(input);
	return rc;
}

void o2_dma_input_free(struct o2_dma_input *input)
{
	free(input->device_page);
	free(input->unmapped);
}

int o2_dma_output_from_json(const json_t *object, struct o2_dma_list *list, struct o2_refused *refused,
			    struct o2_error *error)
{
	return o2_output_from_json(object, O2_DMA_OUTPUT_FORM, "list", o2_dma_list_fields, list, refused,
				   error);
}
