/* SPDX-License-Identifier: MIT */
#include "props/lst/lst_requests.h"

#include <string.h>

#include "props/world/lnet_pair.h"

struct o2_lst_sid o2_lst_sid_of(uint64_t stamp)
{
	return (struct o2_lst_sid){O2_LNET_NID_A, stamp};
}

static struct o2_lst_msg request(uint32_t type)
{
	return (struct o2_lst_msg){.msg_type = type, .msg_ses_feats = O2_LST_FEAT_BULK_LEN};
}

struct o2_lst_msg o2_lst_ask_mksn(struct o2_lst_sid sid, uint32_t force, const char *name)
{
	struct o2_lst_msg msg = request(O2_LST_MKSN_REQST);

	msg.u.mksn_reqst.mksn_sid = sid;
	msg.u.mksn_reqst.mksn_force = force;
	strncpy(msg.u.mksn_reqst.mksn_name.text, name, O2_LST_NAME_BYTES - 1);
	return msg;
}

struct o2_lst_msg o2_lst_ask_rmsn(struct o2_lst_sid sid)
{
	struct o2_lst_msg msg = request(O2_LST_RMSN_REQST);

	msg.u.rmsn_reqst.rmsn_sid = sid;
	return msg;
}

struct o2_lst_msg o2_lst_ask_debug(void)
{
	return request(O2_LST_DEBUG_REQST);
}

struct o2_lst_msg o2_lst_ask_join(struct o2_lst_sid sid)
{
	struct o2_lst_msg msg = request(O2_LST_JOIN_REQST);

	msg.u.join_reqst.join_sid = sid;
	memcpy(msg.u.join_reqst.join_group.text, "group", sizeof("group"));
	return msg;
}

struct o2_lst_msg o2_lst_ask_ping(uint32_t sequence)
{
	struct o2_lst_msg msg = request(O2_LST_PING_REQST);

	msg.u.ping_reqst.pnr_magic = O2_LST_PING_MAGIC;
	msg.u.ping_reqst.pnr_seq = sequence;
	return msg;
}

struct o2_lst_msg o2_lst_ask_stat(struct o2_lst_sid sid)
{
	struct o2_lst_msg msg = request(O2_LST_STAT_REQST);

	msg.u.stat_reqst.str_sid = sid;
	return msg;
}

struct o2_lst_msg o2_lst_ask_batch(struct o2_lst_sid sid, uint64_t batch, uint32_t opc, uint32_t index,
				   uint32_t arg)
{
	struct o2_lst_msg msg = request(O2_LST_BATCH_REQST);

	msg.u.batch_reqst.bar_sid = sid;
	msg.u.batch_reqst.bar_bid = batch;
	msg.u.batch_reqst.bar_opc = opc;
	msg.u.batch_reqst.bar_testidx = index;
	msg.u.batch_reqst.bar_arg = arg;
	return msg;
}

struct o2_lst_msg o2_lst_ask_test(struct o2_lst_sid sid, bool is_client, uint32_t ndest)
{
	struct o2_lst_msg msg = request(O2_LST_TEST_REQST);

	msg.u.test_reqst.tsr_sid = sid;
	msg.u.test_reqst.tsr_bid = 1;
	msg.u.test_reqst.tsr_service = O2_LST_SERVICE_PING;
	msg.u.test_reqst.tsr_loop = 3;
	msg.u.test_reqst.tsr_concur = 1;
	msg.u.test_reqst.tsr_is_client = is_client;
	msg.u.test_reqst.tsr_stop_onerr = 1;
	msg.u.test_reqst.tsr_ndest = ndest;
	return msg;
}

struct o2_lst_msg o2_lst_ask_brw(enum o2_lst_brw_rw rw, enum o2_lst_brw_check check, uint32_t len)
{
	struct o2_lst_msg msg = request(O2_LST_BRW_REQST);

	msg.u.brw_reqst.brw_rw = rw;
	msg.u.brw_reqst.brw_flags = check;
	msg.u.brw_reqst.brw_len = len;
	return msg;
}
