/* SPDX-License-Identifier: MIT */
/* An end on another machine: the messages of both sides, and an answer whatever happens to that end. */
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "base/monotonic.h"
#include "loopverbs/loopverbs.h"
#include "props/world/far.h"
#include "props/world/rung_side.h"
#include "tests/lib/unit_test.h"
#include "tests/unit/props/far_scenario.h"

static const struct o2_far_identity identity = {"of a test", 0x1234};

/* --- this program as the far end --- */

static int say(struct o2_far_talk *talk, json_t *object, size_t length)
{
	static const uint8_t bytes[64];
	struct o2_error error;

	return o2_far_say(talk, &(struct o2_far_message){object, bytes, length}, o2_monotonic_ms() + 10000,
			  &error);
}

static json_t *answer_of(json_int_t number)
{
	const struct o2_end_answer answer = {.nid = 7};

	return json_pack("{s:I, s:o}", "number", number, "answer", o2_far_answer(&answer));
}

static int tell(struct o2_far_talk *talk, const char *lie)
{
	if (strcmp(lie, "dies") == 0)
		raise(SIGTERM);
	else if (strcmp(lie, "exits") == 0)
		return 3;
	else if (strcmp(lie, "leaves") == 0)
		return 0;
	else if (strcmp(lie, "number") == 0)
		say(talk, answer_of(2), 0);
	else if (strcmp(lie, "answer") == 0)
		say(talk, json_pack("{s:i, s:{s:i}}", "number", 1, "answer", "code", 1), 0);
	else if (strcmp(lie, "pages") == 0)
		say(talk, o2_json_with(answer_of(1), "pages", json_pack("[i]", 1)), 64);
	else if (strcmp(lie, "half") == 0)
		say(talk, json_pack("{s:i, s:i}", "number", 1, "bytes", 4096), 0);
	else if (strcmp(lie, "bytes") == 0)
		say(talk, json_pack("{s:i, s:i}", "number", 1, "bytes", 1 << 30), 0);
	else if (strcmp(lie, "text") == 0)
		puts("Segmentation fault (core dumped)");
	else if (strcmp(lie, "json") == 0)
		fwrite("\3\0\0\0hey", 1, 7, stdout);
	else if (strcmp(lie, "end") == 0)
		fwrite("\2\0\0\0{}.", 1, 7, stdout);
	fflush(stdout);
	if (strcmp(lie, "shuts") == 0)
		close(STDOUT_FILENO);
	sleep(60);
	return 0;
}

/* Answers the first question with the given lie. */
static int play_liar(const char *lie)
{
	struct o2_far_talk talk = {.in = STDIN_FILENO, .out = STDOUT_FILENO};
	struct o2_far_message question;
	struct o2_error error;
	int status = 9;

	say(&talk, o2_far_hello(&identity), 0);
	say(&talk, answer_of(0), 0);
	if (o2_far_await(&talk, &question, o2_monotonic_ms() + 10000, &error) == 0) {
		json_decref(question.object);
		status = tell(&talk, lie);
	}
	o2_far_talk_free(&talk);
	return status;
}

static int play_far(const char *part)
{
	struct o2_far_served served = {
		.in = dup(STDIN_FILENO),
		.out = dup(STDOUT_FILENO),
		.identity = identity,
		.end = {.device = "loop0", .gid_index = O2_LOOP_GID_INDEX, .side = O2_SINK},
		.open_network = o2_network_open_loop,
		.deserted_ms = 20000,
	};
	struct o2_error error;

	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	signal(SIGPIPE, SIG_IGN);
	if (strcmp(part, "another") == 0)
		served.identity.digest++;
	else if (strcmp(part, "no-device") == 0)
		served.end.device = "loop77";
	else if (strcmp(part, "deserted") == 0)
		served.deserted_ms = 50;
	return o2_far_serve(&served, &error) == 0 ? 0 : 5;
}

/* --- this program as the near end --- */

struct near {
	struct o2_arena arena;
	struct o2_image image;
	struct o2_far far;
	struct o2_far_config config;
	uint32_t patience_ms; /* time limit of an answer; the start may take longer on a busy machine */
	const char *argv[4];
	struct o2_end_question question;
	struct o2_end_answer answer;
	struct o2_error error;
};

static int open_near(void **state)
{
	static char path[4096];
	struct near *near = calloc(1, sizeof(*near));

	assert_non_null(near);
	assert_int_equal(o2_arena_create(O2_SCENARIO_PAGES, &near->arena, NULL), 0);
	o2_image_init(&near->image, &near->arena, 1);
	near->far.copy.image = &near->image;
	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	near->argv[0] = path;
	near->argv[1] = "far";
	near->config = (struct o2_far_config){
		.words = "exec",
		.argv = near->argv,
		.side = O2_SINK,
		.timeout_ms = 20000,
		.identity = identity,
	};
	*state = near;
	return 0;
}

static int close_near(void **state)
{
	struct near *near = *state;

	o2_far_kill(&near->far);
	o2_arena_destroy(&near->arena);
	free(near);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	return 0;
}

#define NEAR_TEST(name) TEST_OF(name, open_near, close_near, struct near, near)

static int start(struct near *near, const char *part)
{
	int rc;

	near->argv[2] = part;
	rc = o2_far_start(&near->far, &near->config, &near->error);
	return rc == 0 ? o2_far_opened(&near->far, &near->error) : rc;
}

static int ask(struct near *near, enum o2_end_verb verb)
{
	near->question.verb = verb;
	near->question.peer = near->far.nid + 1;
	o2_far_ask(&near->far, &near->question, &near->answer);
	return near->answer.code;
}

/* Asks everything that an end without a peer can answer. */
NEAR_TEST(answers)
{
	struct o2_end_farewell farewell = {0};

	assert_int_equal(start(near, "honest"), 0);
	assert_true(near->far.nid != 0);
	for (uint64_t number = 0; number < 3; number++) {
		draw(&near->question.scenario, number);
		assert_int_equal(ask(near, O2_END_BEGIN), 0);
		assert_int_equal(ask(near, O2_END_START), -ENOTCONN);
		assert_string_equal(near->answer.error.rule, "end/connection");
		near->question.until = O2_END_PARTED;
		assert_int_equal(ask(near, O2_END_WAIT), 0);
		assert_int_equal(ask(near, O2_END_REST), 0);
		assert_int_equal(o2_far_fetch(&near->far, &near->error), 0);
	}
	assert_int_equal(o2_far_quit(&near->far, &farewell, &near->error), 0);
	assert_int_equal(near->far.pid, 0);
	assert_true(farewell.most.regions > 0);
	assert_true(o2_held_equal(&farewell.before, &farewell.after));
	assert_true(o2_process_held_equal(&farewell.before.process, &farewell.after.process));
}

static void is_refused(struct near *near, const char *part, int code, const char *rule)
{
	assert_error(start(near, part), code, &near->error, rule);
	assert_int_equal(near->far.pid, 0);
}

/* A far end that begins a message and says no more; where its shell was too slow, with more time. */
static void begins_a_message(struct near *near)
{
	int rc = -ETIMEDOUT;

	near->config.words = "printf abc; sleep 60;";
	for (uint32_t ms = 100; rc == -ETIMEDOUT && ms < 60000; ms *= 2) {
		near->config.timeout_ms = ms;
		rc = start(near, "honest");
	}
	assert_error(rc, -EBADMSG, &near->error, "far/garbage");
	assert_int_equal(near->far.pid, 0);
}

NEAR_TEST(does_not_start)
{
	is_refused(near, "another", -EPROTO, "far/another-program");
	is_refused(near, "no-device", -ENODEV, "network/no-such-device");
	assert_non_null(strstr(near->error.field, "the far end's"));
	near->config.words = "exit 4;";
	is_refused(near, "honest", -ENOTCONN, "far/exited");
	assert_int_equal(near->error.value, 4);
	near->config.words = "kill $$;";
	is_refused(near, "honest", -ENOTCONN, "far/killed");
	near->config.words = "echo Last login: yesterday on tty1;";
	is_refused(near, "honest", -EBADMSG, "far/garbage");
	assert_non_null(strstr(near->error.field, "Last login: yesterday"));
	near->config.words = "printf '\\017\\000\\000\\000{\"form\":\"ohno\"}\\n';";
	is_refused(near, "honest", -EBADMSG, "json/form");
	near->config.timeout_ms = 100;
	near->config.words = "sleep 60;";
	is_refused(near, "honest", -ETIMEDOUT, "far/silent");
	begins_a_message(near);
}

/* Expects an error with this rule when the far end answers its first question with this lie. */
static void is_lost(struct near *near, const char *lie, const char *rule)
{
	near->config.timeout_ms = 20000;
	assert_int_equal(start(near, lie), 0);
	near->config.timeout_ms = near->patience_ms;
	assert_int_equal(ask(near, O2_END_REST), -EPIPE);
	assert_string_equal(near->answer.error.rule, rule);
	assert_int_equal(near->far.pid, 0);
}

NEAR_TEST(is_gone_or_lies)
{
	near->argv[1] = "liar";
	near->patience_ms = 20000;
	is_lost(near, "dies", "far/killed");
	assert_int_equal(near->answer.error.value, SIGTERM);
	is_lost(near, "exits", "far/exited");
	assert_int_equal(near->answer.error.value, 3);
	is_lost(near, "leaves", "far/exited");
	is_lost(near, "shuts", "far/closed");
	is_lost(near, "number", "far/garbage");
	is_lost(near, "answer", "json/not-a-hex-string");
	is_lost(near, "pages", "far/pages");
	is_lost(near, "bytes", "json/integer-out-of-range");
	is_lost(near, "text", "far/garbage");
	is_lost(near, "json", "far/garbage");
	is_lost(near, "end", "far/garbage");
	near->patience_ms = 300;
	is_lost(near, "silent", "far/silent");
	assert_int_equal(near->answer.error.code, -ETIMEDOUT);
	is_lost(near, "half", "far/silent");
}

/* Sends the far end this object: it must end with status 5, without an answer. */
static void ends_with(struct near *near, json_t *object)
{
	struct o2_far_message message = {0};
	siginfo_t ended;

	assert_int_equal(start(near, "honest"), 0);
	assert_int_equal(say(&near->far.talk, object, 0), 0);
	assert_error(o2_far_await(&near->far.talk, &message, o2_monotonic_ms() + 10000, &near->error), -EPIPE,
		     &near->error, "far/closed");
	assert_int_equal(waitid(P_PID, (id_t)near->far.pid, &ended, WEXITED | WNOWAIT), 0);
	assert_int_equal(ended.si_code, CLD_EXITED);
	assert_int_equal(ended.si_status, 5);
	o2_far_kill(&near->far);
}

static json_t *fill(const char *kind, int page)
{
	return json_pack("{s:i, s:i, s:i, s:s, s:[{s:s, s:i, s:s, s:[i]}]}", "number", 1, "verb", O2_END_REST,
			 "until", 0, "peer", "0x1", "fills", "kind", kind, "id", 1, "seed", "0x2", "pages",
			 page);
}

NEAR_TEST(wrong_questions)
{
	struct o2_far_message message = {0};

	ends_with(near, json_object());
	ends_with(near, json_pack("{s:i}", "number", -1));
	ends_with(near, json_pack("{s:i, s:i}", "number", 1, "verb", 0));
	ends_with(near, json_pack("{s:i, s:i, s:i, s:s}", "number", 1, "verb", O2_END_QUIT + 1, "until", 0,
				  "peer", "0x1"));
	ends_with(near, json_pack("{s:i, s:i, s:i, s:s}", "number", 1, "verb", O2_END_BEGIN, "until", 0,
				  "peer", "0x1"));
	ends_with(near, fill("red", O2_SCENARIO_PAGES));
	ends_with(near, fill("blue", 1));
	assert_int_equal(start(near, "honest"), 0);
	assert_int_equal(say(&near->far.talk, fill("red", 1), 0), 0);
	assert_int_equal(o2_far_await(&near->far.talk, &message, o2_monotonic_ms() + 10000, &near->error), 0);
	json_decref(message.object);
	o2_far_kill(&near->far);
	/* The far end ends by itself when it gets no questions. */
	assert_int_equal(start(near, "deserted"), 0);
	assert_error(o2_far_await(&near->far.talk, &message, o2_monotonic_ms() + 10000, &near->error), -EPIPE,
		     &near->error, "far/closed");
}

/* The far end's input closes while it waits for an event: it ends long before its wait times out. */
NEAR_TEST(deserted_while_it_waits)
{
	const struct o2_end_question question = {.verb = O2_END_WAIT, .until = O2_END_GREETED};
	const uint64_t until_ms = o2_monotonic_ms() + 10000;
	struct o2_far_message message = {0};

	static_assert(O2_RUNG_GIVE_UP_S > 15, "it may not give up by itself meanwhile");
	assert_int_equal(start(near, "honest"), 0);
	assert_int_equal(
		say(&near->far.talk, o2_json_with(o2_far_question(&question), "number", json_integer(1)), 0),
		0);
	assert_int_equal(shutdown(near->far.talk.out, SHUT_WR), 0);
	assert_int_equal(o2_far_await(&near->far.talk, &message, until_ms, &near->error), 0);
	assert_int_equal(o2_far_read_answer(message.object, &near->answer, &near->error), 0);
	json_decref(message.object);
	assert_error(near->answer.code, -EPIPE, &near->answer.error, "end/deserted");
	assert_error(o2_far_await(&near->far.talk, &message, until_ms, &near->error), -EPIPE, &near->error,
		     "far/closed");
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "far") == 0)
		return play_far(argv[2]);
	if (argc > 2 && strcmp(argv[1], "liar") == 0)
		return play_liar(argv[2]);
	return tests_run();
}
