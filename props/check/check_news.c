/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/json.h"
#include "props/check/check_internal.h"
#include "props/check/check_since.h"

/* Which differences are followed, which are counted with a kept one, and which are dropped. */

struct o2_check_finding *o2_check_finding_of(struct o2_check_subject *subject, enum o2_stage stage,
					     const struct o2_difference *difference)
{
	for (uint32_t i = 0; i < subject->findings; i++)
		if (subject->finding[i].stage == stage &&
		    o2_same_cause(&subject->finding[i].difference, difference))
			return &subject->finding[i];
	return NULL;
}

static bool shares_room(const struct o2_difference *a, const struct o2_difference *b)
{
	return a->check == b->check && a->known == b->known;
}

static bool has_room(struct o2_check_run *run, enum o2_stage stage, const struct o2_difference *difference)
{
	const struct o2_check_subject *subject = run->subject;
	uint32_t causes = 0;

	for (uint32_t i = 0; i < subject->findings; i++)
		causes += subject->finding[i].stage == stage &&
			  shares_room(&subject->finding[i].difference, difference);
	for (uint32_t i = 0; i < run->leads; i++)
		causes += run->item[run->lead[i].item]->asked.stage == stage &&
			  shares_room(&run->lead[i].difference, difference);
	return causes < O2_CHECK_CAUSES;
}

static void note_dropped(struct o2_check_run *run, enum o2_stage stage,
			 const struct o2_difference *difference)
{
	run->subject->more_causes++;
	if (o2_check_counts(run->options, difference))
		run->subject->not_kept[stage][difference->check]++;
}

bool o2_check_may_keep(struct o2_check_run *run, enum o2_stage stage, const struct o2_difference *difference)
{
	const bool room = has_room(run, stage, difference);

	if (!room)
		note_dropped(run, stage, difference);
	return room;
}

/*
 * The finding that explains the difference; NULL: none.  What does not count explains nothing that does, what is
 * listed as known nothing that is not, and what was there before nothing that is new.
 */
static struct o2_check_finding *explanation_of(struct o2_check_run *run, enum o2_stage stage,
					       const struct o2_difference *difference)
{
	const json_t *before = o2_check_since_findings(run->options->since, run->subject->place);

	for (uint32_t i = 0; i < run->subject->findings; i++) {
		struct o2_check_finding *finding = &run->subject->finding[i];

		if (finding->stage == stage && finding->difference.known == difference->known &&
		    (o2_check_counts(run->options, &finding->difference) ||
		     !o2_check_counts(run->options, difference)) &&
		    o2_check_explains(&finding->difference, difference) &&
		    o2_check_since_explained(before, stage, &finding->difference, difference))
			return finding;
	}
	return NULL;
}

static void note_explained(struct o2_check_finding *finding, const struct o2_difference *difference)
{
	json_t *one = json_pack("{s:s, s:s, s:o}", "stage", o2_stage_name(finding->stage), "check",
				o2_check_name(difference->check), "reason", o2_json_text(difference->cause));
	const json_t *other;
	size_t i;
	bool listed = false;

	finding->explained++;
	if (finding->explains == NULL)
		finding->explains = json_array();
	json_array_foreach(finding->explains, i, other)
		listed |= json_equal(one, other) != 0;
	if (listed || json_array_size(finding->explains) >= O2_CHECK_EXPLAINED)
		json_decref(one);
	else
		json_array_append_new(finding->explains, one);
}

bool o2_check_is_news(struct o2_check_run *run, const struct o2_check_item *item,
		      const struct o2_difference *difference)
{
	struct o2_check_finding *finding = o2_check_finding_of(run->subject, item->asked.stage, difference);
	const bool shrinkable = item->drawn || item->nchoices > 0;

	for (uint32_t i = 0; i < run->leads; i++)
		/* Each late answer is asked for again, as one may be late and another one never come. */
		if (run->item[run->lead[i].item]->asked.stage == item->asked.stage &&
		    o2_same_cause(&run->lead[i].difference, difference))
			return difference->check == O2_CHECK_RUN_HANG;
	if (finding == NULL) {
		struct o2_check_finding *explanation = explanation_of(run, item->asked.stage, difference);

		if (explanation != NULL) {
			note_explained(explanation, difference);
			return false;
		}
		return o2_check_may_keep(run, item->asked.stage, difference);
	}
	finding->seen++;
	return shrinkable && !finding->shrinkable;
}

bool o2_check_hung_before(struct o2_check_run *run, const struct o2_check_lead *lead)
{
	const struct o2_check_item *item = run->item[lead->item];
	struct o2_check_finding *finding;

	if (lead->difference.check != O2_CHECK_RUN_HANG)
		return false;
	finding = o2_check_finding_of(run->subject, item->asked.stage, &lead->difference);
	if (finding == NULL || ((item->drawn || item->nchoices > 0) && !finding->shrinkable))
		return false;
	finding->seen++;
	return true;
}
