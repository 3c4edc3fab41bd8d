/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/markup.h"
#include "props/check/check.h"
#include "props/check/check_view.h"

/* A result as JUnit: one case for each check. */

static const json_t *finding_for(const json_t *one, const char *check)
{
	const json_t *findings = json_object_get(one, "findings");
	const json_t *finding;
	size_t i;

	json_array_foreach(findings, i, finding) {
		if (strcmp(o2_view_text(finding, "check"), check) == 0)
			return finding;
	}
	return NULL;
}

static void put_failure(const json_t *finding, FILE *out)
{
	o2_markup(out,
		  "><failure message=\"%s: reference %s, implementation %s\">%s\nreplay: %s"
		  "</failure></testcase>\n",
		  o2_view_text(finding, "field"), o2_view_text(finding, "expected"),
		  o2_view_text(finding, "found"), o2_view_text(finding, "holds"),
		  o2_view_text(finding, "replay"));
}

/* Whether the implementation was asked for anything in the stage of this check. */
static bool was_asked(const json_t *one, enum o2_check_id check)
{
	const json_t *stages = json_object_get(one, "stages");
	const json_t *stage;
	enum o2_stage which;
	size_t i;

	if (!o2_check_stage(check, &which))
		return true;
	json_array_foreach(stages, i, stage) {
		if (strcmp(o2_view_text(stage, "stage"), o2_stage_name(which)) == 0)
			return o2_view_number(stage, "asked") > o2_view_number(stage, "not_implemented");
	}
	return false;
}

/* One case for each check: passed, failed, or skipped with its stage. */
void o2_check_junit(const json_t *result, FILE *out)
{
	const json_t *list = json_object_get(result, "implementations");
	const json_t *one;
	size_t i;

	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n", out);
	json_array_foreach(list, i, one) {
		o2_markup(out, " <testsuite name=\"%s\"", o2_view_text(one, "name"));
		fprintf(out, " tests=\"%u\" time=\"%.3f\">\n", (unsigned int)O2_CHECKS,
			json_real_value(json_object_get(one, "seconds")));
		for (uint32_t check = 0; check < O2_CHECKS; check++) {
			const char *name = o2_check_name((enum o2_check_id)check);
			const json_t *finding = finding_for(one, name);

			fprintf(out, "  <testcase classname=\"o2ref.check\" name=\"%s\"", name);
			if (finding != NULL && o2_view_flag(finding, "counts"))
				put_failure(finding, out);
			else if (!was_asked(one, (enum o2_check_id)check))
				fputs("><skipped/></testcase>\n", out);
			else
				fputs("/>\n", out);
		}
		fputs(" </testsuite>\n", out);
	}
	fputs("</testsuites>\n", out);
}
