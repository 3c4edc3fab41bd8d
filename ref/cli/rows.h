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
 * The lines of an annotated hex dump: one for each field, with offset, bytes, name and value.  A field in
 * which the input ends is shown as far as it goes.  Source: docs/cli.md, "The hex dump".
 */

#define O2_ROW_NAME_BYTES 64u /* names that are put together are shorter than this */

/* A line of a dump: bytes in hexadecimal, name and value; what is empty is left out. */
struct o2_row_parts {
	size_t at;
	const char *frame, *name, *value;
	bool refused;
};

struct o2_rows {
	FILE *out;
	/* Takes the lines instead of out; NULL: out takes them as text. */
	void (*take)(void *context, const struct o2_row_parts *parts);
	void *context;
	bool color;
	bool all; /* show every byte of a payload */
	const uint8_t *bytes;
	size_t length_bytes;
	enum o2_byte_order order;	/* of the fields to come */
	const struct o2_error *refused; /* the field that it names is marked; NULL: none */
};

/*
 * A value that the caller has formatted: printed if all width_bytes are there, else the row says how many are
 * missing.  Returns whether they are there, so that a caller may ask (format NULL) before it loads them.
 */
bool o2_row(const struct o2_rows *rows, size_t at, size_t width_bytes, const char *name, const char *format,
	    ...) __attribute__((format(printf, 5, 6)));
bool o2_row_has(const struct o2_rows *rows, size_t at, size_t width_bytes, const char *name);

/* Numbers in the order of rows: of 1, 2, 4 or 8 bytes, true if they are all there; a NID. */
bool o2_row_uint(const struct o2_rows *rows, size_t at, size_t width_bytes, const char *name);
void o2_row_hex(const struct o2_rows *rows, size_t at, size_t width_bytes, const char *name);
void o2_row_nid(const struct o2_rows *rows, size_t at, const char *name);

/* A number by its row of forms/wire_fields.h. */
void o2_row_field(const struct o2_rows *rows, size_t at, const struct o2_field *field);

/* Bytes at..end-1 without fields, 8 in a row; zeros in one row, long stretches cut unless rows->all. */
void o2_row_block(const struct o2_rows *rows, size_t at, size_t end, const char *name, const char *meaning);

/* A line between parts of a dump. */
void o2_row_title(const struct o2_rows *rows, const char *title);

/* Two lines that say what was refused; *note follows in brackets, unless it is empty. */
void o2_row_refusal(const struct o2_rows *rows, const char *note);

#endif
