/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HOSTILE_RANDOM_H
#define O2_PROPS_HOSTILE_RANDOM_H

#include "props/engine/property.h"
#include "props/engine/tally.h"
#include "props/hostile/hostile_internal.h"

/*
 * The property: whatever a peer sends and writes, in any order, with any credits, cookies and status, it can
 * only get its own connection closed (docs/hostile.md).
 *
 *   - another connection of the same interface continues to move bytes;
 *   - memory outside of what was described to the liar keeps its bytes;
 *   - every operation of the victim ends once, and everything is handed back;
 *   - the victim comes to rest within a bound.
 */

#define O2_HOSTILE_STEPS      48u  /* most steps of a case */
#define O2_HOSTILE_WIDE_FRAGS 255u /* from here to O2_MAX_FRAGS: around the limit of a byte */

enum o2_hostile_step_kind {
	O2_HOSTILE_ANSWER, /* answer as an honest peer would */
	O2_HOSTILE_SAY,	   /* a message, good or spoiled */
	O2_HOSTILE_SETTLE, /* handle all events */
	O2_HOSTILE_PUT,	   /* an operation of the victim's application, also the next two */
	O2_HOSTILE_GET,
	O2_HOSTILE_SEND,
	O2_HOSTILE_CLOCK,
	O2_HOSTILE_NOISE, /* send arbitrary bytes */
	O2_HOSTILE_WRITE, /* RDMA to the victim's memory */
	O2_HOSTILE_STEP_KINDS,
};

struct o2_hostile_step {
	enum o2_hostile_step_kind kind;
	uint8_t type; /* message type */
	uint8_t credits;
	uint64_t cookie;
	int32_t status;
	uint32_t nob;
	uint32_t nfrags;
	int32_t offset; /* WRITE: offset from the start of the described memory */
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
	struct o2_rdma_desc desc; /* the last descriptor that the victim sent */
	uint64_t cookie[2];	  /* of the victim's last request, and of its last PUT_ACK */
	enum o2_msg_type asked;	  /* message that an honest peer would answer now; NOOP: none */
	uint32_t asked_nob;
	uint32_t temper; /* 0: sends correct messages, 1: lies sometimes, 2: lies */
};

/* --- internal to the property (hostile_draw.c) --- */

/* Draw the next step, which depends on what the victim has sent. */
void o2_hostile_draw_step(struct o2_choice *c, const struct o2_hostile_run *run,
			  struct o2_hostile_step *step);

/* Draw a mode in which the victim's memory can be protected. */
enum o2_reg_mode o2_hostile_draw_mode(struct o2_choice *c);

/* *run is the caller's and zeroed before the first use; o2_hostile_close closes run->h. */
struct o2_property o2_hostile_property(struct o2_hostile_run *run);

#endif
