/* SPDX-License-Identifier: MIT */
#include "lst/wire/rules.h"

#include <errno.h>

#include "lst/wire/layout.h"

/* The message is dropped, and the connection is kept. */
#define DROPPED(name, field, offset, limit)                                 \
	{                                                                   \
		"lst/" name, field, O2_CLASS_MESSAGE, EPROTO, offset, limit \
	}
/* The caller's error. */
#define LOCAL(name, field, offset, limit)                                \
	{                                                                \
		"lst/" name, field, O2_CLASS_NONE, EINVAL, offset, limit \
	}

const struct o2_wire_rule o2_lst_rules[O2_LST_RULE_COUNT] = {
	[O2_LST_RULE_LENGTH] = DROPPED("length", "length_bytes", 0, O2_LIMIT_EXACT),
	[O2_LST_RULE_MAGIC] = DROPPED("magic", "msg_magic", O2_LST_AT_MAGIC, O2_LIMIT_EXACT),
	[O2_LST_RULE_TYPE] = DROPPED("type", "msg_type", O2_LST_AT_TYPE, O2_LIMIT_BOUND),
	[O2_LST_RULE_VERSION] = DROPPED("version", "msg_version", O2_LST_AT_VERSION, O2_LIMIT_EXACT),
	[O2_LST_RULE_TYPE_FOR_SERVICE] =
		DROPPED("type-for-service", "msg_type", O2_LST_AT_TYPE, O2_LIMIT_EXACT),

	[O2_LST_RULE_ENCODE_ORDER] = LOCAL("encode/order", "byte_order", 0, O2_LIMIT_BOUND),
	[O2_LST_RULE_ENCODE_TYPE] = LOCAL("encode/type", "msg_type", O2_LST_AT_TYPE, O2_LIMIT_BOUND),
	[O2_LST_RULE_ENCODE_NAME] = LOCAL("encode/name", "name", 0, O2_LIMIT_BOUND),

	[O2_LST_RULE_SEND_VERSION] = LOCAL("send/version", "msg_version", O2_LST_AT_VERSION, O2_LIMIT_EXACT),
	[O2_LST_RULE_SEND_FEATURES] =
		LOCAL("send/features", "msg_ses_feats", O2_LST_AT_FEATS, O2_LIMIT_BOUND),
	[O2_LST_RULE_SEND_BRW_RW] = LOCAL("send/brw-rw", "brw_rw", O2_LST_AT_BRW_RW, O2_LIMIT_BOUND),
	[O2_LST_RULE_SEND_BRW_FLAGS] =
		LOCAL("send/brw-flags", "brw_flags", O2_LST_AT_BRW_FLAGS, O2_LIMIT_BOUND),
	[O2_LST_RULE_SEND_BRW_LEN] = LOCAL("send/brw-len", "brw_len", O2_LST_AT_BRW_LEN, O2_LIMIT_BOUND),
	[O2_LST_RULE_SEND_BRW_LEN_MULTIPLE] =
		LOCAL("send/brw-len-multiple", "brw_len", O2_LST_AT_BRW_LEN, O2_LIMIT_MULTIPLE),
	[O2_LST_RULE_SEND_SERVICE] =
		LOCAL("send/service", "tsr_service", O2_LST_AT_TSR_SERVICE, O2_LIMIT_OTHER),
	[O2_LST_RULE_SEND_LOOP] = LOCAL("send/loop", "tsr_loop", O2_LST_AT_TSR_LOOP, O2_LIMIT_BOUND),
	[O2_LST_RULE_SEND_CONCUR] = LOCAL("send/concur", "tsr_concur", O2_LST_AT_TSR_CONCUR, O2_LIMIT_BOUND),
	[O2_LST_RULE_SEND_NDEST] = LOCAL("send/ndest", "tsr_ndest", O2_LST_AT_TSR_NDEST, O2_LIMIT_BOUND),
	[O2_LST_RULE_SEND_BLK_OPC] = LOCAL("send/blk-opc", "blk_opc", O2_LST_AT_TSR_U, O2_LIMIT_BOUND),
	[O2_LST_RULE_SEND_BLK_FLAGS] = LOCAL("send/blk-flags", "blk_flags", O2_LST_AT_TSR_U, O2_LIMIT_BOUND),
	[O2_LST_RULE_SEND_BLK_NPG] = LOCAL("send/blk-npg", "blk_npg", O2_LST_AT_TSR_U + 4, O2_LIMIT_BOUND),
	[O2_LST_RULE_SEND_BLK_LEN] = LOCAL("send/blk-len", "blk_len", O2_LST_AT_TSR_U + 4, O2_LIMIT_BOUND),
	[O2_LST_RULE_SEND_BLK_LEN_MULTIPLE] =
		LOCAL("send/blk-len-multiple", "blk_len", O2_LST_AT_TSR_U + 4, O2_LIMIT_MULTIPLE),
	[O2_LST_RULE_SEND_BLK_OFFSET] =
		LOCAL("send/blk-offset", "blk_offset", O2_LST_AT_TSR_U + 8, O2_LIMIT_BOUND),
	[O2_LST_RULE_SEND_BLK_OFFSET_MULTIPLE] =
		LOCAL("send/blk-offset-multiple", "blk_offset", O2_LST_AT_TSR_U + 8, O2_LIMIT_MULTIPLE),
	[O2_LST_RULE_SEND_BATCH_OPC] = LOCAL("send/batch-opc", "bar_opc", O2_LST_AT_BAR_OPC, O2_LIMIT_BOUND),
};

int o2_lst_refuse(struct o2_error *error, enum o2_lst_rule_id id, uint64_t value, uint64_t limit)
{
	return o2_wire_refuse_by(error, &o2_lst_rules[id], value, limit);
}
