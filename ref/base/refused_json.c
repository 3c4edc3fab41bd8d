/* SPDX-License-Identifier: MIT */
#include "base/refused_json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/errno_name.h"
#include "base/fields_json.h"
#include "base/json.h"

static bool has_limit(const struct o2_error *refused)
{
	return refused->limit_kind == O2_LIMIT_EXACT || refused->limit != O2_NO_LIMIT;
}

static json_t *refused_to_json(const struct o2_error *refused)
{
	const char *name = o2_errno_name(refused->code);
	json_t *object =
		name == NULL ? NULL
			     : json_pack("{s:s, s:s, s:s, s:o}", "errno", name, "rule", refused->rule,
					 "field", refused->field, "value", o2_json_length(refused->value));

	if (has_limit(refused))
		object = o2_json_with(object, "limit", o2_json_length(refused->limit));
	if (refused->index != O2_NO_INDEX)
		object = o2_json_with(object, "index", json_integer(refused->index));
	return object;
}

json_t *o2_output_form(const char *form, const struct o2_error *refused)
{
	json_t *object = o2_json_form(form);

	if (object == NULL || refused == NULL || refused->code == 0)
		return object;
	return o2_json_with(object, "refused", refused_to_json(refused));
}

static int get_text(const json_t *object, const char *key, const char *field, char *text,
		    struct o2_error *error)
{
	const json_t *member = json_object_get(object, key);
	size_t length = json_string_length(member);

	if (!json_is_string(member))
		return o2_json_refuse_kind("json/not-a-string", field, error);
	if (length >= O2_REFUSED_TEXT_BYTES || strlen(json_string_value(member)) != length)
		return o2_refuse_value(error, -EINVAL, "json/text-too-long", field, length,
				       O2_REFUSED_TEXT_BYTES - 1);
	memcpy(text, json_string_value(member), length + 1);
	return 0;
}

static const struct o2_field number_fields[] = {
	{O2_FIELD("refused.value", LENGTH, struct o2_refused, value)},
	{O2_FIELD("refused.limit", LENGTH, struct o2_refused, limit), .optional = true},
	{O2_FIELD("refused.index", UINT, struct o2_refused, index), .optional = true},
	{0},
};

static int read_refused(const json_t *object, struct o2_refused *refused, struct o2_error *error)
{
	const char *name = json_string_value(json_object_get(object, "errno"));
	int rc;

	refused->code = name == NULL ? 0 : -o2_errno_from_name(name);
	if (refused->code == 0)
		return o2_json_refuse_kind("json/unknown-name", "refused.errno", error);
	refused->index = O2_NO_INDEX;
	refused->limit = O2_NO_LIMIT;
	rc = get_text(object, "rule", "refused.rule", refused->rule, error);
	if (rc == 0)
		rc = get_text(object, "field", "refused.field", refused->field, error);
	return rc != 0 ? rc : o2_fields_from_json(object, number_fields, refused, error);
}

int o2_output_expect(const json_t *object, const char *form, struct o2_refused *refused,
		     struct o2_error *error)
{
	const json_t *child;
	int rc = o2_json_expect_form(object, form, error);

	memset(refused, 0, sizeof(*refused));
	refused->index = O2_NO_INDEX;
	if (rc != 0 || json_object_get(object, "refused") == NULL)
		return rc;
	rc = o2_json_get_object(object, "refused", &child, error);
	return rc != 0 ? rc : read_refused(child, refused, error);
}

json_t *o2_output_to_json(const char *form, const char *key, const struct o2_field *fields,
			  const void *result, const struct o2_error *refused)
{
	json_t *object = o2_output_form(form, refused);

	if (refused != NULL && refused->code != 0)
		return object;
	return o2_json_with(object, key, o2_fields_to_json(fields, result));
}

int o2_output_from_json(const json_t *object, const char *form, const char *key,
			const struct o2_field *fields, void *result, struct o2_refused *refused,
			struct o2_error *error)
{
	const int rc = o2_output_expect(object, form, refused, error);

	if (rc != 0 || refused->code != 0)
		return rc;
	return o2_part_from_json(object, key, fields, result, error);
}

void o2_refused_from_error(const struct o2_error *error, struct o2_refused *refused)
{
	memset(refused, 0, sizeof(*refused));
	refused->index = O2_NO_INDEX;
	if (error->code == 0)
		return;
	refused->code = error->code;
	snprintf(refused->rule, sizeof(refused->rule), "%s", error->rule);
	snprintf(refused->field, sizeof(refused->field), "%s", error->field);
	refused->index = error->index;
	refused->value = error->value;
	refused->limit = error->limit;
}

bool o2_refused_equal(const struct o2_refused *a, const struct o2_refused *b)
{
	if (a->code == 0 || b->code == 0)
		return a->code == b->code;
	return a->code == b->code && strcmp(a->rule, b->rule) == 0 && strcmp(a->field, b->field) == 0 &&
	       a->index == b->index && a->value == b->value && a->limit == b->limit;
}
