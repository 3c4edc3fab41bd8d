/* SPDX-License-Identifier: MIT */
#include "mem/sg_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

static const char *const kind_names[] = {[O2_IOV] = "iov", [O2_KIOV] = "kiov"};

#define KINDS 2u

/* --- writers ----------------------------------------------------------------------------------------- */

/* Append, and say whether there was memory for both the element and its place. */
static bool append(json_t *array, json_t *element)
{
	return json_array_append_new(array, element) == 0;
}

static json_t *give_up(json_t *array)
{
	json_decref(array);
	return NULL;
}

static json_t *pieces_to_json(const struct o2_buffer *buffer)
{
	json_t *array = json_array();

	for (uint32_t i = 0; array != NULL && i < buffer->count; i++) {
		json_t *piece;

		if (buffer->kind == O2_IOV)
			piece = json_pack("{s:o, s:o}", "base", o2_json_hex(buffer->iov[i].base), "len",
					  o2_json_length(buffer->iov[i].len));
		else
			piece = json_pack("{s:o, s:o, s:o}", "page", json_integer(buffer->kiov[i].page),
					  "offset", json_integer(buffer->kiov[i].offset), "len",
					  json_integer(buffer->kiov[i].len));
		if (!append(array, piece))
			return give_up(array);
	}
	return array;
}

static json_t *pages_to_json(const struct o2_vrange *range)
{
	json_t *array = json_array();

	for (uint32_t i = 0; array != NULL && i < range->npages; i++) {
		if (!append(array, json_integer(range->page[i])))
			return give_up(array);
	}
	return array;
}

static json_t *ranges_to_json(const struct o2_address_space *space)
{
	json_t *array = json_array();

	for (uint32_t i = 0; array != NULL && i < space->nranges; i++) {
		if (!append(array, json_pack("{s:o, s:o}", "base", o2_json_hex(space->range[i].base), "pages",
					     pages_to_json(&space->range[i]))))
			return give_up(array);
	}
	return array;
}

json_t *o2_sg_input_to_json(const struct o2_buffer *buffer, const struct o2_address_space *space,
			    uint32_t max_entries)
{
	json_t *space_json;
	json_t *buffer_json;

	if (buffer->kind != O2_IOV && buffer->kind != O2_KIOV)
		return NULL;
	space_json = json_pack("{s:o, s:o, s:o}", "page_bytes", json_integer(space->page_bytes), "npages",
			       json_integer(space->npages), "ranges", ranges_to_json(space));
	buffer_json = json_pack("{s:s, s:o, s:o, s:o}", "kind", kind_names[buffer->kind], "offset",
				o2_json_length(buffer->offset), "nob", o2_json_length(buffer->nob), "pieces",
				pieces_to_json(buffer));
	return json_pack("{s:s, s:i, s:o, s:o, s:o}", "form", O2_SG_INPUT_FORM, "version",
			 (int)O2_JSON_VERSION, "max_entries", json_integer(max_entries), "space", space_json,
			 "buffer", buffer_json);
}

json_t *o2_sg_list_to_json(const struct o2_sg_list *list)
{
	json_t *array = list->count <= O2_MAX_FRAGS ? json_array() : NULL;

	for (uint32_t i = 0; array != NULL && i < list->count; i++) {
		const struct o2_sg_entry *entry = &list->entry[i];

		if (!append(array,
			    json_pack("{s:o, s:o, s:o}", "page", json_integer(entry->page), "offset",
				      json_integer(entry->offset), "length", json_integer(entry->length))))
			return give_up(array);
	}
	return json_pack("{s:b, s:o, s:o}", "gaps", list->gaps, "nob", o2_json_length(list->nob), "entries",
			 array);
}

json_t *o2_sg_output_to_json(const struct o2_sg_list *list, const struct o2_error *refused)
{
	json_t *form = o2_output_form(O2_SG_OUTPUT_FORM, refused);

	if (form == NULL || (refused != NULL && refused->code != 0))
		return form;
	return json_object_set_new(form, "list", o2_sg_list_to_json(list)) == 0 ? form : give_up(form);
}

/* --- readers ----------------------------------------------------------------------------------------- */

static int out_of_memory(struct o2_error *error, const char *field, uint64_t count)
{
	return o2_refuse(error, -ENOMEM, "json/no-memory", field, O2_NO_INDEX, count, O2_NO_LIMIT);
}

static int read_iov(const json_t *item, uint32_t i, struct o2_iov *iov, struct o2_error *error)
{
	const struct o2_json_member members[] = {
		{"base", "buffer.pieces[].base", O2_JSON_HEX64, &iov->base},
		{"len", "buffer.pieces[].len", O2_JSON_LENGTH, &iov->len},
	};

	return o2_json_get_members(item, members, 2, i, error);
}

static int read_kiov(const json_t *item, uint32_t i, struct o2_kiov *kiov, struct o2_error *error)
{
	const struct o2_json_member members[] = {
		{"page", "buffer.pieces[].page", O2_JSON_U32, &kiov->page},
		{"offset", "buffer.pieces[].offset", O2_JSON_U32, &kiov->offset},
		{"len", "buffer.pieces[].len", O2_JSON_U32, &kiov->len},
	};

	return o2_json_get_members(item, members, 3, i, error);
}

static int read_pieces(const json_t *array, struct o2_sg_input *input, struct o2_error *error)
{
	struct o2_buffer *buffer = &input->buffer;
	uint32_t count = (uint32_t)json_array_size(array);
	int rc = 0;

	buffer->count = count;
	if (buffer->kind == O2_IOV)
		buffer->iov = input->iov = calloc((size_t)count + 1, sizeof(*input->iov));
	else
		buffer->kiov = input->kiov = calloc((size_t)count + 1, sizeof(*input->kiov));
	if (input->iov == NULL && input->kiov == NULL)
		return out_of_memory(error, "buffer.pieces", count);
	for (uint32_t i = 0; rc == 0 && i < count; i++) {
		const json_t *item = json_array_get(array, i);

		rc = buffer->kind == O2_IOV ? read_iov(item, i, &input->iov[i], error)
					    : read_kiov(item, i, &input->kiov[i], error);
	}
	return rc;
}

static int read_buffer(const json_t *form, struct o2_sg_input *input, struct o2_error *error)
{
	const struct o2_json_member members[] = {
		{"offset", "buffer.offset", O2_JSON_LENGTH, &input->buffer.offset},
		{"nob", "buffer.nob", O2_JSON_LENGTH, &input->buffer.nob},
	};
	const json_t *object;
	const json_t *pieces;
	uint32_t kind;
	int rc = o2_json_get_object(form, "buffer", &object, error);

	if (rc != 0)
		return rc;
	rc = o2_json_at(o2_json_get_name(object, "kind", kind_names, KINDS, &kind, error), "buffer.kind",
			O2_NO_INDEX, error);
	if (rc == 0)
		rc = o2_json_get_members(object, members, 2, O2_NO_INDEX, error);
	if (rc == 0)
		rc = o2_json_at(o2_json_get_array(object, "pieces", O2_SG_JSON_MAX_PIECES, &pieces, error),
				"buffer.pieces", O2_NO_INDEX, error);
	if (rc != 0)
		return rc;
	input->buffer.kind = (enum o2_vector_kind)kind;
	return read_pieces(pieces, input, error);
}

/* Append the pages of one range to the array that all ranges share. */
static int read_range(const json_t *item, uint32_t i, struct o2_sg_input *input, uint32_t *used,
		      struct o2_error *error)
{
	struct o2_vrange *range = &input->range[i];
	const struct o2_json_member base = {"base", "space.ranges[].base", O2_JSON_HEX64, &range->base};
	uint32_t page_bytes = input->space.page_bytes;
	const json_t *pages;
	int rc = o2_json_get_members(item, &base, 1, i, error);

	if (rc == 0 && page_bytes != 0 && range->base % page_bytes != 0)
		return o2_refuse(error, -EINVAL, "json/range-alignment", "space.ranges[].base", i,
				 range->base, page_bytes);
	if (rc == 0)
		rc = o2_json_at(o2_json_get_array(item, "pages", O2_SG_JSON_MAX_PAGES - *used, &pages, error),
				"space.ranges[].pages", i, error);
	if (rc != 0)
		return rc;
	range->page = &input->page[*used];
	range->npages = (uint32_t)json_array_size(pages);
	for (uint32_t k = 0; k < range->npages; k++) {
		const json_t *page = json_array_get(pages, k);

		if (!json_is_integer(page) || json_integer_value(page) < 0 ||
		    json_integer_value(page) > UINT32_MAX)
			return o2_refuse(error, -EINVAL, "json/integer-out-of-range", "space.ranges[].pages",
					 i, (uint64_t)json_integer_value(page), UINT32_MAX);
		input->page[(*used)++] = (uint32_t)json_integer_value(page);
	}
	return 0;
}

/* How many pages all ranges have: what does not hold an array counts for nothing and is refused later. */
static size_t count_pages(const json_t *ranges)
{
	size_t count = 0;

	for (size_t i = 0; i < json_array_size(ranges); i++)
		count += json_array_size(json_object_get(json_array_get(ranges, i), "pages"));
	return count < O2_SG_JSON_MAX_PAGES ? count : O2_SG_JSON_MAX_PAGES;
}

static int read_space(const json_t *form, struct o2_sg_input *input, struct o2_error *error)
{
	const struct o2_json_member members[] = {
		{"page_bytes", "space.page_bytes", O2_JSON_U32, &input->space.page_bytes},
		{"npages", "space.npages", O2_JSON_U32, &input->space.npages},
	};
	const json_t *object;
	const json_t *ranges;
	uint32_t used = 0;
	int rc = o2_json_get_object(form, "space", &object, error);

	if (rc == 0)
		rc = o2_json_get_members(object, members, 2, O2_NO_INDEX, error);
	if (rc == 0)
		rc = o2_json_at(o2_json_get_array(object, "ranges", O2_SG_JSON_MAX_RANGES, &ranges, error),
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

int o2_sg_input_from_json(const json_t *object, struct o2_sg_input *input, struct o2_error *error)
{
	int rc = o2_json_expect_form(object, O2_SG_INPUT_FORM, error);

	memset(input, 0, sizeof(*input));
	if (rc == 0)
		rc = o2_json_get_u32(object, "max_entries", UINT32_MAX, &input->max_entries, error);
	if (rc == 0)
		rc = read_space(object, input, error);
	if (rc == 0)
		rc = read_buffer(object, input, error);
	if (rc != 0)
		o2_sg_input_free(input);
	return rc;
}

void o2_sg_input_free(struct o2_sg_input *input)
{
	free(input->iov);
	free(input->kiov);
	free(input->range);
	free(input->page);
	memset(input, 0, sizeof(*input));
}

static int read_entry(const json_t *item, uint32_t i, struct o2_sg_entry *entry, struct o2_error *error)
{
	const struct o2_json_member members[] = {
		{"page", "list.entries[].page", O2_JSON_U32, &entry->page},
		{"offset", "list.entries[].offset", O2_JSON_U32, &entry->offset},
		{"length", "list.entries[].length", O2_JSON_U32, &entry->length},
	};

	return o2_json_get_members(item, members, 3, i, error);
}

int o2_sg_list_from_json(const json_t *form, struct o2_sg_list *list, struct o2_error *error)
{
	const struct o2_json_member members[] = {
		{"gaps", "list.gaps", O2_JSON_BOOL, &list->gaps},
		{"nob", "list.nob", O2_JSON_LENGTH, &list->nob},
	};
	const json_t *object;
	const json_t *entries;
	int rc = o2_json_get_object(form, "list", &object, error);

	if (rc == 0)
		rc = o2_json_get_members(object, members, 2, O2_NO_INDEX, error);
	if (rc == 0)
		rc = o2_json_at(o2_json_get_array(object, "entries", O2_MAX_FRAGS, &entries, error),
				"list.entries", O2_NO_INDEX, error);
	if (rc != 0)
		return rc;
	list->count = (uint32_t)json_array_size(entries);
	for (uint32_t i = 0; rc == 0 && i < list->count; i++)
		rc = read_entry(json_array_get(entries, i), i, &list->entry[i], error);
	return rc;
}

int o2_sg_output_from_json(const json_t *object, struct o2_sg_list *list, struct o2_refused *refused,
			   struct o2_error *error)
{
	int rc = o2_output_expect(object, O2_SG_OUTPUT_FORM, refused, error);

	return rc != 0 || refused->code != 0 ? rc : o2_sg_list_from_json(object, list, error);
}
