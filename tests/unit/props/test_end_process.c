/* SPDX-License-Identifier: MIT */
/* An end in a process of its own: whatever happens to the process, the caller gets an answer. */
#include <signal.h>
#include <sys/wait.h>

#include "loopverbs/loopverbs.h"
#include "props/world/end_process.h"
#include "tests/lib/unit_test.h"

struct world {
	struct o2_arena arena;
	struct o2_end_config config;
	struct o2_end_process process;
	struct o2_end_question question;
	struct o2_end_answer answer;
};

static int open_world(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	assert_int_equal(o2_arena_create(O2_SCENARIO_PAGES, &world->arena, NULL), 0);
	world->config = (struct o2_end_config){
		.device = "loop0",
		.gid_index = O2_LOOP_GID_INDEX,
		.side = O2_SINK,
		.arena = &world->arena,
		.alone = true,
	};
	*state = world;
	return 0;
}

static int close_world(void **state)
{
	struct world *world = *state;

	o2_end_process_kill(&world->process);
	o2_arena_destroy(&world->arena);
	free(world);
	/* No child is left, not even a zombie. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	return 0;
}

#define PROCESS_TEST(name) TEST_OF(name, open_world, close_world, struct world, world)

static void start(struct world *world)
{
	struct o2_error error;

	assert_int_equal(o2_end_process_start(&world->config, o2_network_open_loop, &world->process, &error),
			 0);
	assert_true(world->process.pid > 0);
	assert_true(world->process.nid != 0);
}

static int ask(struct world *world, enum o2_end_verb verb)
{
	world->question.verb = verb;
	o2_end_process_ask(&world->process, &world->question, &world->answer);
	return world->answer.code;
}

/* A scenario that moves nothing: both its sides are empty. */
PROCESS_TEST(answers)
{
	struct o2_end_farewell farewell;
	struct o2_error error;

	start(world);
	world->question.peer = world->process.nid + 1;
	assert_int_equal(ask(world, O2_END_BEGIN), 0);
	assert_false(world->answer.connected);
	assert_int_equal(ask(world, O2_END_START), -ENOTCONN);
	assert_string_equal(world->answer.error.rule, "end/connection");
	world->question.until = O2_END_PARTED;
	assert_int_equal(ask(world, O2_END_WAIT), 0);
	assert_int_equal(ask(world, O2_END_REST), 0);
	assert_int_equal(o2_end_process_quit(&world->process, &farewell, &error), 0);
	assert_int_equal(world->process.pid, 0);
	assert_true(farewell.most.regions > 0);
	assert_true(o2_held_equal(&farewell.before, &farewell.after));
}

/* No process has the peer's address: the greeting cannot arrive, and the answer says so. */
PROCESS_TEST(no_peer)
{
	start(world);
	world->question.peer = world->process.nid + 1;
	assert_int_equal(ask(world, O2_END_BEGIN), 0);
	assert_int_equal(ask(world, O2_END_CONNECT), 0);
	world->question.until = O2_END_GREETED;
	assert_int_equal(ask(world, O2_END_WAIT), -EHOSTUNREACH);
	assert_string_equal(world->answer.error.rule, "cm/unresolved");
}

PROCESS_TEST(killed)
{
	for (int i = 0; i < 2; i++) { /* a new process replaces the ended one */
		start(world);
		kill(world->process.pid, SIGKILL);
		assert_int_equal(ask(world, O2_END_REST), -EPIPE);
		assert_string_equal(world->answer.error.rule, "process/killed");
		assert_string_equal(world->answer.error.field, "signal of the sink's process");
		assert_int_equal(world->answer.error.value, SIGKILL);
		assert_int_equal(world->process.pid, 0);
	}
}

PROCESS_TEST(killed_before_its_end)
{
	struct o2_end_farewell farewell;
	struct o2_error error;

	start(world);
	kill(world->process.pid, SIGTERM);
	assert_error(o2_end_process_quit(&world->process, &farewell, &error), -EPIPE, &error,
		     "process/killed");
	assert_int_equal(error.value, SIGTERM);
}

/* A process that exists but does not answer is killed, and the answer says so. */
PROCESS_TEST(silent)
{
	start(world);
	world->process.answer_ms = 100;
	kill(world->process.pid, SIGSTOP);
	assert_int_equal(ask(world, O2_END_REST), -EPIPE);
	assert_string_equal(world->answer.error.rule, "process/silent");
	assert_int_equal(world->answer.error.value, 100);
	assert_int_equal(world->process.pid, 0);
}

PROCESS_TEST(cannot_open)
{
	struct o2_error error;

	world->config.device = "loop77";
	assert_error(o2_end_process_start(&world->config, o2_network_open_loop, &world->process, &error),
		     -ENODEV, &error, "network/no-such-device");
	assert_int_equal(world->process.pid, 0);
}
