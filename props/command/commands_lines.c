/* SPDX-License-Identifier: MIT */
/* Wrong command lines, and help; peers that misbehave, as ping, put and get report it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "props/command/commands.h"

#define PEER	    "10.99.0.1@o2ib"
#define PLACE_BYTES (8u << 20) /* docs/peer.md: size of the buffer that serve offers */

/* --- command lines --- */

static const struct {
	const char *line, *said;
} wrong_lines[] = {
	{"", "no command given (see: o2ref --help)"},
	{"nothing", "unknown command 'nothing' (see: o2ref --help)"},
	{"--nothing", "unknown command '--nothing' (see: o2ref --help)"},
	{"encode --nothing", "'--nothing' is no option, or its value is missing (see: o2ref encode --help)"},
	{"decode --nothing", "'--nothing' is no option, or its value is missing (see: o2ref decode --help)"},
	{"judge --nothing", "'--nothing' is no option, or its value is missing (see: o2ref judge --help)"},
	{"decode --pcap --reject x",
	 "--pcap cannot be used with --reject or --hex-input (see: o2ref decode --help)"},
	{"decode --pcap --hex-input x",
	 "--pcap cannot be used with --reject or --hex-input (see: o2ref decode --help)"},
	{"decode --hex-input --raw-input x",
	 "--hex-input and --raw-input exclude each other (see: o2ref decode --help)"},
	{"decode --color=x", "--color is 'x', not auto, always or never (see: o2ref decode --help)"},
	{"judge --events=3 x", "--events is for --html (see: o2ref judge --help)"},
	{"judge --live=lo x", "give either --live or FILE, not both (see: o2ref judge --help)"},
	{"judge --seconds=3 x", "--seconds is for --live (see: o2ref judge --help)"},
	{"judge --packets=3 x", "--packets is for --live (see: o2ref judge --help)"},
	{"encode", "no file given (see: o2ref encode --help)"},
	{"encode --hex a b", "more than one file (see: o2ref encode --help)"},
	{"decode", "no file given (see: o2ref decode --help)"},
	{"judge", "no file given (see: o2ref judge --help)"},
	{"ping --device=loop", "exactly one NID is needed (see: o2ref ping --help)"},
	{"get --device loop 1 2", "exactly one NID is needed (see: o2ref get --help)"},
	{"lst --device=loop " PEER, "a NID is needed, and ping, read or write (see: o2ref lst --help)"},
	{"lst --device=loop read " PEER, "'" PEER "' is not ping, read or write (see: o2ref lst --help)"},
	{"put --device=loop x@y", "'x@y' is no NID such as 10.77.0.1@o2ib (see: o2ref put --help)"},
	{"ping --device=loop 10.1.2.3@tcp",
	 "'10.1.2.3@tcp' is no NID such as 10.77.0.1@o2ib (see: o2ref ping --help)"},
	{"ping --device=loop --nid=" PEER " " PEER, "'" PEER "' is our own NID (see: o2ref ping --help)"},
	{"get --device=loop --nid=10.99.0.1@o2ib5 " PEER,
	 "'" PEER "' is not on the network of our NID (see: o2ref get --help)"},
	{"put --device=loop --size=3 --fragments=4 " PEER,
	 "3 bytes cannot be in 4 pieces (see: o2ref put --help)"},
	{"put --device=loop --offset=4294967296 " PEER,
	 "--offset is '4294967296', not a number of 0 to 4294967295 (see: o2ref put --help)"},
	{"get --device=loop --mode=x " PEER,
	 "--mode is 'x', not global, fmr, fastreg, user, phys or fastreg_gaps (see: o2ref get --help)"},
	{"get --device=loop --checksum=x " PEER,
	 "--checksum is 'x', not off, unsigned, signed or auto (see: o2ref get --help)"},
	{"conform --device=loop --profile=x " PEER,
	 "--profile is 'x', not strict or kernel (see: o2ref conform --help)"},
	{"serve --device=loop", "device loop is a network inside the process: nobody could reach the server"},
	{"serve --device=loop x", "unexpected argument 'x' (see: o2ref serve --help)"},
	{"serve --device=loop --buffer=5",
	 "--buffer is '5', not PORTAL:MATCHBITS[:BYTES][:ro] (see: o2ref serve --help)"},
	{"serve --device=loop --buffer=5:6:7:rw",
	 "--buffer is '5:6:7:rw', not PORTAL:MATCHBITS[:BYTES][:ro] (see: o2ref serve "
	 "--help)"},
	{"serve --device=loop --buffer=5:6:0",
	 "--buffer is '5:6:0', where BYTES is not a number of 1 to 67108864 (see: o2ref serve --help)"},
	{"serve --device=loop --buffer=4294967296:6",
	 "--buffer is '4294967296:6', where PORTAL is not a number of 0 to 4294967295 (see: o2ref serve "
	 "--help)"},
	{"serve --device=loop --buffer=5:6:67108865",
	 "--buffer is '5:6:67108865', where BYTES is not a number of 1 to 67108864 (see: o2ref serve "
	 "--help)"},
	{"serve --device=loop --fragments=5 --buffer=1:0x2:4:ro",
	 "4 bytes cannot be in 5 pieces (see: o2ref serve --help)"},
	{"encode /no/such/file", "/no/such/file: No such file or directory"},
	{"decode /no/such/file", "/no/such/file: No such file or directory"},
	{"judge /no/such/file", "/no/such/file: No such file or directory"},
	{"conform --device=loop --known=/no/such/file " PEER, "/no/such/file: No such file or directory"},
	{"conform --device=loop --out=/no/such/dir " PEER, "/no/such/dir: No such file or directory"},
	{"ping --nothing", "'--nothing' is no option, or its value is missing (see: o2ref ping --help)"},
	{"ping --device", "'--device' is no option, or its value is missing (see: o2ref ping --help)"},
};

/* Try several wrong lines, as each is cheap. */
static void wrong_line(struct o2_commands_run *run)
{
	const size_t count = sizeof(wrong_lines) / sizeof(wrong_lines[0]);
	size_t which = o2_draw_pick(run->c, count);

	for (int i = 0; i < 24 && !run->report->failed; i++, which = (which + 1) % count) {
		run->command.words = 0;
		o2_commands_words(run, wrong_lines[which].line);
		if (!o2_commands_go(run, 2))
			return;
		o2_commands_complains(run, "o2ref: %s\n", wrong_lines[which].said);
		o2_commands_says(run, "output", run->command.out, "%s", "");
	}
}

/* serve offers at most 16 buffers. */
static void many_buffers(struct o2_commands_run *run)
{
	const uint64_t count = 16 + o2_draw(run->c, 1);

	o2_commands_words(run, "serve --device=loop");
	for (uint64_t i = 1; i <= count; i++)
		o2_command_word(&run->command, "--buffer=%" PRIu64 ":0x%" PRIx64 ":ro", i, i);
	if (!o2_commands_go(run, 2))
		return;
	o2_commands_complains(
		run, "o2ref: %s\n",
		count == 16 ? "device loop is a network inside the process: nobody could reach the server"
			    : "--buffer is '17:0x11:ro', but it may be given at most 16 times "
			      "(see: o2ref serve --help)");
}

/* The end of the last transfer in flight must be below 2^32. */
static void far_offset(struct o2_commands_run *run)
{
	const uint64_t size = o2_draw_range(run->c, 1, 1048576), count = o2_draw_range(run->c, 1, 40);
	const uint64_t at_once = o2_draw_range(run->c, 1, 20), lanes = at_once < count ? at_once : count;
	const uint64_t offset = UINT32_MAX - (lanes - 1) * size + 1 + o2_draw(run->c, 3);
	const uint64_t last = offset + (lanes - 1) * size;

	if (offset > UINT32_MAX)
		return;
	o2_commands_words(run, "put --device=loop --verify");
	o2_command_word(&run->command, "--size=%" PRIu64, size);
	o2_command_word(&run->command, "--count=%" PRIu64, count);
	o2_command_word(&run->command, "--in-flight=%" PRIu64, at_once);
	o2_command_word(&run->command, "--offset=%" PRIu64, offset);
	o2_commands_words(run, PEER);
	if (!o2_commands_go(run, 2))
		return;
	o2_commands_complains(run,
			      "o2ref: --offset is %" PRIu64 ": the last of %" PRIu64 " in flight, %" PRIu64
			      " bytes apart, is at %" PRIu64 ", limit 4294967295 (see: o2ref put --help)\n",
			      offset, lanes, size, last);
}

/* Check the beginning of a help text, and words that it must contain. */
static void help_of(struct o2_commands_run *run, const char *line, const char *begins,
		    const char *const has[4])
{
	o2_commands_words(run, line);
	if (!o2_commands_go(run, 0))
		return;
	if (strncmp(run->command.out, begins, strlen(begins)) != 0)
		o2_commands_wrong(run, "help");
	for (size_t i = 0; i < 4 && !run->report->failed; i++)
		if (strstr(run->command.out, has[i]) == NULL)
			o2_commands_wrong(run, "help");
	for (const char *at = run->command.out; *at != '\0' && !run->report->failed;
	     at += strcspn(at, "\n") + 1)
		if (strcspn(at, "\n") > 100 || at[strcspn(at, "\n")] != '\n')
			o2_commands_wrong(run, "help");
}

/* Check the help of the program and of each command: the usage first, then the options. */
static void help(struct o2_commands_run *run)
{
	static const struct {
		const char *line, *begins, *has[4];
	} helps[] = {
		{"--help",
		 "usage: o2ref COMMAND [OPTION]... [FILE]...\n\ncommands:\n  decode    show ",
		 {"\n  judge     ", "\n  encode    ",
		  "\n  serve     run a node: answer pings, hold memory for PUTs and GETs\n\noptions:\n",
		  "\n  -V, --version  the version\n"}},
		{"-h",
		 "usage: o2ref COMMAND",
		 {"\n  check     ", "\n  explain   ", "\n  ping      ", "\n  conform   "}},
		{"help",
		 "usage: o2ref COMMAND",
		 {"\n  put       ", "\n  get       ", "\nexit status: 0 done", "\n"}},
		{"--version", "o2ref ", {".", "\n", "", ""}},
		{"-V", "o2ref ", {".", "\n", "", ""}},
		{"encode --help",
		 "usage: o2ref encode [OPTION]... FILE.json\n\n",
		 {"\n  --hex ", "\n  --max-frags N ", "\n  --any-lnd ", "\n\nexit status: 0 encoded"}},
		{"decode --help",
		 "usage: o2ref decode ",
		 {"\n  --json ", "\n  --pcap ", "\n  -h, --help ", "\n\nexit status: "}},
		{"judge --help",
		 "usage: o2ref judge ",
		 {"\n  --json ", "\n  --html ", "\n  --junit ", "\n\nexit status: "}},
		{"ping --device=loop --help",
		 "usage: o2ref ping [OPTION]... NID\n\n",
		 {"\n  --count N ", "\n  --interval N ", "\n  --loop-quirk ",
		  "\n\nexit status: 0 all is well"}},
		{"put --device=loop --help",
		 "usage: o2ref put [OPTION]... NID\n\n",
		 {"\n  --verify ", "\n  --no-ack ", "\n  --in-flight N ", "\n\nexit status: 0 all is well"}},
		{"get --device=loop --help",
		 "usage: o2ref get [OPTION]... NID\n\n",
		 {"\n  --accept-short ", "\n  --fragments N ", "\n  --portal N ",
		  "\n\nexit status: 0 all is well"}},
		{"serve --device=loop --help",
		 "usage: o2ref serve [OPTION]...\n\n",
		 {"\n  --buffer ", "\n  --truncate ", "may be given several times:\n  sums-signed ",
		  "\n  lst-flip-bit         one bit of each bulk that LNet selftest reads from it is "
		  "wrong\n  -h, --help "}},
		{"lst --device=loop --help",
		 "usage: o2ref lst [OPTION]... NID ping|read|write\n\n",
		 {"\n  --check KIND ", "\n  --concurrency N ", "\n  --force ",
		  "\n\nexit status: 0 all is well"}},
		{"conform --device=loop --help",
		 "usage: o2ref conform [OPTION]... NID\n       o2ref conform --list\n\n",
		 {"\n  --only ", "\n  --known ", "\n  --out ", "\n  --rounds N "}},
	};
	const size_t count = sizeof(helps) / sizeof(helps[0]);

	for (size_t which = 0; which < count && !run->report->failed; which++) {
		run->command.words = 0;
		help_of(run, helps[which].line, helps[which].begins, helps[which].has);
	}
}

/* --- peers that misbehave --- */

struct bent {
	const char *command; /* "get", "put" or "ping" */
	bool judge, json;
	uint64_t size, offset;
};

static void start(struct o2_commands_run *run, struct bent *bent, const char *quirk)
{
	o2_commands_words(run, bent->command);
	o2_commands_words(run, "--device=loop --timeout=1");
	bent->judge = o2_draw_bool(run->c, 1, 1);
	if (strcmp(bent->command, "ping") != 0) {
		o2_command_word(&run->command, "--size=%" PRIu64, bent->size);
		o2_command_word(&run->command, "--offset=%" PRIu64, bent->offset);
	}
	if (quirk != NULL)
		o2_command_word(&run->command, "--loop-quirk=%s", quirk);
	o2_command_word_if(&run->command, bent->judge, "--judge");
}

/* Expect the summary of one operation.  verified: how many were checked, and were wrong. */
static void summary(struct o2_commands_run *run, const struct bent *bent, bool done, int wrong,
		    const char *judged)
{
	char text[512];
	size_t used = (size_t)snprintf(
		text, sizeof(text), "%s: %d done, %d failed, %" PRIu64 " bytes in # s: # MB/s, #/s%s\n",
		bent->command, done, !done, done ? bent->size : 0, done ? "; #/#/# us (min/mean/max)" : "");

	if (wrong >= 0)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "verify: %d checked, %d wrong\n",
					 done, wrong);
	if (bent->judge)
		snprintf(text + used, sizeof(text) - used, "judge: %s\n", judged);
	o2_commands_says(run, "summary", run->command.out, "%s", text);
}

/* Expect the peer's ENODATA.  looks: --verify is given; nothing has arrived. */
static void has_nothing(struct o2_commands_run *run, const struct bent *bent, bool looks)
{
	const bool gets = strcmp(bent->command, "get") == 0;

	o2_commands_complains(
		run,
		"o2ref: %s 0 at " PEER
		": no matching memory at that portal and match bits, or it is too small (ENODATA): the "
		"peer reports a failure: %s (No data available)\n",
		gets ? "GET" : "PUT",
		gets ? "transfer/peer-status: -ibcm_status is 61"
		     : "lnet/put/no-match: PUT_NAK's status is 0");
	summary(run, bent, false, looks ? 0 : -1,
		"2 messages and 0 WRITEs of ours on 1 connection: 0 must, 0 should, 0 notes");
}

/* Bytes that begin inside the place and end beyond it. */
static struct bent past_the_end(struct o2_commands_run *run, const char *command, const char *quirk)
{
	struct bent bent = {.command = command, .size = o2_draw_range(run->c, 3977, 1048576)};

	run->tally.seen[O2_COMMANDS_NO_ROOM]++;
	run->command.words = 0;
	bent.offset = PLACE_BYTES - bent.size + 1 + o2_draw(run->c, bent.size - 1);
	start(run, &bent, quirk);
	return bent;
}

/* This quirk reports that all bytes were moved; only --verify notices that they were not. */
static void get_that_is_claimed(struct o2_commands_run *run, bool looks)
{
	const struct bent bent = past_the_end(run, "get", "short-get-claims");

	o2_commands_words(run, looks ? "--verify " PEER : PEER);
	if (!o2_commands_go(run, looks ? 1 : 0))
		return;
	if (looks)
		o2_commands_complains(
			run, "o2ref: GET 0: the peer reports %" PRIu64 " bytes and wrote 0 of them\n",
			bent.size);
	else
		o2_commands_complains(run, "%s", "");
	summary(run, &bent, true, looks ? 1 : -1,
		"2 messages and 0 WRITEs of ours on 1 connection: 0 must, 0 should, 0 notes");
}

static void no_room_for(struct o2_commands_run *run, const char *command, bool looks)
{
	const struct bent bent = past_the_end(run, command, NULL);

	o2_commands_words(run, looks ? "--verify " PEER : PEER);
	if (o2_commands_go(run, 1))
		has_nothing(run, &bent, looks);
}

/* Beyond the end of the place, a GET or PUT must fail. */
static void no_room(struct o2_commands_run *run)
{
	no_room_for(run, "get", false);
	if (!run->report->failed)
		no_room_for(run, "put", true);
	for (int looks = 0; looks < 2 && !run->report->failed; looks++)
		get_that_is_claimed(run, looks != 0);
}

/* A portal without a place. */
static void no_such_place(struct o2_commands_run *run)
{
	const bool gets = o2_draw_bool(run->c, 1, 1);
	struct bent bent = {.command = gets ? "get" : "put", .size = o2_draw_range(run->c, 3977, 1048576)};

	start(run, &bent, NULL);
	o2_command_word(&run->command, "--portal=%" PRIu64, 1 + o2_draw(run->c, 50));
	o2_commands_words(run, PEER);
	if (o2_commands_go(run, 1))
		has_nothing(run, &bent, false);
}

/* The answer has a wrong checksum; one option tolerates it. */
static void other_sum(struct o2_commands_run *run)
{
	const bool takes = o2_draw_bool(run->c, 1, 1), pings = o2_draw_bool(run->c, 2, 1);
	struct bent bent = {.command = pings ? "ping" : "get", .size = o2_draw_range(run->c, 1, 3976)};
	const char *why =
		"the connection is gone (ECONNABORTED): the connection has ended: the peer has broken "
		"a rule: wire/header/checksum: ibm_cksum is #, expected # (Protocol error); "
		"--tolerate-immediate-checksum accepts it\n";
	const char *rule = "o2ref: judge: must message/wire: " PEER
			   " (to 10.0.0.1@o2ib): wire/header/checksum: ibm_cksum is #, expected #; rule: "
			   "every message keeps to the rules of the codec (docs/wire.md, \"Rules\")\n";

	start(run, &bent, "sums-other-bytes");
	o2_command_word_if(&run->command, takes, "--tolerate-immediate-checksum");
	o2_commands_words(run, PEER);
	if (!o2_commands_go(run, takes ? 0 : 1))
		return;
	if (!takes)
		o2_commands_complains(run, "%so2ref: %s 0 at " PEER ": %s", bent.judge ? rule : "",
				      pings ? "ping" : "GET", why);
	if (!pings)
		summary(run, &bent, takes, -1,
			takes ? "2 messages and 0 WRITEs of ours on 1 connection: 0 must, 0 should, 0 notes"
			      : "2 messages and 0 WRITEs of ours on 1 connection: 1 must, 0 should, 0 "
				"notes");
}

/* The bytes from the second page on are wrong.  The first wrong byte varies, as one may be right by chance. */
static void wrong_page(struct o2_commands_run *run)
{
	struct bent bent = {.command = "get", .offset = o2_draw_range(run->c, 1, 8000)};
	const uint64_t at = 4096 - bent.offset % 4096;
	unsigned int right = 0xee;
	char *place;

	if (at > 3900)
		return;
	bent.size = at + 1 + o2_draw(run->c, 3976 - at - 1);
	start(run, &bent, "second-page-wrong");
	o2_commands_words(run, "--verify " PEER);
	if (!o2_commands_go(run, 1))
		return;
	place = strstr(run->command.err, " is 0xee, not 0x");
	if (place == NULL || sscanf(place, " is 0xee, not 0x%2x", &right) != 1 || right == 0xee) {
		o2_commands_wrong(run, "complaint");
		return;
	}
	/* The judge must name the first wrong byte, too. */
	if (strstr(run->command.err, "payload[") == NULL && bent.judge)
		o2_commands_wrong(run, "judge");
	if (!bent.judge)
		o2_commands_complains(run, "o2ref: GET 0: byte # is 0xee, not 0x%02x (seed 1)\n", right);
	else
		o2_commands_complains(
			run,
			"o2ref: judge: should payload/get: " PEER
			" (to 10.0.0.1@o2ib): payload[#] is 238, expected %u; rule: a GET brings "
			"what is served there, or what the same node has PUT there (docs/judge.md, "
			"\"Payloads\")\no2ref: GET 0: byte # is 0xee, not 0x%02x (seed 1)\n",
			right, right);
	summary(run, &bent, true, 1,
		"2 messages and 0 WRITEs of ours on 1 connection: 0 must, 1 should, 0 notes");
}

/* The peer closes first: that is reported for the operation. */
static void closes(struct o2_commands_run *run)
{
	struct bent bent = {.command = o2_draw_bool(run->c, 1, 1) ? "ping" : "get",
			    .size = o2_draw_range(run->c, 1, 3976)};
	const bool pings = strcmp(bent.command, "ping") == 0;

	start(run, &bent, "closes-first");
	o2_commands_words(run, PEER);
	if (!o2_commands_go(run, 1))
		return;
	o2_commands_complains(run,
			      "o2ref: %s 0 at " PEER
			      ": the connection is gone (ECONNABORTED): the connection has "
			      "ended: the peer has ended the connection (DREQ)\n",
			      pings ? "ping" : "GET");
	if (!pings)
		summary(run, &bent, false, -1,
			"1 messages and 0 WRITEs of ours on 1 connection: 0 must, 0 should, 0 notes");
}

/* A transfer with a correct peer breaks no rule. */
static void peace(struct o2_commands_run *run)
{
	const bool large = o2_draw_bool(run->c, 1, 1), gets = o2_draw_bool(run->c, 1, 1);
	struct bent bent = {.command = gets ? "get" : "put",
			    .size = large ? o2_draw_range(run->c, 3977, 100000)
					  : o2_draw_range(run->c, 1, 3976)};

	start(run, &bent, NULL);
	o2_commands_words(run, PEER);
	if (!o2_commands_go(run, 0))
		return;
	summary(run, &bent, true, -1,
		gets || !large
			? "2 messages and 0 WRITEs of ours on 1 connection: 0 must, 0 should, 0 notes"
			: "4 messages and 1 WRITEs of ours on 1 connection: 0 must, 0 should, 0 notes");
}

void o2_commands_lines(struct o2_commands_run *run)
{
	static void (*const kinds[])(struct o2_commands_run *) = {
		wrong_line, wrong_line,	   many_buffers, help,	     help,   far_offset, no_room,
		no_room,    no_such_place, other_sum,	 wrong_page, closes, peace};

	run->tally.seen[O2_COMMANDS_LINES]++;
	kinds[o2_draw_pick(run->c, sizeof(kinds) / sizeof(kinds[0]))](run);
}
