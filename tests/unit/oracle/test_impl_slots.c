/* SPDX-License-Identifier: MIT */
/* If the pages cannot be protected, there are no slots, and an object is not asked (docs/oracle.md). */
#include <sys/mman.h>

#include "base/own_path.h"
#include "oracle/host.h"
#include "oracle/impl_slot.h"
#include "tests/lib/unit_test.h"

#define SLOTS 2u

static uint32_t calls, fails; /* fails: number of the call that fails, children's calls included; 0: none */

int __real_mprotect(void *addr, size_t length, int prot);
int __wrap_mprotect(void *addr, size_t length, int prot);
int __wrap_mprotect(void *addr, size_t length, int prot)
{
	if (++calls != fails)
		return __real_mprotect(addr, length, prot);
	errno = ENOMEM;
	return -1;
}

TEST(test_slots_that_cannot_be_protected)
{
	struct o2_impl_slots slots;
	uint32_t all;

	calls = fails = 0;
	assert_int_equal(o2_impl_slots_create(SLOTS, &slots), 0);
	all = calls;
	o2_impl_slots_destroy(&slots);
	assert_true(all > SLOTS * O2_PARTS);
	for (uint32_t n = 1; n <= all; n++) {
		calls = 0;
		fails = n;
		assert_int_equal(o2_impl_slots_create(SLOTS, &slots), -ENOMEM);
		assert_null(slots.slot);
		assert_null(slots.memory);
	}
}

/* The object's process protects the memory that the object may not write. */
TEST(test_an_object_whose_slots_cannot_be_protected)
{
	const struct o2_host_options options = {.timeout_ms = 60000, .growth_mib = 1000};
	char path[4096], text[160];
	struct o2_host *host;
	uint32_t all;

	assert_int_equal(o2_own_path("impl_misbehave.so", path, sizeof(path)), 0);
	calls = fails = 0;
	assert_int_equal(o2_host_open_object(path, &options, &host, text, sizeof(text)), 0);
	host->ops->close(host);
	all = calls;
	for (uint32_t n = 1; n <= 3; n++) {
		calls = 0;
		fails = all + n;
		assert_int_equal(o2_host_open_object(path, &options, &host, text, sizeof(text)), -ENOEXEC);
		assert_string_equal(text, "mprotect failed");
	}
	fails = 0;
}
