/* SPDX-License-Identifier: MIT */
/* The o2iblnd message type that carries each LNet message: docs/transport.md, "Small and large". */
#include <inttypes.h>
#include <stdio.h>

#include "lnd/conn/transfer.h"
#include "props/stage/parts_internal.h"

#define MIB (UINT64_C(1) << 20)

void o2_parts_form(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report)
{
	static const uint32_t most[] = {3976, 0, 1, 200, UINT32_MAX};
	const uint32_t immediate_max = most[o2_draw_pick(c, sizeof(most) / sizeof(most[0]))];
	const struct o2_lnd_question question = {
		.type = (enum o2_lnet_type)o2_draw(c, O2_LNET_HELLO),
		.nob = o2_draw_bool(c, 1, 1) ? (immediate_max == 0 ? 0 : immediate_max - 1) + o2_draw(c, 2)
					     : o2_draw(c, MIB),
		.immediate_max = immediate_max,
		.routed = o2_draw_bool(c, 1, 1),
		.force_rdma = o2_draw_bool(c, 3, 1),
	};
	const bool fits = question.nob == 0 || (question.nob <= immediate_max && !question.force_rdma);
	enum o2_lnd_form expected = O2_FORM_IMMEDIATE, found;

	if (!fits && (question.type == O2_LNET_PUT || question.type == O2_LNET_REPLY))
		expected = O2_FORM_PUT_REQ;
	if (!fits && question.type == O2_LNET_GET && !question.routed)
		expected = O2_FORM_GET_REQ;
	found = o2_lnd_choose(&question);
	run->tally.seen[expected == O2_FORM_IMMEDIATE ? O2_PARTS_AT_ONCE : O2_PARTS_BY_RDMA]++;
	snprintf(run->text, sizeof(run->text), "type %u of %" PRIu64 " bytes, at once %" PRIu32 "%s%s",
		 question.type, question.nob, immediate_max, question.routed ? ", routed" : "",
		 question.force_rdma ? ", not to be copied" : "");
	if (found != expected)
		o2_report_fail(report, "parts/form", "it leaves as form %d, expected %d", (int)found,
			       (int)expected);
}
