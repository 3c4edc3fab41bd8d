/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/limits.h"
#include "base/option.h"
#include "cli/cli.h"
#include "cli/dump.h"
#include "cli/input.h"
#include "cli/pcap_print.h"
#include "forms/msg_json.h"
#include "forms/reject_json.h"
#include "wire/bytes.h"

enum output { OUTPUT_HEX, OUTPUT_JSON };

struct decode_options {
	enum output output;
	bool reject;
	bool pcap;
	bool all;
	enum o2_color_when color_when;
	bool color;
	bool hex_input;
	bool raw_input;
	struct o2_wire_options wire;
};

#define O2_OPTION_TARGET struct decode_options

static const struct o2_option option_table[] = {
	{"hex", NULL, "an annotated hex dump (this is what happens without an option)",
	 O2_SET(output, OUTPUT_HEX)},
	{"json", NULL,
	 "JSON: o2ref/msg_decode/output, o2ref/reject_decode/output, or one o2ref/pcap_event/output for "
	 "each line of a capture",
	 O2_SET(output, OUTPUT_JSON)},
	{"reject", NULL, "FILE is the private data of a connection manager's reject", O2_FLAG(reject)},
	{"pcap", NULL, "FILE is a capture in pcap or pcapng format, of RoCE or InfiniBand", O2_FLAG(pcap)},
	{"hex-input", NULL, "refuse FILE if it is not hexadecimal digits", O2_FLAG(hex_input)},
	{"raw-input", NULL, "FILE is bytes, even if they look like hexadecimal digits", O2_FLAG(raw_input)},
	{"all", NULL, "show long payloads as a whole", O2_FLAG(all)},
	{"color", "WHEN", "auto (the default: on a terminal), always or never",
	 O2_NAME(color_when, o2_color_names)},
	{"max-frags", "N", "257 (the default) or 256",
	 O2_NUMBER(wire.max_frags, O2_MAX_FRAGS_LEGACY, O2_MAX_FRAGS)},
	{"require-checksum", NULL, "refuse messages without one", O2_FLAG(wire.require_checksum)},
	{"any-lnd", NULL, "accept NIDs of other networks than o2ib in the header", O2_FLAG(wire.any_lnd)},
	{"tolerate-immediate-checksum", NULL, "accept an IMMEDIATE with a payload whose checksum is wrong",
	 O2_FLAG(wire.tolerate_immediate_checksum)},
	{0},
};

static const struct o2_command command = {
	.program = "o2ref",
	.name = "decode",
	.usage = "[OPTION]... FILE...",
	.about = "Show what FILE (- for standard input) says: one message, or with --reject one reject "
		 "record, or with --pcap a packet capture.  A file of hexadecimal digits is taken for the "
		 "bytes that it spells.",
	.options = option_table,
	.end = "exit status: 0 decoded, 1 refused, 2 usage, or a file that cannot be read or written",
};

/* Print one JSON text on a line of its own; NULL: memory ran out. */
static int print_json(json_t *object, size_t flags)
{
	if (object == NULL || json_dumpf(object, stdout, flags) != 0) {
		json_decref(object);
		o2_cli_complain_json("");
		return O2_CLI_USAGE;
	}
	putchar('\n');
	json_decref(object);
	return O2_CLI_OK;
}

static int complain_refused(const struct o2_input *input, const struct o2_error *error, const char *hint)
{
	char text[256];

	o2_error_text(error, text, sizeof(text));
	o2_cli_complain("%s: %s%s", input->name, text, hint);
	return O2_CLI_REFUSED;
}

/* What a refusal's limit means if it is not a plain number; docs/wire.md, "Rules". */
static const char *limit_note(const struct o2_error *error)
{
	if (strstr(error->rule, "/lnet-type") != NULL)
		return "(a set of types: bit t for type t)";
	if (strcmp(error->rule, "wire/header/checksum") == 0)
		return "(the unsigned sum)";
	return "";
}

static int decode_reject(const struct o2_input *input, const struct decode_options *options)
{
	struct o2_rows rows = {.out = stdout, .color = options->color, .all = options->all};
	struct o2_reject reject;
	struct o2_error error;
	const int rc = o2_reject_decode(input->bytes, input->length_bytes, &reject, &error);
	int status;

	if (options->output == OUTPUT_JSON) {
		status = print_json(o2_reject_decode_output_to_json(&reject, &error), JSON_INDENT(2));
	} else {
		rows.bytes = input->bytes;
		rows.length_bytes = input->length_bytes;
		rows.refused = &error;
		o2_dump_reject(&rows);
		if (rc != 0)
			o2_row_refusal(&rows, "");
		status = O2_CLI_OK;
	}
	return status == O2_CLI_OK && rc != 0 ? complain_refused(input, &error, "") : status;
}

static bool has_magic(const uint8_t *bytes)
{
	return o2_load32_le(bytes) == O2_MSG_MAGIC || o2_load32_be(bytes) == O2_MSG_MAGIC;
}

/* An IP-CM header begins with a version byte and a byte for IPv4 or IPv6.  No message begins so. */
static bool has_ip_cm_header(const struct o2_input *input)
{
	return input->length_bytes >= O2_IP_CM_HEADER_BYTES + sizeof(uint32_t) && input->bytes[0] == 0 &&
	       (input->bytes[1] >> 4 == 4 || input->bytes[1] >> 4 == 6) &&
	       has_magic(input->bytes + O2_IP_CM_HEADER_BYTES);
}

static void dump_message(const struct o2_input *input, size_t start, const struct decode_options *options,
			 const struct o2_error *error, bool tolerated)
{
	struct o2_rows rows = {.out = stdout, .color = options->color, .all = options->all};

	rows.bytes = input->bytes;
	rows.length_bytes = start;
	if (start != 0) {
		o2_row_title(&rows, "IP-CM header, 36 bytes");
		o2_dump_ip_cm_header(&rows);
		o2_row_title(&rows, "message");
	}
	rows.bytes = input->bytes + start;
	rows.length_bytes = input->length_bytes - start;
	rows.refused = error;
	o2_dump_message(&rows);
	if (error->code != 0)
		o2_row_refusal(&rows, limit_note(error));
	if (error->code != 0 && rows.length_bytes == O2_REJECT_BYTES && has_magic(rows.bytes))
		puts("  (24 bytes are what a reject record has: try --reject)");
	if (tolerated)
		puts("tolerated: the checksum is wrong (--tolerate-immediate-checksum)");
}

/* A hint in the network commands' words, if the option would let the message pass; else "". */
static const char *tolerance_hint(const uint8_t *bytes, size_t length_bytes,
				  const struct o2_wire_options *wire)
{
	static struct o2_msg msg; /* large */
	struct o2_wire_options options = *wire;

	options.tolerate_immediate_checksum = true;
	if (o2_msg_decode(bytes, length_bytes, &options, &msg, NULL) != 0)
		return "";
	return "; --tolerate-immediate-checksum accepts it";
}

static int decode_message(const struct o2_input *input, const struct decode_options *options)
{
	const size_t start = has_ip_cm_header(input) ? O2_IP_CM_HEADER_BYTES : 0;
	static struct o2_msg msg; /* large */
	struct o2_error error;
	const int rc = o2_msg_decode(input->bytes + start, input->length_bytes - start, &options->wire, &msg,
				     &error);
	int status = O2_CLI_OK;

	if (options->output == OUTPUT_JSON)
		status = print_json(o2_msg_decode_output_to_json(&msg, &error), JSON_INDENT(2));
	else
		dump_message(input, start, options, &error,
			     rc == 0 && msg.cksum_flavour == O2_CKSUM_UNVERIFIED);
	if (status != O2_CLI_OK || rc == 0)
		return status;
	return complain_refused(
		input, &error,
		tolerance_hint(input->bytes + start, input->length_bytes - start, &options->wire));
}

static int decode_capture(const char *path, const struct decode_options *options)
{
	struct o2_stream stream;

	if (!o2_stream_open(path, &stream))
		return O2_CLI_USAGE;
	return o2_pcap_print(&stream, &options->wire, options->output == OUTPUT_JSON, options->color);
}

static int decode_file(const char *path, const struct decode_options *options)
{
	struct o2_input input;
	int status;

	if (options->pcap)
		return decode_capture(path, options);
	if (!o2_input_read(path, O2_CLI_MESSAGE_FILE_BYTES, &input))
		return O2_CLI_USAGE;
	if (options->hex_input && !o2_input_is_hex(&input)) {
		o2_cli_complain("%s: not pairs of hexadecimal digits", input.name);
		status = O2_CLI_USAGE;
	} else {
		if (!options->raw_input && o2_input_is_hex(&input))
			o2_input_from_hex(&input);
		status = options->reject ? decode_reject(&input, options) : decode_message(&input, options);
	}
	o2_input_free(&input);
	return status;
}

/* Returns the index of the first file, 0 when there is nothing more to do, or -1. */
static int read_options(int argc, char **argv, struct decode_options *read)
{
	const int first = o2_options_read(&command, argc, argv, read);

	if (first <= 0)
		return first;
	read->color = o2_color_wanted(read->color_when, stdout);
	if (read->pcap && (read->reject || read->hex_input))
		o2_command_usage(&command, "--pcap cannot be used with --reject or --hex-input");
	else if (read->hex_input && read->raw_input)
		o2_command_usage(&command, "--hex-input and --raw-input exclude each other");
	else if (first == argc)
		o2_command_usage(&command, "no file given");
	else
		return first;
	return -1;
}

int o2_cli_decode(int argc, char **argv)
{
	struct decode_options read = {.wire = O2_WIRE_DEFAULTS};
	const int first = read_options(argc, argv, &read);
	int status = first < 0 ? O2_CLI_USAGE : O2_CLI_OK;

	for (int i = first; i > 0 && i < argc; i++) {
		int one;

		if (argc - first > 1 && read.output != OUTPUT_JSON)
			o2_cli_heading(argv[i], i == first);
		one = decode_file(argv[i], &read);
		status = one > status ? one : status;
	}
	return first < 0 ? status : o2_cli_finish(stdout, status);
}
