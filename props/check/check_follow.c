/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/backtrace.h"
#include "props/check/check_internal.h"
#include "props/check/check_simplify.h"
#include "props/engine/shrink.h"
#include "props/scenario/scenario_io.h"

/* From the first case that shows a difference to the smallest case found, kept with all that a report needs. */

/* Most questions per finding if each ends the child process, or waits for the time limit. */
#define CRASH_CALLS 300u
#define HANG_CALLS  24u

struct follow {
	struct o2_check_run *run;
	const struct o2_difference *sought; /* as first seen; gives the cause */
	enum o2_stage stage;
	struct o2_case *asked;
	struct o2_scenario *scenario;
	bool shows;		       /* the last answer differs with this cause */
	struct o2_check_finding *keep; /* not NULL: store the answer here */
};

static void keep_answer(struct follow *f, const struct o2_answer *answer)
{
	const struct o2_comparison *comparison = f->run->comparison;
	struct o2_check_finding *keep = f->keep;

	keep->question = o2_case_to_json(f->asked);
	keep->expected = o2_answer_to_json(f->asked, f->run->expected);
	keep->found = o2_answer_to_json(f->asked, answer);
	keep->others = json_array();
	if (answer->kind == O2_ANSWER_BROKEN && answer->fault.nframes > 0)
		keep->backtrace =
			o2_backtrace(f->run->subject->host->name, answer->fault.frame, answer->fault.nframes);
	for (uint32_t i = 0; i < comparison->count; i++) {
		if (o2_same_cause(f->sought, &comparison->item[i]))
			keep->difference = comparison->item[i];
		else
			json_array_append_new(keep->others,
					      json_string(o2_check_name(comparison->item[i].check)));
	}
}

static void answered(void *context, uint32_t index, const struct o2_answer *answer)
{
	struct follow *f = context;
	const struct o2_comparison *comparison = f->run->comparison;

	(void)index;
	f->shows = false;
	o2_answer_of_reference(f->asked, f->run->expected);
	o2_compare(f->run->comparison, f->asked, f->run->expected, answer);
	if (comparison->no_memory)
		f->run->rc = -ENOMEM;
	for (uint32_t i = 0; i < comparison->count; i++)
		f->shows |= o2_same_cause(f->sought, &comparison->item[i]);
	if (f->shows && f->keep != NULL)
		keep_answer(f, answer);
}

/* Ask f->asked.  True: the answer differs with the same cause. */
static bool ask(struct follow *f)
{
	struct o2_host *host = f->run->subject->host;

	if (f->asked->stage == O2_STAGE_MSG_ENCODE && !host->has_capacity)
		f->asked->msg_encode.capacity_bytes = O2_MSG_BYTES;
	f->shows = false;
	if (!o2_profile_asks(f->run->options->profile, f->asked, f->run->expected))
		return false;
	o2_check_ask(f->run, &f->asked, 1, answered, f);
	return f->shows;
}

static enum o2_status try_choices(void *context, struct o2_choice *c)
{
	struct follow *f = context;

	o2_draw_case(c, f->stage, f->asked, f->scenario);
	if (!o2_choice_ok(c))
		return o2_choice_status(c, O2_STATUS_INVALID);
	return o2_choice_status(c, ask(f) ? O2_STATUS_INTERESTING : O2_STATUS_VALID);
}

static uint32_t calls_for(const struct o2_check_options *options, enum o2_check_id check)
{
	uint32_t calls = options->shrink_calls;

	if ((check == O2_CHECK_RUN_HANG || check == O2_CHECK_PROTOCOL_FRAME) && calls > HANG_CALLS)
		calls = HANG_CALLS;
	else if ((check == O2_CHECK_RUN_CRASH || check == O2_CHECK_RUN_EXIT ||
		  check == O2_CHECK_RUN_OVERRUN || check == O2_CHECK_RUN_INPUT_WRITTEN) &&
		 calls > CRASH_CALLS)
		calls = CRASH_CALLS;
	return calls;
}

/* The choices that the item was drawn from.  Returns their length; 0: none. */
static uint32_t choices_of(struct o2_check_run *run, struct o2_check_item *item, uint8_t *bytes)
{
	if (!item->drawn) {
		memcpy(bytes, item->choices, item->nchoices);
		return item->nchoices;
	}
	o2_choice_random(run->choice, run->options->seed, item->index);
	o2_draw_case(run->choice, item->asked.stage, &item->asked, &item->scenario);
	memcpy(bytes, run->choice->record, run->choice->record_bytes);
	return run->choice->record_bytes;
}

static void draw_again(struct follow *f, const uint8_t *bytes, size_t length_bytes)
{
	o2_choice_replay(f->run->choice, bytes, length_bytes);
	o2_draw_case(f->run->choice, f->stage, f->asked, f->scenario);
}

/* --- simplify beyond what the generators draw --- */

static bool differs_as(void *context, const json_t *question)
{
	struct follow *f = context;

	if (f->stage != O2_STAGE_TRANSFER)
		return o2_case_from_json(question, f->asked, NULL) == 0 && ask(f);
	return o2_scenario_from_json(question, f->scenario, NULL) == 0 &&
	       o2_case_of_scenario(f->scenario, f->asked) && ask(f);
}

static bool differs_now(void *context)
{
	return ask(context);
}

/* Simplify the question; a transfer as the scenario that it was made from, so that its picture stays right. */
static bool simplify_question(struct follow *f, uint32_t *calls)
{
	json_t *question =
		f->stage == O2_STAGE_TRANSFER ? o2_scenario_to_json(f->scenario) : o2_case_to_json(f->asked);
	bool simpler = false;

	if (question == NULL) {
		*calls = 0;
		return false;
	}
	simpler = o2_check_simplify(&question, differs_as, f, calls);
	/* Ask once more: the last question asked need not be the last one that differed. */
	if (!differs_as(f, question))
		simpler = false;
	json_decref(question);
	return simpler;
}

/* Simplify the question that the finding's choices stand for. */
static void simplify(struct follow *f, const uint8_t *bytes, size_t length_bytes,
		     struct o2_check_finding *finding)
{
	const uint32_t most = calls_for(f->run->options, f->sought->check);
	uint32_t calls = most;

	/* If a question costs a process or a wait, shrinking and simplifying share the limit. */
	if (most < f->run->options->shrink_calls)
		calls -= finding->calls < most ? finding->calls : most;
	if (f->stage == O2_STAGE_MSG_DECODE)
		finding->simplified = o2_check_cut_message(&f->asked->msg_decode, differs_now, f, &calls);
	else
		finding->simplified = simplify_question(f, &calls);
	finding->calls += calls;
	if (!finding->simplified)
		draw_again(f, bytes, length_bytes);
}

/* Shrink the choices in place.  False: the difference did not occur again. */
static bool shrink(struct follow *f, uint8_t *bytes, size_t *length_bytes, struct o2_check_finding *finding)
{
	struct o2_shrink_report report = {0};
	const uint32_t calls = calls_for(f->run->options, f->sought->check);
	int rc = 0;

	finding->from_bytes = (uint32_t)*length_bytes;
	if (calls > 2)
		rc = o2_shrink(try_choices, f, bytes, length_bytes, calls, &report);
	finding->calls = report.calls;
	finding->to_bytes = (uint32_t)*length_bytes;
	draw_again(f, bytes, *length_bytes);
	return rc != -ESTALE;
}

static void say_origin(const struct o2_check_run *run, const struct o2_check_item *item,
		       struct o2_check_finding *finding)
{
	if (item->drawn)
		snprintf(finding->origin, sizeof(finding->origin), "seed 0x%" PRIx64 ", case %" PRIu64,
			 run->options->seed, item->index);
	else
		snprintf(finding->origin, sizeof(finding->origin), "%s", item->origin);
}

/*
 * The difference is gone when the question is asked alone, so the same question got two answers. A difference of
 * conduct (a process that exits after some questions, say) is kept as it was.
 */
static void keep_unstable(struct follow *f, const struct o2_check_lead *lead,
			  struct o2_check_finding *finding)
{
	enum o2_stage stage;

	f->keep = NULL;
	ask(f);
	finding->question = o2_case_to_json(f->asked);
	finding->expected = o2_answer_to_json(f->asked, f->run->expected);
	finding->found = json_null();
	finding->others = json_array();
	if (!o2_check_stage(lead->difference.check, &stage)) {
		snprintf(finding->difference.field, sizeof(finding->difference.field),
			 "conduct, after other questions");
		return;
	}
	finding->difference = (struct o2_difference){
		.check = O2_CHECK_RUN_UNSTABLE,
		.known = o2_known_find(f->run->subject->known, f->asked, O2_CHECK_RUN_UNSTABLE)};
	snprintf(finding->difference.cause, sizeof(finding->difference.cause), "%s",
		 o2_check_name(f->sought->check));
	snprintf(finding->difference.field, sizeof(finding->difference.field), "answer");
	snprintf(finding->difference.expected, sizeof(finding->difference.expected),
		 "the same answer to the same question");
	snprintf(finding->difference.found, sizeof(finding->difference.found),
		 "it differed in %s, and does not any more", o2_check_name(f->sought->check));
}

struct hang {
	uint32_t index; /* of the question that hung */
	bool again;
};

static void note_hang(void *context, uint32_t index, const struct o2_answer *answer)
{
	struct hang *hang = context;

	if (index == hang->index)
		hang->again = answer->kind == O2_ANSWER_BROKEN && answer->fault.check == O2_CHECK_RUN_HANG;
}

/* Does the question hang behind those that it was asked with, as where one of them leaves a lock held? */
static bool hangs_behind_others(struct o2_check_run *run, const struct o2_check_lead *lead)
{
	struct o2_case *asked[O2_HOST_BATCH];
	struct hang hang = {.index = lead->item};

	if (lead->item == 0)
		return false;
	for (uint32_t i = 0; i <= lead->item; i++)
		asked[i] = &run->item[i]->asked;
	o2_check_ask(run, asked, lead->item + 1, note_hang, &hang);
	return hang.again;
}

static void keep_scenario(const struct follow *f, bool has_scenario, struct o2_check_finding *finding)
{
	const struct o2_case_node *node = f->asked->transfer.node;

	/* A scenario cannot express other limits, so its picture would show another transfer. */
	if (!f->run->options->pictures || !has_scenario || node[O2_SOURCE].max_pages != O2_MAX_FRAGS ||
	    node[O2_SINK].max_pages != O2_MAX_FRAGS)
		return;
	finding->scenario = malloc(sizeof(*finding->scenario));
	if (finding->scenario != NULL)
		*finding->scenario = *f->scenario;
}

void o2_check_finding_free(struct o2_check_finding *finding)
{
	json_decref(finding->question);
	json_decref(finding->expected);
	json_decref(finding->found);
	json_decref(finding->others);
	json_decref(finding->backtrace);
	json_decref(finding->explains);
	free(finding->scenario);
	free(finding->choices);
}

#define GROWTH 64u /* findings for which room is made at a time */

/*
 * Store a finding: replace one of the same cause that could not be shrunk, or append. Differences that are gone when
 * asked for again are known by their cause here only.
 */
static void store(struct o2_check_run *run, struct o2_check_finding *finding)
{
	struct o2_check_subject *subject = run->subject;
	struct o2_check_finding *old = o2_check_finding_of(subject, finding->stage, &finding->difference);
	struct o2_check_finding *more = subject->finding;
	const bool unstable = finding->difference.check == O2_CHECK_RUN_UNSTABLE;

	if (old != NULL)
		old->seen += unstable;
	if (unstable && (old != NULL ? old->shrinkable || !finding->shrinkable
				     : !o2_check_may_keep(run, finding->stage, &finding->difference))) {
		o2_check_finding_free(finding);
		return;
	}
	finding->seen = old == NULL ? 1 : old->seen;
	if (old == NULL) {
		if (subject->findings % GROWTH == 0)
			more = realloc(subject->finding, (subject->findings + GROWTH) * sizeof(*more));
		if (more == NULL) {
			run->rc = -ENOMEM;
			o2_check_finding_free(finding);
			return;
		}
		subject->finding = more;
		subject->finding[subject->findings++] = *finding;
		return;
	}
	finding->explained = old->explained;
	finding->explains = json_incref(old->explains);
	o2_check_finding_free(old);
	*old = *finding;
}

void o2_check_follow(struct o2_check_run *run, const struct o2_check_lead *lead)
{
	struct o2_check_item *item = run->item[lead->item];
	struct o2_host *host = run->subject->host;
	struct o2_check_finding finding = {.difference = lead->difference, .stage = item->asked.stage};
	struct follow f = {.run = run,
			   .sought = &lead->difference,
			   .stage = item->asked.stage,
			   .asked = &item->asked,
			   .scenario = &item->scenario};
	uint8_t *bytes = malloc(O2_CHOICE_MAX_BYTES);
	size_t length = 0;
	bool again = true;

	if (bytes == NULL) {
		run->rc = -ENOMEM;
		return;
	}
	say_origin(run, item, &finding);
	finding.after = lead->after;
	finding.seconds = lead->seconds;
	host->thorough = lead->difference.check == O2_CHECK_RUN_LEAK;
	length = choices_of(run, item, bytes);
	finding.shrinkable = length > 0;
	if (length > 0)
		again = shrink(&f, bytes, &length, &finding);
	if (length > 0)
		finding.choices = o2_check_hex(bytes, length);
	if (length > 0 && again)
		simplify(&f, bytes, length, &finding);
	f.keep = &finding;
	again = again && ask(&f);
	host->thorough = false;
	if (!again && lead->difference.check == O2_CHECK_RUN_HANG && !hangs_behind_others(run, lead)) {
		/* It answers in time when asked again: the machine was busy, and this is no difference. */
		o2_check_late(run, item->asked.stage);
		free(finding.choices);
	} else {
		if (!again)
			keep_unstable(&f, lead, &finding);
		keep_scenario(&f, item->has_scenario, &finding);
		store(run, &finding);
	}
	free(bytes);
}
