/* SPDX-License-Identifier: MIT */
/* A rung lets go of what is of no more use: a far end that says nothing, a connection on which a key was tried. */
#include <unistd.h>

#include "base/json.h"
#include "base/monotonic.h"
#include "loopverbs/loopverbs.h"
#include "props/world/rung_ends.h"
#include "props/world/rung_side.h"
#include "props/world/rung_stale.h"
#include "tests/lib/unit_test.h"
#include "tests/unit/props/far_scenario.h"

/* --- a far end that says nothing --- */

static const struct o2_far_identity identity = {"of a test", 0x1234};

static void say(struct o2_far_talk *talk, json_t *object)
{
	struct o2_error error;

	o2_far_say(talk, &(struct o2_far_message){object, NULL, 0}, o2_monotonic_ms() + 10000, &error);
}

/* This program as the far end: it does not open its device, or says at most half of its first answer. */
static int play_far(const char *part)
{
	const struct o2_end_answer answer = {.nid = 7};
	struct o2_far_talk talk = {.in = STDIN_FILENO, .out = STDOUT_FILENO};
	struct o2_far_message question = {0};
	struct o2_error error;

	say(&talk, o2_far_hello(&identity));
	if (strcmp(part, "mute") == 0)
		return (int)sleep(60);
	say(&talk, json_pack("{s:i, s:o}", "number", 0, "answer", o2_far_answer(&answer)));
	/* Before the question, or a busy machine finds it silent. */
	if (strcmp(part, "half") == 0)
		(void)!write(STDOUT_FILENO, "\77\0", 2);
	o2_far_await(&talk, &question, o2_monotonic_ms() + 10000, &error);
	json_decref(question.object);
	o2_far_talk_free(&talk);
	return (int)sleep(60);
}

struct far_run {
	struct o2_rung_ends ends;
	struct o2_far_config config;
	struct o2_image image[2];
	char path[4096];
	const char *argv[4];
	struct o2_error error;
};

static struct far_run *open_far(void)
{
	struct far_run *run = calloc(1, sizeof(*run));
	struct o2_rung_nodes_config config = {
		.device = {"loop0", "loop1"},
		.gid_index = O2_LOOP_GID_INDEX,
		.open_network = o2_network_open_loop,
	};

	assert_non_null(run);
	assert_true(readlink("/proc/self/exe", run->path, sizeof(run->path) - 1) > 0);
	run->argv[0] = run->path;
	run->argv[1] = "far";
	run->config = (struct o2_far_config){
		.words = "exec", .argv = run->argv, .side = O2_SOURCE, .identity = identity};
	config.far = &run->config;
	assert_int_equal(o2_rung_ends_open(&run->ends, &config, &run->error), 0);
	for (int i = 0; i < 2; i++)
		o2_image_init(&run->image[i], &run->ends.arena[i], 1);
	o2_rung_ends_images(&run->ends, (struct o2_image *[]){&run->image[0], &run->image[1]});
	return run;
}

static void close_far(struct far_run *run)
{
	o2_rung_ends_close(&run->ends);
	free(run);
}

#define FAR_TEST(name) TEST_ON(name, struct far_run, run, open_far(), close_far)

static int start(struct far_run *run, const char *part, uint32_t timeout_ms)
{
	run->argv[2] = part;
	run->config.timeout_ms = timeout_ms;
	return o2_rung_ends_start(&run->ends, &run->error);
}

FAR_TEST(a_device_that_does_not_open)
{
	for (uint32_t i = 0; i < O2_RUNG_ENDS_WAITS; i++) {
		assert_false(o2_rung_ends_given_up(&run->ends));
		assert_int_equal(start(run, "mute", 1000), -ETIMEDOUT);
		assert_int_equal(run->ends.waits, i + 1);
	}
	assert_true(o2_rung_ends_given_up(&run->ends));
}

FAR_TEST(half_an_answer)
{
	const struct o2_end_question question = {.verb = O2_END_REST};
	struct o2_end_answer answer;

	assert_int_equal(start(run, "half", 20000), 0);
	run->config.timeout_ms = 2000;
	o2_rung_ends_ask(&run->ends, O2_SOURCE, &question, &answer);
	assert_error(answer.code == -EPIPE ? answer.error.code : 0, -EBADMSG, &answer.error, "far/garbage");
	assert_int_equal(run->ends.waits, 1);
}

FAR_TEST(memory_that_does_not_come)
{
	assert_int_equal(start(run, "silent", 20000), 0);
	run->config.timeout_ms = 300;
	assert_int_equal(o2_rung_ends_fetch(&run->ends, &run->error), -EPIPE);
	assert_int_equal(run->ends.waits, 1);
	assert_false(run->ends.running);
	/* Nothing was asked, so there was nothing to wait for. */
	assert_int_equal(o2_rung_ends_fetch(&run->ends, &run->error), 0);
	assert_int_equal(run->ends.waits, 1);
}

/* --- a connection on which a key was tried --- */

static bool try_fails;

int __real_o2_rung_try_key(struct o2_ni *ni, struct o2_conn *conn, uint64_t addr, uint32_t rkey,
			   enum ibv_wc_status *status);
int __wrap_o2_rung_try_key(struct o2_ni *ni, struct o2_conn *conn, uint64_t addr, uint32_t rkey,
			   enum ibv_wc_status *status);

int __wrap_o2_rung_try_key(struct o2_ni *ni, struct o2_conn *conn, uint64_t addr, uint32_t rkey,
			   enum ibv_wc_status *status)
{
	return try_fails ? -EIO : __real_o2_rung_try_key(ni, conn, addr, rkey, status);
}

/* Try a key without success in a transfer of this rung: the next transfer needs a new connection. */
static void try_in_vain(struct o2_rung *rung)
{
	struct o2_scenario *scenario = calloc(1, sizeof(*scenario));
	struct o2_observed observed;
	struct o2_error error = {0};
	uint64_t connections, number = 0;
	int rc = 0;

	assert_non_null(scenario);
	for (try_fails = true; rc == 0 && number < 10000; number++) {
		draw(scenario, number);
		if (o2_rung_tries_key(scenario))
			rc = rung->ops->transfer(rung, scenario, &observed, &error);
	}
	assert_error(rc, -EIO, &error, "rung/stale-key");
	try_fails = false;
	connections = rung->connections;
	assert_int_equal(rung->ops->transfer(rung, scenario, &observed, &error), 0);
	assert_true(observed.stale_tried);
	assert_int_equal(rung->connections, connections + 1);
	rung->ops->close(rung);
	free(scenario);
}

TEST(a_key_that_cannot_be_tried)
{
	const struct o2_rung_nodes_config config = {
		.device = {"loop0", "loop1"},
		.gid_index = O2_LOOP_GID_INDEX,
		.open_network = o2_network_open_loop,
	};
	struct o2_rung *rung;

	assert_int_equal(o2_rung_open_verbs("loop0", "loop1", O2_LOOP_GID_INDEX, &rung, NULL), 0);
	try_in_vain(rung);
	assert_int_equal(o2_rung_open_nodes(&config, &rung, NULL), 0);
	try_in_vain(rung);
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "far") == 0)
		return play_far(argv[2]);
	return tests_run();
}
