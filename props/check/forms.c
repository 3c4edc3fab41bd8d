/* SPDX-License-Identifier: MIT */
#include "props/check/forms.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "oracle/stage_ops.h"
#include "oracle/stages/flow_end.h"
#include "props/check/forms_tables.h"
#include "props/model/refusals.h"
#include "props/scenario/draw.h"

#define SITUATION_LIST(ENTRY)                            \
	ENTRY(INPUT_REFUSED, "changed_question_refused") \
	ENTRY(INPUT_READ, "changed_question_read")       \
	ENTRY(MEMBER_MISSING, "member_missing")          \
	ENTRY(ANSWER_REFUSED, "changed_answer_broken")   \
	ENTRY(ANSWER_READ, "changed_answer_read")        \
	ENTRY(DIFFERENCE, "difference_found")            \
	ENTRY(SLOTS, "slots_of_an_object")               \
	ENTRY(ENCODED, "encoded_byte")                   \
	ENTRY(CONDUCT, "conduct")                        \
	ENTRY(MAP, "error_map")                          \
	ENTRY(KNOWN, "known_differences")                \
	ENTRY(FLAVOUR, "one_flavour_of_checksum")        \
	ENTRY(IMPOSSIBLE, "source_that_no_caller_has")   \
	ENTRY(TABLE, "table_of_fields")                  \
	ENTRY(VERDICTS, "two_verdicts")                  \
	ENTRY(SET_UP, "any_set_up")                      \
	ENTRY(KEY_LIFE, "any_life_of_a_key")             \
	ENTRY(TALK, "conversation_with_one_fault")       \
	ENTRY(WAITS, "noop_that_may_wait")               \
	ENTRY(LIMITS, "list_at_its_limit")               \
	ENTRY(CHAIN, "chain_with_another_message")       \
	ENTRY(SHORT, "form_without_memory")

enum situation {
	OF_STAGE, /* the other stages follow in their order */
	LAST_OF_STAGE = OF_STAGE + O2_STAGES - 1,
	SITUATION_LIST(O2_SITUATION_ID) SITUATIONS,
};

static const char *const situations[SITUATIONS] = {
	"msg_decode", "msg_encode", "sg_build", "dma_map",
	"reg_plan",   "rdma_plan",  "transfer", "device",
	"rdma_chain", "connect",    "deliver",	"keys",
	"send_plan",  "setup",	    "flow",	SITUATION_LIST(O2_SITUATION_NAME)};

void o2_forms_fail(struct o2_report *report, const char *part, const char *what, const char *text,
		   const json_t *form)
{
	char *spelt = json_dumps(form, JSON_COMPACT);

	o2_report_fail_in(report, part, what, "%s", text);
	o2_report_add(report, "%.300s", spelt == NULL ? "(nothing)" : spelt);
	free(spelt);
}

static void fail(struct o2_forms_run *run, struct o2_report *report, const char *what, const json_t *form)
{
	char part[32];

	snprintf(part, sizeof(part), "forms/%s", o2_stage_name(run->asked.stage));
	o2_forms_fail(report, part, what, run->change.text, form);
}

/* --- questions --- */

/* Check that a written question is read back unchanged. */
static void check_question(struct o2_forms_run *run, const json_t *form, struct o2_report *report)
{
	struct o2_error error = {0};
	json_t *written;
	int rc;

	memset(&run->again, 0, sizeof(run->again));
	rc = o2_case_from_json(form, &run->again, &error);
	if (rc != 0) {
		fail(run, report, "question-not-read", form);
		o2_report_add(report, "refused by %s: %s", error.rule, error.field);
		return;
	}
	written = o2_case_to_json(&run->again);
	if (!json_equal(written, form))
		fail(run, report, "question-differs", written);
	json_decref(written);
}

/*
 * Check that a changed question is refused by the name of its field, or read as what it says. For a conversation
 * the refusal may name a later event that has become impossible.
 */
static void check_changed_question(struct o2_forms_run *run, const json_t *form, struct o2_report *report)
{
	uint64_t *seen = run->tally.seen;
	struct o2_error error = {0};
	json_t *written;
	int rc;

	memset(&run->again, 0, sizeof(run->again));
	rc = o2_case_from_json(form, &run->again, &error);
	seen[MEMBER_MISSING] += run->change.deleted;
	seen[rc == 0 ? INPUT_READ : INPUT_REFUSED]++;
	if (rc != 0) {
		if (rc != -EINVAL || error.code != rc || error.rule == NULL || error.field == NULL)
			fail(run, report, "refusal-says-nothing", form);
		else if (!o2_refusal_is_true(&error))
			fail(run, report, "refusal-of-what-is-allowed", form);
		else if (strcmp(error.rule, O2_FLOW_QUESTION) != 0 &&
			 !o2_form_names(&run->change, error.field)) {
			fail(run, report, "refusal-of-another-field", form);
			o2_report_add(report, "refused by %s: %s", error.rule, error.field);
		}
		return;
	}
	written = o2_case_to_json(&run->again);
	if (written == NULL || !o2_form_agrees(written, form, &run->change))
		fail(run, report, "question-read-as-another", written);
	else if (!o2_forms_may_be_asked(&run->again))
		fail(run, report, "question-that-none-may-ask", form);
	else if (!o2_forms_tables_end(&run->again))
		fail(run, report, "question-with-more-pages", form);
	else if (!run->change.deleted && o2_form_at(written, &run->change) == NULL &&
		 !o2_form_is_of_set(&run->change) &&
		 !o2_form_is_default(o2_form_at(form, &run->change), &run->change))
		fail(run, report, "member-not-read", form);
	json_decref(written);
}

/* --- answers --- */

void o2_forms_compare(struct o2_forms_run *run)
{
	static const struct o2_error_map no_map;

	run->comparison.map = &no_map;
	o2_compare(&run->comparison, &run->asked, &run->expected, &run->found);
}

static uint32_t differences(struct o2_forms_run *run)
{
	run->found.conduct.check = O2_CHECKS;
	o2_forms_compare(run);
	return run->comparison.count + run->comparison.no_memory;
}

static void check_answer(struct o2_forms_run *run, const json_t *form, struct o2_report *report)
{
	memset(&run->found, 0, sizeof(run->found));
	o2_answer_from_json(&run->asked, form, &run->found);
	if (run->found.kind != run->expected.kind) {
		fail(run, report, "answer-not-read", form);
		o2_report_add(report, "%s", run->found.fault.text);
	} else if (differences(run) != 0) {
		fail(run, report, "answer-differs", form);
		o2_report_add(report, "%s", o2_check_name(run->comparison.item[0].check));
	}
}

/* Stages with several right answers: only what these share is compared, so a change may go unnoticed. */
static bool is_free(enum o2_stage stage)
{
	return stage == O2_STAGE_REG_PLAN || stage == O2_STAGE_RDMA_PLAN || stage == O2_STAGE_TRANSFER ||
	       stage == O2_STAGE_RDMA_CHAIN || stage == O2_STAGE_SEND_PLAN || stage == O2_STAGE_SETUP;
}

/* Do two refusals differ in what they both state?  What one of them leaves open is no difference. */
static bool refusals_differ(const struct o2_forms_run *run)
{
	const struct o2_answer_refusal *e = &run->expected.refusal;
	const struct o2_answer_refusal *f = &run->found.refusal;
	const enum o2_stage stage = run->asked.stage;
	const struct o2_stage_ops *ops = o2_stage_ops(stage);
	const bool same_rule = strcmp(e->name, f->name) == 0;

	if (e->error != f->error)
		return true;
	if (!same_rule && o2_check_find(f->name) != O2_CHECKS && o2_check_is_rule(o2_check_find(f->name)))
		return true;
	if (stage == O2_STAGE_TRANSFER)
		return f->where != O2_WHERE_NOT_SAID && e->where != f->where;
	if (ops != NULL && ops->index == O2_CHECKS)
		return false; /* the index of an entry is not compared */
	if (same_rule && e->index != O2_NO_INDEX && f->index != O2_NO_INDEX && e->index != f->index)
		return true;
	return stage == O2_STAGE_MSG_DECODE && e->cost != O2_COST_NOT_SAID && f->cost != O2_COST_NOT_SAID &&
	       e->cost != f->cost;
}

/* Members that the question also has: answers may omit them, and their values are ignored (docs/oracle.md). */
static bool is_implied(const struct o2_form_change *change)
{
	static const char *const implied[] = {"mode", "side", "page_bytes"};

	for (size_t i = 0; i < sizeof(implied) / sizeof(implied[0]); i++)
		if (strcmp(change->key[change->steps - 1], implied[i]) == 0)
			return true;
	return false;
}

/* Does each difference name its place, what was expected, and what was found? */
static bool says_what_differs(const struct o2_comparison *comparison, enum o2_stage stage)
{
	/* A piece or region may have its length at a wrong place.  For work requests the numbers must differ. */
	const bool numbers = stage == O2_STAGE_RDMA_PLAN || stage == O2_STAGE_RDMA_CHAIN;

	for (uint32_t i = 0; i < comparison->count; i++) {
		const struct o2_difference *item = &comparison->item[i];

		if (item->check >= O2_CHECKS || item->field[0] == '\0' || item->expected[0] == '\0' ||
		    item->found[0] == '\0' || (numbers && strcmp(item->expected, item->found) == 0))
			return false;
	}
	return true;
}

static void judge_read_answer(struct o2_forms_run *run, const json_t *before, const json_t *form,
			      uint32_t found, struct o2_report *report)
{
	json_t *written = o2_answer_to_json(&run->asked, &run->found);
	const bool same = json_equal(written, before);
	bool differ = !same;

	if (run->expected.kind != run->found.kind)
		differ = run->found.kind != O2_ANSWER_NOT_IMPLEMENTED;
	else if (run->expected.kind == O2_ANSWER_REFUSED)
		differ = refusals_differ(run);
	else if (is_free(run->asked.stage) && !same)
		differ = found != 0;
	if (!says_what_differs(&run->comparison, run->asked.stage))
		fail(run, report, "difference-without-words", written);
	else if (!o2_forms_is_of_its_class(run, &run->tally.seen[IMPOSSIBLE]))
		fail(run, report, "difference-of-another-class", written);
	else if (run->found.kind == O2_ANSWER_RESULT && !is_implied(&run->change) &&
		 !o2_form_agrees(written, form, &run->change))
		fail(run, report, "answer-read-as-another", written);
	else if (!same && found == 0 && run->expected.kind == O2_ANSWER_RESULT &&
		 run->found.kind == O2_ANSWER_RESULT &&
		 o2_forms_plan_is_wrong(&run->asked, &run->expected, &run->found))
		fail(run, report, "wrong-plan-not-found", written);
	else if (differ != (found != 0)) {
		fail(run, report, differ ? "difference-not-found" : "difference-without-reason", written);
		if (!differ)
			o2_report_add(report, "%s", o2_check_name(run->comparison.item[0].check));
	}
	if (!report->failed)
		o2_forms_check_words(run, before, form, report);
	json_decref(written);
}

/* "x is 4, limit 4" cannot be: the number called wrong must not be an allowed one. */
static bool is_true(const char *text)
{
	const char *is = strstr(text, " is "), *allowed = strstr(text, ", limit ");
	unsigned long long value, limit;

	if (allowed == NULL)
		allowed = strstr(text, ", expected ");
	return is == NULL || allowed == NULL || sscanf(is, " is %llu,", &value) != 1 ||
	       sscanf(allowed, ", %*s %llu", &limit) != 1 || value != limit;
}

static void check_changed_answer(struct o2_forms_run *run, const json_t *before, const json_t *form,
				 struct o2_report *report)
{
	uint64_t *seen = run->tally.seen;
	uint32_t found;

	memset(&run->found, 0, sizeof(run->found));
	o2_answer_from_json(&run->asked, form, &run->found);
	seen[run->found.kind == O2_ANSWER_BROKEN ? ANSWER_REFUSED : ANSWER_READ]++;
	found = differences(run);
	seen[DIFFERENCE] += found != 0;
	if (run->found.kind != O2_ANSWER_BROKEN)
		judge_read_answer(run, before, form, found, report);
	else if (run->found.fault.check >= O2_CHECKS || run->found.fault.text[0] == '\0' || found == 0)
		fail(run, report, "broken-answer-without-a-check", form);
	else if (!is_true(run->found.fault.text))
		fail(run, report, "broken-by-what-is-allowed", form);
}

static void check_regions(const struct o2_forms_run *run, struct o2_report *report)
{
	if (run->asked.stage == O2_STAGE_REG_PLAN)
		o2_forms_check_region(&run->expected.reg, report);
	for (int side = 0; side < 2 && run->asked.stage == O2_STAGE_TRANSFER; side++)
		o2_forms_check_region(&run->expected.transfer.node[side], report);
}

/* --- the case --- */

static void check_case(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report)
{
	json_t *question = o2_case_to_json(&run->asked);
	json_t *answer, *changed;

	if (question == NULL) /* a question that the form cannot express */
		return;
	check_question(run, question, report);
	if (!report->failed && o2_form_change(choice, question, &run->change))
		check_changed_question(run, question, report);
	json_decref(question);
	if (report->failed)
		return;
	o2_answer_of_reference(&run->asked, &run->expected);
	answer = o2_answer_to_json(&run->asked, &run->expected);
	snprintf(run->change.text, sizeof(run->change.text), "the answer, unchanged");
	if (run->expected.kind == O2_ANSWER_RESULT || run->expected.kind == O2_ANSWER_REFUSED)
		check_answer(run, answer, report);
	if (!report->failed && run->expected.kind == O2_ANSWER_RESULT)
		check_regions(run, report);
	changed = json_deep_copy(answer);
	if (!report->failed && o2_form_change(choice, changed, &run->change))
		check_changed_answer(run, answer, changed, report);
	json_decref(changed);
	json_decref(answer);
}

/*
 * Cases without a whole form. They follow the stages of version 1; the stages of version 2 come after them, so that
 * seeds keep their meaning when a stage is added.
 */
enum part {
	REFUSED_ONLY = O2_STAGES_1,
	SLOTS_ONLY,
	ENCODED_ONLY,
	CONDUCT_ONLY,
	MAP_ONLY,
	KNOWN_ONLY,
	STAGES_2,
	FLAVOUR_ONLY = STAGES_2 + O2_STAGES - O2_STAGES_1,
	TABLE_ONLY,
	VERDICTS_ONLY,
	SETUP_ONLY,
	KEYS_ONLY,
	FLOW_ONLY,
	WAITS_ONLY,
	LIMITS_ONLY,
	CHAIN_ONLY,
	SHORT_ONLY,
	PARTS,
};

static void waits(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report)
{
	run->tally.seen[WAITS] += o2_forms_check_flow_waits(run, choice, report);
}

/* Situations that are counted when a part was checked. */
static const struct {
	void (*check)(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);
	enum situation seen;
} parts[PARTS] = {
	[REFUSED_ONLY] = {o2_forms_check_refused, SITUATIONS},
	[SLOTS_ONLY] = {o2_forms_check_slots, SLOTS},
	[ENCODED_ONLY] = {o2_forms_check_encoded, ENCODED},
	[CONDUCT_ONLY] = {o2_forms_check_conduct, CONDUCT},
	[MAP_ONLY] = {o2_forms_check_map, MAP},
	[KNOWN_ONLY] = {o2_forms_check_known, KNOWN},
	[FLAVOUR_ONLY] = {o2_forms_check_flavour, FLAVOUR},
	[TABLE_ONLY] = {o2_forms_check_table, TABLE},
	[VERDICTS_ONLY] = {o2_forms_check_verdicts, VERDICTS},
	[SETUP_ONLY] = {o2_forms_check_setup, SET_UP},
	[KEYS_ONLY] = {o2_forms_check_keys, KEY_LIFE},
	[FLOW_ONLY] = {o2_forms_check_flow, TALK},
	[WAITS_ONLY] = {waits, SITUATIONS},
	[LIMITS_ONLY] = {o2_forms_check_limits, LIMITS},
	[CHAIN_ONLY] = {o2_forms_check_chain, CHAIN},
	[SHORT_ONLY] = {o2_forms_check_short, SHORT},
};

static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	struct o2_forms_run *run = context;
	const uint64_t kind = o2_draw(choice, PARTS - 1);
	const enum o2_stage stage = (enum o2_stage)(kind < STAGES_2 ? kind : O2_STAGES_1 + kind - STAGES_2);

	o2_draw_prepare();
	o2_report_clear(report);
	memset(&run->asked, 0, sizeof(run->asked));
	memset(&run->expected, 0, sizeof(run->expected));
	if (parts[kind].check != NULL) {
		snprintf(run->change.text, sizeof(run->change.text), "part %" PRIu64, kind);
		if (parts[kind].seen != SITUATIONS)
			run->tally.seen[parts[kind].seen]++;
		parts[kind].check(run, choice, report);
		run->tally.cases++;
		return o2_choice_status(choice, report->failed ? O2_STATUS_INTERESTING : O2_STATUS_VALID);
	}
	snprintf(run->change.text, sizeof(run->change.text), "the question, unchanged");
	o2_draw_case(choice, stage, &run->asked, &run->scenario);
	if (!o2_choice_ok(choice))
		return o2_choice_status(choice, O2_STATUS_VALID);
	check_case(run, choice, report);
	run->tally.seen[OF_STAGE + stage] += !report->failed;
	run->tally.cases++;
	return o2_choice_status(choice, report->failed ? O2_STATUS_INTERESTING : O2_STATUS_VALID);
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
	const struct o2_forms_run *run = context;

	(void)pieces;
	fprintf(out, "a question of %s; %s\n", o2_stage_name(run->asked.stage), run->change.text);
}

static void print_held(const void *context, FILE *out)
{
	const struct o2_forms_run *run = context;

	fprintf(out, "held: %s\n", run->change.text);
}

struct o2_property o2_forms_property(struct o2_forms_run *run)
{
	static const struct o2_property_ops ops = {O2_TALLY_PROPERTY(
		"forms", "JSON forms are read as what was written, changed ones refused by a field or read "
			 "as they stand, and answers that differ are told apart")};

	if (run != NULL)
		run->tally.excused[SHORT] = run->fail_allocation == NULL;
	return o2_tally_property(&ops, run, situations, SITUATIONS, 20000);
}
