/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "props/check/check_steer.h"
#include "props/check/draw_stage.h"

/* Set-ups, mostly small ones, that fail at any place, including the last ones and places behind them. */

static uint32_t draw_size(struct o2_choice *c, uint32_t least)
{
	const uint32_t most = o2_draw_bool(c, 6, 1) ? O2_IMPL_SETUP_MOST : 4;

	return least + (uint32_t)o2_draw(c, most - least);
}

static void draw(struct o2_choice *c, struct o2_case *drawn)
{
	static const uint32_t errors[] = {ENOMEM, EIO, ENOSPC, EINVAL};
	struct o2_case_setup *setup = &drawn->setup;
	uint32_t most;

	*setup = (struct o2_case_setup){.mode = (uint32_t)o2_draw(c, O2_IMPL_FASTREG)};
	setup->queue_depth = draw_size(c, 2);
	setup->tx_count = draw_size(c, 1);
	setup->pool_size = draw_size(c, 1);
	setup->error = errors[o2_draw(c, 3)];
	/* Twice what the reference acquires, as other implementations may need more. */
	most = 2 * (7 + 2 * setup->queue_depth + setup->tx_count + setup->pool_size);
	do {
		struct o2_impl_setup_round *round = &setup->round[setup->count++];

		*round = (struct o2_impl_setup_round){0};
		if (!o2_draw_bool(c, 1, 2))
			continue;
		round->fails_at = 1 + (uint32_t)o2_draw(c, o2_draw_bool(c, 2, 1) ? most - 1 : 15);
	} while (setup->count < O2_IMPL_MAX_ROUNDS && o2_draw_bool(c, 1, 1));
}

static void features(const struct o2_case *asked, uint8_t *f)
{
	const struct o2_case_setup *in = &asked->setup;

	f[0] = (uint8_t)in->mode;
	f[1] = (uint8_t)in->count;
	f[2] = o2_steer_size(in->queue_depth);
	f[3] = o2_steer_size(in->tx_count);
	f[4] = o2_steer_size(in->pool_size);
	for (uint32_t i = 0; i < in->count; i++)
		f[5] |= in->round[i].fails_at != 0;
}

const struct o2_draw_stage o2_draw_setup = {.draw = draw, .features = features};
