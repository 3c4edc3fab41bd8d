/* SPDX-License-Identifier: MIT */
#include "oracle/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void o2_frame_buffer_free(struct o2_frame_buffer *buffer)
{
	free(buffer->bytes);
	memset(buffer, 0, sizeof(*buffer));
}

int o2_frame_reserve(struct o2_frame_buffer *buffer, size_t bytes)
{
	size_t capacity = buffer->capacity < 4096 ? 4096 : buffer->capacity;
	uint8_t *grown;

	while (capacity - buffer->used < bytes)
		capacity *= 2;
	if (capacity == buffer->capacity)
		return 0;
	grown = realloc(buffer->bytes, capacity);
	if (grown == NULL)
		return -ENOMEM;
	buffer->bytes = grown;
	buffer->capacity = capacity;
	return 0;
}

ssize_t o2_frame_read(struct o2_frame_buffer *buffer, int fd, size_t bytes)
{
	ssize_t n;

	if (o2_frame_reserve(buffer, bytes) != 0)
		return -ENOMEM;
	n = TEMP_FAILURE_RETRY(read(fd, buffer->bytes + buffer->used, bytes));
	if (n <= 0)
		return 0;
	buffer->used += (size_t)n;
	return n;
}

static int append_bytes(const char *bytes, size_t length_bytes, void *context)
{
	struct o2_frame_buffer *buffer = context;

	if (buffer->capacity - buffer->used < length_bytes && o2_frame_reserve(buffer, length_bytes) != 0)
		return -1;
	memcpy(buffer->bytes + buffer->used, bytes, length_bytes);
	buffer->used += length_bytes;
	return 0;
}

/*
 * jansson's own writer looks for loops with a table and prints each number with printf, which takes most of its
 * time.  So only what is rare is left to it.
 */
static int put_text(struct o2_frame_buffer *buffer, const char *text, size_t length_bytes)
{
	json_t *value;
	size_t plain = 0;
	int rc;

	while (plain < length_bytes && (uint8_t)text[plain] >= ' ' && text[plain] != '"' &&
	       text[plain] != '\\')
		plain++;
	if (plain == length_bytes) {
		rc = append_bytes("\"", 1, buffer);
		rc |= append_bytes(text, length_bytes, buffer);
		return rc | append_bytes("\"", 1, buffer);
	}
	value = json_stringn_nocheck(text, length_bytes);
	rc = json_dump_callback(value, append_bytes, buffer, JSON_COMPACT | JSON_ENCODE_ANY);
	json_decref(value);
	return rc;
}

static int put_integer(struct o2_frame_buffer *buffer, json_int_t value)
{
	char text[20];
	size_t at = sizeof(text);
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

	for (; rest > 0 || at == sizeof(text); rest /= 10)
		text[--at] = (char)('0' + rest % 10);
	if (value < 0)
		text[--at] = '-';
	return append_bytes(text + at, sizeof(text) - at, buffer);
}

static int put_value(struct o2_frame_buffer *buffer, json_t *value);

static int put_object(struct o2_frame_buffer *buffer, json_t *object)
{
	int rc = append_bytes("{", 1, buffer);

	for (void *at = json_object_iter(object); at != NULL;) {
		const char *key = json_object_iter_key(at);

		rc |= put_text(buffer, key, strlen(key));
		rc |= append_bytes(":", 1, buffer);
		rc |= put_value(buffer, json_object_iter_value(at));
		at = json_object_iter_next(object, at);
		if (at != NULL)
			rc |= append_bytes(",", 1, buffer);
	}
	return rc | append_bytes("}", 1, buffer);
}

static int put_array(struct o2_frame_buffer *buffer, json_t *array)
{
	int rc = append_bytes("[", 1, buffer);

	for (size_t i = 0; i < json_array_size(array); i++) {
		if (i > 0)
			rc |= append_bytes(",", 1, buffer);
		rc |= put_value(buffer, json_array_get(array, i));
	}
	return rc | append_bytes("]", 1, buffer);
}

static int put_value(struct o2_frame_buffer *buffer, json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return put_object(buffer, value);
	case JSON_ARRAY:
		return put_array(buffer, value);
	case JSON_STRING:
		return put_text(buffer, json_string_value(value), json_string_length(value));
	case JSON_INTEGER:
		return put_integer(buffer, json_integer_value(value));
	default:
		return json_dump_callback(value, append_bytes, buffer, JSON_COMPACT | JSON_ENCODE_ANY);
	}
}

int o2_frame_append(struct o2_frame_buffer *buffer, json_t *object)
{
	const size_t start = buffer->used;
	const char head[O2_FRAME_HEAD_BYTES] = {0};
	uint32_t length;

	if (append_bytes(head, sizeof(head), buffer) != 0 || put_object(buffer, object) != 0) {
		buffer->used = start;
		return -ENOMEM;
	}
	length = (uint32_t)(buffer->used - start - sizeof(head));
	for (uint32_t i = 0; i < sizeof(head); i++)
		buffer->bytes[start + i] = (uint8_t)(length >> 8 * i);
	return 0;
}

void o2_frame_consume(struct o2_frame_buffer *buffer, size_t bytes)
{
	memmove(buffer->bytes, buffer->bytes + bytes, buffer->used - bytes);
	buffer->used -= bytes;
}

enum o2_frame_state o2_frame_look(const struct o2_frame_buffer *buffer, uint32_t *length_bytes)
{
	const uint8_t *head = buffer->bytes;

	if (buffer->used < O2_FRAME_HEAD_BYTES)
		return O2_FRAME_PARTIAL;
	*length_bytes = head[0] | (uint32_t)head[1] << 8 | (uint32_t)head[2] << 16 | (uint32_t)head[3] << 24;
	if (*length_bytes > O2_FRAME_MAX_BYTES)
		return O2_FRAME_ILLEGAL;
	return buffer->used - O2_FRAME_HEAD_BYTES < *length_bytes ? O2_FRAME_PARTIAL : O2_FRAME_WHOLE;
}

void o2_frame_excerpt(const uint8_t *bytes, size_t length_bytes, char *text, size_t text_bytes)
{
	size_t n = length_bytes < text_bytes - 1 ? length_bytes : text_bytes - 1;

	for (size_t i = 0; i < n; i++)
		text[i] = bytes[i] >= ' ' && bytes[i] < 0x7f ? (char)bytes[i] : '.';
	text[n] = '\0';
}
