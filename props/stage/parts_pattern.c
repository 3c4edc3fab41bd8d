/* SPDX-License-Identifier: MIT */
/* The pattern in the bytes of a brw test: docs/lst.md, "Tests and batches". */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lst/pattern.h"
#include "props/model/wire_model.h"
#include "props/stage/parts_internal.h"

#define PAGE  4096u
#define MOST  (3 * PAGE)
#define OTHER 0x5a
#define DATA  UINT64_C(0xeeb0eeb1eeb2eeb3)

/* True if the word is the first or the last one within a page. */
static bool is_edge(uint32_t at, uint32_t length, uint32_t offset)
{
	return at == 0 || at + 8 == length || (offset + at) % PAGE == 0 || (offset + at + 8) % PAGE == 0;
}

void o2_parts_pattern(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report)
{
	static uint8_t found[MOST], expected[MOST];
	const enum o2_lst_brw_check check =
		(enum o2_lst_brw_check)o2_draw_range(c, O2_LST_CHECK_NONE, O2_LST_CHECK_DISCARD);
	const enum o2_byte_order order = o2_draw_bool(c, 1, 1) ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN;
	const uint32_t offset = 8 * (uint32_t)o2_draw(c, o2_draw_bool(c, 1, 1) ? 3 : PAGE / 8 - 1);
	const uint32_t length = 8 * (uint32_t)o2_draw(c, o2_draw_bool(c, 1, 1) ? 9 : MOST / 8);
	const uint32_t changed = length == 0 ? 0 : 8 * (uint32_t)o2_draw_pick(c, length / 8);
	struct o2_lst_wrong wrong = {.at = UINT32_MAX};
	bool due = false;

	memset(found, OTHER, sizeof(found));
	memset(expected, OTHER, sizeof(expected));
	for (uint32_t at = 0; at < length; at += 8)
		if (check == O2_LST_CHECK_FULL ||
		    (check == O2_LST_CHECK_SIMPLE && is_edge(at, length, offset))) {
			o2_wm_store(expected + at, 8, order == O2_LITTLE_ENDIAN, DATA);
			due |= at == changed;
		}
	run->tally.seen[due ? O2_PARTS_PATTERN : O2_PARTS_NO_PATTERN]++;
	snprintf(run->text, sizeof(run->text), "%" PRIu32 " bytes at %" PRIu32 ", check %d, order %d", length,
		 offset, (int)check, (int)order);
	o2_lst_pattern_fill(found, length, offset, check, order);
	if (memcmp(found, expected, sizeof(found)) != 0)
		o2_report_fail(report, "parts/pattern/filled", "other bytes than they should be");
	else if (!o2_lst_pattern_check(expected, length, offset, check, order, &wrong))
		o2_report_fail(report, "parts/pattern/right", "byte %" PRIu32 " is said to be wrong",
			       wrong.at);
	if (report->failed || length == 0)
		return;
	expected[changed + o2_draw(c, 7)] ^= (uint8_t)(1 + o2_draw(c, 254));
	if (o2_lst_pattern_check(expected, length, offset, check, order, &wrong) == due ||
	    (due && (wrong.at != changed || wrong.want != DATA ||
		     wrong.got != o2_wm_load(expected + changed, 8, order == O2_LITTLE_ENDIAN))))
		o2_report_fail(report, "parts/pattern/wrong",
			       "byte %" PRIu32 " is said to be wrong, expected %" PRIu32 "%s", wrong.at,
			       changed, due ? "" : ": none");
}
