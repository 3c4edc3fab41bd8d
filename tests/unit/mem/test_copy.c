/* SPDX-License-Identifier: MIT */

/* Copies between plain bytes and a buffer in pieces. */

#include "mem/kmap.h"
#include "tests/lib/unit_test.h"

TEST(test_copies)
{
	const struct o2_kiov kiov[] = {{3, 4000, 96}, {1, 0, 0}, {2, 10, 200}, {0, 0, 4096}};
	struct o2_buffer buffer = {.kind = O2_KIOV, .count = 4, .offset = 90, .nob = 300, .kiov = kiov};
	uint8_t bytes[300], back[300];
	struct o2_arena arena;
	struct o2_error error;

	assert_int_equal(o2_arena_create(4, &arena, &error), 0);
	for (unsigned int i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i + 1);
	assert_int_equal(o2_copy_to_buffer(&arena, &buffer, bytes, &error), 0);
	assert_memory_equal(o2_arena_page(&arena, 3) + 4090, bytes, 6);
	assert_memory_equal(o2_arena_page(&arena, 2) + 10, bytes + 6, 200);
	assert_memory_equal(o2_arena_page(&arena, 0), bytes + 206, 94);
	/* No byte beside the pieces has changed. */
	assert_int_equal(o2_arena_page(&arena, 3)[4089], 0);
	assert_int_equal(o2_arena_page(&arena, 2)[9], 0);
	assert_int_equal(o2_arena_page(&arena, 2)[210], 0);
	assert_int_equal(o2_arena_page(&arena, 0)[94], 0);
	assert_int_equal(o2_copy_from_buffer(&arena, &buffer, back, &error), 0);
	assert_memory_equal(back, bytes, sizeof(bytes));

	buffer.nob = 5000;
	assert_int_equal(o2_copy_from_buffer(&arena, &buffer, back, &error), -EINVAL);
	buffer.nob = 0;
	assert_int_equal(o2_copy_from_buffer(&arena, &buffer, NULL, &error), 0);
	assert_int_equal(o2_copy_to_buffer(&arena, &buffer, NULL, &error), 0);
	o2_arena_destroy(&arena);
}
