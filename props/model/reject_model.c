/* SPDX-License-Identifier: MIT */
#include "props/model/reject_model.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define MAGIC	  0x0be91b91u
#define GENERIC	  0x45726963u
#define LAST_WHY  (O2_RM_REASONS - 1)
#define V1_BYTES  7u
#define V1	  0x11u
#define V2	  0x12u
#define V1_FIELDS 2u /* version and reason */

const char *const o2_rm_reasons[O2_RM_REASONS] = {
	"",
	"connection-race",
	"no-resources",
	"fatal",
	"incompatible-version",
	"stale",
	"fragment-count",
	"queue-depth",
	"invalid-service-id",
	"too-early",
};

#define FIELD(name_, at_, bytes_, member_)                                                                \
	{                                                                                                 \
		.name = name_, .at = at_, .bytes = bytes_, .member = offsetof(struct o2_reject, member_), \
		.of_member = sizeof(((struct o2_reject *)0)->member_)                                     \
	}

static const struct o2_wm_field fields[] = {
	FIELD("ibr_version", 4, 2, ibr_version),
	FIELD("ibr_why", 6, 1, ibr_why),
	FIELD("ibr_incarnation", 8, 8, ibr_incarnation),
	FIELD("ibcp_queue_depth", 16, 2, ibr_cp.ibcp_queue_depth),
	FIELD("ibcp_max_frags", 18, 2, ibr_cp.ibcp_max_frags),
	FIELD("ibcp_max_msg_size", 20, 4, ibr_cp.ibcp_max_msg_size),
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

/* Record that a rule is broken, unless an earlier one is. */
static void refuse(struct o2_rm_verdict *verdict, bool broken, int code, const char *rule, const char *field,
		   uint32_t offset_bytes, uint64_t value, uint64_t limit, enum o2_limit_kind kind)
{
	if (verdict->refused || !broken)
		return;
	*verdict = (struct o2_rm_verdict){
		.refused = true,
		.rule = rule,
		.field = field,
		.class = code == -EPROTO ? O2_CLASS_CONNECTION : O2_CLASS_NONE,
		.limit_kind = kind,
		.code = code,
		.offset_bytes = offset_bytes,
		.value = value,
		.limit = limit,
	};
}

/* R6 and R7. */
static void check_values(uint64_t version, uint64_t why, struct o2_rm_verdict *verdict)
{
	refuse(verdict, version != V1 && version != V2, -EPROTO, "wire/reject/version", "ibr_version", 4,
	       version, V2, O2_LIMIT_BOUND);
	refuse(verdict, why < 1 || why > LAST_WHY, -EPROTO, "wire/reject/why", "ibr_why", 6, why, LAST_WHY,
	       O2_LIMIT_OTHER);
}

void o2_rm_decode(const uint8_t *bytes, size_t length_bytes, struct o2_reject *reject,
		  struct o2_rm_verdict *verdict)
{
	uint64_t little_magic = 0, big_magic = 0;
	bool is_little, is_big;

	memset(reject, 0, sizeof(*reject));
	memset(verdict, 0, sizeof(*verdict));
	refuse(verdict, length_bytes < V1_BYTES, -EPROTO, "wire/reject/short-for-why", "length_bytes", 0,
	       length_bytes, V1_BYTES, O2_LIMIT_BOUND);
	if (verdict->refused)
		return;
	little_magic = o2_wm_load(bytes, 4, true);
	big_magic = o2_wm_load(bytes, 4, false);
	is_little = little_magic == MAGIC || little_magic == GENERIC;
	is_big = big_magic == MAGIC || big_magic == GENERIC;
	refuse(verdict, !is_little && !is_big, -EPROTO, "wire/reject/magic", "ibr_magic", 0, little_magic,
	       MAGIC, O2_LIMIT_EXACT);
	if (verdict->refused)
		return;
	reject->order = is_little ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN;
	reject->generic_magic = little_magic == GENERIC || big_magic == GENERIC;
	for (size_t i = 0; i < FIELDS && fields[i].at + fields[i].bytes <= length_bytes; i++)
		if (i < V1_FIELDS || reject->ibr_version != V1)
			o2_wm_set(reject, &fields[i],
				  o2_wm_load(bytes + fields[i].at, fields[i].bytes, is_little));
	check_values(reject->ibr_version, reject->ibr_why, verdict);
	refuse(verdict, reject->ibr_version != V1 && length_bytes < O2_RM_BYTES, -EPROTO,
	       "wire/reject/short-for-params", "length_bytes", 0, length_bytes, O2_RM_BYTES, O2_LIMIT_BOUND);
}

void o2_rm_encode(const struct o2_reject *reject, uint8_t *bytes, size_t capacity_bytes,
		  struct o2_rm_verdict *verdict)
{
	const bool little = reject->order == O2_LITTLE_ENDIAN;

	memset(verdict, 0, sizeof(*verdict));
	memset(bytes, 0, O2_RM_BYTES);
	refuse(verdict, !little && reject->order != O2_BIG_ENDIAN, -EINVAL, "wire/reject/order", "order", 0,
	       reject->order, O2_BIG_ENDIAN, O2_LIMIT_BOUND);
	for (size_t i = V1_FIELDS; i < FIELDS; i++) {
		const uint64_t value = o2_wm_get(reject, &fields[i]);

		refuse(verdict, reject->ibr_version == V1 && value != 0, -EINVAL,
		       "wire/reject/version-1-params", fields[i].name, fields[i].at, value, 0,
		       O2_LIMIT_EXACT);
	}
	refuse(verdict, capacity_bytes < O2_RM_BYTES, -ENOSPC, "wire/reject/capacity", "capacity_bytes", 0,
	       capacity_bytes, O2_RM_BYTES, O2_LIMIT_BOUND);
	check_values(reject->ibr_version, reject->ibr_why, verdict);
	o2_wm_store(bytes, 4, little, reject->generic_magic ? GENERIC : MAGIC);
	for (size_t i = 0; i < FIELDS; i++)
		o2_wm_store(bytes + fields[i].at, fields[i].bytes, little, o2_wm_get(reject, &fields[i]));
}

const char *o2_rm_difference(const struct o2_reject *a, const struct o2_reject *b)
{
	if (a->order != b->order)
		return "order";
	if (a->generic_magic != b->generic_magic)
		return "generic_magic";
	for (size_t i = 0; i < FIELDS; i++)
		if (o2_wm_get(a, &fields[i]) != o2_wm_get(b, &fields[i]))
			return fields[i].name;
	return NULL;
}
