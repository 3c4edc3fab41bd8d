/* SPDX-License-Identifier: MIT */
#include "props/check/check_since.h"

#include <string.h>

#include "base/json.h"
#include "oracle/judge.h"
#include "props/check/check.h"
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

static const json_t *same_among(const json_t *finding, const json_t *findings)
{
	const json_t *other;
	size_t i;

	json_array_foreach(findings, i, other)
		if (same(finding, other))
			return other;
	return NULL;
}

/* A finding that counts is the same only as one that counted: otherwise a defect could hide behind a trifle. */
static bool was_before(const json_t *finding, const json_t *before)
{
	const json_t *other;
	size_t i;

	json_array_foreach(before, i, other)
		if (same(finding, other) &&
		    (!o2_view_flag(finding, "counts") || o2_view_flag(other, "counts")))
			return true;
	return false;
}

/* Is one of the cause's findings among the others? */
static bool cause_is_among(uint64_t cause, const json_t *findings, const json_t *others)
{
	const json_t *finding;
	size_t i;

	json_array_foreach(findings, i, finding)
		if (o2_view_number(finding, "cause") == cause && same_among(finding, others) != NULL)
			return true;
	return false;
}

/* Was anything answered in the stage?  If not, nobody knows whether an earlier cause is gone. */
static bool was_answered(const json_t *one, const char *name)
{
	const json_t *stage = o2_view_find(one, "stages", "stage", name);

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

		json_array_foreach(findings, i, finding)
			json_object_set_new(finding, "since",
					    json_string(was_before(finding, before) ? "same" : "new"));
		json_object_set_new(one, "gone", gone_of(one, before));
	}
	json_object_set_new(
		result, "since",
		json_pack("{s:o, s:s}", "file", o2_json_text(path), "label", o2_view_text(old, "label")));
}

static bool is_of(const json_t *object, const char *stage, const struct o2_difference *difference)
{
	return strcmp(o2_view_text(object, "stage"), stage) == 0 &&
	       strcmp(o2_view_text(object, "check"), o2_check_name(difference->check)) == 0 &&
	       strcmp(o2_view_text(object, "reason"), difference->cause) == 0;
}

bool o2_check_since_explained(const json_t *findings, enum o2_stage stage,
			      const struct o2_difference *explains, const struct o2_difference *difference)
{
	const char *name = o2_stage_name(stage);
	const json_t *finding, *explained, *one;
	size_t i, k;

	json_array_foreach(findings, i, finding) {
		if (!is_of(finding, name, explains))
			continue;
		explained = json_object_get(finding, "explained");
		/* Older results have only the number, and a full list may lack some. */
		if (explained == NULL || json_array_size(explained) >= O2_CHECK_EXPLAINED)
			return o2_view_number(finding, "explains") > 0;
		json_array_foreach(explained, k, one)
			if (is_of(one, name, difference))
				return true;
		return false;
	}
	return true;
}

/* Were differences dropped for a check that kept all of its own before? */
static bool drops_more(const json_t *one, const json_t *before)
{
	const json_t *dropped;
	size_t i;

	json_array_foreach(json_object_get(one, "not_kept"), i, dropped)
		if (same_among(dropped, json_object_get(before, "not_kept")) == NULL &&
		    (json_object_get(before, "not_kept") != NULL ||
		     o2_view_number(before, "causes_not_kept") == 0))
			return true;
	return false;
}

bool o2_check_since_has_new(const json_t *result, const json_t *old)
{
	const json_t *one, *finding;
	size_t place, i;

	json_array_foreach(json_object_get(result, "implementations"), place, one) {
		if (drops_more(one, json_array_get(json_object_get(old, "implementations"), place)))
			return true;
		json_array_foreach(json_object_get(one, "findings"), i, finding)
			if (o2_view_flag(finding, "counts") &&
			    strcmp(o2_view_text(finding, "since"), "same") != 0)
				return true;
	}
	return false;
}
