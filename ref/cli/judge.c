/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "base/limits.h"
#include "base/option.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "cli/judge_out.h"
#include "cli/ladder.h"
#include "cli/live.h"

struct judge_options {
	bool json;
	struct o2_live_options live;
	struct o2_judge_out_options out;
	struct o2_wire_options wire;
	struct o2_judge_options judge;
};

#define O2_OPTION_TARGET struct judge_options
#define DAY_MS		 (24u * 3600 * 1000)

static const struct o2_option option_table[] = {
	{"json", NULL, "one object for each file, o2ref/judge/output, on a line of its own", O2_FLAG(json)},
	{"live", "IFACE", "judge what passes this interface, until interrupted; in place of FILE",
	 O2_TEXT(live.interface)},
	{"seconds", "N", "with --live: end after so long", O2_NUMBER(live.seconds, 1, DAY_MS),
	 .goes_with = "live"},
	{"packets", "N", "with --live: end after so many", O2_NUMBER(live.packets, 1, UINT64_MAX),
	 .goes_with = "live"},
	{"html", "OUT",
	 "also write a page: ladders of what went over each connection, with the findings in them",
	 O2_TEXT(out.html)},
	{"events", "N",
	 "with --html, of each FILE: how many of the first events the page has besides those at findings "
	 "(default: 1000)",
	 O2_NUMBER(out.first_events, 0, 1000000), .goes_with = "html"},
	{"junit", "OUT", "also write what was found as JUnit: a case for each rule", O2_TEXT(out.junit)},
	{"sarif", "OUT", "also write it as SARIF 2.1.0", O2_TEXT(out.sarif)},
	{"timeout", "MS",
	 "how long a request may stay unanswered, or a peer without credits (default: 50000)",
	 O2_NUMBER(judge.timeout_ms, 1, DAY_MS)},
	{"keepalive", "MS",
	 "how long a side is quiet before a NOOP may keep the connection alive (default: 1000)",
	 O2_NUMBER(judge.keepalive_ms, 0, DAY_MS)},
	{"seed", "N", "seed of the data that o2ref sends, used to recognise payloads (default: 1)",
	 O2_NUMBER(judge.seed, 0, UINT64_MAX)},
	{"require-checksum", NULL, "a message without a checksum breaks a rule",
	 O2_FLAG(wire.require_checksum)},
	{"any-lnd", NULL, "the header's NIDs may be of other networks than o2ib", O2_FLAG(wire.any_lnd)},
	{"tolerate-immediate-checksum", NULL, "an IMMEDIATE with a payload may have a wrong checksum",
	 O2_FLAG(wire.tolerate_immediate_checksum)},
	{0},
};

static const struct o2_command command = {
	.program = "o2ref",
	.name = "judge",
	.usage = "[OPTION]... FILE... | --live IFACE",
	.about = "Say which rules of the protocol were broken in a capture (pcap or pcapng, of RoCE or "
		 "InfiniBand; - for standard input), by whom, and in which packet.",
	.options = option_table,
	.end = "exit status: 0 no rule that must hold was broken, 1 one was or a capture is cut, 2 usage, "
	       "or a file that cannot be read or written",
};

struct judging {
	struct o2_judge *judge;
	struct o2_links *links;
	struct o2_judge_report *report;
	struct o2_judge_out *out;
	struct o2_judge_seen_totals totals;
	bool failed; /* memory ran out */
	bool as_it_comes, json;
	char why[O2_PCAP_WHY_BYTES];
};

static void hear(void *context, const struct o2_event *event)
{
	struct judging *judging = context;

	o2_judge_out_hear(judging->out, event);
	if (!judging->failed && o2_links_hear(judging->links, event) != 0)
		judging->failed = true;
}

static int print_json(json_t *object)
{
	const int rc = object == NULL ? -1 : json_dumpf(object, stdout, JSON_COMPACT);

	json_decref(object);
	if (rc == 0)
		putchar('\n');
	return rc;
}

/* An o2_judge_sink: keep the finding, and with --live also print it now. */
static void find(void *context, const struct o2_judge_finding *finding)
{
	struct judging *judging = context;
	const struct o2_judge_row row = o2_judge_row_of(finding);

	o2_judge_report_add(judging->report, finding);
	o2_judge_out_find(judging->out, finding);
	if (!judging->as_it_comes)
		return;
	if (!judging->json) {
		o2_judge_row_line(&row, stdout);
		putchar('\n');
	} else if (print_json(o2_judge_finding_to_json(&row)) != 0 && !ferror(stdout)) {
		judging->failed = true;
	}
	fflush(stdout);
}

/* As text, nothing is printed if an error came before the first packet. */
static int print(const struct o2_judge_result *result, bool json)
{
	if (!json) {
		if (result->why == NULL || result->totals->walk.packets != 0)
			o2_judge_report_print(result->report, result->totals, stdout);
		return O2_CLI_OK;
	}
	if (print_json(o2_judge_report_to_json(result)) == 0)
		return O2_CLI_OK;
	o2_cli_complain_json(result->name);
	return O2_CLI_USAGE;
}

/* Judge the file, or the interface's traffic, to its end.  Returns the exit status for what was seen. */
static int judge_all(FILE *file, const struct judge_options *options, struct judging *judging)
{
	struct o2_walk_totals *totals = &judging->totals.walk;
	const int rc = file != NULL ? o2_pcap_walk(file, &options->wire, hear, judging, totals, judging->why)
				    : o2_live_walk(&options->live, &options->wire, hear, judging, totals,
						   judging->why);

	judging->totals.links = o2_links_totals(judging->links);
	/* Now findings that waited for a proof are reported. */
	o2_links_free(judging->links);
	judging->links = NULL;
	if (judging->failed)
		snprintf(judging->why, sizeof(judging->why),
			 "not enough memory for another connection or transfer");
	else if (rc == 0)
		judging->why[0] = '\0';
	if (judging->failed)
		return O2_CLI_USAGE;
	if (rc != 0)
		return o2_cli_read_status(rc);
	return judging->report->times[O2_JUDGE_MUST] != 0 ? O2_CLI_REFUSED : O2_CLI_OK;
}

/* Print the result, and add it to the files. */
static int tell(const char *name, struct judging *judging, int status, const struct judge_options *options,
		struct o2_judge_out *out)
{
	const struct o2_judge_result result = {
		.name = name,
		.report = judging->report,
		.totals = &judging->totals,
		.why = judging->why[0] != '\0' ? judging->why : NULL,
	};

	if (print(&result, options->json) != O2_CLI_OK)
		status = O2_CLI_USAGE;
	if (result.why != NULL)
		o2_cli_complain("%s: %s", name, result.why);
	o2_judge_out_add(out, &result);
	return status;
}

/* file: NULL to judge the traffic of the interface `name`. */
static int judge_one(const char *name, FILE *file, const struct judge_options *options,
		     struct o2_judge_out *out)
{
	static struct o2_judge_report report; /* large */
	struct judging judging = {
		.report = &report, .out = out, .as_it_comes = file == NULL, .json = options->json};
	int status = O2_CLI_USAGE;

	report = (struct o2_judge_report){.count = 0};
	judging.judge = o2_judge_new(&options->judge, find, &judging);
	if (judging.judge != NULL && o2_judge_out_begin(out, judging.judge, &options->wire))
		judging.links = o2_links_new(judging.judge);
	if (judging.links != NULL) {
		status = judge_all(file, options, &judging);
	} else {
		snprintf(judging.why, sizeof(judging.why), "not enough memory");
		/* The walk would have closed the file. */
		if (file != NULL && file != stdin)
			fclose(file);
	}
	status = tell(name, &judging, status, options, out);
	o2_judge_free(judging.judge);
	return status;
}

static int judge_file(const char *path, const struct judge_options *options, struct o2_judge_out *out)
{
	static const struct o2_judge_report nothing;
	const struct o2_judge_seen_totals none = {.links = {0}};
	const struct o2_judge_result result = {path, &nothing, &none, "cannot be opened"};
	struct o2_stream stream;

	if (o2_stream_open(path, &stream))
		return judge_one(stream.name, stream.file, options, out);
	print(&result, options->json);
	o2_judge_out_add(out, &result);
	return O2_CLI_USAGE;
}

static int judge_files(int count, char **paths, const struct judge_options *options, struct o2_judge_out *out)
{
	int status = O2_CLI_OK;

	for (int i = 0; i < count; i++) {
		int one;

		if (count > 1 && !options->json)
			o2_cli_heading(paths[i], i == 0);
		one = judge_file(paths[i], options, out);
		status = one > status ? one : status;
	}
	return status;
}

/* Returns what is wrong with the command line; NULL: nothing. */
static const char *misused(const struct judge_options *options, int files)
{
	if (options->live.interface != NULL)
		return files != 0 ? "give either --live or FILE, not both" : NULL;
	return files == 0 ? "no file given" : NULL;
}

int o2_cli_judge(int argc, char **argv)
{
	struct judge_options options = {
		.wire = O2_WIRE_DEFAULTS,
		.judge = O2_JUDGE_DEFAULTS,
		.out.first_events = O2_LADDER_FIRST,
	};
	const int first = o2_options_read(&command, argc, argv, &options);
	struct o2_judge_out *out;
	const char *wrong;
	int status;

	if (first <= 0)
		return first < 0 ? O2_CLI_USAGE : o2_cli_finish(stdout, O2_CLI_OK);
	options.judge.lossy = true;
	wrong = misused(&options, argc - first);
	if (wrong != NULL)
		return o2_command_usage(&command, "%s", wrong);
	options.out.captures = argv + first;
	options.out.ncaptures = (uint32_t)(argc - first);
	out = o2_judge_out_open(&options.out);
	if (out == NULL)
		return O2_CLI_USAGE;
	status = options.live.interface != NULL ? judge_one(options.live.interface, NULL, &options, out)
						: judge_files(argc - first, argv + first, &options, out);
	return o2_cli_finish(stdout, o2_judge_out_close(out, status));
}
