/* SPDX-License-Identifier: MIT */
/* Implementations that know one flavour of checksum: how that is asked, and what it explains (docs/wire.md, "Checksum"). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "oracle/flavour.h"
#include "oracle/stage.h"
#include "props/check/forms.h"
#include "props/model/wire_model.h"
#include "props/scenario/draw.h"

#define HEADER	  48u
#define REQUEST	  56u
#define AT_TYPE	  6u
#define AT_NOB	  8u
#define AT_SUM	  12u
#define CONNREQ	  0xc0u
#define NOOP	  0xd0u
#define IMMEDIATE 0xd1u
#define MAGIC	  0x0be91b91u

static void must(struct o2_report *report, const char *what, bool holds)
{
	if (holds || report->failed)
		return;
	o2_report_fail_in(report, "forms/flavour", what, "%s", what);
}

static uint32_t sum_of(const uint8_t *bytes, uint64_t nob, bool is_signed)
{
	const uint32_t sum = o2_wm_sum(bytes, (uint32_t)nob, is_signed);

	return sum == 0 ? 1 : sum;
}

static const enum o2_stage stages[] = {O2_STAGE_MSG_DECODE, O2_STAGE_CONNECT, O2_STAGE_DELIVER};

/* The encoded bytes in the question. */
static uint8_t *bytes_of(struct o2_case *asked, uint64_t *length)
{
	if (asked->stage == O2_STAGE_MSG_DECODE) {
		*length = asked->msg_decode.length_bytes;
		return asked->msg_decode.bytes;
	}
	*length = asked->stage == O2_STAGE_CONNECT ? asked->connect.in.length_bytes
						   : asked->deliver.in.length_bytes;
	return asked->stage == O2_STAGE_CONNECT ? asked->connect.bytes : asked->deliver.bytes;
}

/*
 * The question is a correct message, a request to a stage that connects, whose checksum is right in that flavour
 * only.
 */
static void check_question(struct o2_forms_run *run, struct o2_choice *c, struct o2_report *report)
{
	const bool is_signed = o2_draw_bool(c, 1, 1);
	const enum o2_stage stage = stages[o2_draw(c, 2)];
	const bool connects = stage == O2_STAGE_CONNECT;
	const uint64_t bytes = connects ? REQUEST : HEADER;
	const uint8_t *asked;
	uint64_t length;
	uint32_t sum;

	memset(&run->asked, 0xa5, sizeof(run->asked));
	o2_flavour_question(stage, is_signed ? O2_CKSUM_SIGNED : O2_CKSUM_UNSIGNED, &run->asked);
	must(report, "stage", run->asked.stage == stage);
	asked = bytes_of(&run->asked, &length);
	must(report, "length", length == bytes);
	if (report->failed)
		return;
	sum = (uint32_t)o2_wm_load(asked + AT_SUM, 4, true);
	must(report, "sum", sum == sum_of(asked, bytes, is_signed));
	must(report, "other-sum", sum != sum_of(asked, bytes, !is_signed));
	must(report, "type", asked[AT_TYPE] == (connects ? CONNREQ : NOOP));
	o2_answer_of_reference(&run->asked, &run->expected);
	must(report, "taken", run->expected.kind == O2_ANSWER_RESULT);
}

static void check_taken(struct o2_choice *c, struct o2_report *report)
{
	const bool takes_unsigned = o2_draw_bool(c, 1, 1), takes_signed = o2_draw_bool(c, 1, 1);
	const enum o2_cksum_flavour flavour = o2_flavour_of(takes_unsigned, takes_signed);

	if (takes_unsigned && !takes_signed)
		must(report, "of-unsigned", flavour == O2_CKSUM_UNSIGNED);
	else if (takes_signed && !takes_unsigned)
		must(report, "of-signed", flavour == O2_CKSUM_SIGNED);
	else
		must(report, "of-none", flavour == O2_CKSUM_NONE);
}

/* A refusal is explained by the flavour if the message's checksum is right in the flavour that is not known. */
static void check_explained(struct o2_forms_run *run, struct o2_choice *c, struct o2_report *report)
{
	static const char *const names[] = {"wire/header/checksum", "", "mine", "wire/header/magic"};
	static const struct o2_error_map no_map;
	const bool knows_signed = o2_draw_bool(c, 1, 1), knows_all = o2_draw_bool(c, 7, 1);
	const uint64_t which = o2_draw(c, 3), name = o2_draw(c, 3);
	const int error = o2_draw_bool(c, 3, 1) ? EINVAL : EPROTO;
	struct o2_answer_refusal refusal = {.error = error, .index = O2_NO_INDEX};
	uint32_t own, other, word;
	uint64_t length, nob;
	bool little, about, due;
	uint8_t *bytes;

	o2_draw_case(c, stages[o2_draw(c, 2)], &run->asked, &run->scenario);
	if (!o2_choice_ok(c))
		return;
	bytes = bytes_of(&run->asked, &length);
	snprintf(refusal.name, sizeof(refusal.name), "%s", names[name]);
	about = name == 0 || (name < 3 && error == EPROTO);
	due = !knows_all && about && length >= HEADER;
	if (due) {
		little = o2_wm_load(bytes, 4, true) == MAGIC;
		nob = o2_wm_load(bytes + AT_NOB, 4, little);
		due = nob <= length;
		own = due ? sum_of(bytes, nob, knows_signed) : 0;
		other = due ? sum_of(bytes, nob, !knows_signed) : 0;
		word = which == 0 ? own : which == 1 ? other : which == 2 ? 0 : own ^ 1;
		o2_wm_store(bytes + AT_SUM, 4, little, word);
		due = due && word != 0 && word != own &&
		      (word == other ||
		       (run->asked.stage == O2_STAGE_MSG_DECODE && bytes[AT_TYPE] == IMMEDIATE &&
			run->asked.msg_decode.options.tolerate_immediate_checksum));
	}
	run->comparison.map = &no_map;
	run->comparison.flavour = knows_all	 ? O2_CKSUM_NONE
				  : knows_signed ? O2_CKSUM_SIGNED
						 : O2_CKSUM_UNSIGNED;
	must(report, due ? "unexplained" : "explained",
	     o2_flavour_explains(&run->comparison, &run->asked, &refusal) == due);
	run->comparison.flavour = O2_CKSUM_NONE;
}

void o2_forms_check_flavour(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report)
{
	check_question(run, choice, report);
	check_taken(choice, report);
	for (int stage = 0; stage < O2_STAGES; stage++) {
		run->asked.stage = (enum o2_stage)stage;
		must(report, "matters",
		     o2_flavour_matters(&run->asked) ==
			     (stage == O2_STAGE_MSG_DECODE || stage == O2_STAGE_CONNECT ||
			      stage == O2_STAGE_DELIVER));
	}
	if (!report->failed)
		check_explained(run, choice, report);
}
