/* SPDX-License-Identifier: MIT */
#include "forms/output_json.h"

#include <string.h>

#include "base/fields_json.h"

static const char *const class_names[] = {
	[O2_CLASS_NONE] = "local", [O2_CLASS_MESSAGE] = "message", [O2_CLASS_CONNECTION] = "connection"};

static const struct o2_field refused_fields[] = {
	{O2_FIELD("class", NAME, struct o2_wire_refused, class), .names = class_names,
	 .limit = O2_CLASS_CONNECTION + 1},
	{O2_FIELD("offset_bytes", UINT, struct o2_wire_refused, offset_bytes)},
	{0},
};

json_t *o2_wire_output_form(const char *form, const struct o2_error *refused, bool *is_refused)
{
	json_t *object = o2_output_form(form, refused);
	json_t *child = json_object_get(object, "refused");

	*is_refused = refused != NULL && refused->code != 0;
	if (object == NULL || !*is_refused)
		return object;
	if (json_object_set_new(child, "class", json_string(class_names[refused->class])) != 0 ||
	    json_object_set_new(child, "offset_bytes", json_integer(refused->offset_bytes)) != 0) {
		json_decref(object);
		return NULL;
	}
	return object;
}

int o2_wire_output_expect(const json_t *object, const char *form, struct o2_wire_refused *refused,
			  struct o2_error *error)
{
	int rc;

	memset(refused, 0, sizeof(*refused));
	rc = o2_output_expect(object, form, &refused->refused, error);
	if (rc != 0 || refused->refused.code == 0)
		return rc;
	return o2_part_from_json(object, "refused", refused_fields, refused, error);
}
