/* SPDX-License-Identifier: MIT */
#include "props/check/check_since.h"

#include <string.h>

#include "base/json.h"
#include "oracle/judge.h"
#include "props/check/check_view.h"

json_t *o2_check_since_read(const char *path, char *text, size_t text_bytes)
{
	json_t *old = o2_form_load(path, "o2ref/check_result", text, text_bytes);

	if (old != NULL && !json_is_array(json_object_get(old, "implementations"))) {
		snprintf(text, text_bytes, "%s: implementations is not an array", path);
		json_decref(old);
		old = NULL;
	}
	return old;
}

const json_t *o2_check_since_findings(const json_t *old, size_t place)
{
	return json_object_get(json_array_get(json_object_get(old, "implementations"), place), "findings");
}

/* Offsets and lines of a crash change with each build, so only the function is compared. */
static bool same_place(const json_t *a, const json_t *b)
{
	const char *x = json_string_value(json_array_get(json_object_get(a, "backtrace"), 0));
	const char *y = json_string_value(json_array_get(json_object_get(b, "backtrace"), 0));
	const char *end = x == NULL ? NULL : strstr(x, " at ");

	return end != NULL && y != NULL && strncmp(x, y, (size_t)(end - x) + strlen(" at ")) == 0;
}

static bool same(const json_t *a, const json_t *b)
{
	return strcmp(o2_view_text(a, "stage"), o2_view_text(b, "stage")) == 0 &&
	       strcmp(o2_view_text(a, "check"), o2_view_text(b, "check")) == 0 &&
	       (strcmp(o2_view_text(a, "reason"), o2_view_text(b, "reason")) == 0 || same_place(a, b));
}

static bool is_among(const json_t *finding, const json_t *findings)
{
	const json_t *other;
	size_t i;

	json_array_foreach(findings, i, other)
		if (same(finding, other))
			return true;
	return false;
}

/* Is one of the cause's findings among the others? */
static bool cause_is_among(uint64_t cause, const json_t *findings, const json_t *others)
{
	const json_t *finding;
	size_t i;

	json_array_foreach(findings, i, finding)
		if (o2_view_number(finding, "cause") == cause && is_among(finding, others))
			return true;
	return false;
}

static const json_t *stage_of(const json_t *one, const char *name)
{
	const json_t *stage;
	size_t i;

	json_array_foreach(json_object_get(one, "stages"), i, stage)
		if (strcmp(o2_view_text(stage, "stage"), name) == 0)
			return stage;
	return NULL;
}

/* Was anything answered in the stage?  If not, nobody knows whether an earlier cause is gone. */
static bool was_answered(const json_t *one, const char *name)
{
	const json_t *stage = stage_of(one, name);

	return o2_view_number(stage, "asked") > o2_view_number(stage, "not_implemented");
}

static json_t *gone_of(const json_t *one, const json_t *before)
{
	const json_t *now = json_object_get(one, "findings");
	json_t *gone = json_array();
	const json_t *finding;
	size_t i;

	json_array_foreach(before, i, finding) {
		if (!o2_view_flag(finding, "stands_for_it") ||
		    cause_is_among(o2_view_number(finding, "cause"), before, now))
			continue;
		json_array_append_new(
			gone,
			json_pack("{s:s, s:s, s:s, s:b}", "stage", o2_view_text(finding, "stage"), "check",
				  o2_view_text(finding, "check"), "reason", o2_view_text(finding, "reason"),
				  "asked", (int)was_answered(one, o2_view_text(finding, "stage"))));
	}
	return gone;
}

void o2_check_since(json_t *result, const json_t *old, const char *path)
{
	json_t *one, *finding;
	size_t place, i;

	json_array_foreach(json_object_get(result, "implementations"), place, one) {
		const json_t *before = o2_check_since_findings(old, place);
		json_t *findings = json_object_get(one, "findings");

		json_array_foreach(findings, i, finding) {
			const uint64_t cause = o2_view_number(finding, "cause");

			json_object_set_new(
				finding, "since",
				json_string(cause_is_among(cause, findings, before) ? "same" : "new"));
		}
		json_object_set_new(one, "gone", gone_of(one, before));
	}
	json_object_set_new(
		result, "since",
		json_pack("{s:o, s:s}", "file", o2_json_text(path), "label", o2_view_text(old, "label")));
}

bool o2_check_since_has_new(const json_t *result)
{
	const json_t *one, *finding;
	size_t place, i;

	json_array_foreach(json_object_get(result, "implementations"), place, one)
		json_array_foreach(json_object_get(one, "findings"), i, finding)
			if (o2_view_flag(finding, "counts") &&
			    strcmp(o2_view_text(finding, "since"), "same") != 0)
				return true;
	return false;
}
