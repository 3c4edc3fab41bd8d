/* SPDX-License-Identifier: MIT */
#include "props/scenario/cross.h"

void o2_cross_moved(struct o2_cross *cross, const struct o2_scenario *scenario)
{
	const struct o2_scenario_side *source = &scenario->source;
	const struct o2_scenario_side *sink = &scenario->sink;

	cross->moved[source->mode][sink->mode][source->kind][sink->kind][scenario->op][source->vector]
		    [sink->vector]++;
}

void o2_cross_refused(struct o2_cross *cross, const struct o2_scenario *scenario, enum o2_side side)
{
	const struct o2_scenario_side *memory = side == O2_SOURCE ? &scenario->source : &scenario->sink;

	if (memory->mode == O2_REG_USER && memory->vector == O2_KIOV)
		cross->user_kiov_refused[side][memory->kind][scenario->op]++;
}

/* Mode user registers a range of virtual addresses, which no page vector is. */
static bool can_move(enum o2_reg_mode mode, uint32_t vector)
{
	return mode != O2_REG_USER || vector == O2_IOV;
}

struct o2_cross_pair o2_cross_of_pair(const struct o2_cross *cross, enum o2_reg_mode source,
				      enum o2_reg_mode sink)
{
	const uint32_t *cell = &cross->moved[source][sink][0][0][0][0][0];
	struct o2_cross_pair pair = {.least = UINT32_MAX};

	/* The vectors are the last two dimensions. */
	for (uint32_t i = 0; i < O2_CROSS_PAIR_CELLS; i++) {
		if (!can_move(source, i / 2 % 2) || !can_move(sink, i % 2))
			continue;
		pair.cells++;
		pair.met += cell[i] > 0;
		if (cell[i] < pair.least)
			pair.least = cell[i];
	}
	return pair;
}

static uint32_t refusals_met(const struct o2_cross *cross)
{
	const uint32_t *cell = &cross->user_kiov_refused[0][0][0];
	uint32_t met = 0;

	for (uint32_t i = 0; i < O2_CROSS_REFUSALS; i++)
		met += cell[i] > 0;
	return met;
}

bool o2_cross_complete(const struct o2_cross *cross)
{
	for (uint32_t i = 0; i < O2_REG_MODES * O2_REG_MODES; i++) {
		if (o2_cross_of_pair(cross, (enum o2_reg_mode)(i / O2_REG_MODES),
				     (enum o2_reg_mode)(i % O2_REG_MODES))
			    .least == 0)
			return false;
	}
	return refusals_met(cross) == O2_CROSS_REFUSALS;
}

json_t *o2_cross_to_json(const struct o2_cross *cross)
{
	json_t *pairs = json_object();

	for (uint32_t i = 0; i < O2_REG_MODES; i++) {
		json_t *row = json_object();

		for (uint32_t j = 0; j < O2_REG_MODES; j++) {
			struct o2_cross_pair pair =
				o2_cross_of_pair(cross, (enum o2_reg_mode)i, (enum o2_reg_mode)j);

			json_object_set_new(row, o2_reg_mode_name((enum o2_reg_mode)j),
					    json_pack("{s:i, s:i, s:i}", "cells", (int)pair.cells, "met",
						      (int)pair.met, "least", (int)pair.least));
		}
		json_object_set_new(pairs, o2_reg_mode_name((enum o2_reg_mode)i), row);
	}
	return json_pack("{s:o, s:{s:i, s:i}}", "pairs", pairs, "user_kiov_refused", "cells",
			 (int)O2_CROSS_REFUSALS, "met", (int)refusals_met(cross));
}
