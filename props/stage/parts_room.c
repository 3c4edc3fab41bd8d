/* SPDX-License-Identifier: MIT */
/* Texts appended to a buffer that may be too small: what fits is stored, and nothing is written past the buffer. */
#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "props/stage/parts_internal.h"

#define PIECES	   6u
#define PIECE_MOST 9u
#define ROOM_MOST  (PIECES * PIECE_MOST + 3u)
#define GUARD	   0x5a

/* Draw a size that ends with a piece, or next to that, or anywhere; at least 1 for the zero. */
static size_t draw_room(struct o2_choice *c, const size_t *end, uint32_t pieces)
{
	size_t room;

	if (o2_draw_bool(c, 1, 3) && pieces > 0)
		room = end[o2_draw_pick(c, pieces)] + o2_draw(c, 2);
	else
		room = o2_draw(c, ROOM_MOST);
	return room == 0 ? 1 : room;
}

void o2_parts_room(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
	char all[ROOM_MOST + 1] = "", found[ROOM_MOST + 1];
	const uint32_t pieces = (uint32_t)o2_draw(c, PIECES);
	size_t length[PIECES], end[PIECES], room, expected, at = 0;
	struct o2_words words = {.text = found};

	for (uint32_t i = 0; i < pieces; i++) {
		length[i] = o2_draw(c, PIECE_MOST);
		for (size_t k = 0; k < length[i]; k++, at++)
			all[at] = letters[at % (sizeof(letters) - 1)];
		end[i] = at;
	}
	room = draw_room(c, end, pieces);
	expected = at < room ? at : room - 1;
	memset(found, GUARD, sizeof(found));
	words.room = room;
	for (uint32_t i = 0; i < pieces; i++)
		o2_words_add(&words, "%.*s", (int)length[i], all + end[i] - length[i]);
	run->tally.seen[at < room ? O2_PARTS_ROOM : O2_PARTS_NO_ROOM]++;
	snprintf(run->text, sizeof(run->text), "%.40s in %zu characters", all, room);
	if (words.length != expected)
		o2_report_fail(report, "parts/room/length", "it has %zu characters, expected %zu",
			       words.length, expected);
	else if (pieces > 0 && (found[expected] != '\0' || memcmp(found, all, expected) != 0))
		o2_report_fail(report, "parts/room/text", "'%.*s', expected '%.*s'", (int)expected, found,
			       (int)expected, all);
	for (size_t i = pieces > 0 ? room : 0; i < sizeof(found) && !report->failed; i++)
		if (found[i] != GUARD)
			o2_report_fail(report, "parts/room/behind", "character %zu was written", i);
}
