/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_LIFE_H
#define O2_PROPS_CHECK_LIFE_H

#include "props/check/check_both.h"

/*
 * A conversation of stage keys as a life line: event by event what the reference and the implementation hand
 * over, which key is alive on the device, and what is published; red where they differ.  A new JSON string, or
 * null for another stage, or an answer that is none.
 */
json_t *o2_check_life(const struct o2_check_both *both);

#endif
