/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_THREAD_CHECK_H
#define O2_TESTS_THREAD_CHECK_H

#include <inttypes.h>

#include "tests/lib/unit_test.h"

/* An assertion for other threads: cmocka's own assertions work only in the thread that runs the test. */
#define THREAD_CHECK(seed, condition)                                                                 \
	do {                                                                                          \
		if (!(condition)) {                                                                   \
			fprintf(stderr, "%s:%d: %s, replay: O2_TEST_SEED=%" PRIu64 " %s\n", __FILE__, \
				__LINE__, #condition, seed, program_invocation_short_name);           \
			abort();                                                                      \
		}                                                                                     \
	} while (0)

#endif
