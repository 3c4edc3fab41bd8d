/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "props/engine/case_file.h"
#include "props/engine/property.h"
#include "props/engine/shrink.h"
#include "props/engine/tally.h"

/* Finds the smallest case for each counted situation of a property with a tally. */

#define CASES_AT_MOST 200000u
#define SHRINK_CALLS  3000u

struct search {
	const struct o2_property *property;
	struct o2_report report;
	uint32_t situation;
};

/* For the shrinker: does the case meet the same situation? */
static enum o2_status meets(void *context, struct o2_choice *choice)
{
	struct search *search = context;
	const struct o2_tally *tally = search->property->counters;
	const uint64_t before = tally->seen[search->situation];
	const enum o2_status status =
		search->property->ops->run_case(search->property->context, choice, &search->report);

	if (status == O2_STATUS_VALID && tally->seen[search->situation] > before)
		return O2_STATUS_INTERESTING;
	return status == O2_STATUS_INTERESTING ? O2_STATUS_VALID : status;
}

/* Find the first case of each situation, or CASES_AT_MOST, in one pass: a case costs the same for all of them. */
static void find_first(const struct o2_property *property, struct o2_report *report, struct o2_choice *choice,
		       uint64_t seed, uint64_t first[O2_TALLY_MAX])
{
	const struct o2_tally *tally = property->counters;
	uint64_t before[O2_TALLY_MAX];
	uint32_t left = 0;

	for (uint32_t s = 0; s < tally->situations; s++) {
		first[s] = CASES_AT_MOST;
		left += !tally->excused[s];
	}
	for (uint64_t i = 0; i < CASES_AT_MOST && left > 0; i++) {
		memcpy(before, tally->seen, sizeof(before));
		o2_choice_random(choice, seed, i);
		if (property->ops->run_case(property->context, choice, report) != O2_STATUS_VALID)
			continue;
		for (uint32_t s = 0; s < tally->situations; s++) {
			if (first[s] != CASES_AT_MOST || tally->seen[s] == before[s])
				continue;
			first[s] = i;
			left -= !tally->excused[s];
		}
	}
}

static int export_one(struct search *search, struct o2_choice *choice, uint8_t *bytes, const char *directory,
		      uint64_t seed, uint64_t first)
{
	const struct o2_tally *tally = search->property->counters;
	size_t length;
	char path[PATH_MAX];
	int rc;

	if (first == CASES_AT_MOST)
		return -ENOENT;
	o2_choice_random(choice, seed, first);
	if (meets(search, choice) != O2_STATUS_INTERESTING)
		return -ENOENT;
	length = choice->record_bytes;
	for (size_t i = 0; i < length; i++)
		bytes[i] = choice->record[i];
	/* Fails with -ESTALE if the case does not always meet it. */
	rc = o2_shrink(meets, search, bytes, &length, SHRINK_CALLS, NULL);
	if (rc != 0)
		return rc;
	if (snprintf(path, sizeof(path), "%s/%s", directory, tally->situation[search->situation]) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	rc = o2_case_write(path, bytes, length);
	/* The folder has gone: not to be taken for a situation that is not met. */
	return rc == -ENOENT || rc == -ESTALE ? -EIO : rc;
}

int o2_export_situations(const struct o2_property *property, const char *directory, uint64_t seed)
{
	struct search *search = calloc(1, sizeof(*search));
	struct o2_choice *choice = calloc(1, sizeof(*choice));
	uint8_t *bytes = malloc(O2_CHOICE_MAX_BYTES);
	uint64_t first[O2_TALLY_MAX];
	const struct o2_tally *tally = property->counters;
	uint32_t unmet = 0;
	int rc = search == NULL || choice == NULL || bytes == NULL ? -ENOMEM : 0;

	if (rc == 0 && mkdir(directory, 0777) != 0 && errno != EEXIST)
		rc = -errno;
	if (rc == 0) {
		search->property = property;
		find_first(property, &search->report, choice, seed, first);
	}
	for (uint32_t i = 0; rc == 0 && i < tally->situations; i++) {
		search->situation = i;
		rc = export_one(search, choice, bytes, directory, seed, first[i]);
		if (rc != -ENOENT && rc != -ESTALE)
			continue;
		if (!tally->excused[i])
			fprintf(stderr, "o2props: no case was found that %smeets situation %s\n",
				rc == -ESTALE ? "always " : "", tally->situation[i]);
		unmet += !tally->excused[i];
		rc = 0;
	}
	free(search);
	free(choice);
	free(bytes);
	return rc != 0 ? rc : unmet > 0;
}
