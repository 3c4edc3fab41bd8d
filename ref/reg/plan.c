/* SPDX-License-Identifier: MIT */
#include "reg/plan.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>

#include "reg/mode.h"

const struct o2_reg_mode_ops *const o2_reg_modes[O2_REG_MODES] = {
	[O2_REG_GLOBAL] = &o2_reg_mode_global,	 [O2_REG_FMR] = &o2_reg_mode_fmr,
	[O2_REG_FASTREG] = &o2_reg_mode_fastreg, [O2_REG_USER] = &o2_reg_mode_user,
	[O2_REG_PHYS] = &o2_reg_mode_phys,	 [O2_REG_FASTREG_GAPS] = &o2_reg_mode_fastreg_gaps,
};

const char *const o2_reg_mode_names[] = {
	[O2_REG_GLOBAL] = "global", [O2_REG_FMR] = "fmr",   [O2_REG_FASTREG] = "fastreg",
	[O2_REG_USER] = "user",	    [O2_REG_PHYS] = "phys", [O2_REG_FASTREG_GAPS] = "fastreg_gaps",
};

const char *const o2_side_names[] = {[O2_SOURCE] = "source", [O2_SINK] = "sink"};

const char *o2_reg_mode_name(unsigned int mode)
{
	return mode < O2_REG_MODES ? o2_reg_mode_names[mode] : NULL;
}

static int check_request(const struct o2_reg_request *request, struct o2_error *error)
{
	uint32_t page_bytes = request->page_bytes;

	if ((uint32_t)request->mode >= O2_REG_MODES)
		return o2_refuse_value(error, -EINVAL, "reg/mode", "mode", request->mode, O2_REG_MODES - 1);
	if (request->side != O2_SOURCE && request->side != O2_SINK)
		return o2_refuse_value(error, -EINVAL, "reg/side", "side", request->side, O2_SINK);
	if (!o2_page_bytes_legal(page_bytes))
		return o2_refuse_value(error, -EINVAL, "reg/page-size", "page_bytes", page_bytes,
				       O2_PAGE_BYTES_MAX);
	if (request->max_pages != O2_MAX_FRAGS && request->max_pages != O2_MAX_FRAGS_LEGACY)
		return o2_refuse_value(error, -EINVAL, "reg/max-pages", "max_pages", request->max_pages,
				       O2_MAX_FRAGS);
	if (request->side == O2_SINK &&
	    (request->peer_max_frags == 0 || request->peer_max_frags > O2_MAX_FRAGS))
		return o2_refuse_value(error, -EINVAL, "reg/peer-max-frags", "peer_max_frags",
				       request->peer_max_frags, O2_MAX_FRAGS);
	return 0;
}

/* Check the segments and set *total to the sum of their bytes. */
static int check_segments(const struct o2_dma_list *segments, uint64_t *total, struct o2_error *error)
{
	*total = 0;

	if (segments->count == 0 || segments->count > O2_MAX_FRAGS)
		return o2_refuse_value(error, -EINVAL, "reg/count", "count", segments->count, O2_MAX_FRAGS);
	for (uint32_t i = 0; i < segments->count; i++) {
		const struct o2_dma_segment *segment = &segments->segment[i];

		if (segment->length == 0)
			return o2_refuse(error, -EINVAL, "reg/empty-segment", "segment[].length", i, 0, 1);
		if (segment->length > UINT64_MAX - segment->addr)
			return o2_refuse(error, -EINVAL, "reg/segment-wraps", "segment[].length", i,
					 segment->length, UINT64_MAX - segment->addr);
		*total += segment->length;
		if (*total > O2_MAX_TRANSFER_BYTES)
			return o2_refuse(error, -EMSGSIZE, "reg/too-long", "segment[].length", i, *total,
					 O2_MAX_TRANSFER_BYTES);
	}
	return 0;
}

int o2_reg_plan(const struct o2_reg_request *request, const struct o2_dma_list *segments,
		struct o2_reg_plan *plan, struct o2_error *error)
{
	uint64_t total;
	int rc = check_request(request, error);

	if (rc == 0)
		rc = check_segments(segments, &total, error);
	if (rc != 0)
		return rc;
	plan->mode = request->mode;
	plan->side = request->side;
	plan->page_bytes = request->page_bytes;
	plan->access = request->side == O2_SINK ? O2_ACCESS_LOCAL_WRITE | O2_ACCESS_REMOTE_WRITE : 0;
	plan->iova = 0;
	plan->length = 0;
	plan->page_offset = 0;
	plan->npages = 0;
	plan->nentries = 0;
	plan->nfrags = 0;
	rc = o2_reg_modes[request->mode]->plan(request, segments, (uint32_t)total, plan, error);
	if (rc != 0)
		return rc;
	/* Fail here, where the reason is known, and not at the peer. */
	if (request->side == O2_SINK && plan->nfrags > request->peer_max_frags)
		return o2_refuse_value(error, -EFBIG, "reg/more-fragments-than-peer-accepts", "nfrags",
				       plan->nfrags, request->peer_max_frags);
	return 0;
}

/* --- choosing a mode --- */

/* Largest value of the tunable in any release. */
#define MAP_ON_DEMAND_MAX 256u
static_assert(MAP_ON_DEMAND_MAX == O2_MAX_FRAGS_LEGACY, "as many fragments as trees with the tunable have");

bool o2_reg_caps_permit(const struct o2_reg_caps *caps, enum o2_reg_mode mode)
{
	switch (mode) {
	case O2_REG_GLOBAL:
		return caps->global;
	case O2_REG_FMR:
		return caps->fmr;
	case O2_REG_FASTREG:
		return caps->fastreg;
	case O2_REG_FASTREG_GAPS:
		return caps->fastreg && caps->gaps;
	default:
		return true;
	}
}

/* No known device supports both.  If one does, FMR is used, the older of the two. */
static bool choose_mapping(const struct o2_reg_caps *caps, const struct o2_reg_policy *policy,
			   enum o2_reg_mode *mode)
{
	if (caps->fmr)
		*mode = O2_REG_FMR;
	else if (caps->fastreg)
		*mode = caps->gaps && policy->use_gaps ? O2_REG_FASTREG_GAPS : O2_REG_FASTREG;
	return caps->fmr || caps->fastreg;
}

/* Few segments are not worth a registration; without a device-wide region everything is mapped. */
static bool below_threshold(const struct o2_reg_policy *policy, uint32_t segments)
{
	uint32_t threshold = policy->map_on_demand == 1 ? 2 : policy->map_on_demand;

	return threshold == 0 || segments < threshold;
}

int o2_reg_choose(const struct o2_reg_caps *caps, const struct o2_reg_policy *policy, uint32_t segments,
		  enum o2_reg_mode *mode, struct o2_error *error)
{
	bool want_global;

	if (policy->map_on_demand > MAP_ON_DEMAND_MAX)
		return o2_refuse_value(error, -EINVAL, "choose/map-on-demand", "map_on_demand",
				       policy->map_on_demand, MAP_ON_DEMAND_MAX);
	if (segments == 0)
		return o2_refuse_value(error, -EINVAL, "choose/segments", "segments", 0, 1);
	switch (policy->preference) {
	case O2_PREFER_THRESHOLD:
		want_global = below_threshold(policy, segments);
		break;
	case O2_PREFER_MAPPING:
		want_global = policy->map_on_demand == 0;
		break;
	default:
		return o2_refuse_value(error, -EINVAL, "choose/preference", "preference", policy->preference,
				       O2_PREFER_MAPPING);
	}
	if (want_global && caps->global) {
		*mode = O2_REG_GLOBAL;
		return 0;
	}
	if (choose_mapping(caps, policy, mode))
		return 0;
	/* The device cannot map: the newer policy falls back to global, the older one fails. */
	if (caps->global && policy->preference == O2_PREFER_MAPPING) {
		*mode = O2_REG_GLOBAL;
		return 0;
	}
	return o2_refuse_other(error, -ENOSYS, "choose/no-way-to-register", "caps.global", caps->global, 1);
}

/* --- shared by the plan operations --- */

/*
 * The pages of a segment are those that it spans, ceil((offset in page + length) / page size), not its length
 * alone: a DMA mapping that merged neighbours gives segments that start inside a page and cross others
 * (docs/modes.md, "Page lists").
 */
int o2_reg_list_pages(const struct o2_reg_request *request, const struct o2_dma_list *segments,
		      uint32_t index, const char *seam_rule, struct o2_reg_plan *plan, uint32_t *slot,
		      struct o2_error *error)
{
	const struct o2_dma_segment *segment = &segments->segment[index];
	uint64_t mask = (uint64_t)request->page_bytes - 1;
	uint64_t page = segment->addr & ~mask;
	uint64_t last = (segment->addr + segment->length - 1) & ~mask;

	if (seam_rule != NULL && index > 0) {
		const uint64_t end = segment[-1].addr + segment[-1].length;

		if (end != segment->addr && ((end | segment->addr) & mask) != 0)
			return o2_limit_is(o2_refuse(error, -EINVAL, seam_rule, "segment[].addr", index,
						     segment->addr, end),
					   O2_LIMIT_OTHER, error);
	}
	/*
	 * A segment that starts on a page boundary opens a slot even if its page was the last one listed: the
	 * buffer names that page twice, and in the region the second part follows the first.
	 */
	if (plan->npages > 0 && plan->page[plan->npages - 1] == page && segment->addr != page) {
		*slot = plan->npages - 1;
		if (page == last)
			return 0;
		page += request->page_bytes;
	} else {
		*slot = plan->npages;
	}
	for (;; page += request->page_bytes) {
		if (plan->npages == request->max_pages)
			return o2_refuse(error, -EINVAL, "reg/too-many-pages", "segment[]", index,
					 (uint64_t)request->max_pages + 1, request->max_pages);
		plan->page[plan->npages++] = page;
		if (page == last)
			return 0;
	}
}

void o2_reg_publish_range(struct o2_reg_plan *plan, uint64_t iova, uint32_t length)
{
	plan->iova = iova;
	plan->length = length;
	plan->page_offset = (uint32_t)(iova % plan->page_bytes);
	plan->nfrags = 1;
	plan->frag[0] = (struct o2_rdma_frag){.rf_addr = iova, .rf_nob = length};
}
