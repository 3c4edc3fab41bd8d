/* SPDX-License-Identifier: MIT */
#ifndef O2_WIRE_RULES_H
#define O2_WIRE_RULES_H

#include <stdint.h>

#include "base/breaks.h"
#include "base/error.h"
#include "wire/msg.h"

/*
 * Every rule for which the codec refuses something, in the order of the checks.  If a message breaks several
 * rules, the one listed first here is reported.  docs/wire.md, "Rules", has a row for each rule.
 * o2iblnd: none, its refusals have no names
 */
enum o2_wire_rule_id {
	/* Local: errors in what the caller passed, not in what a peer sent. */
	O2_RULE_OPTION_MAX_FRAGS,
	O2_RULE_ENCODE_ORDER,
	O2_RULE_ENCODE_CKSUM_FLAVOUR,

	O2_RULE_SHORT_FOR_VERSION,
	O2_RULE_MAGIC,
	O2_RULE_VERSION,
	O2_RULE_SHORT_FOR_HEADER,
	O2_RULE_NOB_OVER_RECEIVED,
	O2_RULE_NOB_OVER_LIMIT,
	O2_RULE_CHECKSUM_ABSENT,
	O2_RULE_CHECKSUM,
	O2_RULE_SRCNID_WILDCARD,
	O2_RULE_SRCNID, /* five rules, in the order of enum o2_nid_fault */
	O2_RULE_DSTNID = O2_RULE_SRCNID + 5,

	O2_RULE_CONNREQ_NOB = O2_RULE_DSTNID + 5,
	O2_RULE_CONNACK_NOB,
	O2_RULE_NOOP_NOB,
	O2_RULE_IMMEDIATE_NOB,
	O2_RULE_PUT_REQ_NOB,
	O2_RULE_PUT_NAK_NOB,
	O2_RULE_PUT_ACK_NOB,
	O2_RULE_PUT_DONE_NOB,
	O2_RULE_GET_REQ_NOB,
	O2_RULE_GET_DONE_NOB,
	O2_RULE_TYPE,

	O2_RULE_IMMEDIATE_LNET_TYPE,
	O2_RULE_PUT_REQ_LNET_TYPE,
	O2_RULE_GET_REQ_LNET_TYPE,

	O2_RULE_PUT_ACK_DESC, /* seven rules each, in the order of enum o2_desc_fault */
	O2_RULE_GET_REQ_DESC = O2_RULE_PUT_ACK_DESC + 7,
	O2_RULE_DESC_SHORT_FOR_COUNT = O2_RULE_GET_REQ_DESC + 7,
	O2_RULE_DESC,

	O2_RULE_PUT_NAK_STATUS = O2_RULE_DESC + 7,
	O2_RULE_PUT_DONE_STATUS,
	O2_RULE_GET_DONE_STATUS,

	O2_RULE_IMMEDIATE_PAYLOAD_NOT_ZERO,
	O2_RULE_IMMEDIATE_PAYLOAD_OVER_LIMIT,
	O2_RULE_IMMEDIATE_PAYLOAD_PAST_NOB,
	O2_RULE_PUT_REQ_PAYLOAD_OVER_LIMIT,
	O2_RULE_GET_REQ_PAYLOAD_NOT_ZERO,

	O2_RULE_ENCODE_PAYLOAD,
	O2_RULE_ENCODE_CAPACITY,
	O2_RULE_COUNT,
};

/* Faults of a descriptor, in the order of the checks; added to O2_RULE_..._DESC they give the rule. */
enum o2_desc_fault {
	O2_DESC_NFRAGS_ZERO,
	O2_DESC_NFRAGS_OVER_LIMIT,
	O2_DESC_NOB_UNDER_FRAGS,
	O2_DESC_FRAG_NOB_ZERO,
	O2_DESC_FRAG_NOB_OVER_LIMIT,
	O2_DESC_SUM_OVER_LIMIT,
	O2_DESC_FRAG_ADDR_WRAPS,
};

struct o2_wire_rule {
	const char *id;		   /* stable, e.g. "wire/put_ack/nfrags-over-limit" */
	const char *field;	   /* as in struct o2_error */
	enum o2_error_class class; /* effect on the connection; O2_CLASS_NONE: a mistake of the caller */
	int code;		   /* errno, positive */
	uint32_t offset_bytes;	   /* offset of the field in the message; for a list, of its first entry */
	enum o2_limit_kind limit_kind;
};

extern const struct o2_wire_rule o2_wire_rules[O2_RULE_COUNT];

/* The condition of the check of a rule (base/breaks.h). */
#define o2_wire_breaks(rule, broken) o2_breaks(o2_wire_rules[rule].id, broken)

/* The rule with this id; NULL if there is none. */
const struct o2_wire_rule *o2_wire_rule_find(const char *id);

/* Fill *error (may be NULL) for a broken rule and return the rule's negative errno. */
int o2_wire_refuse(struct o2_error *error, unsigned int rule, uint64_t value, uint64_t limit);

/* The same for fragment `index`; and for a rule from another table. */
int o2_wire_refuse_frag(struct o2_error *error, unsigned int rule, uint32_t index, uint64_t value,
			uint64_t limit);
int o2_wire_refuse_by(struct o2_error *error, const struct o2_wire_rule *rule, uint64_t value,
		      uint64_t limit);

#endif
