/* SPDX-License-Identifier: MIT */
#include "props/stage/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/scenario/draw.h"
#include "props/stage/parts_internal.h"
#include "wire/nid.h"

static const char *const situations[O2_PARTS_SITUATIONS] = {O2_PARTS_SITUATION_LIST(O2_SITUATION_NAME)};

/* --- reject records --- */

static uint64_t draw_number(struct o2_choice *c, uint64_t most)
{
	return o2_draw_bool(c, 1, 1) ? o2_draw_wild(c) & most : o2_draw(c, most);
}

static void draw_record(struct o2_choice *c, struct o2_reject *record)
{
	const bool old = o2_draw_bool(c, 2, 1);

	*record = (struct o2_reject){
		.order = o2_draw_bool(c, 1, 1) ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN,
		.generic_magic = o2_draw_bool(c, 3, 1),
		.ibr_version = old ? 0x11 : 0x12,
		.ibr_why = (uint8_t)(1 + o2_draw(c, 8)),
	};
	if (old && o2_draw_bool(c, 3, 1))
		return;
	if (!old || o2_draw_bool(c, 1, 1))
		record->ibr_incarnation = draw_number(c, UINT64_MAX);
	if (!old || o2_draw_bool(c, 1, 1))
		record->ibr_cp.ibcp_queue_depth = (uint16_t)draw_number(c, UINT16_MAX);
	if (!old || o2_draw_bool(c, 1, 1))
		record->ibr_cp.ibcp_max_frags = (uint16_t)draw_number(c, UINT16_MAX);
	if (!old || o2_draw_bool(c, 1, 1))
		record->ibr_cp.ibcp_max_msg_size = (uint32_t)draw_number(c, UINT32_MAX);
}

static void check_refusal(const struct o2_rm_verdict *verdict, int rc, const struct o2_error *error,
			  const char *what, struct o2_report *report)
{
	char signature[96];

	if (rc == verdict->code && error->code == rc && error->rule != NULL && error->field != NULL &&
	    strcmp(error->rule, verdict->rule) == 0 && strcmp(error->field, verdict->field) == 0 &&
	    error->index == O2_NO_INDEX && error->class == verdict->class &&
	    error->limit_kind == verdict->limit_kind && error->offset_bytes == verdict->offset_bytes &&
	    error->value == verdict->value && error->limit == verdict->limit)
		return;
	snprintf(signature, sizeof(signature), "parts/%s/%s", what, verdict->rule);
	o2_report_fail(report, signature,
		       "%s: expected %d by %s of %s at %" PRIu32 ": %" PRIu64 ", limit %" PRIu64, what,
		       verdict->code, verdict->rule, verdict->field, verdict->offset_bytes, verdict->value,
		       verdict->limit);
	o2_report_add(report, "%d by %s of %s at %" PRIu32 ": %" PRIu64 ", limit %" PRIu64 ", index %" PRIu32,
		      rc, error->rule == NULL ? "nothing" : error->rule,
		      error->field == NULL ? "-" : error->field, error->offset_bytes, error->value,
		      error->limit, error->index);
}

static void check_decode(struct o2_parts_run *run, struct o2_report *report)
{
	struct o2_reject found, expected;
	struct o2_rm_verdict verdict;
	struct o2_error error = {0};
	const char *differs;
	int rc;

	o2_rm_decode(run->bytes, run->length_bytes, &expected, &verdict);
	rc = o2_reject_decode(run->bytes, run->length_bytes, &found, &error);
	run->tally.seen[verdict.refused ? DECODE_REFUSED : DECODED]++;
	if (verdict.refused) {
		check_refusal(&verdict, rc, &error, "decode", report);
		return;
	}
	if (rc != 0) {
		o2_report_fail(report, "parts/decode/refused", "refused by %s", error.rule);
		return;
	}
	run->tally.seen[VERSION_1] += expected.ibr_version == 0x11;
	run->tally.seen[IN_BIG_ENDIAN] += expected.order == O2_BIG_ENDIAN;
	run->tally.seen[GENERIC_MAGIC] += expected.generic_magic;
	differs = o2_rm_difference(&expected, &found);
	if (differs != NULL)
		o2_report_fail(report, "parts/decode/field", "%s is another", differs);
}

static void check_encode(struct o2_parts_run *run, struct o2_report *report)
{
	uint8_t expected[O2_RM_BYTES], found[O2_RM_BYTES + 8], behind[8];
	struct o2_rm_verdict verdict;
	struct o2_error error = {.code = -EIO, .rule = "another"};
	int rc;

	memset(found, 0xa5, sizeof(found));
	memset(behind, 0xa5, sizeof(behind));
	o2_rm_encode(&run->record, expected, run->length_bytes, &verdict);
	rc = o2_reject_encode(&run->record, found, run->length_bytes, &error);
	run->tally.seen[verdict.refused ? ENCODE_REFUSED : ENCODED]++;
	if (verdict.refused)
		check_refusal(&verdict, rc, &error, "encode", report);
	else if (rc != (int)O2_RM_BYTES)
		o2_report_fail(report, "parts/encode/length", "%d, expected %u", rc, O2_RM_BYTES);
	else if (memcmp(expected, found, O2_RM_BYTES) != 0)
		o2_report_fail(report, "parts/encode/bytes", "the bytes are not those of the layout");
	else if (memcmp(found + O2_RM_BYTES, behind, sizeof(behind)) != 0)
		o2_report_fail(report, "parts/encode/behind", "bytes behind the record were written");
	else if (error.code != 0 || error.rule != NULL || error.index != O2_NO_INDEX)
		o2_report_fail(report, "parts/encode/error", "%d by %s is left", error.code, error.rule);
}

static void run_record(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report)
{
	const bool decode = o2_draw_bool(c, 1, 1);
	struct o2_rm_verdict none;

	draw_record(c, &run->record);
	if (!decode) {
		if (o2_draw_bool(c, 3, 1))
			run->record.ibr_version = (uint16_t)draw_number(c, UINT16_MAX);
		if (o2_draw_bool(c, 3, 1))
			run->record.ibr_why = (uint8_t)draw_number(c, UINT8_MAX);
		if (o2_draw_bool(c, 15, 1))
			run->record.order = (enum o2_byte_order)o2_draw(c, 3);
		run->length_bytes =
			o2_draw_bool(c, 7, 1) ? o2_draw(c, O2_RM_BYTES - 1) : O2_RM_BYTES + o2_draw(c, 8);
		check_encode(run, report);
		return;
	}
	memset(run->bytes, 0, sizeof(run->bytes));
	o2_rm_encode(&run->record, run->bytes, O2_RM_BYTES, &none);
	for (uint64_t changes = o2_draw(c, 2); changes > 0; changes--) {
		const uint64_t at = o2_draw(c, O2_RM_BYTES + 3);

		run->bytes[at] = (uint8_t)o2_draw(c, UINT8_MAX);
	}
	run->length_bytes = o2_draw_bool(c, 3, 1) ? o2_draw(c, O2_RM_BYTES + 1) : O2_RM_BYTES + o2_draw(c, 8);
	check_decode(run, report);
}

/* --- NIDs as text --- */

/* The text of a NID, by docs/wire.md, "NIDs". */
static void text_of(uint64_t nid, char *text, size_t text_bytes)
{
	const unsigned int lnd = nid >> 48 & 0xffff, network = nid >> 32 & 0xffff;
	const char *name = lnd == 5 ? "o2ib" : lnd == 2 ? "tcp" : NULL;
	int length;

	if (nid == UINT64_C(0x0009000000000000))
		snprintf(text, text_bytes, "0@lo");
	else if (name == NULL)
		snprintf(text, text_bytes, "0x%016" PRIx64, nid);
	else {
		length = snprintf(text, text_bytes, "%u.%u.%u.%u@%s", (unsigned int)(nid >> 24 & 0xff),
				  (unsigned int)(nid >> 16 & 0xff), (unsigned int)(nid >> 8 & 0xff),
				  (unsigned int)(nid & 0xff), name);
		if (network != 0)
			snprintf(text + length, text_bytes - (size_t)length, "%u", network);
	}
}

static uint64_t draw_nid(struct o2_choice *c)
{
	static const uint64_t lnds[] = {5, 2, 9, 0xff, 0, 0x105, 0x500};
	const uint64_t lnd = lnds[o2_draw(c, sizeof(lnds) / sizeof(lnds[0]) - 1)];
	const uint64_t network = o2_draw_bool(c, 1, 1) ? 0 : draw_number(c, UINT16_MAX);

	return lnd << 48 | network << 32 | (o2_draw_bool(c, 7, 1) ? 0 : draw_number(c, UINT32_MAX));
}

static void run_write(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report)
{
	const uint64_t nid = o2_draw_bool(c, 7, 1) ? o2_draw_wild(c) : draw_nid(c);
	char text[O2_NID_TEXT_BYTES];
	int length;

	text_of(nid, run->text, sizeof(run->text));
	length = o2_nid_to_text(nid, text, sizeof(text));
	run->tally.seen[strncmp(run->text, "0x", 2) == 0 ? NID_AS_NUMBER : NID_WRITTEN]++;
	if (length < 0 || (size_t)length != strlen(run->text) || strcmp(text, run->text) != 0)
		o2_report_fail(report, "parts/nid/text", "0x%" PRIx64 " is written as %s, expected %s", nid,
			       text, run->text);
}

/* Draw a decimal number, valid or not; *good: no leading zero, and at most `most`. */
static uint64_t draw_decimal(struct o2_choice *c, uint64_t most, bool *good, char *text, size_t text_bytes)
{
	static const char *const wrong[] = {"", "00", "01", "-1", "x", " 1"};
	const uint64_t kind = o2_draw(c, 15);
	const uint64_t value = kind == 1 ? most : kind == 2 ? most + 1 : kind == 3 ? 0 : o2_draw(c, most);

	snprintf(text, text_bytes, "%" PRIu64, value);
	if (kind == 15)
		snprintf(text, text_bytes, "%s", wrong[o2_draw(c, sizeof(wrong) / sizeof(wrong[0]) - 1)]);
	*good = *good && kind != 15 && kind != 2;
	return value;
}

/* Draw the text of a NID, of which any part may be invalid.  Returns the rule that refuses it, or NULL. */
static const char *draw_node(struct o2_choice *c, char *text, uint64_t *nid)
{
	static const char *const names[] = {"o2ib", "tcp", "o2i", "lo", "O2IB", "ib", "gni", ""};
	const uint64_t name = o2_draw_bool(c, 5, 1) ? o2_draw(c, 7) : o2_draw(c, 1);
	char decimal[24] = "";
	bool good_address = true, good_network = name < 2;
	uint64_t network = 0, address = 0;

	text[0] = '\0';
	for (int i = 0; i < 4; i++) {
		address =
			address << 8 | (draw_decimal(c, 255, &good_address, decimal, sizeof(decimal)) & 0xff);
		strcat(text, decimal);
		if (i < 3 && o2_draw_bool(c, 31, 1))
			good_address = (strcat(text, i % 2 == 0 ? "," : ""), false);
		else if (i < 3)
			strcat(text, ".");
	}
	if (o2_draw_bool(c, 31, 1))
		good_network = (strcat(text, "#"), false);
	else
		strcat(text, "@");
	strcat(text, names[name]);
	if (o2_draw_bool(c, 1, 1)) {
		network = draw_decimal(c, 65535, &good_network, decimal, sizeof(decimal));
		strcat(text, decimal);
		/* A network without a number is network 0. */
		if (decimal[0] == '\0' && name < 2 && strchr(text, '#') == NULL)
			good_network = true, network = 0;
	}
	*nid = (name == 0 ? UINT64_C(5) : UINT64_C(2)) << 48 | network << 32 | address;
	if (!good_address)
		return "nid/address";
	return good_network ? NULL : "nid/network";
}

/* Draw a NID as a number: 0x and digits, valid with 1 to 16.  Returns the rule that refuses it, or NULL. */
static const char *draw_hex(struct o2_choice *c, char *text, uint64_t *nid)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	const uint64_t count = o2_draw(c, 18);
	const uint64_t wrong = o2_draw_bool(c, 7, 1) && count > 0 ? o2_draw(c, count - 1) : count;
	uint32_t i;

	*nid = 0;
	strcpy(text, "0x");
	for (i = 0; i < count; i++) {
		const uint64_t digit = o2_draw(c, sizeof(digits) - 2);

		text[2 + i] = i == wrong ? 'g' : digits[digit];
		*nid = *nid << 4 | (digit < 16 ? digit : digit - 6);
	}
	text[2 + i] = '\0';
	return count < 1 || count > 16 || wrong < count ? "nid/address" : NULL;
}

static void run_read(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report)
{
	const uint64_t kind = o2_draw(c, 11);
	uint64_t expected = UINT64_C(9) << 48, nid = ~expected;
	struct o2_error error = {0};
	const char *rule = NULL;
	int rc, code;

	if (kind == 0)
		strcpy(run->text, "0@lo");
	else if (kind < 4)
		rule = draw_hex(c, run->text, &expected);
	else if (kind < 11)
		rule = draw_node(c, run->text, &expected);
	else {
		snprintf(run->text, sizeof(run->text), "fe80::%" PRIu64 "@o2ib", o2_draw(c, 9999));
		rule = "nid/ipv6";
	}
	code = rule == NULL ? 0 : kind == 11 ? -EAFNOSUPPORT : -EINVAL;
	rc = o2_nid_from_text(run->text, &nid, &error);
	run->tally.seen[rule == NULL ? NID_READ : NID_REFUSED]++;
	if (rc != code ||
	    (rc != 0 && (error.code != rc || error.rule == NULL || strcmp(error.rule, rule) != 0 ||
			 error.index != O2_NO_INDEX || error.limit != O2_NO_LIMIT)))
		o2_report_fail(report, "parts/nid/verdict", "'%s': %d by %s, expected %d by %s", run->text,
			       rc, error.rule == NULL ? "nothing" : error.rule, code,
			       rule == NULL ? "nothing" : rule);
	else if (rc == 0 && nid != expected)
		o2_report_fail(report, "parts/nid/value",
			       "'%s' is read as 0x%" PRIx64 ", expected 0x%" PRIx64, run->text, nid,
			       expected);
}

/* --- the case --- */

static void room_or_path(struct o2_parts_run *run, struct o2_choice *choice, struct o2_report *report)
{
	if (o2_draw_bool(choice, 1, 3))
		o2_parts_room(run, choice, report);
	else
		o2_parts_path(run, choice, report);
}

#define PARTS 17u

static void (*const parts[PARTS])(struct o2_parts_run *run, struct o2_choice *choice,
				  struct o2_report *report) = {
	run_record,	  run_record,	     run_write,	      run_read,	     o2_parts_options,
	o2_parts_options, o2_parts_errno,    o2_parts_quirks, o2_parts_ping, o2_parts_fault,
	o2_parts_lst,	  o2_parts_lst_code, o2_parts_markup, room_or_path,  o2_parts_lst_read,
	o2_parts_form,	  o2_parts_pattern,
};

static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	struct o2_parts_run *run = context;

	o2_report_clear(report);
	run->text[0] = '\0';
	parts[o2_draw_pick(choice, PARTS)](run, choice, report);
	run->tally.cases++;
	return o2_choice_status(choice, report->failed ? O2_STATUS_INTERESTING : O2_STATUS_VALID);
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
	const struct o2_parts_run *run = context;

	(void)pieces;
	if (run->text[0] != '\0') {
		fprintf(out, "words: %s\n", run->text);
		return;
	}
	fprintf(out, "a reject record of version 0x%x, reason %u; %zu bytes:", run->record.ibr_version,
		run->record.ibr_why, run->length_bytes);
	for (size_t i = 0; i < run->length_bytes && i < sizeof(run->bytes); i++)
		fprintf(out, " %02x", run->bytes[i]);
	fprintf(out, "\n");
}

struct o2_property o2_parts_property(struct o2_parts_run *run)
{
	static const struct o2_property_ops ops = {
		O2_TALLY_HELD("parts",
			      "reject records, answers to pings, NIDs as text, options, quirks and errnos "
			      "are written, read and refused as their texts say",
			      ""),
	};

	return o2_tally_property(&ops, run, situations, O2_PARTS_SITUATIONS, 10000);
}
