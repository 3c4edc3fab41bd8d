/* SPDX-License-Identifier: MIT */
#include "cli/net/options.h"

#include <assert.h>
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
#include "lst/wire/msg.h"
#include "wire/nid.h"

#define MAX_OFFER_BYTES 67108864u
#define MAX_TIMEOUT_S	86400u
#define MAX_INTERVAL_MS 3600000u
#define O2IB_PORT	987u

#define NO_NID "'%s' is no NID such as 10.77.0.1@o2ib"

/* PORTAL:MATCHBITS[:BYTES][:ro] */
static bool read_offer(const struct o2_option *option, const char *text, void *target,
		       char why[O2_OPTION_WHY_BYTES])
{
	static const struct {
		const char *name;
		uint64_t least, most;
	} parts[] = {{"PORTAL", 0, UINT32_MAX}, {"MATCHBITS", 0, UINT64_MAX}, {"BYTES", 1, MAX_OFFER_BYTES}};
	struct o2_net_options *options = target;
	uint64_t value[3] = {0, 0, O2_NET_OFFER_BYTES};
	const char *at = text;
	uint32_t n = 0;
	bool read_only;

	for (; n < 3 && (n == 0 || (*at == ':' && (n == 1 || strcmp(at, ":ro") != 0))); n++) {
		at += n > 0;
		if (o2_option_number(&at, parts[n].least, parts[n].most, &value[n]))
			continue;
		snprintf(why, O2_OPTION_WHY_BYTES,
			 "--%s is '%s', where %s is not a number of %" PRIu64 " to %" PRIu64, option->name,
			 text, parts[n].name, parts[n].least, parts[n].most);
		return false;
	}
	read_only = strcmp(at, ":ro") == 0;
	if (n < 2 || (*at != '\0' && !read_only)) {
		snprintf(why, O2_OPTION_WHY_BYTES, "--%s is '%s', not %s", option->name, text, option->value);
		return false;
	}
	snprintf(why, O2_OPTION_WHY_BYTES, "--%s is '%s', but it may be given at most %u times", option->name,
		 text, O2_NET_MAX_BUFFERS);
	if (options->noffers == O2_NET_MAX_BUFFERS)
		return false;
	options->offer[options->noffers++] =
		(struct o2_net_offer){(uint32_t)value[0], value[1], (uint32_t)value[2], read_only};
	return true;
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

#define O2_OPTION_TARGET struct o2_net_options
#define SECONDS(member)	 O2_NUMBER(member, 1, MAX_TIMEOUT_S), .unit = 1000

#define SERVE O2_NET_SERVE
#define PING  O2_NET_PING
#define PUT   O2_NET_PUT
#define GET   O2_NET_GET
#define MOVES (O2_NET_PUT | O2_NET_GET)
#define TRIES O2_NET_CONFORM
#define LST   O2_NET_LST

static const char *const profile_names[] = {
	[O2_NET_STRICT] = "strict",
	[O2_NET_KERNEL] = "kernel",
	NULL,
};

/* Options of all commands, in the order of --help. */
static const struct o2_option option_table[] = {
	{O2_TITLE("what is offered"), .commands = SERVE},
	{"buffer", "PORTAL:MATCHBITS[:BYTES][:ro]",
	 "memory at that portal and under those match bits; 8388608 bytes unless said otherwise, at most "
	 "67108864; with ro, for GETs alone.  May be given 16 times (default: 60:0x1234 and 61:0x1234:ro)",
	 .kind = O2_OPTION_READ, .read = read_offer, .commands = SERVE},
	{"fragments", "N", "pieces that it consists of, 1 to 257 (default: 1)",
	 O2_NUMBER(fragments, 1, O2_MAX_FRAGS), .commands = SERVE},
	{"truncate", NULL, "shorten requests that exceed the buffer instead of dropping them",
	 O2_FLAG(truncate), .commands = SERVE},
	{"seed", "N", "seed of the initial contents, and of the data that --verify expects (default: 1)",
	 O2_NUMBER(seed, 0, UINT64_MAX), .commands = SERVE},
	{"verify", NULL,
	 "check every byte of each PUT against what `o2ref put` sends; bytes that may come from a concurrent "
	 "PUT are counted separately",
	 O2_FLAG(verify), .commands = SERVE},
	{"requests", "N", "end after so many PUTs and GETs", O2_NUMBER(requests, 1, UINT64_MAX),
	 .commands = SERVE},
	{"features", "N", "bits of the answer to pings (default: 0xe; 0x1e offers discovery)",
	 O2_NUMBER(features, 0, UINT32_MAX), .commands = SERVE},
	{"timeout", "N", "seconds after which a peer that does not answer is gone (default: 50)",
	 SECONDS(timeout_ms), .commands = SERVE},
	{"lst", NULL,
	 "be a test node of LNet selftest too: answer consoles, as `lst` of Lustre or `o2ref lst`, serve "
	 "their pings, reads and writes, and do them where they ask for it",
	 O2_FLAG(lst), .commands = SERVE},

	{"count", "N", "how many times (default: 1)", O2_NUMBER(count, 1, UINT32_MAX), .commands = PING},
	{"interval", "N", "milliseconds from one to the next (default: 1000)",
	 O2_NUMBER(interval_ms, 0, MAX_INTERVAL_MS), .commands = PING},
	{"timeout", "N", "seconds to wait for an answer (default: 50)", SECONDS(timeout_ms),
	 .commands = PING},

	{O2_TITLE("what is moved"), .commands = MOVES},
	{"timeout", "N", "seconds after which what the peer does not answer is a finding (default: 50)",
	 SECONDS(timeout_ms), .commands = TRIES},
	{"only", "ID,...", "these probes alone, or those whose ids begin so, as `put/`", O2_TEXT(only),
	 .commands = TRIES},
	{"hostile", NULL, "misbehave as well: every row of `o2props hostile --list`, as hostile/NAME",
	 O2_FLAG(hostile), .commands = TRIES},
	{"lst", NULL,
	 "try what a test node of LNet selftest does too: the peer needs the module lnet_selftest, or is "
	 "o2ref serve --lst, and nobody else's session may be there",
	 O2_FLAG(try_lst), .commands = TRIES},
	{"list", NULL, "list the probes without contacting a node", O2_FLAG(list), .commands = TRIES},
	{"profile", "KIND",
	 "strict (the default), or kernel: known kernel deviations are reported, but are not findings",
	 O2_NAME(profile, profile_names), .commands = TRIES},
	{"known", "FILE", "findings that are known and do not count: an id a line", O2_TEXT(known),
	 .commands = TRIES},
	{"out", "DIR", "the report as text, JSON and JUnit, and a capture of what was said, in this folder",
	 O2_TEXT(out), .commands = TRIES},
	{"rounds", "N", "how often to disconnect after each step of a transfer (default: 20)",
	 O2_NUMBER(rounds, 1, 1000000), .commands = TRIES},
	{"seed", "N", "of the data (default: 1)", O2_NUMBER(seed, 0, UINT64_MAX), .commands = TRIES},

	{O2_TITLE("what the peer offers"), .commands = TRIES},
	{"portal", "N", "portal of memory that takes PUTs and GETs (default: 60)",
	 O2_NUMBER(portal, 0, UINT32_MAX), .commands = TRIES},
	{"read-portal", "N", "portal of memory that takes GETs (default: 61)",
	 O2_NUMBER(read_portal, 0, UINT32_MAX), .commands = TRIES},
	{"match-bits", "N", "match bits of both (default: 0x1234)", O2_NUMBER(match_bits, 0, UINT64_MAX),
	 .commands = TRIES},
	{"place-bytes", "N", "bytes there, 2097152 to 67108864 (default: 8388608, as serve offers)",
	 O2_NUMBER(place_bytes, O2_NET_PLACE_MIN_BYTES, MAX_OFFER_BYTES), .commands = TRIES},

	{"portal", "N", "portal at the peer (default: 60)", O2_NUMBER(portal, 0, UINT32_MAX),
	 .commands = PUT},
	{"portal", "N", "portal at the peer (default: 61)", O2_NUMBER(portal, 0, UINT32_MAX),
	 .commands = GET},
	{"match-bits", "N", "match bits (default: 0x1234)", O2_NUMBER(match_bits, 0, UINT64_MAX),
	 .commands = MOVES},
	{"offset", "N", "offset in the peer's memory (default: 0)", O2_NUMBER(offset, 0, O2_LNET_OFFSET_MAX),
	 .commands = MOVES},
	{"count", "N", "how many (default: 1)", O2_NUMBER(count, 1, UINT32_MAX), .commands = MOVES},
	{"size", "N",
	 "bytes of each, 1 to 1048576 (default: 65536); up to 3976 travel in the message itself, more by "
	 "RDMA",
	 O2_NUMBER(size_bytes, 1, O2_MAX_TRANSFER_BYTES), .commands = MOVES},
	{"fragments", "N",
	 "pieces that our memory consists of, 1 to 257 (default: 1); if it has fewer pages, there are gaps "
	 "between the pieces, and only global, fmr and fastreg_gaps can describe that; user needs one piece",
	 O2_NUMBER(fragments, 1, O2_MAX_FRAGS), .commands = MOVES},
	{"in-flight", "N", "how many at a time, 1 to 255 (default: 8)",
	 O2_NUMBER(in_flight, 1, O2_NET_MAX_IN_FLIGHT), .commands = MOVES},
	{"seed", "N", "of the data (default: 1)", O2_NUMBER(seed, 0, UINT64_MAX), .commands = MOVES},
	{"timeout", "N", "seconds after which one that does not end has failed (default: 50)",
	 SECONDS(timeout_ms), .commands = MOVES},
	{"verify", NULL,
	 "GET every PUT back and look at the bytes; several in flight then go to different offsets, --size "
	 "apart; the last at most 4294967295",
	 O2_FLAG(verify), .commands = PUT},
	{"no-ack", NULL, "do not ask for acknowledgements", O2_FLAG(no_ack), .commands = PUT},
	{"verify", NULL,
	 "look at the bytes: they must be what `o2ref serve` with the same --seed holds, where nobody has "
	 "PUT something else",
	 O2_FLAG(verify), .commands = GET},
	{"accept-short", NULL, "a GET that returns fewer, but correct, bytes succeeds", O2_FLAG(accept_short),
	 .commands = GET},

	{O2_TITLE("the test"), .commands = LST},
	{"size", "N", "bytes of each read or write, a multiple of 8 in 8 to 1048576 (default: 65536)",
	 O2_NUMBER(size_bytes, 0, UINT32_MAX), .commands = LST},
	{"offset", "N",
	 "where our memory begins in its first page: a multiple of 8, and no more pages than the size alone "
	 "(default: 0)",
	 O2_NUMBER(offset, 0, UINT32_MAX), .commands = LST},
	{"check", "KIND",
	 "what is compared, by us and by the node: none, simple (both ends of each page) or full (every "
	 "word; the default)",
	 O2_NAME(check, o2_net_lst_check_names), .commands = LST},
	{"every-word", NULL,
	 "read: compare all words whatever --check says (o2ref's nodes fill all); not with --reverse",
	 O2_FLAG(every_word), .commands = LST},
	{"count", "N", "how many (default: 1, or as many as there is time for)",
	 O2_NUMBER(count, 1, UINT32_MAX), .commands = LST},
	{"seconds", "N", "start no more operations after N seconds (default: no limit)",
	 O2_NUMBER(seconds, 1, MAX_TIMEOUT_S), .commands = LST},
	{"concurrency", "N", "how many at a time, 1 to 1024 (default: 8)",
	 O2_NUMBER(concurrency, 0, UINT32_MAX), .commands = LST},
	{"reverse", NULL,
	 "the node is the client: it pings us, reads from us or writes to us, and says how often that failed",
	 O2_FLAG(reverse), .commands = LST},
	{"force", NULL, "take the node from whoever's session it is in", O2_FLAG(force), .commands = LST},
	{"timeout", "N", "seconds to wait for the answer to each request (default: 64)", SECONDS(timeout_ms),
	 .commands = LST},

	{O2_TITLE("our side")},
	{"device", "NAME",
	 "RDMA device, as ibv_devices lists it (default: the first one); `loop`: an "
	 "in-process network; the node that you name is simulated there (with seed 1, and 8 MiB at each of "
	 "the default places of serve, or more if put --verify has more in flight); not for serve",
	 O2_TEXT(device)},
	{"nid", "NID",
	 "our own NID, e.g. 10.77.0.1@o2ib (default: the device's IPv4 address, on the network of the peer)",
	 O2_READ(nid, read_nid)},
	{"port", "N", "port of the connection manager (default: 987, as o2iblnd's)",
	 O2_NUMBER(port, 1, UINT16_MAX)},
	{"mode", "MODE",
	 "how memory is registered: fastreg (the default), fmr, global, user, phys or fastreg_gaps",
	 O2_NAME_OF(mode, o2_reg_mode_name)},
	{"queue-depth", "N", "credits to ask for, 2 to 255 (default: 8)",
	 O2_NUMBER(queue_depth, 2, O2_MAX_QUEUE_DEPTH)},
	{"max-frags", "N", "fragments to ask for, 257 (the default) or 256",
	 O2_NUMBER(max_frags, O2_MAX_FRAGS_LEGACY, O2_MAX_FRAGS)},
	{"ack-timeout", "N",
	 "1 to 31: the device sends again when nothing was acknowledged for 4.096 us times 2 to the power of "
	 "N (default: 19, that is 2.1 s)",
	 O2_NUMBER(ack_timeout, 1, O2_MAX_ACK_TIMEOUT)},
	{"retries", "N", "transport retries before the connection fails, 0 to 6 (default: 5)",
	 O2_NUMBER(retries, 0, O2_MAX_RETRIES)},
	{"rnr-retries", "N", "retries while the peer has no receive posted (RNR), 0 to 6 (default: 6)",
	 O2_NUMBER(rnr_retries, 0, O2_MAX_RETRIES)},
	{"checksum", "KIND",
	 "of the messages that we send: off (the default), unsigned or signed, the peer's kind of char; "
	 "auto: none until the peer's first checksum shows which",
	 O2_NAME(checksum, checksum_names)},
	{"tolerate-immediate-checksum", NULL, "accept an IMMEDIATE with a payload whose checksum is wrong",
	 O2_FLAG(tolerate_immediate_checksum)},

	{"judge", NULL,
	 "check all traffic against the protocol's rules: a line on standard error for each that was broken, "
	 "by either side; exit status 1 if it must hold",
	 O2_FLAG(judge), .commands = SERVE | PING | MOVES | LST},

	{O2_TITLE("output")},
	{"json", NULL, "the summary as one JSON object", O2_FLAG(json)},
	{"progress", NULL, "a line on standard error every second (default on a terminal)", O2_FLAG(progress),
	 .commands = MOVES | SERVE | LST},
	{"verbose", NULL, "a line for each request of a peer; serve: also why a connection has ended",
	 O2_FLAG(verbose)},
	{"loop-quirk", "NAME[=VALUE],...",
	 "how the peer that device loop has behaves: `o2ref serve --help` lists them",
	 O2_READ(loop_quirks, read_quirks), .commands = MOVES | PING | TRIES | LST},

	{O2_TITLE("behaviour that a peer may show, for trying the other side on it"), .commands = SERVE},
	{"quirk", "NAME[=VALUE],...", "this node behaves so; may be given several times:",
	 O2_READ(quirks, read_quirks), .more = list_quirks, .commands = SERVE},
	{0},
};

static const char exits[] =
	"exit status: 0 all is well, 1 something failed or came out wrong, 2 usage or no device";

static const struct o2_command commands[] = {
	{"o2ref", "serve", "[OPTION]...",
	 .about = "Be a peer: answer LNet pings, and offer memory to PUTs and GETs, until SIGINT or SIGTERM.",
	 .options = option_table, .which = SERVE, .end = exits},
	{"o2ref", "ping", "[OPTION]... NID",
	 .about = "Ask the node what it is: LNet's ping, a GET at portal 0.  Shows its NIDs and how long it "
		  "took.",
	 .options = option_table, .which = PING, .end = exits},
	{"o2ref", "put", "[OPTION]... NID",
	 .about = "PUT to the node's memory, and wait for LNet's acknowledgement of each.",
	 .options = option_table, .which = PUT, .end = exits},
	{"o2ref", "get", "[OPTION]... NID", .about = "GET from the node's memory.", .options = option_table,
	 .which = GET, .end = exits},
	{"o2ref", "lst", "[OPTION]... NID ping|read|write",
	 .about = "Be a console of LNet selftest, and the client of its test: make a session at the node, "
		  "which needs the module lnet_selftest or o2ref serve --lst, let it answer pings, or serve "
		  "what we read or write, look at the bytes and at the node's counters, and remove the "
		  "session.",
	 .options = option_table, .which = LST, .end = exits},
	{"o2ref", "conform", "[OPTION]... NID\n--list",
	 .about = "Try whether the node keeps the protocol: a table of probes, each with what must hold.  "
		  "Without --hostile it asks nothing that harms, but it writes to the memory that the node "
		  "offers.",
	 .options = option_table, .which = TRIES,
	 .end = "exit status: 0 nothing was found, 1 something was, or the run was not completed, 2 usage, "
		"77 the device is not there or the node cannot be reached"},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

const char *o2_net_command_name(enum o2_net_command command)
{
	size_t i = 0;

	while (i < COMMANDS && commands[i].which != command)
		i++;
	assert(i < COMMANDS);
	return commands[i].name;
}

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

/* The LNet header has 32 bits for an offset; a sum that wraps around would be another place. */
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
	const bool serves = options->command == O2_NET_SERVE, lst = options->command == O2_NET_LST;

	if (options->list && argc == first)
		return O2_CLI_OK;
	if (lst && argc - first != 2)
		return o2_command_usage(command, "a NID is needed, and ping, read or write");
	if (!lst && argc - first != (serves ? 0 : 1))
		return o2_command_usage(command,
					serves ? "unexpected argument '%s'" : "exactly one NID is needed",
					serves ? argv[first] : "");
	if (lst && o2_net_lst_check_options(command, argv[first + 1], options) != O2_CLI_OK)
		return O2_CLI_USAGE;
	if (!serves && !is_nid(argv[first], &options->peer))
		return o2_command_usage(command, NO_NID, argv[first]);
	if (!serves && options->nid == options->peer)
		return o2_command_usage(command, "'%s' is our own NID", argv[first]);
	if (!serves && options->nid != 0 && o2_nid_network(options->nid) != o2_nid_network(options->peer))
		return o2_command_usage(command, "'%s' is not on the network of our NID", argv[first]);
	if (!lst && options->fragments > options->size_bytes)
		return o2_command_usage(command, "%" PRIu32 " bytes cannot be in %" PRIu32 " pieces",
					options->size_bytes, options->fragments);
	if (serves && options->noffers == 0)
		o2_net_default_offers(options);
	for (uint32_t i = 0; i < options->noffers; i++)
		if (options->fragments > options->offer[i].size_bytes)
			return o2_command_usage(command, "%" PRIu32 " bytes cannot be in %" PRIu32 " pieces",
						options->offer[i].size_bytes, options->fragments);
	return lst ? O2_CLI_OK : check_offsets(command, options);
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
		.timeout_ms = command == O2_NET_LST ? O2_LST_RPC_TIMEOUT_S * 1000 : conn.timeout_ms,
		.ack_timeout = conn.ack_timeout,
		.retries = conn.retry_count,
		.rnr_retries = conn.rnr_retry_count,
		.portal = command == O2_NET_GET ? O2_NET_READ_PORTAL : O2_NET_PORTAL,
		.match_bits = O2_NET_MATCH_BITS,
		.count = command == O2_NET_LST ? 0 : 1,
		.size_bytes = 65536,
		.check = O2_NET_LST_FULL,
		.concurrency = 8,
		.fragments = 1,
		.in_flight = 8,
		.interval_ms = 1000,
		.seed = O2_NET_SEED,
		.features = O2_PING_NO_DISCOVERY_FEATURES,
		.read_portal = O2_NET_READ_PORTAL,
		.place_bytes = O2_NET_OFFER_BYTES,
		.rounds = 20,
		.progress = isatty(STDERR_FILENO) != 0,
	};
}

int o2_net_options_read(int argc, char **argv, struct o2_net_options *options)
{
	const struct o2_command *command = commands;
	int first;

	while (command < &commands[COMMANDS] && strcmp(command->name, argv[0]) != 0)
		command++;
	if (command == &commands[COMMANDS]) {
		o2_cli_complain("'%s' is not a command of this program (see: o2ref --help)", argv[0]);
		return -1;
	}
	*options = defaults(command->which);
	first = o2_options_read(command, argc, argv, options);
	if (first > 0 && check(command, first, argc, argv, options) != O2_CLI_OK)
		return -1;
	return first;
}
