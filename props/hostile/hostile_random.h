/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HOSTILE_RANDOM_H
#define O2_PROPS_HOSTILE_RANDOM_H

#include "props/engine/property.h"
#include "props/engine/tally.h"
#include "props/hostile/hostile_internal.h"

/*
 * The property: whatever a peer says and writes, in any order, with any credits, cookies and status, it can
 * only get its own connection closed (docs/hostile.md).
 *
 *   - another connection of the same interface goes on moving bytes;
 *   - memory outside of what was described to the liar keeps its bytes;
 *   - every operation of the victim ends once, and everything is handed back;
 *   - it comes to rest within a bound.
 */

#define O2_HOSTILE_STEPS      48u  /* of a case, at most */
#define O2_HOSTILE_WIDE_FRAGS 255u /* up to O2_MAX_FRAGS: about as many as a byte counts */

enum o2_hostile_step_kind {
	O2_HOSTILE_ANSWER, /* what an honest peer would */
	O2_HOSTILE_SAY,	   /* a message, good or spoiled */
	O2_HOSTILE_SETTLE, /* let everything happen */
	O2_HOSTILE_PUT,	   /* the victim's application */
	O2_HOSTILE_GET,
	O2_HOSTILE_SEND,
	O2_HOSTILE_CLOCK,
	O2_HOSTILE_NOISE, /* bytes */
	O2_HOSTILE_WRITE, /* RDMA */
	O2_HOSTILE_STEP_KINDS,
};

struct o2_hostile_step {
	enum o2_hostile_step_kind kind;
	uint8_t type; /* of the message */
	uint8_t credits;
	uint64_t cookie;
	int32_t status;
	uint32_t nob;
	uint32_t nfrags;
	int32_t offset; /* WRITE: from the start of what was described */
	bool key_wrong;
	enum o2_reg_mode mode;
	uint32_t spoil_offset, spoil_width, length;
	uint64_t spoil_value;
};

struct o2_hostile_run {
	struct o2_tally tally; /* first: props/engine/tally.h */
	struct o2_hostile h;
	bool open;
	uint32_t steps;
	struct o2_hostile_step step[O2_HOSTILE_STEPS];
	uint32_t depth, max_frags;
	struct o2_rdma_desc desc; /* the last that the victim described */
	uint64_t cookie[2];	  /* its last request's, its last PUT_ACK's */
	enum o2_msg_type asked;	  /* what an honest peer would answer now; NOOP: nothing */
	uint32_t asked_nob;
	uint32_t temper; /* 0: says what is true, 1: lies now and then, 2: lies */
};

/* --- for its parts (hostile_draw.c) --- */

/* The step that follows, in view of what the victim has said. */
void o2_hostile_draw_step(struct o2_choice *c, const struct o2_hostile_run *run,
			  struct o2_hostile_step *step);

/* A mode in which the victim's memory can be protected. */
enum o2_reg_mode o2_hostile_draw_mode(struct o2_choice *c);

/* *run: zeros at first, the caller's; run->h is closed by o2_hostile_close. */
struct o2_property o2_hostile_property(struct o2_hostile_run *run);

#endif
