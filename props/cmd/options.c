/* SPDX-License-Identifier: MIT */
#include "props/cmd/options.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/limits.h"
#include "props/engine/mutant.h"
#include "props/engine/shrink.h"

#define DEFAULT_CASES 1000u
#define MAX_SECONDS   (1u << 24)
#define MAX_PROGRESS  3600u

const char *const o2_props_sides[] = {[O2_SOURCE] = "source", [O2_SINK] = "sink", NULL};
static const char *const ways[] = {O2_RUN_CONNECT_DIRECT, "cm", "processes", NULL};

#define O2_OPTION_TARGET struct o2_props_arguments

static const struct o2_option option_table[] = {
	{"device", "DEVICE",
	 "model (plans applied to arrays), loop (in-process verbs; the default), or the name of an RDMA "
	 "device, or two joined by a comma: source,sink",
	 O2_TEXT(device)},
	{"connect", "HOW",
	 "of a transfer's two ends: direct (each is told the other's address; the default), cm (nodes and "
	 "the connection manager), or processes (cm, and each end in a process of its own; only on RDMA "
	 "devices)",
	 O2_TEXT(connect), .names = ways},
	{"far", "WORDS",
	 "of a transfer's two ends: the other one is on another machine, where WORDS start this program, "
	 "e.g. 'ssh node2'; they speak over its standard streams",
	 O2_TEXT(far)},
	{"far-side", "SIDE", "which end that is: sink (the default) or source",
	 O2_NAME(far_side, o2_props_sides)},
	{"far-program", "PATH", "o2props there (default: this program's own path)", O2_TEXT(far_program),
	 .goes_with = "far"},
	{"far-timeout", "SECONDS", "the longest that it may take to start, and to answer (default 60)",
	 O2_NUMBER(far_timeout_s, 1, MAX_PROGRESS), .goes_with = "far"},
	{"gid-index", "N", "RoCEv2 GID of a real device (default $O2REF_GID_INDEX, else 1)",
	 O2_NUMBER(gid_index, 0, UINT8_MAX)},
	{"cases", "N",
	 "stop after N cases (default 1000 when no other bound is given, with --exhaustive all); what lacks "
	 "a "
	 "situation that has to occur goes on, to 3 N at most",
	 O2_NUMBER(run.cases, 0, UINT64_MAX)},
	{"moved", "N", "go on until N transfers have moved bytes; of sim: until N operations have ended",
	 O2_NUMBER(run.moved, 0, UINT64_MAX)},
	{"min-per-pair", "N", "... and every ordered pair of modes has done so N times",
	 O2_NUMBER(run.min_per_pair, 0, UINT32_MAX), .goes_with = "moved"},
	{"seconds", "N", "stop after N seconds", O2_NUMBER(seconds, 0, MAX_SECONDS)},
	{"seed", "S", "seed of the random cases (default: a new one; it is printed)",
	 O2_NUMBER(run.seed, 0, UINT64_MAX)},
	{"first", "N", "number of the first case (default 0)", O2_NUMBER(run.first_case, 0, UINT64_MAX)},
	{"exhaustive", "N",
	 "not random cases (--seed, --first), but every one in which at most N choices, 1 to 255, are not "
	 "the "
	 "simplest; of a number with many values these are the smallest, the two largest, and those about "
	 "powers "
	 "of two",
	 O2_NUMBER(run.exhaustive, 1, UINT8_MAX)},
	{"modes", "A,B",
	 "registration modes to draw from (default: all), of:", O2_NAMES_OF(mode, o2_reg_mode_name)},
	{"max-bytes", "N", "largest transfer (default 1048576)",
	 O2_NUMBER(max_bytes, 1, O2_MAX_TRANSFER_BYTES)},
	{"out", "DIR", "write the files of findings there", O2_TEXT(run.out_dir)},
	{"json", NULL, "print the result as JSON on standard output", O2_FLAG(json)},
	{"json-file", "FILE", "write it there", O2_TEXT(json_path)},
	{"progress", "SECONDS", "print a line every so often", O2_NUMBER(progress_s, 0, MAX_PROGRESS)},
	{"findings", "N", "stop after N kinds of failure (default 5)",
	 O2_NUMBER(run.findings, 1, O2_RUN_MAX_FINDINGS)},
	{"only", "KIND", "failures alone whose kind begins so, e.g. judge/; of others nothing is said",
	 O2_TEXT(only)},
	{"no-judge", NULL, "the judge of the wire does not listen: to see what it costs", O2_FLAG(no_judge)},
	{"shrink-calls", "N", "tries that shrinking one failure may cost",
	 O2_NUMBER(shrink_calls, 0, O2_SHRINK_MAX_CALLS)},
	{"current-case", "FILE", "keep the replay line of the case at hand there, for after a crash",
	 O2_TEXT(run.current_case_path)},
	{"property", "PROPERTY", "of the case that is replayed, or of those that are exported",
	 O2_TEXT(property)},
	{"mutant", "NAME", "switch on a deliberate defect (only in o2props-mutants)", O2_TEXT(mutant)},
	{"mutant-counts", "FILE", "count there how often it was reached and triggered",
	 O2_TEXT(mutant_counts)},
	{"version", NULL, "the version", O2_FLAG(version)},
	{0},
};

const struct o2_command o2_props_command = {
	.program = "o2props",
	.usage = "list\n"
		 "hostile --list | --all | NAME...\n"
		 "run [PROPERTY] [OPTIONS]\n"
		 "run transfer --far WORDS [--device DEVICE] [OPTIONS]\n"
		 "replay FILE [--property PROPERTY] [--device DEVICE] [--connect HOW]\n"
		 "export DIRECTORY [--cases N] [--seed S] [--max-bytes N] [--property PROPERTY]\n"
		 "far --device DEVICE [--far-side SIDE]    (what run --far starts)\n"
		 "explain FILE [--svg PICTURE] [--all] [--mutant NAME]\n"
		 "explore [OPTIONS]    (o2props explore --help)",
	.about =
		"Property transfer (the default) moves randomly fragmented buffers and holds every byte of "
		"both sides to what it must be. The others need no device and hold a part of the library to "
		"a model of it; `o2props list` has them all. nodes and endpoint run in the process, and with "
		"--device DEV,DEV2 on two RDMA devices as well.\n"
		"With --far the two ends of a transfer are on two machines: --far 'ssh node2' or --far 'srun "
		"-w node2'. --device names this machine's device, or where the names differ the source's and "
		"the sink's.\n"
		"FILE is a case (bytes) or a scenario (.json); a name like codec-0123 is a case of property "
		"codec.\n"
		"export writes random transfers, or of another property the smallest case of each situation.",
	.options = option_table,
	.end = "Exit status: 0 all held, 1 a finding, or a situation was not met, 2 usage, or a file is no "
	       "case or cannot be read or written, 77 cannot run here.",
};

bool o2_props_in_process(const struct o2_props_arguments *a)
{
	return strcmp(a->device, "model") == 0 || strcmp(a->device, "loop") == 0;
}

static bool is_export_of_transfers(const char *command, const char *property)
{
	return strcmp(command, "export") == 0 && strcmp(property, "transfer") == 0;
}

int o2_props_check(const struct o2_props_arguments *a, const char *command, const char *property,
		   bool on_devices)
{
	const struct {
		const char *option;
		bool said, of_run; /* of_run: of command run; else of property transfer */
	} rows[] = {
		{"--json", a->json, true},
		{"--json-file", a->json_path != NULL, true},
		{"--out", a->run.out_dir != NULL, true},
		{"--current-case", a->run.current_case_path != NULL, true},
		{"--moved", a->run.moved != 0, true},
		{"--min-per-pair", a->run.min_per_pair != 0, true},
		{"--seconds", a->seconds != 0, true},
		{"--first", a->run.first_case != 0, true},
		{"--exhaustive", a->run.exhaustive != 0, true},
		{"--progress", a->progress_s != 0, true},
		{"--findings", a->run.findings != O2_RUN_MAX_FINDINGS, true},
		{"--shrink-calls", a->shrink_calls >= 0, true},
		{"--connect", strcmp(a->connect, O2_RUN_CONNECT_DIRECT) != 0, false},
		{"--far", a->far != NULL, false},
		{"--modes", memchr(a->mode, true, sizeof(a->mode)) != NULL, false},
		{"--max-bytes", a->max_bytes != O2_MAX_TRANSFER_BYTES, false},
		{"--min-per-pair", a->run.min_per_pair != 0, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].said &&
		    strcmp(rows[i].of_run ? command : property, rows[i].of_run ? "run" : "transfer") != 0)
			return o2_command_usage(&o2_props_command, "%s is for %s, not for %s", rows[i].option,
						rows[i].of_run ? "run" : "property transfer",
						rows[i].of_run ? command : property);
	if (a->run.exhaustive != 0 && (a->run.first_case != 0 || a->seed_said))
		return o2_command_usage(&o2_props_command, "%s is for random cases, not for --exhaustive",
					a->seed_said ? "--seed" : "--first");
	if (a->seed_said && strcmp(command, "run") != 0 && strcmp(command, "export") != 0)
		return o2_command_usage(&o2_props_command, "--seed is for run and for export, not for %s",
					command);
	if (a->run.moved != 0 && strcmp(property, "transfer") != 0 && strcmp(property, "sim") != 0)
		return o2_command_usage(&o2_props_command,
					"--moved is for properties transfer and sim, not for %s", property);
	if (a->cases_said && strcmp(command, "run") != 0 && !is_export_of_transfers(command, property))
		return o2_command_usage(&o2_props_command,
					"--cases is for run and for export of transfers, not for %s%s%s",
					command, strcmp(command, "export") == 0 ? " of " : "",
					strcmp(command, "export") == 0 ? property : "");
	if (a->property != NULL && strcmp(command, "replay") != 0 && strcmp(command, "export") != 0)
		return o2_command_usage(&o2_props_command, "--property is for replay and export, not for %s",
					command);
	if (a->far == NULL && a->far_side != O2_SINK && strcmp(command, "far") != 0)
		return o2_command_usage(&o2_props_command, "--far-side is for --far");
	if (a->device[0] == '\0')
		return o2_command_usage(&o2_props_command, "--device is '', not a device");
	if (a->run.out_dir != NULL && a->run.out_dir[0] == '\0')
		return o2_command_usage(&o2_props_command, "--out is '', not a directory");
	if (!on_devices && !o2_props_in_process(a))
		return o2_command_usage(&o2_props_command, "--device is '%s', and property %s needs none",
					a->device, property);
	if (a->gid_index >= 0 && o2_props_in_process(a))
		return o2_command_usage(&o2_props_command, "--gid-index is for an RDMA device, not for %s",
					a->device);
	return 0;
}

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
	uint64_t index = O2_PROPS_GID_INDEX;

	if (text == NULL || *text == '\0')
		return O2_PROPS_GID_INDEX;
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
	const uint64_t seed = fresh_seed();
	int first;

	*a = (struct o2_props_arguments){.device = "loop",
					 .connect = O2_RUN_CONNECT_DIRECT,
					 .far_side = O2_SINK,
					 .far_timeout_s = O2_FAR_TIMEOUT_S,
					 .gid_index = -1,
					 .max_bytes = O2_MAX_TRANSFER_BYTES,
					 .shrink_calls = -1,
					 .run = {.findings = O2_RUN_MAX_FINDINGS, .seed = seed}};
	first = o2_options_read(&o2_props_command, argc, argv, a);
	a->run.seconds = a->seconds;
	a->run.progress_s = a->progress_s;
	a->cases_said = a->run.cases != 0;
	a->seed_said = a->run.seed != seed;
	if (a->run.cases == 0 && a->run.moved == 0 && a->run.seconds == 0 && a->run.exhaustive == 0)
		a->run.cases = DEFAULT_CASES;
	a->run.device = a->device;
	return first;
}
