/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_JUDGE_SAY_H
#define O2_TESTS_JUDGE_SAY_H

#include "judge/judge.h"

/* A conversation that a test makes up, and what the judge says of it. */

#define SAY_DEPTH 8u
#define SAY_FRAGS 4u
#define SAY_A	  0x000500000a4d0001u /* 10.77.0.1@o2ib */
#define SAY_B	  0x000500000a4d0002u

struct say {
	struct o2_judge *judge;
	struct o2_judge_conn *conn;
	uint64_t number, now_ns;
	uint32_t times[O2_JUDGE_RULES];
	struct o2_judge_finding last[O2_JUDGE_RULES];
};

/* options: NULL for the defaults. */
void say_open(struct say *say, const struct o2_judge_options *options);
void say_close(struct say *say);
/* The one of a test by itself: with the defaults, and a conversation that has yet to begin. */
struct say *say_opened(void);
#define SAY_TEST(name) TEST_ON(name, struct say, say, say_opened(), say_close)

/* How often it has found anything but a note. */
uint32_t say_findings(const struct say *say);

/* The next events are of another connection. */
void say_meet(struct say *say, enum o2_judge_seen seen);
void say_later(struct say *say, uint64_t ms);

/* Hear it: number and time are filled in. */
void say_event(struct say *say, struct o2_judge_event event);
/* Something of that side was not seen. */
void say_lose(struct say *say, enum o2_judge_side from);

/* What A asks for, and B answers, as it should be. */
struct o2_msg say_request_of(uint32_t depth, uint32_t frags);
void say_request(struct say *say, const struct o2_msg *msg);
void say_reply(struct say *say, const struct o2_msg *msg);
void say_reject(struct say *say, uint8_t why, uint32_t depth, uint32_t frags);
/* A connection from its start, of SAY_DEPTH and SAY_FRAGS. */
void say_connected(struct say *say);

/* A message that is right in all that its sender and its body do not say. */
struct o2_msg say_header(enum o2_judge_side from, enum o2_msg_type type, uint8_t credits);
/* Hear it at its canonical length, or as bytes long. */
void say_msg(struct say *say, enum o2_judge_side from, struct o2_msg *msg);
void say_msg_bytes(struct say *say, enum o2_judge_side from, struct o2_msg *msg, uint64_t bytes);

void say_noop(struct say *say, enum o2_judge_side from, uint8_t credits);
/* An LNet message of that type in an IMMEDIATE: a PUT or REPLY with bytes, a GET with room for them, an ACK of
 * them.  handle: whose answer is wanted, or what is answered; 0: none. */
void say_immediate(struct say *say, enum o2_judge_side from, enum o2_lnet_type type, uint64_t handle,
		   uint32_t bytes, uint8_t credits);
void say_put_req(struct say *say, enum o2_judge_side from, uint64_t cookie, uint32_t bytes, uint8_t credits);
/* The sink: count fragments of bytes each, from addr on, one after the other, under the key. */
struct say_sink {
	uint32_t rkey;
	uint64_t addr;
	uint32_t count, bytes;
};
void say_put_ack(struct say *say, enum o2_judge_side from, uint64_t cookie, uint64_t sink_cookie,
		 const struct say_sink *sink, uint8_t credits);
void say_get_req(struct say *say, enum o2_judge_side from, uint64_t cookie, const struct say_sink *sink,
		 uint8_t credits);
/* PUT_NAK, PUT_DONE, GET_DONE. */
void say_done(struct say *say, enum o2_judge_side from, enum o2_msg_type type, uint64_t cookie,
	      int32_t status, uint8_t credits);
void say_write(struct say *say, enum o2_judge_side from, uint32_t rkey, uint64_t addr, uint32_t bytes);

/* A conversation that breaks one rule if `broken`, and else none. */
typedef void (*say_tale)(struct say *say, bool broken);

/* Tell both of each rule from first to before end: that rule is found once or never, and no other. */
void say_each(const say_tale *tales, enum o2_judge_rule_id first, enum o2_judge_rule_id end);

#endif
