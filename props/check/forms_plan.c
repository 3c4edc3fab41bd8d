/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "oracle/stream.h"
#include "props/check/forms.h"
#include "props/stage/rdma.h"
#include "props/stage/reg_plan.h"

/* Several plans are right, so the comparison of two is verified with the oracles that check a single plan. */

static bool registration_is_wrong(const struct o2_case_reg *asked, const struct o2_reg_plan *expected,
				  const struct o2_reg_plan *found)
{
	static struct o2_plan_run run;
	struct o2_report report;

	run.request = asked->request;
	run.list = asked->list;
	run.plan = *found;
	/* For a source only the peer's rights are compared; some modes have no pages, and global no region. */
	if (asked->request.side == O2_SOURCE)
		run.plan.access &= ~O2_ACCESS_LOCAL_WRITE;
	if (expected->npages == 0) {
		run.plan.page_offset = expected->page_offset;
		run.plan.npages = expected->npages;
	}
	if (asked->request.mode == O2_REG_GLOBAL) {
		run.plan.iova = expected->iova;
		run.plan.length = expected->length;
	}
	o2_report_clear(&report);
	o2_plan_check(&run, &report);
	return report.failed;
}

static bool work_is_wrong(const struct o2_rdma_input *asked, const struct o2_rdma_plan *found)
{
	static struct o2_rdma_outcome outcome;
	struct o2_report report;

	if (asked->nob == 0) /* no work request uses the keys */
		return false;
	o2_rdma_expect(asked, &outcome.expected);
	outcome.plan = *found;
	o2_report_clear(&report);
	o2_rdma_check_plan(asked, &outcome, &report);
	return report.failed;
}

/* Each byte has one address at its node, so another address or length means other bytes. */
static bool moves_others(const struct o2_rdma_plan *expected, const struct o2_rdma_plan *found)
{
	if (expected->nsge != found->nsge || expected->nwr != found->nwr)
		return false;
	for (uint32_t i = 0; i < found->nsge; i++)
		if (found->sge[i].addr != expected->sge[i].addr ||
		    found->sge[i].length != expected->sge[i].length)
			return true;
	for (uint32_t i = 0; i < found->nwr; i++)
		if (found->wr[i].remote_addr != expected->wr[i].remote_addr ||
		    found->wr[i].length != expected->wr[i].length)
			return true;
	return false;
}

bool o2_forms_plan_is_wrong(const struct o2_case *asked, const struct o2_answer *expected,
			    const struct o2_answer *found)
{
	if (asked->stage == O2_STAGE_REG_PLAN)
		return registration_is_wrong(&asked->reg, &expected->reg, &found->reg);
	if (asked->stage == O2_STAGE_TRANSFER)
		return moves_others(&expected->transfer.plan, &found->transfer.plan);
	return asked->stage == O2_STAGE_RDMA_PLAN && work_is_wrong(&asked->rdma, &found->rdma);
}

/* docs/oracle.md, "Classes": fragments that are empty, exceed the address space, or exceed a transfer's size. */
static bool no_transfer_has(const struct o2_rdma_desc *source)
{
	uint64_t left = 1u << 20;

	for (uint32_t i = 0; i < source->rd_nfrags; i++) {
		const uint32_t nob = source->rd_frags[i].rf_nob;

		if (nob == 0 || nob > left || nob > UINT64_MAX - source->rd_frags[i].rf_addr)
			return true;
		left -= nob;
	}
	return false;
}

bool o2_forms_is_of_its_class(const struct o2_forms_run *run, uint64_t *impossible_found)
{
	const struct o2_case *asked = &run->asked;
	const struct o2_rdma_input *rdma = asked->stage == O2_STAGE_RDMA_PLAN	 ? &asked->rdma
					   : asked->stage == O2_STAGE_RDMA_CHAIN ? &asked->chain.rdma
										 : NULL;
	const bool of_sink = run->comparison.profile == O2_PROFILE_KERNEL ||
			     (run->found.kind == O2_ANSWER_REFUSED && run->found.refusal.error == EPROTO);
	const bool impossible =
		rdma != NULL && (no_transfer_has(&rdma->source) || (of_sink && no_transfer_has(&rdma->sink)));

	for (uint32_t i = 0; i < run->comparison.count; i++) {
		const struct o2_difference *item = &run->comparison.item[i];
		const char *name = o2_check_name(item->check), *end = strstr(item->cause, ": ");
		char other[80];

		if (strncmp(name, "run/", 4) == 0 || strncmp(name, "protocol/", 9) == 0)
			continue;
		if ((strcmp(name, "rdma/impossible") == 0) != impossible)
			return false;
		if (!impossible)
			continue;
		snprintf(other, sizeof(other), "%.*s", end == NULL ? 0 : (int)(end - item->cause),
			 item->cause);
		++*impossible_found;
		if (o2_check_find(other) == O2_CHECKS)
			return false;
	}
	return true;
}

void o2_forms_check_region(const struct o2_reg_plan *plan, struct o2_report *report)
{
	static struct o2_stream whole, parts; /* large */
	const uint64_t middle = plan->iova + plan->length / 3;
	uint64_t at;

	if (plan->mode == O2_REG_GLOBAL)
		return;
	o2_stream_clear(&whole);
	o2_stream_clear(&parts);
	if (!o2_stream_of_region(plan, plan->iova, plan->length, &whole, &at) ||
	    !o2_stream_of_region(plan, plan->iova, middle - plan->iova, &parts, &at) ||
	    !o2_stream_of_region(plan, middle, plan->iova + plan->length - middle, &parts, &at))
		o2_report_fail(report, "forms/region", "0x%" PRIx64 " is outside", at);
	else if (o2_stream_differ(&whole, &parts, &at))
		o2_report_fail(report, "forms/region", "byte %" PRIu64 " of %" PRIu64 " lies elsewhere", at,
			       plan->length);
}
