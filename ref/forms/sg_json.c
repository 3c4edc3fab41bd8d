/* SPDX-License-Identifier: MIT */
#include "forms/sg_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fields_json.h"
#include "base/json.h"
#include "forms/mem_fields.h"

static const struct o2_field iov_fields[] = {
	{O2_FIELD("buffer.pieces[].base", HEX, struct o2_iov, base)},
	{O2_FIELD("buffer.pieces[].len", LENGTH, struct o2_iov, len)},
	{0},
};

static const struct o2_field kiov_fields[] = {
	{O2_FIELD("buffer.pieces[].page", UINT, struct o2_kiov, page)},
	{O2_FIELD("buffer.pieces[].offset", UINT, struct o2_kiov, offset)},
	{O2_FIELD("buffer.pieces[].len", UINT, struct o2_kiov, len)},
	{0},
};

/* The buffer's fields, except "pieces", whose table is one of those above. */
static const struct o2_field buffer_fields[] = {
	{O2_FIELD("buffer.kind", NAME, struct o2_buffer, kind), .names = o2_vector_kind_names,
	 .limit = O2_KIOV + 1},
	{O2_FIELD("buffer.offset", LENGTH, struct o2_buffer, offset)},
	{O2_FIELD("buffer.nob", LENGTH, struct o2_buffer, nob)},
	{0},
};

/* A range's fields, except "pages". */
static const struct o2_field range_fields[] = {
	{O2_FIELD("space.ranges[].base", HEX, struct o2_vrange, base)},
	{0},
};

/* The space's fields, except "ranges". */
static const struct o2_field space_fields[] = {
	{O2_FIELD("space.page_bytes", UINT, struct o2_address_space, page_bytes)},
	{O2_FIELD("space.npages", UINT, struct o2_address_space, npages)},
	{0},
};

static const struct o2_field page_fields[] = {
	{.name = "space.ranges[].pages[]", .kind = O2_FIELD_UINT, .width_bytes = sizeof(uint32_t)},
	{0},
};

/* --- writers --- */

static json_t *pieces_to_json(const struct o2_buffer *buffer)
{
	if (buffer->kind == O2_IOV)
		return o2_elements_to_json(iov_fields, buffer->iov, buffer->count, sizeof(*buffer->iov));
	return o2_elements_to_json(kiov_fields, buffer->kiov, buffer->count, sizeof(*buffer->kiov));
}

static json_t *ranges_to_json(const struct o2_address_space *space)
{
	json_t *array = json_array();

	for (uint32_t i = 0; array != NULL && i < space->nranges; i++) {
		const struct o2_vrange *range = &space->range[i];
		json_t *pages =
			o2_elements_to_json(page_fields, range->page, range->npages, sizeof(uint32_t));

		array = o2_json_append(array,
				       o2_json_with(o2_fields_to_json(range_fields, range), "pages", pages));
	}
	return array;
}

json_t *o2_sg_memory_into_json(json_t *form, const struct o2_buffer *buffer,
			       const struct o2_address_space *space)
{
	json_t *part = o2_json_with(o2_fields_to_json(space_fields, space), "ranges", ranges_to_json(space));

	form = o2_json_with(form, "space", part);
	part = o2_fields_to_json(buffer_fields, buffer);
	if (part != NULL) /* NULL: the buffer's kind is not valid */
		part = o2_json_with(part, "pieces", pieces_to_json(buffer));
	return o2_json_with(form, "buffer", part);
}

json_t *o2_sg_input_to_json(const struct o2_buffer *buffer, const struct o2_address_space *space,
			    uint32_t max_entries)
{
	json_t *form = o2_json_with(o2_json_form(O2_SG_INPUT_FORM), "max_entries", json_integer(max_entries));

	return o2_sg_memory_into_json(form, buffer, space);
}

json_t *o2_sg_output_to_json(const struct o2_sg_list *list, const struct o2_error *refused)
{
	return o2_output_to_json(O2_SG_OUTPUT_FORM, "list", o2_sg_list_fields, list, refused);
}

/* --- readers --- */

static int out_of_memory(struct o2_error *error, const char *field, uint64_t count)
{
	return o2_fail(error, -ENOMEM, "json/no-memory", field, count);
}

static int read_pieces(const json_t *array, struct o2_sg_input *input, struct o2_error *error)
{
	struct o2_buffer *buffer = &input->buffer;
	const uint32_t count = (uint32_t)json_array_size(array);

	buffer->count = count;
	if (buffer->kind == O2_IOV)
		buffer->iov = input->iov = calloc((size_t)count + 1, sizeof(*input->iov));
	else
		buffer->kiov = input->kiov = calloc((size_t)count + 1, sizeof(*input->kiov));
	if (input->iov == NULL && input->kiov == NULL)
		return out_of_memory(error, "buffer.pieces", count);
	if (buffer->kind == O2_IOV)
		return o2_elements_from_json(array, iov_fields, input->iov, sizeof(*input->iov), error);
	return o2_elements_from_json(array, kiov_fields, input->kiov, sizeof(*input->kiov), error);
}

static int read_buffer(const json_t *form, struct o2_sg_input *input, struct o2_error *error)
{
	const json_t *pieces;
	int rc = o2_part_from_json(form, "buffer", buffer_fields, &input->buffer, error);

	if (rc == 0)
		rc = o2_json_at(o2_json_get_array(json_object_get(form, "buffer"), "pieces",
						  O2_SG_JSON_MAX_PIECES, &pieces, error),
				"buffer.pieces", O2_NO_INDEX, error);
	return rc != 0 ? rc : read_pieces(pieces, input, error);
}

/* Append the pages of one range to the array that all ranges share. */
static int read_range(const json_t *item, uint32_t i, struct o2_sg_input *input, uint32_t *used,
		      struct o2_error *error)
{
	static const char field[] = "space.ranges[].pages";
	struct o2_vrange *range = &input->range[i];
	uint32_t page_bytes = input->space.page_bytes;
	uint32_t *page = &input->page[*used];
	const json_t *pages;
	int rc = o2_json_at(o2_fields_from_json(item, range_fields, range, error), "space.ranges[].base", i,
			    error);

	if (rc == 0 && page_bytes != 0 && range->base % page_bytes != 0)
		return o2_limit_is(o2_refuse(error, -EINVAL, "json/range-alignment", "space.ranges[].base", i,
					     range->base, page_bytes),
				   O2_LIMIT_MULTIPLE, error);
	if (rc == 0)
		rc = o2_json_at(o2_json_get_array(item, "pages", O2_SG_JSON_MAX_PAGES - *used, &pages, error),
				field, i, error);
	if (rc != 0)
		return rc;
	range->page = page;
	range->npages = (uint32_t)json_array_size(pages);
	*used += range->npages;
	return o2_json_at(o2_elements_from_json(pages, page_fields, page, sizeof(*page), error), field, i,
			  error);
}

/* How many pages all ranges have.  A range without an array of pages counts as 0 and is refused later. */
static size_t count_pages(const json_t *ranges)
{
	size_t count = 0;

	for (size_t i = 0; i < json_array_size(ranges); i++)
		count += json_array_size(json_object_get(json_array_get(ranges, i), "pages"));
	return count < O2_SG_JSON_MAX_PAGES ? count : O2_SG_JSON_MAX_PAGES;
}

static int read_space(const json_t *form, struct o2_sg_input *input, struct o2_error *error)
{
	const json_t *ranges;
	uint32_t used = 0;
	int rc = o2_part_from_json(form, "space", space_fields, &input->space, error);

	if (rc == 0)
		rc = o2_json_at(o2_json_get_array(json_object_get(form, "space"), "ranges",
						  O2_SG_JSON_MAX_RANGES, &ranges, error),
				"space.ranges", O2_NO_INDEX, error);
	if (rc != 0)
		return rc;
	input->space.nranges = (uint32_t)json_array_size(ranges);
	input->range = calloc((size_t)input->space.nranges + 1, sizeof(*input->range));
	input->page = calloc(count_pages(ranges) + 1, sizeof(*input->page));
	input->space.range = input->range;
	if (input->range == NULL || input->page == NULL)
		return out_of_memory(error, "space.ranges", input->space.nranges);
	for (uint32_t i = 0; rc == 0 && i < input->space.nranges; i++)
		rc = read_range(json_array_get(ranges, i), i, input, &used, error);
	return rc;
}

int o2_sg_memory_from_json(const json_t *form, struct o2_sg_input *input, struct o2_error *error)
{
	int rc;

	memset(input, 0, sizeof(*input));
	rc = read_space(form, input, error);
	if (rc == 0)
		rc = read_buffer(form, input, error);
	if (rc != 0)
		o2_sg_input_free(input);
	return rc;
}

int o2_sg_input_from_json(const json_t *object, struct o2_sg_input *input, struct o2_error *error)
{
	uint32_t max_entries = 0;
	int rc = o2_json_expect_form(object, O2_SG_INPUT_FORM, error);

	if (rc == 0)
		rc = o2_json_get_u32(object, "max_entries", UINT32_MAX, &max_entries, error);
	if (rc == 0)
		rc = o2_sg_memory_from_json(object, input, error);
	if (rc == 0)
		input->max_entries = max_entries;
	return rc;
}

void o2_sg_input_free(struct o2_sg_input *input)
{
	free(input->iov);
	free(input->kiov);
	free(input->range);
	free(input->page);
}

int o2_sg_output_from_json(const json_t *object, struct o2_sg_list *list, struct o2_refused *refused,
			   struct o2_error *error)
{
	return o2_output_from_json(object, O2_SG_OUTPUT_FORM, "list", o2_sg_list_fields, list, refused,
				   error);
}
