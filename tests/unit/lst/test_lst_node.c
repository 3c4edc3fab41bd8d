/* SPDX-License-Identifier: MIT */

/* A test node's answers to the framework's requests (docs/lst.md, "Status" to "Tests and batches"). */

#include "tests/lib/lst_pair.h"

#define OURS  o2_lst_sid_of(1)
#define OTHER o2_lst_sid_of(2)

static void make(struct lst_pair *pair)
{
	const struct o2_lst_msg msg = o2_lst_ask_mksn(OURS, 0, "ours");

	assert_int_equal(lst_pair_ask(pair, &msg), 0);
}

static void expect(struct lst_pair *pair, const struct o2_lst_msg *msg, int status, struct o2_lst_sid sid)
{
	assert_int_equal(lst_pair_ask(pair, msg), status);
	assert_int_equal(pair->reply.msg_type, msg->msg_type + 1);
	assert_true(o2_lst_sid_equal(pair->reply.u.reply.sid, sid));
}

LST_PAIR_TEST(test_make_session)
{
	struct o2_lst_msg msg = o2_lst_ask_mksn(O2_LST_NO_SID, 0, "none");

	expect(pair, &msg, EINVAL, O2_LST_NO_SID);
	msg = o2_lst_ask_mksn(OURS, 0, "ours");
	msg.msg_ses_feats = 0x81;
	expect(pair, &msg, EPROTO, O2_LST_NO_SID);
	assert_int_equal(pair->reply.msg_ses_feats, 1);
	msg.msg_ses_feats = 0;
	expect(pair, &msg, 0, OURS);
	assert_int_equal(pair->reply.msg_ses_feats, 0);
	assert_int_equal(pair->reply.u.mksn_reply.mksn_timeout, 100);
	assert_string_equal(pair->reply.u.mksn_reply.mksn_name.text, "");
	/* A repeated MKSN is counted, whatever its features. */
	msg.msg_ses_feats = 1;
	expect(pair, &msg, 0, OURS);
	assert_int_equal(pair->reply.msg_ses_feats, 0);
	msg = o2_lst_ask_mksn(OTHER, 0, "other");
	expect(pair, &msg, EBUSY, OURS);
	assert_string_equal(pair->reply.u.mksn_reply.mksn_name.text, "ours");
	assert_int_equal(pair->reply.u.mksn_reply.mksn_timeout, 100);
	msg = o2_lst_ask_mksn(OTHER, 1, "other");
	expect(pair, &msg, 0, OTHER);
	assert_int_equal(pair->reply.msg_ses_feats, 1);
	assert_int_equal(o2_lst_node_report(pair->b.node)->sessions, 2);
}

LST_PAIR_TEST(test_remove_session)
{
	struct o2_lst_msg msg = o2_lst_ask_rmsn(OURS);

	expect(pair, &msg, ESRCH, O2_LST_NO_SID);
	make(pair);
	make(pair);
	msg = o2_lst_ask_rmsn(O2_LST_NO_SID);
	expect(pair, &msg, EINVAL, OURS);
	msg = o2_lst_ask_rmsn(OTHER);
	expect(pair, &msg, EBUSY, OURS);
	msg = o2_lst_ask_rmsn(OURS);
	expect(pair, &msg, 0, OURS);
	expect(pair, &msg, 0, O2_LST_NO_SID);
	expect(pair, &msg, ESRCH, O2_LST_NO_SID);
}

LST_PAIR_TEST(test_debug_stat_and_join)
{
	struct o2_lst_msg msg = o2_lst_ask_debug();

	expect(pair, &msg, ESRCH, O2_LST_NO_SID);
	msg = o2_lst_ask_stat(OURS);
	expect(pair, &msg, ESRCH, O2_LST_NO_SID);
	make(pair);
	lst_pair_clock(pair, 1500);
	msg = o2_lst_ask_debug();
	expect(pair, &msg, 0, OURS);
	assert_string_equal(pair->reply.u.debug_reply.dbg_name.text, "ours");
	assert_int_equal(pair->reply.u.debug_reply.dbg_timeout, 100);
	msg = o2_lst_ask_stat(O2_LST_NO_SID);
	expect(pair, &msg, EINVAL, OURS);
	msg = o2_lst_ask_stat(OTHER);
	expect(pair, &msg, ESRCH, OURS);
	msg = o2_lst_ask_stat(OURS);
	expect(pair, &msg, 0, OURS);
	assert_int_equal(pair->reply.u.stat_reply.str_fw.running_ms, 1500);
	assert_int_equal(pair->reply.u.stat_reply.str_rpc.rpcs_rcvd, 7);
	assert_int_equal(pair->reply.u.stat_reply.str_lnet.lcc_recv_count, 7);
	assert_int_equal(pair->reply.u.stat_reply.str_lnet.lcc_recv_length, 7 * 160);
	assert_int_equal(pair->reply.u.stat_reply.str_lnet.lcc_send_count, 6);
	msg = (struct o2_lst_msg){.msg_type = O2_LST_JOIN_REQST};
	expect(pair, &msg, ESRCH, O2_LST_NO_SID);
}

LST_PAIR_TEST(test_features_of_a_session)
{
	struct o2_lst_msg msg;

	make(pair);
	msg = o2_lst_ask_stat(OURS);
	msg.msg_ses_feats = 0;
	expect(pair, &msg, EPROTO, OURS);
	assert_int_equal(pair->reply.msg_ses_feats, 1);
	msg = o2_lst_ask_debug();
	msg.msg_ses_feats = 0;
	expect(pair, &msg, 0, OURS);
	msg.msg_ses_feats = 2;
	expect(pair, &msg, EPROTO, OURS);
}

/* Requests of the framework except JOIN renew the session's timeout, even if they fail; those of tests do not. */
LST_PAIR_TEST(test_expiry)
{
	const struct o2_lst_msg stat = o2_lst_ask_stat(OTHER), join = {.msg_type = O2_LST_JOIN_REQST};
	const struct o2_lst_msg brw = o2_lst_ask_brw(O2_LST_BRW_READ, O2_LST_CHECK_NONE, 8);

	make(pair);
	lst_pair_clock(pair, 60000);
	assert_int_equal(lst_pair_ask(pair, &stat), ESRCH);
	lst_pair_clock(pair, 159999);
	assert_int_equal(lst_pair_ask_bulk(pair, &brw, 8, false), 0);
	assert_int_equal(lst_pair_ask(pair, &join), ESRCH);
	assert_true(o2_lst_sid_equal(o2_lst_node_sid(pair->b.node), OURS));
	lst_pair_clock(pair, 160000);
	assert_true(o2_lst_sid_is_none(o2_lst_node_sid(pair->b.node)));
	assert_int_equal(o2_lst_node_report(pair->b.node)->expired, 1);
}

TEST(test_a_session_that_never_expires)
{
	static struct lst_pair pair;
	struct o2_lst_node_config config = o2_lst_side_config();

	config.session_timeout_s = 0;
	lst_pair_open(&pair, &config);
	make(&pair);
	lst_pair_clock(&pair, UINT64_C(1) << 50);
	assert_true(o2_lst_sid_equal(o2_lst_node_sid(pair.b.node), OURS));
	lst_pair_close(&pair);
}

/* The fields of TEST, in the order in which they are checked. */
LST_PAIR_TEST(test_fields_of_a_test)
{
	const struct {
		uint32_t loop, concur, ndest, service;
		bool is_client;
	} illegal[] = {{0, 1, 0, 12, false},   {1, 0, 0, 12, false},  {1, 1025, 0, 12, false},
		       {1, 1, 342, 12, false}, {1, 1, 342, 12, true}, {1, 1, 0, 12, true},
		       {1, 1, 0, 10, false},   {1, 1, 0, 13, false}};
	struct o2_lst_msg msg = o2_lst_ask_test(O2_LST_NO_SID, false, 0);

	expect(pair, &msg, EINVAL, O2_LST_NO_SID);
	msg = o2_lst_ask_test(OURS, false, 0);
	expect(pair, &msg, ENOENT, O2_LST_NO_SID);
	make(pair);
	for (size_t i = 0; i < sizeof(illegal) / sizeof(illegal[0]); i++) {
		msg = o2_lst_ask_test(OURS, illegal[i].is_client, illegal[i].ndest);
		msg.u.test_reqst.tsr_loop = illegal[i].loop;
		msg.u.test_reqst.tsr_concur = illegal[i].concur;
		msg.u.test_reqst.tsr_service = illegal[i].service;
		expect(pair, &msg, EINVAL, OURS);
	}
	msg = o2_lst_ask_test(OTHER, false, 0);
	expect(pair, &msg, ENOENT, OURS);
	/* For a server half, the parameters of the test are not checked. */
	msg = o2_lst_ask_test(OURS, false, 0);
	msg.u.test_reqst.tsr_service = O2_LST_SERVICE_BRW;
	msg.u.test_reqst.tsr_u.bulk_v1.blk_len = 7;
	expect(pair, &msg, 0, OURS);
	msg = o2_lst_ask_test(OURS, false, 341);
	msg.u.test_reqst.tsr_concur = 1024;
	expect(pair, &msg, 0, OURS);
}

LST_PAIR_TEST(test_parameters_of_brw)
{
	const struct {
		struct o2_lst_bulk_v1 bulk;
		int status;
	} rows[] = {
		{{1, 3, 4096, 0}, 0},	   {{2, 1, 8, 4088}, 0},      {{0, 3, 4096, 0}, EINVAL},
		{{3, 3, 4096, 0}, EINVAL}, {{1, 0, 4096, 0}, EINVAL}, {{1, 5, 4096, 0}, EINVAL},
		{{1, 3, 0, 0}, EINVAL},	   {{1, 3, 12, 0}, EINVAL},   {{1, 3, 1048584, 0}, EINVAL},
		{{1, 3, 4096, 8}, EINVAL}, {{1, 3, 2048, 4}, EINVAL}, {{1, 3, UINT32_MAX - 7, 0}, EINVAL}};
	/* Also page counts whose bytes do not fit into 32 bits. */
	const struct o2_lst_bulk_v0 v0[] = {{1, 1, 2}, {1, 256, 3},	 {1, 257, 3},
					    {1, 0, 3}, {1, 1u << 20, 3}, {1, (1u << 20) + 1, 3}};
	struct o2_lst_msg msg;

	make(pair);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		msg = o2_lst_ask_test(OURS, true, 1);
		msg.u.test_reqst.tsr_service = O2_LST_SERVICE_BRW;
		msg.u.test_reqst.tsr_u.bulk_v1 = rows[i].bulk;
		assert_int_equal(lst_pair_add_client(pair, &msg, NID_A), rows[i].status);
	}
	/* A session of the old protocol. */
	msg = o2_lst_ask_mksn(OTHER, 1, "old");
	msg.msg_ses_feats = 0;
	expect(pair, &msg, 0, OTHER);
	for (size_t i = 0; i < sizeof(v0) / sizeof(v0[0]); i++) {
		msg = o2_lst_ask_test(OTHER, true, 1);
		msg.msg_ses_feats = 0;
		msg.u.test_reqst.tsr_service = O2_LST_SERVICE_BRW;
		msg.u.test_reqst.tsr_u.bulk_v0 = v0[i];
		assert_int_equal(lst_pair_add_client(pair, &msg, NID_A), i < 2 ? 0 : EINVAL);
	}
}

LST_PAIR_TEST(test_batches)
{
	struct o2_lst_msg msg = o2_lst_ask_batch(OURS, 1, O2_LST_BATCH_RUN, 0, 0);

	expect(pair, &msg, ESRCH, O2_LST_NO_SID);
	make(pair);
	expect(pair, &msg, ENOENT, OURS);
	msg = o2_lst_ask_batch(OURS, 1, 4, 0x80000000u, 0);
	expect(pair, &msg, ENOENT, OURS);
	msg = o2_lst_ask_batch(OTHER, 1, O2_LST_BATCH_QUERY, 0, 0);
	expect(pair, &msg, ESRCH, OURS);
	msg = o2_lst_ask_test(OURS, false, 0);
	expect(pair, &msg, 0, OURS);
	/* A batch with server halves only can be run, but is never active. */
	for (uint32_t opc = O2_LST_BATCH_RUN; opc <= O2_LST_BATCH_QUERY; opc++) {
		msg = o2_lst_ask_batch(OURS, 1, opc, 0, 0);
		expect(pair, &msg, 0, OURS);
		assert_int_equal(pair->reply.u.batch_reply.bar_active, 0);
	}
	msg = o2_lst_ask_batch(OURS, 1, O2_LST_BATCH_QUERY, 1, 0);
	expect(pair, &msg, 0, OURS);
	msg = o2_lst_ask_batch(OURS, 1, O2_LST_BATCH_QUERY, 2, 0);
	expect(pair, &msg, ENOENT, OURS);
	msg = o2_lst_ask_batch(OURS, 1, O2_LST_BATCH_QUERY, 0x80000000u, 0);
	expect(pair, &msg, EINVAL, OURS);
	/* The test index is checked only for a query. */
	msg = o2_lst_ask_batch(OURS, 1, O2_LST_BATCH_STOP, 0x80000000u, 0);
	expect(pair, &msg, 0, OURS);
	msg = o2_lst_ask_batch(OURS, 1, 4, 0x80000000u, 0);
	assert_int_equal(lst_pair_ask(pair, &msg), -1);
	lst_pair_clock(pair, 64000);
}

/* Memory is limited: a request beyond a limit is refused, and the session goes on. */
LST_PAIR_TEST(test_limits)
{
	struct o2_lst_msg msg = o2_lst_ask_test(OURS, true, 17);

	make(pair);
	assert_int_equal(lst_pair_add_client(pair, &msg, NID_A), ENOMEM);
	msg = o2_lst_ask_test(OURS, true, 2);
	msg.u.test_reqst.tsr_concur = 8;
	assert_int_equal(lst_pair_add_client(pair, &msg, NID_A), 0);
	msg = o2_lst_ask_test(OURS, true, 1);
	assert_int_equal(lst_pair_add_client(pair, &msg, NID_A), ENOMEM);
	for (uint64_t i = 0; i < 6; i++) {
		msg = o2_lst_ask_test(OURS, false, 0);
		msg.u.test_reqst.tsr_bid = 1 + i;
		expect(pair, &msg, i < 3 ? 0 : ENOMEM, OURS);
	}
	/* Removing the session frees all of it. */
	msg = o2_lst_ask_rmsn(OURS);
	expect(pair, &msg, 0, O2_LST_NO_SID);
	make(pair);
	msg = o2_lst_ask_test(OURS, true, 16);
	assert_int_equal(lst_pair_add_client(pair, &msg, NID_A), 0);
}

/* If the list of destinations does not arrive or is too short, there is no reply. */
LST_PAIR_TEST(test_destinations_that_do_not_come)
{
	struct o2_lst_msg msg = o2_lst_ask_test(OURS, true, 2);

	make(pair);
	assert_int_equal(lst_pair_ask_bulk(pair, &msg, 12, true), -1);
	assert_int_equal(lst_pair_ask(pair, &msg), -1);
	lst_pair_clock(pair, 64000);
	assert_int_equal(o2_lst_node_active(pair->b.node), 0);
	/* The list arrives after the session has ended. */
	msg = o2_lst_ask_test(OURS, true, 1);
	lst_pair_start(pair, &msg, 12, true);
	o2_lnet_deliver(&pair->lnet.a);
	o2_lst_node_end_session(pair->b.node);
	o2_lnet_deliver_all(&pair->lnet);
	assert_int_equal(pair->reply.u.reply.status, ENOENT);
}

/* A client that attached its list with other options than LNet selftest sends one of two destinations. */
LST_PAIR_TEST(test_list_that_is_short)
{
	struct o2_lst_msg msg = o2_lst_ask_test(OURS, true, 2);
	const struct o2_lnet_entry entry = {
		.portal = O2_LST_PORTAL_RDMA,
		.match_bits = 77,
		O2_LNET_FOR_ANYBODY,
		.options = O2_LNET_MD_OP_GET | O2_LNET_MD_TRUNCATE,
		.memory = lnet_side_memory(&pair->lnet.a, 0, LST_SIDE_BULK, 12),
	};

	make(pair);
	assert_true(o2_lnet_attach(pair->lnet.a.lnet, &entry, NULL) >= 0);
	msg.u.test_reqst.tsr_bulkid = 77;
	assert_int_equal(lst_pair_ask(pair, &msg), -1);
	assert_int_equal(o2_lst_node_active(pair->b.node), 0);
	assert_int_equal(pair->b.node->nunits, 0);
	lst_pair_clock(pair, 64000);
}

TEST(test_what_a_node_cannot_be_made_of)
{
	static struct lst_pair pair;
	struct o2_lst_node_config config = o2_lst_side_config();
	const struct o2_lst_node_ops ops = {.wrong = NULL};
	struct o2_lst_node *node = NULL;
	struct o2_error error;

	lnet_pair_open(&pair.lnet, NULL);
	config.max_sessions = 1;
	assert_error(o2_lst_node_create(&config, pair.lnet.a.lnet, &pair.lnet.a.arena, &pair.lnet.a.clock,
					&ops, NULL, &node, &error),
		     -EINVAL, &error, "lst/config/node");
	config = o2_lst_side_config();
	config.first_page = O2_LNET_SIDE_PAGES - 100;
	assert_error(o2_lst_node_create(&config, pair.lnet.a.lnet, &pair.lnet.a.arena, &pair.lnet.a.clock,
					&ops, NULL, &node, &error),
		     -EINVAL, &error, "lst/config/bulk-pages");
	config.max_calls = 0;
	assert_error(o2_lst_node_create(&config, pair.lnet.a.lnet, &pair.lnet.a.arena, &pair.lnet.a.clock,
					&ops, NULL, &node, &error),
		     -EINVAL, &error, "lst/config/max-calls");
	config = o2_lst_side_config();
	assert_true(o2_lst_node_pages(&config, 4096) > 2 * 258);
	assert_int_equal(o2_lst_node_entries(&config), 13 + 2 * 8);
	assert_int_equal(o2_lst_node_messages(&config), 3 * 8 + 16);
	lnet_pair_close(&pair.lnet);
}
