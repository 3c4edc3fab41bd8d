/* SPDX-License-Identifier: MIT */
#include "forms/bytes_json.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "base/hex.h"
#include "base/json.h"

json_t *o2_bytes_to_json(const uint8_t *bytes, size_t length_bytes)
{
	char *text = malloc(2 * length_bytes + 1);
	json_t *string;

	if (text == NULL)
		return NULL;
	o2_hex_put(bytes, length_bytes, text);
	string = json_stringn(text, 2 * length_bytes);
	free(text);
	return string;
}

/* The value of a hexadecimal digit; -1 for another character. */
static int digit_value(char digit)
{
	return o2_hex_digit(tolower((unsigned char)digit));
}

int o2_bytes_from_json(const json_t *object, const char *key, const char *field, uint8_t *bytes,
		       size_t capacity_bytes, size_t *length_bytes, struct o2_error *error)
{
	const json_t *member = json_object_get(object, key);
	const char *text = json_string_value(member);
	const size_t digits = json_string_length(member);

	if (text == NULL)
		return o2_json_refuse_kind("json/not-a-string", field, error);
	if (digits % 2 != 0)
		return o2_refuse_value(error, -EINVAL, "json/odd-digits", field, digits, digits - 1);
	if (digits / 2 > capacity_bytes)
		return o2_refuse_value(error, -EINVAL, "json/too-many-bytes", field, digits / 2,
				       capacity_bytes);
	for (size_t i = 0; i < digits / 2; i++) {
		const int high = digit_value(text[2 * i]), low = digit_value(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return o2_fail(error, -EINVAL, "json/not-a-hex-digit", field,
				       (uint8_t)text[2 * i + (high < 0 ? 0 : 1)]);
		bytes[i] = (uint8_t)(high << 4 | low);
	}
	*length_bytes = digits / 2;
	return 0;
}
