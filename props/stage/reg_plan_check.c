/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "props/stage/reg_plan.h"

/*
 * Checks a plan.  The published bytes are looked up through what the plan registers, as a device would do,
 * and must be the bytes of the segments, in order.
 */

/*
 * Find the device address of the byte at `addr` of the region.  Returns the number of contiguous bytes from there;
 * 0: not registered.
 */
static uint64_t look_up(const struct o2_reg_plan *plan, uint64_t addr, uint64_t *device_addr)
{
	uint64_t at = addr - plan->iova, left;

	if (plan->mode == O2_REG_GLOBAL) {
		*device_addr = addr;
		return UINT64_MAX - addr;
	}
	if (addr < plan->iova || at >= plan->length)
		return 0;
	left = plan->length - at;
	for (uint32_t i = 0; i < plan->nentries; at -= plan->entry[i++].length) {
		if (at >= plan->entry[i].length)
			continue;
		*device_addr = plan->entry[i].addr + at;
		return plan->entry[i].length - at;
	}
	at += plan->page_offset;
	if (at / plan->page_bytes >= plan->npages)
		return 0;
	*device_addr = plan->page[at / plan->page_bytes] + at % plan->page_bytes;
	return left < plan->page_bytes - at % plan->page_bytes ? left
							       : plan->page_bytes - at % plan->page_bytes;
}

static void check_bytes(const struct o2_plan_run *run, struct o2_report *report)
{
	const struct o2_reg_plan *plan = &run->plan;
	uint32_t segment = 0;
	uint64_t used = 0;

	for (uint32_t f = 0; f < plan->nfrags; f++) {
		for (uint64_t k = 0; k < plan->frag[f].rf_nob;) {
			const struct o2_dma_segment *want = &run->list.segment[segment];
			uint64_t found = 0, step;

			if (segment == run->list.count) {
				o2_report_fail(report, "reg_plan/bytes",
					       "more bytes are published than there are");
				return;
			}
			step = look_up(plan, plan->frag[f].rf_addr + k, &found);
			if (step == 0 || found != want->addr + used) {
				o2_report_fail(report, "reg_plan/bytes",
					       "fragment %" PRIu32 " byte %" PRIu64 " is %s 0x%" PRIx64
					       ", expected segment %" PRIu32 " byte %" PRIu64
					       " at 0x%" PRIx64,
					       f, k, step == 0 ? "not registered, near" : "at", found,
					       segment, used, want->addr + used);
				return;
			}
			if (step > plan->frag[f].rf_nob - k)
				step = plan->frag[f].rf_nob - k;
			if (step > want->length - used)
				step = want->length - used;
			k += step;
			used += step;
			if (used == want->length) {
				segment++;
				used = 0;
			}
		}
	}
	if (segment != run->list.count)
		o2_report_fail(report, "reg_plan/bytes", "segments from %" PRIu32 " on are not published",
			       segment);
}

/* The address of the first published byte, by docs/modes.md. */
static uint64_t first_address(const struct o2_plan_run *run)
{
	const struct o2_reg_request *r = &run->request;
	const uint64_t first = run->list.segment[0].addr;

	switch (r->mode) {
	case O2_REG_FMR:
		return first % r->page_bytes;
	case O2_REG_PHYS:
		/* The iova is the address of the first byte, or of its page. */
		return r->iova % r->page_bytes != 0 ? r->iova : r->iova + first % r->page_bytes;
	case O2_REG_USER:
		return r->iova;
	default:
		return first;
	}
}

/* Check that the registration covers exactly from the first to the last published byte. */
static void check_cover(const struct o2_plan_run *run, struct o2_report *report)
{
	const struct o2_reg_plan *plan = &run->plan;
	const bool pages =
		plan->mode == O2_REG_FMR || plan->mode == O2_REG_FASTREG || plan->mode == O2_REG_PHYS;
	uint64_t low = UINT64_MAX, high = 0;

	for (uint32_t f = 0; f < plan->nfrags; f++) {
		const uint64_t end = plan->frag[f].rf_addr + plan->frag[f].rf_nob;

		low = plan->frag[f].rf_addr < low ? plan->frag[f].rf_addr : low;
		high = end > high ? end : high;
	}
	if (plan->npages != (pages ? o2_plan_slots(run) : 0) ||
	    plan->nentries != (plan->mode == O2_REG_FASTREG_GAPS ? run->list.count : 0))
		o2_report_fail(report, "reg_plan/pages",
			       "%" PRIu32 " pages and %" PRIu32 " entries are registered", plan->npages,
			       plan->nentries);
	for (uint32_t i = 0; i < plan->npages; i++)
		if (plan->page[i] % plan->page_bytes != 0)
			o2_report_fail(report, "reg_plan/pages", "page %" PRIu32 " of the list is 0x%" PRIx64,
				       i, plan->page[i]);
	if (plan->mode == O2_REG_GLOBAL) {
		if (plan->length != 0)
			o2_report_fail(report, "reg_plan/cover", "mode global registers %" PRIu64 " bytes",
				       plan->length);
	} else if (plan->iova != low || plan->length != high - low) {
		o2_report_fail(report, "reg_plan/cover",
			       "0x%" PRIx64 " + %" PRIu64 " is registered, 0x%" PRIx64 " + %" PRIu64
			       " is published",
			       plan->iova, plan->length, low, high - low);
	} else if (plan->iova % plan->page_bytes != plan->page_offset) {
		o2_report_fail(report, "reg_plan/cover",
			       "iova 0x%" PRIx64 " is not at offset %" PRIu32 " of a page", plan->iova,
			       plan->page_offset);
	}
}

/* Check the number of fragments, the kind of key, and the form of the addresses. */
static void check_form(const struct o2_plan_run *run, struct o2_report *report)
{
	const struct o2_reg_plan *plan = &run->plan;
	const struct o2_reg_request *r = &run->request;
	const bool each = r->mode == O2_REG_GLOBAL || (r->mode == O2_REG_FMR && r->gaps);
	const uint32_t nfrags = each ? run->list.count : 1;
	const uint32_t access = r->side == O2_SINK ? O2_ACCESS_LOCAL_WRITE | O2_ACCESS_REMOTE_WRITE : 0;

	if (plan->mode != r->mode || plan->side != r->side || plan->page_bytes != r->page_bytes)
		o2_report_fail(report, "reg_plan/form", "the plan is for another request");
	if (plan->nfrags != nfrags)
		o2_report_fail(report, "reg_plan/fragments",
			       "%" PRIu32 " fragments are published, expected %" PRIu32, plan->nfrags,
			       nfrags);
	if (plan->access != access)
		o2_report_fail(report, "reg_plan/access", "the access is 0x%" PRIx32 ", expected 0x%" PRIx32,
			       plan->access, access);
	if (plan->frag[0].rf_addr != first_address(run))
		o2_report_fail(report, "reg_plan/address",
			       "the first byte is published at 0x%" PRIx64 ", expected 0x%" PRIx64,
			       plan->frag[0].rf_addr, first_address(run));
}

void o2_plan_check(const struct o2_plan_run *run, struct o2_report *report)
{
	check_form(run, report);
	if (report->failed)
		return;
	check_cover(run, report);
	/* Mode user publishes a process address; only the driver knows its device addresses. */
	if (run->request.mode != O2_REG_USER)
		check_bytes(run, report);
	else if (run->plan.frag[0].rf_nob != run->list.nob)
		o2_report_fail(report, "reg_plan/bytes", "%" PRIu32 " bytes are published, expected %" PRIu64,
			       run->plan.frag[0].rf_nob, run->list.nob);
}
