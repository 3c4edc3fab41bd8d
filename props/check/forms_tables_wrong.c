/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "props/check/forms_tables.h"

/* A member's JSON with one thing wrong, and the refusal that must follow. */

static void refused(struct o2_table_wrong *wrong, const char *rule, uint64_t value, uint64_t limit)
{
	wrong->rule = rule;
	wrong->value = value;
	wrong->limit = limit;
	wrong->said[0] = '\0';
	if (limit != O2_NO_LIMIT)
		snprintf(wrong->said, sizeof(wrong->said), "%" PRIu64 ", limit %" PRIu64, value, limit);
}

/* With too few or too many digits the text is no number. */
static void refused_digits(struct o2_table_wrong *wrong, uint64_t digits)
{
	refused(wrong, "json/hex-digits", digits, 16);
	wrong->said[0] = '\0';
}

static void put_in(struct o2_table_wrong *wrong, const char *text)
{
	snprintf(wrong->text, sizeof(wrong->text), "%s", text);
}

/* Use a value of another type, or none. */
static void of_another_type(struct o2_choice *c, const struct o2_field *row, struct o2_table_wrong *wrong)
{
	static const char *const rules[] = {
		[O2_FIELD_UINT] = "json/not-an-integer",   [O2_FIELD_INT] = "json/not-an-integer",
		[O2_FIELD_LENGTH] = "json/not-an-integer", [O2_FIELD_HEX] = "json/not-a-hex-string",
		[O2_FIELD_BOOL] = "json/not-a-boolean",	   [O2_FIELD_BIT] = "json/not-a-boolean",
		[O2_FIELD_NAME] = "json/unknown-name",	   [O2_FIELD_CHARS] = "json/not-a-string",
		[O2_FIELD_PART] = "json/not-an-object",	   [O2_FIELD_LIST] = "json/not-an-array"};
	const bool null = o2_draw_bool(c, 1, 1);

	put_in(wrong, null ? "null" : row->kind == O2_FIELD_LIST ? "{}" : "[]");
	refused(wrong, rules[row->kind], 0, O2_NO_LIMIT);
}

static void not_hex(struct o2_choice *c, struct o2_table_wrong *wrong)
{
	switch (o2_draw(c, 3)) {
	case 0:
		put_in(wrong, "\"0x\"");
		refused_digits(wrong, 0);
		break;
	case 1:
		put_in(wrong, "\"0x00000000000000001\"");
		refused_digits(wrong, 17);
		break;
	case 2:
		put_in(wrong, "\"0xFg\"");
		refused_digits(wrong, 1);
		break;
	default:
		put_in(wrong, "\"1x5\"");
		refused(wrong, "json/not-a-hex-string", 0, O2_NO_LIMIT);
		break;
	}
}

/* limit: the limit that the value exceeds. */
static void integer(struct o2_table_wrong *wrong, int64_t value, int64_t limit)
{
	snprintf(wrong->text, sizeof(wrong->text), "%" PRId64, value);
	refused(wrong, "json/integer-out-of-range", (uint64_t)value, (uint64_t)limit);
	snprintf(wrong->said, sizeof(wrong->said), "%" PRId64 ", limit %" PRId64, value, limit);
}

static void wrong_number(struct o2_choice *c, const struct o2_field *row, struct o2_table_wrong *wrong)
{
	const uint64_t largest = o2_table_largest(row);
	const bool above = o2_draw_bool(c, 1, 1);

	switch (row->kind) {
	case O2_FIELD_UINT:
		if (above && largest < INT64_MAX)
			integer(wrong, (int64_t)largest + 1, (int64_t)largest);
		else
			integer(wrong, -1, 0);
		break;
	case O2_FIELD_INT:
		if (above)
			integer(wrong, INT64_C(0x80000000), INT32_MAX);
		else
			integer(wrong, -INT64_C(0x80000001), INT32_MIN);
		break;
	case O2_FIELD_LENGTH:
		if (above)
			not_hex(c, wrong);
		else
			integer(wrong, -1, 0);
		break;
	case O2_FIELD_HEX:
		if (!above || largest == UINT64_MAX) {
			not_hex(c, wrong);
			break;
		}
		snprintf(wrong->text, sizeof(wrong->text), "\"0x%" PRIx64 "\"", largest + 1);
		refused(wrong, "json/integer-out-of-range", largest + 1, largest);
		break;
	case O2_FIELD_NAME:
		put_in(wrong, "\"alph\"");
		refused(wrong, "json/unknown-name", 0, O2_NO_LIMIT);
		break;
	default:
		put_in(wrong, above ? "1" : "\"true\"");
		refused(wrong, "json/not-a-boolean", 0, O2_NO_LIMIT);
		break;
	}
}

static void wrong_chars(struct o2_choice *c, const struct o2_field *row, struct o2_table_wrong *wrong)
{
	static const char *const escapes[] = {"\"\\\\q\"",   "\"\\\\x00\"", "\"\\\\x4\"",
					      "\"\\\\xg0\"", "\"\\\\xA0\"", "\"\\\\\""};

	if (o2_draw_bool(c, 1, 1)) {
		put_in(wrong, escapes[o2_draw_pick(c, sizeof(escapes) / sizeof(escapes[0]))]);
		refused(wrong, "json/characters", 0, O2_NO_LIMIT);
		return;
	}
	snprintf(wrong->text, sizeof(wrong->text), "\"%.*s\"", (int)row->width_bytes,
		 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
	refused(wrong, "json/text-too-long", row->width_bytes, row->width_bytes - 1);
}

static void put_element(struct o2_choice *c, const struct o2_field *row, const uint8_t *element,
			const struct o2_field *at, struct o2_table_wrong *wrong, FILE *out)
{
	const struct o2_field *part = row->part;
	const bool is_struct = part[0].name[0] != 'n';
	const char *between = "";

	fputs(is_struct ? "{" : "", out);
	for (; part->name != NULL; part++, between = ",") {
		const char *key = strrchr(part->name, 'x');

		if (part == at && is_struct && o2_draw_bool(c, 3, 1)) {
			of_another_type(c, part, wrong);
			fprintf(out, "%s\"other\":1", between);
			continue;
		}
		if (is_struct)
			fprintf(out, "%s\"%s\":", between, key);
		if (part != at) {
			o2_table_say(out, part, element);
			continue;
		}
		if (o2_draw_bool(c, 1, 1))
			of_another_type(c, part, wrong);
		else
			wrong_number(c, part, wrong);
		fputs(wrong->text, out);
	}
	fputs(is_struct ? "}" : "", out);
}

/* Make one of the inner numbers wrong. */
static void wrong_inside(struct o2_choice *c, const struct o2_field *row, const uint8_t *struct_bytes,
			 struct o2_table_wrong *wrong)
{
	const uint8_t *first = struct_bytes + row->offset_bytes;
	const bool list = row->kind == O2_FIELD_LIST;
	const uint32_t count = list ? o2_table_count(row, struct_bytes) : 1;
	uint32_t element;
	const struct o2_field *at;
	char text[sizeof(wrong->text)] = "";
	FILE *out = o2_table_open(text, sizeof(text));

	element = (uint32_t)o2_draw_pick(c, count);
	at = &row->part[o2_draw_pick(c, o2_table_rows(row->part))];
	fputs(list ? "[" : "", out);
	for (uint32_t i = 0; i < count; i++) {
		fputs(i == 0 ? "" : ",", out);
		put_element(c, row, first + O2_TABLE_STRIDE_BYTES * i, i == element ? at : NULL, wrong, out);
	}
	fputs(list ? "]" : "", out);
	fclose(out);
	put_in(wrong, text);
	wrong->field = o2_table_inside(row, at);
	wrong->index = list ? element : O2_NO_INDEX;
}

static void too_many(const struct o2_field *row, struct o2_table_wrong *wrong)
{
	struct o2_field more = *row;
	uint8_t bytes[O2_TABLE_HOLDER_BYTES + O2_TABLE_STRIDE_BYTES] = {0};
	const uint32_t count = O2_TABLE_ROOM + 1;
	FILE *out = o2_table_open(wrong->text, sizeof(wrong->text));

	more.offset_bytes = 0;
	more.count_bytes = sizeof(bytes) - sizeof(count);
	memcpy(bytes + more.count_bytes, &count, sizeof(count));
	o2_table_say(out, &more, bytes);
	fclose(out);
	refused(wrong, "json/array-too-long", count, O2_TABLE_ROOM);
}

void o2_table_wrong(struct o2_choice *c, const struct o2_field *row, const uint8_t *struct_bytes,
		    struct o2_table_wrong *wrong)
{
	const uint64_t how = o2_draw(c, 3);
	const uint32_t count = row->kind == O2_FIELD_LIST ? o2_table_count(row, struct_bytes) : 1;

	memset(wrong, 0, sizeof(*wrong));
	wrong->field = row->name;
	wrong->index = O2_NO_INDEX;
	if (how < 2) {
		of_another_type(c, row, wrong);
		wrong->missing = how == 0;
	} else if (o2_table_is_number(row)) {
		wrong_number(c, row, wrong);
	} else if (row->kind == O2_FIELD_CHARS) {
		wrong_chars(c, row, wrong);
	} else if (count == 0 || (row->kind == O2_FIELD_LIST && how == 2)) {
		too_many(row, wrong);
	} else {
		wrong_inside(c, row, struct_bytes, wrong);
	}
	if (row->written_only || (wrong->missing && (row->optional || row->sparse)))
		wrong->rule = NULL;
}
