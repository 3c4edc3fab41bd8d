/* SPDX-License-Identifier: MIT */
#include "props/engine/left_behind.h"

#include <stdlib.h>
#include <string.h>

/* If give_back is slow: readings up to CASES_FEW cases, then from CASES_FIRST on. */
#define CASES_FEW   2u
#define CASES_FIRST 1024u

/* The most cases between two readings; a power of two.  A reading takes as long as some hundred cases of the
 * fastest property. */
#define CASES_BETWEEN 16384u

bool o2_left_due(const struct o2_property *property, uint64_t cases)
{
	const bool doubled = (cases & (cases - 1)) == 0;

	if (property->gives_back_slowly)
		return doubled && (cases <= CASES_FEW || cases >= CASES_FIRST);
	return doubled || cases % CASES_BETWEEN == 0;
}

static void give_back(const struct o2_property *property)
{
	if (property->ops->give_back != NULL)
		property->ops->give_back(property->context);
}

void o2_left_mark(const struct o2_property *property, struct o2_process_held *held)
{
	give_back(property);
	o2_process_held_now(held);
}

bool o2_left_nothing(const struct o2_property *property, const struct o2_process_held *held,
		     struct o2_report *report)
{
	struct o2_process_held now;
	char text[O2_REPORT_LINE_BYTES];

	give_back(property);
	if (o2_process_held_again(held, &now))
		return true;
	o2_process_held_text(held, &now, text, sizeof(text));
	o2_report_fail_in(report, property->ops->name, O2_LEFT_BEHIND, "the process holds %s", text);
	return false;
}

enum o2_status o2_left_weigh(const struct o2_property *property, struct o2_choice *choice,
			     struct o2_report *report)
{
	enum o2_status status = property->ops->run_case(property->context, choice, report);
	uint8_t *bytes = malloc(O2_CHOICE_MAX_BYTES + property->counters_bytes);
	const size_t length = choice->record_bytes;
	struct o2_process_held held;

	if (status != O2_STATUS_VALID || bytes == NULL) {
		free(bytes);
		return status;
	}
	memcpy(bytes, choice->record, length);
	memcpy(bytes + O2_CHOICE_MAX_BYTES, property->counters, property->counters_bytes);
	o2_left_mark(property, &held);
	o2_choice_replay(choice, bytes, length);
	status = property->ops->run_case(property->context, choice, report);
	/* A failure may not count (o2_report_only); the report then stays empty. */
	if (status == O2_STATUS_VALID && !o2_left_nothing(property, &held, report) && report->failed)
		status = O2_STATUS_INTERESTING;
	memcpy(property->counters, bytes + O2_CHOICE_MAX_BYTES, property->counters_bytes);
	free(bytes);
	return status;
}
