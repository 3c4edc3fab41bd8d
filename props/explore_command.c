/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/monotonic.h"
#include "lnd/conn/credits.h"
#include "props/explore.h"
#include "props/mutant.h"
#include "props/options.h"

/* `o2props explore`: the command line of the search. */

struct arguments {
	const char *program;
	const char *ops, *mutant, *mode, *path;
	uint32_t version, depth, peer_tx_credits, nob, most_events, most_states;
	bool device, at_once, verify;
};

static void usage(FILE *out)
{
	fprintf(out,
		"usage: o2props explore [OPTIONS]\n"
		"\n"
		"Goes through every state that two ends can get into with a few operations, in every order "
		"of\n"
		"events, and checks each (docs/simulation.md, \"Every order\").\n"
		"\n"
		"  --ops A,B/C         operations: of one end before the slash, of the other behind it; put, "
		"get\n"
		"                      and immediate (default put,put,get)\n"
		"  --version N         1 or 2 (default 2)\n"
		"  --depth N           queue depth (default: the least, 2, in version 1 3)\n"
		"  --peer-tx-credits N the tunable behind the high-water mark (default: as deep)\n"
		"  --mode MODE         registration mode of all memory (default global)\n"
		"  --bytes N           size of the first operation (default 100)\n"
		"  --device            the device's work requests are events of their own\n"
		"  --at-once           all operations are started before the first event\n"
		"  --verify            go on from each state by every way to it: the same must come\n"
		"  --most-events N     do not look farther than that from the start\n"
		"  --most-states N     stop there\n"
		"  --path EVENTS       go this one way and say what happens: s start, r handle a message, c "
		"handle a\n"
		"                      completion, x the device; of the other end in capitals\n"
		"  --mutant NAME       switch on a deliberate defect (only in o2props-mutants)\n"
		"\n"
		"Exit status: 0 all held in all states, 1 not, 2 usage.\n");
}

static int complain(const char *format, const char *text)
{
	fprintf(stderr, "o2props: explore: ");
	fprintf(stderr, format, text);
	fprintf(stderr, "\n");
	return O2_PROPS_EXIT_USAGE;
}

static void set(struct arguments *a, int option, const char *name)
{
	switch (option) {
	case 'o':
		a->ops = optarg;
		break;
	case 'v':
		a->version = (uint32_t)o2_props_number(name, optarg, 2);
		break;
	case 'd':
		a->depth = (uint32_t)o2_props_number(name, optarg, 8);
		break;
	case 'p':
		a->peer_tx_credits = (uint32_t)o2_props_number(name, optarg, 255);
		break;
	case 'm':
		a->mode = optarg;
		break;
	case 'b':
		a->nob = (uint32_t)o2_props_number(name, optarg, O2_EXPLORE_MAX_NOB);
		break;
	case 'x':
		a->device = true;
		break;
	case 'a':
		a->at_once = true;
		break;
	case 'V':
		a->verify = true;
		break;
	case 'e':
		a->most_events = (uint32_t)o2_props_number(name, optarg, O2_EXPLORE_PATH - 1);
		break;
	case 's':
		a->most_states = (uint32_t)o2_props_number(name, optarg, 1u << 30);
		break;
	case 'w':
		a->path = optarg;
		break;
	case 'X':
		a->mutant = optarg;
		break;
	default:
		usage(option == 'h' ? stdout : stderr);
		exit(option == 'h' ? 0 : O2_PROPS_EXIT_USAGE);
	}
}

static void parse(int argc, char **argv, struct arguments *a)
{
	static const struct option options[] = {
		{"ops", required_argument, NULL, 'o'},
		{"version", required_argument, NULL, 'v'},
		{"depth", required_argument, NULL, 'd'},
		{"peer-tx-credits", required_argument, NULL, 'p'},
		{"mode", required_argument, NULL, 'm'},
		{"bytes", required_argument, NULL, 'b'},
		{"device", no_argument, NULL, 'x'},
		{"at-once", no_argument, NULL, 'a'},
		{"verify", no_argument, NULL, 'V'},
		{"most-events", required_argument, NULL, 'e'},
		{"most-states", required_argument, NULL, 's'},
		{"path", required_argument, NULL, 'w'},
		{"mutant", required_argument, NULL, 'X'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int option, index = 0;

	optind = 1;
	while ((option = getopt_long(argc, argv, "h", options, &index)) != -1)
		set(a, option, options[index].name);
	if (optind < argc) {
		usage(stderr);
		exit(O2_PROPS_EXIT_USAGE);
	}
}

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
		.nob = a->nob,
		.device = a->device,
		.at_once = a->at_once,
		.verify = a->verify,
		.most_events = a->most_events,
		.most_states = a->most_states,
	};
	if (a->version == 0)
		return complain("--version must be 1 or 2%s", "");
	config->conn.version = a->version == 1 ? O2_MSG_VERSION_1 : O2_MSG_VERSION_2;
	config->conn.queue_depth = a->depth != 0 ? a->depth : o2_min_queue_depth(config->conn.version);
	if (config->conn.queue_depth < o2_min_queue_depth(config->conn.version))
		return complain("--depth is less than version %s allows", a->version == 1 ? "1" : "2");
	config->conn.peer_tx_credits = a->peer_tx_credits;
	config->conn.max_frags = 2;
	config->conn.max_transfers = O2_EXPLORE_OPS;
	/* Time stands still. */
	config->conn.timeout_ms = 0;
	config->conn.keepalive_ms = 0;
	if (o2_reg_mode_from_name(a->mode, &config->mode) != 0)
		return complain("--mode has '%s', which is none", a->mode);
	if (!parse_ops(a->ops, config))
		return complain("--ops has '%s', must be up to 8 of put, get and immediate, and one slash",
				a->ops);
	return 0;
}

static void print_report(const struct o2_report *report)
{
	printf("%s\n", report->signature);
	for (uint32_t i = 0; i < report->lines; i++)
		printf("  %s\n", report->line[i]);
}

/* The command that goes that way. */
static void print_replay(const struct arguments *a, const struct o2_explore_config *config, const char *path)
{
	printf("  again: %s explore --version %" PRIu32 " --depth %" PRIu32 " --peer-tx-credits %" PRIu32
	       " --mode %s --bytes %" PRIu32 " --ops %s%s%s%s%s --path '%s'\n",
	       a->program, a->version, config->conn.queue_depth, a->peer_tx_credits, a->mode, a->nob, a->ops,
	       a->device ? " --device" : "", a->at_once ? " --at-once" : "",
	       a->mutant == NULL ? "" : " --mutant ", a->mutant == NULL ? "" : a->mutant, path);
}

static int replay(const struct arguments *a, const struct o2_explore_config *config)
{
	struct o2_report report;
	int rc = o2_explore_replay(config, a->path, &report);

	if (rc == -EINVAL)
		return complain("'%s' has an event that cannot happen there", a->path);
	if (rc == 1)
		print_report(&report);
	else if (rc == 0)
		printf("held\n");
	return rc == 0 ? 0 : 1;
}

static int search(const struct arguments *a, const struct o2_explore_config *config)
{
	static struct o2_explore_result result;
	struct o2_report report;
	double begin = o2_monotonic_seconds();
	int rc = o2_explore(config, &result, &report);

	if (rc < 0) {
		fprintf(stderr, "o2props: explore: %s\n", strerror(-rc));
		return 1;
	}
	printf("version %" PRIu32 ", queue depth %" PRIu32 ", %s%s, %s%s: %" PRIu64 " states (%" PRIu64
	       " with the device at rest, sum 0x%016" PRIx64 "), %" PRIu64 " edges, %" PRIu64
	       " finished, at most %" PRIu32 " events away, %" PRIu64 " verified; %s; %.1f s\n",
	       a->version, config->conn.queue_depth, a->ops, a->at_once ? " at once" : "", a->mode,
	       a->device ? ", device in any order" : "", result.states, result.at_rest, result.rest_sum,
	       result.edges, result.finished, result.longest, result.verified,
	       rc == 1	    ? "failed"
	       : result.all ? "all states, held"
			    : "not all states, held so far",
	       o2_monotonic_seconds() - begin);
	if (rc == 1) {
		print_report(&report);
		print_replay(a, config, result.path);
	}
	return rc;
}

int o2_explore_command(const char *program, int argc, char **argv)
{
	struct arguments a = {
		.program = program, .ops = "put,put,get", .mode = "global", .version = 2, .nob = 100};
	struct o2_explore_config config;
	int rc;

	parse(argc, argv, &a);
	rc = configure(&a, &config);
	if (rc != 0)
		return rc;
	if (a.mutant != NULL && o2_mutant_select(a.mutant) != 0)
		return complain("there is no mutant '%s' in this program", a.mutant);
	return a.path != NULL ? replay(&a, &config) : search(&a, &config);
}
