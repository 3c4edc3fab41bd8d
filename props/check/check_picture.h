/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_PICTURE_H
#define O2_PROPS_CHECK_PICTURE_H

#include <jansson.h>

#include "oracle/case.h"
#include "props/check/check_both.h"
#include "props/explain/explain.h"
#include "props/scenario/scenario.h"

/*
 * Make a transfer that uses the memory of a single stage's question, to draw it. False for messages, which have
 * no memory, and for what no transfer can have: another page size, pieces outside of their pages, a sink that
 * overlaps itself, fragments of a descriptor that leave a page.
 */
bool o2_check_scenario(const struct o2_case *asked, struct o2_scenario *scenario);

/* The device addresses of a side's pages, for questions that have only addresses. */
typedef uint64_t o2_check_pages[O2_SCENARIO_PAGES];

/* Like o2_check_scenario, and fills pages of both sides: UINT64_MAX where a page has no address. */
bool o2_check_scenario_at(const struct o2_case *asked, struct o2_scenario *scenario, o2_check_pages pages[2]);

/*
 * Draw, as `o2ref explain` does, what the implementation's answer does in a transfer with that memory; all other
 * steps are the reference's. Bytes that get lost or land in a wrong place are red. scenario: of a whole transfer,
 * else NULL. Returns a new JSON string, or null if there is nothing to draw.
 */
json_t *o2_check_answer_picture(const struct o2_check_both *both, const struct o2_scenario *scenario);

/* The picture that `o2ref explain` draws of the scenario: a new JSON string, or null when it cannot be drawn. */
json_t *o2_check_picture(const struct o2_scenario *scenario);

/* The picture of an explanation that has been computed, as a new JSON string or null. */
json_t *o2_check_drawn(const struct o2_explain *explain);

#endif
