/* SPDX-License-Identifier: MIT */
#include "cli/net/judging.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/json.h"
#include "cli/cli.h"
#include "cli/judge_report.h"
#include "cli/net/report.h"

struct o2_net_judging {
	struct o2_end_judge *end;
	bool json, kept;
	json_t *object;		       /* owned, if kept; NULL: memory ran out */
	struct o2_judge_report report; /* large */
};

static void find(void *context, const struct o2_judge_finding *finding)
{
	struct o2_net_judging *judging = context;
	const struct o2_judge_row row = o2_judge_row_of(finding);
	const struct o2_judge_rule *rule = &o2_judge_rules[row.rule];
	char who[O2_NID_TEXT_BYTES], peer[O2_NID_TEXT_BYTES], what[O2_JUDGE_ROW_TEXT_BYTES];

	o2_judge_report_add(&judging->report, finding);
	o2_judge_nid_text(row.who_nid, who);
	o2_judge_nid_text(row.peer_nid, peer);
	o2_judge_what(row.wire_rule, &row.error, what);
	o2_cli_complain("judge: %s %s: %s (to %s): %s%srule: %s (%s)",
			o2_judge_severity_names[o2_judge_row_severity(&row)], rule->id, who, peer, what,
			what[0] == '\0' ? "" : "; ", rule->sentence, rule->source);
}

struct o2_net_judging *o2_net_judging_tell(const struct o2_net_options *options, o2_judge_sink sink,
					   void *context)
{
	struct o2_end_judge_options end = {
		/* Our end gives up after --timeout; the judge must name what is late before that. */
		.judge = {.timeout_ms = options->timeout_ms - options->timeout_ms / 10,
			  .keepalive_ms = O2_JUDGE_DEFAULTS.keepalive_ms,
			  .seed = options->seed},
		.wire = O2_WIRE_DEFAULTS,
	};
	struct o2_net_judging *judging = calloc(1, sizeof(*judging));

	end.wire.tolerate_immediate_checksum = options->tolerate_immediate_checksum;
	if (judging != NULL)
		judging->end =
			o2_end_judge_new(&end, sink != NULL ? sink : find, sink != NULL ? context : judging);
	if (judging == NULL || judging->end == NULL) {
		o2_cli_complain("not enough memory for --judge");
		free(judging);
		return NULL;
	}
	judging->json = options->json;
	return judging;
}

struct o2_net_judging *o2_net_judging_new(const struct o2_net_options *options)
{
	return o2_net_judging_tell(options, NULL, NULL);
}

const struct o2_end_judge *o2_net_judging_end_judge(const struct o2_net_judging *judging)
{
	return judging->end;
}

const struct o2_watch *o2_net_judging_watch(const struct o2_net_judging *judging)
{
	return judging == NULL ? NULL : o2_end_judge_watch(judging->end);
}

void o2_net_judging_keep(struct o2_net_judging *judging, json_t *object)
{
	judging->kept = true;
	judging->object = object;
}

json_t *o2_net_judging_to_json(const struct o2_net_judging *judging)
{
	const struct o2_judge_report *report = &judging->report;
	const struct o2_end_heard heard = o2_end_judge_heard(judging->end);
	json_t *object = json_object(), *findings = o2_judge_rows_to_json(report);

	object = o2_json_with(object, "connections", o2_json_length(heard.connections));
	object = o2_json_with(object, "messages", o2_json_length(heard.messages));
	object = o2_json_with(object, "writes", o2_json_length(heard.writes));
	for (int severity = 0; severity < O2_JUDGE_SEVERITIES; severity++)
		object = o2_json_with(object, o2_judge_severity_names[severity],
				      o2_json_length(report->times[severity]));
	return o2_json_with(object, "findings", findings);
}

static void print(const struct o2_net_judging *judging)
{
	const struct o2_end_heard heard = o2_end_judge_heard(judging->end);
	const uint64_t *times = judging->report.times;

	printf("judge: %" PRIu64 " messages and %" PRIu64 " WRITEs of ours on %" PRIu64
	       " connection%s: %" PRIu64 " must, %" PRIu64 " should, %" PRIu64 " notes\n",
	       heard.messages, heard.writes, heard.connections, heard.connections == 1 ? "" : "s",
	       times[O2_JUDGE_MUST], times[O2_JUDGE_SHOULD], times[O2_JUDGE_NOTE]);
}

void o2_net_judging_free(struct o2_net_judging *judging)
{
	if (judging == NULL)
		return;
	o2_end_judge_forget(judging->end);
	o2_end_judge_free(judging->end);
	free(judging);
}

int o2_net_judging_end(struct o2_net_judging *judging, int status)
{
	bool broken;

	if (judging == NULL)
		return status;
	o2_end_judge_forget(judging->end);
	if (judging->kept)
		status = o2_net_print_json(
			o2_json_with(judging->object, "judge", o2_net_judging_to_json(judging)), status);
	else if (!judging->json)
		print(judging);
	broken = judging->report.times[O2_JUDGE_MUST] != 0;
	if (o2_end_judge_heard(judging->end).failed) {
		o2_cli_complain("judge: not enough memory, so not all was heard");
		broken = true;
	}
	if (status == O2_CLI_OK && broken)
		status = O2_CLI_REFUSED;
	o2_net_judging_free(judging);
	return status;
}
