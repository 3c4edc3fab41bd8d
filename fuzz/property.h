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

/* A target that does no more than that: o2_NAME_property() with a struct o2_NAME_run that starts as this. */
#define O2_FUZZ_PROPERTY(name, ...)                                             \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)            \
	{                                                                       \
		static struct o2_##name##_run run = __VA_ARGS__;                \
		const struct o2_property property = o2_##name##_property(&run); \
                                                                                \
		o2_fuzz_property(&property, data, size);                        \
		return 0;                                                       \
	}

/* The end of o2_fuzz_property, when the case that ran last has failed. */
void o2_fuzz_found(const struct o2_property *property, const struct o2_report *report);

#endif
