/* SPDX-License-Identifier: MIT */
#include "props/engine/shrink_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_bytes(const uint8_t *bytes, size_t n)
{
	uint64_t hash = o2_mix64(n + 1), word;
	size_t i;

	for (i = 0; i + 8 <= n; i += 8) {
		memcpy(&word, bytes + i, 8);
		hash = o2_mix64(hash + word) + i;
	}
	word = 0;
	memcpy(&word, bytes + i, n - i);
	hash = o2_mix64(hash + word);
	return hash != 0 ? hash : 1;
}

/* Remember a candidate; false if it was known already. */
static bool remember(struct o2_shrinker *s)
{
	const uint64_t hash = hash_bytes(s->candidate, s->candidate_bytes);
	size_t i = hash & s->tried_mask;

	for (; s->tried[i] != 0; i = (i + 1) & s->tried_mask) {
		if (s->tried[i] == hash)
			return false;
	}
	s->tried[i] = hash;
	return true;
}

static enum o2_status run_candidate(struct o2_shrinker *s)
{
	o2_choice_replay(s->trial, s->candidate, s->candidate_bytes);
	s->report.calls++;
	return o2_choice_status(s->trial, s->run(s->context, s->trial));
}

static bool smaller(const struct o2_choice *a, const struct o2_choice *b)
{
	return o2_shortlex(a->record, a->record_bytes, b->record, b->record_bytes) < 0;
}

void o2_shrink_copy_best(struct o2_shrinker *s)
{
	memcpy(s->candidate, s->best->record, s->best->record_bytes);
	s->candidate_bytes = s->best->record_bytes;
}

bool o2_shrink_try(struct o2_shrinker *s)
{
	struct o2_choice *const best = s->best;

	if (o2_shortlex(s->candidate, s->candidate_bytes, best->record, best->record_bytes) >= 0)
		return false;
	if (s->report.calls + 1 >= s->max_calls) { /* one call is reserved for the final confirmation */
		s->report.out_of_calls = true;
		return false;
	}
	if (!remember(s)) {
		s->report.duplicates++;
		return false;
	}
	if (run_candidate(s) != O2_STATUS_INTERESTING || !smaller(s->trial, best))
		return false;
	s->best = s->trial;
	s->trial = best;
	s->report.accepted++;
	return true;
}

/* Run the given case, shrink it, and run the result once more. */
static int shrink_case(struct o2_shrinker *s, uint8_t *bytes, size_t *length_bytes)
{
	if (*length_bytes > 0)
		memcpy(s->candidate, bytes, *length_bytes);
	s->candidate_bytes = *length_bytes;
	remember(s);
	if (run_candidate(s) != O2_STATUS_INTERESTING)
		return -ESTALE;
	*s->best = *s->trial;
	s->report.before_bytes = s->best->record_bytes;
	o2_shrink_to_rest(s);
	s->report.after_bytes = s->best->record_bytes;
	o2_shrink_copy_best(s);
	if (run_candidate(s) != O2_STATUS_INTERESTING)
		return -ESTALE;
	o2_shrink_copy_best(s);
	memcpy(bytes, s->candidate, s->candidate_bytes);
	*length_bytes = s->candidate_bytes;
	return 0;
}

int o2_shrink(o2_run_fn run, void *context, uint8_t *bytes, size_t *length_bytes, uint32_t max_calls,
	      struct o2_shrink_report *report)
{
	struct o2_shrinker *s;
	size_t slots = 16;
	int code = -ENOMEM;

	if (*length_bytes > O2_CHOICE_MAX_BYTES || max_calls < 3 || max_calls > O2_SHRINK_MAX_CALLS)
		return -EINVAL;
	while (slots < 2 * (size_t)max_calls)
		slots *= 2;
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		return -ENOMEM;
	s->run = run;
	s->context = context;
	s->max_calls = max_calls;
	s->best = calloc(1, sizeof(*s->best));
	s->trial = calloc(1, sizeof(*s->trial));
	s->tried = calloc(slots, sizeof(*s->tried));
	s->tried_mask = slots - 1;
	if (s->best != NULL && s->trial != NULL && s->tried != NULL)
		code = shrink_case(s, bytes, length_bytes);
	if (report != NULL)
		*report = s->report;
	free(s->best);
	free(s->trial);
	free(s->tried);
	free(s);
	return code;
}
