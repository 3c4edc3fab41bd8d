/* SPDX-License-Identifier: MIT */
#include "base/fields_json.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/hex.h"
#include "base/json.h"

/* Whether the table describes elements that are numbers: it has one row, whose name ends in "[]". */
static bool is_number(const struct o2_field *part)
{
	return strcmp(part->name + strlen(part->name) - 2, "[]") == 0;
}

/* --- writing --- */

static json_t *text_to_json(const struct o2_field *field, uint64_t value)
{
	char text[O2_FIELD_TEXT_BYTES];

	field->text->print(value, text, sizeof(text));
	return json_string(text);
}

/* Size of the largest array of characters in any table. */
#define CHARS_BYTES 64u

static json_t *chars_to_json(const struct o2_field *field, const void *holder)
{
	char text[O2_FIELD_CHARS_TEXT_BYTES(CHARS_BYTES)];

	assert(field->width_bytes <= CHARS_BYTES);
	o2_field_chars_text((const char *)holder + field->offset_bytes, field->width_bytes, text);
	return json_string(text);
}

static json_t *list_to_json(const struct o2_field *field, const void *holder)
{
	const uint8_t *bytes = holder;
	uint32_t count;

	memcpy(&count, bytes + field->count_bytes, sizeof(count));
	if (count > o2_field_room(field))
		return NULL;
	return o2_elements_to_json(field->part, bytes + field->offset_bytes, count, field->stride_bytes);
}

static const char *name_of(const struct o2_field *field, uint64_t value)
{
	return value < field->limit ? field->names[value] : NULL;
}

static json_t *number_to_json(const struct o2_field *field, uint64_t value)
{
	switch (field->kind) {
	case O2_FIELD_LENGTH:
		return o2_json_length(value);
	case O2_FIELD_HEX:
		return o2_json_hex(value);
	case O2_FIELD_BOOL:
		return json_boolean(value != 0);
	case O2_FIELD_BIT:
		return json_boolean((value & field->limit) != 0);
	case O2_FIELD_NAME:
		return json_string(name_of(field, value)); /* json_string gives NULL for NULL */
	case O2_FIELD_TEXT:
		return text_to_json(field, value);
	default:
		return json_integer((json_int_t)value);
	}
}

static json_t *field_to_json(const struct o2_field *field, const void *holder)
{
	if (field->kind == O2_FIELD_PART)
		return o2_fields_to_json(field->part, (const uint8_t *)holder + field->offset_bytes);
	if (field->kind == O2_FIELD_LIST)
		return list_to_json(field, holder);
	if (field->kind == O2_FIELD_CHARS)
		return chars_to_json(field, holder);
	return number_to_json(field, o2_field_value(field, holder));
}

/* Not written: a sparse field of 0, and a written_only NAME whose value has no name. */
static bool is_written(const struct o2_field *field, const void *holder)
{
	if (field->sparse)
		return o2_field_value(field, holder) != 0;
	return !field->written_only || field->kind != O2_FIELD_NAME ||
	       name_of(field, o2_field_value(field, holder)) != NULL;
}

json_t *o2_fields_into_json(json_t *object, const struct o2_field *fields, const void *holder)
{
	for (const struct o2_field *field = fields; object != NULL && field->name != NULL; field++) {
		if (field->kind == O2_FIELD_MORE)
			object = o2_fields_into_json(object, field->more(holder), holder);
		else if (is_written(field, holder))
			object = o2_json_with(object, o2_field_key(field), field_to_json(field, holder));
	}
	return object;
}

json_t *o2_fields_to_json(const struct o2_field *fields, const void *holder)
{
	return o2_fields_into_json(json_object(), fields, holder);
}

json_t *o2_elements_to_json(const struct o2_field *part, const void *first, uint32_t count,
			    uint32_t stride_bytes)
{
	const bool numbers = is_number(part);
	const uint8_t *element = first;
	json_t *array = json_array();

	for (uint32_t i = 0; array != NULL && i < count; i++, element += stride_bytes)
		array = o2_json_append(array, numbers ? field_to_json(part, element)
						      : o2_fields_to_json(part, element));
	return array;
}

/* --- reading --- */

static int refuse(const struct o2_field *field, const char *rule, uint64_t value, uint64_t limit,
		  struct o2_error *error)
{
	return o2_refuse_value(error, -EINVAL, rule, field->name, value, limit);
}

static uint64_t largest(const struct o2_field *field)
{
	if (field->kind == O2_FIELD_UINT && field->limit != 0)
		return field->limit;
	return field->width_bytes < sizeof(uint64_t) ? (UINT64_C(1) << 8 * field->width_bytes) - 1
						     : UINT64_MAX;
}

static int int_from_json(const json_t *member, const struct o2_field *field, uint64_t *value,
			 struct o2_error *error)
{
	const json_int_t number = json_integer_value(member);

	if (!json_is_integer(member))
		return o2_json_refuse_kind("json/not-an-integer", field->name, error);
	if (number < INT32_MIN || number > INT32_MAX)
		return o2_json_refuse_range(number, field->name, INT32_MIN, INT32_MAX, error);
	*value = (uint64_t)number;
	return 0;
}

static int hex_from_json(const json_t *member, const struct o2_field *field, uint64_t *value,
			 struct o2_error *error)
{
	const int rc = o2_json_parse_hex(member, field->name, value, error);

	if (rc == 0 && *value > largest(field))
		return refuse(field, "json/integer-out-of-range", *value, largest(field), error);
	return rc;
}

static int bool_from_json(const json_t *member, const struct o2_field *field, uint64_t *value,
			  struct o2_error *error)
{
	bool set = false;
	const int rc = o2_json_parse_bool(member, field->name, &set, error);

	if (field->kind == O2_FIELD_BOOL)
		*value = set;
	else
		*value = set ? *value | field->limit : *value & ~field->limit;
	return rc;
}

static int name_from_json(const json_t *member, const struct o2_field *field, uint64_t *value,
			  struct o2_error *error)
{
	uint32_t index = 0;
	const int rc =
		o2_json_parse_name(member, field->name, field->names, (uint32_t)field->limit, &index, error);

	*value = index;
	return rc;
}

static int text_from_json(const json_t *member, const struct o2_field *field, uint64_t *value,
			  struct o2_error *error)
{
	int rc;

	if (!json_is_string(member))
		return o2_json_refuse_kind("json/not-a-string", field->name, error);
	rc = field->text->parse(json_string_value(member), value, error);
	if (rc == 0)
		return 0;
	/* The value in *error, if any, belongs to a part of the text. */
	return o2_value_is(o2_json_at(rc, field->name, O2_NO_INDEX, error), O2_VALUE_NONE, error);
}

/* *value: the old value on entry, of which O2_FIELD_BIT changes one bit. */
static int number_from_json(const json_t *member, const struct o2_field *field, uint64_t *value,
			    struct o2_error *error)
{
	switch (field->kind) {
	case O2_FIELD_INT:
		return int_from_json(member, field, value, error);
	case O2_FIELD_LENGTH:
		return o2_json_parse_length(member, field->name, value, error);
	case O2_FIELD_HEX:
		return hex_from_json(member, field, value, error);
	case O2_FIELD_BOOL:
	case O2_FIELD_BIT:
		return bool_from_json(member, field, value, error);
	case O2_FIELD_NAME:
		return name_from_json(member, field, value, error);
	case O2_FIELD_TEXT:
		return text_from_json(member, field, value, error);
	default:
		return o2_json_parse_uint(member, field->name, largest(field), value, error);
	}
}

/* Read one character or \xHH from *text and move *text past it; -1: a backslash followed by something else. */
static int next_char(const char **text)
{
	const char *at = *text;
	int high, low;

	*text = at + 1;
	if (*at != '\\')
		return (uint8_t)*at;
	if (at[1] != 'x')
		return -1;
	high = o2_hex_digit(at[2]);
	low = high < 0 ? -1 : o2_hex_digit(at[3]);
	*text = at + 4;
	return low < 0 ? -1 : high << 4 | low;
}

static int chars_from_json(const json_t *member, const struct o2_field *field, void *holder,
			   struct o2_error *error)
{
	char *chars = (char *)holder + field->offset_bytes;
	const char *text = json_string_value(member);

	if (text == NULL)
		return o2_json_refuse_kind("json/not-a-string", field->name, error);
	memset(chars, 0, field->width_bytes);
	for (uint32_t i = 0; *text != '\0'; i++) {
		const int next = next_char(&text);

		if (next <= 0)
			return o2_json_refuse_kind("json/characters", field->name, error);
		if (i + 1 >= field->width_bytes)
			return refuse(field, "json/text-too-long", i + 1, field->width_bytes - 1, error);
		chars[i] = (char)next;
	}
	return 0;
}

static int list_from_json(const json_t *member, const struct o2_field *field, void *holder,
			  struct o2_error *error)
{
	const uint32_t count = (uint32_t)json_array_size(member);
	uint8_t *bytes = holder;
	int rc;

	if (!json_is_array(member))
		return o2_json_refuse_kind("json/not-an-array", field->name, error);
	if (json_array_size(member) > o2_field_room(field))
		return refuse(field, "json/array-too-long", json_array_size(member), o2_field_room(field),
			      error);
	memcpy(bytes + field->count_bytes, &count, sizeof(count));
	rc = o2_elements_from_json(member, field->part, bytes + field->offset_bytes, field->stride_bytes,
				   error);
	if (rc != 0)
		o2_field_inside(field->inside, error);
	return rc;
}

static int part_from_json(const json_t *member, const struct o2_field *field, void *holder,
			  struct o2_error *error)
{
	int rc;

	if (!json_is_object(member))
		return o2_json_refuse_kind("json/not-an-object", field->name, error);
	rc = o2_fields_from_json(member, field->part, (uint8_t *)holder + field->offset_bytes, error);
	if (rc != 0)
		o2_field_inside(field->inside, error);
	return rc;
}

static int field_from_json(const json_t *member, const struct o2_field *field, void *holder,
			   struct o2_error *error)
{
	uint64_t value;
	int rc;

	if (field->kind == O2_FIELD_PART)
		return part_from_json(member, field, holder, error);
	if (field->kind == O2_FIELD_LIST)
		return list_from_json(member, field, holder, error);
	if (field->kind == O2_FIELD_CHARS)
		return chars_from_json(member, field, holder, error);
	value = o2_field_value(field, holder);
	rc = number_from_json(member, field, &value, error);
	if (rc == 0)
		o2_field_set(field, holder, value);
	return rc;
}

int o2_fields_from_json(const json_t *object, const struct o2_field *fields, void *holder,
			struct o2_error *error)
{
	int rc = 0;

	for (const struct o2_field *field = fields; rc == 0 && field->name != NULL; field++) {
		const json_t *member = json_object_get(object, o2_field_key(field));

		if (field->kind == O2_FIELD_MORE)
			rc = o2_fields_from_json(object, field->more(holder), holder, error);
		else if (field->written_only)
			continue;
		else if (member == NULL && field->sparse)
			o2_field_set(field, holder, 0);
		else if (member != NULL || !field->optional)
			rc = field_from_json(member, field, holder, error);
	}
	return rc;
}

size_t o2_fields_known(const json_t *object, const struct o2_field *fields, const void *holder)
{
	size_t known = 0;

	for (const struct o2_field *field = fields; field->name != NULL; field++) {
		if (field->kind == O2_FIELD_MORE)
			known += o2_fields_known(object, field->more(holder), holder);
		else
			known += json_object_get(object, o2_field_key(field)) != NULL;
	}
	return known;
}

int o2_elements_from_json(const json_t *array, const struct o2_field *part, void *first,
			  uint32_t stride_bytes, struct o2_error *error)
{
	const bool numbers = is_number(part);
	uint8_t *element = first;

	for (uint32_t i = 0; i < json_array_size(array); i++, element += stride_bytes) {
		const json_t *item = json_array_get(array, i);
		const int rc = numbers ? field_from_json(item, part, element, error)
				       : o2_fields_from_json(item, part, element, error);

		if (rc != 0)
			return o2_json_at(rc, error == NULL ? NULL : error->field, i, error);
	}
	return 0;
}

int o2_part_from_json(const json_t *object, const char *key, const struct o2_field *fields, void *holder,
		      struct o2_error *error)
{
	const json_t *child;
	const int rc = o2_json_get_object(object, key, &child, error);

	return rc != 0 ? rc : o2_fields_from_json(child, fields, holder, error);
}
