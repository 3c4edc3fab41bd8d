/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "props/check/check.h"
#include "props/explain/markup.h"

/* A result as a table and findings for a terminal, and as JUnit. */

#define NAME_BYTES     24u
#define QUESTION_BYTES 600u /* of a question that are shown */

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text == NULL ? "" : text;
}

static uint64_t number_of(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

static const char *colour(bool color, const char *code)
{
	return color ? code : "";
}

#define RED    "\033[31m"
#define GREEN  "\033[32m"
#define YELLOW "\033[33m"
#define BOLD   "\033[1m"
#define PLAIN  "\033[0m"

static void print_cell(const json_t *stage, bool color, FILE *out)
{
	const uint64_t asked = number_of(stage, "asked");
	const uint64_t differed = number_of(stage, "differed");
	const uint64_t absent = number_of(stage, "not_implemented");
	char cell[64];

	if (json_is_true(json_object_get(stage, "absent")) || (asked > 0 && absent == asked))
		snprintf(cell, sizeof(cell), "not implemented");
	else if (asked == 0)
		snprintf(cell, sizeof(cell), "not asked");
	else if (differed == 0)
		snprintf(cell, sizeof(cell), "%" PRIu64 " agree", asked - absent);
	else
		snprintf(cell, sizeof(cell), "%" PRIu64 " of %" PRIu64 " differ%s", differed, asked - absent,
			 json_is_true(json_object_get(stage, "given_up")) ? ", given up" : "");
	fprintf(out, "  %s%-24s%s",
		colour(color, differed > 0     ? RED
			      : asked > absent ? GREEN
					       : YELLOW),
		cell, colour(color, PLAIN));
}

/* The end of a long name tells more than its beginning. */
static const char *short_name(const char *name)
{
	const size_t length = strlen(name);

	return length > NAME_BYTES ? name + length - NAME_BYTES : name;
}

/* Stages down, implementations across. */
static void print_table(const json_t *list, bool color, FILE *out)
{
	const json_t *first = json_object_get(json_array_get(list, 0), "stages");
	const json_t *one;
	size_t i, k;

	fprintf(out, "%-12s", "");
	json_array_foreach(list, i, one) fprintf(out, "  %-24s", short_name(text_of(one, "name")));
	fputc('\n', out);
	for (k = 0; k < json_array_size(first); k++) {
		fprintf(out, "%-12s", text_of(json_array_get(first, k), "stage"));
		json_array_foreach(list, i, one)
			print_cell(json_array_get(json_object_get(one, "stages"), k), color, out);
		fputc('\n', out);
	}
}

static void print_question(const json_t *finding, FILE *out)
{
	char *text = json_dumps(json_object_get(finding, "question"), JSON_COMPACT | JSON_ENCODE_ANY);

	if (text == NULL)
		return;
	fprintf(out, "    question   %.*s%s\n", (int)QUESTION_BYTES, text,
		strlen(text) > QUESTION_BYTES ? " ..." : "");
	free(text);
}

static void print_finding(const json_t *finding, bool color, FILE *out)
{
	const json_t *shrunk = json_object_get(finding, "shrunk");
	const bool counts = json_is_true(json_object_get(finding, "counts"));
	const char *known = json_string_value(json_object_get(finding, "known"));

	fprintf(out, "\n  %s%s%s  %s%s%s  (%s, seen in %" PRIu64 " cases)\n",
		colour(color, counts ? RED : YELLOW), known != NULL ? "known" : text_of(finding, "severity"),
		colour(color, PLAIN), colour(color, BOLD), text_of(finding, "check"), colour(color, PLAIN),
		text_of(finding, "stage"), number_of(finding, "seen"));
	fprintf(out, "    holds      %s\n", text_of(finding, "holds"));
	fprintf(out, "    %s: reference %s, implementation %s\n", text_of(finding, "field"),
		text_of(finding, "expected"), text_of(finding, "found"));
	if (known != NULL)
		fprintf(out, "    known      %s\n", known);
	fprintf(out, "    first      %s", text_of(finding, "origin"));
	if (shrunk != NULL)
		fprintf(out, "; shrunk from %" PRIu64 " bytes of choices to %" PRIu64 "%s",
			number_of(shrunk, "from_bytes"), number_of(shrunk, "to_bytes"),
			json_is_true(json_object_get(shrunk, "simplified")) ? ", then simplified" : "");
	fputc('\n', out);
	print_question(finding, out);
	fprintf(out, "    replay     %s\n", text_of(finding, "replay"));
}

static void print_one(const json_t *one, bool several, bool color, FILE *out)
{
	const json_t *findings = json_object_get(one, "findings");
	const json_t *stale = json_object_get(one, "stale");
	const json_t *item;
	size_t i;

	if (several && (json_array_size(findings) > 0 || json_array_size(stale) > 0))
		fprintf(out, "\n%s\n", text_of(one, "name"));
	json_array_foreach(findings, i, item) print_finding(item, color, out);
	json_array_foreach(stale, i, item) fprintf(
		out, "\n  %sstale%s  %s is listed as a known difference (%s) and does not occur any more\n",
		colour(color, RED), colour(color, PLAIN), text_of(item, "check"), text_of(item, "reason"));
	if (number_of(one, "late") > 0)
		fprintf(out,
			"\n  note: %" PRIu64
			" answers came too late once, and in time when asked for again\n",
			number_of(one, "late"));
	if (number_of(one, "unmapped_names") > 0)
		fprintf(out,
			"\n  note: %" PRIu64
			" refusals carry names that no error map knows; only their errno was "
			"compared\n",
			number_of(one, "unmapped_names"));
}

static uint64_t asked_by(const json_t *one)
{
	const json_t *stages = json_object_get(one, "stages");
	const json_t *stage;
	uint64_t sum = 0;
	size_t i;

	json_array_foreach(stages, i, stage) sum +=
		number_of(stage, "asked") - number_of(stage, "not_implemented");
	return sum;
}

void o2_check_print(const json_t *result, bool color, FILE *out)
{
	const json_t *list = json_object_get(result, "implementations");
	const json_t *one;
	size_t i;

	print_table(list, color, out);
	json_array_foreach(list, i, one) print_one(one, json_array_size(list) > 1, color, out);
	fputc('\n', out);
	json_array_foreach(list, i, one)
	{
		const bool agrees = json_is_true(json_object_get(one, "agrees"));
		const double seconds = json_real_value(json_object_get(one, "seconds"));

		fprintf(out,
			"%s: %s%s%s: %zu findings in %" PRIu64 " answers, %.1f s (profile %s, seed %s)\n",
			text_of(one, "name"), colour(color, agrees ? GREEN : RED),
			agrees ? "agrees" : "differs", colour(color, PLAIN),
			json_array_size(json_object_get(one, "findings")), asked_by(one), seconds,
			text_of(result, "profile"), text_of(result, "seed"));
	}
}

/* --- JUnit ------------------------------------------------------------------------------------------------
 */

/* What XML 1.0 has no way to write is left out. */
static void xml_text(const char *text, FILE *out)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text >= ' ' || *text == '\n')
			o2_markup_text(text, 1, out);
}

static const json_t *finding_for(const json_t *one, const char *check)
{
	const json_t *findings = json_object_get(one, "findings");
	const json_t *finding;
	size_t i;

	json_array_foreach(findings, i,
			   finding) if (strcmp(text_of(finding, "check"), check) == 0) return finding;
	return NULL;
}

static void junit_failure(const json_t *finding, FILE *out)
{
	fputs("><failure message=\"", out);
	xml_text(text_of(finding, "field"), out);
	fputs(": reference ", out);
	xml_text(text_of(finding, "expected"), out);
	fputs(", implementation ", out);
	xml_text(text_of(finding, "found"), out);
	fputs("\">", out);
	xml_text(text_of(finding, "holds"), out);
	fputs("\nreplay: ", out);
	xml_text(text_of(finding, "replay"), out);
	fputs("</failure></testcase>\n", out);
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
	json_array_foreach(stages, i, stage) if (strcmp(text_of(stage, "stage"), o2_stage_name(which)) ==
						 0) return number_of(stage, "asked") >
		number_of(stage, "not_implemented");
	return false;
}

/* One case for each check: passed, failed, or skipped with its stage. */
void o2_check_junit(const json_t *result, FILE *out)
{
	const json_t *list = json_object_get(result, "implementations");
	const json_t *one;
	size_t i;

	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n", out);
	json_array_foreach(list, i, one)
	{
		fputs(" <testsuite name=\"", out);
		xml_text(text_of(one, "name"), out);
		fprintf(out, "\" tests=\"%u\" time=\"%.3f\">\n", (unsigned int)O2_CHECKS,
			json_real_value(json_object_get(one, "seconds")));
		for (uint32_t check = 0; check < O2_CHECKS; check++) {
			const char *name = o2_check_name((enum o2_check_id)check);
			const json_t *finding = finding_for(one, name);

			fprintf(out, "  <testcase classname=\"o2ref.check\" name=\"%s\"", name);
			if (finding != NULL && json_is_true(json_object_get(finding, "counts")))
				junit_failure(finding, out);
			else if (!was_asked(one, (enum o2_check_id)check))
				fputs("><skipped/></testcase>\n", out);
			else
				fputs("/>\n", out);
		}
		fputs(" </testsuite>\n", out);
	}
	fputs("</testsuites>\n", out);
}
