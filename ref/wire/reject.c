/* SPDX-License-Identifier: MIT */
#include "wire/reject.h"

#include <errno.h>
#include <string.h>

#include "wire/bytes.h"

// clang-format off
#define CLOSES(name, field, at, limit) {"wire/reject/" name, field, O2_CLASS_CONNECTION, EPROTO, at, limit}
#define LOCAL(name, field, code, at, limit) {"wire/reject/" name, field, O2_CLASS_NONE, code, at, limit}

static const struct o2_wire_rule rules[O2_REJECT_RULE_COUNT] = {
	[O2_REJECT_RULE_ORDER] = LOCAL("order", "order", EINVAL, 0, O2_LIMIT_BOUND),
	[O2_REJECT_RULE_V1_PARAMS] = LOCAL("version-1-params", "ibr_incarnation", EINVAL,
					   O2_REJECT_AT_INCARNATION, O2_LIMIT_EXACT),
	[O2_REJECT_RULE_CAPACITY] = LOCAL("capacity", "capacity_bytes", ENOSPC, 0, O2_LIMIT_BOUND),
	[O2_REJECT_RULE_SHORT_FOR_WHY] = CLOSES("short-for-why", "length_bytes", 0, O2_LIMIT_BOUND),
	[O2_REJECT_RULE_MAGIC] = CLOSES("magic", "ibr_magic", O2_REJECT_AT_MAGIC, O2_LIMIT_EXACT),
	[O2_REJECT_RULE_VERSION] = CLOSES("version", "ibr_version", O2_REJECT_AT_VERSION, O2_LIMIT_BOUND),
	[O2_REJECT_RULE_WHY] = CLOSES("why", "ibr_why", O2_REJECT_AT_WHY, O2_LIMIT_OTHER),
	[O2_REJECT_RULE_SHORT_FOR_PARAMS] = CLOSES("short-for-params", "length_bytes", 0, O2_LIMIT_BOUND),
};
// clang-format on

const char *const o2_reject_why_names[] = {
	[O2_REJECT_CONN_RACE] = "connection-race",
	[O2_REJECT_NO_RESOURCES] = "no-resources",
	[O2_REJECT_FATAL] = "fatal",
	[O2_REJECT_CONN_UNCOMPAT] = "incompatible-version",
	[O2_REJECT_CONN_STALE] = "stale",
	[O2_REJECT_RDMA_FRAGS] = "fragment-count",
	[O2_REJECT_MSG_QUEUE_SIZE] = "queue-depth",
	[O2_REJECT_INVALID_SRV_ID] = "invalid-service-id",
	[O2_REJECT_EARLY] = "too-early",
};

const struct o2_wire_rule *o2_reject_rule(unsigned int index)
{
	return index < O2_REJECT_RULE_COUNT ? &rules[index] : NULL;
}

const char *o2_reject_why_name(uint8_t why)
{
	return why <= O2_REJECT_EARLY ? o2_reject_why_names[why] : NULL;
}

static int refuse(struct o2_error *error, enum o2_reject_rule_id id, uint64_t value, uint64_t limit)
{
	return o2_wire_refuse_by(error, &rules[id], value, limit);
}

/* Check the fields that every version has, in the same order for decode and encode. */
static int check_values(const struct o2_reject *reject, struct o2_error *error)
{
	if (reject->ibr_version != O2_MSG_VERSION_1 && reject->ibr_version != O2_MSG_VERSION_2)
		return refuse(error, O2_REJECT_RULE_VERSION, reject->ibr_version, O2_MSG_VERSION_2);
	if (o2_reject_why_name(reject->ibr_why) == NULL)
		return refuse(error, O2_REJECT_RULE_WHY, reject->ibr_why, O2_REJECT_EARLY);
	return 0;
}

static bool load_magic(const uint8_t *bytes, struct o2_reject *reject)
{
	const uint32_t little = o2_load32_le(bytes), big = o2_load32_be(bytes);

	reject->order = big == O2_MSG_MAGIC || big == O2_LNET_PROTO_MAGIC ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN;
	reject->generic_magic = little == O2_LNET_PROTO_MAGIC || big == O2_LNET_PROTO_MAGIC;
	return reject->generic_magic || little == O2_MSG_MAGIC || big == O2_MSG_MAGIC;
}

int o2_reject_decode(const uint8_t *bytes, size_t length_bytes, struct o2_reject *reject,
		     struct o2_error *error)
{
	int rc;

	o2_error_clear(error);
	memset(reject, 0, sizeof(*reject));
	if (length_bytes < O2_REJECT_V1_BYTES)
		return refuse(error, O2_REJECT_RULE_SHORT_FOR_WHY, length_bytes, O2_REJECT_V1_BYTES);
	if (!load_magic(bytes + O2_REJECT_AT_MAGIC, reject))
		return refuse(error, O2_REJECT_RULE_MAGIC, o2_load32_le(bytes + O2_REJECT_AT_MAGIC),
			      O2_MSG_MAGIC);
	reject->ibr_version = o2_load16(bytes + O2_REJECT_AT_VERSION, reject->order);
	reject->ibr_why = bytes[O2_REJECT_AT_WHY];
	rc = check_values(reject, error);
	if (rc != 0 || reject->ibr_version == O2_MSG_VERSION_1)
		return rc;
	if (length_bytes < O2_REJECT_BYTES)
		return refuse(error, O2_REJECT_RULE_SHORT_FOR_PARAMS, length_bytes, O2_REJECT_BYTES);
	reject->ibr_incarnation = o2_load64(bytes + O2_REJECT_AT_INCARNATION, reject->order);
	reject->ibr_cp.ibcp_queue_depth = o2_load16(bytes + O2_REJECT_AT_QUEUE_DEPTH, reject->order);
	reject->ibr_cp.ibcp_max_frags = o2_load16(bytes + O2_REJECT_AT_MAX_FRAGS, reject->order);
	reject->ibr_cp.ibcp_max_msg_size = o2_load32(bytes + O2_REJECT_AT_MAX_MSG_SIZE, reject->order);
	return 0;
}

/* Version 0x11 cannot carry these and would silently lose them: refuse the first that is not 0. */
static int check_version_1(const struct o2_reject *reject, struct o2_error *error)
{
	const struct {
		const char *field;
		uint32_t offset_bytes;
		uint64_t value;
	} params[] = {
		{"ibr_incarnation", O2_REJECT_AT_INCARNATION, reject->ibr_incarnation},
		{"ibcp_queue_depth", O2_REJECT_AT_QUEUE_DEPTH, reject->ibr_cp.ibcp_queue_depth},
		{"ibcp_max_frags", O2_REJECT_AT_MAX_FRAGS, reject->ibr_cp.ibcp_max_frags},
		{"ibcp_max_msg_size", O2_REJECT_AT_MAX_MSG_SIZE, reject->ibr_cp.ibcp_max_msg_size},
	};

	for (size_t i = 0; i < sizeof(params) / sizeof(params[0]); i++) {
		struct o2_wire_rule rule = rules[O2_REJECT_RULE_V1_PARAMS];

		rule.field = params[i].field;
		rule.offset_bytes = params[i].offset_bytes;
		if (params[i].value != 0)
			return o2_wire_refuse_by(error, &rule, params[i].value, 0);
	}
	return 0;
}

/* Values that no peer could send: mistakes of the caller. */
static int check_local(const struct o2_reject *reject, size_t capacity_bytes, struct o2_error *error)
{
	int rc = 0;

	if (reject->order != O2_LITTLE_ENDIAN && reject->order != O2_BIG_ENDIAN)
		return refuse(error, O2_REJECT_RULE_ORDER, reject->order, O2_BIG_ENDIAN);
	if (reject->ibr_version == O2_MSG_VERSION_1)
		rc = check_version_1(reject, error);
	if (rc == 0 && capacity_bytes < O2_REJECT_BYTES)
		rc = refuse(error, O2_REJECT_RULE_CAPACITY, capacity_bytes, O2_REJECT_BYTES);
	return rc;
}

int o2_reject_encode(const struct o2_reject *reject, uint8_t *bytes, size_t capacity_bytes,
		     struct o2_error *error)
{
	const enum o2_byte_order order = reject->order;
	int rc;

	o2_error_clear(error);
	rc = check_local(reject, capacity_bytes, error);
	if (rc == 0)
		rc = check_values(reject, error);
	if (rc != 0)
		return rc;
	o2_store32(bytes + O2_REJECT_AT_MAGIC, order,
		   reject->generic_magic ? O2_LNET_PROTO_MAGIC : O2_MSG_MAGIC);
	o2_store16(bytes + O2_REJECT_AT_VERSION, order, reject->ibr_version);
	bytes[O2_REJECT_AT_WHY] = reject->ibr_why;
	bytes[O2_REJECT_AT_PADDING] = 0;
	o2_store64(bytes + O2_REJECT_AT_INCARNATION, order, reject->ibr_incarnation);
	o2_store16(bytes + O2_REJECT_AT_QUEUE_DEPTH, order, reject->ibr_cp.ibcp_queue_depth);
	o2_store16(bytes + O2_REJECT_AT_MAX_FRAGS, order, reject->ibr_cp.ibcp_max_frags);
	o2_store32(bytes + O2_REJECT_AT_MAX_MSG_SIZE, order, reject->ibr_cp.ibcp_max_msg_size);
	return (int)O2_REJECT_BYTES;
}
