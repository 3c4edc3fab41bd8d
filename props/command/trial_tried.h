/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_TRIAL_TRIED_H
#define O2_PROPS_TRIAL_TRIED_H

#include "props/command/trial.h"

/*
 * What each probe of `o2ref conform` says to the peer: docs/conform.md, "What each probe says".  It is read
 * from the capture, and held to what the table there foretells for the probe, one word for each thing said.
 */

#define O2_TRIED_TEXT 8192u

/* Words: equal ones, one behind the other, are one with a number. */
struct o2_tried_text {
	char text[O2_TRIED_TEXT], word[96];
	uint64_t first, last, step; /* places of an equal word */
	uint32_t times;
	uint32_t requests; /* for connections */
};

struct o2_tried {
	struct o2_trial *trial;
	uint32_t row; /* of the packet that is looked at */
	struct o2_tried_text said;
	uint64_t life, peer_life; /* stamps that were told last */
	uint64_t number;	  /* of the first ping of LNet selftest in this row */
	uint16_t version;	  /* of the last request for a connection, */
	uint16_t known;		  /* and when the row began */
};

void o2_tried_start(struct o2_tried *tried, struct o2_trial *trial);
/* A request, its message; a CONNACK; a reject of the peer's; our DREQ; a message of ours. */
void o2_tried_asks(struct o2_tried *tried, uint64_t packet, const uint8_t *message);
void o2_tried_granted(struct o2_tried *tried, const uint8_t *message);
void o2_tried_rejected(struct o2_tried *tried, uint64_t packet);
void o2_tried_ends(struct o2_tried *tried, uint64_t packet);
void o2_tried_says(struct o2_tried *tried, uint64_t packet, const uint8_t *message);
void o2_tried_finish(struct o2_tried *tried);

/* A word, and the place that it is about. */
void o2_tried_word(struct o2_tried_text *text, uint64_t place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
const char *o2_tried_whole(struct o2_tried_text *text);

/*
 * What a probe says; version: that by which the peer knows us.  false: the page does not say, or not to the
 * last word.
 */
bool o2_tried_foretell(const struct o2_tried *tried, const char *id, struct o2_tried_text *text);

#endif
