/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_WATCH_H
#define O2_LND_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A hook that observes what one interface's connections send and receive, in the order in which this end does so:
 * a message when it is posted, or when it is first looked at.  RDMA WRITEs of the peer cannot be observed here.
 * Source: docs/judge.md, "At an end of ours".
 *
 * o2iblnd: none, its conversations are looked at from outside
 */

enum o2_watched_kind {
	O2_WATCHED_REQUEST, /* a request to connect; REQUEST, REPLY and REJECT carry private data */
	O2_WATCHED_REPLY,
	O2_WATCHED_REJECT,
	O2_WATCHED_MESSAGE,
	O2_WATCHED_WRITE, /* an RDMA WRITE of this end */
	O2_WATCHED_DISCONNECT,
	O2_WATCHED_GONE, /* the connection is gone; its address may be reused */
};

struct o2_watched {
	enum o2_watched_kind kind;
	bool ours;	  /* sent by this end; else received by it */
	const void *conn; /* identifies the connection, from its request on; never dereferenced */
	/* Valid during the call.  NULL: a message whose payload was gathered, so it is not contiguous. */
	const uint8_t *bytes;
	size_t length_bytes; /* length of the message, or of the written data */
	/* WRITE: destination at the peer */
	uint64_t addr;
	uint32_t rkey;
};

struct o2_watch {
	void *context;
	void (*hear)(void *context, const struct o2_watched *watched);
};

/* watch may be NULL: nobody observes. */
static inline void o2_watch_tell(const struct o2_watch *watch, const struct o2_watched *watched)
{
	if (watch != NULL)
		watch->hear(watch->context, watched);
}

/* Report what the connection manager carries: private data, or nothing. */
static inline void o2_watch_tell_cm(const struct o2_watch *watch, const void *conn, enum o2_watched_kind kind,
				    bool ours, const uint8_t *bytes, size_t length_bytes)
{
	const struct o2_watched watched = {
		.kind = kind, .ours = ours, .conn = conn, .bytes = bytes, .length_bytes = length_bytes};

	o2_watch_tell(watch, &watched);
}

#endif
