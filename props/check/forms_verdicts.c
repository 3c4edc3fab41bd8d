/* SPDX-License-Identifier: MIT */
/* Two arbitrary verdicts on one question: the differences and their words, predicted from the verdicts. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "oracle/stage.h"
#include "props/check/forms.h"
#include "props/model/wire_model.h"
#include "props/scenario/draw.h"

static const struct {
	int error;
	const char *name;
} errors[] = {{EINVAL, "EINVAL"}, {EPROTO, "EPROTO"}, {ENOMEM, "ENOMEM"}, {EFAULT, "EFAULT"}};

static const char *error_name(int error)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].error == error)
			return errors[i].name;
	return "?";
}

/* --- drawing --- */

static const char *draw_name(struct o2_choice *c, bool of_reference)
{
	const uint64_t kind = o2_draw(c, 3);
	const char *rule = o2_forms_draw_rule(c);

	if (of_reference || kind < 2)
		return rule;
	return kind == 2 ? "mine" : "";
}

static void draw_refusal(struct o2_choice *c, bool of_reference, struct o2_answer *answer)
{
	struct o2_answer_refusal *refusal = &answer->refusal;

	answer->kind = O2_ANSWER_REFUSED;
	memset(refusal, 0, sizeof(*refusal));
	refusal->error = errors[o2_draw(c, 3)].error;
	refusal->cost = (enum o2_answer_cost)o2_draw(c, O2_COST_CONNECTION);
	refusal->where = (enum o2_answer_where)o2_draw(c, O2_WHERE_WRITES);
	refusal->index = (uint32_t)o2_draw(c, 3);
	if (refusal->index == 3)
		refusal->index = O2_NO_INDEX;
	snprintf(refusal->name, sizeof(refusal->name), "%s", draw_name(c, of_reference));
}

/* Copy a refusal, and perhaps change parts of it. */
static void draw_other(struct o2_choice *c, const struct o2_answer_refusal *is, struct o2_answer *answer)
{
	struct o2_answer_refusal *refusal = &answer->refusal;
	const uint64_t same = o2_draw(c, 31);

	draw_refusal(c, false, answer);
	if (same & 1)
		refusal->error = is->error;
	if (same & 2)
		refusal->cost = is->cost;
	if (same & 4)
		refusal->where = is->where;
	if (same & 8)
		refusal->index = is->index;
	if (same & 16)
		memcpy(refusal->name, is->name, sizeof(refusal->name));
}

/* --- predicting --- */

/* By stage: the first word of the ids of its checks, and which checks it has. */
static const struct stage_words {
	const char *first;
	const char *index;
	bool cost;
} stage_words[O2_STAGES] = {
	[O2_STAGE_MSG_DECODE] = {"wire", "wire/index", true},
	[O2_STAGE_MSG_ENCODE] = {"wire", "wire/index", false},
	[O2_STAGE_SG_BUILD] = {"sg", "sg/index", false},
	[O2_STAGE_DMA_MAP] = {"dma", "dma/index", false},
	[O2_STAGE_REG_PLAN] = {"reg", "reg/index", false},
	[O2_STAGE_RDMA_PLAN] = {"rdma", "rdma/index", false},
	[O2_STAGE_TRANSFER] = {"transfer", NULL, false},
	[O2_STAGE_DEVICE] = {"device", NULL, false},
	[O2_STAGE_RDMA_CHAIN] = {"chain", NULL, false},
	[O2_STAGE_CONNECT] = {"connect", "connect/why", false},
	[O2_STAGE_DELIVER] = {"deliver", NULL, true},
	[O2_STAGE_KEYS] = {"keys", "keys/index", false},
	[O2_STAGE_SEND_PLAN] = {"send", NULL, false},
};

/* The word after the first one in ids of "refused-legal"; NULL: there is none. */
static const char *legal_part(const struct o2_case *asked, const struct o2_answer *expected)
{
	static const char *const devices[] = {"bus", "virtual", "iommu"};
	static const char *const modes[] = {"global", "fmr", "fastreg", "user", "phys", "fastreg_gaps"};

	switch (asked->stage) {
	case O2_STAGE_SG_BUILD:
		return asked->sg.memory.buffer.kind == O2_IOV ? "iov" : "kiov";
	case O2_STAGE_DMA_MAP:
		return devices[asked->dma.device.device.kind];
	case O2_STAGE_REG_PLAN:
		return modes[asked->reg.request.mode];
	case O2_STAGE_MSG_DECODE:
		return o2_wm_type(expected->msg_decode.msg.ibm_type)->name;
	case O2_STAGE_MSG_ENCODE:
		return o2_wm_type(asked->msg_encode.msg.ibm_type)->name;
	default:
		return NULL;
	}
}

static void say(const struct o2_answer_refusal *refusal, char text[O2_SAID_BYTES])
{
	snprintf(text, O2_SAID_BYTES, "refused with %s%s%s", error_name(refusal->error),
		 refusal->name[0] == '\0' ? "" : ", ", refusal->name);
}

static struct o2_said *add(struct o2_foretold *foretold, const char *first, const char *last,
			   const char *field)
{
	struct o2_said *said;
	char check[80];

	snprintf(check, sizeof(check), "%s%s", first, last);
	said = o2_foretold_add(foretold, check, field);
	snprintf(said->cause, sizeof(said->cause), "%s", field);
	return said;
}

static void add_number(struct o2_foretold *foretold, const char *check, const char *field, uint32_t expected,
		       uint32_t found)
{
	struct o2_said *said = add(foretold, check, "", field);

	snprintf(said->expected, O2_SAID_BYTES, "%u", expected);
	snprintf(said->found, O2_SAID_BYTES, "%u", found);
}

/* Fill in the texts of two verdicts that differ. */
static void fill(struct o2_said *said, const struct o2_answer *expected, const struct o2_answer *found)
{
	const bool refuses = expected->kind == O2_ANSWER_REFUSED, refused = found->kind == O2_ANSWER_REFUSED;

	snprintf(said->expected, O2_SAID_BYTES, "admitted");
	snprintf(said->found, O2_SAID_BYTES, "admitted");
	if (refuses) {
		say(&expected->refusal, said->expected);
		snprintf(said->rule, sizeof(said->rule), "%.79s", expected->refusal.name);
	}
	if (refused) {
		say(&found->refusal, said->found);
		snprintf(said->refused_as, sizeof(said->refused_as), "%.79s",
			 found->refusal.name[0] != '\0' ? found->refusal.name
							: error_name(found->refusal.error));
	}
}

static void foretell_refusals(enum o2_stage stage, const struct o2_answer *expected,
			      const struct o2_answer *found, struct o2_foretold *foretold)
{
	const struct stage_words *words = &stage_words[stage];
	const struct o2_answer_refusal *e = &expected->refusal, *f = &found->refusal;
	const bool known = f->name[0] != '\0' && strcmp(f->name, "mine") != 0;
	const bool same = strcmp(e->name, f->name) == 0;
	struct o2_said *said;

	if (e->error != f->error) {
		said = add(foretold, words->first, "/errno", "refused.errno");
		snprintf(said->cause, O2_SAID_BYTES, "refused.errno: %s for %s", error_name(f->error),
			 error_name(e->error));
		fill(said, expected, found);
	} else if (known && !same) {
		said = add(foretold, words->first, "/rule", "refused.rule");
		snprintf(said->cause, O2_SAID_BYTES, "refused.rule: %.100s", e->name);
		fill(said, expected, found);
	}
	if (words->index != NULL && same && e->index != O2_NO_INDEX && f->index != O2_NO_INDEX &&
	    e->index != f->index)
		add_number(foretold, words->index, "refused.index", e->index, f->index);
	if (words->cost && e->cost != O2_COST_NOT_SAID && f->cost != O2_COST_NOT_SAID && e->cost != f->cost) {
		char check[40];

		snprintf(check, sizeof(check), "%s/cost", words->first);
		add_number(foretold, check, "refused.class", e->cost, f->cost);
	}
	if (stage == O2_STAGE_TRANSFER && f->where != O2_WHERE_NOT_SAID && e->where != f->where)
		add_number(foretold, "transfer/where", "refused.where", e->where, f->where);
}

static void foretell(const struct o2_case *asked, const struct o2_answer *expected,
		     const struct o2_answer *found, struct o2_foretold *foretold)
{
	const struct stage_words *words = &stage_words[asked->stage];
	const char *part;
	struct o2_said *said;
	char first[40];

	foretold->count = 0;
	if (expected->kind == O2_ANSWER_REFUSED && found->kind == O2_ANSWER_REFUSED) {
		foretell_refusals(asked->stage, expected, found, foretold);
		return;
	}
	if (expected->kind == O2_ANSWER_REFUSED) {
		said = add(foretold, expected->refusal.name, "", "verdict");
	} else {
		part = legal_part(asked, expected);
		snprintf(first, sizeof(first), "%s%s%s", words->first, part == NULL ? "" : "/",
			 part == NULL ? "" : part);
		said = add(foretold, first, "/refused-legal", "verdict");
	}
	fill(said, expected, found);
	if (found->kind == O2_ANSWER_REFUSED)
		snprintf(said->cause, O2_SAID_BYTES, "verdict: %.300s", said->found);
}

/* --- checking --- */

static void fail(const struct o2_forms_run *run, const char *what, const struct o2_foretold *foretold,
		 struct o2_report *report)
{
	if (report->failed)
		return;
	o2_report_fail_in(report, "forms/verdicts", what, "a question of %s",
			  o2_stage_name(run->asked.stage));
	o2_foretold_report(foretold, &run->comparison, report);
}

static void must_break(struct o2_forms_run *run, const json_t *form, const char *text,
		       struct o2_report *report)
{
	memset(&run->expected, 0, sizeof(run->expected));
	o2_answer_from_json(&run->asked, form, &run->expected);
	if (run->expected.kind == O2_ANSWER_BROKEN && strcmp(run->expected.fault.text, text) == 0 &&
	    strcmp(o2_check_name(run->expected.fault.check), "protocol/field") == 0)
		return;
	fail(run, "broken", NULL, report);
	o2_report_add(report, "expected %s", text);
	o2_report_add(report, "found %s", run->expected.fault.text);
}

/* Check a rule that is too long, an unknown errno, and a missing errno. */
static void check_spoilt(struct o2_forms_run *run, json_t *refused, const json_t *form,
			 struct o2_report *report)
{
	char rule[O2_ANSWER_NAME_BYTES + 1], text[100];

	memset(rule, 'r', sizeof(rule));
	rule[sizeof(rule) - 1] = '\0';
	json_object_set_new(refused, "rule", json_string(rule));
	snprintf(text, sizeof(text), "refused.rule has %u bytes, limit %u", O2_ANSWER_NAME_BYTES,
		 O2_ANSWER_NAME_BYTES - 1);
	must_break(run, form, text, report);
	json_object_set_new(refused, "rule", json_string(rule + 1));
	memset(&run->expected, 0, sizeof(run->expected));
	o2_answer_from_json(&run->asked, form, &run->expected);
	if (strcmp(run->expected.refusal.name, rule + 1) != 0)
		must_break(run, form, "nothing: the rule is as long as it may be", report);
	json_object_set_new(refused, "errno", json_string("EWHAT"));
	must_break(run, form, "refused.errno is \"EWHAT\", expected a name such as \"EINVAL\"", report);
	json_object_del(refused, "errno");
	must_break(run, form, "refused.errno is missing, expected a name such as \"EINVAL\"", report);
}

/* Check what is read from a refusal in a form that is built here. */
static void check_form(struct o2_forms_run *run, const struct o2_answer_refusal *refusal,
		       const struct o2_foretold *foretold, struct o2_report *report)
{
	static const char *const costs[] = {NULL, "message", "connection"};
	static const char *const wheres[] = {NULL, "source", "sink", "writes"};
	const bool where = run->asked.stage == O2_STAGE_TRANSFER;
	json_t *form = o2_answer_to_json(&run->asked, &run->found), *refused = json_object();

	json_object_set_new(refused, "errno", json_string(error_name(refusal->error)));
	json_object_set_new(refused, "rule", json_string(refusal->name));
	if (refusal->cost != O2_COST_NOT_SAID)
		json_object_set_new(refused, "class", json_string(costs[refusal->cost]));
	if (where && refusal->where != O2_WHERE_NOT_SAID)
		json_object_set_new(refused, "where", json_string(wheres[refusal->where]));
	if (refusal->index != O2_NO_INDEX)
		json_object_set_new(refused, "index", json_integer(refusal->index));
	if (!json_equal(json_object_get(form, "refused"), refused))
		fail(run, "form", foretold, report);
	memset(&run->expected, 0, sizeof(run->expected));
	o2_answer_from_json(&run->asked, form, &run->expected);
	if (run->expected.kind != O2_ANSWER_REFUSED || run->expected.refusal.error != refusal->error ||
	    run->expected.refusal.cost != refusal->cost || run->expected.refusal.index != refusal->index ||
	    (where && run->expected.refusal.where != refusal->where) ||
	    strcmp(run->expected.refusal.name, refusal->name) != 0)
		fail(run, "read", foretold, report);
	json_decref(refused);
	check_spoilt(run, json_object_get(form, "refused"), form, report);
	json_decref(form);
}

/* Remove differences that the profile does not demand.  Returns how many are counted as accepted. */
static uint32_t accept(enum o2_profile profile, const struct o2_answer *expected,
		       const struct o2_answer *found, struct o2_foretold *foretold)
{
	const bool refuses = expected->kind == O2_ANSWER_REFUSED;
	uint32_t kept = 0, accepted = 0;

	if (refuses && o2_check_severity(o2_check_find(expected->refusal.name), profile) == O2_CHECK_OFF) {
		foretold->count = 0;
		return found->kind == O2_ANSWER_RESULT;
	}
	for (uint32_t i = 0; i < foretold->count; i++) {
		if (o2_check_severity(o2_check_find(foretold->said[i].check), profile) == O2_CHECK_OFF)
			accepted++;
		else
			foretold->said[kept++] = foretold->said[i];
	}
	foretold->count = kept;
	return accepted;
}

/* Check that a trusted caller asks nothing that cannot be encoded or sent. */
static void check_asked(struct o2_forms_run *run, enum o2_profile profile, struct o2_report *report)
{
	const enum o2_stage stage = run->asked.stage;
	const bool trusted =
		profile == O2_PROFILE_KERNEL && (stage == O2_STAGE_MSG_ENCODE || stage == O2_STAGE_SEND_PLAN);
	const bool asks = o2_profile_asks(profile, &run->asked, &run->found);

	o2_answer_of_reference(&run->asked, &run->expected);
	if (asks != (!trusted || run->expected.kind == O2_ANSWER_RESULT))
		fail(run, "asked", NULL, report);
	if (trusted && stage == O2_STAGE_MSG_ENCODE && run->asked.msg_encode.capacity_bytes != O2_MSG_BYTES)
		fail(run, "room", NULL, report);
}

/*
 * Check which stages an implementation has: all of version 1, and those of version 2 that it names. Unknown
 * entries, at either end of the list, name none.
 */
static void check_stages(const struct o2_forms_run *run, struct o2_choice *c, struct o2_report *report)
{
	const uint64_t named = o2_draw(c, (UINT64_C(1) << O2_STAGES) - 1), odd = o2_draw(c, 3);
	json_t *stages = json_array(), *object;
	bool absent[O2_STAGES + 1] = {[O2_STAGES] = true}; /* the last one stands for unknown stages */

	for (int stage = 0; stage < O2_STAGES; stage++)
		if ((named >> stage & 1) != 0)
			json_array_append_new(stages, json_string(o2_stage_name((enum o2_stage)stage)));
	json_array_insert_new(stages, odd % 2 == 0 ? 0 : json_array_size(stages),
			      odd < 2 ? json_string("no_such_stage") : json_integer(O2_STAGES - 1));
	object = json_pack("{s:o}", "stages", stages);
	o2_answer_stages(object, absent);
	for (int stage = 0; stage <= O2_STAGES; stage++)
		if (absent[stage] != (stage >= O2_STAGES_1 && (named >> stage & 1) == 0))
			fail(run, "stages", NULL, report);
	json_decref(object);
}

void o2_forms_check_verdicts(struct o2_forms_run *run, struct o2_choice *c, struct o2_report *report)
{
	static const struct o2_error_map no_map;
	const enum o2_stage stage = (enum o2_stage)o2_draw(c, O2_STAGES - 1);
	const uint64_t kinds = o2_draw(c, 5); /* mostly two refusals */
	const enum o2_profile profile = o2_draw_bool(c, 2, 1) ? O2_PROFILE_KERNEL : O2_PROFILE_STRICT;
	static struct o2_foretold foretold;
	uint32_t accepted;
	bool looked_at;

	check_stages(run, c, report);
	o2_draw_case(c, stage, &run->asked, &run->scenario);
	if (!o2_choice_ok(c) || stage_words[stage].first == NULL)
		return;
	check_asked(run, profile, report);
	run->found.kind = O2_ANSWER_RESULT;
	if (kinds > 0 || run->expected.kind != O2_ANSWER_RESULT)
		draw_refusal(c, true, &run->expected);
	if (run->expected.kind == O2_ANSWER_RESULT)
		draw_refusal(c, false, &run->found);
	else if (kinds != 1)
		draw_other(c, &run->expected.refusal, &run->found);
	run->found.conduct.check = O2_CHECKS;
	foretell(&run->asked, &run->expected, &run->found, &foretold);
	looked_at = run->expected.kind == O2_ANSWER_RESULT ||
		    o2_check_severity(o2_check_find(run->expected.refusal.name), profile) != O2_CHECK_OFF;
	accepted = accept(profile, &run->expected, &run->found, &foretold);
	run->comparison.map = &no_map;
	run->comparison.profile = profile;
	o2_compare_answers(&run->comparison, &run->asked, &run->expected, &run->found);
	run->comparison.profile = O2_PROFILE_STRICT;
	if (run->comparison.accepted != accepted || !o2_foretold_found(&foretold, &run->comparison))
		fail(run, "differences", &foretold, report);
	if (run->comparison.unmapped !=
	    (looked_at && run->expected.kind == O2_ANSWER_REFUSED && run->found.kind == O2_ANSWER_REFUSED &&
	     strcmp(run->found.refusal.name, "mine") == 0))
		fail(run, "unmapped", &foretold, report);
	if (run->found.kind == O2_ANSWER_REFUSED)
		check_form(run, &run->found.refusal, &foretold, report);
}
