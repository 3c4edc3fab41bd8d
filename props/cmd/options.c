/* SPDX-License-Identifier: MIT */
#include "props/cmd/options.h"

#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/limits.h"
#include "props/engine/mutant.h"
#include "props/engine/shrink.h"

#define DEFAULT_CASES 1000u
#define MAX_SECONDS   (1u << 24)
#define MAX_PROGRESS  3600u

static const char *const ways[] = {O2_RUN_CONNECT_DIRECT, "cm", "processes", NULL};

#define AT(member) O2_OPTION_AT(struct o2_props_arguments, member)

static const struct o2_option option_table[] = {
	{"device", "DEVICE", O2_OPTION_TEXT, AT(device),
	 .help = "model (plans applied to arrays), loop (in-process verbs; the default), or the name of an "
		 "RDMA device, or two joined by a comma: source,sink"},
	{"connect", "HOW", O2_OPTION_TEXT, AT(connect), .names = ways,
	 .help = "of a transfer's two ends: direct (each is told the other's address; the default), cm "
		 "(nodes and the connection manager), or processes (cm, and each end in a process of its "
		 "own; only on RDMA devices)"},
	{"gid-index", "N", O2_OPTION_NUMBER, AT(gid_index), .max = UINT8_MAX,
	 .help = "RoCEv2 GID of a real device (default $O2REF_GID_INDEX, else 1)"},
	{"cases", "N", O2_OPTION_NUMBER, AT(run.cases), .max = UINT64_MAX,
	 .help = "stop after N cases (default 1000 when no other bound is given)"},
	{"moved", "N", O2_OPTION_NUMBER, AT(run.moved), .max = UINT64_MAX,
	 .help = "go on until N transfers have moved bytes"},
	{"min-per-pair", "N", O2_OPTION_NUMBER, AT(run.min_per_pair), .max = UINT32_MAX,
	 .help = "... and every ordered pair of modes has done so N times"},
	{"seconds", "N", O2_OPTION_NUMBER, AT(seconds), .max = MAX_SECONDS, .help = "stop after N seconds"},
	{"seed", "S", O2_OPTION_NUMBER, AT(run.seed), .max = UINT64_MAX,
	 .help = "seed of the random cases (default: a new one; it is printed)"},
	{"first", "N", O2_OPTION_NUMBER, AT(run.first_case), .max = UINT64_MAX,
	 .help = "number of the first case (default 0)"},
	{"modes", "A,B", O2_OPTION_NAMES, AT(mode), .name_of = o2_reg_mode_name,
	 .help = "registration modes to draw from (default: all six)"},
	{"max-bytes", "N", O2_OPTION_NUMBER, AT(max_bytes), .min = 1, .max = O2_MAX_TRANSFER_BYTES,
	 .help = "largest transfer (default 1048576)"},
	{"out", "DIR", O2_OPTION_TEXT, AT(run.out_dir), .help = "write the files of findings there"},
	{"json", NULL, O2_OPTION_FLAG, AT(json), .help = "print the result as JSON on standard output"},
	{"json-file", "FILE", O2_OPTION_TEXT, AT(json_path), .help = "write it there"},
	{"progress", "SECONDS", O2_OPTION_NUMBER, AT(progress_s), .max = MAX_PROGRESS,
	 .help = "print a line every so often"},
	{"findings", "N", O2_OPTION_NUMBER, AT(run.findings), .max = O2_RUN_MAX_FINDINGS,
	 .help = "stop after N kinds of failure (default 5)"},
	{"shrink-calls", "N", O2_OPTION_NUMBER, AT(shrink_calls), .max = O2_SHRINK_MAX_CALLS,
	 .help = "tries that shrinking one failure may cost"},
	{"current-case", "FILE", O2_OPTION_TEXT, AT(run.current_case_path),
	 .help = "keep the replay line of the case at hand there, for after a crash"},
	{"property", "PROPERTY", O2_OPTION_TEXT, AT(property),
	 .help = "of the case that is replayed, or of those that are exported"},
	{"mutant", "NAME", O2_OPTION_TEXT, AT(mutant),
	 .help = "switch on a deliberate defect (only in o2props-mutants)"},
	{"mutant-counts", "FILE", O2_OPTION_TEXT, AT(mutant_counts),
	 .help = "count there how often it was reached and triggered"},
	{0},
};

const struct o2_command o2_props_command = {
	.program = "o2props",
	.usage = "list\n"
		 "hostile --list | --all | NAME...\n"
		 "run [PROPERTY] [OPTIONS]\n"
		 "replay FILE [--property PROPERTY] [--device DEVICE] [--connect HOW]\n"
		 "export DIRECTORY [--cases N] [--seed S] [--max-bytes N] [--property PROPERTY]\n"
		 "explain FILE [--svg PICTURE] [--all] [--mutant NAME]\n"
		 "explore [OPTIONS]    (o2props explore --help)",
	.about = "Property transfer (the default) moves randomly fragmented buffers and holds every byte "
		 "of both sides to what it must be. The others need no device and hold a part of the "
		 "library to a model of it; `o2props list` has them all. nodes runs in the process, and "
		 "with --device DEV,DEV2 on two RDMA devices as well.\n"
		 "FILE is a case (bytes) or a scenario (.json); a name like codec-0123 is a case of "
		 "property codec.\n"
		 "export writes random transfers, or of another property the smallest case of each "
		 "situation.",
	.options = option_table,
	.end = "Exit status: 0 all held, 1 a finding, 2 usage, 77 cannot run here.",
};

static uint64_t fresh_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		seed = (uint64_t)getpid();
	return seed;
}

uint8_t o2_props_gid_index(void)
{
	const char *text = getenv("O2REF_GID_INDEX"), *end = text;
	uint64_t index = 1;

	if (text == NULL || *text == '\0')
		return 1;
	if (!o2_option_number(&end, 0, UINT8_MAX, &index) || *end != '\0')
		exit(o2_complain("o2props", "$O2REF_GID_INDEX is '%s', not a number of 0 to %u", text,
				 (unsigned int)UINT8_MAX));
	return (uint8_t)index;
}

int o2_props_mutant(const char *program, const char *name)
{
	if (o2_mutant_select(name == NULL ? "none" : name) == 0)
		return 0;
	return o2_complain(program, "there is no mutant '%s' in this program", name);
}

int o2_props_parse(int argc, char **argv, struct o2_props_arguments *a)
{
	int first;

	*a = (struct o2_props_arguments){.device = "loop",
					 .connect = O2_RUN_CONNECT_DIRECT,
					 .gid_index = -1,
					 .max_bytes = O2_MAX_TRANSFER_BYTES,
					 .shrink_calls = -1,
					 .run = {.findings = O2_RUN_MAX_FINDINGS, .seed = fresh_seed()}};
	first = o2_options_read(&o2_props_command, argc, argv, a);
	a->run.seconds = a->seconds;
	a->run.progress_s = a->progress_s;
	if (a->run.cases == 0 && a->run.moved == 0 && a->run.seconds == 0)
		a->run.cases = DEFAULT_CASES;
	a->run.device = a->device;
	return first;
}
