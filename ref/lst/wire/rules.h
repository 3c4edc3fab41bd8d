/* SPDX-License-Identifier: MIT */
#ifndef O2_LST_WIRE_RULES_H
#define O2_LST_WIRE_RULES_H

#include "lst/wire/msg.h"
#include "wire/rules.h"

/*
 * The rules by which the codec of LST, and the check of what may be sent, refuse something: one table, in the
 * order of the checks.  docs/lst.md, "Rules", has a row for each.
 *
 * LNet has no names for its refusals.
 */
enum o2_lst_rule_id {
	/* Decoding a peer's message. */
	O2_LST_RULE_LENGTH,
	O2_LST_RULE_MAGIC,
	O2_LST_RULE_TYPE,
	O2_LST_RULE_VERSION,
	O2_LST_RULE_TYPE_FOR_SERVICE, /* o2_lst_msg_expect */

	/* Encoding the caller's message. */
	O2_LST_RULE_ENCODE_ORDER,
	O2_LST_RULE_ENCODE_TYPE,
	O2_LST_RULE_ENCODE_NAME,

	/* The check of what may be sent to a kernel (lst/wire/range.h). */
	O2_LST_RULE_SEND_VERSION,
	O2_LST_RULE_SEND_FEATURES,
	O2_LST_RULE_SEND_BRW_RW,
	O2_LST_RULE_SEND_BRW_FLAGS,
	O2_LST_RULE_SEND_BRW_LEN,
	O2_LST_RULE_SEND_BRW_LEN_MULTIPLE,
	O2_LST_RULE_SEND_SERVICE,
	O2_LST_RULE_SEND_LOOP,
	O2_LST_RULE_SEND_CONCUR,
	O2_LST_RULE_SEND_NDEST,
	O2_LST_RULE_SEND_BLK_OPC,
	O2_LST_RULE_SEND_BLK_FLAGS,
	O2_LST_RULE_SEND_BLK_NPG,
	O2_LST_RULE_SEND_BLK_LEN,
	O2_LST_RULE_SEND_BLK_LEN_MULTIPLE,
	O2_LST_RULE_SEND_BLK_OFFSET,
	O2_LST_RULE_SEND_BLK_OFFSET_MULTIPLE,
	O2_LST_RULE_SEND_BATCH_OPC,
	O2_LST_RULE_COUNT,
};

extern const struct o2_wire_rule o2_lst_rules[O2_LST_RULE_COUNT];

/* The condition of a rule's check (base/breaks.h). */
#define o2_lst_breaks(rule, broken) o2_breaks(o2_lst_rules[rule].id, broken)

/* Fill *error (may be NULL) and return the rule's negative errno.  limit: O2_NO_LIMIT if there is none. */
int o2_lst_refuse(struct o2_error *error, enum o2_lst_rule_id rule, uint64_t value, uint64_t limit);

#endif
