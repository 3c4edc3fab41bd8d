/* SPDX-License-Identifier: MIT */
#include "props/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "props/shrink.h"

void o2_props_usage(FILE *out)
{
	fprintf(out,
		"usage: o2props list\n"
		"       o2props hostile --list | --all | NAME...\n"
		"       o2props run [PROPERTY] [OPTIONS]\n"
		"       o2props replay FILE [--property PROPERTY] [--device DEVICE] [--connect HOW]\n"
		"       o2props export DIRECTORY [--cases N] [--seed S] [--max-bytes N] [--property "
		"PROPERTY]\n"
		"       o2props explain FILE [--svg PICTURE] [--all] [--mutant NAME]\n"
		"       o2props explore [OPTIONS]    (o2props explore --help)\n"
		"\n"
		"Property transfer (the default) moves randomly fragmented buffers and holds every byte of "
		"both sides\n"
		"to what it must be. The others need no device and hold a part of the library to a model of "
		"it;\n"
		"`o2props list` has them all. nodes runs in the process, and with --device DEV,DEV2 on two "
		"RDMA\n"
		"devices as well.\n"
		"FILE is a case (bytes) or a scenario (.json); a name like codec-0123 is a case of property "
		"codec.\n"
		"export writes random transfers, or of another property the smallest case of each "
		"situation.\n"
		"\n"
		"  --device DEVICE     model (plans applied to arrays), loop (in-process verbs; the "
		"default), or the\n"
		"                      name of an RDMA device, or two joined by a comma: source,sink\n"
		"  --connect HOW       of a transfer's two ends: direct (each is told the other's address; "
		"the "
		"default),\n"
		"                      cm (nodes and the connection manager), or processes (cm, and each end "
		"in "
		"a\n"
		"                      process of its own; only on RDMA devices)\n"
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
		"  --mutant-counts FILE  count there how often it was reached and triggered\n"
		"\n"
		"Exit status: 0 all held, 1 a finding, 2 usage, 77 cannot run here.\n");
}

uint64_t o2_props_number(const char *option, const char *text, uint64_t max)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno != 0 || *text == '\0' || *text == '-' || *end != '\0' || value > max) {
		fprintf(stderr, "o2props: --%s is '%s', must be a number from 0 to %llu\n", option, text,
			(unsigned long long)max);
		exit(O2_PROPS_EXIT_USAGE);
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

static const char *connect_way(const char *value)
{
	static const char *const ways[] = {O2_RUN_CONNECT_DIRECT, "cm", "processes"};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(value, ways[i]) == 0)
			return ways[i];
	fprintf(stderr, "o2props: --connect is '%s', must be direct, cm or processes\n", value);
	exit(O2_PROPS_EXIT_USAGE);
}

static void parse_option(int option, const char *name, const char *value, struct o2_props_arguments *a)
{
	switch (option) {
	case 'd':
		a->device = value;
		break;
	case 'H':
		a->connect = connect_way(value);
		break;
	case 'g':
		a->gid_index = (long)o2_props_number(name, value, 255);
		break;
	case 'c':
		a->run.cases = o2_props_number(name, value, UINT64_MAX);
		break;
	case 'm':
		a->run.moved = o2_props_number(name, value, UINT64_MAX);
		break;
	case 'p':
		a->run.min_per_pair = o2_props_number(name, value, UINT32_MAX);
		break;
	case 's':
		a->run.seconds = (double)o2_props_number(name, value, 1u << 24);
		break;
	case 'S':
		a->run.seed = o2_props_number(name, value, UINT64_MAX);
		break;
	case 'f':
		a->run.first_case = o2_props_number(name, value, UINT64_MAX);
		break;
	case 'M':
		a->modes = value;
		break;
	case 'b':
		a->max_bytes = o2_props_number(name, value, O2_MAX_TRANSFER_BYTES);
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
		a->run.progress_s = (double)o2_props_number(name, value, 3600);
		break;
	case 'C':
		a->run.current_case_path = value;
		break;
	case 'X':
		a->mutant = value;
		break;
	case 'N':
		a->mutant_counts = value;
		break;
	case 'Y':
		a->property = value;
		break;
	case 'F':
		a->run.findings = (uint32_t)o2_props_number(name, value, O2_RUN_MAX_FINDINGS);
		break;
	case 'k':
		a->shrink_calls = (int64_t)o2_props_number(name, value, O2_SHRINK_MAX_CALLS);
		break;
	case 'h':
		o2_props_usage(stdout);
		exit(0);
	default:
		o2_props_usage(stderr);
		exit(O2_PROPS_EXIT_USAGE);
	}
}

void o2_props_parse(int argc, char **argv, struct o2_props_arguments *a)
{
	static const struct option options[] = {
		{"device", required_argument, NULL, 'd'},
		{"connect", required_argument, NULL, 'H'},
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
		{"mutant-counts", required_argument, NULL, 'N'},
		{"property", required_argument, NULL, 'Y'},
		{"findings", required_argument, NULL, 'F'},
		{"shrink-calls", required_argument, NULL, 'k'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option, index = 0;

	*a = (struct o2_props_arguments){.device = "loop",
					 .connect = O2_RUN_CONNECT_DIRECT,
					 .gid_index = -1,
					 .mutant = "none",
					 .max_bytes = O2_MAX_TRANSFER_BYTES};
	a->shrink_calls = -1;
	a->run.findings = O2_RUN_MAX_FINDINGS;
	a->run.seed = fresh_seed();
	while ((option = getopt_long(argc, argv, "h", options, &index)) != -1)
		parse_option(option, options[index].name, optarg, a);
	if (a->run.cases == 0 && a->run.moved == 0 && a->run.seconds == 0)
		a->run.cases = 1000;
	if (a->max_bytes == 0) {
		fprintf(stderr, "o2props: --max-bytes is 0, must be at least 1\n");
		exit(O2_PROPS_EXIT_USAGE);
	}
	a->run.device = a->device;
}
