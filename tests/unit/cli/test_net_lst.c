/* SPDX-License-Identifier: MIT */

/*
 * The command lst with a node that misbehaves or is in another console's session, and how the command ends
 * (docs/lst.md, "The command").
 */

#include <jansson.h>

#include "cli/net/commands.h"
#include "lnd/conn/conn_internal.h"
#include "lst/rpc_internal.h"
#include "tests/lib/net_lst_peer.h"

/* The peer's behaviour, as the test sets it. */
static struct {
	bool absent;
	bool flip_bit;
	bool busy;	       /* it is in another console's session */
	bool patient;	       /* its sessions have no timeout */
	bool cancels;	       /* it answers TEST with ECANCELED */
	uint64_t signal_after; /* SIGINT after this many pings; 0: never */
	bool signals_again;    /* a second one follows */
	bool steal;	       /* it leaves the session after the first ping */
	bool gone;	       /* it answers nothing after the first ping */
	bool reborn;	       /* 20 rounds after it is connected, a message names another incarnation */
	uint32_t connected;    /* rounds since then */
	struct o2_lst_sid sid; /* its session at the end */
	uint64_t rpyid;	       /* of the last request */
} peer;

static void cancel_test(void *context, const struct o2_lst_request *request)
{
	struct o2_lst_msg reply = {.msg_type = O2_LST_TEST_REPLY, .msg_ses_feats = O2_LST_FEATS_MASK};

	(void)context;
	reply.u.reply.status = ECANCELED;
	reply.u.reply.sid = o2_lst_node_sid(net_lst_node);
	o2_lst_served_reply(net_lst_node->rpc, request->served, &reply);
}

static void test_is_over(void *context, uint64_t served, int status)
{
	(void)context;
	(void)served;
	(void)status;
}

static void peer_start(void)
{
	static const struct o2_lst_service_ops cancels = {.request = cancel_test, .over = test_is_over};
	struct o2_lst_node_config config = net_lst_config();

	if (peer.absent)
		return;
	config.max_calls = 1;
	config.flip_bit = peer.flip_bit;
	if (peer.patient)
		config.session_timeout_s = 0;
	net_lst_open(&config);
	if (peer.cancels)
		net_lst_node->rpc->service[O2_LST_SERVICE_TEST].ops = &cancels;
	if (peer.busy)
		net_lst_occupy();
}

/* Send a message that names another incarnation. */
static void speak_in_another_life(void)
{
	static struct o2_iov iov;
	const struct o2_transfer_memory memory = world_memory(0, 16, &iov);
	const struct o2_lnet_target target = {.nid = WORLD_US, .portal = 1};
	struct o2_conn *conn = o2_node_conn(world.endpoint.node, WORLD_US, 0);

	conn->self.incarnation++;
	assert_int_equal(o2_lnet_put(world.endpoint.lnet, &target, &memory, NULL, NULL), 0);
	conn->self.incarnation--;
}

static void peer_round(void)
{
	const uint64_t pings = net_lst_node != NULL ? o2_lst_node_report(net_lst_node)->pings : 0;

	if (peer.steal && pings > 0)
		o2_lst_node_end_session(net_lst_node);
	if (peer.signal_after != 0 && pings >= peer.signal_after) {
		o2_net_stop = 1;
		peer.signal_after = peer.signals_again ? 1 : 0;
	}
	peer.connected += o2_node_conn(world.endpoint.node, WORLD_US, 0) != NULL;
	if (peer.reborn && peer.connected == 20) {
		peer.reborn = false;
		speak_in_another_life();
	}
	if (peer.gone && pings > 0) {
		peer.gone = false;
		o2_lst_node_stop(net_lst_node, -ESHUTDOWN);
	}
	if (net_lst_node != NULL) {
		peer.sid = o2_lst_node_sid(net_lst_node);
		peer.rpyid = net_lst_node->rpc->served[0].rpyid;
		o2_lst_node_check_time(net_lst_node);
	}
}

/* Run the command line against this peer. */
static int run(const char *line)
{
	return net_lst_run(line, peer_start, peer_round);
}

static int setup(void **state)
{
	memset(&peer, 0, sizeof(peer));
	return world_setup(state);
}

static void expect_session(const char *key, const char *value)
{
	json_t *object = json_loads(world.out, 0, NULL);
	const char *text = json_string_value(json_object_get(json_object_get(object, "session"), key));

	assert_non_null(text);
	assert_string_equal(text, value);
	json_decref(object);
}

TEST_WITH(all_is_well, setup, NULL)
{
	static const char *const tests[] = {"ping", "read", "write"};
	char line[128];

	for (size_t i = 0; i < 3; i++) {
		setup(NULL);
		snprintf(line, sizeof(line), "lst --json --count 20 10.77.0.2@o2ib %s", tests[i]);
		assert_int_equal(run(line), 0);
		assert_string_equal(world.err, "");
		assert_int_equal(world_number("done"), 20);
		assert_int_equal(world_number("failed"), 0);
		assert_int_equal(world_number("bytes"), i == 0 ? 0 : 20 * 65536);
		assert_int_equal(world_number("verified"), i == 1 ? 20 : 0);
	}
}

/* A reply to an earlier run that comes late must find no memory, however soon the next run follows. */
TEST(numbers_of_rpcs_are_not_used_again)
{
	uint64_t last = 0;

	for (int i = 0; i < 4; i++) {
		setup(NULL);
		assert_int_equal(run("lst --concurrency 1 --count 5 10.77.0.2@o2ib ping"), 0);
		assert_true(peer.rpyid > last);
		last = peer.rpyid;
	}
}

TEST_WITH(a_busy_node_is_named, setup, NULL)
{
	peer.busy = true;
	assert_int_equal(run("lst --json 10.77.0.2@o2ib ping"), 1);
	assert_string_equal(world.err,
			    "o2ref: 10.77.0.2@o2ib is busy: it is in session 'theirs' of "
			    "10.77.0.9@o2ib, until 100 s after its last request (--force takes it)\n");
	assert_int_equal(world_number("done"), 0);
	expect_session("failed_at", "make session");
	expect_session("status", "EBUSY");
	expect_session("owner", "10.77.0.9@o2ib");
	setup(NULL);
	peer.busy = true;
	assert_int_equal(run("lst --json --force 10.77.0.2@o2ib ping"), 0);
	assert_int_equal(world_number("done"), 1);
}

/* The command was interrupted in the test or behind it, and says what becomes of the session. */
static void expect_left(const char *what)
{
	static const char head[] = "o2ref: interrupted during step ", node[] = "o2ref: 10.77.0.2@o2ib: ";
	const char *line = strchr(world.err, '\n') + 1;

	assert_memory_equal(world.err, head, strlen(head));
	assert_memory_equal(line, node, strlen(node));
	assert_string_equal(line + strlen(node), what);
}

TEST_WITH(a_session_may_have_no_timeout, setup, NULL)
{
	peer.busy = peer.patient = true;
	assert_int_equal(run("lst 10.77.0.2@o2ib ping"), 1);
	assert_string_equal(world.err, "o2ref: 10.77.0.2@o2ib is busy: it is in session 'theirs' of "
				       "10.77.0.9@o2ib, which has no timeout (--force takes it)\n");
	setup(NULL);
	peer.patient = peer.signals_again = true;
	peer.signal_after = 5;
	assert_int_equal(run("lst --seconds 50 --concurrency 2 10.77.0.2@o2ib ping"), 1);
	expect_left("our session may remain on the node, without a timeout\n");
}

TEST_WITH(a_bit_is_found, setup, NULL)
{
	static const struct {
		const char *options;
		int status;
	} rows[] = {
		{"--check full", 1},
		{"--check simple --every-word", 1},
		{"--check none --every-word", 1},
		/* These checks do not cover the wrong byte. */
		{"--check simple", 0},
		{"--check none", 0},
	};
	char line[128];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		setup(NULL);
		peer.flip_bit = true;
		snprintf(line, sizeof(line), "lst --json --count 3 --size 16384 %s 10.77.0.2@o2ib read",
			 rows[i].options);
		assert_int_equal(run(line), rows[i].status);
		assert_int_equal(world_number("wrong"), rows[i].status * 3);
		assert_string_equal(world.err,
				    rows[i].status == 0
					    ? ""
					    : "o2ref: read 0 at 10.77.0.2@o2ib: data: bytes 2048 to 2055 are "
					      "0xeeb0eeb1eeb2eeb2, not 0xeeb0eeb1eeb2eeb3\n");
	}
}

TEST_WITH(nobody_answers, setup, NULL)
{
	peer.absent = true;
	assert_int_equal(run("lst --json --timeout 1 10.77.0.2@o2ib ping"), 1);
	assert_non_null(
		strstr(world.err, "o2ref: 10.77.0.2@o2ib: make session: no answer in time (ETIMEDOUT): "));
	assert_non_null(strstr(world.err, "; is lnet_selftest loaded there?\n"));
	assert_non_null(strstr(world.err, ": our session may remain on the node until its own timeout\n"));
	/* The command does not wait for a node that leaves. */
	setup(NULL);
	peer.absent = true;
	assert_int_equal(o2_quirks_add(&world.quirks, "closes-first", NULL, 0), 0);
	assert_int_equal(run("lst --json --timeout 30 10.77.0.2@o2ib ping"), 1);
	assert_non_null(strstr(world.err, "the peer has ended the connection (DREQ)"));
}

/* A node that rejects always looks silent. */
TEST_WITH(the_node_rejects_us, setup, NULL)
{
	world.rejects = 3;
	assert_int_equal(run("lst 10.77.0.2@o2ib ping"), 1);
	assert_non_null(strstr(world.err, "; the peer has rejected all 3 requests for a connection, the last "
					  "as stale (reason 5)\n"));
}

/* Our session may stay on the node for a while. */
TEST_WITH(the_node_falls_silent, setup, NULL)
{
	peer.gone = true;
	assert_int_equal(run("lst --timeout 1 --concurrency 1 --count 10 10.77.0.2@o2ib ping"), 1);
	assert_non_null(strstr(world.err, " at 10.77.0.2@o2ib: timeout: lst/rpc-timeout: "));
	assert_non_null(
		strstr(world.err, "o2ref: 10.77.0.2@o2ib: counters: no answer in time (ETIMEDOUT): "));
	assert_non_null(strstr(world.err, ": our session may remain on the node for 100 s\n"));
	assert_non_null(strstr(world.out, "failed: 1 timeout\n"));
}

TEST_WITH(a_session_that_has_gone, setup, NULL)
{
	peer.steal = true;
	assert_int_equal(run("lst --json --concurrency 1 --count 10 10.77.0.2@o2ib ping"), 1);
	assert_string_equal(world.err, "o2ref: 10.77.0.2@o2ib: counters: our session no longer exists\n");
	expect_session("status", "ESTALE");
	/* Nobody has the node. */
	assert_null(strstr(world.out, "\"owner\""));
}

/* Only what a signal has canceled needs no word. */
TEST_WITH(a_status_is_said_whatever_it_is, setup, NULL)
{
	peer.cancels = true;
	assert_int_equal(run("lst 10.77.0.2@o2ib ping"), 1);
	assert_string_equal(world.err,
			    "o2ref: 10.77.0.2@o2ib: add test: the node replied with status ECANCELED\n");
}

/* A connection that closes with ESTALE says nothing of sessions. */
TEST_WITH(the_node_comes_back_in_another_life, setup, NULL)
{
	peer.absent = peer.reborn = true;
	assert_int_equal(run("lst --json 10.77.0.2@o2ib ping"), 1);
	assert_non_null(strstr(world.err,
			       "make session: Stale file handle (ESTALE): the peer has broken a rule: "
			       "conn/srcstamp: "));
	assert_null(strstr(world.out, "\"owner\""));
}

TEST_WITH(a_signal_ends_it_in_order, setup, NULL)
{
	char said[128];

	peer.signal_after = 5;
	assert_int_equal(run("lst --json --seconds 50 --concurrency 2 10.77.0.2@o2ib ping"), 1);
	snprintf(said, sizeof(said), "o2ref: ended after %ld operations, before its 50 s were over\n",
		 world_number("done"));
	assert_string_equal(world.err, said);
	assert_true(world_number("done") >= 4);
	assert_int_equal(world_number("failed"), 0);
	assert_true(o2_lst_sid_is_none(peer.sid));
}

/* A second signal does not wait for the node to remove the session. */
TEST_WITH(a_second_signal_leaves_the_session, setup, NULL)
{
	json_t *object;

	peer.signal_after = 5;
	peer.signals_again = true;
	assert_int_equal(run("lst --json --seconds 50 --concurrency 2 10.77.0.2@o2ib ping"), 1);
	expect_left("our session may remain on the node for 100 s\n");
	object = json_loads(world.out, 0, NULL);
	assert_true(json_is_true(json_object_get(json_object_get(object, "session"), "left")));
	json_decref(object);
	assert_false(o2_lst_sid_is_none(peer.sid));
}

static void interrupt(void)
{
	o2_net_stop = 1;
}

/* A signal before the first request is answered ends the command at once. */
TEST_WITH(signals_before_there_is_a_session, setup, NULL)
{
	world.round = interrupt;
	assert_int_equal(world_run("lst 10.77.0.2@o2ib ping"), 1);
	assert_string_equal(
		world.err, "o2ref: 10.77.0.2@o2ib: our session may remain on the node until its own timeout\n"
			   "o2ref: ended after 0 of 1 operations\n");
	/* There is none at a node that was never connected. */
	setup(NULL);
	world.round = interrupt;
	world.rejects = 1000;
	assert_int_equal(world_run("lst --json 10.77.0.2@o2ib ping"), 1);
	assert_string_equal(world.err, "o2ref: interrupted during step make session\n");
	assert_non_null(strstr(world.out, "\"left\": false"));
}

TEST_WITH(the_time_ends_it, setup, NULL)
{
	assert_int_equal(run("lst --json --seconds 1 10.77.0.2@o2ib write"), 0);
	assert_true(world_number("done") > 8);
}

TEST_WITH(what_may_not_be_asked, setup, NULL)
{
	static const char *const rows[][2] = {
		{"--size 2047 10.77.0.2@o2ib read", "brw_len is 2047, expected a multiple of 8"},
		{"--size 0 10.77.0.2@o2ib read", "brw_len is 0, limit 8"},
		{"--size 1048584 10.77.0.2@o2ib read", "brw_len is 1048584, limit 1048576"},
		{"--size 8000 --offset 200 10.77.0.2@o2ib write", "blk_offset is 200, limit 192"},
		{"--size 8000 --offset 4 10.77.0.2@o2ib write", "blk_offset is 4, expected a multiple of 8"},
		{"--concurrency 0 10.77.0.2@o2ib ping", "tsr_concur is 0, limit 1"},
		{"--concurrency 1025 --seconds 1 10.77.0.2@o2ib ping", "tsr_concur is 1025, limit 1024"},
		{"10.77.0.2@o2ib", "a NID is needed, and ping, read or write"},
		{"10.77.0.2@o2ib dance", "'dance' is not ping, read or write"},
		{"--check some 10.77.0.2@o2ib read", "--check is 'some', not none, simple or full"},
		{"10.77.0.2@tcp read", "'10.77.0.2@tcp' is no NID"},
	};
	char line[128];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(line, sizeof(line), "lst %s", rows[i][0]);
		assert_int_equal(world_run(line), 2);
		assert_non_null(strstr(world.err, rows[i][1]));
		assert_ptr_equal(strchr(world.err, '\n'), world.err + strlen(world.err) - 1);
	}
}
