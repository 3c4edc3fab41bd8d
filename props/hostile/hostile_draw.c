/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "props/hostile/hostile_random.h"
#include "wire/desc_codec.h"

/* Draws the next step of the property. */

enum o2_reg_mode o2_hostile_draw_mode(struct o2_choice *c)
{
	/* Not mode global, where a peer may write to all memory by design. */
	static const enum o2_reg_mode modes[] = {O2_REG_FMR, O2_REG_FASTREG};

	return modes[o2_draw_pick(c, 2)];
}

static uint32_t draw_nob(struct o2_choice *c)
{
	static const uint32_t usual[] = {5000, 1, 0, 4096, 9000, 1u << 20};

	return usual[o2_draw_pick(c, 6)];
}

static void draw_message(struct o2_choice *c, const struct o2_hostile_run *run, struct o2_hostile_step *step)
{
	static const uint8_t types[] = {O2_MSG_IMMEDIATE, O2_MSG_PUT_REQ,  O2_MSG_GET_REQ, O2_MSG_PUT_ACK,
					O2_MSG_GET_DONE,  O2_MSG_PUT_DONE, O2_MSG_PUT_NAK, O2_MSG_NOOP};
	const uint32_t cookies[] = {run->temper == 0 ? 1 : 6, run->temper};
	static const int32_t strange[] = {0, -5, 1, 5001, INT32_MIN, INT32_MAX};

	step->type = types[o2_draw_pick(c, 8)];
	if (run->temper > 0)
		step->credits = (uint8_t)(o2_draw_bool(c, 4, 1) ? o2_draw(c, 255) : o2_draw(c, 1));
	/* Relative to a cookie that the victim sent: the start of its cookies depends on earlier cases. */
	step->cookie = run->cookie[step->type == O2_MSG_PUT_DONE];
	if (o2_draw_weighted(c, cookies, 2) != 0)
		step->cookie += o2_draw(c, 20) - 10;
	step->nob = draw_nob(c);
	/* A credible status is the number of bytes described to the liar. */
	step->status = (int32_t)o2_desc_bytes(&run->desc);
	if (o2_draw_bool(c, 2, run->temper))
		step->status = o2_draw_bool(c, 1, 1) ? strange[o2_draw_pick(c, 6)] : (int32_t)step->nob;
	step->nfrags = (uint32_t)o2_draw_range(c, 1, 5);
	/* Around the limit of what is legal. */
	if (o2_draw_bool(c, 3, 1))
		step->nfrags = (uint32_t)o2_draw_range(c, O2_HOSTILE_WIDE_FRAGS, O2_MAX_FRAGS);
	if (!o2_draw_bool(c, 4, run->temper))
		return;
	step->spoil_width = (uint32_t)o2_draw_range(c, 1, 8);
	step->spoil_offset = (uint32_t)o2_draw(c, 140);
	step->spoil_value = o2_draw(c, UINT64_MAX);
	step->length = o2_draw_bool(c, 3, 1) ? (uint32_t)o2_draw_range(c, 1, 200) : 0;
}

void o2_hostile_draw_step(struct o2_choice *c, const struct o2_hostile_run *run, struct o2_hostile_step *step)
{
	static const uint32_t kinds[3][O2_HOSTILE_STEP_KINDS] = {
		{12, 4, 8, 4, 4, 2, 0, 0, 2},
		{12, 8, 8, 4, 4, 2, 1, 1, 2},
		{4, 12, 5, 3, 3, 2, 1, 1, 2},
	};

	memset(step, 0, sizeof(*step));
	step->kind =
		(enum o2_hostile_step_kind)o2_draw_weighted(c, kinds[run->temper], O2_HOSTILE_STEP_KINDS);
	switch (step->kind) {
	case O2_HOSTILE_SAY:
		draw_message(c, run, step);
		break;
	case O2_HOSTILE_PUT:
	case O2_HOSTILE_GET:
		step->nob = (uint32_t)o2_draw_range(c, 1, 12000);
		step->mode = o2_hostile_draw_mode(c);
		break;
	case O2_HOSTILE_CLOCK:
		step->nob = (uint32_t)o2_draw(c, 60000);
		break;
	case O2_HOSTILE_NOISE:
		step->length = (uint32_t)o2_draw_range(c, 1, 4096);
		step->spoil_value = o2_draw(c, UINT64_MAX);
		break;
	case O2_HOSTILE_WRITE:
		step->offset = (int32_t)o2_draw_range(c, 0, 12000);
		if (o2_draw_bool(c, 3, 1))
			step->offset -= 4;
		step->nob = (uint32_t)o2_draw_range(c, 1, 4096);
		step->key_wrong = o2_draw_bool(c, 5, 1);
		break;
	case O2_HOSTILE_ANSWER:
	case O2_HOSTILE_SETTLE:
	case O2_HOSTILE_SEND:
	case O2_HOSTILE_STEP_KINDS:
		break;
	}
}
