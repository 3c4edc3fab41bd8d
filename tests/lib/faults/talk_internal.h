/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_FAULTS_TALK_INTERNAL_H
#define O2_TEST_FAULTS_TALK_INTERNAL_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/faults/talk.h"

/* Shared by talk.c (the course of a conversation) and talk_op.c (its operations). */

#define FIRST_NID 0x00050000c0a80a01ull
#define OPS	  16u

enum kind { PUT, GET, SEND, KINDS };

struct op {
	enum kind kind;
	enum o2_reg_mode mode;
	bool gapped;
	uint32_t nob;
	bool started, matched;
	uint32_t ended, ended_there; /* how often, here and at the other node */
	int status;
	struct o2_kiov kiov[2], kiov_there[2];
	struct o2_iov iov, iov_there;
};

struct seat {
	uint32_t index;
	struct o2_ni ni;
	struct o2_cm *cm;
	struct o2_node *node;
	struct op op[OPS];
	uint32_t nops;
};

struct talk {
	const struct talk_config *config;
	enum faulty_call call;
	int code;
	struct o2_cm_loop *loop;
	struct seat seat[2];
	uint64_t now_ms;
	char failed[400];
};

extern struct talk talk;

/* Record the message unless the condition holds.  Only the first message is kept. */
#define EXPECT(condition, ...)                                                   \
	do {                                                                     \
		if (!(condition) && talk.failed[0] == '\0')                      \
			snprintf(talk.failed, sizeof(talk.failed), __VA_ARGS__); \
	} while (0)

/* Can the injected failure cause this code: the call's own errno, or an error of a pool that cannot grow? */
bool talk_of_the_call(int code);

/* The callbacks of both nodes. */
extern const struct o2_node_ops talk_ops;

/* Start an operation towards the other seat.  The result stays valid for the whole conversation. */
struct op *talk_start(struct seat *seat, enum kind kind, enum o2_reg_mode mode, uint32_t nob);

/* Has every started operation ended, and also at the other node if its request was matched there? */
bool talk_all_ended(void);

#endif
