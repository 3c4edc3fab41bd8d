/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_PATTERN_RANGES_H
#define O2_TESTS_PATTERN_RANGES_H

#include "props/pattern/pattern.h"
#include "tests/lib/unit_test.h"

/* The possible origins of a byte, for the tests of the pattern. */

#define SEED	   UINT64_C(0x7061747465726e)
#define PAGE	   4096u
#define MIB	   (1u << 20)
#define EPOCH	   41u
#define SINK_BYTES (64u * 1024)

/* Two source buffers of 2 MiB, three aliased pages, poison of this and the last transfer, red zones. */
static const struct o2_origin_range ranges[] = {
	{{O2_FILL_DATA, 0, 0}, 2 * MIB},
	{{O2_FILL_DATA, 1, 0}, 2 * MIB},
	{{O2_FILL_PAGE, 77, 0}, PAGE},
	{{O2_FILL_PAGE, 78, 0}, PAGE},
	{{O2_FILL_PAGE, 300, 0}, PAGE},
	{{O2_FILL_POISON, EPOCH, 0}, SINK_BYTES},
	{{O2_FILL_POISON, EPOCH - 1, 0}, SINK_BYTES},
	{{O2_FILL_RED, EPOCH, 0}, SINK_BYTES},
};
#define N_RANGES (sizeof(ranges) / sizeof(ranges[0]))

static struct o2_origin origin_of(enum o2_fill_kind kind, uint32_t id, uint64_t offset)
{
	return (struct o2_origin){.kind = kind, .id = id, .offset_bytes = offset};
}

static void assert_origin(struct o2_origin got, struct o2_origin want)
{
	assert_int_equal(got.kind, want.kind);
	assert_int_equal(got.id, want.id);
	assert_int_equal(got.offset_bytes, want.offset_bytes);
}

#endif
