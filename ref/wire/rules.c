/* SPDX-License-Identifier: MIT */
#include "wire/rules.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "wire/layout.h"
#include "wire/nid.h"

/* Each block of rules has one rule for each fault. */
static_assert(O2_RULE_DSTNID - O2_RULE_SRCNID == O2_NID_GOOD &&
		      O2_RULE_CONNREQ_NOB - O2_RULE_DSTNID == O2_NID_GOOD,
	      "a rule for each fault of a NID");
#define DESC_FAULTS (O2_DESC_FRAG_ADDR_WRAPS + 1)
static_assert(O2_RULE_GET_REQ_DESC - O2_RULE_PUT_ACK_DESC == DESC_FAULTS &&
		      O2_RULE_DESC_SHORT_FOR_COUNT - O2_RULE_GET_REQ_DESC == DESC_FAULTS &&
		      O2_RULE_PUT_NAK_STATUS - O2_RULE_DESC == DESC_FAULTS,
	      "a rule for each fault of a descriptor");

// clang-format off
#define RULE(name, field, class, code, offset, limit) {"wire/" name, field, class, code, offset, limit}
/* Breaking almost any rule closes the connection. */
#define CLOSES(name, field, offset) RULE(name, field, O2_CLASS_CONNECTION, EPROTO, offset, O2_LIMIT_BOUND)
/* The same, where only one value is allowed. */
#define CLOSES_UNLESS(name, field, offset) \
	RULE(name, field, O2_CLASS_CONNECTION, EPROTO, offset, O2_LIMIT_EXACT)
/* The same, where the limit applies to a part of the field, or is a set. */
#define CLOSES_OTHER(name, field, offset) \
	RULE(name, field, O2_CLASS_CONNECTION, EPROTO, offset, O2_LIMIT_OTHER)
#define MESSAGE(name, field, offset) RULE(name, field, O2_CLASS_MESSAGE, EPROTO, offset, O2_LIMIT_BOUND)
#define LOCAL(name, field, code) RULE(name, field, O2_CLASS_NONE, code, 0, O2_LIMIT_BOUND)

#define LNET_TYPE      (O2_AT_LNET_HDR + O2_LNET_AT_TYPE)
#define PAYLOAD_LENGTH (O2_AT_LNET_HDR + O2_LNET_AT_PAYLOAD_LENGTH)

#define NID_RULES(first, name, field, offset) \
	[(first) + O2_NID_TOP_BYTE] = CLOSES_OTHER("header/" name "-top-byte", field, offset), \
	[(first) + O2_NID_LND_ANY] = CLOSES_OTHER("header/" name "-lnd-any", field, offset), \
	[(first) + O2_NID_LND_FOREIGN] = CLOSES_OTHER("header/" name "-lnd-foreign", field, offset), \
	[(first) + O2_NID_ADDRESS_ZERO] = CLOSES_OTHER("header/" name "-address-zero", field, offset), \
	[(first) + O2_NID_ADDRESS_ONES] = CLOSES_OTHER("header/" name "-address-ones", field, offset)

/* Rules for a descriptor at offset `start`; for a list they give the offset of the first fragment. */
#define NFRAGS_RULE(name, rd, start) CLOSES(name, rd "rd_nfrags", (start) + O2_DESC_AT_NFRAGS)
#define FRAG_NOB_RULE(name, rd, start) \
	CLOSES(name, rd "rd_frags[].rf_nob", (start) + O2_DESC_AT_FRAGS + O2_FRAG_AT_NOB)
#define FRAG_ADDR_RULE(name, rd, start) \
	CLOSES(name, rd "rd_frags[].rf_addr", (start) + O2_DESC_AT_FRAGS + O2_FRAG_AT_ADDR)

/* nob, nob_at: name and offset of the field that holds the number of bytes. */
#define DESC_RULES(first, name, rd, start, nob, nob_at) \
	[(first) + O2_DESC_NFRAGS_ZERO] = NFRAGS_RULE(name "/nfrags-zero", rd, start), \
	[(first) + O2_DESC_NFRAGS_OVER_LIMIT] = NFRAGS_RULE(name "/nfrags-over-limit", rd, start), \
	[(first) + O2_DESC_NOB_UNDER_FRAGS] = CLOSES(name "/nob-under-frags", nob, nob_at), \
	[(first) + O2_DESC_FRAG_NOB_ZERO] = FRAG_NOB_RULE(name "/frag-nob-zero", rd, start), \
	[(first) + O2_DESC_FRAG_NOB_OVER_LIMIT] = FRAG_NOB_RULE(name "/frag-nob-over-limit", rd, start), \
	[(first) + O2_DESC_SUM_OVER_LIMIT] = FRAG_NOB_RULE(name "/frag-sum-over-limit", rd, start), \
	[(first) + O2_DESC_FRAG_ADDR_WRAPS] = FRAG_ADDR_RULE(name "/frag-addr-wraps", rd, start)

#define NOB_MINIMUM(name) CLOSES(name "/nob-under-minimum", "ibm_nob", O2_AT_NOB)
// clang-format on

const struct o2_wire_rule o2_wire_rules[O2_RULE_COUNT] = {
	[O2_RULE_OPTION_MAX_FRAGS] = LOCAL("options/max-frags", "max_frags", EINVAL),
	[O2_RULE_ENCODE_ORDER] = LOCAL("encode/order", "order", EINVAL),
	[O2_RULE_ENCODE_CKSUM_FLAVOUR] = LOCAL("encode/cksum-flavour", "cksum_flavour", EINVAL),

	[O2_RULE_SHORT_FOR_VERSION] = CLOSES("header/short-for-version", "length_bytes", 0),
	[O2_RULE_MAGIC] = CLOSES_UNLESS("header/magic", "ibm_magic", O2_AT_MAGIC),
	[O2_RULE_VERSION] = CLOSES("header/version", "ibm_version", O2_AT_VERSION),
	[O2_RULE_SHORT_FOR_HEADER] = CLOSES("header/short-for-header", "length_bytes", 0),
	[O2_RULE_NOB_OVER_RECEIVED] = CLOSES("header/nob-over-received", "ibm_nob", O2_AT_NOB),
	[O2_RULE_NOB_OVER_LIMIT] = CLOSES("header/nob-over-limit", "ibm_nob", O2_AT_NOB),
	[O2_RULE_CHECKSUM_ABSENT] = CLOSES("header/checksum-absent", "ibm_cksum", O2_AT_CKSUM),
	[O2_RULE_CHECKSUM] = CLOSES_UNLESS("header/checksum", "ibm_cksum", O2_AT_CKSUM),
	[O2_RULE_SRCNID_WILDCARD] = CLOSES_OTHER("header/srcnid-wildcard", "ibm_srcnid", O2_AT_SRCNID),
	NID_RULES(O2_RULE_SRCNID, "srcnid", "ibm_srcnid", O2_AT_SRCNID),
	NID_RULES(O2_RULE_DSTNID, "dstnid", "ibm_dstnid", O2_AT_DSTNID),

	[O2_RULE_CONNREQ_NOB] = NOB_MINIMUM("connreq"),
	[O2_RULE_CONNACK_NOB] = NOB_MINIMUM("connack"),
	[O2_RULE_NOOP_NOB] = NOB_MINIMUM("noop"),
	[O2_RULE_IMMEDIATE_NOB] = NOB_MINIMUM("immediate"),
	[O2_RULE_PUT_REQ_NOB] = NOB_MINIMUM("put_req"),
	[O2_RULE_PUT_NAK_NOB] = NOB_MINIMUM("put_nak"),
	[O2_RULE_PUT_ACK_NOB] = NOB_MINIMUM("put_ack"),
	[O2_RULE_PUT_DONE_NOB] = NOB_MINIMUM("put_done"),
	[O2_RULE_GET_REQ_NOB] = NOB_MINIMUM("get_req"),
	[O2_RULE_GET_DONE_NOB] = NOB_MINIMUM("get_done"),
	[O2_RULE_TYPE] = CLOSES_OTHER("header/type", "ibm_type", O2_AT_TYPE),

	[O2_RULE_IMMEDIATE_LNET_TYPE] = CLOSES_OTHER("immediate/lnet-type", "hdr.type", LNET_TYPE),
	[O2_RULE_PUT_REQ_LNET_TYPE] = CLOSES_OTHER("put_req/lnet-type", "hdr.type", LNET_TYPE),
	[O2_RULE_GET_REQ_LNET_TYPE] = CLOSES_OTHER("get_req/lnet-type", "hdr.type", LNET_TYPE),

	DESC_RULES(O2_RULE_PUT_ACK_DESC, "put_ack", "ibpam_rd.", O2_AT_PUT_ACK_DESC, "ibm_nob", O2_AT_NOB),
	DESC_RULES(O2_RULE_GET_REQ_DESC, "get_req", "ibgm_rd.", O2_AT_GET_REQ_DESC, "ibm_nob", O2_AT_NOB),
	[O2_RULE_DESC_SHORT_FOR_COUNT] = CLOSES("desc/short-for-count", "length_bytes", 0),
	DESC_RULES(O2_RULE_DESC, "desc", "", 0, "length_bytes", 0),

	[O2_RULE_PUT_NAK_STATUS] = CLOSES("put_nak/status-over-limit", "ibcm_status", O2_AT_STATUS),
	[O2_RULE_PUT_DONE_STATUS] = CLOSES("put_done/status-over-limit", "ibcm_status", O2_AT_STATUS),
	[O2_RULE_GET_DONE_STATUS] = CLOSES("get_done/status-over-limit", "ibcm_status", O2_AT_STATUS),

	[O2_RULE_IMMEDIATE_PAYLOAD_NOT_ZERO] =
		CLOSES_UNLESS("immediate/payload-not-zero", "hdr.payload_length", PAYLOAD_LENGTH),
	[O2_RULE_IMMEDIATE_PAYLOAD_OVER_LIMIT] =
		CLOSES("immediate/payload-over-limit", "hdr.payload_length", PAYLOAD_LENGTH),
	[O2_RULE_IMMEDIATE_PAYLOAD_PAST_NOB] =
		MESSAGE("immediate/payload-past-nob", "hdr.payload_length", PAYLOAD_LENGTH),
	[O2_RULE_PUT_REQ_PAYLOAD_OVER_LIMIT] =
		CLOSES("put_req/payload-over-limit", "hdr.payload_length", PAYLOAD_LENGTH),
	[O2_RULE_GET_REQ_PAYLOAD_NOT_ZERO] =
		CLOSES_UNLESS("get_req/payload-not-zero", "hdr.payload_length", PAYLOAD_LENGTH),

	[O2_RULE_ENCODE_PAYLOAD] = LOCAL("encode/payload-missing", "payload", EINVAL),
	[O2_RULE_ENCODE_CAPACITY] = LOCAL("encode/capacity", "capacity_bytes", ENOSPC),
};

const struct o2_wire_rule *o2_wire_rule_find(const char *id)
{
	for (unsigned int i = 0; i < O2_RULE_COUNT; i++)
		if (strcmp(o2_wire_rules[i].id, id) == 0)
			return &o2_wire_rules[i];
	return NULL;
}

/* index: the fragment, or O2_NO_INDEX. */
static int refuse(struct o2_error *error, const struct o2_wire_rule *rule, uint32_t index, uint64_t value,
		  uint64_t limit)
{
	o2_refuse(error, -rule->code, rule->id, rule->field, index, value, limit);
	if (error != NULL) {
		error->class = rule->class;
		error->limit_kind = rule->limit_kind;
		error->offset_bytes = rule->offset_bytes;
		if (index != O2_NO_INDEX)
			error->offset_bytes += index * O2_FRAG_BYTES;
	}
	return -rule->code;
}

int o2_wire_refuse_by(struct o2_error *error, const struct o2_wire_rule *rule, uint64_t value, uint64_t limit)
{
	return refuse(error, rule, O2_NO_INDEX, value, limit);
}

int o2_wire_refuse(struct o2_error *error, unsigned int rule, uint64_t value, uint64_t limit)
{
	return refuse(error, &o2_wire_rules[rule], O2_NO_INDEX, value, limit);
}

int o2_wire_refuse_frag(struct o2_error *error, unsigned int rule, uint32_t index, uint64_t value,
			uint64_t limit)
{
	return refuse(error, &o2_wire_rules[rule], index, value, limit);
}
