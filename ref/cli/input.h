/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_INPUT_H
#define O2_CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Files that the command reads.  Source: docs/cli.md, "Input". */

/* Limit for a file with one message: far more than is needed, even as text with two digits a byte. */
#define O2_CLI_MESSAGE_FILE_BYTES (1u << 20)

struct o2_input {
	const char *name; /* the path, or "standard input", for error messages */
	uint8_t *bytes;	  /* owned */
	size_t length_bytes;
};

/*
 * Read the file `path` ("-": standard input) as a whole.  Returns false after a line on stderr if it cannot
 * be read or is longer than limit_bytes.  On success the caller frees with o2_input_free.
 */
bool o2_input_read(const char *path, size_t limit_bytes, struct o2_input *input);
void o2_input_free(struct o2_input *input);

/* A file that is read as a stream. */
struct o2_stream {
	const char *name; /* as in struct o2_input */
	FILE *file;
};

/*
 * Open the file `path` ("-": standard input).  Returns false after a line on stderr if it cannot be opened.
 */
bool o2_stream_open(const char *path, struct o2_stream *stream);

/*
 * Whether the input is text of hexadecimal digits, with white space and colons between pairs of them.  Binary messages
 * and private data never are: they begin with 0x91, 0x0b or 0x00.
 */
bool o2_input_is_hex(const struct o2_input *input);

/* Turn hexadecimal text into the bytes that it spells, in place.  o2_input_is_hex must hold. */
void o2_input_from_hex(struct o2_input *input);

#endif
