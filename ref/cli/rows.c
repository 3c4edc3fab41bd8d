/* SPDX-License-Identifier: MIT */
#include "cli/rows.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/nid.h"

#define BYTES_IN_ROW  8u
#define FRAME_BYTES   (3 * BYTES_IN_ROW) /* "xx " for each byte; the last blank is a NUL */
#define BLOCK_AT_MOST 64u		 /* bytes shown of a block without fields */

/* ANSI escape sequences, which all terminals of today understand. */
#define DIM   "\033[2m"
#define NAME  "\033[36m"
#define ALARM "\033[1;31m"
#define PLAIN "\033[0m"

static const char *paint(const struct o2_rows *rows, const char *code)
{
	return rows->color ? code : "";
}

static void hex_text(const uint8_t *bytes, size_t count, char text[FRAME_BYTES + 1])
{
	text[0] = '\0';
	for (size_t i = 0; i < count && i < BYTES_IN_ROW; i++)
		sprintf(text + 3 * i, "%02x ", bytes[i]);
	if (count != 0)
		text[3 * (count < BYTES_IN_ROW ? count : BYTES_IN_ROW) - 1] = '\0';
}

/* A length has no offset in the input, so a refusal of a length marks no field. */
static bool is_refused(const struct o2_rows *rows, size_t at, size_t width_bytes)
{
	const struct o2_error *refused = rows->refused;

	return refused != NULL && refused->code != 0 && strcmp(refused->field, "length_bytes") != 0 &&
	       refused->offset_bytes >= at && refused->offset_bytes < at + width_bytes;
}

static void print_row(const struct o2_rows *rows, size_t at, const char *frame, const char *name,
		      bool refused, const char *value)
{
	if (rows->take != NULL) {
		rows->take(rows->context, &(struct o2_row_parts){at, frame, name, value, refused});
		return;
	}
	fprintf(rows->out, "%s%c%s %s%04zx%s  %s%-23s%s  %s%-34s%s  %s\n", paint(rows, refused ? ALARM : ""),
		refused ? '>' : ' ', paint(rows, PLAIN), paint(rows, DIM), at, paint(rows, PLAIN),
		paint(rows, refused ? ALARM : ""), frame, paint(rows, PLAIN), paint(rows, NAME), name,
		paint(rows, PLAIN), value);
}

bool o2_row_has(const struct o2_rows *rows, size_t at, size_t width_bytes, const char *name)
{
	char frame[FRAME_BYTES + 1], value[64];

	if (at <= rows->length_bytes && width_bytes <= rows->length_bytes - at)
		return true;
	if (at < rows->length_bytes) {
		hex_text(rows->bytes + at, rows->length_bytes - at, frame);
		snprintf(value, sizeof(value), "(cut short: %zu of %zu bytes)", rows->length_bytes - at,
			 width_bytes);
		print_row(rows, at, frame, name, is_refused(rows, at, width_bytes), value);
	}
	return false;
}

bool o2_row(const struct o2_rows *rows, size_t at, size_t width_bytes, const char *name, const char *format,
	    ...)
{
	char frame[FRAME_BYTES + 1], value[160];
	va_list arguments;

	if (!o2_row_has(rows, at, width_bytes, name))
		return false;
	va_start(arguments, format);
	vsnprintf(value, sizeof(value), format, arguments);
	va_end(arguments);
	hex_text(rows->bytes + at, width_bytes, frame);
	print_row(rows, at, frame, name, is_refused(rows, at, width_bytes), value);
	return true;
}

static uint64_t load(const struct o2_rows *rows, size_t at, size_t width_bytes)
{
	const uint8_t *bytes = rows->bytes + at;

	switch (width_bytes) {
	case 1:
		return bytes[0];
	case 2:
		return o2_load16(bytes, rows->order);
	case 4:
		return o2_load32(bytes, rows->order);
	default:
		return o2_load64(bytes, rows->order);
	}
}

bool o2_row_uint(const struct o2_rows *rows, size_t at, size_t width_bytes, const char *name)
{
	return o2_row_has(rows, at, width_bytes, name) &&
	       o2_row(rows, at, width_bytes, name, "%" PRIu64, load(rows, at, width_bytes));
}

void o2_row_hex(const struct o2_rows *rows, size_t at, size_t width_bytes, const char *name)
{
	if (o2_row_has(rows, at, width_bytes, name))
		o2_row(rows, at, width_bytes, name, "0x%" PRIx64, load(rows, at, width_bytes));
}

void o2_row_nid(const struct o2_rows *rows, size_t at, const char *name)
{
	char text[O2_NID_TEXT_BYTES];

	if (!o2_row_has(rows, at, 8, name))
		return;
	o2_nid_to_text(o2_load64(rows->bytes + at, rows->order), text, sizeof(text));
	o2_row(rows, at, 8, name, "%s", text);
}

void o2_row_field(const struct o2_rows *rows, size_t at, const struct o2_field *field)
{
	struct o2_rows ordered = *rows;

	if (field->little)
		ordered.order = O2_LITTLE_ENDIAN;
	if (field->kind == O2_FIELD_TEXT)
		o2_row_nid(&ordered, at, field->name);
	else if (field->kind == O2_FIELD_HEX)
		o2_row_hex(&ordered, at, field->width_bytes, field->name);
	else
		o2_row_uint(&ordered, at, field->width_bytes, field->name);
}

static bool all_zero(const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

static void print_characters(const struct o2_rows *rows, size_t at, size_t count, const char *name)
{
	char frame[FRAME_BYTES + 1], text[BYTES_IN_ROW + 1];

	for (size_t i = 0; i < count; i++) {
		const uint8_t byte = rows->bytes[at + i];

		text[i] = (char)(byte < 0x80 && isprint(byte) ? byte : '.');
	}
	text[count] = '\0';
	hex_text(rows->bytes + at, count, frame);
	print_row(rows, at, frame, name, false, text);
}

void o2_row_block(const struct o2_rows *rows, size_t at, size_t end, const char *name, const char *meaning)
{
	char value[160];
	size_t shown_end;

	if (end > rows->length_bytes)
		end = rows->length_bytes;
	if (at >= end)
		return;
	if (end - at > BYTES_IN_ROW && all_zero(rows->bytes + at, end - at)) {
		snprintf(value, sizeof(value), "%zu zero bytes%s", end - at, meaning);
		print_row(rows, at, "00 00 00 00 00 00 00 ..", name, false, value);
		return;
	}
	shown_end = rows->all || end - at <= BLOCK_AT_MOST ? end : at + BLOCK_AT_MOST;
	for (size_t from = at; from < shown_end; from += BYTES_IN_ROW) {
		const size_t left = shown_end - from;

		print_characters(rows, from, left < BYTES_IN_ROW ? left : BYTES_IN_ROW,
				 from == at ? name : "");
	}
	if (shown_end < end && rows->take != NULL) {
		snprintf(value, sizeof(value), "... and %zu more bytes", end - shown_end);
		print_row(rows, shown_end, "", "", false, value);
	} else if (shown_end < end) {
		fprintf(rows->out, "        ... and %zu more bytes (--all shows them)\n", end - shown_end);
	}
	if (meaning[0] != '\0' && rows->take == NULL)
		fprintf(rows->out, "        %zu bytes%s\n", end - at, meaning);
}

void o2_row_title(const struct o2_rows *rows, const char *title)
{
	fprintf(rows->out, "%s%s%s\n", paint(rows, DIM), title, paint(rows, PLAIN));
}

static const char *class_text(enum o2_error_class class)
{
	static const char *const texts[] = {
		[O2_CLASS_NONE] = "local",
		[O2_CLASS_MESSAGE] = "this message fails, the connection is kept",
		[O2_CLASS_CONNECTION] = "the connection closes",
	};

	return texts[class];
}

void o2_row_refusal(const struct o2_rows *rows, const char *note)
{
	const struct o2_error *refused = rows->refused;
	char field[O2_ERROR_FIELD_BYTES];

	o2_error_field(refused, field);
	fprintf(rows->out, "%srefused: %s%s (%s)\n", paint(rows, ALARM), refused->rule, paint(rows, PLAIN),
		class_text(refused->class));
	fprintf(rows->out, "  %s", field);
	if (strcmp(refused->field, "length_bytes") != 0)
		fprintf(rows->out, " at offset %" PRIu32, refused->offset_bytes);
	fprintf(rows->out, ": value %" PRIu64 " (0x%" PRIx64 ")", refused->value, refused->value);
	/* A limit that cannot be compared with the value is printed only if a note explains it. */
	if (refused->limit_kind != O2_LIMIT_OTHER || note[0] != '\0')
		fprintf(rows->out, ", %s %" PRIu64 " (0x%" PRIx64 ")%s%s",
			refused->limit_kind == O2_LIMIT_EXACT ? "expected" : "limit", refused->limit,
			refused->limit, note[0] == '\0' ? "" : " ", note);
	putc('\n', rows->out);
}
