/* SPDX-License-Identifier: MIT */

/*
 * The session of a console (docs/lst.md, "The console of o2ref"): the order of its requests, and its results for
 * nodes that answer otherwise, late, or not at all.
 */

#include "tests/lib/lst_console_world.h"
#include "tests/lib/refused.h"

static const struct o2_lst_sid theirs = {NID_B, 7};

CONSOLE_TEST(test_session)
{
	const struct o2_lst_msg *asked = world->seat.asked;

	console_run(world);
	console_expect_asked(world, "MKSN TEST PING PING PING STAT RMSN");
	console_expect_over(world, 0, 0);
	assert_true(o2_lst_sid_is_none(world->seat.sid));
	for (uint32_t i = 0; i < world->seat.nasked; i++)
		assert_int_equal(asked[i].msg_ses_feats, 1);
	assert_true(o2_lst_sid_equal(asked[0].u.mksn_reqst.mksn_sid, console_sid));
	assert_string_equal(asked[0].u.mksn_reqst.mksn_name.text, "t");
	assert_int_equal(asked[0].u.mksn_reqst.mksn_force, 0);
	assert_true(o2_lst_sid_equal(asked[1].u.test_reqst.tsr_sid, console_sid));
	assert_int_equal(asked[1].u.test_reqst.tsr_bid, 2);
	assert_int_equal(asked[1].u.test_reqst.tsr_service, 12);
	assert_int_equal(asked[1].u.test_reqst.tsr_loop, 1);
	assert_int_equal(asked[1].u.test_reqst.tsr_is_client, 0);
	assert_int_equal(asked[1].u.test_reqst.tsr_ndest, 0);
	assert_int_equal(asked[4].u.ping_reqst.pnr_seq, 2);
	assert_true(o2_lst_sid_equal(asked[5].u.stat_reqst.str_sid, console_sid));
	assert_true(o2_lst_sid_equal(asked[6].u.rmsn_reqst.rmsn_sid, console_sid));
	assert_true(world->report->has_after && !world->report->has_before);
	assert_int_equal(world->report->after.str_rpc.rpcs_rcvd, 6);
	assert_int_equal(world->report->session_timeout_s, SEAT_TIMEOUT_S);
	assert_int_equal(world->report->outcome[O2_LST_WELL], 3);
	assert_true(world->report->made && !world->report->left);
}

/* --- sessions --- */

CONSOLE_TEST(test_busy)
{
	world->seat.status[O2_LST_MKSN_REQST] = EBUSY;
	world->seat.says[O2_LST_MKSN_REQST] = &theirs;
	console_run(world);
	console_expect_asked(world, "MKSN");
	console_expect_over(world, -EBUSY, O2_LST_STEP_MAKE);
	assert_true(o2_lst_sid_equal(world->report->owner, theirs));
	assert_string_equal(world->report->owner_name.text, "another");
	assert_int_equal(world->report->owner_timeout_s, SEAT_TIMEOUT_S);
	assert_false(world->report->made || world->report->left);
}

CONSOLE_TEST(test_force)
{
	world->config.force = true;
	console_run(world);
	assert_int_equal(world->seat.asked[0].u.mksn_reqst.mksn_force, 1);
	console_expect_over(world, 0, 0);
}

/* TEST, STAT and DEBUG report that another console has taken the node; then there is no session to remove. */
CONSOLE_TEST(test_stolen)
{
	static const struct {
		uint32_t type;
		const char *asked;
		enum o2_lst_console_step step;
	} rows[] = {
		{O2_LST_TEST_REQST, "MKSN TEST", O2_LST_STEP_TEST},
		{O2_LST_STAT_REQST, "MKSN TEST PING PING PING STAT", O2_LST_STEP_AFTER},
	};

	for (size_t i = 0; i < 2; i++) {
		memset(world->seat.says, 0, sizeof(world->seat.says));
		world->seat.says[rows[i].type] = &theirs;
		world->seat.status[rows[i].type] = ESRCH;
		console_again(world);
		console_run(world);
		console_expect_asked(world, rows[i].asked);
		console_expect_over(world, -ESTALE, rows[i].step);
		assert_true(o2_lst_sid_equal(world->report->owner, theirs));
		assert_false(world->report->left);
		world->seat.status[rows[i].type] = 0;
	}
}

CONSOLE_TEST(test_stolen_before_its_end)
{
	world->seat.says[O2_LST_RMSN_REQST] = &theirs;
	world->seat.status[O2_LST_RMSN_REQST] = EBUSY;
	console_run(world);
	console_expect_over(world, -ESTALE, O2_LST_STEP_REMOVE);
	assert_false(world->report->left);
}

/* A session that no longer exists counts as removed. */
CONSOLE_TEST(test_gone_before_its_end)
{
	world->seat.status[O2_LST_RMSN_REQST] = ESRCH;
	console_run(world);
	console_expect_over(world, 0, 0);
}

CONSOLE_TEST(test_strange_replies_to_mksn)
{
	world->seat.says[O2_LST_MKSN_REQST] = &theirs;
	console_run(world);
	console_expect_asked(world, "MKSN");
	console_expect_over(world, -EPROTO, O2_LST_STEP_MAKE);
	assert_string_equal(world->report->error.rule, "lst/console/session");
	assert_false(world->report->refused);
	assert_true(world->report->left);
	console_again(world);
	world->seat.says[O2_LST_MKSN_REQST] = NULL;
	world->seat.features = 0;
	console_run(world);
	console_expect_asked(world, "MKSN RMSN");
	console_expect_over(world, -EPROTO, O2_LST_STEP_MAKE);
	assert_string_equal(world->report->error.rule, "lst/console/features");
}

/* --- time --- */

/* A node that stops answering at a step: the timeout ends the session. */
CONSOLE_TEST(test_silence)
{
	static const struct {
		uint32_t type;
		enum o2_lst_console_step step;
		bool left;
		const char *asked;
	} rows[] = {
		{O2_LST_MKSN_REQST, O2_LST_STEP_MAKE, true, "MKSN"},
		{O2_LST_TEST_REQST, O2_LST_STEP_TEST, false, "MKSN TEST RMSN"},
		{O2_LST_STAT_REQST, O2_LST_STEP_AFTER, false, "MKSN TEST PING PING PING STAT RMSN"},
		{O2_LST_RMSN_REQST, O2_LST_STEP_REMOVE, true, "MKSN TEST PING PING PING STAT RMSN"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memset(world->seat.silent, 0, sizeof(world->seat.silent));
		world->seat.silent[rows[i].type] = true;
		console_again(world);
		console_run(world);
		console_pass(world, 63999);
		assert_false(o2_lst_console_is_over(world->console));
		console_pass(world, 1);
		console_expect_asked(world, rows[i].asked);
		console_expect_over(world, -ETIMEDOUT, rows[i].step);
		assert_int_equal(world->report->left, rows[i].left);
		assert_string_equal(world->report->error.rule, "lst/rpc-timeout");
	}
}

/* An RPC that is not answered ends the test, because later ones would not be answered either. */
CONSOLE_TEST(test_silence_in_the_test)
{
	world->config.concurrency = 2;
	world->seat.silent[O2_LST_PING_REQST] = true;
	console_run(world);
	console_pass(world, 64000);
	console_expect_asked(world, "MKSN TEST PING PING STAT RMSN");
	console_expect_over(world, 0, 0);
	assert_int_equal(world->report->outcome[O2_LST_FAIL_TIMEOUT], 2);
}

/* The console sends a request when half of the node's timeout is over, and acts on the reply. */
CONSOLE_TEST(test_keeps_the_session)
{
	world->seat.silent[O2_LST_PING_REQST] = true;
	console_run(world);
	console_pass(world, 49999);
	console_expect_asked(world, "MKSN TEST PING");
	console_pass(world, 1);
	console_expect_asked(world, "MKSN TEST PING DEBUG");
	console_pass(world, 100);
	console_expect_asked(world, "MKSN TEST PING DEBUG");
	o2_lst_console_stop(world->console, true);
	o2_lnet_deliver_all(&world->pair);
	console_expect_asked(world, "MKSN TEST PING DEBUG STAT RMSN");
	console_expect_over(world, 0, 0);
	assert_int_equal(world->report->outcome[O2_LST_CANCELED], 1);
}

/* The node's time runs from what it was asked, so a late reply does not put off the next request. */
CONSOLE_TEST(test_keeps_the_session_of_a_slow_node)
{
	const uint64_t late_ms = 40000;

	world->config.count = 0;
	console_run_until_asked(world, 3);
	console_pass_only(world, 49000);
	/* The first PING is answered, and the second goes out. */
	o2_lnet_deliver(&world->pair.b);
	console_pass_only(world, 1000);
	while (world->pair.a.nletters > 0)
		o2_lnet_deliver(&world->pair.a);
	console_expect_asked(world, "MKSN TEST PING PING DEBUG");
	console_pass_only(world, late_ms);
	while (world->pair.b.nletters > 0)
		o2_lnet_deliver(&world->pair.b);
	console_pass_only(world, SEAT_TIMEOUT_S * 1000 / 2 - late_ms - 1);
	assert_int_equal(world->pair.a.nletters, 1);
	console_pass_only(world, 1);
	assert_int_equal(world->pair.a.nletters, 2);
	o2_lst_console_stop(world->console, true);
	o2_lnet_deliver_all(&world->pair);
	console_expect_asked(world, "MKSN TEST PING PING DEBUG PING DEBUG STAT RMSN");
	console_expect_over(world, 0, 0);
}

CONSOLE_TEST(test_stolen_meanwhile)
{
	const struct o2_lst_sid none = O2_LST_NO_SID;

	world->seat.silent[O2_LST_PING_REQST] = true;
	world->seat.says[O2_LST_DEBUG_REQST] = &none;
	world->seat.status[O2_LST_DEBUG_REQST] = ESRCH;
	console_run(world);
	console_pass(world, 50000);
	console_pass(world, 14000);
	console_expect_asked(world, "MKSN TEST PING DEBUG");
	console_expect_over(world, -ESTALE, O2_LST_STEP_RUN);
	assert_true(o2_lst_sid_is_none(world->report->owner));
}

CONSOLE_TEST(test_duration)
{
	world->config.count = 0;
	world->config.duration_ms = 1000;
	console_start(world);
	for (unsigned int i = 0; i < 20; i++)
		console_deliver(world);
	assert_int_equal(world->report->started_ms, 0);
	console_pass(world, 1000);
	console_expect_over(world, 0, 0);
	assert_int_equal(world->report->ended_ms, 1000);
	assert_true(world->report->outcome[O2_LST_WELL] > 1);
}

CONSOLE_TEST(test_stop)
{
	/* RPCs that are under way end normally. */
	world->config.count = 0;
	console_run_until_asked(world, 5);
	o2_lst_console_stop(world->console, false);
	assert_false(o2_lst_console_is_over(world->console));
	o2_lnet_deliver_all(&world->pair);
	console_expect_asked(world, "MKSN TEST PING PING PING STAT RMSN");
	console_expect_over(world, 0, 0);
	assert_int_equal(world->report->outcome[O2_LST_WELL], 3);
	/* Stopped before the test, the console still removes the session. */
	console_again(world);
	console_run_until_asked(world, 2);
	o2_lst_console_stop(world->console, true);
	o2_lnet_deliver_all(&world->pair);
	console_expect_asked(world, "MKSN TEST RMSN");
	console_expect_over(world, 0, 0);
	/* Stopped before the first request is answered. */
	console_again(world);
	console_start(world);
	o2_lst_console_stop(world->console, true);
	o2_lnet_deliver_all(&world->pair);
	console_expect_over(world, -ECANCELED, O2_LST_STEP_MAKE);
	assert_true(world->report->left);
}

/* The node was told to let its RPCs end, and the user does not wait for them any more. */
CONSOLE_TEST(test_stop_by_force_after_a_stop)
{
	world->config.reverse = true;
	world->config.count = 0;
	world->seat.active = 1;
	console_run(world);
	for (int cancel = 0; cancel < 2; cancel++) {
		o2_lst_console_stop(world->console, cancel);
		o2_lnet_deliver_all(&world->pair);
	}
	world->seat.active = 0;
	console_pass(world, 200);
	console_expect_asked(world, "MKSN TEST BATCH BATCH BATCH BATCH STAT RMSN");
	console_expect_over(world, 0, 0);
	for (uint32_t i = 3; i < 5; i++) {
		assert_int_equal(world->seat.asked[i].u.batch_reqst.bar_opc, O2_LST_BATCH_STOP);
		assert_int_equal(world->seat.asked[i].u.batch_reqst.bar_arg, i - 3);
	}
}

/* When the time is up, the first stop still leaves the session in order; only a second one cancels that. */
CONSOLE_TEST(test_stop_when_time_is_up)
{
	for (unsigned int again = 0; again < 2; again++) {
		world->config.count = 0;
		world->config.duration_ms = 1000;
		world->seat.silent[O2_LST_PING_REQST] = true;
		world->seat.silent[O2_LST_STAT_REQST] = again == 1;
		console_run(world);
		console_pass(world, 1000);
		console_expect_asked(world, "MKSN TEST PING");
		o2_lst_console_stop(world->console, true);
		o2_lnet_deliver_all(&world->pair);
		if (again) {
			console_expect_asked(world, "MKSN TEST PING STAT");
			o2_lst_console_stop(world->console, true);
			o2_lnet_deliver_all(&world->pair);
		}
		console_expect_asked(world, "MKSN TEST PING STAT RMSN");
		console_expect_over(world, again ? -ECANCELED : 0, O2_LST_STEP_AFTER);
		assert_false(world->report->left);
		assert_int_equal(world->report->outcome[O2_LST_CANCELED], 1);
		console_again(world);
	}
}

/* The node may have made the session before the connection is lost, but not if there was no connection. */
CONSOLE_TEST(test_no_connection)
{
	static const struct {
		int code;
		bool left;
	} rows[] = {{-ECONNRESET, true},    {-ECONNABORTED, true},  {-EIO, true},
		    {-EHOSTUNREACH, false}, {-ECONNREFUSED, false}, {-ENETDOWN, false}};

	world->seat.silent[O2_LST_MKSN_REQST] = true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		console_run(world);
		o2_lst_rpc_peer_down(world->rpc, NID_B, rows[i].code);
		console_expect_over(world, rows[i].code, O2_LST_STEP_MAKE);
		assert_int_equal(world->report->left, rows[i].left);
		console_again(world);
	}
}

/* --- what is not sent --- */

CONSOLE_TEST(test_transport_refuses)
{
	world->pair.a.refuse = -ENETDOWN;
	console_run(world);
	console_expect_over(world, -ENETDOWN, O2_LST_STEP_MAKE);
	console_again(world);
	world->pair.a.refuse = 0;
	console_run_until_asked(world, 3);
	world->pair.a.refuse = -ENETDOWN;
	o2_lnet_deliver_all(&world->pair);
	/* The second ping fails, which ends the test; then the session cannot be removed either. */
	console_expect_over(world, -ENETDOWN, O2_LST_STEP_AFTER);
	assert_int_equal(world->report->outcome[O2_LST_FAIL_LOCAL], 1);
	assert_int_equal(world->result.status, -ENETDOWN);
	assert_true(world->report->left);
	world->pair.a.refuse = 0;
}

CONSOLE_TEST(test_ranges)
{
	static const struct {
		const char *rule;
		uint64_t value, limit;
		uint32_t rw, check, len, offset, concurrency;
	} rows[] = {
		{NULL, 0, 0, 1, 3, 4096, 0, 1024},
		{"lst/send/brw-rw", 0, 1, 0, 3, 4096, 0, 1},
		{"lst/send/brw-rw", 65537, 2, 65537, 3, 4096, 0, 1},
		{"lst/send/brw-flags", 5, 4, 1, 5, 4096, 0, 1},
		{"lst/send/brw-len", 0, 8, 1, 3, 0, 0, 1},
		{"lst/send/brw-len", 1048584, 1048576, 2, 3, 1048584, 0, 1},
		{"lst/send/brw-len-multiple", 2047, 8, 1, 3, 2047, 0, 1},
		{"lst/send/blk-offset", 8, 0, 1, 3, 4096, 8, 1},
		{"lst/send/blk-offset", 200, 192, 1, 3, 8000, 200, 1},
		{"lst/send/blk-offset-multiple", 4, 8, 1, 3, 8000, 4, 1},
		{"lst/send/concur", 0, 1, 1, 3, 4096, 0, 0},
		{"lst/send/concur", 1025, 1024, 1, 3, 4096, 0, 1025},
	};
	const struct o2_lst_console_ops ops = {0};
	struct o2_error error;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int rc;

		world->config.test = (struct o2_lst_test){.service = O2_LST_SERVICE_BRW,
							  .features = 1,
							  .rw = rows[i].rw,
							  .check = rows[i].check,
							  .len = rows[i].len,
							  .offset = rows[i].offset};
		world->config.concurrency = rows[i].concurrency;
		rc = o2_lst_console_check(&world->config, &error);
		if (assert_refused_row(i, rc, &error, rows[i].rule, -EINVAL, rows[i].value, rows[i].limit,
				       O2_NO_INDEX))
			assert_int_equal(o2_lst_console_create(&world->config, world->rpc,
							       &world->pair.a.arena, &world->pair.a.clock,
							       &ops, NULL, &world->console, NULL),
					 -EINVAL);
	}
	assert_int_equal(world->seat.nasked, 0);
}

CONSOLE_TEST(test_names_and_pages)
{
	const struct o2_lst_console_config good = world->config;
	const struct o2_lst_console_ops ops = {0};
	struct o2_error error;

	world->config.test.service = O2_LST_SERVICE_FRAMEWORK_END;
	assert_error(o2_lst_console_check(&world->config, &error), -EINVAL, &error, "lst/send/service");
	world->config = good;
	memset(world->config.name.text, 'x', O2_LST_NAME_BYTES);
	assert_error(o2_lst_console_check(&world->config, &error), -EINVAL, &error, "lst/console/name");
	world->config = good;
	world->config.test.features = 0;
	assert_error(o2_lst_console_check(&world->config, &error), -EINVAL, &error, "lst/console/features");
	world->config = good;
	world->config.sid = O2_LST_NO_SID;
	assert_error(o2_lst_console_check(&world->config, &error), -EINVAL, &error, "lst/console/sid");
	world->config = good;
	world->config.test.service = O2_LST_SERVICE_BRW;
	world->config.first_page = O2_LNET_SIDE_PAGES;
	assert_error(o2_lst_console_create(&world->config, world->rpc, &world->pair.a.arena,
					   &world->pair.a.clock, &ops, NULL, &world->console, &error),
		     -EINVAL, &error, "lst/config/bulk-pages");
	world->config.reverse = true;
	assert_error(o2_lst_console_create(&world->config, world->rpc, &world->pair.a.arena,
					   &world->pair.a.clock, &ops, NULL, &world->console, &error),
		     -EINVAL, &error, "lst/config/bulk-pages");
	world->config.first_page--;
	assert_int_equal(o2_lst_console_create(&world->config, world->rpc, &world->pair.a.arena,
					       &world->pair.a.clock, &ops, NULL, &world->console, &error),
			 0);
}

TEST(test_words)
{
	for (unsigned int i = 0; i < O2_LST_OUTCOMES; i++)
		assert_true(strlen(o2_lst_outcome_name(i)) > 3);
	for (unsigned int i = 0; i <= O2_LST_STEP_OVER; i++)
		assert_true(strlen(o2_lst_console_step_name(i)) > 2);
}
