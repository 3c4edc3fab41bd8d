/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_FRAME_H
#define O2_ORACLE_FRAME_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Frames of the process protocol: 4 bytes of length, little-endian, then one JSON object (docs/oracle.md). */

#define O2_FRAME_HEAD_BYTES 4u
#define O2_FRAME_MAX_BYTES  (16u << 20)

/* The exit status with which a program answers the first request of a stage that it does not implement. */
#define O2_EXIT_NOT_IMPLEMENTED 89

/* A growing array of bytes, which the struct owns.  Free with o2_frame_buffer_free. */
struct o2_frame_buffer {
	uint8_t *bytes;
	size_t used;
	size_t capacity;
};

void o2_frame_buffer_free(struct o2_frame_buffer *buffer);

/* Make room for `bytes` more bytes behind those in use.  Returns 0 or -ENOMEM. */
int o2_frame_reserve(struct o2_frame_buffer *buffer, size_t bytes);

/* Read and append at most `bytes` bytes.  Returns their number, 0 at the end of the file or if it fails, or -ENOMEM. */
ssize_t o2_frame_read(struct o2_frame_buffer *buffer, int fd, size_t bytes);

/* Append an object, which is not changed, as a frame.  Returns 0 or -ENOMEM. */
int o2_frame_append(struct o2_frame_buffer *buffer, json_t *object);

/* Remove the first `bytes` bytes. */
void o2_frame_consume(struct o2_frame_buffer *buffer, size_t bytes);

enum o2_frame_state {
	O2_FRAME_PARTIAL, /* more bytes are needed */
	O2_FRAME_WHOLE,	  /* the head and *length_bytes of JSON are complete */
	O2_FRAME_ILLEGAL, /* the length is above O2_FRAME_MAX_BYTES: the bytes are no frame */
};

enum o2_frame_state o2_frame_look(const struct o2_frame_buffer *buffer, uint32_t *length_bytes);

/* The first bytes as text for a report; a dot replaces each byte that is not printable. */
void o2_frame_excerpt(const uint8_t *bytes, size_t length_bytes, char *text, size_t text_bytes);

#endif
