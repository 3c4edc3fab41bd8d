/* SPDX-License-Identifier: MIT */
#include "base/fields.h"

#include <assert.h>
#include <string.h>

#include "base/hex.h"

const char *o2_field_key(const struct o2_field *field)
{
	const char *dot = strrchr(field->name, '.');

	return dot == NULL ? field->name : dot + 1;
}

uint64_t o2_field_value(const struct o2_field *field, const void *holder)
{
	const uint8_t *at = (const uint8_t *)holder + field->offset_bytes;
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	switch (field->width_bytes) {
	case sizeof(uint8_t):
		return *at;
	case sizeof(two):
		memcpy(&two, at, sizeof(two));
		return two;
	case sizeof(four):
		memcpy(&four, at, sizeof(four));
		return field->kind == O2_FIELD_INT ? (uint64_t)(int32_t)four : four;
	default:
		assert(field->width_bytes == sizeof(eight));
		memcpy(&eight, at, sizeof(eight));
		return eight;
	}
}

void o2_field_set(const struct o2_field *field, void *holder, uint64_t value)
{
	uint8_t *at = (uint8_t *)holder + field->offset_bytes;
	const uint16_t two = (uint16_t)value;
	const uint32_t four = (uint32_t)value;

	switch (field->width_bytes) {
	case sizeof(uint8_t):
		*at = (uint8_t)value;
		break;
	case sizeof(two):
		memcpy(at, &two, sizeof(two));
		break;
	case sizeof(four):
		memcpy(at, &four, sizeof(four));
		break;
	default:
		assert(field->width_bytes == sizeof(value));
		memcpy(at, &value, sizeof(value));
		break;
	}
}

uint32_t o2_field_room(const struct o2_field *list)
{
	return list->width_bytes / list->stride_bytes;
}

/* Find the row with this name, or NULL.  likely: tried first; right if both tables have the same order. */
static const struct o2_field *find(const struct o2_field *fields, const struct o2_field *likely,
				   const char *name)
{
	if (likely->name != NULL && strcmp(likely->name, name) == 0)
		return likely;
	while (fields->name != NULL && strcmp(fields->name, name) != 0)
		fields++;
	return fields->name == NULL ? NULL : fields;
}

void o2_fields_flatten(const struct o2_field *fields, const void *from, const struct o2_field *flat, void *to)
{
	const struct o2_field *likely = flat;

	for (const struct o2_field *field = fields; field->name != NULL; field++) {
		if (field->kind == O2_FIELD_MORE) {
			o2_fields_flatten(field->more(from), from, flat, to);
		} else if (field->kind == O2_FIELD_PART) {
			o2_fields_flatten(field->part, (const uint8_t *)from + field->offset_bytes, flat, to);
		} else if (field->kind != O2_FIELD_CHARS) {
			const struct o2_field *other = find(flat, likely, field->name);

			if (other == NULL)
				continue;
			o2_field_set(other, to, o2_field_value(field, from));
			likely = other + 1;
		}
	}
}

void o2_fields_unflatten(const struct o2_field *flat, const void *from, const struct o2_field *fields,
			 void *to)
{
	const struct o2_field *likely = flat;

	for (const struct o2_field *field = fields; field->name != NULL; field++) {
		if (field->kind == O2_FIELD_MORE) {
			o2_fields_unflatten(flat, from, field->more(to), to);
		} else if (field->kind == O2_FIELD_PART) {
			o2_fields_unflatten(flat, from, field->part, (uint8_t *)to + field->offset_bytes);
		} else if (field->kind != O2_FIELD_CHARS) {
			const struct o2_field *other = find(flat, likely, field->name);

			if (other == NULL)
				continue;
			o2_field_set(field, to, o2_field_value(other, from));
			likely = other + 1;
		}
	}
}

void o2_fields_compare(const struct o2_field *fields, const void *a, const void *b,
		       void (*differ)(const struct o2_field *field, uint64_t value_a, uint64_t value_b,
				      void *context),
		       void *context)
{
	for (const struct o2_field *field = fields; field->name != NULL; field++) {
		const uint32_t at = field->offset_bytes;

		if (field->kind == O2_FIELD_MORE)
			o2_fields_compare(field->more(a), a, b, differ, context);
		else if (field->kind == O2_FIELD_PART)
			o2_fields_compare(field->part, (const uint8_t *)a + at, (const uint8_t *)b + at,
					  differ, context);
		else if (field->kind == O2_FIELD_CHARS) {
			if (memcmp((const uint8_t *)a + at, (const uint8_t *)b + at, field->width_bytes) != 0)
				differ(field, 0, 1, context);
		} else if (field->kind != O2_FIELD_LIST &&
			   o2_field_value(field, a) != o2_field_value(field, b))
			differ(field, o2_field_value(field, a), o2_field_value(field, b), context);
	}
}

void o2_field_chars_text(const char *chars, uint32_t width_bytes, char *text)
{
	for (uint32_t i = 0; i < width_bytes && chars[i] != '\0'; i++) {
		const uint8_t byte = (uint8_t)chars[i];

		if (byte >= ' ' && byte <= '~' && byte != '\\') {
			*text++ = (char)byte;
			continue;
		}
		*text++ = '\\';
		*text++ = 'x';
		o2_hex_put(&byte, 1, text);
		text += 2;
	}
	*text = '\0';
}

/* Whether the name is the inner name, or ends in a dot and the inner name. */
static bool ends_as(const char *name, const char *inner)
{
	const size_t length = strlen(name), inner_length = strlen(inner);

	if (length < inner_length || strcmp(name + length - inner_length, inner) != 0)
		return false;
	return length == inner_length || name[length - inner_length - 1] == '.';
}

void o2_field_inside(const char *const *inside, struct o2_error *error)
{
	if (error == NULL || inside == NULL)
		return;
	while (inside[1] != NULL && !ends_as(inside[0], error->field))
		inside++;
	error->field = inside[0];
}
