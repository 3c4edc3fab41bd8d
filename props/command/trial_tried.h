/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_TRIAL_TRIED_H
#define O2_PROPS_TRIAL_TRIED_H

#include "props/command/trial.h"

/*
 * What each probe of `o2ref conform` says to the peer: docs/conform.md, "What each probe says". It is read from the
 * capture, one word per thing said, and compared with what the table there predicts.
 */

#define O2_TRIED_TEXT 8192u

/* Words; equal consecutive words are written once, with their number. */
struct o2_tried_text {
	char text[O2_TRIED_TEXT], word[96];
	uint64_t first, last, step; /* offsets of equal words */
	uint32_t times;
	uint32_t requests; /* number of requests for connections */
};

struct o2_tried {
	struct o2_trial *trial;
	uint32_t row; /* row of the current packet */
	struct o2_tried_text said;
	uint64_t life, peer_life; /* last stamps that were sent */
	uint64_t number;	  /* of the row's first LNet selftest ping */
	uint16_t version;	  /* in the last request for a connection */
	uint16_t known;		  /* in the last request before the row */
};

void o2_tried_start(struct o2_tried *tried, struct o2_trial *trial);
/* Note a request for a connection, a CONNACK, a reject of the peer, our DREQ, a message of ours. */
void o2_tried_asks(struct o2_tried *tried, uint64_t packet, const uint8_t *message);
void o2_tried_granted(struct o2_tried *tried, const uint8_t *message);
void o2_tried_rejected(struct o2_tried *tried, uint64_t packet);
void o2_tried_ends(struct o2_tried *tried, uint64_t packet);
void o2_tried_says(struct o2_tried *tried, uint64_t packet, const uint8_t *message);
void o2_tried_finish(struct o2_tried *tried);

/* Append a word; place: the offset that it is about. */
void o2_tried_word(struct o2_tried_text *text, uint64_t place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
const char *o2_tried_whole(struct o2_tried_text *text);

/* Predict what a probe says. Returns false if the documentation does not say it, or not completely. */
bool o2_tried_foretell(const struct o2_tried *tried, const char *id, struct o2_tried_text *text);

#endif
