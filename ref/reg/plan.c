/* SPDX-License-Identifier: MIT */
#include "reg/plan.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

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

int o2_reg_mode_from_name(const char *name, enum o2_reg_mode *mode)
{
	for (uint32_t i = 0; i < O2_REG_MODES; i++) {
		if (strcmp(name, o2_reg_mode_names[i]) == 0) {
			*mode = (enum o2_reg_mode)i;
			return 0;
		}
	}
	return -EINVAL;
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

static int check_segments(const struct o2_dma_list *segments, struct o2_error *error)
{
	uint64_t total = 0;

	if (segments->count == 0 || segments->count > O2_MAX_FRAGS)
		return o2_refuse_value(error, -EINVAL, "reg/count", "count", segments->count, O2_MAX_FRAGS);
	for (uint32_t i = 0; i < segments->count; i++) {
		const struct o2_dma_segment *segment = &segments->segment[i];

		if (segment->length == 0)
			return o2_refuse(error, -EINVAL, "reg/empty-segment", "segment[].length", i, 0, 1);
		if (segment->length > UINT64_MAX - segment->addr)
			return o2_refuse(error, -EINVAL, "reg/segment-wraps", "segment[].length", i,
					 segment->length, UINT64_MAX - segment->addr);
		total += segment->length;
		if (total > O2_MAX_TRANSFER_BYTES)
			return o2_refuse(error, -EMSGSIZE, "reg/too-long", "segment[].length", i, total,
					 O2_MAX_TRANSFER_BYTES);
	}
	return 0;
}

/*
 * A peer that takes fewer fragments than we would publish gets none of them: the transfer fails here, where
 * the reason is known, and not at the peer.
 */
static int check_published(const struct o2_reg_request *request, const struct o2_reg_plan *plan,
			   struct o2_error *error)
{
	if (request->side == O2_SINK && plan->nfrags > request->peer_max_frags)
		return o2_refuse_value(error, -EFBIG, "reg/more-fragments-than-peer-accepts", "nfrags",
				       plan->nfrags, request->peer_max_frags);
	return 0;
}

int o2_reg_plan(const struct o2_reg_request *request, const struct o2_dma_list *segments,
		struct o2_reg_plan *plan, struct o2_error *error)
{
	int rc = check_request(request, error);

	if (rc == 0)
		rc = check_segments(segments, error);
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
	rc = o2_reg_modes[request->mode]->plan(request, segments, plan, error);
	return rc != 0 ? rc : check_published(request, plan, error);
}
