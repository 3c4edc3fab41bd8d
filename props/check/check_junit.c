/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "base/markup.h"
#include "props/check/check.h"
#include "props/check/check_view.h"

/* A result as JUnit: one test case per check; skipped cases say why nothing is known. */

static const json_t *finding_for(const json_t *one, const char *check)
{
	const json_t *findings = json_object_get(one, "findings");
	const json_t *finding;
	size_t i;

	/* A known difference says nothing about the other differences of the check. */
	json_array_foreach(findings, i, finding) {
		if (strcmp(o2_view_text(finding, "check"), check) == 0 && o2_view_flag(finding, "counts"))
			return finding;
	}
	return NULL;
}

static void put_failure(const json_t *finding, FILE *out)
{
	const char *since = o2_view_since(finding);

	o2_markup(out,
		  "><failure type=\"%s\" message=\"%s: reference %s, implementation %s\">%s\nreplay: %s"
		  "</failure></testcase>\n",
		  since[0] == '\0' ? o2_view_text(finding, "severity") : since,
		  o2_view_text(finding, "field"), o2_view_text(finding, "expected"),
		  o2_view_text(finding, "found"), o2_view_text(finding, "holds"),
		  o2_view_text(finding, "replay"));
}

/* An entry of the known differences does not occur any more. */
static void put_stale(const json_t *stale, FILE *out)
{
	o2_markup(out,
		  "><failure type=\"stale\" message=\"listed as a known difference, and does not occur any "
		  "more\">%s</failure></testcase>\n",
		  o2_view_text(stale, "reason"));
}

static const json_t *stage_of(const json_t *one, enum o2_check_id check)
{
	const json_t *stage;
	enum o2_stage which;
	size_t i;

	if (!o2_check_stage(check, &which))
		return NULL;
	json_array_foreach(json_object_get(one, "stages"), i, stage)
		if (strcmp(o2_view_text(stage, "stage"), o2_stage_name(which)) == 0)
			return stage;
	return NULL;
}

/* Is the name in the list, or does it begin with an entry and a slash? */
static bool is_listed(const json_t *list, const char *name)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		const char *text = json_string_value(item);
		const size_t length = strlen(text);

		if (strncmp(text, name, length) == 0 && (name[length] == '\0' || name[length] == '/'))
			return true;
	}
	return false;
}

/* Why nothing is known about a check; NULL: something is. */
static const char *why_not(const json_t *result, const json_t *one, enum o2_check_id check)
{
	const char *name = o2_check_name(check);
	const json_t *stage = stage_of(one, check);
	enum o2_stage which;

	if (o2_check_severity(check, strcmp(o2_view_text(result, "profile"), "kernel") == 0
					     ? O2_PROFILE_KERNEL
					     : O2_PROFILE_STRICT) == O2_CHECK_OFF)
		return "the profile does not ask for it";
	if (!o2_check_stage(check, &which))
		return NULL;
	if (o2_view_flag(stage, "absent"))
		return "the stage is not implemented";
	if (o2_view_number(stage, "asked") == 0)
		return "the stage was not asked";
	if (o2_view_number(stage, "asked") == o2_view_number(stage, "not_implemented"))
		return "the stage is not implemented";
	if (is_listed(json_object_get(one, "kinds_not_answered"), name))
		return "no question of this kind was answered";
	if (is_listed(json_object_get(one, "rules_not_met"), name))
		return "no question that was answered breaks this rule";
	return NULL;
}

/* What was asked and answered per stage: the basis of the test cases. */
static void put_properties(const json_t *result, const json_t *one, FILE *out)
{
	const json_t *stage;
	size_t i;

	o2_markup(out,
		  "  <properties>\n   <property name=\"label\" value=\"%s\"/>\n"
		  "   <property name=\"profile\" value=\"%s\"/>\n"
		  "   <property name=\"seed\" value=\"%s\"/>\n",
		  o2_view_text(one, "label"), o2_view_text(result, "profile"), o2_view_text(result, "seed"));
	json_array_foreach(json_object_get(one, "stages"), i, stage) {
		o2_markup(out, "   <property name=\"%s\"", o2_view_text(stage, "stage"));
		fprintf(out,
			" value=\"%" PRIu64 " asked, %" PRIu64 " not implemented, %" PRIu64
			" left out%s\"/>\n",
			o2_view_number(stage, "asked"), o2_view_number(stage, "not_implemented"),
			o2_view_number(stage, "left_out"),
			o2_view_flag(stage, "given_up") ? ", given up" : "");
	}
	fputs("  </properties>\n", out);
}

/* One test case per check: passed, failed or skipped. */
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
		put_properties(result, one, out);
		for (uint32_t check = 0; check < O2_CHECKS; check++) {
			const char *name = o2_check_name((enum o2_check_id)check);
			const json_t *finding = finding_for(one, name);
			const char *why = why_not(result, one, (enum o2_check_id)check);

			fprintf(out, "  <testcase classname=\"o2ref.check\" name=\"%s\"", name);
			if (finding != NULL)
				put_failure(finding, out);
			else if (o2_view_find(one, "stale", "check", name) != NULL)
				put_stale(o2_view_find(one, "stale", "check", name), out);
			else if (why != NULL)
				fprintf(out, "><skipped message=\"%s\"/></testcase>\n", why);
			else
				fputs("/>\n", out);
		}
		fputs(" </testsuite>\n", out);
	}
	fputs("</testsuites>\n", out);
}
