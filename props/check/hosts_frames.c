/* SPDX-License-Identifier: MIT */
/* Frames that end where memory ends: nothing behind the received bytes is read, nothing behind a text written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "oracle/frame.h"
#include "props/check/hosts.h"
#include "props/model/wire_model.h"

#define PAGE	 4096u
#define LONGEST	 90u
#define MOST_MIB 16u /* docs/oracle.md, "Process protocol" */

/* Returns the end of a page that an inaccessible page follows. */
static uint8_t *end_of_memory(uint32_t which)
{
	static uint8_t *ends[2];

	if (ends[which] == NULL) {
		uint8_t *page =
			mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (page == MAP_FAILED || mprotect(page + PAGE, PAGE, PROT_NONE) != 0)
			abort();
		ends[which] = page + PAGE;
	}
	return ends[which];
}

void o2_hosts_frames_prepare(void)
{
	(void)end_of_memory(0);
	(void)end_of_memory(1);
}

static void excerpt(struct o2_hosts_run *run, const uint8_t *bytes, size_t count)
{
	const size_t room = 1 + o2_draw(run->c, LONGEST);
	const size_t shown = count < room - 1 ? count : room - 1;
	char *text = (char *)end_of_memory(1) - room;
	bool right;

	memset(text, 'x', room);
	o2_frame_excerpt(bytes, count, text, room);
	right = text[shown] == '\0';
	for (size_t i = 0; i < shown; i++)
		right = right && text[i] == (bytes[i] < 0x20 || bytes[i] > 0x7e ? '.' : (char)bytes[i]);
	if (!right)
		o2_report_fail(run->report, "hosts/excerpt", "of %zu bytes in %zu: '%.*s'", count, room,
			       (int)shown, text);
}

/* Check a length and as much of the announced bytes as has come. */
static void look(struct o2_hosts_run *run, uint8_t *end)
{
	struct o2_choice *c = run->c;
	const uint64_t behind = o2_draw(c, LONGEST), least = (uint64_t)MOST_MIB << 20;
	const uint64_t length = o2_draw_bool(c, 2, 1) ? least - 1 + o2_draw(c, 2) : o2_draw(c, LONGEST);
	const size_t head = o2_draw_bool(c, 3, 1) ? o2_draw(c, 3) : O2_HOSTS_HEAD_BYTES;
	const size_t count = head < O2_HOSTS_HEAD_BYTES ? head : head + behind;
	const enum o2_frame_state due = head < O2_HOSTS_HEAD_BYTES ? O2_FRAME_PARTIAL
					: length > least	   ? O2_FRAME_ILLEGAL
					: length > behind	   ? O2_FRAME_PARTIAL
								   : O2_FRAME_WHOLE;
	struct o2_frame_buffer buffer = {.bytes = end - count, .used = count, .capacity = count};
	uint8_t bytes[O2_HOSTS_HEAD_BYTES];
	uint32_t found = 0;

	o2_wm_store(bytes, sizeof(bytes), true, length);
	memcpy(buffer.bytes, bytes, head);
	if (o2_frame_look(&buffer, &found) != due || (head == sizeof(bytes) && found != length))
		o2_report_fail(run->report, "hosts/frame", "%zu bytes of a frame of %llu: %u", count,
			       (unsigned long long)length, found);
}

void o2_hosts_frames(struct o2_hosts_run *run)
{
	uint8_t *end = end_of_memory(0);

	snprintf(run->script, sizeof(run->script), "frames where memory ends");
	for (uint64_t left = 1 + o2_draw(run->c, 7); left > 0 && !run->report->failed; left--) {
		const size_t count = o2_draw(run->c, LONGEST);
		uint8_t *bytes = end - count;

		for (size_t i = 0; i < count; i++)
			bytes[i] = (uint8_t)o2_draw(run->c, UINT8_MAX);
		excerpt(run, bytes, count);
		look(run, end);
	}
	run->tally.seen[O2_HOSTS_FRAMES]++;
}
