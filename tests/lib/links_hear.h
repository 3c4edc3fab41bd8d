/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_LINKS_HEAR_H
#define O2_TESTS_LINKS_HEAR_H

#include "cli/links.h"
#include "tests/lib/judge_say.h"

/* A capture of two hosts that a test makes up, event by event. */

#define QP_A	      0x201u
#define QP_B	      0x301u
#define HEARD_O2IBLND 0x10603dbu /* port 987 of the RDMA connection manager's services */
#define SECOND_NS     1000000000u

struct heard {
	struct say say;
	struct o2_links *links;
	uint64_t frame, now_ns;
	uint32_t psn[O2_JUDGE_SIDES]; /* of the side's next packet */
	uint64_t stamp_b;
};

/* There is one at a time. */
struct heard *heard_opened(void);
void heard_closed(struct heard *heard);
#define LINKS_TEST(name) TEST_ON(name, struct heard, heard, heard_opened(), heard_closed)

/* Hand the event to the links.  Its number, time and addresses are filled in. */
void hear(struct heard *heard, enum o2_judge_side from, struct o2_event event);
void hear_cm(struct heard *heard, enum o2_judge_side from, struct o2_cm_mad cm, const struct o2_msg *msg);
/* Set up the n-th connection, from A to queue pair qp_b of B. */
void hear_connect(struct heard *heard, uint32_t n, uint32_t qp_b);
void hear_send(struct heard *heard, enum o2_judge_side from, uint32_t qp, struct o2_msg msg);
/* The side acknowledges what the other side has sent, up to that PSN. */
void hear_ack(struct heard *heard, enum o2_judge_side from, uint32_t qp, uint32_t psn);

/* A PUT in an IMMEDIATE; A's GET of 4096 bytes, under a key and at a place of its own; B's answer that there are none. */
struct o2_msg a_put(enum o2_judge_side from, uint8_t credits);
struct o2_msg a_get_req(uint64_t cookie);
struct o2_msg a_get_done(uint64_t cookie);

/* The number of all findings. */
uint32_t heard_findings(const struct heard *heard);

#endif
