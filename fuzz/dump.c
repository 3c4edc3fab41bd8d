/* SPDX-License-Identifier: MIT */
/*
 * The annotated hex dump of any bytes, as a message and as a reject record.  Each byte is in one row, in
 * order and unchanged; a value is the number in its row's bytes; the marked row is that of the refused
 * field; if a message is accepted, each field has a row with its name.  Needs the sources of ref/cli/.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/dump.h"
#include "fuzz/common.h"
#include "props/model/wire_model.h"
#include "wire/nid.h"
#include "wire/reject.h"

#define FRAME_AT     8u	 /* position in a line, after mark, blank, four digits, two blanks */
#define FRAME_CHARS  23u /* characters of eight bytes */
#define NAME_AT	     (FRAME_AT + FRAME_CHARS + 2)
#define VALUE_AT     (NAME_AT + 34 + 2)
#define MOST_BYTES   8192u
#define HEADER_BYTES 48u /* header of a message, before its body */

struct dump {
	const uint8_t *bytes;
	size_t length_bytes, at;
	bool little;
	const struct o2_error *refused;
	uint32_t marked;
	char *text;
	const char *name_at[256]; /* names of the rows by first byte; they point into text */
};

static uint64_t load(const struct dump *dump, size_t at, size_t width, const char *name)
{
	const bool is_little =
		dump->little || strncmp(name, "hdr.", 4) == 0 || strstr(name, "cookie") != NULL;

	return o2_wm_load(dump->bytes + at, (uint32_t)width, is_little);
}

/* A value that is a number, a NID or "none" must be that of the row's bytes. */
static void check_value(const struct dump *dump, size_t at, size_t width, const char *name, const char *value)
{
	char word[64];
	uint64_t number, found;

	if ((width != 1 && width != 2 && width != 4 && width != 8) || name[0] == '(' || name[0] == '\0' ||
	    strncmp(name, "payload", 7) == 0 || sscanf(value, "%63s", word) != 1)
		return;
	found = load(dump, at, width, name);
	if (strcmp(word, "none") == 0)
		number = UINT64_MAX >> (64 - 8 * width);
	else if (strchr(word, '@') != NULL) {
		if (o2_nid_from_text(word, &number, NULL) != 0)
			o2_fuzz_fail("dump: %s is no NID", word);
	} else if (word[0] == '-')
		number = (uint64_t)strtoll(word, NULL, 10) & UINT64_MAX >> (64 - 8 * width);
	else if (word[0] >= '0' && word[0] <= '9')
		number = strtoull(word, NULL, 0);
	else
		return;
	if (number != found)
		o2_fuzz_fail("dump: %s at %zu is shown as %s, it is 0x%" PRIx64, name, at, value, found);
}

static size_t take_zeros(const struct dump *dump, const char *value)
{
	const size_t count = strtoul(value, NULL, 10);

	for (size_t i = 0; i < count; i++)
		if (dump->at + i >= dump->length_bytes || dump->bytes[dump->at + i] != 0)
			o2_fuzz_fail("dump: %zu bytes at %zu are not all zero", count, dump->at);
	return count;
}

/* Read the bytes of a row; returns their number. */
static size_t take_frame(const struct dump *dump, const char *frame, const char *value)
{
	size_t count = 0;

	if (strncmp(frame + FRAME_CHARS - 2, "..", 2) == 0)
		return take_zeros(dump, value);
	for (size_t i = 0; i < FRAME_CHARS && frame[i] != ' '; i += 3, count++)
		if (dump->at + count >= dump->length_bytes ||
		    strtoul(frame + i, NULL, 16) != dump->bytes[dump->at + count])
			o2_fuzz_fail("dump: the byte at %zu is not '%.2s'", dump->at + count, frame + i);
	return count;
}

/* Only the row of the refused field is marked; a length has no row. */
static void check_mark(struct dump *dump, bool marked, size_t width, bool is_cut, const char *name)
{
	const struct o2_error *refused = dump->refused;
	const bool is_field = name[0] != '(' && name[0] != '\0' && strcmp(name, "payload") != 0;
	bool here = refused != NULL && strcmp(refused->field, "length_bytes") != 0 &&
		    refused->offset_bytes >= dump->at;

	here = here && (is_cut || refused->offset_bytes < dump->at + width);
	dump->marked += marked;
	if ((marked && !here) || (!marked && here && is_field && !is_cut))
		o2_fuzz_fail("dump: %s at %zu is %smarked", name, dump->at, marked ? "" : "not ");
}

static void take_row(struct dump *dump, char *line)
{
	char *name = line + NAME_AT, *value = strlen(line) > VALUE_AT ? line + VALUE_AT : line + strlen(line);
	size_t width;

	if (strlen(line) < NAME_AT || strtoul(line + 2, NULL, 16) != dump->at)
		o2_fuzz_fail("dump: '%s' is not the row of byte %zu", line, dump->at);
	width = take_frame(dump, line + FRAME_AT, value);
	if (width == 0)
		o2_fuzz_fail("dump: '%s' has no bytes", line);
	name[strcspn(name, " ")] = '\0';
	if (dump->at < sizeof(dump->name_at) / sizeof(dump->name_at[0]))
		dump->name_at[dump->at] = name;
	check_value(dump, dump->at, width, name, strncmp(value, "(cut", 4) == 0 ? "" : value);
	check_mark(dump, line[0] == '>', width, strncmp(value, "(cut", 4) == 0, name);
	dump->at += width;
}

static void take_text(struct dump *dump, char *text)
{
	for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
		if (line[0] == '>' || strncmp(line, "   ", 3) != 0)
			take_row(dump, line);
	if (dump->at != dump->length_bytes)
		o2_fuzz_fail("dump: %zu bytes of %zu are shown", dump->at, dump->length_bytes);
}

/* The row of a field has its name, perhaps after the name of the part that contains it. */
static void check_names(const struct dump *dump, const struct o2_wm_field *field, uint32_t fields,
			size_t from)
{
	for (uint32_t i = 0; i < fields; i++) {
		const size_t at = from + field[i].at;
		const char *last = strrchr(field[i].name, '.');
		const char *wanted = last == NULL ? field[i].name : last + 1;
		const char *name = dump->name_at[at];

		if (name == NULL || strlen(name) < strlen(wanted) ||
		    strcmp(name + strlen(name) - strlen(wanted), wanted) != 0)
			o2_fuzz_fail("dump: the row at %zu is %s, not %s", at,
				     name == NULL ? "not there" : name, wanted);
	}
}

static void check_fields(const struct dump *dump, const struct o2_msg *msg)
{
	const struct o2_wm_type *type = o2_wm_type(msg->ibm_type);
	const struct o2_wm_field *variant;
	uint32_t fields;

	check_names(dump, o2_wm_header, o2_wm_header_fields, 0);
	check_names(dump, type->field, type->fields, 0);
	if (type->lnet_hdr == O2_WM_NONE)
		return;
	check_names(dump, o2_wm_lnet, o2_wm_lnet_fields, HEADER_BYTES);
	variant = o2_wm_variant((uint32_t)o2_wm_load(dump->bytes + HEADER_BYTES + 24, 4, true), &fields);
	check_names(dump, variant, fields, HEADER_BYTES);
}

/* Print the rows of *dump, and check them; false: no memory. */
static bool take_rows(struct dump *dump, void (*print)(struct o2_rows *rows))
{
	size_t length;
	struct o2_rows rows = {.out = open_memstream(&dump->text, &length),
			       .all = true,
			       .bytes = dump->bytes,
			       .length_bytes = dump->length_bytes,
			       .refused = dump->refused};

	if (rows.out == NULL)
		return false;
	print(&rows);
	fclose(rows.out);
	dump->little = rows.order == O2_LITTLE_ENDIAN;
	take_text(dump, dump->text);
	return true;
}

static void message(const uint8_t *data, size_t size)
{
	static struct o2_msg msg;
	struct o2_error error = {0};
	const int rc = o2_msg_decode(data, size, NULL, &msg, &error);
	struct dump dump = {.bytes = data, .length_bytes = size, .refused = rc != 0 ? &error : NULL};

	if (!take_rows(&dump, o2_dump_message))
		return;
	if (rc == 0)
		check_fields(&dump, &msg);
	if (dump.marked > 1 || (rc == 0 && dump.marked != 0))
		o2_fuzz_fail("dump: %u rows are marked", dump.marked);
	free(dump.text);
}

static void record(const uint8_t *data, size_t size)
{
	struct o2_error error = {0};
	struct o2_reject reject;
	const int rc = o2_reject_decode(data, size, &reject, &error);
	struct dump dump = {.bytes = data, .length_bytes = size, .refused = rc != 0 ? &error : NULL};

	if (take_rows(&dump, o2_dump_reject))
		free(dump.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0 || size > MOST_BYTES)
		return 0;
	message(data, size);
	record(data, size);
	return 0;
}
