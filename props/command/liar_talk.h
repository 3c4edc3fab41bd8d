/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_LIAR_TALK_H
#define O2_PROPS_LIAR_TALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "judge/rules.h"
#include "lnd/ni/watch.h"
#include "props/engine/choice.h"

/*
 * What the liar and its peer say on the wire while one misbehaviour is tried, as `o2props hostile --tell` prints
 * it. Some rules of docs/judge.md are broken, each on a connection of its own.
 */

#define O2_LIAR_SAYS  72u
#define O2_LIAR_BYTES 640u

struct o2_liar_says {
	enum o2_watched_kind kind;
	bool ours;   /* sent by the liar's process: its liar or its honest end */
	bool honest; /* sent by that honest end */
	uint32_t conn;
	uint32_t length; /* of bytes; WRITE: of the data written */
	uint8_t bytes[O2_LIAR_BYTES];
};

struct o2_liar_talk {
	uint32_t count;
	struct o2_liar_says says[O2_LIAR_SAYS];
	bool named[O2_JUDGE_RULES];
	uint32_t conns;
};

/* Draw a talk.  first_conn: the first connection number that earlier talks do not use. */
void o2_liar_talk_draw(struct o2_choice *c, uint32_t first_conn, struct o2_liar_talk *talk);

/* Write each as a line to the descriptor. */
void o2_liar_talk_tell(const struct o2_liar_talk *talk, int fd);

/* The rules by which the judge must name it, as the report lists them; "": none. */
void o2_liar_talk_named(const struct o2_liar_talk *talk, char *text, size_t bytes);
/* The last thing that the peer said, as the report shows it. */
void o2_liar_talk_heard(const struct o2_liar_talk *talk, char *text, size_t bytes);

/* Number of packets that the talk takes in a capture. */
uint32_t o2_liar_talk_packets(const struct o2_liar_talk *talk);
/* Does the capture contain this talk from *at on?  *at moves behind it. */
bool o2_liar_talk_captured(const struct o2_liar_talk *talk, const uint8_t *bytes, size_t count, size_t *at);

#endif
