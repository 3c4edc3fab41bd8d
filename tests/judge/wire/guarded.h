/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_GUARDED_H
#define O2_TESTS_GUARDED_H

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/judge/wire/wire_test.h"

/*
 * Memory that ends directly before an inaccessible page (PROT_NONE): a read past its end faults in every
 * build, not only under a sanitizer.
 */

#define GUARDED_BYTES 8192u

/* n bytes (at most GUARDED_BYTES) directly before the inaccessible page.  Each call reuses the same memory. */
static inline uint8_t *guarded(size_t n)
{
	static uint8_t *end;

	if (end == NULL) {
		const size_t page = (size_t)sysconf(_SC_PAGESIZE);
		const size_t room = (GUARDED_BYTES + page - 1) / page * page;
		uint8_t *start =
			mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		assert_ptr_not_equal(start, MAP_FAILED);
		assert_int_equal(mprotect(start + room, page, PROT_NONE), 0);
		end = start + room;
	}
	assert_true(n <= GUARDED_BYTES);
	return end - n;
}

static inline uint8_t *guarded_copy(const uint8_t *bytes, size_t n)
{
	return memcpy(guarded(n), bytes, n);
}

#endif
