/* SPDX-License-Identifier: MIT */
#include "wire/checks.h"

#include "wire/nid.h"
#include "wire/rules.h"

int o2_check_options(const struct o2_wire_options *options, struct o2_error *error)
{
	if (options->max_frags == O2_MAX_FRAGS || options->max_frags == O2_MAX_FRAGS_LEGACY)
		return 0;
	return o2_wire_refuse(error, O2_RULE_OPTION_MAX_FRAGS, O2_NO_INDEX, options->max_frags, O2_MAX_FRAGS);
}

int o2_check_version(uint16_t version, struct o2_error *error)
{
	if (!o2_wire_breaks(O2_RULE_VERSION, version != O2_MSG_VERSION_1 && version != O2_MSG_VERSION_2))
		return 0;
	return o2_wire_refuse(error, O2_RULE_VERSION, O2_NO_INDEX, version, O2_MSG_VERSION_2);
}

static int check_nid(uint64_t nid, bool any_lnd, unsigned int first_rule, struct o2_error *error)
{
	/* What the faulty part of the NID should be, or the last value it may have. */
	static const uint64_t limits[] = {
		[O2_NID_TOP_BYTE] = 0,
		[O2_NID_LND_ANY] = O2_LND_O2IB,
		[O2_NID_LND_FOREIGN] = O2_LND_O2IB,
		[O2_NID_ADDRESS_ZERO] = 1,
		[O2_NID_ADDRESS_ONES] = UINT32_MAX - 1,
	};
	const enum o2_nid_fault fault = o2_nid_check(nid, any_lnd);

	if (!o2_wire_breaks(first_rule + fault, fault != O2_NID_GOOD))
		return 0;
	return o2_wire_refuse(error, first_rule + fault, O2_NO_INDEX, nid, limits[fault]);
}

int o2_check_nids(uint64_t srcnid, uint64_t dstnid, bool any_lnd, struct o2_error *error)
{
	int rc;

	if (o2_wire_breaks(O2_RULE_SRCNID_WILDCARD, srcnid == O2_NID_ANY))
		return o2_wire_refuse(error, O2_RULE_SRCNID_WILDCARD, O2_NO_INDEX, srcnid, O2_NID_ANY - 1);
	rc = check_nid(srcnid, any_lnd, O2_RULE_SRCNID, error);
	if (rc == 0)
		rc = check_nid(dstnid, any_lnd, O2_RULE_DSTNID, error);
	return rc;
}

int o2_check_lnet_type(const struct o2_msg_type_info *info, uint32_t lnet_type, struct o2_error *error)
{
	bool fits = lnet_type <= O2_LNET_HELLO && (info->lnet_types >> lnet_type & 1) != 0;

	if (!o2_wire_breaks(info->lnet_type_rule, !fits))
		return 0;
	return o2_wire_refuse(error, info->lnet_type_rule, O2_NO_INDEX, lnet_type, info->lnet_types);
}

int o2_check_lnet_payload(const struct o2_msg_type_info *info, const struct o2_lnet_hdr *hdr,
			  struct o2_error *error)
{
	const bool carries = hdr->type == O2_LNET_PUT || hdr->type == O2_LNET_REPLY;

	if (o2_wire_breaks(info->payload_not_zero_rule, !carries && hdr->payload_length != 0))
		return o2_wire_refuse(error, info->payload_not_zero_rule, O2_NO_INDEX, hdr->payload_length,
				      0);
	if (o2_wire_breaks(info->payload_over_limit_rule,
			   carries && hdr->payload_length > O2_MAX_TRANSFER_BYTES))
		return o2_wire_refuse(error, info->payload_over_limit_rule, O2_NO_INDEX, hdr->payload_length,
				      O2_MAX_TRANSFER_BYTES);
	return 0;
}

int o2_check_status(const struct o2_msg_type_info *info, int32_t status, struct o2_error *error)
{
	if (!o2_wire_breaks(info->status_rule, status > (int32_t)O2_MAX_TRANSFER_BYTES))
		return 0;
	return o2_wire_refuse(error, info->status_rule, O2_NO_INDEX, (uint64_t)status, O2_MAX_TRANSFER_BYTES);
}
