/* SPDX-License-Identifier: MIT */
#include "props/check/forms.h"

#include <stdio.h>
#include <string.h>

#define LINES 5u /* of each kind in a report */

struct o2_said *o2_foretold_add(struct o2_foretold *foretold, const char *check, const char *field)
{
	struct o2_said *said = &foretold->said[foretold->count++];

	*said = (struct o2_said){.check = ""};
	snprintf(said->check, sizeof(said->check), "%s", check);
	snprintf(said->field, sizeof(said->field), "%s", field);
	return said;
}

/* Texts that are too long are cut. */
static bool same_text(const char *text, size_t room, const char *expected)
{
	return strncmp(text, expected, room - 1) == 0 && strlen(text) < room;
}

bool o2_said_words(const struct o2_said *said, const struct o2_difference *item)
{
	return same_text(item->field, sizeof(item->field), said->field) &&
	       same_text(item->expected, sizeof(item->expected), said->expected) &&
	       same_text(item->found, sizeof(item->found), said->found);
}

bool o2_foretold_found(const struct o2_foretold *foretold, const struct o2_comparison *comparison)
{
	bool same = comparison->count == foretold->count;

	for (uint32_t i = 0; same && i < foretold->count; i++) {
		const struct o2_difference *item = &comparison->item[i];
		const struct o2_said *said = &foretold->said[i];

		same = strcmp(o2_check_name(item->check), said->check) == 0 && o2_said_words(said, item) &&
		       same_text(item->cause, sizeof(item->cause), said->cause) &&
		       same_text(item->rule, sizeof(item->rule), said->rule) &&
		       same_text(item->refused_as, sizeof(item->refused_as), said->refused_as);
	}
	return same;
}

void o2_foretold_report(const struct o2_foretold *foretold, const struct o2_comparison *comparison,
			struct o2_report *report)
{
	for (uint32_t i = 0; foretold != NULL && i < foretold->count && i < LINES; i++) {
		const struct o2_said *said = &foretold->said[i];

		o2_report_add(report, "expected %s: %s: %s, %s (%s)", said->check, said->field,
			      said->expected, said->found, said->cause);
	}
	for (uint32_t i = 0; i < comparison->count && i < LINES; i++) {
		const struct o2_difference *item = &comparison->item[i];

		o2_report_add(report, "found %s: %s: %s, %s (%s)", o2_check_name(item->check), item->field,
			      item->expected, item->found, item->cause);
	}
}
