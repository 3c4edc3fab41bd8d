/* SPDX-License-Identifier: MIT */
#include "lst/wire/fields.h"

#include "lst/wire/layout.h"
#include "wire/nid.h"

static const char *const order_names[] = {[O2_LITTLE_ENDIAN] = "little", [O2_BIG_ENDIAN] = "big"};
static const struct o2_field_text nid_text = {.print = o2_nid_to_text, .parse = o2_nid_from_text};
static const struct o2_field no_fields[] = {{0}};

/* A row for a member of the union in struct o2_lst_msg. */
#define BODY(name, kind, member, at)                                                         \
	{                                                                                    \
		O2_FIELD(name, kind, struct o2_lst_msg, u.member), .wire_at = O2_LST_AT_##at \
	}
#define BODY_PART(name, member, at, fields)                                                   \
	{                                                                                     \
		O2_FIELD(name, PART, struct o2_lst_msg, u.member), .wire_at = O2_LST_AT_##at, \
								   .part = (fields)           \
	}

static const struct o2_field sid_fields[] = {
	{O2_FIELD("ses_nid", TEXT, struct o2_lst_sid, ses_nid), .wire_at = 0, .text = &nid_text},
	{O2_FIELD("ses_stamp", LENGTH, struct o2_lst_sid, ses_stamp), .wire_at = 8},
	{0},
};

static const struct o2_field mksn_reqst_fields[] = {
	BODY("mksn_rpyid", HEX, mksn_reqst.mksn_rpyid, RPYID),
	BODY_PART("mksn_sid", mksn_reqst.mksn_sid, SID, sid_fields),
	BODY("mksn_force", UINT, mksn_reqst.mksn_force, MKSN_FORCE),
	BODY("mksn_name", CHARS, mksn_reqst.mksn_name, MKSN_NAME),
	{0},
};

static const struct o2_field mksn_reply_fields[] = {
	BODY("mksn_status", UINT, mksn_reply.mksn_status, STATUS),
	BODY_PART("mksn_sid", mksn_reply.mksn_sid, REPLY_SID, sid_fields),
	BODY("mksn_timeout", UINT, mksn_reply.mksn_timeout, MKSN_TIMEOUT),
	BODY("mksn_name", CHARS, mksn_reply.mksn_name, MKSN_REPLY_NAME),
	{0},
};

static const struct o2_field rmsn_reqst_fields[] = {
	BODY("rmsn_rpyid", HEX, rmsn_reqst.rmsn_rpyid, RPYID),
	BODY_PART("rmsn_sid", rmsn_reqst.rmsn_sid, SID, sid_fields),
	{0},
};

static const struct o2_field rmsn_reply_fields[] = {
	BODY("rmsn_status", UINT, rmsn_reply.rmsn_status, STATUS),
	BODY_PART("rmsn_sid", rmsn_reply.rmsn_sid, REPLY_SID, sid_fields),
	{0},
};

static const struct o2_field debug_reqst_fields[] = {
	BODY("dbg_rpyid", HEX, debug_reqst.dbg_rpyid, RPYID),
	BODY_PART("dbg_sid", debug_reqst.dbg_sid, SID, sid_fields),
	BODY("dbg_flags", UINT, debug_reqst.dbg_flags, DBG_FLAGS),
	{0},
};

static const struct o2_field debug_reply_fields[] = {
	BODY("dbg_status", UINT, debug_reply.dbg_status, STATUS),
	BODY_PART("dbg_sid", debug_reply.dbg_sid, REPLY_SID, sid_fields),
	BODY("dbg_timeout", UINT, debug_reply.dbg_timeout, DBG_TIMEOUT),
	BODY("dbg_nbatch", UINT, debug_reply.dbg_nbatch, DBG_NBATCH),
	BODY("dbg_name", CHARS, debug_reply.dbg_name, DBG_NAME),
	{0},
};

static const struct o2_field batch_reqst_fields[] = {
	BODY("bar_rpyid", HEX, batch_reqst.bar_rpyid, RPYID),
	BODY_PART("bar_sid", batch_reqst.bar_sid, SID, sid_fields),
	BODY("bar_bid", LENGTH, batch_reqst.bar_bid, BAR_BID),
	BODY("bar_opc", UINT, batch_reqst.bar_opc, BAR_OPC),
	BODY("bar_testidx", UINT, batch_reqst.bar_testidx, BAR_TESTIDX),
	BODY("bar_arg", UINT, batch_reqst.bar_arg, BAR_ARG),
	{0},
};

static const struct o2_field batch_reply_fields[] = {
	BODY("bar_status", UINT, batch_reply.bar_status, STATUS),
	BODY_PART("bar_sid", batch_reply.bar_sid, REPLY_SID, sid_fields),
	BODY("bar_active", UINT, batch_reply.bar_active, BAR_ACTIVE),
	BODY("bar_time", UINT, batch_reply.bar_time, BAR_TIME),
	{0},
};

/* --- statistics --- */

#define FW(member, at)                                                                      \
	{                                                                                   \
		O2_FIELD(#member, UINT, struct o2_lst_fw_counters, member), .wire_at = (at) \
	}
#define RPC(member, kind, at)                                                                \
	{                                                                                    \
		O2_FIELD(#member, kind, struct o2_lst_rpc_counters, member), .wire_at = (at) \
	}
#define LCC(member, kind, at)                                                                              \
	{                                                                                                  \
		O2_FIELD("lcc_" #member, kind, struct o2_lst_lnet_counters, lcc_##member), .wire_at = (at) \
	}

static const struct o2_field fw_fields[] = {
	FW(running_ms, 0),  FW(active_batches, 4), FW(zombie_sessions, 8),
	FW(brw_errors, 12), FW(ping_errors, 16),   {0},
};

static const struct o2_field rpc_fields[] = {
	RPC(errors, UINT, 0),	     RPC(rpcs_sent, UINT, 4),
	RPC(rpcs_rcvd, UINT, 8),     RPC(rpcs_dropped, UINT, 12),
	RPC(rpcs_expired, UINT, 16), RPC(bulk_get, LENGTH, 20),
	RPC(bulk_put, LENGTH, 28),   {0},
};

static const struct o2_field lnet_fields[] = {
	LCC(msgs_alloc, UINT, 0),      LCC(msgs_max, UINT, 4),	     LCC(errors, UINT, 8),
	LCC(send_count, UINT, 12),     LCC(recv_count, UINT, 16),    LCC(route_count, UINT, 20),
	LCC(drop_count, UINT, 24),     LCC(send_length, LENGTH, 28), LCC(recv_length, LENGTH, 36),
	LCC(route_length, LENGTH, 44), LCC(drop_length, LENGTH, 52), {0},
};

static const struct o2_field stat_reqst_fields[] = {
	BODY("str_rpyid", HEX, stat_reqst.str_rpyid, RPYID),
	BODY_PART("str_sid", stat_reqst.str_sid, SID, sid_fields),
	BODY("str_type", UINT, stat_reqst.str_type, STR_TYPE),
	{0},
};

static const struct o2_field stat_reply_fields[] = {
	BODY("str_status", UINT, stat_reply.str_status, STATUS),
	BODY_PART("str_sid", stat_reply.str_sid, REPLY_SID, sid_fields),
	BODY_PART("str_fw", stat_reply.str_fw, STR_FW, fw_fields),
	BODY_PART("str_rpc", stat_reply.str_rpc, STR_RPC, rpc_fields),
	BODY_PART("str_lnet", stat_reply.str_lnet, STR_LNET, lnet_fields),
	{0},
};

/* --- tests --- */

#define V1(member, at)                                                                  \
	{                                                                               \
		O2_FIELD(#member, UINT, struct o2_lst_bulk_v1, member), .wire_at = (at) \
	}
#define V0(member, at)                                                                  \
	{                                                                               \
		O2_FIELD(#member, UINT, struct o2_lst_bulk_v0, member), .wire_at = (at) \
	}

static const struct o2_field bulk_v1_fields[] = {
	V1(blk_opc, 0), V1(blk_flags, 2), V1(blk_len, 4), V1(blk_offset, 8), {0}};
static const struct o2_field bulk_v0_fields[] = {V0(blk_opc, 0), V0(blk_npg, 4), V0(blk_flags, 8), {0}};

static const struct o2_field ping_param_fields[] = {
	{O2_FIELD("png_size", UINT, struct o2_lst_ping_param, png_size), .wire_at = 0},
	{O2_FIELD("png_flags", UINT, struct o2_lst_ping_param, png_flags), .wire_at = 4},
	{0},
};

static const struct o2_field test_v1_fields[] = {
	BODY_PART("tsr_u", test_reqst.tsr_u.bulk_v1, TSR_U, bulk_v1_fields), {0}};
static const struct o2_field test_v0_fields[] = {
	BODY_PART("tsr_u", test_reqst.tsr_u.bulk_v0, TSR_U, bulk_v0_fields), {0}};
static const struct o2_field test_ping_fields[] = {
	BODY_PART("tsr_u", test_reqst.tsr_u.ping, TSR_U, ping_param_fields), {0}};

static const struct o2_field *test_fields(const void *holder)
{
	static const struct o2_field *const fields[] = {
		[O2_LST_TEST_OTHER] = no_fields,
		[O2_LST_TEST_BULK_V1] = test_v1_fields,
		[O2_LST_TEST_BULK_V0] = test_v0_fields,
		[O2_LST_TEST_PING] = test_ping_fields,
	};

	return fields[o2_lst_test_kind(holder)];
}

static const struct o2_field test_reqst_fields[] = {
	BODY("tsr_rpyid", HEX, test_reqst.tsr_rpyid, RPYID),
	BODY("tsr_bulkid", HEX, test_reqst.tsr_bulkid, TSR_BULKID),
	BODY_PART("tsr_sid", test_reqst.tsr_sid, TSR_SID, sid_fields),
	BODY("tsr_bid", LENGTH, test_reqst.tsr_bid, TSR_BID),
	BODY("tsr_service", UINT, test_reqst.tsr_service, TSR_SERVICE),
	BODY("tsr_loop", UINT, test_reqst.tsr_loop, TSR_LOOP),
	BODY("tsr_concur", UINT, test_reqst.tsr_concur, TSR_CONCUR),
	BODY("tsr_is_client", UINT, test_reqst.tsr_is_client, TSR_IS_CLIENT),
	BODY("tsr_stop_onerr", UINT, test_reqst.tsr_stop_onerr, TSR_STOP_ONERR),
	BODY("tsr_ndest", UINT, test_reqst.tsr_ndest, TSR_NDEST),
	{.name = "tsr_u", .kind = O2_FIELD_MORE, .more = test_fields},
	{0},
};

static const struct o2_field test_reply_fields[] = {
	BODY("tsr_status", UINT, test_reply.tsr_status, STATUS),
	BODY_PART("tsr_sid", test_reply.tsr_sid, REPLY_SID, sid_fields),
	{0},
};

static const struct o2_field brw_reqst_fields[] = {
	BODY("brw_rpyid", HEX, brw_reqst.brw_rpyid, RPYID),
	BODY("brw_bulkid", HEX, brw_reqst.brw_bulkid, BRW_BULKID),
	BODY("brw_rw", UINT, brw_reqst.brw_rw, BRW_RW),
	BODY("brw_len", UINT, brw_reqst.brw_len, BRW_LEN),
	BODY("brw_flags", UINT, brw_reqst.brw_flags, BRW_FLAGS),
	{0},
};

static const struct o2_field brw_reply_fields[] = {
	BODY("brw_status", UINT, brw_reply.brw_status, STATUS),
	{0},
};

static const struct o2_field ping_reqst_fields[] = {
	BODY("pnr_rpyid", HEX, ping_reqst.pnr_rpyid, RPYID),
	BODY("pnr_magic", HEX, ping_reqst.pnr_magic, PNR_MAGIC),
	BODY("pnr_seq", UINT, ping_reqst.pnr_seq, PNR_SEQ),
	BODY("pnr_time_sec", LENGTH, ping_reqst.pnr_time_sec, PNR_TIME_SEC),
	BODY("pnr_time_nsec", LENGTH, ping_reqst.pnr_time_nsec, PNR_TIME_NSEC),
	{0},
};

static const struct o2_field ping_reply_fields[] = {
	BODY("pnr_status", UINT, ping_reply.pnr_status, STATUS),
	BODY("pnr_magic", HEX, ping_reply.pnr_magic, PNR_REPLY_MAGIC),
	BODY("pnr_seq", UINT, ping_reply.pnr_seq, PNR_REPLY_SEQ),
	{0},
};

/* --- joining --- */

static const struct o2_field join_reqst_fields[] = {
	BODY("join_rpyid", HEX, join_reqst.join_rpyid, RPYID),
	BODY_PART("join_sid", join_reqst.join_sid, SID, sid_fields),
	BODY("join_group", CHARS, join_reqst.join_group, JOIN_GROUP),
	{0},
};

static const struct o2_field join_reply_fields[] = {
	BODY("join_status", UINT, join_reply.join_status, STATUS),
	BODY_PART("join_sid", join_reply.join_sid, REPLY_SID, sid_fields),
	BODY("join_timeout", UINT, join_reply.join_timeout, JOIN_TIMEOUT),
	BODY("join_session", CHARS, join_reply.join_session, JOIN_SESSION),
	{0},
};

/* --- the message --- */

const struct o2_field *o2_lst_body_fields(uint32_t msg_type)
{
	static const struct o2_field *const bodies[O2_LST_TYPE_COUNT] = {
		[O2_LST_MKSN_REQST] = mksn_reqst_fields,   [O2_LST_MKSN_REPLY] = mksn_reply_fields,
		[O2_LST_RMSN_REQST] = rmsn_reqst_fields,   [O2_LST_RMSN_REPLY] = rmsn_reply_fields,
		[O2_LST_BATCH_REQST] = batch_reqst_fields, [O2_LST_BATCH_REPLY] = batch_reply_fields,
		[O2_LST_STAT_REQST] = stat_reqst_fields,   [O2_LST_STAT_REPLY] = stat_reply_fields,
		[O2_LST_TEST_REQST] = test_reqst_fields,   [O2_LST_TEST_REPLY] = test_reply_fields,
		[O2_LST_DEBUG_REQST] = debug_reqst_fields, [O2_LST_DEBUG_REPLY] = debug_reply_fields,
		[O2_LST_BRW_REQST] = brw_reqst_fields,	   [O2_LST_BRW_REPLY] = brw_reply_fields,
		[O2_LST_PING_REQST] = ping_reqst_fields,   [O2_LST_PING_REPLY] = ping_reply_fields,
		[O2_LST_JOIN_REQST] = join_reqst_fields,   [O2_LST_JOIN_REPLY] = join_reply_fields,
	};

	return msg_type < O2_LST_TYPE_COUNT ? bodies[msg_type] : no_fields;
}

static const struct o2_field *body_of(const void *holder)
{
	return o2_lst_body_fields(((const struct o2_lst_msg *)holder)->msg_type);
}

#define ORDER                                                                                            \
	{                                                                                                \
		O2_FIELD("byte_order", NAME, struct o2_lst_msg, order), .names = order_names, .limit = 2 \
	}
#define HEADER                                                                                         \
	{O2_FIELD("msg_version", UINT, struct o2_lst_msg, msg_version), .wire_at = O2_LST_AT_VERSION}, \
		{O2_FIELD("msg_type", NAME, struct o2_lst_msg, msg_type), .wire_at = O2_LST_AT_TYPE,   \
		 .names = o2_lst_type_names, .limit = O2_LST_TYPE_COUNT},                              \
		{O2_FIELD("msg_reserved0", UINT, struct o2_lst_msg, msg_reserved0),                    \
		 .wire_at = O2_LST_AT_RESERVED0, .sparse = true},                                      \
		{O2_FIELD("msg_reserved1", UINT, struct o2_lst_msg, msg_reserved1),                    \
		 .wire_at = O2_LST_AT_RESERVED1, .sparse = true},                                      \
	{                                                                                              \
		O2_FIELD("msg_ses_feats", UINT, struct o2_lst_msg, msg_ses_feats),                     \
			.wire_at = O2_LST_AT_FEATS                                                     \
	}

const struct o2_field o2_lst_header_fields[] = {HEADER, {0}};

const struct o2_field o2_lst_msg_fields[] = {
	ORDER,
	HEADER,
	{.name = "body", .kind = O2_FIELD_MORE, .more = body_of},
	{0},
};
