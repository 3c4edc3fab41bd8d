/* SPDX-License-Identifier: MIT */
#include "cli/net/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/option.h"
#include "cli/cli.h"
#include "lnd/conn/conn.h"
#include "lnet/lnet.h"
#include "lnet/ping.h"
#include "wire/nid.h"

#define MAX_OFFER_BYTES (64u << 20)
#define MAX_TIMEOUT_S	86400u
#define MAX_INTERVAL_MS 3600000u
#define O2IB_PORT	987u

#define NO_NID "'%s' is no NID such as 10.77.0.1@o2ib"

/* PORTAL:MATCHBITS[:BYTES][:ro] */
static bool add_offer(const char *text, struct o2_net_options *options)
{
	struct o2_net_offer offer = {.size_bytes = O2_NET_OFFER_BYTES};
	uint64_t portal, size_bytes;

	if (options->noffers == O2_NET_MAX_BUFFERS || !o2_option_number(&text, 0, UINT32_MAX, &portal) ||
	    *text++ != ':' || !o2_option_number(&text, 0, UINT64_MAX, &offer.match_bits))
		return false;
	offer.portal = (uint32_t)portal;
	if (*text == ':' && strcmp(text, ":ro") != 0) {
		text++;
		if (!o2_option_number(&text, 1, MAX_OFFER_BYTES, &size_bytes))
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

static bool read_offer(const struct o2_option *option, const char *text, void *target,
		       char why[O2_OPTION_WHY_BYTES])
{
	if (add_offer(text, target))
		return true;
	snprintf(why, O2_OPTION_WHY_BYTES, "--%s is '%s', not %s, or one too many", option->name, text,
		 option->value);
	return false;
}

static bool is_nid(const char *text, uint64_t *nid)
{
	return o2_nid_from_text(text, nid, NULL) == 0 && o2_nid_check(*nid, false) == O2_NID_GOOD;
}

static bool read_nid(const struct o2_option *option, const char *text, void *target,
		     char why[O2_OPTION_WHY_BYTES])
{
	if (is_nid(text, (uint64_t *)((char *)target + option->at)))
		return true;
	snprintf(why, O2_OPTION_WHY_BYTES, NO_NID, text);
	return false;
}

static bool read_quirks(const struct o2_option *option, const char *text, void *target,
			char why[O2_OPTION_WHY_BYTES])
{
	return o2_quirks_read((struct o2_quirks *)((char *)target + option->at), option, text, why);
}

static void list_quirks(void)
{
	for (unsigned int i = 0; i < O2_QUIRKS; i++)
		printf("  %-20s %s\n", o2_quirk_form(i), o2_quirk_text(i));
}

static const char *const checksum_names[] = {
	[O2_CKSUM_NONE] = "off",
	[O2_CKSUM_UNSIGNED] = "unsigned",
	[O2_CKSUM_SIGNED] = "signed",
	[O2_NET_CHECKSUM_AUTO] = "auto",
	NULL,
};

#define AT(member)	O2_OPTION_AT(struct o2_net_options, member)
#define SECONDS(member) AT(member), .min = 1, .max = MAX_TIMEOUT_S, .unit = 1000

#define SERVE O2_NET_SERVE
#define PING  O2_NET_PING
#define PUT   O2_NET_PUT
#define GET   O2_NET_GET
#define MOVES (O2_NET_PUT | O2_NET_GET)

/* What the commands are told, in the order of --help. */
static const struct o2_option option_table[] = {
	{NULL, NULL, O2_OPTION_TITLE, .help = "what is offered", .commands = SERVE},
	{"buffer", "PORTAL:MATCHBITS[:BYTES][:ro]", O2_OPTION_READ, .read = read_offer, .commands = SERVE,
	 .help = "memory at that portal and under those match bits; 8388608 bytes unless said otherwise, "
		 "at most 67108864; with ro, for GETs alone.  May be given 16 times (default: 60:0x1234 "
		 "and 61:0x1234:ro)"},
	{"fragments", "N", O2_OPTION_NUMBER, AT(fragments), .min = 1, .max = O2_MAX_FRAGS, .commands = SERVE,
	 .help = "pieces that it consists of, 1 to 257 (default: 1)"},
	{"truncate", NULL, O2_OPTION_FLAG, AT(truncate), .commands = SERVE,
	 .help = "cut what is too long instead of dropping it"},
	{"seed", "N", O2_OPTION_NUMBER, AT(seed), .max = UINT64_MAX, .commands = SERVE,
	 .help = "of the bytes that it holds at first, and of those that --verify expects (default: 1)"},
	{"verify", NULL, O2_OPTION_FLAG, AT(verify), .commands = SERVE,
	 .help = "look at every byte that a PUT brings: they must be what `o2ref put` sends; if others "
		 "write to the same place at the same time, they may be theirs, and that is counted apart"},
	{"requests", "N", O2_OPTION_NUMBER, AT(requests), .min = 1, .max = UINT64_MAX, .commands = SERVE,
	 .help = "end after so many PUTs and GETs"},
	{"features", "N", O2_OPTION_NUMBER, AT(features), .max = UINT32_MAX, .commands = SERVE,
	 .help = "bits of the answer to pings (default: 0xe; 0x1e offers discovery)"},
	{"timeout", "N", O2_OPTION_NUMBER, SECONDS(timeout_ms), .commands = SERVE,
	 .help = "seconds after which a peer that does not answer is gone (default: 50)"},

	{"count", "N", O2_OPTION_NUMBER, AT(count), .min = 1, .max = UINT32_MAX, .commands = PING,
	 .help = "how many times (default: 1)"},
	{"interval", "N", O2_OPTION_NUMBER, AT(interval_ms), .max = MAX_INTERVAL_MS, .commands = PING,
	 .help = "milliseconds from one to the next (default: 1000)"},
	{"timeout", "N", O2_OPTION_NUMBER, SECONDS(timeout_ms), .commands = PING,
	 .help = "seconds to wait for an answer (default: 50)"},

	{NULL, NULL, O2_OPTION_TITLE, .help = "what is moved", .commands = MOVES},
	{"portal", "N", O2_OPTION_NUMBER, AT(portal), .max = UINT32_MAX, .commands = PUT,
	 .help = "portal at the peer (default: 60)"},
	{"portal", "N", O2_OPTION_NUMBER, AT(portal), .max = UINT32_MAX, .commands = GET,
	 .help = "portal at the peer (default: 61)"},
	{"match-bits", "N", O2_OPTION_NUMBER, AT(match_bits), .max = UINT64_MAX, .commands = MOVES,
	 .help = "match bits (default: 0x1234)"},
	{"offset", "N", O2_OPTION_NUMBER, AT(offset), .max = O2_LNET_OFFSET_MAX, .commands = MOVES,
	 .help = "offset in the peer's memory (default: 0)"},
	{"count", "N", O2_OPTION_NUMBER, AT(count), .min = 1, .max = UINT32_MAX, .commands = MOVES,
	 .help = "how many (default: 1)"},
	{"size", "N", O2_OPTION_NUMBER, AT(size_bytes), .min = 1, .max = O2_MAX_TRANSFER_BYTES,
	 .commands = MOVES,
	 .help = "bytes of each, 1 to 1048576 (default: 65536); up to 3976 travel in the message itself, "
		 "more by RDMA"},
	{"fragments", "N", O2_OPTION_NUMBER, AT(fragments), .min = 1, .max = O2_MAX_FRAGS, .commands = MOVES,
	 .help = "pieces that our memory consists of, 1 to 257 (default: 1); if it has fewer pages, there "
		 "are gaps between the pieces, and only global, fmr and fastreg_gaps can describe that; "
		 "user needs one piece"},
	{"in-flight", "N", O2_OPTION_NUMBER, AT(in_flight), .min = 1, .max = O2_NET_MAX_IN_FLIGHT,
	 .commands = MOVES, .help = "how many at a time, 1 to 255 (default: 8)"},
	{"seed", "N", O2_OPTION_NUMBER, AT(seed), .max = UINT64_MAX, .commands = MOVES,
	 .help = "of the data (default: 1)"},
	{"timeout", "N", O2_OPTION_NUMBER, SECONDS(timeout_ms), .commands = MOVES,
	 .help = "seconds after which one that does not end has failed (default: 50)"},
	{"verify", NULL, O2_OPTION_FLAG, AT(verify), .commands = PUT,
	 .help = "GET every PUT back and look at the bytes; several in flight then go to different "
		 "offsets, --size apart; the last at most 4294967295"},
	{"no-ack", NULL, O2_OPTION_FLAG, AT(no_ack), .commands = PUT,
	 .help = "do not ask for acknowledgements"},
	{"verify", NULL, O2_OPTION_FLAG, AT(verify), .commands = GET,
	 .help = "look at the bytes: they must be what `o2ref serve` with the same --seed holds, where "
		 "nobody has PUT something else"},
	{"accept-short", NULL, O2_OPTION_FLAG, AT(accept_short), .commands = GET,
	 .help = "less than was asked for is a success, if it is right"},

	{NULL, NULL, O2_OPTION_TITLE, .help = "our side"},
	{"device", "NAME", O2_OPTION_TEXT, AT(device),
	 .help = "RDMA device, as ibv_devices lists it (default: the first one); `loop`: a network in the "
		 "process, where whatever node is asked for serves, with seed 1, 8 MiB at each of the "
		 "default places of serve, and more if put --verify has more in flight"},
	{"nid", "NID", O2_OPTION_READ, AT(nid), .read = read_nid,
	 .help = "our own NID, e.g. 10.77.0.1@o2ib (default: the device's IPv4 address, on the network of "
		 "the peer)"},
	{"port", "N", O2_OPTION_NUMBER, AT(port), .min = 1, .max = UINT16_MAX,
	 .help = "port of the connection manager (default: 987, as o2iblnd's)"},
	{"mode", "MODE", O2_OPTION_NAME, AT(mode), .name_of = o2_reg_mode_name,
	 .help = "how memory is registered: fastreg (the default), fmr, global, user, phys or fastreg_gaps"},
	{"queue-depth", "N", O2_OPTION_NUMBER, AT(queue_depth), .min = 2, .max = O2_MAX_QUEUE_DEPTH,
	 .help = "credits to ask for, 2 to 255 (default: 8)"},
	{"max-frags", "N", O2_OPTION_NUMBER, AT(max_frags), .min = O2_MAX_FRAGS_LEGACY, .max = O2_MAX_FRAGS,
	 .help = "fragments to ask for, 257 (the default) or 256"},
	{"ack-timeout", "N", O2_OPTION_NUMBER, AT(ack_timeout), .min = 1, .max = O2_MAX_ACK_TIMEOUT,
	 .help = "1 to 31: the device sends again when nothing was acknowledged for 4.096 us times 2 to "
		 "the power of N (default: 19, that is 2.1 s)"},
	{"retries", "N", O2_OPTION_NUMBER, AT(retries), .max = O2_MAX_RETRIES,
	 .help = "how often it does before it gives up, 0 to 6 (default: 5)"},
	{"rnr-retries", "N", O2_OPTION_NUMBER, AT(rnr_retries), .max = O2_MAX_RETRIES,
	 .help = "how often while the peer has no receive posted, 0 to 6 (default: 6)"},
	{"checksum", "KIND", O2_OPTION_NAME, AT(checksum), .names = checksum_names,
	 .help = "of the messages that we send: off (the default), unsigned or signed, as the peer adds up "
		 "its bytes; auto: as its own first sum shows, and none until then"},
	{"tolerate-immediate-checksum", NULL, O2_OPTION_FLAG, AT(tolerate_immediate_checksum),
	 .help = "accept an IMMEDIATE with a payload whose checksum is wrong"},

	{NULL, NULL, O2_OPTION_TITLE, .help = "output"},
	{"json", NULL, O2_OPTION_FLAG, AT(json), .help = "the summary as one JSON object"},
	{"progress", NULL, O2_OPTION_FLAG, AT(progress), .commands = MOVES | SERVE,
	 .help = "a line on standard error every second (on a terminal that happens without it)"},
	{"verbose", NULL, O2_OPTION_FLAG, AT(verbose),
	 .help = "a line for each request of a peer; serve: also why a connection has ended"},
	{"loop-quirk", "NAME[=VALUE],...", O2_OPTION_READ, AT(loop_quirks), .read = read_quirks,
	 .commands = MOVES | PING,
	 .help = "how the peer that device loop has behaves: `o2ref serve --help` lists them"},

	{NULL, NULL, O2_OPTION_TITLE,
	 .help = "behaviour that a peer may show, for trying the other side on it", .commands = SERVE},
	{"quirk", "NAME[=VALUE],...", O2_OPTION_READ, AT(quirks), .read = read_quirks, .more = list_quirks,
	 .commands = SERVE, .help = "this node behaves so; may be given several times:"},
	{0},
};

static const char exits[] =
	"exit status: 0 all is well, 1 something failed or came out wrong, 2 usage or no device";

static const struct o2_command commands[] = {
	{"o2ref", "serve", "[OPTION]...",
	 .about = "Be a peer: answer LNet pings, and offer memory to PUTs and GETs, until SIGINT or "
		  "SIGTERM.",
	 .options = option_table, .which = SERVE, .end = exits},
	{"o2ref", "ping", "[OPTION]... NID",
	 .about = "Ask the node what it is: LNet's ping, a GET at portal 0.  Shows its NIDs and how long "
		  "it took.",
	 .options = option_table, .which = PING, .end = exits},
	{"o2ref", "put", "[OPTION]... NID",
	 .about = "PUT to the node's memory, and wait for LNet's acknowledgement of each.",
	 .options = option_table, .which = PUT, .end = exits},
	{"o2ref", "get", "[OPTION]... NID", .about = "GET from the node's memory.", .options = option_table,
	 .which = GET, .end = exits},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

void o2_net_default_offers(struct o2_net_options *options)
{
	options->offer[0] =
		(struct o2_net_offer){O2_NET_PORTAL, O2_NET_MATCH_BITS, O2_NET_OFFER_BYTES, false};
	options->offer[1] =
		(struct o2_net_offer){O2_NET_READ_PORTAL, O2_NET_MATCH_BITS, O2_NET_OFFER_BYTES, true};
	options->noffers = 2;
}

uint64_t o2_net_offset(const struct o2_net_options *options, uint32_t index)
{
	const bool apart = options->command == O2_NET_PUT && options->verify;

	return options->offset + (apart ? (uint64_t)index * options->size_bytes : 0);
}

/* The LNet header has no room for more than 32 bits; a sum that wraps would be another place. */
static int check_offsets(const struct o2_command *command, const struct o2_net_options *options)
{
	const uint64_t lanes = options->in_flight < options->count ? options->in_flight : options->count;
	const uint64_t last = o2_net_offset(options, (uint32_t)lanes - 1);

	if (last <= O2_LNET_OFFSET_MAX)
		return O2_CLI_OK;
	return o2_command_usage(command,
				"--offset is %" PRIu64 ": the last of %" PRIu64 " in flight, %" PRIu32
				" bytes apart, is at %" PRIu64 ", limit %" PRIu32,
				options->offset, lanes, options->size_bytes, last, O2_LNET_OFFSET_MAX);
}

static int check(const struct o2_command *command, int first, int argc, char **argv,
		 struct o2_net_options *options)
{
	const bool serves = options->command == O2_NET_SERVE;

	if (argc - first != (serves ? 0 : 1))
		return o2_command_usage(
			command, serves ? "'%s' is one argument too many" : "exactly one NID is needed",
			serves ? argv[first] : "");
	if (!serves && !is_nid(argv[first], &options->peer))
		return o2_command_usage(command, NO_NID, argv[first]);
	if (!serves && options->nid == options->peer)
		return o2_command_usage(command, "'%s' is our own NID", argv[first]);
	if (!serves && options->nid != 0 && o2_nid_network(options->nid) != o2_nid_network(options->peer))
		return o2_command_usage(command, "'%s' is not on the network of our NID", argv[first]);
	if (options->fragments > options->size_bytes)
		return o2_command_usage(command, "%" PRIu32 " bytes cannot be in %" PRIu32 " pieces",
					options->size_bytes, options->fragments);
	if (serves && options->noffers == 0)
		o2_net_default_offers(options);
	for (uint32_t i = 0; i < options->noffers; i++)
		if (options->fragments > options->offer[i].size_bytes)
			return o2_command_usage(command, "%" PRIu32 " bytes cannot be in %" PRIu32 " pieces",
						options->offer[i].size_bytes, options->fragments);
	return check_offsets(command, options);
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

int o2_net_options_read(int argc, char **argv, struct o2_net_options *options)
{
	const struct o2_command *command = commands;
	int first;

	while (command < &commands[COMMANDS - 1] && strcmp(command->name, argv[0]) != 0)
		command++;
	*options = defaults(command->which);
	first = o2_options_read(command, argc, argv, options);
	if (first > 0 && check(command, first, argc, argv, options) != O2_CLI_OK)
		return -1;
	return first;
}
