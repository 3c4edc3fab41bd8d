/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>

#include "base/limits.h"
#include "base/option.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "cli/judge_out.h"

struct judge_options {
	bool json;
	struct o2_judge_out_options out;
	struct o2_wire_options wire;
	struct o2_judge_options judge;
};

#define O2_OPTION_TARGET struct judge_options
#define DAY_MS		 (24u * 3600 * 1000)

static const struct o2_option option_table[] = {
	{"json", NULL, "one object for each file, o2ref/judge/output, on a line of its own", O2_FLAG(json)},
	{"junit", "OUT", "also write what was found as JUnit: a case for each rule", O2_TEXT(out.junit)},
	{"sarif", "OUT", "also write it as SARIF 2.1.0", O2_TEXT(out.sarif)},
	{"timeout", "MS",
	 "50000: for how long a request may go without its answer, and a peer without credits",
	 O2_NUMBER(judge.timeout_ms, 1, DAY_MS)},
	{"keepalive", "MS", "1000: how long a side is quiet before a NOOP may keep the connection alive",
	 O2_NUMBER(judge.keepalive_ms, 0, DAY_MS)},
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
	.usage = "[OPTION]... FILE...",
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
	struct o2_judge_seen_totals totals;
	bool failed; /* memory ran out */
	char why[O2_PCAP_WHY_BYTES];
};

static void hear(void *context, const struct o2_event *event)
{
	struct judging *judging = context;

	if (!judging->failed && o2_links_hear(judging->links, event) != 0)
		judging->failed = true;
}

static int print(const struct o2_judge_result *result, bool json)
{
	json_t *object;
	int rc;

	if (!json) {
		o2_judge_report_print(result->report, result->totals, stdout);
		return O2_CLI_OK;
	}
	object = o2_judge_report_to_json(result->report, result->name, result->totals);
	rc = object == NULL ? -1 : json_dumpf(object, stdout, JSON_COMPACT);
	json_decref(object);
	if (rc != 0) {
		o2_cli_complain("%s: not enough memory for the JSON form", result->name);
		return O2_CLI_USAGE;
	}
	putchar('\n');
	return O2_CLI_OK;
}

/* Judge the stream to its end.  Returns the exit status that what was seen asks for. */
static int judge_stream(struct o2_stream *stream, const struct judge_options *options,
			struct judging *judging)
{
	const int rc = o2_pcap_walk(stream->file, &options->wire, hear, judging, &judging->totals.walk,
				    judging->why);

	judging->totals.links = o2_links_totals(judging->links);
	/* What waited for a proof is told now. */
	o2_links_free(judging->links);
	judging->links = NULL;
	if (judging->failed)
		snprintf(judging->why, sizeof(judging->why),
			 "not enough memory for another connection or transfer");
	else if (rc == 0)
		judging->why[0] = '\0';
	if (rc == -EIO || judging->failed)
		return O2_CLI_USAGE;
	return rc != 0 || judging->report->times[O2_JUDGE_MUST] != 0 ? O2_CLI_REFUSED : O2_CLI_OK;
}

/* Say what came of it.  Nothing was seen of a file that is no capture. */
static int tell(const char *name, struct judging *judging, int status, const struct judge_options *options,
		struct o2_judge_out *out)
{
	const struct o2_judge_result result = {
		.name = name,
		.report = judging->report,
		.totals = &judging->totals,
		.why = judging->why[0] != '\0' ? judging->why : NULL,
	};

	if ((result.why == NULL || judging->totals.walk.packets != 0) &&
	    print(&result, options->json) != O2_CLI_OK)
		status = O2_CLI_USAGE;
	if (result.why != NULL)
		o2_cli_complain("%s: %s", name, result.why);
	o2_judge_out_add(out, &result);
	return status;
}

static int judge_file(const char *path, const struct judge_options *options, struct o2_judge_out *out)
{
	static struct o2_judge_report report; /* large */
	struct judging judging = {.report = &report};
	struct o2_stream stream;
	int status = O2_CLI_USAGE;

	report = (struct o2_judge_report){.count = 0};
	if (!o2_stream_open(path, &stream)) {
		const struct o2_judge_result result = {path, &report, &judging.totals, "cannot be opened"};

		o2_judge_out_add(out, &result);
		return O2_CLI_USAGE;
	}
	judging.judge = o2_judge_new(&options->judge, o2_judge_report_add, &report);
	if (judging.judge != NULL)
		judging.links = o2_links_new(judging.judge);
	if (judging.links != NULL)
		status = judge_stream(&stream, options, &judging);
	else
		snprintf(judging.why, sizeof(judging.why), "not enough memory");
	status = tell(stream.name, &judging, status, options, out);
	o2_judge_free(judging.judge);
	return status;
}

int o2_cli_judge(int argc, char **argv)
{
	struct judge_options options = {.wire = O2_WIRE_DEFAULTS, .judge = O2_JUDGE_DEFAULTS};
	const int first = o2_options_read(&command, argc, argv, &options);
	struct o2_judge_out *out;
	int status = O2_CLI_OK;

	if (first <= 0)
		return first < 0 ? O2_CLI_USAGE : o2_cli_finish(stdout, O2_CLI_OK);
	options.judge.lossy = true;
	if (first == argc)
		return o2_command_usage(&command, "no file given");
	out = o2_judge_out_open(&options.out);
	if (out == NULL)
		return O2_CLI_USAGE;
	for (int i = first; i < argc; i++) {
		int one;

		if (argc - first > 1 && !options.json)
			printf("%s== %s ==\n", i == first ? "" : "\n", argv[i]);
		one = judge_file(argv[i], &options, out);
		status = one > status ? one : status;
	}
	return o2_cli_finish(stdout, o2_judge_out_close(out, status));
}
