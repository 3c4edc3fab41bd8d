/* SPDX-License-Identifier: MIT */
#include "props/cmd/check_options.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_CASES	   20000u
#define DEFAULT_TIMEOUT_MS 1000u
#define DEFAULT_GROWTH_MIB 768u /* sanitizers keep a quarter of a GiB of what was freed */
#define DEFAULT_SHRINK	   2000u
#define MAX_TIMEOUT_MS	   600000u
#define MAX_GROWTH_MIB	   (1u << 20)
#define MAX_SHRINK	   1000000u
#define UNSAID		   UINT64_MAX /* of --cases */

static bool read_seconds(const struct o2_option *option, const char *text, void *target,
			 char why[O2_OPTION_WHY_BYTES])
{
	double *seconds = (double *)((char *)target + option->at);
	char *end;

	*seconds = strtod(text, &end);
	if (end != text && *end == '\0' && *seconds > 0)
		return true;
	snprintf(why, O2_OPTION_WHY_BYTES, "--%s is '%s', not a number of seconds", option->name, text);
	return false;
}

static const char *stage_name(unsigned int stage)
{
	return stage < O2_STAGES ? o2_stage_name((enum o2_stage)stage) : NULL;
}

static const char *const profiles[] = {[O2_PROFILE_STRICT] = "strict", [O2_PROFILE_KERNEL] = "kernel", NULL};

#define AT(member) O2_OPTION_AT(struct o2_check_arguments, member)

static const struct o2_option option_table[] = {
	{NULL, NULL, O2_OPTION_TITLE, .help = "what is asked"},
	{"cases", "N", O2_OPTION_NUMBER, AT(options.cases), .max = UINT64_MAX,
	 .help = "drawn cases (default 20000; 0: no bound)"},
	{"seconds", "S", O2_OPTION_READ, AT(options.seconds), .read = read_seconds,
	 .help = "stop drawing after S seconds"},
	{"seed", "X", O2_OPTION_NUMBER, AT(options.seed), .max = UINT64_MAX,
	 .help = "of the drawn cases (default 1)"},
	{"first", "N", O2_OPTION_NUMBER, AT(options.first), .max = UINT64_MAX,
	 .help = "number of the first drawn case (default 0)"},
	{"stage", "A,B", O2_OPTION_NAMES, AT(options.stage), .name_of = stage_name,
	 .help = "only these stages: msg_decode, msg_encode, sg_build, dma_map, reg_plan, rdma_plan, "
		 "transfer"},
	{"corpus", "DIR", O2_OPTION_TEXT, AT(options.corpus),
	 .help = "committed cases (default: those that were installed)"},
	{"no-corpus", NULL, O2_OPTION_FLAG, AT(no_corpus), .help = "drawn cases only"},
	{"case", "FILE", O2_OPTION_TEXT, AT(options.case_file),
	 .help = "this case and no other: an input form, a scenario, or a message's bytes; or the form "
		 "itself, '{...}'"},
	{"choices", "S:HEX", O2_OPTION_TEXT, AT(options.choices),
	 .help = "the case of stage S with these choices and no other: what a finding's replay has"},
	{"timeout-ms", "N", O2_OPTION_NUMBER, AT(host.timeout_ms), .min = 1, .max = MAX_TIMEOUT_MS,
	 .help = "for one answer (default 1000)"},
	{"growth-mib", "N", O2_OPTION_NUMBER, AT(host.growth_mib), .max = MAX_GROWTH_MIB,
	 .help = "a program may grow by so much after its first answers (default 768)"},
	{NULL, NULL, O2_OPTION_TITLE, .help = "what counts"},
	{"profile", "P", O2_OPTION_NAME, AT(options.profile), .names = profiles,
	 .help = "strict (default), or kernel: what public trees do where the reference is stricter is no "
		 "difference"},
	{"map", "FILE", O2_OPTION_TEXT, AT(map),
	 .help = "error map: the implementation's error names as rules of the reference"},
	{"known", "FILE", O2_OPTION_TEXT, AT(known), .help = "known differences, each with a reason"},
	{"pedantic", NULL, O2_OPTION_FLAG, AT(options.pedantic),
	 .help = "differences of severity `should` count as well"},
	{"shrink", "N", O2_OPTION_NUMBER, AT(options.shrink_calls), .max = MAX_SHRINK,
	 .help = "questions that making a finding small may take (default 2000)"},
	{NULL, NULL, O2_OPTION_TITLE, .help = "what comes out"},
	{"out", "DIR", O2_OPTION_TEXT, AT(out_dir), .help = "write each finding's case there, for --case"},
	{"json", "FILE", O2_OPTION_TEXT, AT(json), .help = "the result as JSON; - is standard output"},
	{"html", "FILE", O2_OPTION_TEXT, AT(html), .help = "the result as a page"},
	{"junit", "FILE", O2_OPTION_TEXT, AT(junit), .help = "the result as JUnit XML"},
	{"color", "WHEN", O2_OPTION_NAME, AT(color_when), .names = o2_color_names,
	 .help = "auto, always, never"},
	{NULL, NULL, O2_OPTION_TITLE, .help = "other things"},
	{"list-checks", NULL, O2_OPTION_SET, AT(action), .min = O2_CHECK_ACTION_LIST,
	 .help = "print all checks as a table"},
	{"selftest", NULL, O2_OPTION_SET, AT(action), .min = O2_CHECK_ACTION_SELFTEST,
	 .help = "try the framing of a PROGRAM and say what is wrong with it"},
	{"fuzz", NULL, O2_OPTION_SET, AT(action), .min = O2_CHECK_ACTION_FUZZ,
	 .help = "fuzz a LIBRARY with libFuzzer; options of libFuzzer stand behind --"},
	{0},
};

static const struct o2_command check_command = {
	.name = "check",
	.usage = "[OPTION]... LIBRARY.so...\n"
		 "[OPTION]... [FILE]... -- PROGRAM [ARGUMENT]...",
	.about = "Hold implementations against the reference, stage by stage, and say where they differ, "
		 "on the smallest input that shows it.  A LIBRARY defines o2_impl_v1 (o2ref/impl.h); a "
		 "PROGRAM speaks the process protocol (o2ref-impl(7)).  A FILE that is no .so is a program "
		 "without arguments.",
	.options = option_table,
	.end = "Exit status: 0 all agree, 1 a difference, 2 usage or a file that cannot be read, 77 cannot "
	       "run here.",
};

/* Take what stands behind -- away from the command line.  Returns what is left of argc. */
static int take_program(struct o2_check_arguments *a, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") != 0)
			continue;
		a->program = argv[i + 1] == NULL ? NULL : argv + i + 1;
		argv[i] = NULL;
		return i;
	}
	return argc;
}

static int take_operands(const struct o2_command *command, int count, char **operands,
			 struct o2_check_arguments *a)
{
	if (count >= (int)O2_CHECK_SUBJECTS)
		return o2_command_usage(command, "more than %u implementations", O2_CHECK_SUBJECTS);
	for (; count > 0; count--)
		a->file[a->files++] = *operands++;
	if (a->options.cases == 0 && a->options.seconds <= 0)
		return o2_command_usage(command, "--cases 0 needs --seconds");
	if (a->action == O2_CHECK_ACTION_CHECK && a->files == 0 && a->program == NULL)
		return o2_command_usage(command, "no implementation given");
	if (a->action == O2_CHECK_ACTION_SELFTEST && a->program == NULL)
		return o2_command_usage(command, "--selftest needs -- PROGRAM");
	if (a->action == O2_CHECK_ACTION_FUZZ && a->files != 1)
		return o2_command_usage(command, "--fuzz needs one LIBRARY.so");
	return 0;
}

int o2_check_parse(const char *name, int argc, char **argv, struct o2_check_arguments *a)
{
	struct o2_command command = check_command;
	int first;

	*a = (struct o2_check_arguments){
		.name = name,
		.options = {.cases = UNSAID, .seed = 1, .shrink_calls = DEFAULT_SHRINK},
		.host = {.timeout_ms = DEFAULT_TIMEOUT_MS, .growth_mib = DEFAULT_GROWTH_MIB}};
	memset(a->options.stage, true, sizeof(a->options.stage));
	command.program = name;
	argc = take_program(a, argc, argv);
	first = o2_options_read(&command, argc, argv, a);
	if (first <= 0)
		return first;
	if (a->options.cases == UNSAID)
		a->options.cases = a->options.seconds > 0 ? 0 : DEFAULT_CASES;
	a->options.pictures = a->html != NULL;
	a->color = o2_color_wanted(a->color_when, stdout);
	return take_operands(&command, argc - first, argv + first, a) == 0 ? first : -1;
}
