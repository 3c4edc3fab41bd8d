/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_WRONGING_H
#define O2_PROPS_WRONGING_H

#include "props/command/trial.h"
#include "props/command/wrong.h"
#include "wire/msg.h"

/* What a peer says wrong, in which probe of conform, and how conform must report it. */

#define O2_WRONGING_PROBES 3u

struct o2_wronging {
	struct o2_choice *c;
	struct o2_trial *trial;
	struct o2_wrong *wrong; /* .from: answers after the survey */
	uint32_t place_bytes;
	char probe[O2_WRONGING_PROBES][32];
	uint32_t probes, at; /* at: index of the probe in which it is wrong */
	char seen[500];	     /* expected text; "": the probe holds */
	bool skips;	     /* the probe is skipped; `seen` says why */
	bool late;	     /* nothing of ours completes within as many steps as are tried */
	bool returns;	     /* it goes wrong when we reconnect: */
	uint32_t good;	     /* after this many right answers, */
	bool once;	     /* once only */
	const char *heard;   /* how the text of the peer's last message begins */
};

/* Set the expected text. */
void o2_wronging_see(struct o2_wronging *wronging, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Change bytes of the message. */
void o2_wronging_spoil(struct o2_wronging *wronging, uint32_t at, uint32_t width, uint64_t value);

/* Name the probe and the kind of message; the first `spares` such messages stay right. */
void o2_wronging_tell(struct o2_wronging *wronging, const char *id, enum o2_msg_type type, uint32_t lnet_type,
		      uint32_t spares);

/* wronging_connect.c: wrong replies to requests for connections, and wrong rejects. */
void o2_wronging_reply(struct o2_wronging *wronging);
void o2_wronging_reject(struct o2_wronging *wronging);
/* wronging_pings.c: wrong answers to pings. */
void o2_wronging_ping(struct o2_wronging *wronging);
/* return: go wrong when we reconnect, once or from then on.  returned: is the reported count right? */
void o2_wronging_return(struct o2_wronging *wronging, uint32_t good);
bool o2_wronging_returned(const struct o2_wronging *wronging, const char *seen);
/* wronging_lst.c: wrong replies of a test node. */
void o2_wronging_lst(struct o2_wronging *wronging);
/* wronging_moves.c: wrong bytes in transfers, and what is said of them. */
void o2_wronging_move(struct o2_wronging *wronging);
void o2_wronging_twice(struct o2_wronging *wronging);
void o2_wronging_place(struct o2_wronging *wronging);

#endif
