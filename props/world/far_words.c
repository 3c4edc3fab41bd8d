/* SPDX-License-Identifier: MIT */
#include "props/world/far_words.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fields_json.h"
#include "base/json.h"
#include "base/mix.h"
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

/* Copy a text; NULL becomes "". */
static void cut_text(const char *text, char *cut)
{
	snprintf(cut, TEXT_BYTES, "%s", text == NULL ? "" : text);
}

static const char *kept_text(const char *text)
{
	return text[0] == '\0' ? NULL : o2_far_keep(text);
}

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

struct error {
	int32_t code;
	uint32_t class, limit_kind, index, offset_bytes;
	char rule[TEXT_BYTES], field[TEXT_BYTES];
	uint64_t value, limit;
};

static const struct o2_field error_fields[] = {
	{O2_FIELD("code", INT, struct error, code)},
	{O2_FIELD("class", UINT, struct error, class), .limit = O2_CLASS_CONNECTION},
	{O2_FIELD("limit_kind", UINT, struct error, limit_kind), .limit = O2_LIMIT_OTHER},
	{O2_FIELD("index", UINT, struct error, index)},
	{O2_FIELD("offset_bytes", UINT, struct error, offset_bytes)},
	{O2_FIELD("rule", CHARS, struct error, rule)},
	{O2_FIELD("field", CHARS, struct error, field)},
	{O2_FIELD("value", HEX, struct error, value)},
	{O2_FIELD("limit", HEX, struct error, limit)},
	{0},
};

static struct error flat_error(const struct o2_error *error)
{
	struct error flat = {
		.code = error->code,
		.class = error->class,
		.limit_kind = error->limit_kind,
		.index = error->index,
		.offset_bytes = error->offset_bytes,
		.value = error->value,
		.limit = error->limit,
	};

	cut_text(error->rule, flat.rule);
	cut_text(error->field, flat.field);
	return flat;
}

static struct o2_error round_error(const struct error *flat)
{
	return (struct o2_error){
		.code = flat->code,
		.class = (enum o2_error_class)flat->class,
		.rule = kept_text(flat->rule),
		.field = kept_text(flat->field),
		.index = flat->index,
		.offset_bytes = flat->offset_bytes,
		.value = flat->value,
		.limit = flat->limit,
		.limit_kind = (enum o2_limit_kind)flat->limit_kind,
	};
}

struct fault {
	uint32_t side, closed_by, wait, wc_status, wc_opcode, cm_reason, reject_why;
	int32_t code;
	bool tolerable;
	struct error error;
};

static const struct o2_field fault_fields[] = {
	{O2_FIELD("side", UINT, struct fault, side), .limit = O2_FAULT_DEVICE},
	{O2_FIELD("closed_by", UINT, struct fault, closed_by), .limit = O2_FAULT_DEVICE},
	{O2_FIELD("wait", UINT, struct fault, wait), .limit = O2_WAITS - 1},
	{O2_FIELD("wc_status", UINT, struct fault, wc_status), .limit = UINT8_MAX},
	{O2_FIELD("wc_opcode", UINT, struct fault, wc_opcode), .limit = UINT16_MAX},
	{O2_FIELD("cm_reason", UINT, struct fault, cm_reason)},
	{O2_FIELD("reject_why", UINT, struct fault, reject_why), .limit = UINT8_MAX},
	{O2_FIELD("code", INT, struct fault, code)},
	{O2_FIELD("tolerable", BOOL, struct fault, tolerable)},
	{O2_FIELD("error", PART, struct fault, error), .part = error_fields},
	{0},
};

static struct fault flat_fault(const struct o2_transfer_fault *fault)
{
	return (struct fault){
		.side = fault->side,
		.closed_by = fault->closed_by,
		.wait = fault->wait,
		.wc_status = fault->wc_status,
		.wc_opcode = fault->wc_opcode,
		.cm_reason = fault->cm_reason,
		.reject_why = fault->reject_why,
		.code = fault->code,
		.tolerable = fault->tolerable,
		.error = flat_error(&fault->error),
	};
}

static struct o2_transfer_fault round_fault(const struct fault *flat)
{
	return (struct o2_transfer_fault){
		.side = (enum o2_fault_side)flat->side,
		.closed_by = (enum o2_fault_side)flat->closed_by,
		.wait = (enum o2_wait)flat->wait,
		.wc_status = (enum ibv_wc_status)flat->wc_status,
		.wc_opcode = (enum ibv_wc_opcode)flat->wc_opcode,
		.cm_reason = flat->cm_reason,
		.reject_why = (uint8_t)flat->reject_why,
		.code = flat->code,
		.tolerable = flat->tolerable,
		.error = round_error(&flat->error),
	};
}

/* --- an answer --- */

struct seen {
	bool involved, mapped;
	int32_t status;
	uint64_t nob;
	struct fault fault;
};

static const struct o2_field seen_fields[] = {
	{O2_FIELD("involved", BOOL, struct seen, involved)},
	{O2_FIELD("mapped", BOOL, struct seen, mapped)},
	{O2_FIELD("status", INT, struct seen, status)},
	{O2_FIELD("nob", LENGTH, struct seen, nob)},
	{O2_FIELD("fault", PART, struct seen, fault), .part = fault_fields},
	{0},
};

static struct seen flat_seen(const struct o2_observed_end *end)
{
	return (struct seen){end->involved, end->mapped, end->status, end->nob, flat_fault(&end->fault)};
}

static struct o2_observed_end round_seen(const struct seen *flat)
{
	return (struct o2_observed_end){
		.involved = flat->involved,
		.mapped = flat->mapped,
		.status = flat->status,
		.nob = flat->nob,
		.fault = round_fault(&flat->fault),
	};
}

/* The members of an answer that are not plain numbers; the numbers are in .plain. */
struct answer {
	struct o2_end_answer plain;
	struct error error, judged;
	struct fault down;
	struct seen initiator, responder;
	char broken[TEXT_BYTES];
};

static const struct o2_field answer_fields[] = {
	{O2_FIELD("code", INT, struct answer, plain.code)},
	{O2_FIELD("nid", HEX, struct answer, plain.nid)},
	{O2_FIELD("connected", BOOL, struct answer, plain.connected)},
	{O2_FIELD("messages_sent", LENGTH, struct answer, plain.messages_sent)},
	{O2_FIELD("messages_handled", LENGTH, struct answer, plain.messages_handled)},
	{O2_FIELD("noops_sent", LENGTH, struct answer, plain.noops_sent)},
	{O2_FIELD("noops_received", LENGTH, struct answer, plain.noops_received)},
	{O2_FIELD("version", UINT, struct answer, plain.version)},
	{O2_FIELD("queue_depth", UINT, struct answer, plain.queue_depth)},
	{O2_FIELD("downs", UINT, struct answer, plain.downs)},
	{O2_FIELD("nwr", UINT, struct answer, plain.nwr)},
	{O2_FIELD("nfrags", UINT, struct answer, plain.nfrags)},
	{O2_FIELD("stale_tried", BOOL, struct answer, plain.stale_tried)},
	{O2_FIELD("stale_admitted", BOOL, struct answer, plain.stale_admitted)},
	{O2_FIELD("ways", UINT, struct answer, plain.ways)},
	{O2_FIELD("maps", LENGTH, struct answer, plain.ledger.maps)},
	{O2_FIELD("unmaps", LENGTH, struct answer, plain.ledger.unmaps)},
	{O2_FIELD("live_entries", LENGTH, struct answer, plain.ledger.live_entries)},
	{O2_FIELD("live", UINT, struct answer, plain.ledger.live)},
	{O2_FIELD("wrong_unmaps", UINT, struct answer, plain.ledger.wrong_unmaps)},
	{O2_FIELD("error", PART, struct answer, error), .part = error_fields},
	{O2_FIELD("judged", PART, struct answer, judged), .part = error_fields},
	{O2_FIELD("down", PART, struct answer, down), .part = fault_fields},
	{O2_FIELD("initiator", PART, struct answer, initiator), .part = seen_fields},
	{O2_FIELD("responder", PART, struct answer, responder), .part = seen_fields},
	{O2_FIELD("broken", CHARS, struct answer, broken)},
	{0},
};

json_t *o2_far_answer(const struct o2_end_answer *answer)
{
	struct answer flat = {
		.plain = *answer,
		.error = flat_error(&answer->error),
		.judged = flat_error(&answer->judged),
		.down = flat_fault(&answer->down),
		.initiator = flat_seen(&answer->initiator),
		.responder = flat_seen(&answer->responder),
	};

	cut_text(answer->broken, flat.broken);
	return o2_fields_to_json(answer_fields, &flat);
}

int o2_far_read_answer(const json_t *object, struct o2_end_answer *answer, struct o2_error *error)
{
	struct answer flat = {.plain = {0}};
	const int rc = o2_part_from_json(object, "answer", answer_fields, &flat, error);

	if (rc != 0)
		return rc;
	*answer = flat.plain;
	answer->error = round_error(&flat.error);
	answer->judged = round_error(&flat.judged);
	answer->down = round_fault(&flat.down);
	answer->initiator = round_seen(&flat.initiator);
	answer->responder = round_seen(&flat.responder);
	answer->broken = kept_text(flat.broken);
	return 0;
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
