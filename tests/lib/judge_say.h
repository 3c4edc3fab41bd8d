/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_JUDGE_SAY_H
#define O2_TESTS_JUDGE_SAY_H

#include "judge/judge.h"

/* A conversation that a test invents, event by event, and the findings that the judge reports about it. */

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
/* A judge with default options and no connection yet.  There is one at a time. */
struct say *say_opened(void);
#define SAY_TEST(name) TEST_ON(name, struct say, say, say_opened(), say_close)

/* The number of findings that are not notes. */
uint32_t say_findings(const struct say *say);

/* Start a new connection; the next events belong to it. */
void say_meet(struct say *say, enum o2_judge_seen seen);
void say_later(struct say *say, uint64_t ms);

/* Hand the event to the judge.  Its number and time are filled in. */
void say_event(struct say *say, struct o2_judge_event event);
/* Tell the judge that the capture lacks some traffic of this side. */
void say_lose(struct say *say, enum o2_judge_side from);

/* A's CONNREQ with these parameters, and B's answers: CONNACK or reject. */
struct o2_msg say_request_of(uint32_t depth, uint32_t frags);
void say_request(struct say *say, const struct o2_msg *msg);
void say_reply(struct say *say, const struct o2_msg *msg);
void say_reject(struct say *say, uint8_t why, uint32_t depth, uint32_t frags);
/* Start a connection with CONNREQ and CONNACK, with queue depth SAY_DEPTH and SAY_FRAGS fragments. */
void say_connected(struct say *say);

/* A message of this type from this side, with a correct header (version, NIDs, stamps) and an empty body. */
struct o2_msg say_header(enum o2_judge_side from, enum o2_msg_type type, uint8_t credits);
/* Hand the message to the judge with its canonical length, or with a length of `bytes`. */
void say_msg(struct say *say, enum o2_judge_side from, struct o2_msg *msg);
void say_msg_bytes(struct say *say, enum o2_judge_side from, struct o2_msg *msg, uint64_t bytes);

void say_noop(struct say *say, enum o2_judge_side from, uint8_t credits);
/* An LNet message of this type in an IMMEDIATE.  bytes: payload of a PUT or REPLY, sink length of a GET, or mlength
 * of an ACK.  handle: of the PUT or GET that wants an answer, or that is answered; 0: none. */
void say_immediate(struct say *say, enum o2_judge_side from, enum o2_lnet_type type, uint64_t handle,
		   uint32_t bytes, uint8_t credits);
void say_put_req(struct say *say, enum o2_judge_side from, uint64_t cookie, uint32_t bytes, uint8_t credits);
/* A sink: `count` adjacent fragments of `bytes` bytes each, from addr on, registered under rkey. */
struct say_sink {
	uint32_t rkey;
	uint64_t addr;
	uint32_t count, bytes;
};
void say_put_ack(struct say *say, enum o2_judge_side from, uint64_t cookie, uint64_t sink_cookie,
		 const struct say_sink *sink, uint8_t credits);
void say_get_req(struct say *say, enum o2_judge_side from, uint64_t cookie, const struct say_sink *sink,
		 uint8_t credits);
/* A completion message: PUT_NAK, PUT_DONE or GET_DONE. */
void say_done(struct say *say, enum o2_judge_side from, enum o2_msg_type type, uint64_t cookie,
	      int32_t status, uint8_t credits);
void say_write(struct say *say, enum o2_judge_side from, uint32_t rkey, uint64_t addr, uint32_t bytes);

/* A conversation that breaks one rule if `broken`, and otherwise no rule. */
typedef void (*say_tale)(struct say *say, bool broken);

/* For each rule from first to end - 1: its broken tale gives this one finding, and its other tale none. */
void say_each(const say_tale *tales, enum o2_judge_rule_id first, enum o2_judge_rule_id end);

#endif
