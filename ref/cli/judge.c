/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>

#include "base/limits.h"
#include "base/option.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "cli/judge_report.h"

struct judge_options {
	bool json;
	struct o2_wire_options wire;
	struct o2_judge_options judge;
};

#define O2_OPTION_TARGET struct judge_options
#define DAY_MS		 (24u * 3600 * 1000)

static const struct o2_option option_table[] = {
	{"json", NULL, "one object for each file, o2ref/judge/output, on a line of its own", O2_FLAG(json)},
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
	.about = "Say which rules of the protocol were broken in a capture (pcap or pcapng, RoCEv2 on "
		 "Ethernet; - for standard input), by whom, and in which packet.",
	.options = option_table,
	.end = "exit status: 0 no rule that must hold was broken, 1 one was or a capture is cut, 2 usage or "
	       "a "
	       "file that cannot be read",
};

struct judging {
	struct o2_links *links;
	bool failed; /* memory ran out */
};

static void hear(void *context, const struct o2_event *event)
{
	struct judging *judging = context;

	if (!judging->failed && o2_links_hear(judging->links, event) != 0)
		judging->failed = true;
}

static int print(const struct o2_judge_report *report, const char *name,
		 const struct o2_judge_seen_totals *totals, bool json)
{
	json_t *object;
	int rc;

	if (!json) {
		o2_judge_report_print(report, totals, stdout);
		return O2_CLI_OK;
	}
	object = o2_judge_report_to_json(report, name, totals);
	rc = object == NULL ? -1 : json_dumpf(object, stdout, JSON_COMPACT);
	json_decref(object);
	if (rc != 0) {
		o2_cli_complain("%s: not enough memory for the JSON form", name);
		return O2_CLI_USAGE;
	}
	putchar('\n');
	return O2_CLI_OK;
}

static int judge_stream(struct o2_stream *stream, const struct judge_options *options,
			struct judging *judging, const struct o2_judge_report *report)
{
	struct o2_judge_seen_totals totals;
	char why[O2_PCAP_WHY_BYTES];
	const int rc = o2_pcap_walk(stream->file, &options->wire, hear, judging, &totals.walk, why);
	int status;

	totals.links = o2_links_totals(judging->links);
	if (rc == -EIO || (rc != 0 && totals.walk.packets == 0)) {
		o2_cli_complain("%s: %s", stream->name, why);
		return rc == -EIO ? O2_CLI_USAGE : O2_CLI_REFUSED;
	}
	status = print(report, stream->name, &totals, options->json);
	if (judging->failed)
		o2_cli_complain("%s: not enough memory for another connection or transfer", stream->name);
	else if (rc != 0)
		o2_cli_complain("%s: %s", stream->name, why);
	if (status != O2_CLI_OK || judging->failed)
		return O2_CLI_USAGE;
	return rc != 0 || report->times[O2_JUDGE_MUST] != 0 ? O2_CLI_REFUSED : O2_CLI_OK;
}

static int judge_file(const char *path, const struct judge_options *options)
{
	static struct o2_judge_report report; /* large */
	struct judging judging = {.links = NULL};
	struct o2_judge *judge;
	struct o2_stream stream;
	int status = O2_CLI_USAGE;

	if (!o2_stream_open(path, &stream))
		return O2_CLI_USAGE;
	report = (struct o2_judge_report){.count = 0};
	judge = o2_judge_new(&options->judge, o2_judge_report_add, &report);
	if (judge != NULL)
		judging.links = o2_links_new(judge);
	if (judging.links != NULL)
		status = judge_stream(&stream, options, &judging, &report);
	else
		o2_cli_complain("%s: not enough memory", stream.name);
	o2_links_free(judging.links);
	o2_judge_free(judge);
	return status;
}

int o2_cli_judge(int argc, char **argv)
{
	struct judge_options options = {.wire = O2_WIRE_DEFAULTS, .judge = O2_JUDGE_DEFAULTS};
	const int first = o2_options_read(&command, argc, argv, &options);
	int status = O2_CLI_OK;

	if (first < 0)
		return O2_CLI_USAGE;
	options.judge.lossy = true;
	if (first == argc)
		return o2_command_usage(&command, "no file given");
	for (int i = first; first > 0 && i < argc; i++) {
		int one;

		if (argc - first > 1 && !options.json)
			printf("%s== %s ==\n", i == first ? "" : "\n", argv[i]);
		one = judge_file(argv[i], &options);
		status = one > status ? one : status;
	}
	return o2_cli_finish(stdout, status);
}
