/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_PICTURE_H
#define O2_PROPS_CHECK_PICTURE_H

#include <jansson.h>

#include "oracle/case.h"
#include "props/check/check_both.h"
#include "props/explain/explain.h"
#include "props/scenario/scenario.h"

/*
 * A transfer with the memory of a single stage's question, to be drawn.  False for messages, which have no
 * memory, and for what no transfer can have: pages of another size, pieces outside of their pages, a sink
 * that overlaps itself, fragments of a descriptor that leave a page.
 */
bool o2_check_scenario(const struct o2_case *asked, struct o2_scenario *scenario);

/* The device addresses of a side's pages, where a question has nothing but addresses. */
typedef uint64_t o2_check_pages[O2_SCENARIO_PAGES];

/* The same; pages: of both sides, UINT64_MAX where a page has none. */
bool o2_check_scenario_at(const struct o2_case *asked, struct o2_scenario *scenario, o2_check_pages pages[2]);

/*
 * What the implementation's answer would do in a transfer with that memory, in which everything else is the
 * reference's, drawn as `o2ref explain` draws: bytes that get lost or come to a wrong place are red.
 * scenario: of a whole transfer, else NULL.  A new JSON string, or null: there is nothing to draw.
 */
json_t *o2_check_answer_picture(const struct o2_check_both *both, const struct o2_scenario *scenario);

/* What `o2ref explain` draws of it, as text; a new JSON string, or null when it cannot be drawn. */
json_t *o2_check_picture(const struct o2_scenario *scenario);

/* The picture of an explanation that is worked out. */
json_t *o2_check_drawn(const struct o2_explain *explain);

#endif
