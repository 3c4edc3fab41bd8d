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
 * What the liar and its peer say on the wire while one misbehaviour is tried, as `o2props hostile --tell` has it: some
 * rules of docs/judge.md, each broken on a connection of its own.
 */

#define O2_LIAR_SAYS  72u
#define O2_LIAR_BYTES 640u

struct o2_liar_says {
	enum o2_watched_kind kind;
	bool ours;   /* the liar's end says it, or an honest one's */
	bool honest; /* that one's */
	uint32_t conn;
	uint32_t length; /* of the bytes; WRITE: of what is written */
	uint8_t bytes[O2_LIAR_BYTES];
};

struct o2_liar_talk {
	uint32_t count;
	struct o2_liar_says says[O2_LIAR_SAYS];
	bool named[O2_JUDGE_RULES];
	uint32_t conns;
};

/* Behind what the others have said; first_conn: names that are free from there on. */
void o2_liar_talk_draw(struct o2_choice *c, uint32_t first_conn, struct o2_liar_talk *talk);

/* Each as a line to that descriptor. */
void o2_liar_talk_tell(const struct o2_liar_talk *talk, int fd);

/* The rules by which the judge has to name it, as in the report; "": none. */
void o2_liar_talk_named(const struct o2_liar_talk *talk, char *text, size_t bytes);
/* What the peer has said last. */
void o2_liar_talk_heard(const struct o2_liar_talk *talk, char *text, size_t bytes);

/* Packets that all of it is in a capture. */
uint32_t o2_liar_talk_packets(const struct o2_liar_talk *talk);
/* Whether it is what a capture has from *at on, which goes on behind it. */
bool o2_liar_talk_captured(const struct o2_liar_talk *talk, const uint8_t *bytes, size_t count, size_t *at);

#endif
