/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_WATCH_H
#define O2_LND_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Who hears what one interface's connections send and receive, in the order in which this end does so: a
 * message when it is posted, and when it is looked at.  RDMA WRITEs of the peer leave no trace here.
 * Source: docs/judge.md, "At an end of ours".
 *
 * o2iblnd: none, its conversations are looked at from outside
 */

enum o2_watched_kind {
	O2_WATCHED_REQUEST, /* for a connection; the three of the connection manager with their private data */
	O2_WATCHED_REPLY,
	O2_WATCHED_REJECT,
	O2_WATCHED_MESSAGE,
	O2_WATCHED_WRITE, /* ours alone */
	O2_WATCHED_DISCONNECT,
	O2_WATCHED_GONE, /* nothing more will be heard of this connection, whose name is free again */
};

struct o2_watched {
	enum o2_watched_kind kind;
	bool ours;	  /* this end has sent it; else it has received it */
	const void *conn; /* names the connection, from its request on; never followed */
	/* Valid during the call.  NULL: a message whose payload was not copied together. */
	const uint8_t *bytes;
	size_t length_bytes; /* of the message, or of what is written */
	/* WRITE: */
	uint64_t addr;
	uint32_t rkey;
};

struct o2_watch {
	void *context;
	void (*hear)(void *context, const struct o2_watched *watched);
};

/* watch may be NULL: nobody. */
static inline void o2_watch_tell(const struct o2_watch *watch, const struct o2_watched *watched)
{
	if (watch != NULL)
		watch->hear(watch->context, watched);
}

/* What the connection manager carries: private data, or nothing. */
static inline void o2_watch_tell_cm(const struct o2_watch *watch, const void *conn, enum o2_watched_kind kind,
				    bool ours, const uint8_t *bytes, size_t length_bytes)
{
	const struct o2_watched watched = {
		.kind = kind, .ours = ours, .conn = conn, .bytes = bytes, .length_bytes = length_bytes};

	o2_watch_tell(watch, &watched);
}

#endif
