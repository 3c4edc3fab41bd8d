/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int o2_refuse(struct o2_error *error, int code, const char *rule, const char *field, uint32_t index,
	      uint64_t value, uint64_t limit)
{
	if (error != NULL)
		*error = (struct o2_error){
			.code = code,
			.class = O2_CLASS_NONE,
			.rule = rule,
			.field = field,
			.index = index,
			.value = value,
			.limit = limit,
		};
	return code;
}

int o2_limit_is(int rc, enum o2_limit_kind kind, struct o2_error *error)
{
	if (error != NULL)
		error->limit_kind = kind;
	return rc;
}

int o2_value_is(int rc, enum o2_value_kind kind, struct o2_error *error)
{
	if (error != NULL)
		error->value_kind = kind;
	return rc;
}

int o2_refuse_other(struct o2_error *error, int code, const char *rule, const char *field, uint64_t value,
		    uint64_t expected)
{
	return o2_limit_is(o2_refuse(error, code, rule, field, O2_NO_INDEX, value, expected), O2_LIMIT_EXACT,
			   error);
}

int o2_refuse_multiple(struct o2_error *error, int code, const char *rule, const char *field, uint64_t value,
		       uint64_t unit)
{
	return o2_limit_is(o2_refuse(error, code, rule, field, O2_NO_INDEX, value, unit), O2_LIMIT_MULTIPLE,
			   error);
}

int o2_refuse_value(struct o2_error *error, int code, const char *rule, const char *field, uint64_t value,
		    uint64_t limit)
{
	return o2_refuse(error, code, rule, field, O2_NO_INDEX, value, limit);
}

int o2_fail(struct o2_error *error, int code, const char *rule, const char *field, uint64_t value)
{
	return o2_refuse_value(error, code, rule, field, value, O2_NO_LIMIT);
}

int o2_refuse_range(struct o2_error *error, int code, const char *rule, const char *field, uint64_t value,
		    uint64_t low, uint64_t high)
{
	if (value >= low && value <= high)
		return 0;
	return o2_refuse_value(error, code, rule, field, value, value < low ? low : high);
}

static int costs_connection(struct o2_error *error, int rc)
{
	if (error != NULL)
		error->class = O2_CLASS_CONNECTION;
	return rc;
}

int o2_refuse_peer(struct o2_error *error, int code, const char *rule, const char *field, uint64_t value,
		   uint64_t limit)
{
	return costs_connection(error, o2_refuse_value(error, code, rule, field, value, limit));
}

int o2_refuse_peer_other(struct o2_error *error, int code, const char *rule, const char *field,
			 uint64_t value, uint64_t expected)
{
	return costs_connection(error, o2_refuse_other(error, code, rule, field, value, expected));
}

void o2_error_clear(struct o2_error *error)
{
	if (error != NULL)
		*error = (struct o2_error){.index = O2_NO_INDEX};
}

/* "kiov[].len" and 3 make "kiov[3].len"; a field without [] is printed as it is. */
void o2_error_field(const struct o2_error *error, char text[O2_ERROR_FIELD_BYTES])
{
	const char *open = strstr(error->field, "[]");

	if (open == NULL || error->index == O2_NO_INDEX)
		snprintf(text, O2_ERROR_FIELD_BYTES, "%s", error->field);
	else
		snprintf(text, O2_ERROR_FIELD_BYTES, "%.*s[%" PRIu32 "]%s", (int)(open - error->field),
			 error->field, error->index, open + 2);
}

/* ", limit 4096", ", expected 4096", ", expected a multiple of 4096", or nothing. */
static void limit_text(const struct o2_error *error, char *text, size_t text_bytes)
{
	static const char *const words[] = {
		[O2_LIMIT_BOUND] = "limit",
		[O2_LIMIT_EXACT] = "expected",
		[O2_LIMIT_MULTIPLE] = "expected a multiple of",
		[O2_LIMIT_OTHER] = NULL,
	};
	const char *word = words[error->limit_kind];

	text[0] = '\0';
	if (word == NULL || (error->value_kind == O2_VALUE_NONE && error->limit_kind == O2_LIMIT_BOUND))
		return;
	if (error->value_kind == O2_VALUE_SIGNED)
		snprintf(text, text_bytes, ", %s %" PRId64, word, (int64_t)error->limit);
	else if (error->limit != O2_NO_LIMIT || error->limit_kind == O2_LIMIT_EXACT)
		snprintf(text, text_bytes, ", %s %" PRIu64, word, error->limit);
}

int o2_error_what(const struct o2_error *error, char *text, size_t text_bytes)
{
	char field[O2_ERROR_FIELD_BYTES], limit[64];

	o2_error_field(error, field);
	limit_text(error, limit, sizeof(limit));
	if (error->value_kind == O2_VALUE_NONE)
		return snprintf(text, text_bytes, "%s%s", field, limit);
	if (error->value_kind == O2_VALUE_SIGNED)
		return snprintf(text, text_bytes, "%s is %" PRId64 "%s", field, (int64_t)error->value, limit);
	return snprintf(text, text_bytes, "%s is %" PRIu64 "%s", field, error->value, limit);
}

int o2_error_text(const struct o2_error *error, char *text, size_t text_bytes)
{
	char what[O2_ERROR_WHAT_BYTES];

	if (error->code == 0 || error->rule == NULL || error->field == NULL)
		return snprintf(text, text_bytes, "no error");
	o2_error_what(error, what, sizeof(what));
	return snprintf(text, text_bytes, "%s: %s (%s)", error->rule, what, strerror(-error->code));
}
