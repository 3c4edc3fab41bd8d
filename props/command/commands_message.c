/* SPDX-License-Identifier: MIT */
/* One message: decode it as a dump and as JSON, encode it back to bytes. */
#include <stdlib.h>
#include <string.h>

#include "forms/msg_json.h"
#include "props/command/commands.h"
#include "props/command/told.h"

#define MOST_BYTES (1u << 20)

/* Write the bytes as hexadecimal digits, with breaks anywhere. */
static size_t spell(struct o2_choice *c, const uint8_t *bytes, size_t count, char *text)
{
	const uint64_t every = 1 + o2_draw(c, 40);
	size_t length = 0;

	for (size_t i = 0; i < count; i++)
		length += (size_t)sprintf(text + length, "%02x%s", bytes[i],
					  (i + 1) % every == 0 ? (i % 2 == 0 ? " " : "\n") : "");
	text[length++] = '\n';
	return length;
}

static void feed(struct o2_commands_run *run, const char *command, const void *bytes, size_t count)
{
	run->command.words = 0;
	o2_command_input(&run->command, bytes, count);
	o2_command_word(&run->command, "%s", command);
}

static void dump(struct o2_commands_run *run, const struct o2_msg *msg, const uint8_t *bytes)
{
	char *text = NULL;
	size_t text_bytes = 0;
	FILE *out = open_memstream(&text, &text_bytes);

	o2_told_dump(out, msg, bytes);
	fclose(out);
	if (o2_commands_go(run, 0))
		o2_commands_decodes(run, "dump", text);
	free(text);
}

static void as_json(struct o2_commands_run *run, json_t *form)
{
	json_t *found;

	o2_commands_words(run, "--json -");
	if (!o2_commands_go(run, 0))
		return;
	found = json_loads(run->command.out, 0, NULL);
	if (!json_equal(found, form))
		o2_commands_wrong(run, "form");
	json_decref(found);
}

static void encode(struct o2_commands_run *run, const json_t *form, const uint8_t *bytes, size_t count)
{
	static char digits[2 * O2_MSG_BYTES + 2];
	char *text = json_dumps(form, JSON_COMPACT);

	if (text == NULL)
		return;
	feed(run, "encode", text, strlen(text));
	o2_commands_words(run, "--hex -");
	for (size_t i = 0; i < count; i++)
		sprintf(digits + 2 * i, "%02x", bytes[i]);
	strcpy(digits + 2 * count, "\n");
	if (o2_commands_go(run, 0) && strcmp(run->command.out, digits) != 0)
		o2_commands_wrong(run, "bytes");
	o2_command_input(&run->command, NULL, 0);
	free(text);
}

/* Encode a wrong or truncated form: one line must say so, and nothing is written. */
static void encode_no_form(struct o2_commands_run *run, json_t *form)
{
	const bool is_cut = o2_draw_bool(run->c, 1, 1);
	json_t *other = json_copy(form);
	json_error_t wrong;
	char *text;

	if (!is_cut)
		json_object_set_new(other, "form",
				    o2_draw_bool(run->c, 1, 1) ? json_string("o2ref/msg") : json_integer(1));
	text = json_dumps(other, JSON_COMPACT);
	json_decref(other);
	if (text == NULL)
		return;
	if (is_cut)
		text[o2_draw(run->c, strlen(text) - 1)] = '\0';
	feed(run, "encode", text, strlen(text));
	o2_commands_words(run, "--hex -");
	if (o2_commands_go(run, 1)) {
		if (run->command.out[0] != '\0')
			o2_commands_wrong(run, "output");
		if (!is_cut)
			o2_commands_complains(run, "o2ref: standard input: \"form\" is none of "
						   "o2ref/{msg,reject}_encode/input and "
						   "o2ref/{msg,reject}_decode/output\n");
		else if (json_loads(text, JSON_REJECT_DUPLICATES, &wrong) == NULL)
			o2_commands_complains(run, "o2ref: standard input:%d:%d: %s\n", wrong.line,
					      wrong.column, wrong.text);
	}
	o2_command_input(&run->command, NULL, 0);
	free(text);
}

/* docs/wire.md, "Header": each complete field is shown, and the one that is cut is named. */
static void check_fields(struct o2_commands_run *run, size_t count)
{
	static const struct {
		size_t at, width;
		const char *name;
	} fields[] = {{0x00, 4, " ibm_magic "},	  {0x04, 2, " ibm_version "},  {0x06, 1, " ibm_type "},
		      {0x07, 1, " ibm_credits "}, {0x08, 4, " ibm_nob "},      {0x0c, 4, " ibm_cksum "},
		      {0x10, 8, " ibm_srcnid "},  {0x18, 8, " ibm_srcstamp "}, {0x20, 8, " ibm_dstnid "},
		      {0x28, 8, " ibm_dststamp "}};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]) && !run->report->failed; i++) {
		const char *line = strstr(run->command.out, fields[i].name);
		char rest[64] = "(cut short: ", shown[200] = "";

		if (line != NULL)
			snprintf(shown, sizeof(shown), "%.*s", (int)strcspn(line, "\n"), line);
		if (fields[i].at < count && fields[i].at + fields[i].width > count)
			snprintf(rest, sizeof(rest), "(cut short: %zu of %zu bytes)", count - fields[i].at,
				 fields[i].width);
		if ((line != NULL) != (fields[i].at < count) ||
		    (strstr(shown, rest) != NULL) !=
			    (fields[i].at < count && fields[i].at + fields[i].width > count))
			o2_commands_wrong(run, "fields");
	}
}

/* Fewer bytes than ibm_nob: the codec refuses, and the dump shows where. */
static void cut(struct o2_commands_run *run, const uint8_t *bytes, size_t count)
{
	struct o2_msg msg;
	struct o2_error error;
	char text[256];

	if (o2_msg_decode(bytes, count, NULL, &msg, &error) == 0)
		return;
	o2_error_text(&error, text, sizeof(text));
	feed(run, "decode", bytes, count);
	o2_commands_words(run, "--raw-input -");
	if (!o2_commands_go(run, 1))
		return;
	if (strstr(run->command.err, text) == NULL || strstr(run->command.out, "refused: ") == NULL)
		o2_commands_wrong(run, "refusal");
	check_fields(run, count);
}

/* A digit is missing or invalid. */
static void no_digits(struct o2_commands_run *run, char *spelt, size_t length)
{
	const bool lost = o2_draw_bool(run->c, 1, 1);

	if (!lost)
		spelt[0] = 'g';
	feed(run, "decode", spelt + lost, length - lost);
	o2_commands_words(run, "--hex-input -");
	if (o2_commands_go(run, 2))
		o2_commands_complains(run, "o2ref: standard input: not pairs of hexadecimal digits\n");
}

/* Zeros, about as many as the input limit: docs/cli.md, "Input". */
static void long_input(struct o2_commands_run *run)
{
	static const uint8_t zeros[MOST_BYTES + 2];
	const size_t count = MOST_BYTES - 1 + o2_draw(run->c, 3);

	feed(run, "decode", zeros, count);
	o2_commands_words(run, "--raw-input -");
	if (!o2_commands_go(run, count > MOST_BYTES ? 2 : 1))
		return;
	if (count > MOST_BYTES)
		o2_commands_complains(run, "o2ref: standard input: more than 1048576 bytes\n");
	else
		o2_commands_complains(run,
				      "o2ref: standard input: wire/header/magic: ibm_magic is 0, expected "
				      "199826321 (Protocol error)\n");
}

void o2_commands_message(struct o2_commands_run *run, const struct o2_msg *msg, const uint8_t *bytes)
{
	static char spelt[4 * O2_MSG_BYTES];
	json_t *form = o2_msg_decode_output_to_json(msg, NULL);
	const size_t count = msg->ibm_nob;

	run->tally.seen[O2_COMMANDS_MESSAGE]++;
	if (o2_draw_bool(run->c, 1, 1)) {
		encode(run, form, bytes, count);
		if (!run->report->failed)
			encode_no_form(run, form);
		if (run->report->failed) {
			json_decref(form);
			return;
		}
	}
	switch (o2_draw(run->c, 3)) {
	case 0:
		feed(run, "decode", bytes, count);
		o2_command_word(&run->command, "-");
		dump(run, msg, bytes);
		break;
	case 1:
		feed(run, "decode", spelt, spell(run->c, bytes, count, spelt));
		o2_command_word(&run->command, "-");
		dump(run, msg, bytes);
		break;
	case 2:
		feed(run, "decode", bytes, count);
		as_json(run, form);
		break;
	default:
		cut(run, bytes, count - 1 - o2_draw(run->c, 7));
		for (int i = 0; i < 4 && !run->report->failed; i++)
			cut(run, bytes,
			    (size_t)o2_draw(run->c, 6) * 8 +
				    (o2_draw_bool(run->c, 1, 1) ? 0 : o2_draw(run->c, 7)));
		break;
	}
	/* Several, as each is cheap. */
	for (int i = 0; i < 4 && !run->report->failed; i++)
		o2_commands_odd(run, msg, bytes);
	if (!run->report->failed && o2_draw_bool(run->c, 1, 1))
		long_input(run);
	if (!run->report->failed)
		no_digits(run, spelt, spell(run->c, bytes, count, spelt));
	json_decref(form);
}
