/* SPDX-License-Identifier: MIT */
#include "props/world/shadow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int o2_shadow_open(struct o2_shadow *shadow, const struct o2_arena *arena, uint32_t node)
{
	uint8_t *bytes = calloc(arena->npages, arena->page_bytes);

	if (bytes == NULL)
		return -ENOMEM;
	o2_shadow_open_over(shadow, arena, bytes, node);
	shadow->owned = true;
	return 0;
}

void o2_shadow_open_over(struct o2_shadow *shadow, const struct o2_arena *arena, uint8_t *bytes,
			 uint32_t node)
{
	*shadow = (struct o2_shadow){.arena = arena, .bytes = bytes, .node = node};
}

void o2_shadow_close(struct o2_shadow *shadow)
{
	if (shadow->owned)
		free(shadow->bytes);
	*shadow = (struct o2_shadow){.arena = NULL};
}

void o2_shadow_touch(struct o2_shadow *shadow, uint64_t at, uint64_t length_bytes)
{
	const uint64_t page_bytes = shadow->arena->page_bytes;
	const uint64_t first = at / page_bytes, end = (at + length_bytes + page_bytes - 1) / page_bytes;

	if (shadow->touched != NULL && length_bytes > 0)
		memset(shadow->touched + first, 1, end - first);
}

void o2_shadow_fill(struct o2_shadow *shadow, uint64_t at, uint64_t length_bytes, uint64_t seed,
		    struct o2_origin origin)
{
	o2_shadow_touch(shadow, at, length_bytes);
	o2_fill(shadow->bytes + at, length_bytes, seed, origin);
	memcpy(shadow->arena->memory + at, shadow->bytes + at, length_bytes);
}

void o2_shadow_accept(struct o2_shadow *shadow, uint64_t at, uint64_t length_bytes)
{
	memcpy(shadow->bytes + at, shadow->arena->memory + at, length_bytes);
}

void o2_shadow_check_bytes(const struct o2_shadow *shadow, uint64_t at, uint64_t length_bytes,
			   struct o2_report *report, const char *signature, const char *when)
{
	const uint32_t page_bytes = shadow->arena->page_bytes;
	const uint8_t *expected = shadow->bytes, *found = shadow->arena->memory;

	if (length_bytes == 0 || memcmp(expected + at, found + at, length_bytes) == 0)
		return;
	while (expected[at] == found[at])
		at++;
	o2_report_fail(report, signature,
		       "%s: node %" PRIu32 ", page %" PRIu64 ", byte %" PRIu64 " is 0x%02x, expected 0x%02x",
		       when, shadow->node, at / page_bytes, at % page_bytes, found[at], expected[at]);
}

void o2_shadow_check(const struct o2_shadow *shadow, uint32_t first_page, uint32_t npages,
		     struct o2_report *report, const char *signature, const char *when)
{
	const uint64_t page_bytes = shadow->arena->page_bytes;

	o2_shadow_check_bytes(shadow, first_page * page_bytes, npages * page_bytes, report, signature, when);
}
