/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "oracle/judge.h"
#include "oracle/known.h"
#include "props/check/forms.h"
#include "props/scenario/draw.h"

/* The files that an author of an implementation may write: the error map, and the known differences. */

#define MOST 6u

/* Write the form to a file, and its name to path.  Returns a descriptor to close, or -1. */
static int write_form(const json_t *form, char path[40])
{
	const int fd = memfd_create("o2props-listed", MFD_CLOEXEC);

	snprintf(path, 40, "/proc/self/fd/%d", fd);
	if (fd >= 0 && json_dumpfd(form, fd, 0) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

const char *o2_forms_draw_rule(struct o2_choice *c)
{
	uint64_t check = o2_draw(c, O2_CHECKS - 1);

	while (!o2_check_is_rule((enum o2_check_id)check))
		check = (check + 1) % O2_CHECKS;
	return o2_check_name((enum o2_check_id)check);
}

/* --- the error map --- */

struct stands {
	char rule[80]; /* with its trailing star */
	bool star;
};

static json_t *draw_rules(struct o2_choice *c, struct stands *stands, uint32_t count, bool alone)
{
	json_t *rules = json_array(), *only;

	for (uint32_t i = 0; i < count; i++) {
		snprintf(stands[i].rule, sizeof(stands[i].rule), "%s", o2_forms_draw_rule(c));
		stands[i].star = o2_draw_bool(c, 3, 1);
		if (stands[i].star)
			snprintf(stands[i].rule + o2_draw(c, strlen(stands[i].rule)), 2, "*");
		json_array_append_new(rules, json_string(stands[i].rule));
	}
	if (!alone)
		return rules;
	only = json_incref(json_array_get(rules, 0));
	json_decref(rules);
	return only;
}

static bool stands_for(const struct stands *stands, const char *rule)
{
	const size_t length = strlen(stands->rule);

	return stands->star ? strncmp(stands->rule, rule, length - 1) == 0 : strcmp(stands->rule, rule) == 0;
}

static void check_map(const struct o2_error_map *map, struct o2_choice *c, const struct stands *stands,
		      uint32_t count, const json_t *form, struct o2_report *report)
{
	/* Draw a listed rule, or any. */
	const uint64_t pick = o2_draw(c, MOST);
	const char *rule = pick < count && !stands[pick].star ? stands[pick].rule : o2_forms_draw_rule(c);
	const char *other = o2_forms_draw_rule(c);
	enum o2_map_answer expected = O2_MAP_DIFFERS;

	for (uint32_t i = 0; i < count; i++)
		if (stands_for(&stands[i], rule))
			expected = O2_MAP_AGREES;
	if (o2_error_map_compare(map, "Mine", rule) != expected)
		o2_forms_fail(report, "forms/listed", "map", rule, form);
	else if (o2_error_map_compare(map, "Yours", rule) != O2_MAP_UNKNOWN)
		o2_forms_fail(report, "forms/listed", "map-unknown", rule, form);
	else if (o2_error_map_compare(map, other, rule) !=
		 (strcmp(other, rule) == 0 ? O2_MAP_AGREES : O2_MAP_DIFFERS))
		o2_forms_fail(report, "forms/listed", "map-rule", other, form);
}

/* How the file is made invalid, and the text that must follow its name in the error. */
enum spoilt {
	WELL,
	OTHER_FORM,
	NO_MEMBER,
	WRONG_NAME,
	WRONG_TYPE,
	SPOILTS,
};

static void must_refuse(struct o2_report *report, const json_t *form, const char *path, int rc,
			const char *text, const char *said)
{
	char expected[300];

	snprintf(expected, sizeof(expected), "%s: %s", path, said);
	if (rc != -EINVAL)
		o2_forms_fail(report, "forms/listed", "taken", said, form);
	else if (strncmp(text, expected, strlen(expected)) != 0)
		o2_forms_fail(report, "forms/listed", "words", text, form);
}

void o2_forms_check_map(struct o2_forms_run *run, struct o2_choice *c, struct o2_report *report)
{
	static const char *const said[SPOILTS] = {
		[OTHER_FORM] = "",
		[NO_MEMBER] = "errors is not an object",
		[WRONG_NAME] = "errors.Mine: no/such",
		[WRONG_TYPE] = "errors.Mine: a value that is no string is not the id of a rule"};
	const enum spoilt spoilt = o2_draw_bool(c, 2, 1) ? (enum spoilt)(1 + o2_draw(c, 3)) : WELL;
	const uint32_t count = 1 + (uint32_t)o2_draw(c, MOST - 1);
	struct stands stands[MOST];
	struct o2_error_map map = {NULL};
	json_t *rules = draw_rules(c, stands, count, count == 1), *form;
	char path[40], text[300] = "";
	int fd, rc;

	(void)run;
	if (spoilt == WRONG_NAME || spoilt == WRONG_TYPE) {
		const bool star = o2_draw_bool(c, 1, 1);

		json_decref(rules);
		rules = spoilt == WRONG_NAME ? json_string(star ? "no/such*" : "no/such") : json_integer(1);
		if (o2_draw_bool(c, 1, 1))
			rules = json_pack("[s, o]", o2_forms_draw_rule(c), rules);
	}
	form = json_pack("{s:s, s:i, s:o}", "form",
			 spoilt == OTHER_FORM ? "o2ref/known_differences" : "o2ref/error_map", "version", 1,
			 "errors", json_pack("{s:o}", "Mine", rules));
	if (spoilt == NO_MEMBER)
		json_object_set_new(form, "errors", json_array());
	fd = write_form(form, path);
	if (fd >= 0) {
		rc = o2_error_map_read(path, &map, text, sizeof(text));
		if (spoilt != WELL)
			must_refuse(report, form, path, rc, text, said[spoilt]);
		else if (rc != 0)
			o2_forms_fail(report, "forms/listed", "refused", text, form);
		else
			check_map(&map, c, stands, count, form, report);
		o2_error_map_free(&map);
		close(fd);
	}
	json_decref(form);
}

/* --- known differences --- */

/* Draw a member of the question that is a number, a text or a flag, and the path to it. */
static json_t *draw_member(struct o2_choice *c, json_t *at, char *path, size_t bytes)
{
	size_t used = 0;

	while (json_object_size(at) > 0 || json_array_size(at) > 0) {
		if (json_is_array(at)) {
			const size_t i = o2_draw(c, json_array_size(at) - 1);

			used += (size_t)snprintf(path + used, bytes - used, "%s%zu", used == 0 ? "" : ".", i);
			at = json_array_get(at, i);
		} else {
			void *member = json_object_iter(at);

			for (uint64_t skip = o2_draw(c, json_object_size(at) - 1); skip > 0; skip--)
				member = json_object_iter_next(at, member);
			used += (size_t)snprintf(path + used, bytes - used, "%s%s", used == 0 ? "" : ".",
						 json_object_iter_key(member));
			at = json_object_iter_value(member);
		}
	}
	return json_is_object(at) || json_is_array(at) || json_is_null(at) || used >= bytes ? NULL : at;
}

/* Make the path wrong: one more step at its end, or a wrong name or index in it. */
static void spoil_path(struct o2_choice *c, char *path, size_t bytes)
{
	const char *more = o2_draw_bool(c, 1, 1) ? ".more" : "more";
	size_t at = strlen(path);
	char rest[100];

	if (more[0] != '.') {
		at = strcspn(path, ".");
		for (uint64_t skip = o2_draw(c, 3); skip > 0 && path[at] != '\0'; skip--)
			at += 1 + strcspn(path + at + 1, ".");
	}
	snprintf(rest, sizeof(rest), "%s", path + at);
	snprintf(path + at, bytes - at, "%s%s", more, rest);
}

/* Draw a condition on the member, and whether it holds.  The path may be made one to a missing member. */
static json_t *draw_condition(struct o2_choice *c, const json_t *member, char *path, size_t bytes,
			      bool *holds)
{
	const bool number = json_is_integer(member);
	const json_int_t value = json_integer_value(member);
	const bool range = number && value > INT32_MIN && value < INT32_MAX;
	const uint64_t kind = o2_draw(c, range ? 6 : number ? 3 : 7);

	*holds = kind != 1 && kind != 3 && kind != 5;
	if (o2_draw_bool(c, 15, 1) && strlen(path) + sizeof(".more") <= bytes) {
		*holds = false;
		spoil_path(c, path, bytes);
	}
	if (!range && kind > 3) { /* the member is not a number */
		*holds = false;
		return json_pack("{s:i}", kind % 2 == 0 ? "least" : "most", kind < 6 ? INT32_MIN : INT32_MAX);
	}
	switch (kind) {
	case 0:
		return json_deep_copy(member);
	case 1:
		return json_string("something else");
	case 2:
		return json_pack("[s, o]", "something else", json_deep_copy(member));
	case 3:
		return json_pack("[s, s]", "something else", "again");
	case 4:
		return json_pack("{s:I, s:I}", "least", value - (json_int_t)o2_draw(c, 1), "most",
				 value + (json_int_t)o2_draw(c, 1));
	case 5:
		return o2_draw_bool(c, 1, 1) ? json_pack("{s:I}", "least", value + 1)
					     : json_pack("{s:I}", "most", value - 1);
	default:
		return o2_draw_bool(c, 1, 1) ? json_pack("{s:I}", "least", value)
					     : json_pack("{s:I}", "most", value);
	}
}

/* Draw an entry.  *fits: it is for the check that is asked, in this stage, on this question. */
static json_t *draw_entry(struct o2_forms_run *run, struct o2_choice *c, json_t *question,
			  enum o2_check_id asked, bool *fits)
{
	const bool other = o2_draw_bool(c, 1, 1);
	const enum o2_check_id check = other ? (enum o2_check_id)o2_draw(c, O2_CHECKS - 1) : asked;
	const enum o2_stage stage = (enum o2_stage)o2_draw(c, O2_STAGES - 1);
	json_t *entry = json_pack("{s:s, s:s}", "check", o2_check_name(check), "reason",
				  other ? "it is an old tree" : "so it is meant");
	char path[100];

	*fits = check == asked;
	if (o2_draw_bool(c, 2, 1)) {
		json_object_set_new(entry, "stage", json_string(o2_stage_name(stage)));
		*fits = *fits && stage == run->asked.stage;
	}
	for (uint64_t left = o2_draw(c, 2); left > 0; left--) {
		json_t *member = draw_member(c, question, path, sizeof(path)), *when, *condition;
		bool holds;

		if (member == NULL || json_object_get(json_object_get(entry, "when"), path) != NULL)
			continue;
		if (json_object_get(entry, "when") == NULL)
			json_object_set_new(entry, "when", json_object());
		condition = draw_condition(c, member, path, sizeof(path), &holds);
		when = json_object_get(entry, "when");
		json_object_set_new(when, path, condition);
		*fits = *fits && holds;
	}
	return entry;
}

static json_t *no_condition(struct o2_choice *c)
{
	switch (o2_draw(c, 6)) {
	case 0:
		return json_object();
	case 1:
		return json_pack("{s:s}", "least", "x");
	case 2:
		return json_pack("{s:i, s:i}", "least", 1, "mist", 1);
	case 3:
		return json_array();
	case 4:
		return json_pack("[i, [i]]", 1, 2);
	case 5:
		return json_pack("[i, {s:b}]", 1, "most", 1);
	default:
		return json_null();
	}
}

/* Make the last entry invalid.  Returns the error that must follow. */
static const char *spoil(struct o2_choice *c, json_t *form, json_t *entry, char *said, size_t bytes)
{
	const char *name = json_string_value(json_object_get(entry, "check"));
	const uint64_t kind = o2_draw(c, 7);
	const bool other = o2_draw_bool(c, 1, 1);

	snprintf(said, bytes, "%s has no reason", name);
	if (kind == 0) {
		json_object_set_new(entry, "reason", other ? json_integer(7) : json_string(""));
	} else if (kind == 1) {
		snprintf(said, bytes, "%s: '%s' is no stage", name, other ? "" : "no_stage");
		json_object_set_new(entry, "stage", other ? json_integer(0) : json_string("no_stage"));
	} else if (kind == 2) {
		snprintf(said, bytes, "%s: when is not an object", name);
		json_object_set_new(entry, "when", other ? json_array() : json_string("no object"));
	} else if (kind == 3) {
		snprintf(said, bytes,
			 "%s: when.a.b is not a value, a list of values, or {\"least\": N, \"most\": N}",
			 name);
		json_object_set_new(entry, "when", json_pack("{s:o}", "a.b", no_condition(c)));
	} else if (kind == 4) {
		snprintf(said, bytes, "'%s' is no check (see: o2ref check --list-checks)",
			 other ? "" : "no/such");
		json_object_set_new(entry, "check", other ? json_null() : json_string("no/such"));
	} else if (kind == 5) {
		snprintf(said, bytes, "%s: '%s' is none of check, stage, when, reason", name,
			 other ? "wehn" : "");
		json_object_set_new(entry, other ? "wehn" : "", json_object());
	} else if (kind == 6) {
		said[0] = '\0';
		json_object_set_new(form, "form", json_string(other ? "o2ref/error_map" : ""));
	} else {
		snprintf(said, bytes, "differences is not an array");
		json_object_set_new(form, "differences", json_object());
	}
	return said;
}

/* Check that the entry was read as it was written. */
static void check_entry(const struct o2_known_difference *item, const json_t *entry, struct o2_report *report)
{
	const char *reason = json_string_value(json_object_get(entry, "reason"));
	const char *check = json_string_value(json_object_get(entry, "check"));
	const char *stage = json_string_value(json_object_get(entry, "stage"));

	if (strcmp(item->reason, reason) != 0 || strcmp(o2_check_name(item->check), check) != 0 ||
	    (stage == NULL ? item->stage != O2_STAGES : strcmp(o2_stage_name(item->stage), stage) != 0))
		o2_forms_fail(report, "forms/listed", "known-entry", item->reason, entry);
}

void o2_forms_check_known(struct o2_forms_run *run, struct o2_choice *c, struct o2_report *report)
{
	const enum o2_check_id asked = (enum o2_check_id)o2_draw(c, O2_CHECKS - 1);
	const uint32_t count = 1 + (uint32_t)o2_draw(c, MOST - 1);
	json_t *question, *form, *list = json_array();
	struct o2_known known;
	char path[40], text[400] = "", said[300];
	uint32_t expected = 0;
	bool spoilt, fits;
	int fd, rc;

	o2_draw_case(c, (enum o2_stage)o2_draw(c, O2_STAGES - 1), &run->asked, &run->scenario);
	question = o2_choice_ok(c) ? o2_case_to_json(&run->asked) : NULL;
	for (uint32_t i = 0; question != NULL && i < count; i++) {
		json_array_append_new(list, draw_entry(run, c, question, asked, &fits));
		if (fits && expected == 0)
			expected = i + 1;
	}
	form = json_pack("{s:s, s:i, s:o}", "form", "o2ref/known_differences", "version", 1, "differences",
			 list);
	spoilt = question != NULL && o2_draw_bool(c, 3, 1);
	if (spoilt)
		spoil(c, form, json_array_get(list, count - 1), said, sizeof(said));
	fd = question == NULL ? -1 : write_form(form, path);
	if (fd >= 0) {
		rc = o2_known_read(path, &known, text, sizeof(text));
		if (spoilt)
			must_refuse(report, form, path, rc, text, said);
		else if (rc != 0)
			o2_forms_fail(report, "forms/listed", "refused", text, form);
		else if (o2_known_find(&known, &run->asked, asked) != expected)
			o2_forms_fail(report, "forms/listed", "known", o2_check_name(asked), form);
		else if (known.count != count || o2_known_find(NULL, &run->asked, asked) != 0)
			o2_forms_fail(report, "forms/listed", "known-count", o2_check_name(asked), form);
		for (uint32_t i = 0; rc == 0 && !spoilt && i < count && i < known.count; i++)
			check_entry(&known.item[i], json_array_get(list, i), report);
		o2_known_free(&known);
		close(fd);
	}
	json_decref(form);
	json_decref(question);
}
