/* SPDX-License-Identifier: MIT */

/* A test node as the server of pings and bulks, and as the client (docs/lst.md, "Tests and batches"). */

#include "tests/lib/lst_pair.h"
#include "wire/bytes.h"

#define OURS	   o2_lst_sid_of(1)
#define BRW_LEN_AT 44u /* docs/lst.md, "Bodies" */

static struct lst_pair *pair_in_session(void)
{
	const struct o2_lst_msg msg = o2_lst_ask_mksn(OURS, 0, "ours");
	struct lst_pair *pair = lst_pair_default();

	assert_int_equal(lst_pair_ask(pair, &msg), 0);
	return pair;
}

#define SESSION_TEST(name) TEST_ON(name, struct lst_pair, pair, pair_in_session(), lst_pair_close)

static uint8_t *bulk_of(struct lst_pair *pair)
{
	return o2_lnet_side_bytes(&pair->lnet.a, LST_SIDE_BULK);
}

/* --- as a server --- */

SESSION_TEST(test_pings)
{
	struct o2_lst_msg msg = {.msg_type = O2_LST_PING_REQST, .msg_ses_feats = 1};

	msg.u.ping_reqst.pnr_magic = O2_LST_PING_MAGIC;
	msg.u.ping_reqst.pnr_seq = 77;
	assert_int_equal(lst_pair_ask(pair, &msg), 0);
	assert_int_equal(pair->reply.u.ping_reply.pnr_magic, O2_LST_PING_MAGIC);
	assert_int_equal(pair->reply.u.ping_reply.pnr_seq, 77);
	msg.msg_ses_feats = 0x80;
	assert_int_equal(lst_pair_ask(pair, &msg), EPROTO);
	assert_int_equal(pair->reply.msg_ses_feats, 1);
	assert_int_equal(pair->reply.u.ping_reply.pnr_seq, 77);
	msg.u.ping_reqst.pnr_magic = 7;
	assert_int_equal(lst_pair_ask(pair, &msg), -1);
	assert_int_equal(o2_lst_node_report(pair->b.node)->pings, 1);
	lst_pair_clock(pair, 64000);
}

SESSION_TEST(test_bulks)
{
	static const uint32_t lengths[] = {8, 2048, 3976, 3984, 4096, 8000, 65536};
	uint64_t total = 0;

	for (size_t i = 0; i < 4 * sizeof(lengths) / sizeof(lengths[0]); i++) {
		const uint32_t len = lengths[i / 4];
		const enum o2_lst_brw_check check = 1 + i % 4;
		struct o2_lst_msg msg = o2_lst_ask_brw(O2_LST_BRW_READ, check, len);
		uint8_t *bytes = bulk_of(pair);

		memset(bytes, 0, len);
		assert_int_equal(lst_pair_ask_bulk(pair, &msg, len, false), 0);
		/* All bytes have the pattern, whatever the check. */
		assert_true(o2_lst_pattern_check(bytes, len, 0, O2_LST_CHECK_FULL, O2_LITTLE_ENDIAN, NULL));
		msg.u.brw_reqst.brw_rw = O2_LST_BRW_WRITE;
		assert_int_equal(lst_pair_ask_bulk(pair, &msg, len, true), 0);
		/* A byte in the middle is wrong, which only the check "full" covers. */
		bytes[o2_lst_node_flipped(len) + 2] ^= 0x10;
		assert_int_equal(lst_pair_ask_bulk(pair, &msg, len, true),
				 check == O2_LST_CHECK_FULL || (check == O2_LST_CHECK_SIMPLE && len == 8)
					 ? EBADMSG
					 : 0);
		if (check == O2_LST_CHECK_FULL) {
			assert_int_equal(pair->b.wrong.word.at, (o2_lst_node_flipped(len) + 2) / 8 * 8);
			assert_int_equal(pair->b.wrong.len, len);
			assert_true(pair->b.wrong.nid == NID_A && !pair->b.wrong.is_client);
		}
		total += 3 * len;
	}
	assert_int_equal(o2_lst_node_report(pair->b.node)->bytes, total);
	assert_int_equal(o2_lst_node_report(pair->b.node)->wrong_writes, 8);
	/* Two writes with each of the checks simple and full. */
	assert_int_equal(o2_lst_node_report(pair->b.node)->checked_writes, 28);
}

/* Bulk from a node of the other byte order is in that order. */
SESSION_TEST(test_bulk_of_the_other_order)
{
	const struct o2_lst_msg msg = o2_lst_ask_brw(O2_LST_BRW_WRITE, O2_LST_CHECK_FULL, 64);

	o2_lst_pattern_fill(bulk_of(pair), 64, 0, O2_LST_CHECK_FULL, O2_BIG_ENDIAN);
	assert_int_equal(lst_pair_ask_bulk(pair, &msg, 64, true), EBADMSG);
	assert_true(pair->b.wrong.word.got == UINT64_C(0xb3eeb2eeb1eeb0ee));
}

SESSION_TEST(test_brw_out_of_range)
{
	const struct {
		uint32_t rw, check, len, features;
		int status;
	} rows[] = {{0, 3, 4096, 1, EINVAL},	{3, 3, 4096, 1, EINVAL},
		    {1, 0, 4096, 1, EINVAL},	{1, 5, 4096, 1, EINVAL},
		    {1, 3, 0, 1, EINVAL},	{1, 3, 12, 1, EINVAL},
		    {1, 3, 1048584, 1, EINVAL}, {2, 3, UINT32_MAX, 1, EINVAL},
		    {1, 3, 8, 0, EINVAL},	{1, 3, 4096, 2, EPROTO},
		    {1, 3, 4096, 0, 0}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_lst_msg msg = o2_lst_ask_brw(rows[i].rw, rows[i].check, rows[i].len);

		msg.msg_ses_feats = rows[i].features;
		assert_int_equal(lst_pair_ask_bulk(pair, &msg, 4096, rows[i].rw == 2), rows[i].status);
		assert_int_equal(pair->reply.msg_ses_feats, rows[i].features == 2 ? 1 : rows[i].features);
	}
	assert_int_equal(o2_lst_node_report(pair->b.node)->refused, 10);
}

/* The client's memory is shorter than announced. */
SESSION_TEST(test_memory_that_is_short)
{
	struct o2_lst_msg msg = o2_lst_ask_brw(O2_LST_BRW_READ, O2_LST_CHECK_NONE, 8192);

	/* After the PUT_NAK the reply still has status 0, and the reader waits for its bulk in vain. */
	assert_int_equal(lst_pair_ask_bulk(pair, &msg, 4096, false), -1);
	assert_int_equal(o2_lst_node_report(pair->b.node)->reads, 1);
	msg.u.brw_reqst.brw_rw = O2_LST_BRW_WRITE;
	assert_int_equal(lst_pair_ask_bulk(pair, &msg, 4096, true), -1);
	/* Sent by IMMEDIATE, the GET is dropped; it ends when the session ends. */
	msg.u.brw_reqst.brw_len = 64;
	assert_int_equal(lst_pair_ask_bulk(pair, &msg, 32, true), -1);
	assert_int_equal(o2_lst_node_active(pair->b.node), 1);
	o2_lst_node_end_session(pair->b.node);
	assert_int_equal(o2_lst_node_active(pair->b.node), 0);
	lst_pair_clock(pair, 64000);
	assert_int_equal(pair->status, -ETIMEDOUT);
}

/* A write of a client that attached its memory with other options than LNet selftest, and sends too few bytes. */
SESSION_TEST(test_write_that_is_short)
{
	struct o2_lst_msg msg = o2_lst_ask_brw(O2_LST_BRW_WRITE, O2_LST_CHECK_NONE, 64);
	const struct o2_lnet_entry entry = {
		.portal = O2_LST_PORTAL_RDMA,
		.match_bits = 77,
		O2_LNET_FOR_ANYBODY,
		.options = O2_LNET_MD_OP_GET | O2_LNET_MD_TRUNCATE,
		.memory = lnet_side_memory(&pair->lnet.a, 0, LST_SIDE_BULK, 32),
	};

	assert_true(o2_lnet_attach(pair->lnet.a.lnet, &entry, NULL) >= 0);
	msg.u.brw_reqst.brw_bulkid = 77;
	assert_int_equal(lst_pair_ask(pair, &msg), EBADMSG);
	assert_int_equal(o2_lst_node_report(pair->b.node)->wrong_writes, 1);
	assert_int_equal(o2_lst_node_report(pair->b.node)->checked_writes, 1);
	assert_int_equal(o2_lst_node_report(pair->b.node)->writes, 0);
	/* It is told as wrong, as wrong bytes are. */
	assert_int_equal(pair->b.nwrong, 1);
	assert_int_equal(pair->b.wrong.len, 64);
	assert_int_equal(pair->b.wrong.bytes, 32);
}

/* There is memory for one bulk of 1 MiB: other requests wait in order, and the session's end drops the last. */
SESSION_TEST(test_requests_that_wait_for_pages)
{
	const struct o2_lst_msg msg =
		o2_lst_ask_brw(O2_LST_BRW_READ, O2_LST_CHECK_FULL, O2_LST_MAX_BULK_BYTES);
	const struct o2_lst_msg small = o2_lst_ask_brw(O2_LST_BRW_READ, O2_LST_CHECK_FULL, 4096);

	lst_pair_start(pair, &msg, O2_LST_MAX_BULK_BYTES, false);
	lst_pair_start(pair, &msg, O2_LST_MAX_BULK_BYTES, false);
	lst_pair_start(pair, &small, 4096, false);
	for (int i = 0; i < 3; i++)
		o2_lnet_deliver(&pair->lnet.a);
	assert_int_equal(o2_lst_node_active(pair->b.node), 3);
	assert_int_equal(pair->lnet.b.nletters, 1);
	o2_lnet_deliver_all(&pair->lnet);
	assert_int_equal(pair->nanswers, 3);
	assert_int_equal(pair->status, 0);
	lst_pair_start(pair, &msg, O2_LST_MAX_BULK_BYTES, false);
	lst_pair_start(pair, &msg, O2_LST_MAX_BULK_BYTES, false);
	o2_lnet_deliver(&pair->lnet.a);
	o2_lnet_deliver(&pair->lnet.a);
	o2_lst_node_end_session(pair->b.node);
	assert_int_equal(o2_lst_node_active(pair->b.node), 1);
	o2_lnet_deliver_all(&pair->lnet);
	assert_int_equal(o2_lst_node_active(pair->b.node), 0);
	lst_pair_clock(pair, 64000);
	assert_int_equal(pair->status, -ETIMEDOUT);
}

TEST(test_flipped_bit)
{
	static const uint32_t lengths[] = {8, 4096, 65536};
	static struct lst_pair pair;
	struct o2_lst_node_config config = o2_lst_side_config();

	config.flip_bit = true;
	lst_pair_open(&pair, &config);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		const uint32_t at = o2_lst_node_flipped(lengths[i]);
		const struct o2_lst_msg msg =
			o2_lst_ask_brw(O2_LST_BRW_READ, O2_LST_CHECK_SIMPLE, lengths[i]);
		uint8_t *bytes = bulk_of(&pair);
		struct o2_lst_wrong wrong;

		assert_int_equal(lst_pair_ask_bulk(&pair, &msg, lengths[i], false), 0);
		assert_false(o2_lst_pattern_check(bytes, lengths[i], 0, O2_LST_CHECK_FULL, O2_LITTLE_ENDIAN,
						  &wrong));
		assert_int_equal(wrong.at, at / 8 * 8);
		bytes[at] ^= 1;
		assert_true(o2_lst_pattern_check(bytes, lengths[i], 0, O2_LST_CHECK_FULL, O2_LITTLE_ENDIAN,
						 NULL));
	}
	lst_pair_close(&pair);
}

/* --- as a client --- */

static void add(struct lst_pair *pair, const struct o2_lst_msg *test)
{
	assert_int_equal(lst_pair_add_client(pair, test, NID_A), 0);
}

static void control(struct lst_pair *pair, uint32_t opc, uint32_t arg)
{
	const struct o2_lst_msg msg = o2_lst_ask_batch(OURS, 1, opc, 0, arg);

	lst_pair_start(pair, &msg, 0, false);
	o2_lnet_deliver(&pair->lnet.a);
}

/* Lose all messages of this side that are on their way. */
static void lose(struct o2_lnet_side *side)
{
	while (side->nletters > 0)
		o2_lnet_finished(side->lnet, side->letter[--side->nletters].tag, 0, 0, NULL);
}

static uint32_t active(struct lst_pair *pair, uint32_t index)
{
	const struct o2_lst_msg msg = o2_lst_ask_batch(OURS, 1, O2_LST_BATCH_QUERY, index, 0);

	assert_int_equal(lst_pair_ask(pair, &msg), 0);
	return pair->reply.u.batch_reply.bar_active;
}

static const struct o2_lst_fw_counters *counters(struct lst_pair *pair)
{
	const struct o2_lst_msg msg = o2_lst_ask_stat(OURS);

	assert_int_equal(lst_pair_ask(pair, &msg), 0);
	return &pair->reply.u.stat_reply.str_fw;
}

static struct o2_lst_msg brw_test(enum o2_lst_brw_rw rw, uint32_t len, uint32_t offset)
{
	struct o2_lst_msg test = o2_lst_ask_test(OURS, true, 1);

	test.u.test_reqst.tsr_service = O2_LST_SERVICE_BRW;
	test.u.test_reqst.tsr_u.bulk_v1 =
		(struct o2_lst_bulk_v1){(uint16_t)rw, O2_LST_CHECK_FULL, len, offset};
	return test;
}

SESSION_TEST(test_tests_that_end)
{
	struct o2_lst_msg test = o2_lst_ask_test(OURS, true, 2);

	test.u.test_reqst.tsr_concur = 3;
	add(pair, &test);
	test = brw_test(O2_LST_BRW_READ, 8000, 192);
	add(pair, &test);
	test = brw_test(O2_LST_BRW_WRITE, 2048, 512);
	add(pair, &test);
	assert_int_equal(active(pair, 0), 0);
	control(pair, O2_LST_BATCH_RUN, 0);
	test = o2_lst_ask_test(OURS, false, 0);
	assert_int_equal(LIST_FIRST(&pair->b.node->session->batches)->nactive, 3);
	o2_lnet_deliver_all(&pair->lnet);
	assert_int_equal(active(pair, 0), 0);
	assert_int_equal(o2_lst_node_report(pair->a.node)->pings, 18);
	assert_int_equal(o2_lst_node_report(pair->a.node)->reads, 3);
	assert_int_equal(o2_lst_node_report(pair->a.node)->writes, 3);
	assert_int_equal(o2_lst_node_report(pair->b.node)->tries, 24);
	assert_int_equal(o2_lst_node_report(pair->b.node)->failed, 0);
	/* Run the batch once more. */
	control(pair, O2_LST_BATCH_RUN, 0);
	o2_lnet_deliver_all(&pair->lnet);
	assert_int_equal(o2_lst_node_report(pair->b.node)->tries, 48);
	assert_int_equal(counters(pair)->ping_errors, 0);
}

/* An endless test runs until it is stopped, and a running batch accepts no more tests. */
SESSION_TEST(test_endless)
{
	struct o2_lst_msg test = o2_lst_ask_test(OURS, true, 1);
	uint64_t tries;

	test.u.test_reqst.tsr_loop = UINT32_MAX;
	test.u.test_reqst.tsr_concur = 2;
	add(pair, &test);
	control(pair, O2_LST_BATCH_RUN, 0);
	for (int i = 0; i < 200; i++)
		o2_lnet_deliver(pair->lnet.a.nletters > 0 ? &pair->lnet.a : &pair->lnet.b);
	tries = o2_lst_node_report(pair->b.node)->tries;
	assert_true(tries > 50);
	test = o2_lst_ask_test(OURS, false, 0);
	lst_pair_start(pair, &test, 0, false);
	while (pair->nanswers == 0)
		o2_lnet_deliver(pair->lnet.a.nletters > 0 ? &pair->lnet.a : &pair->lnet.b);
	assert_int_equal(pair->reply.u.reply.status, EBUSY);
	control(pair, O2_LST_BATCH_STOP, 0);
	o2_lnet_deliver_all(&pair->lnet);
	assert_int_equal(active(pair, 1), 0);
	assert_int_equal(counters(pair)->active_batches, 0);
}

/* A forced stop abandons the RPCs under way, which do not count as errors. */
SESSION_TEST(test_stop_by_force)
{
	struct o2_lst_msg test = brw_test(O2_LST_BRW_WRITE, 2048, 0);

	test.u.test_reqst.tsr_loop = UINT32_MAX;
	add(pair, &test);
	control(pair, O2_LST_BATCH_RUN, 0);
	lose(&pair->lnet.b);
	assert_int_equal(LIST_FIRST(&pair->b.node->session->batches)->nactive, 1);
	control(pair, O2_LST_BATCH_STOP, 1);
	o2_lnet_deliver_all(&pair->lnet);
	assert_int_equal(active(pair, 0), 0);
	assert_int_equal(counters(pair)->brw_errors, 0);
	assert_int_equal(o2_lst_node_report(pair->b.node)->failed, 1);
	lst_pair_clock(pair, 64000);
}

/* The server sends a wrong bit in each read. */
SESSION_TEST(test_errors_of_tests)
{
	struct o2_lst_msg test = brw_test(O2_LST_BRW_READ, 4096, 0);

	pair->a.node->config.flip_bit = true;
	add(pair, &test);
	control(pair, O2_LST_BATCH_RUN, 0);
	o2_lnet_deliver_all(&pair->lnet);
	assert_int_equal(o2_lst_node_report(pair->b.node)->failed, 1);
	assert_int_equal(counters(pair)->brw_errors, 1);
	assert_true(pair->b.wrong.is_client && pair->b.wrong.nid == NID_A);
	assert_int_equal(pair->b.wrong.word.at, 2048);
	/* Without "stop on error", the test runs all RPCs. */
	test.u.test_reqst.tsr_stop_onerr = 0;
	add(pair, &test);
	control(pair, O2_LST_BATCH_RUN, 0);
	o2_lnet_deliver_all(&pair->lnet);
	assert_int_equal(counters(pair)->brw_errors, 5);
}

/* A server that sends fewer bytes, and replies that all is well, is told as one that sends wrong ones. */
SESSION_TEST(test_read_that_is_short)
{
	const struct o2_lst_msg test = brw_test(O2_LST_BRW_READ, 4096, 0);
	struct o2_letter *letter = pair->lnet.b.letter;

	add(pair, &test);
	control(pair, O2_LST_BATCH_RUN, 0);
	while (letter->hdr.msg.put.ptl_index != O2_LST_PORTAL_TEST)
		letter++;
	o2_store32(letter->payload + BRW_LEN_AT, O2_LITTLE_ENDIAN, 2048);
	o2_lnet_deliver_all(&pair->lnet);
	assert_int_equal(o2_lst_node_report(pair->b.node)->failed, 1);
	assert_int_equal(counters(pair)->brw_errors, 1);
	assert_int_equal(pair->b.nwrong, 1);
	assert_true(pair->b.wrong.is_client && pair->b.wrong.nid == NID_A);
	assert_int_equal(pair->b.wrong.len, 4096);
	assert_int_equal(pair->b.wrong.bytes, 2048);
}

/* After a stop, an RPC under way ends normally; wrong bytes in it still count as an error. */
SESSION_TEST(test_error_after_a_stop)
{
	struct o2_lst_msg test = brw_test(O2_LST_BRW_READ, 4096, 0);

	pair->a.node->config.flip_bit = true;
	add(pair, &test);
	control(pair, O2_LST_BATCH_RUN, 0);
	control(pair, O2_LST_BATCH_STOP, 0);
	assert_int_equal(o2_lst_node_report(pair->b.node)->tries, 0);
	o2_lnet_deliver_all(&pair->lnet);
	assert_int_equal(active(pair, 0), 0);
	assert_int_equal(o2_lst_node_report(pair->b.node)->failed, 1);
	assert_int_equal(counters(pair)->brw_errors, 1);
}

/* The destination does not exist: RPCs that cannot be started end. */
SESSION_TEST(test_unreachable)
{
	struct o2_lst_msg test = o2_lst_ask_test(OURS, true, 2);

	test.u.test_reqst.tsr_loop = UINT32_MAX;
	test.u.test_reqst.tsr_stop_onerr = 0;
	assert_int_equal(lst_pair_add_client(pair, &test, NID_B + 9), 0);
	control(pair, O2_LST_BATCH_RUN, 0);
	o2_lnet_deliver_all(&pair->lnet);
	assert_int_equal(active(pair, 0), 0);
	assert_int_equal(counters(pair)->ping_errors, 2);
}

/* Units that wait for calls or pages all get their turn. */
SESSION_TEST(test_units_that_wait)
{
	struct o2_lst_msg test = o2_lst_ask_test(OURS, true, 1);

	test.u.test_reqst.tsr_concur = 12;
	add(pair, &test);
	test = brw_test(O2_LST_BRW_WRITE, O2_LST_MAX_BULK_BYTES, 0);
	test.u.test_reqst.tsr_concur = 3;
	add(pair, &test);
	control(pair, O2_LST_BATCH_RUN, 0);
	o2_lnet_deliver_all(&pair->lnet);
	assert_int_equal(o2_lst_node_report(pair->b.node)->tries, 45);
	assert_int_equal(o2_lst_node_report(pair->b.node)->failed, 0);
	assert_int_equal(o2_lst_node_report(pair->a.node)->writes, 9);
}

/* A session that is replaced while its tests run waits for LNet as a zombie.  The number of zombies is limited. */
SESSION_TEST(test_zombies)
{
	struct o2_lst_msg test = o2_lst_ask_test(OURS, true, 1), msg;
	static struct o2_letter kept;

	test.u.test_reqst.tsr_loop = UINT32_MAX;
	test.u.test_reqst.tsr_concur = 4;
	add(pair, &test);
	control(pair, O2_LST_BATCH_RUN, 0);
	/* Hold back one of its pings. */
	kept = pair->lnet.b.letter[0];
	pair->lnet.b.nletters--;
	memmove(pair->lnet.b.letter, pair->lnet.b.letter + 1, pair->lnet.b.nletters * sizeof(kept));
	msg = o2_lst_ask_mksn(o2_lst_sid_of(2), 1, "thief");
	assert_int_equal(lst_pair_ask(pair, &msg), 0);
	msg = o2_lst_ask_stat(o2_lst_sid_of(2));
	assert_int_equal(lst_pair_ask(pair, &msg), 0);
	assert_int_equal(pair->reply.u.stat_reply.str_fw.zombie_sessions, 1);
	assert_int_equal(pair->b.node->nunits, 4);
	msg = o2_lst_ask_mksn(o2_lst_sid_of(3), 1, "another");
	assert_int_equal(lst_pair_ask(pair, &msg), 0);
	o2_lnet_finished(pair->lnet.b.lnet, kept.tag, 0, 0, NULL);
	o2_lnet_deliver_all(&pair->lnet);
	assert_int_equal(pair->b.node->nunits, 0);
	assert_int_equal(pair->b.node->nsessions, 1);
}
