/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/monotonic.h"
#include "lnd/conn/credits.h"
#include "props/cmd/options.h"
#include "props/engine/left_behind.h"
#include "props/engine/shell_word.h"
#include "props/talk/explore.h"

/* `o2props explore`: the command line of the state search. */

#define MAX_DEPTH  8u
#define MAX_STATES (1u << 30)

struct arguments {
	const char *program;
	const char *ops, *mutant, *path;
	enum o2_reg_mode mode;
	uint32_t version, depth, peer_tx_credits, nob, most_events, most_states;
	bool device, at_once, verify;
};

#define O2_OPTION_TARGET struct arguments

static const struct o2_option option_table[] = {
	{"ops", "A,B/C",
	 "operations: of one end before the slash, of the other behind it; put, get and immediate (default "
	 "put,put,get)",
	 O2_TEXT(ops)},
	{"version", "N", "1 or 2 (default 2)", O2_NUMBER(version, 1, 2)},
	{"depth", "N", "queue depth (default: the least, 2, in version 1 3)", O2_NUMBER(depth, 0, MAX_DEPTH)},
	{"peer-tx-credits", "N", "the tunable behind the high-water mark (default: as deep)",
	 O2_NUMBER(peer_tx_credits, 0, O2_MAX_QUEUE_DEPTH)},
	{"mode", "MODE", "registration mode of all memory (default global)",
	 O2_NAME_OF(mode, o2_reg_mode_name)},
	{"bytes", "N", "size of the first operation (default 100)", O2_NUMBER(nob, 1, O2_EXPLORE_MAX_NOB)},
	{"device", NULL, "the device's work requests are events of their own", O2_FLAG(device)},
	{"at-once", NULL, "all operations are started before the first event", O2_FLAG(at_once)},
	{"verify", NULL, "go on from each state by every way to it: the same must come", O2_FLAG(verify)},
	{"most-events", "N", "do not look farther than that from the start",
	 O2_NUMBER(most_events, 0, O2_EXPLORE_PATH - 1)},
	{"most-states", "N", "stop there", O2_NUMBER(most_states, 0, MAX_STATES)},
	{"path", "EVENTS",
	 "go this one way and say what happens: s start, r handle a message, c handle a completion, x the "
	 "device; of the other end in capitals",
	 O2_TEXT(path)},
	{"mutant", "NAME", "switch on a deliberate defect (only in o2props-mutants)", O2_TEXT(mutant)},
	{0},
};

static const struct o2_command command = {
	.program = "o2props",
	.name = "explore",
	.usage = "[OPTIONS]",
	.about = "Goes through every state that two ends can get into with a few operations, in every "
		 "order of events, and checks each (docs/simulation.md, \"Every order\").",
	.options = option_table,
	.end = "Exit status: 0 all held in all states that were looked at, 1 not, 2 usage.",
};

static bool parse_op(const char *name, size_t length, enum o2_transfer_op *op)
{
	static const char *const names[] = {
		[O2_OP_PUT] = "put",
		[O2_OP_GET] = "get",
		[O2_OP_SEND] = "immediate",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0) {
			*op = (enum o2_transfer_op)i;
			return true;
		}
	return false;
}

static bool parse_ops(const char *text, struct o2_explore_config *config)
{
	uint32_t end = 0;

	while (*text != '\0') {
		size_t length = strcspn(text, ",/");
		struct o2_explore_op *op = &config->op[config->nops];

		if (length > 0 && (config->nops == O2_EXPLORE_OPS || !parse_op(text, length, &op->op)))
			return false;
		if (length > 0)
			config->op[config->nops++].end = end;
		text += length;
		if (*text == '/' && ++end > 1)
			return false;
		text += *text != '\0';
	}
	return config->nops > 0;
}

static int configure(const struct arguments *a, struct o2_explore_config *config)
{
	*config = (struct o2_explore_config){
		.conn = O2_CONN_DEFAULTS,
		.mode = a->mode,
		.nob = a->nob,
		.device = a->device,
		.at_once = a->at_once,
		.verify = a->verify,
		.most_events = a->most_events,
		.most_states = a->most_states,
	};
	config->conn.version = a->version == 1 ? O2_MSG_VERSION_1 : O2_MSG_VERSION_2;
	config->conn.queue_depth = a->depth != 0 ? a->depth : o2_min_queue_depth(config->conn.version);
	if (config->conn.queue_depth < o2_min_queue_depth(config->conn.version))
		return o2_command_usage(&command,
					"--depth is %" PRIu32 ", less than version %" PRIu32 " allows",
					a->depth, a->version);
	config->conn.peer_tx_credits = a->peer_tx_credits;
	config->conn.max_frags = 2;
	config->conn.max_transfers = O2_EXPLORE_OPS;
	/* Disable timers: time does not advance in the search. */
	config->conn.timeout_ms = 0;
	config->conn.keepalive_ms = 0;
	if (!parse_ops(a->ops, config))
		return o2_command_usage(
			&command, "--ops is '%s', not up to %u of put, get and immediate, and one slash",
			a->ops, O2_EXPLORE_OPS);
	return 0;
}

static void print_report(const struct o2_report *report)
{
	printf("%s\n", report->signature);
	for (uint32_t i = 0; i < report->lines; i++)
		printf("  %s\n", report->line[i]);
}

/* Print the command that replays this path; NULL: the whole search. */
static void print_replay(const struct arguments *a, const struct o2_explore_config *config, const char *path)
{
	fputs("  again: ", stdout);
	o2_shell_word(a->program, stdout);
	printf(" explore --version %" PRIu32 " --depth %" PRIu32 " --peer-tx-credits %" PRIu32
	       " --mode %s --bytes %" PRIu32 " --ops %s%s%s%s%s",
	       a->version, config->conn.queue_depth, a->peer_tx_credits, o2_reg_mode_name(a->mode), a->nob,
	       a->ops, a->device ? " --device" : "", a->at_once ? " --at-once" : "",
	       a->mutant == NULL ? "" : " --mutant ", a->mutant == NULL ? "" : a->mutant);
	if (path != NULL) {
		printf(" --path '%s'\n", path);
		return;
	}
	if (a->most_events > 0)
		printf(" --most-events %" PRIu32, a->most_events);
	if (a->most_states > 0)
		printf(" --most-states %" PRIu32, a->most_states);
	printf("%s\n", a->verify ? " --verify" : "");
}

static int replay(const struct arguments *a, const struct o2_explore_config *config)
{
	struct o2_report report;
	int rc = o2_explore_replay(config, a->path, &report);

	if (rc == -EINVAL)
		return o2_command_usage(
			&command, "--path is '%s', which has an event that cannot happen there", a->path);
	if (rc == 1)
		print_report(&report);
	else if (rc == 0)
		printf("held\n");
	else
		o2_complain("o2props", "explore: %s", strerror(-rc));
	return rc == 0 ? 0 : 1;
}

static void print_left(const struct o2_process_held *before, const struct o2_process_held *after)
{
	char text[200];

	o2_process_held_text(before, after, text, sizeof(text));
	printf("explore/" O2_LEFT_BEHIND "\n  the process holds %s\n", text);
}

static int search(const struct arguments *a, const struct o2_explore_config *config)
{
	static struct o2_explore_result result;
	struct o2_report report;
	struct o2_process_held before, after;
	double begin = o2_monotonic_seconds();
	bool same;
	int rc;

	o2_process_held_now(&before);
	rc = o2_explore(config, &result, &report);
	same = o2_process_held_again(&before, &after);
	if (rc < 0) {
		o2_complain("o2props", "explore: %s", strerror(-rc));
		return 1;
	}
	printf("version %" PRIu32 ", queue depth %" PRIu32 ", %s%s, %s%s: %" PRIu64 " states (%" PRIu64
	       " with the device at rest, sum 0x%016" PRIx64 "), %" PRIu64 " edges, %" PRIu64
	       " finished, ways of at most %" PRIu32 " events, %" PRIu64 " verified; %s; %.1f s\n",
	       a->version, config->conn.queue_depth, a->ops, a->at_once ? " at once" : "",
	       o2_reg_mode_name(a->mode), a->device ? ", device in any order" : "", result.states,
	       result.at_rest, result.rest_sum, result.edges, result.finished, result.longest,
	       result.verified,
	       rc == 1	    ? "failed"
	       : result.all ? "all states, held"
			    : "not all states, held so far",
	       o2_monotonic_seconds() - begin);
	if (rc == 1) {
		print_report(&report);
		/* That two states have one number shows on no single way. */
		print_replay(a, config, strcmp(report.signature, "explore/hash") == 0 ? NULL : result.path);
	}
	if (!same)
		print_left(&before, &after);
	return rc == 0 && !same ? 1 : rc;
}

int o2_explore_command(const char *program, int argc, char **argv)
{
	struct arguments a = {
		.program = program, .ops = "put,put,get", .mode = O2_REG_GLOBAL, .version = 2, .nob = 100};
	struct o2_explore_config config;
	const int first = o2_options_read(&command, argc, argv, &a);
	int rc;

	if (first <= 0)
		return first < 0 ? O2_PROPS_EXIT_USAGE : 0;
	if (first < argc)
		return o2_command_usage(&command, "unexpected argument '%s'", argv[first]);
	rc = configure(&a, &config);
	if (rc == 0)
		rc = o2_props_mutant("o2props", a.mutant);
	if (rc != 0)
		return rc;
	return a.path != NULL ? replay(&a, &config) : search(&a, &config);
}
