/* SPDX-License-Identifier: MIT */
/* The places of the pattern's data words, checked against the definition: word by word, page by page. */
#include "tests/lib/unit_test.h"

#include "lst/pattern.h"

#define MOST 16384u

static const uint8_t little[] = {0xb3, 0xee, 0xb2, 0xee, 0xb1, 0xee, 0xb0, 0xee};
static const uint8_t big[] = {0xee, 0xb0, 0xee, 0xb1, 0xee, 0xb2, 0xee, 0xb3};

/* Is the word at `at` the first or the last word of the bulk in its page? */
static bool is_edge(uint32_t at, uint32_t length, uint32_t offset)
{
	const bool first = at == 0 || (offset + at) / 4096 != (offset + at - 8) / 4096;
	const bool last = at + 8 == length || (offset + at) / 4096 != (offset + at + 8) / 4096;

	return first || last;
}

static bool is_filled(uint32_t at, uint32_t length, uint32_t offset, enum o2_lst_brw_check check)
{
	return check == O2_LST_CHECK_FULL || (check == O2_LST_CHECK_SIMPLE && is_edge(at, length, offset));
}

static void check_one(uint32_t length, uint32_t offset, enum o2_lst_brw_check check, enum o2_byte_order order)
{
	const uint8_t *word = order == O2_BIG_ENDIAN ? big : little;
	static uint8_t bytes[MOST + 8];
	static const uint8_t poison[] = {0xef, 0xbe, 0xef, 0xbe, 0xef, 0xbe, 0xef, 0xbe};
	struct o2_lst_wrong wrong;

	memset(bytes, 0x11, sizeof(bytes));
	o2_lst_pattern_poison(bytes, length);
	o2_lst_pattern_fill(bytes, length, offset, check, order);
	assert_int_equal(bytes[length], 0x11);
	for (uint32_t at = 0; at < length; at += 8) {
		const bool filled = is_filled(at, length, offset, check);

		if (memcmp(bytes + at, filled ? word : poison, 8) != 0)
			fail_msg("length %u, offset %u, check %d: the word at %u", length, offset, check, at);
		bytes[at + 3] ^= 4;
		if (o2_lst_pattern_check(bytes, length, offset, check, order, &wrong) == filled)
			fail_msg("length %u, offset %u, check %d: a wrong word at %u", length, offset, check,
				 at);
		if (filled)
			assert_int_equal(wrong.at, at);
		bytes[at + 3] ^= 4;
	}
	assert_true(o2_lst_pattern_check(bytes, length, offset, check, order, NULL));
}

TEST(the_word_is_where_the_check_says)
{
	static const uint32_t lengths[] = {8, 16, 24, 2048, 4088, 4096, 4104, 8000, 8192, 12288};
	static const uint32_t offsets[] = {0, 8, 192, 512, 4088};

	for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++)
		for (size_t o = 0; o < sizeof(offsets) / sizeof(offsets[0]); o++)
			for (int check = O2_LST_CHECK_NONE; check <= O2_LST_CHECK_DISCARD; check++)
				for (int order = O2_LITTLE_ENDIAN; order <= O2_BIG_ENDIAN; order++)
					check_one(lengths[l], offsets[o], (enum o2_lst_brw_check)check,
						  (enum o2_byte_order)order);
}

TEST(the_other_order_is_wrong)
{
	uint8_t bytes[64];
	struct o2_lst_wrong wrong;

	o2_lst_pattern_fill(bytes, sizeof(bytes), 0, O2_LST_CHECK_FULL, O2_BIG_ENDIAN);
	assert_false(
		o2_lst_pattern_check(bytes, sizeof(bytes), 0, O2_LST_CHECK_FULL, O2_LITTLE_ENDIAN, &wrong));
	assert_int_equal(wrong.at, 0);
	assert_int_equal(wrong.want, O2_LST_DATA_WORD);
	assert_int_equal(wrong.got, UINT64_C(0xb3eeb2eeb1eeb0ee));
}
