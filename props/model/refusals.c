/* SPDX-License-Identifier: MIT */
#include "props/model/refusals.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

void o2_refusals_add(struct o2_refusals *refusals, int code, const char *rule, uint32_t index, uint64_t value,
		     uint64_t limit)
{
	for (uint32_t i = 0; i < refusals->count; i++)
		if (strcmp(refusals->expected[i].rule, rule) == 0)
			return;
	assert(refusals->count < O2_REFUSALS_MAX);
	refusals->expected[refusals->count++] =
		(struct o2_error){.code = code, .rule = rule, .index = index, .value = value, .limit = limit};
}

static void describe(struct o2_report *report, const char *who, const struct o2_error *error)
{
	o2_report_add(report, "%s: code %d, rule %s, index %" PRIu32 ", value %" PRIu64 ", limit %" PRIu64,
		      who, error->code, error->rule == NULL ? "none" : error->rule, error->index,
		      error->value, error->limit);
}

/* Report the failure: its kind, then the actual refusal and the possible ones. */
static uint32_t fail(const struct o2_refusals *refusals, const struct o2_error *error, const char *stage,
		     const char *kind, struct o2_report *report)
{
	o2_report_fail_in(report, stage, kind, "%" PRIu32 " rules are broken", refusals->count);
	if (error != NULL)
		describe(report, "refused with", error);
	for (uint32_t i = 0; i < refusals->count && i < 4; i++)
		describe(report, "expected", &refusals->expected[i]);
	return refusals->count;
}

static bool same(const struct o2_error *a, const struct o2_error *b)
{
	return a->code == b->code && strcmp(a->rule, b->rule) == 0 && a->index == b->index &&
	       a->value == b->value && a->limit == b->limit;
}

uint32_t o2_refusals_check(const struct o2_refusals *refusals, int rc, const struct o2_error *error,
			   const char *stage, struct o2_report *report)
{
	char text[256];

	if (rc == 0 && refusals->count > 0)
		return fail(refusals, NULL, stage, "accepted", report);
	if (rc == 0)
		return error->rule == NULL ? 0
					   : fail(refusals, error, stage, "accepted-with-an-error", report);
	if (refusals->count == 0)
		return fail(refusals, error, stage, "refused", report);
	if (error->code != rc || error->rule == NULL || error->field == NULL ||
	    o2_error_text(error, text, sizeof(text)) <= 0)
		return fail(refusals, error, stage, "error-record", report);
	for (uint32_t i = 0; i < refusals->count; i++)
		if (same(error, &refusals->expected[i]))
			return i;
	return fail(refusals, error, stage, "refused-for-another-reason", report);
}

bool o2_refusal_is_true(const struct o2_error *error)
{
	if (strcmp(error->rule, "json/not-a-hex-digit") == 0)
		return !isxdigit((int)error->value);
	if (error->limit_kind == O2_LIMIT_OTHER || error->limit == O2_NO_LIMIT)
		return true;
	if (error->limit_kind == O2_LIMIT_MULTIPLE && error->limit != 0)
		return error->value == 0 || error->value % error->limit != 0;
	return error->value != error->limit;
}
