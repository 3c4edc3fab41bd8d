/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/mutant.h"
#include "props/run.h"
#include "props/shrink.h"

/*
 * o2props: the property runner.  This source makes two programs: o2props has the in-process devices (model
 * and loop) inside, o2props-verbs the machine's libibverbs; the first runs the second for any other device.
 */

#define EXIT_USAGE  2
#define EXIT_CANNOT 77

/* Calls that shrinking a finding may cost: real devices are a hundred times slower. */
#define SHRINK_CALLS_IN_PROCESS 4000u
#define SHRINK_CALLS_DEVICE	400u

struct arguments {
	const char *device;
	long gid_index;
	bool json;
	const char *json_path;
	const char *mutant;
	const char *modes;
	uint64_t max_bytes;
	int64_t shrink_calls; /* -1: by device */
	struct o2_run_options run;
};

static void usage(FILE *out)
{
	fprintf(out,
		"usage: o2props list\n"
		"       o2props run [PROPERTY...] [OPTIONS]\n"
		"       o2props replay FILE [--device DEVICE]\n"
		"       o2props export DIRECTORY [--cases N] [--seed S] [--max-bytes N]\n"
		"\n"
		"Moves randomly fragmented buffers and holds every byte of both sides to what it must be.\n"
		"FILE is a case (bytes) or a scenario (.json).\n"
		"\n"
		"  --device DEVICE     model (plans applied to arrays), loop (in-process verbs; the "
		"default), or the\n"
		"                      name of an RDMA device, or two joined by a comma: source,sink\n"
		"  --gid-index N       RoCEv2 GID of a real device (default $O2REF_GID_INDEX, else 1)\n"
		"  --cases N           stop after N cases (default 1000 when no other bound is given)\n"
		"  --moved N           go on until N transfers have moved bytes\n"
		"  --min-per-pair N    ... and every ordered pair of modes has done so N times\n"
		"  --seconds N         stop after N seconds\n"
		"  --seed S            seed of the random cases (default: a new one; it is printed)\n"
		"  --first N           number of the first case (default 0)\n"
		"  --modes A,B         registration modes to draw from (default: all six)\n"
		"  --max-bytes N       largest transfer (default 1048576)\n"
		"  --out DIR           write the files of findings there\n"
		"  --json              print the result as JSON on standard output\n"
		"  --json-file FILE    write it there\n"
		"  --progress SECONDS  print a line every so often\n"
		"  --findings N        stop after N kinds of failure (default 5)\n"
		"  --shrink-calls N    tries that shrinking one failure may cost\n"
		"  --current-case FILE keep the replay line of the case at hand there, for after a crash\n"
		"  --mutant NAME       switch on a deliberate defect (only in o2props-mutants)\n"
		"\n"
		"Exit status: 0 all held, 1 a finding, 2 usage, 77 cannot run here.\n");
}

/* An unsigned number, decimal or 0x...; exits with a usage error that names the option. */
static uint64_t number(const char *option, const char *text, uint64_t max)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno != 0 || *text == '\0' || *text == '-' || *end != '\0' || value > max) {
		fprintf(stderr, "o2props: --%s is '%s', must be a number from 0 to %llu\n", option, text,
			(unsigned long long)max);
		exit(EXIT_USAGE);
	}
	return value;
}

static uint64_t fresh_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		seed = (uint64_t)getpid();
	return seed;
}

static void parse_modes(const char *text, struct o2_scenario_space *space)
{
	char copy[128], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", text);
	memset(space->mode_weight, 0, sizeof(space->mode_weight));
	for (char *name = strtok_r(copy, ",", &save); name != NULL; name = strtok_r(NULL, ",", &save)) {
		enum o2_reg_mode mode;

		if (o2_reg_mode_from_name(name, &mode) != 0) {
			fprintf(stderr,
				"o2props: --modes has '%s', must be of global, fmr, fastreg, user, phys, "
				"fastreg_gaps\n",
				name);
			exit(EXIT_USAGE);
		}
		space->mode_weight[mode] = 1;
	}
}

static void parse_option(int option, const char *name, const char *value, struct arguments *a)
{
	switch (option) {
	case 'd':
		a->device = value;
		break;
	case 'g':
		a->gid_index = (long)number(name, value, 255);
		break;
	case 'c':
		a->run.cases = number(name, value, UINT64_MAX);
		break;
	case 'm':
		a->run.moved = number(name, value, UINT64_MAX);
		break;
	case 'p':
		a->run.min_per_pair = number(name, value, UINT32_MAX);
		break;
	case 's':
		a->run.seconds = (double)number(name, value, 1u << 24);
		break;
	case 'S':
		a->run.seed = number(name, value, UINT64_MAX);
		break;
	case 'f':
		a->run.first_case = number(name, value, UINT64_MAX);
		break;
	case 'M':
		a->modes = value;
		break;
	case 'b':
		a->max_bytes = number(name, value, O2_MAX_TRANSFER_BYTES);
		break;
	case 'o':
		a->run.out_dir = value;
		break;
	case 'j':
		a->json_path = value;
		break;
	case 'J':
		a->json = true;
		break;
	case 'P':
		a->run.progress_s = (double)number(name, value, 3600);
		break;
	case 'C':
		a->run.current_case_path = value;
		break;
	case 'X':
		a->mutant = value;
		break;
	case 'F':
		a->run.findings = (uint32_t)number(name, value, O2_RUN_MAX_FINDINGS);
		break;
	case 'k':
		a->shrink_calls = (int64_t)number(name, value, O2_SHRINK_MAX_CALLS);
		break;
	case 'h':
		usage(stdout);
		exit(0);
	default:
		usage(stderr);
		exit(EXIT_USAGE);
	}
}

static void parse(int argc, char **argv, struct arguments *a)
{
	static const struct option options[] = {
		{"device", required_argument, NULL, 'd'},
		{"gid-index", required_argument, NULL, 'g'},
		{"cases", required_argument, NULL, 'c'},
		{"moved", required_argument, NULL, 'm'},
		{"min-per-pair", required_argument, NULL, 'p'},
		{"seconds", required_argument, NULL, 's'},
		{"seed", required_argument, NULL, 'S'},
		{"first", required_argument, NULL, 'f'},
		{"modes", required_argument, NULL, 'M'},
		{"max-bytes", required_argument, NULL, 'b'},
		{"out", required_argument, NULL, 'o'},
		{"json", no_argument, NULL, 'J'},
		{"json-file", required_argument, NULL, 'j'},
		{"progress", required_argument, NULL, 'P'},
		{"current-case", required_argument, NULL, 'C'},
		{"mutant", required_argument, NULL, 'X'},
		{"findings", required_argument, NULL, 'F'},
		{"shrink-calls", required_argument, NULL, 'k'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option, index = 0;

	*a = (struct arguments){
		.device = "loop", .gid_index = -1, .mutant = "none", .max_bytes = O2_MAX_TRANSFER_BYTES};
	a->shrink_calls = -1;
	a->run.findings = O2_RUN_MAX_FINDINGS;
	a->run.seed = fresh_seed();
	while ((option = getopt_long(argc, argv, "h", options, &index)) != -1)
		parse_option(option, options[index].name, optarg, a);
	if (a->run.cases == 0 && a->run.moved == 0 && a->run.seconds == 0)
		a->run.cases = 1000;
	if (a->max_bytes == 0) {
		fprintf(stderr, "o2props: --max-bytes is 0, must be at least 1\n");
		exit(EXIT_USAGE);
	}
	a->run.device = a->device;
}

/* The other half of this program, beside this one. */
static int run_sibling(char **argv)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - sizeof("-verbs"));

	if (length > 0) {
		path[length] = '\0';
		strcat(path, "-verbs");
		execv(path, argv);
	}
	fprintf(stderr, "o2props: cannot run %s for a real device: %s\n", path, strerror(errno));
	return EXIT_CANNOT;
}

static uint8_t gid_index_of(const struct arguments *a)
{
	const char *text = getenv("O2REF_GID_INDEX");

	if (a->gid_index >= 0)
		return (uint8_t)a->gid_index;
	return (uint8_t)(text != NULL && *text != '\0' ? number("gid-index", text, 255) : 1);
}

/* model, loop, DEV or DEV,DEV2 */
static int open_rung(struct arguments *a, struct o2_rung **rung, struct o2_error *error)
{
	static char names[2][64];
	const char *comma = strchr(a->device, ',');

	if (strcmp(a->device, "model") == 0)
		return o2_rung_open_model(rung, error);
	if (strcmp(a->device, "loop") == 0)
		return o2_rung_open_verbs("loop0", "loop1", 1, rung, error);
	if (comma != NULL) {
		snprintf(names[0], sizeof(names[0]), "%.*s", (int)(comma - a->device), a->device);
		snprintf(names[1], sizeof(names[1]), "%s", comma + 1);
	} else {
		snprintf(names[0], sizeof(names[0]), "%s", a->device);
		snprintf(names[1], sizeof(names[1]), "%s", a->device);
	}
	a->run.hw_device[0] = names[0];
	a->run.hw_device[1] = comma != NULL ? names[1] : NULL;
	return o2_rung_open_verbs(names[0], names[1], gid_index_of(a), rung, error);
}

/* The summary for people; it goes to standard error when standard output carries JSON. */
static void print_summary(const struct arguments *a, const struct o2_transfer_run *run, const json_t *result)
{
	const json_t *missing = json_object_get(result, "missing");
	FILE *out = a->json ? stderr : stdout;
	char text[200];

	o2_counters_line(&run->counters, json_real_value(json_object_get(result, "seconds")), text,
			 sizeof(text));
	fprintf(out, "transfer on %s: %s; %zu findings, %zu situations missing\n", a->device, text,
		json_array_size(json_object_get(result, "findings")), json_array_size(missing));
	for (size_t i = 0; i < json_array_size(missing); i++)
		fprintf(out, "  missing: %s\n", json_string_value(json_array_get(missing, i)));
}

static int run_command(struct arguments *a, struct o2_transfer_run *run)
{
	json_t *result = NULL;
	int rc;

	fprintf(stderr, "o2props: transfer on %s, seed 0x%llx\n", a->device, (unsigned long long)a->run.seed);
	rc = o2_run(run, &a->run, &result);
	print_summary(a, run, result);
	if (a->json) {
		json_dumpf(result, stdout, JSON_INDENT(1));
		printf("\n");
	}
	if (a->json_path != NULL && json_dump_file(result, a->json_path, JSON_INDENT(1)) != 0) {
		fprintf(stderr, "o2props: cannot write %s\n", a->json_path);
		rc = EXIT_USAGE;
	}
	json_decref(result);
	return rc;
}

static bool takes_one_argument(const char *command)
{
	return strcmp(command, "replay") == 0 || strcmp(command, "export") == 0;
}

static int dispatch(const char *command, const char *argument, struct arguments *a,
		    struct o2_transfer_run *run)
{
	int rc;

	if (strcmp(command, "replay") == 0)
		return o2_run_replay(run, argument);
	if (strcmp(command, "export") == 0) {
		rc = o2_run_export(run, argument, a->run.seed, a->run.cases, a->max_bytes);
		if (rc != 0)
			fprintf(stderr, "o2props: cannot write to %s: %s\n", argument, strerror(-rc));
		return rc != 0 ? EXIT_USAGE : 0;
	}
	run->space.max_nob = a->max_bytes;
	return run_command(a, run);
}

int main(int argc, char **argv)
{
	static struct o2_transfer_run run;
	struct arguments a;
	struct o2_error error = {0};
	struct o2_rung *rung;
	char text[200];
	int rc;

	parse(argc, argv, &a);
	if (optind >= argc) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[optind], "list") == 0) {
		printf("transfer\tmoved buffers are byte-exact and nothing else changed, or refused as "
		       "foretold\n");
		return 0;
	}
	for (int i = optind + 1; strcmp(argv[optind], "run") == 0 && i < argc; i++) {
		if (strcmp(argv[i], "transfer") != 0) {
			fprintf(stderr, "o2props: there is no property '%s'; see o2props list\n", argv[i]);
			return EXIT_USAGE;
		}
	}
	if (strcmp(argv[optind], "run") != 0 && (!takes_one_argument(argv[optind]) || optind + 2 != argc)) {
		usage(stderr);
		return EXIT_USAGE;
	}
#ifdef O2_PROPS_IN_PROCESS
	if (strcmp(a.device, "model") != 0 && strcmp(a.device, "loop") != 0)
		return run_sibling(argv);
#else
	(void)run_sibling;
#endif
	if (o2_mutant_select(a.mutant) != 0) {
		fprintf(stderr, "o2props: there is no mutant '%s' in this program\n", a.mutant);
		return EXIT_USAGE;
	}
	rc = open_rung(&a, &rung, &error);
	if (rc != 0) {
		o2_error_text(&error, text, sizeof(text));
		fprintf(stderr, "o2props: cannot open %s: %s (%s)\n", a.device, strerror(-rc), text);
		return EXIT_CANNOT;
	}
	if (a.shrink_calls >= 0)
		a.run.shrink_calls = (uint32_t)a.shrink_calls;
	else
		a.run.shrink_calls =
			a.run.hw_device[0] == NULL ? SHRINK_CALLS_IN_PROCESS : SHRINK_CALLS_DEVICE;
	rc = o2_transfer_run_open(rung, a.run.seed, &run);
	if (rc != 0) {
		fprintf(stderr, "o2props: %s\n", strerror(-rc));
		return EXIT_CANNOT;
	}
	if (a.modes != NULL)
		parse_modes(a.modes, &run.space);
	rc = dispatch(argv[optind], argv[optind + 1], &a, &run);
	o2_transfer_run_close(&run);
	rung->ops->close(rung);
	return rc;
}
