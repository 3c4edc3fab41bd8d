/* SPDX-License-Identifier: MIT */
#ifndef O2_FUZZ_PROPERTY_H
#define O2_FUZZ_PROPERTY_H

#include "fuzz/common.h"
#include "props/engine/property.h"

/*
 * Run a property on one input, which is a choice sequence.  o2props runs the same property, so that a finding
 * replays there (docs/fuzzing.md).  A failure is printed in the property's format and aborts.
 */
void o2_fuzz_property(const struct o2_property *property, const uint8_t *data, size_t size);

/* The end of that, when the case that ran last has failed. */
void o2_fuzz_found(const struct o2_property *property, const struct o2_report *report);

#endif
