/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_ROWS_H
#define O2_CLI_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/fields.h"
#include "wire/msg.h"

/*
 * The lines of an annotated hex dump: one for each field, with offset, bytes, name and value.  If the input
 * ends in a field, the bytes that are there are shown.  Source: docs/cli.md, "The hex dump".
 */

#define O2_ROW_NAME_BYTES 64u /* room for a name that is composed of parts */

/* A line of a dump: offset, bytes in hexadecimal, name and value; parts that do not apply are "". */
struct o2_row_parts {
	size_t at;
	const char *frame, *name, *value;
	bool refused;
};

struct o2_rows {
	FILE *out;
	/* Receives the lines instead of out; NULL: they are printed to out as text. */
	void (*take)(void *context, const struct o2_row_parts *parts);
	void *context;
	bool color;
	bool all; /* show every byte of a payload */
	const uint8_t *bytes;
	size_t length_bytes;
	uint64_t received_bytes;  /* more than length_bytes if not all that came is kept; 0: length_bytes */
	enum o2_byte_order order; /* of the fields that follow */
	const struct o2_error *refused; /* the field that it names is marked; NULL: none */
};

/*
 * Print a row with a formatted value.  If only some of width_bytes are there, the row says so instead; if
 * none is, there is no row.  Returns whether all are there; o2_row_has prints no row if they are.
 */
bool o2_row(const struct o2_rows *rows, size_t at, size_t width_bytes, const char *name, const char *format,
	    ...) __attribute__((format(printf, 5, 6)));
bool o2_row_has(const struct o2_rows *rows, size_t at, size_t width_bytes, const char *name);

/* A number in rows->order, of 1, 2, 4 or 8 bytes; a NID.  o2_row_uint returns whether all bytes are there. */
bool o2_row_uint(const struct o2_rows *rows, size_t at, size_t width_bytes, const char *name);
void o2_row_hex(const struct o2_rows *rows, size_t at, size_t width_bytes, const char *name);
void o2_row_nid(const struct o2_rows *rows, size_t at, const char *name);

/* A number, shown as its row of forms/wire_fields.h says. */
void o2_row_field(const struct o2_rows *rows, size_t at, const struct o2_field *field);

/* Bytes [at, end) without fields, 8 in a row; zeros in one row; long stretches are cut unless rows->all is set. */
void o2_row_block(const struct o2_rows *rows, size_t at, size_t end, const char *name, const char *meaning);

/* A heading between parts of a dump. */
void o2_row_title(const struct o2_rows *rows, const char *title);

/* Two lines that say what was refused; note, with its own brackets, follows the limit unless it is empty. */
void o2_row_refusal(const struct o2_rows *rows, const char *note);

#endif
