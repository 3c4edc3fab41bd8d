/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_LST_CONSOLE_WORLD_H
#define O2_TESTS_LST_CONSOLE_WORLD_H

#include "lst/console.h"
#include "tests/lib/lst_seat.h"

/* A console at side A of a pair, and a node that does what a test tells it at side B. */

#define CONSOLE_LANE_PAGE 16u

struct console_world {
	struct o2_lnet_pair pair;
	struct lst_seat seat;
	struct o2_lst_rpc *rpc;
	struct o2_lst_console_config config; /* of the next console: three pings */
	struct o2_lst_console *console;
	uint32_t began, nresults;
	struct o2_lst_console_result result; /* the last one that did not go well */
	const struct o2_lst_console_report *report;
};

extern const struct o2_lst_sid console_sid;

/* order: of the node. */
struct console_world *console_open(enum o2_byte_order order);
void console_close(struct console_world *world);
#define CONSOLE_TEST(name) \
	TEST_ON(name, struct console_world, world, console_open(O2_LITTLE_ENDIAN), console_close)

/* A console is made, and begins. */
void console_start(struct console_world *world);

/* It has begun, and nothing is on its way any more. */
void console_run(struct console_world *world);

/* The oldest letter of A, or else of B, arrives. */
void console_deliver(struct console_world *world);

/* It has begun, and the node has been asked so many times. */
void console_run_until_asked(struct console_world *world, uint32_t nasked);

/* The console goes; another may be made for the same node. */
void console_again(struct console_world *world);

/* It is ms later, and what is on its way arrives. */
void console_pass(struct console_world *world, uint64_t ms);

/* What the node was asked: "MKSN TEST PING". */
void console_expect_asked(const struct console_world *world, const char *types);

/* It is over, with that status from that step; every RPC of the test has ended once. */
void console_expect_over(const struct console_world *world, int status, enum o2_lst_console_step step);

#endif
