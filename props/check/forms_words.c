/* SPDX-License-Identifier: MIT */
/* The words of a difference, predicted from the two forms: the place, what was expected, what was found. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "props/check/forms.h"

#define PAYLOAD 120u /* offset of an IMMEDIATE's payload */

static void must(struct o2_forms_run *run, const char *what, bool holds, struct o2_report *report)
{
	char part[32];

	if (holds || report->failed)
		return;
	snprintf(part, sizeof(part), "forms/%s", o2_stage_name(run->asked.stage));
	o2_report_fail_in(report, part, what, "%s", run->change.text);
	o2_foretold_report(NULL, &run->comparison, report);
}

static uint64_t number(const json_t *object, const char *key)
{
	uint64_t value = 0;
	const json_t *member = json_object_get(object, key);

	if (json_is_boolean(member))
		return json_is_true(member);
	return member != NULL && o2_form_number(member, &value) ? value : 0;
}

/* A difference of a list; its check follows from the field (forms_names.c). */
static void add(struct o2_foretold *lines, const char *field, uint64_t expected, uint64_t found)
{
	struct o2_said *said = o2_foretold_add(lines, "", field);

	snprintf(said->expected, sizeof(said->expected), "%" PRIu64, expected);
	snprintf(said->found, sizeof(said->found), "%" PRIu64, found);
}

static void add_other(struct o2_foretold *lines, const char *field, uint64_t expected, uint64_t found)
{
	if (expected != found)
		add(lines, field, expected, found);
}

/* --- lists of pieces of memory --- */

/* A piece is {page, offset, length} or {addr, length}.  Pages are placed 2^32 bytes apart. */
static uint64_t start_of(const json_t *piece)
{
	return json_object_get(piece, "page") == NULL
		       ? number(piece, "addr")
		       : (number(piece, "page") << 32) + number(piece, "offset");
}

/* Find byte `at`: its place, and in *left the bytes of the piece from there on.  False: the list is shorter. */
static bool find_byte(const json_t *pieces, uint64_t at, uint64_t *place, uint64_t *left)
{
	for (size_t i = 0; i < json_array_size(pieces); i++) {
		const json_t *piece = json_array_get(pieces, i);
		const uint64_t length = number(piece, "length");

		if (at < length) {
			*place = start_of(piece) + at;
			*left = length - at;
			return true;
		}
		at -= length;
	}
	return false;
}

static void say_place(bool there, uint64_t at, uint64_t place, char *text, size_t room)
{
	if (there)
		snprintf(text, room, "at 0x%" PRIx64, place);
	else
		snprintf(text, room, "nowhere: it ends after %" PRIu64 " bytes", at);
}

/* Predict the line about the first byte that is at another place. */
static void add_bytes(struct o2_foretold *lines, const json_t *before, const json_t *after)
{
	uint64_t at = 0, place[2] = {0}, left[2] = {0};
	struct o2_said *said;
	char field[48];
	bool there[2];

	for (;;) {
		there[0] = find_byte(before, at, &place[0], &left[0]);
		there[1] = find_byte(after, at, &place[1], &left[1]);
		if (!there[0] && !there[1])
			return;
		if (there[0] != there[1] || place[0] != place[1])
			break;
		at += left[0] < left[1] ? left[0] : left[1];
	}
	snprintf(field, sizeof(field), "list byte %" PRIu64, at);
	said = o2_foretold_add(lines, "", field);
	say_place(there[0], at, place[0], said->expected, sizeof(said->expected));
	say_place(there[1], at, place[1], said->found, sizeof(said->found));
}

/* Predict the line about the first piece that is empty or leaves its page. */
static void add_bad_piece(struct o2_foretold *lines, const char *name, uint64_t page_bytes,
			  const json_t *before, const json_t *after)
{
	char field[48];

	for (size_t i = 0; i < json_array_size(after); i++) {
		const json_t *piece = json_array_get(after, i);
		const uint64_t length = number(piece, "length");

		if (length != 0 && (page_bytes == 0 || number(piece, "offset") + length <= page_bytes))
			continue;
		snprintf(field, sizeof(field), "%s[%zu].length", name, i);
		add(lines, field, number(json_array_get(before, i), "length"), length);
		return;
	}
}

static void foretell_list(const struct o2_forms_run *run, const json_t *before, const json_t *after,
			  struct o2_foretold *lines)
{
	const bool sg = run->asked.stage == O2_STAGE_SG_BUILD;
	const char *key = sg ? "entries" : "segments";
	const json_t *was = json_object_get(before, key), *is = json_object_get(after, key);
	const size_t pieces = json_array_size(is);

	if (sg && pieces > run->asked.sg.max_entries)
		add(lines, "count", json_array_size(was), pieces);
	add_bad_piece(lines, sg ? "entry" : "segment", sg ? run->asked.sg.memory.space.page_bytes : 0, was,
		      is);
	add_bytes(lines, was, is);
	add_other(lines, "nob", number(before, "nob"), number(after, "nob"));
	add_other(lines, "count", json_array_size(was), pieces);
	if (sg)
		add_other(lines, "gaps", number(before, "gaps"), number(after, "gaps"));
}

static void check_list(struct o2_forms_run *run, const json_t *before, const json_t *after,
		       struct o2_report *report)
{
	static struct o2_foretold lines;

	lines.count = 0;
	foretell_list(run, json_object_get(before, "list"), json_object_get(after, "list"), &lines);
	must(run, "differences-of-a-list", lines.count == run->comparison.count, report);
	for (uint32_t i = 0; i < lines.count && !report->failed; i++)
		must(run, "words-of-a-list", o2_said_words(&lines.said[i], &run->comparison.item[i]), report);
}

/* --- one number --- */

/* Negative numbers are printed as unsigned words of 32 bits.  Words on what a plan requires may follow. */
static bool is_number(const char *text, uint64_t number)
{
	char decimal[24], hex[24], word[24], first[24];

	snprintf(decimal, sizeof(decimal), "%" PRIu64, number);
	snprintf(hex, sizeof(hex), "0x%" PRIx64, number);
	snprintf(word, sizeof(word), "0x%" PRIx32, (uint32_t)number);
	snprintf(first, sizeof(first), "%.*s", (int)strcspn(text, ",: "), text);
	return strcmp(first, decimal) == 0 || strcmp(first, hex) == 0 ||
	       ((int64_t)number < 0 && strcmp(first, word) == 0);
}

/* The field's name ends with the key and contains the index of the element, if there is one. */
static bool is_about(const struct o2_difference *item, const struct o2_form_change *change)
{
	const char *key = change->key[change->steps - 1];
	const size_t length = strlen(item->field), bytes = strlen(key);
	char index[24] = "";

	for (uint32_t i = change->steps; i-- > 0;)
		if (change->key[i][0] == '\0')
			snprintf(index, sizeof(index), "%zu", change->index[i]);
	return bytes > 0 && length >= bytes && strcmp(item->field + length - bytes, key) == 0 &&
	       strstr(item->field, index) != NULL;
}

static void check_number(struct o2_forms_run *run, uint64_t was, uint64_t is, struct o2_report *report)
{
	const enum o2_stage stage = run->asked.stage;
	const bool alone = stage == O2_STAGE_MSG_DECODE || stage == O2_STAGE_DEVICE ||
			   stage == O2_STAGE_CONNECT || stage == O2_STAGE_DELIVER;

	must(run, "more-than-one-difference", !alone || run->comparison.count == 1, report);
	for (uint32_t i = 0; i < run->comparison.count; i++) {
		const struct o2_difference *item = &run->comparison.item[i];

		if (is_about(item, &run->change))
			must(run, "words-of-a-number",
			     is_number(item->expected, was) && is_number(item->found, is), report);
		else
			must(run, "difference-of-another-field", !alone, report);
	}
}

/* A changed byte of a slot is reported if it is sent; the checksum has its own words. */
static void check_slot(struct o2_forms_run *run, struct o2_report *report)
{
	const struct o2_answer_send *was = &run->expected.send, *is = &run->found.send;
	const struct o2_comparison *comparison = &run->comparison;
	uint32_t at = 0;
	bool said = false;
	char field[24];

	if (was->slot.length_bytes != is->slot.length_bytes || was->sge[0].addr != run->asked.send.slot_addr)
		return;
	while (at < was->slot.length_bytes && was->slot.bytes[at] == is->slot.bytes[at])
		at++;
	if (at >= was->sge[0].length || at == was->slot.length_bytes)
		return;
	if (at >= PAYLOAD && run->asked.send.msg.ibm_type == O2_MSG_IMMEDIATE)
		snprintf(field, sizeof(field), "payload byte %" PRIu32, at - PAYLOAD);
	else if (at >= 12 && at < 16)
		snprintf(field, sizeof(field), "ibm_cksum");
	else
		snprintf(field, sizeof(field), "bytes[%" PRIu32 "]", at);
	for (uint32_t i = 0; i < comparison->count; i++)
		said |= strcmp(comparison->item[i].field, field) == 0 ||
			strcmp(o2_check_name(comparison->item[i].check), "wire/lnet-nid-folded") == 0;
	must(run, "byte-of-a-slot", said, report);
}

/* A changed page is reported once as another page, and again if it is not page-aligned. */
static void check_page(struct o2_forms_run *run, uint64_t was, uint64_t is, struct o2_report *report)
{
	const uint32_t page_bytes = run->asked.reg.request.page_bytes;
	uint32_t due = (was != is) + (is % page_bytes != 0), said = 0;
	char field[24];

	snprintf(field, sizeof(field), "page[%zu]", run->change.index[run->change.steps - 1]);
	for (uint32_t i = 0; i < run->comparison.count; i++) {
		const struct o2_difference *item = &run->comparison.item[i];

		if (strcmp(item->field, field) != 0)
			continue;
		said++;
		must(run, "words-of-a-page", is_number(item->expected, was) && is_number(item->found, is),
		     report);
	}
	must(run, "differences-of-a-page", said == due, report);
}

void o2_forms_check_words(struct o2_forms_run *run, const json_t *before, const json_t *after,
			  struct o2_report *report)
{
	const enum o2_stage stage = run->asked.stage;
	const char *other = NULL;
	uint64_t was, is;

	if (run->expected.kind == O2_ANSWER_RESULT && run->found.kind == O2_ANSWER_RESULT)
		other = o2_forms_other_check(run);
	if (other != NULL) {
		must(run, "difference-of-another-check", false, report);
		o2_report_add(report, "%s", other);
	}
	if (run->change.deleted || run->expected.kind != O2_ANSWER_RESULT ||
	    run->found.kind != O2_ANSWER_RESULT)
		return;
	if (stage == O2_STAGE_SEND_PLAN && strcmp(run->change.key[run->change.steps - 1], "slot") == 0)
		check_slot(run, report);
	else if (stage == O2_STAGE_SG_BUILD || stage == O2_STAGE_DMA_MAP)
		check_list(run, before, after, report);
	else if (run->comparison.count > 0 && (stage <= O2_STAGE_REG_PLAN || stage > O2_STAGE_TRANSFER) &&
		 stage != O2_STAGE_RDMA_CHAIN && stage != O2_STAGE_SEND_PLAN && stage != O2_STAGE_SETUP &&
		 stage != O2_STAGE_FLOW && o2_form_number(o2_form_at(before, &run->change), &was) &&
		 o2_form_number(o2_form_at(after, &run->change), &is)) {
		check_number(run, was, is, report);
		if (stage == O2_STAGE_REG_PLAN && run->change.steps > 1 &&
		    strcmp(run->change.key[run->change.steps - 2], "pages") == 0)
			check_page(run, was, is, report);
	}
}
