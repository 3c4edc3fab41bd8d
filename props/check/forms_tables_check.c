/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fields_json.h"
#include "props/check/forms_tables.h"

/* Write, read, compare and flatten a drawn struct by its table, and check each result. */

#define TEXT_BYTES 8192u
#define OLD	   0xa5 /* fills memory before something is read into it */

static struct {
	struct o2_table table;
	uint8_t expected[O2_TABLE_HOLDER_BYTES], found[O2_TABLE_HOLDER_BYTES];
	char text[TEXT_BYTES];
	struct o2_table_wrong wrong;
} it;

static void fail(struct o2_report *report, const char *what)
{
	o2_report_fail_in(report, "forms/table", what, "%.600s", it.text);
}

/* Is member i missing from the object in which member `at` is wrong? */
static bool is_missing(uint32_t i, uint32_t at)
{
	return i == at ? it.wrong.missing : !o2_table_is_said(it.table.member[i], it.table.holder);
}

/* Write the whole object to it.text, with member `at` wrong.  Returns how many of the table's members it has. */
static size_t say_all(uint32_t at)
{
	FILE *out = o2_table_open(it.text, sizeof(it.text));
	const char *between = "{";
	size_t said = 0;

	for (uint32_t i = 0; i < O2_TABLE_MEMBERS; i++) {
		if (is_missing(i, at))
			continue;
		fprintf(out, "%s\"m%" PRIu32 "\":", between, i);
		between = ",";
		said++;
		if (i == at)
			fputs(it.wrong.text, out);
		else
			o2_table_say(out, it.table.member[i], it.table.holder);
	}
	fputs(said == 0 ? "{}" : "}", out);
	fclose(out);
	return said;
}

/* --- writing --- */

static void check_written(struct o2_choice *c, struct o2_report *report)
{
	const struct o2_field *full = it.table.member[o2_draw_pick(c, O2_TABLE_MEMBERS)];
	char *expected_text, *written_text;
	json_t *expected, *written;

	/* Characters without a NUL end with their array. */
	if (full->kind == O2_FIELD_CHARS)
		memset(it.table.holder + full->offset_bytes, 'z', full->width_bytes + 1);
	written = o2_fields_to_json(it.table.first, it.table.holder);
	say_all(O2_TABLE_MEMBERS);
	expected = json_loads(it.text, 0, NULL);
	expected_text = json_dumps(expected, JSON_COMPACT);
	written_text = json_dumps(written, JSON_COMPACT);
	if (expected_text == NULL || written_text == NULL || strcmp(expected_text, written_text) != 0) {
		fail(report, "written");
		o2_report_add(report, "%.600s", written_text == NULL ? "(nothing)" : written_text);
	}
	free(written_text);
	free(expected_text);
	json_decref(written);
	json_decref(expected);
}

/* A number without a name, and a list with more elements than its array, cannot be written. */
static void check_not_written(struct o2_choice *c, struct o2_report *report)
{
	const struct o2_field *row = it.table.member[o2_draw_pick(c, O2_TABLE_MEMBERS)];
	const uint64_t value = row->kind == O2_FIELD_LIST ? O2_TABLE_ROOM + 1 : 1 + 3 * o2_draw(c, 1);
	const uint32_t count = (uint32_t)value;
	json_t *written;

	if (row->kind == O2_FIELD_LIST)
		memcpy(it.table.holder + row->count_bytes, &count, sizeof(count));
	else if (row->kind == O2_FIELD_NAME && !row->written_only)
		o2_table_set(row, it.table.holder, value);
	else
		return;
	written = o2_fields_to_json(it.table.first, it.table.holder);
	snprintf(it.text, sizeof(it.text), "%s of %" PRIu64, row->name, value);
	if (written != NULL)
		fail(report, "not-to-be-written");
	json_decref(written);
}

/* --- reading --- */

static void expect_part(const struct o2_field *part, uint32_t at)
{
	for (; part->name != NULL; part++) {
		uint64_t value = o2_table_number(part, it.table.holder + at);

		if (part->kind == O2_FIELD_BIT)
			value = (o2_table_number(part, it.expected + at) & ~part->limit) |
				(value & part->limit);
		o2_table_set(part, it.expected + at, value);
	}
}

static void expect_member(const struct o2_field *row, bool missing)
{
	const struct o2_field alone[] = {*row, {0}};
	const uint32_t count = row->kind == O2_FIELD_LIST ? o2_table_count(row, it.table.holder) : 0;

	if (missing || row->written_only) {
		if (missing && row->sparse)
			o2_table_set(row, it.expected, 0);
	} else if (o2_table_is_number(row)) {
		expect_part(alone, 0);
	} else if (row->kind == O2_FIELD_PART) {
		expect_part(row->part, row->offset_bytes);
	} else if (row->kind == O2_FIELD_CHARS) {
		memcpy(it.expected + row->offset_bytes, it.table.holder + row->offset_bytes,
		       row->width_bytes);
	} else {
		memcpy(it.expected + row->count_bytes, &count, sizeof(count));
		for (uint32_t i = 0; i < count; i++)
			expect_part(row->part, row->offset_bytes + O2_TABLE_STRIDE_BYTES * i);
	}
}

static void check_read_as(uint32_t at, const json_t *object, size_t said, struct o2_report *report)
{
	memset(it.expected, OLD, O2_TABLE_MORE_AT);
	for (uint32_t i = 0; i < O2_TABLE_MEMBERS; i++)
		expect_member(it.table.member[i], is_missing(i, at));
	for (uint32_t i = 0; i < O2_TABLE_MORE_AT && !report->failed; i++) {
		if (it.found[i] == it.expected[i])
			continue;
		fail(report, "read");
		o2_report_add(report, "byte %" PRIu32 " of member %" PRIu32 " is 0x%02x, expected 0x%02x",
			      i % O2_TABLE_SLOT_BYTES, i / O2_TABLE_SLOT_BYTES, it.found[i], it.expected[i]);
	}
	if (o2_fields_known(object, it.table.first, it.found) != said)
		fail(report, "known");
}

/* Read the object alone or as a member of another; or something there that is no object. */
static int read_object(struct o2_choice *c, json_t *object, struct o2_error *error)
{
	const bool inside = o2_draw_bool(c, 3, 1), spoilt = inside && o2_draw_bool(c, 7, 1);
	json_t *outer;
	int rc;

	if (!inside)
		return o2_fields_from_json(object, it.table.first, it.found, error);
	outer = spoilt ? json_pack("{s:[O]}", "whole", object) : json_pack("{s:O}", "whole", object);
	if (spoilt)
		it.wrong = (struct o2_table_wrong){.rule = "json/not-an-object",
						   .field = "whole",
						   .index = O2_NO_INDEX,
						   .limit = O2_NO_LIMIT};
	rc = o2_part_from_json(outer, "whole", it.table.first, it.found, error);
	json_decref(outer);
	return rc;
}

/* The error text names the value and the limit, or neither. */
static bool is_worded(const struct o2_error *error)
{
	char what[O2_ERROR_WHAT_BYTES], *said;

	o2_error_what(error, what, sizeof(what));
	said = strstr(what, " is ");
	if (said == NULL || it.wrong.said[0] == '\0')
		return said == NULL && it.wrong.said[0] == '\0';
	return strcmp(said + strlen(" is "), it.wrong.said) == 0;
}

/* The object also contains an unknown member. */
static void check_read(struct o2_choice *c, struct o2_report *report)
{
	const uint32_t at = (uint32_t)o2_draw(c, O2_TABLE_MEMBERS); /* the last value: no member is wrong */
	const bool in_words = !o2_draw_bool(c, 7, 1);
	struct o2_error error = {0};
	char what[O2_ERROR_WHAT_BYTES];
	json_t *object;
	size_t said;
	int rc;

	it.wrong = (struct o2_table_wrong){0};
	if (at < O2_TABLE_MEMBERS)
		o2_table_wrong(c, it.table.member[at], it.table.holder, &it.wrong);
	said = say_all(at);
	object = json_loads(it.text, 0, NULL);
	json_object_set_new(object, "more", json_integer(1));
	memset(it.found, OLD, sizeof(it.found));
	memcpy(it.found + O2_TABLE_MORE_AT, it.table.holder + O2_TABLE_MORE_AT, sizeof(void *));
	rc = read_object(c, object, in_words ? &error : NULL);
	if (rc != (it.wrong.rule == NULL ? 0 : -EINVAL)) {
		fail(report, "verdict");
		o2_report_add(report, "%d by %s, expected %s", rc,
			      error.rule == NULL ? "nothing" : error.rule,
			      it.wrong.rule == NULL ? "to be read" : it.wrong.rule);
	} else if (rc == 0) {
		check_read_as(at, object, said, report);
	} else if (in_words &&
		   (error.code != rc || strcmp(error.rule, it.wrong.rule) != 0 ||
		    strcmp(error.field, it.wrong.field) != 0 || error.index != it.wrong.index ||
		    error.value != it.wrong.value || error.limit != it.wrong.limit || !is_worded(&error))) {
		fail(report, "refusal");
		o2_report_add(report, "%s of %s %" PRIu32 ": %" PRIu64 ", limit %" PRIu64, error.rule,
			      error.field, error.index, error.value, error.limit);
		o2_report_add(report, "expected %s of %s %" PRIu32 ": %" PRIu64 ", limit %" PRIu64,
			      it.wrong.rule, it.wrong.field, it.wrong.index, it.wrong.value, it.wrong.limit);
		o2_error_what(&error, what, sizeof(what));
		o2_report_add(report, "in words: %s; expected is '%s'", what, it.wrong.said);
	}
	json_decref(object);
}

/* --- comparing --- */

struct differing {
	uint32_t count;
	const struct o2_field *row[2];
	uint64_t a[2], b[2];
};

static void note(const struct o2_field *field, uint64_t a, uint64_t b, void *context)
{
	struct differing *differing = context;

	if (differing->count < 2) {
		differing->row[differing->count] = field;
		differing->a[differing->count] = a;
		differing->b[differing->count] = b;
	}
	differing->count++;
}

/* Change a member in it.found; the count of a list cannot be changed. */
static void differ_in(struct o2_choice *c, uint32_t i, struct differing *expected)
{
	const struct o2_field *row = it.table.member[i], *at = row;
	uint32_t offset = 0;
	uint64_t was;

	if (row->kind == O2_FIELD_LIST) {
		it.found[row->offset_bytes] ^= 1;
		it.found[row->count_bytes] ^= 1;
		return;
	}
	if (row->kind == O2_FIELD_CHARS) {
		it.found[row->offset_bytes + o2_draw(c, row->width_bytes - 1)] ^= 1;
		note(row, 0, 1, expected);
		return;
	}
	if (row->kind == O2_FIELD_PART) {
		offset = row->offset_bytes;
		at = &row->part[o2_draw_pick(c, o2_table_rows(row->part))];
	}
	was = o2_table_number(at, it.found + offset);
	it.found[offset + at->offset_bytes + o2_draw(c, at->width_bytes - 1)] ^= 0x80;
	note(at, was, o2_table_number(at, it.found + offset), expected);
}

static void check_compared(struct o2_choice *c, struct o2_report *report)
{
	const uint32_t one = (uint32_t)o2_draw(c, O2_TABLE_MEMBERS),
		       two = (uint32_t)o2_draw(c, O2_TABLE_MEMBERS);
	struct differing expected = {0}, found = {0};

	memcpy(it.found, it.table.holder, sizeof(it.found));
	for (uint32_t i = 0; i < O2_TABLE_MEMBERS; i++)
		if (i == one || i == two)
			differ_in(c, i, &expected);
	o2_fields_compare(it.table.first, it.table.holder, it.found, note, &found);
	snprintf(it.text, sizeof(it.text), "members %" PRIu32 " and %" PRIu32 " differ", one, two);
	if (expected.count != found.count)
		fail(report, "differences");
	for (uint32_t i = 0; i < expected.count && !report->failed; i++)
		if (expected.row[i] != found.row[i] || expected.a[i] != found.a[i] ||
		    expected.b[i] != found.b[i])
			fail(report, "difference");
}

/* --- side by side --- */

static void check_flat(struct o2_choice *c, struct o2_report *report)
{
	struct o2_field flat[O2_TABLE_MEMBERS + 2] = {{0}};
	uint8_t numbers[8 * (O2_TABLE_MEMBERS + 1)] = {0};
	const struct o2_field *row[O2_TABLE_MEMBERS + 1];
	uint32_t n = 0;

	for (uint32_t i = 0; i < O2_TABLE_MEMBERS; i++) {
		const bool back = o2_draw_bool(c, 1, 1), taken = o2_draw_bool(c, 1, 2);
		const uint32_t at = back ? 0 : n;

		if (!taken || !o2_table_is_number(it.table.member[i]))
			continue;
		memmove(row + at + 1, row + at, (n - at) * sizeof(row[0]));
		row[at] = it.table.member[i];
		n++;
	}
	for (uint32_t i = 0; i < n; i++)
		flat[i] = (struct o2_field){
			.name = row[i]->name, .kind = O2_FIELD_UINT, .width_bytes = 8, .offset_bytes = 8 * i};
	o2_fields_flatten(it.table.first, it.table.holder, flat, numbers);
	memset(it.found, OLD, O2_TABLE_MORE_AT);
	memset(it.expected, OLD, O2_TABLE_MORE_AT);
	memcpy(it.found + O2_TABLE_MORE_AT, it.table.holder + O2_TABLE_MORE_AT, sizeof(void *));
	o2_fields_unflatten(flat, numbers, it.table.first, it.found);
	snprintf(it.text, sizeof(it.text), "%" PRIu32 " numbers", n);
	for (uint32_t i = 0; i < n; i++) {
		o2_table_set(row[i], it.expected, o2_table_number(row[i], it.table.holder));
		if (o2_table_number(&flat[i], numbers) != o2_table_number(row[i], it.table.holder))
			fail(report, "flat");
	}
	if (memcmp(it.found, it.expected, O2_TABLE_MORE_AT) != 0)
		fail(report, "from-flat");
}

void o2_forms_check_table(struct o2_forms_run *run, struct o2_choice *c, struct o2_report *report)
{
	const uint64_t kind = o2_draw(c, 5);

	(void)run;
	o2_table_draw(c, &it.table);
	if (kind < 3)
		check_read(c, report);
	else if (kind == 3)
		check_compared(c, report);
	else if (kind == 4)
		check_flat(c, report);
	else
		check_not_written(c, report);
	if (kind < 2 && !report->failed)
		check_written(c, report);
}
