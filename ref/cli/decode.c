/* SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/dump.h"
#include "cli/input.h"
#include "cli/pcap_print.h"
#include "wire/bytes.h"
#include "wire/msg_json.h"
#include "wire/reject_json.h"

struct decode_options {
	bool json;
	bool reject;
	bool pcap;
	bool all;
	bool color;
	bool hex_input;
	bool raw_input;
	struct o2_wire_options wire;
};

static const char help[] =
	"usage: o2ref decode [OPTION]... FILE...\n"
	"\n"
	"Show what FILE (- for standard input) says: one message, or with --reject one reject record, or "
	"with\n"
	"--pcap a packet capture.  A file of hexadecimal digits is taken for the bytes that it spells.\n"
	"\n"
	"  --hex              an annotated hex dump (this is what happens without an option)\n"
	"  --json             JSON: o2ref/msg_decode/output, o2ref/reject_decode/output, or one\n"
	"                     o2ref/pcap_event/output for each line of a capture\n"
	"  --reject           FILE is the private data of a connection manager's reject\n"
	"  --pcap             FILE is a capture in pcap format, RoCEv2 on Ethernet\n"
	"  --hex-input        FILE is hexadecimal digits, and nothing else will do\n"
	"  --raw-input        FILE is bytes, even if they look like hexadecimal digits\n"
	"  --all              show long payloads as a whole\n"
	"  --color WHEN       auto (the default: on a terminal), always or never\n"
	"  --max-frags N      257 (the default) or 256\n"
	"  --require-checksum refuse messages without one\n"
	"  --any-lnd          accept NIDs of other networks than o2ib in the header\n"
	"  --tolerate-immediate-checksum\n"
	"                     accept an IMMEDIATE with a payload whose checksum is wrong\n"
	"  -h, --help         this text\n"
	"\n"
	"exit status: 0 decoded, 1 refused, 2 usage or a file that cannot be read\n";

enum {
	OPT_HEX = 256,
	OPT_JSON,
	OPT_REJECT,
	OPT_PCAP,
	OPT_HEX_INPUT,
	OPT_RAW_INPUT,
	OPT_ALL,
	OPT_COLOR,
	OPT_MAX_FRAGS,
	OPT_REQUIRE_CHECKSUM,
	OPT_ANY_LND,
	OPT_TOLERATE,
};

static const struct option long_options[] = {
	{"hex", no_argument, NULL, OPT_HEX},
	{"json", no_argument, NULL, OPT_JSON},
	{"reject", no_argument, NULL, OPT_REJECT},
	{"pcap", no_argument, NULL, OPT_PCAP},
	{"hex-input", no_argument, NULL, OPT_HEX_INPUT},
	{"raw-input", no_argument, NULL, OPT_RAW_INPUT},
	{"all", no_argument, NULL, OPT_ALL},
	{"color", required_argument, NULL, OPT_COLOR},
	{"max-frags", required_argument, NULL, OPT_MAX_FRAGS},
	{"require-checksum", no_argument, NULL, OPT_REQUIRE_CHECKSUM},
	{"any-lnd", no_argument, NULL, OPT_ANY_LND},
	{"tolerate-immediate-checksum", no_argument, NULL, OPT_TOLERATE},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* One JSON text on a line of its own; NULL: memory ran out. */
static int print_json(json_t *object, size_t flags)
{
	if (object == NULL || json_dumpf(object, stdout, flags) != 0) {
		json_decref(object);
		o2_cli_complain("not enough memory for the JSON form");
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

/* What a limit means that is no plain number; docs/wire.md, "Rules". */
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

	if (options->json) {
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

/* The header's two version bytes, for IPv4 or IPv6, can begin no message. */
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

/* The words of the network commands, where the option would let the message pass. */
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

	if (options->json)
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
	int status;

	if (!o2_stream_open(path, &stream))
		return O2_CLI_USAGE;
	status = o2_pcap_print(&stream, &options->wire, options->json, options->color);
	o2_stream_close(&stream);
	return status;
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

static bool set_option(int option, struct decode_options *options, const char **color)
{
	switch (option) {
	case OPT_HEX:
		options->json = false;
		return true;
	case OPT_JSON:
		options->json = true;
		return true;
	case OPT_REJECT:
		options->reject = true;
		return true;
	case OPT_PCAP:
		options->pcap = true;
		return true;
	case OPT_HEX_INPUT:
		options->hex_input = true;
		return true;
	case OPT_RAW_INPUT:
		options->raw_input = true;
		return true;
	case OPT_ALL:
		options->all = true;
		return true;
	case OPT_COLOR:
		*color = optarg;
		return true;
	case OPT_MAX_FRAGS:
		return o2_cli_max_frags(optarg, &options->wire.max_frags);
	case OPT_REQUIRE_CHECKSUM:
		options->wire.require_checksum = true;
		return true;
	case OPT_ANY_LND:
		options->wire.any_lnd = true;
		return true;
	case OPT_TOLERATE:
		options->wire.tolerate_immediate_checksum = true;
		return true;
	default:
		return false;
	}
}

/* Returns O2_CLI_OK with optind at the first file, or how to end; *done: there is nothing more to do. */
static int read_options(int argc, char **argv, struct decode_options *options, bool *done)
{
	const char *color = "auto";
	int option;

	*options = (struct decode_options){.wire = O2_WIRE_DEFAULTS};
	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		if (option == 'h') {
			fputs(help, stdout);
			*done = true;
			return O2_CLI_OK;
		}
		if (option == OPT_MAX_FRAGS && !set_option(option, options, &color))
			return o2_cli_usage("decode", "--max-frags is '%s', not 256 or 257", optarg);
		if (option == '?')
			return o2_cli_usage("decode", "'%s' is no option, or its value is missing",
					    argv[optind - 1]);
		set_option(option, options, &color);
	}
	if (!o2_cli_color(color, stdout, &options->color))
		return o2_cli_usage("decode", "--color is '%s', not auto, always or never", color);
	if (options->pcap && (options->reject || options->hex_input))
		return o2_cli_usage("decode", "--pcap goes with neither --reject nor --hex-input");
	if (options->hex_input && options->raw_input)
		return o2_cli_usage("decode", "--hex-input and --raw-input exclude each other");
	if (optind == argc)
		return o2_cli_usage("decode", "no file given");
	return O2_CLI_OK;
}

int o2_cli_decode(int argc, char **argv)
{
	struct decode_options options;
	bool done = false;
	int status = read_options(argc, argv, &options, &done);

	if (done || status != O2_CLI_OK)
		return done ? o2_cli_finish(stdout, status) : status;
	for (int i = optind; i < argc; i++) {
		int one;

		if (argc - optind > 1 && !options.json)
			printf("%s== %s ==\n", i == optind ? "" : "\n", argv[i]);
		one = decode_file(argv[i], &options);
		status = one > status ? one : status;
	}
	return o2_cli_finish(stdout, status);
}
