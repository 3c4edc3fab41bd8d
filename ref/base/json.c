/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "base/plain.h"

int o2_json_refuse_kind(const char *rule, const char *field, struct o2_error *error)
{
	return o2_value_is(o2_fail(error, -EINVAL, rule, field, 0), O2_VALUE_NONE, error);
}

int o2_json_refuse_range(json_int_t number, const char *field, json_int_t low, uint64_t high,
			 struct o2_error *error)
{
	const char *rule = "json/integer-out-of-range";
	const uint64_t limit = number < low ? (uint64_t)low : high;
	const int rc = o2_refuse_value(error, -EINVAL, rule, field, (uint64_t)number, limit);

	return number < low ? o2_value_is(rc, O2_VALUE_SIGNED, error) : rc;
}

json_t *o2_json_form(const char *form)
{
	return json_pack("{s:s, s:i}", "form", form, "version", (int)O2_JSON_VERSION);
}

int o2_json_expect_form(const json_t *object, const char *form, struct o2_error *error)
{
	const char *found = json_string_value(json_object_get(object, "form"));
	const json_t *version = json_object_get(object, "version");

	if (found == NULL || strcmp(found, form) != 0)
		return o2_json_refuse_kind("json/form", "form", error);
	if (!json_is_integer(version) || json_integer_value(version) != O2_JSON_VERSION) {
		const uint64_t number = (uint64_t)json_integer_value(version);
		const int rc =
			o2_refuse_other(error, -EINVAL, "json/version", "version", number, O2_JSON_VERSION);

		return o2_value_is(rc, json_is_integer(version) ? O2_VALUE_SIGNED : O2_VALUE_NONE, error);
	}
	return 0;
}

int o2_json_parse_uint(const json_t *integer, const char *field, uint64_t max, uint64_t *value,
		       struct o2_error *error)
{
	const json_int_t number = json_integer_value(integer);

	if (!json_is_integer(integer))
		return o2_json_refuse_kind("json/not-an-integer", field, error);
	if (number < 0 || (uint64_t)number > max)
		return o2_json_refuse_range(number, field, 0, max, error);
	*value = (uint64_t)number;
	return 0;
}

int o2_json_get_uint(const json_t *object, const char *field, uint64_t max, uint64_t *value,
		     struct o2_error *error)
{
	return o2_json_parse_uint(json_object_get(object, field), field, max, value, error);
}

int o2_json_get_u32(const json_t *object, const char *field, uint32_t max, uint32_t *value,
		    struct o2_error *error)
{
	uint64_t number;
	int rc = o2_json_get_uint(object, field, max, &number, error);

	if (rc == 0)
		*value = (uint32_t)number;
	return rc;
}

int o2_json_parse_hex(const json_t *string, const char *field, uint64_t *value, struct o2_error *error)
{
	const char *text = json_string_value(string);
	uint64_t number = 0;
	size_t digits = 0;
	int digit;

	if (text == NULL || strncmp(text, "0x", 2) != 0)
		return o2_json_refuse_kind("json/not-a-hex-string", field, error);
	/* By hand: strspn and strtoull take longer than jansson's reader does. */
	for (text += 2; (digit = o2_hex_digit(tolower((unsigned char)*text))) >= 0; text++, digits++)
		number = number << 4 | (uint64_t)digit;
	if (digits == 0 || digits > 16 || *text != '\0')
		return o2_value_is(o2_refuse_value(error, -EINVAL, "json/hex-digits", field, digits, 16),
				   O2_VALUE_NONE, error);
	*value = number;
	return 0;
}

int o2_json_parse_bool(const json_t *boolean, const char *field, bool *value, struct o2_error *error)
{
	if (!json_is_boolean(boolean))
		return o2_json_refuse_kind("json/not-a-boolean", field, error);
	*value = json_is_true(boolean);
	return 0;
}

int o2_json_parse_name(const json_t *string, const char *field, const char *const *names, uint32_t count,
		       uint32_t *index, struct o2_error *error)
{
	const char *text = json_string_value(string);

	for (uint32_t i = 0; text != NULL && i < count; i++) {
		if (names[i] != NULL && strcmp(text, names[i]) == 0) {
			*index = i;
			return 0;
		}
	}
	return o2_json_refuse_kind("json/unknown-name", field, error);
}

int o2_json_get_array(const json_t *object, const char *field, uint32_t max, const json_t **array,
		      struct o2_error *error)
{
	const json_t *member = json_object_get(object, field);

	if (!json_is_array(member))
		return o2_json_refuse_kind("json/not-an-array", field, error);
	if (json_array_size(member) > max)
		return o2_refuse_value(error, -EINVAL, "json/array-too-long", field, json_array_size(member),
				       max);
	*array = member;
	return 0;
}

json_t *o2_json_text(const char *text)
{
	const size_t bytes = strlen(text) + 1;
	char *copy = malloc(bytes);
	json_t *string = NULL;

	if (copy != NULL) {
		memcpy(copy, text, bytes);
		o2_make_utf8(copy);
		string = json_string(copy);
	}
	free(copy);
	return string;
}

json_t *o2_json_hex(uint64_t value)
{
	char text[18];
	size_t at = sizeof(text);

	/* By hand, backwards: half of all values are hexadecimal, and printf takes longer than the rest. */
	do {
		text[--at] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value != 0);
	text[--at] = 'x';
	text[--at] = '0';
	return json_stringn_nocheck(text + at, sizeof(text) - at);
}

json_t *o2_json_length(uint64_t value)
{
	return value <= INT64_MAX ? json_integer((json_int_t)value) : o2_json_hex(value);
}

int o2_json_parse_length(const json_t *value, const char *field, uint64_t *length, struct o2_error *error)
{
	if (json_is_string(value))
		return o2_json_parse_hex(value, field, length, error);
	return o2_json_parse_uint(value, field, INT64_MAX, length, error);
}

int o2_json_get_object(const json_t *object, const char *field, const json_t **child, struct o2_error *error)
{
	const json_t *member = json_object_get(object, field);

	if (!json_is_object(member))
		return o2_json_refuse_kind("json/not-an-object", field, error);
	*child = member;
	return 0;
}

int o2_json_at(int rc, const char *field, uint32_t index, struct o2_error *error)
{
	if (rc != 0 && error != NULL) {
		error->field = field;
		error->index = index;
	}
	return rc;
}

json_t *o2_json_with(json_t *object, const char *key, json_t *child)
{
	if (object == NULL)
		json_decref(child);
	else if (json_object_set_new_nocheck(object, key, child) == 0)
		return object;
	json_decref(object);
	return NULL;
}

json_t *o2_json_append(json_t *array, json_t *element)
{
	if (json_array_append_new(array, element) == 0)
		return array;
	json_decref(array);
	return NULL;
}
