/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "oracle/compare.h"

/*
 * The comparison of two answers, including the classes of differences that have checks of their own: gaps
 * by the exact rule, and memory that no transfer can have (docs/oracle.md, "Classes").
 */

bool o2_profile_asks(enum o2_profile profile, struct o2_case *asked, struct o2_answer *scratch)
{
	if (profile != O2_PROFILE_KERNEL ||
	    (asked->stage != O2_STAGE_MSG_ENCODE && asked->stage != O2_STAGE_SEND_PLAN))
		return true;
	if (asked->stage == O2_STAGE_MSG_ENCODE)
		asked->msg_encode.capacity_bytes = O2_MSG_BYTES;
	o2_answer_of_reference(asked, scratch);
	return scratch->kind == O2_ANSWER_RESULT;
}

/* --- memory that no transfer can have --- */

/* An empty or wrapping fragment, or too many bytes: no registration publishes these, and no decoder admits them. */
static bool is_impossible(const struct o2_rdma_desc *desc)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < desc->rd_nfrags; i++) {
		const struct o2_rdma_frag *frag = &desc->rd_frags[i];

		if (frag->rf_nob == 0 || frag->rf_addr + frag->rf_nob < frag->rf_addr)
			return true;
		sum += frag->rf_nob;
	}
	return sum > O2_MAX_TRANSFER_BYTES;
}

/* A sink comes from a peer: in profile strict, only a refusal with EPROTO, as by a decoder, is excused. */
static bool has_impossible(const struct o2_comparison *comparison, const struct o2_rdma_input *asked,
			   const struct o2_answer *found)
{
	const bool refused = found->kind == O2_ANSWER_REFUSED && found->refusal.error == EPROTO;

	return is_impossible(&asked->source) ||
	       ((refused || comparison->profile == O2_PROFILE_KERNEL) && is_impossible(&asked->sink));
}

static bool is_conduct(enum o2_check_id check)
{
	return strncmp(o2_check_name(check), "run/", 4) == 0 ||
	       strncmp(o2_check_name(check), "protocol/", 9) == 0;
}

/*
 * Assign all differences except run/ and protocol/ to rdma/impossible.  If that check is off, any answer will do, and a
 * crash; a hang will not, and nothing that is done besides the answer.
 */
static void gather_impossible(struct o2_comparison *comparison, const struct o2_answer *found)
{
	const enum o2_severity severity = o2_check_severity(O2_CHECK_RDMA_IMPOSSIBLE, comparison->profile);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < comparison->count; i++) {
		struct o2_difference *item = &comparison->item[i];
		char cause[O2_CAUSE_BYTES];

		if (severity == O2_CHECK_OFF && item->check != O2_CHECK_RUN_HANG &&
		    item->check != found->conduct.check) {
			o2_differ_text(comparison, O2_CHECK_RDMA_IMPOSSIBLE, "", "");
			continue;
		}
		if (!is_conduct(item->check)) {
			snprintf(cause, sizeof(cause), "%s", item->cause);
			snprintf(item->cause, sizeof(item->cause), "%.64s: %.120s",
				 o2_check_name(item->check), cause);
			item->check = O2_CHECK_RDMA_IMPOSSIBLE;
			item->known = o2_known_find(comparison->known, comparison->asked, item->check);
		}
		comparison->item[kept++] = *item;
	}
	comparison->count = kept;
}

/* --- the exact gap rule --- */

/* What is done besides the answer is no matter of gaps. */
static bool has_must(const struct o2_comparison *comparison)
{
	for (uint32_t i = 0; i < comparison->count; i++)
		if (!is_conduct(comparison->item[i].check) &&
		    o2_check_severity(comparison->item[i].check, comparison->profile) == O2_CHECK_MUST)
			return true;
	return false;
}

/* If no `must` difference remains under the exact gap rule, keep what remains, and add one of that class. */
static void compare_exactly(struct o2_comparison *comparison, const struct o2_case *asked,
			    const struct o2_answer *expected, const struct o2_answer *found)
{
	const enum o2_check_id check =
		asked->stage == O2_STAGE_TRANSFER ? O2_CHECK_TRANSFER_GAP_EXACT : O2_CHECK_REG_GAP_EXACT;
	struct o2_difference *item;

	if (!o2_answer_by_exact_gaps(asked, &comparison->exact))
		return;
	o2_compare_answers(comparison, asked, &comparison->exact, found);
	if (has_must(comparison)) {
		o2_compare_answers(comparison, asked, expected, found);
		return;
	}
	item = o2_differ_text(comparison, check, "gaps", "");
	if (item == NULL)
		return;
	snprintf(item->field, sizeof(item->field), "gaps");
	snprintf(item->expected, sizeof(item->expected), "as for a list with gaps, by rule G3");
	snprintf(item->found, sizeof(item->found), "as for one without, by the exact rule");
}

void o2_compare(struct o2_comparison *comparison, const struct o2_case *asked,
		const struct o2_answer *expected, const struct o2_answer *found)
{
	o2_compare_answers(comparison, asked, expected, found);
	if (comparison->count == 0)
		return;
	if ((asked->stage == O2_STAGE_RDMA_PLAN && has_impossible(comparison, &asked->rdma, found)) ||
	    (asked->stage == O2_STAGE_RDMA_CHAIN && has_impossible(comparison, &asked->chain.rdma, found)))
		gather_impossible(comparison, found);
	else if ((asked->stage == O2_STAGE_REG_PLAN || asked->stage == O2_STAGE_TRANSFER) &&
		 found->kind != O2_ANSWER_BROKEN && has_must(comparison))
		compare_exactly(comparison, asked, expected, found);
}
