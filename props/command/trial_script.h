/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_TRIAL_SCRIPT_H
#define O2_PROPS_TRIAL_SCRIPT_H

#include "props/command/trial_tried.h"

/* Predict what a probe of `o2ref conform` says, from a script of words. */

struct o2_foretelling {
	struct o2_tried_text *text;
	uint32_t known; /* protocol version by which the peer knows us */
	uint32_t n;	/* number in the probe's id */
	uint32_t depth, frags, version;
	uint32_t told; /* as in struct o2_trial */
	bool stale;
	bool big, alone;   /* alone: the probe only requests a connection */
	bool another_life; /* the next request has another stamp than the one before */
	uint32_t pieces, first_byte;
};

/* A request for a connection.  of_life: words for the peer's stamp that it names. */
void o2_foretell_asks(struct o2_foretelling *f, uint32_t depth, const char *of_life);
/* One word per thing said, with =BYTES@OFFSET and *TIMES; %u is the number in the probe's id. */
void o2_foretell_play(struct o2_foretelling *f, const char *script);

#endif
