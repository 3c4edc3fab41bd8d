/* SPDX-License-Identifier: MIT */
#include "lst/wire/range.h"

#include "base/limits.h"
#include "lst/wire/rules.h"

static_assert(O2_LST_MAX_BULK_BYTES == O2_MAX_TRANSFER_BYTES, "a bulk is one transfer");
static_assert(O2_LST_PAGE_BYTES % O2_LST_BULK_MULTIPLE == 0 && O2_LST_MAX_BULK_BYTES % O2_LST_PAGE_BYTES == 0,
	      "the limits are multiples themselves");

/* Refuse a value outside [low, high] by `rule`. */
static int range(enum o2_lst_rule_id rule, uint64_t value, uint64_t low, uint64_t high,
		 struct o2_error *error)
{
	if (o2_lst_breaks(rule, value < low))
		return o2_lst_refuse(error, rule, value, low);
	if (o2_lst_breaks(rule, value > high))
		return o2_lst_refuse(error, rule, value, high);
	return 0;
}

static int multiple(enum o2_lst_rule_id rule, uint64_t value, uint64_t of, struct o2_error *error)
{
	if (o2_lst_breaks(rule, value % of != 0))
		return o2_lst_refuse(error, rule, value, of);
	return 0;
}

/* Check a length, by one rule for its bounds and another one for its multiple. */
static int check_length(uint32_t features, enum o2_lst_rule_id bounds, enum o2_lst_rule_id of, uint64_t len,
			struct o2_error *error)
{
	const uint32_t unit =
		(features & O2_LST_FEAT_BULK_LEN) != 0 ? O2_LST_BULK_MULTIPLE : O2_LST_PAGE_BYTES;
	const int rc = range(bounds, len, unit, O2_LST_MAX_BULK_BYTES, error);

	return rc != 0 ? rc : multiple(of, len, unit, error);
}

uint32_t o2_lst_range_max_offset(uint32_t len)
{
	const uint32_t rest = len % O2_LST_PAGE_BYTES;

	return rest == 0 ? 0 : O2_LST_PAGE_BYTES - rest;
}

int o2_lst_range_bulk(uint32_t features, uint64_t len, uint64_t offset, struct o2_error *error)
{
	int rc = check_length(features, O2_LST_RULE_SEND_BLK_LEN, O2_LST_RULE_SEND_BLK_LEN_MULTIPLE, len,
			      error);

	if (rc == 0)
		rc = range(O2_LST_RULE_SEND_BLK_OFFSET, offset, 0, o2_lst_range_max_offset((uint32_t)len),
			   error);
	if (rc == 0)
		rc = multiple(O2_LST_RULE_SEND_BLK_OFFSET_MULTIPLE, offset, O2_LST_BULK_MULTIPLE, error);
	return rc;
}

static int check_brw(uint32_t features, const struct o2_lst_brw_reqst *brw, struct o2_error *error)
{
	int rc = range(O2_LST_RULE_SEND_BRW_RW, brw->brw_rw, O2_LST_BRW_READ, O2_LST_BRW_WRITE, error);

	if (rc == 0)
		rc = range(O2_LST_RULE_SEND_BRW_FLAGS, brw->brw_flags, O2_LST_CHECK_NONE,
			   O2_LST_CHECK_DISCARD, error);
	if (rc == 0)
		rc = check_length(features, O2_LST_RULE_SEND_BRW_LEN, O2_LST_RULE_SEND_BRW_LEN_MULTIPLE,
				  brw->brw_len, error);
	return rc;
}

static int check_bulk_v1(const struct o2_lst_bulk_v1 *bulk, struct o2_error *error)
{
	int rc = range(O2_LST_RULE_SEND_BLK_OPC, bulk->blk_opc, O2_LST_BRW_READ, O2_LST_BRW_WRITE, error);

	if (rc == 0)
		rc = range(O2_LST_RULE_SEND_BLK_FLAGS, bulk->blk_flags, O2_LST_CHECK_NONE,
			   O2_LST_CHECK_DISCARD, error);
	return rc != 0 ? rc : o2_lst_range_bulk(O2_LST_FEAT_BULK_LEN, bulk->blk_len, bulk->blk_offset, error);
}

static int check_bulk_v0(const struct o2_lst_bulk_v0 *bulk, struct o2_error *error)
{
	int rc = range(O2_LST_RULE_SEND_BLK_OPC, bulk->blk_opc, O2_LST_BRW_READ, O2_LST_BRW_WRITE, error);

	if (rc == 0)
		rc = range(O2_LST_RULE_SEND_BLK_FLAGS, bulk->blk_flags, O2_LST_CHECK_NONE,
			   O2_LST_CHECK_DISCARD, error);
	if (rc == 0)
		rc = range(O2_LST_RULE_SEND_BLK_NPG, bulk->blk_npg, 1,
			   O2_LST_MAX_BULK_BYTES / O2_LST_PAGE_BYTES, error);
	return rc;
}

/* The parameters of the test are not checked for a server half, where no node uses them. */
static int check_test(const struct o2_lst_msg *msg, struct o2_error *error)
{
	const struct o2_lst_test_reqst *test = &msg->u.test_reqst;
	const enum o2_lst_test_kind kind = o2_lst_test_kind(msg);
	int rc = 0;

	if (o2_lst_breaks(O2_LST_RULE_SEND_SERVICE, kind == O2_LST_TEST_OTHER))
		return o2_lst_refuse(error, O2_LST_RULE_SEND_SERVICE, test->tsr_service, O2_NO_LIMIT);
	if (o2_lst_breaks(O2_LST_RULE_SEND_LOOP, test->tsr_loop == 0))
		return o2_lst_refuse(error, O2_LST_RULE_SEND_LOOP, 0, 1);
	rc = range(O2_LST_RULE_SEND_CONCUR, test->tsr_concur, 1, O2_LST_MAX_CONCURRENCY, error);
	if (rc != 0 || test->tsr_is_client == 0)
		return rc;
	rc = range(O2_LST_RULE_SEND_NDEST, test->tsr_ndest, 1, O2_LST_MAX_DESTINATIONS, error);
	if (rc == 0 && kind == O2_LST_TEST_BULK_V1)
		rc = check_bulk_v1(&test->tsr_u.bulk_v1, error);
	if (rc == 0 && kind == O2_LST_TEST_BULK_V0)
		rc = check_bulk_v0(&test->tsr_u.bulk_v0, error);
	return rc;
}

int o2_lst_range_check(const struct o2_lst_msg *msg, struct o2_error *error)
{
	int rc;

	o2_error_clear(error);
	if (o2_lst_breaks(O2_LST_RULE_SEND_VERSION, msg->msg_version != O2_LST_MSG_VERSION))
		return o2_lst_refuse(error, O2_LST_RULE_SEND_VERSION, msg->msg_version, O2_LST_MSG_VERSION);
	if (o2_lst_type_is_reply(msg->msg_type))
		return 0;
	rc = range(O2_LST_RULE_SEND_FEATURES, msg->msg_ses_feats, 0, O2_LST_FEATS_MASK, error);
	if (rc != 0)
		return rc;
	switch (msg->msg_type) {
	case O2_LST_BRW_REQST:
		return check_brw(msg->msg_ses_feats, &msg->u.brw_reqst, error);
	case O2_LST_TEST_REQST:
		return check_test(msg, error);
	case O2_LST_BATCH_REQST:
		return range(O2_LST_RULE_SEND_BATCH_OPC, msg->u.batch_reqst.bar_opc, O2_LST_BATCH_RUN,
			     O2_LST_BATCH_QUERY, error);
	default:
		return 0;
	}
}
