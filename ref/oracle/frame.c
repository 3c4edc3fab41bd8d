/* SPDX-License-Identifier: MIT */
#include "oracle/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static int append_bytes(const char *bytes, size_t length_bytes, void *context)
{
	struct o2_frame_buffer *buffer = context;

	if (o2_frame_reserve(buffer, length_bytes) != 0)
		return -1;
	memcpy(buffer->bytes + buffer->used, bytes, length_bytes);
	buffer->used += length_bytes;
	return 0;
}

int o2_frame_append(struct o2_frame_buffer *buffer, const json_t *object)
{
	const size_t start = buffer->used;
	const char head[O2_FRAME_HEAD_BYTES] = {0};
	uint32_t length;

	if (append_bytes(head, sizeof(head), buffer) != 0 ||
	    json_dump_callback(object, append_bytes, buffer, JSON_COMPACT) != 0) {
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
