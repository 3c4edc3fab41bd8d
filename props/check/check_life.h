/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_LIFE_H
#define O2_PROPS_CHECK_LIFE_H

#include <jansson.h>

/*
 * A conversation of stage keys as a life line: event by event what the reference and the implementation hand
 * over, which key is alive on the device, and what is published; red where they differ.  A new JSON string, or
 * null for another stage, or an answer that is none.
 */
json_t *o2_check_life(const json_t *question, const json_t *found);

#endif
