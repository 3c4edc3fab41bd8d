/* SPDX-License-Identifier: MIT */

/* o2ref serve --lst: the test node next to the offered memory.  The peer acts as console and as client. */

#include "cli/net/commands.h"
#include "lst/test.h"
#include "tests/lib/net_world.h"

#define RPC_PAGE   2u
#define BULK_PAGE  100u
#define BULK_PAGES 600u

static struct {
	struct o2_lst_pages *pages;
	struct o2_lst_tester *tester;
	struct o2_lst_test test;
	uint32_t to_do, at_a_time; /* tests to do */
	uint32_t ended;
	struct o2_lst_test_result result; /* of the last test */
	bool has_session;
	bool harm; /* change a byte of each write */
	struct o2_lst_msg asked;
} peer;

static void open_peer(void)
{
	struct o2_lst_rpc_config config = O2_LST_RPC_DEFAULTS;

	config.first_page = RPC_PAGE;
	config.max_calls = 8;
	assert_int_equal(o2_lst_rpc_create(&config, world.endpoint.lnet, &world.ni.arena, &world.ni.clock,
					   &world.rpc, NULL),
			 0);
	assert_int_equal(
		o2_lst_pages_create(&world.ni.arena, BULK_PAGE, BULK_PAGES, O2_REG_GLOBAL, &peer.pages, NULL),
		0);
	assert_int_equal(o2_lst_tester_create(8, world.rpc, peer.pages, &world.ni.clock, &peer.tester, NULL),
			 0);
}

static void note_result(void *context, const struct o2_lst_test_result *result)
{
	peer.ended++;
	if (peer.result.status == 0)
		peer.result = *result;
}

static void note_answer(void *context, const struct o2_lst_answer *answer)
{
	assert_int_equal(answer->status, 0);
	assert_int_equal(answer->reply->u.reply.status, 0);
	peer.has_session = true;
}

/* The peer makes a session and runs the tests; then it ends the command by a signal. */
static void do_round(void)
{
	const struct o2_lst_try asked = {.test = &peer.test, .nid = WORLD_US, .done = note_result};
	const struct o2_lst_call call = {.nid = WORLD_US, .request = &peer.asked, .done = note_answer};

	if (peer.asked.msg_ses_feats == 0) {
		peer.asked = (struct o2_lst_msg){.msg_type = O2_LST_MKSN_REQST, .msg_ses_feats = 1};
		peer.asked.u.mksn_reqst.mksn_sid = (struct o2_lst_sid){WORLD_PEER, 7};
		assert_int_equal(o2_lst_call_start(world.rpc, &call, NULL, NULL), 0);
	}
	while (peer.has_session && peer.to_do > 0 && o2_lst_tester_active(peer.tester) < peer.at_a_time) {
		assert_int_equal(o2_lst_test_start(peer.tester, &asked, NULL, NULL), 0);
		peer.to_do--;
		if (peer.harm)
			o2_arena_page(&world.ni.arena, BULK_PAGE)[100] ^= 1;
	}
	if (peer.has_session && peer.to_do == 0 && o2_lst_tester_active(peer.tester) == 0 &&
	    o2_lnet_messages(world.endpoint.lnet) == 0)
		o2_net_stop = 1;
}

static int serve(const char *line, const struct o2_lst_test *test, uint32_t count)
{
	const bool harm = peer.harm;
	int status;

	world_setup(NULL);
	memset(&peer, 0, sizeof(peer));
	peer.harm = harm;
	world.start = open_peer;
	world.round = do_round;
	peer.test = *test;
	peer.to_do = count;
	peer.at_a_time = harm ? 1 : 8;
	status = world_run(line);
	o2_lst_tester_destroy(peer.tester);
	o2_lst_pages_destroy(peer.pages);
	o2_lst_rpc_destroy(world.rpc);
	assert_int_equal(peer.ended, count);
	return status;
}

static struct o2_lst_test brw(enum o2_lst_brw_rw rw, enum o2_lst_brw_check check, uint32_t len)
{
	return (struct o2_lst_test){
		.service = O2_LST_SERVICE_BRW, .features = 1, .rw = rw, .check = check, .len = len};
}

TEST(test_pings)
{
	const struct o2_lst_test test = {.service = O2_LST_SERVICE_PING, .features = 1};

	assert_int_equal(serve("serve --lst", &test, 100), 0);
	assert_int_equal(peer.result.status, 0);
	assert_non_null(strstr(world.out, "test node of LNet selftest: portals 50, 51 and 52\n"));
	assert_non_null(strstr(world.out, "lst: 1 sessions, 0 expired; served 100 pings, 0 reads, 0 writes, "
					  "0 bytes; refused 0; own tests 0, 0 failed; wrong 0\n"));
}

/* Bulks in every registration mode, by IMMEDIATE and by RDMA. */
TEST(test_bulks)
{
	static const char *const modes[] = {"global", "fmr", "fastreg", "user", "phys", "fastreg_gaps"};
	static const uint32_t lengths[] = {8, 3976, 3984, 65536, O2_LST_MAX_BULK_BYTES};

	for (size_t i = 0; i < 6 * 5; i++) {
		struct o2_lst_test test = brw(1 + i % 2, O2_LST_CHECK_FULL, lengths[i % 5]);
		char line[64], served[64];

		test.every_word = true;
		snprintf(line, sizeof(line), "serve --lst --mode %s", modes[i / 5]);
		assert_int_equal(serve(line, &test, test.len > 65536 ? 2 : 10), 0);
		assert_int_equal(peer.result.status, 0);
		snprintf(served, sizeof(served), "served 0 pings, %u reads, %u writes",
			 test.rw == O2_LST_BRW_READ ? peer.ended : 0,
			 test.rw == O2_LST_BRW_WRITE ? peer.ended : 0);
		assert_non_null(strstr(world.out, served));
	}
}

/* A flipped bit is found at its byte, even outside the words that the protocol's check covers. */
TEST(test_flipped_bit)
{
	struct o2_lst_test test = brw(O2_LST_BRW_READ, O2_LST_CHECK_SIMPLE, 65536);

	assert_int_equal(serve("serve --lst --quirk lst-flip-bit", &test, 3), 0);
	assert_int_equal(peer.result.status, 0);
	test.every_word = true;
	assert_int_equal(serve("serve --lst --quirk lst-flip-bit", &test, 3), 0);
	assert_int_equal(peer.result.failure, O2_LST_FAILURE_DATA);
	assert_int_equal(peer.result.wrong.at, 2048);
	assert_true((peer.result.wrong.got ^ peer.result.wrong.want) == 1);
}

/* A wrong byte in a write is reported, and counted as any other wrong byte. */
TEST(test_wrong_write)
{
	struct o2_lst_test test = brw(O2_LST_BRW_WRITE, O2_LST_CHECK_FULL, 8192);

	assert_int_equal(serve("serve --lst --json", &test, 2), 0);
	assert_non_null(strstr(world.out, "\"writes\": 2"));
	assert_non_null(strstr(world.out, "\"wrong\": 0"));
	peer.harm = true;
	assert_int_equal(serve("serve --lst --json", &test, 2), 1);
	peer.harm = false;
	assert_int_equal(peer.result.failure, O2_LST_FAILURE_STATUS);
	assert_int_equal(peer.result.status, -EBADMSG);
	assert_non_null(strstr(world.out, "\"writes\": 0"));
	assert_non_null(strstr(world.out, "\"wrong\": 2"));
	assert_string_equal(world.err, "o2ref: 10.77.0.2@o2ib lst write of 8192 bytes: the word at byte 96 "
				       "is 0xeeb0eeb0eeb2eeb3, not 0xeeb0eeb1eeb2eeb3\n"
				       "o2ref: 10.77.0.2@o2ib lst write of 8192 bytes: the word at byte 96 "
				       "is 0xeeb0eeb0eeb2eeb3, not 0xeeb0eeb1eeb2eeb3\n");
}

/* A buffer where the node itself answers is refused; elsewhere at the same portals it is not. */
TEST(test_places_of_its_own)
{
	static const struct {
		const char *line, *err;
	} rows[] = {
		{"serve --verify --buffer 60:1 --buffer 0:0x8000000000000000",
		 "buffer 1: at portal 0, match bits 0x8000000000000000 this node answers LNet's pings"},
		{"serve --lst --buffer 50:12",
		 "buffer 0: at portal 50, match bits 0xc this node answers requests of LNet selftest"},
		{"serve --lst --buffer 51:1",
		 "buffer 0: at portal 51, match bits 0x1 this node answers requests of LNet selftest"},
		{"serve --lst --buffer 51:0",
		 "buffer 0: at portal 51, match bits 0x0 this node answers requests of LNet selftest"},
		{"serve --buffer 50:12 --buffer 1:0x8000000000000000 --buffer 0:1", NULL},
		{"serve --lst --buffer 50:0 --buffer 51:12 --buffer 51:7 --buffer 52:1", NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char err[160] = "";

		world_setup(NULL);
		o2_net_stop = 1;
		if (rows[i].err != NULL)
			snprintf(err, sizeof(err), "o2ref: %s\n", rows[i].err);
		assert_int_equal(world_run(rows[i].line), rows[i].err != NULL ? 2 : 0);
		assert_string_equal(world.err, err);
	}
}

TEST(test_without_it_nobody_answers)
{
	world_setup(NULL);
	assert_int_equal(world_run("serve --lst=1"), 2);
	assert_int_equal(world_run("ping --lst 10.77.0.2@o2ib"), 2);
}
