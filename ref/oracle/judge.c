/* SPDX-License-Identifier: MIT */
#include "oracle/judge.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/json_read.h"
#include "wire/rules.h"

json_t *o2_form_load(const char *path, const char *form, char *text, size_t text_bytes)
{
	struct o2_error error = {0};
	json_error_t where;
	json_t *object = o2_json_read_file(path, JSON_REJECT_DUPLICATES, &where);
	char words[160];

	if (object == NULL) {
		snprintf(text, text_bytes, "%s: %s", path, o2_json_where(&where, words, sizeof(words)));
		return NULL;
	}
	if (o2_json_expect_form(object, form, &error) != 0) {
		o2_error_text(&error, words, sizeof(words));
		snprintf(text, text_bytes, "%s: %s; expected the form %s", path, words, form);
		json_decref(object);
		return NULL;
	}
	return object;
}

/* Rules of the reference that no question can break, so that no check has their ids. */
static const char *const other_rules[] = {
	"sg/kind",  "dma/kind",		  "dma/iommu/no-table", "reg/mode",
	"reg/side", "rdma/source-nfrags", "rdma/sink-nfrags",
};

static bool is_rule_id(const char *rule)
{
	const enum o2_check_id check = o2_check_find(rule);

	for (size_t i = 0; i < sizeof(other_rules) / sizeof(other_rules[0]); i++)
		if (strcmp(rule, other_rules[i]) == 0)
			return true;
	return o2_wire_rule_find(rule) != NULL || (check != O2_CHECKS && o2_check_is_rule(check));
}

static bool begins_rule_id(const char *prefix, size_t length)
{
	for (size_t i = 0; i < sizeof(other_rules) / sizeof(other_rules[0]); i++)
		if (strncmp(prefix, other_rules[i], length) == 0)
			return true;
	for (size_t i = 0; i < O2_RULE_COUNT; i++)
		if (strncmp(prefix, o2_wire_rules[i].id, length) == 0)
			return true;
	for (uint32_t i = 0; i < O2_CHECKS; i++)
		if (strncmp(prefix, o2_check_name((enum o2_check_id)i), length) == 0 &&
		    o2_check_is_rule((enum o2_check_id)i))
			return true;
	return false;
}

/* Whether the value is a rule id, or a prefix of a rule id followed by a star. */
static bool is_rule(const json_t *value)
{
	const char *rule = json_string_value(value);
	const size_t length = rule == NULL ? 0 : strlen(rule);

	if (length == 0)
		return false;
	return rule[length - 1] == '*' ? begins_rule_id(rule, length - 1) : is_rule_id(rule);
}

static const json_t *wrong_rule(const json_t *rules)
{
	const json_t *rule;
	size_t i;

	if (!json_is_array(rules))
		return is_rule(rules) ? NULL : rules;
	json_array_foreach(rules, i, rule)
		if (!is_rule(rule))
			return rule;
	return NULL;
}

int o2_error_map_read(const char *path, struct o2_error_map *map, char *text, size_t text_bytes)
{
	json_t *object = o2_form_load(path, "o2ref/error_map", text, text_bytes);
	json_t *errors = json_object_get(object, "errors");
	const char *name;
	json_t *rules;
	int rc = 0;

	map->errors = NULL;
	if (object == NULL)
		return -EINVAL;
	if (!json_is_object(errors)) {
		snprintf(text, text_bytes, "%s: errors is not an object", path);
		rc = -EINVAL;
	}
	json_object_foreach(errors, name, rules) {
		const json_t *wrong = wrong_rule(rules);

		if (wrong == NULL)
			continue;
		snprintf(text, text_bytes, "%s: errors.%.40s: %.60s is not the id of a rule", path, name,
			 json_is_string(wrong) ? json_string_value(wrong) : "a value that is no string");
		rc = -EINVAL;
	}
	if (rc == 0)
		map->errors = json_incref(errors);
	json_decref(object);
	return rc;
}

void o2_error_map_free(struct o2_error_map *map)
{
	json_decref(map->errors);
	map->errors = NULL;
}

static bool stands_for(const json_t *value, const char *rule)
{
	const char *pattern = json_string_value(value);
	const size_t length = strlen(pattern);

	if (pattern[length - 1] == '*')
		return strncmp(pattern, rule, length - 1) == 0;
	return strcmp(pattern, rule) == 0;
}

enum o2_map_answer o2_error_map_compare(const struct o2_error_map *map, const char *name, const char *rule)
{
	const json_t *rules = json_object_get(map->errors, name);
	const json_t *value;
	size_t i;

	if (rules == NULL) {
		if (!is_rule_id(name))
			return O2_MAP_UNKNOWN;
		return strcmp(name, rule) == 0 ? O2_MAP_AGREES : O2_MAP_DIFFERS;
	}
	if (!json_is_array(rules))
		return stands_for(rules, rule) ? O2_MAP_AGREES : O2_MAP_DIFFERS;
	json_array_foreach(rules, i, value)
		if (stands_for(value, rule))
			return O2_MAP_AGREES;
	return O2_MAP_DIFFERS;
}
