/* SPDX-License-Identifier: MIT */
#include "cli/net/options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "cli/cli.h"
#include "lnd/conn/conn.h"
#include "lnet/lnet.h"
#include "lnet/ping.h"
#include "wire/nid.h"

#define MAX_OFFER_BYTES (64u << 20)
#define MAX_TIMEOUT_S	86400u
#define MOVES		(O2_NET_PUT | O2_NET_GET)
#define ALL		(O2_NET_SERVE | O2_NET_PING | MOVES)
#define O2IB_PORT	987u

enum kind {
	KIND_FLAG, /* bool */
	KIND_U16,
	KIND_U32,
	KIND_U64,
	KIND_SECONDS, /* uint32_t, in milliseconds */
	KIND_TEXT,
	KIND_NID,
	KIND_MODE,
	KIND_CHECKSUM,
	KIND_OFFER,
	KIND_QUIRKS,
};

/* One option: whose it is, what it is, where it goes, and its range. */
struct row {
	const char *name;
	unsigned int commands;
	enum kind kind;
	size_t at;
	uint64_t min, max;
};

#define AT(member) offsetof(struct o2_net_options, member)

static const struct row rows[] = {
	{"device", ALL, KIND_TEXT, AT(device), 0, 0},
	{"nid", ALL, KIND_NID, AT(nid), 0, 0},
	{"port", ALL, KIND_U16, AT(port), 1, UINT16_MAX},
	{"mode", ALL, KIND_MODE, AT(mode), 0, 0},
	{"queue-depth", ALL, KIND_U32, AT(queue_depth), 2, O2_MAX_QUEUE_DEPTH},
	{"max-frags", ALL, KIND_U32, AT(max_frags), O2_MAX_FRAGS_LEGACY, O2_MAX_FRAGS},
	{"checksum", ALL, KIND_CHECKSUM, 0, 0, 0},
	{"tolerate-immediate-checksum", ALL, KIND_FLAG, AT(tolerate_immediate_checksum), 0, 0},
	{"timeout", ALL, KIND_SECONDS, AT(timeout_ms), 1, MAX_TIMEOUT_S},
	{"ack-timeout", ALL, KIND_U32, AT(ack_timeout), 1, O2_MAX_ACK_TIMEOUT},
	{"retries", ALL, KIND_U32, AT(retries), 0, O2_MAX_RETRIES},
	{"rnr-retries", ALL, KIND_U32, AT(rnr_retries), 0, O2_MAX_RETRIES},
	{"json", ALL, KIND_FLAG, AT(json), 0, 0},
	{"progress", MOVES | O2_NET_SERVE, KIND_FLAG, AT(progress), 0, 0},
	{"portal", MOVES, KIND_U32, AT(portal), 0, UINT32_MAX},
	{"match-bits", MOVES, KIND_U64, AT(match_bits), 0, UINT64_MAX},
	{"offset", MOVES, KIND_U64, AT(offset), 0, O2_LNET_OFFSET_MAX},
	{"count", MOVES | O2_NET_PING, KIND_U64, AT(count), 1, UINT32_MAX},
	{"interval", O2_NET_PING, KIND_U32, AT(interval_ms), 0, 3600000},
	{"size", MOVES, KIND_U32, AT(size_bytes), 1, O2_MAX_TRANSFER_BYTES},
	{"fragments", MOVES | O2_NET_SERVE, KIND_U32, AT(fragments), 1, O2_MAX_FRAGS},
	{"in-flight", MOVES, KIND_U32, AT(in_flight), 1, O2_NET_MAX_IN_FLIGHT},
	{"seed", MOVES | O2_NET_SERVE, KIND_U64, AT(seed), 0, UINT64_MAX},
	{"verify", MOVES | O2_NET_SERVE, KIND_FLAG, AT(verify), 0, 0},
	{"accept-short", O2_NET_GET, KIND_FLAG, AT(accept_short), 0, 0},
	{"no-ack", O2_NET_PUT, KIND_FLAG, AT(no_ack), 0, 0},
	{"buffer", O2_NET_SERVE, KIND_OFFER, 0, 0, 0},
	{"truncate", O2_NET_SERVE, KIND_FLAG, AT(truncate), 0, 0},
	{"features", O2_NET_SERVE, KIND_U32, AT(features), 0, UINT32_MAX},
	{"requests", O2_NET_SERVE, KIND_U64, AT(requests), 1, UINT64_MAX},
	{"quirk", O2_NET_SERVE, KIND_QUIRKS, AT(quirks), 0, 0},
	{"loop-quirk", MOVES | O2_NET_PING, KIND_QUIRKS, AT(loop_quirks), 0, 0},
	{"verbose", ALL, KIND_FLAG, AT(verbose), 0, 0},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* A number, decimal or 0x..., from *text on; moves *text past it. */
static bool read_number(const char **text, uint64_t min, uint64_t max, uint64_t *value)
{
	const int base = strncmp(*text, "0x", 2) == 0 ? 16 : 10;
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	*value = strtoull(*text, &end, base);
	if (errno != 0 || *value < min || *value > max)
		return false;
	*text = end;
	return true;
}

/* PORTAL:MATCHBITS[:BYTES][:ro] */
static bool read_offer(const char *text, struct o2_net_options *options)
{
	struct o2_net_offer offer = {.size_bytes = O2_NET_OFFER_BYTES};
	uint64_t portal, size_bytes;

	if (options->noffers == O2_NET_MAX_BUFFERS || !read_number(&text, 0, UINT32_MAX, &portal) ||
	    *text++ != ':' || !read_number(&text, 0, UINT64_MAX, &offer.match_bits))
		return false;
	offer.portal = (uint32_t)portal;
	if (*text == ':' && strcmp(text, ":ro") != 0) {
		text++;
		if (!read_number(&text, 1, MAX_OFFER_BYTES, &size_bytes))
			return false;
		offer.size_bytes = (uint32_t)size_bytes;
	}
	if (strcmp(text, ":ro") == 0) {
		offer.read_only = true;
		text += strlen(text);
	}
	options->offer[options->noffers++] = offer;
	return *text == '\0';
}

void o2_net_default_offers(struct o2_net_options *options)
{
	options->offer[0] =
		(struct o2_net_offer){O2_NET_PORTAL, O2_NET_MATCH_BITS, O2_NET_OFFER_BYTES, false};
	options->offer[1] =
		(struct o2_net_offer){O2_NET_READ_PORTAL, O2_NET_MATCH_BITS, O2_NET_OFFER_BYTES, true};
	options->noffers = 2;
}

static bool read_nid(const char *text, uint64_t *nid)
{
	return o2_nid_from_text(text, nid, NULL) == 0 && o2_nid_check(*nid, false) == O2_NID_GOOD;
}

static bool read_checksum(const char *text, struct o2_net_options *options)
{
	static const char *const names[] = {
		[O2_CKSUM_NONE] = "off", [O2_CKSUM_UNSIGNED] = "unsigned", [O2_CKSUM_SIGNED] = "signed"};

	options->cksum_auto = strcmp(text, "auto") == 0;
	options->cksum_flavour = O2_CKSUM_NONE;
	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(text, names[i]) != 0)
			continue;
		options->cksum_flavour = (enum o2_cksum_flavour)i;
		return true;
	}
	return options->cksum_auto;
}

static int complain_quirk(const char *command, const struct row *row, const char *text)
{
	struct o2_quirks none = {.set = 0};
	char bad[100] = "", forms[400] = "";
	size_t used = 0;

	o2_quirks_add(&none, text, bad, sizeof(bad));
	for (unsigned int i = 0; i < O2_QUIRKS; i++)
		used += (size_t)snprintf(forms + used, sizeof(forms) - used, "%s%s", i == 0 ? "" : ", ",
					 o2_quirk_form(i));
	return o2_cli_usage(command, "--%s is '%s', not one of: %s, MS 1 to %u", row->name, bad, forms,
			    O2_QUIRK_LATE_MAX_MS);
}

static int complain_range(const char *command, const struct row *row, const char *text)
{
	switch (row->kind) {
	case KIND_NID:
		return o2_cli_usage(command, "'%s' is no NID such as 10.77.0.1@o2ib", text);
	case KIND_MODE:
		return o2_cli_usage(command,
				    "--mode is '%s', not fastreg, fmr, global, user, phys or fastreg_gaps",
				    text);
	case KIND_CHECKSUM:
		return o2_cli_usage(command, "--checksum is '%s', not off, unsigned, signed or auto", text);
	case KIND_QUIRKS:
		return complain_quirk(command, row, text);
	case KIND_OFFER:
		return o2_cli_usage(command,
				    "--buffer is '%s', not PORTAL:MATCHBITS[:BYTES][:ro], or one too many",
				    text);
	default:
		return o2_cli_usage(command, "--%s is '%s', not a number of %" PRIu64 " to %" PRIu64,
				    row->name, text, row->min, row->max);
	}
}

/* Put the value where it belongs; false: it is no such value. */
static bool set(const struct row *row, const char *text, struct o2_net_options *options)
{
	void *at = (char *)options + row->at;
	uint64_t number = 0;

	if ((row->kind == KIND_U16 || row->kind == KIND_U32 || row->kind == KIND_U64 ||
	     row->kind == KIND_SECONDS) &&
	    (!read_number(&text, row->min, row->max, &number) || *text != '\0'))
		return false;
	switch (row->kind) {
	case KIND_FLAG:
		*(bool *)at = true;
		return true;
	case KIND_U16:
		*(uint16_t *)at = (uint16_t)number;
		return true;
	case KIND_U32:
		*(uint32_t *)at = (uint32_t)number;
		return true;
	case KIND_U64:
		*(uint64_t *)at = number;
		return true;
	case KIND_SECONDS:
		*(uint32_t *)at = (uint32_t)number * 1000;
		return true;
	case KIND_TEXT:
		*(const char **)at = text;
		return true;
	case KIND_NID:
		return read_nid(text, at);
	case KIND_MODE:
		return o2_reg_mode_from_name(text, at) == 0;
	case KIND_CHECKSUM:
		return read_checksum(text, options);
	case KIND_OFFER:
		return read_offer(text, options);
	case KIND_QUIRKS:
		return o2_quirks_add(at, text, NULL, 0) == 0;
	}
	return false;
}

static enum o2_net_command command_of(const char *name)
{
	return strcmp(name, "serve") == 0  ? O2_NET_SERVE
	       : strcmp(name, "ping") == 0 ? O2_NET_PING
	       : strcmp(name, "put") == 0  ? O2_NET_PUT
					   : O2_NET_GET;
}

uint64_t o2_net_offset(const struct o2_net_options *options, uint32_t index)
{
	const bool apart = options->command == O2_NET_PUT && options->verify;

	return options->offset + (apart ? (uint64_t)index * options->size_bytes : 0);
}

/* The LNet header has no room for more than 32 bits; a sum that wraps would be another place. */
static int check_offsets(const char *name, const struct o2_net_options *options)
{
	const uint64_t lanes = options->in_flight < options->count ? options->in_flight : options->count;
	const uint64_t last = o2_net_offset(options, (uint32_t)lanes - 1);

	if (last <= O2_LNET_OFFSET_MAX)
		return O2_CLI_OK;
	return o2_cli_usage(name,
			    "--offset is %" PRIu64 ": the last of %" PRIu64 " in flight, %" PRIu32
			    " bytes apart, is at %" PRIu64 ", limit %" PRIu32,
			    options->offset, lanes, options->size_bytes, last, O2_LNET_OFFSET_MAX);
}

static int check(const char *name, int argc, char **argv, struct o2_net_options *options)
{
	const bool serves = options->command == O2_NET_SERVE;

	if (argc - optind != (serves ? 0 : 1))
		return o2_cli_usage(name,
				    serves ? "'%s' is one argument too many" : "exactly one NID is needed",
				    serves ? argv[optind] : "");
	if (!serves && !read_nid(argv[optind], &options->peer))
		return o2_cli_usage(name, "'%s' is no NID such as 10.77.0.1@o2ib", argv[optind]);
	if (!serves && options->nid == options->peer)
		return o2_cli_usage(name, "'%s' is our own NID", argv[optind]);
	if (!serves && options->nid != 0 && o2_nid_network(options->nid) != o2_nid_network(options->peer))
		return o2_cli_usage(name, "'%s' is not on the network of our NID", argv[optind]);
	if (options->fragments > options->size_bytes)
		return o2_cli_usage(name, "%" PRIu32 " bytes cannot be in %" PRIu32 " pieces",
				    options->size_bytes, options->fragments);
	if (serves && options->noffers == 0)
		o2_net_default_offers(options);
	for (uint32_t i = 0; i < options->noffers; i++)
		if (options->fragments > options->offer[i].size_bytes)
			return o2_cli_usage(name, "%" PRIu32 " bytes cannot be in %" PRIu32 " pieces",
					    options->offer[i].size_bytes, options->fragments);
	return check_offsets(name, options);
}

static struct o2_net_options defaults(enum o2_net_command command)
{
	const struct o2_conn_config conn = O2_CONN_DEFAULTS;

	return (struct o2_net_options){
		.command = command,
		.port = O2IB_PORT,
		.mode = O2_REG_FASTREG,
		.queue_depth = 8,
		.max_frags = O2_MAX_FRAGS,
		.timeout_ms = conn.timeout_ms,
		.ack_timeout = conn.ack_timeout,
		.retries = conn.retry_count,
		.rnr_retries = conn.rnr_retry_count,
		.portal = command == O2_NET_GET ? O2_NET_READ_PORTAL : O2_NET_PORTAL,
		.match_bits = O2_NET_MATCH_BITS,
		.count = 1,
		.size_bytes = 65536,
		.fragments = 1,
		.in_flight = 8,
		.interval_ms = 1000,
		.seed = O2_NET_SEED,
		.features = O2_PING_NO_DISCOVERY_FEATURES,
		.progress = isatty(STDERR_FILENO) != 0,
	};
}

int o2_net_options_read(int argc, char **argv, struct o2_net_options *options, bool *done)
{
	const enum o2_net_command command = command_of(argv[0]);
	struct option list[ROWS + 2] = {{"help", no_argument, NULL, 'h'}};
	unsigned int n = 1;
	int option;

	*options = defaults(command);
	*done = false;
	for (unsigned int i = 0; i < ROWS; i++)
		if ((rows[i].commands & command) != 0)
			list[n++] = (struct option){
				rows[i].name, rows[i].kind == KIND_FLAG ? no_argument : required_argument,
				NULL, 256 + (int)i};
	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, "h", list, NULL)) != -1) {
		if (option == 'h') {
			o2_net_print_help(command);
			*done = true;
			return O2_CLI_OK;
		}
		if (option == '?')
			return o2_cli_usage(argv[0], "'%s' is no option, or its value is missing",
					    argv[optind - 1]);
		if (!set(&rows[option - 256], optarg, options))
			return complain_range(argv[0], &rows[option - 256], optarg);
	}
	return check(argv[0], argc, argv, options);
}
