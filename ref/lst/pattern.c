/* SPDX-License-Identifier: MIT */
#include "lst/pattern.h"

#include <assert.h>

#include "wire/bytes.h"

#define WORD_BYTES 8u

static_assert(O2_LST_BULK_MULTIPLE == WORD_BYTES, "lengths and offsets are whole words");

/* The end of the piece that byte `at` lies in. */
static uint32_t piece_end(uint32_t at, uint32_t length_bytes, uint32_t offset)
{
	const uint32_t rest = O2_LST_PAGE_BYTES - (offset + at) % O2_LST_PAGE_BYTES;

	return rest < length_bytes - at ? at + rest : length_bytes;
}

/* The first word at or behind `at` that the check covers; length_bytes: there is none. */
static uint32_t next_word(uint32_t at, uint32_t length_bytes, uint32_t offset, enum o2_lst_brw_check check)
{
	uint32_t end;

	if (check == O2_LST_CHECK_FULL || at >= length_bytes)
		return at;
	if (check != O2_LST_CHECK_SIMPLE)
		return length_bytes;
	if (at == 0 || (offset + at) % O2_LST_PAGE_BYTES == 0)
		return at;
	end = piece_end(at, length_bytes, offset);
	return end - WORD_BYTES;
}

void o2_lst_pattern_poison(uint8_t *bytes, uint32_t length_bytes)
{
	assert(length_bytes % WORD_BYTES == 0);
	for (uint32_t at = 0; at < length_bytes; at += WORD_BYTES)
		o2_store64(bytes + at, O2_LITTLE_ENDIAN, O2_LST_POISON_WORD);
}

void o2_lst_pattern_fill(uint8_t *bytes, uint32_t length_bytes, uint32_t offset, enum o2_lst_brw_check check,
			 enum o2_byte_order order)
{
	assert(length_bytes % WORD_BYTES == 0 && offset % WORD_BYTES == 0);
	for (uint32_t at = next_word(0, length_bytes, offset, check); at < length_bytes;
	     at = next_word(at + WORD_BYTES, length_bytes, offset, check))
		o2_store64(bytes + at, order, O2_LST_DATA_WORD);
}

bool o2_lst_pattern_check(const uint8_t *bytes, uint32_t length_bytes, uint32_t offset,
			  enum o2_lst_brw_check check, enum o2_byte_order order, struct o2_lst_wrong *wrong)
{
	assert(length_bytes % WORD_BYTES == 0 && offset % WORD_BYTES == 0);
	for (uint32_t at = next_word(0, length_bytes, offset, check); at < length_bytes;
	     at = next_word(at + WORD_BYTES, length_bytes, offset, check)) {
		const uint64_t got = o2_load64(bytes + at, order);

		if (got == O2_LST_DATA_WORD)
			continue;
		if (wrong != NULL)
			*wrong = (struct o2_lst_wrong){at, got, O2_LST_DATA_WORD};
		return false;
	}
	return true;
}
