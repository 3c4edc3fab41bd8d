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

void o2_view_cell(const json_t *stage, char cell[O2_VIEW_CELL_BYTES])
{
	const uint64_t asked = o2_view_number(stage, "asked");
	const uint64_t differed = o2_view_number(stage, "differed");
	const uint64_t absent = o2_view_number(stage, "not_implemented");
	const uint64_t left_out = o2_view_number(stage, "left_out");
	size_t n;

	if (o2_view_flag(stage, "absent") || (asked > 0 && absent == asked))
		snprintf(cell, O2_VIEW_CELL_BYTES, "not implemented");
	else if (asked == 0)
		snprintf(cell, O2_VIEW_CELL_BYTES, "not asked");
	else if (differed == 0)
		snprintf(cell, O2_VIEW_CELL_BYTES, "%" PRIu64 " agree", asked - absent);
	else
		snprintf(cell, O2_VIEW_CELL_BYTES, "%" PRIu64 " of %" PRIu64 " differ", differed,
			 asked - absent);
	n = strlen(cell);
	if (left_out > 0)
		n += (size_t)snprintf(cell + n, O2_VIEW_CELL_BYTES - n, ", %" PRIu64 " left out", left_out);
	if (o2_view_flag(stage, "given_up"))
		snprintf(cell + n, O2_VIEW_CELL_BYTES - n, ", given up");
}
