/* SPDX-License-Identifier: MIT */
/* ping, put and get against the network of --device=loop; options at their limits. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "props/command/commands.h"

#define PEER	    "10.99.0.1@o2ib"
#define PLACE_BYTES (8u << 20) /* docs/peer.md: size of the buffer that serve offers */
#define PING_BYTES  48u	       /* docs/peer.md, "Ping": an answer with two NIDs */

/* What one run moves. */
struct moving {
	const char *command;
	uint64_t count, size;
	bool verify, json, ours;
	uint64_t wrong;
	uint64_t failed;  /* 0, or 1: at least one, the number is not known */
	uint64_t late_ms; /* delay of the peer for each completion; 0: none */
};

#define LATE_MOST 4u /* most operations with a slow peer */

static uint64_t draw_size(struct o2_choice *c)
{
	static const uint32_t edges[] = {1, 3975, 3976, 3977, 4096, 4097, 65535, 65536, 1048575, 1048576};

	return o2_draw_bool(c, 1, 1) ? edges[o2_draw(c, 9)] : 1 + o2_draw(c, 20000);
}

static void draw_memory(struct o2_commands_run *run, uint64_t size)
{
	static const char *const modes[] = {"global", "fmr", "fastreg_gaps", "fastreg", "phys", "user"};
	struct o2_choice *c = run->c;
	const uint64_t most = size < 256 ? size : 256;
	const uint64_t pages = (size + 4095) / 4096;
	const uint64_t pieces = pages <= most && o2_draw_bool(c, 3, 1) ? pages
				: o2_draw_bool(c, 1, 1)		       ? 1 + o2_draw(c, most - 1)
								       : 1;

	/* Several pieces may have gaps, which only the first three modes can describe. */
	o2_command_word(&run->command, "--mode");
	o2_command_word(&run->command, "%s", modes[o2_draw(c, pieces == 1 ? 5 : 2)]);
	o2_command_word(&run->command, "--fragments");
	o2_command_word(&run->command, "%" PRIu64, pieces);
}

static void draw_connection(struct o2_commands_run *run, uint64_t size)
{
	static const char *const sums[] = {"off", "unsigned", "signed", "auto"};
	struct o2_choice *c = run->c;

	if (o2_draw_bool(c, 1, 1)) {
		o2_command_word(&run->command, "--queue-depth");
		o2_command_word(&run->command, "%" PRIu64, 2 + o2_draw(c, o2_draw_bool(c, 1, 1) ? 253 : 6));
	}
	/* A MiB that does not begin at a page needs 257 fragments. */
	if (size < 1000000 && o2_draw_bool(c, 3, 1))
		o2_command_word(&run->command, "--max-frags=%" PRIu64, 256 + o2_draw(c, 1));
	if (o2_draw_bool(c, 1, 1))
		o2_command_word(&run->command, "--checksum=%s", sums[o2_draw(c, 3)]);
}

static uint64_t number_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? (uint64_t)json_integer_value(value) : UINT64_MAX;
}

static bool is_text(const json_t *object, const char *key, const char *expected)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text != NULL && strcmp(text, expected) == 0;
}

bool o2_commands_rates_fit(const json_t *summary)
{
	const double took = json_real_value(json_object_get(summary, "seconds"));
	const double bytes = json_real_value(json_object_get(summary, "bytes_per_second")) * took;
	const double done = json_real_value(json_object_get(summary, "operations_per_second")) * took;
	const uint64_t least = number_of(summary, "min_us"), mean = number_of(summary, "mean_us"),
		       most = number_of(summary, "max_us"), times = number_of(summary, "done");
	const double all = (double)number_of(summary, "bytes"), count = (double)times;

	if (took <= 0 || took > 60 || bytes < 0.999 * all || bytes > 1.001 * all || done < 0.999 * count ||
	    done > 1.001 * count)
		return false;
	/* Only the node knows the times of its own RPCs. */
	if (json_is_true(json_object_get(summary, "reverse")))
		return json_object_get(summary, "min_us") == NULL;
	return times == 0 || (least <= mean && mean <= most && most > 0 && (double)most <= took * 1e6 + 1 &&
			      (times > 1 || least == most));
}

/* A single operation takes at least a quarter of the run, with some allowance for a busy machine. */
static bool is_prompt(const json_t *object, const struct moving *moving)
{
	const double took = json_real_value(json_object_get(object, "seconds"));

	return moving->failed != 0 || moving->count > 1 ||
	       (double)number_of(object, "max_us") * 4 > took * 1e6 - 4000;
}

/* Least time: each operation waits for a late completion, measured in milliseconds. */
static uint64_t least_us(const struct moving *moving)
{
	return moving->late_ms == 0 ? 0 : (moving->late_ms - 1) * 1000;
}

static void check_json(struct o2_commands_run *run, const struct moving *moving)
{
	json_t *object = json_loads(run->command.out, 0, NULL);
	const bool pings = strcmp(moving->command, "ping") == 0;
	uint64_t done, failed;
	char form[32];

	for (int tries = 1; tries < 20 && !is_prompt(object, moving); tries++) {
		json_decref(object);
		if (!o2_commands_go(run, run->command.status))
			return;
		object = json_loads(run->command.out, 0, NULL);
	}
	done = number_of(object, "done");
	failed = number_of(object, "failed");

	snprintf(form, sizeof(form), "o2ref/%s/output", moving->command);
	if (!is_text(object, "form", form) || number_of(object, "version") != 1 ||
	    !is_text(object, "peer", PEER) ||
	    !is_text(object, "nid", moving->ours ? "10.77.3.4@o2ib" : "10.0.0.1@o2ib"))
		o2_commands_wrong(run, "form");
	else if (done != (moving->failed == 0 ? moving->count : 0) ||
		 (moving->failed == 0 ? failed != 0 : failed < 1 || failed > moving->count) ||
		 number_of(object, "bytes") != done * moving->size)
		o2_commands_wrong(run, "counts");
	else if (number_of(object, "verified") != (moving->verify ? done : 0) ||
		 number_of(object, "wrong") != moving->wrong ||
		 number_of(object, "short") != (pings ? UINT64_MAX : 0))
		o2_commands_wrong(run, "verified");
	else if (!o2_commands_rates_fit(object) || !is_prompt(object, moving))
		o2_commands_wrong(run, "rates");
	else if (done > 0 && number_of(object, "min_us") < least_us(moving))
		o2_commands_wrong(run, "late");
	json_decref(object);
}

/* Do MB/s and operations/s agree, both rounded? */
static bool rates_agree(double megabytes, double operations, uint64_t size)
{
	const double apart = megabytes * 1e6 - operations * (double)size;
	const double most = 0.06 * 1e6 + 0.6 * (double)size;

	return apart <= most && -apart <= most;
}

static void check_words(struct o2_commands_run *run, const struct moving *moving)
{
	const uint64_t done = moving->failed == 0 ? moving->count : 0;
	unsigned long long words[6] = {0};
	double took = 0, rate = 0, each = 0;
	char expected[96], format[160];
	const char *rest = strchr(run->command.out, '\n');
	int count;

	snprintf(format, sizeof(format),
		 "%s: %%llu done, %%llu failed, %%llu bytes in %%lf s: %%lf MB/s, %%lf/s; "
		 "%%llu/%%llu/%%llu us (min/mean/max)",
		 moving->command);
	count = sscanf(run->command.out, format, &words[0], &words[1], &words[2], &took, &rate, &each,
		       &words[3], &words[4], &words[5]);
	if (count < (moving->failed == 0 ? 9 : 6) || words[0] != done || words[2] != done * moving->size ||
	    (words[1] != 0) != (moving->failed != 0) || words[3] > words[4] || words[4] > words[5] ||
	    (done > 0 && words[3] < least_us(moving)) ||
	    (double)words[5] > took * 1e6 + 1000 /* took is rounded to milliseconds */ ||
	    !rates_agree(rate, each, moving->size)) {
		o2_commands_wrong(run, "words");
		return;
	}
	expected[0] = '\0';
	if (moving->verify)
		snprintf(expected, sizeof(expected), "verify: %" PRIu64 " checked, %" PRIu64 " wrong\n", done,
			 moving->wrong);
	if (rest == NULL || strcmp(rest + 1, expected) != 0)
		o2_commands_wrong(run, "verified");
}

static void ping(struct o2_commands_run *run)
{
	struct moving moving = {.command = "ping", .size = PING_BYTES, .json = o2_draw_bool(run->c, 1, 1)};
	const char *at = run->command.out;
	uint64_t lines = 0;

	moving.count = 1 + o2_draw(run->c, 3);
	o2_commands_words(run, "ping --device=loop");
	o2_command_word(&run->command, "--count=%" PRIu64, moving.count);
	o2_command_word(&run->command, "--interval=%" PRIu64, o2_draw(run->c, 2));
	draw_connection(run, 0);
	o2_command_word_if(&run->command, moving.json, "--json");
	o2_command_word(&run->command, PEER);
	run->tally.seen[O2_COMMANDS_PING]++;
	if (!o2_commands_go(run, 0))
		return;
	if (moving.json) {
		check_json(run, &moving);
		return;
	}
	for (; (at = strstr(at, PEER ": ")) != NULL; lines++)
		at += strlen(PEER ": ");
	if (lines != moving.count ||
	    strstr(run->command.out, " us, pid 12345, features 0xe: 0@lo " PEER) == NULL)
		o2_commands_wrong(run, "lines");
}

/* Draw the outcome of a put or get, and append its words.  Returns the exit status; -1: not known. */
static int draw_outcome(struct o2_commands_run *run, struct moving *moving, uint64_t in_flight)
{
	struct o2_choice *c = run->c;
	const bool gets = strcmp(moving->command, "get") == 0;
	const uint64_t kind = o2_draw(c, 7);
	const uint64_t lanes = !gets && moving->verify ? in_flight : 1;
	uint64_t last = PLACE_BYTES - moving->size;

	if (kind == 7 && lanes == 1) {
		/* One byte too far: the place accepts no part of it. */
		run->tally.seen[O2_COMMANDS_NO_ROOM]++;
		moving->failed = 1;
		o2_command_word(&run->command, "--offset=%" PRIu64, last + 1);
		o2_command_word(&run->command, "--timeout=1");
		return 1;
	}
	if (kind >= 4 && kind <= 6 && gets && moving->verify) {
		/* One byte in 256 is equal in both streams, so a short transfer may seem right. */
		moving->wrong = moving->size > 64 ? moving->count : UINT64_MAX;
		o2_command_word(&run->command, "--seed=%" PRIu64, 2 + o2_draw(c, 1000));
		if (moving->wrong == UINT64_MAX)
			return -1;
		run->tally.seen[O2_COMMANDS_OTHER_BYTES]++;
		return 1;
	}
	/* Of several verified PUTs in flight only the first needs room: the peer then has room for all. */
	if (kind > 2 && (lanes == 1 || kind == 3))
		o2_command_word(&run->command, "--offset=%" PRIu64, kind == 3 ? last : o2_draw(c, last));
	if (!gets)
		o2_command_word(&run->command, "--seed=%" PRIu64, o2_draw(c, UINT32_MAX));
	return 0;
}

static void move(struct o2_commands_run *run)
{
	struct o2_choice *c = run->c;
	struct moving moving = {.command = o2_draw_bool(c, 1, 1) ? "get" : "put"};
	const uint64_t in_flight = 1 + o2_draw(c, o2_draw_bool(c, 3, 1) ? 254 : 7);
	int status;

	moving.size = draw_size(c);
	moving.count = 1 + o2_draw(c, moving.size > 100000 ? 3 : 30);
	moving.verify = o2_draw_bool(c, 1, 2);
	moving.json = o2_draw_bool(c, 1, 1);
	moving.ours = o2_draw_bool(c, 3, 1);
	if (moving.count <= LATE_MOST && o2_draw_bool(c, 1, 1))
		moving.late_ms = 2 + o2_draw(c, 10);
	o2_command_word(&run->command, "%s", moving.command);
	o2_command_word(&run->command, "--device=loop");
	if (moving.late_ms > 0)
		o2_command_word(&run->command, "--loop-quirk=late=%" PRIu64, moving.late_ms);
	o2_command_word(&run->command, "--size=%" PRIu64, moving.size);
	o2_command_word(&run->command, "--count=%" PRIu64, moving.count);
	o2_command_word(&run->command, "--in-flight=%" PRIu64, in_flight);
	draw_memory(run, moving.size);
	draw_connection(run, moving.size);
	status = draw_outcome(run, &moving, in_flight);
	if (status < 0)
		return;
	o2_command_word_if(&run->command, moving.verify, "--verify");
	o2_command_word_if(&run->command, moving.json, "--json");
	o2_command_word_if(&run->command, moving.ours, "--nid=10.77.3.4@o2ib");
	/* Not if the outcome depends on the ACK: a small PUT without room, or a late peer. */
	if (strcmp(moving.command, "put") == 0 && moving.failed == 0 && moving.late_ms == 0 &&
	    o2_draw_bool(c, 3, 1))
		o2_command_word(&run->command, "--no-ack");
	o2_command_word(&run->command, PEER);
	run->tally.seen[strcmp(moving.command, "put") == 0 ? O2_COMMANDS_PUT : O2_COMMANDS_GET]++;
	if (!o2_commands_go(run, status))
		return;
	if (status != 0 && strstr(run->command.err, "o2ref: ") != run->command.err)
		o2_commands_wrong(run, "complaint");
	else if (moving.json)
		check_json(run, &moving);
	else
		check_words(run, &moving);
}

void o2_commands_net(struct o2_commands_run *run)
{
	if (o2_draw_bool(run->c, 3, 1))
		ping(run);
	else
		move(run);
}

/* --- command lines --- */

struct limited {
	const char *command, *option;
	uint64_t least, most;
	bool quick; /* its limits cost no time */
};

/* Try one of its limits, or one past it. */
static void try_limit(struct o2_commands_run *run, const struct limited *option, bool high, bool past)
{
	uint64_t value = high ? option->most : option->least;

	if (past && !high && value == 0)
		return;
	value = !past ? value : high ? value + 1 : value - 1;
	run->command.words = 0;
	o2_command_word(&run->command, "%s", option->command);
	o2_command_word(&run->command, "--device=loop");
	o2_command_word(&run->command, "--%s", option->option);
	o2_command_word(&run->command, "%" PRIu64, value);
	if (strcmp(option->command, "serve") != 0)
		o2_command_word(&run->command, PEER);
	if (strcmp(option->command, "lst") == 0)
		o2_command_word(&run->command, "ping");
	run->tally.seen[past ? O2_COMMANDS_PAST_LIMIT : O2_COMMANDS_AT_LIMIT]++;
	if (!o2_commands_go(run, past ? 2 : 0) || !past)
		return;
	o2_commands_complains(run,
			      "o2ref: --%s is '%" PRIu64 "', not a number of %" PRIu64 " to %" PRIu64
			      " (see: o2ref %s --help)\n",
			      option->option, value, option->least, option->most, option->command);
	o2_commands_says(run, "output", run->command.out, "%s", "");
}

void o2_commands_misused(struct o2_commands_run *run)
{
	static const struct limited options[] = {
		{"put", "size", 1, 1048576, true},
		{"get", "size", 1, 1048576, true},
		{"put", "fragments", 1, 257, false},
		{"put", "in-flight", 1, 255, true},
		{"ping", "queue-depth", 2, 255, true},
		{"get", "max-frags", 256, 257, true},
		{"ping", "ack-timeout", 1, 31, true},
		{"get", "retries", 0, 6, true},
		{"put", "rnr-retries", 0, 6, true},
		{"ping", "port", 1, 65535, true},
		{"ping", "timeout", 1, 86400, true},
		{"ping", "interval", 0, 3600000, true},
		{"ping", "count", 1, 4294967295, false},
		{"get", "offset", 0, 4294967295, false},
		{"get", "portal", 0, 4294967295, false},
		{"lst", "timeout", 1, 86400, true},
		{"lst", "seconds", 1, 86400, false},
		{"lst", "count", 1, 4294967295, false},
		{"serve", "fragments", 1, 257, false},
		{"serve", "features", 0, 4294967295, false},
		{"conform", "place-bytes", 2097152, 67108864, false},
		{"conform", "rounds", 1, 1000000, false},
	};
	const struct limited *option = &options[o2_draw_pick(run->c, sizeof(options) / sizeof(options[0]))];

	for (unsigned int i = option->quick ? 0 : 2; i < 4 && !run->report->failed; i++)
		try_limit(run, option, i % 2 == 1, i > 1);
}
