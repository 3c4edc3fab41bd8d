/* SPDX-License-Identifier: MIT */
#include "mem/dma_map.h"
#include "mem/kmap.h"
#include "tests/lib/unit_test.h"

/* A device that bounces uses other memory; bytes are copied when memory is mapped, synced or unmapped. */

#define PAGES 4u
#define BYTES 300u

static struct o2_arena arena;
static const struct o2_sg_list list = {
	.count = 2,
	.nob = BYTES,
	.entry = {{.page = 2, .offset = 100, .length = 200}, {.page = 0, .length = 100}}};

static int open_arena(void **state)
{
	return o2_arena_create(PAGES, &arena, NULL);
}

static int close_arena(void **state)
{
	o2_arena_destroy(&arena);
	return 0;
}

static uint8_t *device_page(enum o2_dma_direction direction, uint32_t page)
{
	return o2_arena_page(&arena, o2_arena_bounce(&arena, direction, page));
}

static bool holds(const uint8_t *at, uint8_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (at[i] != value)
			return false;
	return true;
}

TEST_WITH(source_is_seen_as_mapped, open_arena, close_arena)
{
	memset(o2_arena_page(&arena, 2), 7, arena.page_bytes);
	memset(o2_arena_page(&arena, 0), 8, arena.page_bytes);
	assert_int_equal(o2_bounce_map(&arena, &list, O2_DMA_TO_DEVICE, NULL), 0);
	assert_true(holds(device_page(O2_DMA_TO_DEVICE, 2) + 100, 7, 200));
	assert_true(holds(device_page(O2_DMA_TO_DEVICE, 0), 8, 100));
	/* No byte beside them is copied, and none to a device that writes. */
	assert_true(holds(device_page(O2_DMA_TO_DEVICE, 2), 0, 100));
	assert_true(holds(device_page(O2_DMA_TO_DEVICE, 2) + 300, 0, arena.page_bytes - 300));
	assert_true(holds(device_page(O2_DMA_TO_DEVICE, 0) + 100, 0, arena.page_bytes - 100));
	assert_true(holds(device_page(O2_DMA_FROM_DEVICE, 0), 0, arena.page_bytes));
	memset(device_page(O2_DMA_TO_DEVICE, 2), 9, arena.page_bytes);
	assert_int_equal(o2_bounce_unmap(&arena, &list, O2_DMA_TO_DEVICE, NULL), 0);
	assert_true(holds(o2_arena_page(&arena, 2), 7, arena.page_bytes));
}

/* The device writes 50 of the 300 bytes, and the other bytes stay unchanged. */
TEST_WITH(sink_is_brought_back, open_arena, close_arena)
{
	memset(o2_arena_page(&arena, 2), 7, arena.page_bytes);
	memset(o2_arena_page(&arena, 0), 8, arena.page_bytes);
	assert_int_equal(o2_bounce_map(&arena, &list, O2_DMA_FROM_DEVICE, NULL), 0);
	memset(device_page(O2_DMA_FROM_DEVICE, 2) + 100, 9, 50);
	assert_true(holds(o2_arena_page(&arena, 2), 7, arena.page_bytes));
	assert_int_equal(o2_bounce_unmap(&arena, &list, O2_DMA_FROM_DEVICE, NULL), 0);
	assert_true(holds(o2_arena_page(&arena, 2), 7, 100));
	assert_true(holds(o2_arena_page(&arena, 2) + 100, 9, 50));
	assert_true(holds(o2_arena_page(&arena, 2) + 150, 7, arena.page_bytes - 150));
	assert_true(holds(o2_arena_page(&arena, 0), 8, arena.page_bytes));
}

/* The view that stands for an IOMMU has the bounced pages in the order of its pages, and so has a window. */
TEST_WITH(bounced_pages_are_in_order, open_arena, close_arena)
{
	const struct o2_vrange *view = &arena.view[O2_ARENA_IOMMU_VIEW];
	struct o2_arena_window window;
	uint32_t page[PAGES];

	assert_int_equal(o2_arena_map_bounced(&arena, NULL), 0);
	for (uint32_t d = 0; d < O2_DMA_DIRECTIONS; d++) {
		for (uint32_t i = 0; i < PAGES; i++) {
			page[i] = o2_arena_bounce(&arena, (enum o2_dma_direction)d, PAGES - 1 - i);
			*device_page((enum o2_dma_direction)d, i) = (uint8_t)(16 * (d + 1) + i);
		}
		assert_int_equal(o2_arena_window_open(&arena, page, PAGES, &window, NULL), 0);
		for (uint32_t i = 0; i < PAGES; i++) {
			assert_int_equal(arena.bounce_view[d][i * arena.page_bytes],
					 16 * (d + 1) + view->page[i]);
			assert_int_equal(window.addr[i * arena.page_bytes], 16 * (d + 1) + PAGES - 1 - i);
		}
		o2_arena_window_close(&arena, &window);
	}
}

TEST(sent_buffer_crosses_when_synced)
{
	uint8_t cpu[BYTES] = {0};
	struct o2_dma_single single;

	assert_int_equal(o2_dma_map_single(cpu, BYTES, O2_DMA_TO_DEVICE, true, &single, NULL), 0);
	assert_ptr_not_equal(single.device, cpu);
	assert_true(holds(single.device, 0, BYTES));
	memset(cpu, 1, BYTES);
	o2_dma_sync_for_device(&single, 0, BYTES);
	assert_true(holds(single.device, 1, BYTES));
	memset(cpu, 2, BYTES);
	o2_dma_sync_for_cpu(&single, 0, BYTES);
	assert_true(holds(single.device, 1, BYTES));
	assert_true(holds(cpu, 2, BYTES));
	o2_dma_sync_for_device(&single, 10, 20);
	assert_true(holds(single.device, 1, 10));
	assert_true(holds(single.device + 10, 2, 20));
	assert_true(holds(single.device + 30, 1, BYTES - 30));
	o2_dma_unmap_single(&single);
	assert_true(holds(cpu, 2, BYTES));
	o2_dma_unmap_single(&single);
}

TEST(received_buffer_crosses_when_synced)
{
	uint8_t cpu[BYTES] = {0};
	struct o2_dma_single single;

	assert_int_equal(o2_dma_map_single(cpu, BYTES, O2_DMA_FROM_DEVICE, true, &single, NULL), 0);
	assert_true(holds(single.device, 0, BYTES));
	memset(cpu, 1, BYTES);
	memset(single.device, 3, BYTES);
	o2_dma_sync_for_device(&single, 0, BYTES);
	assert_true(holds(cpu, 1, BYTES));
	assert_true(holds(single.device, 3, BYTES));
	o2_dma_sync_for_cpu(&single, 10, 20);
	assert_true(holds(cpu, 1, 10));
	assert_true(holds(cpu + 10, 3, 20));
	assert_true(holds(cpu + 30, 1, BYTES - 30));
	o2_dma_unmap_single(&single);
	assert_int_equal(single.bytes, 0);
	assert_true(holds(cpu, 1, 10));
	assert_true(holds(cpu + 30, 1, BYTES - 30));
	o2_dma_unmap_single(&single);
}

TEST(coherent_buffer_is_one)
{
	uint8_t cpu[BYTES] = {0};
	struct o2_dma_single single;

	assert_int_equal(o2_dma_map_single(cpu, BYTES, O2_DMA_FROM_DEVICE, false, &single, NULL), 0);
	assert_ptr_equal(single.device, cpu);
	o2_dma_sync_for_cpu(&single, 0, BYTES);
	o2_dma_sync_for_device(&single, 0, BYTES);
	o2_dma_unmap_single(&single);
	assert_int_equal(single.bytes, 0);
}
