/* SPDX-License-Identifier: MIT */
/* Predicts findings, and compares them with the judge's findings and view. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/monotonic.h"
#include "props/judge/hearing.h"

void o2_hearing_expect(struct o2_hearing *h, enum o2_hearing_need need, enum o2_judge_rule_id rule,
		       enum o2_judge_side who, uint64_t earlier, const char *field, uint64_t value,
		       uint64_t limit, enum o2_limit_kind kind)
{
	if ((need == O2_HEARING_BOTH && h->one_way) || (need == O2_HEARING_WHOLE && !h->whole) ||
	    (need == O2_HEARING_EXACT && !h->exact) || (need == O2_HEARING_TERMS && !h->knows_terms))
		return;
	assert(h->ndue < O2_HEARING_FINDINGS);
	h->due[h->ndue++] = (struct o2_judge_finding){
		.rule = rule,
		.conn = h->conn,
		.who = who,
		.number = h->number + 1,
		.time_ns = h->clock_ns + h->now_ns,
		.earlier = earlier,
		.error = {.code = -EPROTO,
			  .rule = o2_judge_rules[rule].id,
			  .field = field,
			  .value = value,
			  .limit = limit,
			  .limit_kind = limit == O2_NO_LIMIT ? O2_LIMIT_OTHER : kind},
	};
}

/* How many of all[0..count-1] are remembered before all[i]? */
static uint32_t rank(const struct o2_judge_finding *all, uint32_t count, uint32_t i)
{
	const enum o2_judge_severity severity = o2_judge_rules[all[i].rule].severity;
	uint32_t before = 0;

	for (uint32_t k = 0; k < count; k++)
		before += o2_judge_rules[all[k].rule].severity < severity ||
			  (o2_judge_rules[all[k].rule].severity == severity && k < i);
	return before;
}

void o2_hearing_wait(struct o2_hearing_end *end, const struct o2_judge_finding *finding)
{
	struct o2_judge_finding all[O2_HEARING_WAITING + 1];
	const uint32_t count = end->nwaiting + 1;

	memcpy(all, end->waiting, end->nwaiting * sizeof(all[0]));
	all[count - 1] = *finding;
	end->nwaiting = 0;
	for (uint32_t i = 0; i < count; i++)
		if (rank(all, count, i) < O2_HEARING_WAITING)
			end->waiting[end->nwaiting++] = all[i];
}

void o2_hearing_forget_quiet(struct o2_hearing *h)
{
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++)
		h->end[side].said_ns = h->end[side].empty_noops = 0;
}

void o2_hearing_pass_ns(struct o2_hearing *h, uint64_t ns)
{
	uint64_t clock_ns, step_ns;

	h->now_ns += ns;
	if (!o2_hearing_is_set_right(h))
		return;
	clock_ns = h->clock_ns + h->now_ns;
	step_ns = clock_ns - h->heard_clock_ns;
	h->now_ns = h->heard_ns + (step_ns < h->behind_ns ? 0 : step_ns - h->behind_ns);
	h->clock_ns = clock_ns - h->now_ns;
	o2_hearing_forget_quiet(h);
}

void o2_hearing_expect_times(struct o2_hearing *h)
{
	const uint64_t limit_ms = h->options.timeout_ms;

	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		for (;;) {
			struct o2_hearing_transfer *oldest = NULL;

			for (uint32_t i = 0; i < O2_HEARING_TRANSFERS; i++) {
				struct o2_hearing_transfer *t = &h->transfer[i];

				if (t->open && t->followed && !t->late && (int)t->asker == side &&
				    h->now_ns - t->time_ns >= (limit_ms + 1) * O2_NS_PER_MS &&
				    (oldest == NULL || t->number < oldest->number))
					oldest = t;
			}
			if (oldest == NULL)
				break;
			oldest->late = true;
			o2_hearing_expect(
				h, O2_HEARING_BOTH, O2_JUDGE_TRANSFER_UNANSWERED,
				oldest->described && !oldest->is_get ? oldest->asker
								     : o2_hearing_other(oldest->asker),
				oldest->number, "milliseconds", (h->now_ns - oldest->time_ns) / O2_NS_PER_MS,
				limit_ms, O2_LIMIT_BOUND);
		}
	}
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		struct o2_hearing_end *end = &h->end[side];

		if (end->empty_ns == 0 || end->withheld_said ||
		    h->now_ns <= end->empty_ns + limit_ms * O2_NS_PER_MS)
			continue;
		end->withheld_said = true;
		o2_hearing_expect(h, O2_HEARING_BOTH, O2_JUDGE_CREDITS_WITHHELD,
				  o2_hearing_other((enum o2_judge_side)side), 0, "milliseconds",
				  (h->now_ns - end->empty_ns) / O2_NS_PER_MS, limit_ms, O2_LIMIT_BOUND);
	}
}

static bool same(const struct o2_judge_finding *a, const struct o2_judge_finding *b)
{
	return a->rule == b->rule && a->conn == b->conn && a->who == b->who && a->number == b->number &&
	       a->time_ns == b->time_ns && a->earlier == b->earlier && a->unproven == b->unproven &&
	       a->error.code == b->error.code && o2_same_text(a->error.rule, b->error.rule) &&
	       o2_same_text(a->error.field, b->error.field) && a->error.value == b->error.value &&
	       a->error.limit == b->error.limit &&
	       (a->error.limit == O2_NO_LIMIT || a->error.limit_kind == b->error.limit_kind);
}

static void add_finding(struct o2_report *report, const char *what, const struct o2_judge_finding *finding)
{
	o2_report_add(report,
		      "%s: %s by %c at event %" PRIu64 " (%" PRIu64 " ns), about %" PRIu64 ": %s is %" PRIu64
		      ", limit %" PRIu64 " of kind %d%s",
		      what, o2_judge_rules[finding->rule].id, finding->who == O2_JUDGE_A ? 'A' : 'B',
		      finding->number, finding->time_ns, finding->earlier,
		      finding->error.field == NULL ? "-" : finding->error.field, finding->error.value,
		      finding->error.limit, (int)finding->error.limit_kind,
		      finding->unproven ? ", not proven" : "");
}

void o2_hearing_compare(struct o2_hearing *h, const struct o2_judge_finding *due, uint32_t ndue)
{
	const uint32_t most = ndue > h->nfound ? ndue : h->nfound;
	char signature[96];

	for (uint32_t i = 0; h->log != NULL && i < h->nfound && h->nlog < O2_HEARING_LOG; i++)
		h->log[h->nlog++] = h->found[i];
	for (uint32_t i = 0; i < h->nfound && i < ndue; i++) {
		h->found_of[h->found[i].rule]++;
		*h->unproven += h->found[i].unproven;
	}
	for (uint32_t i = 0; i < most; i++) {
		if (i < ndue && i < h->nfound && same(&due[i], &h->found[i]))
			continue;
		snprintf(signature, sizeof(signature), "verdicts/%s/%s", i < h->nfound ? "found" : "missed",
			 o2_judge_rules[i < h->nfound ? h->found[i].rule : due[i].rule].id);
		o2_report_fail(h->report, signature, "scene %s, event %" PRIu64, h->scene, h->number);
		if (i < ndue)
			add_finding(h->report, "expected", &due[i]);
		if (i < h->nfound)
			add_finding(h->report, "found", &h->found[i]);
		break;
	}
	h->nfound = 0;
}

/* Check the credits of a side in the judge's view: docs/judge.md, "How it judges". */
static void check_credits(struct o2_hearing *h, const struct o2_judge_view *view, enum o2_judge_side side)
{
	const struct o2_hearing_end *end = &h->end[side];
	const int64_t room = o2_hearing_room(h, side);
	const int64_t least = h->exact ? room : end->balance - end->least;
	const bool knows = h->knows_terms && h->depth != 0;
	uint32_t low = O2_JUDGE_CREDITS_UNKNOWN, high = O2_JUDGE_CREDITS_UNKNOWN;

	if (!h->one_way && (knows || !h->exact))
		low = least < 0 ? 0 : (uint32_t)least;
	if (!h->one_way && knows)
		high = room < 0 ? 0 : (uint32_t)room;
	if (view->least_credits[side] != low || view->most_credits[side] != high)
		o2_report_fail(h->report, "verdicts/view/credits",
			       "%" PRIu32 " to %" PRIu32 ", expected %" PRIu32 " to %" PRIu32,
			       view->least_credits[side], view->most_credits[side], low, high);
}

void o2_hearing_check_view(struct o2_hearing *h)
{
	const struct o2_judge_view view = o2_judge_view(h->conn);
	const enum o2_judge_seen seen = h->one_way ? O2_JUDGE_ONE_WAY
					: h->whole ? O2_JUDGE_WHOLE
						   : O2_JUDGE_LATER;

	if (view.seen != seen)
		o2_report_fail(h->report, "verdicts/view/seen", "seen is %d, expected %d", (int)view.seen,
			       (int)seen);
	if (h->knows_terms &&
	    (view.version != h->version || view.queue_depth != h->depth || view.max_frags != h->max_frags))
		o2_report_fail(h->report, "verdicts/view/terms",
			       "version 0x%x, depth %" PRIu32 ", %" PRIu32 " fragments", view.version,
			       view.queue_depth, view.max_frags);
	if (view.id != h->id || view.heard != h->heard)
		o2_report_fail(h->report, "verdicts/view/heard",
			       "connection %" PRIu64 ", %" PRIu64 " events, expected %" PRIu64 ", %" PRIu64,
			       view.id, view.heard, h->id, h->heard);
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		const struct o2_hearing_end *end = &h->end[side];
		uint32_t open = 0;

		for (uint32_t i = 0; i < O2_HEARING_TRANSFERS; i++)
			open += h->transfer[i].open && h->transfer[i].followed &&
				(int)h->transfer[i].asker == side;
		if (view.messages[side] != end->messages || view.writes[side] != end->writes ||
		    view.write_bytes[side] != end->write_bytes)
			o2_report_fail(h->report, "verdicts/view/counts",
				       "%" PRIu64 " messages and %" PRIu64 " WRITEs of %" PRIu64 " bytes",
				       view.messages[side], view.writes[side], view.write_bytes[side]);
		check_credits(h, &view, (enum o2_judge_side)side);
		if (!h->one_way && view.open[side] != open)
			o2_report_fail(h->report, "verdicts/view/open",
				       "%" PRIu32 " of side %d open, expected %" PRIu32 " (%s, event %" PRIu64
				       ")",
				       view.open[side], side, open, h->scene, h->number);
		if (view.nid[side] != end->nid && (h->knows_terms || view.nid[side] != 0))
			o2_report_fail(h->report, "verdicts/view/nid", "another NID");
	}
}
