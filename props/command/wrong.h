/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_WRONG_H
#define O2_PROPS_WRONG_H

#include <stdbool.h>
#include <stdint.h>

#include "props/command/command.h"

/*
 * `o2ref conform`, ping, put, get or lst in a process of its own, on a network inside that process, with a peer that does all that
 * a peer does, but for one field of what it says.
 */

#define O2_WRONG_ANY  UINT32_MAX
#define O2_WRONG_MORE 4u

struct o2_wrong {
	enum o2_wrong_in {
		O2_WRONG_NOWHERE,
		O2_WRONG_REPLY,	 /* to a request for a connection */
		O2_WRONG_REJECT, /* of one */
		O2_WRONG_MESSAGE,
	} in;
	/* MESSAGE: which of them. */
	uint8_t type;	    /* enum o2_msg_type */
	uint32_t lnet_type; /* IMMEDIATE: enum o2_lnet_type */
	uint32_t lst_type;  /* PUT: of LNet selftest; ANY */
	/* What becomes of `width` bytes. */
	uint32_t at, width;
	uint64_t value;
	bool adds; /* the value is added to what is there */
	/* And of others in the same. */
	struct o2_wrong_more {
		uint32_t at, width;
		uint64_t value;
	} more[O2_WRONG_MORE];
	uint32_t nmore;
	/* When: from that answer to a request for a connection on, 0 is the first, up to so many behind it; */
	uint32_t from, answers;
	/* and there of those that are meant so many are spared. */
	uint32_t spares, most;
	uint32_t told; /* how often it was */
	/* Its side of the network goes on in one of so many rounds, and something happens in all of them; 0: in each. */
	uint32_t late;
	/* Its places, where they are not those that the command looks for: to write to, and to read. */
	bool places, truncates;
	struct o2_wrong_place {
		uint32_t portal, bytes;
		uint64_t bits;
		bool puts_only;
	} place[2];
	/* Our own side may not listen: EADDRINUSE, EACCES; 0: it may. */
	int listen_errno;
	bool absent; /* there is no peer at all */
	bool mute;   /* once connected it says nothing */
	bool events; /* our interface is one of a device, on which one can sleep */
	/* Our device is lost after so many rounds; 0: it is not. */
	uint32_t lost_after, rounds;
	bool alone; /* nobody can wait for what our side starts, as some who start it have it */
};

/* What was told comes back from its process. */
void o2_wrong_execute(struct o2_command_run *run, struct o2_wrong *wrong);

#endif
