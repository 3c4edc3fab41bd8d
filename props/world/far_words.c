/* SPDX-License-Identifier: MIT */
#include "props/world/far_words.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fields_json.h"
#include "base/json.h"
#include "base/mix.h"
#include "base/plain.h"
#include "props/scenario/scenario_io.h"

#define TEXT_BYTES 64u
#define KEPT	   512u
#define FORM	   "o2ref/far"

/* --- texts --- */

const char *o2_far_keep(const char *text)
{
	static char kept[KEPT][TEXT_BYTES];
	static uint32_t count;
	char cut[TEXT_BYTES];

	snprintf(cut, sizeof(cut), "%s", text);
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(kept[i], cut) == 0)
			return kept[i];
	if (count == KEPT)
		return "(another)";
	memcpy(kept[count], cut, sizeof(cut));
	return kept[count++];
}

/* A text of the struct that is kept as long as the process.  NULL is "". */
static int print_kept(uint64_t value, char *text, size_t text_bytes)
{
	const char *kept = (const char *)(uintptr_t)value;
	const int length = snprintf(text, text_bytes, "%s", kept == NULL ? "" : kept);

	o2_make_utf8(text);
	return length;
}

static int parse_kept(const char *text, uint64_t *value, struct o2_error *error)
{
	(void)error;
	*value = (uintptr_t)(text[0] == '\0' ? NULL : o2_far_keep(text));
	return 0;
}

static const struct o2_field_text kept = {print_kept, parse_kept};

/* --- identity --- */

int o2_far_identity(struct o2_far_identity *identity, struct o2_error *error)
{
	FILE *file = fopen("/proc/self/exe", "rb");
	uint64_t words[512];
	size_t n;

	memset(identity, 0, sizeof(*identity));
	snprintf(identity->version, sizeof(identity->version), "%s", O2_VERSION);
	if (file == NULL)
		return o2_refuse_value(error, -errno, "far/program", "/proc/self/exe", 0, O2_NO_LIMIT);
	do {
		memset(words, 0, sizeof(words));
		n = fread(words, 1, sizeof(words), file);
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			identity->digest = o2_mix64(identity->digest ^ words[i]) + O2_MIX_STEP;
	} while (n == sizeof(words));
	fclose(file);
	return 0;
}

static const struct o2_field identity_fields[] = {
	{O2_FIELD("program", CHARS, struct o2_far_identity, version)},
	{O2_FIELD("digest", HEX, struct o2_far_identity, digest)},
	{0},
};

json_t *o2_far_hello(const struct o2_far_identity *identity)
{
	return o2_fields_into_json(o2_json_form(FORM), identity_fields, identity);
}

int o2_far_check_hello(const json_t *object, const struct o2_far_identity *identity, struct o2_error *error)
{
	struct o2_far_identity theirs;
	char field[128];

	if (o2_json_expect_form(object, FORM, error) != 0 ||
	    o2_fields_from_json(object, identity_fields, &theirs, error) != 0)
		return -EBADMSG;
	snprintf(field, sizeof(field), "version '%.20s' of the far end, ours '%.20s': digest", theirs.version,
		 identity->version);
	if (theirs.digest != identity->digest)
		return o2_refuse_other(error, -EPROTO, "far/another-program", o2_far_keep(field),
				       theirs.digest, identity->digest);
	return 0;
}

/* --- errors and faults --- */

static const struct o2_field error_fields[] = {
	{O2_FIELD("code", INT, struct o2_error, code)},
	{O2_FIELD("class", UINT, struct o2_error, class), .limit = O2_CLASS_CONNECTION},
	{O2_FIELD("limit_kind", UINT, struct o2_error, limit_kind), .limit = O2_LIMIT_OTHER},
	{O2_FIELD("index", UINT, struct o2_error, index)},
	{O2_FIELD("offset_bytes", UINT, struct o2_error, offset_bytes)},
	{O2_FIELD("rule", TEXT, struct o2_error, rule), .text = &kept},
	{O2_FIELD("field", TEXT, struct o2_error, field), .text = &kept},
	{O2_FIELD("value", HEX, struct o2_error, value)},
	{O2_FIELD("limit", HEX, struct o2_error, limit)},
	{0},
};

static const struct o2_field fault_fields[] = {
	{O2_FIELD("side", UINT, struct o2_transfer_fault, side), .limit = O2_FAULT_DEVICE},
	{O2_FIELD("closed_by", UINT, struct o2_transfer_fault, closed_by), .limit = O2_FAULT_DEVICE},
	{O2_FIELD("wait", UINT, struct o2_transfer_fault, wait), .limit = O2_WAITS - 1},
	{O2_FIELD("wc_status", UINT, struct o2_transfer_fault, wc_status), .limit = UINT8_MAX},
	{O2_FIELD("wc_opcode", UINT, struct o2_transfer_fault, wc_opcode), .limit = UINT16_MAX},
	{O2_FIELD("cm_reason", UINT, struct o2_transfer_fault, cm_reason)},
	{O2_FIELD("reject_why", UINT, struct o2_transfer_fault, reject_why), .limit = UINT8_MAX},
	{O2_FIELD("code", INT, struct o2_transfer_fault, code)},
	{O2_FIELD("tolerable", BOOL, struct o2_transfer_fault, tolerable)},
	{O2_FIELD("error", PART, struct o2_transfer_fault, error), .part = error_fields},
	{0},
};

/* --- an answer --- */

static const struct o2_field seen_fields[] = {
	{O2_FIELD("involved", BOOL, struct o2_observed_end, involved)},
	{O2_FIELD("mapped", BOOL, struct o2_observed_end, mapped)},
	{O2_FIELD("status", INT, struct o2_observed_end, status)},
	{O2_FIELD("nob", LENGTH, struct o2_observed_end, nob)},
	{O2_FIELD("fault", PART, struct o2_observed_end, fault), .part = fault_fields},
	{0},
};

static const struct o2_field answer_fields[] = {
	{O2_FIELD("code", INT, struct o2_end_answer, code)},
	{O2_FIELD("nid", HEX, struct o2_end_answer, nid)},
	{O2_FIELD("connected", BOOL, struct o2_end_answer, connected)},
	{O2_FIELD("messages_sent", LENGTH, struct o2_end_answer, messages_sent)},
	{O2_FIELD("messages_handled", LENGTH, struct o2_end_answer, messages_handled)},
	{O2_FIELD("noops_sent", LENGTH, struct o2_end_answer, noops_sent)},
	{O2_FIELD("noops_received", LENGTH, struct o2_end_answer, noops_received)},
	{O2_FIELD("version", UINT, struct o2_end_answer, version)},
	{O2_FIELD("queue_depth", UINT, struct o2_end_answer, queue_depth)},
	{O2_FIELD("downs", UINT, struct o2_end_answer, downs)},
	{O2_FIELD("nwr", UINT, struct o2_end_answer, nwr)},
	{O2_FIELD("nfrags", UINT, struct o2_end_answer, nfrags)},
	{O2_FIELD("stale_tried", BOOL, struct o2_end_answer, stale_tried)},
	{O2_FIELD("stale_admitted", BOOL, struct o2_end_answer, stale_admitted)},
	{O2_FIELD("ways", UINT, struct o2_end_answer, ways)},
	{O2_FIELD("maps", LENGTH, struct o2_end_answer, ledger.maps)},
	{O2_FIELD("unmaps", LENGTH, struct o2_end_answer, ledger.unmaps)},
	{O2_FIELD("live_entries", LENGTH, struct o2_end_answer, ledger.live_entries)},
	{O2_FIELD("live", UINT, struct o2_end_answer, ledger.live)},
	{O2_FIELD("wrong_unmaps", UINT, struct o2_end_answer, ledger.wrong_unmaps)},
	{O2_FIELD("error", PART, struct o2_end_answer, error), .part = error_fields},
	{O2_FIELD("judged", PART, struct o2_end_answer, judged), .part = error_fields},
	{O2_FIELD("down", PART, struct o2_end_answer, down), .part = fault_fields},
	{O2_FIELD("initiator", PART, struct o2_end_answer, initiator), .part = seen_fields},
	{O2_FIELD("responder", PART, struct o2_end_answer, responder), .part = seen_fields},
	{O2_FIELD("broken", TEXT, struct o2_end_answer, broken), .text = &kept},
	{0},
};

json_t *o2_far_answer(const struct o2_end_answer *answer)
{
	return o2_fields_to_json(answer_fields, answer);
}

int o2_far_read_answer(const json_t *object, struct o2_end_answer *answer, struct o2_error *error)
{
	memset(answer, 0, sizeof(*answer));
	return o2_part_from_json(object, "answer", answer_fields, answer, error);
}

/* --- a question --- */

static const struct o2_field question_fields[] = {
	{O2_FIELD("verb", UINT, struct o2_end_question, verb), .limit = O2_END_QUIT},
	{O2_FIELD("until", UINT, struct o2_end_question, until), .limit = O2_END_PARTED},
	{O2_FIELD("peer", HEX, struct o2_end_question, peer)},
	{0},
};

json_t *o2_far_question(const struct o2_end_question *question)
{
	json_t *object = o2_fields_to_json(question_fields, question);

	if (question->verb == O2_END_BEGIN)
		object = o2_json_with(object, "scenario", o2_scenario_to_json(&question->scenario));
	return object;
}

int o2_far_read_question(const json_t *object, struct o2_end_question *question, struct o2_error *error)
{
	const json_t *scenario;
	int rc = o2_fields_from_json(object, question_fields, question, error);

	if (rc != 0 || question->verb != O2_END_BEGIN)
		return rc;
	rc = o2_json_get_object(object, "scenario", &scenario, error);
	return rc == 0 ? o2_scenario_from_json(scenario, &question->scenario, error) : rc;
}

/* --- a farewell --- */

static const struct o2_field held_fields[] = {
	{O2_FIELD("pinned_kib", LENGTH, struct o2_held, pinned_kib)},
	{O2_FIELD("regions", UINT, struct o2_held, regions)},
	{O2_FIELD("windows", UINT, struct o2_held, windows)},
	{O2_FIELD("queue_pairs", UINT, struct o2_held, queue_pairs)},
	{O2_FIELD("others", UINT, struct o2_held, others)},
	{O2_FIELD("heap_bytes", LENGTH, struct o2_held, process.heap_bytes)},
	{O2_FIELD("mapped_bytes", LENGTH, struct o2_held, process.mapped_bytes)},
	{O2_FIELD("mappings", UINT, struct o2_held, process.mappings)},
	{O2_FIELD("threads", UINT, struct o2_held, process.threads)},
	{O2_FIELD("files", UINT, struct o2_held, process.descriptors[O2_DESCRIPTOR_FILE])},
	{O2_FIELD("sockets", UINT, struct o2_held, process.descriptors[O2_DESCRIPTOR_SOCKET])},
	{O2_FIELD("pipes", UINT, struct o2_held, process.descriptors[O2_DESCRIPTOR_PIPE])},
	{O2_FIELD("other_descriptors", UINT, struct o2_held, process.descriptors[O2_DESCRIPTOR_OTHER])},
	{0},
};
static_assert(O2_DESCRIPTOR_KINDS == 4, "each has its row");

static const struct o2_field farewell_fields[] = {
	{O2_FIELD("before", PART, struct o2_end_farewell, before), .part = held_fields},
	{O2_FIELD("most", PART, struct o2_end_farewell, most), .part = held_fields},
	{O2_FIELD("after", PART, struct o2_end_farewell, after), .part = held_fields},
	{O2_FIELD("connections", LENGTH, struct o2_end_farewell, judged.connections)},
	{O2_FIELD("messages", LENGTH, struct o2_end_farewell, judged.messages)},
	{O2_FIELD("writes", LENGTH, struct o2_end_farewell, judged.writes)},
	{0},
};

json_t *o2_far_farewell(const struct o2_end_farewell *farewell)
{
	return o2_fields_to_json(farewell_fields, farewell);
}

int o2_far_read_farewell(const json_t *object, struct o2_end_farewell *farewell, struct o2_error *error)
{
	return o2_part_from_json(object, "farewell", farewell_fields, farewell, error);
}
