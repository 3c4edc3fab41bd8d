/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_LEFT_BEHIND_H
#define O2_PROPS_LEFT_BEHIND_H

#include <stdbool.h>
#include <stdint.h>

#include "props/engine/process_held.h"
#include "props/engine/property.h"

/*
 * Does a property leave something in the process (docs/properties.md, "Nothing is left")?  A reading takes as
 * long as many cases, so one is made after 1, 2, 4, ... cases, later after every so many, and at the end.  What
 * the first case makes and later ones use is in the first reading.
 */

#define O2_LEFT_BEHIND "left-behind-process" /* the kind of finding, behind the property's name */

/* After so many cases: a reading? */
bool o2_left_due(const struct o2_property *property, uint64_t cases);

/* Has the property given back all that it keeps from case to case; what is held then. */
void o2_left_mark(const struct o2_property *property, struct o2_process_held *held);

/* The same is held as then; false fills *report. */
bool o2_left_nothing(const struct o2_property *property, const struct o2_process_held *held,
		     struct o2_report *report);

/*
 * Run a case, and if it holds once more, for what the second time leaves: the first one may have made what
 * stays.  It counts as one case.
 */
enum o2_status o2_left_weigh(const struct o2_property *property, struct o2_choice *choice,
			     struct o2_report *report);

#endif
