/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mem/kmap.h"
#include "tests/lib/unit_test.h"

/* Temporary mappings of the CPU (docs/mapping.md). */

#define PAGES 8u

static struct o2_arena arena;
static bool mmap_fails;

void *__real_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	if (!mmap_fails)
		return __real_mmap(addr, length, prot, flags, fd, offset);
	errno = ENOMEM;
	return MAP_FAILED;
}

static int open_arena(void **state)
{
	int rc = o2_arena_create(PAGES, &arena, NULL);

	for (uint32_t page = 0; rc == 0 && page < PAGES; page++)
		memset(o2_arena_page(&arena, page), (int)(page + 1), arena.page_bytes);
	if (rc == 0)
		o2_arena_set_mapped(&arena, 5, false);
	return rc;
}

static int close_arena(void **state)
{
	o2_arena_destroy(&arena);
	return 0;
}

/* Does reading this byte end a process, by a signal or by a sanitizer? */
static bool faults(const volatile uint8_t *at)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		_exit(*at == 0 ? 1 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) || WEXITSTATUS(status) > 1;
}

TEST_WITH(page_with_a_mapping_is_where_it_is, open_arena, close_arena)
{
	struct o2_kmapping mapping;

	assert_int_equal(o2_kmap(&arena, 3, &mapping, NULL), 0);
	assert_false(mapping.temporary);
	assert_ptr_equal(mapping.addr, arena.linear + 3 * arena.page_bytes);
	assert_int_equal(mapping.addr[0], 4);
	assert_int_equal(arena.kmaps->live, 1);
	o2_kunmap(&mapping);
	assert_int_equal(arena.kmaps->live, 0);
	assert_int_equal(arena.kmaps->temporary, 0);
	assert_false(faults(arena.linear + 3 * arena.page_bytes));
}

TEST_WITH(page_without_is_nowhere_before_and_after, open_arena, close_arena)
{
	struct o2_kmapping mapping;
	uint8_t *at;

	assert_true(faults(arena.linear + 5 * arena.page_bytes));
	assert_int_equal(o2_kmap(&arena, 5, &mapping, NULL), 0);
	assert_true(mapping.temporary);
	at = mapping.addr;
	assert_int_equal(at[arena.page_bytes - 1], 6);
	at[0] = 99;
	assert_true(faults(arena.linear + 5 * arena.page_bytes));
	o2_kunmap(&mapping);
	assert_true(faults(at));
	assert_int_equal(o2_arena_page(&arena, 5)[0], 99);
	assert_int_equal(arena.kmaps->temporary, 1);
	o2_arena_set_mapped(&arena, 5, true);
	assert_false(faults(arena.linear + 5 * arena.page_bytes));
}

TEST_WITH(accounts_for_each, open_arena, close_arena)
{
	struct o2_kmapping mapping[O2_KMAPS_MAX + 1];
	struct o2_error error;

	for (uint32_t i = 0; i < O2_KMAPS_MAX; i++)
		assert_int_equal(o2_kmap(&arena, i % PAGES, &mapping[i], NULL), 0);
	assert_int_equal(arena.kmaps->live, O2_KMAPS_MAX);
	assert_error(o2_kmap(&arena, 0, &mapping[O2_KMAPS_MAX], &error), -ENOSPC, &error, "kmap/too-many");
	for (uint32_t i = O2_KMAPS_MAX; i-- > 0;)
		o2_kunmap(&mapping[i]);
	assert_int_equal(arena.kmaps->live, 0);
	assert_int_equal(arena.kmaps->wrong, 0);
	o2_kunmap(&mapping[0]);
	assert_int_equal(arena.kmaps->live, 0);
	assert_int_equal(arena.kmaps->wrong, 1);
}

/* A copy as LNet makes it, of a buffer whose middle page has no permanent mapping. */
TEST_WITH(copies_by_way_of_it, open_arena, close_arena)
{
	const struct o2_kiov kiov[] = {{4, 4000, 96}, {5, 100, 200}, {6, 0, 50}};
	const struct o2_buffer buffer = {.kind = O2_KIOV, .count = 3, .nob = 346, .kiov = kiov};
	uint8_t bytes[346], back[346];
	struct o2_error error;

	memset(bytes, 77, sizeof(bytes));
	assert_int_equal(o2_copy_to_buffer(&arena, &buffer, bytes, NULL), 0);
	assert_memory_equal(o2_arena_page(&arena, 5) + 100, bytes, 200);
	assert_int_equal(o2_arena_page(&arena, 5)[99], 6);
	assert_int_equal(o2_arena_page(&arena, 5)[300], 6);
	assert_int_equal(o2_copy_from_buffer(&arena, &buffer, back, NULL), 0);
	assert_memory_equal(back, bytes, sizeof(bytes));
	assert_int_equal(arena.kmaps->temporary, 2);
	mmap_fails = true;
	assert_error(o2_copy_to_buffer(&arena, &buffer, bytes, &error), -ENOMEM, &error, "kmap/map");
	assert_error(o2_copy_from_buffer(&arena, &buffer, back, &error), -ENOMEM, &error, "kmap/map");
	mmap_fails = false;
	assert_int_equal(arena.kmaps->live, 0);
}

/* What is closed after a failure must not be the window of somebody else. */
TEST_WITH(a_window_that_cannot_be_mapped_holds_nothing, open_arena, close_arena)
{
	static const uint32_t scattered[] = {4, 1, 6}, other[] = {7, 2, 4};
	struct o2_arena_window window, failed = {.addr = NULL};
	struct o2_error error;

	assert_int_equal(o2_arena_window_open(&arena, scattered, 3, &window, NULL), 0);
	assert_int_equal(arena.windows_in_use, 1);
	mmap_fails = true;
	assert_error(o2_arena_window_open(&arena, other, 3, &failed, &error), -ENOMEM, &error,
		     "arena/window/map");
	mmap_fails = false;
	o2_arena_window_close(&arena, &failed);
	assert_int_equal(arena.windows_in_use, 1);
	assert_true(arena.window_used[window.slot]);
	o2_arena_window_close(&arena, &window);
	assert_int_equal(arena.windows_in_use, 0);
}
