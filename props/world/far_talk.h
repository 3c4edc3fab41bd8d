/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_FAR_TALK_H
#define O2_PROPS_FAR_TALK_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "oracle/frame.h"

/*
 * The protocol between a run and its far end (props/world/far.h), over any two streams.  A message is a frame
 * of one JSON object (oracle/frame.h); a member "bytes" announces that many bytes of memory after it.  A
 * newline ends the message, because a program in between, such as srun, may forward only whole lines.
 *
 * Errors: -EPIPE (far/closed: the stream has ended), -ETIMEDOUT (far/silent), -EBADMSG (far/garbage: not such
 * a frame), -ENOMEM (far/memory), or -errno of poll(2), read(2) and write(2) (far/stream).
 */
struct o2_far_talk {
	int in, out; /* owned by whoever opened them; out is non-blocking */
	struct o2_frame_buffer inbox, outbox;
	json_t *object; /* object whose bytes have not all arrived */
	size_t taken;	/* length of the last message, at the start of inbox */
	bool silent;	/* the last wait for a message timed out, perhaps in the middle of one */
};

struct o2_far_message {
	json_t *object; /* the receiver owns it */
	const uint8_t *bytes;
	size_t length; /* length of bytes, which stay valid until the next message is heard */
};

/* Send a message before until_ms (o2_monotonic_ms).  Takes over message->object; NULL there means no memory. */
int o2_far_say(struct o2_far_talk *talk, const struct o2_far_message *message, uint64_t until_ms,
	       struct o2_error *error);

/* Receive without waiting.  1: a message; 0: none, or an incomplete one; -errno. */
int o2_far_hear(struct o2_far_talk *talk, struct o2_far_message *message, struct o2_error *error);

/* Receive a message before until_ms.  0 or -errno. */
int o2_far_await(struct o2_far_talk *talk, struct o2_far_message *message, uint64_t until_ms,
		 struct o2_error *error);

/* Free the memory of the talk, which may continue afterwards. */
void o2_far_talk_free(struct o2_far_talk *talk);

#endif
