/* SPDX-License-Identifier: MIT */
#include "props/check/check_view.h"

#include <inttypes.h>
#include <string.h>

const char *o2_view_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text == NULL ? "" : text;
}

const json_t *o2_view_find(const json_t *object, const char *key, const char *name, const char *text)
{
	const json_t *element;
	size_t i;

	json_array_foreach(json_object_get(object, key), i, element)
		if (strcmp(o2_view_text(element, name), text) == 0)
			return element;
	return NULL;
}

uint64_t o2_view_number(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

bool o2_view_flag(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

const char *o2_view_since(const json_t *finding)
{
	const char *since = o2_view_text(finding, "since");

	return strcmp(since, "same") == 0 ? "the same" : since;
}

const char *o2_view_cause_since(const json_t *findings, uint64_t cause)
{
	const char *since = "";
	const json_t *finding;
	size_t i;

	json_array_foreach(findings, i, finding)
		if (o2_view_number(finding, "cause") == cause && strcmp(since, "new") != 0)
			since = o2_view_since(finding);
	return since;
}

void o2_view_shrunk(const json_t *finding, FILE *out)
{
	const json_t *shrunk = json_object_get(finding, "shrunk");

	if (shrunk != NULL)
		fprintf(out, "; shrunk from %" PRIu64 " bytes of choices to %" PRIu64 "%s",
			o2_view_number(shrunk, "from_bytes"), o2_view_number(shrunk, "to_bytes"),
			o2_view_flag(shrunk, "simplified") ? ", then simplified" : "");
}
