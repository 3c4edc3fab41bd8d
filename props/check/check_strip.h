/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_STRIP_H
#define O2_PROPS_CHECK_STRIP_H

#include "props/check/check_both.h"

/*
 * What an implementation's own answer does with the bytes, drawn beside what has to become of them: a bar for
 * each side, from the first byte of the transfer to the last; red where a byte is wrong, lost, or one too
 * many.
 *
 * A new JSON string with an SVG picture that needs nothing but
 * itself, or null: there are no bytes in either answer, or both have them at the same places.
 */
json_t *o2_check_strip(const struct o2_check_both *both);

#endif
