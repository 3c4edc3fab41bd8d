/* SPDX-License-Identifier: MIT */
#include "props/model/place_map.h"

#include <assert.h>
#include <inttypes.h>

void o2_place_clear(struct o2_place_map *map)
{
	map->count = 0;
	map->nob = 0;
}

void o2_place_add(struct o2_place_map *map, uint64_t place, uint64_t length)
{
	if (length == 0)
		return;
	assert(map->count < O2_PLACE_MAX_RUNS);
	map->run[map->count++] = (struct o2_place_run){.start = map->nob, .place = place};
	map->nob += length;
}

uint64_t o2_place_end(const struct o2_place_map *map, uint32_t index)
{
	return index + 1 < map->count ? map->run[index + 1].start : map->nob;
}

static uint64_t place_at(const struct o2_place_map *map, uint32_t index, uint64_t byte)
{
	return map->run[index].place + (byte - map->run[index].start);
}

void o2_place_compare(const struct o2_place_map *found, const struct o2_place_map *expected,
		      const char *signature, struct o2_report *report)
{
	uint32_t f = 0;
	uint32_t e = 0;
	uint64_t byte = 0;

	if (found->nob != expected->nob)
		o2_report_fail(report, signature, "%" PRIu64 " bytes, expected %" PRIu64, found->nob,
			       expected->nob);
	while (byte < found->nob && !report->failed) {
		const uint64_t found_end = o2_place_end(found, f);
		const uint64_t expected_end = o2_place_end(expected, e);

		if (place_at(found, f, byte) != place_at(expected, e, byte))
			o2_report_fail(report, signature,
				       "byte %" PRIu64 " is at 0x%" PRIx64 ", expected 0x%" PRIx64, byte,
				       place_at(found, f, byte), place_at(expected, e, byte));
		byte = found_end < expected_end ? found_end : expected_end;
		f += byte == found_end;
		e += byte == expected_end;
	}
}
