/* SPDX-License-Identifier: MIT */
#include "props/engine/tally.h"

#include <assert.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct o2_property o2_tally_property(const struct o2_property_ops *ops, void *run,
				     const char *const *situation, uint32_t situations, uint64_t enough_cases)
{
	struct o2_tally *tally = run;

	assert(situations <= O2_TALLY_MAX);
	if (tally != NULL) {
		tally->situation = situation;
		tally->situations = situations;
		tally->enough_cases = enough_cases;
	}
	return (struct o2_property){
		.ops = ops,
		.context = tally,
		.counters = tally,
		.counters_bytes = sizeof(*tally),
	};
}

void *o2_tally_place(void *place, size_t bytes, const char *signature, struct o2_report *report)
{
	o2_report_clear(report);
	if (place == NULL)
		place = calloc(1, bytes);
	if (place == NULL)
		o2_report_fail(report, signature, "no memory for what cases run on");
	return place;
}

enum o2_status o2_tally_case(struct o2_tally *tally, const struct o2_choice *choice,
			     const struct o2_report *report)
{
	tally->cases += o2_choice_ok(choice);
	return o2_choice_status(choice, report->failed ? O2_STATUS_INTERESTING : O2_STATUS_VALID);
}

void o2_tally_result(const void *context, const struct o2_run_options *options, json_t *result)
{
	const struct o2_tally *tally = context;
	json_t *situations = json_object();

	(void)options;
	for (uint32_t i = 0; i < tally->situations; i++)
		json_object_set_new(situations, tally->situation[i],
				    json_integer((json_int_t)tally->seen[i]));
	json_object_set_new(result, "cases", json_integer((json_int_t)tally->cases));
	json_object_set_new(result, "situations", situations);
}

json_t *o2_tally_missing(const void *context, uint64_t packets_sent)
{
	const struct o2_tally *tally = context;
	json_t *names = json_array();

	(void)packets_sent;
	for (uint32_t i = 0; i < tally->situations && tally->cases >= tally->enough_cases; i++)
		if (!tally->excused[i] && tally->seen[i] == 0)
			json_array_append_new(names, json_string(tally->situation[i]));
	return names;
}

void o2_tally_line(const void *context, double seconds, char *text, size_t text_bytes)
{
	const struct o2_tally *tally = context;
	uint32_t met = 0;

	for (uint32_t i = 0; i < tally->situations; i++)
		met += tally->seen[i] != 0;
	snprintf(text, text_bytes,
		 "%" PRIu64 " cases: %" PRIu32 " of %" PRIu32 " situations met, %.0f s, %.0f/s", tally->cases,
		 met, tally->situations, seconds, seconds > 0 ? (double)tally->cases / seconds : 0);
}
