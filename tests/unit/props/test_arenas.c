/* SPDX-License-Identifier: MIT */
/* Reused arenas: an arena that is taken looks newly made, whatever was done to it before. */

#include "props/engine/prng.h"
#include "props/world/arenas.h"
#include "props/world/shadow.h"
#include "tests/lib/unit_test.h"

#define SEED   UINT64_C(0x6f32726566)
#define PAGES  40u
#define TAKES  200u /* enough for more than one sweep */
#define WRITES 6u

static struct o2_arenas arenas;

static bool is_zero(const uint8_t *bytes, size_t length_bytes)
{
	return bytes[0] == 0 && memcmp(bytes, bytes + 1, length_bytes - 1) == 0;
}

static struct o2_arenas_pair *take_new(uint32_t unmapped_every)
{
	struct o2_arenas_pair *pair;
	size_t bytes;

	assert_int_equal(o2_arenas_take(&arenas, PAGES, true, unmapped_every, &pair, NULL), 0);
	bytes = (size_t)PAGES * pair->arena.page_bytes;
	assert_true(is_zero(pair->arena.memory, bytes * (1 + O2_DMA_DIRECTIONS)));
	assert_true(is_zero(pair->copy.memory, bytes));
	for (uint32_t page = 0; page < PAGES; page++)
		assert_int_equal(o2_arena_is_mapped(&pair->arena, page),
				 unmapped_every == 0 || page % unmapped_every != 1 % unmapped_every);
	return pair;
}

/* Does what a case does: it fills memory through the shadow, and uses a device that bounces. */
static void use(struct o2_arenas_pair *pair, struct o2_prng *prng, bool watched)
{
	const size_t bytes = (size_t)PAGES * pair->arena.page_bytes;
	const bool bounced = o2_prng_upto(prng, 1) == 1;
	struct o2_shadow shadow;

	o2_shadow_open_over(&shadow, &pair->arena, pair->copy.memory, 0);
	if (watched)
		shadow.touched = o2_arenas_watch(pair, bounced);
	for (uint64_t n = o2_prng_upto(prng, WRITES); n > 0; n--) {
		const uint64_t at = o2_prng_upto(prng, bytes - 1),
			       length = 1 + o2_prng_upto(prng, bytes - at - 1);
		const uint32_t page = (uint32_t)(at / pair->arena.page_bytes);

		o2_shadow_fill(&shadow, at, length, SEED, (struct o2_origin){.kind = O2_FILL_DATA});
		if (bounced)
			for (int d = 0; d < O2_DMA_DIRECTIONS; d++)
				memset(o2_arena_page(
					       &pair->arena,
					       o2_arena_bounce(&pair->arena, (enum o2_dma_direction)d, page)),
				       0xa5, pair->arena.page_bytes);
	}
	o2_shadow_close(&shadow);
}

TEST(test_taken_is_new)
{
	struct o2_prng prng = o2_prng_init(SEED, 0);

	for (uint32_t i = 0; i < TAKES; i++) {
		struct o2_arenas_pair *pair = take_new((uint32_t)o2_prng_upto(&prng, 3));

		use(pair, &prng, i % 4 != 0);
		o2_arenas_give(pair);
	}
	o2_arenas_end(&arenas);
}

/* A write that bypasses the watch disappears after a sweep at the latest. */
TEST(test_what_nobody_tells_does_not_stay)
{
	struct o2_arenas_pair *pair;
	uint32_t takes = 0;

	assert_int_equal(o2_arenas_take(&arenas, PAGES, true, 0, &pair, NULL), 0);
	o2_arenas_watch(pair, false);
	pair->arena.memory[5] = 1;
	for (; pair->arena.memory[5] != 0; takes++) {
		assert_true(takes < TAKES);
		o2_arenas_give(pair);
		assert_int_equal(o2_arenas_take(&arenas, PAGES, true, 0, &pair, NULL), 0);
		o2_arenas_watch(pair, false);
	}
	assert_true(takes > 1);
	o2_arenas_give(pair);
	o2_arenas_end(&arenas);
}
