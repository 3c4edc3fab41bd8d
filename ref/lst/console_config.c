/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "lst/console_internal.h"
#include "lst/wire/range.h"

/* The console's configuration: its requests, their check, and the resources that the console needs. */

/* The server half needs as many request buffers as the console sends requests at a time. */
static struct o2_lst_test_reqst test_of(const struct o2_lst_console_config *config)
{
	struct o2_lst_test_reqst test = {
		.tsr_sid = config->sid,
		.tsr_bid = config->batch,
		.tsr_service = config->test.service,
		.tsr_loop = config->concurrency,
		.tsr_concur = config->concurrency,
		.tsr_stop_onerr = 1,
	};

	if (config->test.service == O2_LST_SERVICE_BRW)
		test.tsr_u.bulk_v1 = (struct o2_lst_bulk_v1){.blk_opc = (uint16_t)config->test.rw,
							     .blk_flags = (uint16_t)config->test.check,
							     .blk_len = config->test.len,
							     .blk_offset = config->test.offset};
	if (config->reverse)
		o2_lst_reverse_half(config, &test);
	return test;
}

struct o2_lst_msg o2_lst_console_request(const struct o2_lst_console_config *config, uint32_t type)
{
	struct o2_lst_msg msg = {
		.msg_version = O2_LST_MSG_VERSION, .msg_type = type, .msg_ses_feats = O2_LST_FEATS_MASK};

	if (type == O2_LST_MKSN_REQST)
		msg.u.mksn_reqst = (struct o2_lst_mksn_reqst){
			.mksn_sid = config->sid, .mksn_force = config->force, .mksn_name = config->name};
	else if (type == O2_LST_TEST_REQST)
		msg.u.test_reqst = test_of(config);
	else if (type == O2_LST_STAT_REQST)
		msg.u.stat_reqst = (struct o2_lst_stat_reqst){.str_sid = config->sid};
	else if (type == O2_LST_DEBUG_REQST)
		msg.u.debug_reqst = (struct o2_lst_debug_reqst){.dbg_sid = config->sid};
	else
		msg.u.rmsn_reqst = (struct o2_lst_rmsn_reqst){.rmsn_sid = config->sid};
	return msg;
}

int o2_lst_console_check(const struct o2_lst_console_config *config, struct o2_error *error)
{
	struct o2_lst_msg msg = o2_lst_console_request(config, O2_LST_TEST_REQST);
	int rc;

	/* The limits of a client half apply: the console is one, or with `reverse` the node. */
	msg.u.test_reqst.tsr_is_client = 1;
	msg.u.test_reqst.tsr_loop = 1;
	msg.u.test_reqst.tsr_ndest = 1;
	rc = o2_lst_test_check(&config->test, error);
	if (rc == 0)
		rc = o2_lst_range_check(&msg, error);
	if (rc == 0 && config->test.features != O2_LST_FEATS_MASK)
		rc = o2_refuse_other(error, -EINVAL, "lst/console/features", "features",
				     config->test.features, O2_LST_FEATS_MASK);
	if (rc == 0 && config->name.text[O2_LST_NAME_BYTES - 1] != '\0')
		rc = o2_refuse_value(error, -EINVAL, "lst/console/name", "name", O2_LST_NAME_BYTES,
				     O2_LST_NAME_BYTES - 1);
	if (rc == 0 && o2_lst_sid_is_none(config->sid))
		rc = o2_fail(error, -EINVAL, "lst/console/sid", "sid", config->sid.ses_stamp);
	return rc;
}

uint32_t o2_lst_console_pages(const struct o2_lst_console_config *config, uint32_t page_bytes)
{
	const uint32_t end = config->test.offset + config->test.len;

	if (config->reverse)
		return 1;
	if (config->test.service != O2_LST_SERVICE_BRW)
		return 0;
	return config->concurrency * ((end + page_bytes - 1) / page_bytes);
}

uint32_t o2_lst_console_calls(const struct o2_lst_console_config *config)
{
	return config->reverse ? 1 : config->concurrency + 1;
}
