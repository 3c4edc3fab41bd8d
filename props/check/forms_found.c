/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "props/check/forms.h"
#include "props/scenario/draw.h"

/* Reports about an encoded message with a wrong byte, and about conduct: the check, the place, and the words. */

static void fail(const struct o2_comparison *comparison, const char *what, const char *expected,
		 struct o2_report *report)
{
	o2_report_fail_in(report, "forms", what, "expected %s", expected);
	o2_foretold_report(NULL, comparison, report);
}

/* --- encoded bytes --- */

/* Bytes of the LNet header that each LNet type uses (docs/wire.md, "LNet header"). */
static uint32_t used_of_lnet(uint32_t type)
{
	static const uint32_t used[] = {32 + 28, 32 + 40, 32 + 36, 32 + 16};

	return type < 4 ? used[type] : 32;
}

/* The check of a byte's field, by docs/wire.md. */
const char *o2_forms_check_at(const struct o2_msg *msg, uint32_t at)
{
	const uint8_t type = msg->ibm_type;
	const bool lnet = type == O2_MSG_IMMEDIATE || type == O2_MSG_PUT_REQ || type == O2_MSG_GET_REQ;
	const struct o2_lnet_hdr *hdr = o2_msg_lnet_hdr(msg);

	if (at < 48)
		return at >= 8 && at < 12 ? "wire/encode/length" : "wire/encode/header";
	if (type == O2_MSG_CONNREQ || type == O2_MSG_CONNACK)
		return "wire/encode/connparams";
	if (lnet && at < 120)
		return at - 48 < used_of_lnet(hdr->type) ? "wire/encode/lnet-hdr"
							 : "wire/encode/unused-bytes";
	if (type == O2_MSG_IMMEDIATE)
		return "wire/encode/payload";
	if (lnet)
		return at < 128 ? "wire/encode/cookie" : "wire/encode/descriptor";
	if (type == O2_MSG_PUT_ACK)
		return at < 64 ? "wire/encode/cookie" : "wire/encode/descriptor";
	return at < 56 ? "wire/encode/cookie" : "wire/encode/status";
}

/* The part of the body with this byte, if it is not a field of its own: the cause names it. */
static const char *part_at(const struct o2_msg *msg, uint32_t at)
{
	if (o2_msg_lnet_hdr(msg) != NULL && at >= 48 && at < 120)
		return "hdr";
	if (msg->ibm_type == O2_MSG_IMMEDIATE && at >= 120)
		return "payload";
	if (msg->ibm_type == O2_MSG_GET_REQ && at >= 128)
		return "ibgm_rd";
	return msg->ibm_type == O2_MSG_PUT_ACK && at >= 64 ? "ibpam_rd" : NULL;
}

static bool is_of(const struct o2_difference *item, const char *check)
{
	return strcmp(o2_check_name(item->check), check) == 0;
}

/* Expect one difference, the predicted one (for a NID perhaps "nid-folded"), besides those of the checksum. */
static void check_byte(const struct o2_forms_run *run, uint32_t at, const char *check,
		       struct o2_report *report)
{
	const uint8_t expected = run->expected.msg_encode.bytes[at], found = run->found.msg_encode.bytes[at];
	const bool nid = at >= 48 && at < 64 && strcmp(check, "wire/encode/lnet-hdr") == 0;
	const char *part = part_at(&run->asked.msg_encode.msg, at);
	uint32_t matching = 0;
	char field[32], one[32], other[32];

	snprintf(field, sizeof(field), "bytes[%u]", at);
	snprintf(one, sizeof(one), "0x%x", expected);
	snprintf(other, sizeof(other), "0x%x", found);
	for (uint32_t i = 0; i < run->comparison.count; i++) {
		const struct o2_difference *item = &run->comparison.item[i];

		if (is_of(item, "wire/encode/checksum") || is_of(item, "wire/checksum-one-flavour"))
			continue;
		if ((nid && is_of(item, "wire/lnet-nid-folded")) ||
		    (is_of(item, check) && strcmp(item->field, field) == 0 &&
		     (part == NULL ? item->cause[0] != '\0' : strcmp(item->cause, part) == 0) &&
		     strcmp(item->expected, one) == 0 && strcmp(item->found, other) == 0))
			matching++;
		else
			matching += 2;
	}
	if (matching != 1) {
		fail(&run->comparison, "encoded", check, report);
		o2_report_add(report, "%s: %s, %s", field, one, other);
	}
}

bool o2_forms_begin(struct o2_forms_run *run, struct o2_choice *choice, enum o2_stage stage)
{
	o2_draw_case(choice, stage, &run->asked, &run->scenario);
	if (!o2_choice_ok(choice))
		return false;
	o2_answer_of_reference(&run->asked, &run->expected);
	run->found = run->expected;
	run->found.conduct.check = O2_CHECKS;
	return run->expected.kind == O2_ANSWER_RESULT;
}

void o2_forms_check_encoded(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report)
{
	const struct o2_msg *msg = &run->asked.msg_encode.msg;
	struct o2_answer_bytes *found = &run->found.msg_encode;
	uint32_t at;

	if (!o2_forms_begin(run, choice, O2_STAGE_MSG_ENCODE))
		return;
	at = (uint32_t)o2_draw(choice, found->length_bytes - 1);
	if (o2_draw_bool(choice, 7, 1)) {
		found->length_bytes -= (uint32_t)(1 + o2_draw(choice, found->length_bytes - 1));
		o2_forms_compare(run);
		if (run->comparison.count == 0 || !is_of(&run->comparison.item[0], "wire/encode/length") ||
		    strcmp(run->comparison.item[0].field, "length_bytes") != 0)
			fail(&run->comparison, "encoded-length", "wire/encode/length", report);
		return;
	}
	found->bytes[at] ^= (uint8_t)(1 + o2_draw(choice, 254));
	o2_forms_compare(run);
	if (at < 12 || at >= 16)
		check_byte(run, at, o2_forms_check_at(msg, at), report);
	else if (run->comparison.count != 1 || strcmp(run->comparison.item[0].field, "ibm_cksum") != 0)
		fail(&run->comparison, "encoded-checksum", "ibm_cksum", report);
}

/* --- conduct --- */

/* Draw words and numbers; in the second text, "#" replaces each number. */
static void draw_words(struct o2_choice *c, char *text, char *bare, size_t bytes)
{
	static const char *const words[] = {"it", "printed", "bytes:", "(at", "zero)", "0x", "grows,"};
	size_t n = 0, m = 0;

	text[0] = bare[0] = '\0';
	for (uint64_t left = 1 + o2_draw(c, 7); left > 0; left--) {
		const uint64_t kind = o2_draw(c, 8), number = o2_draw(c, UINT32_MAX);
		const char *gap = left == 1 ? "" : " ";

		if (kind < 7 && kind != 5) {
			n += (size_t)snprintf(text + n, bytes - n, "%s%s", words[kind], gap);
			m += (size_t)snprintf(bare + m, bytes - m, "%s%s", words[kind], gap);
		} else {
			n += (size_t)snprintf(text + n, bytes - n, kind == 5 ? "0x%lx%s" : "%lu%s",
					      (unsigned long)number, gap);
			m += (size_t)snprintf(bare + m, bytes - m, "#%s", gap);
		}
	}
}

struct said {
	struct o2_answer_fault *fault;
	char cause[O2_CAUSE_BYTES];
};

static void draw_fault(struct o2_choice *c, struct said *said)
{
	static const enum o2_check_id checks[] = {O2_CHECK_RUN_CRASH, O2_CHECK_RUN_HANG, O2_CHECK_RUN_STDOUT,
						  O2_CHECK_RUN_LEAK};
	char bare[128];

	memset(said->fault, 0, sizeof(*said->fault));
	said->fault->check = checks[o2_draw(c, 3)];
	draw_words(c, said->fault->text, bare, sizeof(bare));
	if (o2_draw_bool(c, 2, 1)) {
		snprintf(said->fault->site, sizeof(said->fault->site), "mine.so+0x%x",
			 (unsigned int)o2_draw(c, 3));
		snprintf(said->cause, sizeof(said->cause), "conduct: at %s", said->fault->site);
	} else {
		/* Behind the colon of a hang stands what the program has printed. */
		if (said->fault->check == O2_CHECK_RUN_HANG)
			bare[strcspn(bare, ":")] = '\0';
		snprintf(said->cause, sizeof(said->cause), "conduct: %s", bare);
	}
}

/* Expect both reports, or only the first if the second has the same check and reason. */
void o2_forms_check_conduct(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report)
{
	struct said said[2] = {{.fault = &run->found.conduct}, {.fault = &run->found.fault}};
	uint32_t count = 1;

	o2_draw_case(choice, O2_STAGE_SG_BUILD, &run->asked, &run->scenario);
	if (!o2_choice_ok(choice))
		return;
	o2_answer_of_reference(&run->asked, &run->expected);
	run->found = run->expected;
	draw_fault(choice, &said[0]);
	if (o2_draw_bool(choice, 1, 1)) {
		run->found.kind = O2_ANSWER_BROKEN;
		if (o2_draw_bool(choice, 1, 1)) {
			*said[1].fault = *said[0].fault;
			memcpy(said[1].cause, said[0].cause, sizeof(said[1].cause));
		} else {
			draw_fault(choice, &said[1]);
		}
		count += said[0].fault->check != said[1].fault->check ||
			 strcmp(said[0].cause, said[1].cause) != 0;
	}
	o2_forms_compare(run);
	for (uint32_t i = 0; i < count && !report->failed; i++) {
		const struct o2_difference *item = &run->comparison.item[i];

		if (run->comparison.count != count || item->check != said[i].fault->check ||
		    strcmp(item->cause, said[i].cause) != 0 || strcmp(item->field, "conduct") != 0 ||
		    strcmp(item->expected, "an answer") != 0 || strcmp(item->found, said[i].fault->text) != 0)
			fail(&run->comparison, "conduct", said[i].cause, report);
	}
}
