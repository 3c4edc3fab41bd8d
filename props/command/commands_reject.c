/* SPDX-License-Identifier: MIT */
/* A reject record: decode it as a dump and as JSON, encode it back to bytes; and records that are refused. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "props/command/commands.h"
#include "props/command/told.h"
#include "props/model/reject_model.h"
#include "props/scenario/draw.h"

#define MOST_BYTES (O2_RM_BYTES + 40u)

static void draw_record(struct o2_choice *c, struct o2_reject *record)
{
	*record = (struct o2_reject){
		.order = o2_draw_bool(c, 1, 1) ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN,
		.generic_magic = o2_draw_bool(c, 3, 1),
		.ibr_version = o2_draw_bool(c, 2, 1) ? 0x11 : 0x12,
		.ibr_why = (uint8_t)(1 + o2_draw(c, 8)),
	};
	if (record->ibr_version == 0x11)
		return;
	record->ibr_incarnation = o2_draw_wild(c);
	record->ibr_cp.ibcp_queue_depth = (uint16_t)o2_draw_wild(c);
	record->ibr_cp.ibcp_max_frags = (uint16_t)o2_draw_wild(c);
	record->ibr_cp.ibcp_max_msg_size = (uint32_t)o2_draw_wild(c);
}

static json_t *to_json(const struct o2_reject *record, bool output)
{
	char incarnation[24];
	json_t *reject;

	snprintf(incarnation, sizeof(incarnation), "0x%" PRIx64, record->ibr_incarnation);
	reject = json_pack("{s:s, s:s, s:i, s:i, s:s, s:s, s:{s:i, s:i, s:I}}", "byte_order",
			   record->order == O2_BIG_ENDIAN ? "big" : "little", "ibr_magic",
			   record->generic_magic ? "lnet" : "o2iblnd", "ibr_version",
			   (int)record->ibr_version, "ibr_why", (int)record->ibr_why, "why",
			   o2_rm_reasons[record->ibr_why], "ibr_incarnation", incarnation, "ibr_cp",
			   "ibcp_queue_depth", (int)record->ibr_cp.ibcp_queue_depth, "ibcp_max_frags",
			   (int)record->ibr_cp.ibcp_max_frags, "ibcp_max_msg_size",
			   (json_int_t)record->ibr_cp.ibcp_max_msg_size);
	return json_pack("{s:s, s:i, s:o}", "form",
			 output ? "o2ref/reject_decode/output" : "o2ref/reject_encode/input", "version", 1,
			 "reject", reject);
}

static void feed(struct o2_commands_run *run, const void *bytes, size_t count)
{
	o2_command_input(&run->command, bytes, count);
}

static void decode(struct o2_commands_run *run, const struct o2_reject *record, const uint8_t *bytes)
{
	const size_t behind =
		o2_draw_bool(run->c, 1, 1) ? 9 + o2_draw(run->c, MOST_BYTES - O2_RM_BYTES - 9) : 0;
	const bool json = o2_draw_bool(run->c, 1, 1);
	json_t *expected = to_json(record, true), *found;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (out == NULL) {
		json_decref(expected);
		return;
	}
	o2_told_dump_reject(out, record, bytes, behind);
	fclose(out);
	o2_commands_words(run, "decode --reject --raw-input");
	o2_command_word_if(&run->command, json, "--json");
	o2_command_word(&run->command, "-");
	feed(run, bytes, O2_RM_BYTES + behind);
	if (o2_commands_go(run, 0)) {
		found = json_loads(run->command.out, 0, NULL);
		if (json ? !json_equal(found, expected) : strcmp(run->command.out, text) != 0)
			o2_commands_wrong(run, "reject");
		json_decref(found);
	}
	free(text);
	json_decref(expected);
}

static void encode(struct o2_commands_run *run, const struct o2_reject *record, const uint8_t *bytes)
{
	json_t *form = to_json(record, o2_draw_bool(run->c, 1, 1));
	const bool hex = o2_draw_bool(run->c, 1, 1);
	char *text, digits[2 * O2_RM_BYTES + 2];

	text = json_dumps(form, JSON_COMPACT);
	for (size_t i = 0; i < O2_RM_BYTES; i++)
		sprintf(digits + 2 * i, "%02x", bytes[i]);
	strcpy(digits + 2 * O2_RM_BYTES, "\n");
	o2_command_word(&run->command, "encode");
	o2_command_word_if(&run->command, hex, "--hex");
	o2_command_word(&run->command, "-");
	feed(run, text, strlen(text));
	if (o2_commands_go(run, 0) &&
	    (hex ? strcmp(run->command.out, digits) != 0 : memcmp(run->command.out, bytes, O2_RM_BYTES) != 0))
		o2_commands_wrong(run, "reject");
	feed(run, NULL, 0);
	free(text);
	json_decref(form);
}

/* An unknown reason or version: in bytes, and as JSON. */
static void refuse(struct o2_commands_run *run, struct o2_reject *record)
{
	uint8_t bytes[O2_RM_BYTES];
	struct o2_rm_verdict verdict;
	struct o2_reject read;
	const bool json = o2_draw_bool(run->c, 1, 1);
	char *text, expected[64];
	json_t *form;

	record->ibr_version = o2_draw_bool(run->c, 1, 1) ? 0x10 : 0x13;
	o2_rm_encode(record, bytes, sizeof(bytes), &verdict);
	if (!json)
		o2_rm_decode(bytes, sizeof(bytes), &read, &verdict);
	form = to_json(record, false);
	text = json_dumps(form, JSON_COMPACT);
	o2_command_word(&run->command, json ? "encode" : "decode");
	o2_command_word(&run->command, json ? "--hex" : "--reject");
	o2_command_word_if(&run->command, !json, "--raw-input");
	o2_command_word(&run->command, "-");
	feed(run, json ? (const void *)text : bytes, json ? strlen(text) : sizeof(bytes));
	snprintf(expected, sizeof(expected), "o2ref: standard input: %s: ", verdict.rule);
	if (o2_commands_go(run, 1) && (strncmp(run->command.err, expected, strlen(expected)) != 0 ||
				       (json ? run->command.out[0] != '\0'
					     : strstr(run->command.out, "\nrefused: ") == NULL ||
							strstr(run->command.out, verdict.rule) == NULL)))
		o2_commands_wrong(run, "refusal");
	feed(run, NULL, 0);
	free(text);
	json_decref(form);
}

/* The output of decode for a refused record cannot be encoded. */
static void encode_refusal(struct o2_commands_run *run, struct o2_reject *record)
{
	uint8_t bytes[O2_RM_BYTES];
	struct o2_rm_verdict verdict;
	char *text;

	record->ibr_version = 0x13;
	o2_rm_encode(record, bytes, sizeof(bytes), &verdict);
	o2_commands_words(run, "decode --reject --json --raw-input -");
	feed(run, bytes, sizeof(bytes));
	if (!o2_commands_go(run, 1))
		return;
	text = strdup(run->command.out);
	run->command.words = 0;
	o2_commands_words(run, "encode --hex -");
	feed(run, text, text == NULL ? 0 : strlen(text));
	if (text != NULL && o2_commands_go(run, 1) &&
	    (strstr(run->command.err, ": cli/encode-refused: reject ") == NULL ||
	     run->command.out[0] != '\0'))
		o2_commands_wrong(run, "refusal");
	feed(run, NULL, 0);
	free(text);
}

void o2_commands_reject(struct o2_commands_run *run)
{
	uint8_t bytes[MOST_BYTES] = {0};
	struct o2_rm_verdict verdict;
	struct o2_reject record;

	draw_record(run->c, &record);
	o2_rm_encode(&record, bytes, O2_RM_BYTES, &verdict);
	run->tally.seen[O2_COMMANDS_RECORD]++;
	switch (o2_draw(run->c, 3)) {
	case 0:
		decode(run, &record, bytes);
		break;
	case 1:
		encode(run, &record, bytes);
		break;
	case 2:
		encode_refusal(run, &record);
		break;
	default:
		refuse(run, &record);
		break;
	}
	feed(run, NULL, 0);
}
