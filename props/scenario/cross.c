/* SPDX-License-Identifier: MIT */
#include "props/scenario/cross.h"

#include "forms/mem_fields.h"

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

/* Mode user registers a range of virtual addresses; a page vector is not such a range. */
static bool can_move(enum o2_reg_mode mode, uint32_t vector)
{
	return mode != O2_REG_USER || vector == O2_IOV;
}

static void add_cell(struct o2_cross_pair *pair, uint32_t moved)
{
	pair->cells++;
	pair->met += moved > 0;
	if (moved < pair->least)
		pair->least = moved;
}

struct o2_cross_pair o2_cross_of_pair(const struct o2_cross *cross, enum o2_reg_mode source,
				      enum o2_reg_mode sink)
{
	const uint32_t *cell = &cross->moved[source][sink][0][0][0][0][0];
	struct o2_cross_pair pair = {.least = UINT32_MAX};

	/* The vectors are the last two dimensions. */
	for (uint32_t i = 0; i < O2_CROSS_PAIR_CELLS; i++) {
		if (can_move(source, i / 2 % 2) && can_move(sink, i % 2))
			add_cell(&pair, cell[i]);
	}
	return pair;
}

/* Cells of one pair of modes and one pair of kinds. */
#define KIND_CELLS (O2_CROSS_PAIR_CELLS / (O2_DMA_KINDS * O2_DMA_KINDS))

/* A device of kind virtual moves bytes by software, which needs CPU addresses. */
static uint32_t polarity(uint32_t kind)
{
	return kind == O2_DMA_VIRTUAL ? 0 : 1;
}

struct o2_cross_polarity o2_cross_of_polarity(const struct o2_cross *cross, uint32_t which)
{
	static const char *const names[O2_POLARITY_PAIRS] = {"<1,1>", "<1,0>", "<0,1>", "<0,0>"};
	const uint32_t *cell = &cross->moved[0][0][0][0][0][0][0];
	struct o2_cross_polarity found = {.name = names[which], .pair = {.least = UINT32_MAX}};

	for (uint32_t i = 0; i < O2_REG_MODES * O2_REG_MODES * O2_CROSS_PAIR_CELLS; i++) {
		const uint32_t modes = i / O2_CROSS_PAIR_CELLS, kinds = i % O2_CROSS_PAIR_CELLS / KIND_CELLS;

		if (polarity(kinds / O2_DMA_KINDS) != 1 - which / 2 ||
		    polarity(kinds % O2_DMA_KINDS) != 1 - which % 2 ||
		    !can_move((enum o2_reg_mode)(modes / O2_REG_MODES), i / 2 % 2) ||
		    !can_move((enum o2_reg_mode)(modes % O2_REG_MODES), i % 2))
			continue;
		add_cell(&found.pair, cell[i]);
		found.moved += cell[i];
	}
	return found;
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

static json_t *polarity_to_json(const struct o2_cross *cross)
{
	json_t *object = json_object();

	for (uint32_t i = 0; i < O2_POLARITY_PAIRS; i++) {
		const struct o2_cross_polarity found = o2_cross_of_polarity(cross, i);

		json_object_set_new(object, found.name,
				    json_pack("{s:I, s:i, s:i, s:i}", "moved", (json_int_t)found.moved,
					      "cells", (int)found.pair.cells, "met", (int)found.pair.met,
					      "least", (int)found.pair.least));
	}
	return object;
}

/* How often a pair of modes moved bytes, by source kind, then sink kind. */
static json_t *kinds_to_json(const struct o2_cross *cross, uint32_t source, uint32_t sink)
{
	const uint32_t *cell = &cross->moved[source][sink][0][0][0][0][0];
	json_t *kinds = json_object();

	for (uint32_t i = 0; i < O2_DMA_KINDS; i++) {
		json_t *row = json_object();

		for (uint32_t j = 0; j < O2_DMA_KINDS; j++) {
			json_int_t moved = 0;

			for (uint32_t k = 0; k < KIND_CELLS; k++)
				moved += *cell++;
			json_object_set_new(row, o2_dma_kind_names[j], json_integer(moved));
		}
		json_object_set_new(kinds, o2_dma_kind_names[i], row);
	}
	return kinds;
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
					    json_pack("{s:i, s:i, s:i, s:o}", "cells", (int)pair.cells, "met",
						      (int)pair.met, "least", (int)pair.least, "kinds",
						      kinds_to_json(cross, i, j)));
		}
		json_object_set_new(pairs, o2_reg_mode_name((enum o2_reg_mode)i), row);
	}
	return json_pack("{s:o, s:o, s:{s:i, s:i}}", "pairs", pairs, "polarity", polarity_to_json(cross),
			 "user_kiov_refused", "cells", (int)O2_CROSS_REFUSALS, "met",
			 (int)refusals_met(cross));
}
