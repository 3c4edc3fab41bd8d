/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_TRIAL_SCRIPT_H
#define O2_PROPS_TRIAL_SCRIPT_H

#include "props/command/trial_tried.h"

/* What a probe of `o2ref conform` says, as a script of words. */

struct o2_foretelling {
	struct o2_tried_text *text;
	uint32_t known; /* the version that the peer knows us by */
	uint32_t n;	/* the number in the probe's id */
	uint32_t depth, frags, version;
	uint32_t told; /* as in struct o2_trial */
	bool stale;
	bool big, alone;   /* alone: the request is all there is */
	bool another_life; /* than the one that asked before */
	uint32_t pieces, first_byte;
};

/* A request for a connection, and whose life it is for. */
void o2_foretell_asks(struct o2_foretelling *f, uint32_t depth, const char *of_life);
/* A word for each thing said, =BYTES@OFFSET, *TIMES; %u is the number in the probe's id. */
void o2_foretell_play(struct o2_foretelling *f, const char *script);

#endif
