/* SPDX-License-Identifier: MIT */
#include "cli/input.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "cli/cli.h"

#define FIRST_BUFFER_BYTES 8192u

static bool grow(struct o2_input *input, size_t *capacity_bytes)
{
	const size_t larger = *capacity_bytes == 0 ? FIRST_BUFFER_BYTES : 2 * *capacity_bytes;
	uint8_t *bytes = realloc(input->bytes, larger);

	if (bytes == NULL)
		return false;
	input->bytes = bytes;
	*capacity_bytes = larger;
	return true;
}

/* Returns NULL, or what went wrong; "": more than limit_bytes. */
static const char *read_all(FILE *file, size_t limit_bytes, struct o2_input *input)
{
	size_t capacity_bytes = 0, got;

	do {
		if (input->length_bytes == capacity_bytes && !grow(input, &capacity_bytes))
			return "not enough memory";
		got = fread(input->bytes + input->length_bytes, 1, capacity_bytes - input->length_bytes,
			    file);
		input->length_bytes += got;
		if (input->length_bytes > limit_bytes)
			return "";
		/* After an error do not read again: the stream might report its end instead of the error. */
	} while (got != 0 && !ferror(file));
	return ferror(file) ? strerror(errno) : NULL;
}

bool o2_stream_open(const char *path, struct o2_stream *stream)
{
	const bool from_stdin = strcmp(path, "-") == 0;

	*stream = (struct o2_stream){.name = from_stdin ? "standard input" : path,
				     .file = from_stdin ? stdin : fopen(path, "rb")};
	if (stream->file != NULL)
		return true;
	o2_cli_complain("%s: %s", path, strerror(errno));
	return false;
}

bool o2_input_read(const char *path, size_t limit_bytes, struct o2_input *input)
{
	struct o2_stream stream;
	const char *wrong;

	if (!o2_stream_open(path, &stream))
		return false;
	*input = (struct o2_input){.name = stream.name};
	wrong = read_all(stream.file, limit_bytes, input);
	if (wrong != NULL && wrong[0] == '\0')
		o2_cli_complain("%s: more than %zu bytes", input->name, limit_bytes);
	else if (wrong != NULL)
		o2_cli_complain("%s: %s", input->name, wrong);
	if (stream.file != stdin)
		fclose(stream.file);
	if (wrong != NULL)
		o2_input_free(input);
	return wrong == NULL;
}

void o2_input_free(struct o2_input *input)
{
	free(input->bytes);
	input->bytes = NULL;
	input->length_bytes = 0;
}

static bool is_between(uint8_t byte)
{
	return isspace(byte) || byte == ':';
}

bool o2_input_is_hex(const struct o2_input *input)
{
	size_t digits = 0;

	for (size_t i = 0; i < input->length_bytes; i++) {
		if (isxdigit(input->bytes[i]))
			digits++;
		else if (!is_between(input->bytes[i]) || digits % 2 != 0)
			return false;
	}
	return digits != 0 && digits % 2 == 0;
}

/* `digit` must be a hexadecimal digit. */
static uint8_t digit_value(uint8_t digit)
{
	return (uint8_t)o2_hex_digit(tolower(digit));
}

void o2_input_from_hex(struct o2_input *input)
{
	size_t digits = 0;

	/* Digits 2k and 2k + 1 make byte k, whose place in the buffer has been read before. */
	for (size_t i = 0; i < input->length_bytes; i++) {
		if (is_between(input->bytes[i]))
			continue;
		if (digits % 2 == 0)
			input->bytes[digits / 2] = (uint8_t)(digit_value(input->bytes[i]) << 4);
		else
			input->bytes[digits / 2] |= digit_value(input->bytes[i]);
		digits++;
	}
	input->length_bytes = digits / 2;
}
