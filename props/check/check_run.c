/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/monotonic.h"
#include "oracle/flavour.h"
#include "props/check/check_internal.h"

/* Late answers before a stage is given up.  For crashes, check_steer.h leaves out most questions instead. */
#define HANGS_LIMIT 8u

/* Wrong frames before a program is given up. */
#define FRAMES_LIMIT 8u

/* If the reference refuses, count the rule by which it does. */
static void count_met(struct o2_check_run *run, const struct o2_case *asked)
{
	enum o2_check_id rule;
	enum o2_stage stage;

	if (run->expected->kind != O2_ANSWER_REFUSED)
		return;
	rule = o2_check_find(run->expected->refusal.name);
	/* Several stages decode messages; refusals there do not count as tests of msg_decode. */
	if (rule == O2_CHECKS || asked->stage == O2_STAGE_TRANSFER ||
	    (asked->stage >= O2_STAGES_1 && (!o2_check_stage(rule, &stage) || stage != asked->stage)))
		return;
	run->subject->met[rule]++;
}

void o2_check_ask(struct o2_check_run *run, struct o2_case *const *asked, uint32_t count,
		  o2_host_answered answered, void *context)
{
	struct o2_host *host = run->subject->host;
	const int rc = run->rc != 0 ? run->rc : host->ops->ask(host, asked, count, answered, context);

	if (rc != 0)
		run->rc = rc;
}

/* All stages are framed alike, and each wrong frame costs a start of the program or the time limit. */
static bool is_misframed(const struct o2_check_run *run)
{
	const uint64_t wrong = run->subject->misframed;

	return wrong >= FRAMES_LIMIT && 2 * wrong > run->answers;
}

/* Take back a hang: the answer was only late.  The stage is asked again if it was given up for that. */
void o2_check_late(struct o2_check_run *run, enum o2_stage stage)
{
	struct o2_check_subject *subject = run->subject;

	subject->late++;
	subject->tally[stage].differed--;
	subject->tally[stage].agreed++;
	if (subject->hangs[stage] > 0)
		subject->hangs[stage]--;
	subject->given_up[stage] = subject->hangs[stage] >= HANGS_LIMIT || is_misframed(run);
}

/* Count a hang.  As each costs the time limit, the stage is given up after HANGS_LIMIT. */
static void count_hang(struct o2_check_run *run, enum o2_stage stage, const struct o2_answer *answer)
{
	struct o2_check_subject *subject = run->subject;

	if (answer->kind != O2_ANSWER_BROKEN || answer->fault.check != O2_CHECK_RUN_HANG)
		return;
	if (++subject->hangs[stage] >= HANGS_LIMIT)
		subject->given_up[stage] = true;
}

static void count_misframed(struct o2_check_run *run, const struct o2_answer *answer)
{
	if (answer->conduct.check != O2_CHECK_PROTOCOL_FRAME &&
	    (answer->kind != O2_ANSWER_BROKEN || answer->fault.check != O2_CHECK_PROTOCOL_FRAME))
		return;
	run->subject->misframed++;
	for (uint32_t i = 0; i < O2_STAGES && is_misframed(run); i++)
		run->subject->given_up[i] = !run->subject->host->absent[i];
}

static void count_kind(struct o2_check_subject *subject, const struct o2_case *asked,
		       const struct o2_answer *answer)
{
	const uint32_t kind = o2_check_kind(asked);

	if (kind != O2_CHECK_KINDS && answer->kind != O2_ANSWER_NOT_IMPLEMENTED)
		subject->kind_answered[kind]++;
}

static void note_leads(struct o2_check_run *run, uint32_t index)
{
	for (uint32_t i = 0; i < run->comparison->count; i++)
		if (run->leads < O2_CHECK_LEADS &&
		    o2_check_is_news(run, run->item[index], &run->comparison->item[i]))
			run->lead[run->leads++] =
				(struct o2_check_lead){.item = index,
						       .after = run->answers,
						       .seconds = o2_monotonic_seconds() - run->start,
						       .difference = run->comparison->item[i]};
}

static void answered(void *context, uint32_t index, const struct o2_answer *answer)
{
	struct o2_check_run *run = context;
	struct o2_check_item *item = run->item[index];
	struct o2_check_tally *tally = &run->subject->tally[item->asked.stage];
	bool differs = false;

	tally->asked++;
	run->answers++;
	count_kind(run->subject, &item->asked, answer);
	count_hang(run, item->asked.stage, answer);
	count_misframed(run, answer);
	o2_steer_note(run->steer, &item->asked,
		      answer->kind == O2_ANSWER_RESULT || answer->kind == O2_ANSWER_REFUSED);
	o2_answer_of_reference(&item->asked, run->expected);
	if (answer->kind != O2_ANSWER_NOT_IMPLEMENTED)
		count_met(run, &item->asked);
	o2_compare(run->comparison, &item->asked, run->expected, answer);
	if (run->comparison->no_memory)
		run->rc = -ENOMEM;
	run->subject->unmapped += run->comparison->unmapped;
	for (uint32_t i = 0; i < run->comparison->accepted; i++)
		run->subject->accepted[run->comparison->accepted_check[i]]++;
	for (uint32_t i = 0; i < run->comparison->count; i++)
		differs |= o2_check_severity(run->comparison->item[i].check, run->options->profile) ==
			   O2_CHECK_MUST;
	note_leads(run, index);
	if (differs)
		tally->differed++;
	else if (answer->kind == O2_ANSWER_NOT_IMPLEMENTED)
		tally->not_implemented++;
	else
		tally->agreed++;
}

struct flavours {
	bool takes[2];
	bool answered;
};

static void flavour_answered(void *context, uint32_t index, const struct o2_answer *answer)
{
	struct flavours *flavours = context;

	flavours->takes[index] = answer->kind == O2_ANSWER_RESULT;
	flavours->answered |= answer->kind != O2_ANSWER_NOT_IMPLEMENTED;
}

/* Ask, before the first message, which flavours of checksum the implementation accepts. */
static void ask_flavour(struct o2_check_run *run, struct o2_case *const *asked, uint32_t count)
{
	struct o2_host *host = run->subject->host;
	struct flavours flavours = {.answered = false};
	struct o2_case *question[2];
	bool decodes = false;

	for (uint32_t i = 0; i < count; i++)
		decodes |= o2_flavour_matters(asked[i]);
	if (!decodes || run->flavour_asked)
		return;
	run->flavour_asked = true;
	question[0] = calloc(2, sizeof(*question[0]));
	if (question[0] == NULL) {
		run->rc = -ENOMEM;
		return;
	}
	question[1] = question[0] + 1;
	for (uint32_t i = 0; i < O2_FLAVOUR_STAGES && run->rc == 0 && !flavours.answered; i++) {
		if (host->absent[o2_flavour_stages[i]])
			continue;
		o2_flavour_question(o2_flavour_stages[i], O2_CKSUM_UNSIGNED, question[0]);
		o2_flavour_question(o2_flavour_stages[i], O2_CKSUM_SIGNED, question[1]);
		run->rc = host->ops->ask(host, question, 2, flavour_answered, &flavours);
	}
	run->comparison->flavour = o2_flavour_of(flavours.takes[0], flavours.takes[1]);
	free(question[0]);
}

/* Keep the question out of the way of the next batch, or give it back. */
static void swap_last(struct o2_check_run *run, uint32_t index)
{
	struct o2_check_item *item = run->item[index];

	run->item[index] = run->last;
	run->last = item;
}

void o2_check_flush(struct o2_check_run *run)
{
	struct o2_host *host = run->subject->host;
	struct o2_case *asked[O2_HOST_BATCH];
	const uint32_t count = run->items;
	double began;

	run->items = 0;
	run->leads = 0;
	if (count == 0 || run->rc != 0)
		return;
	for (uint32_t i = 0; i < count; i++) {
		asked[i] = &run->item[i]->asked;
		if (asked[i]->stage == O2_STAGE_MSG_ENCODE && !host->has_capacity)
			asked[i]->msg_encode.capacity_bytes = O2_MSG_BYTES;
	}
	ask_flavour(run, asked, count);
	o2_check_ask(run, asked, count, answered, run);
	began = o2_monotonic_seconds();
	for (uint32_t i = 0; run->rc == 0 && i < run->leads; i++)
		if (!o2_check_hung_before(run, &run->lead[i]))
			o2_check_follow(run, &run->lead[i]);
	run->following += o2_monotonic_seconds() - began;
	swap_last(run, count - 1);
	run->has_last = true;
}

/* What the implementation did after its last answer belongs to the last question. */
static void settle(struct o2_check_run *run)
{
	struct o2_host *host = run->subject->host;
	struct o2_check_tally *tally;
	struct o2_answer *nothing;

	if (run->rc != 0 || !run->has_last || host->ops->settle == NULL)
		return;
	nothing = calloc(1, sizeof(*nothing));
	if (nothing == NULL) {
		run->rc = -ENOMEM;
		return;
	}
	nothing->kind = O2_ANSWER_NOT_IMPLEMENTED;
	host->ops->settle(host, &nothing->conduct);
	swap_last(run, 0);
	if (nothing->conduct.check != O2_CHECKS) {
		tally = &run->subject->tally[run->item[0]->asked.stage];
		tally->differed += tally->agreed > 0;
		tally->agreed -= tally->agreed > 0;
		o2_answer_of_reference(&run->item[0]->asked, run->expected);
		o2_compare(run->comparison, &run->item[0]->asked, run->expected, nothing);
		run->leads = 0;
		note_leads(run, 0);
		for (uint32_t i = 0; run->rc == 0 && i < run->leads; i++)
			o2_check_follow(run, &run->lead[i]);
	}
	free(nothing);
}

struct o2_check_item *o2_check_next(struct o2_check_run *run)
{
	struct o2_check_item *item = run->item[run->items];

	item->has_scenario = false;
	item->drawn = false;
	item->nchoices = 0;
	item->origin[0] = '\0';
	return item;
}

void o2_check_add(struct o2_check_run *run)
{
	struct o2_check_item *item = run->item[run->items];
	const enum o2_stage stage = item->asked.stage;

	run->subject->not_selected += !run->options->stage[stage];
	if (!run->options->stage[stage] || run->subject->given_up[stage])
		return;
	if (!o2_profile_asks(run->options->profile, &item->asked, run->expected)) {
		run->subject->not_given++;
		return;
	}
	if (run->subject->host->absent[stage]) {
		run->subject->tally[stage].asked++;
		run->subject->tally[stage].not_implemented++;
		return;
	}
	/* While the framing is not known to be right, ask one at a time: bytes behind an answer are seen at once. */
	if (++run->items >= (2ull * run->subject->misframed >= run->answers ? 1 : O2_HOST_BATCH))
		o2_check_flush(run);
}

/* The stages that are asked for and that the subject may have. */
static uint32_t open_stages(const struct o2_check_run *run, enum o2_stage *stages)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < O2_STAGES; i++)
		if (run->options->stage[i] && !run->subject->host->absent[i] && !run->subject->given_up[i])
			stages[count++] = (enum o2_stage)i;
	return count;
}

static void draw_one(struct o2_check_run *run, uint64_t index, enum o2_stage stage)
{
	struct o2_check_item *item = o2_check_next(run);

	o2_choice_random(run->choice, run->options->seed, index);
	o2_draw_case(run->choice, stage, &item->asked, &item->scenario);
	if (!o2_choice_ok(run->choice))
		return;
	if (o2_steer_leaves_out(run->steer, &item->asked, index)) {
		run->subject->tally[stage].left_out++;
		return;
	}
	item->drawn = true;
	item->index = index;
	item->has_scenario = stage == O2_STAGE_TRANSFER;
	o2_check_add(run);
}

static void draw_all(struct o2_check_run *run)
{
	const struct o2_check_options *options = run->options;
	enum o2_stage stages[O2_STAGES];
	uint32_t count = open_stages(run, stages);

	for (uint64_t i = 0; run->rc == 0 && (options->cases == 0 || i < options->cases); i++) {
		if (i % 256 == 0) {
			/* Ask at least one question, however short the time is. */
			if (options->seconds > 0 && i > 0 &&
			    o2_monotonic_seconds() - run->start - run->following >= options->seconds)
				break;
			/* A process says that it lacks a stage by exiting, so the list may have become shorter. */
			count = open_stages(run, stages);
		}
		if (count == 0)
			break;
		draw_one(run, options->first + i, stages[(options->first + i) % count]);
	}
	o2_check_flush(run);
}

static int open_run(struct o2_check_run *run)
{
	run->comparison = calloc(1, sizeof(*run->comparison));
	run->expected = calloc(1, sizeof(*run->expected));
	run->choice = calloc(1, sizeof(*run->choice));
	run->steer = calloc(1, sizeof(*run->steer));
	if (run->comparison == NULL || run->expected == NULL || run->choice == NULL || run->steer == NULL)
		return -ENOMEM;
	run->comparison->profile = run->options->profile;
	run->comparison->map = run->subject->map;
	run->comparison->known = run->subject->known;
	for (uint32_t i = 0; i < O2_HOST_BATCH; i++) {
		run->item[i] = calloc(1, sizeof(*run->item[i]));
		if (run->item[i] == NULL)
			return -ENOMEM;
	}
	run->last = calloc(1, sizeof(*run->last));
	return run->last == NULL ? -ENOMEM : 0;
}

static void close_run(struct o2_check_run *run)
{
	for (uint32_t i = 0; i < O2_HOST_BATCH; i++)
		free(run->item[i]);
	free(run->last);
	free(run->comparison);
	free(run->expected);
	free(run->choice);
	free(run->steer);
}

int o2_check_run(const struct o2_check_options *options, struct o2_check_subject *subject, char *text,
		 size_t text_bytes)
{
	struct o2_check_run run = {.options = options, .subject = subject, .start = o2_monotonic_seconds()};
	int rc = open_run(&run);

	text[0] = '\0';
	if (rc == 0)
		rc = o2_check_greet(&run);
	if (rc == 0 && options->choices != NULL)
		rc = o2_check_choices(&run, options->choices, text, text_bytes);
	else if (rc == 0 && options->case_file != NULL)
		rc = o2_check_file(&run, options->case_file, text, text_bytes);
	else if (rc == 0)
		o2_check_again(&run);
	if (rc == 0 && options->corpus != NULL && options->choices == NULL && options->case_file == NULL)
		rc = o2_check_corpus(&run, options->corpus, text, text_bytes);
	if (rc == 0) {
		o2_check_flush(&run);
		if (options->case_file == NULL && options->choices == NULL)
			draw_all(&run);
		settle(&run);
		rc = run.rc;
	}
	o2_check_causes(subject, options->profile);
	subject->seconds = o2_monotonic_seconds() - run.start;
	close_run(&run);
	return rc;
}

void o2_check_subject_free(struct o2_check_subject *subject)
{
	for (uint32_t i = 0; i < subject->findings; i++)
		o2_check_finding_free(&subject->finding[i]);
	free(subject->finding);
}
