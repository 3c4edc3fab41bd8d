/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_STRIP_H
#define O2_PROPS_CHECK_STRIP_H

#include <jansson.h>

/*
 * What an implementation's own answer does with the bytes, drawn beside what has to become of them: a bar for
 * each side, from the first byte of the transfer to the last; red where a byte is wrong, lost, or one too
 * many.
 *
 * question, found: the forms of a finding.  A new JSON string with an SVG picture that needs nothing but
 * itself, or null: there are no bytes in either answer, or both have them at the same places.
 */
json_t *o2_check_strip(const json_t *question, const json_t *found);

#endif
