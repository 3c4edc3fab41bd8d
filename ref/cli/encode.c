/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_read.h"
#include "base/limits.h"
#include "base/option.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "forms/msg_json.h"
#include "forms/reject_json.h"

struct encode_options {
	bool hex;
	bool any_lnd;
	unsigned int max_frags; /* 0: as the form says */
};

/* Turns a form into bytes.  Returns what the codec's encode functions return. */
typedef int (*encoder)(const json_t *form, const struct encode_options *options, uint8_t *bytes,
		       struct o2_error *error);

#define O2_OPTION_TARGET struct encode_options

static const struct o2_option option_table[] = {
	{"hex", NULL, "write hexadecimal digits instead of bytes", O2_FLAG(hex)},
	{"max-frags", "N", "257 or 256; overrides the form",
	 O2_NUMBER(max_frags, O2_MAX_FRAGS_LEGACY, O2_MAX_FRAGS)},
	{"any-lnd", NULL, "accept NIDs of other networks than o2ib in the header; overrides the form",
	 O2_FLAG(any_lnd)},
	{0},
};

static const struct o2_command command = {
	.program = "o2ref",
	.name = "encode",
	.usage = "[OPTION]... FILE.json",
	.about = "Write the bytes of the message or reject record in FILE.json (- for standard input) to "
		 "standard output: a form o2ref/msg_encode/input or o2ref/reject_encode/input, or what "
		 "`o2ref decode --json` printed.",
	.options = option_table,
	.end = "exit status: 0 encoded, 1 refused, 2 usage, or a file that cannot be read or written",
};

/* The output of a decode that refused its input holds nothing to encode. */
static int refuse_refusal(const struct o2_wire_refused *refused, const char *field, struct o2_error *error)
{
	if (refused->refused.code == 0)
		return 0;
	return o2_value_is(o2_fail(error, refused->refused.code, "cli/encode-refused", field, 0),
			   O2_VALUE_NONE, error);
}

static int encode_msg(struct o2_msg_json *read, struct o2_wire_options wire,
		      const struct encode_options *options, uint8_t *bytes, struct o2_error *error)
{
	if (options->max_frags != 0)
		wire.max_frags = options->max_frags;
	wire.any_lnd = wire.any_lnd || options->any_lnd;
	return o2_msg_encode(&read->msg, &wire, bytes, O2_MSG_BYTES, error);
}

static int from_msg_input(const json_t *form, const struct encode_options *options, uint8_t *bytes,
			  struct o2_error *error)
{
	static struct o2_msg_json read; /* large */
	struct o2_wire_options wire;
	const int rc = o2_msg_encode_input_from_json(form, &read, &wire, error);

	return rc != 0 ? rc : encode_msg(&read, wire, options, bytes, error);
}

static int from_msg_output(const json_t *form, const struct encode_options *options, uint8_t *bytes,
			   struct o2_error *error)
{
	static struct o2_msg_json read;
	struct o2_wire_refused refused;
	int rc = o2_msg_decode_output_from_json(form, &read, &refused, error);

	if (rc == 0)
		rc = refuse_refusal(&refused, "message", error);
	return rc != 0 ? rc : encode_msg(&read, O2_WIRE_DEFAULTS, options, bytes, error);
}

static int from_reject_input(const json_t *form, const struct encode_options *options, uint8_t *bytes,
			     struct o2_error *error)
{
	struct o2_reject reject;
	const int rc = o2_reject_encode_input_from_json(form, &reject, error);

	(void)options;
	return rc != 0 ? rc : o2_reject_encode(&reject, bytes, O2_MSG_BYTES, error);
}

static int from_reject_output(const json_t *form, const struct encode_options *options, uint8_t *bytes,
			      struct o2_error *error)
{
	struct o2_reject reject;
	struct o2_wire_refused refused;
	int rc = o2_reject_decode_output_from_json(form, &reject, &refused, error);

	(void)options;
	if (rc == 0)
		rc = refuse_refusal(&refused, "reject", error);
	return rc != 0 ? rc : o2_reject_encode(&reject, bytes, O2_MSG_BYTES, error);
}

static encoder encoder_of(const char *form)
{
	static const struct {
		const char *form;
		encoder encode;
	} encoders[] = {
		{O2_MSG_ENCODE_INPUT_FORM, from_msg_input},
		{O2_MSG_DECODE_OUTPUT_FORM, from_msg_output},
		{O2_REJECT_ENCODE_INPUT_FORM, from_reject_input},
		{O2_REJECT_DECODE_OUTPUT_FORM, from_reject_output},
	};

	for (size_t i = 0; form != NULL && i < sizeof(encoders) / sizeof(encoders[0]); i++)
		if (strcmp(form, encoders[i].form) == 0)
			return encoders[i].encode;
	return NULL;
}

static void write_bytes(const uint8_t *bytes, size_t length_bytes, bool hex)
{
	if (!hex) {
		fwrite(bytes, 1, length_bytes, stdout);
		return;
	}
	for (size_t i = 0; i < length_bytes; i++)
		printf("%02x", bytes[i]);
	putchar('\n');
}

static int encode_form(const struct o2_input *input, const json_t *form, const struct encode_options *options)
{
	const encoder encode = encoder_of(json_string_value(json_object_get(form, "form")));
	static uint8_t bytes[O2_MSG_BYTES];
	struct o2_error error;
	int length;

	if (encode == NULL) {
		o2_cli_complain("%s: \"form\" is none of o2ref/{msg,reject}_encode/input and "
				"o2ref/{msg,reject}_decode/output",
				input->name);
		return O2_CLI_REFUSED;
	}
	length = encode(form, options, bytes, &error);
	if (length < 0) {
		o2_cli_complain_error(input->name, &error);
		return O2_CLI_REFUSED;
	}
	write_bytes(bytes, (size_t)length, options->hex);
	return O2_CLI_OK;
}

static int encode_file(const char *path, const struct encode_options *options)
{
	struct o2_input input;
	json_error_t wrong;
	json_t *form;
	int status = O2_CLI_REFUSED;

	if (!o2_input_read(path, O2_CLI_MESSAGE_FILE_BYTES, &input))
		return O2_CLI_USAGE;
	form = o2_json_read((const char *)input.bytes, input.length_bytes, JSON_REJECT_DUPLICATES, &wrong);
	if (form == NULL && wrong.line == 0) {
		o2_cli_complain("%s: %s", input.name, wrong.text);
		status = O2_CLI_USAGE;
	} else if (form == NULL) {
		o2_cli_complain("%s:%d:%d: %s", input.name, wrong.line, wrong.column, wrong.text);
	} else {
		status = encode_form(&input, form, options);
	}
	json_decref(form);
	o2_input_free(&input);
	return status;
}

int o2_cli_encode(int argc, char **argv)
{
	struct encode_options read = {.hex = false};
	const int first = o2_options_read(&command, argc, argv, &read);

	if (first <= 0)
		return first < 0 ? O2_CLI_USAGE : o2_cli_finish(stdout, O2_CLI_OK);
	if (argc - first != 1)
		return o2_command_usage(&command, "%s",
					first == argc ? "no file given" : "more than one file");
	if (!read.hex && isatty(STDOUT_FILENO))
		return o2_command_usage(&command,
					"bytes would go to the terminal: redirect the output, or use --hex");
	return o2_cli_finish(stdout, encode_file(argv[first], &read));
}
