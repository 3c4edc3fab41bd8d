/* SPDX-License-Identifier: MIT */
#include "fuzz/common.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void o2_fuzz_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("o2ref fuzz: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	abort();
}

struct o2_choice *o2_fuzz_choice(const uint8_t *data, size_t size)
{
	static struct o2_choice choice;

	o2_choice_replay(&choice, data, size);
	return &choice;
}

void o2_fuzz_map_clear(struct o2_fuzz_map *map)
{
	map->count = 0;
	map->nob = 0;
}

void o2_fuzz_map_add(struct o2_fuzz_map *map, uint64_t place, uint64_t length)
{
	if (length == 0)
		return;
	if (map->count == O2_FUZZ_MAX_RUNS)
		o2_fuzz_fail("more than %u runs", O2_FUZZ_MAX_RUNS);
	map->run[map->count++] = (struct o2_fuzz_run){.start = map->nob, .place = place};
	map->nob += length;
}

uint64_t o2_fuzz_map_end(const struct o2_fuzz_map *map, uint32_t index)
{
	return index + 1 < map->count ? map->run[index + 1].start : map->nob;
}

static uint64_t place_at(const struct o2_fuzz_map *map, uint32_t index, uint64_t byte)
{
	return map->run[index].place + (byte - map->run[index].start);
}

void o2_fuzz_map_check_equal(const struct o2_fuzz_map *found, const struct o2_fuzz_map *expected,
			     const char *what)
{
	uint32_t f = 0;
	uint32_t e = 0;
	uint64_t byte = 0;

	if (found->nob != expected->nob)
		o2_fuzz_fail("%s: %llu bytes, expected %llu", what, (unsigned long long)found->nob,
			     (unsigned long long)expected->nob);
	while (byte < found->nob) {
		const uint64_t found_end = o2_fuzz_map_end(found, f);
		const uint64_t expected_end = o2_fuzz_map_end(expected, e);

		if (place_at(found, f, byte) != place_at(expected, e, byte))
			o2_fuzz_fail("%s: byte %llu is at 0x%llx, expected 0x%llx", what,
				     (unsigned long long)byte, (unsigned long long)place_at(found, f, byte),
				     (unsigned long long)place_at(expected, e, byte));
		byte = found_end < expected_end ? found_end : expected_end;
		f += byte == found_end;
		e += byte == expected_end;
	}
}

void o2_fuzz_expect(struct o2_fuzz_refusals *refusals, int code)
{
	for (uint32_t i = 0; i < refusals->count; i++)
		if (refusals->code[i] == code)
			return;
	refusals->code[refusals->count++] = code;
}

static bool is_expected(const struct o2_fuzz_refusals *refusals, int code)
{
	for (uint32_t i = 0; i < refusals->count; i++)
		if (refusals->code[i] == code)
			return true;
	return false;
}

bool o2_fuzz_check_verdict(int rc, const struct o2_error *error, const struct o2_fuzz_refusals *refusals)
{
	char text[256];

	if (rc == 0) {
		if (refusals->count != 0)
			o2_fuzz_fail("accepted, expected a refusal with %d (%s)", refusals->code[0],
				     strerror(-refusals->code[0]));
		return true;
	}
	if (error->code != rc || error->rule == NULL || error->field == NULL ||
	    o2_error_text(error, text, sizeof(text)) <= 0)
		o2_fuzz_fail("refused with %d, but the error record says %d, rule %s", rc, error->code,
			     error->rule == NULL ? "none" : error->rule);
	if (refusals->count == 0)
		o2_fuzz_fail("refused a legal input: %s", text);
	if (!is_expected(refusals, rc))
		o2_fuzz_fail("refused for the wrong reason: %s; expected %d (%s)", text, refusals->code[0],
			     strerror(-refusals->code[0]));
	return false;
}
