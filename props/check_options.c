/* SPDX-License-Identifier: MIT */
#include "props/check_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/plain.h"

#define DEFAULT_CASES	   20000u
#define DEFAULT_TIMEOUT_MS 1000u
#define DEFAULT_GROWTH_MIB 768u /* sanitizers keep a quarter of a GiB of what was freed */
#define DEFAULT_SHRINK	   2000u
#define MAX_TIMEOUT_MS	   600000u
#define MAX_GROWTH_MIB	   (1u << 20)
#define MAX_SHRINK	   1000000u

enum {
	OPTION_CASES = 256,
	OPTION_SECONDS,
	OPTION_SEED,
	OPTION_FIRST,
	OPTION_STAGE,
	OPTION_PROFILE,
	OPTION_MAP,
	OPTION_KNOWN,
	OPTION_CORPUS,
	OPTION_NO_CORPUS,
	OPTION_CASE,
	OPTION_CHOICES,
	OPTION_TIMEOUT,
	OPTION_GROWTH,
	OPTION_SHRINK,
	OPTION_OUT,
	OPTION_JSON,
	OPTION_HTML,
	OPTION_JUNIT,
	OPTION_PEDANTIC,
	OPTION_COLOR,
	OPTION_LIST,
	OPTION_SELFTEST,
	OPTION_FUZZ,
};

static const struct option long_options[] = {
	{"cases", required_argument, NULL, OPTION_CASES},
	{"seconds", required_argument, NULL, OPTION_SECONDS},
	{"seed", required_argument, NULL, OPTION_SEED},
	{"first", required_argument, NULL, OPTION_FIRST},
	{"stage", required_argument, NULL, OPTION_STAGE},
	{"profile", required_argument, NULL, OPTION_PROFILE},
	{"map", required_argument, NULL, OPTION_MAP},
	{"known", required_argument, NULL, OPTION_KNOWN},
	{"corpus", required_argument, NULL, OPTION_CORPUS},
	{"no-corpus", no_argument, NULL, OPTION_NO_CORPUS},
	{"case", required_argument, NULL, OPTION_CASE},
	{"choices", required_argument, NULL, OPTION_CHOICES},
	{"timeout-ms", required_argument, NULL, OPTION_TIMEOUT},
	{"growth-mib", required_argument, NULL, OPTION_GROWTH},
	{"shrink", required_argument, NULL, OPTION_SHRINK},
	{"out", required_argument, NULL, OPTION_OUT},
	{"json", required_argument, NULL, OPTION_JSON},
	{"html", required_argument, NULL, OPTION_HTML},
	{"junit", required_argument, NULL, OPTION_JUNIT},
	{"pedantic", no_argument, NULL, OPTION_PEDANTIC},
	{"color", required_argument, NULL, OPTION_COLOR},
	{"list-checks", no_argument, NULL, OPTION_LIST},
	{"selftest", no_argument, NULL, OPTION_SELFTEST},
	{"fuzz", no_argument, NULL, OPTION_FUZZ},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

void o2_check_usage(const struct o2_check_arguments *a, FILE *out)
{
	fprintf(out,
		"usage: %s check [OPTION]... LIBRARY.so...\n"
		"       %s check [OPTION]... [FILE]... -- PROGRAM [ARGUMENT]...\n",
		a->name, a->name);
	fputs("\n"
	      "Hold implementations against the reference, stage by stage, and say where they differ, on "
	      "the\n"
	      "smallest input that shows it.  A LIBRARY defines o2_impl_v1 (o2ref/impl.h); a PROGRAM speaks "
	      "the\n"
	      "process protocol (o2ref-impl(7)).  A FILE that is no .so is a program without arguments.\n"
	      "\n"
	      "what is asked:\n"
	      "  --cases N          drawn cases (default 20000; 0: no bound)\n"
	      "  --seconds S        stop drawing after S seconds\n"
	      "  --seed X           of the drawn cases (default 1)\n"
	      "  --first N          number of the first drawn case (default 0)\n"
	      "  --stage A,B        only these stages: msg_decode, msg_encode, sg_build, dma_map, reg_plan,\n"
	      "                     rdma_plan, transfer\n"
	      "  --corpus DIR       committed cases (default: those that were installed)\n"
	      "  --no-corpus        drawn cases only\n"
	      "  --case FILE        this case and no other: an input form, a scenario, or a message's "
	      "bytes;\n"
	      "                     or the form itself, '{...}'\n"
	      "  --choices S:HEX    the case of stage S with these choices and no other: what a finding's "
	      "replay has\n"
	      "  --timeout-ms N     for one answer (default 1000)\n"
	      "  --growth-mib N     a program may grow by so much after its first answers (default 768)\n"
	      "what counts:\n"
	      "  --profile P        strict (default), or kernel: what public trees do where the reference "
	      "is\n"
	      "                     stricter is no difference\n"
	      "  --map FILE         error map: the implementation's error names as rules of the reference\n"
	      "  --known FILE       known differences, each with a reason\n"
	      "  --pedantic         differences of severity `should` count as well\n"
	      "  --shrink N         questions that making a finding small may take (default 2000)\n"
	      "what comes out:\n"
	      "  --out DIR          write each finding's case there, for --case\n"
	      "  --json FILE        the result as JSON; - is standard output\n"
	      "  --html FILE        the result as a page\n"
	      "  --junit FILE       the result as JUnit XML\n"
	      "  --color WHEN       auto, always, never\n"
	      "other things:\n"
	      "  --list-checks      print all checks as a table\n"
	      "  --selftest         try the framing of a PROGRAM and say what is wrong with it\n"
	      "  --fuzz             fuzz a LIBRARY with libFuzzer; options of libFuzzer stand behind --\n"
	      "\n"
	      "Exit status: 0 all agree, 1 a difference, 2 usage or a file that cannot be read, 77 cannot "
	      "run here.\n",
	      out);
}

int o2_check_complain(const struct o2_check_arguments *a, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	o2_make_plain(text);
	fprintf(stderr, "%s: check: %s\n", a->name, text);
	return O2_CHECK_EXIT_USAGE;
}

static int parse_number(const struct o2_check_arguments *a, const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || *value > max)
		return o2_check_complain(a, "'%s' is no number of 0 to %llu", text, (unsigned long long)max);
	return 0;
}

static int parse_seconds(const struct o2_check_arguments *a, const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	if (end == text || *end != '\0' || !(*value > 0))
		return o2_check_complain(a, "'%s' is no number of seconds", text);
	return 0;
}

static int parse_stages(struct o2_check_arguments *a, const char *text)
{
	char copy[128], *save = NULL;
	enum o2_stage stage;

	snprintf(copy, sizeof(copy), "%s", text);
	memset(a->options.stage, 0, sizeof(a->options.stage));
	for (char *name = strtok_r(copy, ",", &save); name != NULL; name = strtok_r(NULL, ",", &save)) {
		if (!o2_stage_from_name(name, &stage))
			return o2_check_complain(a, "'%s' is no stage", name);
		a->options.stage[stage] = true;
	}
	return 0;
}

static int parse_profile(struct o2_check_arguments *a, const char *text)
{
	if (strcmp(text, "strict") == 0)
		a->options.profile = O2_PROFILE_STRICT;
	else if (strcmp(text, "kernel") == 0)
		a->options.profile = O2_PROFILE_KERNEL;
	else
		return o2_check_complain(a, "'%s' is no profile; strict or kernel", text);
	return 0;
}

static int parse_color(struct o2_check_arguments *a, const char *text)
{
	const char *no_color = getenv("NO_COLOR");

	if (strcmp(text, "auto") == 0)
		a->color = isatty(STDOUT_FILENO) && (no_color == NULL || no_color[0] == '\0');
	else if (strcmp(text, "always") == 0 || strcmp(text, "never") == 0)
		a->color = text[0] == 'a';
	else
		return o2_check_complain(a, "'%s' is not auto, always or never", text);
	return 0;
}

/* Options that take a number. */
static int number_option(struct o2_check_arguments *a, int option, const char *text)
{
	uint64_t value = 0;
	int rc = parse_number(a, text,
			      option == OPTION_TIMEOUT	? MAX_TIMEOUT_MS
			      : option == OPTION_GROWTH ? MAX_GROWTH_MIB
			      : option == OPTION_SHRINK ? MAX_SHRINK
							: UINT64_MAX,
			      &value);

	if (option == OPTION_CASES)
		a->options.cases = value;
	else if (option == OPTION_SEED)
		a->options.seed = value;
	else if (option == OPTION_FIRST)
		a->options.first = value;
	else if (option == OPTION_TIMEOUT)
		a->host.timeout_ms = (uint32_t)value;
	else if (option == OPTION_GROWTH)
		a->host.growth_mib = (uint32_t)value;
	else
		a->options.shrink_calls = (uint32_t)value;
	if (rc == 0 && option == OPTION_TIMEOUT && value == 0)
		return o2_check_complain(a, "--timeout-ms is at least 1");
	return rc;
}

/* Options that say what to do, or take a file's name. */
static int other_option(struct o2_check_arguments *a, int option, const char *text)
{
	switch (option) {
	case OPTION_MAP:
		a->map = text;
		break;
	case OPTION_KNOWN:
		a->known = text;
		break;
	case OPTION_CORPUS:
		a->options.corpus = text;
		break;
	case OPTION_NO_CORPUS:
		a->no_corpus = true;
		break;
	case OPTION_CASE:
		a->options.case_file = text;
		break;
	case OPTION_CHOICES:
		a->options.choices = text;
		break;
	case OPTION_OUT:
		a->out_dir = text;
		break;
	case OPTION_JSON:
		a->json = text;
		break;
	case OPTION_HTML:
		a->html = text;
		a->options.pictures = true;
		break;
	case OPTION_JUNIT:
		a->junit = text;
		break;
	case OPTION_PEDANTIC:
		a->options.pedantic = true;
		break;
	case OPTION_LIST:
		a->action = O2_CHECK_ACTION_LIST;
		break;
	case OPTION_SELFTEST:
		a->action = O2_CHECK_ACTION_SELFTEST;
		break;
	case OPTION_FUZZ:
		a->action = O2_CHECK_ACTION_FUZZ;
		break;
	default:
		a->action = O2_CHECK_ACTION_HELP;
	}
	return 0;
}

static int take_option(struct o2_check_arguments *a, int option, char **argv)
{
	switch (option) {
	case OPTION_CASES:
	case OPTION_SEED:
	case OPTION_FIRST:
	case OPTION_TIMEOUT:
	case OPTION_GROWTH:
	case OPTION_SHRINK:
		return number_option(a, option, optarg);
	case OPTION_SECONDS:
		return parse_seconds(a, optarg, &a->options.seconds);
	case OPTION_STAGE:
		return parse_stages(a, optarg);
	case OPTION_PROFILE:
		return parse_profile(a, optarg);
	case OPTION_COLOR:
		return parse_color(a, optarg);
	case '?':
		return o2_check_complain(a, "'%s' is no option, or its value is missing", argv[optind - 1]);
	default:
		return other_option(a, option, optarg);
	}
}

static int check_operands(struct o2_check_arguments *a, int argc, char **argv)
{
	for (int i = optind; i < argc; i++) {
		if (a->files == O2_CHECK_SUBJECTS - 1)
			return o2_check_complain(a, "more than %u implementations", O2_CHECK_SUBJECTS);
		a->file[a->files++] = argv[i];
	}
	if (a->action == O2_CHECK_ACTION_CHECK && a->files == 0 && a->program == NULL)
		return o2_check_complain(a, "no implementation given (see: %s check --help)", a->name);
	if (a->action == O2_CHECK_ACTION_SELFTEST && a->program == NULL)
		return o2_check_complain(a, "--selftest needs -- PROGRAM");
	if (a->action == O2_CHECK_ACTION_FUZZ && a->files != 1)
		return o2_check_complain(a, "--fuzz needs one LIBRARY.so");
	return 0;
}

int o2_check_parse(const char *name, int argc, char **argv, struct o2_check_arguments *a)
{
	bool bounded = false;
	int option, rc;

	*a = (struct o2_check_arguments){
		.name = name,
		.options = {.seed = 1, .shrink_calls = DEFAULT_SHRINK},
		.host = {.timeout_ms = DEFAULT_TIMEOUT_MS, .growth_mib = DEFAULT_GROWTH_MIB}};
	for (uint32_t i = 0; i < O2_STAGES; i++)
		a->options.stage[i] = true;
	rc = parse_color(a, "auto");
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0) {
			a->program = argv[i + 1] == NULL ? NULL : argv + i + 1;
			argv[i] = NULL;
			argc = i;
		}
	}
	opterr = 0;
	optind = 1;
	while (rc == 0 && (option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		bounded |= option == OPTION_CASES || option == OPTION_SECONDS;
		rc = take_option(a, option, argv);
	}
	if (!bounded)
		a->options.cases = DEFAULT_CASES;
	if (rc == 0 && a->options.cases == 0 && a->options.seconds <= 0)
		rc = o2_check_complain(a, "--cases 0 needs --seconds");
	return rc != 0 ? rc : check_operands(a, argc, argv);
}
