/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_PICTURE_H
#define O2_PROPS_CHECK_PICTURE_H

#include <jansson.h>

#include "oracle/case.h"
#include "props/scenario/scenario.h"

/*
 * A transfer with the memory of a single stage's question, to be drawn.  False for messages, which have no
 * memory, and for what no transfer can have: pages of another size, pieces outside of their pages, a sink
 * that overlaps itself, fragments of a descriptor that leave a page.
 */
bool o2_check_scenario(const struct o2_case *asked, struct o2_scenario *scenario);

/* What `o2ref explain` draws of it, as text; a new JSON string, or null when it cannot be drawn. */
json_t *o2_check_picture(const struct o2_scenario *scenario);

#endif
