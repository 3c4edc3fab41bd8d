/* SPDX-License-Identifier: MIT */
/* What an image says of memory that changed: of one that was filled, and of one that nobody has touched yet. */

#include "props/scenario/image.h"
#include "tests/lib/unit_test.h"

static struct o2_arena arena;
static struct o2_image image;

static int begin(void **state)
{
	(void)state;
	image = (struct o2_image){.arena = &arena};
	return o2_arena_create(O2_SCENARIO_PAGES, &arena, NULL);
}

static int end(void **state)
{
	(void)state;
	o2_arena_destroy(&arena);
	return 0;
}

TEST_WITH(test_untouched, begin, end)
{
	uint32_t page = 0;

	assert_true(o2_image_sweep(&image, &page));
	/* A zero changes no byte. */
	o2_arena_page(&arena, O2_SCENARIO_PAGES - 1)[4095] = 0;
	assert_false(o2_image_sweep(&image, &page));
	assert_int_equal(page, O2_SCENARIO_PAGES - 1);
}

TEST_WITH(test_filled, begin, end)
{
	uint32_t page = 0;

	o2_image_init(&image, &arena, 77);
	o2_image_fill_data(&image, 3, 5);
	assert_true(o2_image_sweep(&image, &page));
	o2_arena_page(&arena, 700)[1] ^= 1;
	assert_false(o2_image_sweep(&image, &page));
	assert_int_equal(page, 700);
	o2_image_fill_red(&image, 700);
	o2_arena_page(&arena, 3)[4000] ^= 1;
	assert_false(o2_image_sweep(&image, &page));
	assert_int_equal(page, 3);
}
