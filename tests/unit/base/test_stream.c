/* SPDX-License-Identifier: MIT */
/* Each byte of a stream is the same wherever a piece begins and ends, also in partial words at its ends. */

#include "base/stream.h"
#include "tests/lib/unit_test.h"

#define SEED   20260101u
#define STREAM 3u
#define WHOLE  64u
#define AFTER  0xa5u

TEST(test_pieces_are_those_of_the_whole)
{
	uint8_t whole[WHOLE], piece[WHOLE + 1];

	for (size_t i = 0; i < WHOLE; i++)
		o2_stream_fill(&whole[i], 1, SEED, STREAM, i);
	for (size_t from = 0; from <= WHOLE; from++) {
		for (size_t n = 0; n <= WHOLE - from; n++) {
			memset(piece, AFTER, sizeof(piece));
			o2_stream_fill(piece, n, SEED, STREAM, from);
			assert_memory_equal(piece, whole + from, n);
			assert_int_equal(piece[n], AFTER);
		}
	}
}

TEST(test_the_first_wrong_byte_is_found)
{
	uint8_t bytes[WHOLE];

	for (size_t from = 0; from < 9; from++) {
		o2_stream_fill(bytes, WHOLE, SEED, STREAM, from);
		for (size_t n = 0; n <= WHOLE; n++)
			assert_int_equal(o2_stream_match(bytes, n, SEED, STREAM, from), n);
		for (size_t wrong = 0; wrong < WHOLE; wrong++) {
			bytes[wrong] ^= 0x10;
			assert_int_equal(o2_stream_match(bytes, WHOLE, SEED, STREAM, from), wrong);
			assert_int_equal(o2_stream_match(bytes, wrong, SEED, STREAM, from), wrong);
			bytes[wrong] ^= 0x10;
		}
	}
}

/* Even neighbouring streams and seeds give different bytes. */
TEST(test_streams_and_seeds_differ)
{
	uint8_t one[16], other[16];

	o2_stream_fill(one, sizeof(one), SEED, STREAM, 0);
	o2_stream_fill(other, sizeof(other), SEED, STREAM + 1, 0);
	assert_memory_not_equal(one, other, sizeof(one));
	o2_stream_fill(other, sizeof(other), SEED + 1, STREAM, 0);
	assert_memory_not_equal(one, other, sizeof(one));
}
