/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_FAR_TALK_H
#define O2_PROPS_FAR_TALK_H

#include <jansson.h>

#include "base/error.h"
#include "oracle/frame.h"

/*
 * What a run and its far end (props/world/far.h) say to each other, over any two streams: frames of one JSON
 * object (oracle/frame.h), behind one with a member "bytes" that many bytes of memory, and a newline: what
 * stands between the two may pass on whole lines alone, as srun does.
 *
 * Errors: -EPIPE (far/closed: the stream has ended), -ETIMEDOUT (far/silent), -EBADMSG (far/garbage: it was no
 * such frame), -ENOMEM (far/memory), or -errno of poll(2), read(2) and write(2) (far/stream).
 */
struct o2_far_talk {
	int in, out; /* owned by whoever has opened them; out does not block */
	struct o2_frame_buffer inbox, outbox;
	json_t *object; /* its bytes are not all there yet */
	size_t taken;	/* bytes at the start of inbox that the last message had */
};

struct o2_far_message {
	json_t *object; /* whoever hears it owns it */
	const uint8_t *bytes;
	size_t length; /* of bytes, which are there until the next message is heard */
};

/* Say it before until_ms (o2_monotonic_ms).  Takes message->object, which may be NULL where memory ran out. */
int o2_far_say(struct o2_far_talk *talk, const struct o2_far_message *message, uint64_t until_ms,
	       struct o2_error *error);

/* Hear what there is, without waiting.  1: a message; 0: not yet, or not all of it; -errno. */
int o2_far_hear(struct o2_far_talk *talk, struct o2_far_message *message, struct o2_error *error);

/* Hear one before until_ms.  0 or -errno. */
int o2_far_await(struct o2_far_talk *talk, struct o2_far_message *message, uint64_t until_ms,
		 struct o2_error *error);

/* Give back what it has in memory; it may go on. */
void o2_far_talk_free(struct o2_far_talk *talk);

#endif
