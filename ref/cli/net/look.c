/* SPDX-License-Identifier: MIT */
#include "cli/net/look.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/stream.h"
#include "mem/kmap.h"

#define UNTOUCHED_RUN 8u

/* Count the bytes, in long enough runs, that are the complement of what belongs there. */
static uint64_t count_untouched(const uint8_t *bytes, const uint8_t *want, uint64_t n)
{
	const uint64_t least = n < UNTOUCHED_RUN ? n : UNTOUCHED_RUN;
	uint64_t run = 0, count = 0;

	for (uint64_t i = 0; i < n; i++) {
		run = (bytes[i] ^ want[i]) == 0xff ? run + 1 : 0;
		if (run == least)
			count += run;
		else if (run > least)
			count++;
	}
	return count;
}

static void compare(const uint8_t *bytes, const uint8_t *want, uint64_t n, struct o2_net_look *look)
{
	const uint64_t reported = look->reported;

	while (look->right < reported && bytes[look->right] == want[look->right])
		look->right++;
	if (look->right < reported) {
		look->got = bytes[look->right];
		look->want = want[look->right];
	}
	look->untouched = count_untouched(bytes, want, reported);
	for (uint64_t i = reported; i < n; i++)
		look->beyond += (bytes[i] ^ want[i]) != 0xff;
}

bool o2_net_look(const struct o2_arena *arena, const struct o2_transfer_memory *memory, uint64_t reported,
		 const struct o2_net_bytes *belong, struct o2_net_look *look)
{
	const uint64_t n = memory->buffer.nob;
	uint8_t *bytes = malloc(n), *want = malloc(n);
	const bool ok = bytes != NULL && want != NULL &&
			o2_copy_from_buffer(arena, &memory->buffer, bytes, NULL) == 0;

	*look = (struct o2_net_look){.reported = reported < n ? reported : n};
	if (ok) {
		o2_stream_fill(want, n, belong->seed, belong->stream, belong->offset);
		compare(bytes, want, n, look);
	}
	free(bytes);
	free(want);
	return ok;
}

bool o2_net_look_right(const struct o2_net_look *look)
{
	return look->right == look->reported && look->beyond == 0;
}

void o2_net_look_text(const struct o2_net_look *look, uint64_t seed, char *text, size_t text_bytes)
{
	if (look->untouched > 0)
		snprintf(text, text_bytes, "the peer reports %" PRIu64 " bytes and wrote %" PRIu64 " of them",
			 look->reported, look->reported - look->untouched);
	else if (look->right < look->reported)
		snprintf(text, text_bytes, "byte %" PRIu64 " is 0x%02x, not 0x%02x (seed %" PRIu64 ")",
			 look->right, look->got, look->want, seed);
	else
		snprintf(text, text_bytes, "the peer reports %" PRIu64 " bytes and wrote %" PRIu64 " more",
			 look->reported, look->beyond);
}
