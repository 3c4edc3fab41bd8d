/* SPDX-License-Identifier: MIT */
#include "cli/judge_sarif.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

#define SCHEMA "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"

static json_t *text_object(const char *text)
{
	return o2_json_with(json_object(), "text", json_string(text));
}

/* An array with this one element. */
static json_t *list_of(json_t *only)
{
	return o2_json_append(json_array(), only);
}

static const char *level_of(enum o2_judge_severity severity)
{
	static const char *const levels[] = {
		[O2_JUDGE_MUST] = "error", [O2_JUDGE_SHOULD] = "warning", [O2_JUDGE_NOTE] = "note"};

	return levels[severity];
}

static json_t *rule_to_json(const struct o2_judge_rule *rule)
{
	json_t *object = o2_json_with(json_object(), "id", json_string(rule->id));
	json_t *level = o2_json_with(json_object(), "level", json_string(level_of(rule->severity)));
	char text[512];

	snprintf(text, sizeof(text), "Rule: %s. Source: %s.", rule->sentence, rule->source);
	object = o2_json_with(object, "shortDescription", text_object(rule->sentence));
	object = o2_json_with(object, "help", text_object(text));
	return o2_json_with(object, "defaultConfiguration", level);
}

json_t *o2_judge_sarif_begin(const char *version)
{
	json_t *log = o2_json_with(json_object(), "$schema", json_string(SCHEMA));
	json_t *driver = o2_json_with(json_object(), "name", json_string("o2ref judge"));
	json_t *rules = json_array(), *run = json_object();

	for (int i = 0; i < O2_JUDGE_RULES && rules != NULL; i++)
		rules = o2_json_append(rules, rule_to_json(&o2_judge_rules[i]));
	driver = o2_json_with(driver, "version", json_string(version));
	driver = o2_json_with(driver, "rules", rules);
	run = o2_json_with(run, "tool", o2_json_with(json_object(), "driver", driver));
	run = o2_json_with(run, "invocations", json_array());
	run = o2_json_with(run, "artifacts", json_array());
	run = o2_json_with(run, "results", json_array());
	log = o2_json_with(log, "version", json_string("2.1.0"));
	return o2_json_with(log, "runs", list_of(run));
}

/* A path as a URI reference; NULL when memory runs out. */
static json_t *uri_of(const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
	const size_t length = strlen(path);
	char *text = malloc(sizeof("file://") + 3 * length), *at = text;
	json_t *uri;

	if (text == NULL)
		return NULL;
	at += sprintf(at, "%s", path[0] == '/' ? "file://" : "");
	for (size_t i = 0; i < length; i++)
		if (strchr(plain, path[i]) != NULL)
			*at++ = path[i];
		else
			at += sprintf(at, "%%%02X", (unsigned char)path[i]);
	*at = '\0';
	uri = json_string(text);
	free(text);
	return uri;
}

static json_t *artifact_location(const char *path, size_t index)
{
	return o2_json_with(o2_json_with(json_object(), "uri", uri_of(path)), "index",
			    json_integer((json_int_t)index));
}

/* The location of the file, and of the packet in it (0: none). */
static json_t *location_of(const char *path, size_t index, uint64_t packet)
{
	json_t *physical = o2_json_with(json_object(), "artifactLocation", artifact_location(path, index));
	json_t *location = o2_json_with(json_object(), "physicalLocation", physical), *logical;
	char name[40];

	if (packet == 0)
		return location;
	snprintf(name, sizeof(name), "packet %" PRIu64, packet);
	logical = o2_json_with(json_object(), "name", json_string(name));
	logical = o2_json_with(logical, "kind", json_string("packet"));
	return o2_json_with(location, "logicalLocations", list_of(logical));
}

static json_t *earlier_location(const char *path, size_t index, uint64_t packet)
{
	json_t *location = location_of(path, index, packet);

	location = o2_json_with(location, "id", json_integer(1));
	return o2_json_with(location, "message", text_object("the earlier packet that it refers to"));
}

static json_t *row_to_result(const struct o2_judge_row *row, const char *path, size_t index)
{
	const struct o2_judge_rule *rule = &o2_judge_rules[row->rule];
	char where[O2_JUDGE_ROW_TEXT_BYTES], what[O2_JUDGE_ROW_TEXT_BYTES], text[1024];
	json_t *object = o2_json_with(json_object(), "ruleId", json_string(rule->id));

	o2_judge_row_where(row, where);
	o2_judge_what(row->wire_rule, &row->error, what);
	snprintf(text, sizeof(text), "%s%s%s. Rule: %s.%s%s%s", where, what[0] != '\0' ? ": " : "", what,
		 rule->sentence, row->unproven ? " (" : "", row->unproven ? O2_JUDGE_UNPROVEN_TEXT : "",
		 row->unproven ? ")" : "");
	object = o2_json_with(object, "ruleIndex", json_integer(row->rule));
	object = o2_json_with(object, "level", json_string(level_of(o2_judge_row_severity(row))));
	object = o2_json_with(object, "message", text_object(text));
	object = o2_json_with(object, "occurrenceCount", o2_json_length(row->times));
	object = o2_json_with(object, "locations", list_of(location_of(path, index, row->number)));
	if (row->earlier != 0)
		object = o2_json_with(object, "relatedLocations",
				      list_of(earlier_location(path, index, row->earlier)));
	return o2_json_with(object, "properties", o2_judge_row_to_json(row));
}

static json_t *notification(const char *level, const char *text, const char *path, size_t index)
{
	json_t *object = o2_json_with(json_object(), "level", json_string(level));

	object = o2_json_with(object, "message", text_object(text));
	return o2_json_with(object, "locations", list_of(location_of(path, index, 0)));
}

/*
 * Whether a capture was judged to its end, whatever was found; if not, why (cut short or not readable).  Findings
 * beyond those of the report are counted here.
 */
static json_t *invocation_of(const struct o2_judge_result *result, size_t index)
{
	json_t *object =
		o2_json_with(json_object(), "executionSuccessful", json_boolean(result->why == NULL));
	const uint64_t more = result->report->more;
	json_t *told = json_array();
	char text[80];

	if (result->why != NULL)
		told = o2_json_append(told, notification("error", result->why, result->name, index));
	snprintf(text, sizeof(text), "%" PRIu64 " " O2_JUDGE_MORE_TEXT, more);
	if (more != 0)
		told = o2_json_append(told, notification(level_of(o2_judge_report_rest(result->report)), text,
							 result->name, index));
	if (result->why != NULL || more != 0)
		return o2_json_with(object, "toolExecutionNotifications", told);
	json_decref(told);
	return object;
}

json_t *o2_judge_sarif_add(json_t *log, const struct o2_judge_result *result)
{
	json_t *run = json_array_get(json_object_get(log, "runs"), 0);
	json_t *artifacts = json_object_get(run, "artifacts"), *results = json_object_get(run, "results");
	const size_t index = json_array_size(artifacts);
	json_t *artifact = o2_json_with(json_object(), "location", artifact_location(result->name, index));
	bool good =
		json_array_append_new(artifacts, artifact) == 0 &&
		json_array_append_new(json_object_get(run, "invocations"), invocation_of(result, index)) == 0;

	for (uint32_t i = 0; good && i < result->report->count; i++)
		good = json_array_append_new(
			       results, row_to_result(&result->report->row[i], result->name, index)) == 0;
	if (good)
		return log;
	json_decref(log);
	return NULL;
}
