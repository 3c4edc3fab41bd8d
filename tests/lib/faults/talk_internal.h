/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_FAULTS_TALK_INTERNAL_H
#define O2_TEST_FAULTS_TALK_INTERNAL_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/faults/talk.h"

/* The inside of a conversation: talk.c has its course, talk_op.c its operations. */

#define FIRST_NID 0x00050000c0a80a01ull
#define OPS	  16u

enum kind { PUT, GET, SEND, KINDS };

struct op {
	enum kind kind;
	enum o2_reg_mode mode;
	bool gapped;
	uint32_t nob;
	bool started, matched;
	uint32_t ended, ended_there; /* how often */
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

/* The first thing that is wrong is kept. */
#define EXPECT(condition, ...)                                                   \
	do {                                                                     \
		if (!(condition) && talk.failed[0] == '\0')                      \
			snprintf(talk.failed, sizeof(talk.failed), __VA_ARGS__); \
	} while (0)

/* An errno of the call that fails, or what pools say that wanted to grow. */
bool talk_of_the_call(int code);

/* What the nodes ask and are told. */
extern const struct o2_node_ops talk_ops;

/* Start an operation towards the other seat. */
struct op *talk_start(struct seat *seat, enum kind kind, enum o2_reg_mode mode, uint32_t nob);

/* Every operation that was started has ended, on both sides where it got there. */
bool talk_all_ended(void);

#endif
