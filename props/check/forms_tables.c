/* SPDX-License-Identifier: MIT */
#include "props/check/forms_tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "props/model/wire_model.h"
#include "props/scenario/draw.h"

static const char *const words[] = {"alpha", NULL, "gamma", "delta"};
#define WORDS (sizeof(words) / sizeof(words[0]))

/* An inner field gets the name that ends like its own ("x0", "in.x1", "x2"), and any other the last one. */
static const char *const by_ends[] = {"outx0", "out.x0", "out.in.x1", "out.rest", NULL};
static const char *const by_all[] = {"x2", "out.last", NULL};

const char *o2_table_inside(const struct o2_field *row, const struct o2_field *inner)
{
	if (row->inside == by_all)
		return strcmp(inner->name, "x2") == 0 ? "x2" : "out.last";
	if (row->inside != by_ends)
		return inner->name;
	return strcmp(inner->name, "x0") == 0	   ? "out.x0"
	       : strcmp(inner->name, "in.x1") == 0 ? "out.in.x1"
						   : "out.rest";
}

/* --- memory --- */

bool o2_table_is_number(const struct o2_field *field)
{
	return field->kind < O2_FIELD_TEXT;
}

uint64_t o2_table_number(const struct o2_field *field, const uint8_t *struct_bytes)
{
	const uint64_t value = o2_wm_load(struct_bytes + field->offset_bytes, field->width_bytes, true);

	return field->kind == O2_FIELD_INT && value > INT32_MAX ? value - (UINT64_C(1) << 32) : value;
}

void o2_table_set(const struct o2_field *field, uint8_t *struct_bytes, uint64_t value)
{
	o2_wm_store(struct_bytes + field->offset_bytes, field->width_bytes, true, value);
}

uint32_t o2_table_count(const struct o2_field *list, const uint8_t *struct_bytes)
{
	uint32_t count;

	memcpy(&count, struct_bytes + list->count_bytes, sizeof(count));
	return count;
}

uint32_t o2_table_rows(const struct o2_field *part)
{
	uint32_t rows = 0;

	while (part[rows].name != NULL)
		rows++;
	return rows;
}

uint64_t o2_table_largest(const struct o2_field *field)
{
	if (field->kind == O2_FIELD_UINT && field->limit != 0)
		return field->limit;
	return UINT64_MAX >> (64 - 8 * field->width_bytes);
}

static const struct o2_field *more_of(const void *holder)
{
	const struct o2_field *more;

	memcpy(&more, (const uint8_t *)holder + O2_TABLE_MORE_AT, sizeof(more));
	return more;
}

/* --- drawing --- */

static uint64_t draw_value(struct o2_choice *c, const struct o2_field *field)
{
	static const int64_t ints[] = {0, 1, -1, INT32_MAX, INT32_MIN, -77};
	uint64_t most = o2_table_largest(field);

	if (field->kind == O2_FIELD_INT)
		return (uint64_t)ints[o2_draw_pick(c, 6)];
	if (field->kind == O2_FIELD_BOOL)
		return o2_draw(c, 1);
	if (field->kind == O2_FIELD_NAME) {
		const uint64_t at = o2_draw(c, WORDS); /* WORDS: an index behind the words */

		return field->written_only ? at : at == WORDS || words[at] == NULL ? 2 : at;
	}
	if (field->kind == O2_FIELD_UINT && most > INT64_MAX) /* integers of JSON are signed */
		most = INT64_MAX;
	if (o2_draw_bool(c, 2, 1))
		return most - o2_draw(c, 1);
	return o2_draw_wild(c) & (most == UINT64_MAX || most == INT64_MAX ? most : most / 2);
}

static void draw_number_row(struct o2_choice *c, struct o2_field *row)
{
	row->kind = (enum o2_field_kind)o2_draw(c, O2_FIELD_TEXT - 1);
	row->width_bytes = 1u << o2_draw(c, 3);
	if (row->kind == O2_FIELD_INT)
		row->width_bytes = 4;
	else if (row->kind == O2_FIELD_LENGTH)
		row->width_bytes = 8;
	else if (row->kind == O2_FIELD_BIT)
		row->limit = UINT64_C(1) << o2_draw(c, 7);
	else if (row->kind == O2_FIELD_NAME)
		row->limit = WORDS, row->names = words;
	else if (row->kind == O2_FIELD_UINT && o2_draw_bool(c, 1, 1))
		row->limit = 1 + o2_draw(c, 200);
}

static void draw_inner(struct o2_choice *c, struct o2_table *table)
{
	static const char *const names[] = {"x0", "in.x1", "x2"};
	const uint64_t rows = 1 + o2_draw(c, O2_TABLE_INNER - 1);

	for (uint32_t i = 0; i < rows; i++) {
		table->inner[i].name = names[i];
		table->inner[i].offset_bytes = 8 * i;
		draw_number_row(c, &table->inner[i]);
	}
	table->number[0].name = "numbers[]";
	draw_number_row(c, &table->number[0]);
}

static void draw_row(struct o2_choice *c, const struct o2_table *table, struct o2_field *row)
{
	const uint64_t kind = o2_draw(c, 9), names = o2_draw(c, 2);

	if (kind < 5) {
		draw_number_row(c, row);
		row->written_only = o2_draw_bool(c, 7, 1);
		row->sparse = row->kind < O2_FIELD_BOOL && !row->written_only && o2_draw_bool(c, 3, 1);
	} else if (kind < 7) {
		row->kind = O2_FIELD_CHARS;
		row->width_bytes = 2 + (uint32_t)o2_draw(c, 30);
	} else {
		row->kind = kind == 7 ? O2_FIELD_PART : O2_FIELD_LIST;
		row->part = kind == 9 ? table->number : table->inner;
		row->width_bytes = kind == 7 ? O2_TABLE_STRIDE_BYTES : O2_TABLE_COUNT_AT;
		row->stride_bytes = O2_TABLE_STRIDE_BYTES;
		row->count_bytes = row->offset_bytes + O2_TABLE_COUNT_AT;
		row->inside = names == 0 ? NULL : names == 1 ? by_ends : by_all;
	}
	row->optional = !row->sparse && o2_draw_bool(c, 3, 1);
}

static void draw_part(struct o2_choice *c, const struct o2_field *part, uint8_t *at)
{
	for (; part->name != NULL; part++)
		o2_table_set(part, at, draw_value(c, part));
}

static void draw_content(struct o2_choice *c, const struct o2_field *row, uint8_t *holder)
{
	uint8_t *at = holder + row->offset_bytes;
	uint32_t count;

	if (o2_table_is_number(row)) {
		o2_table_set(row, holder, row->sparse && o2_draw_bool(c, 1, 1) ? 0 : draw_value(c, row));
	} else if (row->kind == O2_FIELD_PART) {
		draw_part(c, row->part, at);
	} else if (row->kind == O2_FIELD_LIST) {
		count = (uint32_t)o2_draw(c, O2_TABLE_ROOM);
		memcpy(holder + row->count_bytes, &count, sizeof(count));
		for (uint32_t i = 0; i < count; i++)
			draw_part(c, row->part, at + O2_TABLE_STRIDE_BYTES * i);
	} else {
		count = (uint32_t)o2_draw(c, row->width_bytes - 1);
		for (uint32_t i = 0; i < count; i++)
			at[i] = (uint8_t)(o2_draw_bool(c, 3, 1) ? 1 + o2_draw(c, 254) : 'a' + i);
	}
}

void o2_table_draw(struct o2_choice *c, struct o2_table *table)
{
	const uint32_t in_first = (uint32_t)o2_draw(c, O2_TABLE_MEMBERS);
	const struct o2_field *more = table->more;

	memset(table, 0, sizeof(*table));
	draw_inner(c, table);
	for (uint32_t i = 0; i < O2_TABLE_MEMBERS; i++) {
		struct o2_field *row = i < in_first ? &table->first[i] : &table->more[i - in_first];

		snprintf(table->name[i], sizeof(table->name[i]), "%sm%" PRIu32, i % 2 == 0 ? "of." : "", i);
		row->name = table->name[i];
		row->offset_bytes = O2_TABLE_SLOT_BYTES * i;
		draw_row(c, table, row);
		draw_content(c, row, table->holder);
		table->member[i] = row;
	}
	table->first[in_first] = (struct o2_field){.name = "", .kind = O2_FIELD_MORE, .more = more_of};
	memcpy(table->holder + O2_TABLE_MORE_AT, &more, sizeof(more));
}

/* --- in JSON --- */

FILE *o2_table_open(char *text, size_t text_bytes)
{
	FILE *out = fmemopen(text, text_bytes, "w");

	if (out == NULL)
		abort(); /* out of memory: the harness cannot test anything */
	return out;
}

bool o2_table_is_said(const struct o2_field *field, const uint8_t *struct_bytes)
{
	const uint64_t value = o2_table_is_number(field) ? o2_table_number(field, struct_bytes) : 0;

	if (field->sparse)
		return value != 0;
	return field->kind != O2_FIELD_NAME || (value < WORDS && words[value] != NULL);
}

static void say_number(FILE *out, const struct o2_field *field, uint64_t value)
{
	if (field->kind == O2_FIELD_HEX || (field->kind == O2_FIELD_LENGTH && value > INT64_MAX))
		fprintf(out, "\"0x%" PRIx64 "\"", value);
	else if (field->kind == O2_FIELD_BOOL)
		fputs(value != 0 ? "true" : "false", out);
	else if (field->kind == O2_FIELD_BIT)
		fputs((value & field->limit) != 0 ? "true" : "false", out);
	else if (field->kind == O2_FIELD_NAME)
		fprintf(out, "\"%s\"", words[value]);
	else
		fprintf(out, "%" PRId64, (int64_t)value);
}

static void say_chars(FILE *out, const uint8_t *chars, uint32_t width_bytes)
{
	fputc('"', out);
	for (uint32_t i = 0; i < width_bytes && chars[i] != 0; i++) {
		if (chars[i] < 0x20 || chars[i] > 0x7e || chars[i] == '\\')
			fprintf(out, "\\\\x%02x", chars[i]);
		else
			fprintf(out, "%s%c", chars[i] == '"' ? "\\" : "", chars[i]);
	}
	fputc('"', out);
}

static void say_part(FILE *out, const struct o2_field *part, const uint8_t *at)
{
	const char *between = "{";

	if (strcmp(part->name, "numbers[]") == 0) {
		o2_table_say(out, part, at);
		return;
	}
	for (; part->name != NULL; part++, between = ",") {
		fprintf(out, "%s\"%s\":", between, strrchr(part->name, 'x'));
		o2_table_say(out, part, at);
	}
	fputc('}', out);
}

void o2_table_say(FILE *out, const struct o2_field *field, const uint8_t *struct_bytes)
{
	const uint8_t *at = struct_bytes + field->offset_bytes;
	uint32_t count;

	if (field->kind == O2_FIELD_PART) {
		say_part(out, field->part, at);
	} else if (field->kind == O2_FIELD_LIST) {
		count = o2_table_count(field, struct_bytes);
		fputc('[', out);
		for (uint32_t i = 0; i < count; i++) {
			fputs(i == 0 ? "" : ",", out);
			say_part(out, field->part, at + O2_TABLE_STRIDE_BYTES * i);
		}
		fputc(']', out);
	} else if (field->kind == O2_FIELD_CHARS) {
		say_chars(out, at, field->width_bytes);
	} else {
		say_number(out, field, o2_table_number(field, struct_bytes));
	}
}
