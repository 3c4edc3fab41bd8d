/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_WRONG_H
#define O2_PROPS_WRONG_H

#include <stdbool.h>
#include <stdint.h>

#include "lnd/cm/cm.h"
#include "lnd/ni/ni.h"
#include "props/command/command.h"

/*
 * `o2ref conform`, ping, put, get or lst in a forked child, on a network inside that child. The peer there behaves
 * correctly, except for a field of what it says.
 */

#define O2_WRONG_ANY  UINT32_MAX
#define O2_WRONG_MORE 4u

/* Members of struct o2_wrong: on all connections, in all messages. */
#define O2_WRONG_ALWAYS .answers = UINT32_MAX, .most = UINT32_MAX

struct o2_wrong {
	enum o2_wrong_in {
		O2_WRONG_NOWHERE,
		O2_WRONG_REPLY,	 /* answer to a request for a connection */
		O2_WRONG_REJECT, /* reject of such a request */
		O2_WRONG_MESSAGE,
	} in;
	/* MESSAGE: which message. */
	uint8_t type;	    /* enum o2_msg_type */
	uint32_t lnet_type; /* IMMEDIATE: enum o2_lnet_type */
	uint32_t lst_type;  /* PUT: type of LNet selftest; or O2_WRONG_ANY */
	/* The bytes that are changed, and their new value. */
	uint32_t at, width;
	uint64_t value;
	bool adds; /* add value to the field, do not replace it */
	/* Other changes in the same message. */
	struct o2_wrong_more {
		uint32_t at, width;
		uint64_t value;
	} more[O2_WRONG_MORE];
	uint32_t nmore;
	/* Active from answer `from` to a request for a connection (0: the first), for `answers` answers; */
	uint32_t from, answers;
	/* there the first `spares` matching messages stay right, and at most `most` are changed. */
	uint32_t spares, most;
	uint32_t told;	   /* how many were changed */
	uint32_t answered; /* how many requests for a connection the peer has answered */
	/* The peer's network works in one of `late` rounds only; each other one reports an event.  0: in each. */
	uint32_t late;
	/* The peer's buffers, if not those that the command expects: to write to, and to read. */
	bool places, truncates;
	struct o2_wrong_place {
		uint32_t portal, bytes;
		uint64_t bits;
		bool puts_only;
	} place[2];
	/* Our side fails to listen: EADDRINUSE, EACCES; 0: it can listen. */
	int listen_errno;
	bool absent; /* there is no peer */
	bool mute;   /* the peer says nothing once connected */
	bool events; /* our interface has a device, so the command can sleep on it */
	/* Our device is lost after this many rounds; 0: never. */
	uint32_t lost_after, rounds;
	bool alone; /* SIGCHLD is ignored, as some callers have it, so that children cannot be waited for */
};

/* Make a peer, of which there is one at a time, say it.  *wrong must outlive the peer. */
void o2_wrong_say(struct o2_wrong *wrong, struct o2_ni *ni, struct o2_cm *cm);

/* Run the command; *wrong comes back from its process with `told` set. */
void o2_wrong_execute(struct o2_command_run *run, struct o2_wrong *wrong);

#endif
