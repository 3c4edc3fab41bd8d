/* SPDX-License-Identifier: MIT */

#include "mem/arena.h"
#include "tests/lib/unit_test.h"

/* The page arena (docs/mapping.md, "The arena"). */

#define PAGES 300u

static struct o2_arena arena;

static int open_arena(void **state)
{
	struct o2_error error;

	return o2_arena_create(PAGES, &arena, &error);
}

static int close_arena(void **state)
{
	o2_arena_destroy(&arena);
	return 0;
}

static uint8_t *view_page(uint32_t view, uint32_t position)
{
	return (uint8_t *)(uintptr_t)arena.view[view].base + (uint64_t)position * arena.page_bytes;
}

/* Write the number of every page into its first bytes and its last. */
static void number_pages(void)
{
	for (uint32_t page = 0; page < PAGES; page++) {
		memcpy(o2_arena_page(&arena, page), &page, sizeof(page));
		memcpy(o2_arena_page(&arena, page) + arena.page_bytes - sizeof(page), &page, sizeof(page));
	}
}

static uint32_t number_at(const uint8_t *addr)
{
	uint32_t number, last;

	memcpy(&number, addr, sizeof(number));
	memcpy(&last, addr + arena.page_bytes - sizeof(last), sizeof(last));
	assert_int_equal(number, last);
	return number;
}

/* Count the lines of /proc/self/maps that begin in this view. */
static uint32_t mappings_of(uint32_t view)
{
	const uint64_t from = arena.view[view].base;
	const uint64_t to = from + (uint64_t)PAGES * arena.page_bytes;
	FILE *maps = fopen("/proc/self/maps", "r");
	uint32_t count = 0;
	char line[512];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps) != NULL) {
		const uint64_t start = strtoull(line, NULL, 16);

		count += start >= from && start < to;
	}
	fclose(maps);
	return count;
}

TEST(refuses_no_pages)
{
	struct o2_arena empty;
	struct o2_error error;

	assert_error(o2_arena_create(0, &empty, &error), -EINVAL, &error, "arena/no-pages");
	o2_arena_destroy(&empty);
}

TEST_WITH(is_zero_at_first, open_arena, close_arena)
{
	for (uint64_t i = 0; i < (uint64_t)PAGES * arena.page_bytes; i++)
		assert_int_equal(arena.memory[i], 0);
}

TEST_WITH(views_show_every_page_once, open_arena, close_arena)
{
	uint32_t scattered = 0;

	number_pages();
	for (uint32_t view = 0; view < O2_ARENA_VIEWS; view++) {
		bool seen[PAGES] = {false};

		assert_int_equal(o2_arena_map_view(&arena, view, NULL), 0);
		assert_int_equal(arena.view[view].npages, PAGES);
		assert_int_equal(arena.view[view].base % arena.page_bytes, 0);
		for (uint32_t i = 0; i < PAGES; i++) {
			uint32_t page = arena.view[view].page[i];

			assert_int_equal(number_at(view_page(view, i)), page);
			assert_false(seen[page]);
			seen[page] = true;
			if (view == 0)
				assert_int_equal(page, i);
			if (view == 1 && i > 0 && page != arena.view[view].page[i - 1] + 1)
				scattered++;
		}
	}
	assert_true(scattered > PAGES * 9 / 10);
}

/* A view is mapped only when it is used, so a new arena has few mappings. */
TEST_WITH(view_is_mapped_when_it_is_asked_for, open_arena, close_arena)
{
	const uint32_t before = mappings_of(2);

	assert_true(before <= 1); /* the kernel may merge it with its neighbour */
	assert_int_equal(o2_arena_map_view(&arena, 2, NULL), 0);
	assert_true(mappings_of(2) > PAGES * 9 / 10);
	assert_int_equal(o2_arena_map_view(&arena, 2, NULL), 0);
}

/* A replayed case needs the pages at the same places, which the constant seed ensures. */
TEST_WITH(views_never_change, open_arena, close_arena)
{
	struct o2_arena again;

	assert_int_equal(o2_arena_create(PAGES, &again, NULL), 0);
	for (uint32_t view = 0; view < O2_ARENA_VIEWS; view++)
		assert_memory_equal(arena.view[view].page, again.view[view].page, PAGES * sizeof(uint32_t));
	o2_arena_destroy(&again);
}

TEST_WITH(space_describes_the_views, open_arena, close_arena)
{
	struct o2_address_space space = o2_arena_space(&arena);

	assert_int_equal(space.page_bytes, arena.page_bytes);
	assert_int_equal(space.npages, PAGES);
	assert_int_equal(space.nranges, O2_ARENA_VIEWS);
	assert_true(space.range[2].base == arena.view[2].base);
	assert_int_equal(space.range[2].npages, PAGES);
}

TEST_WITH(marks_pages, open_arena, close_arena)
{
	o2_arena_set_mapped(&arena, 9, false);
	o2_arena_set_mapped(&arena, 10, false);
	assert_int_equal(arena.unmapped[1], 6);
	o2_arena_set_mapped(&arena, 9, true);
	assert_int_equal(arena.unmapped[1], 4);
	o2_arena_set_mapped(&arena, 10, true);
	o2_arena_set_mapped(&arena, PAGES, false); /* there is no such page */
	assert_int_equal(arena.unmapped[PAGES / 8], 0);
}

TEST_WITH(windows_use_views, open_arena, close_arena)
{
	for (uint32_t view = 0; view < O2_ARENA_VIEWS; view++) {
		struct o2_arena_window window;
		uint32_t at = 40 + view;

		assert_int_equal(o2_arena_window_open(&arena, &arena.view[view].page[at], 200, &window, NULL),
				 0);
		assert_int_equal(window.slot, -1);
		assert_ptr_equal(window.addr, view_page(view, at));
		/* The pages of the window are mapped, whether or not the view was mapped before. */
		*o2_arena_page(&arena, arena.view[view].page[at]) = (uint8_t)(view + 1);
		assert_int_equal(window.addr[0], view + 1);
		o2_arena_window_close(&arena, &window);
	}
}

TEST_WITH(windows_map_any_list, open_arena, close_arena)
{
	uint32_t page[O2_MAX_FRAGS];
	struct o2_arena_window window;

	number_pages();
	/* Adjacent pages, jumps, one page twice, and the last page of the arena. */
	for (uint32_t i = 0; i < O2_MAX_FRAGS; i++)
		page[i] = i % 7 < 3 ? (i * 5) % PAGES : PAGES - 1 - i % 50;
	for (uint32_t i = 0; i < 4; i++)
		page[i] = 5 + i - (i > 1); /* 5 6 6 7 */
	assert_int_equal(o2_arena_window_open(&arena, page, O2_MAX_FRAGS, &window, NULL), 0);
	assert_true(window.slot >= 0);
	for (uint32_t i = 0; i < O2_MAX_FRAGS; i++)
		assert_int_equal(number_at(window.addr + (uint64_t)i * arena.page_bytes), page[i]);
	/* The window maps the same memory, and is not a copy. */
	window.addr[10] = 0x5a;
	assert_int_equal(o2_arena_page(&arena, page[0])[10], 0x5a);
	o2_arena_window_close(&arena, &window);
	assert_null(window.addr);
}

TEST_WITH(window_slots_run_out_and_come_back, open_arena, close_arena)
{
	struct o2_arena_window window[O2_ARENA_WINDOWS + 1];
	uint32_t page[2] = {5, 5};
	struct o2_error error;

	for (uint32_t i = 0; i < O2_ARENA_WINDOWS; i++)
		assert_int_equal(o2_arena_window_open(&arena, page, 2, &window[i], NULL), 0);
	assert_int_equal(o2_arena_window_open(&arena, page, 2, &window[O2_ARENA_WINDOWS], &error), -ENOBUFS);
	assert_int_equal(error.limit, O2_ARENA_WINDOWS);
	o2_arena_window_close(&arena, &window[17]);
	assert_int_equal(o2_arena_window_open(&arena, page, 2, &window[17], NULL), 0);
	assert_int_equal(window[17].slot, 17);
	for (uint32_t i = 0; i < O2_ARENA_WINDOWS; i++) {
		o2_arena_window_close(&arena, &window[i]);
		assert_false(arena.window_used[i]);
	}
}

TEST_WITH(windows_refuse_bad_lists, open_arena, close_arena)
{
	struct o2_arena_window window;
	struct o2_error error;
	/* Behind the arena's pages are the pages of devices that bounce, one set for each direction. */
	uint32_t page[O2_MAX_FRAGS + 1] = {0, 1, 3 * PAGES};

	assert_error(o2_arena_window_open(&arena, page, 3, &window, &error), -EINVAL, &error,
		     "arena/window/no-such-page");
	assert_int_equal(error.index, 2);
	assert_int_equal(error.limit, 3 * PAGES - 1);
	assert_int_equal(o2_arena_window_open(&arena, page, 0, &window, &error), -EINVAL);
	assert_int_equal(o2_arena_window_open(&arena, page, O2_MAX_FRAGS + 1, &window, &error), -EINVAL);
	assert_int_equal(error.limit, O2_MAX_FRAGS);
}
