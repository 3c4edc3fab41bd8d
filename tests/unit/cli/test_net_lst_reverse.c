/* SPDX-License-Identifier: MIT */

/* lst --reverse: the node runs the client of the test, and we serve it (docs/lst.md, "The command"). */

#include "cli/net/commands.h"
#include "lst/rpc_internal.h"
#include "tests/lib/net_lst_peer.h"

/* The peer's behaviour, as the test sets it. */
static struct {
	bool absent;	       /* it serves no LNet selftest */
	bool forgets;	       /* it counts no errors */
	bool pretends;	       /* it never runs a test, and says that it does */
	bool harm;	       /* change a byte of each page of its arena in each round */
	uint64_t signal_after; /* SIGINT after this many of its RPCs; 0: never */
	uint64_t steal_after;  /* after this many RPCs it leaves the session; 0: never */
	struct o2_lst_sid sid;
	uint64_t tries;
} peer;

/* Answer each BATCH alike: the test is active. */
static void say_active(void *context, const struct o2_lst_request *request)
{
	struct o2_lst_msg reply = {.msg_type = O2_LST_BATCH_REPLY, .msg_ses_feats = O2_LST_FEATS_MASK};

	reply.u.batch_reply.bar_sid = o2_lst_node_sid(net_lst_node);
	reply.u.batch_reply.bar_active = 1;
	o2_lst_served_reply(net_lst_node->rpc, request->served, &reply);
}

static void batch_is_over(void *context, uint64_t served, int status)
{
}

static void peer_start(void)
{
	static const struct o2_lst_service_ops active = {.request = say_active, .over = batch_is_over};
	const struct o2_lst_node_config config = net_lst_config();

	if (peer.absent)
		return;
	net_lst_open(&config);
	if (peer.pretends)
		net_lst_node->rpc->service[O2_LST_SERVICE_BATCH].ops = &active;
}

static void peer_round(void)
{
	if (net_lst_node == NULL)
		return;
	peer.tries = o2_lst_node_report(net_lst_node)->tries;
	for (uint32_t i = NET_LST_NODE_PAGE; peer.harm && i < WORLD_PAGES; i++)
		o2_arena_page(&world.ni.arena, i)[1000] = 0x55;
	if (peer.steal_after != 0 && peer.tries >= peer.steal_after)
		o2_lst_node_end_session(net_lst_node);
	if (peer.signal_after != 0 && peer.tries >= peer.signal_after) {
		o2_net_stop = 1;
		peer.signal_after = 0;
	}
	if (peer.forgets && net_lst_node->session != NULL)
		net_lst_node->session->brw_errors = 0;
	peer.sid = o2_lst_node_sid(net_lst_node);
	o2_lst_node_check_time(net_lst_node);
}

static int setup(void **state)
{
	memset(&peer, 0, sizeof(peer));
	return world_setup(state);
}

static int run(const char *line)
{
	return net_lst_run(line, peer_start, peer_round);
}

/* Each of eight units does 3 RPCs, its share of 20 rounded up: 24 in all. */
TEST(all_is_well)
{
	static const char *const tests[] = {"ping", "read", "write"};
	char line[128];

	for (size_t i = 0; i < 3; i++) {
		setup(NULL);
		snprintf(line, sizeof(line), "lst --json --reverse --count 20 10.77.0.2@o2ib %s", tests[i]);
		if (run(line) != 0)
			fail_msg("%s%s", world.out, world.err);
		assert_string_equal(world.err, "");
		assert_int_equal(world_number("done"), 24);
		assert_int_equal(world_number("failed"), 0);
		assert_int_equal(world_number("bytes"), i == 0 ? 0 : 24 * 65536);
		assert_int_equal(world_number("verified"), i == 2 ? 24 : 0);
		assert_int_equal(peer.tries, 24);
		assert_true(o2_lst_sid_is_none(peer.sid));
	}
}

TEST_WITH(memory_of_the_node_may_begin_within_a_page, setup, NULL)
{
	assert_int_equal(run("lst --json --reverse --count 8 --size 8000 --offset 192 10.77.0.2@o2ib write"),
			 0);
	assert_int_equal(world_number("bytes"), 8 * 8000);
}

/* The peer fills in wrong bytes, and both ends report them. */
TEST_WITH(wrong_bytes_are_found_here, setup, NULL)
{
	peer.harm = true;
	assert_int_equal(run("lst --json --reverse --concurrency 1 --count 3 10.77.0.2@o2ib write"), 1);
	assert_non_null(strstr(world.err, "lst write of 65536 bytes: the word at byte 1000 is 0x"));
	assert_int_equal(world_number("done"), 0);
	assert_int_equal(world_number("failed"), 1);
	assert_int_equal(world_number("wrong"), 1);
	assert_true(o2_lst_sid_is_none(peer.sid));
}

/* What we have found wrong is wrong, whatever the peer counts. */
TEST_WITH(wrong_bytes_count_though_the_peer_counts_none, setup, NULL)
{
	peer.harm = peer.forgets = true;
	assert_int_equal(run("lst --json --reverse --concurrency 1 --seconds 1 10.77.0.2@o2ib write"), 1);
	assert_int_equal(world_number("failed"), 0);
	assert_int_equal(world_number("verified"), 1);
	assert_int_equal(world_number("wrong"), 1);
}

TEST_WITH(what_is_not_compared_is_not_verified, setup, NULL)
{
	peer.harm = true;
	assert_int_equal(
		run("lst --json --reverse --concurrency 1 --count 3 --check none 10.77.0.2@o2ib write"), 0);
	assert_int_equal(world_number("done"), 3);
	assert_int_equal(world_number("verified"), 0);
	assert_int_equal(world_number("wrong"), 0);
}

TEST_WITH(the_timeout_is_for_our_requests, setup, NULL)
{
	peer.absent = true;
	assert_int_equal(run("lst --json --reverse --timeout 1 10.77.0.2@o2ib ping"), 1);
	assert_non_null(strstr(world.err, "make session: no answer in time (ETIMEDOUT): "));
	assert_non_null(strstr(world.err, ", limit 1000 ("));
}

/* A test without a count runs for one second. */
TEST_WITH(it_is_stopped_when_time_is_up, setup, NULL)
{
	assert_int_equal(run("lst --json --reverse --seconds 1 10.77.0.2@o2ib ping"), 0);
	assert_true(world_number("done") > 8);
	assert_int_equal(world_number("failed"), 0);
	assert_true(o2_lst_sid_is_none(peer.sid));
}

TEST_WITH(a_signal_stops_it_by_force, setup, NULL)
{
	peer.signal_after = 100;
	assert_int_equal(run("lst --json --reverse --seconds 40 10.77.0.2@o2ib read"), 1);
	assert_non_null(strstr(world.err, " operations, before its 40 s were over\n"));
	assert_true(world_number("done") >= 100);
	assert_true(o2_lst_sid_is_none(peer.sid));
}

/* Such a node would be asked for ever. */
TEST_WITH(a_node_that_is_active_and_silent_is_given_up, setup, NULL)
{
	peer.pretends = true;
	assert_int_equal(run("lst --json --reverse --timeout 1 --seconds 1 10.77.0.2@o2ib ping"), 1);
	assert_string_equal(world.err,
			    "o2ref: 10.77.0.2@o2ib: run: the node says that its test goes on, but has asked "
			    "for nothing for 2 s\n"
			    "o2ref: given up during step run\n"
			    "o2ref: 10.77.0.2@o2ib: our session may remain on the node for 100 s\n");
	assert_int_equal(world_number("done"), 0);
}

TEST_WITH(a_session_that_is_gone_is_said, setup, NULL)
{
	const char *text;
	double seconds;

	peer.steal_after = 100;
	assert_int_equal(run("lst --json --reverse --seconds 40 10.77.0.2@o2ib ping"), 1);
	assert_string_equal(world.err, "o2ref: 10.77.0.2@o2ib: run: our session no longer exists\n");
	/* The time is that until we were told. */
	text = strstr(world.out, "\"seconds\": ");
	assert_non_null(text);
	seconds = strtod(text + strlen("\"seconds\": "), NULL);
	assert_true(seconds < 40);
}

TEST_WITH(what_may_not_be_asked_is_not, setup, NULL)
{
	assert_int_equal(run("lst --reverse --concurrency 2000 10.77.0.2@o2ib ping"), 2);
	assert_non_null(strstr(world.err, "lst/send/concur"));
	assert_int_equal(run("lst --reverse --every-word 10.77.0.2@o2ib write"), 2);
	assert_non_null(
		strstr(world.err, "--every-word is for what we read; with --reverse we read nothing"));
}
