/* SPDX-License-Identifier: MIT */
/* The text for LNet selftest's messages inside IMMEDIATEs, and for payloads that only look like one. */
#include "tests/lib/unit_test.h"

#include "cli/lst_text.h"
#include "cli/summary.h"

static const struct o2_lst_sid sid = {UINT64_C(0x000500000a4d0001), 42};

static uint8_t payload[O2_LST_MSG_BYTES];

static struct o2_msg carrier(uint32_t portal, uint32_t length)
{
	return (struct o2_msg){.ibm_type = O2_MSG_IMMEDIATE,
			       .u.immediate = {.hdr = {.type = O2_LNET_PUT,
						       .payload_length = length,
						       .msg.put = {.ptl_index = portal, .match_bits = 11}},
					       .payload = payload}};
}

/* Assert the text for a message of this type with feature 1. */
static void expect(struct o2_lst_msg *lst, uint32_t type, const char *wanted)
{
	const struct o2_msg msg = carrier(52, O2_LST_MSG_BYTES);
	char text[O2_SUMMARY_TEXT_BYTES], whole[O2_SUMMARY_TEXT_BYTES];

	lst->msg_version += 1;
	lst->msg_ses_feats ^= 1;
	lst->msg_type = type;
	assert_int_equal(o2_lst_msg_encode(lst, payload, NULL), 0);
	o2_msg_summary(&msg, text);
	snprintf(whole, sizeof(whole), "IMMEDIATE PUT 160 bytes portal 52 match 0xb | LST %s", wanted);
	assert_string_equal(text, whole);
	memset(lst, 0, sizeof(*lst));
}

TEST(requests)
{
	struct o2_lst_msg lst = {.u.mksn_reqst = {.mksn_sid = sid, .mksn_force = 1, .mksn_name = {"a\x01"}}};

	expect(&lst, O2_LST_MKSN_REQST, "MKSN_REQST session 10.77.0.1@o2ib/42 \"a\\x01\" by force");
	lst.u.rmsn_reqst.rmsn_sid = O2_LST_NO_SID;
	expect(&lst, O2_LST_RMSN_REQST, "RMSN_REQST session none");
	lst.u.stat_reqst.str_sid = sid;
	lst.order = O2_BIG_ENDIAN;
	expect(&lst, O2_LST_STAT_REQST, "STAT_REQST session 10.77.0.1@o2ib/42 big-endian");
	lst.u.join_reqst = (struct o2_lst_join_reqst){.join_sid = sid, .join_group = {"g"}};
	lst.msg_version = 1;
	expect(&lst, O2_LST_JOIN_REQST, "JOIN_REQST session 10.77.0.1@o2ib/42 \"g\" version 2");
	lst.u.batch_reqst = (struct o2_lst_batch_reqst){.bar_bid = 3, .bar_opc = 2, .bar_arg = 1};
	expect(&lst, O2_LST_BATCH_REQST, "BATCH_REQST stop batch 3 by force");
	lst.u.batch_reqst = (struct o2_lst_batch_reqst){.bar_bid = 3, .bar_opc = 3, .bar_testidx = 2};
	lst.msg_ses_feats = 0x81;
	expect(&lst, O2_LST_BATCH_REQST, "BATCH_REQST query batch 3 test 2 features 0x80");
	lst.u.batch_reqst = (struct o2_lst_batch_reqst){.bar_bid = 3, .bar_opc = 7};
	expect(&lst, O2_LST_BATCH_REQST, "BATCH_REQST 7 batch 3");
	lst.u.brw_reqst = (struct o2_lst_brw_reqst){.brw_rw = 2, .brw_len = 2048, .brw_flags = 3};
	expect(&lst, O2_LST_BRW_REQST, "BRW_REQST write 2048 bytes, check full");
	lst.u.brw_reqst = (struct o2_lst_brw_reqst){.brw_rw = 9, .brw_len = 1, .brw_flags = 0};
	expect(&lst, O2_LST_BRW_REQST, "BRW_REQST 9 1 bytes, check 0");
	lst.u.ping_reqst.pnr_seq = 7;
	expect(&lst, O2_LST_PING_REQST, "PING_REQST number 7");
	expect(&lst, O2_LST_DEBUG_REQST, "DEBUG_REQST");
}

TEST(tests)
{
	struct o2_lst_msg lst = {.u.test_reqst = {.tsr_sid = sid,
						  .tsr_bid = 1,
						  .tsr_service = 11,
						  .tsr_loop = UINT32_MAX,
						  .tsr_concur = 8,
						  .tsr_is_client = 1,
						  .tsr_ndest = 2,
						  .tsr_u.bulk_v1 = {1, 2, 4096, 0}}};

	expect(&lst, O2_LST_TEST_REQST,
	       "TEST_REQST session 10.77.0.1@o2ib/42 batch 1 client half of brw, 2 destinations, loop -1, "
	       "concurrency 8, read 4096 bytes, check simple");
	lst.u.test_reqst = (struct o2_lst_test_reqst){
		.tsr_sid = sid, .tsr_bid = 1, .tsr_service = 12, .tsr_loop = 64, .tsr_concur = 1};
	expect(&lst, O2_LST_TEST_REQST,
	       "TEST_REQST session 10.77.0.1@o2ib/42 batch 1 server half of ping, loop 64, concurrency 1");
	lst.u.test_reqst.tsr_sid = sid;
	expect(&lst, O2_LST_TEST_REQST,
	       "TEST_REQST session 10.77.0.1@o2ib/42 batch 0 server half of debug, loop 0, concurrency 0");
}

/* Of a reply, only the fields that its status makes valid are shown. */
TEST(replies)
{
	struct o2_lst_msg lst = {.u.mksn_reply = {EBUSY, sid, 100, {"theirs"}}};

	expect(&lst, O2_LST_MKSN_REPLY, "MKSN_REPLY status 16 EBUSY session 10.77.0.1@o2ib/42 \"theirs\"");
	lst.u.mksn_reply = (struct o2_lst_mksn_reply){0, sid, 100, {"left over"}};
	expect(&lst, O2_LST_MKSN_REPLY, "MKSN_REPLY session 10.77.0.1@o2ib/42");
	lst.u.mksn_reply = (struct o2_lst_mksn_reply){EPROTO, sid, 100, {"left over"}};
	expect(&lst, O2_LST_MKSN_REPLY, "MKSN_REPLY status 71 EPROTO");
	lst.u.rmsn_reply = (struct o2_lst_rmsn_reply){EPROTO, sid};
	expect(&lst, O2_LST_RMSN_REPLY, "RMSN_REPLY status 71 EPROTO");
	lst.u.debug_reply = (struct o2_lst_debug_reply){ESRCH, O2_LST_NO_SID, 100, 0, {"left over"}};
	expect(&lst, O2_LST_DEBUG_REPLY, "DEBUG_REPLY status 3 ESRCH session none");
	lst.u.debug_reply = (struct o2_lst_debug_reply){0, sid, 100, 0, {"here"}};
	expect(&lst, O2_LST_DEBUG_REPLY, "DEBUG_REPLY session 10.77.0.1@o2ib/42 \"here\"");
	lst.u.brw_reply.brw_status = EBADMSG;
	expect(&lst, O2_LST_BRW_REPLY, "BRW_REPLY status 74 EBADMSG");
	lst.u.brw_reply.brw_status = UINT32_MAX;
	expect(&lst, O2_LST_BRW_REPLY, "BRW_REPLY status 4294967295 errno 4294967295");
	lst.u.ping_reply.pnr_seq = 9;
	expect(&lst, O2_LST_PING_REPLY, "PING_REPLY number 9");
	lst.u.stat_reply.str_sid = sid;
	lst.u.stat_reply.str_fw.brw_errors = 1;
	lst.u.stat_reply.str_rpc.rpcs_sent = 2;
	lst.u.stat_reply.str_rpc.rpcs_rcvd = 3;
	expect(&lst, O2_LST_STAT_REPLY,
	       "STAT_REPLY session 10.77.0.1@o2ib/42, brw errors 1, ping errors 0, RPCs in 3 out 2");
}

/* Give the message a session with a long NID, and what makes all of its fields valid. */
static void lengthen(struct o2_lst_msg *lst)
{
	static const struct o2_lst_sid long_sid = {0x0005ffffffffffffu, UINT64_MAX - 1};

	if (lst->msg_type == O2_LST_MKSN_REQST) {
		lst->u.mksn_reqst.mksn_sid = long_sid;
	} else if (lst->msg_type == O2_LST_MKSN_REPLY) {
		lst->u.mksn_reply.mksn_sid = long_sid;
		lst->u.mksn_reply.mksn_status = EBUSY;
	} else if (lst->msg_type == O2_LST_TEST_REQST) {
		lst->u.test_reqst.tsr_sid = long_sid;
		lst->u.test_reqst.tsr_service = O2_LST_SERVICE_BRW;
	}
}

/* The longest texts: those with escaped names, long NIDs and large numbers. */
TEST(no_text_is_too_long)
{
	struct o2_lst_msg lst = {
		.msg_version = UINT32_MAX, .msg_ses_feats = UINT32_MAX, .order = O2_BIG_ENDIAN};
	char text[O2_LST_TEXT_BYTES];

	for (uint32_t type = 0; type < O2_LST_TYPE_COUNT; type++) {
		memset(&lst.u, 0xf1, sizeof(lst.u));
		lst.msg_type = type;
		lengthen(&lst);
		o2_lst_text(&lst, text);
		assert_uint_in_range(strlen(text), 8, O2_LST_TEXT_BYTES - 2);
		assert_non_null(strstr(text, " big-endian"));
	}
}

TEST(what_is_none_is_not_shown_as_one)
{
	struct o2_lst_msg lst = {.msg_version = 1, .msg_type = O2_LST_DEBUG_REQST};
	struct o2_msg msg = carrier(50, O2_LST_MSG_BYTES);
	struct o2_lst_msg seen;

	assert_int_equal(o2_lst_msg_encode(&lst, payload, NULL), 0);
	assert_true(o2_lst_inside(&msg, &seen));
	for (uint32_t portal = 49; portal <= 53; portal++) {
		msg = carrier(portal, O2_LST_MSG_BYTES);
		assert_int_equal(o2_lst_inside(&msg, &seen), portal >= 50 && portal <= 52);
	}
	msg = carrier(50, 159);
	assert_false(o2_lst_inside(&msg, &seen));
	msg = carrier(50, O2_LST_MSG_BYTES);
	msg.u.immediate.hdr.type = O2_LNET_REPLY;
	assert_false(o2_lst_inside(&msg, &seen));
	msg = carrier(50, O2_LST_MSG_BYTES);
	msg.ibm_type = O2_MSG_PUT_REQ;
	assert_false(o2_lst_inside(&msg, &seen));
	msg = carrier(50, O2_LST_MSG_BYTES);
	payload[0] ^= 1;
	assert_false(o2_lst_inside(&msg, &seen));
}
