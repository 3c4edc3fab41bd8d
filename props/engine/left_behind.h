/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_LEFT_BEHIND_H
#define O2_PROPS_LEFT_BEHIND_H

#include <stdbool.h>
#include <stdint.h>

#include "props/engine/process_held.h"
#include "props/engine/property.h"

/*
 * Does a property leave something in the process (docs/properties.md, "Nothing is left")?  A reading takes as
 * long as many cases.  It is therefore made after 1, 2, 4, ... cases, later at a fixed interval, and at the
 * end.  The first reading includes everything that the first case creates and later cases reuse.
 */

#define O2_LEFT_BEHIND "left-behind-process" /* the kind of finding, after the property's name */

/* Is a reading due after this number of cases? */
bool o2_left_due(const struct o2_property *property, uint64_t cases);

/* Make the property give back all that it keeps from case to case, and read what the process then holds. */
void o2_left_mark(const struct o2_property *property, struct o2_process_held *held);

/* True if the process holds the same as at o2_left_mark; false fills *report. */
bool o2_left_nothing(const struct o2_property *property, const struct o2_process_held *held,
		     struct o2_report *report);

/*
 * Run a case.  If it holds, run it once more and check what the second run leaves: the first run may create
 * things that legitimately stay.  Both runs count as one case.
 */
enum o2_status o2_left_weigh(const struct o2_property *property, struct o2_choice *choice,
			     struct o2_report *report);

#endif
