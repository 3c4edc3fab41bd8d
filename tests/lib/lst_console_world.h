/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_LST_CONSOLE_WORLD_H
#define O2_TESTS_LST_CONSOLE_WORLD_H

#include "lst/console.h"
#include "tests/lib/lst_seat.h"

/* An LNet selftest console at side A of a pair, and at side B a node whose behaviour the test sets (lst_seat.h). */

#define CONSOLE_LANE_PAGE 16u

struct console_world {
	struct o2_lnet_pair pair;
	struct lst_seat seat;
	struct o2_lst_rpc *rpc;
	struct o2_lst_console_config config; /* of the next console; default: a test of three pings */
	struct o2_lst_console *console;
	uint32_t began, nresults;
	struct o2_lst_console_result result; /* the last result that is not O2_LST_WELL */
	const struct o2_lst_console_report *report;
};

extern const struct o2_lst_sid console_sid;

/* order: the byte order of the node's messages.  There is one world at a time. */
struct console_world *console_open(enum o2_byte_order order);
void console_close(struct console_world *world);
#define CONSOLE_TEST(name) \
	TEST_ON(name, struct console_world, world, console_open(O2_LITTLE_ENDIAN), console_close)

/* Create a console and start it. */
void console_start(struct console_world *world);

/* Create a console, start it, and deliver messages until none is on its way. */
void console_run(struct console_world *world);

/* Deliver A's oldest message, or B's if A has none on its way. */
void console_deliver(struct console_world *world);

/* Create a console, start it, and deliver messages until the node has received nasked requests. */
void console_run_until_asked(struct console_world *world, uint32_t nasked);

/* Destroy the console and reset the counts, so that another console can be created for the same node. */
void console_again(struct console_world *world);

/* Let ms pass.  console_pass() also delivers all messages then. */
void console_pass_only(struct console_world *world, uint64_t ms);
void console_pass(struct console_world *world, uint64_t ms);

/* Assert the types of the requests that the node received, for example "MKSN TEST PING". */
void console_expect_asked(const struct console_world *world, const char *types);

/* Assert that the session is over with this status from this step, and that each RPC of the test ended once. */
void console_expect_over(const struct console_world *world, int status, enum o2_lst_console_step step);

#endif
