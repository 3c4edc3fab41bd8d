/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "props/check/check.h"
#include "props/check/check_life.h"
#include "props/check/check_picture.h"
#include "props/check/check_strip.h"

/* The result of a run as JSON, from which the table, the page and the JUnit file are made. */

bool o2_check_counts(const struct o2_check_options *options, const struct o2_difference *difference)
{
	const enum o2_severity severity = o2_check_severity(difference->check, options->profile);

	return difference->known == 0 &&
	       (severity == O2_CHECK_MUST || (options->pedantic && severity == O2_CHECK_SHOULD));
}

bool o2_check_stage(enum o2_check_id check, enum o2_stage *stage)
{
	static const struct {
		const char *prefix;
		enum o2_stage stage;
	} prefixes[] = {
		{"wire/encode/", O2_STAGE_MSG_ENCODE},
		{"wire/reject/", O2_STAGE_CONNECT},
		{"wire/", O2_STAGE_MSG_DECODE},
		{"sg/", O2_STAGE_SG_BUILD},
		{"dma/", O2_STAGE_DMA_MAP},
		{"reg/", O2_STAGE_REG_PLAN},
		{"rdma/", O2_STAGE_RDMA_PLAN},
		{"transfer/", O2_STAGE_TRANSFER},
		{"conn/unknown-cookie", O2_STAGE_DELIVER},
		{"conn/unexpected-type", O2_STAGE_DELIVER},
		{"conn/nak-status", O2_STAGE_DELIVER},
		{"conn/put-done-status", O2_STAGE_DELIVER},
		{"conn/get-done-status", O2_STAGE_DELIVER},
		{"deliver/", O2_STAGE_DELIVER},
		{"conn/payload-too-long", O2_STAGE_SEND_PLAN},
		{"send/", O2_STAGE_SEND_PLAN},
		{"device/", O2_STAGE_DEVICE},
		{"chain/", O2_STAGE_RDMA_CHAIN},
		{"connect/", O2_STAGE_CONNECT},
		{"connreq/", O2_STAGE_CONNECT},
		{"connack/", O2_STAGE_CONNECT},
		{"reject/", O2_STAGE_CONNECT},
		{"choose/", O2_STAGE_DEVICE},
		{"conn/", O2_STAGE_DEVICE},
		{"frd/", O2_STAGE_KEYS},
		{"keys/", O2_STAGE_KEYS},
		{"setup/", O2_STAGE_SETUP},
		{"credits/", O2_STAGE_FLOW},
		{"end/", O2_STAGE_FLOW},
		{"flow/", O2_STAGE_FLOW},
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (strncmp(o2_check_name(check), prefixes[i].prefix, strlen(prefixes[i].prefix)) == 0) {
			*stage = prefixes[i].stage;
			return true;
		}
	}
	return false;
}

bool o2_check_stale(const struct o2_check_options *options, const struct o2_check_subject *subject,
		    uint32_t index)
{
	const struct o2_known_difference *known = &subject->known->item[index];
	enum o2_stage stage = known->stage;

	/* A difference in a check that is off is no finding, so nobody knows whether it occurs. */
	if (o2_check_severity(known->check, options->profile) == O2_CHECK_OFF)
		return false;
	if (stage == O2_STAGES && !o2_check_stage(known->check, &stage))
		return false;
	for (uint32_t i = 0; i < subject->findings; i++)
		if (subject->finding[i].difference.known == index + 1)
			return false;
	return subject->tally[stage].asked - subject->tally[stage].not_implemented >= O2_CHECK_STALE_CASES;
}

static json_t *stages_to_json(const struct o2_check_options *options, const struct o2_check_subject *subject)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < O2_STAGES; i++) {
		const struct o2_check_tally *tally = &subject->tally[i];

		if (!options->stage[i])
			continue;
		json_array_append_new(
			array, json_pack("{s:s, s:b, s:b, s:I, s:I, s:I, s:I, s:I}", "stage",
					 o2_stage_name((enum o2_stage)i), "absent",
					 (int)subject->host->absent[i], "given_up", (int)subject->given_up[i],
					 "asked", (json_int_t)tally->asked, "agreed",
					 (json_int_t)tally->agreed, "differed", (json_int_t)tally->differed,
					 "not_implemented", (json_int_t)tally->not_implemented, "left_out",
					 (json_int_t)tally->left_out));
	}
	return array;
}

/* Add the picture of a transfer; for a single stage, of a transfer with its memory. */
static void add_picture(const struct o2_check_finding *finding, json_t *object)
{
	struct o2_case *asked = malloc(sizeof(*asked));
	struct o2_scenario *scenario = malloc(sizeof(*scenario));
	struct o2_error error;

	if (finding->scenario != NULL) {
		json_object_set_new(object, "picture", o2_check_picture(finding->scenario));
		json_object_set_new(object, "picture_of", json_string("transfer"));
	} else if (asked != NULL && scenario != NULL &&
		   o2_case_from_json(finding->question, asked, &error) == 0 &&
		   o2_check_scenario(asked, scenario)) {
		json_object_set_new(object, "picture", o2_check_picture(scenario));
		json_object_set_new(object, "picture_of", json_string("memory"));
	}
	free(asked);
	free(scenario);
}

/* Add pictures of the implementation's answer beside the reference's; null if there is nothing to show. */
static void add_answers(const struct o2_check_finding *finding, json_t *object)
{
	struct o2_check_both *both = calloc(1, sizeof(*both));
	const bool read = both != NULL && o2_check_both_read(finding->question, finding->found, both);

	json_object_set_new(object, "strip", read ? o2_check_strip(both) : json_null());
	json_object_set_new(object, "life", read ? o2_check_life(both) : json_null());
	json_object_set_new(object, "answer_picture",
			    read ? o2_check_answer_picture(both, finding->scenario) : json_null());
	free(both);
}

static json_t *finding_to_json(const struct o2_check_options *options, const struct o2_check_subject *subject,
			       uint32_t index, uint32_t cause)
{
	const struct o2_check_finding *finding = &subject->finding[index];
	const uint32_t known = finding->difference.known;
	/* A question without a JSON form is null; the finding is kept. */
	json_t *object = json_pack(
		"{s:i, s:b, s:s, s:o, s:s, s:s, s:s, s:b, s:s?, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:O?, "
		"s:O, "
		"s:O?, s:O}",
		"cause", (int)cause, "stands_for_it", (int)(finding->cause == index), "check",
		o2_check_name(finding->difference.check), "reason", o2_json_text(finding->difference.cause),
		"severity", o2_severity_name(o2_check_severity(finding->difference.check, options->profile)),
		"stage", o2_stage_name(finding->stage), "holds", o2_check_text(finding->difference.check),
		"counts", (int)o2_check_counts(options, &finding->difference), "known",
		known == 0 ? NULL : subject->known->item[known - 1].reason, "seen", (json_int_t)finding->seen,
		"explains", (json_int_t)finding->explained, "explained",
		finding->explains == NULL ? json_array() : json_incref(finding->explains), "origin",
		o2_json_text(finding->origin), "field", o2_json_text(finding->difference.field), "expected",
		o2_json_text(finding->difference.expected), "found", o2_json_text(finding->difference.found),
		"question", finding->question, "reference", finding->expected, "implementation",
		finding->found, "also", finding->others);

	if (finding->shrinkable)
		object = o2_json_with(
			object, "shrunk",
			json_pack("{s:I, s:I, s:I, s:b}", "from_bytes", (json_int_t)finding->from_bytes,
				  "to_bytes", (json_int_t)finding->to_bytes, "calls",
				  (json_int_t)finding->calls, "simplified", (int)finding->simplified));
	object = o2_json_with(
		object, "first_seen",
		json_pack("{s:I, s:f}", "answers", (json_int_t)finding->after, "seconds", finding->seconds));
	if (finding->backtrace != NULL)
		object = o2_json_with(object, "backtrace", json_incref(finding->backtrace));
	if (finding->choices != NULL)
		object = o2_json_with(object, "choices", json_string(finding->choices));
	if (object != NULL && options->pictures) {
		add_picture(finding, object);
		add_answers(finding, object);
	}
	return object;
}

/* Rules of the asked stages that no case broke, so that a clean run says nothing about them. */
static json_t *unmet_rules(const struct o2_check_subject *subject)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < O2_CHECKS; i++) {
		const enum o2_check_id check = (enum o2_check_id)i;
		enum o2_stage stage;

		if (o2_check_is_rule(check) && o2_check_stage(check, &stage) && subject->met[i] == 0 &&
		    subject->tally[stage].asked > subject->tally[stage].not_implemented)
			json_array_append_new(array, json_string(o2_check_name(check)));
	}
	return array;
}

/* Kinds of questions of which none was answered, also those of stages that were not asked. */
static json_t *unanswered_kinds(const struct o2_check_subject *subject)
{
	char text[O2_CHECK_KIND_BYTES];
	json_t *array = json_array();

	for (uint32_t i = 0; i < O2_CHECK_KINDS; i++)
		if (subject->kind_answered[i] == 0)
			json_array_append_new(array, json_string(o2_check_kind_name(i, text)));
	return array;
}

/* Cases that differ from the reference where the profile does not demand equality. */
static json_t *accepted_risks(const struct o2_check_options *options, const struct o2_check_subject *subject)
{
	json_t *broken = json_array();
	json_int_t off = 0;

	for (uint32_t i = 0; i < O2_CHECKS; i++) {
		off += o2_check_severity((enum o2_check_id)i, options->profile) == O2_CHECK_OFF;
		if (subject->accepted[i] > 0)
			json_array_append_new(broken, json_pack("{s:s, s:I}", "check",
								o2_check_name((enum o2_check_id)i), "seen",
								(json_int_t)subject->accepted[i]));
	}
	return json_pack("{s:I, s:o, s:I}", "not_asked_for", off, "broken", broken, "not_given",
			 (json_int_t)subject->not_given);
}

/* Checks with differences that count and were dropped, as the check had no room for one more reason. */
static json_t *not_kept(const struct o2_check_subject *subject)
{
	json_t *array = json_array();

	for (uint32_t stage = 0; stage < O2_STAGES; stage++)
		for (uint32_t check = 0; check < O2_CHECKS; check++)
			if (subject->not_kept[stage][check] > 0)
				array = o2_json_append(
					array,
					json_pack("{s:s, s:s, s:s, s:I}", "stage",
						  o2_stage_name((enum o2_stage)stage), "check",
						  o2_check_name((enum o2_check_id)check), "reason", "",
						  "seen", (json_int_t)subject->not_kept[stage][check]));
	return array;
}

static bool agrees(const struct o2_check_options *options, const struct o2_check_subject *subject)
{
	for (uint32_t i = 0; i < subject->findings; i++)
		if (o2_check_counts(options, &subject->finding[i].difference))
			return false;
	for (uint32_t i = 0; i < subject->known->count; i++)
		if (o2_check_stale(options, subject, i))
			return false;
	return true;
}

/* Findings by cause, in the order of the table of checks; the finding that stands for its cause comes first. */
static json_t *findings_to_json(const struct o2_check_options *options,
				const struct o2_check_subject *subject, uint32_t *causes)
{
	json_t *array = json_array();

	for (uint32_t check = 0; check < O2_CHECKS; check++)
		for (uint32_t i = 0; i < subject->findings; i++) {
			if (subject->finding[i].difference.check != check || subject->finding[i].cause != i)
				continue;
			++*causes;
			array = o2_json_append(array, finding_to_json(options, subject, i, *causes));
			for (uint32_t k = 0; k < subject->findings; k++)
				if (k != i && subject->finding[k].cause == i)
					array = o2_json_append(array,
							       finding_to_json(options, subject, k, *causes));
		}
	return array;
}

static json_t *subject_to_json(const struct o2_check_options *options, const struct o2_check_subject *subject)
{
	json_t *stale = json_array();
	uint32_t causes = 0;
	json_t *findings = findings_to_json(options, subject, &causes);
	const char *title = subject->host->title;

	for (uint32_t i = 0; i < subject->known->count; i++)
		if (o2_check_stale(options, subject, i))
			stale = o2_json_append(stale, json_pack("{s:s, s:s}", "check",
								o2_check_name(subject->known->item[i].check),
								"reason", subject->known->item[i].reason));
	return json_pack(
		"{s:o, s:o, s:o, s:b, s:f, s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}",
		"name", o2_json_text(subject->host->name), "title", o2_json_text(title), "label",
		o2_json_text(options->label == NULL ? title : options->label), "agrees",
		(int)agrees(options, subject), "seconds", subject->seconds, "restarts",
		(json_int_t)subject->host->restarts, "unmapped_names", (json_int_t)subject->unmapped, "late",
		(json_int_t)subject->late, "misframed", (json_int_t)subject->misframed, "stages",
		stages_to_json(options, subject), "causes", (json_int_t)causes, "causes_not_kept",
		(json_int_t)subject->more_causes, "not_kept", not_kept(subject), "findings", findings,
		"stale", stale, "accepted", accepted_risks(options, subject), "rules_not_met",
		unmet_rules(subject), "kinds_not_answered", unanswered_kinds(subject));
}

json_t *o2_check_result(const struct o2_check_options *options, const struct o2_check_subject *subjects,
			uint32_t count)
{
	json_t *list = json_array();
	bool agree = true;
	char seed[32];

	for (uint32_t i = 0; i < count; i++) {
		agree &= agrees(options, &subjects[i]);
		list = o2_json_append(list, subject_to_json(options, &subjects[i]));
	}
	snprintf(seed, sizeof(seed), "0x%llx", (unsigned long long)options->seed);
	return json_pack("{s:s, s:i, s:o, s:s, s:s, s:I, s:I, s:b, s:o}", "form", "o2ref/check_result",
			 "version", 1, "label",
			 options->label == NULL ? json_null() : o2_json_text(options->label), "profile",
			 o2_profile_name(options->profile), "seed", seed, "first", (json_int_t)options->first,
			 "cases", (json_int_t)options->cases, "agree", (int)agree, "implementations", list);
}
