/* SPDX-License-Identifier: MIT */

/*
 * The test that a console runs (docs/lst.md, "The console of o2ref"): its RPCs, and how each can end.
 */

#include "tests/lib/lst_console_world.h"

/* Both directions, every check, lengths below and above the limit of an IMMEDIATE, offsets, both byte orders. */
static void move_all(struct console_world *world)
{
	static const struct {
		uint32_t len, offset;
	} rows[] = {{8, 0},	 {8, 4088}, {2048, 512}, {3976, 0},
		    {3984, 112}, {4096, 0}, {8000, 192}, {1 << 20, 0}};

	struct o2_lst_test *test = &world->config.test;

	test->service = O2_LST_SERVICE_BRW;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]) * 8; i++) {
		const struct o2_lst_bulk_v1 *bulk = &world->seat.asked[1].u.test_reqst.tsr_u.bulk_v1;
		bool apart;

		test->rw = 1 + i % 2;
		test->check = 1 + i / 2 % 4;
		test->len = rows[i / 8].len;
		test->offset = rows[i / 8].offset;
		/* The check fails, as between two kernels, because the sides divide the bytes differently. */
		apart = test->rw == O2_LST_BRW_READ && test->check == O2_LST_CHECK_SIMPLE &&
			test->len == 8000;
		console_again(world);
		console_run(world);
		console_expect_asked(world, "MKSN TEST BRW BRW BRW STAT RMSN");
		console_expect_over(world, 0, 0);
		assert_int_equal(world->report->outcome[apart ? O2_LST_FAIL_DATA : O2_LST_WELL], 3);
		assert_int_equal(world->report->bytes, apart ? 0 : 3 * test->len);
		assert_int_equal(world->seat.asked[2].u.brw_reqst.brw_len, test->len);
		assert_int_equal(bulk->blk_opc, test->rw);
		assert_int_equal(bulk->blk_flags, test->check);
		assert_int_equal(bulk->blk_len, test->len);
		assert_int_equal(bulk->blk_offset, test->offset);
	}
}

CONSOLE_TEST(test_every_bulk)
{
	move_all(world);
}

TEST(test_every_bulk_of_the_other_order)
{
	struct console_world *world = console_open(O2_BIG_ENDIAN);

	move_all(world);
	console_close(world);
}

CONSOLE_TEST(test_many_at_a_time)
{
	world->config.test.service = O2_LST_SERVICE_BRW;
	world->config.concurrency = 8;
	world->config.count = 30;
	world->config.before = true;
	console_start(world);
	while (world->seat.nasked < 4)
		console_deliver(world);
	assert_int_equal(world->began, 8);
	o2_lnet_deliver_all(&world->pair);
	console_expect_over(world, 0, 0);
	assert_int_equal(lst_seat_count(&world->seat, O2_LST_BRW_REQST), 30);
	assert_int_equal(world->seat.asked[1].u.test_reqst.tsr_loop, 8);
	assert_int_equal(lst_seat_count(&world->seat, O2_LST_STAT_REQST), 2);
	assert_int_equal(world->report->after.str_rpc.rpcs_rcvd - world->report->before.str_rpc.rpcs_rcvd,
			 31);
}

/* --- received bytes that are wrong --- */

CONSOLE_TEST(test_a_bit_is_found_where_it_is)
{
	static const uint8_t word[8] = {0xb3, 0xee, 0xb2, 0xee, 0xb1, 0xee, 0xb0, 0xee};
	static const struct {
		enum o2_lst_brw_check check;
		bool every_word;
		uint32_t at, word;
	} rows[] = {
		{O2_LST_CHECK_FULL, false, 1027, 1024},
		{O2_LST_CHECK_FULL, true, 2047, 2040},
		{O2_LST_CHECK_SIMPLE, false, 5, 0},
		/* Words that the protocol's own checks do not cover. */
		{O2_LST_CHECK_SIMPLE, true, 1027, 1024},
		{O2_LST_CHECK_NONE, true, 16, 16},
	};

	world->config.test.service = O2_LST_SERVICE_BRW;
	world->config.count = 2;
	world->seat.pattern = word;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		world->config.test.check = rows[i].check;
		world->config.test.every_word = rows[i].every_word;
		console_again(world);
		console_run_until_asked(world, 3);
		while (world->nresults < 1)
			console_deliver(world);
		/* Change a byte of the second RPC. */
		world->seat.harm = o2_lnet_side_bytes(&world->pair.a, CONSOLE_LANE_PAGE) + 512 + rows[i].at;
		o2_lnet_deliver_all(&world->pair);
		console_expect_over(world, 0, 0);
		assert_int_equal(world->report->outcome[O2_LST_FAIL_DATA], 1);
		assert_int_equal(world->report->outcome[O2_LST_WELL], 1);
		assert_int_equal(world->result.number, 1);
		assert_int_equal(world->result.wrong.at, rows[i].word);
		assert_true(world->result.wrong.want == O2_LST_DATA_WORD);
		world->seat.harm = NULL;
	}
}

CONSOLE_TEST(test_length)
{
	world->config.test.service = O2_LST_SERVICE_BRW;
	world->seat.bulk_less = 8;
	for (unsigned int rw = O2_LST_BRW_READ; rw <= O2_LST_BRW_WRITE; rw++) {
		world->config.test.rw = rw;
		console_again(world);
		console_run(world);
		console_expect_over(world, 0, 0);
		assert_int_equal(world->report->outcome[O2_LST_FAIL_LENGTH], 3);
		assert_int_equal(world->result.bytes, 2040);
	}
}

CONSOLE_TEST(test_ping_answers)
{
	world->seat.seq_more = 1;
	console_run(world);
	console_expect_over(world, 0, 0);
	assert_int_equal(world->report->outcome[O2_LST_FAIL_ANSWER], 3);
	console_again(world);
	world->seat.seq_more = 0;
	world->seat.magic_more = 1;
	console_run(world);
	assert_int_equal(world->report->outcome[O2_LST_FAIL_ANSWER], 3);
}

/* The node chooses the errno with which it ends a bulk by RDMA: that of a malformed reply says nothing of a reply. */
CONSOLE_TEST(test_errno_of_a_bulk)
{
	world->config.test.service = O2_LST_SERVICE_BRW;
	world->config.test.len = 8192;
	world->config.test.offset = 0;
	world->pair.b.fail_transfer = -EBADMSG;
	console_run(world);
	console_expect_asked(world, "MKSN TEST BRW STAT RMSN");
	console_expect_over(world, 0, 0);
	assert_int_equal(world->report->outcome[O2_LST_FAIL_LOCAL], 1);
	assert_int_equal(world->result.status, -EBADMSG);
}

/* An error status in a test reply fails only that RPC. */
CONSOLE_TEST(test_status)
{
	world->config.test.service = O2_LST_SERVICE_BRW;
	world->seat.status[O2_LST_BRW_REQST] = EBADMSG;
	console_run(world);
	console_expect_asked(world, "MKSN TEST BRW BRW BRW STAT RMSN");
	console_expect_over(world, 0, 0);
	assert_int_equal(world->report->outcome[O2_LST_FAIL_STATUS], 3);
	assert_int_equal(world->result.status, -EBADMSG);
}

/* --- comparison with kernels' consoles --- */

/* Read a recorded message by its id in the vectors. */
static struct o2_lst_msg recorded(const char *id)
{
	FILE *file = fopen(O2_CORPUS_DIR "/lst/vectors.txt", "r");
	struct o2_lst_msg msg = {.msg_type = O2_LST_TYPE_COUNT};
	uint8_t bytes[O2_LST_MSG_BYTES];
	char line[8192];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file) != NULL) {
		const char *digits = line + strlen(id) + 1;

		if (strncmp(line, id, strlen(id)) != 0 || digits[-1] != '\t')
			continue;
		for (size_t i = 0; i < sizeof(bytes); i++)
			assert_int_equal(sscanf(digits + 2 * i, "%2hhx", &bytes[i]), 1);
		assert_int_equal(o2_lst_msg_decode(bytes, sizeof(bytes), &msg, NULL), 0);
	}
	fclose(file);
	return msg;
}

/* Assert that the request equals the recorded one, except for the RPC's ids and the time of day. */
static void expect_recorded(const struct o2_lst_msg *asked, const char *id)
{
	struct o2_lst_msg msg = recorded(id);
	uint8_t ours[O2_LST_MSG_BYTES], kernels[O2_LST_MSG_BYTES];

	assert_int_equal(msg.msg_type, asked->msg_type);
	msg.u.reqst.rpyid = asked->u.reqst.rpyid;
	if (msg.msg_type == O2_LST_BRW_REQST)
		msg.u.reqst.bulkid = asked->u.reqst.bulkid;
	if (msg.msg_type == O2_LST_PING_REQST) {
		msg.u.ping_reqst.pnr_time_sec = asked->u.ping_reqst.pnr_time_sec;
		msg.u.ping_reqst.pnr_time_nsec = asked->u.ping_reqst.pnr_time_nsec;
	}
	assert_int_equal(o2_lst_msg_encode(asked, ours, NULL), 0);
	assert_int_equal(o2_lst_msg_encode(&msg, kernels, NULL), 0);
	assert_memory_equal(ours, kernels, sizeof(ours));
}

CONSOLE_TEST(test_as_recorded)
{
	const struct o2_lst_msg *asked = world->seat.asked;
	struct o2_lst_test *test = &world->config.test;

	console_run(world);
	expect_recorded(&asked[0], "recorded/01/5/MKSN_REQST");
	expect_recorded(&asked[1], "recorded/01/13/TEST_REQST");
	expect_recorded(&asked[2], "recorded/01/17/PING_REQST");
	expect_recorded(&asked[5], "recorded/01/29/STAT_REQST");
	expect_recorded(&asked[6], "recorded/01/33/RMSN_REQST");
	test->service = O2_LST_SERVICE_BRW;
	for (unsigned int i = 0; i < 2; i++) {
		const char *id = i == 0 ? "recorded/02/11/BRW_REQST" : "recorded/04/9/BRW_REQST";
		const struct o2_lst_msg msg = recorded(id);

		test->rw = msg.u.brw_reqst.brw_rw;
		test->check = msg.u.brw_reqst.brw_flags;
		test->len = msg.u.brw_reqst.brw_len;
		test->offset = 0;
		console_again(world);
		console_run(world);
		expect_recorded(&asked[2], id);
	}
}

CONSOLE_TEST(test_test_is_refused)
{
	world->seat.status[O2_LST_TEST_REQST] = EINVAL;
	console_run(world);
	console_expect_asked(world, "MKSN TEST RMSN");
	console_expect_over(world, -EINVAL, O2_LST_STEP_TEST);
	assert_true(world->report->refused);
	assert_false(world->report->left);
}

/* An arbitrary status from the peer must not look like success or like an errno. */
CONSOLE_TEST(test_mad_status)
{
	world->seat.status[O2_LST_STAT_REQST] = UINT32_MAX;
	console_run(world);
	console_expect_asked(world, "MKSN TEST PING PING PING STAT RMSN");
	console_expect_over(world, -EPROTO, O2_LST_STEP_AFTER);
}

/* Nor is a number that is no errno reported as one that the node could have meant. */
CONSOLE_TEST(test_status_that_is_no_errno)
{
	world->seat.status[O2_LST_TEST_REQST] = 5000;
	console_run(world);
	console_expect_asked(world, "MKSN TEST RMSN");
	console_expect_over(world, -5000, O2_LST_STEP_TEST);
	assert_true(world->report->refused);
}
