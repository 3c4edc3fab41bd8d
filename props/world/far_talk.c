/* SPDX-License-Identifier: MIT */
#include "props/world/far_talk.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/json.h"
#include "base/json_read.h"
#include "base/monotonic.h"
#include "props/world/far_words.h"

#define READ_BYTES (64u << 10)

static const uint8_t end_of_message = '\n';

static int stream_fails(struct o2_error *error)
{
	const int code = errno;

	return code == EPIPE || code == ECONNRESET
		       ? o2_refuse_value(error, -EPIPE, "far/closed", "stream", 0, O2_NO_LIMIT)
		       : o2_refuse_value(error, -code, "far/stream", "errno", (uint64_t)code, O2_NO_LIMIT);
}

/* Wait until the stream is ready.  0 or -errno. */
static int wait_for(int fd, short events, uint64_t until_ms, struct o2_error *error)
{
	for (;;) {
		const uint64_t now = o2_monotonic_ms();
		struct pollfd pollfd = {.fd = fd, .events = events};
		const int n = poll(&pollfd, 1, now < until_ms ? (int)(until_ms - now) : 0);

		if (n > 0)
			return 0;
		if (n == 0)
			return o2_refuse_value(error, -ETIMEDOUT, "far/silent", "streams that are ready", 0,
					       O2_NO_LIMIT);
		if (errno != EINTR)
			return stream_fails(error);
	}
}

/* Write; to a socket without SIGPIPE if the reader is gone. */
static ssize_t write_some(int fd, const uint8_t *bytes, size_t length)
{
	const ssize_t n = send(fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);

	return n < 0 && errno == ENOTSOCK ? write(fd, bytes, length) : n;
}

static int write_all(const struct o2_far_talk *talk, const uint8_t *bytes, size_t length, uint64_t until_ms,
		     struct o2_error *error)
{
	while (length > 0) {
		const ssize_t n = write_some(talk->out, bytes, length);
		int rc = 0;

		if (n > 0) {
			bytes += n;
			length -= (size_t)n;
		} else if (errno == EAGAIN) {
			rc = wait_for(talk->out, POLLOUT, until_ms, error);
		} else if (errno != EINTR) {
			rc = stream_fails(error);
		}
		if (rc != 0)
			return rc;
	}
	return 0;
}

static int append_end(struct o2_frame_buffer *buffer)
{
	const int rc = o2_frame_reserve(buffer, 1);

	if (rc == 0)
		buffer->bytes[buffer->used++] = end_of_message;
	return rc;
}

int o2_far_say(struct o2_far_talk *talk, const struct o2_far_message *message, uint64_t until_ms,
	       struct o2_error *error)
{
	json_t *object = message->object;
	int rc;

	if (message->length > 0)
		object = o2_json_with(object, "bytes", json_integer((json_int_t)message->length));
	talk->outbox.used = 0;
	rc = object == NULL ? -ENOMEM : o2_frame_append(&talk->outbox, object);
	if (rc == 0 && message->length == 0)
		rc = append_end(&talk->outbox);
	json_decref(object);
	if (rc != 0)
		return o2_refuse_value(error, rc, "far/memory", "frame", 0, O2_NO_LIMIT);
	rc = write_all(talk, talk->outbox.bytes, talk->outbox.used, until_ms, error);
	if (rc != 0 || message->length == 0)
		return rc;
	rc = write_all(talk, message->bytes, message->length, until_ms, error);
	return rc == 0 ? write_all(talk, &end_of_message, 1, until_ms, error) : rc;
}

/* Refuse bytes that are not a frame; the error shows the first of them. */
static int garbage(const uint8_t *bytes, size_t length, const char *what, uint64_t value, uint64_t limit,
		   struct o2_error *error)
{
	char text[64], field[128];

	o2_frame_excerpt(bytes, length, text, sizeof(text) / 2);
	snprintf(field, sizeof(field), "%s '%s'", what, text);
	return o2_refuse_value(error, -EBADMSG, "far/garbage", o2_far_keep(field), value, limit);
}

/* Parse the frame's object, and find how many bytes belong to it. */
static int take_frame(struct o2_far_talk *talk, uint32_t length, struct o2_error *error)
{
	const uint8_t *bytes = talk->inbox.bytes + O2_FRAME_HEAD_BYTES;
	json_error_t where;
	uint64_t behind = 0;
	int rc = 0;

	talk->object = o2_json_read((const char *)bytes, length, JSON_REJECT_DUPLICATES, &where);
	if (!json_is_object(talk->object))
		rc = garbage(bytes, length, "place of the first mistake in JSON", (uint64_t)where.position,
			     O2_NO_LIMIT, error);
	else if (json_object_get(talk->object, "bytes") != NULL)
		rc = o2_json_get_uint(talk->object, "bytes", O2_FAR_MEMORY_BYTES, &behind, error);
	if (rc != 0) {
		json_decref(talk->object);
		talk->object = NULL;
		return -EBADMSG;
	}
	o2_frame_consume(&talk->inbox, O2_FRAME_HEAD_BYTES + length);
	talk->taken = behind + 1;
	return 0;
}

/* 1: a whole message is in the inbox; 0: more is needed; -errno. */
static int look(struct o2_far_talk *talk, struct o2_far_message *message, struct o2_error *error)
{
	uint32_t length = 0;

	if (talk->object == NULL && talk->inbox.used > 0) {
		const enum o2_frame_state state = o2_frame_look(&talk->inbox, &length);

		if (state == O2_FRAME_ILLEGAL)
			return garbage(talk->inbox.bytes, talk->inbox.used, "length of a frame that begins",
				       length, O2_FRAME_MAX_BYTES, error);
		if (state == O2_FRAME_WHOLE && take_frame(talk, length, error) != 0)
			return -EBADMSG;
	}
	if (talk->object == NULL || talk->inbox.used < talk->taken)
		return 0;
	if (talk->inbox.bytes[talk->taken - 1] != end_of_message)
		return garbage(talk->inbox.bytes + talk->taken - 1, talk->inbox.used - talk->taken + 1,
			       "end of a message with this many bytes behind its object:", talk->taken - 1,
			       O2_NO_LIMIT, error);
	*message = (struct o2_far_message){talk->object, talk->inbox.bytes, talk->taken - 1};
	talk->object = NULL;
	return 1;
}

int o2_far_hear(struct o2_far_talk *talk, struct o2_far_message *message, struct o2_error *error)
{
	if (talk->object == NULL && talk->taken > 0) {
		o2_frame_consume(&talk->inbox, talk->taken);
		talk->taken = 0;
	}
	for (;;) {
		struct pollfd pollfd = {.fd = talk->in, .events = POLLIN};
		const int rc = look(talk, message, error);
		ssize_t n;

		if (rc != 0 || poll(&pollfd, 1, 0) <= 0)
			return rc;
		if (o2_frame_reserve(&talk->inbox, READ_BYTES) != 0)
			return o2_refuse_value(error, -ENOMEM, "far/memory", "bytes", talk->inbox.used,
					       O2_NO_LIMIT);
		n = read(talk->in, talk->inbox.bytes + talk->inbox.used, READ_BYTES);
		if (n > 0)
			talk->inbox.used += (size_t)n;
		else if (n == 0)
			return o2_refuse_value(error, -EPIPE, "far/closed", "bytes of half a message",
					       talk->inbox.used, O2_NO_LIMIT);
		else if (errno != EAGAIN && errno != EINTR)
			return stream_fails(error);
	}
}

int o2_far_await(struct o2_far_talk *talk, struct o2_far_message *message, uint64_t until_ms,
		 struct o2_error *error)
{
	int rc;

	while ((rc = o2_far_hear(talk, message, error)) == 0) {
		rc = wait_for(talk->in, POLLIN, until_ms, error);
		talk->silent = rc == -ETIMEDOUT;
		if (rc != 0 && talk->object == NULL && talk->inbox.used > 0)
			return garbage(talk->inbox.bytes, talk->inbox.used,
				       "bytes that are no whole message,", talk->inbox.used, O2_NO_LIMIT,
				       error);
		if (rc != 0)
			return rc;
	}
	return rc > 0 ? 0 : rc;
}

void o2_far_talk_free(struct o2_far_talk *talk)
{
	json_decref(talk->object);
	o2_frame_buffer_free(&talk->inbox);
	o2_frame_buffer_free(&talk->outbox);
	talk->object = NULL;
	talk->taken = 0;
}
