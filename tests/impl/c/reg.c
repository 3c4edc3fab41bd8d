/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "second.h"

/* reg_plan: docs/modes.md. */

/* The state that the functions of all modes share. */
struct job {
	const struct o2_impl_reg_request *request;
	struct ruler segment;
	struct o2_impl_reg_plan *out;
	struct o2_impl_refusal *refusal;
	uint64_t start[O2_IMPL_MAX_FRAGS]; /* offset of each segment's first byte in the listed pages */
};

static int32_t check_request(const struct o2_impl_reg_request *request, struct o2_impl_refusal *refusal)
{
	if (request->mode > O2_IMPL_FASTREG_GAPS)
		return refuse(refusal, EINVAL, "reg/mode", NO_INDEX);
	if (request->side > O2_IMPL_SINK)
		return refuse(refusal, EINVAL, "reg/side", NO_INDEX);
	if (!page_size_known(request->page_bytes))
		return refuse(refusal, EINVAL, "reg/page-size", NO_INDEX);
	if (!is_limit(request->max_pages))
		return refuse(refusal, EINVAL, "reg/max-pages", NO_INDEX);
	if (request->side == O2_IMPL_SINK &&
	    (request->peer_max_frags == 0 || request->peer_max_frags > O2_IMPL_MAX_FRAGS))
		return refuse(refusal, EINVAL, "reg/peer-max-frags", NO_INDEX);
	return O2_IMPL_OK;
}

static int32_t take_segments(const struct o2_impl_dma_list *list, struct ruler *ruler,
			     struct o2_impl_refusal *refusal)
{
	if (list->count == 0 || list->count > O2_IMPL_MAX_FRAGS)
		return refuse(refusal, EINVAL, "reg/count", NO_INDEX);
	ruler->count = 0;
	ruler->tick[0] = 0;
	for (uint32_t i = 0; i < list->count; i++) {
		if (list->segment[i].length == 0)
			return refuse(refusal, EINVAL, "reg/empty-segment", i);
		if (list->segment[i].length > UINT64_MAX - list->segment[i].addr)
			return refuse(refusal, EINVAL, "reg/segment-wraps", i);
		ruler_add(ruler, list->segment[i].addr, list->segment[i].length);
		if (ruler->tick[i + 1] > O2_IMPL_TRANSFER_BYTES)
			return refuse(refusal, EMSGSIZE, "reg/too-long", i);
	}
	return O2_IMPL_OK;
}

/* Whether segment i starts where segment i - 1 ends, or both are at page boundaries there. */
static bool joins(const struct job *job, uint32_t i)
{
	const struct ruler *segment = &job->segment;
	uint64_t end;

	if (i == 0)
		return true;
	end = segment->addr[i - 1] + ruler_length(segment, i - 1);
	return end == segment->addr[i] || ((end | segment->addr[i]) & (job->request->page_bytes - 1)) == 0;
}

/* List the pages that the segments span.  hole: the rule that a list with an undeclared gap breaks. */
static int32_t list_pages(struct job *job, const char *hole)
{
	struct o2_impl_reg_plan *out = job->out;
	uint64_t page_bytes = job->request->page_bytes;

	for (uint32_t i = 0; i < job->segment.count; i++) {
		uint64_t inside = job->segment.addr[i] % page_bytes;
		uint64_t page = job->segment.addr[i] - inside;
		uint64_t span = (inside + ruler_length(&job->segment, i) + page_bytes - 1) / page_bytes;

		if (!job->request->gaps && !joins(job, i))
			return refuse(job->refusal, EINVAL, hole, i);
		if (out->npages && inside && out->page[out->npages - 1] == page)
			out->npages--; /* the segment begins in the last listed page */
		job->start[i] = out->npages * page_bytes + inside;
		for (; span; span--, page += page_bytes) {
			if (out->npages == job->request->max_pages)
				return refuse(job->refusal, EINVAL, "reg/too-many-pages", i);
			out->page[out->npages++] = page;
		}
	}
	return O2_IMPL_OK;
}

/* Set the registered region to [iova, iova + length). */
static void region(struct job *job, uint64_t iova, uint64_t length)
{
	job->out->iova = iova;
	job->out->length = length;
	job->out->page_offset = iova % job->request->page_bytes;
}

static void publish(struct job *job, uint64_t addr, uint64_t length)
{
	job->out->frag[job->out->nfrags++] = (struct o2_impl_frag){.rf_addr = addr, .rf_nob = length};
}

/* Register one region, and publish it as one fragment. */
static int32_t publish_whole(struct job *job, uint64_t iova, const char *wraps, uint32_t index)
{
	uint64_t length = job->segment.tick[job->segment.count];

	if (length > UINT64_MAX - iova)
		return refuse(job->refusal, EINVAL, wraps, index);
	region(job, iova, length);
	publish(job, iova, length);
	return O2_IMPL_OK;
}

static int32_t plan_global(struct job *job)
{
	for (uint32_t i = 0; i < job->segment.count; i++)
		publish(job, job->segment.addr[i], ruler_length(&job->segment, i));
	return O2_IMPL_OK;
}

static int32_t plan_fmr(struct job *job)
{
	uint64_t low = UINT64_MAX, high = 0;
	int32_t status = list_pages(job, "reg/fmr/undeclared-gap");

	if (status != O2_IMPL_OK)
		return status;
	if (!job->request->gaps)
		return publish_whole(job, job->start[0], "", NO_INDEX);
	for (uint32_t i = 0; i < job->segment.count; i++) {
		uint64_t end = job->start[i] + ruler_length(&job->segment, i);

		publish(job, job->start[i], ruler_length(&job->segment, i));
		low = job->start[i] < low ? job->start[i] : low;
		high = end > high ? end : high;
	}
	region(job, low, high - low);
	return O2_IMPL_OK;
}

static int32_t plan_fastreg(struct job *job)
{
	int32_t status;

	if (job->request->gaps)
		return refuse(job->refusal, EPROTONOSUPPORT, "reg/fastreg/gaps", NO_INDEX);
	status = list_pages(job, "reg/fastreg/short-map");
	if (status == O2_IMPL_OK)
		status = publish_whole(job, job->segment.addr[0], "reg/fastreg/iova-wraps", 0);
	return status;
}

static int32_t plan_user(struct job *job)
{
	if (!job->request->contiguous)
		return refuse(job->refusal, EPROTONOSUPPORT, "reg/user/not-contiguous", NO_INDEX);
	return publish_whole(job, job->request->iova, "reg/user/address-wraps", NO_INDEX);
}

static int32_t plan_phys(struct job *job)
{
	uint64_t inside = job->request->iova % job->request->page_bytes;
	uint64_t iova = job->request->iova - inside;
	int32_t status;

	if (job->request->gaps)
		return refuse(job->refusal, EINVAL, "reg/phys/gaps", NO_INDEX);
	status = list_pages(job, "reg/phys/undeclared-gap");
	if (status == O2_IMPL_OK && inside && inside != job->start[0])
		status = refuse(job->refusal, EINVAL, "reg/phys/iova-alignment", NO_INDEX);
	if (status == O2_IMPL_OK) /* iova is page-aligned: adding the offset cannot wrap */
		status = publish_whole(job, iova + job->start[0], "reg/phys/iova-wraps", NO_INDEX);
	return status;
}

static int32_t plan_fastreg_gaps(struct job *job)
{
	struct o2_impl_reg_plan *out = job->out;

	if (job->segment.count > job->request->max_pages)
		return refuse(job->refusal, EINVAL, "reg/fastreg_gaps/too-many-entries", NO_INDEX);
	for (uint32_t i = 0; i < job->segment.count; i++)
		out->entry[out->nentries++] = (struct o2_impl_segment){
			.addr = job->segment.addr[i], .length = ruler_length(&job->segment, i)};
	return publish_whole(job, job->segment.addr[0], "reg/fastreg_gaps/iova-wraps", 0);
}

int32_t second_reg_plan(const struct o2_impl_reg_in *in, struct o2_impl_reg_plan *out,
			struct o2_impl_refusal *refusal)
{
	static int32_t (*const plan[])(struct job *) = {
		[O2_IMPL_GLOBAL] = plan_global,	  [O2_IMPL_FMR] = plan_fmr,
		[O2_IMPL_FASTREG] = plan_fastreg, [O2_IMPL_USER] = plan_user,
		[O2_IMPL_PHYS] = plan_phys,	  [O2_IMPL_FASTREG_GAPS] = plan_fastreg_gaps,
	};
	struct job job = {.request = &in->request, .out = out, .refusal = refusal};
	int32_t status = check_request(&in->request, refusal);

	out->npages = out->nentries = out->nfrags = 0;
	out->iova = out->length = out->page_offset = 0;
	out->remote_write = in->request.side == O2_IMPL_SINK;
	if (status == O2_IMPL_OK)
		status = take_segments(&in->list, &job.segment, refusal);
	if (status == O2_IMPL_OK)
		status = plan[in->request.mode](&job);
	if (status == O2_IMPL_OK && in->request.side == O2_IMPL_SINK &&
	    out->nfrags > in->request.peer_max_frags)
		status = refuse(refusal, EFBIG, "reg/more-fragments-than-peer-accepts", NO_INDEX);
	return status;
}
