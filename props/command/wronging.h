/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_WRONGING_H
#define O2_PROPS_WRONGING_H

#include "props/command/trial.h"
#include "props/command/wrong.h"
#include "wire/msg.h"

/* What a peer says wrong, in which probe of conform, and what conform says of it. */

#define O2_WRONGING_PROBES 3u

struct o2_wronging {
	struct o2_choice *c;
	struct o2_trial *trial;
	struct o2_wrong *wrong; /* .from: answers behind the survey */
	uint32_t place_bytes;
	char probe[O2_WRONGING_PROBES][32];
	uint32_t probes, at; /* in which of them it is told */
	char seen[500];	     /* "": it holds */
	bool skips;	     /* not tried: why is what is seen */
	bool late;	     /* nothing of ours comes to its end before as many steps as are tried */
	bool returns;	     /* it is told when we come back: */
	uint32_t good;	     /* after so many times, */
	bool once;	     /* and never again */
	const char *heard;   /* how what the peer said last begins */
};

/* What is seen. */
void o2_wronging_see(struct o2_wronging *wronging, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* What becomes of bytes of it. */
void o2_wronging_spoil(struct o2_wronging *wronging, uint32_t at, uint32_t width, uint64_t value);

/* In that probe, in such a message; of those, so many are spared. */
void o2_wronging_tell(struct o2_wronging *wronging, const char *id, enum o2_msg_type type, uint32_t lnet_type,
		      uint32_t spares);

/* wronging_connect.c: replies to requests for connections, and rejects. */
void o2_wronging_reply(struct o2_wronging *wronging);
void o2_wronging_reject(struct o2_wronging *wronging);
/* wronging_pings.c: answers to pings. */
void o2_wronging_ping(struct o2_wronging *wronging);
/* It is told when we come back: once, or from that time on.  Then how often that went wrong is what it has to be. */
void o2_wronging_return(struct o2_wronging *wronging, uint32_t good);
bool o2_wronging_returned(const struct o2_wronging *wronging, const char *seen);
/* wronging_lst.c: replies of a test node. */
void o2_wronging_lst(struct o2_wronging *wronging);
/* wronging_moves.c: bytes that are moved, and what is said of them. */
void o2_wronging_move(struct o2_wronging *wronging);
void o2_wronging_twice(struct o2_wronging *wronging);
void o2_wronging_place(struct o2_wronging *wronging);

#endif
