/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>

#include "wire.h"

/* Rules 12 to 22 and 34 to 66, and the caller's first rules: docs/wire.md, "Rules". */

int32_t refuse_wire(struct o2_impl_refusal *refusal, const char *part, const char *rule, uint32_t index)
{
	char name[O2_IMPL_ERROR_NAME_BYTES];

	snprintf(name, sizeof(name), "wire/%s/%s", part, rule);
	refuse(refusal, EPROTO, name, index);
	refusal->cost = O2_IMPL_COST_CONNECTION;
	return O2_IMPL_REFUSED;
}

int32_t check_options(const struct o2_impl_wire_options *options, struct o2_impl_refusal *refusal)
{
	if (!is_limit(options->max_frags))
		return refuse(refusal, EINVAL, "wire/options/max-frags", NO_INDEX);
	return O2_IMPL_OK;
}

static int32_t check_nid(uint64_t nid, bool source, bool any_lnd, struct o2_impl_refusal *refusal)
{
	const char *rule = NULL;
	uint32_t lnd = nid >> 48 & 0xff;
	char named[32];

	if (source && nid == UINT64_MAX)
		rule = "wildcard";
	else if (nid >> 56)
		rule = "top-byte";
	else if (lnd == 0xff)
		rule = "lnd-any";
	else if (lnd != 5 && !any_lnd)
		rule = "lnd-foreign";
	else if ((uint32_t)nid == 0)
		rule = "address-zero";
	else if ((uint32_t)nid == UINT32_MAX)
		rule = "address-ones";
	if (!rule)
		return O2_IMPL_OK;
	snprintf(named, sizeof(named), "%snid-%s", source ? "src" : "dst", rule);
	return refuse_wire(refusal, "header", named, NO_INDEX);
}

int32_t check_nids(const struct o2_impl_msg *msg, const struct o2_impl_wire_options *options,
		   struct o2_impl_refusal *refusal)
{
	int32_t status = check_nid(msg->ibm_srcnid, true, options->any_lnd, refusal);

	return status == O2_IMPL_OK ? check_nid(msg->ibm_dstnid, false, options->any_lnd, refusal) : status;
}

int32_t check_lnet_type(const struct o2_impl_msg *msg, const struct layout *layout,
			struct o2_impl_refusal *refusal)
{
	if (layout->lnet_types && (msg->hdr.type > 31 || !(layout->lnet_types >> msg->hdr.type & 1)))
		return refuse_wire(refusal, layout->name, "lnet-type", NO_INDEX);
	return O2_IMPL_OK;
}

int32_t check_count(const struct o2_impl_msg *msg, const struct layout *layout, uint32_t max_frags,
		    struct o2_impl_refusal *refusal)
{
	if (layout->desc && msg->rd.rd_nfrags == 0)
		return refuse_wire(refusal, layout->name, "nfrags-zero", NO_INDEX);
	if (layout->desc && msg->rd.rd_nfrags > max_frags)
		return refuse_wire(refusal, layout->name, "nfrags-over-limit", NO_INDEX);
	return O2_IMPL_OK;
}

int32_t check_frags(const struct o2_impl_desc *desc, const char *part, struct o2_impl_refusal *refusal)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < desc->rd_nfrags; i++)
		if (desc->rd_frags[i].rf_nob == 0)
			return refuse_wire(refusal, part, "frag-nob-zero", i);
	for (uint32_t i = 0; i < desc->rd_nfrags; i++)
		if (desc->rd_frags[i].rf_nob > O2_IMPL_TRANSFER_BYTES)
			return refuse_wire(refusal, part, "frag-nob-over-limit", i);
	for (uint32_t i = 0; i < desc->rd_nfrags; i++) {
		sum += desc->rd_frags[i].rf_nob;
		if (sum > O2_IMPL_TRANSFER_BYTES)
			return refuse_wire(refusal, part, "frag-sum-over-limit", i);
	}
	for (uint32_t i = 0; i < desc->rd_nfrags; i++)
		if (desc->rd_frags[i].rf_addr > UINT64_MAX - desc->rd_frags[i].rf_nob)
			return refuse_wire(refusal, part, "frag-addr-wraps", i);
	return O2_IMPL_OK;
}

/* The payload of an IMMEDIATE must end inside the message. */
static int32_t check_payload_end(const struct o2_impl_msg *msg, uint32_t nob, struct o2_impl_refusal *refusal)
{
	if (msg->hdr.payload_length <= nob - IMMEDIATE_BYTES)
		return O2_IMPL_OK;
	refuse_wire(refusal, "immediate", "payload-past-nob", NO_INDEX);
	refusal->cost = O2_IMPL_COST_MESSAGE;
	return O2_IMPL_REFUSED;
}

int32_t check_rest(const struct o2_impl_msg *msg, const struct layout *layout, uint32_t nob,
		   struct o2_impl_refusal *refusal)
{
	bool carries = msg->hdr.type == 1 || msg->hdr.type == 3; /* PUT, REPLY */

	if (layout->status && msg->ibcm_status > (int32_t)O2_IMPL_TRANSFER_BYTES)
		return refuse_wire(refusal, layout->name, "status-over-limit", NO_INDEX);
	if (!layout->lnet_types)
		return O2_IMPL_OK;
	if (!carries && msg->hdr.payload_length)
		return refuse_wire(refusal, layout->name, "payload-not-zero", NO_INDEX);
	if (msg->hdr.payload_length > O2_IMPL_TRANSFER_BYTES)
		return refuse_wire(refusal, layout->name, "payload-over-limit", NO_INDEX);
	return layout->minimum == IMMEDIATE_BYTES ? check_payload_end(msg, nob, refusal) : O2_IMPL_OK;
}
