/* SPDX-License-Identifier: MIT */
#include "rdma/rdma_plan.h"

#include <errno.h>
#include <stdbool.h>

/* The position in a descriptor.  The descriptors themselves are not changed. */
struct cursor {
	const struct o2_rdma_desc *desc;
	uint32_t next;		  /* next fragment to enter */
	struct o2_rdma_frag rest; /* what is left of the fragment before it */
};

/* Returns true when the fragment is used up. */
static bool consume(struct cursor *at, uint32_t bytes)
{
	at->rest.rf_addr += bytes;
	at->rest.rf_nob -= bytes;
	return at->rest.rf_nob == 0;
}

static int check_inputs(const struct o2_rdma_desc *source, const struct o2_rdma_desc *sink, uint64_t nob,
			const struct o2_rdma_limits *limits, struct o2_error *error)
{
	if (limits->max_wrs == 0 || limits->max_wrs > O2_MAX_FRAGS)
		return o2_refuse_value(error, -EINVAL, "rdma/max-wrs", "max_wrs", limits->max_wrs,
				       O2_MAX_FRAGS);
	if (limits->wrq_sge == 0 || limits->wrq_sge > O2_MAX_WRQ_SGE)
		return o2_refuse_value(error, -EINVAL, "rdma/wrq-sge", "wrq_sge", limits->wrq_sge,
				       O2_MAX_WRQ_SGE);
	if (source->rd_nfrags > O2_MAX_FRAGS)
		return o2_refuse_value(error, -EINVAL, "rdma/source-nfrags", "source.rd_nfrags",
				       source->rd_nfrags, O2_MAX_FRAGS);
	if (sink->rd_nfrags > O2_MAX_FRAGS)
		return o2_refuse_value(error, -EINVAL, "rdma/sink-nfrags", "sink.rd_nfrags", sink->rd_nfrags,
				       O2_MAX_FRAGS);
	if (nob > O2_MAX_TRANSFER_BYTES)
		return o2_refuse_value(error, -EINVAL, "rdma/nob", "nob", nob, O2_MAX_TRANSFER_BYTES);
	return 0;
}

/* If nothing is left of the current fragment, enter the next one that is not empty. */
static int settle(struct cursor *at, const char *rule, const char *field, uint64_t nob, uint64_t left,
		  struct o2_error *error)
{
	while (at->rest.rf_nob == 0) {
		if (at->next >= at->desc->rd_nfrags)
			return o2_refuse_value(error, -EPROTO, rule, field, nob, nob - left);
		at->rest = at->desc->rd_frags[at->next++];
	}
	return 0;
}

/* Append a gather entry; open a work request if none is open.  The caller has checked that there is room. */
static void gather(struct o2_rdma_plan *plan, const struct cursor *source, const struct cursor *sink,
		   uint32_t bytes, bool open)
{
	struct o2_rdma_wr *wr = &plan->wr[plan->nwr];

	if (!open)
		*wr = (struct o2_rdma_wr){.remote_addr = sink->rest.rf_addr, .first_sge = plan->nsge};
	plan->sge[plan->nsge++] = (struct o2_rdma_sge){.addr = source->rest.rf_addr, .length = bytes};
	wr->num_sge++;
	wr->length += bytes;
}

int o2_rdma_plan(const struct o2_rdma_desc *source, const struct o2_rdma_desc *sink, uint64_t nob,
		 const struct o2_rdma_limits *limits, struct o2_rdma_plan *plan, struct o2_error *error)
{
	struct cursor from = {.desc = source};
	struct cursor to = {.desc = sink};
	uint64_t left = nob;
	bool open = false;
	int rc = check_inputs(source, sink, nob, limits, error);

	if (rc != 0)
		return rc;
	plan->lkey = source->rd_key;
	plan->rkey = sink->rd_key;
	plan->nwr = 0;
	plan->nsge = 0;
	plan->nob = nob;
	while (left > 0) {
		uint32_t bytes;

		rc = settle(&from, "rdma/source-too-small", "source", nob, left, error);
		if (rc == 0)
			rc = settle(&to, "rdma/sink-too-small", "sink", nob, left, error);
		if (rc != 0)
			return rc;
		if (plan->nwr == limits->max_wrs)
			return o2_refuse_value(error, -EMSGSIZE, "rdma/too-many-work-requests", "nwr",
					       (uint64_t)limits->max_wrs + 1, limits->max_wrs);
		bytes = from.rest.rf_nob < to.rest.rf_nob ? from.rest.rf_nob : to.rest.rf_nob;
		if (bytes > left)
			bytes = (uint32_t)left;
		gather(plan, &from, &to, bytes, open);
		left -= bytes;
		consume(&from, bytes);
		open = !consume(&to, bytes) && plan->wr[plan->nwr].num_sge < limits->wrq_sge;
		if (!open)
			plan->nwr++;
	}
	/* nob ended inside a sink fragment: the open work request still belongs to the plan. */
	if (open)
		plan->nwr++;
	return 0;
}
