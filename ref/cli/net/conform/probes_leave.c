/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "cli/net/conform/conform.h"

/*
 * We leave after each step of an operation, many times; what follows must work as if nothing had happened.  A
 * step is a round of our loop in which something has happened.
 */

#define ENDING	    "connection.md#ending"
#define STEPS_MAX   64u
#define LARGE_BYTES 65536u

/* Begin an operation, and leave after so many steps; true: it had ended before, or could not begin. */
static bool begin_and_leave(struct o2_conform *conform, bool is_get, const struct o2_conform_move *move,
			    uint32_t steps)
{
	const struct o2_conform_op *op;
	uint32_t done = 0;
	bool ended = true;

	if (!o2_conform_start(conform, NULL))
		return true;
	op = o2_conform_begin(conform, is_get, move);
	while (op != NULL && !op->ended && done < steps && o2_conform_step(conform))
		done += conform->session.idle == 0;
	if (op != NULL)
		ended = op->ended;
	o2_conform_stop(conform);
	return ended;
}

void o2_conform_come_back(struct o2_conform *conform, struct o2_conform_returns *returns,
			  void (*live)(struct o2_conform *conform), uint32_t step)
{
	struct o2_conform_result unheard = {0};
	struct o2_conform_result *before = conform->result;

	conform->result = &unheard;
	live(conform);
	o2_conform_stop(conform);
	conform->result = before;
	returns->times++;
	if (unheard.outcome == O2_CONFORM_NOT_TRIED)
		o2_conform_skip(conform, "%s", unheard.text);
	if (unheard.outcome != O2_CONFORM_FINDING)
		return;
	if (returns->bad++ == 0) {
		returns->first_bad = step;
		snprintf(returns->why, sizeof(returns->why), "%s", unheard.text);
	}
}

static void be_answered(struct o2_conform *conform)
{
	if (o2_conform_start(conform, NULL))
		o2_conform_ping(conform, NULL);
}

/* Afterwards everything must work: what is moved must be right. */
static void all_is_well(struct o2_conform *conform)
{
	const struct o2_conform_move move = o2_conform_move(conform, LARGE_BYTES);

	if (!o2_conform_start(conform, NULL))
		return;
	if ((conform->has & O2_CONFORM_PLACE) != 0)
		o2_conform_there_and_back(conform, &move);
	else
		o2_conform_ping(conform, NULL);
}

static void leave(struct o2_conform *conform, bool is_get, const struct o2_conform_move *move)
{
	struct o2_conform_returns returns = {.times = 0};
	bool ended = false;
	uint32_t steps = 0;

	for (; !ended && steps < STEPS_MAX && !o2_conform_said(conform); steps++)
		for (uint32_t round = 0; round < conform->options->rounds && !o2_conform_said(conform);
		     round++) {
			ended = begin_and_leave(conform, is_get, move, steps);
			o2_conform_come_back(conform, &returns, be_answered, steps);
		}
	if (returns.bad > 0)
		o2_conform_find(conform,
				"%" PRIu32 " of %" PRIu32 " reconnects failed, the first after step %" PRIu32
				" of %" PRIu32 ": %s",
				returns.bad, returns.times, returns.first_bad, steps - 1, returns.why);
	all_is_well(conform);
}

static void leave_ping(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_conform_move move = o2_conform_move(conform, O2_PING_SINK_BYTES);

	(void)probe;
	move.ping = true;
	leave(conform, true, &move);
}

static void leave_put(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	const struct o2_conform_move move = o2_conform_move(conform, probe->value);

	leave(conform, false, &move);
}

static void leave_get(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	const struct o2_conform_move move = o2_conform_move(conform, probe->value);

	leave(conform, true, &move);
}

/* We leave while many operations are under way. */
static void leave_many(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_conform_move move = o2_conform_move(conform, LARGE_BYTES);

	for (uint32_t round = 0; round < conform->options->rounds && !o2_conform_said(conform); round++) {
		if (!o2_conform_start(conform, NULL))
			return;
		for (uint32_t i = 0; i < probe->value; i++)
			if (o2_conform_begin(conform, i % 2 == 0, &move) == NULL)
				return;
		while (!conform->op[0].ended && o2_conform_step(conform))
			;
		o2_conform_stop(conform);
	}
	all_is_well(conform);
}

/* Our next incarnation has another stamp; what the peer knows of the one before must not stand in its way. */
static void restart(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	for (uint32_t round = 0; round < conform->options->rounds && !o2_conform_said(conform); round++) {
		if (o2_conform_start(conform, NULL))
			o2_conform_ping(conform, NULL);
		o2_conform_stop(conform);
		conform->session.network.ni.config.incarnation += probe->value;
	}
	all_is_well(conform);
}

const struct o2_conform_probe o2_conform_leave_probes[] = {
	{"leave/ping", "a peer that disconnects during a ping can reconnect", ENDING, .run = leave_ping},
	{"leave/put", "a peer that disconnects after any step of a PUT by RDMA can reconnect", ENDING,
	 .needs = O2_CONFORM_PLACE, .run = leave_put, .value = LARGE_BYTES},
	{"leave/get", "a peer that disconnects after any step of a GET by RDMA can reconnect", ENDING,
	 .needs = O2_CONFORM_PLACE, .run = leave_get, .value = LARGE_BYTES},
	{"leave/put-small", "a peer that disconnects after any step of a PUT in an IMMEDIATE can reconnect",
	 ENDING, .needs = O2_CONFORM_PLACE, .run = leave_put, .value = 1000},
	{"leave/many", "a peer that disconnects with 16 transfers under way can reconnect", ENDING,
	 .needs = O2_CONFORM_PLACE, .run = leave_many, .value = 16},
	{"restart/stamp", "a node that restarts, with another incarnation, is served",
	 "connection.md#from-an-operation-to-a-connection", .run = restart, .value = 1000000},
	{0},
};
