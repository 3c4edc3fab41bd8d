/* SPDX-License-Identifier: MIT */
/* An end's messages are judged; a finding fails the case or is kept (docs/judge.md, "The properties"). */
#include "props/world/end_watch.h"

#include "tests/lib/judge_say.h"
#include "tests/lib/unit_test.h"

static const char name;
static int aside_calls;

static void put_aside(bool aside)
{
	aside_calls += aside ? 1 : -1;
	assert_uint_in_range(aside_calls, 0, 1);
}

static void tell(const struct o2_end_watch *watch, enum o2_watched_kind kind, bool ours,
		 const struct o2_msg *msg)
{
	uint8_t bytes[O2_MSG_BYTES];
	const int length = o2_msg_encode(msg, NULL, bytes, sizeof(bytes), NULL);
	const struct o2_watched watched = {
		.kind = kind, .ours = ours, .conn = &name, .bytes = bytes, .length_bytes = (size_t)length};

	assert_true(length > 0);
	o2_watch_tell(o2_end_watch_hook(watch), &watched);
}

/* This end asks for a connection and gets a NOOP; broken: with more credits than the peer owes. */
static void talk(const struct o2_end_watch *watch, bool broken)
{
	const struct o2_msg request = say_request_of(SAY_DEPTH, SAY_FRAGS);
	const struct o2_msg noop = say_header(O2_JUDGE_B, O2_MSG_NOOP, broken ? SAY_DEPTH : 0);
	struct o2_msg reply = say_header(O2_JUDGE_B, O2_MSG_CONNACK, 0);

	reply.u = request.u;
	tell(watch, O2_WATCHED_REQUEST, true, &request);
	tell(watch, O2_WATCHED_REPLY, false, &reply);
	tell(watch, O2_WATCHED_MESSAGE, false, &noop);
}

TEST(a_finding_fails_the_case)
{
	static const uint64_t now_ms = 5;

	for (int broken = 0; broken < 2; broken++) {
		struct o2_report report;
		struct o2_end_watch *watch;

		o2_report_clear(&report);
		watch = o2_end_watch_new(&now_ms, &report);
		assert_non_null(watch);
		talk(watch, broken != 0);
		assert_int_equal(report.failed, broken);
		if (broken != 0)
			assert_string_equal(report.signature, "judge/credits/over-owed");
		o2_end_watch_free(watch);
	}
}

TEST(a_finding_is_kept)
{
	struct o2_end_watch *watch = o2_end_watch_new(NULL, NULL);
	const struct o2_judged before = o2_judged_all;
	struct o2_error error;

	assert_non_null(watch);
	assert_null(o2_end_watch_broken(watch, &error));
	talk(watch, true);
	assert_string_equal(o2_end_watch_broken(watch, &error), "credits/over-owed");
	assert_int_equal(error.value, SAY_DEPTH);
	/* A finding is reported once. */
	assert_null(o2_end_watch_broken(watch, &error));
	o2_end_watch_free(watch);
	assert_int_equal(o2_judged_all.connections - before.connections, 1);
	assert_int_equal(o2_judged_all.messages - before.messages, 1);
	o2_end_watch_free(NULL);
}

TEST(defects_are_put_aside_and_the_deaf_hear_nothing)
{
	struct o2_end_watch *watch = o2_end_watch_new(NULL, NULL);
	struct o2_error error;

	assert_non_null(watch);
	o2_judged_aside = put_aside;
	o2_judged_deaf = true;
	talk(watch, true);
	assert_null(o2_end_watch_broken(watch, &error));
	o2_judged_deaf = false;
	talk(watch, true);
	assert_non_null(o2_end_watch_broken(watch, &error));
	assert_int_equal(aside_calls, 0);
	o2_judged_aside = NULL;
	o2_end_watch_free(watch);
}
