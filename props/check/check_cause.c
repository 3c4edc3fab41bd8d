/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "props/check/check_internal.h"

/*
 * Group findings by cause (docs/oracle.md, "Causes"). The cause inside an implementation cannot be known. But if
 * one fault explains several findings, they are shown as one.
 */

static bool admits_wrongly(const struct o2_difference *d)
{
	return d->rule[0] != '\0' && d->refused_as[0] == '\0';
}

static bool refuses_wrongly(const struct o2_difference *d)
{
	return d->rule[0] == '\0' && d->refused_as[0] != '\0';
}

/* Both refuse, with another errno or name. */
static bool is_wording(const struct o2_difference *d)
{
	return d->rule[0] != '\0' && d->refused_as[0] != '\0';
}

bool o2_check_explains(const struct o2_difference *known, const struct o2_difference *difference)
{
	/* The implementation does not check the rule, so a case that breaks several is refused by the next one. */
	if (admits_wrongly(known) && is_wording(difference))
		return strcmp(known->rule, difference->rule) == 0;
	/* A refusal that occurs too often also occurs in place of others. */
	if (refuses_wrongly(known) && is_wording(difference))
		return strcmp(known->refused_as, difference->refused_as) == 0;
	return false;
}

/* Do both refuse legal cases, of different kinds, with the same name? */
static bool same_refusal(const struct o2_difference *a, const struct o2_difference *b)
{
	return refuses_wrongly(a) && refuses_wrongly(b) && strcmp(a->refused_as, b->refused_as) == 0;
}

/* Is it the same member of the answers, for different kinds: "reg/fmr/bytes" and "reg/phys/bytes"? */
static bool same_of_other_kind(const struct o2_difference *a, const struct o2_difference *b)
{
	const char *x = o2_check_name(a->check), *y = o2_check_name(b->check);
	const char *middle_x = strchr(x, '/'), *middle_y = strchr(y, '/');
	const char *last_x = strrchr(x, '/'), *last_y = strrchr(y, '/');

	return middle_x != last_x && middle_y != last_y && strcmp(last_x, last_y) == 0 &&
	       strcmp(a->cause, b->cause) == 0;
}

static bool has_text(const json_t *list, const char *text)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
		if (strcmp(json_string_value(item), text) == 0)
			return true;
	return false;
}

/* Does the smallest case of each show the other, so that no case shows one alone? */
static bool always_together(const struct o2_check_finding *a, const struct o2_check_finding *b)
{
	return has_text(a->others, o2_check_name(b->difference.check)) &&
	       has_text(b->others, o2_check_name(a->difference.check));
}

static bool one_cause(const struct o2_check_finding *a, const struct o2_check_finding *b)
{
	const struct o2_difference *x = &a->difference, *y = &b->difference;

	/* A known difference forms its own cause, so that it hides no other finding. */
	if (x->check == O2_CHECK_RDMA_IMPOSSIBLE && x->check == y->check)
		return x->known == y->known;
	/* Whatever is in them, answers that change depend on something else than the question. */
	if (x->check == O2_CHECK_RUN_UNSTABLE && x->check == y->check && a->stage == b->stage)
		return x->known == y->known;
	return a->stage == b->stage && (x->known == 0) == (y->known == 0) &&
	       (o2_check_explains(x, y) || o2_check_explains(y, x) || same_refusal(x, y) ||
		same_of_other_kind(x, y) || (x->check != y->check && always_together(a, b)));
}

/* The root of a union-find set; shortens the path. */
static uint32_t root_of(struct o2_check_finding *finding, uint32_t i)
{
	while (finding[i].cause != i) {
		finding[i].cause = finding[finding[i].cause].cause;
		i = finding[i].cause;
	}
	return i;
}

/*
 * A finding that counts is preferred to stand for its cause, so that no failure is hidden under one that does not
 * count. Among several, prefer the more telling: a verdict, then a value, then the wording of a refusal.
 */
static uint32_t weight(const struct o2_check_finding *finding, enum o2_profile profile)
{
	const struct o2_difference *d = &finding->difference;
	const uint32_t must = o2_check_severity(d->check, profile) == O2_CHECK_MUST ? 3 : 0;

	if (admits_wrongly(d) || refuses_wrongly(d))
		return must + 2;
	return must + (is_wording(d) ? 0 : 1);
}

uint32_t o2_check_causes(struct o2_check_subject *subject, enum o2_profile profile)
{
	struct o2_check_finding *finding = subject->finding;
	uint32_t causes = 0;

	for (uint32_t i = 0; i < subject->findings; i++)
		finding[i].cause = i;
	for (uint32_t i = 0; i < subject->findings; i++)
		for (uint32_t k = 0; k < i; k++) {
			uint32_t a = root_of(finding, i), b = root_of(finding, k);

			if (a == b || !one_cause(&finding[i], &finding[k]))
				continue;
			if (weight(&finding[a], profile) > weight(&finding[b], profile))
				finding[b].cause = a;
			else
				finding[a].cause = b;
		}
	for (uint32_t i = 0; i < subject->findings; i++) {
		finding[i].cause = root_of(finding, i);
		causes += finding[i].cause == i;
	}
	return causes;
}
