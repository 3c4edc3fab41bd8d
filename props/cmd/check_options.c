/* SPDX-License-Identifier: MIT */
#include "props/cmd/check_options.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_CASES  20000u
#define DEFAULT_SHRINK 2000u
#define MAX_TIMEOUT_MS 600000u
#define MAX_GROWTH_MIB (1u << 20)
#define MAX_SHRINK     1000000u
#define MIN_SECONDS    0.001
#define MAX_SECONDS    31536000.0 /* one year */
#define UNSAID	       UINT64_MAX /* --cases was not given */

static bool read_seconds(const struct o2_option *option, const char *text, void *target,
			 char why[O2_OPTION_WHY_BYTES])
{
	double *seconds = (double *)((char *)target + option->at);
	char *end;

	*seconds = strtod(text, &end);
	/* The comparisons fail for NaN.  Leading blanks and hexadecimal digits, which C accepts, are refused. */
	if (end != text && text[strspn(text, "0123456789.eE+-")] == '\0' && *end == '\0' &&
	    *seconds >= MIN_SECONDS && *seconds <= MAX_SECONDS)
		return true;
	snprintf(why, O2_OPTION_WHY_BYTES, "--%s is '%.40s', not a number of seconds from %g to %.0f",
		 option->name, text, MIN_SECONDS, MAX_SECONDS);
	return false;
}

static const char *stage_name(unsigned int stage)
{
	return stage < O2_STAGES ? o2_stage_name((enum o2_stage)stage) : NULL;
}

static const char *profile_name(unsigned int profile)
{
	return profile < O2_PROFILES ? o2_profile_name((enum o2_profile)profile) : NULL;
}

/* These options reach the fuzzer. */
static const char *const fuzzed_with[] = {"profile", "map", "known", NULL};

#define O2_OPTION_TARGET struct o2_check_arguments

static const struct o2_option option_table[] = {
	{O2_TITLE("what is asked")},
	{"cases", "N", "drawn cases (default 20000; 0: no bound)", O2_NUMBER(options.cases, 0, INT64_MAX)},
	{"seconds", "S", "stop drawing after S seconds, 0.001 to 31536000",
	 O2_READ(options.seconds, read_seconds)},
	{"seed", "X", "of the drawn cases (default 1)", O2_NUMBER(options.seed, 0, UINT64_MAX)},
	{"first", "N", "number of the first drawn case (default 0)", O2_NUMBER(options.first, 0, INT64_MAX)},
	{"stage", "A,B", "only these stages:", O2_NAMES_OF(options.stage, stage_name)},
	{"corpus", "DIR", "committed cases (default: those that were installed)", O2_TEXT(options.corpus)},
	{"no-corpus", NULL, "drawn cases only", O2_FLAG(no_corpus)},
	{"case", "FILE",
	 "this case and no other: an input form or a scenario, NAME.json; a message's bytes, any other name; "
	 "or the form itself, '{...}'",
	 O2_TEXT(options.case_file)},
	{"choices", "S:HEX",
	 "the case of stage S with these choices and no other: what a finding's replay has",
	 O2_TEXT(options.choices)},
	{"timeout-ms", "N",
	 "for one answer (default 1000); for those to the first questions of a program that has just begun "
	 "ten times as long",
	 O2_NUMBER(host.timeout_ms, 1, MAX_TIMEOUT_MS)},
	{"growth-mib", "N", "a program may grow by so much after its first answers (default 768)",
	 O2_NUMBER(host.growth_mib, 0, MAX_GROWTH_MIB)},
	{O2_TITLE("what counts")},
	{"profile", "P",
	 "strict (default), or kernel: what public trees do where the reference is stricter is no difference",
	 O2_NAME_OF(options.profile, profile_name)},
	{"map", "FILE", "error map: the implementation's error names as rules of the reference",
	 O2_TEXT(map)},
	{"known", "FILE", "known differences, each with a reason", O2_TEXT(known)},
	{"pedantic", NULL, "differences of severity `should` count as well", O2_FLAG(options.pedantic)},
	{"compare", "OLD.json",
	 "an earlier result: ask its questions first, say which findings are new, the same or gone; only a "
	 "new one is a difference",
	 O2_TEXT(since)},
	{"shrink", "N", "questions that making a finding small may take (default 2000)",
	 O2_NUMBER(options.shrink_calls, 0, MAX_SHRINK)},
	{O2_TITLE("what comes out")},
	{"label", "TEXT", "what is tested, for the reports: a name and a commit, say",
	 O2_TEXT(options.label)},
	{"out", "DIR", "write each finding's case there, for --case, and as a program in C",
	 O2_TEXT(out_dir)},
	{"json", "FILE", "the result as JSON; - is standard output", O2_TEXT(json)},
	{"html", "FILE", "the result as a page; - is standard output", O2_TEXT(html)},
	{"junit", "FILE", "the result as JUnit XML; - is standard output", O2_TEXT(junit)},
	{"color", "WHEN", "auto, always, never", O2_NAME(color_when, o2_color_names)},
	{O2_TITLE("other things")},
	{"list-checks", NULL, "print all checks as a table", O2_SET(action, O2_CHECK_ACTION_LIST)},
	{"selftest", NULL, "try the framing of a PROGRAM and say what is wrong with it",
	 O2_SET(action, O2_CHECK_ACTION_SELFTEST)},
	{"fuzz", NULL,
	 "fuzz a LIBRARY with libFuzzer; options of libFuzzer stand behind --, of those here only "
	 "--profile, --map and --known go with it",
	 O2_SET(action, O2_CHECK_ACTION_FUZZ), .only_with = fuzzed_with},
	{0},
};

static const struct o2_command check_command = {
	.name = "check",
	.usage = "[OPTION]... LIBRARY.so...\n"
		 "[OPTION]... [FILE]... -- PROGRAM [ARGUMENT]...",
	.about = "Hold implementations against the reference, stage by stage, and say where they differ, on "
		 "the smallest input that shows it.  A LIBRARY defines o2_impl_v1 or o2_impl_v2 "
		 "(o2ref/impl.h); a PROGRAM speaks the process protocol (o2ref-impl(7)).  A FILE whose "
		 "name does not end in .so, or in that and a version, is a program without arguments.",
	.options = option_table,
	.end = "Exit status: 0 all agree, 1 a difference (with --compare: a new one), 2 usage or a file that "
	       "cannot be read, 77 cannot run here.",
};

/* Cut off the words behind --.  Returns the remaining argc. */
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
	if (count + (a->program != NULL) > (int)O2_CHECK_SUBJECTS)
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
		.host = {.timeout_ms = O2_CHECK_TIMEOUT_MS, .growth_mib = O2_CHECK_GROWTH_MIB}};
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

/* "mine.so" and "libmine.so.1.2" are libraries; "my.solver" may be a program. */
bool o2_check_is_library(const char *path)
{
	const char *name = strrchr(path, '/');
	const char *at = name == NULL ? path : name + 1;

	while ((at = strstr(at, ".so")) != NULL) {
		at += strlen(".so");
		if (at[0] == '\0' || (at[0] == '.' && at[1] >= '0' && at[1] <= '9'))
			return true;
	}
	return false;
}
