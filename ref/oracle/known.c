/* SPDX-License-Identifier: MIT */
#include "oracle/known.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/judge.h"

#define PATH_SEPARATOR '.'

/* --- conditions --- */

/* A condition is a number, text or flag; a list of such, of which one must match; or {"least": N, "most": N}. */
static bool is_condition(const json_t *value)
{
	const json_t *one;
	const char *name;
	size_t i;

	if (json_is_object(value)) {
		json_object_foreach((json_t *)(uintptr_t)value, name, one)
			if ((strcmp(name, "least") != 0 && strcmp(name, "most") != 0) ||
			    !json_is_integer(one))
				return false;
		return json_object_size(value) > 0;
	}
	if (!json_is_array(value))
		return json_is_integer(value) || json_is_string(value) || json_is_boolean(value);
	json_array_foreach(value, i, one)
		if (json_is_array(one) || !is_condition(one))
			return false;
	return json_array_size(value) > 0;
}

/* The element of an array by its number; NULL if the text is no number, or there is no such element. */
static const json_t *element_at(const json_t *array, const char *number, size_t length)
{
	char *end;
	size_t index;

	if (!isdigit((unsigned char)number[0]))
		return NULL;
	index = strtoul(number, &end, 10);
	return end == number + length ? json_array_get(array, index) : NULL;
}

/* The member of a question that a path names: "request.mode", "buffer.pieces.0.len". */
static const json_t *member_at(const json_t *question, const char *path)
{
	while (question != NULL && *path != '\0') {
		const char *end = strchr(path, PATH_SEPARATOR);
		const size_t length = end == NULL ? strlen(path) : (size_t)(end - path);

		if (json_is_array(question))
			question = element_at(question, path, length);
		else
			question = json_object_getn(question, path, length);
		path += length + (end != NULL);
	}
	return question;
}

static bool matches(const json_t *condition, const json_t *member)
{
	const json_t *least = json_object_get(condition, "least");
	const json_t *most = json_object_get(condition, "most");
	const json_t *one;
	size_t i;

	json_array_foreach(condition, i, one)
		if (matches(one, member))
			return true;
	if (!json_is_object(condition))
		return json_equal(condition, member);
	return json_is_integer(member) &&
	       (least == NULL || json_integer_value(member) >= json_integer_value(least)) &&
	       (most == NULL || json_integer_value(member) <= json_integer_value(most));
}

static bool holds(const json_t *when, const struct o2_case *asked)
{
	json_t *question = o2_case_to_json(asked);
	const json_t *condition;
	const char *path;
	bool all = question != NULL;

	json_object_foreach((json_t *)(uintptr_t)when, path, condition)
		all = all && matches(condition, member_at(question, path));
	json_decref(question);
	return all;
}

uint32_t o2_known_find(const struct o2_known *known, const struct o2_case *asked, enum o2_check_id check)
{
	for (uint32_t i = 0; known != NULL && i < known->count; i++) {
		const struct o2_known_difference *item = &known->item[i];

		if (item->check == check && (item->stage == O2_STAGES || item->stage == asked->stage) &&
		    (item->when == NULL || holds(item->when, asked)))
			return i + 1;
	}
	return 0;
}

/* --- reading the file --- */

static int read_when(const char *name, struct o2_known_difference *item, char *text, size_t text_bytes)
{
	const json_t *condition;
	const char *path;

	if (item->when != NULL && !json_is_object(item->when)) {
		snprintf(text, text_bytes, "%s: when is not an object", name);
		return -EINVAL;
	}
	json_object_foreach((json_t *)(uintptr_t)item->when, path, condition) {
		if (is_condition(condition))
			continue;
		snprintf(text, text_bytes,
			 "%s: when.%.40s is not a value, a list of values, or {\"least\": N, \"most\": N}",
			 name, path);
		return -EINVAL;
	}
	return 0;
}

/* An unknown member is an error: a misspelt "when" would make the entry match more than intended. */
static const char *unknown_member(const json_t *from)
{
	static const char *const members[] = {"check", "stage", "when", "reason"};
	const json_t *value;
	const char *name;

	json_object_foreach((json_t *)(uintptr_t)from, name, value) {
		bool known = false;

		for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
			known |= strcmp(name, members[i]) == 0;
		if (!known)
			return name;
	}
	return NULL;
}

static int read_item(const json_t *from, struct o2_known_difference *item, char *text, size_t text_bytes)
{
	const char *name = json_string_value(json_object_get(from, "check"));
	const json_t *stage = json_object_get(from, "stage");
	const char *unknown = unknown_member(from);

	*item = (struct o2_known_difference){.check = name == NULL ? O2_CHECKS : o2_check_find(name),
					     .stage = O2_STAGES,
					     .when = json_object_get(from, "when"),
					     .reason = json_string_value(json_object_get(from, "reason"))};
	if (item->check == O2_CHECKS) {
		snprintf(text, text_bytes, "'%.80s' is no check (see: o2ref check --list-checks)",
			 name == NULL ? "" : name);
		return -EINVAL;
	}
	if (unknown != NULL) {
		snprintf(text, text_bytes, "%s: '%.40s' is none of check, stage, when, reason", name,
			 unknown);
		return -EINVAL;
	}
	if (item->reason == NULL || item->reason[0] == '\0') {
		snprintf(text, text_bytes, "%s has no reason", name);
		return -EINVAL;
	}
	if (stage != NULL &&
	    (!json_is_string(stage) || !o2_stage_from_name(json_string_value(stage), &item->stage))) {
		snprintf(text, text_bytes, "%s: '%.40s' is no stage", name,
			 json_is_string(stage) ? json_string_value(stage) : "");
		return -EINVAL;
	}
	return read_when(name, item, text, text_bytes);
}

int o2_known_read(const char *path, struct o2_known *known, char *text, size_t text_bytes)
{
	const json_t *list, *from;
	char why[256];
	size_t i;
	int rc = 0;

	memset(known, 0, sizeof(*known));
	known->file = o2_form_load(path, "o2ref/known_differences", text, text_bytes);
	if (known->file == NULL)
		return -EINVAL;
	list = json_object_get(known->file, "differences");
	if (!json_is_array(list)) {
		snprintf(text, text_bytes, "%s: differences is not an array", path);
		o2_known_free(known);
		return -EINVAL;
	}
	known->item = calloc(json_array_size(list) + 1, sizeof(*known->item));
	if (known->item == NULL) {
		snprintf(text, text_bytes, "%s: there is no memory", path);
		rc = -ENOMEM;
	}
	json_array_foreach(list, i, from) {
		why[0] = '\0';
		if (rc == 0)
			rc = read_item(from, &known->item[known->count++], why, sizeof(why));
		if (rc != 0 && why[0] != '\0')
			snprintf(text, text_bytes, "%s: %s", path, why);
	}
	if (rc != 0)
		o2_known_free(known);
	return rc;
}

void o2_known_free(struct o2_known *known)
{
	free(known->item);
	json_decref(known->file);
	memset(known, 0, sizeof(*known));
}
