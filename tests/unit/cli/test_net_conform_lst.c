/* SPDX-License-Identifier: MIT */

#include <unistd.h>

#include "cli/net/commands.h"
#include "lst/rpc_internal.h"
#include "lst/wire/layout.h"
#include "props/command/wrong.h"
#include "tests/lib/net_lst_peer.h"
#include "wire/bytes.h"
#include "wire/layout.h"

/*
 * LNet selftest nodes that break one rule each, and the probe of conform --lst that reports it (docs/conform.md,
 * "LNet selftest").  tests/system/test_conform.py has a correct node.
 */

#define RUN "conform --timeout 50 --lst --rounds 1 10.77.0.2@o2ib --only "

static struct {
	bool absent, busy, flip_bit, gone;
	bool sleeps;	  /* sleep between rounds, for tests about time */
	bool interrupts;  /* a signal comes when the node is in a session */
	const char *name; /* busy: name of the session; NULL: "theirs" */
	uint32_t session_timeout_s;
	const struct o2_lst_service_ops *pings; /* NULL: the node's own */
	struct o2_wrong wrong;
	uint32_t grows; /* extra bytes of each WRITE; then nothing else is wrong */
	uint32_t grown; /* how many WRITEs had them */
} peer;

static int post_longer(void *context, struct ibv_qp *qp, struct ibv_send_wr *list, struct ibv_send_wr **bad,
		       const struct o2_rdma_desc *sink)
{
	for (struct ibv_send_wr *work = list; work != NULL; work = work->next) {
		if (work->opcode != IBV_WR_RDMA_WRITE)
			continue;
		work->sg_list[work->num_sge - 1].length += peer.grows;
		peer.grown++;
	}
	return ibv_post_send(qp, list, bad);
}

static void peer_start(void)
{
	static const struct o2_work_ops longer_ops = {.post_send = post_longer};
	struct o2_lst_node_config config = net_lst_config();

	o2_wrong_say(&peer.wrong, &world.ni, world.cm);
	if (peer.grows != 0)
		world.ni.config.work_ops = &longer_ops;
	if (peer.absent)
		return;
	config.max_calls = 1;
	config.flip_bit = peer.flip_bit;
	if (peer.session_timeout_s != 0)
		config.session_timeout_s = peer.session_timeout_s;
	net_lst_open(&config);
	if (peer.pings != NULL)
		net_lst_node->rpc->service[O2_LST_SERVICE_PING].ops = peer.pings;
	if (peer.busy)
		net_lst_occupy();
	if (peer.name != NULL)
		snprintf(net_lst_node->session->name.text, sizeof(net_lst_node->session->name.text), "%s",
			 peer.name);
}

static void peer_round(void)
{
	if (net_lst_node == NULL)
		return;
	if (peer.sleeps)
		usleep(500);
	o2_lst_node_check_time(net_lst_node);
	if (peer.interrupts && net_lst_node->session != NULL)
		o2_net_stop = 1;
	if (peer.gone && o2_lst_node_report(net_lst_node)->pings > 0) {
		peer.gone = false;
		o2_lst_node_stop(net_lst_node, -ESHUTDOWN);
	}
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

/* Run the line; assert its status, the probe's row, and what the probe reports. */
static void expect_row(const char *line, int status, const char *row, const char *said)
{
	if (run(line) != status || strstr(world.out, row) == NULL || strstr(world.out, said) == NULL)
		fail_msg("%s: expected '%s' and '%s' in\n%s%s", line, row, said, world.out, world.err);
}

static void expect_finding(const char *probe, const char *said)
{
	char line[200], row[80];

	snprintf(line, sizeof(line), RUN "%s", probe);
	snprintf(row, sizeof(row), "FINDING   %s ", probe);
	expect_row(line, O2_CLI_REFUSED, row, said);
}

/* A four-byte number that is wrong in each reply of a type. */
#define FIELD(of, offset, ...)                             \
	((struct o2_wrong){.in = O2_WRONG_MESSAGE,         \
			   .type = O2_MSG_IMMEDIATE,       \
			   .lnet_type = O2_LNET_PUT,       \
			   .lst_type = (of),               \
			   .at = O2_AT_PAYLOAD + (offset), \
			   .width = 4,                     \
			   O2_WRONG_ALWAYS,                \
			   __VA_ARGS__})
#define STATUS(of, ...) FIELD(of, O2_LST_AT_STATUS, __VA_ARGS__)
#define SID(of, ...)	FIELD(of, O2_LST_AT_REPLY_SID, .value = 1, .adds = true, __VA_ARGS__)

/* Assert that the probe reports this when the node's replies are changed so. */
static void expect(const char *probe, struct o2_wrong wrong, const char *said)
{
	setup(NULL);
	peer.wrong = wrong;
	expect_finding(probe, said);
	assert_true(peer.wrong.told > 0);
}

TEST_WITH(a_true_node_is_clean, setup, NULL)
{
	if (run(RUN "lst/") != O2_CLI_OK)
		fail_msg("%s%s", world.out, world.err);
	assert_non_null(strstr(world.out, " 0 findings, 0 known, 0 tolerated, 1 not tried;"));
	assert_non_null(strstr(
		world.out,
		"not tried lst/expire             its session timeout (100 s) is not below --timeout"));
	assert_string_equal(world.err, "");
}

/* A failed probe leaves its session on the node; the next probe takes it over. */
TEST_WITH(sessions_of_ours_are_taken, setup, NULL)
{
	peer.wrong = FIELD(O2_LST_PING_REPLY, O2_LST_AT_PNR_REPLY_MAGIC, .value = 7);
	assert_int_equal(run(RUN "lst/session,lst/ping,lst/ping-many,lst/read-8"), O2_CLI_REFUSED);
	assert_non_null(strstr(world.out, "1 of 1 failed, the first so: the reply does not match"));
	assert_non_null(strstr(world.out, "FINDING   lst/ping-many "));
	assert_non_null(strstr(world.out, "holds     lst/read-8 "));
}

TEST(sessions)
{
	expect("lst/session", STATUS(O2_LST_MKSN_REPLY, .value = EPERM),
	       "MKSN_REPLY: the status is EPERM, not success");
	expect("lst/session", SID(O2_LST_MKSN_REPLY, .spares = 0),
	       "MKSN_REPLY: success, with another session or features 0x1");
	expect("lst/session", FIELD(O2_LST_MKSN_REPLY, O2_LST_AT_FEATS, .value = 0),
	       "MKSN_REPLY: success, with another session or features 0x0");
	/* Spare the first reply, because it answers the check for a node. */
	expect("lst/session", FIELD(O2_LST_DEBUG_REPLY, O2_LST_AT_DBG_NAME, .value = 0x41, .spares = 1),
	       "DEBUG_REPLY: the session is 'A'");
	expect("lst/session", FIELD(O2_LST_DEBUG_REPLY, O2_LST_AT_DBG_TIMEOUT, .value = 5, .spares = 1),
	       "its timeout 5 s; MKSN_REPLY said 100 s");
	expect("lst/session", SID(O2_LST_DEBUG_REPLY, .spares = 1), "is in session 10.77.0.2@o2ib");
	expect("lst/session", STATUS(O2_LST_RMSN_REPLY, .value = ESRCH), "RMSN_REPLY: the status is ESRCH");
	expect("lst/session", FIELD(O2_LST_DEBUG_REPLY, O2_LST_AT_TYPE, .value = O2_LST_STAT_REPLY),
	       "DEBUG_REQST: ");
	expect("lst/session-twice", STATUS(O2_LST_STAT_REPLY, .value = ESRCH),
	       "STAT_REPLY: the status is ESRCH");
	expect("lst/busy", STATUS(O2_LST_MKSN_REPLY, .value = 0, .spares = 1),
	       "the status is success, not EBUSY");
	expect("lst/busy", FIELD(O2_LST_MKSN_REPLY, O2_LST_AT_MKSN_REPLY_NAME, .value = 0, .spares = 1),
	       "MKSN_REPLY: EBUSY with the name ''");
	expect("lst/force", STATUS(O2_LST_BATCH_REPLY, .value = 0), "the status is success, not ENOENT");
	expect("lst/none", STATUS(O2_LST_TEST_REPLY, .value = 0), "the status is success, not EINVAL");
	expect("lst/other", STATUS(O2_LST_TEST_REPLY, .value = 0), "the status is success, not ENOENT");
	expect("lst/other", SID(O2_LST_STAT_REPLY, .spares = 1), "not no session");
	expect("lst/features", STATUS(O2_LST_STAT_REPLY, .value = 0), "the status is success, not EPROTO");
	expect("lst/big-endian", STATUS(O2_LST_BRW_REPLY, .value = EIO), "the node replied with status EIO");
	expect("lst/halves", FIELD(O2_LST_BATCH_REPLY, O2_LST_AT_BAR_ACTIVE, .value = 3),
	       "BATCH_REPLY: test 0: 3 active");
	expect("lst/batch", STATUS(O2_LST_BATCH_REPLY, .value = 0), "the status is success, not ENOENT");
	expect("lst/stat", FIELD(O2_LST_STAT_REPLY, O2_LST_AT_STR_RPC + 8, .value = 0),
	       "STAT_REPLY: it counts 0 requests, 40960 bytes put, 40960 got; we made 30");
	expect("lst/stat", FIELD(O2_LST_STAT_REPLY, O2_LST_AT_STR_FW + 12, .value = 4),
	       "STAT_REPLY: 4 errors of brw");
}

static void answer(void *context, const struct o2_lst_request *request)
{
	const struct o2_lst_msg reply = {.msg_type = O2_LST_PING_REPLY,
					 .msg_ses_feats = 1,
					 .u.ping_reply = {.pnr_magic = O2_LST_PING_MAGIC,
							  .pnr_seq = request->msg->u.ping_reqst.pnr_seq}};

	o2_lst_served_reply(net_lst_node->rpc, request->served, &reply);
}

static void note_over(void *context, uint64_t served, int status)
{
}

TEST_WITH(a_ping_that_is_none_is_answered, setup, NULL)
{
	static const struct o2_lst_service_ops ops = {.request = answer, .over = note_over};

	peer.pings = &ops;
	expect_finding("lst/ping-magic", "PING_REQST must get no reply, but got one");
}

static void leave(void *context, const struct o2_lst_request *request)
{
	o2_node_close_peer(world.endpoint.node, WORLD_US, -ESHUTDOWN);
}

/* conform does not wait for a node that has left. */
TEST_WITH(a_node_that_leaves, setup, NULL)
{
	static const struct o2_lst_service_ops ops = {.request = leave, .over = note_over};

	peer.pings = &ops;
	expect_finding("lst/ping", "1 of 1 failed, the first so: the connection is gone (ECONNRESET)");
}

TEST(bulk)
{
	static const char *const probes[] = {"lst/read-8", "lst/read-1048576"};

	expect("lst/ping",
	       FIELD(O2_LST_PING_REPLY, O2_LST_AT_PNR_REPLY_SEQ, .value = 1, .adds = true, .spares = 5),
	       "ping: 1 of 6 failed, the first so: the reply does not match the request");
	expect("lst/read-4104", STATUS(O2_LST_BRW_REPLY, .value = EIO, .spares = 4),
	       "read of 4104 bytes, offset 0, check simple: 1 of 5 failed, the first so: the node replied "
	       "with status EIO");
	expect("lst/write-8", STATUS(O2_LST_BRW_REPLY, .value = EBADMSG),
	       "the node replied with status EBADMSG");
	expect("lst/write-wrong", STATUS(O2_LST_BRW_REPLY, .value = 0),
	       "BRW_REPLY to a write of 16384 bytes: status 0, not 74");
	for (size_t i = 0; i < 2; i++) {
		setup(NULL);
		peer.flip_bit = true;
		expect_finding(probes[i], " failed, the first so: bytes ");
		assert_non_null(strstr(world.out, "are 0xeeb0eeb"));
	}
}

/* The node writes more bytes than it was asked for, as far as the key allows it. */
TEST_WITH(more_is_written_than_was_asked_for, setup, NULL)
{
	peer.grows = 8;
	expect_row(RUN "lst/read-longer --mode global", O2_CLI_REFUSED, "FINDING   lst/read-longer ",
		   "byte 8192 or one of the seven after it was written");
	assert_true(peer.grown > 0);
}

TEST_WITH(a_node_that_stops_answering, setup, NULL)
{
	peer.gone = true;
	expect_row("conform --timeout 1 --lst --only lst/ping,lst/session 10.77.0.2@o2ib", O2_CLI_REFUSED,
		   "FINDING   lst/ping ", "lst/rpc-timeout: timeout_ms is 1");
	assert_non_null(strstr(world.out, "holds     lst/session "));
}

TEST_WITH(coming_back_goes_wrong, setup, NULL)
{
	peer.wrong = STATUS(O2_LST_RMSN_REPLY, .value = EPERM);
	expect_finding("lst/leave-read",
		       " reconnects failed, the first after step 0: RMSN_REPLY: the status is EPERM");
}

/* The number of sessions that the probe makes, one for each step at which it can leave. */
static uint32_t sessions_of(const char *probe)
{
	char line[200];

	setup(NULL);
	snprintf(line, sizeof(line), RUN "%s", probe);
	if (run(line) != O2_CLI_OK)
		fail_msg("%s%s", world.out, world.err);
	return net_lst_sessions;
}

/* A read has as many steps as a write. */
TEST(each_step_is_tried)
{
	const uint32_t sessions = sessions_of("lst/leave-read");

	assert_in_range(sessions, 7, 100);
	assert_int_equal(sessions_of("lst/leave-write"), sessions);
}

/* A signal comes during the last probe, so that no other is left to try. */
TEST_WITH(the_last_probe_is_interrupted, setup, NULL)
{
	peer.interrupts = true;
	expect_row(RUN "lst/leave-many", O2_CLI_REFUSED, "not tried lst/leave-many ", "interrupted");
	assert_string_equal(world.err, "o2ref: interrupted, so not all was tried\n");
}

/* --- nodes that are not probed --- */

TEST_WITH(nobody_serves_it, setup, NULL)
{
	peer.absent = true;
	expect_row("conform --timeout 1 --lst --only lst/ 10.77.0.2@o2ib", O2_CLI_OK,
		   "not tried lst/session ", "no LNet selftest reply: load lnet_selftest");
	assert_non_null(strstr(world.out, "\n0 hold, 0 findings,"));
}

TEST_WITH(a_session_of_somebody_else_is_left_alone, setup, NULL)
{
	peer.busy = true;
	expect_row(RUN "lst/", O2_CLI_OK, "not tried lst/read-8 ",
		   "it is in session 'theirs' of 10.77.0.9@o2ib, until 100 s after its last request");
	assert_non_null(strstr(world.out, "\n0 hold, 0 findings,"));
	assert_int_equal(net_lst_sessions, 0);
}

/* A peer chooses the name of a session; it can neither forge a row nor make the report invalid. */
TEST_WITH(a_name_that_is_no_text, setup, NULL)
{
	peer.busy = true;
	peer.name = "x\033[2K\nholds     \xff";
	expect_row(RUN "lst/session", O2_CLI_OK, "not tried lst/session ", "in session 'x?[2K?holds     ");
	assert_int_equal(run("conform --json --lst --only lst/session 10.77.0.2@o2ib"), O2_CLI_OK);
	assert_string_equal(world.err, "");
	assert_non_null(strstr(world.out, "it is in session 'x?[2K?holds     ?' of 10.77.0.9@o2ib"));
}

/* --- time --- */

TEST_WITH(a_session_expires, setup, NULL)
{
	peer.sleeps = true;
	peer.session_timeout_s = 1;
	expect_row(RUN "lst/expire", O2_CLI_OK, "holds     lst/expire ", "1 hold, 0 findings");
}

/* The node announces a session timeout of one second, but does not end the session. */
TEST_WITH(a_session_does_not_expire, setup, NULL)
{
	peer.sleeps = true;
	peer.wrong = FIELD(O2_LST_MKSN_REPLY, O2_LST_AT_MKSN_TIMEOUT, .value = 1);
	expect_finding("lst/expire", "DEBUG_REPLY: the status is success, not ESRCH");
}
